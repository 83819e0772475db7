/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Worker threads of a domain: they take a share of long work from the thread that drives an
 * endpoint.
 *
 * A job is work that can be done in pieces by any number of threads, in any order; its owner
 * works on it as well and never depends on another coming.  So a job waits in a queue without
 * promises: workers go to the oldest one, all of them, and leave it when nothing is left to begin;
 * the owner takes it back when it has no more to begin itself, and then waits for those who are
 * inside, that is for one piece.  It does not sleep for that as long as a piece usually takes,
 * unless it must.  An owner may also leave all of it to them and look again later, if run wakes it
 * (decoding): then it takes back what nobody has begun in time.
 *
 * The queue is linked through the jobs, which lie in their owners' memory: nothing is allocated,
 * and what bounds the owners bounds the queue.  After the take the job's memory is the owner's
 * again: a worker's last touch of it is the count of those inside, under the lock.  The lock is a
 * leaf: nothing is called while it is held.
 *
 * Threads start with the first job, block all signals, sleep while there is nothing, and end with
 * the domain or the process.  A forked child has none of them, touches neither lock nor conditions
 * (a thread of the parent may have held them), and works alone.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_thread.h"
#include "sdr_work.h"

#define SDR_WORK_SPINS 4096 /* looks before the owner sleeps: some 100 us */

static pthread_mutex_t sdr_works_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdr_work *sdr_works; /* pools with threads */

static inline void sdr_work_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void sdr_work_init(struct sdr_work *w)
{
	memset(w, 0, sizeof(*w));
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	pthread_cond_init(&w->left, NULL);
	sdr_list_init(&w->jobs);
	w->pid = getpid();
}

static void *sdr_work_main(void *arg)
{
	struct sdr_work *w = arg;

	prctl(PR_SET_NAME, "sdr-work");
	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		struct sdr_job *job;

		if (sdr_list_empty(&w->jobs)) {
			pthread_cond_wait(&w->more, &w->lock);
			continue;
		}
		job = sdr_container(w->jobs.next, struct sdr_job, link);
		atomic_fetch_add_explicit(&job->inside, 1, memory_order_relaxed);
		pthread_mutex_unlock(&w->lock);
		job->run(job);
		pthread_mutex_lock(&w->lock);
		sdr_list_del(&job->link); /* nothing of it is left to begin */
		atomic_fetch_sub_explicit(&job->inside, 1, memory_order_release);
		if (w->takers)
			pthread_cond_broadcast(&w->left);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Under w->lock. */
static void sdr_work_start(struct sdr_work *w, uint32_t threads)
{
	while (w->on < threads && !w->err) {
		w->err = -sdr_uc_thread_create(&w->thread[w->on], sdr_work_main, w);
		if (w->err)
			break;
		if (w->on++ == 0) {
			pthread_mutex_lock(&sdr_works_lock);
			w->next = sdr_works;
			sdr_works = w;
			pthread_mutex_unlock(&sdr_works_lock);
		}
	}
}

int sdr_work_give(struct sdr_work *w, struct sdr_job *job, uint32_t threads)
{
	int ret = -ECANCELED;

	SDR_ASSERT(threads && threads <= SDR_WORK_THREADS_MAX);
	if (w->pid != getpid())
		return -ECHILD;
	sdr_list_init(&job->link);
	atomic_store_explicit(&job->inside, 0, memory_order_relaxed);
	pthread_mutex_lock(&w->lock);
	if (w->stop)
		goto out;
	if (w->on < threads)
		sdr_work_start(w, threads);
	ret = w->on ? 0 : w->err;
	if (ret)
		goto out;
	sdr_list_add_tail(&job->link, &w->jobs);
	pthread_cond_broadcast(&w->more);
out:
	pthread_mutex_unlock(&w->lock);
	return ret;
}

bool sdr_work_take(struct sdr_work *w, struct sdr_job *job)
{
	unsigned int spins = SDR_WORK_SPINS;

	if (w->pid != getpid())
		return false;
	pthread_mutex_lock(&w->lock);
	sdr_list_del(&job->link);
	pthread_mutex_unlock(&w->lock);
	while (atomic_load_explicit(&job->inside, memory_order_acquire) && spins--)
		sdr_work_pause();
	if (!atomic_load_explicit(&job->inside, memory_order_acquire))
		return true;
	pthread_mutex_lock(&w->lock);
	w->takers++;
	while (atomic_load_explicit(&job->inside, memory_order_acquire))
		pthread_cond_wait(&w->left, &w->lock);
	w->takers--;
	pthread_mutex_unlock(&w->lock);
	return true;
}

static void sdr_work_stop(struct sdr_work *w)
{
	unsigned int i, on;

	if (w->pid != getpid())
		return; /* they stayed in the parent */
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	on = w->on;
	w->on = 0;
	pthread_cond_broadcast(&w->more);
	pthread_mutex_unlock(&w->lock);
	for (i = 0; i < on; i++)
		pthread_join(w->thread[i], NULL);
}

void sdr_work_fini(struct sdr_work *w)
{
	struct sdr_work **p;

	pthread_mutex_lock(&sdr_works_lock);
	for (p = &sdr_works; *p; p = &(*p)->next) {
		if (*p == w) {
			*p = w->next;
			break;
		}
	}
	pthread_mutex_unlock(&sdr_works_lock);
	if (w->pid != getpid())
		return; /* a condition that a thread of the parent sleeps on would be waited for */
	SDR_ASSERT(sdr_list_empty(&w->jobs) && !w->takers);
	sdr_work_stop(w);
	pthread_cond_destroy(&w->left);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
}

void sdr_work_stop_all(void)
{
	struct sdr_work *w;

	/* at exit; a forked child must not touch locks that its parent may have held */
	for (w = sdr_works; w; w = w->next)
		sdr_work_stop(w);
	sdr_works = NULL;
}
