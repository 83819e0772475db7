/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_model plot: a picture of a CSV, drawn by gnuplot.
 *
 * The program for gnuplot has the data in it and goes through a pipe; texts of the user are quoted,
 * so that none of them is a command.  The picture is made beside the file that was given and
 * takes its place when gnuplot has ended well.  Rows without a value are passed over; anything else
 * that is no number is refused.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "model_tool.h"

#define SERIES_MAX 64u

struct plot {
	struct tool_csv csv;
	const struct model_opt *opt;
	int x, y, over, series; /* columns; over, series: -1 without */
	const char *x_name, *y_name;
	char *y_text; /* y_name, up to the slash */
	bool x_log, y_log;
	const char *name[SERIES_MAX];
	size_t n; /* series */
	size_t points;
};

static int plot_column(const struct plot *p, const char *option, const char *name)
{
	int col = tool_csv_column(&p->csv, name);

	if (col < 0)
		tool_bad("%s: %s has no column \"%.64s\"", option, p->csv.name, name);
	return col;
}

/* From one row of a scheme to its next: between schemes much differs that was not swept. */
static bool plot_varies(const struct plot *p, int col)
{
	int scheme = tool_csv_column(&p->csv, "scheme");

	for (size_t i = 1; i < p->csv.n; i++) {
		for (size_t k = i + 1; k < p->csv.n; k++) {
			if (scheme >= 0 && strcmp(tool_csv_cell(&p->csv, i, (size_t)scheme),
						  tool_csv_cell(&p->csv, k, (size_t)scheme)) != 0)
				continue;
			if (strcmp(tool_csv_cell(&p->csv, i, (size_t)col),
				   tool_csv_cell(&p->csv, k, (size_t)col)) != 0)
				return true;
			break;
		}
	}
	return false;
}

/* What a sweep swept: the first column of its question that has more than one value. */
static int plot_swept(const struct plot *p)
{
	static const char *const fields[] = {
		"msg_bytes", "p_packet", "rtt_s", "bandwidth_bps", "chunk_bytes", "mtu_bytes",
		"k",	     "m",	 "n_dc",  "rto_rtts",	   "beta",	  "payload_bytes"
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		int col = tool_csv_column(&p->csv, fields[i]);

		if (col >= 0 && plot_varies(p, col))
			return col;
	}
	tool_bad("%s: no column was swept; --x says which one to draw over", p->csv.name);
	return -1;
}

static void plot_columns(struct plot *p)
{
	char *slash;

	p->y_name = p->opt->y ? p->opt->y : "mean_s";
	p->y_text = strdup(p->y_name);
	if (!p->y_text)
		tool_die("no memory for a name");
	slash = strchr(p->y_text, '/');
	if (slash)
		*slash++ = 0;
	p->x = p->opt->x ? plot_column(p, "--x", p->opt->x) : plot_swept(p);
	p->x_name = tool_csv_cell(&p->csv, 0, (size_t)p->x);
	p->y = plot_column(p, "--y", p->y_text);
	p->over = slash ? plot_column(p, "--y", slash) : -1;
	p->series = p->opt->series ? plot_column(p, "--series", p->opt->series) : -1;
	if (!p->opt->series && tool_csv_column(&p->csv, "scheme") >= 0)
		p->series = tool_csv_column(&p->csv, "scheme");
}

static const char *plot_series(const struct plot *p, size_t row)
{
	return p->series < 0 ? "" : tool_csv_cell(&p->csv, row, (size_t)p->series);
}

/* False: the cell is empty. */
static bool plot_number(const struct plot *p, size_t row, int col, bool log, double *v)
{
	const char *text = tool_csv_cell(&p->csv, row, (size_t)col);

	if (!*text)
		return false;
	if (tool_real(text, v))
		tool_bad("%s: line %zu: %s: \"%.40s\" is no number", p->csv.name, p->csv.line[row],
			 tool_csv_cell(&p->csv, 0, (size_t)col), text);
	return !log || *v > 0;
}

static bool plot_point(const struct plot *p, size_t row, double *x, double *y)
{
	double over = 1;

	if (!plot_number(p, row, p->x, p->x_log, x) || !plot_number(p, row, p->y, p->y_log, y) ||
	    (p->over >= 0 && !plot_number(p, row, p->over, true, &over)))
		return false;
	*y /= over;
	return true;
}

/*
 * Without --log an axis is logarithmic where its values are positive and spread over two decades.
 */
static void plot_axes(struct plot *p)
{
	double x, y, low[2] = { INFINITY, INFINITY }, high[2] = { 0, 0 };

	if (p->opt->log) {
		p->x_log = *p->opt->log == 'x';
		p->y_log = strcmp(p->opt->log, "none") != 0 && strchr(p->opt->log, 'y');
		return;
	}
	for (size_t i = 1; i < p->csv.n; i++) {
		if (!plot_point(p, i, &x, &y))
			continue;
		low[0] = fmin(low[0], x);
		low[1] = fmin(low[1], y);
		high[0] = fmax(high[0], x);
		high[1] = fmax(high[1], y);
	}
	p->x_log = low[0] > 0 && high[0] >= 100 * low[0];
	p->y_log = low[1] > 0 && high[1] >= 100 * low[1];
}

static void plot_find_series(struct plot *p)
{
	const char *name;
	double x, y;
	size_t k;

	for (size_t i = 1; i < p->csv.n; i++) {
		if (!plot_point(p, i, &x, &y))
			continue;
		p->points++;
		name = plot_series(p, i);
		for (k = 0; k < p->n && strcmp(p->name[k], name) != 0; k++)
			;
		if (k < p->n)
			continue;
		if (p->n == SERIES_MAX)
			tool_bad("--series: more than %u values in column %s", SERIES_MAX,
				 tool_csv_cell(&p->csv, 0, (size_t)p->series));
		p->name[p->n++] = name;
	}
	if (!p->points)
		tool_bad("%s: no row has numbers in %s and %s%s", p->csv.name, p->x_name, p->y_name,
			 p->x_log || p->y_log ? " (above 0, with --log)" : "");
}

