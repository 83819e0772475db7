/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* See sdr_books.h. */
#include <stdio.h>
#include "sdr_books.h"

void sdr_books_wrong(struct sdr_books *k, const char *cond)
{
	if (sdr_books_ok(k))
		snprintf(k->why, sizeof(k->why), "%s %llx: not %s", k->what ? k->what : "object",
			 (unsigned long long)k->id, cond);
}

void sdr_books_differ(struct sdr_books *k, const char *cond, uint64_t a, uint64_t b)
{
	if (sdr_books_ok(k))
		snprintf(k->why, sizeof(k->why), "%s %llx: not %s: %llu and %llu",
			 k->what ? k->what : "object", (unsigned long long)k->id, cond,
			 (unsigned long long)a, (unsigned long long)b);
}
