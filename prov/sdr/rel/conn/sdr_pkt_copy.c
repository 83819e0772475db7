/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets that go once more, in whole or in part, by the same path or by others: pings, what is
 * asked of all paths, the records of a packet that is alone, one record beside the path that has
 * it.
 *
 * A copy is logged where its answer says something; the records in it belong to the packet in which
 * they left first.  Without room, in the log or at the engine, there is none.
 */
#include <string.h>
#include "sdr_conn_mtu.h"
#include "sdr_conn_ops.h"
#include "sdr_pkt_copy.h"
#include "sdr_pkt_out.h"
#include "sdr_plog.h"
#include "sdr_rec.h"
#include "sdr_reshape.h"
#include "sdr_seal.h"

/*
 * Frames that have just left once more, by that path.  They are none of the records of the packet
 * that they were in: that this one arrives says nothing of those.  False: there is no room.
 */
static bool frames_copy(struct sdr_conn *c, struct sdr_path *path, const uint8_t *frames,
			size_t len)
{
	struct sdr_pkt *p;
	uint8_t *to;
	size_t n;

	if (!sdr_plog_room(c) || !(to = sdr_seal_begin(c->rel)))
		return false;
	p = sdr_ring_spare(&c->tx.log, struct sdr_pkt);
	*p = (struct sdr_pkt){ .extra = true, .path = path->index };
	sdr_list_init(&p->recs);
	n = sdr_pkt_begin(c, path, to);
	memcpy(to + n, frames, len);
	sdr_pkt_out(c, path, to, n + len, true);
	sdr_pkt_log(c, p, n + len);
	return true;
}

void sdr_pkt_copy_ping(struct sdr_conn *c, const uint8_t *frames, size_t len)
{
	while (c->pto.copies && frames_copy(c, sdr_conn_path(c, c->ctl), frames, len))
		c->pto.copies--;
	c->pto.copies = 0;
}

void sdr_pkt_copy_asked(struct sdr_conn *c, const uint8_t *frames, size_t len)
{
	for (uint32_t i = 0; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		if (i != c->ctl && p->state == SDR_PATH_ALIVE &&
		    (p->inflight || c->pto.count || c->close.tries > 1) &&
		    !frames_copy(c, p, frames, len))
			return;
	}
}

void sdr_pkt_repeat(struct sdr_conn *c)
{
	size_t room = sdr_seal_room(c->rel, c->ctl_agreed);
	struct sdr_pkt *p, *orig;
	struct sdr_list *l;
	uint8_t *to;
	size_t n;

	if (sdr_ring_empty(&c->tx.log) || sdr_reshape_says(c))
		return;
	orig = sdr_plog_at(c, c->tx.log.tail - 1);
	if (orig->pn != c->tx.pn - 1 || c->tx.live != 1 || c->inflight != orig->bytes ||
	    sdr_list_empty(&orig->recs) || !c->rel->ops->repeats(c) || !sdr_plog_room(c))
		return;
	to = sdr_seal_begin(c->rel);
	if (!to)
		return;
	orig = sdr_plog_at(c, c->tx.log.tail - 1);
	p = sdr_ring_spare(&c->tx.log, struct sdr_pkt);
	*p = (struct sdr_pkt){
		.copy = true, .copy_of = orig->pn, .nrseq = orig->nrseq, .path = orig->path
	};
	memcpy(p->rseq, orig->rseq, sizeof(p->rseq));
	sdr_list_init(&p->recs);
	n = sdr_packet_encode(to, c->id.peer_cid, c->tx.pn);
	sdr_list_each(l, &orig->recs) {
		struct sdr_rec *r = sdr_container(l, struct sdr_rec, link);
		size_t k = sdr_frame_rec_encode(to + n, room - n, &r->f);

		if (!k)
			return; /* dropped with the next alloc */
		if (r->f.payload_len)
			c->rel->ops->gather(r, to + n + k);
		n += k + r->f.payload_len;
		c->st.rec_copies++;
	}
	sdr_pkt_out(c, sdr_conn_path(c, p->path), to, n, true);
	sdr_pkt_log(c, p, n);
}

bool sdr_pkt_record_by(struct sdr_conn *c, const struct sdr_path *path, const struct sdr_rec *r)
{
	size_t room = sdr_seal_room(c->rel, sdr_path_mtu_ctl(c, path)), n, k;
	uint8_t *p = sdr_seal_begin(c->rel);

	if (!p)
		return false;
	n = sdr_pkt_begin(c, path, p);
	if (sdr_reshape_says(c)) { /* no record without it */
		k = sdr_reshape_put(c, p + n, room - n);
		if (!k)
			return true; /* dropped with the next alloc: c->ctl has it */
		n += k;
	}
	k = sdr_frame_rec_encode(p + n, room - n, &r->f);
	if (!k)
		return true;
	n += k;
	sdr_seal_send_by(c, path, n);
	c->tx.pn++;
	c->st.rec_copies++;
	c->rel->activity++;
	return true;
}
