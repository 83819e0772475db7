/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A row: one question to the model or to the simulation, and what the model's tool finds.
 * sdr_model and sdr_sim read the same texts by the same rules: model_source.c has the texts of each
 * row in turn, from a batch or from what the options list, model_row.c reads them.
 */
#ifndef SDR_MODEL_ROW_H
#define SDR_MODEL_ROW_H

#include <sdr/model.h>
#include "tool.h"

/*
 * What can be given: a column of a batch and an option each, in the order in which columns are
 * printed.
 */
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

#define MODEL_QUANTILES 8u

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

/* ---- model_row.c ---- */

const char *model_column(enum model_field f); /* "rtt_s" */
const char *model_flag(enum model_field f);   /* "--rtt" */
int model_column_find(const char *name);      /* -1: no such column of a batch */
bool model_field_whole(enum model_field f);
/* Defaults, of a collective or of one transfer. */
void model_row_init(struct model_row *r, bool coll);
/* Takes the text of a field; -1: r->err says why not. */
int model_row_set(struct model_row *r, enum model_field f, const char *text);
/* After the last field: what depends on several, and whether it makes sense. */
int model_row_check(struct model_row *r);
/* Says in r->err why a field of it will not do; -1. */
int model_row_refuse(struct model_row *r, enum model_field f, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Exits: what is wrong with a row, by its line of the file and id or by its option.  file NULL: the
 * command line, of which text has what the options said; several: it may be one of many rows.
 */
void model_row_bad(const struct model_row *r, const char *file,
		   const char *const text[MODEL_FIELDS], bool several) __attribute__((noreturn));

/* ---- model_source.c: where rows come from ---- */

struct model_source {
	/* set before model_source_open: */
	const char *const *text; /* by field, as an option said it; NULL: not given */
	/* rows are of collectives, which have a default list of schemes of their own */
	bool coll;
	const char *batch; /* file, "-" is standard input; NULL: combinations */
	size_t max;	   /* rows */
	/*
	 * of the batch: its name for people, NULL without; of combinations: so many in turn differ
	 * in the scheme only
	 */
	const char *file;
	size_t group;
	/*
	 * the row: what is to be set, in this order (what comes later counts), and its line in the
	 * file, 0: none
	 */
	struct model_asked {
		enum model_field field;
		const char *text; /* until the next */
	} asked[2 * MODEL_FIELDS];
	unsigned int nend_probed;
	size_t line;
	/* its own */
	struct tool_csv csv;
	enum model_field field[MODEL_FIELDS]; /* of each column: there are no more that differ */
	struct tool_list list[MODEL_FIELDS];
	size_t at[MODEL_FIELDS]; /* in each list */
	size_t next, end;	 /* rows; the first is 1 */
	char id[TOOL_NUMBER];
};

/*
 * Exits unless the batch, its columns, and the lists make sense; what a text means is for the row
 * to say.
 */
void model_source_open(struct model_source *s);
/* The next row, of which there is at least one; false: there is none. */
bool model_source_next(struct model_source *s);
void model_source_close(struct model_source *s);

#endif /* SDR_MODEL_ROW_H */
