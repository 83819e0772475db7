/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Completions that tell of bitmaps that changed: of receives of FI_EP_DGRAM, and of writes of peers
 * (sdr_write_in.c).
 *
 * Once a round, for each message that got packets in it, what it tells of is counted (chunks that
 * are whole, or packets).  If there are more than last time, the counter steps and an entry is
 * written; when the queue is full, the message stands in one line, once however often it changes,
 * and its entry is written after the round that finds room.  So a queue never grows by this, an
 * entry says what is there when it is written, and the last change of each message is told.  An
 * entry that says that all is there, or that the message is over, is the last.
 *
 * Everything under the endpoint's lock.  A note is the application's doing: one a posted receive.
 * To count chunks costs a look at the message's chunk bitmap; packets are counted already.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/fi_ext_sdr.h>

#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "base/sdr_htab.h"
#include "base/sdr_rand.h"
#include "sdk/sdr_sdk.h"

#include "sdr_notes.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_ep.h"
#include "sdr_prov.h"

struct sdr_notes {
	struct sdr_htab tab; /* sdr_noted, by handle */
	struct sdr_list all; /* likewise */
	struct sdr_list due; /* sdr_note */
};

struct sdr_noted { /* a receive of the application's */
	struct sdr_hnode node;
	struct sdr_list all;
	const struct sdr_qp *qp;
	const struct sdr_rcv_handle *h;
	struct sdr_note note;
};

/* ---- one message ----------------------------------------------------------------------------- */

uint64_t sdr_note_bytes(const struct sdr_rcv_state *st, uint32_t mtu)
{
	uint64_t full = (uint64_t)st->got * mtu, over = (uint64_t)st->npkts * mtu - st->length;

	return sdr_bitmap_test(st->pkt_bits, st->npkts - 1) && full >= over ? full - over : full;
}

static uint32_t sdr_note_count(const struct sdr_note *n)
{
	const struct sdr_rcv_state *st = n->st;

	if (n->how & FI_SDR_TELL_PACKETS)
		return st->got;
	return sdr_bitmap_count(st->chunk_bits, st->nchunks);
}

/* There is room for it. */
static void sdr_note_push(struct sdr_ep *ep, struct sdr_note *n)
{
	struct sdr_cqe e = {
		.ctx = n->context,
		.flags = (n->flags & ~(n->over ? 0 : FI_REMOTE_CQ_DATA)) | FI_SDR_BITMAP,
		.len = n->over ? n->over_bytes : sdr_note_bytes(n->st, n->mtu),
		.data = n->over ? n->over_count : sdr_note_count(n),
		.buf = n->buf,
		.tag = n->tag,
		.src = n->src,
	};

	if (e.flags & FI_REMOTE_CQ_DATA)
		e.data = n->cq_data;
	n->whole = n->over || n->st->got == n->st->npkts;
	if (!n->over && n->whole)
		e.flags |= FI_SDR_WHOLE;
	sdr_cq_push(ep->rx_cq, &e);
}

/* False: it stands in line. */
static bool sdr_note_tell(struct sdr_ep *ep, struct sdr_note *n)
{
	if (sdr_list_empty(&n->due)) {
		if (!sdr_cq_full(ep->rx_cq)) {
			sdr_note_push(ep, n);
			return true;
		}
		sdr_list_add_tail(&n->due, &ep->notes->due);
	}
	return false;
}

void sdr_note_look(struct sdr_ep *ep, struct sdr_note *n)
{
	uint32_t count;

	if (!n->how || n->whole || n->st->got == n->got)
		return;
	n->got = n->st->got;
	count = sdr_note_count(n);
	if (count == n->counts)
		return;
	n->counts = count;
	if ((n->how & FI_SDR_TELL_CNTR) && ep->cntr[n->cntr])
		sdr_cntr_bump(ep->cntr[n->cntr], false);
	if (n->how & FI_SDR_TELL_CQ)
		(void)sdr_note_tell(ep, n);
}

void sdr_note_say(struct sdr_ep *ep, struct sdr_note *n)
{
	if (n->how & FI_SDR_TELL_CQ)
		(void)sdr_note_tell(ep, n);
}

bool sdr_note_over(struct sdr_ep *ep, struct sdr_note *n, uint64_t flags)
{
	SDR_ASSERT(!n->over);
	n->over_bytes = sdr_note_bytes(n->st, n->mtu);
	n->over_count = sdr_note_count(n);
	n->over = true;
	n->flags |= flags;
	if (n->over_count != n->counts && (n->how & FI_SDR_TELL_CNTR) && ep->cntr[n->cntr])
		sdr_cntr_bump(ep->cntr[n->cntr], false);
	n->st = NULL;
	return !(n->how & FI_SDR_TELL_CQ) || sdr_note_tell(ep, n);
}

void sdr_note_end(struct sdr_note *n)
{
	if (n->how)
		sdr_list_del(&n->due);
	n->how = 0;
}

