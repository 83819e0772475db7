/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a QP is opened, connected and destroyed: geometry, identity, connection.
 *
 * Decides what an attribute that was left 0 means and which combinations make no sense.
 * Generations are a power of two, so that the generation of a number runs on when numbers wrap at
 * 2^32.  The engine's stride of the message table is at least as long as the fragments of a user
 * immediate need packets.  Geometry is compared with the peer's by the engine; the chunk size is
 * the receiver's own matter and is not. Idle memory: this struct, four bytes and one bit an ID; 16
 * bytes an ID more where the peer is rkeyed and there are no hooks (sdr_keys.c).  No timers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"

#include "sdr_context.h"
#include "sdr_crew.h"
#include "sdr_cts.h"
#include "sdr_qp.h"
#include "sdr_recv.h"
#include "sdr_rxk.h"
#include "sdr_sdk.h"
#include "sdr_send.h"
#include "sdr_send_run.h"
#include "sdr_why.h"

#define SDR_CHUNK_DEFAULT   65536u	 /* bytes */
#define SDR_MAX_MSG_DEFAULT (1ull << 30) /* bytes */

static int sdr_qp_attr_get(const struct sdr_qp_attr *attr, struct sdr_qp_attr *a)
{
	static const struct sdr_imm_split def = SDR_IMM_SPLIT_DEFAULT;

	memset(a, 0, sizeof(*a));
	if (attr) {
		if (attr->size < sizeof(attr->size))
			return -EINVAL;
		memcpy(a, attr, attr->size < sizeof(*a) ? attr->size : sizeof(*a));
	}
	if (!a->id_bits && !a->off_bits && !a->user_bits) {
		a->id_bits = def.id_bits;
		a->off_bits = def.off_bits;
		a->user_bits = def.user_bits;
	}
	if (!a->channels)
		a->channels = 1;
	if (!a->generations)
		a->generations = 4;
	return 0;
}

/* The multiple of the MTU nearest to 64 KiB, but not more than offsets can tell apart. */
static uint32_t sdr_qp_chunk_default(uint32_t mtu, uint8_t off_bits)
{
	uint32_t n = (SDR_CHUNK_DEFAULT + mtu / 2) / mtu;

	if (n > 1u << off_bits)
		n = 1u << off_bits;
	return n * mtu;
}

/* -EINVAL, and why. */
#define QP_BAD(...) (sdr_why(a->why, a->why_len, __VA_ARGS__), -EINVAL)

static int sdr_qp_geometry(struct sdr_qp *qp, const struct sdr_qp_attr *a)
{
	struct sdr_imm_split s = { a->id_bits, a->off_bits, a->user_bits };
	uint64_t most;

	if (a->flags & ~SDR_QP_NUMBERED)
		return QP_BAD("flags %#x: expected SDR_QP_NUMBERED or 0", a->flags);
	if (sdr_imm_split_check(&s))
		return QP_BAD(
			"immediate of %u+%u+%u bits: expected 32 in all, id_bits of 1 to %u, off_bits of 1 or more, "
			"user_bits of 0, 1, 2, 4 or 8",
			s.id_bits, s.off_bits, s.user_bits, SDR_IMM_ID_BITS_MAX);
	if (a->channels > SDR_CHANNELS_MAX)
		return QP_BAD("channels %u: expected 1 to %u, or 0", a->channels, SDR_CHANNELS_MAX);
	if (a->generations > SDR_GENERATIONS_MAX || a->generations & (a->generations - 1u))
		return QP_BAD("generations %u: expected a power of two up to %u, or 0",
			      a->generations, SDR_GENERATIONS_MAX);
	qp->mtu = a->mtu ? a->mtu : qp->ctx->mtu;
	if (qp->mtu < SDR_MTU_MIN || qp->mtu > qp->ctx->mtu)
		return QP_BAD("mtu %u: this context carries %u to %u bytes of payload a packet",
			      qp->mtu, SDR_MTU_MIN, qp->ctx->mtu);
	qp->chunk = a->chunk ? a->chunk : sdr_qp_chunk_default(qp->mtu, s.off_bits);
	most = (uint64_t)qp->mtu << s.off_bits;
	if (qp->chunk % qp->mtu || qp->chunk > most)
		return QP_BAD(
			"chunk %u: expected a multiple of the mtu (%u bytes), at most %" PRIu64,
			qp->chunk, qp->mtu, most);
	qp->max_msg = a->max_msg		   ? a->max_msg
		      : most < SDR_MAX_MSG_DEFAULT ? most
						   : SDR_MAX_MSG_DEFAULT;
	if (qp->max_msg > most)
		return QP_BAD("max_msg %" PRIu64
			      ": %u offset bits and an mtu of %u bytes reach to %" PRIu64
			      "; more off_bits reach further",
			      qp->max_msg, s.off_bits, qp->mtu, most);
	qp->window = 1u << s.id_bits;
	if (a->max_inflight > qp->window)
		return QP_BAD("max_inflight %u: %u id_bits tell %u messages apart", a->max_inflight,
			      s.id_bits, qp->window);
	while (a->max_inflight && qp->window / 2 >= a->max_inflight)
		qp->window /= 2;
	qp->generations = a->generations;
	qp->channels = a->channels;
	qp->rate_bps = a->rate_bps;
	qp->spread_min = a->spread_min > SDR_UC_SPREAD_MIN ? a->spread_min : SDR_UC_SPREAD_MIN;
	qp->run_pkts = SDR_TRAIN_BYTES / (qp->mtu + SDR_DATA_OVERHEAD);
	if (qp->run_pkts > SDR_TRAIN_PKTS)
		qp->run_pkts = SDR_TRAIN_PKTS;
	if (qp->channels == 1)
		qp->run_pkts *= SDR_RUN_TRAINS;
	qp->rxk.mtu = qp->mtu;
	qp->rxk.split = s;
	SDR_ASSERT(qp->run_pkts > 0 && qp->window > 0 && qp->chunk % qp->mtu == 0);
	sdr_rxk_chunk_set(&qp->rxk, qp->chunk / qp->mtu);
	return 0;
}

