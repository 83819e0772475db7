/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The life of atomics on the simulated network: forms, vectors, parts, refusals, fences, losses,
 * restarts, a peer that does not know them, and what the target counts.
 */
#include "../bed/bed.h"
#include "rel/msg/sdr_atomic_exec.h"

#define KEY_RW 1u
#define KEY_R  2u
#define KEY_W  3u
#define BYTES  SDR_REL_ATOMIC_MAX

static struct sdr_rel *rel_of(struct bed *b, uint32_t node)
{
	return b->node[node].ep->rel;
}

/* Node 1 has memory for everybody, at least as large as one atomic may be. */
static uint8_t *pair_of(struct bed **out, double loss, double dup)
{
	struct bed *b = bed_new(2);
	uint8_t *mem;

	b->link.loss = loss;
	b->link.dup = dup;
	b->rma_events = true;
	bed_boot(b);
	mem = bed_buf(b, BYTES + 64, 0);
	mem += -(uintptr_t)mem & 31;
	memset(mem, 0, BYTES);
	bed_region_add(b, 1, KEY_RW, mem, BYTES, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	bed_region_add(b, 1, KEY_R, mem, BYTES, SDR_REL_ACCESS_READ);
	bed_region_add(b, 1, KEY_W, mem, BYTES, SDR_REL_ACCESS_WRITE);
	bed_warm(b, 0, 1);
	*out = b;
	return mem;
}

/* `what` with vectors; res NULL: an update. */
struct atom {
	uint8_t op, type;
	uint32_t count;
	uint64_t addr, key;
	uint16_t flags;
	const struct sdr_rel_iov *in, *cmp, *res;
	uint8_t nin, ncmp, nres;
};

static struct bed_op *post(struct bed *b, const struct atom *x, int want)
{
	struct sdr_rel_atomic a = { .op = x->op,
				    .type = x->type,
				    .form = x->cmp   ? SDR_ATOMIC_COMPARE
					    : x->res ? SDR_ATOMIC_FETCH
						     : SDR_ATOMIC_UPDATE,
				    .count = x->count,
				    .cmp = x->cmp,
				    .ncmp = x->ncmp,
				    .res = x->res,
				    .nres = x->nres };
	struct bed_op *op = want ? NULL : bed_op(b, 0, 1);
	struct sdr_rel_wr wr = { .kind = x->res ? SDR_REL_FETCH_ATOMIC : SDR_REL_ATOMIC,
				 .flags = x->flags,
				 .peer = bed_peer(b, 0, 1),
				 .iov = x->in,
				 .niov = x->nin,
				 .rma_addr = x->addr,
				 .rma_key = x->key ? x->key : KEY_RW,
				 .atomic = &a,
				 .ctx = op };

	assert_int_equal(sdr_rel_post(rel_of(b, 0), &wr), want);
	b->node[0].ep->dirty = true;
	return op;
}

static struct bed_op *fetch_add(struct bed *b, uint64_t *v, uint64_t *old, uint64_t addr,
				uint16_t flags)
{
	struct sdr_rel_iov in = { v, 8 }, res = { old, 8 };

	return post(b,
		    &(struct atom){ .op = SDR_ATOMIC_SUM,
				    .type = SDR_ATOMIC_UINT64,
				    .count = 1,
				    .addr = addr,
				    .flags = flags,
				    .in = &in,
				    .nin = 1,
				    .res = old ? &res : NULL,
				    .nres = 1 },
		    0);
}

static uint32_t reported(struct bed *b, uint8_t kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->node[1].nlog; i++)
		n += b->node[1].log[i].kind == kind;
	return n;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void atomic__has_three_forms(void **state)
{
	struct bed *b;
	uint64_t *at = (void *)pair_of(&b, 0, 0), v = 5, old = 77, cmp = 12;
	struct sdr_rel_iov in = { &v, 8 }, res = { &old, 8 }, c = { &cmp, 8 };
	struct atom swap = { .op = SDR_ATOMIC_CSWAP,
			     .type = SDR_ATOMIC_UINT64,
			     .count = 1,
			     .in = &in,
			     .nin = 1,
			     .cmp = &c,
			     .ncmp = 1,
			     .res = &res,
			     .nres = 1 };
	struct atom read = { .op = SDR_ATOMIC_READ,
			     .type = SDR_ATOMIC_UINT64,
			     .count = 1,
			     .key = KEY_R,
			     .res = &res,
			     .nres = 1 };
	uint64_t t0 = bed_now(b);
	struct bed_op *op;

	(void)state;
	op = fetch_add(b, &v, NULL, 0, 0);
	v = 7; /* it was copied */
	bed_wait(b, op, BED_SEC);
	bed_assert_ok(op);
	assert_int_equal(op->e.kind, SDR_REL_ATOMIC);
	assert_int_equal(op->e.len, 8);
	assert_int_equal(at[0], 5);
	assert_in_range(op->at - t0, BED_RTT, BED_RTT + BED_DELAY);
	op = fetch_add(b, &v, &old, 0, 0);
	bed_wait(b, op, BED_SEC);
	bed_assert_ok(op);
	assert_int_equal(op->e.kind, SDR_REL_FETCH_ATOMIC);
	assert_true(old == 5 && at[0] == 12);
	v = 99;
	op = post(b, &swap, 0);
	cmp = 0; /* this as well */
	bed_wait(b, op, BED_SEC);
	bed_assert_ok(op);
	assert_true(old == 12 && at[0] == 99);
	old = 0;
	op = post(b, &read, 0);
	bed_wait(b, op, BED_SEC);
	bed_assert_ok(op);
	assert_true(old == 99 && at[0] == 99);
	assert_int_equal(reported(b, SDR_REL_REMOTE_ATOMIC), 1);
	assert_int_equal(reported(b, SDR_REL_REMOTE_FETCH_ATOMIC), 3);
	assert_int_equal(bed_stats(b, 1).atomics_rx, 4);
	bed_assert_no_repair(b);
	bed_close(b);
}

/* As many as there may be, out of and into pieces that fit nowhere. */
static void atomic__large_goes_in_parts_and_ends_once(void **state)
{
	enum { N = BYTES / 4 };
	struct bed *b;
	uint32_t *at = (void *)pair_of(&b, 0, 0);
	uint32_t *in = (void *)bed_buf(b, BYTES, 0), *cmp = (void *)bed_buf(b, BYTES, 0),
		 *old = (void *)bed_buf(b, BYTES, 0);
	struct sdr_rel_iov vi[3] = { { in, 4 }, { in + 1, 0 }, { in + 1, BYTES - 4 } },
			   vc[2] = { { cmp, 4000 }, { cmp + 1000, BYTES - 4000 } },
			   vr[4] = { { old, 4 },
				     { old + 1, 400 },
				     { old + 101, 1000 },
				     { old + 351, BYTES - 1404 } };
	struct atom add = {
		.op = SDR_ATOMIC_SUM, .type = SDR_ATOMIC_UINT32, .count = N, .in = vi, .nin = 3
	};
	struct atom swap = { .op = SDR_ATOMIC_CSWAP,
			     .type = SDR_ATOMIC_UINT32,
			     .count = N,
			     .in = vi,
			     .nin = 3,
			     .cmp = vc,
			     .ncmp = 2,
			     .res = vr,
			     .nres = 4 };
	struct bed_op *op;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		in[i] = i + 1;
	op = post(b, &add, 0);
	bed_wait(b, op, BED_SEC);
	bed_assert_ok(op);
	assert_int_equal(op->e.len, BYTES);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(at[i], i + 1);
	for (uint32_t i = 0; i < N; i++) {
		cmp[i] = i % 3 ? i + 1 : 0;
		in[i] = 7;
	}
	op = post(b, &swap, 0);
	bed_wait(b, op, BED_SEC);
	bed_assert_ok(op);
	assert_int_equal(op->e.len, BYTES);
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(old[i], i + 1);
		assert_int_equal(at[i], i % 3 ? 7 : i + 1);
	}
	bed_run(b, 3 * BED_RTT);
	assert_int_equal(reported(b, SDR_REL_REMOTE_ATOMIC), 1); /* once each, not by parts */
	assert_int_equal(reported(b, SDR_REL_REMOTE_FETCH_ATOMIC), 1);
	assert_int_equal(b->node[1].log[b->node[1].nlog - 1].len, BYTES);
	assert_true(sdr_list_empty(&bed_conn(b, 0, 1)->msg->ops));
	assert_int_equal(bed_conn(b, 1, 0)->credit.nserve, 0);
	bed_assert_no_repair(b);
	bed_close(b);
}

