/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See bed.h.  Nodes and time are those of tools/sim/sim_eps.c, with the application's hook after
 * each call of progress.  A node that never comes to rest, or whose deadline stays in the past,
 * fails the test.
 */
#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "bed.h"
#include "bed_pool.h"

#define BED_ROUNDS_MAX 20000u /* progress calls of a node in one instant */
#define BED_IDLE_MAX   1000u  /* and those that do nothing although its deadline has passed */

/* ---- packets --------------------------------------------------------------------------------- */

static bool bed_filter(void *user, struct sdr_sim_packet *p)
{
	struct bed *b = user;
	uint32_t what = bed_what_of(p);
	bool pass = true;

	for (uint32_t k = 0; k < BED_KINDS; k++)
		b->node[p->src].seen[k] += what >> k & 1;
	b->node[p->src].bytes += p->wire;
	b->node[p->src].sent[p->lane]++;
	for (uint32_t i = 0; i < b->nrules; i++) {
		struct bed_rule *r = &b->rule[i];
		uint64_t nth;

		if ((r->src != BED_ANY && r->src != p->src) || !(r->what & what) ||
		    (r->lane != BED_ANY && r->lane != p->lane))
			continue;
		nth = r->seen++;
		if (nth < r->first || nth - r->first >= r->n)
			continue;
		r->hit++;
		p->extra_ns += r->delay;
		pass &= r->delay != 0;
	}
	if (pass && b->filter)
		pass = b->filter(b, p, what);
	if (b->verbose)
		fprintf(stderr, "%10.4f ms %u -> %u (%u) %s%s %08x len %u va %llx\n",
			(double)bed_now(b) / 1e6, p->src, p->dst, p->lane,
			p->kind == SDR_SIM_DATA ? "data" : "ctl", pass ? "" : " DROPPED",
			what & ~BED_ALL, p->len, (unsigned long long)p->va);
	return pass;
}

static void bed_trace(void *user, uint64_t now_ns, enum sdr_sim_what what,
		      const struct sdr_sim_packet *p)
{
	struct bed *b = user;

	(void)now_ns;
	if (what == SDR_SIM_T_NOROUTE && b->astray)
		b->astray(b, p);
}

struct bed_rule *bed_late(struct bed *b, uint32_t src, uint32_t what, uint64_t first, uint64_t n,
			  uint64_t delay)
{
	struct bed_rule *r = &b->rule[b->nrules++];

	assert_true(b->nrules <= BED_RULES);
	*r = (struct bed_rule){
		.src = src, .lane = BED_ANY, .what = what, .first = first, .n = n, .delay = delay
	};
	return r;
}

struct bed_rule *bed_drop(struct bed *b, uint32_t src, uint32_t what, uint64_t first, uint64_t n)
{
	return bed_late(b, src, what, first, n, 0);
}

uint64_t bed_grants(const struct bed *b, uint32_t node)
{
	uint64_t made, ended;

	sdr_sim_node_grants(b->w, node, &made, &ended);
	return made;
}

uint64_t bed_grants_open(const struct bed *b, uint32_t node)
{
	return sim_ep_grants(&b->eps.ep[node]);
}

uint64_t bed_seen(const struct bed *b, uint32_t node, enum bed_what one)
{
	return b->node[node].seen[__builtin_ctz(one)];
}

void bed_forge(struct bed *b, uint32_t from, uint32_t to, uint64_t cid, uint32_t pn,
	       const void *frames, size_t len)
{
	uint8_t p[SDR_CTL_MAX];
	size_t n = sdr_packet_encode(p, cid, pn);

	assert_true(n + len <= sizeof(p));
	memcpy(p + n, frames, len);
	assert_int_equal(sdr_sim_inject_ctl(b->w, from + 1, to, 0, p, n + len), 0);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void bed_done(void *user, const struct sdr_rel_cqe *e)
{
	struct bed_node *nd = user;
	struct bed_op *op = e->ctx;

	if (nd->nlog < BED_LOG)
		nd->log[nd->nlog++] = *e;
	nd->ep->dirty = true;
	if (!op)
		return;
	if (op < nd->bed->op || op >= nd->bed->op + nd->bed->nops || op->node != nd->idx)
		fail_msg("node %u completes what it was never given", nd->idx);
	op->n++;
	op->e = *e;
	op->at = bed_now(nd->bed);
}

static int bed_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access,
		      void **va, void **region)
{
	struct bed_node *nd = user;

	access &= ~(uint32_t)SDR_REL_ACCESS_COPY; /* what the CPU reaches may also be copied */
	for (uint32_t i = 0; i < nd->nregions; i++) {
		struct bed_region *r = &nd->region[i];

		if (r->key != key)
			continue;
		if ((r->access & access) != access || addr > r->len || len > r->len - addr)
			return -EACCES;
		*va = r->p + addr;
		*region = r;
		return 0;
	}
	return -ENOENT;
}

