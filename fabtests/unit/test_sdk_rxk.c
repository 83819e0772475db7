/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The receive worker kernel alone: its arithmetic against division, its chunk bits against a slow
 * reference for every chunk size and message length of a range, its refusals, and several threads
 * at once.
 */
#include "test_sdk.h"

#include <pthread.h>

#define IDS 4u

struct world {
	struct sdr_rxk k;
	uint32_t slots[IDS];
	void *slabs[1];
	struct sdr_rxk_msg msgs[SDR_RXK_SLAB];
	uint64_t bits[4096];
};

static void world_init(struct world *w, uint32_t ppc)
{
	memset(w, 0, sizeof(*w));
	w->k.slots = w->slots;
	w->slabs[0] = w->msgs;
	w->k.slabs = w->slabs;
	w->k.stride = sizeof(w->msgs[0]);
	w->k.mtu = MTU;
	w->k.split = (struct sdr_imm_split){ 2, 26, 4 };
	sdr_rxk_chunk_set(&w->k, ppc);
}

static struct sdr_rxk_msg *world_msg(struct world *w, uint32_t npkts, uint32_t tail)
{
	struct sdr_rxk_msg *m = &w->msgs[7];

	memset(w->bits, 0, sizeof(w->bits));
	m->pkt_bits = w->bits;
	m->chunk_bits = w->bits + sdr_bitmap_words(npkts);
	m->npkts = npkts;
	m->tail = tail;
	m->uimm = 0;
	sdr_rxk_open(&w->k, 1, 2, 7);
	return m;
}

static void rxk__division(void **state)
{
	static const uint32_t offs[] = {
		0, 1, 2, 63, 64, 65, 1000, 65535, 65536, 262143, (1u << 30) - 1, (1u << 30) - 2
	};
	struct sdr_rxk k = { 0 };
	uint64_t seed = 1;
	uint32_t d, i;

	(void)state;
	for (d = 1; d < 5000; d++) {
		sdr_rxk_chunk_set(&k, d);
		for (i = 0; i < sizeof(offs) / sizeof(offs[0]); i++)
			assert_int_equal(offs[i] * k.ppc_mul >> k.ppc_shift, offs[i] / d);
		for (i = 1; (uint64_t)i * d < 1u << 30 && i < 50; i++) {
			assert_int_equal((i * d) * k.ppc_mul >> k.ppc_shift, i);
			assert_int_equal((i * d - 1) * k.ppc_mul >> k.ppc_shift, i - 1);
		}
	}
	for (i = 0; i < 1000000; i++) {
		uint32_t off = (uint32_t)sdr_rand64(&seed) >> 2;
		uint32_t div = 1 + ((uint32_t)sdr_rand64(&seed) >> (2 + sdr_rand64(&seed) % 28));

		sdr_rxk_chunk_set(&k, div);
		assert_int_equal(off * k.ppc_mul >> k.ppc_shift, off / div);
		off = off / div * div;
		assert_int_equal(off * k.ppc_mul >> k.ppc_shift, off / div);
		if (off)
			assert_int_equal((off - 1) * k.ppc_mul >> k.ppc_shift, (off - 1) / div);
	}
}

/*
 * Every order is as good as a random one; after each packet every chunk bit must be what counting
 * says.
 */
