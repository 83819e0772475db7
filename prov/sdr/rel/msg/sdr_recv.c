/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receives as the caller posts them: looked for among the unexpected messages, or put in line;
 * peeked, claimed, discarded, cancelled.
 */
#include <errno.h>
#include "sdr_deliver.h"

static void recv_peek(struct sdr_rel *rel, const struct sdr_rel_rr *rr, struct sdr_rxe *probe)
{
	struct sdr_unexp *u = sdr_unexp_find(rel, probe, false, NULL);
	struct sdr_rel_cqe e = { .kind = rr->kind, .ctx = rr->ctx, .uflags = rr->uflags };

	if (!u) {
		e.err = -ENOMSG;
		e.prov_err = SDR_REL_ERR_NOMSG;
	} else {
		e.len = sdr_msg_len(&u->f);
		e.tag = u->f.tag;
		e.data = u->f.data;
		e.has_data = u->f.flags & SDR_REC_F_DATA;
		e.peer = u->peer;
		if (rr->flags & SDR_REL_R_CLAIM) {
			u->claimed = true;
			u->claim_ctx = rr->ctx;
		}
	}
	rel->cbs->done(rel->user, &e);
	if (u && (rr->flags & SDR_REL_R_DISCARD))
		sdr_unexp_drop(rel, u); /* and perhaps its peer */
}

static void recv_claimed(struct sdr_rel *rel, const struct sdr_rel_rr *rr, struct sdr_rxe *rx)
{
	struct sdr_unexp *u = sdr_unexp_find(rel, rx, true, rr->ctx);
	struct sdr_rel_cqe e = { .kind = rr->kind, .ctx = rr->ctx, .uflags = rr->uflags };

	if (u && !(rr->flags & SDR_REL_R_DISCARD)) {
		sdr_unexp_deliver(rel, u, rx);
		return;
	}
	if (u) {
		e.len = sdr_msg_len(&u->f);
		e.tag = u->f.tag;
		e.peer = u->peer;
	} else {
		e.err = -ENOMSG;
		e.prov_err = SDR_REL_ERR_NOMSG;
	}
	rel->cbs->done(rel->user, &e);
	if (u)
		sdr_unexp_drop(rel, u);
	sdr_rxe_free(rel, rx);
}

int sdr_rel_recv(struct sdr_rel *rel, const struct sdr_rel_rr *rr)
{
	struct sdr_unexp *u;
	struct sdr_rxe *rx;
	int k = rr->kind == SDR_REL_TRECV;

	if (rr->niov > SDR_REL_IOV_MAX || (rr->kind != SDR_REL_RECV && rr->kind != SDR_REL_TRECV))
		return -EINVAL;
	if ((rr->flags & SDR_REL_R_MULTI) &&
	    (rr->niov != 1 || (rr->flags & (SDR_REL_R_PEEK | SDR_REL_R_CLAIM))))
		return -EINVAL;
	if (rel->msg->nrx >= rel->cfg.rx_depth)
		return -EAGAIN;
	if (rel->failed || rel->closing)
		return -EIO;
	rel->now = rel->uc->ops->now(rel->uc);
	rx = sdr_rxe_new(rel);
	if (!rx)
		return -ENOMEM;
	sdr_rxe_set(rx, rr);
	rx->peer = sdr_peer_real(rr->peer);
	if (rx->peer)
		sdr_peer_name(rx->peer);
	if (rr->flags & SDR_REL_R_PEEK) {
		recv_peek(rel, rr, rx);
		sdr_rxe_free(rel, rx);
		return 0;
	}
	if (rr->flags & SDR_REL_R_CLAIM) {
		recv_claimed(rel, rr, rx);
		return 0;
	}
	if (rr->flags & SDR_REL_R_MULTI) {
		sdr_list_add_tail(&rx->link, &rel->msg->posted[k]);
		while ((u = sdr_unexp_find(rel, rx, false, NULL))) {
			bool last = sdr_rxe_retires(rx, sdr_msg_len(&u->f));

			sdr_unexp_deliver(rel, u, rx);
			if (last)
				break; /* rx may be gone */
		}
		return 0;
	}
	u = sdr_list_empty(&rel->msg->unexp[k]) ? NULL : sdr_unexp_find(rel, rx, false, NULL);
	if (u)
		sdr_unexp_deliver(rel, u, rx);
	else
		sdr_list_add_tail(&rx->link, &rel->msg->posted[k]);
	return 0;
}

bool sdr_rel_recv_spend(struct sdr_rel *rel, const struct sdr_peer *peer, void **ctx)
{
	struct sdr_list *l;

	sdr_list_each(l, &rel->msg->posted[0]) {
		struct sdr_rxe *rx = sdr_container(l, struct sdr_rxe, link);

		if ((rx->flags & SDR_REL_R_MULTI) || !sdr_rxe_matches(rx, peer, 0))
			continue;
		sdr_list_del(&rx->link);
		*ctx = rx->ctx;
		sdr_rxe_free(rel, rx);
		return true;
	}
	return false;
}

int sdr_rel_cancel(struct sdr_rel *rel, void *ctx)
{
	struct sdr_list *l;

	for (int k = 0; k < 2; k++) {
		sdr_list_each(l, &rel->msg->posted[k]) {
			struct sdr_rxe *rx = sdr_container(l, struct sdr_rxe, link);

			if (rx->ctx == ctx) {
				sdr_rxe_cancel(rel, rx);
				return 0;
			}
		}
	}
	return -ENOENT;
}
