/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An endpoint whose peer lies as the fuzzer says: the bytes are the decisions of a run of
 * fabtests/sim/liar.h, with all that is checked there.  When they have come to their end the lies
 * have, too.
 */
#include "fuzz.h"
#include "../sim/liar.h"

#define LIAR_STEPS 400u

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size)
{
	struct liar_draw d = { .in = in, .left = size };
	struct liar_stats st;

	liar_run(&d, LIAR_STEPS, false, &st);
	return 0;
}

/* Decisions are valid whatever they are: some that random ones have made. */
size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf)
{
	struct liar_draw d = { .rng = i + 1, .random = true };
	size_t n = 256u << i % 4;

	if (i >= 8)
		return 0;
	for (size_t k = 0; k < n; k++)
		buf[k] = (uint8_t)liar_bits(&d, 1);
	return n;
}
