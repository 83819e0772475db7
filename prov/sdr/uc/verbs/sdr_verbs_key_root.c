/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Grants by indirect key ("root", mlx5): keys whose entries point at the granted buffer, and at the
 * NULL memory region when the grant ends.  A late packet then completes and writes nothing: the
 * paper's first stage.
 *
 * Keys are made once, used in turn and kept, at most SDR_VERBS_ROOT_KEYS; an indirect key keeps
 * its number, so a packet that is late by a whole turn of the keys would be taken for its
 * successor: the paper's bound, with the number of keys in the place of IDs times generations.  An
 * entry is set by a work request on an RC queue pair that is connected to itself (mlx5dv_wr_mr_list
 * is for RC; a key must be invalidated before it gets another list), and waited for.  Addresses
 * count from 0.  A buffer that needs more than SDR_VERBS_ROOT_SGES entries is granted by
 * registration instead.
 *
 * Written against mlx5dv_wr_post(3), mlx5dv_create_mkey(3) and ibv_alloc_null_mr(3); it has not met
 * hardware.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_verbs_impl.h"

#ifdef SDR_HAVE_MLX5DV

#define SDR_VERBS_ROOT_KEYS 4096u
#define SDR_VERBS_ROOT_SGES 3u	       /* entries that fit a work request of ordinary size */
#define SDR_VERBS_ROOT_SGE  (1u << 30) /* bytes an entry */

struct sdr_verbs_root_key {
	struct sdr_verbs_root_key *next; /* oldest first */
	struct mlx5dv_mkey *mkey;	 /* NULL: granted by registration */
	struct sdr_verbs_mr *mr;
	struct sdr_uc_grant plain;
	size_t len;
	bool listed; /* has a list: to be invalidated first */
};

struct sdr_verbs_root {
	const struct sdr_mlx5dv *dv;
	struct ibv_mr *null;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct mlx5dv_qp_ex *dvx;
	struct sdr_verbs_root_key *head, **tail;
	uint32_t nkeys;
};

