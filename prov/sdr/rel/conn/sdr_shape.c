/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The shape of a connection's data: the size of its packets, and all that follows from it: the QP,
 * the longest message, chunks, runs, how many packets a report waits for.
 *
 * Both directions have the same.  During the handshake a shape is replaced, with nothing numbered on
 * it.  No timers, no threads.
 */
#include <errno.h>
#include "sdr_conn.h"
#include "sdr_conn_ops.h"

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
				      .broken = conn_broken };
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

	s->mtu = mtu;
	s->chunk_pkts = rel->cfg.chunk / mtu ? rel->cfg.chunk / mtu : 1;
	s->chunk_pkts = at_most(s->chunk_pkts, 1u << rel->cfg.split.off_bits);
	s->run_pkts = at_most(SDR_RUN_BYTES / mtu, SDR_RUN_PKTS_MAX);
	s->dack_pkts = dack_pkts(rel, mtu);
	s->seg_bytes = seg > SDR_REL_SEG_MAX ? SDR_REL_SEG_MAX / mtu * mtu : seg;
	attr.chunk = s->chunk_pkts * mtu;
	attr.max_msg = s->seg_bytes;
	s->qp = sdr_qp_create_hooked(rel->ctx, &attr, &hooks);
	return s->qp ? 0 : -ENOMEM;
}

void sdr_shape_take(struct sdr_conn *c, const struct sdr_conn_shape *s)
{
	SDR_ASSERT(s->qp && s->mtu && s->chunk_pkts && s->seg_bytes >= s->mtu);
	if (c->shape->qp)
		sdr_qp_destroy(c->shape->qp);
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