static void bed_far_refused(void *user, const char *why)
{
	struct bed_node *nd = user;

	assert_non_null(why);
	nd->nrefused++;
}

static bool bed_lend(void *user, struct sdr_job *job)
{
	return sim_ep_lend(((struct bed_node *)user)->ep, job);
}

static bool bed_reclaim(void *user, struct sdr_job *job)
{
	struct bed_node *nd = user;

	sim_ep_reclaim(nd->ep, job);
	return !nd->bed->child;
}

static void bed_wake(void *user)
{
	((struct bed_node *)user)->ep->dirty = true;
}

static const struct sdr_rel_cbs bed_cbs = {
	.lend = bed_lend,
	.reclaim = bed_reclaim,
	.wake = bed_wake,
	.done = bed_done,
	.mr_get = bed_mr_get,
	.far_refused = bed_far_refused,
};

struct bed *bed_new(uint32_t nodes)
{
	struct bed *b = bed_pool_zeros(sizeof(*b));
	struct sdr_rel_cfg cfg;

	assert_non_null(b);
	sdr_rel_cfg_init(&cfg);
	cfg.scheme = &sdr_scheme_sr;
	cfg.cc = &sdr_cc_fixed;
	cfg.rate_bps = 10000000000ull;
	cfg.tx_depth = cfg.rx_depth = BED_OPS;
	cfg.inject_max = 512;
	cfg.max_overhead = 0;
	cfg.berths = 0; /* tests count grants */
	b->op = bed_pool_zeros(BED_OPS * sizeof(*b->op));
	assert_non_null(b->op);
	b->n = nodes;
	b->link.delay_ns = BED_DELAY;
	b->verbose = getenv("SDR_BED_V") != NULL;
	for (uint32_t i = 0; i < nodes; i++) {
		b->cfg[i] = cfg;
		b->na[i].no_probe = true;
		b->node[i].bed = b;
		b->node[i].idx = i;
	}
	return b;
}

void bed_paths(struct bed *b, uint32_t n)
{
	for (uint32_t i = 0; i < b->n; i++) {
		b->na[i].sources = (uint8_t)n;
		b->cfg[i].paths = n;
	}
}

void bed_boot_node(struct bed *b, uint32_t node)
{
	struct bed_node *nd = &b->node[node];
	struct sim_ep_attr attr = {
		.rel = { .cfg = &b->cfg[node],
			 .cbs = &bed_cbs,
			 .user = nd,
			 .paths = b->paths[node],
			 .rma_events = b->rma_events },
		.node = b->na[node],
	};

	if (b->name[node])
		sdr_sim_addr_make(b->name[node], &attr.rel.name);
	sim_ep_identity(nd->ep, &attr);
	assert_int_equal(sim_ep_boot(nd->ep, &attr), 0);
}

/* One call of a node, and what its application does then. */
static int bed_progress(void *user, struct sim_ep *ep)
{
	struct bed *b = user;
	int ret = sdr_rel_progress(ep->rel);

	if (ret >= 0 && b->app)
		b->app(b, ep->idx);
	return ret;
}

static void bed_failed(void *user, const char *why)
{
	(void)user;
	fail_msg("%s", why);
}

void bed_boot(struct bed *b)
{
	struct sim_eps_attr attr = {
		.world = { .seed = 1 + b->seed,
			   .nodes = b->n,
			   .link = b->link,
			   .user = b,
			   .filter = bed_filter,
			   .translate = b->translate,
			   .trace = bed_trace },
		.most = { .rounds = BED_ROUNDS_MAX, .idle = BED_IDLE_MAX },
		.books = 1,
		.job_ns = b->job_ns,
		.user = b,
		.progress = bed_progress,
		.fail = bed_failed,
	};

	assert_int_equal(sim_eps_open(&b->eps, &attr), 0);
	b->w = b->eps.w;
	for (uint32_t i = 0; i < b->n; i++) {
		b->node[i].ep = &b->eps.ep[i];
		bed_boot_node(b, i);
	}
}

static void forget(struct bed *b, uint32_t node)
{
	for (uint32_t i = 0; i < b->nops; i++)
		if (b->op[i].node == node)
			b->op[i].expect = -1;
}

void bed_crash(struct bed *b, uint32_t node)
{
	forget(b, node);
	sim_ep_crash(b->node[node].ep);
}

