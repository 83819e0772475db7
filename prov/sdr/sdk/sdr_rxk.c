/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The receive worker kernel (see sdr_rxk.h for its contract and the argument about order).
 *
 * Decides for one packet: which message, is it of the generation that the slot has now, is it
 * inside the message, is it new, does it complete a chunk.  Trusts nothing in the immediate: the ID
 * indexes a table of exactly 1 << id_bits words, the offset is compared with the message's packets,
 * the length with what belongs at that offset.  A run of packets, as a train brings them, is the
 * same decision once: one atomic access for each word of the bitmap and not for each packet, which
 * two workers at neighbouring trains would take from each other's caches.  Does not look at bytes,
 * does not count, has no timers.
 */
#include "base/sdr_assert.h"
#include "sdr_rxk.h"
#include "base/sdr_bitmap.h"

#define SDR_RXK_OFF_BITS 30 /* offsets are below 2^this */

/*
 * Division by an invariant: with s = ceil(log2 d) and m = floor(2^(30+s) / d) + 1 the error of m is
 * at most d <= 2^s in 2^(30+s), too little to change the quotient of a number below 2^30.
 */
void sdr_rxk_chunk_set(struct sdr_rxk *k, uint32_t ppc)
{
	uint32_t s = 0;

	SDR_ASSERT(ppc > 0);
	while (1ull << s < ppc)
		s++;
	k->ppc = ppc;
	k->ppc_shift = SDR_RXK_OFF_BITS + s;
	k->ppc_mul = (1ull << k->ppc_shift) / ppc + 1;
}

void sdr_rxk_open(struct sdr_rxk *k, uint32_t slot, uint8_t gen, uint32_t index)
{
	__atomic_store_n(&k->slots[slot], sdr_rxk_word(gen, index), __ATOMIC_RELEASE);
}

void sdr_rxk_seal(struct sdr_rxk *k, uint32_t slot)
{
	__atomic_store_n(&k->slots[slot], k->slots[slot] & ~SDR_RXK_OPEN, __ATOMIC_RELEASE);
}

void sdr_rxk_close(struct sdr_rxk *k, uint32_t slot)
{
	__atomic_store_n(&k->slots[slot], 0, __ATOMIC_RELEASE);
}

static inline bool sdr_rxk_set(uint64_t *bits, uint32_t i, uint64_t *now)
{
	uint64_t bit = 1ull << (i & 63);
	uint64_t old = __atomic_fetch_or(&bits[i / 64], bit, __ATOMIC_SEQ_CST);

	*now = old | bit;
	return !(old & bit);
}

static inline void sdr_rxk_uimm(const struct sdr_rxk *k, struct sdr_rxk_msg *m, uint32_t imm,
				uint32_t off)
{
	uint32_t n = sdr_imm_frags(&k->split), f;
	uint64_t have;

	if (!n)
		return;
	f = off & (n - 1);
	have = __atomic_load_n(&m->uimm, __ATOMIC_RELAXED);
	if (have >> (32 + f) & 1)
		return;
	__atomic_fetch_or(&m->uimm,
			  1ull << (32 + f) | (uint64_t)sdr_imm_user(&k->split, imm)
						     << (f * k->split.user_bits),
			  __ATOMIC_RELEASE);
}

/* w: the word of packet `off`, as it was just after this worker set its bit. */
static inline bool sdr_rxk_chunk_whole(const struct sdr_rxk_msg *m, uint32_t first, uint32_t end,
				       uint32_t off, uint64_t w)
{
	uint32_t own = off / 64, a = first / 64, z = (end - 1) / 64, i;

	SDR_ASSERT(first <= off && off < end);
	for (i = own;;) {
		uint32_t lo = i == a ? first & 63 : 0, hi = i == z ? ((end - 1) & 63) + 1 : 64;
		uint64_t mask = sdr_bitmap_mask(lo, hi);

		if ((w & mask) != mask)
			return false;
		/* The own word first (nearly always the one with a hole), then those around it. */
		i = i == z ? a : i + 1;
		if (i == own)
			return true;
		w = __atomic_load_n(&m->pkt_bits[i], __ATOMIC_SEQ_CST);
	}
}

