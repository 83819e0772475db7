/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The columns of a result.  model_cell.c knows what is in them, model_out.c how it is printed. */
#ifndef MODEL_CELL_H
#define MODEL_CELL_H

#include "model_tool.h"

/* Behind the fields (enum model_field), in the order in which they are printed. */
enum out {
	OUT_MEAN = MODEL_FIELDS,
	OUT_P50,
	OUT_P99,
	OUT_P999,
	OUT_QUANTILE, /* one column each */
	OUT_IDEAL = OUT_QUANTILE + MODEL_QUANTILES,
	OUT_T_INJ,
	OUT_CHUNKS,
	OUT_P_CHUNK,
	OUT_PARITY,
	OUT_BASE,
	OUT_P_EC,
	OUT_P_FALLBACK,
	OUT_FAILURES,
	OUT_BOUND,
	OUT_STEP,
	OUT_COVER,
	OUT_DERIVED_END,
	OUT_ROUNDS = OUT_DERIVED_END,
	OUT_MODEL_MEAN,
	OUT_MEAN_DIFF,
	OUT_SPEEDUP_MEAN,
	OUT_SPEEDUP_P999,
	OUT_SAMPLES,
	OUT_SEED,
	OUTS
};

enum out_unit { OUT_TEXT, OUT_PLAIN, OUT_SECONDS, OUT_BYTES, OUT_BPS };

struct column {
	int what;
	char name[TOOL_NUMBER];
};

struct columns {
	struct column col[OUTS];
	unsigned int n;
};

/* The columns that the rows and the command call for. */
void model_columns(struct columns *c, const struct model_rows *rows, const struct model_opt *opt);
enum out_unit model_cell_unit(int what);
/*
 * The cell as text that lives until the next call; "" where the scheme has no such thing.  human:
 * in five digits and with a unit.
 */
const char *model_cell(const struct model_rows *rows, const struct model_opt *opt,
		       const struct model_row *r, int what, bool human);

#endif /* MODEL_CELL_H */
