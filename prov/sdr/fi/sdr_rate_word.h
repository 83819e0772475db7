/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Who shares the ceiling of FI_SDR_RATE_MAX, see sdr_rate_word.c. */
#ifndef SDR_RATE_WORD_H
#define SDR_RATE_WORD_H

#include <stddef.h>
#include <stdint.h>

struct sdr_ceiling_word;

/*
 * The word for enum sdr_share; *word NULL: the endpoint's own.  It lives as long as the process.  0
 * or a negative errno, with the reason in err.
 */
int sdr_rate_word(uint8_t share, struct sdr_ceiling_word **word, char *err, size_t len);
/* The same in a file, which is made where it is not there: the host's, or a test's. */
int sdr_rate_word_map(const char *path, struct sdr_ceiling_word **word, char *err, size_t len);

#endif /* SDR_RATE_WORD_H */
