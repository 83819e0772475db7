/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Bytes of a coded segment: parity against a sum written down packet by packet, erased packets
 * against what they were.  Every buffer is as long as it has to be and not a byte longer
 * (sanitizers see the rest), and everything that a call has no business with is poisoned or
 * write-protected.
 */
#include <sys/mman.h>
#include "../bed/fec_pass.h"
#include "test_code_util.h"

#define POISON 0xa5

static uint8_t gf_table[256][256];

static int gf_setup(void **state)
{
	uint32_t a, b, i, x, sum;

	(void)state;
	for (a = 0; a < 256; a++) {
		for (b = 0; b < 256; b++) {
			for (i = sum = 0, x = a; i < 8; i++) {
				sum ^= b >> i & 1 ? x : 0;
				x = x << 1 ^ (x & 128 ? 0x11d : 0);
			}
			gf_table[a][b] = (uint8_t)sum;
		}
	}
	return 0;
}

/* A segment with everything that belongs to it. */
struct seg {
	struct model m;
	struct sdr_fec *f;
	uint8_t *bytes;	 /* as they are sent */
	uint8_t *base;	 /* as they are received */
	uint8_t *expect; /* all parity packets */
	uint8_t *par;
	uint64_t *data_bits, *par_bits;
	size_t len, par_len;
};

static void seg_expect(struct seg *s)
{
	const struct sdr_code *g = &s->m.g;
	uint64_t mtu = g->a.mtu, off, n, b;
	uint32_t i, j;
	uint8_t c;

	for (j = 0; j < g->par_pkts; j++) {
		for (i = g->a.first; i < g->npkts; i++) {
			if (s->m.data[i].line != s->m.par[j].line ||
			    s->m.data[i].row != s->m.par[j].row)
				continue;
			c = sdr_fec_coef(s->m.par[j].pos, s->m.data[i].pos);
			off = i * mtu;
			n = s->len - off < mtu ? s->len - off : mtu;
			for (b = 0; b < n; b++)
				s->expect[j * mtu + b] ^= gf_table[c][s->bytes[off + b]];
		}
	}
}

static void seg_open(struct seg *s, const struct sdr_code_attr *a)
{
	struct sdr_code *g = &s->m.g;
	size_t i;

	assert_int_equal(sdr_code_init(g, a), 0);
	model_make(&s->m);
	assert_int_equal(sdr_fec_create(g->k_cw, g->rows, &s->f), 0);
	s->len = a->len;
	s->par_len = (size_t)g->par_pkts * a->mtu;
	s->bytes = zalloc(s->len, 1);
	s->base = zalloc(s->len, 1);
	s->expect = zalloc(s->par_len, 1);
	s->par = zalloc(s->par_len, 1);
	s->data_bits = zalloc(g->npkts / 64 + 1, 8);
	s->par_bits = zalloc(g->par_pkts / 64 + 1, 8);
	for (i = 0; i < s->len; i++)
		s->bytes[i] = (uint8_t)rng(256);
	seg_expect(s);
}

static void seg_close(struct seg *s)
{
	sdr_fec_destroy(s->f);
	free(s->bytes);
	free(s->base);
	free(s->expect);
	free(s->par);
	free(s->data_bits);
	free(s->par_bits);
	model_free(&s->m);
}

static size_t pkt_bytes(const struct seg *s, uint32_t pkt)
{
	size_t mtu = s->m.g.a.mtu, off = pkt * mtu;

	return s->len - off < mtu ? s->len - off : mtu;
}

/* Bytes are a receiver's: right where the bit is set, poison elsewhere. */
static void seg_receive(struct seg *s)
{
	size_t mtu = s->m.g.a.mtu;
	uint32_t i;

	memset(s->base, POISON, s->len);
	memset(s->par, POISON, s->par_len);
	for (i = 0; i < s->m.g.npkts; i++)
		if (bit(s->data_bits, i))
			memcpy(s->base + i * mtu, s->bytes + i * mtu, pkt_bytes(s, i));
	for (i = 0; i < s->m.g.par_pkts; i++)
		if (bit(s->par_bits, i))
			memcpy(s->par + i * mtu, s->expect + i * mtu, mtu);
}

