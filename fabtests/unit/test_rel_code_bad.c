/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A peer that cannot decode, and one that lies about parity: operations end with a cause, counts
 * stay sums, no byte beyond a buffer changes, and what follows works.
 *
 * Records and handshakes are rewritten under way, so that numbers stay those of an honest peer;
 * reports are forged, with packet numbers far ahead of the real ones.
 */
#include "test_rel_code_util.h"

#define PKTS (MIB / SDR_MTU_DEFAULT)

/* ---- what the peer can decode ---------------------------------------------------------------- */

struct bounds {
	uint8_t codes;
	uint16_t syms;
	uint32_t chunk;
};

static struct bounds peer_bounds;

/* Node 1 offers less. */
static bool hello_less(struct lab *l, struct sdr_sim_packet *p, uint32_t what)
{
	uint8_t *at = sdr_sim_packet_payload(p) + SDR_HELLO_LEN - 8;

	(void)l;
	if (p->src != 1 || !(what & (BED_HELLO | BED_HELLO_ACK)))
		return true;
	at[0] = peer_bounds.codes;
	at[2] = (uint8_t)peer_bounds.syms;
	at[3] = (uint8_t)(peer_bounds.syms >> 8);
	for (uint32_t i = 0; i < 4; i++)
		at[4 + i] = (uint8_t)(peer_bounds.chunk >> 8 * i);
	return true;
}

/* Handshake and all under the filter. */
static void boot_watched(struct lab *l)
{
	l->b->filter = lab_filter;
	bed_boot(l->b);
	bed_warm(l->b, 0, 1);
}

