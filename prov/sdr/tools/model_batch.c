/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where rows come from: the lines of a batch, or all combinations of what the options list; and the links of a
 * collective.
 *
 * A batch may have its columns in any order and leave out any but the scheme: what an option says holds where a
 * column or a cell is missing, and the default of the model where there is no option either.  All rows are checked
 * here, so that a mistake in the last line costs no computation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model_tool.h"

static void batch_checked(const struct model_opt *opt, struct model_rows *rows, struct model_row *r)
{
	if (model_row_check(r))
		model_row_bad(opt, rows, r);
	rows->given |= r->given;
}

static void batch_line(struct model_rows *rows, const struct model_opt *opt, const struct model_csv *c,
		       const int *field, size_t line)
{
	struct model_row *r = model_rows_add(rows, opt->cmd);
	char number[MODEL_NUMBER];
	const char *text;
	size_t i, n = model_csv_cells(c, 0);

	r->line = c->line[line];
	snprintf(number, sizeof(number), "%zu", line);
	(void)model_row_set(r, MODEL_ID, number); /* unless it has its own */
	for (i = 0; i < n; i++) {
		if (field[i] == MODEL_ID && *model_csv_cell(c, line, i))
			(void)model_row_set(r, MODEL_ID, model_csv_cell(c, line, i));
	}
	for (i = MODEL_SCHEME; i < MODEL_FIELDS; i++) {
		if (opt->text[i] && model_row_set(r, (enum model_field)i, opt->text[i]))
			model_row_bad(opt, rows, r);
	}
	r->given = 1u << MODEL_ID;
	for (i = 0; i < n; i++) {
		text = model_csv_cell(c, line, i);
		if (!*text || field[i] == MODEL_ID)
			continue;
		if (model_row_set(r, (enum model_field)field[i], text))
			model_row_bad(opt, rows, r);
	}
	for (i = MODEL_SCHEME; i < MODEL_FIELDS; i++)
		r->given |= opt->text[i] ? 1u << i : 0;
	if (!(r->given >> MODEL_SCHEME & 1))
		model_bad("%s: line %zu, id \"%.64s\": scheme: it is empty", rows->file, r->line, r->id);
	batch_checked(opt, rows, r);
}

void model_batch(struct model_rows *rows, const struct model_opt *opt)
{
	struct model_csv c;
	size_t i, n;
	int *field;

	model_csv_read(&c, opt->batch);
	n = model_csv_cells(&c, 0);
	field = model_alloc(NULL, n, sizeof(*field));
	for (i = 0; i < n; i++) {
		field[i] = model_column_find(model_csv_cell(&c, 0, i));
		if (field[i] < 0)
			model_bad("%s: line %zu: unknown column \"%.64s\"; sdr_model(1) lists them", c.name,
				  c.line[0], model_csv_cell(&c, 0, i));
		(void)model_csv_column(&c, model_csv_cell(&c, 0, i)); /* there is one of that name */
	}
	if (model_csv_column(&c, model_column(MODEL_SCHEME)) < 0 && !opt->text[MODEL_SCHEME])
		model_bad("%s: line %zu: there is no column scheme", c.name, c.line[0]);
	if (c.n == 1)
		model_bad("%s: there is no row behind the header", c.name);
	if (c.n - 1 > MODEL_ROWS_MAX)
		model_bad("%s: more than %u rows", c.name, MODEL_ROWS_MAX);
	model_csv_even(&c, model_csv_column(&c, model_column(MODEL_ID)));
	rows->file = strcmp(opt->batch, "-") == 0 ? "standard input" : opt->batch;
	for (i = 1; i < c.n; i++)
		batch_line(rows, opt, &c, field, i);
	free(field);
	model_csv_free(&c);
}

/* ---- combinations ---- */

static void product_lists(struct model_list list[MODEL_FIELDS], const struct model_opt *opt)
{
	const char *schemes = opt->text[MODEL_SCHEME];
	char why[192];

	if (!schemes)
		schemes = opt->cmd == MODEL_ALLREDUCE ? "sr_rto,sr_nack,ec_mds,hybrid"
						      : "sr_rto,sr_nack,ec_mds,ec_xor,hybrid";
	if (model_list_read(&list[MODEL_SCHEME], schemes, false, why, sizeof(why)))
		model_bad("%s: %s", model_flag(opt, MODEL_SCHEME), why);
	for (int f = MODEL_SCHEME + 1; f < MODEL_FIELDS; f++) {
		if (!opt->text[f])
			continue;
		if (opt->cmd == MODEL_PREDICT && strpbrk(opt->text[f], ",:"))
			model_bad("%s (%s): \"%.64s\" is a list; sdr_model sweep takes lists and ranges",
				  model_flag(opt, (enum model_field)f), model_column((enum model_field)f),
				  opt->text[f]);
		if (model_list_read(&list[f], opt->text[f], model_field_whole((enum model_field)f), why,
				    sizeof(why)))
			model_bad("%s (%s): \"%.64s\": %s", model_flag(opt, (enum model_field)f),
				  model_column((enum model_field)f), opt->text[f], why);
	}
}

