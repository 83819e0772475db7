/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Opening a connection: one exchange, any of its datagrams lost, both at once, sizes that differ,
 * floods.
 */
#include "../bed/bed.h"

/* One message each way, receives posted before; returns when both have arrived. */
static uint64_t exchange(struct bed *b, uint32_t x, uint32_t y, uint64_t limit)
{
	uint64_t t0 = bed_now(b);
	struct bed_op *op[4];
	uint8_t *p[2];

	for (int i = 0; i < 2; i++)
		p[i] = bed_buf(b, 100, 0);
	op[0] = bed_recv(b, y, p[0], 100);
	op[1] = bed_recv(b, x, p[1], 100);
	op[2] = bed_send(b, x, y, bed_buf(b, 100, 5), 100, 0);
	op[3] = bed_send(b, y, x, bed_buf(b, 100, 6), 100, 0);
	for (int i = 0; i < 4; i++) {
		bed_wait(b, op[i], limit);
		bed_assert_ok(op[i]);
	}
	assert_true(bed_same(p[0], 100, 5));
	assert_true(bed_same(p[1], 100, 6));
	return bed_now(b) - t0;
}

/* One message x -> y. */
static struct bed_op *oneway(struct bed *b, uint32_t x, uint32_t y, uint64_t limit,
			     struct bed_op **send)
{
	uint8_t *p = bed_buf(b, 100, 0);
	struct bed_op *r = bed_recv(b, y, p, 100);
	struct bed_op *s = bed_send(b, x, y, bed_buf(b, 100, 5), 100, 0);

	bed_wait(b, r, limit);
	bed_assert_ok(r);
	assert_true(bed_same(p, 100, 5));
	if (send)
		*send = s;
	return r;
}

static void handshake__one_exchange_opens_both_directions(void **state)
{
	struct bed *b = bed_open(2);
	struct bed_op *s;
	uint64_t t0 = bed_now(b);

	(void)state;
	oneway(b, 0, 1, BED_SEC, &s);
	assert_in_range(bed_now(b) - t0, 2 * BED_RTT - BED_DELAY, 2 * BED_RTT - BED_DELAY + MS);
	bed_wait(b, s, BED_SEC);
	exchange(b, 1, 0, BED_SEC);
	bed_run(b, BED_SEC);
	assert_int_equal(bed_seen(b, 0, BED_HELLO), 1);
	assert_int_equal(bed_seen(b, 1, BED_HELLO), 0);
	assert_int_equal(bed_seen(b, 1, BED_HELLO_ACK), 1);
	bed_assert_no_repair(b);
	bed_close(b);
}

static void handshake__hello_lost(void **state)
{
	struct bed *b = bed_open(2);
	struct bed_rule *r = bed_drop(b, 0, BED_HELLO, 0, 1);
	struct bed_op *s;

	(void)state;
	oneway(b, 0, 1, 3 * SDR_RTT_INIT_NS + 2 * BED_RTT, &s);
	bed_wait(b, s, BED_SEC);
	assert_int_equal(r->hit, 1);
	assert_int_equal(bed_seen(b, 0, BED_HELLO), 2);
	bed_close(b);
}

static void handshake__hello_lost_many_times_backs_off(void **state)
{
	struct bed *b = bed_open(2);
	struct bed_rule *r = bed_drop(b, 0, BED_HELLO, 0, 10);

	(void)state;
	oneway(b, 0, 1, 12 * BED_SEC, NULL);
	assert_int_equal(r->hit, 10);
	/* doubling from 0.1 s, capped at a second: neither a storm nor a minute */
	assert_in_range(bed_now(b), 5 * BED_SEC, 10 * BED_SEC);
	bed_run(b, MS);
	bed_wait_all(b, BED_SEC);
	bed_close(b);
}

static void handshake__hello_ack_lost(void **state)
{
	struct bed *b = bed_open(2);
	struct bed_rule *r = bed_drop(b, 1, BED_HELLO_ACK, 0, 1);
	struct bed_op *s;

	(void)state;
	oneway(b, 0, 1, 3 * SDR_RTT_INIT_NS + 2 * BED_RTT, &s);
	bed_wait(b, s, BED_SEC);
	assert_int_equal(r->hit, 1);
	assert_int_equal(bed_seen(b, 1, BED_HELLO_ACK), 2);
	bed_close(b);
}

static void handshake__simultaneous_open(void **state)
{
	struct bed *b = bed_open(2);

	(void)state;
	assert_in_range(exchange(b, 0, 1, BED_SEC), 0, 2 * BED_RTT + 2 * MS);
	bed_run(b, BED_SEC);
	assert_int_equal(bed_seen(b, 0, BED_HELLO), 1);
	assert_int_equal(bed_seen(b, 1, BED_HELLO), 1);
	bed_assert_no_repair(b);
	bed_close(b);
}

