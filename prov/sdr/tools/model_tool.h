/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the objects of sdr_model share.  The flow of every command but plot: the command line (model_opt.c) and the
 * files it names become rows of texts by field, each row is read and checked (model_row.c), all are computed
 * (model_run.c), and only then is anything printed (model_out.c).
 */
#ifndef MODEL_TOOL_H
#define MODEL_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sdr/model.h>

enum { MODEL_OK, MODEL_FAILED, MODEL_USAGE }; /* exit status */

enum model_cmd {
	MODEL_PREDICT,
	MODEL_SWEEP,
	MODEL_SIMULATE,
	MODEL_ALLREDUCE,
	MODEL_ADVISE,
	MODEL_PLOT,
	MODEL_CMDS
};

/* What can be asked: a column of a batch and an option each, in the order in which columns are printed. */
enum model_field {
	MODEL_ID,
	MODEL_SCHEME,
	MODEL_BANDWIDTH,
	MODEL_RTT,
	MODEL_RTO,
	MODEL_BETA,
	MODEL_P,
	MODEL_MTU,
	MODEL_CHUNK,
	MODEL_SIZE,
	MODEL_K,
	MODEL_M,
	MODEL_NODES,
	MODEL_CORE, /* the fields so far are always printed, these where one row has them: */
	MODEL_UNIT = MODEL_CORE,
	MODEL_DECODE,
	MODEL_RESEND,
	MODEL_BURST,
	MODEL_COVER,
	MODEL_OBJECTIVE,
	MODEL_OVERHEAD,
	MODEL_COLLECTIVE,
	MODEL_COMPUTE,
	MODEL_DROP, /* an option only: the loss of a chunk */
	MODEL_FIELDS
};

enum model_format { MODEL_TABLE, MODEL_CSV, MODEL_JSON };

#define MODEL_QUANTILES	  8u
#define MODEL_ROWS_MAX	  1000000u
#define MODEL_SAMPLES_MAX 100000000u
#define MODEL_NUMBER	  40u /* room for a number as text */

struct model_row {
	char *id;
	size_t line;	/* of the file that it came from, 0: none */
	uint32_t given; /* fields that were named for it, a bit each */
	struct sdr_model_point point;
	double drop; /* loss of a chunk, < 0: not given */
	bool coll;   /* a collective: kind, nodes, compute_s; msg_bytes is the buffer */
	enum sdr_model_collective kind;
	uint32_t nodes;
	double compute_s;
	struct sdr_model_point *links; /* nodes * nodes of them; NULL: all are like point */

	/* results */
	bool sampled, compared; /* drawn, not computed; the two speed-ups are there */
	struct sdr_model_times times;
	struct sdr_model_derived derived;
	double quantile[MODEL_QUANTILES];
	double model_mean_s;	/* of the law, beside samples; 0: none */
	double bound_s, step_s; /* coll */
	uint32_t rounds;
	double speedup_mean, speedup_p999;
	int ret; /* 0 or a negative errno value, and why */
	struct sdr_model_error err;
};

struct model_rows {
	struct model_row *row;
	size_t n, room;
	uint32_t given;	  /* of all rows */
	const char *file; /* NULL: the command line */
};

struct model_opt {
	enum model_cmd cmd;
	const char *text[MODEL_FIELDS]; /* as the user wrote it; NULL: not given */
	enum model_format format;
	uint64_t seed;
	size_t samples;
	unsigned int jobs;
	double quantile[MODEL_QUANTILES];
	unsigned int nquantiles;
	const char *batch, *links;	  /* files, "-" is standard input */
	const char *stats, *peer, *probe; /* advise */
	/* plot */
	const char *input, *x, *y, *series, *log, *title, *output;
};

/* ---- model_tool.c: the end of a run ---- */

