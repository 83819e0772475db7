/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One cell of sdr_ct_sim: two nodes, a connection, one transfer after the other, in virtual time.
 *
 * Both nodes are the real rel and sdk on the simulated engine, whose data packets carry no bytes: the buffers of
 * long messages are addresses that nothing may touch, and are mapped so that it cannot.  The clock moves as a test
 * bench's does: a node works until it has nothing to do, then the next moment comes at which something can happen;
 * arrivals wait up to a tick for each other, so that a node handles a batch, as with interrupt coalescing.
 *
 * A transfer is a send whose receive is posted before; it is over when both are complete.  Its time is the sender's,
 * from the post to the completion.  The first transfers (warm-up) open the connection and feed the estimators.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "../../prov/sdr/rel/sdr_rel.h"
#include "../../prov/sdr/uc/sdr_sim.h"
#include "ct_sim.h"

#define CT_WARM_PKTS   300000u	       /* packets that warm-up sends by itself, at the least */
#define CT_WARM_MAX    30u	       /* but not more transfers than these */
#define CT_LIMIT_NS    120000000000ull /* virtual time after which a transfer counts as stuck */
#define CT_ROUNDS_MAX  1000000u	       /* progress calls of a node in one instant */
#define CT_IDLE_MAX    8u	       /* and of those that do nothing although the deadline has come */
#define CT_INLINE_SIZE 65536u /* messages up to this many bytes have memory: they may travel in a datagram */

struct ct_node {
	struct ct_run *run;
	struct sdr_rel *rel;
	struct sdr_peer *peer;
	uint64_t deadline;
	bool dirty; /* something was posted */
	bool done;  /* its operation of the transfer under way */
	uint64_t done_ns;
	void *mem;
};

struct ct_run {
	const struct ct_plan *plan;
	const struct ct_cell *cell;
	struct ct_result *res;
	struct sdr_sim_world *w;
	struct ct_node node[2]; /* sender, receiver */
	uint64_t tick_ns;
	uint64_t rng;
	size_t mem_len;
	bool failed;
};

