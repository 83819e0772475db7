/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The shape of a connection's data: the size of its packets, and all that follows from it: the QP,
 * the longest message, chunks, runs, how many packets a report waits for.
 *
 * Both directions have the same.  During the handshake a shape is replaced, with nothing numbered
 * on it; later a second one takes over what is numbered next (sdr_reshape.c), and the first lives
 * on until nothing on it is open any more.  Numbers go on over the change, and so does their
 * window: it begins with the lowest number that is not decided, on whichever shape that lies.  So
 * no two numbers that are open share a slot, an ID or a bit, and credit never goes back.
 *
 * No timers, no threads.
 */
#include <errno.h>
#include <string.h>
#include "sdr_conn.h"
#include "sdr_conn_ops.h"
#include "sdr_multipath.h"

/* The SDK's call: our end of it has failed, and that of no other connection. */
static void conn_broken(void *user, int err)
{
	struct sdr_conn *c = user;

	(void)err;
	sdr_rel_now(c->rel);
	sdr_conn_fail(c, SDR_REL_ERR_ENGINE);
}

static uint32_t at_most(uint32_t n, uint32_t max)
{
	return n < max ? n : max;
}

/* Eight reports for each fill of our own buffer, so that the sender's window moves in time. */
static uint32_t dack_pkts(const struct sdr_rel *rel, uint32_t mtu)
{
	uint32_t n = rel->info.rx_window ? rel->info.rx_window / 8 / mtu : SDR_DACK_PKTS;

	n = at_most(n, SDR_DACK_PKTS);
	return n < SDR_DACK_PKTS_MIN ? SDR_DACK_PKTS_MIN : n;
}

int sdr_shape_make(struct sdr_conn *c, uint32_t mtu, struct sdr_conn_shape *s)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_qp_hooks hooks = { .user = c,
				      .recv_progress = rel->ops->placed,
				      .broken = conn_broken,
				      .marks = c->marks };
	struct sdr_qp_attr attr = {
		.size = sizeof(attr),
		.mtu = mtu,
		.id_bits = rel->cfg.split.id_bits,
		.off_bits = rel->cfg.split.off_bits,
		.user_bits = rel->cfg.split.user_bits,
		.channels = rel->cfg.channels,
		.generations = rel->cfg.generations,
	};
	uint64_t seg = (uint64_t)mtu << rel->cfg.split.off_bits;

	memset(s, 0, sizeof(*s));
	s->mtu = mtu;
	s->chunk_pkts = rel->cfg.chunk / mtu ? rel->cfg.chunk / mtu : 1;
	s->chunk_pkts = at_most(s->chunk_pkts, 1u << rel->cfg.split.off_bits);
	s->run_pkts = at_most(SDR_RUN_BYTES / mtu, SDR_RUN_PKTS_MAX);
	s->dack_pkts = dack_pkts(rel, mtu);
	s->seg_bytes = seg > SDR_REL_SEG_MAX ? SDR_REL_SEG_MAX / mtu * mtu : seg;
	attr.chunk = s->chunk_pkts * mtu;
	attr.max_msg = s->seg_bytes;
	attr.spread_min = rel->cfg.spread_min ? rel->cfg.spread_min : SDR_REL_SPREAD_MIN;
	s->qp = sdr_qp_create_hooked(rel->ctx, &attr, &hooks);
	return s->qp ? 0 : -ENOMEM;
}

void sdr_shape_take(struct sdr_conn *c, const struct sdr_conn_shape *s)
{
	SDR_ASSERT(s->qp && s->mtu && s->chunk_pkts && s->seg_bytes >= s->mtu);
	SDR_ASSERT(c->shape == c->in.now && !c->in.old);
	if (c->shape->qp)
		sdr_shape_drop(c->shape);
	*c->shape = *s;
}

int sdr_shape_qp_make(struct sdr_conn *c, uint32_t mtu)
{
	struct sdr_conn_shape s;
	int ret = sdr_shape_make(c, mtu, &s);

	if (!ret)
		sdr_shape_take(c, &s);
	return ret;
}

void sdr_shape_drop(struct sdr_conn_shape *s)
{
	SDR_ASSERT(s->qp);
	sdr_qp_destroy(s->qp);
	memset(s, 0, sizeof(*s));
}

void sdr_shape_free(struct sdr_conn *c)
{
	for (int i = 0; i < 2; i++)
		if (c->shapes[i].qp)
			sdr_shape_drop(&c->shapes[i]);
}

struct sdr_conn_shape *sdr_shape_other(struct sdr_conn *c)
{
	return &c->shapes[c->shape == &c->shapes[0]];
}

/* Numbers of the peer's that lie on the old one and are not decided. */
static bool shape_old_open(const struct sdr_conn *c)
{
	return c->in.old && sdr_qp_recv_base(c->in.old->qp) != c->in.lo;
}

bool sdr_shape_alone(const struct sdr_conn *c)
{
	return c->in.now == c->shape && !shape_old_open(c) && (!c->in.old || !c->in.old->ntx);
}

void sdr_shape_reap(struct sdr_conn *c, bool at_once)
{
	struct sdr_conn_shape *o = c->in.old;

	if (!o || !sdr_shape_alone(c))
		return;
	SDR_ASSERT(o == sdr_shape_other(c));
	if (!c->in.over_ns)
		c->in.over_ns = c->rel->now;
	if (!at_once && c->rel->now - c->in.over_ns < sdr_conn_rto(c, 0))
		return;
	c->in.old = NULL;
	c->in.over_ns = 0;
	sdr_shape_drop(o);
}

struct sdr_conn_shape *sdr_shape_of_rx(const struct sdr_conn *c, uint32_t msn)
{
	return c->in.old && sdr_seq_lt(msn, c->in.lo) ? c->in.old : c->in.now;
}

uint32_t sdr_shape_rx_base(const struct sdr_conn *c)
{
	return sdr_qp_recv_base(shape_old_open(c) ? c->in.old->qp : c->in.now->qp);
}

void sdr_shape_readdress(struct sdr_conn *c, const struct sdr_uc_addr *to)
{
	for (int i = 0; i < 2; i++)
		if (c->shapes[i].qp)
			sdr_qp_readdress(c->shapes[i].qp, to);
}

void sdr_shape_ways(const struct sdr_conn *c, const struct sdr_conn_shape *s)
{
	for (uint32_t i = 1; i < c->npaths; i++) {
		const struct sdr_path *p = sdr_conn_path_of(c, i);

		if (p->doubles || sdr_qp_via(s->qp, i, p->source, &p->addr))
			continue;
		sdr_qp_via_path_set(s->qp, i, p->pmtu.size);
	}
	sdr_qp_marks_via(s->qp, c->npaths > 1 ? c->multi->marks : NULL);
}

void sdr_shape_ways_all(const struct sdr_conn *c)
{
	for (int i = 0; i < 2; i++)
		if (c->shapes[i].qp)
			sdr_shape_ways(c, &c->shapes[i]);
}

void sdr_shape_limit_set(struct sdr_conn *c, uint32_t msn_limit)
{
	for (int i = 0; i < 2; i++)
		if (c->shapes[i].qp)
			sdr_qp_limit_set(c->shapes[i].qp, msn_limit);
}