/* Says what is wrong with what the user gave, and exits with MODEL_USAGE. */
void model_bad(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Says what went wrong, and exits with MODEL_FAILED. */
void model_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void *model_alloc(void *old, size_t n, size_t size); /* dies without memory; old as for realloc */
void model_written(void);			     /* all that was printed has reached standard output, or dies */

/* ---- model_opt.c ---- */

void model_options(struct model_opt *opt, int argc, char **argv);
/* "--rtt" of a field, which was given or could be. */
const char *model_flag(const struct model_opt *opt, enum model_field f);

/* ---- model_value.c: numbers and words ---- */

/* Whole texts only; -1: it is none.  No sign but one of an exponent, no hexadecimals, no "nan". */
int model_real(const char *s, double *v);
/* A whole number up to 2^64 - 1, also as "65536.0" or "4e9"; with size the suffixes K, M, G, T. */
int model_whole(const char *s, bool size, uint64_t *v);
/* Place of the word in a list that ends with NULL, or -1. */
int model_word(const char *s, const char *const *words);
/* The shortest text that reads back as v. */
void model_number(double v, char out[MODEL_NUMBER]);
/* For people: "27.68 ms", "128 MiB". */
void model_human_s(double s, char out[MODEL_NUMBER]);
void model_human_bytes(uint64_t v, char out[MODEL_NUMBER]);
void model_human_bps(double v, char out[MODEL_NUMBER]);
/*
 * "a,b,lo:hi:xN,lo:hi:+step" as its elements, which the caller frees with model_list_free.  whole: a range has whole
 * numbers.  -1: it is no such list, and why says so.
 */
struct model_list {
	char **text;
	size_t n;
};
int model_list_read(struct model_list *l, const char *s, bool whole, char *why, size_t why_len);
void model_list_free(struct model_list *l);

/* ---- model_row.c ---- */

const char *model_column(enum model_field f); /* "rtt_s" */
int model_column_find(const char *name);      /* -1: no such column of a batch */
bool model_field_whole(enum model_field f);
/* Defaults of the command. */
void model_row_init(struct model_row *r, enum model_cmd cmd);
/* Takes the text of a field; -1: r->err says why not. */
int model_row_set(struct model_row *r, enum model_field f, const char *text);
/* After the last field: what depends on several, and whether it makes sense. */
int model_row_check(struct model_row *r);
struct model_row *model_rows_add(struct model_rows *rows, enum model_cmd cmd);
void model_rows_free(struct model_rows *rows);
/* Field of a name in struct sdr_model_error, or MODEL_FIELDS. */
enum model_field model_blamed(const char *name);
/* Exits: what is wrong with a row, by its file, line and id or by its option. */
void model_row_bad(const struct model_opt *opt, const struct model_rows *rows, const struct model_row *r)
	__attribute__((noreturn));

/* ---- model_csv.c: comma-separated values ---- */

struct model_csv {
	char *name, *data; /* of the file; its bytes */
	char **cell;	   /* all cells, row by row */
	size_t *start;	   /* of each row in cell[]; start[n] is the end */
	size_t *line;	   /* where each row begins in the file, from 1 */
	size_t n;	   /* rows, the header (row 0) counted */
};

/* Reads a file ("-": standard input) whole; exits if it cannot be read, is empty, or is no CSV. */
void model_csv_read(struct model_csv *c, const char *file);
size_t model_csv_cells(const struct model_csv *c, size_t row);
const char *model_csv_cell(const struct model_csv *c, size_t row, size_t col);
/* Exits unless every row has as many cells as the header, naming the row by its line and by its cell of column id. */
void model_csv_even(const struct model_csv *c, int id);
/* Column of that name, or -1; exits if there are two. */
int model_csv_column(const struct model_csv *c, const char *name);
void model_csv_free(struct model_csv *c);

/* ---- model_batch.c: where rows come from ---- */

void model_batch(struct model_rows *rows, const struct model_opt *opt);
/* All combinations of what the command line says; *group: so many rows in turn differ in the scheme only. */
void model_product(struct model_rows *rows, const struct model_opt *opt, size_t *group);
/* Links of a collective from opt->links, for every row; exits if they make no sense. */
void model_links(struct model_rows *rows, const struct model_opt *opt);

/* ---- model_pool.c ---- */

/* fn(ctx, 0 .. n - 1), by so many threads in any order; what: shown with the progress on a terminal, NULL: nothing. */
void model_pool(unsigned int jobs, size_t n, void (*fn)(void *ctx, size_t i), void *ctx, const char *what);
void model_progress_clear(void);

/* ---- model_run.c ---- */

/* Computes all rows; exits with the first that could not be. */
void model_run(struct model_rows *rows, const struct model_opt *opt);
/* Fills in the speed-ups over sr_rto, drawing that too where the rows do not have it. */
void model_compare(struct model_rows *rows, const struct model_opt *opt, size_t group);

/* ---- model_out.c ---- */

void model_print(const struct model_rows *rows, const struct model_opt *opt);
/* A string of CSV or of JSON, quoted if need be. */
void model_csv_text(FILE *f, const char *s);
void model_json_text(FILE *f, const char *s);

/* ---- commands of their own ---- */

void model_advise(const struct model_opt *opt);
void model_plot(const struct model_opt *opt);
/* model_link.c: fills in what a file of measurements says and the row has not been given; notes for people. */
#define MODEL_NOTES 2048u
void model_link_file(struct model_row *link, const struct model_opt *opt, char notes[MODEL_NOTES]);
void model_note(char notes[MODEL_NOTES], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* MODEL_TOOL_H */