static void atomic__that_cannot_be_is_not_posted(void **state)
{
	struct bed *b;
	uint8_t *mem = pair_of(&b, 0, 0);
	uint64_t v[2] = { 1, 2 };
	struct sdr_rel_iov in = { v, 8 }, res = { v + 1, 8 };
	struct atom a = {
		.op = SDR_ATOMIC_SUM, .type = SDR_ATOMIC_UINT64, .count = 1, .in = &in, .nin = 1
	};

	(void)state;
	a.count = 2; /* not what the operands say */
	post(b, &a, -EINVAL);
	a.count = 0;
	post(b, &a, -EINVAL);
	a.count = BYTES / 8 + 1;
	post(b, &a, -EMSGSIZE);
	a.count = 1;
	a.op = SDR_ATOMIC_READ; /* updates nothing */
	post(b, &a, -EOPNOTSUPP);
	a.op = SDR_ATOMIC_CSWAP; /* compares with nothing */
	post(b, &a, -EOPNOTSUPP);
	a.op = SDR_ATOMIC_OPS;
	post(b, &a, -EOPNOTSUPP);
	a.op = SDR_ATOMIC_BOR;
	a.type = SDR_ATOMIC_DOUBLE;
	post(b, &a, -EOPNOTSUPP);
	a.type = SDR_ATOMIC_TYPES;
	post(b, &a, -EOPNOTSUPP);
	a.op = SDR_ATOMIC_SUM;
	a.type = SDR_ATOMIC_UINT64;
	res.len = 4; /* less than comes back */
	a.res = &res;
	a.nres = 1;
	post(b, &a, -EINVAL);
	a.res = NULL;
	in.len = 8;
	a.flags = SDR_REL_F_INJECT;
	post(b, &a, 0);
	bed_wait_all(b, BED_SEC);
	assert_int_equal(mem[0], 1);
	bed_close(b);
}

