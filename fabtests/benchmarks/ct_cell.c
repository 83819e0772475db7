/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One cell of sdr_ct_sim: two nodes, a connection, one transfer after the other, in virtual time.
 *
 * Nodes, clock and transfers are those of the tool sdr_sim (sim_bed.c, sim_work.c).  What is the
 * benchmark's own: the line's rate is what --rate says, headers and all; a cell is one connection
 * that keeps what it has learnt from run to run; and what is counted is what the sender says.  The
 * first transfers (warm-up) open the connection and feed the estimators.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/sdr_rand.h"
#include "tools/sim/sim_work.h"
#include "ct_sim.h"

#define CT_WARM_PKTS  300000u /* minimum packets of a warm-up */
#define CT_WARM_MAX   30u     /* but not more transfers than these, ... */
#define CT_WARM_SMALL 4096u   /* of small ones than these: of few packets nothing is learnt */

/* Cells of the same size and impairments have the same losses, whatever the scheme. */
static uint64_t ct_seed(const struct ct_plan *plan, const struct ct_cell *cell)
{
	double v[3] = { cell->loss, cell->ge_loss, cell->ge_burst };
	uint64_t seed = sdr_mix64(plan->seed ^ 0x51ed270b9f86a2c3ull) ^ sdr_mix64(cell->size), x;

	for (int i = 0; i < 3; i++) {
		memcpy(&x, &v[i], sizeof(x));
		seed = sdr_mix64(seed ^ x);
	}
	return seed;
}

static bool ct_open(const struct ct_plan *plan, const struct ct_cell *cell, struct sim_bed *b)
{
	struct sim_bed_attr a = {
		.seed = ct_seed(plan, cell),
		.nodes = 2,
		.mtu = plan->mtu,
		.tick_ns = (uint64_t)(plan->tick_s * CT_NS),
		.mem_len = cell->size,
		.mem_slots = 1,
		.cfg = plan->cfg,
	};

	a.cfg.scheme = cell->scheme;
	a.cfg.rate_bps = (uint64_t)plan->rate_bps;
	a.backward.rate_bps = a.cfg.rate_bps;
	a.backward.delay_ns = (uint64_t)(plan->rtt_s / 2 * CT_NS);
	a.forward = a.backward;
	a.forward.loss = cell->loss;
	a.forward.ge_loss = cell->ge_loss;
	a.forward.ge_burst = cell->ge_burst;
	if (plan->reverse_loss)
		a.backward = a.forward;
	return sim_bed_open(b, &a);
}

static uint64_t ct_transfer(struct sim_bed *b, const struct ct_cell *cell)
{
	uint64_t ns = 0;

	(void)sim_work_message(b, cell->size, &ns);
	return ns;
}

static int ct_cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest time that the share p of all runs does not exceed. */
static double ct_quantile(const uint64_t *v, uint32_t n, double p)
{
	uint32_t i = (uint32_t)ceil(p * n - 1e-9);

	return (double)v[i ? i - 1 : 0] / CT_NS;
}

static void ct_summary(struct ct_result *r, uint64_t *v, uint32_t n)
{
	double sum = 0;

	qsort(v, n, sizeof(*v), ct_cmp);
	for (uint32_t i = 0; i < n; i++)
		sum += (double)v[i] / CT_NS;
	r->mean = sum / n;
	r->p50 = ct_quantile(v, n, 0.5);
	r->p99 = ct_quantile(v, n, 0.99);
	r->p999 = ct_quantile(v, n, 0.999);
	r->max = (double)v[n - 1] / CT_NS;
}

static double ct_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / CT_NS;
}

static void ct_account(struct ct_result *r, struct sim_bed *b, const struct sdr_rel_stats *tx0)
{
	struct sdr_rel_stats tx;

	sdr_rel_stats_get(b->node[0].ep->rel, NULL, &tx);
	r->parity = tx.parity_tx - tx0->parity_tx;
	r->repair = tx.repair_tx - tx0->repair_tx;
	r->rtx = tx.rtx_rack + tx.rtx_nack + tx.rtx_tlp + tx.rtx_rto -
		 (tx0->rtx_rack + tx0->rtx_nack + tx0->rtx_tlp + tx0->rtx_rto);
	r->decoded = tx.chunks_fec - tx0->chunks_fec; /* as its peer reported it */
	r->choice_sr = tx.choice_sr - tx0->choice_sr;
	r->choice_parity = tx.choice_parity - tx0->choice_parity;
	r->code_k = tx.code_k;
	r->code_m = tx.code_m;
	r->cover_ppm = tx.code_cover_ppm;
	r->loss_ppm = tx.loss_ppm;
}

bool ct_cell_run(const struct ct_plan *plan, const struct ct_cell *cell, struct ct_result *r)
{
	struct sim_bed b;
	uint64_t pkts = (cell->size + plan->mtu - 1) / plan->mtu, *v = NULL, from_ns, packets;
	struct sdr_rel_stats tx0;
	struct rusage ru;
	double real, cpu;
	uint32_t most;

	r->ideal = (double)cell->size * 8 / plan->rate_bps + plan->rtt_s;
	r->data_pkts = pkts * cell->runs;
	r->warm = plan->warm;
	if (r->warm == UINT32_MAX) {
		r->warm = (uint32_t)(CT_WARM_PKTS / (pkts ? pkts : 1) + 1);
		most = pkts < CT_WARM_SMALL ? CT_WARM_SMALL : CT_WARM_MAX;
		r->warm = r->warm < most ? r->warm : most;
	}
	v = calloc(cell->runs, sizeof(*v));
	if (!v) {
		snprintf(r->why, sizeof(r->why), "no memory for %u runs", cell->runs);
		return false;
	}
	if (!ct_open(plan, cell, &b))
		goto out;
	for (uint32_t i = 0; i < r->warm && !b.eps.failed; i++, r->done++) {
		ct_transfer(&b, cell);
		sim_work_pause(&b, plan->pause_s);
	}
	sdr_rel_stats_get(b.node[0].ep->rel, NULL, &tx0);
	packets = sim_bed_packets(&b);
	from_ns = sim_bed_now(&b);
	real = ct_clock(CLOCK_MONOTONIC);
	cpu = ct_clock(CLOCK_PROCESS_CPUTIME_ID);
	for (uint32_t i = 0; i < cell->runs && !b.eps.failed; i++, r->done++) {
		v[i] = ct_transfer(&b, cell);
		sim_work_pause(&b, plan->pause_s);
	}
	if (b.eps.failed)
		goto out;
	r->cpu_s = ct_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	r->real_s = ct_clock(CLOCK_MONOTONIC) - real;
	r->virtual_s = (double)(sim_bed_now(&b) - from_ns) / CT_NS;
	r->packets = sim_bed_packets(&b) - packets;
	ct_summary(r, v, cell->runs);
	ct_account(r, &b, &tx0);
out:
	if (b.eps.failed)
		snprintf(r->why, sizeof(r->why), "%s", b.eps.why);
	sim_bed_close(&b);
	free(v);
	getrusage(RUSAGE_SELF, &ru);
	r->rss_kib = (uint64_t)ru.ru_maxrss;
	return !b.eps.failed;
}
