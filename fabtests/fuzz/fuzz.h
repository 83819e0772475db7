/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a fuzz target is: one function that a fuzzer calls with bytes from nowhere, and one that
 * hands out valid inputs to start from.  A target must not keep state between calls, and it checks
 * what the parser promises (SDR_FUZZ_CHECK), not only that it survives.
 */
#ifndef SDR_FUZZ_H
#define SDR_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* bytes of the longest input: a data packet of the largest MTU and some */
#define SDR_FUZZ_MAX 8448u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Writes valid input number i (at most SDR_FUZZ_MAX bytes) and returns its length; 0: there are no
 * more.
 */
size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf);

#define SDR_FUZZ_CHECK(cond)                                                               \
	do {                                                                               \
		if (!(cond)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                           \
		}                                                                          \
	} while (0)

#endif /* SDR_FUZZ_H */