static void refused(struct bed *b, struct atom *a, int why)
{
	uint64_t before = bed_stats(b, 1).atomics_refused;
	struct bed_op *op = post(b, a, 0);

	bed_wait(b, op, 5 * BED_SEC);
	bed_assert_err(op, why);
	assert_true(bed_stats(b, 1).atomics_refused > before);
}

static void atomic__that_is_refused_changes_nothing(void **state)
{
	struct bed *b;
	uint8_t *mem = pair_of(&b, 0, 0), *big = bed_buf(b, BYTES, 1);
	uint64_t v = 1, old;
	struct sdr_rel_iov in = { &v, 8 }, res = { &old, 8 }, all = { big, BYTES };
	struct atom a = {
		.op = SDR_ATOMIC_SUM, .type = SDR_ATOMIC_UINT64, .count = 1, .in = &in, .nin = 1
	};

	(void)state;
	a.key = 99;
	refused(b, &a, SDR_REL_ERR_KEY);
	a.key = KEY_R;
	refused(b, &a, SDR_REL_ERR_KEY);
	a.key = KEY_RW;
	a.addr = BYTES - 4;
	refused(b, &a, SDR_REL_ERR_KEY);
	a.addr = UINT64_MAX - 3;
	refused(b, &a, SDR_REL_ERR_KEY);
	a.addr = 4;
	refused(b, &a, SDR_REL_ERR_ALIGN);
	a.addr = 0;
	a.res = &res; /* needs both rights */
	a.nres = 1;
	a.key = KEY_W;
	refused(b, &a, SDR_REL_ERR_KEY);
	a.key = KEY_R;
	refused(b, &a, SDR_REL_ERR_KEY);
	/* many parts of which only the last leaves the region: none is carried out */
	a = (struct atom){ .op = SDR_ATOMIC_SUM,
			   .type = SDR_ATOMIC_UINT64,
			   .count = BYTES / 8,
			   .addr = 8,
			   .in = &all,
			   .nin = 1 };
	refused(b, &a, SDR_REL_ERR_KEY);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(mem[i], 0);
	assert_int_equal(bed_stats(b, 1).atomics_rx, 0);
	assert_int_equal(reported(b, SDR_REL_REMOTE_ATOMIC), 0);
	assert_int_equal(bed_stats(b, 1).pkts_bad, 0);
	bed_close(b);
}

