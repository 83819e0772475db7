/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Comma-separated values, read whole (RFC 4180).
 *
 * Lines end with LF or CRLF; a cell may be quoted, a quote in it doubled, and may then have commas
 * and line ends. Blank lines and a byte order mark are passed over, blanks around a cell that is
 * not quoted are dropped.  The file is cut up in place.  Zero bytes and quotes that never end are
 * refused: nothing is guessed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

#define CSV_BYTES_MAX (1u << 30)

static size_t csv_load(struct tool_csv *c, const char *file)
{
	bool in = strcmp(file, "-") == 0;
	FILE *f = in ? stdin : fopen(file, "r");
	size_t n = 0, room = 1 << 16, got;

	c->name = strdup(in ? "standard input" : file);
	if (!c->name)
		tool_die("no memory for a file's name");
	if (!f)
		tool_bad("%s: %s", file, strerror(errno));
	c->data = tool_alloc(NULL, room, 1);
	while ((got = fread(c->data + n, 1, room - 1 - n, f)) > 0) {
		n += got;
		if (n < room - 1)
			continue;
		if (room >= CSV_BYTES_MAX)
			tool_bad("%s: more than %u bytes", c->name, CSV_BYTES_MAX);
		room *= 2;
		c->data = tool_alloc(c->data, room, 1);
	}
	if (ferror(f))
		tool_bad("%s: %s", c->name, strerror(errno));
	if (!in)
		fclose(f);
	c->data[n] = 0;
	if (memchr(c->data, 0, n))
		tool_bad("%s: there is a zero byte in it: it is no CSV", c->name);
	return n;
}

struct csv_at {
	char *p;
	size_t line, cells, cell_room, row_room;
};

/* The line ends here: passes over it. */
static bool csv_line_end(struct csv_at *at)
{
	if (at->p[0] == '\r' && (at->p[1] == '\n' || !at->p[1]))
		at->p++;
	if (*at->p == '\n') {
		at->p++;
		at->line++;
		return true;
	}
	return !*at->p;
}

/* Takes what is between quotes, in place; p is behind the first. */
static char *csv_quoted(const struct tool_csv *c, struct csv_at *at)
{
	char *from = at->p, *to = at->p;
	size_t line = at->line;

	for (;; at->p++) {
		if (!*at->p)
			tool_bad("%s: line %zu: a quote that never ends", c->name, line);
		if (*at->p == '"' && *++at->p != '"')
			break;
		at->line += *at->p == '\n';
		*to++ = *at->p;
	}
	if (*at->p && !strchr(",\r\n", *at->p))
		tool_bad("%s: line %zu: something behind the quote that ends a cell", c->name,
			 line);
	*to = 0; /* the quote that ended it or before: what follows is still there */
	return from;
}

static char *csv_plain(const struct tool_csv *c, struct csv_at *at, char **end)
{
	char *from = at->p, *to;

	at->p += strcspn(at->p, ",\n");
	to = at->p;
	if (memchr(from, '"', (size_t)(to - from)))
		tool_bad("%s: line %zu: a quote in the middle of a cell", c->name, at->line);
	if (to > from && *at->p != ',' && to[-1] == '\r')
		to = --at->p;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	from += strspn(from, " \t");
	if (from > to)
		from = to;
	*end = to;
	return from;
}

/* One row; the cells' ends are written when what ends them has been looked at. */
static void csv_row(struct tool_csv *c, struct csv_at *at)
{
	char *cell, *end, sep;

	do {
		end = NULL;
		if (*at->p == '"') {
			at->p++;
			cell = csv_quoted(c, at);
		} else {
			cell = csv_plain(c, at, &end);
		}
		if (at->cells == at->cell_room) {
			at->cell_room = at->cell_room ? 2 * at->cell_room : 256;
			c->cell = tool_alloc(c->cell, at->cell_room, sizeof(*c->cell));
		}
		c->cell[at->cells++] = cell;
		sep = *at->p;
		if (sep == ',')
			at->p++;
		else
			csv_line_end(at);
		if (end)
			*end = 0;
	} while (sep == ',');
}

void tool_csv_read(struct tool_csv *c, const char *file)
{
	struct csv_at at = { .line = 1 };

	memset(c, 0, sizeof(*c));
	csv_load(c, file);
	at.p = c->data;
	if (strncmp(at.p, "\xef\xbb\xbf", 3) == 0)
		at.p += 3;
	for (;;) {
		if (c->n + 1 >= at.row_room) {
			at.row_room = at.row_room ? 2 * at.row_room : 64;
			c->start = tool_alloc(c->start, at.row_room, sizeof(*c->start));
			c->line = tool_alloc(c->line, at.row_room, sizeof(*c->line));
		}
		c->start[c->n] = at.cells;
		c->line[c->n] = at.line;
		if (!*at.p)
			break;
		at.p += strspn(at.p, " \t");
		if (csv_line_end(&at))
			continue;
		csv_row(c, &at);
		c->n++;
	}
	if (!c->n)
		tool_bad("%s: the file is empty; its first line names the columns", c->name);
}

size_t tool_csv_cells(const struct tool_csv *c, size_t row)
{
	return c->start[row + 1] - c->start[row];
}

const char *tool_csv_cell(const struct tool_csv *c, size_t row, size_t col)
{
	return c->cell[c->start[row] + col];
}

void tool_csv_even(const struct tool_csv *c, int id)
{
	size_t want = tool_csv_cells(c, 0), have, row;
	const char *name;

	for (row = 1; row < c->n; row++) {
		have = tool_csv_cells(c, row);
		if (have == want)
			continue;
		name = id >= 0 && (size_t)id < have ? tool_csv_cell(c, row, (size_t)id) : "";
		if (have < want)
			tool_bad(
				"%s: line %zu, id \"%.64s\": %s: the row ends before it, %zu fields of %zu",
				c->name, c->line[row], name, tool_csv_cell(c, 0, have), have, want);
		tool_bad(
			"%s: line %zu, id \"%.64s\": \"%.40s\": a field too many behind %s, %zu instead of %zu",
			c->name, c->line[row], name, tool_csv_cell(c, row, want),
			tool_csv_cell(c, 0, want - 1), have, want);
	}
}

int tool_csv_column(const struct tool_csv *c, const char *name)
{
	int found = -1;

	for (size_t i = 0; i < tool_csv_cells(c, 0); i++) {
		if (strcmp(tool_csv_cell(c, 0, i), name) != 0)
			continue;
		if (found >= 0)
			tool_bad("%s: line %zu: there are two columns %s", c->name, c->line[0],
				 name);
		found = (int)i;
	}
	return found;
}

void tool_csv_free(struct tool_csv *c)
{
	free(c->name);
	free(c->data);
	free(c->cell);
	free(c->start);
	free(c->line);
	memset(c, 0, sizeof(*c));
}
