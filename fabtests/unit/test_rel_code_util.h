/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Coded transfers on the simulated network: a filter that knows each data packet's place in its
 * code, and drops what a test names by codeword, position and number of transmission.
 *
 * The filter reads the sender's own segments (a packet leaves while its segment is open), so
 * nothing here repeats the geometry.  lab_close demands that every buffer and every count of the
 * connections came back.
 */
#ifndef TEST_REL_CODE_UTIL_H
#define TEST_REL_CODE_UTIL_H

#include "../bed/bed.h"

#define KIB	 1024u
#define MIB	 (1u << 20)
#define LAB_MSNS 16384u
#define LAB_PKTS 4096u
#define NO_CW	 UINT32_MAX

struct pk { /* a data packet that leaves */
	struct sdr_seg_tx *s;
	uint32_t src;
	uint32_t off; /* packet of its message */
	uint32_t nth; /* transmissions of it before */
	uint32_t cw;  /* codeword, NO_CW: not covered */
	uint32_t pos; /* position, of parity: row */
	bool parity;
};

struct lab {
	struct bed *b;
	bool (*lose)(struct lab *l, struct pk *k);
	bool (*ctl)(struct lab *l, struct sdr_sim_packet *p, uint32_t what); /* false drops */
	/* ns: not dropped but this late */
	uint64_t late;
	uint32_t x, y; /* of the test */
	bool forged;   /* in the name of node 1, which then believes no acknowledgement */
	/* packets, both directions */
	uint64_t lost, lost_data, data, parity, data_again, parity_again;
	uint8_t *tx[2][LAB_MSNS]; /* transmissions of each packet; NULL: none of that message */
};

/* The newest segment with this message ID: an older one may wait for its COMPLETE. */
static inline struct sdr_seg_tx *lab_seg(struct sdr_conn *c, uint32_t id, uint32_t off)
{
	struct sdr_seg_tx *found = NULL;
	struct sdr_list *l;

	sdr_list_each(l, &c->bulk->tx.segs) {
		struct sdr_seg_tx *s = sdr_container(l, struct sdr_seg_tx, link);

		if ((s->msn & (sdr_qp_ids(c->shape->qp) - 1)) == id && off < s->npkts)
			found = s;
	}
	return found;
}

static inline bool lab_filter(struct bed *b, struct sdr_sim_packet *p, uint32_t what)
{
	struct lab *l = b->user;
	const struct sdr_imm_split *split = &b->cfg[p->src].split;
	struct pk k = { .src = p->src, .cw = NO_CW };
	uint8_t **nth;

	if (!(what & BED_DATA))
		return !l->ctl || l->ctl(l, p, what);
	k.off = sdr_imm_off(split, p->imm);
	k.s = lab_seg(bed_conn(b, p->src, p->dst), sdr_imm_id(split, p->imm), k.off);
	assert_non_null(k.s);
	k.parity = k.s->parity;
	if (k.parity)
		sdr_code_of_parity(&k.s->grp->code, k.off, &k.cw, &k.pos);
	else if (k.s->grp && k.off >= k.s->grp->code.a.first)
		sdr_code_of_data(&k.s->grp->code, k.off, &k.cw, &k.pos);
	assert_true(k.s->msn < LAB_MSNS && k.off < LAB_PKTS && p->src < 2);
	nth = &l->tx[p->src][k.s->msn];
	if (!*nth)
		*nth = calloc(LAB_PKTS, 1);
	assert_non_null(*nth);
	k.nth = (*nth)[k.off]++;
	l->data += !k.parity;
	l->parity += k.parity;
	l->data_again += !k.parity && k.nth;
	l->parity_again += k.parity && k.nth;
	if (!l->lose || !l->lose(l, &k))
		return true;
	l->lost++;
	l->lost_data += !k.parity;
	p->extra_ns += l->late;
	return l->late != 0;
}

/* Two nodes, not booted: scheme with MDS, 8 + 2 chunks of 64 KiB. */
static inline struct lab *lab_new(const struct sdr_scheme_ops *scheme)
{
	struct lab *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	l->b = bed_new(2);
	l->b->user = l;
	for (uint32_t i = 0; i < 2; i++) {
		struct sdr_rel_cfg *c = &l->b->cfg[i];

		c->scheme = scheme;
		c->ec_code = SDR_CODE_MDS;
		c->ec_k = 8;
		c->ec_m = 2;
		c->objective = SDR_OBJECTIVE_P999;
		c->max_overhead = 1;
		c->ec_scratch = 64 * MIB;
	}
	return l;
}

static inline void lab_boot(struct lab *l)
{
	bed_boot(l->b);
	bed_warm(l->b, 0, 1);
	l->b->filter = lab_filter;
}