/* In steps, while more parity comes: it may serve, or not. */
static uint32_t decode_by_steps(struct seg *s, struct sdr_code_scratch *w)
{
	const struct sdr_code *g = &s->m.g;
	struct sdr_code_at at = { 0, 0 };
	uint32_t n, sum = 0, pkt;

	assert_int_equal(sdr_code_decode_begin(g, s->f, w, s->data_bits, s->par_bits, rng(2)), 0);
	while ((n = sdr_code_decode_step(g, w, s->base, s->par, s->data_bits, s->par_bits, &at))) {
		sum += n;
		pkt = rng(g->par_pkts);
		memcpy(s->par + (size_t)pkt * g->a.mtu, s->expect + (size_t)pkt * g->a.mtu,
		       g->a.mtu);
		bit_set(s->par_bits, pkt, true);
	}
	return sum;
}

/*
 * What can be decoded is, nothing else is written.  Packets of codewords that miss nothing are
 * poisoned as well: they are neither sources nor destinations.
 */
static bool seg_decode(struct seg *s, struct sdr_code_scratch *w)
{
	const struct sdr_code *g = &s->m.g;
	uint32_t i, written = 0, lack = model_count(&s->m, s->data_bits, s->par_bits);
	size_t mtu = g->a.mtu;
	bool idle, done;

	seg_receive(s);
	for (i = 0; i < g->npkts; i++)
		if (i < g->a.first || !s->m.miss[s->m.data[i].cw])
			memset(s->base + i * mtu, POISON, pkt_bytes(s, i));
	for (i = g->a.first; i < g->npkts; i++)
		written += !bit(s->data_bits, i) &&
			   s->m.miss[s->m.data[i].cw] <= s->m.have[s->m.data[i].cw];
	if (rng(2))
		assert_int_equal(decode_by_steps(s, w), written);
	else
		assert_int_equal(sdr_code_decode(g, s->f, w, s->base, s->par, s->data_bits,
						 s->par_bits, rng(2)),
				 written);
	for (i = 0; i < g->npkts; i++) {
		const struct place *p = &s->m.data[i];

		idle = i < g->a.first || !s->m.miss[p->cw];
		done = !idle && (bit(s->data_bits, i) || s->m.miss[p->cw] <= s->m.have[p->cw]);
		if (done) {
			assert_memory_equal(s->base + i * mtu, s->bytes + i * mtu, pkt_bytes(s, i));
			continue;
		}
		for (size_t b = 0; b < pkt_bytes(s, i); b++)
			assert_int_equal(s->base[i * mtu + b], POISON);
	}
	return lack == 0;
}

static void attr_random(struct sdr_code_attr *a, uint32_t max)
{
	uint32_t n = 1 + rng(rng(4) ? max : 3);

	*a = (struct sdr_code_attr){ .kind = rng(3) ? SDR_CODE_MDS : SDR_CODE_XOR,
				     .flags = (uint8_t)rng(4),
				     .k = (uint16_t)(1 + rng(rng(2) ? 8 : 40)),
				     .m = (uint16_t)(1 + rng(rng(2) ? 4 : 12)),
				     .mtu = 1 + rng(rng(2) ? 16 : 150),
				     .chunk_pkts = 1 + rng(rng(2) ? 4 : 12),
				     .first = rng(3) ? 0 : rng(n),
				     .parity_max = UINT64_MAX };
	a->len = (n - 1) * (uint64_t)a->mtu + 1 + rng(a->mtu);
}

