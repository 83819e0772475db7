/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The verbs engine's life: from an address to a device and its queues, and what it reports of
 * itself.
 *
 * An engine is bound to one GID of one port, or to all of one family (sdr_verbs_bind.c), and to
 * the same IP address with a UDP port by an ordinary socket (a soft engine inside it), which is
 * where peers meet it.  Completion queues are polled, never waited for by the engine itself; a
 * caller that wants to sleep arms them and sleeps on one descriptor for queues, socket and device.
 * How all that breaks: sdr_verbs_break.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "uc/sdr_uc_net.h"
#include "sdr_verbs_impl.h"

static const struct sdr_uc_ops sdr_verbs_ops;

static bool sdr_verbs_is(const struct sdr_uc *uc)
{
	return uc->ops == &sdr_verbs_ops;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int sdr_verbs_socket(struct sdr_verbs *v, const struct sdr_verbs_attr *a)
{
	struct sdr_soft_attr s = { .bind = v->local,
				   .port_lo = a->port_lo,
				   .port_hi = a->port_hi,
				   .off = SDR_SOFT_NO_ECN,
				   .dscp = a->dscp,
				   .err = v->reason,
				   .err_len = sizeof(v->reason) };
	struct sdr_uc_addr bound;
	struct sdr_uc_info info;
	int ret = sdr_soft_open(&s, &v->soft);

	if (ret)
		return ret;
	v->soft->ops->sockname(v->soft, &bound);
	memcpy(v->addr.b + 1, bound.b + 1, 2); /* the port */
	v->soft->ops->info(v->soft, &info);
	v->ctl_max = info.ctl_max;
	if (v->ctl_max > v->ctl_bound)
		v->ctl_max = v->ctl_bound;
	return 0;
}

/* The inline size, and whether there are queue pairs at all, is found by trying. */
static int sdr_verbs_queues(struct sdr_verbs *v)
{
	uint32_t port = 128u << v->port_mtu;
	int ret, flags;

	errno = 0;
	v->chan = v->ibv->create_comp_channel(v->pd->ctx);
	if (!v->chan)
		goto err;
	flags = fcntl(v->chan->fd, F_GETFL);
	if (flags < 0 || fcntl(v->chan->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		goto err;
	v->scq = v->ibv->create_cq(v->pd->ctx, SDR_VERBS_SCQ, v, NULL, 0);
	if (!v->scq)
		goto err;
	ret = sdr_verbs_tx_init(v);
	if (ret)
		return ret;
	if (port < SDR_CTL_MIN)
		return 0; /* control does not fit the port's packets: it stays with the socket */
	if (v->ctl_max > port)
		v->ctl_max = port;
	ret = sdr_verbs_ud_open(v);
	if (ret && v->inl) {
		sdr_verbs_ud_close(v);
		memset(&v->ud, 0, sizeof(v->ud));
		v->inl = 0; /* not every device takes payload inside the request */
		ret = sdr_verbs_ud_open(v);
	}
	if (!ret)
		sdr_soft_ctl_qpn_set(v->soft, v->ud.qp->qp_num);
	return ret;
err:
	ret = -(errno ? errno : ENOMEM);
	sdr_verbs_why(v->pd, ret, "cannot make its queues", v->reason, sizeof(v->reason));
	return ret;
}

static int sdr_verbs_epoll(struct sdr_verbs *v)
{
	int fd[4] = { v->chan->fd, v->pd->ctx->async_fd, v->soft->ops->fd(v->soft),
		      v->crew ? v->crew->bell.fd : -1 };
	int n = v->crew ? 4 : 3, i;
	struct epoll_event e = { .events = EPOLLIN };

	v->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (v->epfd < 0)
		return -errno;
	for (i = 0; i < n; i++)
		if (epoll_ctl(v->epfd, EPOLL_CTL_ADD, fd[i], &e))
			return -errno;
	return 0;
}

static void sdr_verbs_close(struct sdr_uc *uc)
{
	struct sdr_verbs *v = sdr_verbs_of(uc), **p;

	if (v->pd && sdr_verbs_pd_foreign(v->pd)) {
		v->soft->ops->close(v->soft);
		sdr_verbs_crew_close(v);
		close(v->epfd);
		return;
	}
	if (v->pd) {
		pthread_mutex_lock(&v->pd->lock);
		for (p = &v->pd->engines; *p && *p != v; p = &(*p)->next)
			;
		if (*p)
			*p = v->next;
		pthread_mutex_unlock(&v->pd->lock);
		if (v->keys_priv)
			v->keys->close(v);
		sdr_verbs_peers_free(v);
		sdr_verbs_ud_close(v);
		sdr_verbs_tx_free(v);
		if (v->scq)
			v->ibv->destroy_cq(v->scq);
		sdr_verbs_crew_close(v);
		if (v->chan)
			v->ibv->destroy_comp_channel(v->chan);
	}
	if (v->soft)
		v->soft->ops->close(v->soft);
	if (v->epfd >= 0)
		close(v->epfd);
	if (v->pd)
		sdr_verbs_pd_put(v->pd);
	free(v->src);
	free(v);
}

int sdr_verbs_open(const struct sdr_verbs_attr *a, struct sdr_uc **uc)
{
	struct sdr_verbs *v = calloc(1, sizeof(*v));
	int ret;

	if (!v)
		return -ENOMEM;
	v->uc.ops = &sdr_verbs_ops;
	v->epfd = -1;
	v->lane.v = v;
	ret = sdr_verbs_choose(v, a);
	if (ret)
		goto err;
	ret = sdr_verbs_settings(v, a);
	if (ret)
		goto err;
	ret = sdr_verbs_pd_get(v->device, &v->pd, v->reason, sizeof(v->reason));
	if (ret)
		goto err;
	v->ibv = v->pd->ibv;
	ret = sdr_verbs_socket(v, a);
	if (ret)
		goto err;
	ret = sdr_verbs_queues(v);
	if (ret)
		goto err;
	ret = v->keys->open(v);
	if (ret)
		goto err;
	ret = a->workers ? sdr_verbs_crew_open(v, a->workers) : 0;
	if (ret)
		goto err;
	ret = sdr_verbs_epoll(v);
	if (ret)
		goto err;
	pthread_mutex_lock(&v->pd->lock);
	v->next = v->pd->engines;
	v->pd->engines = v;
	pthread_mutex_unlock(&v->pd->lock);
	*uc = &v->uc;
	return 0;
err:
	if (a->err && a->err_len)
		snprintf(a->err, a->err_len, "%s", v->reason);
	sdr_verbs_close(&v->uc);
	return ret;
}

/* ---- the rest of the table ------------------------------------------------------------------- */

static void sdr_verbs_info(struct sdr_uc *uc, struct sdr_uc_info *out)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);

	memset(out, 0, sizeof(*out));
	out->name = "verbs";
	out->mtu = v->mtu;
	out->ctl_max = v->ctl_max;
	out->rx_window = v->rx_depth * v->mtu;
	/* Without probes: the port's MTU is the path's.  Nor does a device cut packets. */
	out->data_over = sdr_uc_head(v->local.ss_family) + SDR_DATA_OVERHEAD;
	out->ctl_over = sdr_uc_head(v->local.ss_family) + SDR_CTL_OVERHEAD + SDR_IMM_LEN;
	out->sources = 1;
	out->workers = v->crew ? (uint8_t)v->crew->n : 0;
	out->rkeyed = true;
	out->far = v->ibv->reg_dmabuf_mr != NULL;
	out->reg_min = SDR_VERBS_REG_MIN;
	out->late = v->keys->name;
	out->addr = v->addr;
}

static void sdr_verbs_stats(struct sdr_uc *uc, struct sdr_uc_stats *out)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	struct sdr_verbs_rx_stats got = v->lane.st;
	struct sdr_uc_stats s;

	v->soft->ops->stats(v->soft, &s);
	if (v->crew)
		sdr_verbs_crew_stats(v->crew, &got);
	*out = v->st;
	out->ctl_tx += s.ctl_tx;
	out->ctl_rx += s.ctl_rx;
	out->pkts_rx = got.pkts_rx;
	out->bytes_rx = got.bytes_rx;
	out->pkts_late = got.pkts_late;
	out->pkts_bad += got.pkts_bad + s.pkts_bad;
	out->tx_again += s.tx_again;
	out->sys_tx += s.sys_tx;
	out->sys_rx += s.sys_rx;
	out->regs += atomic_load_explicit(&v->pd->regs, memory_order_relaxed);
}

