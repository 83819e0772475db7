/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What follows when bulk data arrive: packets that were placed, decoding that a thread has done, an
 * END of which the sender wants to hear.  A segment is complete when its data are, however they
 * came; its parity's number is closed with it, and a transfer with its last segment.  What is
 * reported of it, and when, is in sdr_report.c.
 *
 * A copy to a device that fails ends the transfer as one that has arrived, with an error.
 *
 * A message that is not bound (its record is lost, or the receive is not posted) has no state
 * here: END is then acknowledged without a report, which says that nothing sent before it arrived,
 * and the sender repeats.
 */
#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_home.h"
#include "rel/conn/sdr_probe.h"
#include "rel/conn/sdr_stranger.h"
#include "sdr_bulk_arrive.h"
#include "sdr_code_rx.h"
#include "sdr_msn.h"
#include "sdr_report.h"
#include "sdr_scheme.h"
#include "sdr_seg_rx.h"

/* All data of a segment are in place, dec packets of them out of parity. */
static void seg_complete(struct sdr_seg_rx *s, uint32_t dec, uint32_t dec_chunks)
{
	struct sdr_bulk_rx *b = s->bulk;
	struct sdr_conn *c = b->conn;
	const struct sdr_rcv_state *st = sdr_recv_state(s->h);
	struct sdr_seg_rx *parity = s->grp ? s->grp->parity : NULL;

	if (s->stage.mem ? sdr_stage_rx_store(&s->stage, s->stage.len)
			 : b->direct && sdr_mem_flush(b->mem)) {
		sdr_bulk_rx_fail(b, SDR_REL_ERR_MEM);
		return;
	}
	c->st.pkts_rx += st->got;
	c->st.bytes_rx += st->length;
	c->st.pkts_dup += st->dups;
	sdr_report_complete(c, &(struct sdr_complete){ s->msn, st->last, st->last_ns, 0, dec,
						       dec_chunks, sdr_conn_lossy(c) || s->grp });
	if (parity) {
		c->st.pkts_rx += sdr_recv_state(parity->h)->got;
		sdr_seg_rx_free(parity);
	}
	sdr_seg_rx_free(s);
	b->done++;
	SDR_ASSERT(b->done <= b->plan.nsegs && b->done <= b->bound && b->bound <= b->plan.nmsgs);
	sdr_seg_rx_more(c);
	if (b->done == b->plan.nsegs) {
		/* The last parity may not have been bound yet. */
		if (b->bound < b->plan.nmsgs)
			sdr_msn_skip_range(c, b->msn + b->bound, b->msn + b->plan.nmsgs);
		sdr_bulk_rx_complete(b);
	}
}

/* What has come without a gap goes on to the device.  False: that failed, and s is gone. */
static bool seg_store(struct sdr_seg_rx *s, const struct sdr_rcv_state *st)
{
	uint32_t mtu = s->bulk->shape->mtu, end;

	if (!s->stage.mem || (uint64_t)st->got * mtu < s->stage.done + SDR_STAGE_PIECE)
		return true;
	if (s->grp && sdr_decode_lent(&s->grp->decode)) /* it goes with what is decoded */
		return true;
	end = sdr_bitmap_next_zero(st->pkt_bits, (uint32_t)(s->stage.done / mtu), st->npkts);
	if (end == st->npkts || !sdr_stage_rx_store(&s->stage, (uint64_t)end * mtu))
		return true;
	sdr_bulk_rx_fail(s->bulk, SDR_REL_ERR_MEM);
	return false;
}

static void group_complete(struct sdr_group_rx *g)
{
	struct sdr_conn *c = g->data->bulk->conn;
	uint32_t pkts, chunks;

	sdr_group_rx_decoded(g, &pkts, &chunks);
	seg_complete(g->data, pkts, chunks);
	sdr_conn_kick(c);
}