/* Both open at once, and so many packets of one kind are lost. */
static void opens_at_once_despite(uint32_t src, uint32_t what, uint32_t lost)
{
	struct bed *b = bed_open(2);
	struct bed_rule *r = bed_drop(b, src, what, 0, lost);

	exchange(b, 0, 1, 3 * SDR_RTT_INIT_NS + 2 * BED_RTT);
	assert_int_equal(r->hit, lost);
	bed_close(b);
}

static void handshake__simultaneous_open_both_acks_lost(void **state)
{
	(void)state;
	opens_at_once_despite(BED_ANY, BED_HELLO_ACK, 2);
}

static void handshake__simultaneous_open_one_hello_lost(void **state)
{
	(void)state;
	opens_at_once_despite(0, BED_HELLO, 1);
}

static void handshake__first_packet_lost_leaves_the_passive_side_waiting_shortly(void **state)
{
	(void)state;
	opens_at_once_despite(0, BED_PACKET, 1);
}

static void mtu_case(uint32_t a, uint32_t z, bool both)
{
	struct bed *b = bed_new(2);
	uint8_t *p;
	struct bed_op *r, *s;

	b->cfg[0].mtu = a;
	b->cfg[1].mtu = z;
	bed_boot(b);
	if (both)
		exchange(b, 0, 1, BED_SEC);
	else
		oneway(b, 0, 1, BED_SEC, NULL);
	bed_wait_all(b, BED_SEC);
	/* bulk both ways over the smaller of the two */
	for (uint32_t i = 0; i < 2; i++) {
		p = bed_buf(b, 300000, 0);
		r = bed_recv(b, 1 - i, p, 300000);
		s = bed_send(b, i, 1 - i, bed_buf(b, 300000, 9), 300000, 0);
		bed_wait(b, r, BED_SEC);
		bed_wait(b, s, BED_SEC);
		bed_assert_ok(r);
		bed_assert_ok(s);
		assert_true(bed_same(p, 300000, 9));
		assert_int_equal(bed_conn(b, i, 1 - i)->shape->mtu, a < z ? a : z);
	}
	bed_close(b);
}

static void handshake__larger_mtu_follows_the_smaller(void **state)
{
	(void)state;
	mtu_case(4096, 1024, false);
	mtu_case(1024, 4096, false);
	mtu_case(4096, 1024, true);
	mtu_case(1024, 4096, true);
	mtu_case(1000, 900, true);
}

/*
 * The HELLO was repeated before its refusal came: the second refusal says nothing new and ends
 * nothing.
 */
static void handshake__refused_twice_follows_once(void **state)
{
	struct bed *b = bed_new(2);
	struct bed_rule *r;

	(void)state;
	b->cfg[0].mtu = 4096;
	b->cfg[1].mtu = 1024;
	bed_boot(b);
	r = bed_late(b, 1, BED_HELLO_ACK, 0, 1, 2 * SDR_RTT_INIT_NS + BED_RTT / 2);
	oneway(b, 0, 1, BED_SEC, NULL);
	bed_wait_all(b, BED_SEC);
	assert_int_equal(r->hit, 1);
	assert_int_equal(bed_conn(b, 0, 1)->shape->mtu, 1024);
	bed_close(b);
}

static void handshake__smaller_control_datagrams_bind_both(void **state)
{
	struct bed *b = bed_new(2);
	struct bed_op *r, *s;
	uint8_t *p;

	(void)state;
	b->na[1].ctl_max = SDR_CTL_MIN;
	b->cfg[0].inject_max = 4096; /* cut to what fits our own datagrams */
	bed_boot(b);
	exchange(b, 0, 1, BED_SEC);
	assert_int_equal(bed_conn(b, 0, 1)->ctl_max, SDR_CTL_MIN);
	assert_int_equal(bed_conn(b, 1, 0)->ctl_max, SDR_CTL_MIN);
	/* injected, yet too long for the peer's datagrams: it travels as bulk, from the copy */
	for (uint32_t n = 900; n <= 3000; n += 350) {
		uint8_t *src = bed_buf(b, n, n);

		p = bed_buf(b, n, 0);
		r = bed_recv(b, 1, p, n);
		s = bed_send(b, 0, 1, src, n, SDR_REL_F_INJECT);
		bed_fill(src, n, 0);
		bed_wait(b, r, BED_SEC);
		bed_wait(b, s, BED_SEC);
		bed_assert_ok(r);
		assert_true(bed_same(p, n, n));
	}
	bed_close(b);
}

