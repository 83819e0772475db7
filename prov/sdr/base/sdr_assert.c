/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What a failed assertion says, see sdr_assert.h.  One write, so that threads do not mix lines. */
#include "sdr_assert.h"

#include <stdio.h>
#include <stdlib.h>

void sdr_assert_failed(const char *cond, const char *file, int line, const char *func)
{
	dprintf(2, "sdr: %s:%d: %s: assertion failed: %s\n", file, line, func, cond);
	abort();
}
