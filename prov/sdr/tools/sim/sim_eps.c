/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See sim_eps.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rel/sdr_rel_books.h"
#include "sim_eps.h"

#define SIM_NS_MS 1000000u

void sim_eps_fail(struct sim_eps *e, const char *fmt, ...)
{
	va_list ap;

	if (e->failed)
		return;
	e->failed = true;
	va_start(ap, fmt);
	vsnprintf(e->why, sizeof(e->why), fmt, ap);
	va_end(ap);
	if (e->a.fail)
		e->a.fail(e->a.user, e->why);
}

int sim_eps_open(struct sim_eps *e, const struct sim_eps_attr *attr)
{
	*e = (struct sim_eps){ .a = *attr };
	e->ep = calloc(attr->world.nodes, sizeof(*e->ep));
	if (!e->ep)
		return -ENOMEM;
	for (uint32_t i = 0; i < attr->world.nodes; i++)
		e->ep[i] = (struct sim_ep){ .eps = e, .idx = i, .deadline = UINT64_MAX };
	e->w = sdr_sim_world_create(&attr->world);
	return e->w ? 0 : -ENOMEM;
}

void sim_eps_close(struct sim_eps *e)
{
	for (uint32_t i = 0; e->ep && i < e->a.world.nodes; i++)
		sim_ep_close(&e->ep[i]);
	sdr_sim_world_destroy(e->w);
	free(e->ep);
	e->ep = NULL;
	e->w = NULL;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

void sim_ep_identity(const struct sim_ep *ep, struct sim_ep_attr *attr)
{
	attr->context[0] = 77 + ep->idx;
	attr->context[1] = 1234 + ep->boots;
	for (uint64_t i = 0; i < 4; i++)
		attr->rel.rand[i] = (i + 1) * 0x9e3779b97f4a7c15ull + ep->idx * 0x1000003ull +
				    ep->boots * 77777ull;
}

int sim_ep_boot(struct sim_ep *ep, const struct sim_ep_attr *attr)
{
	struct sdr_context *ctx;
	struct sdr_uc *uc;
	int err;

	err = sdr_sim_node_open(ep->eps->w, ep->idx, &attr->node, &uc);
	if (err)
		return err;
	ctx = sdr_context_create_on(uc, NULL, attr->context);
	if (!ctx) {
		err = errno ? -errno : -ENOMEM;
		uc->ops->close(uc);
		return err;
	}
	err = sdr_rel_open(ctx, &attr->rel, &ep->rel);
	if (err) {
		ep->rel = NULL;
		sdr_context_destroy(ctx);
		return err;
	}
	ep->boots++;
	ep->dirty = true;
	return 0;
}

void sim_ep_close(struct sim_ep *ep)
{
	if (ep->rel)
		sdr_rel_close(ep->rel);
	ep->rel = NULL;
}

void sim_ep_crash(struct sim_ep *ep)
{
	sdr_sim_node_kill(ep->eps->w, ep->idx, true);
	sim_ep_close(ep);
	sdr_sim_node_kill(ep->eps->w, ep->idx, false);
}

struct sdr_peer *sim_ep_peer(struct sim_ep *ep, uint32_t to)
{
	struct sdr_uc_addr addr;

	sdr_sim_node_addr(ep->eps->w, to, &addr);
	return sdr_rel_peer(ep->rel, &addr);
}

void sim_ep_books(struct sim_ep *ep)
{
	struct sdr_books k;
	const char *why = ep->rel ? sdr_rel_books(ep->rel, &k) : NULL;

	if (why)
		sim_eps_fail(ep->eps, "books of node %u: %s", ep->idx, why);
}

uint64_t sim_ep_grants(const struct sim_ep *ep)
{
	uint64_t made, ended;

	sdr_sim_node_grants(ep->eps->w, ep->idx, &made, &ended);
	return made - ended;
}

void sim_eps_stats(struct sim_eps *e, struct sdr_rel_stats *out)
{
	struct sdr_rel_stats one;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < e->a.world.nodes; i++) {
		if (!e->ep[i].rel)
			continue;
		sdr_rel_stats_get(e->ep[i].rel, NULL, &one);
#define SIM_ADD(n) out->n += one.n;
		SDR_REL_STATS(SIM_ADD)
#undef SIM_ADD
	}
}

/* ---- jobs ------------------------------------------------------------------------------------ */

bool sim_ep_lend(struct sim_ep *ep, struct sdr_job *job)
{
	struct sim_eps *e = ep->eps;

	if (!e->a.job_ns || ep->nlent == SIM_LENT_MAX)
		return false;
	ep->lent[ep->nlent++] = (struct sim_lent){ job, sim_eps_now(e) + e->a.job_ns };
	return true;
}

void sim_ep_reclaim(struct sim_ep *ep, struct sdr_job *job)
{
	uint32_t i, n = 0;

	for (i = 0; i < ep->nlent; i++)
		if (ep->lent[i].job != job)
			ep->lent[n++] = ep->lent[i];
	ep->nlent = n;
}

