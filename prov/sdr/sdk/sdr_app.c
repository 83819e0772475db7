/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Datagrams of the application between two connected QPs, in order with the data: they stand in the
 * context's batch behind the packets that were queued before, leave by the socket or queue pair by
 * which those leave, and are handed out when everything that came before has been placed.  Neither
 * kept nor repeated: what is lost is the application's to miss.
 *
 * Who knows a QP's number and root key, which its info carries, may send them; anything else is
 * counted as bad, as is one that nobody waits for.  No timers.
 */
#include <errno.h>
#include <string.h>

#include "sdr_context.h"
#include "sdr_app.h"
#include "sdr_qp.h"

int sdr_qp_ctl_send(struct sdr_qp *qp, const void *buf, size_t len)
{
	struct sdr_wire_app a;
	struct sdr_context *ctx;
	uint8_t *p;

	if (!qp || (len && !buf))
		return -EINVAL;
	ctx = qp->ctx;
	if (!qp->connected)
		return -ENOTCONN;
	if (ctx->err || qp->err)
		return ctx->err ? ctx->err : qp->err;
	if (len > ctx->info.ctl_max - SDR_WIRE_APP_HDR)
		return -EMSGSIZE;
	if (!ctx->in_progress)
		ctx->txq.blocked = false;
	p = sdr_context_ctl_alloc(ctx);
	if (!p)
		return -EAGAIN;
	a = (struct sdr_wire_app){ .qpn = qp->peer_qpn, .rkey = qp->peer_rkey };
	sdr_wire_app_encode(p, &a);
	if (len)
		memcpy(p + SDR_WIRE_APP_HDR, buf, len);
	sdr_context_ctl_push(ctx, &qp->peer, SDR_WIRE_APP_HDR + len);
	if (!ctx->in_progress)
		sdr_context_flush(ctx);
	return 0;
}

void sdr_app_input(struct sdr_context *ctx, const uint8_t *buf, size_t len)
{
	struct sdr_wire_app a;
	struct sdr_qp *qp;

	if (sdr_wire_app_decode(buf, len, &a))
		goto bad;
	qp = sdr_context_qp_find(ctx, a.qpn);
	if (!qp || qp->rkey != a.rkey || !qp->control)
		goto bad;
	qp->control(qp->hooks.user, a.bytes, a.len);
	return;
bad:
	ctx->pkts_bad++;
}