static void rxk__chunk_bits(void **state)
{
	static uint32_t order[400];
	struct world *w = malloc(sizeof(*w));
	uint64_t seed = 2;
	uint32_t ppc, n, i, c, round;

	(void)state;
	for (ppc = 1; ppc <= 200; ppc += ppc < 70 ? 1 : 13) {
		world_init(w, ppc);
		for (n = 1; n <= 300; n += 1 + n / 16) {
			struct sdr_rxk_msg *m = world_msg(w, n, 10);
			uint32_t nchunks = (n - 1) / ppc + 1, full = 0;
			struct sdr_rxk_out out;

			for (i = 0; i < n; i++)
				order[i] = i;
			round = (uint32_t)sdr_rand64(&seed) % 3; /* forwards, backwards, shuffled */
			for (i = 0; round && i < n; i++) {
				uint32_t j = round == 1
						     ? n - 1 - i
						     : i + (uint32_t)(sdr_rand64(&seed) % (n - i));
				uint32_t t = order[i];

				if (round == 1 && i >= n / 2)
					break;
				order[i] = order[j];
				order[j] = t;
			}
			for (i = 0; i < n; i++) {
				uint32_t off = order[i], len = off + 1 == n ? 10 : MTU;
				uint32_t imm = sdr_imm_pack(&w->k.split, 1, off, 0);
				enum sdr_rxk_res r = sdr_rxk_packet(&w->k, 2, imm, len, &out);

				assert_true(r == SDR_RXK_NEW || r == SDR_RXK_CHUNK);
				full += r == SDR_RXK_CHUNK;
				c = off / ppc;
				{
					uint32_t lo = c * ppc, hi = lo + ppc < n ? lo + ppc : n;
					bool whole =
						sdr_bitmap_next_zero(m->pkt_bits, lo, hi) == hi;

					assert_int_equal(whole, r == SDR_RXK_CHUNK);
					assert_int_equal(whole, sdr_bitmap_test(m->chunk_bits, c));
				}
				assert_int_equal(sdr_rxk_packet(&w->k, 2, imm, len, &out),
						 SDR_RXK_DUP);
			}
			assert_int_equal(full, nchunks);
			assert_int_equal(sdr_bitmap_next_zero(m->chunk_bits, 0, nchunks), nchunks);
			/* nothing behind */
			assert_int_equal(sdr_bitmap_next_one(m->chunk_bits, nchunks,
							     64 * sdr_bitmap_words(nchunks)),
					 64 * sdr_bitmap_words(nchunks));
		}
	}
	free(w);
}

static void rxk__refusals(void **state)
{
	struct world *w = malloc(sizeof(*w));
	struct sdr_rxk_out out;
	struct sdr_rxk_msg *m;
	uint64_t before[8];
	uint32_t g, imm;

	(void)state;
	world_init(w, 2);
	m = world_msg(w, 5, 10);
	memcpy(before, w->bits, sizeof(before));
	imm = sdr_imm_pack(&w->k.split, 1, 0, 0);
	/* generations: only the slot's own; numbers an engine never gives included */
	for (g = 0; g < 256; g++)
		if (g != 2)
			assert_int_equal(sdr_rxk_packet(&w->k, (uint8_t)g, imm, MTU, &out),
					 SDR_RXK_LATE);
	/* slots without message */
	for (g = 0; g < 16; g++) {
		assert_int_equal(sdr_rxk_packet(&w->k, (uint8_t)g,
						sdr_imm_pack(&w->k.split, 0, 0, 0), MTU, &out),
				 SDR_RXK_LATE);
		assert_int_equal(sdr_rxk_packet(&w->k, (uint8_t)g,
						sdr_imm_pack(&w->k.split, 3, 0, 0), MTU, &out),
				 SDR_RXK_LATE);
	}
	/* behind the end */
	assert_int_equal(sdr_rxk_packet(&w->k, 2, sdr_imm_pack(&w->k.split, 1, 5, 0), MTU, &out),
			 SDR_RXK_BAD);
	assert_int_equal(sdr_rxk_packet(&w->k, 2, sdr_imm_pack(&w->k.split, 1, 8, 0), 0, &out),
			 SDR_RXK_BAD);
	assert_int_equal(
		sdr_rxk_packet(&w->k, 2, sdr_imm_pack(&w->k.split, 1, (1u << 26) - 1, 0), 0, &out),
		SDR_RXK_BAD);
	/* wrong length */
	assert_int_equal(sdr_rxk_packet(&w->k, 2, imm, MTU - 1, &out), SDR_RXK_BAD);
	assert_int_equal(sdr_rxk_packet(&w->k, 2, imm, 0, &out), SDR_RXK_BAD);
	assert_int_equal(sdr_rxk_packet(&w->k, 2, sdr_imm_pack(&w->k.split, 1, 4, 0), MTU, &out),
			 SDR_RXK_BAD);
	assert_int_equal(sdr_rxk_packet(&w->k, 2, sdr_imm_pack(&w->k.split, 1, 4, 0), 9, &out),
			 SDR_RXK_BAD);
	assert_memory_equal(before, w->bits, sizeof(before));
	assert_int_equal(m->uimm, 0);
	/* and after closing the good one too */
	assert_int_equal(sdr_rxk_packet(&w->k, 2, imm, MTU, &out), SDR_RXK_NEW);
	sdr_rxk_close(&w->k, 1);
	assert_int_equal(sdr_rxk_packet(&w->k, 2, imm, MTU, &out), SDR_RXK_LATE);
	free(w);
}

