/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See bed_room.h.
 */
#include "rel/conn/sdr_conn_books.h"
#include "rel/conn/sdr_ctl_input.h"
#include "rel/conn/sdr_versions.h"
#include "bed_room.h"
#include "rel/conn/sdr_alias.h"

enum { HERE, PEER }; /* nodes of the stub network */

/* ---- the rooms above ------------------------------------------------------------------------- */

static struct room_above *above(const struct sdr_conn *c)
{
	return &sdr_container(c->rel, struct room, rel)->above;
}

static void up_init(struct sdr_conn *c)
{
	(void)c;
}

static bool up_wanted(const struct sdr_conn *c)
{
	return above(c)->wanted;
}

static bool up_busy(const struct sdr_conn *c)
{
	return above(c)->busy;
}

static bool up_owned(const struct sdr_conn *c)
{
	return above(c)->owned;
}

static void up_opened(struct sdr_conn *c)
{
	above(c)->opened++;
}

static void up_closed(struct sdr_conn *c)
{
	above(c)->closed++;
}

static void up_record(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	above(c)->records++;
	above(c)->last = *f;
	above(c)->last.payload = NULL;
}

static bool up_room(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	(void)f;
	return above(c)->room;
}

static uint64_t up_bytes(const struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	(void)c;
	return f->payload_len;
}

static void up_dack(struct sdr_conn *c, const struct sdr_frame_dack *f, struct sdr_acks *as)
{
	(void)c;
	(void)f;
	(void)as;
}

static void up_end(struct sdr_conn *c, uint32_t msn)
{
	(void)c;
	(void)msn;
}

static void up_nothing(struct sdr_conn *c)
{
	(void)c;
}

static void up_detect_lost(struct sdr_conn *c, bool nack, struct sdr_acks *as)
{
	(void)c;
	(void)nack;
	(void)as;
}

static uint32_t up_due(const struct sdr_conn *c)
{
	(void)c;
	return 0;
}

static bool up_repeats(const struct sdr_conn *c)
{
	return above(c)->repeats;
}

static size_t up_put_reports(struct sdr_conn *c, uint8_t *p, size_t room, bool *more)
{
	(void)c;
	(void)p;
	(void)room;
	*more = false;
	return 0;
}

static size_t up_put(struct sdr_conn *c, uint8_t *p, size_t room)
{
	(void)c;
	(void)p;
	(void)room;
	return 0;
}

static size_t up_gather(const struct sdr_rec *r, uint8_t *p)
{
	memset(p, 'r', r->f.payload_len);
	return r->f.payload_len;
}

static void up_written(struct sdr_conn *c, struct sdr_rec *r)
{
	(void)r;
	above(c)->written++;
}

static void up_acked(struct sdr_conn *c, struct sdr_rec *r)
{
	(void)r;
	above(c)->acked++;
}

static void up_placed(void *conn, struct sdr_rcv_handle *h)
{
	(void)conn;
	(void)h;
}

static uint32_t up_msn_out(const struct sdr_conn *c)
{
	(void)c;
	return 0;
}

static const struct sdr_conn_ops up = {
	.failed = sdr_alias_failed,
	.init = up_init,
	.wanted = up_wanted,
	.busy = up_busy,
	.owned = up_owned,
	.opened = up_opened,
	.closed = up_closed,
	.record = up_record,
	.room = up_room,
	.bytes = up_bytes,
	.dack = up_dack,
	.end = up_end,
	.credit = up_nothing,
	.msn_out = up_msn_out,
	.detect_lost = up_detect_lost,
	.settled = up_nothing,
	.probe = up_nothing,
	.due = up_due,
	.put_reports = up_put_reports,
	.put_copies = up_put,
	.put_ends = up_put,
	.repeats = up_repeats,
	.gather = up_gather,
	.written = up_written,
	.acked = up_acked,
	.placed = up_placed,
};

/* ---- rounds ---------------------------------------------------------------------------------- */

