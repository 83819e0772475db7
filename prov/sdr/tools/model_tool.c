/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_model: completion times of reliability schemes over long, lossy links, for people, scripts and figures.
 *
 * An ordinary program on the public calls of sdr/model.h.  Whatever the user gave is checked before anything is
 * computed, and everything is computed before anything is printed: standard output has the whole result or nothing.
 * Threads only compute (model_pool.c); a run's result does not depend on how many there are.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "model_tool.h"

/* Texts of files come along in what is said: control characters of theirs do not reach the terminal. */
static void model_say(const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
	model_progress_clear();
	fprintf(stderr, "sdr_model: %s\n", text);
}

void model_bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	model_say(fmt, ap);
	va_end(ap);
	exit(MODEL_USAGE);
}

void model_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	model_say(fmt, ap);
	va_end(ap);
	exit(MODEL_FAILED);
}

void *model_alloc(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n ? n : 1, size);

	if (!p)
		model_die("no memory for %zu times %zu bytes; ask for fewer rows or samples", n, size);
	return p;
}

void model_written(void)
{
	if (fflush(stdout) || ferror(stdout))
		model_die("the result could not be written to standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static struct model_opt opt;
	static struct model_rows rows;
	size_t group = 1;

	signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error of writing, with a word */
	model_options(&opt, argc, argv);
	if (opt.cmd == MODEL_ADVISE) {
		model_advise(&opt);
	} else if (opt.cmd == MODEL_PLOT) {
		model_plot(&opt);
	} else {
		if (opt.batch)
			model_batch(&rows, &opt);
		else
			model_product(&rows, &opt, &group);
		if (opt.links)
			model_links(&rows, &opt);
		model_run(&rows, &opt);
		if (opt.cmd == MODEL_ALLREDUCE)
			model_compare(&rows, &opt, group);
		model_print(&rows, &opt);
		model_rows_free(&rows);
	}
	model_written();
	return MODEL_OK;
}