static inline struct lab *lab_open(const struct sdr_scheme_ops *scheme)
{
	struct lab *l = lab_new(scheme);

	lab_boot(l);
	return l;
}

static inline uint32_t lab_bits(const uint64_t *bits, uint32_t n)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++)
		k += bits[i / 64] >> (i & 63) & 1;
	return k;
}

/*
 * in flight + lost + delivered = sent, of each open segment; and the connection's bytes in flight,
 * records too.
 */
static inline void lab_sane(struct sdr_conn *c)
{
	uint64_t inflight = 0;
	struct sdr_list *l;

	sdr_list_each(l, &c->bulk->tx.segs) {
		struct sdr_seg_tx *s = sdr_container(l, struct sdr_seg_tx, link);
		uint32_t sent = s->parity ? lab_bits(s->chunk_rtx, s->npkts) : s->next;

		assert_int_equal(s->inflight + s->nlost + s->nacked, sent);
		assert_int_equal(lab_bits(s->acked, s->npkts), s->nacked);
		assert_int_equal(lab_bits(s->lost, s->npkts), s->nlost);
		assert_int_equal(lab_bits(s->again, s->npkts), s->nagain);
		inflight += (uint64_t)s->inflight * c->shape->mtu;
	}
	for (uint32_t i = c->tx.log.head; i != c->tx.log.tail; i++) {
		const struct sdr_pkt *p = sdr_ring_at(&c->tx.log, struct sdr_pkt, i);

		inflight += p->done || p->lost ? 0 : p->bytes;
	}
	assert_int_equal(c->inflight, inflight);
}

/* Nothing is left of any transfer, on either side. */
static inline void lab_empty(struct lab *l)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct sdr_rel *rel = l->b->node[i].ep->rel;
		struct sdr_conn *c = bed_conn(l->b, i, 1 - i);

		assert_int_equal(rel->bulk->scratch.used, 0);
		assert_true(rel->bulk->scratch.held <= rel->bulk->scratch.limit);
		assert_int_equal(rel->bulk->gtx_pool.used + rel->bulk->grx_pool.used, 0);
		assert_int_equal(rel->bulk->btx_pool.used + rel->bulk->brx_pool.used +
					 rel->bulk->srx_pool.used,
				 0);
		assert_int_equal(rel->msg->op_pool.used, 0);
		if (!c)
			continue;
		lab_sane(c);
		assert_true(sdr_list_empty(&c->bulk->tx.segs) &&
			    sdr_list_empty(&c->bulk->tx.evaluate) &&
			    sdr_list_empty(&c->bulk->tx.bulks));
		assert_true(sdr_list_empty(&c->msg->cts_wait) &&
			    sdr_list_empty(&c->bulk->tx.lost_segs));
		if (!l->forged || !i)
			assert_int_equal(c->inflight, 0);
		assert_int_equal(c->bulk->tx.ngroups + c->bulk->tx.nend_probed, 0);
		assert_false(c->bulk->tx.parity_wait);
	}
}

static inline void lab_free(struct lab *l)
{
	for (uint32_t i = 0; i < 2 * LAB_MSNS; i++)
		free(l->tx[i / LAB_MSNS][i % LAB_MSNS]);
	free(l);
}

static inline void lab_close(struct lab *l)
{
	bed_run(l->b, BED_SEC);
	lab_empty(l);
	bed_close(l->b);
	lab_free(l);
}

/*
 * One message from -> to, receive posted before: ns until the receiver has it; *sender: until the
 * sender knows.
 */
static inline uint64_t lab_move(struct lab *l, uint32_t from, size_t len, uint32_t seed,
				uint64_t *sender)
{
	struct bed *b = l->b;
	uint64_t t0 = bed_now(b);
	uint8_t *p = bed_buf(b, len, 0);
	struct bed_op *r = bed_recv(b, 1 - from, p, len);
	struct bed_op *s = bed_send(b, from, 1 - from, bed_buf(b, len, seed), len, 0);

	bed_wait(b, r, 5 * BED_SEC);
	bed_wait(b, s, 5 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, len, seed));
	if (sender)
		*sender = s->at - t0;
	return r->at - t0;
}

/* ns that so many packets take at the rate of the endpoints. */
static inline uint64_t lab_wire(const struct lab *l, uint64_t pkts)
{
	return (uint64_t)((double)(pkts * (SDR_MTU_DEFAULT + SDR_WIRE_OVERHEAD)) * 8e9 /
			  (double)l->b->cfg[0].rate_bps);
}

static inline uint64_t lab_rtx(struct lab *l, uint32_t node)
{
	struct sdr_rel_stats st = bed_stats(l->b, node);

	return st.rtx_rack + st.rtx_nack + st.rtx_tlp + st.rtx_rto;
}

#endif /* TEST_REL_CODE_UTIL_H */
