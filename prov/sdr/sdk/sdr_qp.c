/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The QP as everything else here finds it: what it says of itself, its grants, whether it is on its
 * context's list of those with something to do, and that it is broken.  Opening and closing it is
 * sdr_qp_open.c, which is above sends and receives; this file is below them.
 */
#include <errno.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "sdr_qp.h"
#include "sdr_context.h"

/* What is under way ends with the QP; what would be new is refused. */
void sdr_qp_broken(struct sdr_qp *qp, int err)
{
	if (qp->err)
		return;
	qp->err = err;
	if (qp->hooks.broken)
		qp->hooks.broken(qp->hooks.user, err);
}

void sdr_qp_info_addr(struct sdr_wire_qp_info *i, const struct sdr_uc_addr *addr)
{
	i->addr_len = addr->len < sizeof(i->addr) ? addr->len : sizeof(i->addr);
	memcpy(i->addr, addr->b, i->addr_len);
}

int sdr_qp_info_get(struct sdr_qp *qp, void *info)
{
	struct sdr_wire_qp_info i;

	_Static_assert(SDR_QP_INFO_SIZE == SDR_QP_INFO_LEN, "public and wire size of the QP info");
	if (!qp || !info)
		return -EINVAL;
	memset(&i, 0, sizeof(i));
	qp->ctx->uc->ops->qp_info(qp->uqp, &i);
	i.chunk = qp->chunk;
	if (!i.addr_len && !qp->hooked)
		sdr_qp_info_addr(&i, &qp->ctx->home);
	sdr_wire_qp_info_encode(info, &i);
	return 0;
}

int sdr_qp_query(struct sdr_qp *qp, struct sdr_qp_attr *out)
{
	struct sdr_qp_attr a = { 0 };

	if (!qp || !out || out->size < sizeof(out->size))
		return -EINVAL;
	a.size = out->size < sizeof(a) ? out->size : sizeof(a);
	a.mtu = qp->mtu;
	a.chunk = qp->chunk;
	a.max_msg = qp->max_msg;
	a.max_inflight = qp->window;
	a.id_bits = qp->rxk.split.id_bits;
	a.off_bits = qp->rxk.split.off_bits;
	a.user_bits = qp->rxk.split.user_bits;
	a.channels = qp->channels;
	a.generations = qp->generations;
	a.rate_bps = qp->rate_bps;
	a.flags = qp->numbered ? SDR_QP_NUMBERED : 0;
	a.spread_min = qp->spread_min;
	if (a.size > offsetof(struct sdr_qp_attr, why)) {
		a.why = out->why;
		a.why_len = a.size > offsetof(struct sdr_qp_attr, why_len) ? out->why_len : 0;
	}
	memcpy(out, &a, a.size);
	return 0;
}

int sdr_qp_peer_query(struct sdr_qp *qp, struct sdr_qp_peer *out)
{
	struct sdr_qp_peer p = { 0 };

	if (!qp || !out || out->size < sizeof(out->size))
		return -EINVAL;
	if (!qp->connected)
		return -ENOTCONN;
	p.size = out->size < sizeof(p) ? out->size : sizeof(p);
	p.rx_window = qp->peer_window;
	p.keyed = qp->peer_rkeyed;
	memcpy(out, &p, p.size);
	return 0;
}

int sdr_qp_handlers_set(struct sdr_qp *qp, const struct sdr_qp_handlers *handlers)
{
	struct sdr_qp_handlers h = { 0 };

	if (!qp || qp->hooked || (handlers && handlers->size < sizeof(handlers->size)))
		return -EINVAL;
	if (handlers)
		memcpy(&h, handlers, handlers->size < sizeof(h) ? handlers->size : sizeof(h));
	qp->hooks.user = h.user;
	qp->hooks.recv_progress = h.received;
	qp->hooks.broken = h.broken;
	qp->control = h.control;
	return 0;
}