void bed_close(struct bed *b)
{
	uint32_t bad = 0, first = 0;

	for (uint32_t i = 0; i < b->nops; i++) {
		if (b->op[i].expect < 0 || b->op[i].n == b->op[i].expect)
			continue;
		if (!bad++)
			first = i;
	}
	if (bad)
		fail_msg(
			"%u operations: the first is %u of node %u with %d completions, %d expected",
			bad, first, b->op[first].node, b->op[first].n, b->op[first].expect);
	for (uint32_t i = 0; i < b->n; i++) {
		sim_ep_books(b->node[i].ep);
		sim_ep_close(b->node[i].ep);
	}
	for (uint32_t i = 0; i < b->n; i++)
		assert_int_equal(bed_grants_open(b, i), 0);
	for (uint32_t i = 0; i < b->nbufs; i++) {
		assert_true(bed_mem_ok(b->buf[i].mem, b->buf[i].len));
		bed_mem_free(b->buf[i].mem);
	}
	sim_eps_close(&b->eps);
	bed_pool_put(b->op);
	bed_pool_put(b);
}

/* ---- buffers --------------------------------------------------------------------------------- */

bool bed_same(const uint8_t *p, size_t len, uint32_t seed)
{
	size_t i = bed_differs(p, len, seed);

	if (i < len)
		print_message("byte %zu of %zu is wrong\n", i, len);
	return i == len;
}

uint8_t *bed_buf(struct bed *b, size_t len, uint32_t seed)
{
	struct bed_buf *f = &b->buf[b->nbufs++];

	assert_true(b->nbufs <= BED_BUFS);
	f->len = len;
	f->mem = bed_mem_new(len);
	assert_non_null(f->mem);
	bed_fill(f->mem, len, seed);
	return f->mem;
}

void bed_region_add(struct bed *b, uint32_t node, uint64_t key, uint8_t *p, uint64_t len,
		    uint32_t access)
{
	struct bed_node *nd = &b->node[node];

	assert_true(nd->nregions < BED_REGIONS);
	nd->region[nd->nregions++] = (struct bed_region){ key, p, len, access };
}

/* ---- posting --------------------------------------------------------------------------------- */

struct sdr_peer *bed_peer(struct bed *b, uint32_t node, uint32_t to)
{
	struct sdr_peer *p = sim_ep_peer(b->node[node].ep, to);

	assert_non_null(p);
	return p;
}

struct sdr_peer *bed_peer_at(struct bed *b, uint32_t node, uint32_t number)
{
	struct sdr_uc_addr addr;
	struct sdr_peer *p;

	sdr_sim_addr_make(number, &addr);
	p = sdr_rel_peer(b->node[node].ep->rel, &addr);
	assert_non_null(p);
	b->node[node].ep->dirty = true;
	return p;
}

struct sdr_conn *bed_conn(struct bed *b, uint32_t node, uint32_t to)
{
	struct sdr_uc_addr addr;
	struct sdr_peer *p;

	sdr_sim_node_addr(b->w, to, &addr);
	p = sdr_peer_find(b->node[node].ep->rel, &addr);
	return p ? p->conn : NULL;
}

struct bed_op *bed_op(struct bed *b, uint32_t node, int expect)
{
	struct bed_op *op = &b->op[b->nops++];

	assert_true(b->nops <= BED_OPS);
	*op = (struct bed_op){ .bed = b, .node = node, .expect = expect };
	return op;
}

struct bed_op *bed_post_to(struct bed *b, uint32_t node, struct sdr_peer *to, struct sdr_rel_wr wr,
			   const void *buf, size_t len)
{
	struct sdr_rel_iov iov = { (void *)(uintptr_t)buf, len };
	struct bed_op *op = bed_op(b, node, wr.flags & SDR_REL_F_SILENT ? 0 : 1);

	wr.peer = to;
	wr.ctx = op;
	if (!wr.niov && buf) {
		wr.niov = 1;
		wr.iov = &iov;
	}
	assert_int_equal(sdr_rel_post(b->node[node].ep->rel, &wr), 0);
	b->node[node].ep->dirty = true;
	return op;
}

struct bed_op *bed_post(struct bed *b, uint32_t node, uint32_t to, struct sdr_rel_wr wr,
			const void *buf, size_t len)
{
	return bed_post_to(b, node, bed_peer(b, node, to), wr, buf, len);
}

struct bed_op *bed_send(struct bed *b, uint32_t node, uint32_t to, const void *buf, size_t len,
			uint16_t flags)
{
	return bed_post(b, node, to, (struct sdr_rel_wr){ .kind = SDR_REL_SEND, .flags = flags },
			buf, len);
}

struct bed_op *bed_tsend(struct bed *b, uint32_t node, uint32_t to, uint64_t tag, const void *buf,
			 size_t len)
{
	return bed_post(b, node, to, (struct sdr_rel_wr){ .kind = SDR_REL_TSEND, .tag = tag }, buf,
			len);
}

