/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The rows of a run of sdr_model: all are read and checked here, before any is computed.
 */
#include <stdlib.h>
#include <string.h>
#include "model_tool.h"

static struct model_row *rows_add(struct model_rows *rows, const struct model_opt *opt)
{
	if (rows->n == rows->room) {
		rows->room = rows->room ? 2 * rows->room : 16;
		rows->row = tool_alloc(rows->row, rows->room, sizeof(*rows->row));
	}
	model_row_init(&rows->row[rows->n], opt->cmd == MODEL_ALLREDUCE);
	return &rows->row[rows->n++];
}

/* predict has one value of each field but the scheme. */
static void rows_one_value(const struct model_opt *opt)
{
	for (int i = MODEL_SCHEME + 1; i < MODEL_FIELDS; i++) {
		enum model_field f = (enum model_field)i;

		if (opt->text[f] && strpbrk(opt->text[f], ",:"))
			tool_bad(
				"%s (%s): \"%.64s\" is a list; sdr_model sweep takes lists and ranges",
				model_flag(f), model_column(f), opt->text[f]);
	}
}

void model_rows_read(struct model_rows *rows, const struct model_opt *opt, size_t *group)
{
	struct model_source s = { .text = opt->text,
				  .coll = opt->cmd == MODEL_ALLREDUCE,
				  .batch = opt->batch,
				  .max = MODEL_ROWS_MAX };
	struct model_row *r;

	if (opt->cmd == MODEL_PREDICT && !opt->batch)
		rows_one_value(opt);
	model_source_open(&s);
	rows->file = s.file;
	*group = s.group;
	while (model_source_next(&s)) {
		r = rows_add(rows, opt);
		r->line = s.line;
		for (unsigned int i = 0; i < s.nend_probed; i++) {
			if (model_row_set(r, s.asked[i].field, s.asked[i].text))
				model_rows_bad(rows, opt, r);
		}
		if (model_row_check(r))
			model_rows_bad(rows, opt, r);
		rows->given |= r->given;
	}
	model_source_close(&s);
}

void model_rows_bad(const struct model_rows *rows, const struct model_opt *opt,
		    const struct model_row *r)
{
	model_row_bad(r, rows->file, opt->text, rows->n > 1);
}

void model_rows_free(struct model_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		free(rows->row[i].id);
		free(rows->row[i].links);
	}
	free(rows->row);
	rows->row = NULL;
	rows->n = 0;
}
