/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The layouts of the immediate: which splits of its 32 bits into message ID, packet offset and user
 * fragment are legal, and how they are written ("10+18+4").  Packing and unpacking are inline in
 * the header, since they run once per packet.
 *
 * Every split that passes the check has at least as many packet offsets as fragments, so a user
 * immediate always fits a message's offsets.  No state.
 */
#include "sdr_wire.h"

#include <errno.h>

#define SDR_IMM_OFF_BITS_MAX 30u
#define SDR_IMM_DIGITS_MAX   2u /* of one number in the string */

int sdr_imm_split_check(const struct sdr_imm_split *s)
{
	if (s->id_bits < 1 || s->id_bits > SDR_IMM_ID_BITS_MAX)
		return -EINVAL;
	if (s->off_bits < 1 || s->off_bits > SDR_IMM_OFF_BITS_MAX)
		return -EINVAL;
	if (s->user_bits > 8 || s->user_bits & (s->user_bits - 1u))
		return -EINVAL;
	return s->id_bits + s->off_bits + s->user_bits == 32 ? 0 : -EINVAL;
}

/* A decimal number without sign, blanks and leading zeros; *s moves behind it. */
static int sdr_imm_number_parse(const char **s, uint8_t *out)
{
	const char *p = *s;
	unsigned int v = 0, n;

	for (n = 0; p[n] >= '0' && p[n] <= '9'; n++) {
		if (n == SDR_IMM_DIGITS_MAX || (n == 1 && p[0] == '0'))
			return -EINVAL;
		v = v * 10 + (unsigned int)(p[n] - '0');
	}
	if (!n)
		return -EINVAL;
	*s = p + n;
	*out = (uint8_t)v;
	return 0;
}

int sdr_imm_split_parse(const char *s, struct sdr_imm_split *out)
{
	struct sdr_imm_split t;

	if (!s)
		return -EINVAL;
	if (sdr_imm_number_parse(&s, &t.id_bits) || *s++ != '+')
		return -EINVAL;
	if (sdr_imm_number_parse(&s, &t.off_bits) || *s++ != '+')
		return -EINVAL;
	if (sdr_imm_number_parse(&s, &t.user_bits) || *s)
		return -EINVAL;
	if (sdr_imm_split_check(&t))
		return -EINVAL;
	*out = t;
	return 0;
}
