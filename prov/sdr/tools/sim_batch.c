/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where cells come from: the lines of a batch, or all combinations of what the options list.
 *
 * The rules are those of sdr_model: columns in any order, any may be missing but the scheme, what an option says holds
 * where a column or a cell is missing.  All cells are checked here, before anything is run or printed.
 */
#include <string.h>

#include "sim.h"

/* Exits: what is wrong with a cell. */
static void sim_cell_bad(const struct sim_cells *cells, const struct sim_cell *c,
			 const char *const text[MODEL_FIELDS])
{
	enum model_field f = model_blamed(c->row.err.field);

	if (cells->file)
		model_bad("%s: line %zu, id \"%.64s\": %s: %s", cells->file, c->row.line,
			  c->row.id ? c->row.id : "", c->row.err.field, c->row.err.text);
	if (f < MODEL_FIELDS && f == MODEL_P && text[MODEL_DROP])
		f = MODEL_DROP;
	model_bad("%s (%s): %s", f < MODEL_FIELDS ? model_flag(NULL, f) : "the command line", c->row.err.field,
		  c->row.err.text);
}

static void sim_batch_line(const struct sim_plan *plan, struct sim_cells *cells, enum sim_mode mode,
			   const char *const text[MODEL_FIELDS], const struct model_csv *csv, const int *field,
			   size_t line)
{
	struct sim_cell *c = sim_cells_add(cells, mode);
	size_t n = model_csv_cells(csv, 0);
	char number[MODEL_NUMBER];
	const char *s;

	c->row.line = csv->line[line];
	snprintf(number, sizeof(number), "%zu", line);
	(void)sim_cell_set(c, MODEL_ID, number); /* unless it has its own */
	for (size_t i = 0; i < n; i++) {
		s = model_csv_cell(csv, line, i);
		if (field[i] == MODEL_ID && *s)
			(void)sim_cell_set(c, MODEL_ID, s);
	}
	for (int f = MODEL_SCHEME; f < MODEL_FIELDS; f++) {
		if (text[f] && sim_cell_set(c, (enum model_field)f, text[f]))
			sim_cell_bad(cells, c, text);
	}
	for (size_t i = 0; i < n; i++) {
		s = model_csv_cell(csv, line, i);
		if (*s && field[i] != MODEL_ID && sim_cell_set(c, (enum model_field)field[i], s))
			sim_cell_bad(cells, c, text);
	}
	if (!c->scheme)
		model_bad("%s: line %zu, id \"%.64s\": scheme: it is empty", cells->file, c->row.line, c->row.id);
	if (sim_cell_check(plan, c))
		sim_cell_bad(cells, c, text);
}

void sim_batch(const struct sim_plan *plan, struct sim_cells *cells, enum sim_mode mode,
	       const char *const text[MODEL_FIELDS], const char *file)
{
	struct model_csv csv;
	int field[MODEL_FIELDS]; /* of each column: there are no more that differ */
	size_t n;

	model_csv_read(&csv, file);
	n = model_csv_cells(&csv, 0);
	for (size_t i = 0; i < n; i++) {
		int f = model_column_find(model_csv_cell(&csv, 0, i));

		if (f < 0)
			model_bad("%s: line %zu: unknown column \"%.64s\"; sdr_model(1) lists them", csv.name,
				  csv.line[0], model_csv_cell(&csv, 0, i));
		(void)model_csv_column(&csv, model_csv_cell(&csv, 0, i)); /* there is one of that name */
		field[i] = f;
	}
	if (model_csv_column(&csv, model_column(MODEL_SCHEME)) < 0 && !text[MODEL_SCHEME])
		model_bad("%s: line %zu: there is no column scheme", csv.name, csv.line[0]);
	if (csv.n == 1)
		model_bad("%s: there is no row behind the header", csv.name);
	model_csv_even(&csv, model_csv_column(&csv, model_column(MODEL_ID)));
	cells->file = strcmp(file, "-") == 0 ? "standard input" : file;
	for (size_t i = 1; i < csv.n; i++)
		sim_batch_line(plan, cells, mode, text, &csv, field, i);
	model_csv_free(&csv);
}

/* ---- combinations ---- */

static const char *sim_schemes_default(enum sim_mode mode)
{
	return mode == SIM_ALLREDUCE ? "sr_rto,sr_nack,ec_mds,hybrid" : "sr_rto,sr_nack,ec_mds,ec_xor,hybrid";
}

void sim_product(const struct sim_plan *plan, struct sim_cells *cells, enum sim_mode mode,
		 const char *const text[MODEL_FIELDS])
{
	struct model_list list[MODEL_FIELDS] = { { 0 } };
	size_t at[MODEL_FIELDS] = { 0 };
	char why[192], number[MODEL_NUMBER];
	struct sim_cell *c;
	int f;

	for (f = MODEL_SCHEME; f < MODEL_FIELDS; f++) {
		const char *s = text[f] || f != MODEL_SCHEME ? text[f] : sim_schemes_default(mode);

		if (s && model_list_read(&list[f], s, model_field_whole((enum model_field)f), why, sizeof(why)))
			model_bad("%s (%s): \"%.64s\": %s", model_flag(NULL, (enum model_field)f),
				  model_column((enum model_field)f), s, why);
	}
	do {
		c = sim_cells_add(cells, mode);
		snprintf(number, sizeof(number), "%u", cells->n);
		(void)sim_cell_set(c, MODEL_ID, number);
		for (f = MODEL_SCHEME; f < MODEL_FIELDS; f++) {
			if (list[f].n && sim_cell_set(c, (enum model_field)f, list[f].text[at[f]]))
				sim_cell_bad(cells, c, text);
		}
		if (sim_cell_check(plan, c))
			sim_cell_bad(cells, c, text);
		/* the scheme changes fastest, so that what is to be compared stands together; then the last field */
		f = MODEL_SCHEME;
		while (++at[f] >= (list[f].n ? list[f].n : 1)) {
			at[f] = 0;
			f = f == MODEL_SCHEME ? MODEL_FIELDS - 1 : f - 1;
			if (f == MODEL_SCHEME)
				break;
		}
	} while (f != MODEL_SCHEME || at[f]);
	for (f = 0; f < MODEL_FIELDS; f++)
		model_list_free(&list[f]);
}
