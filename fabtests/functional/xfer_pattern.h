/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bytes that a test transfers: different for every seed and message, every eight of them
 * computable alone, so that a wrong byte is found wherever it came from.  A buffer to receive
 * into has PATTERN_GUARD bytes before and behind it, which must stay as they are.
 */
#ifndef XFER_PATTERN_H
#define XFER_PATTERN_H

#include <stdint.h>
#include <string.h>

#include "base/sdr_rand.h"

#define PATTERN_GUARD	   256 /* bytes before and after a buffer */
#define PATTERN_GUARD_BYTE 0xa5

static inline uint64_t pattern_word(uint64_t base, uint64_t i)
{
	return sdr_mix64(base + i * SDR_RAND_STEP);
}

static inline void pattern_fill(uint8_t *buf, uint64_t len, uint64_t seed, uint64_t seq)
{
	uint64_t base = sdr_mix64(seed ^ sdr_mix64(seq + 1)), i, w;

	for (i = 0; i + 8 <= len; i += 8) {
		w = pattern_word(base, i);
		memcpy(buf + i, &w, 8);
	}
	w = pattern_word(base, i);
	memcpy(buf + i, &w, len - i);
}

/* Returns the number of wrong bytes, guards included; *where: the first one's offset. */
static inline uint64_t pattern_check(const uint8_t *buf, uint64_t len, uint64_t seed, uint64_t seq,
				     uint64_t *where)
{
	uint64_t base = sdr_mix64(seed ^ sdr_mix64(seq + 1)), i, j, n, w, bad = 0;
	const uint8_t *wb = (const uint8_t *)&w;

	*where = 0;
	for (i = 0; i < len; i += 8) {
		w = pattern_word(base, i);
		n = len - i < 8 ? len - i : 8;
		if (!memcmp(buf + i, &w, n))
			continue;
		for (j = 0; j < n; j++) {
			if (buf[i + j] != wb[j] && !bad++)
				*where = i + j;
		}
	}
	for (i = 0; i < PATTERN_GUARD; i++) {
		if (buf[(int64_t)i - PATTERN_GUARD] != PATTERN_GUARD_BYTE && !bad++)
			*where = i - PATTERN_GUARD;
		if (buf[len + i] != PATTERN_GUARD_BYTE && !bad++)
			*where = len + i;
	}
	return bad;
}

#endif /* XFER_PATTERN_H */