static void refused_case(void (*change)(struct sdr_rel_cfg *c))
{
	for (uint32_t from = 0; from < 2; from++) {
		struct bed *b = bed_new(2);
		struct bed_op *s;

		change(&b->cfg[1]);
		bed_boot(b);
		s = bed_send(b, from, 1 - from, "x", 1, 0);
		bed_wait(b, s, BED_SEC);
		bed_assert_err(s, SDR_REL_ERR_REFUSED);
		assert_non_null(strstr(sdr_rel_strerror(s->e.prov_err), "FI_SDR_IMM_SPLIT"));
		bed_run(b, 10 * BED_SEC);
		assert_true(bed_seen(b, from, BED_HELLO) <= 3); /* and that is the end of it */
		bed_close(b);
	}
}

static void change_split(struct sdr_rel_cfg *c)
{
	c->split = (struct sdr_imm_split){ 8, 22, 2 };
}

static void change_channels(struct sdr_rel_cfg *c)
{
	c->channels = 2;
}

static void change_generations(struct sdr_rel_cfg *c)
{
	c->generations = 2;
}

static void change_split_and_mtu(struct sdr_rel_cfg *c)
{
	c->split = (struct sdr_imm_split){ 8, 22, 2 };
	c->mtu = 1024;
}

static void handshake__other_geometry_is_refused_with_a_text(void **state)
{
	(void)state;
	refused_case(change_split);
	refused_case(change_channels);
	refused_case(change_generations);
	refused_case(change_split_and_mtu);
}

static void handshake__duplicate_hello_and_ack_change_nothing(void **state)
{
	struct bed *b = bed_new(2);
	struct bed_op *r, *s;

	(void)state;
	b->link.dup = 1; /* every packet arrives twice */
	bed_boot(b);
	exchange(b, 0, 1, BED_SEC);
	r = bed_recv(b, 1, bed_buf(b, 100000, 0), 100000);
	s = bed_send(b, 0, 1, bed_buf(b, 100000, 3), 100000, 0);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	bed_run(b, BED_SEC);
	assert_int_equal(bed_stats(b, 0).ops_failed, 0);
	assert_int_equal(b->node[0].ep->rel->nconns, 1);
	assert_int_equal(b->node[1].ep->rel->nconns, 1);
	assert_true(bed_stats(b, 1).pkts_dup > 0);
	bed_close(b);
}

/* ---- restarts -------------------------------------------------------------------------------- */

static void handshake__peer_restart_ends_old_operations(void **state)
{
	struct bed *b = bed_open(2);
	struct bed_op *s, *r;
	uint8_t *p;

	(void)state;
	bed_warm(b, 0, 1);
	/* a receive that is matched and waits for its bytes, and two sends */
	p = bed_buf(b, 1 << 20, 0);
	bed_drop(b, 1, BED_DATA, 5, UINT64_MAX / 2);
	r = bed_recv(b, 0, p, 1 << 20);
	bed_send(b, 1, 0, bed_buf(b, 1 << 20, 3), 1 << 20, 0);
	bed_run(b, 3 * BED_RTT);
	assert_int_equal(r->n, 0);
	bed_crash(b, 1);
	bed_boot_node(b, 1);
	s = bed_send(b, 0, 1, "old", 3, 0);
	bed_wait(b, s, 10 * BED_RTT);
	bed_assert_err(s, SDR_REL_ERR_RESTARTED);
	bed_wait(b, r, BED_RTT);
	bed_assert_err(r, SDR_REL_ERR_RESTARTED);
	exchange(b, 0, 1, BED_SEC);
	bed_close(b);
}

static void handshake__restarted_peer_that_speaks_first(void **state)
{
	struct bed *b = bed_open(2);
	struct bed_op *s;

	(void)state;
	bed_warm(b, 0, 1);
	s = bed_send(b, 0, 1, bed_buf(b, 2 << 20, 1), 2 << 20, 0); /* parks: waits for a receive */
	bed_run(b, 5 * BED_RTT);
	assert_int_equal(s->n, 0);
	bed_crash(b, 1);
	bed_boot_node(b, 1);
	oneway(b, 1, 0, BED_SEC, NULL);
	bed_wait(b, s, BED_RTT);
	bed_assert_err(s, SDR_REL_ERR_RESTARTED);
	assert_true(bed_seen(b, 0, BED_RETRY) > 0); /* its address had to be validated first */
	exchange(b, 0, 1, BED_SEC);
	bed_close(b);
}

static void handshake__unknown_connection_is_answered_by_reset(void **state)
{
	struct bed *b = bed_open(2);
	struct sdr_rel_stats st;
	uint8_t ping[1] = { SDR_FRAME_PING };

	(void)state;
	bed_warm(b, 0, 1);
	bed_forge(b, 0, 1, 0x1234567890abcdefull, 5, ping, 1);
	bed_run(b, 2 * BED_RTT);
	assert_int_equal(bed_seen(b, 1, BED_RESET), 1);
	st = bed_stats(b, 0);
	assert_int_equal(st.pkts_bad, 1); /* a reset of a connection that node 0 does not have */
	exchange(b, 0, 1, BED_SEC);
	bed_close(b);
}

