/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a device does while a symbol is half made, deterministically.
 *
 * The kernel isal has ISA-L add sources to its outputs, the first eight at once and then one by
 * one, a block at a time.  The linker sends those calls here (--wrap), so what a test wants to
 * happen between two sources happens just there, in one thread.  Other kernels have all of their
 * passes inside, where nobody can look.  One thread.
 */
#include <stddef.h>
#include "fec/sdr_fec.h"
#include "fec_pass.h"

void __real_ec_encode_data(int len, int k, int rows, unsigned char *tbl, unsigned char **data,
			   unsigned char **out);
void __wrap_ec_encode_data(int len, int k, int rows, unsigned char *tbl, unsigned char **data,
			   unsigned char **out);
void __real_ec_encode_data_update(int len, int k, int rows, int i, unsigned char *tbl,
				  unsigned char *data, unsigned char **out);
void __wrap_ec_encode_data_update(int len, int k, int rows, int i, unsigned char *tbl,
				  unsigned char *data, unsigned char **out);

static void (*pass_fn)(void *user);
static void *pass_user;
static unsigned long passes;

static void pass(void)
{
	void (*fn)(void *user) = pass_fn;

	if (!fn)
		return;
	pass_fn = NULL;
	passes++;
	fn(pass_user);
	pass_fn = fn;
}

void __wrap_ec_encode_data(int len, int k, int rows, unsigned char *tbl, unsigned char **data,
			   unsigned char **out)
{
	pass();
	__real_ec_encode_data(len, k, rows, tbl, data, out);
}

void __wrap_ec_encode_data_update(int len, int k, int rows, int i, unsigned char *tbl,
				  unsigned char *data, unsigned char **out)
{
	pass();
	__real_ec_encode_data_update(len, k, rows, i, tbl, data, out);
}

bool fec_pass_set(void (*fn)(void *user), void *user)
{
	pass_fn = fn;
	pass_user = user;
	return sdr_fec_kernel_set(fn ? "isal" : NULL);
}

unsigned long fec_passes(void)
{
	return passes;
}