static void books(const struct room *r)
{
	struct sdr_conn_sums s = { 0 };
	struct sdr_books k = { 0 };
	const struct sdr_list *l;

	sdr_list_each(l, &r->rel.conn_list) {
		const struct sdr_conn *c = sdr_container(l, struct sdr_conn, link);

		sdr_conn_books(&k, c, &s);
		SDR_BOOK_EQ(&k, c->inflight, s.inflight); /* there are no data */
	}
	sdr_list_each(l, &r->rel.dead)
		sdr_conn_books(&k, sdr_container(l, struct sdr_conn, link), &s);
	sdr_endpoint_books(&k, &r->rel, &s);
	SDR_BOOK_EQ(&k, r->rel.nanswers_strangers, s.answers);
	if (!sdr_books_ok(&k))
		fail_msg("%s", k.why);
}

static void reap(struct room *r)
{
	while (!sdr_list_empty(&r->rel.dead)) {
		struct sdr_conn *c = sdr_container(r->rel.dead.next, struct sdr_conn, link);

		if (c == r->c)
			r->c = NULL;
		sdr_pkt_conn_free(c);
		sdr_conn_free(c);
	}
}

static void work(struct room *r)
{
	struct sdr_rel *rel = &r->rel;
	struct sdr_list turn, *l;
	struct sdr_timer *t;
	uint64_t before;

	do {
		before = rel->activity;
		rel->round++;
		rel->now = r->net->now;
		assert_true(sdr_context_progress_max(rel->ctx, 512) >= 0);
		while ((t = sdr_timerq_due(&rel->timers, rel->now)))
			sdr_conn_kick(sdr_container(t, struct sdr_conn, timer));
		sdr_list_init(&turn);
		sdr_list_move(&rel->ready, &turn);
		while ((l = sdr_list_pop(&turn))) {
			struct sdr_conn *c = sdr_container(l, struct sdr_conn, ready);

			assert_true(sdr_pkt_send(c));
			if (sdr_conn_live(c) && c->tx.live)
				sdr_timerq_set(&rel->timers, &c->timer, rel->now + ROOM_MS);
		}
		sdr_context_flush(rel->ctx);
		books(r);
		reap(r);
	} while (rel->activity != before || loop_pending(r->net, HERE));
	books(r);
}

void room_pass(struct room *r, uint64_t ns)
{
	work(r);
	r->net->now += ns;
	work(r);
}

/* ---- life ------------------------------------------------------------------------------------ */

void room_open(struct room *r)
{
	struct sdr_rel *rel = &r->rel;
	uint64_t rnd[2] = { 5, 6 };
	struct sdr_uc_addr addr;

	memset(r, 0, sizeof(*r));
	r->above.room = true;
	r->net = loop_net_create(LOOP_SOFT, SDR_MTU_DEFAULT);
	assert_int_equal(loop_open(r->net, HERE, &rel->uc), 0);
	r->net->automatic = false;
	r->net->now = ROOM_MS;
	rel->ctx = sdr_context_create_on(rel->uc, NULL, rnd);
	assert_non_null(rel->ctx);
	sdr_rel_cfg_init(&rel->cfg);
	rel->ops = &up;
	rel->uc->ops->info(rel->uc, &rel->info);
	rel->now = r->net->now;
	rel->instance = 1;
	rel->rng = 2;
	rel->secret[0] = 3;
	rel->hash_key = 4;
	rel->mtu = rel->info.mtu;
	rel->ctl_max = rel->info.ctl_max < SDR_CTL_MAX ? rel->info.ctl_max : SDR_CTL_MAX;
	sdr_rel_lists_init(rel);
	sdr_slab_init(&rel->rec_pool, sizeof(struct sdr_rec), 1u << 20);
	sdr_seal_bind(rel, sdr_ctl_input, sdr_versions_input);
	stranger_init(&r->s, 1);
	loop_addr(PEER, &addr);
	r->peer = sdr_rel_peer(rel, &addr);
	assert_non_null(r->peer);
}