/* ---- strangers ------------------------------------------------------------------------------- */

struct catch
{
	uint8_t hello[SDR_CTL_MAX];
	uint32_t len;
};

static bool catch_hello(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	struct catch *c = b->user;

	if ((what & BED_HELLO) && p->src == 2) {
		memcpy(c->hello, sdr_sim_packet_payload(p), p->len);
		c->len = p->len;
	}
	return true;
}

/* A HELLO as node 2 would send it, for forging. */
static void catch_one(struct bed *b, struct catch *c)
{
	memset(c, 0, sizeof(*c));
	b->user = c;
	b->filter = catch_hello;
	oneway(b, 2, 3, BED_SEC, NULL);
	bed_run(b, BED_SEC);
	assert_int_equal(c->len, SDR_HELLO_LEN);
	b->filter = NULL;
}

static void forge_hello(struct bed *b, struct catch *c, uint32_t number, uint32_t to, uint64_t v)
{
	memcpy(c->hello + SDR_CLASS_LEN, &v, 8); /* instance */
	v = ~v;
	memcpy(c->hello + SDR_CLASS_LEN + 8, &v, 8); /* connection id */
	assert_int_equal(sdr_sim_inject_ctl(b->w, number, to, 0, c->hello, c->len), 0);
}

static void cookie__a_flood_leaves_bounded_state_and_a_peer_gets_in(void **state)
{
	struct bed *b = bed_open(4);
	struct catch c;

	(void)state;
	catch_one(b, &c);
	for (uint32_t i = 0; i < 5000; i++) {
		forge_hello(b, &c, 1000 + i, 1, 0x1000 + i * 7919ull);
		if (i % 100 == 99)
			bed_run(b, 10000);
	}
	assert_true(b->node[1].ep->rel->nunvalidated == SDR_CONN_UNVALIDATED_MAX);
	assert_true(b->node[1].ep->rel->nconns <= SDR_CONN_UNVALIDATED_MAX + 2);
	oneway(b, 0, 1, BED_SEC, NULL);
	assert_int_equal(bed_seen(b, 1, BED_RETRY), 1); /* those to no node are not counted */
	assert_int_equal(bed_seen(b, 0, BED_HELLO), 2); /* the second with the cookie */
	bed_run(b, SDR_CONN_UNVALIDATED_NS + BED_SEC);
	assert_int_equal(b->node[1].ep->rel->nunvalidated, 0); /* they are forgotten */
	assert_int_equal(b->node[1].ep->rel->nconns, 1);
	assert_true(b->node[1].ep->rel->peers.n <= 2); /* and so are their addresses */
	exchange(b, 0, 1, BED_SEC);
	bed_close(b);
}

static void cookie__of_another_address_is_worth_nothing(void **state)
{
	struct bed *b = bed_open(4);
	struct bed_op *s;
	struct catch c;

	(void)state;
	/*
	 * node 2's HELLO carries its cookie; sent from another address it must not end node 0's
	 * connection
	 */
	bed_warm(b, 0, 1);
	catch_one(b, &c);
	memset(c.hello + SDR_CLASS_LEN + 24, 0x5a, 8);
	forge_hello(b, &c, 1, 1, 99); /* as node 0 */
	bed_run(b, BED_RTT);
	s = bed_send(b, 0, 1, bed_buf(b, 100, 0), 100, 0);
	bed_recv(b, 1, bed_buf(b, 100, 0), 100);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(s);
	assert_int_equal(bed_seen(b, 1, BED_RETRY), 1);
	bed_close(b);
}

/*
 * A forged HELLO comes with node 0's address before the two ever spoke.  It validates nothing, so
 * it must not keep node 1 from reaching node 0, nor fail what node 1 posts.
 */
static void handshake__forged_hello_does_not_block_the_real_peer(void **state)
{
	struct bed *b = bed_open(4);
	struct bed_op *s, *r;
	struct catch c;

	(void)state;
	catch_one(b, &c);
	forge_hello(b, &c, 1, 1, 99); /* as node 0 */
	bed_run(b, BED_RTT);
	r = bed_recv(b, 0, bed_buf(b, 100, 0), 100);
	s = bed_send(b, 1, 0, bed_buf(b, 100, 7), 100, 0);
	bed_wait(b, s, 10 * BED_SEC);
	bed_assert_ok(s);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(r);
	bed_close(b);
}

