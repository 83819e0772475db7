/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A domain's endpoints: those that its progress thread drives, and those that are being closed,
 * whose peers may still use its regions.  Both lists are under dom->eps_lock.
 */
#include <stdlib.h>

#include "base/sdr_assert.h"

#include "sdr_domain.h"
#include "sdr_ep.h"
#include "sdr_progress.h"

int sdr_domain_ep_add(struct sdr_domain *dom, struct sdr_ep *ep)
{
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
out:
	pthread_mutex_unlock(&dom->eps_lock);
	sdr_thread_wake(dom);
	return ret;
}

void sdr_domain_ep_del(struct sdr_domain *dom, struct sdr_ep *ep)
{
	unsigned int i;

	pthread_mutex_lock(&dom->eps_lock);
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
