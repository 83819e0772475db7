/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What an application may ask of the writes of peers, on a datagram endpoint: the calls of
 * fi_ext_sdr.h.
 *
 * A write is found by its id, which no other ever has, while it is bound: of one that is over there
 * is nothing to look at, and nothing to end.  A look copies into the caller's memory and changes
 * nothing.  What sdr_writes_notify asks for is for writes that begin later.  All under the
 * endpoint's lock, so between two rounds.
 */
#include <string.h>

#include <rdma/fi_ext_sdr.h>

#include "base/sdr_rand.h"
#include "base/sdr_units.h"

#include "sdr_write_ext.h"
#include "sdr_ep.h"
#include "sdr_link.h"
#include "sdr_notes.h"
#include "sdr_write_in.h"

static struct sdr_write *sdr_write_of(struct sdr_ep *ep, uint64_t id)
{
	uint64_t hash = sdr_mix64(id);
	struct sdr_hnode *n;

	for (n = sdr_htab_first(&ep->links->ids, hash); n; n = n->next) {
		struct sdr_write *w = sdr_container(n, struct sdr_write, by_id);

		if (w->id == id)
			return w->link ? w : NULL;
	}
	return NULL;
}

int sdr_writes_notify(struct sdr_ep *ep, const struct fi_sdr_notify *how)
{
	int ret;

	if (!ep->links)
		return -FI_EOPNOTSUPP;
	ret = how ? sdr_notify_check(ep, SDR_CNTR_REMOTE_WRITE, how) : 0;
	if (ret)
		return ret;
	ep->links->how = how ? how->flags : 0;
	ep->links->context = how ? how->context : NULL;
	return 0;
}

int sdr_writes_list(struct sdr_ep *ep, uint64_t *ids, size_t n)
{
	struct sdr_list *e, *f;
	size_t k = 0;

	if (!ep->links)
		return -FI_EOPNOTSUPP;
	if (n && !ids)
		return -FI_EINVAL;
	sdr_list_each(e, &ep->links->in) {
		struct sdr_link *l = sdr_container(e, struct sdr_link, all);

		sdr_list_each(f, &l->ops) {
			if (k < n)
				ids[k] = sdr_write_by(f)->id;
			k++;
		}
	}
	return (int)k;
}

int sdr_write_view(struct sdr_ep *ep, uint64_t id, struct fi_sdr_view *view)
{
	const struct sdr_rcv_state *st;
	struct sdr_units u;
	struct sdr_write *w;

	if (!ep->links)
		return -FI_EOPNOTSUPP;
	if (!view || view->size < sizeof(*view) || view->first % 64 ||
	    (view->words && !view->bits) || view->nth)
		return -FI_EINVAL;
	w = sdr_write_of(ep, id);
	if (!w)
		return -FI_ENOENT;
	st = sdr_recv_state(w->h);
	u = (struct sdr_units){ .len = w->len,
				.unit = view->unit ? view->unit : w->link->mtu,
				.first = view->first,
				.bits = view->words ? view->bits : NULL,
				.words = view->words };
	if (u.bits)
		memset(u.bits, 0, u.words * sizeof(*u.bits));
	sdr_units_packets(&u, st->pkt_bits, st->npkts, w->link->mtu, 0, w->len);
	sdr_units_end(&u);
	view->size = sizeof(*view);
	view->unit = u.unit;
	view->flags = FI_REMOTE_WRITE | FI_RMA | (w->has_data ? FI_REMOTE_CQ_DATA : 0) |
		      (w->sent ? FI_SDR_SENT : 0);
	view->buf = w->va;
	view->len = w->len;
	view->total = sdr_units_count(&u);
	view->arrived = u.got;
	view->front = u.front;
	view->tag = w->id;
	view->src = w->src;
	view->data = w->data;
	view->key = w->key;
	return 0;
}

int sdr_write_end(struct sdr_ep *ep, uint64_t id)
{
	struct sdr_write *w;

	if (!ep->links)
		return -FI_EOPNOTSUPP;
	w = sdr_write_of(ep, id);
	if (!w)
		return -FI_ENOENT;
	sdr_write_over(w, true);
	return 0;
}

int sdr_writes_stats(struct sdr_ep *ep, struct fi_sdr_rma_stats *out)
{
	struct fi_sdr_rma_stats st = { .size = 0 };
	const struct sdr_links *s = ep->links;

	if (!s)
		return -FI_EOPNOTSUPP;
	if (!out || out->size < sizeof(out->size))
		return -FI_EINVAL;
	st.size = out->size < sizeof(st) ? out->size : sizeof(st);
	st.writes_tx = s->st_puts;
	st.writes_rx = s->st_in;
	st.whole = s->st_whole;
	st.part = s->st_part;
	st.lost = s->st_lost;
	st.refused = s->st_refused;
	st.twice = s->st_twice;
	st.links = s->nin;
	memcpy(out, &st, st.size);
	return 0;
}
