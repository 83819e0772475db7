/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Books: a complete check of what an object counts against what there is, walked in full.  Each
 * layer has its own functions of this kind; here is how they say what is wrong.
 *
 * The first condition that does not hold is kept as a text, with the object it is about and both
 * numbers; whatever is found after it is not looked at.  A check changes nothing and may be called
 * whenever the object is at rest, that is, not from inside one of its own calls.  It costs what the
 * object is large: tests, simulators and fuzzers call it, the data path does not.
 */
#ifndef SDR_BOOKS_H
#define SDR_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_BOOKS_WHY_MAX 256u /* bytes */

struct sdr_books {
	const char *what; /* the object looked at, and its number */
	uint64_t id;
	char why[SDR_BOOKS_WHY_MAX]; /* empty: everything adds up so far */
};

/* What follows is about this object. */
static inline void sdr_books_of(struct sdr_books *k, const char *what, uint64_t id)
{
	k->what = what;
	k->id = id;
}

static inline bool sdr_books_ok(const struct sdr_books *k)
{
	return !k->why[0];
}

__attribute__((cold)) void sdr_books_wrong(struct sdr_books *k, const char *cond);
__attribute__((cold)) void sdr_books_differ(struct sdr_books *k, const char *cond, uint64_t a,
					    uint64_t b);

#define SDR_BOOK(k, cond)                            \
	do {                                         \
		if (__builtin_expect(!(cond), 0))    \
			sdr_books_wrong((k), #cond); \
	} while (0)

/* Both are unsigned. */
#define SDR_BOOK_IS(k, a, op, b)                                                          \
	do {                                                                              \
		uint64_t sdr_book_a = (a), sdr_book_b = (b);                              \
                                                                                          \
		if (__builtin_expect(!(sdr_book_a op sdr_book_b), 0))                     \
			sdr_books_differ((k), #a " " #op " " #b, sdr_book_a, sdr_book_b); \
	} while (0)
#define SDR_BOOK_EQ(k, a, b) SDR_BOOK_IS(k, a, ==, b)

#endif /* SDR_BOOKS_H */