/*
 * All 32-bit immediates of a random sample against one small message: no bit appears that should
 * not.
 */
static void rxk__forged(void **state)
{
	struct world *w = malloc(sizeof(*w));
	struct sdr_rxk_out out;
	uint64_t seed = 3, want = 0;
	struct sdr_rxk_msg *m;
	uint32_t i;

	(void)state;
	world_init(w, 2);
	m = world_msg(w, 7, 1);
	for (i = 0; i < 2000000; i++) {
		uint32_t imm = (uint32_t)sdr_rand64(&seed),
			 len = (uint32_t)sdr_rand64(&seed) % (MTU + 2);
		uint8_t gen = (uint8_t)(sdr_rand64(&seed) % 5);
		uint32_t id, off;

		if (i & 1)
			imm = sdr_imm_pack(&w->k.split, imm >> 30, imm % 12, imm & 15);
		if (i & 2)
			len = len & 1 ? MTU : len & 2 ? 1 : 0;
		id = sdr_imm_id(&w->k.split, imm);
		off = sdr_imm_off(&w->k.split, imm);
		if (id == 1 && gen == 2 && off < 7 && len == (off == 6 ? 1 : MTU))
			want |= 1ull << off;
		sdr_rxk_packet(&w->k, gen, imm, len, &out);
		assert_int_equal(m->pkt_bits[0], want);
	}
	assert_int_equal(want, 0x7f);
	assert_int_equal(m->chunk_bits[0], 0xf);
	free(w);
}

/* A run is what its packets are one by one, whatever came before. */
static void rxk__runs(void **state)
{
	struct world *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	uint32_t imm[64], n, off, i, npkts, ppc, tries, fresh, dups, chunks;
	struct sdr_rxk_msg *ma, *mb;
	struct sdr_rxk_run run;
	struct sdr_rxk_out out;
	uint64_t seed = 5;

	(void)state;
	for (ppc = 1; ppc < 200; ppc += 1 + ppc / 3) {
		for (tries = 0; tries < 30; tries++) {
			npkts = 1 + (uint32_t)(sdr_rand64(&seed) % 600);
			world_init(a, ppc);
			world_init(b, ppc);
			ma = world_msg(a, npkts, 10);
			mb = world_msg(b, npkts, 10);
			for (i = 0; i < 60; i++) {
				off = (uint32_t)(sdr_rand64(&seed) % npkts);
				n = 1 + (uint32_t)(sdr_rand64(&seed) % 64);
				n = n < npkts - off ? n : npkts - off;
				fresh = dups = chunks = 0;
				for (uint32_t k = 0; k < n; k++) {
					uint32_t len = off + k + 1 == npkts ? 10 : MTU;
					enum sdr_rxk_res r;

					imm[k] = sdr_imm_pack(&a->k.split, 1, off + k,
							      (off + k) & 15);
					r = sdr_rxk_packet(&a->k, 2, imm[k], len, &out);
					fresh += r == SDR_RXK_NEW || r == SDR_RXK_CHUNK;
					chunks += r == SDR_RXK_CHUNK;
					dups += r == SDR_RXK_DUP;
				}
				assert_true(sdr_rxk_run(&b->k, 2, imm, n,
							off + n == npkts ? 10 : MTU, &run));
				assert_ptr_equal(run.msg, mb);
				assert_int_equal(run.fresh, fresh);
				assert_int_equal(run.dups, dups);
				assert_int_equal(run.chunks, chunks);
				assert_memory_equal(a->bits, b->bits, sizeof(a->bits));
				assert_true(ma->uimm == mb->uimm);
			}
		}
	}
	/* not for a run: beyond the end, of another length; of another generation: late */
	off = npkts - 1;
	imm[0] = sdr_imm_pack(&b->k.split, 1, off, 0);
	imm[1] = sdr_imm_pack(&b->k.split, 1, off + 1, 0);
	assert_false(sdr_rxk_run(&b->k, 2, imm, 2, MTU, &run));
	assert_false(sdr_rxk_run(&b->k, 2, imm, 1, 11, &run));
	assert_true(sdr_rxk_run(&b->k, 3, imm, 1, 10, &run));
	assert_null(run.msg);
	assert_memory_equal(a->bits, b->bits, sizeof(a->bits));
	free(a);
	free(b);
}