/* ---- the program ---- */

static void plot_text(FILE *f, const char *s)
{
	fputc('\'', f);
	for (; *s; s++) {
		if (*s == '\'')
			fputc('\'', f);
		fputc((unsigned char)*s < ' ' ? ' ' : *s, f);
	}
	fputc('\'', f);
}

static bool plot_ends(const char *name, const char *tail)
{
	size_t n = strlen(name), t = strlen(tail);

	return n >= t && strcmp(name + n - t, tail) == 0;
}

/* What a column is called on an axis, with its unit, and how gnuplot writes its numbers. */
static void plot_axis(FILE *f, char axis, const char *name, bool ratio, bool log)
{
	static const struct {
		const char *column, *label;
	} known[] = {
		{ "mean_s", "completion time, mean (s)" },
		{ "p50_s", "completion time, median (s)" },
		{ "p99_s", "completion time, p99 (s)" },
		{ "p999_s", "completion time, p99.9 (s)" },
		{ "ideal_s", "completion time without loss (s)" },
		{ "rtt_s", "round-trip time (s)" },
		{ "bandwidth_bps", "bandwidth (bit/s)" },
		{ "msg_bytes", "message size (bytes)" },
		{ "chunk_bytes", "chunk size (bytes)" },
		{ "payload_bytes", "payload of a packet (bytes)" },
		{ "p_packet", "packet loss (probability)" },
		{ "p_chunk", "chunk loss (probability)" },
		{ "loss", "packet loss (share)" },
		{ "n_dc", "datacenters (number)" },
		{ "p_fallback", "probability of a fallback" },
	};
	char label[160];
	const char *unit = plot_ends(name, "_s")       ? " (s)"
			   : plot_ends(name, "_bps")   ? " (bit/s)"
			   : plot_ends(name, "_bytes") ? " (bytes)"
						       : "";

	snprintf(label, sizeof(label), "%.80s%s", name, ratio ? " (ratio)" : unit);
	for (size_t i = 0; !ratio && i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].column, name) == 0)
			snprintf(label, sizeof(label), "%s", known[i].label);
	}
	fprintf(f, "set %clabel ", axis);
	plot_text(f, label);
	fputc('\n', f);
	if (!ratio && plot_ends(name, "_bytes"))
		fprintf(f, "set format %c '%%.0b %%BB'\n", axis);
	else if (!ratio && plot_ends(name, "_s"))
		fprintf(f, "set format %c '%%.%ds %%cs'\n", axis, log ? 0 : 1);
	else if (!ratio && plot_ends(name, "_bps"))
		fprintf(f, "set format %c '%%.0s %%cbit/s'\n", axis);
	else
		fprintf(f, "set format %c '%%g'\n", axis);
	if (log)
		fprintf(f, "set logscale %c%s\n", axis,
			!ratio && plot_ends(name, "_bytes") ? " 2" : "");
}

static void plot_program(FILE *f, const void *ctx)
{
	const struct plot *p = ctx;
	double x, y;
	size_t i, k;

	fprintf(f, "set encoding utf8\nset terminal %s\nset grid\nset key outside right top\n",
		plot_ends(p->opt->output, ".png")
			? "pngcairo size 1000,640 noenhanced background rgb 'white'"
			: "svg size 1000,640 dynamic noenhanced background rgb 'white'");
	if (p->opt->title) {
		fprintf(f, "set title ");
		plot_text(f, p->opt->title);
		fputc('\n', f);
	}
	plot_axis(f, 'x', p->x_name, false, p->x_log);
	plot_axis(f, 'y', p->y_name, p->over >= 0, p->y_log);
	for (k = 0; k < p->n; k++) {
		fprintf(f, "$d%zu << END\n", k);
		for (i = 1; i < p->csv.n; i++) {
			if (plot_point(p, i, &x, &y) && strcmp(plot_series(p, i), p->name[k]) == 0)
				fprintf(f, "%.17g %.17g\n", x, y);
		}
		fprintf(f, "END\n");
	}
	fprintf(f, "plot ");
	for (k = 0; k < p->n; k++) {
		fprintf(f, "%s$d%zu with linespoints linewidth 2 title ", k ? ", " : "", k);
		plot_text(f, p->series < 0 ? p->y_name : p->name[k]);
	}
	fputc('\n', f);
}

static void plot_options(const struct model_opt *opt)
{
	static const char *const axes[] = { "x", "y", "xy", "none", NULL };

	if (opt->log && tool_word(opt->log, axes) < 0)
		tool_bad("--log: \"%.64s\" is none of x, y, xy, none", opt->log);
	if (!plot_ends(opt->output, ".svg") && !plot_ends(opt->output, ".png"))
		tool_bad("--output: \"%.64s\" ends neither with .svg nor with .png", opt->output);
}

void model_plot(const struct model_opt *opt)
{
	static struct plot p;
	char why[TOOL_WHY];

	plot_options(opt);
	p.opt = opt;
	tool_csv_read(&p.csv, opt->input ? opt->input : "-");
	tool_csv_even(&p.csv, tool_csv_column(&p.csv, "id"));
	plot_columns(&p);
	plot_axes(&p);
	plot_find_series(&p);
	if (tool_gnuplot(opt->output, plot_program, &p, why))
		tool_die("%s", why);
	free(p.y_text);
	tool_csv_free(&p.csv);
}