static void bounds__what_the_peer_cannot_decode_is_not_sent(void **state)
{
	enum { CODED, PLAIN, FAILS };
	static const struct {
		const struct sdr_scheme_ops *scheme;
		struct bounds b;
		int want;
	} cases[] = {
		{ &sdr_scheme_ec, { 0x6, 256, 1 << 24 }, CODED },
		{ &sdr_scheme_ec, { 0x6, 10, 65536 }, CODED },
		{ &sdr_scheme_ec, { 0x4, 10, 65536 }, CODED },
		{ &sdr_scheme_ec, { 0x6, 9, 65536 }, FAILS },
		{ &sdr_scheme_ec, { 0x6, 256, 65535 }, FAILS },
		{ &sdr_scheme_ec, { 0x2, 256, 1 << 24 }, FAILS },
		{ &sdr_scheme_ec, { 0, 0, 0 }, PLAIN },
		{ &sdr_scheme_ec_sr, { 0x6, 2, 65536 }, FAILS },
		{ &sdr_scheme_ec_sr, { 0, 0, 0 }, PLAIN },
		{ &sdr_scheme_hybrid, { 0x6, 256, 4096 }, CODED },
		{ &sdr_scheme_hybrid, { 0x6, 256, 4095 }, PLAIN },
		{ &sdr_scheme_hybrid, { 0x6, 2, 4096 }, PLAIN },
		{ &sdr_scheme_hybrid, { 0x2, 256, 4096 }, PLAIN },
		{ &sdr_scheme_hybrid, { 0, 0, 0 }, PLAIN },
		{ &sdr_scheme_auto, { 0x6, 2, 1 }, PLAIN },
		{ &sdr_scheme_auto, { 0, 0, 0 }, PLAIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lab *l = lab_new(cases[i].scheme);
		uint8_t *p = bed_buf(l->b, MIB, 0);
		struct bed_op *s;

		peer_bounds = cases[i].b;
		l->ctl = hello_less;
		boot_watched(l);
		assert_int_equal(bed_conn(l->b, 0, 1)->codes.kinds, peer_bounds.codes);
		bed_region_add(l->b, 1, 7, p, MIB, SDR_REL_ACCESS_WRITE);
		s = bed_rma(l->b, 0, 1, SDR_REL_WRITE, bed_buf(l->b, MIB, 3), MIB, 0, 7, 0);
		bed_wait(l->b, s, BED_SEC);
		if (cases[i].want == FAILS) {
			bed_assert_err(s, SDR_REL_ERR_CODE);
			assert_int_equal(s->e.err, -EOPNOTSUPP);
			assert_int_equal(l->data + l->parity, 0);
			assert_true(bed_same(p, MIB, 0));
		} else {
			bed_assert_ok(s);
			assert_true(bed_same(p, MIB, 3));
			if ((l->parity > 0) != (cases[i].want == CODED))
				fail_msg("case %zu: %lu packets of parity", i,
					 (unsigned long)l->parity);
		}
		/* small ones, and the way back, need nothing */
		lab_move(l, 0, 100, 4, NULL);
		lab_move(l, 1, MIB, 5, NULL);
		lab_close(l);
	}
}

/* ---- records --------------------------------------------------------------------------------- */

static struct sdr_frame_code lie; /* what the record says instead; 0: as it was */
static uint64_t lies, lies_max;

static void put_le(uint8_t *p, uint64_t v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* Rewrites the code of every record of node 0. */
static bool rewrite(struct lab *l, struct sdr_sim_packet *p, uint32_t what)
{
	const uint8_t *at = sdr_sim_packet_payload(p) + SDR_PACKET_HDR;
	const uint8_t *end = sdr_sim_packet_payload(p) + p->len;
	struct sdr_frame f;

	(void)l;
	if (!(what & BED_REC) || lies >= lies_max)
		return true;
	while (sdr_frame_next(&at, end, &f) > 0) {
		uint8_t *c = sdr_sim_packet_payload(p) + (at - sdr_sim_packet_payload(p)) -
			     SDR_FRAME_CODE_LEN;

		if (f.type != SDR_FRAME_REC || !(f.rec.flags & SDR_REC_F_CODE))
			continue;
		lies++;
		if (lie.kind)
			c[0] = lie.kind;
		if (lie.k)
			put_le(c + 2, lie.k, 2);
		if (lie.m)
			put_le(c + 4, lie.m, 2);
		if (lie.chunk)
			put_le(c + 8, lie.chunk, 4);
		if (lie.seg)
			put_le(c + 12, lie.seg, 4);
		if (lie.from)
			put_le(c + 16, lie.from, 8);
	}
	return true;
}

/* That cannot be decoded.  None of them changes how many messages the transfer has, but "from". */
static const struct sdr_frame_code UNFIT[] = {
	{ .chunk = 2048 },			/* not of whole packets */
	{ .seg = 128 * MIB },			/* longer than a message */
	{ .from = 2 * MIB },			/* behind the end */
	{ .k = 1, .m = 255 },			/* parity longer than a message */
	{ .chunk = 32 * MIB, .seg = 64 * MIB }, /* a chunk beyond what was offered */
	{ .k = 2, .m = 200, .kind = SDR_CODE_MDS },
};
#define UNFIT_N (sizeof(UNFIT) / sizeof(*UNFIT))

static struct lab *liar_lab(void)
{
	struct lab *l = lab_open(&sdr_scheme_ec);

	l->ctl = rewrite;
	lie = (struct sdr_frame_code){ 0 };
	lies = 0;
	lies_max = UINT64_MAX;
	return l;
}

/* The liar is gone: what follows on the same connection works. */
static void goes_on(struct lab *l)
{
	lies_max = 0;
	l->lose = NULL;
	for (uint32_t i = 0; i < 4; i++)
		lab_move(l, i & 1, 300000, 3 + i, NULL);
}

static void record__write_of_an_unfit_code_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNFIT_N; i++) {
		struct lab *l = liar_lab();
		uint8_t *p = bed_buf(l->b, MIB, 0);
		struct bed_op *s;

		lie = UNFIT[i];
		bed_region_add(l->b, 1, 7, p, MIB, SDR_REL_ACCESS_WRITE);
		s = bed_rma(l->b, 0, 1, SDR_REL_WRITE, bed_buf(l->b, MIB, 3), MIB, 0, 7, 0);
		bed_wait(l->b, s, BED_SEC);
		bed_assert_err(s, SDR_REL_ERR_CODE);
		assert_true(lies > 0);
		assert_int_equal(bed_stats(l->b, 1).pkts_bad, 1);
		assert_true(bed_same(p, MIB, 0));
		goes_on(l);
		lab_close(l);
	}
}

