/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Fault injection as an engine.  Each wire packet meets its fate (sdr_fault_dice.c) in the order in
 * which packets are posted: in a blackout all are lost; without delays what is left goes to the
 * inner engine at once (sdr_fault_direct.c), else it waits (sdr_fault_delayq.c).
 *
 * QPs are wrapped: who finds the engine through a QP finds this one.  Receiving is the inner
 * engine's.
 */
#include <errno.h>
#include <stdlib.h>

#include "sdr_fault_impl.h"
#include "sdr_fault_direct.h"

static const struct sdr_uc_ops sdr_fault_ops;

static inline struct sdr_fault *sdr_fault_of(struct sdr_uc *uc)
{
	return (struct sdr_fault *)uc;
}

/* ---- posting --------------------------------------------------------------------------------- */

static int sdr_fault_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	if (f->spec.blackout_len_ns && sdr_fault_black(f, f->inner->ops->now(f->inner))) {
		struct sdr_fault_dice before = f->dice;

		sdr_fault_post_black(f, v, n);
		/* The streams have moved; what they said did not happen. */
		f->dice.drop = before.drop;
		f->dice.dup = before.dup;
		f->dice.reorder = before.reorder;
		f->dice.corrupt = before.corrupt;
		return n;
	}
	if (!f->holds)
		return sdr_fault_post_now(f, v, n);
	sdr_fault_delayq_post(f, v, n);
	return n;
}

/* ---- the other operations -------------------------------------------------------------------- */

static int sdr_fault_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	if (f->holds && sdr_fault_delayq_deadline(f) != UINT64_MAX)
		sdr_fault_delayq_release(f, f->inner->ops->now(f->inner));
	return f->inner->ops->poll(f->inner, ev, max);
}

static bool sdr_fault_dry(struct sdr_uc *uc)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->dry && f->inner->ops->dry(f->inner);
}

static uint64_t sdr_fault_deadline(struct sdr_uc *uc)
{
	struct sdr_fault *f = sdr_fault_of(uc);
	uint64_t in = f->inner->ops->deadline(f->inner);
	uint64_t held = f->holds ? sdr_fault_delayq_deadline(f) : UINT64_MAX;

	return in < held ? in : held;
}

static void sdr_fault_close(struct sdr_uc *uc)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	/* A network delivers what was sent before the socket was closed, and no sooner for that. */
	if (f->holds) {
		sdr_fault_delayq_drain(f, SDR_FAULT_DRAIN_NS);
		sdr_fault_delayq_release(f, UINT64_MAX);
		sdr_fault_delayq_free(f);
	}
	f->inner->ops->close(f->inner);
	free(f);
}

static void sdr_fault_info(struct sdr_uc *uc, struct sdr_uc_info *out)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	f->inner->ops->info(f->inner, out);
}

static void sdr_fault_stats(struct sdr_uc *uc, struct sdr_uc_stats *out)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	f->inner->ops->stats(f->inner, out);
	out->fault_drop += f->dice.drop + f->queue_drop;
	out->fault_dup += f->dice.dup;
	out->fault_reorder += f->dice.reorder;
	out->fault_corrupt += f->dice.corrupt;
}

static void sdr_fault_source(struct sdr_uc *uc, uint32_t source, struct sdr_uc_addr *out)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	if (f->inner->ops->source)
		f->inner->ops->source(f->inner, source, out);
	else
		f->inner->ops->sockname(f->inner, out);
}

static uint64_t sdr_fault_now(struct sdr_uc *uc)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->now(f->inner);
}

static int sdr_fault_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *attr,
			       struct sdr_uc_qp **qp)
{
	struct sdr_fault *f = sdr_fault_of(uc);
	struct sdr_fault_qp *q;
	int ret;

	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	ret = f->inner->ops->qp_create(f->inner, attr, &q->inner);
	if (ret) {
		free(q);
		return ret;
	}
	q->qp.uc = uc;
	q->mtu = attr->mtu;
	*qp = &q->qp;
	return 0;
}

