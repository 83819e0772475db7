/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The verbs engine's life: from an address to a device and its queues, and what it reports of
 * itself.
 *
 * An engine is bound to one GID of one port, or to all of one family, and to the same IP address
 * with a UDP port by an ordinary socket (a soft engine inside it), which is where peers meet it.
 * Completion queues are polled, never waited for by the engine itself; a caller that wants to sleep
 * arms them and sleeps on one descriptor for queues, socket and device.
 *
 * A device that fails, its control queue pair or a queue that the device disables, or a port that
 * stays down for SDR_VERBS_DOWN_NS, breaks the engine: poll says so once, with a reason as text.
 * A port that is down for less is like any other silence on the path, unless the device gives queue
 * pairs up for it.  A queue pair of a QP that fails breaks that QP only (sdr_verbs_bad.c): its peer
 * can make it fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "uc/sdr_uc_net.h"
#include "sdr_verbs_impl.h"

static const struct sdr_uc_ops sdr_verbs_ops;

bool sdr_verbs_is(const struct sdr_uc *uc)
{
	return uc->ops == &sdr_verbs_ops;
}

uint64_t sdr_verbs_now(struct sdr_uc *uc)
{
	struct timespec ts;

	(void)uc;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void sdr_verbs_break_now(struct sdr_verbs *v, int err, const char *what)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&v->err, &none, err))
		snprintf(v->reason, sizeof(v->reason), "%s: %s", v->device, what);
}

void sdr_verbs_break(struct sdr_verbs *v, int err, const char *what)
{
	unsigned long long none = 0;

	if (err != -EIO)
		sdr_verbs_break_now(v, err, what);
	else if (atomic_compare_exchange_strong(&v->failed_at, &none, sdr_verbs_now(&v->uc)))
		snprintf(v->failed, sizeof(v->failed), "%s", what);
}

void sdr_verbs_fail_check(struct sdr_verbs *v, uint64_t now)
{
	uint64_t at = atomic_load(&v->failed_at);
	struct ibv_port_attr port;

	/* at may be later than now */
	if (!at || now < at + SDR_VERBS_FAIL_NS || atomic_load(&v->err))
		return;
	if (!v->ibv->query_port(v->pd->ctx, v->port, &port) && port.state != IBV_PORT_ACTIVE)
		sdr_verbs_break_now(v, -ENETDOWN, SDR_VERBS_DOWN_WORDS);
	else
		sdr_verbs_break_now(v, -EIO, v->failed);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Takes over what the engine is bound to, and the other addresses that it could be met at. */
static int sdr_verbs_bind(struct sdr_verbs *v, const struct sdr_uc_dev *list, unsigned int n,
			  const struct sdr_uc_dev *found, const struct sdr_verbs_attr *a)
{
	unsigned int i;

	v->src = calloc(n, sizeof(*v->src));
	if (!v->src)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, found->name) && list[i].port == found->port &&
		    list[i].addr.ss_family == found->addr.ss_family &&
		    !sdr_uc_addr_from_sockaddr(&v->src[v->nsrc].addr,
					       (const struct sockaddr *)&list[i].addr))
			v->src[v->nsrc++].gid_index = list[i].gid_index;
	snprintf(v->device, sizeof(v->device), "%s", found->name);
	v->port = found->port;
	v->gid_index = found->gid_index;
	v->mtu = found->mtu;
	sdr_uc_addr_from_sockaddr(&v->addr, (const struct sockaddr *)&found->addr);
	v->local = v->any ? a->bind : found->addr;
	/* The port lies at the same place in both families. */
	((struct sockaddr_in *)&v->local)->sin_port =
		((const struct sockaddr_in *)&a->bind)->sin_port;
	if (!a->late || !strcmp(a->late, "auto"))
		v->keys = !strcmp(found->late, "root") ? &sdr_verbs_keys_root
			  : !strcmp(found->late, "mw") ? &sdr_verbs_keys_mw
						       : &sdr_verbs_keys_mr;
	return 0;
}

/* The GID to be bound: of the named device or any, with the address or the first of its family. */
static int sdr_verbs_choose(struct sdr_verbs *v, const struct sdr_verbs_attr *a)
{
	struct sdr_uc_dev *list, *found = NULL;
	struct sdr_uc_addr want, have;
	unsigned int n, i;
	int ret;

	ret = sdr_verbs_list(&list, &n, v->reason, sizeof(v->reason));
	if (ret)
		return ret;
	ret = sdr_uc_addr_from_sockaddr(&want, (const struct sockaddr *)&a->bind);
	if (ret)
		goto out;
	for (v->any = true, i = 3; i < 19; i++)
		v->any &= !want.b[i];
	for (i = 0; i < n && !found; i++) {
		if (a->device && strcmp(list[i].name, a->device))
			continue;
		if (sdr_uc_addr_from_sockaddr(&have, (struct sockaddr *)&list[i].addr) ||
		    have.b[0] != want.b[0])
			continue;
		if (v->any || !memcmp(have.b + 3, want.b + 3, 16))
			found = &list[i];
	}
	if (found) {
		ret = sdr_verbs_bind(v, list, n, found, a);
		goto out;
	}
	ret = -ENODEV;
	if (!n && v->reason[0])
		goto out;
	if (a->device || !v->any)
		ret = -EADDRNOTAVAIL;
	snprintf(
		v->reason, sizeof(v->reason),
		"no active port of %s has this address as a RoCEv2 GID (rdma link; ibv_devinfo -v)",
		a->device ? a->device : "an RDMA device");
out:
	free(list);
	return ret;
}