uint32_t sdr_verbs_worker_stats_get(struct sdr_uc *uc, struct sdr_verbs_worker_stats *out,
				    uint32_t max)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	struct sdr_verbs_crew *c = sdr_verbs_is(uc) ? v->crew : NULL;
	uint32_t i;

	for (i = 0; c && i < c->n && i < max; i++) {
		struct sdr_verbs_worker *w = c->worker[i];

		sdr_verbs_lane_lock(&w->lane);
		out[i].pkts_rx = w->lane.st.pkts_rx;
		out[i].bytes_rx = w->lane.st.bytes_rx;
		out[i].pkts_helped = w->helped;
		sdr_verbs_lane_unlock(&w->lane);
	}
	return c ? c->n : 0;
}

static void sdr_verbs_sockname(struct sdr_uc *uc, struct sdr_uc_addr *out)
{
	*out = sdr_verbs_of(uc)->addr;
}

static void sdr_verbs_crew(struct sdr_uc *uc, const struct sdr_uc_crew *crew)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);

	if (v->crew)
		v->crew->to = *crew;
}

/* One lane is in order by itself; of several none is to be far behind the others. */
static uint64_t sdr_verbs_crew_done(struct sdr_uc *uc)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);

	if (v->crew->on > 1)
		sdr_verbs_crew_pass(v->crew);
	return UINT64_MAX;
}