/* ---- threads --------------------------------------------------------------------------------- */

#define THREADS 3
#define TH_PKTS 20000u
#define TH_PPC	100u /* a chunk lies in two or three words */

struct th {
	struct world *w;
	struct sdr_rxk_msg *m;
	uint32_t *order;
	uint32_t me, news, chunks, torn;
	uint8_t *bytes; /* stands for the payload: written before the kernel is told */
};

static void *th_run(void *arg)
{
	struct th *t = arg;
	struct sdr_rxk_out out;
	uint32_t i, j;

	for (i = t->me; i < TH_PKTS; i += THREADS) {
		uint32_t off = t->order[i];

		/* relaxed: only the kernel's order makes it visible */
		__atomic_store_n(&t->bytes[off], 1, __ATOMIC_RELAXED);
		switch (sdr_rxk_packet(&t->w->k, 2, sdr_imm_pack(&t->w->k.split, 1, off, off & 15),
				       off + 1 == TH_PKTS ? 10 : MTU, &out)) {
		case SDR_RXK_CHUNK:
			t->chunks++;
			/* fall through */
		case SDR_RXK_NEW:
			t->news++;
			break;
		default:
			break;
		}
		j = off / TH_PPC;
		if (__atomic_load_n(&t->m->chunk_bits[j / 64], __ATOMIC_ACQUIRE) >> (j & 63) & 1) {
			uint32_t a = j * TH_PPC, z = a + TH_PPC < TH_PKTS ? a + TH_PPC : TH_PKTS;

			for (; a < z; a++)
				t->torn += !__atomic_load_n(&t->bytes[a], __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

/* Runs that overlap those of the others, in the same words. */
static void *th_runs(void *arg)
{
	struct th *t = arg;
	uint32_t imm[64], off, n, i, at;
	struct sdr_rxk_run run;

	for (at = 0; at < TH_PKTS; at += 40) {
		off = at + 7 * t->me < TH_PKTS ? at + 7 * t->me : at;
		n = TH_PKTS - off < 40 ? TH_PKTS - off : 40;
		if (!t->me)
			n = TH_PKTS - off < 64 ? TH_PKTS - off : 64;
		for (i = 0; i < n; i++) {
			__atomic_store_n(&t->bytes[off + i], 1, __ATOMIC_RELAXED);
			imm[i] = sdr_imm_pack(&t->w->k.split, 1, off + i, (off + i) & 15);
		}
		if (!sdr_rxk_run(&t->w->k, 2, imm, n, off + n == TH_PKTS ? 10 : MTU, &run))
			t->torn++;
		t->news += run.fresh;
		t->chunks += run.chunks;
		i = off / TH_PPC;
		if (sdr_bitmap_test(t->m->chunk_bits, i)) {
			uint32_t a = i * TH_PPC, z = a + TH_PPC < TH_PKTS ? a + TH_PPC : TH_PKTS;

			for (; a < z; a++)
				t->torn += !__atomic_load_n(&t->bytes[a], __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

static void rxk__threads(void **state)
{
	struct world *w = malloc(sizeof(*w));
	uint32_t *order = malloc(sizeof(*order) * TH_PKTS);
	uint8_t *bytes = malloc(TH_PKTS);
	uint32_t i, round, nchunks = (TH_PKTS - 1) / TH_PPC + 1;
	struct sdr_rxk_msg *m;
	uint64_t seed = 4;

	(void)state;
	for (round = 0; round < 20; round++) {
		struct th t[THREADS] = { 0 };
		pthread_t id[THREADS];
		uint32_t news = 0, chunks = 0, torn = 0;

		world_init(w, TH_PPC);
		m = world_msg(w, TH_PKTS, 10);
		memset(bytes, 0, TH_PKTS);
		for (i = 0; i < TH_PKTS; i++)
			order[i] = i;
		/* shuffled inside windows, so that threads meet in the same words all the time */
		for (i = 0; i + 64 < TH_PKTS; i++) {
			uint32_t j = i + (uint32_t)(sdr_rand64(&seed) % 64), x = order[i];

			order[i] = order[j];
			order[j] = x;
		}
		for (i = 0; i < THREADS; i++) {
			t[i] = (struct th){
				.w = w, .m = m, .order = order, .me = i, .bytes = bytes
			};
			assert_int_equal(
				pthread_create(&id[i], NULL, round & 1 ? th_runs : th_run, &t[i]),
				0);
		}
		for (i = 0; i < THREADS; i++) {
			pthread_join(id[i], NULL);
			news += t[i].news;
			chunks += t[i].chunks;
			torn += t[i].torn;
		}
		assert_int_equal(news, TH_PKTS);
		assert_int_equal(chunks, nchunks); /* each chunk completed by exactly one worker */
		assert_int_equal(torn, 0);
		assert_int_equal(sdr_bitmap_next_zero(m->pkt_bits, 0, TH_PKTS), TH_PKTS);
		assert_int_equal(sdr_bitmap_next_zero(m->chunk_bits, 0, nchunks), nchunks);
		assert_int_equal(m->uimm >> 32, 0xff);
	}
	free(bytes);
	free(order);
	free(w);
}

static void bitmap__words(void **state)
{
	uint64_t b[4] = { 0 };
	uint32_t i, j;

	(void)state;
	assert_int_equal(sdr_bitmap_words(0), 0);
	assert_int_equal(sdr_bitmap_words(64), 1);
	assert_int_equal(sdr_bitmap_words(65), 2);
	for (i = 0; i < 256; i++) {
		assert_int_equal(sdr_bitmap_next_one(b, i, 256), 256);
		sdr_bitmap_set(b, i);
		assert_int_equal(((uint8_t *)b)[i / 8], 1 << (i % 8));
		for (j = 0; j <= i; j++)
			assert_int_equal(sdr_bitmap_next_one(b, j, 256), i);
		assert_int_equal(sdr_bitmap_next_one(b, 0, i), i);
		sdr_bitmap_clear(b, i);
	}
	memset(b, 0xff, sizeof(b));
	for (i = 0; i < 256; i++) {
		assert_int_equal(sdr_bitmap_next_zero(b, i, 256), 256);
		sdr_bitmap_clear(b, i);
		for (j = 0; j <= i; j++)
			assert_int_equal(sdr_bitmap_next_zero(b, j, 256), i);
		assert_int_equal(sdr_bitmap_next_zero(b, 0, i), i);
		sdr_bitmap_set(b, i);
	}
	assert_true(sdr_bitmap_mask(0, 64) == ~0ull);
	assert_true(sdr_bitmap_mask(63, 64) == 1ull << 63);
	assert_true(sdr_bitmap_mask(3, 5) == 0x18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bitmap__words),   cmocka_unit_test(rxk__division),
		cmocka_unit_test(rxk__chunk_bits), cmocka_unit_test(rxk__refusals),
		cmocka_unit_test(rxk__forged),	   cmocka_unit_test(rxk__threads),
		cmocka_unit_test(rxk__runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
