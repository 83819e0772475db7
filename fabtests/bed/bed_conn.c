/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See bed_conn.h.
 */
#include "rel/sdr_rel_books.h"
#include "bed_conn.h"

#define BED_CONN_ROUNDS 1000u /* progress calls in one instant */

enum { HERE, PEER }; /* nodes of the stub network */

static void conn_done(void *user, const struct sdr_rel_cqe *e)
{
	struct bed_conn *b = user;

	b->done++;
	b->last = *e;
}

static int conn_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access,
		       void **va, void **region)
{
	struct bed_conn *b = user;

	(void)access;
	if (key != BED_CONN_KEY || addr > sizeof(b->region) || len > sizeof(b->region) - addr)
		return -EACCES;
	*va = b->region + addr;
	*region = b->region;
	return 0;
}

static const struct sdr_rel_cbs conn_cbs = { .done = conn_done, .mr_get = conn_mr_get };

static void work(struct bed_conn *b)
{
	struct sdr_books k;
	const char *why;
	uint32_t n = 0;
	int ret;

	do {
		ret = sdr_rel_progress(b->rel);
		assert_true(ret >= 0);
		assert_true(++n < BED_CONN_ROUNDS);
		why = sdr_rel_books(b->rel, &k);
		if (why)
			fail_msg("%s", why);
	} while (ret > 0 || sdr_rel_deadline(b->rel) <= b->net->now);
}

/* The datagram behind everything that waits is the peer's word. */
static enum stranger_event answer(struct bed_conn *b)
{
	struct stranger_news news = { .bye = false };
	struct bed_conn_pkt p;

	if (!bed_conn_hear(b, &p))
		return STRANGER_NOTHING;
	return stranger_input(&b->s, p.buf, p.len, &news);
}

void bed_conn_open(struct bed_conn *b, const struct sdr_rel_cfg *cfg)
{
	struct sdr_rel_cfg own = { 0 };
	struct sdr_rel_attr attr = {
		.cfg = cfg ? cfg : &own,
		.cbs = &conn_cbs,
		.user = b,
		.rma_events = true,
		.rand = { 1, 2, 3, 4 },
	};
	uint64_t rnd[2] = { 5, 6 };
	uint8_t hello[SDR_CTL_MAX];
	struct sdr_context *ctx;
	struct sdr_uc_addr addr;
	struct sdr_uc *uc;

	memset(b, 0, sizeof(*b));
	sdr_rel_cfg_init(&own);
	own.scheme = &sdr_scheme_sr;
	b->net = loop_net_create(LOOP_SOFT, SDR_MTU_DEFAULT);
	assert_int_equal(loop_open(b->net, HERE, &uc), 0);
	b->net->automatic = false;
	b->net->now = BED_CONN_MS;
	ctx = sdr_context_create_on(uc, NULL, rnd);
	assert_non_null(ctx);
	assert_int_equal(sdr_rel_open(ctx, &attr, &b->rel), 0);
	loop_addr(PEER, &addr);
	b->peer = sdr_rel_peer(b->rel, &addr);
	assert_non_null(b->peer);

	stranger_init(&b->s, 1);
	loop_forge_ctl(b->net, HERE, PEER, hello, (uint32_t)stranger_hello(&b->s, hello));
	work(b);
	assert_int_equal(answer(b), STRANGER_OPEN);
	b->c = b->peer->conn;
	bed_conn_say(b, b->frames, sdr_frame_ping_encode(b->frames, sizeof(b->frames)));
	assert_true(b->c && b->c->state == SDR_CONN_OPEN && b->c->hs.validated);
	bed_conn_pass(b, BED_CONN_MS); /* what it has to say about that */
	loop_drop_all(b->net);
}

void bed_conn_close(struct bed_conn *b)
{
	sdr_rel_close(b->rel);
	loop_drop_all(b->net);
	loop_net_destroy(b->net);
}

void bed_conn_pass(struct bed_conn *b, uint64_t ns)
{
	uint64_t end = b->net->now + ns, due;

	for (;;) {
		work(b);
		if (b->net->now >= end)
			return;
		due = sdr_rel_deadline(b->rel);
		b->net->now = due < end ? due : end;
	}
}

uint32_t bed_conn_say(struct bed_conn *b, const void *frames, size_t n)
{
	uint8_t p[SDR_CTL_MAX];
	uint32_t pn = b->s.pn;
	size_t len = stranger_packet(&b->s, p, frames, n);

	loop_forge_ctl(b->net, HERE, PEER, p, (uint32_t)len);
	work(b);
	return pn;
}

bool bed_conn_hear(struct bed_conn *b, struct bed_conn_pkt *p)
{
	const struct loop_pkt *q;
	uint64_t cid;
	uint8_t type;

	if (!b->net->npkts)
		return false;
	q = b->net->pkts[0];
	assert_int_equal(q->kind, SDR_UC_TX_CTL);
	assert_true(q->len <= sizeof(p->buf));
	memcpy(p->buf, q->buf, q->len);
	p->len = q->len;
	p->pn = 0;
	if (sdr_class_decode(p->buf, p->len, &type) == SDR_CLASS_REL && type == SDR_REL_PACKET)
		assert_int_equal(sdr_packet_decode(p->buf + SDR_CLASS_LEN, p->len - SDR_CLASS_LEN,
						   &cid, &p->pn),
				 0);
	loop_drop(b->net, 0);
	return true;
}

bool bed_conn_frame(const struct bed_conn_pkt *p, uint8_t type, struct sdr_frame *out)
{
	const uint8_t *at = p->buf + SDR_PACKET_HDR, *end = p->buf + p->len;

	while (sdr_frame_next(&at, end, out) > 0)
		if (out->type == type)
			return true;
	return false;
}

void bed_conn_ack(struct bed_conn *b, uint32_t pn)
{
	struct sdr_frame_ack a = { .n = 1, .r = { { pn, pn } } };

	bed_conn_say(b, b->frames, sdr_frame_ack_encode(b->frames, sizeof(b->frames), &a));
}