void sdr_bulk_arrive_decoded(struct sdr_rel *rel)
{
	struct sdr_list todo, *l;

	if (sdr_list_empty(&rel->bulk->decodes))
		return;
	sdr_list_init(&todo);
	sdr_list_move(&rel->bulk->decodes, &todo);
	/* One that is complete may end others, which leave this list, then, or that. */
	while ((l = sdr_list_pop(&todo))) {
		struct sdr_decode *d = sdr_container(l, struct sdr_decode, link);
		struct sdr_group_rx *g = sdr_container(d, struct sdr_group_rx, decode);

		sdr_rel_step(rel);
		/* What failed ends when the round does. */
		if (!sdr_conn_live(g->data->bulk->conn) || !sdr_decode_over(d)) {
			sdr_list_add_tail(&d->link, &rel->bulk->decodes);
			continue;
		}
		rel->activity++;
		group_complete(g);
	}
}

void sdr_bulk_arrive_placed(void *user, struct sdr_rcv_handle *h)
{
	struct sdr_conn *c = user;
	const struct sdr_rcv_state *st = sdr_recv_state(h);
	struct sdr_seg_rx *s = st->user, *data = s->grp ? s->grp->data : s;
	uint32_t holes = st->high - st->got, pkts;

	/* It failed in this round: what it was for ends when the round does. */
	if (!sdr_conn_live(c))
		return;
	sdr_rel_now(c->rel);
	sdr_conn_heard(c);
	c->hs.answered = true;
	pkts = sdr_report_pkts(c, s, st->got - s->got);
	if (st->got != s->got) {
		s->got = st->got;
		sdr_conn_came_closer(c);
		if (!seg_store(s, st))
			return;
	}
	if (s->grp && sdr_group_rx_try(c, s->grp)) {
		group_complete(s->grp);
		return;
	}
	/* A device has written what was missing, perhaps while that is decoded. */
	if (!s->parity && st->got == st->npkts) {
		if (s->grp)
			sdr_decode_stop(&s->grp->decode);
		seg_complete(data, 0, 0);
		sdr_conn_kick(c);
		return;
	}
	/* What has come of it need not stay in flight until it is complete. */
	if (s->grp && sdr_decode_lent(&s->grp->decode) && data->rep_got != data->got)
		sdr_report_now(c, data);
	if (holes > s->rep_holes)
		sdr_home_missed(c->rel);
	/* Packets of several paths leave holes whatever becomes of them. */
	if (holes > s->rep_holes && !c->bulk->scheme->ignores_gaps && c->npaths == 1) {
		sdr_report_now(c, s);
		s->gap = c->main.rack.lossy = true;
	} else if (st->got - s->rep_got >= pkts) {
		sdr_report_now(c, s);
	} else {
		sdr_report_owed(c, s);
	}
	if (holes < s->rep_holes)
		s->rep_holes = holes;
	sdr_conn_kick(c);
}

/* Each path of the peer's asks (sdr_pkt_copy.c): what one of them was answered says it to all. */
void sdr_bulk_arrive_end(struct sdr_conn *c, uint32_t msn)
{
	struct sdr_rcv_handle *h = sdr_recv_find(sdr_shape_of_rx(c, msn)->qp, msn);
	bool one_of_many = c->rtt_mute;

	if (h) {
		struct sdr_seg_rx *s = sdr_recv_state(h)->user;

		sdr_home_missed(c->rel); /* the end of it, perhaps */
		sdr_report_now(c, s);
		s->gap = true;
		s->asks += s->asks < SDR_PROBE_ANSWERS && !(s->asks && one_of_many);
		/* Its sender waits for this: without a report all of it counts as lost. */
		if ((sdr_conn_lossy(c) || s->grp) && sdr_list_empty(&s->asked)) {
			sdr_list_add_tail(&s->asked, &c->bulk->rx.asked);
			c->rx.ack_twice = true;
		}
		return;
	}
	if (sdr_msn_complete(c, msn) && !(one_of_many && sdr_report_waits(c, msn))) {
		sdr_report_complete(c, &(struct sdr_complete){ msn, ~0u, c->rel->now, 0, 0, 0,
							       sdr_conn_lossy(c) });
		sdr_conn_kick(c);
	}
	/*
	 * Otherwise nothing is known of it, and the acknowledgement of the END itself says what is
	 * lost; or there was no memory to bind it, and there may be now.
	 */
	sdr_seg_rx_more(c);
}
