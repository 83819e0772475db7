/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The real SDK of sdr_explore: two contexts on a loopback network, led step by step where the model
 * goes, and compared with it.  Payloads begin with message and packet number, so a packet is known
 * wherever it shows up.
 */
#include "explore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	struct loop_net *net;
	struct sdr_context *a, *b;
	struct sdr_qp *s, *r;
	struct sdr_rcv_handle *rx[MSGS_MAX];
	struct sdr_snd_handle *tx[MSGS_MAX];
	uint32_t sent; /* messages given to sdr_send_post */
	uint8_t in[MSGS_MAX][LEN];
	uint8_t buf[MSGS_MAX][GUARD + LEN + GUARD];
	uint8_t copy[MSGS_MAX][GUARD + LEN + GUARD]; /* at completion */
	struct sdr_uc_ev ev[MSGS_MAX][PKTS];
	/* the engine reported nothing: out of bounds, or the grant has ended */
	bool no_ev[MSGS_MAX][PKTS];
	struct sdr_wire_key key[MSGS_MAX]; /* rkeyed: as it was sent when message m was posted */
} real;

char why[256];

#define CHECK(cond, ...)                                         \
	do {                                                     \
		if (!(cond)) {                                   \
			snprintf(why, sizeof(why), __VA_ARGS__); \
			return false;                            \
		}                                                \
	} while (0)

static void real_qps_destroy(void)
{
	if (real.s)
		sdr_qp_destroy(real.s);
	if (real.r)
		sdr_qp_destroy(real.r);
	real.s = real.r = NULL;
	loop_drop_all(real.net);
}

static void real_send(void);

void real_reset(void)
{
	struct sdr_qp_attr attr = {
		.size = sizeof(attr), .mtu = MTU, .chunk = w->ppc * MTU, .max_msg = PKTS * MTU
	};
	uint8_t info[SDR_QP_INFO_SIZE];

	attr.id_bits = 1;
	attr.off_bits = 27;
	attr.user_bits = 4;
	attr.generations = GENS;
	real_qps_destroy();
	real.s = sdr_qp_create(real.a, &attr);
	real.r = sdr_qp_create(real.b, &attr);
	if (!real.s || !real.r || sdr_qp_info_get(real.r, info) || sdr_qp_connect(real.s, info) ||
	    sdr_qp_info_get(real.s, info) || sdr_qp_connect(real.r, info))
		die("no QPs");
	real.r->base = real.r->next = real.r->cts_seen = real.s->snd_next = real.s->snd_limit =
		w->start;
	real.r->keys_sent = real.s->snd_known = w->start;
	memset(real.rx, 0, sizeof(real.rx));
	memset(real.tx, 0, sizeof(real.tx));
	memset(real.buf, FILL, sizeof(real.buf));
	real.sent = 0;
	real_send();
}

void real_open(void)
{
	static const uint64_t ra[2] = { 1, 2 }, rb[2] = { 3, 4 };
	struct sdr_uc *ua, *ub;
	uint32_t m, i;

	memset(&real, 0, sizeof(real));
	real.net = loop_net_create(w->mode, MTU);
	real.net->automatic = false;
	loop_open(real.net, 0, &ua);
	loop_open(real.net, 1, &ub);
	real.a = sdr_context_create_on(ua, NULL, ra);
	real.b = sdr_context_create_on(ub, NULL, rb);
	if (!real.a || !real.b)
		die("no contexts");
	for (m = 0; m < MSGS_MAX; m++)
		for (i = 0; i < LEN; i++)
			real.in[m][i] = (uint8_t)(i % MTU < 2 ? (i % MTU ? i / MTU : m)
							      : 1 + m * 37 + i / MTU * 11 + i % 97);
}

void real_close(void)
{
	real_qps_destroy();
	sdr_context_destroy(real.a);
	sdr_context_destroy(real.b);
	loop_net_destroy(real.net);
}