/* Tickets: each value once, in whatever order, and parts of large ones in between. */
static void atomic__happens_once_whatever_is_lost_or_doubled(void **state)
{
	enum { N = 600, M = 20, WIDE = 512 };
	struct bed *b;
	uint64_t *at = (void *)pair_of(&b, 0.1, 0.2), one = 1, got[N];
	uint64_t *ones = (void *)bed_buf(b, WIDE * 8, 0);
	struct sdr_rel_iov in = { ones, WIDE * 8 };
	struct atom wide = { .op = SDR_ATOMIC_SUM,
			     .type = SDR_ATOMIC_UINT64,
			     .count = WIDE,
			     .addr = 8,
			     .in = &in,
			     .nin = 1 };
	uint8_t seen[N] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < WIDE; i++)
		ones[i] = 1;
	for (uint32_t i = 0; i < N; i++) {
		fetch_add(b, &one, &got[i], 0, 0);
		if (i % (N / M) == 0)
			post(b, &wide, 0);
		if (i % 16 == 15)
			bed_run(b, BED_RTT / 3);
	}
	bed_wait_all(b, 60 * BED_SEC);
	for (uint32_t i = 0; i < N; i++) {
		assert_in_range(got[i], 0, N - 1);
		assert_int_equal(seen[got[i]]++, 0);
	}
	assert_int_equal(at[0], N);
	for (uint32_t i = 0; i < WIDE; i++)
		assert_int_equal(at[1 + i], M);
	bed_run(b, 2 * BED_SEC);
	assert_int_equal(reported(b, SDR_REL_REMOTE_ATOMIC), M);
	assert_int_equal(reported(b, SDR_REL_REMOTE_FETCH_ATOMIC), N);
	assert_true(bed_stats(b, 0).rec_rtx > 0 && bed_stats(b, 0).pkts_dup > 0);
	bed_close(b);
}

static void atomic__obeys_fences(void **state)
{
	struct bed *b;
	uint64_t *at = (void *)pair_of(&b, 0, 0), one = 1, old = 9;
	struct bed_op *x, *y;
	struct bed_rule *r;

	(void)state;
	r = bed_drop(b, 0, BED_REC, 0, 1);
	x = fetch_add(b, &one, NULL, 0, 0);
	y = fetch_add(b, &one, &old, 0, SDR_REL_F_FENCE);
	bed_wait(b, y, 5 * BED_SEC);
	assert_int_equal(r->hit, 1);
	bed_assert_ok(x);
	bed_assert_ok(y);
	assert_true(y->at >= x->at + BED_RTT);
	assert_true(old == 1 && at[0] == 2);
	bed_close(b);
}

/* Injected: complete at once; one with old values never is. */
static void atomic__injected_is_complete_at_once(void **state)
{
	struct bed *b;
	uint64_t *at = (void *)pair_of(&b, 0, 0), one = 1, old = 9;
	uint16_t flags = SDR_REL_F_INJECT | SDR_REL_F_EARLY;
	struct bed_op *x, *y;

	(void)state;
	x = fetch_add(b, &one, NULL, 0, flags);
	assert_true(bed_ok(x));
	y = fetch_add(b, &one, &old, 0, flags);
	assert_int_equal(y->n, 0);
	bed_wait(b, y, BED_SEC);
	bed_assert_ok(x);
	bed_assert_ok(y);
	assert_int_equal(at[0], 2);
	bed_close(b);
}