static int sdr_verbs_settings(struct sdr_verbs *v, const struct sdr_verbs_attr *a)
{
	uint32_t port = v->mtu;

	if (a->late && strcmp(a->late, "auto")) {
		v->keys = !strcmp(a->late, "mr")     ? &sdr_verbs_keys_mr
			  : !strcmp(a->late, "mw")   ? &sdr_verbs_keys_mw
			  : !strcmp(a->late, "root") ? &sdr_verbs_keys_root
						     : NULL;
		if (!v->keys) {
			snprintf(v->reason, sizeof(v->reason),
				 "late packets: \"%s\" is none of auto, root, mw, mr", a->late);
			return -EINVAL;
		}
	}
	if (a->mtu && (a->mtu < SDR_MTU_MIN || a->mtu > port || a->mtu % 4)) {
		snprintf(
			v->reason, sizeof(v->reason),
			"mtu %u: expected a multiple of 4 from %u to the port's active MTU of %u bytes, or 0",
			a->mtu, SDR_MTU_MIN, port);
		return -EMSGSIZE;
	}
	v->port_mtu = port >= 4096   ? IBV_MTU_4096
		      : port >= 2048 ? IBV_MTU_2048
		      : port >= 1024 ? IBV_MTU_1024
		      : port >= 512  ? IBV_MTU_512
				     : IBV_MTU_256;
	v->mtu = a->mtu ? a->mtu : port;
	v->ctl_bound = a->mtu ? sdr_uc_ctl_of_mtu(a->mtu) : SDR_CTL_MAX;
	v->rx_depth = a->rx_depth ? a->rx_depth : SDR_VERBS_RX_DEPTH;
	v->tclass = (uint8_t)(a->dscp << 2);
	v->tx_depth = a->tx_depth ? a->tx_depth : SDR_VERBS_TX_DEPTH;
	if (v->rx_depth > SDR_UC_DEPTH_MAX || v->tx_depth > SDR_UC_DEPTH_MAX ||
	    v->rx_depth < SDR_VERBS_BATCH) {
		snprintf(v->reason, sizeof(v->reason),
			 "queue depths %u and %u: expected %u to %u receives, up to %u sends",
			 v->rx_depth, v->tx_depth, SDR_VERBS_BATCH, SDR_UC_DEPTH_MAX,
			 SDR_UC_DEPTH_MAX);
		return -EINVAL;
	}
	if (a->workers > SDR_WORKERS_MAX) {
		snprintf(v->reason, sizeof(v->reason), "workers %u: expected 0 to %u", a->workers,
			 SDR_WORKERS_MAX);
		return -EINVAL;
	}
	while (v->tx_depth & (v->tx_depth - 1)) /* rings: a power of two */
		v->tx_depth += v->tx_depth & -v->tx_depth;
	v->inl = SDR_VERBS_INLINE;
	return 0;
}

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

static void sdr_verbs_sockname(struct sdr_uc *uc, struct sdr_uc_addr *out)
{
	*out = sdr_verbs_of(uc)->addr;
}

int sdr_verbs_key_wait(struct sdr_verbs *v, struct ibv_cq *cq)
{
	uint64_t until = sdr_verbs_now(&v->uc) + SDR_VERBS_KEY_NS;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		if (sdr_verbs_now(&v->uc) > until) {
			sdr_verbs_break(v, -ETIMEDOUT,
					"the device did not set a key within a second (dmesg)");
			return -ETIMEDOUT;
		}
	}
	return n < 0 || wc.status != IBV_WC_SUCCESS ? -EIO : 0;
}

/* Of a grant of no bytes: there is no key, and devices check none. */
static char sdr_verbs_nothing;

static int sdr_verbs_grant(struct sdr_uc_qp *qp, void *buf, size_t len, const struct sdr_mem *mem,
			   void *mr, struct sdr_uc_grant *g)
{
	const struct sdr_verbs_range r = { buf, len, mem, NULL };
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp);
	uint32_t i;
	int ret;

	(void)mr; /* found by its range */
	memset(g, 0, sizeof(*g));
	/* The data may be here before their slot is bound. */
	for (i = 0; i < q->ntp; i++)
		sdr_verbs_tp_ready(&q->tp[i]);
	if (len) {
		ret = q->v->keys->grant(q->v, &r, g);
		if (ret)
			return ret;
	} else {
		g->impl = &sdr_verbs_nothing;
	}
	q->v->st.grants++;
	sdr_verbs_qp_expect(q, 1);
	return 0;
}

static void sdr_verbs_grant_end(struct sdr_uc_qp *qp, struct sdr_uc_grant *g)
{
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp);

	if (g->impl != &sdr_verbs_nothing && !sdr_verbs_pd_foreign(q->v->pd))
		q->v->keys->end(q->v, g);
	g->impl = NULL;
	sdr_verbs_qp_expect(q, -1);
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
	.reason = sdr_verbs_reason,
	.crew = sdr_verbs_crew,
	.crew_done = sdr_verbs_crew_done,
	.deadline = sdr_verbs_deadline,
};
