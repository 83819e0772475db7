/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The text of a refusal, where the caller left room for one (sdr_why.c). */
#ifndef SDR_WHY_H
#define SDR_WHY_H

#include <stddef.h>

/* Writes it, cut to len bytes, into buf, which may be NULL. */
void sdr_why(char *buf, size_t len, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/*
 * The last word: an attribute that is out of range has been explained; of anything else, what
 * sdr_strerror says of err comes behind what is there.
 */
void sdr_why_end(char *buf, size_t len, int err);

#endif /* SDR_WHY_H */
