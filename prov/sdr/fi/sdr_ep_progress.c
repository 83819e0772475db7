/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One round of an endpoint.  All under the endpoint's lock.
 *
 * An endpoint with SDR_CQ_SIZE_MAX unread entries is not driven until the application has read
 * some.  When the engine fails for good the endpoint stops being driven; its operations have been
 * failed by then.  What the engine has to say is logged once.
 */
#include <stdio.h>
#include <string.h>

#include "sdk/sdr_sdk.h"
#include "uc/sdr_uc.h"

#include "sdr_ep_progress.h"
#include "sdr_alarm.h"
#include "sdr_ep.h"
#include "sdr_link.h"
#include "sdr_notes.h"
#include "sdr_prov.h"
#include "sdr_srx.h"
#include "sdr_held.h"

bool sdr_ep_arm(struct sdr_ep *ep)
{
	SDR_ASSERT_HELD(&ep->lock);
	return ep->enabled && !ep->broken && ep->uc->ops->arm(ep->uc);
}

void sdr_ep_reason(struct sdr_ep *ep)
{
	const char *why = ep->uc->ops->reason(ep->uc);

	SDR_ASSERT_HELD(&ep->lock);
	if (!why[0] || strncmp(why, ep->reported, sizeof(ep->reported) - 1) == 0)
		return;
	snprintf(ep->reported, sizeof(ep->reported), "%s", why);
	FI_WARN(&sdr_prov, FI_LOG_EP_CTRL, "%s\n", ep->reported);
}

int sdr_ep_drive(struct sdr_ep *ep)
{
	int ret;

	SDR_ASSERT_HELD(&ep->lock);
	if (!ep->enabled || ep->broken || sdr_ep_backpressured(ep))
		return 0;
	sdr_ep_alarm_heard(ep);
	ret = ep->rel ? sdr_rel_progress(ep->rel) : sdr_context_progress(ep->ctx);
	if (ep->links)
		ep->links->run(ep);
	if (ep->notes)
		sdr_notes_flush(ep);
	sdr_ep_reason(ep);
	if (ret < 0 && ret != -EAGAIN) {
		ep->broken = true;
		FI_WARN(&sdr_prov, FI_LOG_EP_CTRL, "endpoint stopped: %s (%s)\n",
			ep->uc->ops->reason(ep->uc), fi_strerror(-ret));
	}
	return ret;
}

bool sdr_ep_drive_again(struct sdr_ep *ep)
{
	return sdr_ep_drive(ep) > 0 && (!ep->rel || sdr_rel_again(ep->rel));
}

int sdr_ep_nudge(struct sdr_ep *ep)
{
	return ep->srx && ep->srx->kind->foreign ? 0 : sdr_ep_round(ep, NULL);
}

int sdr_ep_round(struct sdr_ep *ep, uint64_t *wait_ns)
{
	int ret = sdr_ep_drive(ep);
	uint64_t due, now;

	if (atomic_load_explicit(&ep->watch, memory_order_relaxed) || ep->alarm_due != UINT64_MAX)
		sdr_ep_alarm_driven(ep);
	if (!wait_ns)
		return ret;
	due = sdr_ep_due(ep);
	if (due && sdr_ep_arm(ep))
		due = 0;
	now = due && due != UINT64_MAX ? ep->uc->ops->now(ep->uc) : 0;
	*wait_ns = due == UINT64_MAX ? due : due > now ? due - now : 0;
	return ret;
}
