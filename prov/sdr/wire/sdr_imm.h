/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The immediate of a data packet: message ID, packet offset, fragment of the user's immediate.
 */
#ifndef SDR_IMM_H
#define SDR_IMM_H

#include <stdint.h>

#include "base/sdr_assert.h"
#include "sdr_limits.h"

/*
 *   31            22 21                        4 3    0
 *  +----------------+---------------------------+------+
 *  | message ID 10  | packet offset 18          | user |     default split 10+18+4
 *  +----------------+---------------------------+------+
 * The user's 32-bit immediate travels as 32/user_bits fragments; packet `off` carries fragment off
 * mod that. A message of fewer packets sends empty packets at the offsets behind its last one.
 */
struct sdr_imm_split {
	uint8_t id_bits;   /* 1..SDR_IMM_ID_BITS_MAX */
	uint8_t off_bits;  /* 1..30 */
	uint8_t user_bits; /* 0, 1, 2, 4, 8; sum of the three = 32 */
};
#define SDR_IMM_SPLIT_DEFAULT \
	{                     \
		10, 18, 4     \
	}

/* "10+18+4" -> split; 0 or -EINVAL. */
int sdr_imm_split_parse(const char *s, struct sdr_imm_split *out);
int sdr_imm_split_check(const struct sdr_imm_split *s);

static inline uint32_t sdr_imm_frags(const struct sdr_imm_split *s)
{
	return s->user_bits ? 32u / s->user_bits : 0;
}
static inline uint32_t sdr_imm_frag(const struct sdr_imm_split *s, uint32_t user_imm, uint32_t off)
{
	uint32_t n = sdr_imm_frags(s);

	return n ? (user_imm >> ((off % n) * s->user_bits)) & ((1u << s->user_bits) - 1) : 0;
}
static inline uint32_t sdr_imm_pack(const struct sdr_imm_split *s, uint32_t id, uint32_t off,
				    uint32_t frag)
{
	SDR_ASSERT(id >> s->id_bits == 0 && off >> s->off_bits == 0 && frag >> s->user_bits == 0);
	return id << (32 - s->id_bits) | off << s->user_bits | frag;
}
static inline uint32_t sdr_imm_id(const struct sdr_imm_split *s, uint32_t imm)
{
	return imm >> (32 - s->id_bits);
}
static inline uint32_t sdr_imm_off(const struct sdr_imm_split *s, uint32_t imm)
{
	return (imm >> s->user_bits) & ((1u << s->off_bits) - 1);
}
static inline uint32_t sdr_imm_user(const struct sdr_imm_split *s, uint32_t imm)
{
	return imm & ((1u << s->user_bits) - 1);
}

#endif /* SDR_IMM_H */