/* Bytes between the messages of the engine's table. */
static uint64_t sdr_qp_stride(const struct sdr_qp *qp)
{
	uint64_t n = (qp->max_msg + qp->mtu - 1) / qp->mtu, frags = sdr_imm_frags(&qp->rxk.split);

	if (n < frags)
		n = frags;
	return (n ? n : 1) * qp->mtu;
}

struct sdr_qp *sdr_qp_create_hooked(struct sdr_context *ctx, const struct sdr_qp_attr *attr,
				    const struct sdr_qp_hooks *hooks)
{
	struct sdr_uc_qp_attr ua = { 0 };
	struct sdr_wire_qp_info info;
	struct sdr_qp *qp = NULL;
	struct sdr_qp_attr a;
	uint32_t ids;
	int err = -EINVAL;

	if (!ctx || sdr_qp_attr_get(attr, &a))
		goto out;
	if (a.why && a.why_len)
		a.why[0] = 0;
	ids = 1u << (a.id_bits <= SDR_IMM_ID_BITS_MAX ? a.id_bits : 0); /* else refused below */
	err = -ENOMEM;
	qp = calloc(1, sizeof(*qp) + 2 * sizeof(uint64_t) * sdr_bitmap_words(ids) +
			       sizeof(uint32_t) * ids);
	if (!qp)
		goto out;
	qp->ctx = ctx;
	qp->done = (uint64_t *)(void *)(qp + 1);
	qp->live = qp->done + sdr_bitmap_words(ids);
	qp->rxk.slots = (uint32_t *)(void *)(qp->live + sdr_bitmap_words(ids));
	qp->rxk.slabs = ctx->pool.rslab;
	qp->rxk.stride = sizeof(struct sdr_rcv_handle);
	err = sdr_qp_geometry(qp, &a);
	if (err)
		goto out_qp;
	qp->numbered = hooks || (a.flags & SDR_QP_NUMBERED);
	if (hooks) {
		qp->hooks = *hooks;
		qp->hooked = true;
	}
	sdr_list_init(&qp->busy);
	sdr_list_init(&qp->sends);
	sdr_list_init(&qp->ready);
	sdr_list_init(&qp->waiting);

	ua.channels = qp->channels;
	ua.generations = qp->generations;
	ua.split = qp->rxk.split;
	ua.mtu = qp->mtu;
	ua.max_msg = sdr_qp_stride(qp);
	ua.cookie = qp;
	sdr_context_random(ctx, ua.rand);
	err = ctx->uc->ops->qp_create(ctx->uc, &ua, &qp->uqp);
	if (err)
		goto out_qp;
	memset(&info, 0, sizeof(info));
	ctx->uc->ops->qp_info(qp->uqp, &info);
	qp->qpn = info.qpn;
	qp->rkey = info.rkey;
	qp->hash_next = ctx->bucket[qp->qpn % SDR_QP_BUCKETS];
	ctx->bucket[qp->qpn % SDR_QP_BUCKETS] = qp;
	sdr_list_add_tail(&qp->link, &ctx->qps);
	return qp;

out_qp:
	free(qp);
	sdr_why_end(a.why, a.why_len, err);
out:
	errno = -err;
	return NULL;
}

