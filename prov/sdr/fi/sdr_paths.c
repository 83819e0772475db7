/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What this process knows of paths.
 *
 * One memory of paths (rel/path/sdr_path_mem.c) for all domains with the same FI_SDR_CACHE, so that
 * endpoints know from each other, and those that open at once share a path.  It stays when the last
 * domain closes, for the next one; the file is written then, if there was news.  Its lock is a
 * leaf, taken when a connection opens or ends and once a second by one that moves data.
 *
 * A forked child has a memory of its own: its parent's lock may be held by a thread that the child
 * does not have, and what the file says is for the parent to write.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "rel/path/sdr_path_mem.h"

#include "sdr_cache.h"
#include "sdr_env.h"
#include "sdr_paths.h"

struct sdr_paths {
	struct sdr_paths *next;
	struct sdr_path_mem *mem;
	pthread_mutex_t lock; /* of mem */
	pid_t pid;
	unsigned int refs;
	uint64_t written; /* news of mem that the file has */
	char cache[SDR_ENV_TEXT];
};

static pthread_mutex_t sdr_paths_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdr_paths *sdr_paths_all; /* never shorter: one a file */

static void paths_lock(void *arg)
{
	pthread_mutex_lock(&((struct sdr_paths *)arg)->lock);
}

static void paths_unlock(void *arg)
{
	pthread_mutex_unlock(&((struct sdr_paths *)arg)->lock);
}

static struct sdr_paths *paths_new(const char *cache)
{
	struct sdr_paths *p = calloc(1, sizeof(*p));
	uint64_t key = 0;

	if (!p)
		return NULL;
	(void)!getrandom(&key, sizeof(key), 0);
	p->mem = sdr_path_mem_new(key);
	if (!p->mem) {
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	sdr_path_mem_lock_set(p->mem, paths_lock, paths_unlock, p);
	p->pid = getpid();
	snprintf(p->cache, sizeof(p->cache), "%s", cache);
	if (cache[0])
		sdr_cache_read(cache, p->mem);
	return p;
}

struct sdr_paths *sdr_paths_get(const char *cache)
{
	struct sdr_paths *p;

	if (strcmp(cache, "-") == 0)
		cache = "";
	pthread_mutex_lock(&sdr_paths_lock);
	for (p = sdr_paths_all; p; p = p->next) {
		if (p->pid == getpid() && strcmp(p->cache, cache) == 0)
			break;
	}
	if (!p) {
		p = paths_new(cache);
		if (p) {
			p->next = sdr_paths_all;
			sdr_paths_all = p;
		}
	}
	if (p)
		p->refs++;
	pthread_mutex_unlock(&sdr_paths_lock);
	return p;
}

static void paths_write(struct sdr_paths *p)
{
	uint64_t news = sdr_path_mem_news(p->mem);

	if (!p->cache[0] || p->pid != getpid() || news == p->written)
		return;
	p->written = news;
	sdr_cache_write(p->cache, p->mem);
}

void sdr_paths_put(struct sdr_paths *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&sdr_paths_lock);
	if (!--p->refs)
		paths_write(p);
	pthread_mutex_unlock(&sdr_paths_lock);
}

struct sdr_path_mem *sdr_paths_mem(struct sdr_paths *p)
{
	return p ? p->mem : NULL;
}

void sdr_paths_exit(void)
{
	struct sdr_paths *p;

	/* Another thread that was stopped inside may hold a lock for ever. */
	if (pthread_mutex_trylock(&sdr_paths_lock))
		return;
	for (p = sdr_paths_all; p; p = p->next) {
		if (!p->refs || pthread_mutex_trylock(&p->lock))
			continue;
		pthread_mutex_unlock(&p->lock);
		paths_write(p);
	}
	pthread_mutex_unlock(&sdr_paths_lock);
}