static void record__message_of_an_unfit_code_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3 * UNFIT_N; i++) {
		/* posted before, unexpected, parked (its BIND lies) */
		size_t len = i % 3 == 2 ? 3 * MIB : MIB;
		struct lab *l = liar_lab();
		struct bed *b = l->b;
		uint8_t *p = bed_buf(b, len, 0);
		struct bed_op *r = NULL, *s;

		lie = UNFIT[i / 3];
		if (lie.from)
			lie.from = 64 * MIB;
		if (i % 3 == 0)
			r = bed_recv(b, 1, p, len);
		if (i % 3 == 2)
			lies_max = 0;
		s = bed_send(b, 0, 1, bed_buf(b, len, 3), len, 0);
		if (i % 3 == 2) {
			bed_run(b, 5 * BED_RTT);
			assert_int_equal(bed_stats(b, 1).msgs_parked, 1);
			lies_max = UINT64_MAX;
			r = bed_recv(b, 1, p, len);
		}
		bed_wait(b, s, BED_SEC);
		bed_assert_err(s, SDR_REL_ERR_CODE);
		if (r) {
			bed_wait(b, r, BED_SEC);
			bed_assert_err(r, SDR_REL_ERR_CODE);
		}
		assert_true(lies > 0 && bed_stats(b, 1).pkts_bad == 1);
		assert_true(bed_same(p, len, 0));
		goes_on(l);
		lab_close(l);
	}
}

/* Node 1 reads, node 0 answers and lies. */
static void record__read_answer_of_an_unfit_code_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNFIT_N; i++) {
		struct lab *l = liar_lab();
		uint8_t *p = bed_buf(l->b, MIB, 0);
		struct bed_op *s;

		lie = UNFIT[i];
		bed_region_add(l->b, 0, 7, bed_buf(l->b, MIB, 3), MIB, SDR_REL_ACCESS_READ);
		s = bed_rma(l->b, 1, 0, SDR_REL_READ, p, MIB, 0, 7, 0);
		bed_wait(l->b, s, BED_SEC);
		bed_assert_err(s, SDR_REL_ERR_CODE);
		assert_true(bed_same(p, MIB, 0));
		assert_int_equal(bed_stats(l->b, 1).pkts_bad, 1);
		bed_run(l->b, BED_SEC);
		goes_on(l);
		/* the liar may still be sending; it ends with the connection */
		sdr_rel_shutdown(l->b->node[1].ep->rel);
		l->b->node[1].ep->dirty = true;
		bed_run(l->b, 4 * BED_SEC);
		assert_int_equal(l->b->node[0].ep->rel->bulk->scratch.used +
					 l->b->node[1].ep->rel->bulk->scratch.used,
				 0);
		bed_close(l->b);
		lab_free(l);
	}
}