/* The same, and the real peer opens while our operation waits. */
static void handshake__forged_hello_does_not_fail_what_is_posted(void **state)
{
	struct bed *b = bed_open(4);
	struct bed_op *s, *r;
	struct catch c;

	(void)state;
	catch_one(b, &c);
	forge_hello(b, &c, 1, 1, 99);
	bed_run(b, MS);
	r = bed_recv(b, 0, bed_buf(b, 100, 0), 100);
	s = bed_send(b, 1, 0, bed_buf(b, 100, 7), 100, 0);
	oneway(b, 0, 1, 10 * BED_SEC, NULL);
	bed_wait(b, s, 10 * BED_SEC);
	bed_assert_ok(s);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(r);
	bed_wait_all(b, BED_SEC);
	bed_close(b);
}

/*
 * Both get a forged HELLO in the other's name, and then start at once: each requests
 * the other for a cookie, and each returns it though it takes itself for connected.
 */
static void handshake__forged_hellos_to_both_sides_keep_nobody_apart(void **state)
{
	(void)state;
	for (int posted = 0; posted < 2; posted++) {
		struct bed *b = bed_open(4);
		struct bed_op *s[2], *r[2];
		struct catch c;

		catch_one(b, &c);
		for (uint32_t i = 0; !posted && i < 2; i++)
			forge_hello(b, &c, 2 - i, i, 99);
		bed_run(b, MS);
		for (uint32_t i = 0; i < 2; i++) {
			r[i] = bed_recv(b, i, bed_buf(b, 100, 0), 100);
			s[i] = bed_send(b, i, !i, bed_buf(b, 100, 7), 100, 0);
		}
		for (uint32_t i = 0; posted && i < 2; i++)
			forge_hello(b, &c, 2 - i, i, 99);
		for (uint32_t i = 0; i < 2; i++) {
			bed_wait(b, s[i], BED_SEC);
			bed_wait(b, r[i], BED_SEC);
			bed_assert_ok(s[i]);
			bed_assert_ok(r[i]);
		}
		bed_close(b);
	}
}

/*
 * What was made up is taken back by him who made it up: what waits for the real one goes on
 * waiting.
 */
static void handshake__reset_of_a_forged_hello_ends_nothing(void **state)
{
	struct sdr_retry reset = { .cid = ~99ull };
	struct bed *b = bed_open(4);
	uint8_t p[SDR_RETRY_LEN];
	struct bed_op *s, *r;
	struct catch c;

	(void)state;
	catch_one(b, &c);
	r = bed_recv(b, 0, bed_buf(b, 100, 0), 100);
	s = bed_send(b, 1, 0, bed_buf(b, 100, 7), 100, 0);
	forge_hello(b, &c, 1, 1, 99);
	bed_run(b, MS);
	assert_true(bed_conn(b, 1, 0)->hs.peer_known);
	sdr_retry_encode(p, SDR_REL_RESET, &reset);
	assert_int_equal(sdr_sim_inject_ctl(b->w, 1, 1, 0, p, sizeof(p)), 0);
	bed_run(b, MS);
	assert_int_equal(s->n, 0);
	bed_wait(b, s, BED_SEC);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(s);
	bed_assert_ok(r);
	bed_close(b);
}

/* ---- forged HELLOs: fields ------------------------------------------------------------------- */

struct forgery {
	const char *what;
	/* 0: as it should be */
	uint32_t mtu, seg_bytes, ctl_max, channels, generations, id_bits, flags, features;
};

static const struct forgery forgeries[] = {
	{ .what = "nothing but the sender" },
	{ .what = "a small mtu", .mtu = 256 },
	{ .what = "a small mtu with the wrong segments", .mtu = 256, .seg_bytes = 12345 },
	{ .what = "other segments", .seg_bytes = 12345 },
	{ .what = "small control datagrams", .ctl_max = 600 },
	{ .what = "tiny control datagrams", .ctl_max = 1 },
	{ .what = "more channels", .channels = 2 },
	{ .what = "fewer generations", .generations = 2 },
	{ .what = "another split", .id_bits = 8 },
	{ .what = "a device", .flags = SDR_QP_F_NIC },
};
#define FORGERIES (sizeof(forgeries) / sizeof(forgeries[0]))

