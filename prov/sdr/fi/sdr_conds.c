/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Condition variables to signal when their mutex, which is the application's, is free (sdr_wait.c
 * says why).  A domain's list, under dom->conds_lock; the progress thread tries again until it is
 * empty.
 */
#include "sdr_conds.h"
#include "sdr_domain.h"
#include "sdr_wait.h"

/*
 * True: a thread that looked at the queue before this call and sleeps on the condition has been
 * woken.
 */
static bool sdr_conds_try(struct sdr_wait *w)
{
	if (pthread_mutex_trylock(&w->mutex))
		return false;
	pthread_cond_broadcast(&w->cond);
	pthread_mutex_unlock(&w->mutex);
	return true;
}

bool sdr_conds_raise(struct sdr_domain *dom, struct sdr_wait *w)
{
	if (sdr_conds_try(w))
		return true;
	pthread_mutex_lock(&dom->conds_lock);
	if (!w->cond_due) {
		w->cond_due = true;
		w->cond_next = dom->conds;
		dom->conds = w;
	}
	pthread_mutex_unlock(&dom->conds_lock);
	return false;
}

bool sdr_conds_signal(struct sdr_domain *dom)
{
	struct sdr_wait **p, *w;
	bool left;

	pthread_mutex_lock(&dom->conds_lock);
	for (p = &dom->conds; (w = *p);) {
		if (sdr_conds_try(w)) {
			w->cond_due = false;
			*p = w->cond_next;
		} else {
			p = &w->cond_next;
		}
	}
	left = dom->conds;
	pthread_mutex_unlock(&dom->conds_lock);
	return left;
}

void sdr_conds_del(struct sdr_domain *dom, struct sdr_wait *w)
{
	struct sdr_wait **p;

	pthread_mutex_lock(&dom->conds_lock);
	for (p = &dom->conds; *p; p = &(*p)->cond_next) {
		if (*p == w) {
			*p = w->cond_next;
			break;
		}
	}
	pthread_mutex_unlock(&dom->conds_lock);
}
