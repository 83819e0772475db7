/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The picture of the drop-rate probe: drop rate by payload size, logarithmic, with the confidence
 * interval.
 *
 * A size without losses has no place on a logarithmic axis: its upper bound is drawn, as a triangle
 * that points down.  Of trials (probe_trials.c) the quartiles of each size are a box, with the
 * extremes and the median; what is less than a packet of a trial is drawn at half a packet.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "tools/common/tool.h"

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && strcmp(s + n - m, end) == 0;
}

static bool gnuplot_there(void)
{
	const char *path = getenv("PATH"), *at, *end;
	char file[4096];

	for (at = path ? path : "/usr/bin:/bin"; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, ':');
		snprintf(file, sizeof(file), "%.*s/gnuplot", (int)(end - at), at);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

void probe_plot_check(const char *file)
{
	int err;

	if (!ends_in(file, ".svg") && !ends_in(file, ".png"))
		perf_usage("--plot: \"%s\" does not end in .svg or .png", file);
	if (!gnuplot_there())
		perf_die(
			"--plot needs gnuplot, which is not installed; install it (package gnuplot-nox or "
			"gnuplot), or leave --plot out");
	err = tool_gnuplot_file(file);
	if (err)
		perf_die("--plot: %s cannot be written: %s; name another file", file,
			 strerror(-err));
}

/* Points with losses, or those without; returns their number. */
static unsigned int block(FILE *f, const struct probe_out *o, const char *name, bool lost)
{
	const struct probe_row *r;
	unsigned int i, n = 0;

	fprintf(f, "$%s << EOD\n", name);
	for (i = 0; i < o->rows; i++) {
		r = &o->row[i];
		if (!r->known || (r->tally.sent > r->tally.received) != lost)
			continue;
		fprintf(f, "%u %.9g %.9g %.9g\n", r->payload, lost ? r->loss.loss : r->loss.high,
			lost ? r->loss.low : r->loss.high, r->loss.high);
		n++;
	}
	fprintf(f, "EOD\n");
	return n;
}

struct drawing {
	const struct probe_out *out;
	bool svg; /* or PNG */
};

static void program(FILE *f, const void *ctx)
{
	const struct drawing *d = ctx;
	const struct probe_out *o = d->out;
	double x0 = PROBE_PAYLOAD_MAX, x1 = PROBE_PAYLOAD_MIN, y0 = 1, y1 = 0;
	const struct probe_row *r;
	unsigned int lost, clean, i;

	for (i = 0; i < o->rows; i++) {
		r = &o->row[i];
		if (!r->known)
			continue;
		x0 = fmin(x0, r->payload);
		x1 = fmax(x1, r->payload);
		y0 = fmin(y0, r->tally.sent > r->tally.received ? r->loss.low : r->loss.high);
		y1 = fmax(y1, r->loss.high);
	}

	fprintf(f,
		"set terminal %s\n"
		"set title 'Drop rate of UDP packets to %s at %.6g Mbit/s, %.1f s in all'\n"
		"set xlabel 'UDP payload of a packet (bytes)'\n"
		"set ylabel 'drop rate (share of the packets)'\n"
		"set logscale x 2\nset logscale y\nset format y '10^{%%L}'\nset grid\n"
		"set xrange [%g:%g]\nset yrange [%g:%g]\nset key top left\n",
		d->svg ? "svg size 800,560 background 'white'" : "png size 800,560", o->peer,
		o->opt->probe.rate / 1e6, o->seconds, x0 / 1.4, x1 * 1.4, y0 / 2,
		fmin(y1 * 2, 1.2));
	lost = block(f, o, "lost", true);
	clean = block(f, o, "clean", false);
	fprintf(f, "plot ");
	if (lost)
		fprintf(f,
			"$lost using 1:2:3:4 with yerrorbars pt 7 lw 1.5 title 'measured, 95 %% interval'%s",
			clean ? ", " : "");
	if (clean)
		fprintf(f,
			"$clean using 1:2 with points pt 11 ps 1.5 title 'none lost: upper end of the interval'");
	fprintf(f, "\n");
}

void probe_plot(const struct probe_out *o, const char *file)
{
	struct drawing d = { .out = o, .svg = ends_in(file, ".svg") };
	char why[TOOL_WHY];
	unsigned int i;

	for (i = 0; i < o->rows && !o->row[i].known; i++)
		;
	if (i == o->rows)
		perf_die(
			"--plot: nothing was measured, so %s was not written; let the probe run longer",
			file);
	if (tool_gnuplot(file, program, &d, why))
		perf_die("--plot: %s", why);
}

/* ---- trials ---------------------------------------------------------------------------------- */

struct boxes {
	const struct probe_spread *s;
	unsigned int n;
	const char *title;
	bool svg;
};

static void boxes_program(FILE *f, const void *ctx)
{
	const struct boxes *b = ctx;
	double low = 1, high = 0, half;
	unsigned int i;

	fprintf(f, "$boxes << EOD\n");
	for (i = 0; i < b->n; i++) {
		const struct probe_spread *s = &b->s[i];

		half = s->resolution / 2;
		low = fmin(low, fmax(s->min, half));
		high = fmax(high, fmax(s->max, half));
		fprintf(f, "%u %.9g %.9g %.9g %.9g %.9g %u\n", i, fmax(s->min, half),
			fmax(s->low, half), fmax(s->median, half), fmax(s->high, half),
			fmax(s->max, half), s->payload);
	}
	fprintf(f,
		"EOD\nset terminal %s\nset title '%s'\n"
		"set xlabel 'UDP payload of a packet (bytes)'\n"
		"set ylabel 'drop rate (share of the packets of a trial)'\n"
		"set logscale y\nset format y '10^{%%L}'\nset grid ytics\nset boxwidth 0.4\n"
		"set xrange [-0.7:%g]\nset yrange [%g:%g]\nset key top left\n"
		"plot $boxes using 1:3:2:6:5:xticlabels(7) with candlesticks lw 1.5 "
		"title 'extremes and quartiles' whiskerbars, $boxes using 1:4:4:4:4 with "
		"candlesticks lw 3 title 'median'\n",
		b->svg ? "svg size 800,560 background 'white'" : "png size 800,560", b->title,
		(double)b->n - 0.3, low / 2, fmin(high * 2, 1.2));
}

void probe_plot_spread(const struct probe_spread *s, unsigned int n, const char *file,
		       const char *title)
{
	struct boxes b = { .s = s, .n = n, .title = title, .svg = ends_in(file, ".svg") };
	char why[TOOL_WHY];

	if (tool_gnuplot(file, boxes_program, &b, why))
		perf_die("--plot: %s", why);
}
