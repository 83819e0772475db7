/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The congestion controllers that FI_SDR_CC, sdr_sim --cc and the tests can name: one row each.
 */
#include <stdio.h>
#include <string.h>
#include "rel/path/sdr_cc_ops.h"

const struct sdr_cc_ops *const sdr_cc_table[] = {
	&sdr_cc_auto,
	&sdr_cc_bbr,
	&sdr_cc_fixed,
	NULL,
};

const struct sdr_cc_ops *sdr_cc_find(const char *name)
{
	const struct sdr_cc_ops *const *ops;

	for (ops = sdr_cc_table; *ops; ops++)
		if (strcmp((*ops)->name, name) == 0)
			return *ops;
	return NULL;
}

void sdr_cc_names(char *buf, size_t len)
{
	const struct sdr_cc_ops *const *ops;
	size_t n = 0;

	if (len)
		buf[0] = 0;
	for (ops = sdr_cc_table; *ops && n < len; ops++)
		n += (size_t)snprintf(buf + n, len - n, "%s%s", n ? ", " : "", (*ops)->name);
}