static void sdr_fault_qp_destroy(struct sdr_uc_qp *qp)
{
	struct sdr_fault_qp *q = sdr_fault_qp_of(qp);
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	if (f->holds)
		sdr_fault_delayq_purge(f, q);
	f->inner->ops->qp_destroy(q->inner);
	free(q);
}

static void sdr_fault_qp_info(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	f->inner->ops->qp_info(sdr_fault_qp_of(qp)->inner, out);
}

static int sdr_fault_qp_connect(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *peer,
				const struct sdr_uc_addr *addr)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	return f->inner->ops->qp_connect(sdr_fault_qp_of(qp)->inner, peer, addr);
}

static int sdr_fault_qp_via(struct sdr_uc_qp *qp, uint32_t via, uint32_t source,
			    const struct sdr_uc_addr *addr)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	if (!f->inner->ops->qp_via)
		return -EINVAL;
	return f->inner->ops->qp_via(sdr_fault_qp_of(qp)->inner, via, source, addr);
}

static void sdr_fault_qp_readdress(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	f->inner->ops->qp_readdress(sdr_fault_qp_of(qp)->inner, addr);
}

static void sdr_fault_qp_path(struct sdr_uc_qp *qp, uint32_t bytes)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	if (f->inner->ops->qp_path)
		f->inner->ops->qp_path(sdr_fault_qp_of(qp)->inner, bytes);
}

static void sdr_fault_via_path(struct sdr_uc_qp *qp, uint32_t via, uint32_t bytes)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	if (f->inner->ops->via_path)
		f->inner->ops->via_path(sdr_fault_qp_of(qp)->inner, via, bytes);
}

static void sdr_fault_crew(struct sdr_uc *uc, const struct sdr_uc_crew *crew)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	if (f->inner->ops->crew)
		f->inner->ops->crew(f->inner, crew);
}

static uint64_t sdr_fault_crew_done(struct sdr_uc *uc)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->crew_done(f->inner);
}

static uint32_t sdr_fault_path_mtu(struct sdr_uc *uc, const struct sdr_uc_addr *to)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->path_mtu ? f->inner->ops->path_mtu(f->inner, to) : 0;
}

static int sdr_fault_slot_bind(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf,
			       size_t len, void *mr)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	return f->inner->ops->slot_bind(sdr_fault_qp_of(qp)->inner, slot, use, buf, len, mr);
}

static void sdr_fault_slot_unbind(struct sdr_uc_qp *qp, uint32_t slot)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	f->inner->ops->slot_unbind(sdr_fault_qp_of(qp)->inner, slot);
}

static int sdr_fault_grant(struct sdr_uc_qp *qp, void *buf, size_t len, const struct sdr_mem *mem,
			   void *mr, struct sdr_uc_grant *g)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	return f->inner->ops->grant(sdr_fault_qp_of(qp)->inner, buf, len, mem, mr, g);
}

static void sdr_fault_grant_end(struct sdr_uc_qp *qp, struct sdr_uc_grant *g)
{
	struct sdr_fault *f = sdr_fault_of(qp->uc);

	f->inner->ops->grant_end(sdr_fault_qp_of(qp)->inner, g);
}

/* What is held back is copied: not out of a device. */
static int sdr_fault_mr_reg(struct sdr_uc *uc, void *buf, size_t len, const struct sdr_mem *mem,
			    void **mr)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	if (mem && f->holds)
		return -EOPNOTSUPP;
	return f->inner->ops->mr_reg(f->inner, buf, len, mem, mr);
}

static void sdr_fault_mr_dereg(struct sdr_uc *uc, void *mr)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	f->inner->ops->mr_dereg(f->inner, mr);
}

static bool sdr_fault_mr_busy(struct sdr_uc *uc, void *mr)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->mr_busy && f->inner->ops->mr_busy(f->inner, mr);
}

static bool sdr_fault_reading(struct sdr_uc *uc, const void *buf, size_t len)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->reading && f->inner->ops->reading(f->inner, buf, len);
}

static void sdr_fault_sockname(struct sdr_uc *uc, struct sdr_uc_addr *out)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	f->inner->ops->sockname(f->inner, out);
}

static int sdr_fault_fd(struct sdr_uc *uc)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->fd(f->inner);
}

