/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What has come of a receive that is under way: `view` of fi_ext_sdr.h on a reliable endpoint.
 *
 * The layer below looks (rel/msg/sdr_view.c), under the endpoint's lock, so between two rounds, and
 * copies into the caller's memory.  A receive of another (a receive context) is found by the
 * context that the application gave it, once a message of this endpoint has met it.
 */
#include <string.h>

#include <rdma/fi_ext_sdr.h>

#include "rel/msg/sdr_view.h"

#include "sdr_ep_view.h"
#include "sdr_ep.h"
#include "sdr_ep_done.h"
#include "sdr_ep_peer.h"
#include "sdr_prov.h"
#include "sdr_srx.h"

struct sdr_view_of {
	const struct sdr_ep *ep;
	const void *context;
};

static bool sdr_view_same(const void *arg, const void *ctx, uint64_t uflags)
{
	const struct sdr_view_of *of = arg;

	if (uflags & SDR_UF_LENT)
		ctx = of->ep->srx->kind->context(ctx);
	return ctx == of->context;
}

static uint64_t sdr_view_flags(uint8_t kind)
{
	switch (kind) {
	case SDR_REL_READ:
		return FI_READ | FI_RMA;
	case SDR_REL_TRECV:
		return FI_RECV | FI_TAGGED;
	default:
		return FI_RECV | FI_MSG;
	}
}

int sdr_ep_view(struct sdr_ep *ep, const void *context, struct fi_sdr_view *view)
{
	struct sdr_view_of of = { ep, context };
	struct sdr_rel_view v;
	int ret;

	if (view->size < sizeof(*view) || view->first % 64 || (view->words && !view->bits))
		return -FI_EINVAL;
	v = (struct sdr_rel_view){ .nth = view->nth,
				   .unit = view->unit,
				   .first = view->first,
				   .bits = view->words ? view->bits : NULL,
				   .words = view->words };
	pthread_mutex_lock(&ep->lock);
	ret = ep->rel ? sdr_rel_view(ep->rel, sdr_view_same, &of, &v) : -FI_EOPBADSTATE;
	if (!ret)
		view->src = sdr_ep_source(ep, v.peer);
	pthread_mutex_unlock(&ep->lock);
	if (ret)
		return ret;
	view->size = sizeof(*view);
	view->flags = sdr_view_flags(v.kind);
	view->buf = v.buf;
	view->len = v.len;
	view->unit = v.unit;
	view->total = v.nbits;
	view->arrived = v.got;
	view->front = v.front;
	view->tag = v.tag;
	return 0;
}