struct sdr_qp *sdr_qp_create(struct sdr_context *ctx, const struct sdr_qp_attr *attr)
{
	return sdr_qp_create_hooked(ctx, attr, NULL);
}

/* Ends all messages of the QP; their handles are gone with it. */
int sdr_qp_destroy(struct sdr_qp *qp)
{
	struct sdr_context *ctx;
	struct sdr_qp **p;
	uint32_t i;
	int k;

	if (!qp)
		return -EINVAL;
	ctx = qp->ctx;
	for (i = 0; qp->nlive && i < 1u << qp->rxk.split.id_bits; i++)
		if (sdr_bitmap_test(qp->live, i))
			sdr_recv_free(sdr_container(sdr_rxk_msg_at(&qp->rxk, qp->rxk.slots[i]),
						    struct sdr_rcv_handle, k));
	while (!sdr_list_empty(&qp->sends))
		sdr_send_free(sdr_container(qp->sends.next, struct sdr_snd_handle, all));
	for (k = ctx->ev_pos; k < ctx->ev_n; k++) {
		if (ctx->ev[k].kind == SDR_UC_EV_PLACED && ctx->ev[k].p.cookie == qp)
			ctx->ev[k].p.cookie = NULL;
		if (ctx->ev[k].kind == SDR_UC_EV_QP && ctx->ev[k].q.cookie == qp)
			ctx->ev[k].q.cookie = NULL;
	}
	for (p = &ctx->bucket[qp->qpn % SDR_QP_BUCKETS]; *p != qp; p = &(*p)->hash_next)
		;
	*p = qp->hash_next;
	sdr_list_del(&qp->link);
	sdr_list_del(&qp->busy);
	ctx->uc->ops->qp_destroy(qp->uqp);
	if (ctx->crew)
		sdr_crew_forget(ctx, qp);
	free(qp->keys);
	free(qp);
	return 0;
}

int sdr_qp_connect_addr(struct sdr_qp *qp, const void *remote_qp_info,
			const struct sdr_uc_addr *addr)
{
	struct sdr_wire_key *keys = NULL;
	struct sdr_wire_qp_info i;
	int err;

	if (!qp || !remote_qp_info)
		return -EINVAL;
	if (qp->connected && !qp->hooked)
		return -EISCONN;
	err = sdr_wire_qp_info_decode(remote_qp_info, SDR_QP_INFO_LEN, &i);
	if (err)
		return err == -EPROTONOSUPPORT ? -EPROTO : -EBADMSG;
	if ((i.flags & SDR_QP_F_RKEYED) && !qp->numbered) {
		keys = calloc(1u << qp->rxk.split.id_bits, sizeof(*keys));
		if (!keys)
			return -ENOMEM;
	}
	err = qp->ctx->uc->ops->qp_connect(qp->uqp, &i, addr);
	if (err) {
		free(keys);
		return err;
	}
	qp->keys = keys;
	qp->peer_qpn = i.qpn;
	qp->peer_rkey = i.rkey;
	qp->peer_rkeyed = i.flags & SDR_QP_F_RKEYED;
	qp->peer_window = i.rx_window;
	memset(&qp->peer, 0, sizeof(qp->peer));
	if (addr) {
		qp->peer = *addr;
	} else {
		qp->peer.len = i.addr_len;
		memcpy(qp->peer.b, i.addr, i.addr_len);
	}
	qp->connected = true;
	sdr_cts_kick(qp);
	return 0;
}

int sdr_qp_connect(struct sdr_qp *qp, const void *remote_qp_info)
{
	return sdr_qp_connect_addr(qp, remote_qp_info, NULL);
}
