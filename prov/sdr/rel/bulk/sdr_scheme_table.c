/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The schemes that FI_SDR_RELIABILITY, sdr_ct_sim and the tests can name: one row each.
 */
#include <stdio.h>
#include <string.h>
#include "sdr_scheme.h"

const struct sdr_scheme_ops *const sdr_scheme_table[] = {
	&sdr_scheme_auto,    &sdr_scheme_hybrid, &sdr_scheme_sr,    &sdr_scheme_sr_rto,
	&sdr_scheme_sr_nack, &sdr_scheme_ec,	 &sdr_scheme_ec_sr, NULL,
};

const struct sdr_scheme_ops *sdr_scheme_find(const char *name)
{
	const struct sdr_scheme_ops *const *ops;

	for (ops = sdr_scheme_table; *ops; ops++)
		if (strcmp((*ops)->name, name) == 0)
			return *ops;
	return NULL;
}

void sdr_scheme_names(char *buf, size_t len)
{
	const struct sdr_scheme_ops *const *ops;
	size_t n = 0;

	if (len)
		buf[0] = 0;
	for (ops = sdr_scheme_table; *ops && n < len; ops++)
		n += (size_t)snprintf(buf + n, len - n, "%s%s", n ? ", " : "", (*ops)->name);
}