static void ct_fail(struct ct_run *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void ct_fail(struct ct_run *t, const char *fmt, ...)
{
	va_list ap;

	if (t->failed)
		return;
	t->failed = true;
	va_start(ap, fmt);
	vsnprintf(t->res->why, sizeof(t->res->why), fmt, ap);
	va_end(ap);
}

static uint64_t ct_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint64_t ct_rand(struct ct_run *t)
{
	return ct_mix(t->rng += 0x9e3779b97f4a7c15ull);
}

static double ct_uniform(struct ct_run *t)
{
	return (double)(ct_rand(t) >> 11) * 0x1p-53;
}

/* Cells of the same size and weather have the same luck, whatever the scheme. */
static uint64_t ct_seed(const struct ct_plan *plan, const struct ct_cell *cell)
{
	double v[3] = { cell->loss, cell->ge_loss, cell->ge_burst };
	uint64_t seed = ct_mix(plan->seed ^ 0x51ed270b9f86a2c3ull) ^ ct_mix(cell->size), x;

	for (int i = 0; i < 3; i++) {
		memcpy(&x, &v[i], sizeof(x));
		seed = ct_mix(seed ^ x);
	}
	return seed;
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

static void ct_done(void *user, const struct sdr_rel_cqe *e)
{
	struct ct_node *nd = user;

	if (e->err)
		ct_fail(nd->run, "the %s failed: %s (%s)", e->kind == SDR_REL_RECV ? "receive" : "send",
			strerror(-e->err), sdr_rel_strerror(e->prov_err));
	nd->done = true;
	nd->done_ns = sdr_sim_world_now(nd->run->w);
}

static int ct_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access, void **va)
{
	(void)user;
	(void)key;
	(void)addr;
	(void)len;
	(void)access;
	(void)va;
	return -ENOKEY;
}

static const struct sdr_rel_cbs ct_cbs = {
	.done = ct_done,
	.mr_get = ct_mr_get,
};

static int ct_node_open(struct ct_run *t, uint32_t i)
{
	struct sdr_sim_node_attr na = { .mtu = t->plan->mtu };
	struct ct_node *nd = &t->node[i];
	struct sdr_rel_cfg cfg = t->plan->cfg;
	struct sdr_rel_attr attr = { .cfg = &cfg, .cbs = &ct_cbs, .user = nd };
	int prot = t->cell->size <= CT_INLINE_SIZE ? PROT_READ | PROT_WRITE : PROT_NONE;
	uint64_t rnd[2] = { ct_rand(t), ct_rand(t) };
	struct sdr_context *ctx;
	struct sdr_uc *uc;
	int err;

	nd->run = t;
	nd->mem = mmap(NULL, t->mem_len, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (nd->mem == MAP_FAILED) {
		nd->mem = NULL;
		return -errno;
	}
	cfg.scheme = t->cell->scheme;
	cfg.rate_bps = (uint64_t)t->plan->rate_bps;
	for (int k = 0; k < 4; k++)
		attr.rand[k] = ct_rand(t);
	err = sdr_sim_node_open(t->w, i, &na, &uc);
	if (err)
		return err;
	ctx = sdr_context_create_on(uc, NULL, rnd);
	if (!ctx) {
		uc->ops->close(uc);
		return -ENOMEM;
	}
	err = sdr_rel_open(ctx, &attr, &nd->rel);
	if (err) {
		nd->rel = NULL;
		sdr_context_destroy(ctx);
	}
	return err;
}

static bool ct_open(struct ct_run *t)
{
	struct sdr_sim_world_attr wa = { .seed = ct_rand(t), .nodes = 2, .virtual_payload = true };
	struct sdr_sim_link l = {
		.rate_bps = (uint64_t)t->plan->rate_bps,
		.delay_ns = (uint64_t)(t->plan->rtt_s / 2 * CT_NS),
	};
	struct sdr_uc_addr addr;
	int err;

	wa.link = l;
	t->w = sdr_sim_world_create(&wa);
	if (!t->w) {
		ct_fail(t, "no memory for the world");
		return false;
	}
	l.loss = t->cell->loss;
	l.ge_loss = t->cell->ge_loss;
	l.ge_burst = t->cell->ge_burst;
	err = sdr_sim_link_set(t->w, 0, 1, &l);
	if (!err && t->plan->reverse_loss)
		err = sdr_sim_link_set(t->w, 1, 0, &l);
	for (uint32_t i = 0; !err && i < 2; i++) {
		err = ct_node_open(t, i);
		if (err)
			break;
		sdr_sim_node_addr(t->w, 1 - i, &addr);
		t->node[i].peer = sdr_rel_peer(t->node[i].rel, &addr);
		if (!t->node[i].peer)
			err = -ENOMEM;
	}
	if (err)
		ct_fail(t, "an endpoint does not open: %s; see --mtu, --chunk, --k, --m", strerror(-err));
	return !err;
}

static void ct_close(struct ct_run *t)
{
	for (int i = 0; i < 2; i++) {
		if (t->node[i].rel)
			sdr_rel_close(t->node[i].rel);
		if (t->node[i].mem)
			munmap(t->node[i].mem, t->mem_len);
	}
	sdr_sim_world_destroy(t->w);
}

/* ---- the clock ------------------------------------------------------------------------------------- */

static void ct_round(struct ct_run *t, struct ct_node *nd)
{
	uint64_t now = sdr_sim_world_now(t->w);
	uint32_t n = 0, idle = 0;
	int ret;

	if (!nd->dirty && nd->deadline > now && !sdr_sim_node_pending(t->w, (uint32_t)(nd - t->node)))
		return;
	do {
		nd->dirty = false;
		do {
			ret = sdr_rel_progress(nd->rel);
		} while (ret > 0 && ++n < CT_ROUNDS_MAX);
		if (ret) {
			ct_fail(t, "progress: %s", ret < 0 ? strerror(-ret) : "always more to do");
			return;
		}
		nd->deadline = sdr_rel_deadline(nd->rel);
		if (++idle > CT_IDLE_MAX) {
			ct_fail(t, "node %d has nothing to do and its deadline has come", (int)(nd - t->node));
			return;
		}
	} while (nd->deadline <= now || nd->dirty);
}

/* All work that is due now. */
static void ct_work(struct ct_run *t)
{
	for (int i = 0; i < 2 && !t->failed; i++)
		ct_round(t, &t->node[i]);
}

/* The next moment at which there is some, but not beyond until. */
static void ct_move(struct ct_run *t, uint64_t until)
{
	uint64_t next = sdr_sim_world_next(t->w);

	next = next < until ? next + t->tick_ns : until;
	for (int i = 0; i < 2; i++) {
		uint64_t d = t->node[i].dirty ? sdr_sim_world_now(t->w) : t->node[i].deadline;

		next = d < next ? d : next;
	}
	sdr_sim_world_run_until(t->w, next < until ? next : until);
}

/* ---- transfers ------------------------------------------------------------------------------------- */

/* Time from post to completion at the sender, ns; 0: failed. */
static uint64_t ct_transfer(struct ct_run *t)
{
	struct ct_node *tx = &t->node[0], *rx = &t->node[1];
	struct sdr_rel_iov in = { rx->mem, t->cell->size }, out = { tx->mem, t->cell->size };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 1, .iov = &in, .peer = rx->peer, .ctx = t };
	struct sdr_rel_wr wr = { .kind = SDR_REL_SEND, .niov = 1, .iov = &out, .peer = tx->peer, .ctx = t };
	uint64_t start = sdr_sim_world_now(t->w), until = start + CT_LIMIT_NS;
	int err;

	tx->done = rx->done = false;
	tx->dirty = rx->dirty = true;
	err = sdr_rel_recv(rx->rel, &rr);
	if (!err)
		err = sdr_rel_post(tx->rel, &wr);
	if (err)
		ct_fail(t, "post: %s", strerror(-err));
	ct_work(t);
	while (!t->failed && !(tx->done && rx->done)) {
		if (sdr_sim_world_now(t->w) >= until)
			ct_fail(t, "transfer %u is not complete after %llu s of virtual time", t->res->done,
				CT_LIMIT_NS / 1000000000ull);
		ct_move(t, until);
		ct_work(t);
	}
	return t->failed ? 0 : tx->done_ns - start;
}

static void ct_pause(struct ct_run *t)
{
	uint64_t end = sdr_sim_world_now(t->w) + (uint64_t)(ct_uniform(t) * t->plan->pause_s * CT_NS);

	while (!t->failed && sdr_sim_world_now(t->w) < end) {
		ct_move(t, end);
		ct_work(t);
	}
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

static uint64_t ct_packets(struct ct_run *t)
{
	struct sdr_sim_link_stats a, b;

	sdr_sim_link_stats(t->w, 0, 1, &a);
	sdr_sim_link_stats(t->w, 1, 0, &b);
	return a.data + a.ctl + b.data + b.ctl;
}

static void ct_account(struct ct_run *t, const struct sdr_rel_stats *tx0)
{
	struct ct_result *r = t->res;
	struct sdr_rel_stats tx;

	sdr_rel_stats_get(t->node[0].rel, NULL, &tx);
	r->parity = tx.parity_tx - tx0->parity_tx;
	r->repair = tx.repair_tx - tx0->repair_tx;
	r->rtx = tx.rtx_rack + tx.rtx_nack + tx.rtx_tlp + tx.rtx_rto -
		 (tx0->rtx_rack + tx0->rtx_nack + tx0->rtx_tlp + tx0->rtx_rto);
	r->decoded = tx.chunks_fec - tx0->chunks_fec; /* as its peer told it */
	r->choice_sr = tx.choice_sr - tx0->choice_sr;
	r->choice_parity = tx.choice_parity - tx0->choice_parity;
	r->code_k = tx.code_k;
	r->code_m = tx.code_m;
	r->cover_ppm = tx.code_cover_ppm;
	r->loss_ppm = tx.loss_ppm;
}

bool ct_cell_run(const struct ct_plan *plan, const struct ct_cell *cell, struct ct_result *r)
{
	struct ct_run t = { .plan = plan, .cell = cell, .res = r, .rng = ct_seed(plan, cell) };
	uint64_t pkts = (cell->size + plan->mtu - 1) / plan->mtu, *v = NULL, from_ns, packets;
	struct sdr_rel_stats tx0;
	struct rusage ru;
	double real, cpu;

	t.tick_ns = (uint64_t)(plan->tick_s * CT_NS);
	t.mem_len = cell->size;
	r->ideal = (double)cell->size * 8 / plan->rate_bps + plan->rtt_s;
	r->data_pkts = pkts * cell->runs;
	r->warm = plan->warm;
	if (r->warm == UINT32_MAX) {
		r->warm = (uint32_t)(CT_WARM_PKTS / (pkts ? pkts : 1) + 1);
		r->warm = r->warm < CT_WARM_MAX ? r->warm : CT_WARM_MAX;
	}
	v = calloc(cell->runs, sizeof(*v));
	if (!v || !cell->runs) {
		ct_fail(&t, "no memory for %u runs", cell->runs);
		goto out;
	}
	if (!ct_open(&t))
		goto out;
	for (uint32_t i = 0; i < r->warm && !t.failed; i++, r->done++) {
		ct_transfer(&t);
		ct_pause(&t);
	}
	sdr_rel_stats_get(t.node[0].rel, NULL, &tx0);
	packets = ct_packets(&t);
	from_ns = sdr_sim_world_now(t.w);
	real = ct_clock(CLOCK_MONOTONIC);
	cpu = ct_clock(CLOCK_PROCESS_CPUTIME_ID);
	for (uint32_t i = 0; i < cell->runs && !t.failed; i++, r->done++) {
		v[i] = ct_transfer(&t);
		ct_pause(&t);
	}
	if (t.failed)
		goto out;
	r->cpu_s = ct_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	r->real_s = ct_clock(CLOCK_MONOTONIC) - real;
	r->virtual_s = (double)(sdr_sim_world_now(t.w) - from_ns) / CT_NS;
	r->packets = ct_packets(&t) - packets;
	ct_summary(r, v, cell->runs);
	ct_account(&t, &tx0);
out:
	ct_close(&t);
	free(v);
	getrusage(RUSAGE_SELF, &ru);
	r->rss_kib = (uint64_t)ru.ru_maxrss;
	return !t.failed;
}
