/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the programs for users have in common and what knows nothing of any of them: how they end
 * and what they say, texts and numbers, comma-separated values, and gnuplot.  sdr_perf takes
 * gnuplot alone.
 */
#ifndef SDR_TOOL_H
#define SDR_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TOOL_OK, TOOL_FAILED, TOOL_USAGE }; /* exit status */

enum tool_format { TOOL_TABLE, TOOL_CSV, TOOL_JSON };

#define TOOL_NUMBER   40u      /* room for a number as text */
#define TOOL_LIST_MAX 1000000u /* elements of a list */

/* ---- tool_say.c: what is said, and the end of a run ---- */

/* First of all: name is in front of whatever is said. */
void tool_begin(const char *name);
/* Says what is wrong with what the user gave, and exits with TOOL_USAGE. */
void tool_bad(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Says what went wrong, and exits with TOOL_FAILED. */
void tool_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The same, and goes on. */
void tool_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *tool_alloc(void *old, size_t n, size_t size); /* dies without memory; old as for realloc */
/* all that was printed has reached standard output, or dies */
void tool_written(void);
/*
 * How far the run is, in place of what this said before; whatever else is said clears it.  For a
 * terminal only.
 */
void tool_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tool_progress_clear(void);

/* ---- tool_value.c: numbers and names ---- */

/*
 * Whole texts only; -1: it is none.  No hexadecimals, no "nan"; the sign is for the caller that
 * checks the bounds.
 */
int tool_real(const char *s, double *v);
/* A whole number up to 2^64 - 1, also as "65536.0" or "4e9"; with size the suffixes K, M, G, T. */
int tool_whole(const char *s, bool size, uint64_t *v);
/* Place of the name in a list that ends with NULL, or -1. */
int tool_word(const char *s, const char *const *words);
/* The shortest text that reads back as v. */
void tool_number(double v, char out[TOOL_NUMBER]);
/* For people: "27.68 ms", "128 MiB". */
void tool_human_s(double s, char out[TOOL_NUMBER]);
void tool_human_bytes(uint64_t v, char out[TOOL_NUMBER]);
void tool_human_bps(double v, char out[TOOL_NUMBER]);
/*
 * "a,b,lo:hi:xN,lo:hi:+step" as its elements, which the caller frees with tool_list_free.  whole: a
 * range has whole numbers.  -1: it is no such list, and why says so.
 */
struct tool_list {
	char **text;
	size_t n;
};
int tool_list_read(struct tool_list *l, const char *s, bool whole, char *why, size_t why_len);
void tool_list_free(struct tool_list *l);

/* ---- tool_csv.c: comma-separated values ---- */

struct tool_csv {
	char *name, *data; /* of the file; its bytes */
	char **cell;	   /* all cells, row by row */
	size_t *start;	   /* of each row in cell[]; start[n] is the end */
	size_t *line;	   /* where each row begins in the file, from 1 */
	size_t n;	   /* rows, the header (row 0) counted */
};

/* Reads a file ("-": standard input) whole; exits if it cannot be read, is empty, or is no CSV. */
void tool_csv_read(struct tool_csv *c, const char *file);
size_t tool_csv_cells(const struct tool_csv *c, size_t row);
const char *tool_csv_cell(const struct tool_csv *c, size_t row, size_t col);
/*
 * Exits unless every row has as many cells as the header, naming the row by its line and by its
 * cell of column id.
 */
void tool_csv_even(const struct tool_csv *c, int id);
/* Column of that name, or -1; exits if there are two. */
int tool_csv_column(const struct tool_csv *c, const char *name);
void tool_csv_free(struct tool_csv *c);

/* ---- tool_text.c ---- */

/* A string of CSV or of JSON, quoted if need be. */
void tool_csv_text(FILE *f, const char *s);
void tool_json_text(FILE *f, const char *s);

/* ---- tool_gnuplot.c ---- */

#define TOOL_WHY 512u /* room for a sentence about a picture */

/*
 * gnuplot draws into file what program, called once, writes; file is there only when all went well,
 * or as it was. -1: why says what went wrong.
 */
int tool_gnuplot(const char *file, void (*program)(FILE *f, const void *ctx), const void *ctx,
		 char why[TOOL_WHY]);
/* Whether file could be made; 0 or a negative errno value.  What is there is not touched. */
int tool_gnuplot_file(const char *file);

#endif /* SDR_TOOL_H */
