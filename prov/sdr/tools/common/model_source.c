/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where rows come from: the lines of a batch, or all combinations of what the options list.
 *
 * A batch may have its columns in any order and leave out any but the scheme: what an option says
 * holds where a column or a cell is missing, and the default of the row where there is no option
 * either.  What is wrong with the file or with a list is found before the first row.  The rows'
 * texts are handed on and not read here: a tool reads and checks all rows before it computes
 * anything, so that a mistake in the last line costs no computation.
 */
#include <string.h>
#include "model_row.h"

static void source_ask(struct model_source *s, enum model_field f, const char *text)
{
	s->asked[s->nend_probed++] = (struct model_asked){ f, text };
}

/* ---- a batch ---- */

static void batch_open(struct model_source *s)
{
	struct tool_csv *c = &s->csv;
	const char *name;
	int f;

	tool_csv_read(c, s->batch);
	for (size_t i = 0; i < tool_csv_cells(c, 0); i++) {
		name = tool_csv_cell(c, 0, i);
		f = model_column_find(name);
		if (f < 0)
			tool_bad("%s: line %zu: unknown column \"%.64s\"; sdr_model(1) lists them",
				 c->name, c->line[0], name);
		(void)tool_csv_column(c, name); /* there is one of that name */
		s->field[i] = (enum model_field)f;
	}
	if (tool_csv_column(c, model_column(MODEL_SCHEME)) < 0 && !s->text[MODEL_SCHEME])
		tool_bad("%s: line %zu: there is no column scheme", c->name, c->line[0]);
	if (c->n == 1)
		tool_bad("%s: there is no row behind the header", c->name);
	if (c->n - 1 > s->max)
		tool_bad("%s: more than %zu rows", c->name, s->max);
	tool_csv_even(c, tool_csv_column(c, model_column(MODEL_ID)));
	s->file = strcmp(s->batch, "-") == 0 ? "standard input" : s->batch;
	s->group = 1;
	s->end = c->n - 1;
}

static void batch_row(struct model_source *s)
{
	bool scheme = s->text[MODEL_SCHEME] != NULL;
	size_t n = tool_csv_cells(&s->csv, 0);
	const char *cell;

	s->line = s->csv.line[s->next];
	for (size_t i = 0; i < n; i++) {
		cell = tool_csv_cell(&s->csv, s->next, i);
		if (*cell && s->field[i] == MODEL_ID)
			s->asked[0].text = cell;
		if (*cell && s->field[i] == MODEL_SCHEME)
			scheme = true;
	}
	if (!scheme)
		tool_bad("%s: line %zu, id \"%.64s\": scheme: it is empty", s->file, s->line,
			 s->asked[0].text);
	for (int f = MODEL_SCHEME; f < MODEL_FIELDS; f++) {
		if (s->text[f])
			source_ask(s, (enum model_field)f, s->text[f]);
	}
	for (size_t i = 0; i < n; i++) {
		cell = tool_csv_cell(&s->csv, s->next, i);
		if (*cell && s->field[i] != MODEL_ID)
			source_ask(s, s->field[i], cell);
	}
}

/* ---- combinations ---- */

static void product_open(struct model_source *s)
{
	const char *schemes =
		s->coll ? "sr_rto,sr_nack,ec_mds,hybrid" : "sr_rto,sr_nack,ec_mds,ec_xor,hybrid";
	char why[192];

	for (int i = MODEL_SCHEME; i < MODEL_FIELDS; i++) {
		enum model_field f = (enum model_field)i;
		const char *text = s->text[f] || f != MODEL_SCHEME ? s->text[f] : schemes;

		if (text &&
		    tool_list_read(&s->list[f], text, model_field_whole(f), why, sizeof(why)))
			tool_bad("%s (%s): \"%.64s\": %s", model_flag(f), model_column(f), text,
				 why);
	}
	s->group = s->list[MODEL_SCHEME].n;
	s->end = 1;
	for (int f = MODEL_SCHEME; f < MODEL_FIELDS; f++) {
		s->end *= s->list[f].n ? s->list[f].n : 1;
		if (s->end > s->max)
			tool_bad("%s: more than %zu combinations in all",
				 model_flag((enum model_field)f), s->max);
	}
}

static void product_row(struct model_source *s)
{
	int f;

	for (f = MODEL_SCHEME; f < MODEL_FIELDS; f++) {
		if (s->list[f].n)
			source_ask(s, (enum model_field)f, s->list[f].text[s->at[f]]);
	}
	/*
	 * the scheme changes fastest, so that what is to be compared is together; then the last
	 * field
	 */
	f = MODEL_SCHEME;
	while (++s->at[f] >= (s->list[f].n ? s->list[f].n : 1)) {
		s->at[f] = 0;
		f = f == MODEL_SCHEME ? MODEL_FIELDS - 1 : f - 1;
		if (f == MODEL_SCHEME)
			break;
	}
}

/* ---- either ---- */

void model_source_open(struct model_source *s)
{
	if (s->batch)
		batch_open(s);
	else
		product_open(s);
}

bool model_source_next(struct model_source *s)
{
	if (s->next == s->end)
		return false;
	s->next++;
	s->nend_probed = 0;
	snprintf(s->id, sizeof(s->id), "%zu", s->next);
	source_ask(s, MODEL_ID, s->id); /* unless it has its own */
	if (s->batch)
		batch_row(s);
	else
		product_row(s);
	return true;
}

void model_source_close(struct model_source *s)
{
	if (s->batch)
		tool_csv_free(&s->csv);
	for (int f = 0; f < MODEL_FIELDS; f++)
		tool_list_free(&s->list[f]);
}
