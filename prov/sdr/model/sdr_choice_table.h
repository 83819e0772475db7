/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How many parity packets a codeword needs: columns by loss rate, correlation and k, each with the
 * smallest m for every failure probability down to 2^-SDR_ROWS_EPS.
 *
 * The packets of a codeword, parity behind the data, are a Markov chain: `loss` is the probability
 * that one is lost, `again` the probability that it is lost when the one before it in the codeword
 * was (>= loss; equal: independent). For bursts of geometric length with mean b and packets of a
 * codeword D apart in the order of sending this is exact with again = (1 - 1 / b)^D: a burst takes
 * 1 / (1 - again) packets of a codeword it hits, in the mean.
 */
#ifndef SDR_CHOICE_TABLE_H
#define SDR_CHOICE_TABLE_H

#include "sdr_choice.h"

#pragma GCC visibility push(hidden)

#define SDR_ROWS_SYMS 255u /* at most, k + m */
#define SDR_ROWS_EPS  45u  /* powers of 1/2 that a column holds: 2^0 .. 2^-44 */
#define SDR_ROWS_NONE 255u /* no m with k + m <= SDR_ROWS_SYMS is enough */

/*
 * m by i: P(a codeword of k + m loses more than m) <= 2^-i.  Valid until the next call. k: 1..254.
 */
const uint8_t *sdr_choice_rows(struct sdr_choice_table *t, double loss, double again, uint32_t k);
/* Index of a column with 2^-i <= eps; SDR_ROWS_EPS - 1 if eps is smaller than all. */
uint32_t sdr_choice_rows_eps(double eps);

#pragma GCC visibility pop

#endif /* SDR_CHOICE_TABLE_H */
