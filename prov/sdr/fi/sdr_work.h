/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Threads that help endpoints with long work (struct sdr_job of sdr_rel.h).  One pool a domain, see
 * sdr_work.c.  No libfabric type here: it can be tested by itself.
 */
#ifndef SDR_WORK_H
#define SDR_WORK_H

#include <pthread.h>
#include "rel/sdr_rel.h"

#define SDR_WORK_THREADS_MAX 64u

struct sdr_work {
	pthread_mutex_t lock;
	pthread_cond_t more;   /* a job came, or the end */
	pthread_cond_t left;   /* a thread left a job that its owner takes back */
	struct sdr_list jobs;  /* with work to share, oldest first */
	unsigned int takers;   /* who waits for `left` */
	unsigned int on;       /* threads that run */
	int err;	       /* why no more could be started; negative errno */
	bool stop;	       /* they are to end; none is started any more */
	pid_t pid;	       /* the process whose threads these are */
	struct sdr_work *next; /* all pools with threads, for the provider's clean-up */
	pthread_t thread[SDR_WORK_THREADS_MAX];
};

void sdr_work_init(struct sdr_work *w);
/* All jobs have been taken back. */
void sdr_work_fini(struct sdr_work *w);
/*
 * From now on job->run is called, by at most `threads` (1..SDR_WORK_THREADS_MAX) threads that
 * are started as needed, until a call has returned or the job is taken back.  0; -ECHILD: in a
 * child of the process that has the threads; or why there is none.
 */
int sdr_work_give(struct sdr_work *w, struct sdr_job *job, uint32_t threads);
/*
 * Waits until no thread is in job->run; none will come any more.  Once for each job given.  False:
 * in a child process: what threads of the parent had begun is never finished here.
 */
bool sdr_work_take(struct sdr_work *w, struct sdr_job *job);
/* At the end of the process: pools that were never closed. */
void sdr_work_stop_all(void);

#endif /* SDR_WORK_H */