static int sdr_verbs_root_qp(struct sdr_verbs *v, struct sdr_verbs_root *r)
{
	struct ibv_qp_init_attr_ex a = {
		.qp_context = v,
		.qp_type = IBV_QPT_RC,
		.send_cq = r->cq,
		.recv_cq = r->cq,
		.pd = v->pd->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_LOCAL_INV,
		.cap = { .max_send_wr = 8,
			 .max_recv_wr = 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .max_inline_data = 256 },
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.send_ops_flags = MLX5DV_QP_EX_WITH_MR_LIST,
	};
	struct ibv_qp_attr q = { .qp_state = IBV_QPS_INIT, .port_num = v->port };
	int ret;

	r->qp = r->dv->create_qp(v->pd->ctx, &a, &dv);
	if (!r->qp)
		return -(errno ? errno : ENOMEM);
	r->qpx = v->ibv->qp_to_qp_ex(r->qp);
	r->dvx = r->qpx ? r->dv->qp_ex_from_ibv_qp_ex(r->qpx) : NULL;
	if (!r->dvx)
		return -EOPNOTSUPP;
	ret = v->ibv->modify_qp(
		r->qp, &q, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (ret)
		return -ret;
	memset(&q, 0, sizeof(q));
	sdr_verbs_path_self(v, &q.ah_attr);
	q.qp_state = IBV_QPS_RTR;
	q.path_mtu = v->port_mtu;
	q.dest_qp_num = r->qp->qp_num;
	q.max_dest_rd_atomic = 1;
	q.min_rnr_timer = 12;
	ret = v->ibv->modify_qp(r->qp, &q,
				IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER);
	if (ret)
		return -ret;
	q.qp_state = IBV_QPS_RTS;
	q.timeout = 14;
	q.retry_cnt = 7;
	q.rnr_retry = 7;
	q.max_rd_atomic = 1;
	return -v->ibv->modify_qp(r->qp, &q,
				  IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Points the key at len bytes from addr under lkey, and waits until it is so. */
static int sdr_verbs_root_list(struct sdr_verbs *v, struct sdr_verbs_root_key *k, uint64_t addr,
			       size_t len, uint32_t lkey, bool null)
{
	struct sdr_verbs_root *r = v->keys_priv;
	struct ibv_sge sge[SDR_VERBS_ROOT_SGES];
	uint16_t n = 0;
	int ret;

	for (size_t at = 0; at < len; at += sge[n - 1].length) {
		sge[n].addr = null ? 0 : addr + at;
		sge[n].length =
			len - at < SDR_VERBS_ROOT_SGE ? (uint32_t)(len - at) : SDR_VERBS_ROOT_SGE;
		sge[n++].lkey = lkey;
	}
	ibv_wr_start(r->qpx);
	if (k->listed) {
		r->qpx->wr_flags = 0;
		ibv_wr_local_inv(r->qpx, k->mkey->rkey);
	}
	r->qpx->wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	mlx5dv_wr_mr_list(r->dvx, k->mkey, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, n,
			  sge);
	ret = ibv_wr_complete(r->qpx);
	if (ret)
		return -ret;
	k->listed = true;
	return sdr_verbs_key_wait(v, r->cq);
}

static int sdr_verbs_root_open(struct sdr_verbs *v)
{
	struct sdr_verbs_root *r = calloc(1, sizeof(*r));
	int ret = -ENOMEM;

	v->keys_priv = r;
	if (!r)
		return ret;
	r->tail = &r->head;
	r->dv = sdr_verbs_root_possible(v->pd->ctx) ? sdr_mlx5dv_get() : NULL;
	ret = -EOPNOTSUPP;
	if (!r->dv)
		goto out;
	errno = 0;
	r->null = ibv_alloc_null_mr(v->pd->pd);
	r->cq = r->null ? v->ibv->create_cq(v->pd->ctx, 16, v, NULL, 0) : NULL;
	ret = r->cq ? sdr_verbs_root_qp(v, r) : -(errno ? errno : ENOMEM);
out:
	if (ret)
		sdr_verbs_why(v->pd, ret,
			      "cannot make indirect keys (FI_SDR_VERBS_LATE=mw or mr does without)",
			      v->reason, sizeof(v->reason));
	return ret;
}

static void sdr_verbs_root_close(struct sdr_verbs *v)
{
	struct sdr_verbs_root *r = v->keys_priv;
	struct sdr_verbs_root_key *k;

	while ((k = r->head)) {
		r->head = k->next;
		r->dv->destroy_mkey(k->mkey);
		free(k);
	}
	if (r->qp)
		v->ibv->destroy_qp(r->qp);
	if (r->cq)
		v->ibv->destroy_cq(r->cq);
	if (r->null)
		v->ibv->dereg_mr(r->null);
	free(r);
}

/*
 * A new key while there are not many, so that a key rests for long; else the one that has rested
 * longest.
 */
static struct sdr_verbs_root_key *sdr_verbs_root_key(struct sdr_verbs *v)
{
	struct mlx5dv_mkey_init_attr a = {
		.pd = v->pd->pd,
		.create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT,
		.max_entries = SDR_VERBS_ROOT_SGES,
	};
	struct sdr_verbs_root *r = v->keys_priv;
	struct sdr_verbs_root_key *k;

	if (r->nkeys < SDR_VERBS_ROOT_KEYS) {
		k = calloc(1, sizeof(*k));
		if (k)
			k->mkey = r->dv->create_mkey(&a);
		if (k && k->mkey) {
			r->nkeys++;
			return k;
		}
		free(k);
	}
	k = r->head;
	if (!k) {
		errno = EAGAIN;
		return NULL;
	}
	r->head = k->next;
	if (!r->head)
		r->tail = &r->head;
	return k;
}

static void sdr_verbs_root_rest(struct sdr_verbs_root *r, struct sdr_verbs_root_key *k)
{
	k->next = NULL;
	*r->tail = k;
	r->tail = &k->next;
}

static int sdr_verbs_root_grant(struct sdr_verbs *v, const struct sdr_verbs_range *range,
				struct sdr_uc_grant *g)
{
	struct sdr_verbs_root *r = v->keys_priv;
	struct sdr_verbs_root_key *k;
	int ret;

	if (range->len > (size_t)SDR_VERBS_ROOT_SGES * SDR_VERBS_ROOT_SGE) {
		k = calloc(1, sizeof(*k));
		ret = k ? sdr_verbs_keys_mr.grant(v, range, &k->plain) : -ENOMEM;
		if (ret) {
			free(k);
			return ret;
		}
		*g = k->plain;
		g->impl = k;
		return 0;
	}
	k = sdr_verbs_root_key(v);
	if (!k)
		return -errno;
	errno = 0;
	k->mr = sdr_verbs_mr_get(v->pd, range, IBV_ACCESS_LOCAL_WRITE);
	ret = k->mr ? sdr_verbs_root_list(v, k, (uintptr_t)range->buf, range->len, k->mr->mr->lkey,
					  false)
		    : -(errno ? errno : ENOMEM);
	if (ret) {
		sdr_verbs_why(v->pd, ret, "cannot point a key at a receive buffer", v->reason,
			      sizeof(v->reason));
		if (k->mr)
			sdr_verbs_mr_put(v->pd, k->mr);
		sdr_verbs_root_rest(r, k);
		return ret;
	}
	k->len = range->len;
	g->va = 0;
	g->rkey = k->mkey->rkey;
	g->impl = k;
	return 0;
}

static void sdr_verbs_root_end(struct sdr_verbs *v, struct sdr_uc_grant *g)
{
	struct sdr_verbs_root *r = v->keys_priv;
	struct sdr_verbs_root_key *k = g->impl;

	if (!k->mkey) {
		sdr_verbs_keys_mr.end(v, &k->plain);
		free(k);
		return;
	}
	if (sdr_verbs_root_list(v, k, 0, k->len, r->null->lkey, true))
		sdr_verbs_break(v, -EIO, "a key cannot be turned away from a receive buffer");
	sdr_verbs_mr_put(v->pd, k->mr);
	k->mr = NULL;
	sdr_verbs_root_rest(r, k);
}

#else

static int sdr_verbs_root_open(struct sdr_verbs *v)
{
	sdr_verbs_why(v->pd, -EOPNOTSUPP,
		      "this build has no indirect keys (infiniband/mlx5dv.h was not there)",
		      v->reason, sizeof(v->reason));
	return -EOPNOTSUPP;
}

static void sdr_verbs_root_close(struct sdr_verbs *v)
{
	(void)v;
}

static int sdr_verbs_root_grant(struct sdr_verbs *v, const struct sdr_verbs_range *range,
				struct sdr_uc_grant *g)
{
	(void)v;
	(void)range;
	(void)g;
	return -EOPNOTSUPP;
}

static void sdr_verbs_root_end(struct sdr_verbs *v, struct sdr_uc_grant *g)
{
	(void)v;
	(void)g;
}

#endif

const struct sdr_verbs_keys sdr_verbs_keys_root = {
	.name = "root",
	.access = IBV_ACCESS_LOCAL_WRITE,
	.open = sdr_verbs_root_open,
	.close = sdr_verbs_root_close,
	.grant = sdr_verbs_root_grant,
	.end = sdr_verbs_root_end,
};
