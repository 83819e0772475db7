/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Why something was not created, as text: an errno value cannot say which of a dozen attributes it
 * means.  The text goes where the caller says (the attribute `why`), never to a log, and into no
 * memory of ours: any thread.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <sdr/sdr.h>

#include "sdr_why.h"

void sdr_why(char *buf, size_t len, const char *fmt, ...)
{
	va_list ap;

	if (buf && len) {
		va_start(ap, fmt);
		vsnprintf(buf, len, fmt, ap);
		va_end(ap);
	}
}

void sdr_why_end(char *buf, size_t len, int err)
{
	size_t n = buf && len ? strnlen(buf, len) : len;

	if (n < len && (!n || err != -EINVAL))
		sdr_why(buf + n, len - n, "%s%s", n ? ": " : "", sdr_strerror(err));
}
