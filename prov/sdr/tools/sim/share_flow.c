/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One sdr flow: messages of one size from one endpoint to another, a window of them posted all the
 * time, and its counters.
 *
 * Receives are posted before what they receive can come.  Completions only count; what they make
 * room for is posted between two rounds of the endpoints, from share_flow_post.
 */
#include <errno.h>
#include <string.h>

#include "share.h"

#define SHARE_GREETING 8u /* bytes */

static uint64_t share_pause(struct share_bed *b)
{
	double luck = (double)(share_rand(b) >> 11) * 0x1p-53;

	return (uint64_t)(luck * b->cfg->pause_s * SHARE_NS);
}

/* The last one begins the next all-to-all. */
static void share_waits(struct share_flow *f, uint64_t now)
{
	struct share_bed *b = f->bed;
	uint32_t each = b->cfg->flows / b->cfg->ranks;
	uint64_t pause = 0;

	f->next_ns = UINT64_MAX;
	if (--b->busy)
		return;
	b->busy = b->cfg->flows;
	for (uint32_t i = 0; i < b->cfg->flows; i++) {
		pause = i % each ? pause : share_pause(b);
		b->flow[i].next_ns = now + pause;
	}
}

/* A message of those that are sent one at a time is done. */
static void share_timed(struct share_flow *f)
{
	struct share_bed *b = f->bed;
	uint64_t now = sim_eps_now(&b->eps);

	if (b->cfg->ranks)
		share_waits(f, now);
	else
		f->next_ns = now + share_pause(b);
	if (f->posted > b->cfg->warm && b->res->times < SHARE_TIMES_MAX)
		b->res->time_s[b->res->times++] = (float)((double)(now - f->post_ns) / SHARE_NS);
	if (f->posted == b->cfg->messages)
		b->left--;
}

static void share_done(void *user, const struct sdr_rel_cqe *e)
{
	struct share_bed *b = user;
	struct share_flow *f = e->ctx;

	if (b->eps.failed || e->err == -ECANCELED)
		return;
	if (e->err) {
		sim_eps_fail(&b->eps, "flow %u: the %s failed: %s (%s)", f->idx,
			     e->kind == SDR_REL_RECV ? "receive" : "send", strerror(-e->err),
			     sdr_rel_strerror(e->prov_err));
		return;
	}
	if (e->kind == SDR_REL_SEND) {
		f->sends--;
		if (b->cfg->messages && f->step == SHARE_RUN)
			share_timed(f);
		return;
	}
	f->recvs--;
	if (f->step != SHARE_RUN)
		return;
	f->received++;
	f->received_bytes += e->len;
}

static int share_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access,
			void **va, void **region)
{
	(void)user;
	(void)key;
	(void)addr;
	(void)len;
	(void)access;
	(void)va;
	(void)region;
	return -ENOKEY;
}

const struct sdr_rel_cbs share_cbs = {
	.done = share_done,
	.mr_get = share_mr_get,
};

/* What it learnt stays, its connection does not. */
static void share_flow_reopen(struct share_flow *f)
{
	struct share_bed *b = f->bed;
	int err;

	sim_ep_close(&b->eps.ep[f->from]);
	sim_ep_close(&b->eps.ep[f->to]);
	err = share_node_open(b, f->to, NULL);
	if (!err)
		err = share_node_open(b, f->from, f->paths);
	if (!err)
		err = share_flow_meet(f);
	if (err)
		sim_eps_fail(&b->eps, "flow %u does not open again: %s", f->idx, strerror(-err));
}

/* The message of this step is over. */
static void share_flow_step(struct share_flow *f)
{
	if (f->step == SHARE_TEACH)
		share_flow_reopen(f);
	f->step = f->step == SHARE_TEACH && f->bed->cfg->greets ? SHARE_GREET : SHARE_RUN;
	f->posted = 0;
}