int sdr_notify_check(struct sdr_ep *ep, uint8_t cntr, const struct fi_sdr_notify *how)
{
	const char *why;
	int ret = -FI_EINVAL;

	if (how->size < sizeof(*how)) {
		why = "its size is not that of struct fi_sdr_notify";
	} else if (how->flags & ~(FI_SDR_TELL_CQ | FI_SDR_TELL_CNTR | FI_SDR_TELL_PACKETS) ||
		   !(how->flags & (FI_SDR_TELL_CQ | FI_SDR_TELL_CNTR))) {
		why = "its flags are not FI_SDR_TELL_CQ, FI_SDR_TELL_CNTR or both, with or without "
		      "FI_SDR_TELL_PACKETS";
	} else if ((how->flags & FI_SDR_TELL_CQ) && !ep->rx_cq) {
		why = "no completion queue is bound with FI_RECV";
		ret = -FI_ENOCQ;
	} else if ((how->flags & FI_SDR_TELL_CNTR) && !ep->cntr[cntr]) {
		why = cntr == SDR_CNTR_RECV ? "no counter is bound with FI_RECV"
					    : "no counter is bound with FI_REMOTE_WRITE";
		ret = -FI_ENOCQ;
	} else {
		return 0;
	}
	FI_WARN(&sdr_prov, FI_LOG_EP_DATA, "changes of a bitmap cannot be told: %s\n", why);
	return ret;
}

void sdr_note_set(struct sdr_ep *ep, struct sdr_note *n, const struct fi_sdr_notify *how)
{
	if (!n->how)
		sdr_list_init(&n->due);
	n->how = how->flags;
	n->context = how->context;
	n->got = n->counts = 0;
	n->whole = false;
	sdr_note_look(ep, n);
}

/* ---- receives of the application ------------------------------------------------------------- */

int sdr_notes_open(struct sdr_ep *ep)
{
	ep->notes = calloc(1, sizeof(*ep->notes));
	if (!ep->notes)
		return -FI_ENOMEM;
	sdr_list_init(&ep->notes->all);
	sdr_list_init(&ep->notes->due);
	return 0;
}

static struct sdr_noted *sdr_noted_find(struct sdr_ep *ep, const struct sdr_rcv_handle *h)
{
	uint64_t hash = sdr_mix64((uint64_t)(uintptr_t)h);
	struct sdr_hnode *n;

	for (n = sdr_htab_first(&ep->notes->tab, hash); n; n = n->next) {
		struct sdr_noted *d = sdr_container(n, struct sdr_noted, node);

		if (d->h == h)
			return d;
	}
	return NULL;
}

static void sdr_noted_free(struct sdr_ep *ep, struct sdr_noted *d)
{
	sdr_note_end(&d->note);
	sdr_htab_del(&ep->notes->tab, &d->node);
	sdr_list_del(&d->all);
	free(d);
}

void sdr_notes_close(struct sdr_ep *ep)
{
	if (!ep->notes)
		return;
	while (!sdr_list_empty(&ep->notes->all))
		sdr_noted_free(ep, sdr_container(ep->notes->all.next, struct sdr_noted, all));
	SDR_ASSERT(sdr_list_empty(&ep->notes->due));
	sdr_htab_destroy(&ep->notes->tab);
	free(ep->notes);
	ep->notes = NULL;
}

void sdr_notes_flush(struct sdr_ep *ep)
{
	struct sdr_note *n;
	struct sdr_list *l;

	while (!sdr_list_empty(&ep->notes->due) && !sdr_cq_full(ep->rx_cq)) {
		l = sdr_list_pop(&ep->notes->due);
		n = sdr_container(l, struct sdr_note, due);
		sdr_note_push(ep, n);
		if (n->over)
			n->told(ep, n); /* and it is gone */
	}
}

void sdr_notes_received(void *user, struct sdr_rcv_handle *h)
{
	struct sdr_ep *ep = user;
	struct sdr_noted *d = sdr_noted_find(ep, h);

	if (d)
		sdr_note_look(ep, &d->note);
}

int sdr_notes_ask(struct sdr_ep *ep, struct sdr_qp *qp, struct sdr_rcv_handle *h,
		  const struct fi_sdr_notify *how)
{
	const struct sdr_rcv_state *st = sdr_recv_state(h);
	struct sdr_noted *d;
	int ret;

	if (!qp || !st || sdr_recv_find(qp, st->msn) != h) {
		FI_WARN(&sdr_prov, FI_LOG_EP_DATA,
			"changes of a bitmap cannot be told: the receive is not one that is posted on this queue pair\n");
		return -FI_EINVAL;
	}
	if (!how) {
		sdr_notes_drop(ep, h);
		return 0;
	}
	ret = sdr_notify_check(ep, SDR_CNTR_RECV, how);
	if (ret)
		return ret;
	d = sdr_noted_find(ep, h);
	if (!d) {
		d = calloc(1, sizeof(*d));
		if (!d)
			return -FI_ENOMEM;
		if (sdr_htab_add(&ep->notes->tab, &d->node, sdr_mix64((uint64_t)(uintptr_t)h))) {
			free(d);
			return -FI_ENOMEM;
		}
		sdr_list_add_tail(&d->all, &ep->notes->all);
		d->qp = qp;
		d->h = h;
		d->note.st = st;
		d->note.buf = st->buf;
		d->note.src = FI_ADDR_NOTAVAIL;
		d->note.mtu = sdr_qp_mtu(qp);
		d->note.cntr = SDR_CNTR_RECV;
		d->note.flags = FI_RECV | FI_MSG;
		d->note.tag = st->msn;
	}
	sdr_note_set(ep, &d->note, how);
	return 0;
}

void sdr_notes_drop(struct sdr_ep *ep, const struct sdr_rcv_handle *h)
{
	struct sdr_noted *d = sdr_noted_find(ep, h);

	if (d)
		sdr_noted_free(ep, d);
}

void sdr_notes_drop_qp(struct sdr_ep *ep, const struct sdr_qp *qp)
{
	struct sdr_list *l, *next;

	sdr_list_each_safe(l, next, &ep->notes->all) {
		struct sdr_noted *d = sdr_container(l, struct sdr_noted, all);

		if (d->qp == qp)
			sdr_noted_free(ep, d);
	}
}
