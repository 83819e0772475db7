/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command `sdr_sim share`: its runs over processes.
 *
 * A run is a unit of work (sim_jobs.c) with a seed of its own, drawn from --seed and its number:
 * the results do not depend on --jobs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sdr_rand.h"
#include "share.h"
#include "sim_jobs.h"
#include "tools/common/tool.h"

struct share_work {
	struct share_plan plan;
	struct share_result *res;
	bool failed;
};

static uint64_t share_seed(const struct share_plan *p, uint32_t run)
{
	return sdr_mix64(sdr_mix64(p->seed ^ 0x3c6ef372fe94f82bull) + run);
}

static void share_work_run(void *ctx, uint32_t i)
{
	struct share_work *w = ctx;

	share_run(&w->plan.cfg, share_seed(&w->plan, i), &w->res[i], NULL, NULL);
}

static bool share_work_end(void *ctx, uint32_t i, int sig)
{
	struct share_work *w = ctx;
	struct share_result *r = &w->res[i];

	if (!r->ended)
		snprintf(r->why, sizeof(r->why), "the process ended by signal %d", sig);
	r->failed |= !r->ended;
	w->failed |= r->failed;
	if (r->failed)
		tool_warn("run %u: %s", i, r->why);
	return true;
}

int share_main(int argc, char **argv)
{
	static struct share_work work;
	struct sim_jobs jobs = { .ctx = &work, .run = share_work_run, .end = share_work_end };
	size_t len;
	int err;

	share_options(&work.plan, argc, argv);
	if (work.plan.cfg.series_s > 0) {
		bool ok = share_out_series(&work.plan, share_seed(&work.plan, 0));

		tool_written();
		return ok ? TOOL_OK : TOOL_FAILED;
	}
	len = work.plan.runs * sizeof(*work.res);
	work.res = sim_jobs_share(len);
	if (!work.res)
		tool_die("no memory for %u results", work.plan.runs);
	jobs.jobs = work.plan.jobs;
	jobs.n = work.plan.runs;
	err = sim_jobs_run(&jobs);
	if (err)
		tool_die("fork: %s", strerror(-err));
	if (!work.failed)
		share_out(&work.plan, work.res);
	tool_written();
	sim_jobs_unshare(work.res, len);
	return work.failed ? TOOL_FAILED : TOOL_OK;
}