/* Those whose time has come are done, and no longer here: each in the order in which they came. */
static void ep_jobs_run(struct sim_ep *ep)
{
	while (ep->nlent && ep->lent[0].at <= sim_eps_now(ep->eps)) {
		struct sdr_job *job = ep->lent[0].job;

		sim_ep_reclaim(ep, job);
		job->run(job);
		ep->dirty = true;
	}
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool ep_runs(const struct sim_ep *ep)
{
	return ep->rel && !sdr_sim_node_stalled(ep->eps->w, ep->idx);
}

/* A wake-up without a cause. */
static bool wakes_allowed(struct sim_eps *e, struct sim_ep *ep)
{
	uint64_t ms = sim_eps_now(e) / SIM_NS_MS;

	if (ep->wakes_ms != ms) {
		ep->wakes_ms = ms;
		ep->wakes = 0;
	}
	if (++ep->wakes <= e->a.most.wakes || !e->a.most.wakes)
		return true;
	sim_eps_fail(e, "node %u woke up %u times in one ms with nothing to do", ep->idx,
		     e->a.most.wakes);
	return false;
}

/* Progress until there is none; false: failed. */
static bool ep_progress(struct sim_eps *e, struct sim_ep *ep, uint32_t *n)
{
	const struct sim_eps_limits *most = &e->a.most;
	int ret;

	do {
		ret = e->a.progress ? e->a.progress(e->a.user, ep) : sdr_rel_progress(ep->rel);
		e->rounds++;
		if (ret >= 0 && e->a.books && e->rounds % e->a.books == 0)
			sim_ep_books(ep);
		if (ret < 0)
			sim_eps_fail(e, "node %u: progress: %s", ep->idx, strerror(-ret));
		else if (ret && most->rounds && ++*n > most->rounds)
			sim_eps_fail(e, "node %u always has more to do", ep->idx);
		else if (ret && most->flying && sdr_sim_world_flying(e->w) > most->flying)
			sim_eps_fail(e, "storm: node %u sent until %llu MiB were under way",
				     ep->idx, (unsigned long long)sdr_sim_world_flying(e->w) >> 20);
	} while (ret > 0 && !e->failed);
	return !e->failed;
}

static void ep_round(struct sim_eps *e, struct sim_ep *ep)
{
	uint64_t now = sim_eps_now(e);
	bool asked = ep->dirty || sdr_sim_node_pending(e->w, ep->idx);
	uint32_t n = 0, idle = 0;

	if (!ep_runs(ep) || (!asked && ep->deadline > now))
		return;
	if (!asked && !wakes_allowed(e, ep))
		return;
	do {
		ep->dirty = false;
		if (!ep_progress(e, ep, &n))
			return;
		ep->deadline = sdr_rel_deadline(ep->rel);
		if (++idle > e->a.most.idle && e->a.most.idle) {
			sim_eps_fail(e, "node %u has nothing to do and its deadline is %llu ns ago",
				     ep->idx, (unsigned long long)(now - ep->deadline));
			return;
		}
	} while (ep->deadline <= now || ep->dirty);
}

void sim_eps_work(struct sim_eps *e)
{
	for (uint32_t i = 0; i < e->a.world.nodes && !e->failed; i++) {
		ep_jobs_run(&e->ep[i]);
		ep_round(e, &e->ep[i]);
	}
}

/* The end of a stall is an event of the world. */
uint64_t sim_eps_due(const struct sim_eps *e)
{
	uint64_t t = UINT64_MAX, d;

	for (uint32_t i = 0; i < e->a.world.nodes; i++) {
		d = e->ep[i].dirty ? sim_eps_now(e) : e->ep[i].deadline;
		if (ep_runs(&e->ep[i]) && d < t)
			t = d;
		if (e->ep[i].nlent && e->ep[i].lent[0].at < t)
			t = e->ep[i].lent[0].at;
	}
	return t;
}

void sim_eps_jump(struct sim_eps *e, uint64_t until)
{
	uint64_t next = sdr_sim_world_next(e->w), due = sim_eps_due(e);

	next = due < next ? due : next;
	sdr_sim_world_run_until(e->w, next < until ? next : until);
}

void sim_eps_run(struct sim_eps *e, uint64_t ns)
{
	uint64_t end = sim_eps_now(e) + ns;

	for (;;) {
		sim_eps_work(e);
		if (e->failed || sim_eps_now(e) >= end)
			return;
		sim_eps_jump(e, end);
	}
}

/* ---- traces ---------------------------------------------------------------------------------- */

static uint64_t hash_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9fb21c651e98df25ull;
	return h ^ h >> 29;
}

void sim_hash_packet(uint64_t *hash, uint64_t now, enum sdr_sim_what what,
		     const struct sdr_sim_packet *p, bool bytes)
{
	const uint8_t *b = sdr_sim_packet_payload(p);
	uint64_t h = *hash, v;

	h = hash_mix(h, now << 4 ^ what);
	h = hash_mix(h, p->seq ^ (uint64_t)p->len << 40 ^ (uint64_t)p->kind << 60);
	h = hash_mix(h, p->va ^ (uint64_t)p->imm << 32);
	for (uint32_t i = 0; bytes && p->kind != SDR_SIM_DATA && i < p->len; i += 8) {
		v = 0;
		memcpy(&v, b + i, p->len - i < 8 ? p->len - i : 8);
		h = hash_mix(h, v);
	}
	*hash = h;
}