/* Not even a frame: the packet is dropped as damaged, and the honest copy of the record serves. */
static void record__malformed_codes_count_as_loss(void **state)
{
	static const struct sdr_frame_code bad[] = {
		{ .kind = 3 }, { .kind = 255 },	  { .k = 255, .m = 255 }, { .seg = 4097 },
		{ .from = 5 }, { .chunk = 7777 }, { .k = 256 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct lab *l = liar_lab();

		lie = bad[i];
		lies_max = 1;
		lab_move(l, 0, MIB, 3, NULL);
		assert_int_equal(lies, 1);
		assert_true(bed_stats(l->b, 1).pkts_bad > 0);
		goes_on(l);
		lab_close(l);
	}
}

static bool some_of_all(struct lab *l, struct pk *k)
{
	return !k->nth && (k->off + k->s->msn) % l->x == 1;
}

/*
 * Both sides could use the code that is said, but it is not the one that was used: bytes are the
 * liar's, everything else is as ever.
 */
static void record__another_code_than_the_senders_spoils_bytes_only(void **state)
{
	static const struct sdr_frame_code other[] = {
		{ .kind = SDR_CODE_XOR }, { .k = 16, .m = 1 },	{ .k = 3, .m = 3 },
		{ .chunk = 4096 },	  { .chunk = 131072 },	{ .from = 65536 },
		{ .k = 1, .m = 8 },	  { .k = 250, .m = 5 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(other) / sizeof(*other); i++) {
		struct lab *l = liar_lab();
		uint8_t *p = bed_buf(l->b, MIB, 0);
		struct bed_op *s;

		lie = other[i / 2];
		if (i & 1) {
			l->lose = some_of_all;
			l->x = 9;
		}
		bed_region_add(l->b, 1, 7, p, MIB, SDR_REL_ACCESS_WRITE);
		s = bed_rma(l->b, 0, 1, SDR_REL_WRITE, bed_buf(l->b, MIB, 3), MIB, 0, 7, 0);
		bed_wait(l->b, s, 10 * BED_SEC);
		bed_assert_ok(s);
		if (!(i & 1))
			assert_true(bed_same(p, MIB, 3));
		goes_on(l);
		lab_close(l);
	}
}

/* More messages than there are numbers: the connection ends, before anything is reserved. */
static void record__lengths_without_sense_end_the_connection(void **state)
{
	static const struct {
		uint64_t len;
		uint32_t seg;
	} cases[] = { { 1ull << 62, 4096 },
		      { UINT64_MAX, 1 << 20 },
		      { (1ull << 41) + 1, 4096 },
		      { 0, 4096 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lab *l = lab_open(&sdr_scheme_ec);
		struct bed *b = l->b;
		struct sdr_conn *c = bed_conn(b, 1, 0);
		struct sdr_frame_rec f = {
			.op = SDR_REC_WRITE,
			.flags = SDR_REC_F_BULK | SDR_REC_F_LEN | SDR_REC_F_RMA | SDR_REC_F_CODE,
			.rseq = c->rec.rx_next,
			.id = 7,
			.msn = 0,
			.len = cases[i].len,
			.key = 7,
			.code = { .kind = 2, .k = 4, .m = 2, .chunk = 4096, .seg = cases[i].seg },
			.payload = (const uint8_t *)"",
		};
		uint64_t bad = bed_stats(b, 1).pkts_bad;
		uint8_t buf[256];

		bed_region_add(b, 1, 7, bed_buf(b, MIB, 0), MIB, SDR_REL_ACCESS_WRITE);
		bed_forge(b, 0, 1, c->id.cid, 5000, buf,
			  sdr_frame_rec_encode(buf, sizeof(buf), &f));
		bed_run(b, 10 * BED_RTT);
		assert_true(bed_stats(b, 1).pkts_bad > bad);
		bed_send(b, 0, 1, "again", 5, 0)->expect = -1; /* may find the connection gone */
		bed_run(b, BED_SEC);
		for (uint32_t k = 0; k < 2; k++)
			assert_int_equal(b->node[k].ep->rel->bulk->scratch.used, 0);
		bed_warm(b, 0, 1);
		bed_close(b);
		lab_free(l);
	}
}

/* ---- reports --------------------------------------------------------------------------------- */

struct forger {
	struct lab *l;
	struct sdr_conn *c; /* the victim's: node 0 sends */
	uint32_t pn;
};

static void dack(struct forger *f, struct sdr_frame_dack d, const uint64_t *bits, uint32_t limit)
{
	uint8_t buf[512];
	size_t n = sdr_frame_dack_encode(buf, sizeof(buf), &d, bits, limit);

	assert_true(n > 0);
	/* a number that node 1 has not sent is acknowledged to it */
	f->l->forged = true;
	bed_forge(f->l->b, 1, 0, f->c->id.cid, f->pn++, buf, n);
	bed_run(f->l->b, 1000);
	lab_sane(f->c);
}

/* At this moment after the start of a transfer of 1 MiB, the peer says every untruth about it. */
static void report__untruths_leave_counts_right(void **state)
{
	(void)state;
	for (uint64_t at = 100000; at < BED_RTT + 4 * MS; at += 700000) {
		struct forger f = { .l = lab_open(&sdr_scheme_ec), .pn = 5000 };
		struct bed *b = f.l->b;
		uint8_t *p = bed_buf(b, 4 * MIB, 0);
		struct bed_op *r = bed_recv(b, 1, p, 4 * MIB);
		struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, 4 * MIB, 3), 4 * MIB, 0);
		uint64_t all[64], odd[64];
		uint32_t msn;

		for (uint32_t i = 0; i < 64; i++) {
			all[i] = ~0ull;
			odd[i] = 0xaaaaaaaaaaaaaaaaull;
		}
		f.l->lose = some_of_all;
		f.l->x = 7;
		r->expect = s->expect = -1;
		f.c = bed_conn(b, 0, 1);
		bed_run(b, at);
		for (msn = f.c->bulk->tx.msn - 2; msn != f.c->bulk->tx.msn + 2; msn++) {
			dack(&f, (struct sdr_frame_dack){ .msn = msn, .echo = ~0u }, all, 4096);
			dack(&f, (struct sdr_frame_dack){ .msn = msn, .echo = 3 }, odd, 100);
			dack(&f,
			     (struct sdr_frame_dack){
				     .msn = msn, .cum = 50, .base = 50, .echo = 9 },
			     odd, 300);
			dack(&f, (struct sdr_frame_dack){ .msn = msn, .cum = 4000, .base = 4000 },
			     all, 4096);
			dack(&f, (struct sdr_frame_dack){ .msn = msn, .dups = UINT32_MAX }, odd, 2);
		}
		/* of the parity first: it is the data's */
		for (uint32_t k = 0; k < 4; k++)
			dack(&f,
			     (struct sdr_frame_dack){ .msn = f.c->bulk->tx.msn - 1 - (k & 1),
						      .flags = SDR_DACK_COMPLETE | SDR_DACK_DECODED,
						      .dec_pkts = UINT32_MAX,
						      .dec_chunks = UINT32_MAX },
			     NULL, 0);
		bed_run(b, BED_SEC);
		lab_sane(f.c);
		assert_true(s->n <= 1 && r->n <= 1);
		/*
		 * a receive whose sender was misinformed may wait for ever; the connection may not
		 */
		if (s->n && !r->n)
			assert_int_equal(b->node[1].ep->rel->bulk->grx_pool.used, 1);
		lab_sane(f.c);
		sdr_rel_shutdown(b->node[1].ep->rel);
		b->node[1].ep->dirty = true;
		bed_run(b, 4 * BED_SEC);
		assert_int_equal(b->node[0].ep->rel->bulk->scratch.used +
					 b->node[1].ep->rel->bulk->scratch.used,
				 0);
		bed_close(b);
		lab_free(f.l);
	}
}

/* Parity that never left cannot have come, and completion of what did not leave is none. */
static void report__packets_never_sent_are_not_delivered(void **state)
{
	struct forger f = { .l = lab_open(&sdr_scheme_ec), .pn = 5000 };
	struct bed *b = f.l->b;
	uint8_t *p = bed_buf(b, 16 * MIB, 0);
	struct bed_op *r = bed_recv(b, 1, p, 16 * MIB);
	struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, 16 * MIB, 3), 16 * MIB, 0);
	uint64_t bad;

	(void)state;
	bed_run(b, BED_DELAY);
	f.c = bed_conn(b, 0, 1);
	bad = f.c->st.pkts_bad;
	for (uint32_t k = 0; k < 4; k++)
		dack(&f,
		     (struct sdr_frame_dack){ .msn = f.c->bulk->tx.msn - 2,
					      .flags = SDR_DACK_COMPLETE |
						       (k & 1 ? SDR_DACK_DECODED : 0),
					      .dec_pkts = 99,
					      .dec_chunks = 99 },
		     NULL, 0);
	assert_int_equal(f.c->st.pkts_bad, bad + 4);
	dack(&f, (struct sdr_frame_dack){ .msn = f.c->bulk->tx.msn - 2, .cum = 4095, .base = 4095 },
	     NULL, 4095);
	assert_int_equal(f.c->st.pkts_bad, bad + 5);
	assert_int_equal(s->n, 0);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, 16 * MIB, 3));
	lab_close(f.l);
}