void room_meet(struct room *r)
{
	struct stranger_news news;
	struct room_pkt p;
	uint8_t hello[SDR_CTL_MAX];

	room_open(r);
	room_input(r, PEER, hello, stranger_hello(&r->s, hello));
	assert_true(room_hear(r, &p));
	assert_int_equal(stranger_input(&r->s, p.buf, p.len, &news), STRANGER_OPEN);
	r->c = r->peer->conn;
	assert_non_null(r->c);
	room_say(r, r->frames, sdr_frame_ping_encode(r->frames, sizeof(r->frames)));
	assert_true(r->c->state == SDR_CONN_OPEN && r->c->hs.validated);
	room_pass(r, ROOM_MS);
	loop_drop_all(r->net);
}

void room_close(struct room *r)
{
	struct sdr_rel *rel = &r->rel;

	work(r);
	while (!sdr_list_empty(&rel->conn_list))
		sdr_conn_fail(sdr_container(rel->conn_list.next, struct sdr_conn, link),
			      SDR_REL_ERR_CANCELED);
	books(r);
	reap(r);
	books(r);
	assert_int_equal(rel->nconns, 0);
	assert_int_equal(rel->rec_pool.used, 0);
	sdr_peers_destroy(rel);
	sdr_htab_destroy(&rel->conns);
	sdr_htab_destroy(&rel->peer_cids);
	sdr_timerq_destroy(&rel->timers);
	sdr_slab_destroy(&rel->rec_pool);
	loop_drop_all(r->net);
	sdr_context_destroy(rel->ctx);
	loop_net_destroy(r->net);
}

/* ---- the peer -------------------------------------------------------------------------------- */

void room_input(struct room *r, uint8_t from, const void *p, size_t n)
{
	loop_forge_ctl(r->net, HERE, from, p, (uint32_t)n);
	work(r);
}

uint32_t room_say(struct room *r, const void *frames, size_t n)
{
	uint8_t p[SDR_CTL_MAX];
	uint32_t pn = r->s.pn;

	room_input(r, PEER, p, stranger_packet(&r->s, p, frames, n));
	return pn;
}

void room_ack(struct room *r, uint32_t lo, uint32_t hi)
{
	struct sdr_frame_ack a = { .n = 1, .r = { { .lo = lo, .hi = hi } } };

	room_say(r, r->frames, sdr_frame_ack_encode(r->frames, sizeof(r->frames), &a));
}

bool room_hear(struct room *r, struct room_pkt *p)
{
	const struct loop_pkt *q;
	uint64_t cid;

	if (!r->net->npkts)
		return false;
	q = r->net->pkts[0];
	assert_true(q->kind == SDR_UC_TX_CTL && q->len <= sizeof(p->buf));
	memcpy(p->buf, q->buf, q->len);
	p->len = q->len;
	p->pn = 0;
	assert_int_equal(sdr_class_decode(p->buf, p->len, &p->type), SDR_CLASS_REL);
	if (p->type == SDR_REL_PACKET)
		assert_int_equal(sdr_packet_decode(p->buf + SDR_CLASS_LEN, p->len - SDR_CLASS_LEN,
						   &cid, &p->pn),
				 0);
	loop_drop(r->net, 0);
	return true;
}

bool room_frame(const struct room_pkt *p, uint8_t type, struct sdr_frame *out)
{
	const uint8_t *at = p->buf + SDR_PACKET_HDR, *end = p->buf + p->len;

	while (sdr_frame_next(&at, end, out) > 0)
		if (out->type == type)
			return true;
	return false;
}

uint32_t room_recs(const struct room_pkt *p, uint32_t *first)
{
	const uint8_t *at = p->buf + SDR_PACKET_HDR, *end = p->buf + p->len;
	struct sdr_frame f;
	uint32_t n = 0;

	while (sdr_frame_next(&at, end, &f) > 0)
		if (f.type == SDR_FRAME_REC && !n++)
			*first = f.rec.rseq;
	return n;
}
