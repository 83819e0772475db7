/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * fi_open_ops: the extension of rdma/fi_ext_sdr.h.
 *
 * One table for both endpoint types; a call that makes no sense on a type says so.  Each takes the
 * endpoint's lock around one call of the layer below.  The handle is checked: under FI_HOOK
 * applications hold hook objects of the same class, whose first fields are not ours.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rdma/fi_ext_sdr.h>

#include "model/sdr_choice.h"
#include "sdk/sdr_sdk.h"
#include "uc/sdr_uc.h"

#include "sdr_ext.h"
#include "sdr_av_table.h"
#include "sdr_env.h"
#include "sdr_ep.h"
#include "sdr_ep_addr.h"
#include "sdr_ep_peer.h"
#include "sdr_ep_progress.h"
#include "sdr_ep_view.h"
#include "sdr_notes.h"
#include "sdr_prov.h"
#include "sdr_write_ext.h"

/* The gauge code_why is the decision's number + 1. */
_Static_assert(FI_SDR_WHY_PARITY == SDR_CHOICE_PARITY + 1 &&
		       FI_SDR_WHY_NEAR == SDR_CHOICE_NEAR + 1 &&
		       FI_SDR_WHY_CLEAN == SDR_CHOICE_CLEAN + 1 &&
		       FI_SDR_WHY_OVERHEAD == SDR_CHOICE_OVERHEAD + 1 &&
		       FI_SDR_WHY_HOPELESS == SDR_CHOICE_HOPELESS + 1,
	       "the public reasons are those of the layer below");

/* The names of the public struct must be those of the layer below. */
#define SDR_STATS_COPY(n) out->n = in.n;

static struct sdr_ep *sdr_ext_ep(struct fid_ep *fid)
{
	if (!fid || fid->fid.fclass != FI_CLASS_EP || fid->fid.ops->ops_open != sdr_ep_ops_open)
		return NULL;
	return container_of(fid, struct sdr_ep, fid);
}

static int sdr_ext_stats(struct fid_ep *fid, fi_addr_t fi_addr, struct fi_sdr_stats *stats)
{
	struct sdr_ep *ep = sdr_ext_ep(fid);
	struct fi_sdr_stats full, *out = &full;
	struct sdr_rel_stats in;
	struct sdr_uc_addr addr;
	struct sdr_uc_stats uc = { .grants = 0 };
	struct sdr_peer *peer = NULL;
	struct sdr_uc_info info;
	int ret = 0;

	if (!ep || !stats || stats->size < sizeof(stats->size))
		return -FI_EINVAL;
	if (ep->type == FI_EP_DGRAM)
		return -FI_EOPNOTSUPP;
	pthread_mutex_lock(&ep->lock);
	if (!ep->rel)
		ret = -FI_EOPBADSTATE;
	else if (fi_addr != FI_ADDR_UNSPEC && (!ep->av || sdr_av_addr(ep->av, fi_addr, &addr)))
		ret = -FI_EADDRNOTAVAIL;
	else if (fi_addr != FI_ADDR_UNSPEC) {
		(void)sdr_ep_addr_home(ep, &addr);
		peer = sdr_rel_peer_find(ep->rel, &addr);
	}
	if (!ret) {
		memset(&in, 0, sizeof(in)); /* of an address that was never used, or not lately */
		if (peer || fi_addr == FI_ADDR_UNSPEC)
			sdr_rel_stats_get(ep->rel, peer, &in);
		ep->uc->ops->info(ep->uc, &info);
		if (!peer)
			ep->uc->ops->stats(ep->uc, &uc);
	}
	pthread_mutex_unlock(&ep->lock);
	if (ret)
		return ret;
	memset(&full, 0, sizeof(full));
	full.grants = uc.grants;
	full.regs = uc.regs;
	snprintf(full.engine, sizeof(full.engine), "%s", info.name);
	snprintf(full.late, sizeof(full.late), "%s", info.late);
	SDR_REL_STATS(SDR_STATS_COPY)
	full.size = stats->size < sizeof(full) ? stats->size : sizeof(full);
	memcpy(stats, &full, full.size);
	return 0;
}

static int sdr_ext_setting_set(struct fid_ep *fid, const char *name, const char *value)
{
	struct sdr_ep *ep = sdr_ext_ep(fid);
	char err[SDR_ENV_ERR];
	struct sdr_env env;
	int ret;

	if (!ep || !name || !value)
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->lock);
	env = ep->env;
	if (ep->enabled || ep->ctx)
		ret = -FI_EOPBADSTATE;
	else
		ret = sdr_env_set(&env, name, value, err, sizeof(err));
	if (!ret)
		ep->env = env;
	pthread_mutex_unlock(&ep->lock);
	if (ret && ret != -FI_EOPBADSTATE)
		FI_WARN(&sdr_prov, FI_LOG_EP_CTRL, "%s\n", err);
	return ret;
}

