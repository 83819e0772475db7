/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The books of an endpoint, see sdr_rel_books.c. */
#ifndef SDR_REL_BOOKS_H
#define SDR_REL_BOOKS_H

#include "base/sdr_books.h"

struct sdr_rel;

/* Between two calls of the endpoint.  NULL, or what does not add up: a text in k. */
const char *sdr_rel_books(struct sdr_rel *rel, struct sdr_books *k);

#endif /* SDR_REL_BOOKS_H */