/* As node 0 would send it to node 1, but for who says so. */
static void forge_fields(struct bed *b, struct catch *c, const struct forgery *f)
{
	struct sdr_hello h;
	uint8_t p[SDR_HELLO_LEN];

	assert_int_equal(sdr_hello_decode(c->hello + SDR_CLASS_LEN, c->len - SDR_CLASS_LEN, &h), 0);
	h.instance = 4711;
	h.cid = 4712;
	h.qp.mtu = f->mtu ? f->mtu : h.qp.mtu;
	if (f->mtu) { /* what fits it, unless something else is forged */
		h.qp.chunk = 65536 / f->mtu * f->mtu;
		h.seg_bytes = f->mtu << h.qp.split.off_bits;
		h.qp.max_msg = h.seg_bytes;
	}
	h.seg_bytes = f->seg_bytes ? f->seg_bytes : h.seg_bytes;
	h.ctl_max = f->ctl_max ? f->ctl_max : h.ctl_max;
	h.qp.channels = f->channels ? (uint8_t)f->channels : h.qp.channels;
	h.qp.generations = f->generations ? (uint8_t)f->generations : h.qp.generations;
	h.qp.split.id_bits = f->id_bits ? (uint8_t)f->id_bits : h.qp.split.id_bits;
	h.qp.flags |= (uint8_t)f->flags;
	h.features |= f->features;
	assert_int_equal(sdr_hello_encode(p, SDR_REL_HELLO, &h), SDR_HELLO_LEN);
	assert_int_equal(sdr_sim_inject_ctl(b->w, 1, 1, 0, p, SDR_HELLO_LEN), 0);
}

/*
 * Node 1 connects to node 0, posts, and a HELLO in node 0's name comes: before, in between, and
 * while node 0 is not even up.  Bulk both ways shows that the queue pairs are those that the two
 * told each other of.
 */
static void forged_fields_case(const struct forgery *f, int when)
{
	struct bed *b = bed_open(4);
	struct bed_op *op[4];
	uint8_t *p[2];
	struct catch c;

	catch_one(b, &c);
	if (when == 0) {
		forge_fields(b, &c, f);
		bed_run(b, MS);
	}
	if (when == 2)
		bed_drop(b, 1, BED_HELLO, 0, 2); /* no answer yet */
	for (uint32_t i = 0; i < 2; i++) {
		p[i] = bed_buf(b, 200000, 0);
		op[i] = bed_recv(b, i, p[i], 200000);
	}
	op[2] = bed_send(b, 1, 0, bed_buf(b, 200000, 7), 200000, 0);
	if (when) {
		bed_run(b, MS);
		forge_fields(b, &c, f);
		bed_run(b, MS);
	}
	op[3] = bed_send(b, 0, 1, bed_buf(b, 200000, 8), 200000, 0);
	for (uint32_t i = 0; i < 4; i++) {
		bed_wait(b, op[i], 10 * BED_SEC);
		if (op[i]->e.err)
			fail_msg("%s, case %d: operation %u ended with %s", f->what, when, i,
				 sdr_rel_strerror(op[i]->e.prov_err));
	}
	assert_true(bed_same(p[0], 200000, 7));
	assert_true(bed_same(p[1], 200000, 8));
	if (when) /* what node 1 offered holds */
		assert_int_equal(bed_conn(b, 1, 0)->shape->mtu, b->node[1].ep->rel->mtu);
	bed_close(b);
}

static void forged_hello__no_field_fails_what_is_posted(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FORGERIES; i++)
		for (int when = 0; when < 3; when++)
			forged_fields_case(&forgeries[i], when);
}

/*
 * A HELLO with a small mtu made node 1 open a small queue pair, of which node 1 then speaks
 * itself.  Node 0 starts a little earlier or later: in whatever order their questions, cookies and
 * answers meet, both end with the same size and with queue pairs that are there.
 */
static void forged_hello__a_small_one_leaves_the_two_sides_of_one_size(void **state)
{
	(void)state;
	for (int64_t skew = -5; skew <= 12; skew++) {
		struct bed *b = bed_new(4);
		struct bed_op *op[4];
		uint8_t *p[2];
		struct catch c;

		for (uint32_t i = 0; i < 2; i++)
			b->cfg[i].rtt_init_us = 1000; /* node 1 does not wait long for the proof */
		bed_boot(b);
		catch_one(b, &c);
		forge_fields(b, &c, &forgeries[1]);
		bed_run(b, MS);
		for (uint32_t i = 0; i < 2; i++) {
			p[i] = bed_buf(b, 200000, 0);
			op[i] = bed_recv(b, i, p[i], 200000);
		}
		op[2] = bed_send(b, skew >= 0, skew < 0, bed_buf(b, 200000, 7), 200000, 0);
		bed_run(b, (uint64_t)(skew < 0 ? -skew : skew) * BED_DELAY / 5);
		op[3] = bed_send(b, skew < 0, skew >= 0, bed_buf(b, 200000, 8), 200000, 0);
		for (uint32_t i = 0; i < 4; i++) {
			bed_wait(b, op[i], 5 * BED_SEC);
			bed_assert_ok(op[i]);
		}
		assert_int_equal(bed_conn(b, 0, 1)->shape->mtu, bed_conn(b, 1, 0)->shape->mtu);
		bed_close(b);
	}
}