static int sdr_ext_setting_get(struct fid_ep *fid, const char *name, char *buf, size_t len)
{
	struct sdr_ep *ep = sdr_ext_ep(fid);
	int ret;

	if (!ep || !name || !buf)
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->lock);
	ret = sdr_env_get(&ep->env, name, buf, len);
	pthread_mutex_unlock(&ep->lock);
	return ret == -ENOSPC ? -FI_ETOOSMALL : ret;
}

static int sdr_ext_peer_set(struct sdr_ep *ep, fi_addr_t fi_addr, const char *name,
			    const char *value, char *err, size_t err_len)
{
	const struct sdr_scheme_ops *scheme = NULL;
	struct sdr_env env = ep->env;
	struct sdr_peer *peer;
	int ret;

	if (!ep->rel)
		return -FI_EOPBADSTATE;
	ret = sdr_env_of_peers(name);
	if (!ret)
		snprintf(
			err, err_len,
			"%s is no peer's own, FI_SDR_RELIABILITY alone can be: set it for the endpoint",
			name);
	if (ret <= 0)
		return ret ? ret : -FI_EOPNOTSUPP;
	if (value) {
		ret = sdr_env_set(&env, name, value, err, err_len);
		if (!ret)
			ret = sdr_env_check(&env, err, err_len);
		if (ret)
			return ret;
		scheme = env.rel.scheme;
	}
	peer = sdr_ep_peer(ep, fi_addr);
	return peer ? sdr_rel_peer_scheme(peer, scheme) : -FI_EADDRNOTAVAIL;
}

static int sdr_ext_peer_setting_set(struct fid_ep *fid, fi_addr_t fi_addr, const char *name,
				    const char *value)
{
	struct sdr_ep *ep = sdr_ext_ep(fid);
	char err[SDR_ENV_ERR] = "";
	int ret;

	if (!ep || !name)
		return -FI_EINVAL;
	if (ep->type == FI_EP_DGRAM)
		return -FI_EOPNOTSUPP;
	pthread_mutex_lock(&ep->lock);
	ret = sdr_ext_peer_set(ep, fi_addr, name, value, err, sizeof(err));
	sdr_ep_unlock(ep);
	if (err[0])
		FI_WARN(&sdr_prov, FI_LOG_EP_CTRL, "%s\n", err);
	return ret;
}

static int sdr_ext_view(struct fid_ep *fid, void *context, struct fi_sdr_view *view)
{
	struct sdr_ep *ep = sdr_ext_ep(fid);

	if (!ep || !view)
		return -FI_EINVAL;
	return ep->type == FI_EP_DGRAM ? -FI_EOPNOTSUPP : sdr_ep_view(ep, context, view);
}

/* ---- SDR messages on a datagram endpoint ----------------------------------------------------- */

/* The endpoint if it can take them, locked; else NULL and *ret. */
static struct sdr_ep *sdr_ext_lock(struct fid_ep *fid, int *ret)
{
	struct sdr_ep *ep = sdr_ext_ep(fid);

	if (!ep) {
		*ret = -FI_EINVAL;
		return NULL;
	}
	if (ep->type != FI_EP_DGRAM) {
		*ret = -FI_EOPNOTSUPP;
		return NULL;
	}
	pthread_mutex_lock(&ep->lock);
	if (!ep->enabled) {
		pthread_mutex_unlock(&ep->lock);
		*ret = -FI_EOPBADSTATE;
		return NULL;
	}
	return ep;
}

/* An int call with the endpoint locked. */
#define SDR_OPS_CALL(fid, call)                               \
	do {                                                  \
		int ret_;                                     \
		struct sdr_ep *ep = sdr_ext_lock(fid, &ret_); \
		if (!ep)                                      \
			return ret_;                          \
		ret_ = (call);                                \
		sdr_ep_unlock(ep);                            \
		return ret_;                                  \
	} while (0)

static struct sdr_qp *sdr_ext_qp_create(struct fid_ep *fid, const struct sdr_qp_attr *attr)
{
	struct sdr_qp *qp;
	int ret, err;
	struct sdr_ep *ep = sdr_ext_lock(fid, &ret);

	if (!ep) {
		errno = -ret;
		return NULL;
	}
	qp = sdr_qp_create(ep->ctx, attr);
	err = errno;
	if (qp)
		(void)sdr_qp_handlers_set(
			qp, &(struct sdr_qp_handlers){ .size = sizeof(struct sdr_qp_handlers),
						       .user = ep,
						       .received = sdr_notes_received });
	pthread_mutex_unlock(&ep->lock);
	errno = err;
	return qp;
}