void sdr_qp_readdress(struct sdr_qp *qp, const struct sdr_uc_addr *addr)
{
	qp->peer = *addr;
	qp->ctx->uc->ops->qp_readdress(qp->uqp, addr);
}

int sdr_qp_via(struct sdr_qp *qp, uint32_t via, uint8_t source, const struct sdr_uc_addr *addr)
{
	const struct sdr_uc_ops *ops = qp->ctx->uc->ops;

	SDR_ASSERT(via && via < SDR_PATHS_MAX && source < qp->ctx->info.sources);
	return ops->qp_via ? ops->qp_via(qp->uqp, via, source, addr) : -EINVAL;
}

void sdr_qp_marks_via(struct sdr_qp *qp, uint64_t (*marks)[SDR_UC_ECNS])
{
	qp->marks_via = marks;
}

void sdr_qp_via_set(struct sdr_qp *qp, uint32_t via)
{
	SDR_ASSERT(via < SDR_PATHS_MAX);
	qp->tx_via = (uint8_t)via;
}

void sdr_qp_path_set(struct sdr_qp *qp, uint32_t bytes)
{
	if (qp->ctx->uc->ops->qp_path)
		qp->ctx->uc->ops->qp_path(qp->uqp, bytes);
}

void sdr_qp_via_path_set(struct sdr_qp *qp, uint32_t via, uint32_t bytes)
{
	if (qp->ctx->uc->ops->via_path)
		qp->ctx->uc->ops->via_path(qp->uqp, via, bytes);
}

const struct sdr_uc_addr *sdr_qp_addr(const struct sdr_qp *qp)
{
	return &qp->peer;
}

void sdr_qp_recv_from(struct sdr_qp *qp, uint32_t msn)
{
	SDR_ASSERT(qp->numbered && !qp->nlive);
	qp->base = qp->next = msn;
}

void sdr_qp_send_from(struct sdr_qp *qp, uint32_t msn)
{
	SDR_ASSERT(qp->numbered && sdr_list_empty(&qp->sends));
	qp->snd_next = qp->snd_limit = qp->snd_known = msn;
}

void sdr_qp_ect_set(struct sdr_qp *qp, bool on)
{
	SDR_ASSERT(!on || qp->ctx->info.ecn);
	qp->tx_flags = on ? SDR_UC_F_ECT : 0;
}

void sdr_qp_busy_update(struct sdr_qp *qp)
{
	bool want = qp->cts_armed || !sdr_list_empty(&qp->ready);

	if (!want)
		sdr_list_del(&qp->busy);
	else if (sdr_list_empty(&qp->busy))
		sdr_list_add_tail(&qp->busy, &qp->ctx->busy);
}

int sdr_qp_grant(struct sdr_qp *qp, void *buf, size_t len, const struct sdr_mem *mem,
		 struct sdr_uc_grant *g)
{
	return qp->ctx->uc->ops->grant(qp->uqp, buf, len, mem, NULL, g);
}

void sdr_qp_grant_end(struct sdr_qp *qp, struct sdr_uc_grant *g)
{
	if (g->impl)
		qp->ctx->uc->ops->grant_end(qp->uqp, g);
}

bool sdr_qp_far(const struct sdr_qp *qp)
{
	return qp->ctx->info.far;
}

bool sdr_qp_rkeyed(const struct sdr_qp *qp)
{
	return qp->ctx->info.rkeyed;
}

bool sdr_qp_peer_rkeyed(const struct sdr_qp *qp)
{
	return qp->peer_rkeyed;
}

uint32_t sdr_qp_ids(const struct sdr_qp *qp)
{
	return qp->window;
}

uint32_t sdr_qp_mtu(const struct sdr_qp *qp)
{
	return qp->mtu;
}

uint32_t sdr_qp_chunk(const struct sdr_qp *qp)
{
	return qp->chunk;
}

uint64_t sdr_qp_max_msg(const struct sdr_qp *qp)
{
	return qp->max_msg;
}