/* What the receiver says is true. */
static bool real_keys_check(const struct model *s, const struct loop_pkt *p)
{
	struct sdr_wire_keys k;
	struct sdr_wire_key key;
	uint32_t i, m;

	CHECK(!sdr_wire_keys_decode(p->buf + SDR_CLASS_LEN, p->len - SDR_CLASS_LEN, &k),
	      "not a KEYS");
	CHECK(k.qpn == real.s->qpn && k.rkey == real.s->rkey, "KEYS to another");
	CHECK(k.posted == w->start + s->posted, "KEYS says %u", k.posted);
	for (i = 0; i < k.n; i++) {
		m = k.first - w->start + i;
		sdr_wire_key_get(&k, i, &key);
		CHECK(m < s->posted && s->rx[m] == (key.state == SDR_KEY_LIVE ? RX_LIVE : RX_DONE),
		      "KEYS says %u of message %u", key.state, m);
		CHECK(key.state == SDR_KEY_VOID ||
			      (key.va == real.key[m].va && key.rkey == real.key[m].rkey),
		      "KEYS gives another key of message %u", m);
	}
	return true;
}

/* Takes what the two sides sent each other off the network; the model says when it is heard. */
static bool real_cts_take(const struct model *s)
{
	struct sdr_wire_cts c;
	uint32_t i, n;

	for (i = 0; i < real.net->npkts;) {
		const struct loop_pkt *p = real.net->pkts[i];
		bool cts = p->dst == 0;

		if (p->kind != SDR_UC_TX_CTL) {
			i++;
			continue;
		}
		if (cts && p->buf[3] == SDR_SDK_KEYS && world_rkeyed()) {
			if (!real_keys_check(s, p))
				return false;
			loop_drop(real.net, i);
			continue;
		}
		CHECK(p->buf[3] == (cts ? SDR_SDK_CTS : SDR_SDK_CTS_SEEN), "datagram of type %u",
		      p->buf[3]);
		CHECK(!cts || !world_rkeyed(), "CTS of an rkeyed receiver");
		CHECK(!sdr_wire_cts_decode(p->buf + SDR_CLASS_LEN, p->len - SDR_CLASS_LEN, &c),
		      "not a CTS");
		CHECK(c.qpn == (cts ? real.s : real.r)->qpn &&
			      c.rkey == (cts ? real.s : real.r)->rkey,
		      "CTS to another");
		n = cts ? s->posted : world_rkeyed() ? model_known(s) : s->limit;
		CHECK(c.posted == w->start + n, "%s says %u", cts ? "CTS" : "SEEN", c.posted);
		loop_drop(real.net, i);
	}
	return true;
}

static void real_send(void)
{
	uint32_t m, again;

	do {
		again = 0;
		for (m = 0; m < real.sent; m++) {
			if (real.tx[m] && sdr_send_poll(real.tx[m]) == 1) {
				real.tx[m] = NULL;
				again = 1;
			}
		}
		if (!w->lazy && real.sent < w->msgs) {
			struct sdr_snd_wr wr = { .addr = real.in[real.sent], .length = LEN };

			if (!sdr_send_post(real.s, &wr, &real.tx[real.sent])) {
				real.sent++;
				again = 1;
			}
		}
	} while (again);
}

static uint32_t real_find(uint8_t m, uint8_t p)
{
	uint32_t i;

	for (i = 0; i < real.net->npkts; i++) {
		const struct loop_pkt *k = real.net->pkts[i];

		if (k->kind == SDR_UC_TX_WRITE && k->buf[0] == m && k->buf[1] == p)
			return i;
	}
	die("packet is not on the network");
	return 0;
}

/* The network has lost, by now, what is left of message m. */
static void real_forget(uint8_t m)
{
	uint32_t i = 0;

	while (i < real.net->npkts) {
		if (real.net->pkts[i]->kind == SDR_UC_TX_WRITE && real.net->pkts[i]->buf[0] == m)
			loop_drop(real.net, i);
		else
			i++;
	}
}