static const char *sdr_verbs_reason(struct sdr_uc *uc)
{
	return sdr_verbs_of(uc)->reason;
}

static int sdr_verbs_fd(struct sdr_uc *uc)
{
	return sdr_verbs_of(uc)->epfd;
}

static uint64_t sdr_verbs_deadline(struct sdr_uc *uc)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);

	uint64_t due = UINT64_MAX;

	if (atomic_load(&v->err))
		return v->err_told ? due : 0;
	if (atomic_load(&v->failed_at))
		return atomic_load(&v->failed_at) + SDR_VERBS_FAIL_NS;
	if (v->lane.hot)
		due = v->polled + (v->polled - v->lane.flowed < SDR_VERBS_FLOW_NS
					   ? SDR_VERBS_NAP_NS
					   : SDR_VERBS_REST_NS);
	if (atomic_load(&v->down) && v->down_since + SDR_VERBS_DOWN_NS < due)
		due = v->down_since + SDR_VERBS_DOWN_NS + 1;
	if (v->bad && v->bad->failed_at + SDR_VERBS_FAIL_NS < due)
		due = v->bad->failed_at + SDR_VERBS_FAIL_NS;
	return due;
}

static const struct sdr_uc_ops sdr_verbs_ops = {
	.close = sdr_verbs_close,
	.info = sdr_verbs_info,
	.stats = sdr_verbs_stats,
	.sockname = sdr_verbs_sockname,
	.now = sdr_verbs_now,
	.qp_create = sdr_verbs_qp_create,
	.qp_destroy = sdr_verbs_qp_destroy,
	.qp_info = sdr_verbs_qp_info,
	.qp_connect = sdr_verbs_qp_connect,
	.qp_readdress = sdr_verbs_qp_readdress,
	.slot_bind = sdr_verbs_slot_bind,
	.slot_unbind = sdr_verbs_slot_unbind,
	.grant = sdr_verbs_grant,
	.grant_end = sdr_verbs_grant_end,
	.mr_reg = sdr_verbs_mr_reg,
	.mr_dereg = sdr_verbs_mr_dereg,
	.mr_busy = sdr_verbs_mr_busy,
	.reading = sdr_verbs_mr_reading,
	.post = sdr_verbs_post,
	.poll = sdr_verbs_poll,
	.fd = sdr_verbs_fd,
	.arm = sdr_verbs_arm,
	.rearm = sdr_verbs_rearm,
	.reason = sdr_verbs_reason,
	.crew = sdr_verbs_crew,
	.crew_done = sdr_verbs_crew_done,
	.deadline = sdr_verbs_deadline,
};
