/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * In the middle of a decoding: a program that is linked with FEC_PASS_WRAP can do something before
 * each pass that the kernel `isal` makes over symbols, see fec_pass.c.
 */
#ifndef FEC_PASS_H
#define FEC_PASS_H

#include <stdbool.h>

/*
 * From here on fn is called before each pass, from which no other such call comes; NULL: nothing
 * is.  The kernel of the process becomes isal.  False: there are no passes that could be seen.
 */
bool fec_pass_set(void (*fn)(void *user), void *user);
/* Calls of fn so far. */
unsigned long fec_passes(void);

#endif /* FEC_PASS_H */