/* One message, which teaches or greets. */
static void share_flow_prepare(struct share_flow *f)
{
	struct share_bed *b = f->bed;
	struct sdr_rel_iov iov = { b->mem, SHARE_GREETING };
	struct sdr_rel_wr wr = {
		.kind = SDR_REL_SEND, .niov = 1, .iov = &iov, .peer = f->peer, .ctx = f
	};
	struct sdr_rel_rr rr = {
		.kind = SDR_REL_RECV, .niov = 1, .iov = &iov, .peer = f->back, .ctx = f
	};
	int err;

	if (f->step == SHARE_TEACH)
		iov.len = b->cfg->teach_bytes;
	if (f->posted) {
		if (!f->sends && !f->recvs)
			share_flow_step(f);
		return;
	}
	f->posted = f->sends = f->recvs = 1;
	b->eps.ep[f->to].dirty = b->eps.ep[f->from].dirty = true;
	err = sdr_rel_recv(b->eps.ep[f->to].rel, &rr);
	if (!err)
		err = sdr_rel_post(b->eps.ep[f->from].rel, &wr);
	if (err)
		sim_eps_fail(&b->eps, "flow %u: a post: %s", f->idx, strerror(-err));
}

void share_flow_post(struct share_flow *f)
{
	struct share_bed *b = f->bed;
	struct sdr_rel_iov iov = { b->mem, b->cfg->size };
	struct sdr_rel_wr wr = { .kind = SDR_REL_SEND, .niov = 1, .iov = &iov, .ctx = f };
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV, .niov = 1, .iov = &iov, .ctx = f };
	int err = 0;

	if (f->rival) {
		rival_start(f->rival);
		return;
	}
	if (f->step != SHARE_RUN)
		share_flow_prepare(f);
	if (f->step != SHARE_RUN)
		return;
	/* It may have been opened anew just now. */
	wr.peer = f->peer;
	rr.peer = f->back;
	for (; f->recvs < b->cfg->window && !err; f->recvs++) {
		err = sdr_rel_recv(b->eps.ep[f->to].rel, &rr);
		b->eps.ep[f->to].dirty = true;
	}
	if (b->cfg->messages &&
	    (f->sends || f->posted == b->cfg->messages || sim_eps_now(&b->eps) < f->next_ns))
		return;
	for (; f->sends < (b->cfg->messages ? 1 : b->cfg->window) && !err; f->sends++) {
		f->posted++;
		f->post_ns = sim_eps_now(&b->eps);
		err = sdr_rel_post(b->eps.ep[f->from].rel, &wr);
		b->eps.ep[f->from].dirty = true;
	}
	if (err)
		sim_eps_fail(&b->eps, "flow %u: a post: %s", f->idx, strerror(-err));
}

/* What the links know, of any flow. */
static void share_link_count(struct share_flow *f, struct share_count *c)
{
	struct sdr_sim_link_stats l, back;

	sdr_sim_lanes_stats(f->bed->eps.w, f->from, f->to, &l);
	sdr_sim_lanes_stats(f->bed->eps.w, f->to, f->from, &back);
	*c = (struct share_count){
		.offered = l.data + l.ctl,
		.dropped = l.dropped,
		.lost = l.lost,
		.marked = l.marked,
		.line_bytes = l.line_bytes,
		.data = l.data,
		.acks = back.data + back.ctl,
	};
}

void share_flow_count(struct share_flow *f, struct share_count *c)
{
	struct sdr_rel_stats st;
	struct rival_stats rv;

	share_link_count(f, c);
	if (f->rival) {
		rival_stats_get(f->rival, &rv);
		c->bytes = rv.bytes;
		c->messages = rv.delivered;
		c->rtx = rv.lost;
		return;
	}
	sdr_rel_stats_get(f->bed->eps.ep[f->from].rel, f->peer, &st);
	c->bytes = f->received_bytes;
	c->messages = f->received;
	c->parity = st.parity_tx + st.repair_tx;
	c->rtx = st.rtx_rack + st.rtx_nack + st.rtx_tlp + st.rtx_rto;
}

void share_flow_state(struct share_flow *f, struct share_tick *t)
{
	struct sdr_rel_stats st = { 0 };
	struct rival_stats rv;

	if (f->rival) {
		rival_stats_get(f->rival, &rv);
		st.cwnd_bytes = rv.cwnd;
		st.pacing_bps = 8 * rv.pacing_Bps;
		st.srtt_ns = rv.srtt;
		st.rtt_min_ns = rv.min_rtt;
	} else {
		sdr_rel_stats_get(f->bed->eps.ep[f->from].rel, f->peer, &st);
	}
	t->cwnd_bytes = (double)st.cwnd_bytes;
	t->pacing_bps = (double)st.pacing_bps;
	t->srtt_s = (double)st.srtt_ns / SHARE_NS;
	t->min_rtt_s = (double)st.rtt_min_ns / SHARE_NS;
	t->loss = (double)st.loss_ppm / 1e6;
}