/* It said that data packets may come in pieces; the real one is a device, and takes none. */
static void forged_hello__its_features_go_with_it(void **state)
{
	static const struct forgery pieces = { .what = "pieces", .features = UINT32_MAX };
	struct bed *b = bed_new(4);
	struct bed_op *r, *s;
	struct sdr_uc_stats st;
	struct catch c;

	(void)state;
	b->na[0].rkeyed = SDR_SIM_RKEYED_MR;
	b->na[1].no_probe = false;
	bed_boot(b);
	catch_one(b, &c);
	forge_fields(b, &c, &pieces);
	bed_run(b, MS);
	assert_true(bed_conn(b, 1, 0)->hs.peer_known && bed_conn(b, 1, 0)->main.pmtu.size);
	r = bed_recv(b, 0, bed_buf(b, 200000, 0), 200000);
	s = bed_send(b, 1, 0, bed_buf(b, 200000, 7), 200000, 0);
	bed_wait(b, s, 5 * BED_SEC);
	bed_wait(b, r, 5 * BED_SEC);
	bed_assert_ok(s);
	bed_assert_ok(r);
	b->node[1].ep->rel->uc->ops->stats(b->node[1].ep->rel->uc, &st);
	assert_int_equal(st.pieces_tx, 0);
	bed_close(b);
}

/*
 * An engine that would open a port for a device does so for those who have shown that they are
 * there.
 */
static void forged_hello__a_device_must_prove_itself_where_it_costs_a_port(void **state)
{
	struct bed *b = bed_open(4);
	struct catch c;

	(void)state;
	catch_one(b, &c);
	b->node[1].ep->rel->info.nic_port = true;
	forge_fields(b, &c, &forgeries[FORGERIES - 1]);
	bed_run(b, MS);
	assert_int_equal(bed_seen(b, 1, BED_RETRY), 1);
	assert_int_equal(bed_seen(b, 1, BED_HELLO_ACK), 0);
	assert_int_equal(b->node[1].ep->rel->nconns, 0);
	assert_int_equal(b->node[1].ep->rel->peers.n, 0);
	bed_close(b);
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* An observer of our HELLO could hand out a cookie, and make us repeat ourselves. */
static void retry__of_another_address_is_not_believed(void **state)
{
	struct bed *b = bed_open(4);
	struct sdr_retry r = { .cookie = 99 };
	struct sdr_conn *c;
	uint8_t p[SDR_RETRY_LEN];
	struct bed_op *s;

	(void)state;
	bed_drop(b, 1, BED_HELLO, 0, UINT64_MAX / 2);
	s = bed_send(b, 1, 0, "x", 1, 0);
	s->expect = -1;
	bed_run(b, MS);
	c = bed_conn(b, 1, 0);
	r.cid = c->id.cid;
	sdr_retry_encode(p, SDR_REL_RETRY, &r);
	assert_int_equal(sdr_sim_inject_ctl(b->w, 3, 1, 0, p, sizeof(p)), 0); /* node 2 */
	bed_run(b, MS);
	assert_int_equal(c->hs.cookie, 0);
	assert_int_equal(bed_stats(b, 1).pkts_bad, 1);
	assert_int_equal(sdr_sim_inject_ctl(b->w, 1, 1, 0, p, sizeof(p)), 0);
	bed_run(b, MS);
	assert_int_equal(c->hs.cookie, 99);
	bed_close(b);
}

/* A RESET names a connection by the peer's number; it comes from where the peer is. */
static void reset__finds_its_connection_by_number_and_address(void **state)
{
	struct bed *b = bed_open(3);
	struct sdr_retry r = { .cookie = 0 };
	uint8_t p[SDR_RETRY_LEN];
	struct bed_op *s;

	(void)state;
	bed_warm(b, 0, 1);
	bed_warm(b, 0, 2);
	s = bed_send(b, 0, 1, bed_buf(b, 3 << 20, 1), 3 << 20, 0);
	bed_run(b, MS);
	r.cid = bed_conn(b, 0, 1)->id.peer_cid;
	sdr_retry_encode(p, SDR_REL_RESET, &r);
	assert_int_equal(sdr_sim_inject_ctl(b->w, 3, 0, 0, p, sizeof(p)), 0);
	bed_run(b, MS);
	assert_int_equal(s->n, 0);
	assert_int_equal(sdr_sim_inject_ctl(b->w, 2, 0, 0, p, sizeof(p)), 0);
	bed_run(b, MS);
	bed_assert_err(s, SDR_REL_ERR_RESTARTED);
	assert_non_null(bed_conn(b, 0, 2));
	bed_close(b);
}

static void handshake__garbage_is_counted(void **state)
{
	struct bed *b = bed_open(2);
	uint64_t rng = 1, bad, late;
	uint8_t p[256];

	(void)state;
	bed_warm(b, 0, 1);
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t len = SDR_CLASS_LEN + (i * 37) % 200;

		for (uint32_t k = 0; k < len; k++) {
			rng = rng * 6364136223846793005ull + 1442695040888963407ull;
			p[k] = (uint8_t)(rng >> 56);
		}
		sdr_class_encode(p, SDR_CLASS_REL, (uint8_t)(i % 8));
		assert_int_equal(sdr_sim_inject_ctl(b->w, 1, 1, 0, p, len), 0);
		if (i % 50 == 0)
			bed_run(b, 10000);
	}
	bed_run(b, BED_RTT);
	bad = bed_stats(b, 1).pkts_bad;
	late = bed_stats(b, 1).pkts_late;
	assert_in_range(bad + late, 2000, 2000);
	exchange(b, 0, 1, BED_SEC);
	bed_close(b);
}

