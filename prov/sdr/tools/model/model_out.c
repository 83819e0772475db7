/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is printed of rows: CSV, JSON, and a table for people.
 *
 * One list of columns serves all three.  A cell is empty (in JSON: not there) where the scheme has
 * no such thing. CSV and JSON have numbers with all their digits in the units that the columns'
 * names end with; the table has five digits and units of its own, only the inputs that differ from
 * row to row, and of a single row everything, a line each.
 */
#include <string.h>
#include "model_cell.h"

static void out_csv(const struct columns *c, const struct model_rows *rows,
		    const struct model_opt *opt)
{
	for (unsigned int k = 0; k < c->n; k++)
		printf("%s%s", k ? "," : "", c->col[k].name);
	putchar('\n');
	for (size_t i = 0; i < rows->n; i++) {
		for (unsigned int k = 0; k < c->n; k++) {
			if (k)
				putchar(',');
			tool_csv_text(stdout,
				      model_cell(rows, opt, &rows->row[i], c->col[k].what, false));
		}
		putchar('\n');
	}
}

static void out_json(const struct columns *c, const struct model_rows *rows,
		     const struct model_opt *opt)
{
	const char *cell;

	putchar('[');
	for (size_t i = 0; i < rows->n; i++) {
		printf("%s\n{", i ? "," : "");
		for (unsigned int k = 0, n = 0; k < c->n; k++) {
			cell = model_cell(rows, opt, &rows->row[i], c->col[k].what, false);
			if (!*cell)
				continue;
			printf("%s\"%s\":", n++ ? "," : "", c->col[k].name);
			if (model_cell_unit(c->col[k].what) == OUT_TEXT)
				tool_json_text(stdout, cell);
			else
				fputs(cell, stdout);
		}
		putchar('}');
	}
	printf("\n]\n");
}

/* ---- for people ---- */

static bool out_differs(const struct model_rows *rows, const struct model_opt *opt, int what)
{
	char first[512];

	snprintf(first, sizeof(first), "%s", model_cell(rows, opt, &rows->row[0], what, true));
	for (size_t i = 1; i < rows->n; i++) {
		if (strcmp(first, model_cell(rows, opt, &rows->row[i], what, true)) != 0)
			return true;
	}
	return false;
}

/* The name without its unit, which the cell has. */
static int out_short(const struct column *c)
{
	static const char *const tail[] = { "_s", "_bps", "_bytes" };
	size_t n = strlen(c->name), t;

	for (size_t i = 0; i < 3; i++) {
		t = strlen(tail[i]);
		if (n > t && strcmp(c->name + n - t, tail[i]) == 0)
			return (int)(n - t);
	}
	return (int)n;
}

static void out_one(const struct columns *c, const struct model_rows *rows,
		    const struct model_opt *opt)
{
	const char *cell;

	for (unsigned int k = 0; k < c->n; k++) {
		cell = model_cell(rows, opt, &rows->row[0], c->col[k].what, true);
		if (*cell && c->col[k].what != MODEL_ID)
			printf("%-16.*s %s\n", out_short(&c->col[k]), c->col[k].name, cell);
	}
}

static void out_table(const struct columns *c, const struct model_rows *rows,
		      const struct model_opt *opt)
{
	int width[OUTS] = { 0 }, w, used = 0;
	unsigned int k;
	size_t i;

	printf("#");
	for (k = 0; k < c->n; k++) {
		const struct column *col = &c->col[k];
		bool input = col->what < MODEL_FIELDS || col->what == OUT_ROUNDS ||
			     col->what >= OUT_SAMPLES;

		if ((input && col->what != MODEL_SCHEME && !out_differs(rows, opt, col->what)) ||
		    (col->what == MODEL_ID && !rows->file)) {
			const char *cell = model_cell(rows, opt, &rows->row[0], col->what, true);

			if (*cell && col->what != MODEL_ID)
				printf("%s %.*s %s", used++ ? "," : "", out_short(col), col->name,
				       cell);
			continue;
		}
		if (col->what > OUT_IDEAL && col->what < OUT_DERIVED_END &&
		    col->what != OUT_P_FALLBACK && col->what != OUT_BOUND)
			continue;
		for (i = 0; i < rows->n; i++) {
			w = (int)strlen(model_cell(rows, opt, &rows->row[i], col->what, true));
			width[k] = w > width[k] ? w : width[k];
		}
		if (width[k] && width[k] < out_short(col))
			width[k] = out_short(col);
	}
	putchar('\n');
	for (k = 0; k < c->n; k++) {
		if (width[k])
			printf("  %*.*s", width[k], out_short(&c->col[k]), c->col[k].name);
	}
	putchar('\n');
	for (i = 0; i < rows->n; i++) {
		for (k = 0; k < c->n; k++) {
			if (width[k])
				printf("  %*s", width[k],
				       model_cell(rows, opt, &rows->row[i], c->col[k].what, true));
		}
		putchar('\n');
	}
}

void model_print(const struct model_rows *rows, const struct model_opt *opt)
{
	static struct columns c;

	model_columns(&c, rows, opt);
	if (opt->format == TOOL_CSV)
		out_csv(&c, rows, opt);
	else if (opt->format == TOOL_JSON)
		out_json(&c, rows, opt);
	else if (rows->n == 1)
		out_one(&c, rows, opt);
	else
		out_table(&c, rows, opt);
}