enum sdr_rxk_res sdr_rxk_packet(const struct sdr_rxk *k, uint8_t gen, uint32_t imm, uint32_t len,
				struct sdr_rxk_out *out)
{
	uint32_t word = __atomic_load_n(&k->slots[sdr_imm_id(&k->split, imm)], __ATOMIC_ACQUIRE);
	uint32_t off = sdr_imm_off(&k->split, imm);
	uint32_t chunk, first, end;
	struct sdr_rxk_msg *m;
	uint64_t w;

	out->off = off;
	if (word >> SDR_RXK_GEN_SHIFT != (SDR_RXK_OPEN >> SDR_RXK_GEN_SHIFT) + gen)
		return SDR_RXK_LATE;
	m = sdr_rxk_msg_at(k, word);
	out->msg = m;
	if (off >= m->npkts) {
		if (len || off >= sdr_imm_frags(&k->split))
			return SDR_RXK_BAD;
		sdr_rxk_uimm(k, m, imm, off);
		return SDR_RXK_UIMM;
	}
	if (len != (off + 1 < m->npkts ? k->mtu : m->tail))
		return SDR_RXK_BAD;
	if (!sdr_rxk_set(m->pkt_bits, off, &w))
		return SDR_RXK_DUP;
	sdr_rxk_uimm(k, m, imm, off);

	chunk = (uint32_t)(off * k->ppc_mul >> k->ppc_shift);
	first = chunk * k->ppc;
	end = m->npkts - first > k->ppc ? first + k->ppc : m->npkts;
	if (!sdr_rxk_chunk_whole(m, first, end, off, w))
		return SDR_RXK_NEW;
	return sdr_rxk_set(m->chunk_bits, chunk, &w) ? SDR_RXK_CHUNK : SDR_RXK_NEW;
}

/* Chunks of the message that packets [off, end) have made whole. */
static uint32_t sdr_rxk_chunks(const struct sdr_rxk *k, struct sdr_rxk_msg *m, uint32_t off,
			       uint32_t end)
{
	uint32_t chunk = (uint32_t)(off * k->ppc_mul >> k->ppc_shift), n = 0;
	uint32_t first = chunk * k->ppc, last;
	uint64_t w;

	for (; first < end; chunk++, first = last) {
		uint32_t at = off > first ? off : first;

		last = m->npkts - first > k->ppc ? first + k->ppc : m->npkts;
		w = __atomic_load_n(&m->pkt_bits[at / 64], __ATOMIC_SEQ_CST);
		if (sdr_rxk_chunk_whole(m, first, last, at, w))
			n += sdr_rxk_set(m->chunk_bits, chunk, &w);
	}
	return n;
}

bool sdr_rxk_run(const struct sdr_rxk *k, uint8_t gen, const uint32_t *imm, uint32_t n,
		 uint32_t len, struct sdr_rxk_run *run)
{
	uint32_t word = __atomic_load_n(&k->slots[sdr_imm_id(&k->split, *imm)], __ATOMIC_ACQUIRE);
	uint32_t off = sdr_imm_off(&k->split, *imm), at, end = off + n, i;
	struct sdr_rxk_msg *m;

	SDR_ASSERT(n);
	*run = (struct sdr_rxk_run){ 0 };
	if (word >> SDR_RXK_GEN_SHIFT != (SDR_RXK_OPEN >> SDR_RXK_GEN_SHIFT) + gen)
		return true;
	m = sdr_rxk_msg_at(k, word);
	if (end > m->npkts || len != (end < m->npkts ? k->mtu : m->tail))
		return false;
	run->msg = m;
	for (at = off; at < end;) {
		uint32_t lo = at & 63, hi = end - at < 64 - lo ? lo + end - at : 64;
		uint64_t mask = sdr_bitmap_mask(lo, hi), old;

		old = __atomic_fetch_or(&m->pkt_bits[at / 64], mask, __ATOMIC_SEQ_CST);
		run->fresh += (uint32_t)__builtin_popcountll(mask & ~old);
		at += hi - lo;
	}
	run->dups = n - run->fresh;
	if (!run->fresh)
		return true;
	for (i = 0; i < n && i < sdr_imm_frags(&k->split); i++)
		sdr_rxk_uimm(k, m, imm[i], off + i);
	run->chunks = sdr_rxk_chunks(k, m, off, end);
	return true;
}