static int sdr_ext_qp_destroy(struct fid_ep *fid, struct sdr_qp *qp)
{
	SDR_OPS_CALL(fid, (sdr_notes_drop_qp(ep, qp), sdr_qp_destroy(qp)));
}

static int sdr_ext_qp_info_get(struct fid_ep *fid, struct sdr_qp *qp, void *info)
{
	SDR_OPS_CALL(fid, sdr_qp_info_get(qp, info));
}

static int sdr_ext_qp_connect(struct fid_ep *fid, struct sdr_qp *qp, const void *remote)
{
	SDR_OPS_CALL(fid, sdr_qp_connect(qp, remote));
}

static struct sdr_mr *sdr_ext_mr_reg(struct fid_ep *fid, void *addr, size_t length, uint64_t flags)
{
	struct sdr_mr *mr;
	int ret, err;
	struct sdr_ep *ep = sdr_ext_lock(fid, &ret);

	if (!ep) {
		errno = -ret;
		return NULL;
	}
	mr = sdr_mr_reg(ep->ctx, addr, length, flags);
	err = errno;
	pthread_mutex_unlock(&ep->lock);
	errno = err;
	return mr;
}

static int sdr_ext_mr_dereg(struct fid_ep *fid, struct sdr_mr *mr)
{
	SDR_OPS_CALL(fid, sdr_mr_dereg(mr));
}

static int sdr_ext_send_stream_start(struct fid_ep *fid, struct sdr_qp *qp,
				     const struct sdr_start_wr *wr, struct sdr_snd_handle **hdl)
{
	SDR_OPS_CALL(fid, sdr_send_stream_start(qp, wr, hdl));
}

static int sdr_ext_send_stream_continue(struct fid_ep *fid, struct sdr_snd_handle *hdl,
					const struct sdr_continue_wr *wr)
{
	SDR_OPS_CALL(fid, sdr_send_stream_continue(hdl, wr));
}

static int sdr_ext_send_stream_end(struct fid_ep *fid, struct sdr_snd_handle *hdl)
{
	SDR_OPS_CALL(fid, sdr_send_stream_end(hdl));
}

static int sdr_ext_send_post(struct fid_ep *fid, struct sdr_qp *qp, const struct sdr_snd_wr *wr,
			     struct sdr_snd_handle **hdl)
{
	SDR_OPS_CALL(fid, sdr_send_post(qp, wr, hdl));
}

static int sdr_ext_send_poll(struct fid_ep *fid, struct sdr_snd_handle *hdl)
{
	SDR_OPS_CALL(fid, sdr_send_poll(hdl));
}

static int sdr_ext_recv_post(struct fid_ep *fid, struct sdr_qp *qp, const struct sdr_rcv_wr *wr,
			     struct sdr_rcv_handle **hdl)
{
	SDR_OPS_CALL(fid, sdr_recv_post(qp, wr, hdl));
}

static int sdr_ext_recv_bitmap_get(struct fid_ep *fid, struct sdr_rcv_handle *hdl,
				   const uint8_t **bitmap, size_t *len)
{
	SDR_OPS_CALL(fid, sdr_recv_bitmap_get(hdl, bitmap, len));
}

static int sdr_ext_recv_packet_bitmap_get(struct fid_ep *fid, struct sdr_rcv_handle *hdl,
					  const uint8_t **bitmap, size_t *len)
{
	SDR_OPS_CALL(fid, sdr_recv_packet_bitmap_get(hdl, bitmap, len));
}

static int sdr_ext_recv_imm_get(struct fid_ep *fid, struct sdr_rcv_handle *hdl, uint32_t *imm)
{
	SDR_OPS_CALL(fid, sdr_recv_imm_get(hdl, imm));
}

static int sdr_ext_recv_complete(struct fid_ep *fid, struct sdr_rcv_handle *hdl)
{
	SDR_OPS_CALL(fid, (sdr_notes_drop(ep, hdl), sdr_recv_complete(hdl)));
}

static int sdr_ext_progress(struct fid_ep *fid)
{
	SDR_OPS_CALL(fid, (sdr_ep_touch(ep), sdr_ep_round(ep, NULL)));
}

static int sdr_ext_dgram_stats(struct fid_ep *fid, struct sdr_stats *stats)
{
	SDR_OPS_CALL(fid, sdr_context_stats(ep->ctx, stats));
}

static int sdr_ext_context_query(struct fid_ep *fid, struct sdr_context_info *out)
{
	SDR_OPS_CALL(fid, sdr_context_query(ep->ctx, out));
}

static int sdr_ext_qp_query(struct fid_ep *fid, struct sdr_qp *qp, struct sdr_qp_attr *out)
{
	SDR_OPS_CALL(fid, sdr_qp_query(qp, out));
}