static bool real_deliver(const struct model *before, struct act a)
{
	uint32_t i = real_find(a.m, a.p);

	if (before->p[a.m][a.p].copies > 1)
		loop_deliver_copy(real.net, i);
	else
		loop_deliver(real.net, i);
	if (w->mode == LOOP_SOFT) {
		sdr_context_progress(real.b);
		return true;
	}
	real.no_ev[a.m][a.p] = !loop_steal(real.net, 1, &real.ev[a.m][a.p]);
	return true;
}

/* The sender learns of one message. */
static bool real_key(const struct model *after, struct act a)
{
	struct sdr_wire_keys k = {
		.qpn = real.s->qpn, .rkey = real.s->rkey, .posted = w->start + a.m + 1u, .n = 1
	};
	struct sdr_wire_key key = real.key[a.m];
	uint8_t dg[64];

	k.first = w->start + a.m;
	if (a.p == KEY_VOID)
		key = (struct sdr_wire_key){ .state = SDR_KEY_VOID };
	sdr_wire_key_put(dg + SDR_WIRE_KEYS_HDR, &key);
	loop_forge_ctl(real.net, 0, 1, dg, (uint32_t)sdr_wire_keys_encode(dg, &k));
	sdr_context_progress(real.a);
	real_send();
	return real_cts_take(after);
}

/* before: the model's state in which the step is made; after: when it was made. */
bool real_step(const struct model *before, const struct model *after, struct act a)
{
	struct sdr_rcv_wr wr = { .addr = real.buf[a.m < MSGS_MAX ? a.m : 0] + GUARD,
				 .length = LEN };
	struct sdr_snd_wr sw = { .addr = real.in[a.m < MSGS_MAX ? a.m : 0], .length = LEN };
	struct sdr_wire_cts c;
	uint8_t dg[64];
	size_t n;
	int err;

	switch (a.kind) {
	case ACT_POST:
		err = sdr_recv_post(real.r, &wr, &real.rx[a.m]);
		CHECK(!err, "recv_post says %d", err);
		CHECK(sdr_recv_state(real.rx[a.m])->msn == w->start + a.m,
		      "recv_post gave another number");
		real.key[a.m] = (struct sdr_wire_key){ .va = real.rx[a.m]->grant.va,
						       .rkey = real.rx[a.m]->grant.rkey,
						       .state = SDR_KEY_LIVE };
		if (w->bounded && a.m >= BOUND)
			real_forget((uint8_t)(a.m - BOUND));
		return real_cts_take(after);
	case ACT_COMPLETE:
		err = sdr_recv_complete(real.rx[a.m]);
		CHECK(!err, "recv_complete says %d", err);
		real.rx[a.m] = NULL;
		memcpy(real.copy[a.m], real.buf[a.m], sizeof(real.buf[a.m]));
		return true;
	case ACT_CTS:
		c = (struct sdr_wire_cts){ .qpn = real.s->qpn,
					   .rkey = real.s->rkey,
					   .posted = w->start + a.m };
		loop_forge_ctl(real.net, 0, 1, dg, (uint32_t)sdr_wire_cts_encode(dg, &c));
		sdr_context_progress(real.a);
		real_send();
		return real_cts_take(after);
	case ACT_KEY:
		return real_key(after, a);
	case ACT_SEEN:
		c = (struct sdr_wire_cts){ .qpn = real.r->qpn,
					   .rkey = real.r->rkey,
					   .posted = w->start + a.m };
		n = sdr_wire_cts_encode(dg, &c);
		sdr_class_encode(dg, SDR_CLASS_SDK, SDR_SDK_CTS_SEEN);
		loop_forge_ctl(real.net, 1, 0, dg, (uint32_t)n);
		sdr_context_progress(real.b);
		return true;
	case ACT_SEND:
		err = sdr_send_post(real.s, &sw, &real.tx[a.m]);
		CHECK(!err, "send_post says %d", err);
		CHECK(sdr_send_poll(real.tx[a.m]) == 1, "message %u is not sent at once", a.m);
		real.tx[a.m] = NULL;
		real.sent++;
		return true;
	case ACT_DELIVER:
		return real_deliver(before, a);
	case ACT_EVENT:
		if (real.no_ev[a.m][a.p])
			return true;
		loop_forge_placed(real.net, 1, real.ev[a.m][a.p].p.cookie, real.ev[a.m][a.p].gen,
				  real.ev[a.m][a.p].p.imm, real.ev[a.m][a.p].len);
		sdr_context_progress(real.b);
		return true;
	}
	return true;
}