/* A side that does not set the feature is sent none. */
static void atomic__needs_a_peer_that_knows_it(void **state)
{
	struct bed *b = bed_open(2);
	uint64_t *at = (void *)bed_buf(b, 64, 0), v[1000] = { 1 };
	struct sdr_rel_iov in = { v, sizeof(v) };
	struct atom wide = {
		.op = SDR_ATOMIC_SUM, .type = SDR_ATOMIC_UINT64, .count = 1000, .in = &in, .nin = 1
	};
	struct bed_op *op;

	(void)state;
	memset(at, 0, 64);
	bed_region_add(b, 1, KEY_RW, (uint8_t *)at, 64, SDR_REL_ACCESS_READ | SDR_REL_ACCESS_WRITE);
	rel_of(b, 1)->features &= ~SDR_FEATURE_ATOMIC;
	op = fetch_add(b, v, NULL, 0, 0); /* before the two know each other */
	bed_wait(b, op, BED_SEC);
	bed_assert_err(op, SDR_REL_ERR_UNSUPPORTED);
	assert_int_equal(op->e.err, -EOPNOTSUPP);
	op = post(b, &wide, 0);
	bed_wait(b, op, BED_SEC);
	bed_assert_err(op, SDR_REL_ERR_UNSUPPORTED);
	bed_run(b, BED_RTT);
	assert_true(at[0] == 0 && bed_stats(b, 1).pkts_bad == 0);
	bed_close(b);
}

static void atomic__ends_with_its_peer(void **state)
{
	struct bed *b;
	uint64_t *at = (void *)pair_of(&b, 0, 0), v[1000] = { 1 }, old[1000];
	struct sdr_rel_iov in = { v, sizeof(v) }, res = { old, sizeof(old) };
	struct atom wide = { .op = SDR_ATOMIC_SUM,
			     .type = SDR_ATOMIC_UINT64,
			     .count = 1000,
			     .in = &in,
			     .nin = 1,
			     .res = &res,
			     .nres = 1 };
	struct bed_op *x, *y;

	(void)state;
	bed_drop(b, 1, BED_ALL, 0, UINT64_MAX);
	x = post(b, &wide, 0);
	y = fetch_add(b, v, NULL, 0, 0);
	bed_wait(b, x, 120 * BED_SEC);
	bed_wait(b, y, 120 * BED_SEC);
	bed_assert_err(x, SDR_REL_ERR_STOPPED);
	bed_assert_err(y, SDR_REL_ERR_STOPPED);
	assert_int_equal(at[0], 2);
	bed_close(b);
}

/* What was sent to a process that is gone is not carried out by the next one. */
static void atomic__is_not_repeated_after_a_restart(void **state)
{
	struct bed *b;
	uint64_t *at = (void *)pair_of(&b, 0, 0), one = 1;
	struct bed_op *x;

	(void)state;
	bed_drop(b, 1, BED_ALL, 0, 3); /* its answers */
	x = fetch_add(b, &one, NULL, 0, 0);
	bed_run(b, BED_DELAY + MS);
	assert_int_equal(at[0], 1);
	bed_crash(b, 1);
	bed_boot_node(b, 1);
	bed_wait(b, x, 120 * BED_SEC);
	assert_true(x->n == 1 && x->e.err);
	bed_run(b, BED_SEC);
	assert_int_equal(at[0], 1);
	bed_close(b);
}

/* ---- what no honest peer sends --------------------------------------------------------------- */

/* A record of node 0's, as it is. */
static void say(struct bed *b, struct sdr_frame_rec *f, const void *payload, uint32_t len)
{
	struct sdr_conn *c = bed_conn(b, 1, 0);
	static uint32_t pn = 5000;
	uint8_t p[1024];

	f->rseq = c->rec.rx_next;
	f->id = 12345;
	f->payload = payload;
	f->payload_len = len;
	bed_forge(b, 0, 1, c->id.cid, pn++, p, sdr_frame_rec_encode(p, sizeof(p), f));
	bed_run(b, BED_RTT);
}

