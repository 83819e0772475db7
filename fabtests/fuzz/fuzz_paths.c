/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The file that remembers paths: bytes as they come, and entries from nowhere under a right
 * checksum.  What is taken is such as paths have, and comes back as it is.
 */
#include "fuzz.h"
#include "rel/path/sdr_path_codec.h"

#define FUZZ_NOW  1000000000000ull
#define FUZZ_WALL 1800000000ull

static void fuzz_sane(void *user, const struct sdr_path_key *key, const struct sdr_path_facts *f,
		      uint64_t age_ns)
{
	++*(int *)user;
	SDR_FUZZ_CHECK(key->len && key->len <= SDR_PATH_KEY_MAX && age_ns <= SDR_PATH_LIFE_NS);
	SDR_FUZZ_CHECK(!f->rate_Bps || (f->rate_Bps >= 1000 && f->rate_Bps <= 1ull << 42));
	SDR_FUZZ_CHECK(!f->rate_Bps || (f->rtt_ns >= 1000 && f->rtt_ns <= 100000000000ull));
	SDR_FUZZ_CHECK(f->bursts <= f->lost && f->lost <= f->pkts);
	SDR_FUZZ_CHECK(!f->mtu || (f->mtu >= 576 && f->mtu <= UINT16_MAX));
}

static void fuzz_decode(const uint8_t *p, size_t n)
{
	static uint8_t back[SDR_FUZZ_MAX + SDR_PATH_CODEC_HEAD];
	struct sdr_path_mem *m = sdr_path_mem_new(1), *again = sdr_path_mem_new(2);
	int taken = sdr_path_decode(m, FUZZ_NOW, FUZZ_WALL, p, n), known = 0, more = 0;
	size_t len;

	SDR_FUZZ_CHECK(m && again);
	SDR_FUZZ_CHECK(taken >= 0 || !sdr_path_mem_count(m));
	sdr_path_mem_walk(m, FUZZ_NOW, &known, fuzz_sane);
	SDR_FUZZ_CHECK(taken < 0 || known <= taken);
	len = sdr_path_encode(m, FUZZ_NOW, FUZZ_WALL, back, sizeof(back));
	SDR_FUZZ_CHECK(sdr_path_decode(again, FUZZ_NOW, FUZZ_WALL, back, len) == known);
	sdr_path_mem_walk(again, FUZZ_NOW, &more, fuzz_sane);
	SDR_FUZZ_CHECK(more == known);
	sdr_path_mem_free(m);
	sdr_path_mem_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[SDR_FUZZ_MAX + SDR_PATH_CODEC_HEAD];
	size_t body = (size < SDR_FUZZ_MAX ? size : SDR_FUZZ_MAX) / SDR_PATH_CODEC_ENTRY *
		      SDR_PATH_CODEC_ENTRY;

	fuzz_decode(data, size);
	memcpy(buf + SDR_PATH_CODEC_HEAD, data, body);
	sdr_path_seal(buf, SDR_PATH_CODEC_HEAD + body);
	fuzz_decode(buf, SDR_PATH_CODEC_HEAD + body);
	return 0;
}

/* Whole files, and the entries of one. */
size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf)
{
	const struct sdr_path_facts f = { .rate_Bps = 125000000,
					  .rtt_ns = 25000000,
					  .pkts = 1000,
					  .lost = 10,
					  .bursts = 5,
					  .mtu = 1500 };
	struct sdr_path_mem *m;
	uint32_t k;
	size_t n;

	if (i > 2)
		return 0;
	m = sdr_path_mem_new(1);
	for (k = 0; k < 4 * i; k++) {
		struct sdr_path_ends e = { .host = { 7, { 4, (uint8_t)k } }, .net = { 4, { 4 } } };

		sdr_path_mem_tell(m, &e, FUZZ_NOW - k, &f);
	}
	n = sdr_path_encode(m, FUZZ_NOW, FUZZ_WALL, buf, SDR_FUZZ_MAX);
	sdr_path_mem_free(m);
	if (i < 2)
		return n;
	n -= SDR_PATH_CODEC_HEAD;
	memmove(buf, buf + SDR_PATH_CODEC_HEAD, n);
	return n;
}