static bool four_of_one(struct lab *l, struct pk *k)
{
	(void)l;
	return !k->parity && !k->nth && k->cw == 11 && k->pos < 4;
}

/* Rows on demand: "came" before they were requested. */
static void report__parity_on_demand_before_it_left(void **state)
{
	struct forger f = { .l = lab_open(&sdr_scheme_ec), .pn = 5000 };
	struct bed *b = f.l->b;
	uint8_t *p = bed_buf(b, MIB, 0);
	struct bed_op *r = bed_recv(b, 1, p, MIB);
	struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, MIB, 3), MIB, 0);
	uint64_t all[16], bad;
	struct sdr_seg_tx *par;

	(void)state;
	memset(all, 0xff, sizeof(all));
	f.l->lose = some_of_all;
	f.l->x = 2;
	bed_run(b, BED_DELAY);
	f.c = bed_conn(b, 0, 1);
	par = sdr_seg_tx_by_msn(f.c, f.c->bulk->tx.msn - 1);
	assert_non_null(par);
	assert_true(par->parity && par->npkts > par->goal && par->high == par->goal);
	bad = f.c->st.pkts_bad;
	dack(&f, (struct sdr_frame_dack){ .msn = par->msn }, all, par->npkts);
	assert_int_equal(f.c->st.pkts_bad, bad + 1);
	assert_int_equal(par->nacked, 0);
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, MIB, 3));
	lab_close(f.l);
}

