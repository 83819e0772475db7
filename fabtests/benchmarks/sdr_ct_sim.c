/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_ct_sim: completion time, simulated.  How long does a transfer take over a long lossy link, on
 * average and at the tail, under each scheme?
 *
 * The plan is a list of cells (size, impairments, scheme).  Each cell runs in a process of its own,
 * --jobs at a time, and leaves its result in memory that this process shares with it; rows are
 * printed in the order of the plan.  What a cell does is in ct_cell.c, what is printed in ct_out.c,
 * the command line in ct_opts.c.  The same seed gives the same times, whatever --jobs.
 *
 * --bars runs the cells for which the project has promised something and checks them; the exit
 * status is 1 when a bar is missed and 2 when a cell failed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/sim_jobs.h"
#include "ct_sim.h"

#define CT_PROGRESS_TICKS 5u   /* of about a second: something is said about the cells that run */
#define CT_BAR_MEAN	  1.05 /* of ideal */
#define CT_BAR_TAIL	  1.10
#define CT_BAR_TAIL_3	  2.1 /* at 3e-2 */
#define CT_BAR_BURST	  1.2 /* RTTs over ideal */

static struct ct_opts ct;
static int ct_bad_cells; /* exit status: 1 a bar was missed, 2 a cell failed */

/* ---- the plan -------------------------------------------------------------------------------- */

static struct ct_cell *ct_cell_add(uint64_t size, double loss, double burst,
				   const struct sdr_scheme_ops *scheme, uint32_t runs)
{
	struct ct_cell *c;

	if (ct.ncells == CT_CELLS_MAX) {
		fprintf(stderr, "sdr_ct_sim: more than %u cells: give shorter lists\n",
			CT_CELLS_MAX);
		exit(2);
	}
	c = &ct.cells[ct.ncells++];
	c->size = size;
	c->loss = burst > 0 ? 0 : loss;
	c->ge_loss = burst > 0 ? loss : 0;
	c->ge_burst = burst;
	c->scheme = scheme;
	c->runs = runs;
	return c;
}

static void ct_cells_given(void)
{
	static const struct sdr_scheme_ops *const plain[] = { &sdr_scheme_sr, &sdr_scheme_sr_nack,
							      &sdr_scheme_sr_rto };
	static const double loss[] = { 0, 1e-5, 1e-4, 1e-3, 1e-2 };
	uint32_t runs = ct.runs ? ct.runs : 1000;

	for (int i = 0; !ct.nschemes && i < 3; i++)
		ct.schemes[i] = plain[i];
	ct.nschemes = ct.nschemes ? ct.nschemes : 3;
	for (int i = 0; !ct.nloss && !ct.nge && i < 5; i++)
		ct.loss[i] = loss[i];
	ct.nloss = ct.nloss || ct.nge ? ct.nloss : 5;
	if (!ct.nsizes)
		ct.sizes[ct.nsizes++] = 128ull << 20;
	for (int s = 0; s < ct.nsizes; s++) {
		for (int l = 0; l < ct.nloss; l++)
			for (int i = 0; i < ct.nschemes; i++)
				ct_cell_add(ct.sizes[s], ct.loss[l], 0, ct.schemes[i], runs);
		for (int l = 0; l < ct.nge; l++)
			for (int i = 0; i < ct.nschemes; i++)
				ct_cell_add(ct.sizes[s], ct.ge_loss[l], ct.ge_burst[l],
					    ct.schemes[i], runs);
	}
}

static bool ct_wanted(const struct sdr_scheme_ops *scheme)
{
	for (int i = 0; i < ct.nschemes; i++)
		if (ct.schemes[i] == scheme)
			return true;
	return !ct.nschemes;
}

static void ct_bar(const struct sdr_scheme_ops *scheme, uint64_t size, double loss, double burst)
{
	uint32_t runs = ct.runs ? ct.runs : ct.quick ? 50 : 1000;
	double ideal = (double)size * 8 / ct.plan.rate_bps + ct.plan.rtt_s;
	struct ct_cell *c;

	if (!ct_wanted(scheme))
		return;
	c = ct_cell_add(size, loss, burst, scheme, runs);
	if (burst > 0) {
		c->tail_max = ideal + CT_BAR_BURST * ct.plan.rtt_s;
	} else if (loss > 0.02) {
		c->tail_max = ideal * CT_BAR_TAIL_3;
	} else {
		c->mean_max = ideal * CT_BAR_MEAN;
		c->tail_max = ideal * CT_BAR_TAIL;
	}
}