void model_product(struct model_rows *rows, const struct model_opt *opt, size_t *group)
{
	struct model_list list[MODEL_FIELDS] = { { 0 } };
	size_t at[MODEL_FIELDS] = { 0 }, total = 1;
	char number[MODEL_NUMBER];
	struct model_row *r;
	int f;

	product_lists(list, opt);
	for (f = MODEL_SCHEME; f < MODEL_FIELDS; f++) {
		total *= list[f].n ? list[f].n : 1;
		if (total > MODEL_ROWS_MAX)
			model_bad("%s: more than %u combinations in all", model_flag(opt, (enum model_field)f),
				  MODEL_ROWS_MAX);
	}
	*group = list[MODEL_SCHEME].n;
	for (size_t i = 0; i < total; i++) {
		r = model_rows_add(rows, opt->cmd);
		snprintf(number, sizeof(number), "%zu", i + 1);
		(void)model_row_set(r, MODEL_ID, number);
		for (f = MODEL_SCHEME; f < MODEL_FIELDS; f++) {
			if (list[f].n && model_row_set(r, (enum model_field)f, list[f].text[at[f]]))
				model_row_bad(opt, rows, r);
		}
		batch_checked(opt, rows, r);
		/* the scheme changes fastest, then the last field */
		f = MODEL_SCHEME;
		while (++at[f] >= (list[f].n ? list[f].n : 1)) {
			at[f] = 0;
			f = f == MODEL_SCHEME ? MODEL_FIELDS - 1 : f - 1;
			if (f == MODEL_SCHEME)
				break;
		}
	}
	for (f = 0; f < MODEL_FIELDS; f++)
		model_list_free(&list[f]);
}

/* ---- links ---- */

enum { LINK_FROM, LINK_TO, LINK_RTT, LINK_BANDWIDTH, LINK_P, LINK_COLUMNS };

static uint32_t links_node(const struct model_csv *c, size_t line, int col, const struct model_row *r)
{
	const char *text = model_csv_cell(c, line, (size_t)col);
	uint64_t v;

	if (model_whole(text, false, &v) || v >= r->nodes)
		model_bad("%s: line %zu: %s: \"%.40s\" is no node from 0 to %u", c->name, c->line[line],
			  model_csv_cell(c, 0, (size_t)col), text, r->nodes - 1);
	return (uint32_t)v;
}

static void links_row(const struct model_csv *c, const int *col, struct model_row *r)
{
	static const enum model_field field[LINK_COLUMNS] = {
		[LINK_RTT] = MODEL_RTT, [LINK_BANDWIDTH] = MODEL_BANDWIDTH, [LINK_P] = MODEL_P
	};
	size_t i, n = (size_t)r->nodes * r->nodes, where;
	bool *seen = model_alloc(NULL, n, sizeof(*seen));
	struct model_row link;
	uint32_t from, to;
	const char *text;

	memset(seen, 0, n * sizeof(*seen));
	r->links = model_alloc(NULL, n, sizeof(*r->links));
	for (i = 0; i < n; i++)
		r->links[i] = r->point;
	for (i = 1; i < c->n; i++) {
		from = links_node(c, i, col[LINK_FROM], r);
		to = links_node(c, i, col[LINK_TO], r);
		where = (size_t)from * r->nodes + to;
		if (from == to || seen[where])
			model_bad("%s: line %zu: to: the link from %u to %u %s", c->name, c->line[i], from, to,
				  from == to ? "leads nowhere" : "is there already");
		seen[where] = true;
		link = *r;
		for (int k = LINK_RTT; k < LINK_COLUMNS; k++) {
			text = col[k] >= 0 ? model_csv_cell(c, i, (size_t)col[k]) : "";
			if (*text && model_row_set(&link, field[k], text))
				break;
		}
		if (link.ret || model_row_check(&link))
			model_bad("%s: line %zu: the link from %u to %u: %s: %s", c->name, c->line[i], from, to,
				  link.err.field, link.err.text);
		r->links[where] = link.point;
	}
	free(seen);
}

void model_links(struct model_rows *rows, const struct model_opt *opt)
{
	static const char *const name[] = { "from", "to", "rtt_s", "bandwidth_bps", "p_packet", NULL };
	struct model_csv c;
	int col[LINK_COLUMNS];
	size_t i;

	model_csv_read(&c, opt->links);
	for (i = 0; i < model_csv_cells(&c, 0); i++) {
		if (model_word(model_csv_cell(&c, 0, i), name) < 0)
			model_bad(
				"%s: line %zu: unknown column \"%.64s\": from, to, rtt_s, bandwidth_bps, p_packet",
				c.name, c.line[0], model_csv_cell(&c, 0, i));
	}
	for (i = 0; i < LINK_COLUMNS; i++)
		col[i] = model_csv_column(&c, name[i]);
	if (col[LINK_FROM] < 0 || col[LINK_TO] < 0)
		model_bad("%s: line %zu: there is no column %s", c.name, c.line[0],
			  col[LINK_FROM] < 0 ? "from" : "to");
	model_csv_even(&c, -1);
	for (i = 0; i < rows->n; i++)
		links_row(&c, col, &rows->row[i]);
	model_csv_free(&c);
}