/*
 * Of parity on demand some packets leave and those between them do not: only the former can have
 * come.
 */
static void report__rows_between_those_on_demand(void **state)
{
	struct forger f = { .l = lab_open(&sdr_scheme_ec), .pn = 5000 };
	struct bed *b = f.l->b;
	struct bed_op *r = bed_recv(b, 1, bed_buf(b, MIB, 0), MIB);
	struct bed_op *s = bed_send(b, 0, 1, bed_buf(b, MIB, 3), MIB, 0);
	struct sdr_seg_tx *par;
	uint64_t all[16];
	uint32_t sent;

	(void)state;
	memset(all, 0xff, sizeof(all));
	r->expect = s->expect = -1;
	f.l->lose = four_of_one;
	bed_run(b, BED_DELAY);
	f.c = bed_conn(b, 0, 1);
	par = sdr_seg_tx_by_msn(f.c, f.c->bulk->tx.msn - 1);
	assert_non_null(par);
	for (uint32_t i = 0; i < 200 && par->high == par->goal; i++)
		bed_run(b, BED_RTT / 100);
	sent = lab_bits(par->chunk_rtx, par->npkts);
	assert_true(par->high > par->goal && sent < par->high);
	dack(&f, (struct sdr_frame_dack){ .msn = par->msn }, all, par->high);
	assert_int_equal(par->nacked, sent);
	assert_int_equal(par->inflight, 0);
	sdr_rel_shutdown(b->node[1].ep->rel);
	b->node[1].ep->dirty = true;
	bed_run(b, 4 * BED_SEC);
	assert_int_equal(
		b->node[0].ep->rel->bulk->scratch.used + b->node[1].ep->rel->bulk->scratch.used, 0);
	bed_close(b);
	lab_free(f.l);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds__what_the_peer_cannot_decode_is_not_sent),
		cmocka_unit_test(record__write_of_an_unfit_code_is_refused),
		cmocka_unit_test(record__message_of_an_unfit_code_is_refused),
		cmocka_unit_test(record__read_answer_of_an_unfit_code_is_refused),
		cmocka_unit_test(record__malformed_codes_count_as_loss),
		cmocka_unit_test(record__another_code_than_the_senders_spoils_bytes_only),
		cmocka_unit_test(record__lengths_without_sense_end_the_connection),
		cmocka_unit_test(report__untruths_leave_counts_right),
		cmocka_unit_test(report__packets_never_sent_are_not_delivered),
		cmocka_unit_test(report__parity_on_demand_before_it_left),
		cmocka_unit_test(report__rows_between_those_on_demand),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
