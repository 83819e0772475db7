/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Computes rows: laws by threads row by row, then what has to be drawn, one row after another, its
 * samples in blocks by threads.  Sample i of a seed is the same whichever thread draws it, so the
 * number of threads changes nothing. The first row, in their order, that the model refuses ends the
 * run.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "model_tool.h"

#define BLOCK 2048u /* samples that a thread draws at a time */

struct run {
	struct model_rows *rows;
	const struct model_opt *opt;
};

static bool run_is_drawn(const struct run *run, const struct model_row *r)
{
	return r->coll || run->opt->cmd == MODEL_SIMULATE;
}

/* The law of a row's transfer, or what is known of one step of its collective. */
static void run_law(void *ctx, size_t i)
{
	struct run *run = ctx;
	struct model_row *r = &run->rows->row[i];
	struct sdr_model_point p = r->point;
	struct sdr_model_law *law;

	if (r->coll && r->kind != SDR_MODEL_TREE_ALLREDUCE)
		p.msg_bytes = p.msg_bytes / r->nodes + !!(p.msg_bytes % r->nodes);
	r->ret = sdr_model_law_create(&p, &law, &r->err);
	if (r->ret)
		return;
	sdr_model_law_derived(law, &r->derived);
	if (!r->coll) {
		r->times.mean_s = r->model_mean_s = sdr_model_law_mean(law);
		if (!run_is_drawn(run, r)) {
			r->times.p50_s = sdr_model_law_quantile(law, 0.5);
			r->times.p99_s = sdr_model_law_quantile(law, 0.99);
			r->times.p999_s = sdr_model_law_quantile(law, 0.999);
			for (unsigned int q = 0; q < run->opt->nquantiles; q++)
				r->quantile[q] = sdr_model_law_quantile(law, run->opt->quantile[q]);
		}
	}
	sdr_model_law_destroy(law);
}

struct draw {
	const struct model_opt *opt;
	struct model_row *row;
	struct sdr_model_coll *coll;
	double *t_s;
	int *ret; /* of each block */
};

static void draw_block(void *ctx, size_t i)
{
	struct draw *d = ctx;
	size_t first = i * BLOCK,
	       n = d->opt->samples - first < BLOCK ? d->opt->samples - first : BLOCK;

	if (d->coll)
		sdr_model_coll_sample(d->coll, d->opt->seed, first, n, d->t_s + first);
	else
		d->ret[i] = sdr_model_sample(&d->row->point, d->opt->seed, first, n, d->t_s + first,
					     NULL);
}

static void draw_row(struct run *run, struct model_row *r, const char *what)
{
	const struct model_opt *opt = run->opt;
	struct draw d = { .opt = opt, .row = r };
	struct sdr_model_coll_attr attr = { .kind = r->kind,
					    .nodes = r->nodes,
					    .buffer_bytes = r->point.msg_bytes,
					    .links = r->links ? r->links : &r->point,
					    .nlinks = r->links ? r->nodes * r->nodes : 1,
					    .compute_s = r->compute_s };
	size_t blocks = (opt->samples + BLOCK - 1) / BLOCK, at;

	d.t_s = tool_alloc(NULL, opt->samples, sizeof(*d.t_s));
	d.ret = calloc(blocks, sizeof(*d.ret));
	if (!d.ret)
		tool_die("no memory for %zu samples; ask for fewer", opt->samples);
	if (r->coll) {
		r->ret = sdr_model_coll_create(&attr, &d.coll, &r->err);
		if (r->ret)
			goto out;
		r->bound_s = sdr_model_coll_bound(d.coll);
		r->step_s = sdr_model_coll_step(d.coll);
		r->rounds = sdr_model_coll_rounds(d.coll);
		r->derived.ideal_s = sdr_model_coll_ideal(d.coll);
	}
	model_pool(opt->jobs, blocks, draw_block, &d, what);
	for (size_t i = 0; i < blocks && !r->ret; i++)
		r->ret = d.ret[i];
	if (r->ret)
		goto out;
	sdr_model_summary(d.t_s, opt->samples, &r->times); /* sorts */
	for (unsigned int q = 0; q < opt->nquantiles; q++) {
		at = (size_t)ceil(opt->quantile[q] * (double)opt->samples);
		r->quantile[q] = d.t_s[at ? at - 1 : 0];
	}
	r->sampled = true;
out:
	sdr_model_coll_destroy(d.coll);
	free(d.ret);
	free(d.t_s);
}

void model_run(struct model_rows *rows, const struct model_opt *opt)
{
	struct run run = { .rows = rows, .opt = opt };
	char what[96];
	size_t i;

	model_pool(opt->jobs, rows->n, run_law, &run, "rows");
	for (i = 0; i < rows->n; i++) {
		if (rows->row[i].ret)
			model_rows_bad(rows, opt, &rows->row[i]);
	}
	for (i = 0; i < rows->n; i++) {
		if (!run_is_drawn(&run, &rows->row[i]))
			continue;
		snprintf(what, sizeof(what), "row %zu of %zu, blocks of samples", i + 1, rows->n);
		draw_row(&run, &rows->row[i], what);
		if (rows->row[i].ret)
			model_rows_bad(rows, opt, &rows->row[i]);
	}
	tool_progress_clear();
}

/* The collective of r by selective repeat with its default timeout, everything else as it is. */
static void compare_base(struct run *run, const struct model_row *r, struct model_row *base)
{
	size_t n = (size_t)r->nodes * r->nodes;

	*base = *r;
	base->id = NULL;
	base->point.scheme = SDR_MODEL_SR_RTO;
	if (r->links) {
		base->links = tool_alloc(NULL, n, sizeof(*base->links));
		memcpy(base->links, r->links, n * sizeof(*base->links));
		for (size_t i = 0; i < n; i++)
			base->links[i].scheme = SDR_MODEL_SR_RTO;
	}
	draw_row(run, base, "sr_rto to compare with, blocks of samples");
	if (base->ret)
		model_rows_bad(run->rows, run->opt, base);
	free(base->links);
	base->links = NULL;
}

void model_compare(struct model_rows *rows, const struct model_opt *opt, size_t group)
{
	struct run run = { .rows = rows, .opt = opt };
	struct model_row *r, base;
	size_t i, k;

	for (i = 0; i < rows->n; i += group) {
		for (k = 0; k < group && rows->row[i + k].point.scheme != SDR_MODEL_SR_RTO; k++)
			;
		if (k < group)
			base = rows->row[i + k];
		else
			compare_base(&run, &rows->row[i], &base);
		for (k = 0; k < group; k++) {
			r = &rows->row[i + k];
			r->speedup_mean = base.times.mean_s / r->times.mean_s;
			r->speedup_p999 = base.times.p999_s / r->times.p999_s;
			r->compared = true;
		}
	}
	tool_progress_clear();
}