static void handshake__self_connection(void **state)
{
	static const size_t len[] = { 0, 100, 5000, 300000 };
	struct bed *b = bed_open(1);
	struct bed_op *r, *s;
	uint8_t *p, *q;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		p = bed_buf(b, len[i], 0);
		q = bed_buf(b, len[i], 4);
		r = bed_recv(b, 0, p, len[i]);
		s = bed_send(b, 0, 0, q, len[i], i & 1 ? SDR_REL_F_DELIVERY : 0);
		bed_wait(b, r, BED_SEC);
		bed_wait(b, s, BED_SEC);
		bed_assert_ok(r);
		bed_assert_ok(s);
		assert_true(bed_same(p, len[i], 4));
	}
	p = bed_buf(b, 100000, 0);
	bed_region_add(b, 0, 7, p, 100000, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	s = bed_rma(b, 0, 0, SDR_REL_WRITE, bed_buf(b, 60000, 8), 60000, 1000, 7, 0);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(s);
	assert_true(bed_same(p + 1000, 60000, 8));
	q = bed_buf(b, 60000, 0);
	s = bed_rma(b, 0, 0, SDR_REL_READ, q, 60000, 1000, 7, 0);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(s);
	assert_true(bed_same(q, 60000, 8));
	sdr_rel_shutdown(b->node[0].ep->rel);
	b->node[0].ep->dirty = true;
	bed_run(b, BED_SEC);
	assert_true(sdr_rel_quiet(b->node[0].ep->rel));
	bed_close(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handshake__one_exchange_opens_both_directions),
		cmocka_unit_test(handshake__hello_lost),
		cmocka_unit_test(handshake__hello_lost_many_times_backs_off),
		cmocka_unit_test(handshake__hello_ack_lost),
		cmocka_unit_test(handshake__simultaneous_open),
		cmocka_unit_test(handshake__simultaneous_open_both_acks_lost),
		cmocka_unit_test(handshake__simultaneous_open_one_hello_lost),
		cmocka_unit_test(
			handshake__first_packet_lost_leaves_the_passive_side_waiting_shortly),
		cmocka_unit_test(handshake__larger_mtu_follows_the_smaller),
		cmocka_unit_test(handshake__refused_twice_follows_once),
		cmocka_unit_test(handshake__smaller_control_datagrams_bind_both),
		cmocka_unit_test(handshake__other_geometry_is_refused_with_a_text),
		cmocka_unit_test(handshake__duplicate_hello_and_ack_change_nothing),
		cmocka_unit_test(handshake__peer_restart_ends_old_operations),
		cmocka_unit_test(handshake__restarted_peer_that_speaks_first),
		cmocka_unit_test(handshake__unknown_connection_is_answered_by_reset),
		cmocka_unit_test(cookie__a_flood_leaves_bounded_state_and_a_peer_gets_in),
		cmocka_unit_test(cookie__of_another_address_is_worth_nothing),
		cmocka_unit_test(handshake__forged_hello_does_not_block_the_real_peer),
		cmocka_unit_test(handshake__forged_hello_does_not_fail_what_is_posted),
		cmocka_unit_test(handshake__forged_hellos_to_both_sides_keep_nobody_apart),
		cmocka_unit_test(handshake__reset_of_a_forged_hello_ends_nothing),
		cmocka_unit_test(forged_hello__no_field_fails_what_is_posted),
		cmocka_unit_test(forged_hello__a_small_one_leaves_the_two_sides_of_one_size),
		cmocka_unit_test(forged_hello__its_features_go_with_it),
		cmocka_unit_test(forged_hello__a_device_must_prove_itself_where_it_costs_a_port),
		cmocka_unit_test(retry__of_another_address_is_not_believed),
		cmocka_unit_test(reset__finds_its_connection_by_number_and_address),
		cmocka_unit_test(handshake__garbage_is_counted),
		cmocka_unit_test(handshake__self_connection),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
