/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Grants by memory window ("mw"): a type 1 window is bound to the buffer, under a new key each
 * time, and bound to nothing when the grant ends.  The buffer's registration is shared
 * (sdr_verbs_mr.c), so a buffer that the application registered costs two work requests per message
 * and no system call.
 *
 * Windows are bound through a UC queue pair that is connected to itself and carries nothing else; a
 * bind is waited for, at most SDR_VERBS_KEY_NS (microseconds in practice).  A window that
 * cannot be unbound is given back to the device, which ends its key as well.  Windows are kept for
 * the next grant.
 *
 * On rxe an unbound window stops the next packet, not one whose placing has begun, and a packet may
 * write anywhere in the registration: there "mr" is what is used by itself, and this only when
 * asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_verbs_impl.h"

#define SDR_VERBS_MW_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)

struct sdr_verbs_window {
	struct sdr_verbs_window *next; /* free list */
	struct ibv_mw *mw;
	struct sdr_verbs_mr *mr;
};

struct sdr_verbs_windows {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct sdr_verbs_window *free;
};

static int sdr_verbs_mw_qp(struct sdr_verbs *v, struct sdr_verbs_windows *w)
{
	struct ibv_qp_init_attr a = {
		.qp_context = v,
		.qp_type = IBV_QPT_UC,
		.send_cq = w->cq,
		.recv_cq = w->cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr q = { .qp_state = IBV_QPS_INIT, .port_num = v->port };
	int ret;

	w->qp = v->ibv->create_qp(v->pd->pd, &a);
	if (!w->qp)
		return -(errno ? errno : ENOMEM);
	ret = v->ibv->modify_qp(
		w->qp, &q, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (ret)
		return -ret;
	memset(&q, 0, sizeof(q));
	sdr_verbs_path_self(v, &q.ah_attr);
	q.qp_state = IBV_QPS_RTR;
	q.path_mtu = v->port_mtu;
	q.dest_qp_num = w->qp->qp_num;
	ret = v->ibv->modify_qp(w->qp, &q,
				IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN);
	if (ret)
		return -ret;
	q.qp_state = IBV_QPS_RTS;
	return -v->ibv->modify_qp(w->qp, &q, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

/* Binds to [buf, buf + len) of mr, or to nothing with len 0, and waits until it is so. */
static int sdr_verbs_mw_bind(struct sdr_verbs *v, struct sdr_verbs_window *w, struct ibv_mr *mr,
			     void *buf, size_t len)
{
	struct sdr_verbs_windows *ws = v->keys_priv;
	struct ibv_mw_bind b = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = mr,
			.addr = (uintptr_t)buf,
			.length = len,
			.mw_access_flags = len ? IBV_ACCESS_REMOTE_WRITE : 0,
		},
	};
	int ret = ibv_bind_mw(ws->qp, w->mw, &b);

	if (ret)
		return ret < 0 ? -errno : -ret;
	return sdr_verbs_key_wait(v, ws->cq);
}

static int sdr_verbs_mw_open(struct sdr_verbs *v)
{
	struct sdr_verbs_windows *w = calloc(1, sizeof(*w));
	int ret = -ENOMEM;

	v->keys_priv = w;
	if (!w)
		return ret;
	errno = 0;
	w->cq = v->ibv->create_cq(v->pd->ctx, 8, v, NULL, 0);
	ret = w->cq ? sdr_verbs_mw_qp(v, w) : -(errno ? errno : ENOMEM);
	if (ret)
		sdr_verbs_why(v->pd, ret, "cannot make the queue pair that binds windows",
			      v->reason, sizeof(v->reason));
	return ret;
}

static void sdr_verbs_mw_close(struct sdr_verbs *v)
{
	struct sdr_verbs_windows *w = v->keys_priv;
	struct sdr_verbs_window *n;

	while (w && (n = w->free)) {
		w->free = n->next;
		ibv_dealloc_mw(n->mw);
		free(n);
	}
	if (w && w->qp)
		v->ibv->destroy_qp(w->qp);
	if (w && w->cq)
		v->ibv->destroy_cq(w->cq);
	free(w);
}

static struct sdr_verbs_window *sdr_verbs_mw_new(struct sdr_verbs *v)
{
	struct sdr_verbs_windows *ws = v->keys_priv;
	struct sdr_verbs_window *w = ws->free;

	if (w) {
		ws->free = w->next;
		return w;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		errno = ENOMEM;
		return NULL;
	}
	w->mw = ibv_alloc_mw(v->pd->pd, IBV_MW_TYPE_1);
	if (!w->mw) {
		free(w);
		return NULL;
	}
	return w;
}

static int sdr_verbs_mw_grant(struct sdr_verbs *v, const struct sdr_verbs_range *r,
			      struct sdr_uc_grant *g)
{
	struct sdr_verbs_windows *ws = v->keys_priv;
	struct sdr_verbs_window *w;
	int ret;

	errno = 0;
	w = sdr_verbs_mw_new(v);
	if (!w) {
		ret = -(errno ? errno : ENOMEM);
		goto err;
	}
	w->mr = sdr_verbs_mr_get(v->pd, r, SDR_VERBS_MW_ACCESS);
	if (!w->mr) {
		ret = -(errno ? errno : ENOMEM);
		goto err_free;
	}
	ret = sdr_verbs_mw_bind(v, w, w->mr->mr, r->buf, r->len);
	if (ret)
		goto err_mr;
	g->va = (uintptr_t)r->buf;
	g->rkey = w->mw->rkey;
	g->impl = w;
	return 0;
err_mr:
	sdr_verbs_mr_put(v->pd, w->mr);
err_free:
	w->next = ws->free;
	ws->free = w;
err:
	sdr_verbs_why(v->pd, ret, "cannot bind a memory window", v->reason, sizeof(v->reason));
	return ret;
}

static void sdr_verbs_mw_end(struct sdr_verbs *v, struct sdr_uc_grant *g)
{
	struct sdr_verbs_windows *ws = v->keys_priv;
	struct sdr_verbs_window *w = g->impl;

	if (sdr_verbs_mw_bind(v, w, w->mr->mr, NULL, 0)) {
		if (ibv_dealloc_mw(w->mw))
			sdr_verbs_break(v, -EIO,
					"a memory window cannot be taken back from the device");
		w->mw = NULL;
	}
	sdr_verbs_mr_put(v->pd, w->mr);
	w->mr = NULL;
	if (!w->mw) {
		free(w);
		return;
	}
	w->next = ws->free;
	ws->free = w;
}

const struct sdr_verbs_keys sdr_verbs_keys_mw = {
	.name = "mw",
	.access = SDR_VERBS_MW_ACCESS,
	.open = sdr_verbs_mw_open,
	.close = sdr_verbs_mw_close,
	.grant = sdr_verbs_mw_grant,
	.end = sdr_verbs_mw_end,
};