static const char *sdr_fault_reason(struct sdr_uc *uc)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->reason(f->inner);
}

static bool sdr_fault_arm(struct sdr_uc *uc)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->arm(f->inner);
}

static bool sdr_fault_rearm(struct sdr_uc *uc)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	return f->inner->ops->rearm && f->inner->ops->rearm(f->inner);
}

static void sdr_fault_hush(struct sdr_uc *uc, bool on)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	if (f->inner->ops->hush)
		f->inner->ops->hush(f->inner, on);
}

/* No effect on the simulated network, where time does not pass meanwhile. */
static void sdr_fault_drain(struct sdr_uc *uc, uint64_t patience_ns)
{
	struct sdr_fault *f = sdr_fault_of(uc);

	if (f->holds)
		sdr_fault_delayq_drain(f, patience_ns);
}

static const struct sdr_uc_ops sdr_fault_ops = {
	.close = sdr_fault_close,
	.info = sdr_fault_info,
	.stats = sdr_fault_stats,
	.sockname = sdr_fault_sockname,
	.now = sdr_fault_now,
	.qp_create = sdr_fault_qp_create,
	.qp_destroy = sdr_fault_qp_destroy,
	.qp_info = sdr_fault_qp_info,
	.qp_connect = sdr_fault_qp_connect,
	.qp_via = sdr_fault_qp_via,
	.source = sdr_fault_source,
	.qp_readdress = sdr_fault_qp_readdress,
	.qp_path = sdr_fault_qp_path,
	.via_path = sdr_fault_via_path,
	.path_mtu = sdr_fault_path_mtu,
	.slot_bind = sdr_fault_slot_bind,
	.slot_unbind = sdr_fault_slot_unbind,
	.grant = sdr_fault_grant,
	.grant_end = sdr_fault_grant_end,
	.mr_reg = sdr_fault_mr_reg,
	.mr_dereg = sdr_fault_mr_dereg,
	.mr_busy = sdr_fault_mr_busy,
	.reading = sdr_fault_reading,
	.post = sdr_fault_post,
	.poll = sdr_fault_poll,
	.dry = sdr_fault_dry,
	.fd = sdr_fault_fd,
	.arm = sdr_fault_arm,
	.rearm = sdr_fault_rearm,
	.hush = sdr_fault_hush,
	.reason = sdr_fault_reason,
	.crew = sdr_fault_crew,
	.crew_done = sdr_fault_crew_done,
	.deadline = sdr_fault_deadline,
	.drain = sdr_fault_drain,
};

int sdr_fault_open_spec(struct sdr_uc *inner, const struct sdr_fault_spec *spec, struct sdr_uc **uc)
{
	struct sdr_fault *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->uc.ops = &sdr_fault_ops;
	f->inner = inner;
	f->spec = *spec;
	f->opened = inner->ops->now(inner);
	f->holds = spec->delay_ns || spec->jitter_ns || spec->rate_bps || spec->reorder > 0;
	if (spec->burst > 1 && spec->drop < 1) {
		f->go_good = 1 / spec->burst;
		f->go_bad = spec->drop / (1 - spec->drop) / spec->burst;
	}
	f->delayq.queue_bytes = spec->queue_bytes;
	if (!f->delayq.queue_bytes) {
		f->delayq.queue_bytes =
			(uint64_t)((double)spec->rate_bps / 8e9 * SDR_FAULT_QUEUE_NS);
		if (f->delayq.queue_bytes < SDR_FAULT_QUEUE_MIN)
			f->delayq.queue_bytes = SDR_FAULT_QUEUE_MIN;
	}
	sdr_fault_dice_seed(&f->dice, spec->seed);
	*uc = &f->uc;
	return 0;
}

int sdr_fault_open(struct sdr_uc *inner, const char *spec, uint64_t seed, struct sdr_uc **uc,
		   char *err, size_t err_len)
{
	struct sdr_fault_spec s;
	int ret;

	ret = sdr_fault_parse(spec, &s, err, err_len);
	if (ret)
		return ret;
	if (!s.has_seed)
		s.seed = seed;
	return sdr_fault_open_spec(inner, &s, uc);
}