/* What was promised of the schemes with parity. */
static void ct_cells_bars(void)
{
	static const struct sdr_scheme_ops *const checked[] = { &sdr_scheme_auto,
								&sdr_scheme_hybrid };
	static const struct sdr_scheme_ops *const beside[] = { &sdr_scheme_sr_rto,
							       &sdr_scheme_sr_nack,
							       &sdr_scheme_ec_sr };
	static const uint64_t other[] = { 1ull << 20, 16ull << 20, 1ull << 30, 8ull << 30 };
	static const uint64_t small[] = { 4u << 10, 16u << 10, 64u << 10, 128u << 10, 256u << 10 };
	static const double loss[] = { 1e-5, 1e-4, 1e-3, 1e-2 };
	static const uint64_t size = 128ull << 20;

	/* what is alone on its way, and its answer */
	for (int i = 0; i < 5; i++) {
		ct_bar(&sdr_scheme_auto, small[i], 1e-3, 0);
		ct_bar(&sdr_scheme_auto, small[i], 1e-2, 0);
	}
	ct_bar(&sdr_scheme_auto, 1u << 20, 1e-4, 0);
	for (int s = 0; s < 2; s++) {
		for (int l = 0; l < 4; l++)
			ct_bar(checked[s], size, loss[l], 0);
		ct_bar(checked[s], size, 3e-2, 0);
		ct_bar(checked[s], size, 1e-2, 8);
		ct_bar(checked[s], size, 1e-2, 64);
		for (int i = 0; i < (ct.quick ? 3 : 4); i++) {
			ct_bar(checked[s], other[i], 1e-5, 0);
			ct_bar(checked[s], other[i], 1e-3, 0);
		}
	}
	for (int l = 0; l < 4; l++)
		for (int s = 0; s < 3; s++)
			if (ct_wanted(beside[s]))
				ct_cell_add(size, loss[l], 0, beside[s], ct.quick ? 20 : 100);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void ct_start(void *ctx, uint32_t i)
{
	struct ct_result *r = (struct ct_result *)ctx + i;

	r->state = CT_RUNS;
	r->state = ct_cell_run(&ct.plan, &ct.cells[i], r) ? CT_DONE : CT_FAILED;
}

static void ct_progress(void *ctx)
{
	const struct ct_result *res = ctx;
	static uint32_t ticks;
	char size[32];

	if (++ticks % CT_PROGRESS_TICKS)
		return;
	for (uint32_t i = 0; i < ct.ncells; i++) {
		const struct ct_cell *c = &ct.cells[i];

		if (res[i].state == CT_RUNS)
			fprintf(stderr,
				"sdr_ct_sim: cell %u of %u: %s, %s, loss %g: %u of %u transfers\n",
				i + 1, ct.ncells, c->scheme->name,
				ct_size_text(c->size, size, sizeof(size)),
				c->ge_loss > 0 ? c->ge_loss : c->loss, res[i].done,
				res[i].warm + c->runs);
	}
}

/* Prints each cell as soon as those before it are printed. */
static bool ct_ended(void *ctx, uint32_t i, int sig)
{
	static uint32_t printed;
	struct ct_result *res = ctx;

	if (res[i].state != CT_DONE && res[i].state != CT_FAILED) {
		res[i].state = CT_FAILED;
		snprintf(res[i].why, sizeof(res[i].why),
			 "the process ended by signal %d in transfer %u", sig, res[i].done);
	}
	for (; printed < ct.ncells &&
	       (res[printed].state == CT_DONE || res[printed].state == CT_FAILED);
	     printed++) {
		const char *v = ct_verdict(&ct.cells[printed], &res[printed]);

		ct_out_row(ct.format, &ct.cells[printed], &res[printed], !printed);
		if (res[printed].state != CT_DONE)
			ct_bad_cells = 2;
		else if (*v && strcmp(v, "PASS") != 0 && !ct_bad_cells)
			ct_bad_cells = 1;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct sim_jobs jobs = { .run = ct_start, .end = ct_ended, .tick = ct_progress };
	struct ct_result *res;
	int bad = ct_opts_parse(&ct, argc, argv), err;

	if (bad)
		return bad > 0 ? 0 : 2;
	if (ct.bars)
		ct_cells_bars();
	else
		ct_cells_given();
	res = sim_jobs_share(sizeof(*res) * CT_CELLS_MAX);
	if (!res) {
		fprintf(stderr, "sdr_ct_sim: mmap: %s\n", strerror(errno));
		return 2;
	}
	ct_out_begin(ct.format, &ct.plan);
	jobs.jobs = ct.jobs;
	jobs.n = ct.ncells;
	jobs.ctx = res;
	err = sim_jobs_run(&jobs);
	if (err) {
		fprintf(stderr, "sdr_ct_sim: fork: %s\n", strerror(-err));
		ct_bad_cells = 2;
	}
	ct_out_end(ct.format);
	sim_jobs_unshare(res, sizeof(*res) * CT_CELLS_MAX);
	return ct_bad_cells;
}