/* In any order, all planned parity is right after the last, whatever was in it; so is make's. */
static void bytes__encode_make(void **state)
{
	uint32_t i, pkt, n;
	struct sdr_code_attr a;
	struct seg s;
	size_t b;

	(void)state;
	for (i = 0; i < 700; i++) {
		attr_random(&a, 120);
		seg_open(&s, &a);
		memset(s.par, POISON, s.par_len);
		for (n = s.m.g.nsub; n-- > 0;)
			sdr_code_encode(&s.m.g, s.f, s.bytes, s.par, n);
		assert_memory_equal(s.par, s.expect, (size_t)s.m.g.plan_pkts * a.mtu);
		for (b = (size_t)s.m.g.plan_pkts * a.mtu; b < s.par_len; b++)
			assert_int_equal(s.par[b], POISON);
		memset(s.par, POISON, s.par_len);
		pkt = rng(s.m.g.par_pkts);
		sdr_code_make(&s.m.g, s.f, s.bytes, s.par, pkt);
		for (b = 0; b < s.par_len; b++)
			assert_int_equal(s.par[b], b / a.mtu == pkt ? s.expect[b] : POISON);
		for (pkt = 0; pkt < s.m.g.par_pkts; pkt++)
			sdr_code_make(&s.m.g, s.f, s.bytes, s.par, pkt);
		assert_memory_equal(s.par, s.expect, s.par_len);
		seg_close(&s);
	}
}

/* Packets, chunks and runs are lost, so that rows have patterns of their own, or share them. */
static void seg_lose(struct seg *s)
{
	static const uint32_t ppm[] = { 0, 5000, 30000, 100000, 300000 };
	const struct sdr_code *g = &s->m.g;
	uint32_t i, at, n, bursts = rng(4);

	bits_random(s->data_bits, g->npkts, ppm[rng(5)]);
	bits_random(s->par_bits, g->par_pkts, ppm[rng(5)]);
	for (i = 0; i < bursts; i++) {
		at = rng(g->npkts);
		n = 1 + rng(2 * g->a.chunk_pkts);
		if (rng(2) && at >= g->a.first) { /* just this chunk */
			at -= (at - g->a.first) % g->a.chunk_pkts;
			n = g->a.chunk_pkts;
		}
		for (; n && at < g->npkts; n--, at++)
			bit_set(s->data_bits, at, false);
	}
	if (rng(3) == 0)
		bit_set(s->data_bits, g->npkts - 1, false);
	if (rng(2)) /* nothing was wanted */
		for (i = g->plan_pkts; i < g->par_pkts; i++)
			bit_set(s->par_bits, i, false);
}

static void bytes__decode(void **state)
{
	struct sdr_code_scratch w = { 0 };
	uint32_t i, j, good = 0, bad = 0;
	struct sdr_code_attr a;
	struct seg s;

	(void)state;
	for (i = 0; i < 700; i++) {
		attr_random(&a, 150);
		seg_open(&s, &a);
		for (j = 0; j < 8; j++) {
			seg_lose(&s);
			if (seg_decode(&s, &w))
				good++;
			else
				bad++;
		}
		seg_close(&s);
	}
	assert_true(good > 1000 && bad > 500);
	sdr_code_scratch_destroy(&w);
}

/* What whole chunks can replace, packets can: and the bytes are the same. */
static void bytes__chunk_against_row(void **state)
{
	struct sdr_code_scratch w = { 0 };
	struct sdr_code_attr a;
	uint32_t i, n = 0;
	struct seg s, t;

	(void)state;
	for (i = 0; i < 400; i++) {
		attr_random(&a, 100);
		a.flags |= SDR_CODE_F_CHUNK;
		seg_open(&s, &a);
		a.flags &= (uint8_t)~SDR_CODE_F_CHUNK;
		seg_open(&t, &a);
		assert_int_equal(s.par_len, t.par_len);
		memcpy(t.bytes, s.bytes, s.len);
		memcpy(t.expect, s.expect, s.par_len); /* parity does not know who decodes */
		seg_lose(&s);
		memcpy(t.data_bits, s.data_bits, (s.m.g.npkts / 64 + 1) * 8);
		memcpy(t.par_bits, s.par_bits, (s.m.g.par_pkts / 64 + 1) * 8);
		if (seg_decode(&s, &w)) {
			assert_true(seg_decode(&t, &w));
			n++;
		}
		seg_close(&s);
		seg_close(&t);
	}
	assert_true(n > 50);
	sdr_code_scratch_destroy(&w);
}