static void atomic__that_lies_is_refused(void **state)
{
	struct bed *b;
	uint8_t *mem = pair_of(&b, 0, 0), p[SDR_ATOMIC_HDR + 16] = { 0 };
	struct sdr_frame_rec f = { .op = SDR_REC_ATOMIC, .flags = SDR_REC_F_RMA, .key = KEY_RW };
	struct sdr_atomic h = { .op = SDR_ATOMIC_SUM, .type = SDR_ATOMIC_UINT64, .count = 1 };
	uint64_t bad = 0;

	(void)state;
	memset(p, 1, sizeof(p));
	sdr_atomic_put(p, &h);
	say(b, &f, p, SDR_ATOMIC_HDR - 1);
	say(b, &f, p, SDR_ATOMIC_HDR);	   /* no operand */
	say(b, &f, p, SDR_ATOMIC_HDR + 9); /* more than one */
	p[3] = 1;
	say(b, &f, p, SDR_ATOMIC_HDR + 8);
	h.count = 0;
	sdr_atomic_put(p, &h);
	say(b, &f, p, SDR_ATOMIC_HDR);
	h.count = 1;
	h.form = SDR_ATOMIC_FORMS;
	sdr_atomic_put(p, &h);
	say(b, &f, p, SDR_ATOMIC_HDR + 8);
	h.form = 0;
	h.first = 1; /* not within what the record names */
	sdr_atomic_put(p, &h);
	say(b, &f, p, SDR_ATOMIC_HDR + 8);
	h.first = UINT32_MAX;
	f.flags |= SDR_REC_F_LEN;
	f.len = 16;
	sdr_atomic_put(p, &h);
	say(b, &f, p, SDR_ATOMIC_HDR + 8);
	bad = bed_stats(b, 1).pkts_bad;
	assert_int_equal(bad, 8);
	assert_int_equal(bed_stats(b, 1).atomics_refused, 8);
	/* unknown, but well formed: no lie */
	h.first = 0;
	h.op = SDR_ATOMIC_OPS;
	sdr_atomic_put(p, &h);
	say(b, &f, p, SDR_ATOMIC_HDR + 8);
	assert_int_equal(bed_stats(b, 1).atomics_refused, 9);
	/* the end of what never was: a range that may be changed, one that is not there, no form */
	f = (struct sdr_frame_rec){ .op = SDR_REC_ATOMIC_END,
				    .flags = SDR_REC_F_RMA | SDR_REC_F_LEN | SDR_REC_F_TAG,
				    .key = KEY_R,
				    .len = 64 };
	say(b, &f, NULL, 0);
	f.tag = SDR_ATOMIC_FORMS;
	say(b, &f, NULL, 0);
	assert_int_equal(bed_stats(b, 1).pkts_bad, bad + 1);
	assert_int_equal(reported(b, SDR_REL_REMOTE_ATOMIC), 0);
	/* answers to nothing */
	f = (struct sdr_frame_rec){ .op = SDR_REC_ATOMIC_RSP };
	say(b, &f, p, 8);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(mem[i], 0);
	assert_int_equal(bed_stats(b, 1).atomics_rx, 0);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(atomic__has_three_forms),
		cmocka_unit_test(atomic__large_goes_in_parts_and_ends_once),
		cmocka_unit_test(atomic__that_cannot_be_is_not_posted),
		cmocka_unit_test(atomic__that_is_refused_changes_nothing),
		cmocka_unit_test(atomic__happens_once_whatever_is_lost_or_doubled),
		cmocka_unit_test(atomic__obeys_fences),
		cmocka_unit_test(atomic__injected_is_complete_at_once),
		cmocka_unit_test(atomic__needs_a_peer_that_knows_it),
		cmocka_unit_test(atomic__ends_with_its_peer),
		cmocka_unit_test(atomic__is_not_repeated_after_a_restart),
		cmocka_unit_test(atomic__that_lies_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
