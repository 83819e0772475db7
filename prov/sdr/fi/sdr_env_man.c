/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Prints the section RUNTIME PARAMETERS of fi_sdr(7) as markdown, from the table that the provider
 * reads. Not installed.
 */
#include "sdr_env.h"

int main(void)
{
	sdr_env_print_man(stdout);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
