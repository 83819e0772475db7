/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a program says on standard error, and how it ends: one sentence, which names the cause, and
 * an exit status.
 *
 * The progress line, if there is one, is cleared before anything else is said.  By one thread at a
 * time.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

static const char *tool_name;
static bool progress_shown;

void tool_begin(const char *name)
{
	tool_name = name;
	signal(SIGPIPE,
	       SIG_IGN); /* a reader that went away is an error of writing, with a message */
}

void tool_progress(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "\r\033[K");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
	progress_shown = true;
}

void tool_progress_clear(void)
{
	if (progress_shown)
		fprintf(stderr, "\r\033[K");
	progress_shown = false;
}

/*
 * Texts of files come along in what is said: control characters of theirs do not reach the
 * terminal.
 */
static void say(const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	tool_progress_clear();
	fprintf(stderr, "%s: %s\n", tool_name, text);
}

void tool_bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	exit(TOOL_USAGE);
}

void tool_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	exit(TOOL_FAILED);
}

void tool_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void *tool_alloc(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n ? n : 1, size);

	if (!p)
		tool_die("no memory for %zu times %zu bytes; ask for fewer rows, samples or runs",
			 n, size);
	return p;
}

void tool_written(void)
{
	if (fflush(stdout) || ferror(stdout))
		tool_die("the result could not be written to standard output: %s", strerror(errno));
}
