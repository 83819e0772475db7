/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_sim: how long transfers take when the real transport runs over a simulated network, in
 * virtual time.
 *
 * All options are checked before anything runs.  The runs of each cell are cut into shards,
 * whose number follows from --runs alone; each shard runs in a process of its own, --jobs at a
 * time, and leaves its times in memory that this process shares with it.  Rows are printed in the
 * order of the cells, each as soon as those before it are.  The same seed gives the same times,
 * whatever --jobs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "share.h"
#include "sim.h"
#include "sim_jobs.h"

struct sim_run {
	struct sim_plan plan;
	struct sim_cells cells;
	uint32_t nshards; /* of a cell */
	uint32_t printed; /* cells */
	uint32_t rows;	  /* of them, with a result */
	uint32_t *left;	  /* shards of each cell that have not ended */
	struct sim_shard *shard;
	double *t_s;
	size_t shard_len, t_len;
	size_t *first; /* where the times of each cell begin */
	bool failed;
};

/* ---- shards ---------------------------------------------------------------------------------- */

static void sim_run_shard(void *ctx, uint32_t i)
{
	struct sim_run *r = ctx;
	uint32_t cell = i / r->nshards, shard = i % r->nshards;
	struct sim_shard *s = &r->shard[i];
	const struct sim_cell *c = &r->cells.cell[cell];

	sim_shard_run(&r->plan, c, cell, shard, s,
		      r->t_s + r->first[cell] + (size_t)s->first * sim_cell_samples(&r->plan, c));
}

static void sim_cell_print(struct sim_run *r, uint32_t i)
{
	const struct sim_cell *c = &r->cells.cell[i];
	struct sim_result res;

	sim_cell_result(&r->plan, c, &r->shard[(size_t)i * r->nshards], r->t_s + r->first[i], &res);
	tool_progress_clear();
	if (res.failed) {
		tool_warn("id %s (%s): %s", c->row.id, c->scheme.name, res.why);
		r->failed = true;
		return;
	}
	sim_out_row(&r->plan, &r->cells, i, &res, !r->rows++);
}

static bool sim_shard_ended(void *ctx, uint32_t i, int sig)
{
	struct sim_run *r = ctx;
	struct sim_shard *s = &r->shard[i];

	if (!s->ended)
		snprintf(s->why, sizeof(s->why), "the process ended by signal %d in run %u", sig,
			 s->done);
	r->left[i / r->nshards]--;
	for (; r->printed < r->cells.n && !r->left[r->printed]; r->printed++)
		sim_cell_print(r, r->printed);
	return true;
}

static void sim_progress(void *ctx)
{
	const struct sim_run *r = ctx;
	uint64_t done = 0, all = 0;
	uint32_t i = r->printed;

	if (!r->plan.progress || i == r->cells.n)
		return;
	for (uint32_t k = 0; k < r->nshards; k++) {
		const struct sim_shard *s = &r->shard[(size_t)i * r->nshards + k];

		done += s->done;
		all += s->runs + s->warm;
	}
	tool_progress("cell %u of %u: %s, %llu of %llu runs", i + 1, r->cells.n,
		      r->cells.cell[i].scheme.name, (unsigned long long)done,
		      (unsigned long long)all);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void sim_memory(struct sim_run *r)
{
	size_t n = (size_t)r->cells.n * r->nshards, samples = 0;

	r->first = tool_alloc(NULL, r->cells.n, sizeof(*r->first));
	r->left = tool_alloc(NULL, r->cells.n, sizeof(*r->left));
	for (uint32_t i = 0; i < r->cells.n; i++) {
		r->left[i] = r->nshards;
		r->first[i] = samples;
		samples += (size_t)r->plan.runs * sim_cell_samples(&r->plan, &r->cells.cell[i]);
	}
	r->shard_len = n * sizeof(*r->shard);
	r->t_len = samples * sizeof(*r->t_s);
	r->shard = sim_jobs_share(r->shard_len);
	r->t_s = sim_jobs_share(r->t_len);
	if (!r->shard || !r->t_s)
		tool_die("no memory for %zu times", samples);
	for (size_t i = 0; i < n; i++)
		sim_shard_init(&r->plan, &r->shard[i], (uint32_t)(i % r->nshards));
}

static void sim_trace_open(struct sim_plan *p)
{
	char members[128];

	p->trace.f = fopen(p->trace_file, "w");
	p->trace.left = sim_jobs_share(sizeof(*p->trace.left));
	if (!p->trace.f || !p->trace.left)
		tool_bad("--trace: %.200s: %s", p->trace_file, strerror(errno));
	*p->trace.left = p->trace_max;
	snprintf(members, sizeof(members), "\"seed\":%llu", (unsigned long long)p->seed);
	sim_trace_head(&p->trace, members);
}

static void sim_trace_close(struct sim_plan *p)
{
	bool bad = ferror(p->trace.f);

	if (fclose(p->trace.f) || bad)
		tool_die("--trace: %.200s: %s", p->trace_file, strerror(errno));
	sim_jobs_unshare(p->trace.left, sizeof(*p->trace.left));
}

int main(int argc, char **argv)
{
	static struct sim_run run;
	struct sim_jobs jobs = {
		.ctx = &run, .run = sim_run_shard, .end = sim_shard_ended, .tick = sim_progress
	};
	int err;

	tool_begin("sdr_sim");
	if (argc > 1 && strcmp(argv[1], "share") == 0)
		return share_main(argc, argv);
	sim_options(&run.plan, &run.cells, argc, argv);
	run.nshards = sim_cell_shards(&run.plan);
	sim_memory(&run);
	if (run.plan.trace_file)
		sim_trace_open(&run.plan);
	sim_out_begin(&run.plan, &run.cells);
	jobs.jobs = run.plan.jobs;
	jobs.n = run.cells.n * run.nshards;
	err = sim_jobs_run(&jobs);
	tool_progress_clear();
	if (err)
		tool_die("fork: %s", strerror(-err));
	sim_out_end(&run.plan);
	if (run.plan.trace.f)
		sim_trace_close(&run.plan);
	tool_written();
	sim_jobs_unshare(run.shard, run.shard_len);
	sim_jobs_unshare(run.t_s, run.t_len);
	sim_cells_free(&run.cells);
	free(run.first);
	free(run.left);
	return run.failed ? TOOL_FAILED : TOOL_OK;
}