/* Each packet on a page of its own, which is read-only where the packet is there. */
static void bytes__what_is_there_is_not_written(void **state)
{
	struct sdr_code_attr a = {
		.mtu = 4096, .k = 5, .m = 2, .chunk_pkts = 4, .parity_max = UINT64_MAX
	};
	struct sdr_code_scratch w = { 0 };
	uint32_t i, j, lack;
	uint8_t *map, *heap;
	struct seg s;

	(void)state;
	for (i = 0; i < 40; i++) {
		a.kind = i & 1 ? SDR_CODE_MDS : SDR_CODE_XOR;
		a.flags = (uint8_t)(i / 2 % 4);
		a.len = 4096 * (1 + rng(60)) - rng(4096);
		a.first = (uint32_t)rng(2);
		if (a.first >= (a.len + 4095) / 4096)
			a.first = 0;
		seg_open(&s, &a);
		map = mmap(NULL, s.m.g.npkts * 4096ul, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(map != MAP_FAILED);
		do {
			seg_lose(&s);
			lack = model_count(&s.m, s.data_bits, s.par_bits);
		} while (lack);
		seg_receive(&s);
		memcpy(map, s.base, s.len);
		heap = s.base;
		s.base = map;
		for (j = 0; j < s.m.g.npkts; j++)
			if (bit(s.data_bits, j) || j < a.first)
				assert_int_equal(mprotect(map + j * 4096ul, 4096, PROT_READ), 0);
		assert_true(sdr_code_decode(&s.m.g, s.f, &w, map, s.par, s.data_bits, s.par_bits,
					    rng(2)) >= 0);
		for (j = a.first * 4096u; j < s.len; j++)
			assert_int_equal(map[j], s.bytes[j]);
		for (; j < s.m.g.npkts * 4096u; j++)
			assert_int_equal(map[j], 0); /* behind the end */
		s.base = heap;
		assert_int_equal(munmap(map, s.m.g.npkts * 4096ul), 0);
		seg_close(&s);
	}
	sdr_code_scratch_destroy(&w);
}

/* One submessage, one packet per chunk: decodable is what k' symbols are left of, in each group. */
static void bytes__all_patterns_of_small_codes(void **state)
{
	struct sdr_code_scratch w = { 0 };
	struct sdr_code_attr a = { .mtu = 3, .chunk_pkts = 1 };
	uint32_t kind, k, m, np, p;
	struct seg s;

	(void)state;
	for (kind = SDR_CODE_XOR; kind <= SDR_CODE_MDS; kind++) {
		for (k = 1; k < 10; k++) {
			for (m = 1; k + m <= 10; m++) {
				a.kind = (uint8_t)kind;
				a.k = (uint16_t)k;
				a.m = (uint16_t)m;
				a.len = 3 * k - 1;
				np = kind == SDR_CODE_MDS || m < k ? m : k;
				a.parity_max = 3 * np;
				seg_open(&s, &a);
				assert_int_equal(s.m.g.par_pkts, np);
				for (p = 0; p < 1u << (k + np); p++) {
					s.data_bits[0] = p;
					s.par_bits[0] = p >> k;
					if (kind == SDR_CODE_MDS)
						assert_int_equal(
							seg_decode(&s, &w),
							(uint32_t)__builtin_popcount(p) >= k ||
								(~p & ((1u << k) - 1)) == 0);
					else
						seg_decode(&s, &w);
				}
				seg_close(&s);
			}
		}
	}
	sdr_code_scratch_destroy(&w);
}

/* A work area goes from code to code, also where another one comes to lie at the same address. */
static void bytes__work_is_used_again(void **state)
{
	struct sdr_code_attr a = {
		.kind = SDR_CODE_MDS, .mtu = 16, .chunk_pkts = 1, .parity_max = UINT64_MAX
	};
	struct sdr_code_scratch w = { 0 };
	struct seg s;
	uint32_t i;

	(void)state;
	for (i = 1; i < 60; i++) {
		a.k = (uint16_t)i;
		a.m = (uint16_t)(1 + i % 7);
		a.len = 16ull * i * 3;
		seg_open(&s, &a);
		memset(s.data_bits, 255, (s.m.g.npkts / 64 + 1) * 8);
		memset(s.par_bits, 255, (s.m.g.par_pkts / 64 + 1) * 8);
		bit_set(s.data_bits, rng(s.m.g.npkts), false);
		bit_set(s.data_bits, rng(s.m.g.npkts), false);
		w.plan_of = s.f; /* as if it lay where the last one was */
		assert_true(seg_decode(&s, &w));
		assert_int_equal(w.plan_k, i);
		assert_int_equal(w.plan_rows, s.m.g.rows);
		seg_close(&s);
	}
	sdr_code_scratch_destroy(&w);
}

struct late {
	struct seg *s;
	uint8_t *bits; /* of the packets that were there at first */
};

/* Packets that were missing come, one or all, and are written to their places. */
static void late_packets(void *user)
{
	struct late *t = user;
	struct seg *s = t->s;
	uint32_t n = s->m.g.npkts, all = rng(2), one = rng(n);

	for (uint32_t i = 0; i < n; i++)
		if (!t->bits[i] && (all || i == one))
			memcpy(s->base + i * (size_t)s->m.g.a.mtu,
			       s->bytes + i * (size_t)s->m.g.a.mtu, pkt_bytes(s, i));
}

/* A device writes late packets while they are computed: only apart that does no harm. */
static void bytes__late_packets(void **state)
{
	struct sdr_code_attr a = {
		.kind = SDR_CODE_MDS, .mtu = 100, .k = 30, .m = 12, .parity_max = UINT64_MAX
	};
	struct sdr_code_scratch w = { 0 };
	uint32_t wrong[2] = { 0, 0 };
	unsigned long passes = fec_passes();

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		bool apart = i & 1;
		struct late t;
		struct seg s;

		a.chunk_pkts = 1 + rng(3);
		a.flags = (uint8_t)rng(4);
		a.len = 3000 + rng(20000);
		seg_open(&s, &a);
		do {
			seg_lose(&s);
		} while (model_count(&s.m, s.data_bits, s.par_bits));
		seg_receive(&s);
		t = (struct late){ &s, calloc(s.m.g.npkts, 1) };
		assert_non_null(t.bits);
		for (uint32_t p = 0; p < s.m.g.npkts; p++)
			t.bits[p] = bit(s.data_bits, p);
		assert_true(fec_pass_set(late_packets, &t));
		assert_true(sdr_code_decode(&s.m.g, s.f, &w, s.base, s.par, s.data_bits, s.par_bits,
					    apart) >= 0);
		fec_pass_set(NULL, NULL);
		wrong[apart] += memcmp(s.base, s.bytes, s.len) != 0;
		free(t.bits);
		seg_close(&s);
	}
	assert_true(fec_passes() > passes + 1000);
	assert_true(wrong[0] > 10);
	assert_int_equal(wrong[1], 0);
	sdr_code_scratch_destroy(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes__encode_make),
		cmocka_unit_test(bytes__decode),
		cmocka_unit_test(bytes__chunk_against_row),
		cmocka_unit_test(bytes__what_is_there_is_not_written),
		cmocka_unit_test(bytes__all_patterns_of_small_codes),
		cmocka_unit_test(bytes__work_is_used_again),
		cmocka_unit_test(bytes__late_packets),
	};

	return cmocka_run_group_tests(tests, gf_setup, NULL);
}
