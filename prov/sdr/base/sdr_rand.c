/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Rkey-addressed hashes, see sdr_rand.h. */
#include "sdr_rand.h"

#include <sodium.h>

#include "sdr_endian.h"

_Static_assert(SDR_SIPHASH_KEY == crypto_shorthash_KEYBYTES, "SipHash-2-4 has a key of 16 bytes");
_Static_assert(crypto_shorthash_BYTES == 8, "and 8 bytes of output");

uint64_t sdr_siphash(const void *p, size_t len, const uint8_t key[SDR_SIPHASH_KEY])
{
	uint8_t out[crypto_shorthash_BYTES];

	crypto_shorthash(out, p, len, key);
	return sdr_get_le64(out);
}

uint64_t sdr_hash64(const void *p, size_t len, uint64_t key)
{
	uint8_t k[SDR_SIPHASH_KEY];

	sdr_put_le64(k, key);
	sdr_put_le64(k + 8, ~key);
	return sdr_siphash(p, len, k);
}