static int sdr_ext_qp_peer_query(struct fid_ep *fid, struct sdr_qp *qp, struct sdr_qp_peer *out)
{
	SDR_OPS_CALL(fid, sdr_qp_peer_query(qp, out));
}

static const struct sdr_rcv_state *sdr_ext_recv_state(struct fid_ep *fid,
						      struct sdr_rcv_handle *hdl)
{
	const struct sdr_rcv_state *st;
	int ret;
	struct sdr_ep *ep = sdr_ext_lock(fid, &ret);

	if (!ep) {
		errno = -ret;
		return NULL;
	}
	st = sdr_recv_state(hdl);
	sdr_ep_unlock(ep);
	return st;
}

static int sdr_ext_send_cancel(struct fid_ep *fid, struct sdr_snd_handle *hdl)
{
	SDR_OPS_CALL(fid, sdr_send_cancel(hdl));
}

static int sdr_ext_send_imm_again(struct fid_ep *fid, struct sdr_snd_handle *hdl)
{
	SDR_OPS_CALL(fid, sdr_send_imm_again(hdl));
}

static int sdr_ext_recv_notify(struct fid_ep *fid, struct sdr_qp *qp, struct sdr_rcv_handle *hdl,
			       const struct fi_sdr_notify *how)
{
	SDR_OPS_CALL(fid, sdr_notes_ask(ep, qp, hdl, how));
}

static int sdr_ext_rma_notify(struct fid_ep *fid, const struct fi_sdr_notify *how)
{
	SDR_OPS_CALL(fid, sdr_writes_notify(ep, how));
}

static int sdr_ext_rma_list(struct fid_ep *fid, uint64_t *writes, size_t n)
{
	SDR_OPS_CALL(fid, sdr_writes_list(ep, writes, n));
}

static int sdr_ext_rma_view(struct fid_ep *fid, uint64_t write, struct fi_sdr_view *view)
{
	SDR_OPS_CALL(fid, sdr_write_view(ep, write, view));
}

static int sdr_ext_rma_end(struct fid_ep *fid, uint64_t write)
{
	SDR_OPS_CALL(fid, sdr_write_end(ep, write));
}

static int sdr_ext_rma_stats(struct fid_ep *fid, struct fi_sdr_rma_stats *stats)
{
	SDR_OPS_CALL(fid, sdr_writes_stats(ep, stats));
}

static struct fi_sdr_ep_ops_1 sdr_ep_ops_1 = {
	.size = sizeof(struct fi_sdr_ep_ops_1),
	.stats = sdr_ext_stats,
	.setting_set = sdr_ext_setting_set,
	.setting_get = sdr_ext_setting_get,
	.qp_create = sdr_ext_qp_create,
	.qp_destroy = sdr_ext_qp_destroy,
	.qp_info_get = sdr_ext_qp_info_get,
	.qp_connect = sdr_ext_qp_connect,
	.mr_reg = sdr_ext_mr_reg,
	.mr_dereg = sdr_ext_mr_dereg,
	.send_stream_start = sdr_ext_send_stream_start,
	.send_stream_continue = sdr_ext_send_stream_continue,
	.send_stream_end = sdr_ext_send_stream_end,
	.send_post = sdr_ext_send_post,
	.send_poll = sdr_ext_send_poll,
	.recv_post = sdr_ext_recv_post,
	.recv_bitmap_get = sdr_ext_recv_bitmap_get,
	.recv_packet_bitmap_get = sdr_ext_recv_packet_bitmap_get,
	.recv_imm_get = sdr_ext_recv_imm_get,
	.recv_complete = sdr_ext_recv_complete,
	.progress = sdr_ext_progress,
	.dgram_stats = sdr_ext_dgram_stats,
	.context_query = sdr_ext_context_query,
	.qp_query = sdr_ext_qp_query,
	.qp_peer_query = sdr_ext_qp_peer_query,
	.recv_state = sdr_ext_recv_state,
	.send_cancel = sdr_ext_send_cancel,
	.send_imm_again = sdr_ext_send_imm_again,
	.peer_setting_set = sdr_ext_peer_setting_set,
	.view = sdr_ext_view,
	.recv_notify = sdr_ext_recv_notify,
	.rma_notify = sdr_ext_rma_notify,
	.rma_list = sdr_ext_rma_list,
	.rma_view = sdr_ext_rma_view,
	.rma_end = sdr_ext_rma_end,
	.rma_stats = sdr_ext_rma_stats,
};

int sdr_ep_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context)
{
	(void)context;
	if (!fid || fid->fclass != FI_CLASS_EP || !name || !ops || flags)
		return -FI_EINVAL;
	if (strcmp(name, FI_SDR_EP_OPS_1) != 0)
		return -FI_EINVAL;
	*ops = &sdr_ep_ops_1;
	return 0;
}
