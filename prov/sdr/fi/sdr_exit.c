/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The end of a process that did not close what it opened.
 *
 * All domains stand in one list.  When libfabric cleans up, at exit, each endpoint that is still
 * open reports to its peers what it has received (sdr_rel_farewell) and is not driven any more;
 * what fault injection holds back leaves at its time.  Memory of the application is not looked at:
 * destructors may have run.
 *
 * Exit must not hang: no lock is waited for beyond SDR_EXIT_LOCK_NS (another thread may be
 * anywhere, for ever, if this one was stopped inside it), and nothing else beyond
 * SDR_CLOSE_LINGER_MS.  A forked child says nothing: the endpoints are its parent's.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "uc/sdr_uc.h"

#include "sdr_exit.h"
#include "sdr_domain.h"
#include "sdr_ep.h"
#include "sdr_wait.h"

/* for all locks together: a round of another thread ends in less */
#define SDR_EXIT_LOCK_NS 200000000ull
#define SDR_EXIT_NAP_NS	 50000ull
#define SDR_EXIT_DEV_NS	 2000000ull /* a device sends its last datagrams meanwhile */

static pthread_mutex_t sdr_domains_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdr_domain *sdr_domains;

void sdr_exit_domain_add(struct sdr_domain *dom)
{
	dom->pid = getpid();
	pthread_mutex_lock(&sdr_domains_lock);
	dom->all_next = sdr_domains;
	sdr_domains = dom;
	pthread_mutex_unlock(&sdr_domains_lock);
}

void sdr_exit_domain_del(struct sdr_domain *dom)
{
	struct sdr_domain **p;

	pthread_mutex_lock(&sdr_domains_lock);
	for (p = &sdr_domains; *p; p = &(*p)->all_next) {
		if (*p == dom) {
			*p = dom->all_next;
			break;
		}
	}
	pthread_mutex_unlock(&sdr_domains_lock);
}

static void sdr_exit_nap(uint64_t ns)
{
	struct timespec ts = { .tv_nsec = (long)ns };

	nanosleep(&ts, NULL);
}

static bool sdr_exit_lock(pthread_mutex_t *m, uint64_t until)
{
	while (pthread_mutex_trylock(m)) {
		if (sdr_mono_ns() >= until)
			return false;
		sdr_exit_nap(SDR_EXIT_NAP_NS);
	}
	return true;
}

/* Under ep->lock. */
static void sdr_exit_ep(struct sdr_ep *ep, uint64_t until)
{
	uint64_t now;

	if (!ep->uc || ep->broken)
		return;
	ep->broken = true; /* no thread drives it from here on */
	while (ep->rel && !sdr_rel_farewell(ep->rel) && sdr_mono_ns() < until)
		sdr_exit_nap(SDR_EXIT_NAP_NS);
	now = sdr_mono_ns();
	if (ep->uc->ops->drain)
		ep->uc->ops->drain(ep->uc, now < until ? until - now : 0);
}

void sdr_exit_farewell(void)
{
	uint64_t now = sdr_mono_ns(), locks = now + SDR_EXIT_LOCK_NS,
		 until = now + SDR_CLOSE_LINGER_MS * 1000000ull;
	struct sdr_domain *dom;
	bool device = false;
	unsigned int i;

	if (!sdr_exit_lock(&sdr_domains_lock, locks))
		return;
	for (dom = sdr_domains; dom; dom = dom->all_next) {
		if (dom->pid != getpid() || !sdr_exit_lock(&dom->eps_lock, locks))
			continue;
		for (i = 0; i < dom->neps; i++) {
			struct sdr_ep *ep = dom->eps[i];

			if (!sdr_exit_lock(&ep->lock, locks))
				continue;
			sdr_exit_ep(ep, until);
			device |= dom->device[0];
			pthread_mutex_unlock(&ep->lock);
		}
		pthread_mutex_unlock(&dom->eps_lock);
	}
	pthread_mutex_unlock(&sdr_domains_lock);
	if (device)
		sdr_exit_nap(SDR_EXIT_DEV_NS);
}
