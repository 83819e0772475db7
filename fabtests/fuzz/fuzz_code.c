/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Coded segments with attributes from nowhere: the input is a struct sdr_code_attr, a seed and how
 * much is lost. What sdr_code_init accepts must be sound (places that exist, within the bytes that
 * were allowed); of segments that are small enough the parity is made, packets are lost, and what
 * is decoded must be the segment again.  Nothing but missing packets may be written, whether the
 * parity is right or noise.
 */
#include "base/sdr_rand.h"
#include "fuzz.h"
#include "fec/sdr_code.h"

#define CODE_IN	   44u	      /* bytes of an input */
#define CODE_PKTS  1024u      /* beyond, geometry alone is looked at */
#define CODE_BYTES (1u << 16) /* likewise: data, and parity */
#define CODE_GUARD 64u

/* by rows; the same for the same number */
static struct sdr_fec *fecs[SDR_FEC_SYMS_MAX];
static uint64_t code_rng;

static uint64_t code_rand(void)
{
	return sdr_rand64(&code_rng);
}

static uint64_t get(const uint8_t *p, unsigned int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static void put(uint8_t *p, unsigned int n, uint64_t v)
{
	for (unsigned int i = 0; i < n; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

static bool bit(const uint64_t *b, uint32_t i)
{
	return b[i / 64] >> (i & 63) & 1;
}

/* ---- geometry -------------------------------------------------------------------------------- */

static void check_places(const struct sdr_code *g)
{
	uint32_t cw, pos;

	for (uint32_t i = 0; i < 64; i++) {
		uint32_t pkt = g->a.first + (uint32_t)(code_rand() % (g->npkts - g->a.first));
		uint32_t par = (uint32_t)(code_rand() % g->par_pkts);

		sdr_code_of_data(g, pkt, &cw, &pos);
		SDR_FUZZ_CHECK(cw < g->cws && pos < sdr_code_positions(g, cw));
		SDR_FUZZ_CHECK(pkt - sdr_code_data_pkt(g, cw, pos) < g->sym_pkts);
		sdr_code_of_parity(g, par, &cw, &pos);
		SDR_FUZZ_CHECK(cw < g->cws && pos < g->rows);
		SDR_FUZZ_CHECK(par - sdr_code_parity_pkt(g, cw, pos) < g->sym_pkts);
	}
}

static void check_geometry(const struct sdr_code *g)
{
	SDR_FUZZ_CHECK(g->npkts && g->a.first < g->npkts && g->chunks && g->nsub && g->cws);
	SDR_FUZZ_CHECK(g->kmax <= g->a.k && g->plan && g->plan <= g->rows);
	SDR_FUZZ_CHECK(g->k_cw + g->rows <= SDR_FEC_SYMS_MAX);
	SDR_FUZZ_CHECK(g->plan_pkts && g->plan_pkts <= g->par_pkts);
	SDR_FUZZ_CHECK((uint64_t)g->par_pkts * g->a.mtu <= g->a.parity_max);
	SDR_FUZZ_CHECK(g->sym_pkts * g->rpc == g->a.chunk_pkts);
	SDR_FUZZ_CHECK((uint64_t)g->nsub * g->groups * g->rpc == g->cws);
	check_places(g);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

struct bytes {
	uint8_t *mem, *was; /* with guards; and what it was */
	size_t len;
};

static struct bytes bytes_new(size_t len)
{
	struct bytes b = { malloc(len + 2 * CODE_GUARD), malloc(len + 2 * CODE_GUARD), len };

	SDR_FUZZ_CHECK(b.mem && b.was);
	for (size_t i = 0; i < len + 2 * CODE_GUARD; i++)
		b.mem[i] = (uint8_t)code_rand();
	memcpy(b.was, b.mem, len + 2 * CODE_GUARD);
	return b;
}

static void bytes_free(struct bytes *b)
{
	free(b->mem);
	free(b->was);
}

static uint8_t *bytes_at(const struct bytes *b)
{
	return b->mem + CODE_GUARD;
}

static void guards_check(const struct bytes *b)
{
	SDR_FUZZ_CHECK(!memcmp(b->mem, b->was, CODE_GUARD));
	SDR_FUZZ_CHECK(!memcmp(bytes_at(b) + b->len, b->was + CODE_GUARD + b->len, CODE_GUARD));
}

/* Now it is as it should stay. */
static void bytes_keep(struct bytes *b)
{
	memcpy(b->was + CODE_GUARD, bytes_at(b), b->len);
}

/* Bits behind the end are noise, as in bitmaps that are longer than their message. */
static void lose(uint64_t *bits, uint32_t n, uint32_t permille, bool burst)
{
	uint32_t at = (uint32_t)(code_rand() % (n + 1)),
		 len = (uint32_t)((uint64_t)n * permille / 1000);

	for (uint32_t i = 0; i <= n / 64; i++)
		bits[i] = ~0ull;
	for (uint32_t i = 0; i < n; i++) {
		bool gone = burst ? i - at < len : code_rand() % 1000 < permille;

		bits[i / 64] &= ~((uint64_t)gone << (i & 63));
	}
	for (uint32_t i = n; i < (n / 64 + 1) * 64; i++)
		bits[i / 64] &= ~((code_rand() & 1) << (i & 63));
}

/* What was lost and does not come back is noise, everything else as it was. */
static void check_decoded(const struct sdr_code *g, const struct bytes *data,
			  const struct bytes *noise, const uint64_t *have, bool whole, bool right)
{
	for (uint32_t p = 0; p < g->npkts; p++) {
		uint64_t off = (uint64_t)p * g->a.mtu,
			 n = data->len - off < g->a.mtu ? data->len - off : g->a.mtu;
		const uint8_t *at = bytes_at(data) + off, *good = data->was + CODE_GUARD + off;

		if (bit(have, p) || (whole && right && p >= g->a.first))
			SDR_FUZZ_CHECK(!memcmp(at, good, n));
		else if (p < g->a.first)
			SDR_FUZZ_CHECK(!memcmp(at, bytes_at(noise) + off, n));
	}
}

static void check_bytes(const struct sdr_code *g, uint32_t lost_data, uint32_t lost_par,
			uint8_t how)
{
	struct bytes data = bytes_new(g->a.len), par = bytes_new((size_t)g->par_pkts * g->a.mtu),
		     noise;
	uint64_t *have = malloc((g->npkts / 64 + 1) * 8),
		 *rows = malloc((g->par_pkts / 64 + 1) * 8);
	uint32_t stuck_cw = UINT32_MAX, missing = 0;
	struct sdr_code_scratch w = { 0 };
	bool right = !(how & 1);
	int lack, ret;

	noise = bytes_new(g->a.len);
	SDR_FUZZ_CHECK(have && rows);
	if (!fecs[g->rows])
		SDR_FUZZ_CHECK(
			!sdr_fec_create(SDR_FEC_SYMS_MAX - g->rows, g->rows, &fecs[g->rows]));
	for (uint32_t s = 0; right && s < g->nsub; s++)
		sdr_code_encode(g, fecs[g->rows], bytes_at(&data), bytes_at(&par), s);
	for (uint32_t p = g->plan_pkts; right && p < g->par_pkts; p++)
		sdr_code_make(g, fecs[g->rows], bytes_at(&data), bytes_at(&par), p);
	guards_check(&par);
	guards_check(&data);
	SDR_FUZZ_CHECK(!memcmp(bytes_at(&data), data.was + CODE_GUARD, data.len));
	bytes_keep(&par);
	lose(have, g->npkts, lost_data, how & 2);
	lose(rows, g->par_pkts, lost_par, how & 4);
	for (uint32_t p = 0; p < g->npkts; p++) {
		uint64_t off = (uint64_t)p * g->a.mtu,
			 n = data.len - off < g->a.mtu ? data.len - off : g->a.mtu;

		if (!bit(have, p))
			memcpy(bytes_at(&data) + off, bytes_at(&noise) + off, n);
		missing += p >= g->a.first && !bit(have, p);
	}
	for (uint32_t p = 0; p < g->par_pkts; p++) {
		uint8_t *at = bytes_at(&par) + (size_t)p * g->a.mtu;

		if (!bit(rows, p))
			memset(at, (int)code_rand(), g->a.mtu);
	}
	bytes_keep(&par);
	lack = sdr_code_count(g, &w, have, rows);
	SDR_FUZZ_CHECK(lack >= 0 && (uint32_t)lack <= g->cws);
	SDR_FUZZ_CHECK(sdr_code_lacking(g, &w, have, rows, &stuck_cw) == (lack > 0));
	SDR_FUZZ_CHECK(!lack || stuck_cw < g->cws);
	ret = sdr_code_decode(g, fecs[g->rows], &w, bytes_at(&data), bytes_at(&par), have, rows,
			      code_rand() & 1);
	SDR_FUZZ_CHECK(ret >= 0 && (uint32_t)ret <= missing && (lack || (uint32_t)ret == missing));
	check_decoded(g, &data, &noise, have, !lack, right);
	guards_check(&data);
	guards_check(&par);
	SDR_FUZZ_CHECK(!memcmp(bytes_at(&par), par.was + CODE_GUARD, par.len));
	sdr_code_scratch_destroy(&w);
	bytes_free(&data);
	bytes_free(&par);
	bytes_free(&noise);
	free(have);
	free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size)
{
	struct sdr_code_attr a;
	struct sdr_code g;

	if (size < CODE_IN)
		return 0;
	a = (struct sdr_code_attr){
		.kind = in[0],
		.flags = in[1],
		.k = (uint16_t)get(in + 2, 2),
		.m = (uint16_t)get(in + 4, 2),
		.mtu = (uint32_t)get(in + 6, 4),
		.chunk_pkts = (uint32_t)get(in + 10, 4),
		.len = get(in + 14, 8),
		.first = (uint32_t)get(in + 22, 4),
		.parity_max = get(in + 26, 8),
	};
	code_rng = get(in + 34, 5);
	if (sdr_code_init(&g, &a))
		return 0;
	check_geometry(&g);
	if (g.npkts <= CODE_PKTS && g.par_pkts <= 2 * CODE_PKTS && a.len <= CODE_BYTES &&
	    (uint64_t)g.par_pkts * g.a.mtu <= CODE_BYTES)
		check_bytes(&g, (uint32_t)get(in + 39, 2) % 1001, (uint32_t)get(in + 41, 2) % 1001,
			    in[43]);
	return 0;
}

size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf)
{
	static const struct {
		struct sdr_code_attr a;
		uint16_t lost_data, lost_par;
		uint8_t how;
	} s[] = {
		{ { SDR_CODE_MDS, SDR_CODE_F_INTERLEAVE, 32, 8, 64, 1, 32000, 0, 65536 },
		  100,
		  0,
		  0 },
		{ { SDR_CODE_MDS, SDR_CODE_F_INTERLEAVE, 10, 2, 16, 4, 16 * 777, 0, 1 << 20 },
		  50,
		  100,
		  2 },
		{ { SDR_CODE_MDS, SDR_CODE_F_CHUNK, 4, 2, 16, 8, 16 * 500 - 3, 0, 1 << 20 },
		  80,
		  10,
		  2 },
		{ { SDR_CODE_MDS, 0, 2, 1, 256, 3, 256 * 40, 20, 1 << 20 }, 100, 0, 0 },
		{ { SDR_CODE_MDS, SDR_CODE_F_INTERLEAVE, 128, 128, 8, 1, 8 * 128, 0, 1 << 20 },
		  500,
		  0,
		  0 },
		{ { SDR_CODE_MDS, SDR_CODE_F_INTERLEAVE, 1, 3, 8, 1, 8 * 20 + 1, 0, 1 << 20 },
		  700,
		  300,
		  0 },
		{ { SDR_CODE_XOR, SDR_CODE_F_INTERLEAVE, 32, 8, 32, 2, 32 * 600 - 1, 0, 1 << 20 },
		  20,
		  0,
		  0 },
		{ { SDR_CODE_XOR, SDR_CODE_F_CHUNK, 10, 4, 32, 4, 32 * 101, 3, 1 << 20 },
		  40,
		  0,
		  2 },
		{ { SDR_CODE_XOR, 0, 2, 3, 8, 1, 8 * 9, 0, 1 << 20 }, 100, 0, 0 },
		{ { SDR_CODE_MDS, SDR_CODE_F_INTERLEAVE, 20, 4, 32, 1, 32 * 300, 0, 1 << 20 },
		  100,
		  0,
		  1 },
		{ { SDR_CODE_MDS, 0, 32, 8, 4096, 16, 64 << 20, 100, 64 << 20 }, 0, 0, 0 },
		{ { SDR_CODE_MDS, 0, 200, 56, 1, UINT32_MAX, UINT64_MAX, 0, UINT64_MAX }, 0, 0, 0 },
	};

	if (i >= sizeof(s) / sizeof(*s))
		return 0;
	buf[0] = s[i].a.kind;
	buf[1] = s[i].a.flags;
	put(buf + 2, 2, s[i].a.k);
	put(buf + 4, 2, s[i].a.m);
	put(buf + 6, 4, s[i].a.mtu);
	put(buf + 10, 4, s[i].a.chunk_pkts);
	put(buf + 14, 8, s[i].a.len);
	put(buf + 22, 4, s[i].a.first);
	put(buf + 26, 8, s[i].a.parity_max);
	put(buf + 34, 5, i + 1);
	put(buf + 39, 2, s[i].lost_data);
	put(buf + 41, 2, s[i].lost_par);
	buf[43] = s[i].how;
	return CODE_IN;
}
