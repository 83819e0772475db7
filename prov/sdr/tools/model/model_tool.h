/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the objects of sdr_model share.  The flow of every command but plot and advise: the command
 * line (model_opt.c) and the files it names become rows of texts by field (model_source.c), each
 * row is read and checked (model_rows.c), all are computed (model_run.c), and only then is anything
 * printed (model_out.c).
 */
#ifndef SDR_MODEL_TOOL_H
#define SDR_MODEL_TOOL_H

#include "tools/common/model_row.h"

enum model_cmd {
	MODEL_PREDICT,
	MODEL_SWEEP,
	MODEL_SIMULATE,
	MODEL_ALLREDUCE,
	MODEL_ADVISE,
	MODEL_PLOT,
	MODEL_CMDS
};

#define MODEL_ROWS_MAX	  TOOL_LIST_MAX
#define MODEL_SAMPLES_MAX 100000000u

struct model_rows {
	struct model_row *row;
	size_t n, room;
	uint32_t given;	  /* of all rows */
	const char *file; /* NULL: the command line */
};

struct model_opt {
	enum model_cmd cmd;
	const char *text[MODEL_FIELDS]; /* as the user wrote it; NULL: not given */
	enum tool_format format;
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

/* ---- model_opt.c ---- */

void model_options(struct model_opt *opt, int argc, char **argv);

/* ---- model_rows.c ---- */

/*
 * All rows of the batch, or else all combinations of what the options list; *group: so many in turn
 * differ in the scheme only.
 */
void model_rows_read(struct model_rows *rows, const struct model_opt *opt, size_t *group);
/* Exits: what is wrong with a row of them. */
void model_rows_bad(const struct model_rows *rows, const struct model_opt *opt,
		    const struct model_row *r) __attribute__((noreturn));
void model_rows_free(struct model_rows *rows);

/* ---- model_links.c ---- */

/* Links of a collective from opt->links, for every row; exits if they make no sense. */
void model_links(struct model_rows *rows, const struct model_opt *opt);

/* ---- model_pool.c ---- */

/*
 * fn(ctx, 0 .. n - 1), by so many threads in any order; what: shown with the progress on a
 * terminal, NULL: nothing.
 */
void model_pool(unsigned int jobs, size_t n, void (*fn)(void *ctx, size_t i), void *ctx,
		const char *what);

/* ---- model_run.c ---- */

/* Computes all rows; exits with the first that could not be. */
void model_run(struct model_rows *rows, const struct model_opt *opt);
/* Fills in the speed-ups over sr_rto, drawing that too where the rows do not have it. */
void model_compare(struct model_rows *rows, const struct model_opt *opt, size_t group);

/* ---- model_out.c ---- */

void model_print(const struct model_rows *rows, const struct model_opt *opt);

/* ---- commands of their own ---- */

void model_advise(const struct model_opt *opt);
void model_plot(const struct model_opt *opt);
/*
 * model_link.c: fills in what a file of measurements says and the row has not been given; notes for
 * people.
 */
#define MODEL_NOTES 2048u
void model_link_file(struct model_row *link, const struct model_opt *opt, char notes[MODEL_NOTES]);
void model_note(char notes[MODEL_NOTES], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* SDR_MODEL_TOOL_H */
