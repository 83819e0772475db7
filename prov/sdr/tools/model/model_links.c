/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The links of a collective, one by one, from a file.
 *
 * A link has a loss, a bandwidth and a round trip of its own where the file says so, and is
 * otherwise like the row's; one that the file does not name is like the row's in everything.  Each
 * is checked as a row is.
 */
#include <stdlib.h>
#include <string.h>
#include "model_tool.h"

enum { LINK_FROM, LINK_TO, LINK_RTT, LINK_BANDWIDTH, LINK_P, LINK_COLUMNS };

struct links {
	struct tool_csv csv;
	int col[LINK_COLUMNS];
	bool *seen; /* from * nodes + to, of one row */
};

static uint32_t links_node(const struct tool_csv *c, size_t line, int col,
			   const struct model_row *r)
{
	const char *text = tool_csv_cell(c, line, (size_t)col);
	uint64_t v;

	if (tool_whole(text, false, &v) || v >= r->nodes)
		tool_bad("%s: line %zu: %s: \"%.40s\" is no node from 0 to %u", c->name,
			 c->line[line], tool_csv_cell(c, 0, (size_t)col), text, r->nodes - 1);
	return (uint32_t)v;
}

static void links_row(struct links *l, struct model_row *r)
{
	static const enum model_field field[LINK_COLUMNS] = {
		[LINK_RTT] = MODEL_RTT, [LINK_BANDWIDTH] = MODEL_BANDWIDTH, [LINK_P] = MODEL_P
	};
	size_t i, n = (size_t)r->nodes * r->nodes, where;
	const struct tool_csv *c = &l->csv;
	const int *col = l->col;
	struct model_row link;
	uint32_t from, to;
	const char *text;

	l->seen = tool_alloc(l->seen, n, sizeof(*l->seen));
	memset(l->seen, 0, n * sizeof(*l->seen));
	r->links = tool_alloc(NULL, n, sizeof(*r->links));
	for (i = 0; i < n; i++)
		r->links[i] = r->point;
	for (i = 1; i < c->n; i++) {
		from = links_node(c, i, col[LINK_FROM], r);
		to = links_node(c, i, col[LINK_TO], r);
		where = (size_t)from * r->nodes + to;
		if (from == to || l->seen[where])
			tool_bad("%s: line %zu: to: the link from %u to %u %s", c->name, c->line[i],
				 from, to, from == to ? "leads nowhere" : "is there already");
		l->seen[where] = true;
		link = *r;
		for (int k = LINK_RTT; k < LINK_COLUMNS; k++) {
			text = col[k] >= 0 ? tool_csv_cell(c, i, (size_t)col[k]) : "";
			if (*text && model_row_set(&link, field[k], text))
				break;
		}
		if (link.ret || model_row_check(&link))
			tool_bad("%s: line %zu: the link from %u to %u: %s: %s", c->name,
				 c->line[i], from, to, link.err.field, link.err.text);
		r->links[where] = link.point;
	}
}

void model_links(struct model_rows *rows, const struct model_opt *opt)
{
	static const char *const name[] = {
		"from", "to", "rtt_s", "bandwidth_bps", "p_packet", NULL
	};
	struct links l = { .seen = NULL };
	const struct tool_csv *c = &l.csv;
	size_t i;

	tool_csv_read(&l.csv, opt->links);
	for (i = 0; i < tool_csv_cells(c, 0); i++) {
		if (tool_word(tool_csv_cell(c, 0, i), name) < 0)
			tool_bad(
				"%s: line %zu: unknown column \"%.64s\": from, to, rtt_s, bandwidth_bps, p_packet",
				c->name, c->line[0], tool_csv_cell(c, 0, i));
	}
	for (i = 0; i < LINK_COLUMNS; i++)
		l.col[i] = tool_csv_column(c, name[i]);
	if (l.col[LINK_FROM] < 0 || l.col[LINK_TO] < 0)
		tool_bad("%s: line %zu: there is no column %s", c->name, c->line[0],
			 l.col[LINK_FROM] < 0 ? "from" : "to");
	tool_csv_even(c, -1);
	for (i = 0; i < rows->n; i++)
		links_row(&l, &rows->row[i]);
	free(l.seen);
	tool_csv_free(&l.csv);
}