struct bed_op *bed_rma(struct bed *b, uint32_t node, uint32_t to, uint8_t kind, void *buf,
		       size_t len, uint64_t addr, uint64_t key, uint16_t flags)
{
	return bed_post(b, node, to,
			(struct sdr_rel_wr){
				.kind = kind, .flags = flags, .rma_addr = addr, .rma_key = key },
			buf, len);
}

struct bed_op *bed_rr(struct bed *b, uint32_t node, struct sdr_rel_rr rr, void *buf, size_t len)
{
	struct sdr_rel_iov iov = { buf, len };
	struct bed_op *op = rr.ctx ? rr.ctx : bed_op(b, node, rr.flags & SDR_REL_R_MULTI ? -1 : 1);

	rr.ctx = op;
	if (!rr.niov && buf) {
		rr.niov = 1;
		rr.iov = &iov;
	}
	assert_int_equal(sdr_rel_recv(b->node[node].ep->rel, &rr), 0);
	b->node[node].ep->dirty = true;
	return op;
}

struct bed_op *bed_recv(struct bed *b, uint32_t node, void *buf, size_t len)
{
	return bed_rr(b, node, (struct sdr_rel_rr){ .kind = SDR_REL_RECV }, buf, len);
}

struct bed_op *bed_trecv(struct bed *b, uint32_t node, uint64_t tag, uint64_t ignore, void *buf,
			 size_t len)
{
	return bed_rr(b, node,
		      (struct sdr_rel_rr){ .kind = SDR_REL_TRECV, .tag = tag, .ignore = ignore },
		      buf, len);
}

/* ---- time ------------------------------------------------------------------------------------ */

uint64_t bed_now(const struct bed *b)
{
	return sdr_sim_world_now(b->w);
}

void bed_rounds(struct bed *b)
{
	sim_eps_work(&b->eps);
}

void bed_run(struct bed *b, uint64_t ns)
{
	sim_eps_run(&b->eps, ns);
}

static void wait_until(struct bed *b, const struct bed_op *op, uint64_t end)
{
	uint64_t t0 = bed_now(b);

	while (op->n < (op->expect > 1 ? op->expect : 1)) {
		bed_rounds(b);
		if (op->n >= (op->expect > 1 ? op->expect : 1))
			return;
		if (bed_now(b) >= end)
			fail_msg("operation %u of node %u has not ended after %.3f ms",
				 (uint32_t)(op - b->op), op->node, (double)(end - t0) / 1e6);
		sim_eps_jump(&b->eps, end);
	}
}

void bed_wait(struct bed *b, struct bed_op *op, uint64_t limit)
{
	wait_until(b, op, bed_now(b) + limit);
}

void bed_wait_all(struct bed *b, uint64_t limit)
{
	uint64_t end = bed_now(b) + limit;

	for (uint32_t i = 0; i < b->nops; i++)
		if (b->op[i].expect > 0)
			wait_until(b, &b->op[i], end);
}

void bed_warm(struct bed *b, uint32_t x, uint32_t y)
{
	uint8_t *p = bed_buf(b, 8, 0);
	struct bed_op *op[4];

	op[0] = bed_recv(b, y, p, 8);
	op[1] = bed_send(b, x, y, "warm", 4, 0);
	bed_wait(b, op[0], 5 * BED_SEC);
	op[2] = bed_recv(b, x, p, 8);
	op[3] = bed_send(b, y, x, "warm", 4, 0);
	for (int i = 0; i < 4; i++) {
		bed_wait(b, op[i], 5 * BED_SEC);
		bed_assert_ok(op[i]);
	}
	bed_run(b, 3 * BED_RTT);
}

struct bed *bed_pair(void)
{
	struct bed *b = bed_open(2);

	bed_warm(b, 0, 1);
	return b;
}

void bed_shut(struct bed *b, uint32_t node)
{
	sdr_rel_shutdown(b->node[node].ep->rel);
	b->node[node].ep->dirty = true;
}

void bed_recvs(struct bed *b, struct bed_op **r, uint8_t **p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		p[i] = bed_buf(b, 100, 0);
		r[i] = bed_recv(b, 1, p[i], 100);
	}
}

struct sdr_rel_stats bed_stats(struct bed *b, uint32_t node)
{
	struct sdr_rel_stats st;

	sdr_rel_stats_get(b->node[node].ep->rel, NULL, &st);
	return st;
}

void bed_assert_no_repair(struct bed *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct sdr_rel_stats st;

		if (!b->node[i].ep->rel)
			continue;
		st = bed_stats(b, i);
		assert_int_equal(st.rtx_rack + st.rtx_nack + st.rtx_tlp + st.rtx_rto + st.rec_rtx,
				 0);
		assert_int_equal(st.pkts_dup + st.rtx_spurious + st.pkts_bad, 0);
	}
}
