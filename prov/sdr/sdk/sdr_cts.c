/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Clear to send: the receiver reports how many messages it has posted, the sender takes the highest
 * report.
 *
 * A state, not an event, so repeating and reordering are harmless and losing one only costs time:
 * it is sent when a receive is posted and repeated after 10 ms, doubling to 1 s, until the sender
 * is known to know the newest number: it has used it, or it has confirmed it (CTS_SEEN, the answer
 * to a CTS that said nothing new).  When every receive has been completed without such a sign the
 * repetition ends after SDR_CTS_LINGER_NS.
 *
 * Rkey-addressed receivers send KEYS in its place (sdr_keys.c), with the same timer and the same
 * answer; there CTS_SEEN is the only sign, since a message may be sent before its predecessors'
 * keys have come.
 *
 * Two rules keep a sender that is informed late from writing into a newer message (law 2), because
 * to the receiver a message sent late looks like a packet that came late.  The sender leaves out
 * messages below limit - IDs: the receiver's window says that they were completed.  And the
 * receiver posts number n only when the sender is known to know of a number above n - (generations
 * - 1) * IDs, so what it may still send is younger than n - generations * IDs.  Only a receiver
 * that completes thousands of messages unseen ever waits for that. Both hold with keys as well: a
 * sender that confirms number n knows of posted >= n, so its limit is not below n.  They are still
 * needed there: a message sent late meets an ended grant and writes nothing, but a device may
 * report it (sdr_keys.c), and the bit that it then names must not be a newer message's.
 *
 * Both sides believe a datagram that carries their own QPN and root key, wherever it came from.
 * QPs with hooks do none of this.
 */
#include "base/sdr_assert.h"
#include "sdr_cts.h"
#include "sdr_context.h"
#include "sdr_keys.h"
#include "sdr_qp.h"
#include "sdr_sdk.h"

static void sdr_cts_send(struct sdr_qp *qp, uint8_t type, uint32_t number)
{
	struct sdr_wire_cts c = { .qpn = qp->peer_qpn, .rkey = qp->peer_rkey, .posted = number };
	uint8_t *p = sdr_context_ctl_alloc(qp->ctx);
	size_t len;

	if (!p)
		return; /* the timer, ours or the peer's, brings it again */
	len = sdr_wire_cts_encode(p, &c);
	sdr_class_encode(p, SDR_CLASS_SDK, type);
	sdr_context_ctl_push(qp->ctx, &qp->peer, len);
	qp->ctx->cts_tx += type == SDR_SDK_CTS;
}

/* Sends CTS_SEEN. */
static void sdr_cts_confirm(struct sdr_qp *qp, uint32_t number)
{
	sdr_cts_send(qp, SDR_SDK_CTS_SEEN, number);
}

/* What the sender may not know; fresh: what was not sent since the repetition began. */
static void sdr_cts_tell(struct sdr_qp *qp, bool fresh)
{
	if (!qp->ctx->info.rkeyed)
		sdr_cts_send(qp, SDR_SDK_CTS, qp->next);
	else if (fresh && (int32_t)(qp->keys_sent - qp->cts_seen) > 0)
		sdr_keys_tell(qp, qp->keys_sent);
	else
		sdr_keys_tell(qp, qp->cts_seen);
}

void sdr_cts_kick(struct sdr_qp *qp)
{
	struct sdr_context *ctx = qp->ctx;

	if (qp->numbered || !qp->connected || qp->cts_seen == qp->next)
		return;
	if (!ctx->in_progress)
		ctx->now = ctx->uc->ops->now(ctx->uc);
	sdr_cts_tell(qp, qp->cts_armed);
	qp->cts_since = ctx->now;
	/*
	 * New keys say nothing of those that were lost: frequent posts must not delay the
	 * repetition.
	 */
	if (!ctx->info.rkeyed || !qp->cts_armed || qp->cts_wait != SDR_CTS_FIRST_NS) {
		qp->cts_wait = SDR_CTS_FIRST_NS;
		qp->cts_due = ctx->now + qp->cts_wait;
	}
	qp->cts_armed = true;
	sdr_qp_busy_update(qp);
	if (!ctx->in_progress)
		sdr_context_flush(ctx);
}

void sdr_cts_seen(struct sdr_qp *qp, uint32_t posted)
{
	SDR_ASSERT((int32_t)(qp->next - posted) >= 0); /* sdr_cts_input asked */
	if ((int32_t)(posted - qp->cts_seen) > 0)
		qp->cts_seen = posted;
	if (qp->cts_seen == qp->next && qp->cts_armed) {
		qp->cts_armed = false;
		sdr_qp_busy_update(qp);
	}
}

void sdr_cts_run(struct sdr_qp *qp)
{
	uint64_t now = qp->ctx->now;

	if (!qp->cts_armed || now < qp->cts_due)
		return;
	if (!qp->nlive && now - qp->cts_since > SDR_CTS_LINGER_NS) {
		qp->cts_armed = false;
		return;
	}
	sdr_cts_tell(qp, false);
	qp->cts_wait = 2 * qp->cts_wait < SDR_CTS_MAX_NS ? 2 * qp->cts_wait : SDR_CTS_MAX_NS;
	qp->cts_due = now + qp->cts_wait;
}

bool sdr_cts_gated(struct sdr_qp *qp)
{
	uint32_t ids = 1u << qp->rxk.split.id_bits;
	uint32_t ahead = qp->generations > 1 ? (qp->generations - 1u) * ids : ids;

	if (qp->numbered || (int32_t)(qp->next - qp->cts_seen) < (int32_t)ahead)
		return false;
	if (!qp->cts_armed)
		sdr_cts_kick(qp);
	return true;
}

void sdr_cts_input(struct sdr_context *ctx, uint8_t type, const uint8_t *buf, size_t len)
{
	struct sdr_wire_cts c;
	struct sdr_qp *qp;

	if (type == SDR_SDK_KEYS) {
		if (!sdr_keys_input(ctx, buf, len, &qp))
			goto bad;
		if (qp)
			sdr_cts_confirm(qp, qp->snd_known);
		return;
	}
	if ((type != SDR_SDK_CTS && type != SDR_SDK_CTS_SEEN) || sdr_wire_cts_decode(buf, len, &c))
		goto bad;
	qp = sdr_context_qp_find(ctx, c.qpn);
	if (!qp || qp->rkey != c.rkey || qp->numbered)
		goto bad;
	if (type == SDR_SDK_CTS_SEEN) {
		if ((int32_t)(qp->next - c.posted) < 0)
			goto bad;
		sdr_cts_seen(qp, c.posted);
		return;
	}
	if (qp->keys)
		goto bad;
	ctx->cts_rx++;
	if ((int32_t)(c.posted - qp->snd_limit) > 0)
		sdr_qp_limit_set(qp, c.posted);
	else if (qp->connected)
		sdr_cts_confirm(qp, qp->snd_limit);
	return;
bad:
	ctx->pkts_bad++;
}