static bool real_is(const uint8_t *p, uint8_t v, uint32_t n)
{
	while (n--)
		if (*p++ != v)
			return false;
	return true;
}

bool real_check(const struct model *s)
{
	struct sdr_rcv_wr wr = { .addr = real.buf[0] + GUARD, .length = LEN };
	uint32_t m, p, onnet = 0, may = 0;
	struct sdr_rcv_handle *h;

	CHECK(sdr_qp_recv_base(real.r) == w->start + model_base(s), "base is %u",
	      sdr_qp_recv_base(real.r) - w->start);
	for (m = 0; m < w->msgs; m++) {
		const uint8_t *b = real.buf[m];
		const struct sdr_rcv_state *st;
		uint32_t got = 0, high = 0, cum = PKTS;

		if (s->rx[m] == RX_DONE) {
			CHECK(!memcmp(b, real.copy[m], sizeof(real.buf[m])),
			      "completed buffer %u was written to", m);
			continue;
		}
		if (s->rx[m] == RX_NONE) {
			CHECK(real_is(b, FILL, sizeof(real.buf[m])),
			      "buffer %u was written to before it was posted", m);
			continue;
		}
		CHECK(real_is(b, FILL, GUARD) && real_is(b + GUARD + LEN, FILL, GUARD),
		      "bytes around buffer %u", m);
		st = sdr_recv_state(real.rx[m]);
		for (p = 0; p < PKTS; p++) {
			const uint8_t *at = b + GUARD + p * MTU, *want = real.in[m] + p * MTU;
			uint32_t n = p + 1 < PKTS ? MTU : LEN - p * MTU;
			bool whole;

			if (s->p[m][p].bytes)
				CHECK(!memcmp(at, want, n), "message %u packet %u: wrong bytes", m,
				      p);
			else
				CHECK(real_is(at, FILL, n),
				      "message %u packet %u: bytes of another packet", m, p);
			CHECK(sdr_bitmap_test(st->pkt_bits, p) == s->p[m][p].bit,
			      "message %u packet bit %u", m, p);
			CHECK(!s->p[m][p].bit || s->p[m][p].bytes,
			      "message %u packet bit %u without bytes", m, p);
			whole = w->ppc == 1 ? s->p[m][p].bit : s->p[m][0].bit && s->p[m][1].bit;
			CHECK(sdr_bitmap_test(st->chunk_bits, p / w->ppc) == whole,
			      "message %u chunk bit %u", m, p / w->ppc);
			if (s->p[m][p].bit) {
				got++;
				high = p + 1;
			} else if (cum == PKTS) {
				cum = p;
			}
		}
		CHECK(st->got == got && st->high == high && st->cum == cum,
		      "message %u: sums %u %u %u", m, st->got, st->high, st->cum);
	}
	for (m = 0; m < real.net->npkts; m++)
		if (real.net->pkts[m]->kind == SDR_UC_TX_WRITE)
			onnet++;
	for (m = 0; m < w->msgs; m++)
		for (p = 0; p < PKTS; p++)
			may += s->p[m][p].copies > 0;
	CHECK(onnet == may, "%u packets on the network, not %u", onnet, may);
	if (!model_may_post(s)) {
		CHECK(sdr_recv_post(real.r, &wr, &h) == -EAGAIN, "recv_post too early");
		return real_cts_take(s);
	}
	return true;
}
