/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A domain's endpoints: those that its progress thread drives, and those that are being closed,
 * whose peers may still use its regions.  Both lists are under dom->eps_lock, as is that of the
 * counters of regions: what they count may come by any endpoint, so all of them are in their sets.
 */
#include <stdlib.h>

#include "base/sdr_assert.h"

#include "sdr_cntr.h"
#include "sdr_domain.h"
#include "sdr_ep.h"
#include "sdr_progress.h"

static int domain_cntr_drives(struct sdr_cntr *cntr, struct sdr_ep *ep)
{
	int ret = sdr_pset_add(&cntr->eps, ep);

	return ret ? ret : sdr_pset_watch(&cntr->eps, ep);
}

int sdr_domain_cntr_add(struct sdr_domain *dom, struct sdr_cntr *cntr)
{
	unsigned int i;
	int ret = 0;

	pthread_mutex_lock(&dom->eps_lock);
	if (!cntr->of_regions) {
		cntr->of_regions = true;
		cntr->next = dom->cntrs;
		dom->cntrs = cntr;
	}
	/* those that are there already change nothing: once more, if memory was short */
	for (i = 0; i < dom->neps && !ret; i++)
		ret = domain_cntr_drives(cntr, dom->eps[i]);
	pthread_mutex_unlock(&dom->eps_lock);
	sdr_wait_raise(&cntr->wait);
	return ret;
}

void sdr_domain_cntr_del(struct sdr_domain *dom, struct sdr_cntr *cntr)
{
	struct sdr_cntr **p;
	unsigned int i;

	pthread_mutex_lock(&dom->eps_lock);
	for (p = &dom->cntrs; *p && *p != cntr; p = &(*p)->next)
		;
	if (*p) {
		*p = cntr->next;
		for (i = 0; i < dom->neps; i++)
			sdr_pset_del(&cntr->eps, dom->eps[i]);
	}
	pthread_mutex_unlock(&dom->eps_lock);
}

int sdr_domain_ep_add(struct sdr_domain *dom, struct sdr_ep *ep)
{
	struct sdr_cntr *cntr;
	struct sdr_ep **v;
	int ret = 0;

	pthread_mutex_lock(&dom->eps_lock);
	if (dom->neps == dom->eps_cap) {
		v = realloc(dom->eps, (dom->eps_cap + 8) * sizeof(*v));
		if (!v) {
			ret = -FI_ENOMEM;
			goto out;
		}
		dom->eps = v;
		dom->eps_cap += 8;
	}
	dom->eps[dom->neps++] = ep;
	for (cntr = dom->cntrs; cntr && !ret; cntr = cntr->next)
		ret = domain_cntr_drives(cntr, ep);
out:
	pthread_mutex_unlock(&dom->eps_lock);
	sdr_thread_wake(dom);
	return ret;
}

void sdr_domain_ep_del(struct sdr_domain *dom, struct sdr_ep *ep)
{
	struct sdr_cntr *cntr;
	unsigned int i;

	pthread_mutex_lock(&dom->eps_lock);
	for (cntr = dom->cntrs; cntr; cntr = cntr->next) {
		sdr_pset_del(&cntr->eps, ep);
		sdr_wait_raise(&cntr->wait);
	}
	for (i = 0; i < dom->neps; i++) {
		if (dom->eps[i] == ep) {
			sdr_thread_forget(dom, ep);
			dom->eps[i] = dom->eps[--dom->neps];
			break;
		}
	}
	SDR_ASSERT(!ep->thread_in);
	ep->closing_next = dom->closing;
	dom->closing = ep;
	pthread_mutex_unlock(&dom->eps_lock);
	sdr_thread_wake(dom);
}

void sdr_domain_ep_gone(struct sdr_domain *dom, struct sdr_ep *ep)
{
	struct sdr_ep **p;

	pthread_mutex_lock(&dom->eps_lock);
	for (p = &dom->closing; *p && *p != ep; p = &(*p)->closing_next)
		;
	SDR_ASSERT(*p == ep); /* sdr_domain_ep_del put it there */
	*p = ep->closing_next;
	pthread_mutex_unlock(&dom->eps_lock);
}
