/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine's life: opening sockets, finding the payload a packet may have, the table of
 * operations. The payload is what the device of the bound address carries, so that a packet is
 * never fragmented on the first hop; what the path beyond carries is for the layers above to find
 * out (the two sides take the smaller of their payloads).  No timers of its own: the clock is only
 * read for others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_net.h"
#include "sdr_soft_host.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_near.h"

#define SDR_SOFT_BLOCKED_NS 200000u
#define SDR_SOFT_MTU_STEP   64u /* below SDR_MTU_DEFAULT the payload is a multiple of this */

static const struct sdr_uc_ops sdr_soft_ops;

/* Payload of a data packet for a device with so much room behind the IP and UDP headers. */
static uint32_t sdr_soft_fit(uint32_t room)
{
	return room > SDR_DATA_OVERHEAD ? (room - SDR_DATA_OVERHEAD) & ~3u : 0;
}

/*
 * Room behind the IP and UDP headers on the devices of all sources; on one that carries next to
 * nothing there is no path.
 */
static uint32_t sdr_soft_room_all(const struct sdr_soft *s, const struct sdr_soft_attr *a,
				  uint32_t room)
{
	uint32_t head = sdr_uc_head((sa_family_t)s->family), one;
	int dev, i;

	for (i = 0; i < a->nmore; i++) {
		dev = s->net->device_mtu((const struct sockaddr *)&a->more[i]);
		one = dev > (int)head ? (uint32_t)dev - head : 0;
		if (sdr_soft_fit(one) >= SDR_MTU_MIN && one >= SDR_CTL_OVERHEAD + SDR_CTL_MIN &&
		    one < room)
			room = one;
	}
	return room;
}

/* Payload sizes of data packets and control datagrams for this device. */
static int sdr_soft_mtu_set(struct sdr_soft *s, const struct sdr_soft_attr *a)
{
	uint32_t head = sdr_uc_head((sa_family_t)s->family), dev, room, fit;
	int ret;

	if (a->mtu && (a->mtu < SDR_MTU_MIN || a->mtu > SDR_MTU_MAX || a->mtu % 4)) {
		sdr_soft_say(a, "mtu %u: expected a multiple of 4 from %u to %u bytes, or 0",
			     a->mtu, SDR_MTU_MIN, SDR_MTU_MAX);
		return -EINVAL;
	}
	ret = s->net->device_mtu((const struct sockaddr *)&a->bind);
	if (ret < 0) {
		sdr_soft_say(a, "no network device is up for this address");
		return ret;
	}
	dev = (uint32_t)ret;
	room = dev > head ? dev - head : 0;
	/*
	 * Of itself a packet of either kind is what all sources carry: any of them may have to.
	 */
	if (!a->mtu)
		room = sdr_soft_room_all(s, a, room);
	fit = sdr_soft_fit(room);
	s->probe_max = room > SDR_CTL_OVERHEAD ? (room - SDR_CTL_OVERHEAD) & ~3u : 0;
	if (s->probe_max > SDR_PROBE_MAX)
		s->probe_max = SDR_PROBE_MAX;
	if (a->mtu && s->probe_max > sdr_uc_ctl_of_mtu(a->mtu))
		s->probe_max = sdr_uc_ctl_of_mtu(a->mtu);
	s->ctl_max = s->probe_max < SDR_CTL_MAX ? s->probe_max : SDR_CTL_MAX;
	if (s->ctl_max < SDR_CTL_MIN) {
		sdr_soft_say(a, "the device's MTU of %u bytes is too small: at least %u are needed",
			     dev, head + SDR_CTL_OVERHEAD + SDR_CTL_MIN);
		return -EMSGSIZE;
	}
	if (a->mtu > fit) {
		sdr_soft_say(a,
			     "mtu %u: the device's MTU of %u bytes carries packets of at most %u",
			     a->mtu, dev, fit);
		return -EMSGSIZE;
	}
	if (a->mtu)
		s->mtu = a->mtu;
	else if (fit >= SDR_MTU_MAX)
		s->mtu = SDR_MTU_MAX;
	else if (fit >= SDR_MTU_DEFAULT)
		s->mtu = SDR_MTU_DEFAULT;
	else
		s->mtu = fit - fit % SDR_SOFT_MTU_STEP;
	return 0;
}

static int sdr_soft_workers_open(struct sdr_soft *s, const struct sdr_soft_attr *a)
{
	struct sockaddr_storage sa = a->bind;
	const char *what;
	int ret, i;

	if (!a->workers)
		return 0;
	((struct sockaddr_in *)&sa)->sin_port = 0;
	ret = sdr_soft_crew_open(s, a->workers, &sa, a->port_lo, a->port_hi, &what);
	if (ret == -EADDRINUSE && a->port_lo)
		sdr_soft_say(a, "no UDP port of %u-%u is free for %u workers (%u tried)",
			     a->port_lo, a->port_hi, a->workers,
			     sdr_soft_range_size(a->port_lo, a->port_hi));
	else if (ret)
		sdr_soft_say(a, "%u workers: %s: %s", a->workers, what, strerror(-ret));
	for (i = 0; !ret && i < s->nfd; i++)
		s->net->stamp(s->fd[i]);
	return ret;
}

static int sdr_soft_epoll_open(struct sdr_soft *s)
{
	int i;

	s->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epfd < 0)
		return -errno;
	for (i = 0; i < s->nfd; i++) {
		struct epoll_event e = { .events = EPOLLIN, .data.u32 = (uint32_t)i };

		if (epoll_ctl(s->epfd, EPOLL_CTL_ADD, s->fd[i], &e))
			return -errno;
	}
	if (s->crew) {
		struct epoll_event e = { .events = EPOLLIN, .data.u32 = SDR_SOFT_SOCKS };

		if (epoll_ctl(s->epfd, EPOLL_CTL_ADD, s->crew->bell.fd, &e))
			return -errno;
	}
	return 0;
}

static void sdr_soft_close(struct sdr_uc *uc)
{
	struct sdr_soft *s = sdr_soft_of(uc);

	sdr_soft_crew_close(s);
	sdr_soft_near_destroy(s);
	sdr_soft_nic_close(s);
	if (s->epfd >= 0)
		close(s->epfd);
	sdr_soft_source_close(s);
	sdr_soft_tx_free(&s->tx);
	sdr_soft_rx_free(&s->rx);
	free(s->qpn);
	free(s);
}

int sdr_soft_open(const struct sdr_soft_attr *a, struct sdr_uc **uc)
{
	struct sockaddr_storage sa;
	struct sdr_soft *s;
	int ret;

	if (a->channels > SDR_CHANNELS_MAX || a->workers > SDR_WORKERS_MAX ||
	    a->dscp > SDR_DSCP_MAX || a->nmore >= SDR_PATHS_MAX)
		return -EINVAL;
	if (a->bind.ss_family != AF_INET && a->bind.ss_family != AF_INET6)
		return -EAFNOSUPPORT;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->uc.ops = &sdr_soft_ops;
	s->epfd = -1;
	s->family = a->bind.ss_family;
	s->net = a->net ? a->net : &sdr_soft_net_udp;
	s->off = a->off;
	s->rcvbuf = a->rcvbuf ? a->rcvbuf : SDR_SOFT_RCVBUF;
	s->sndbuf = a->sndbuf ? a->sndbuf : SDR_SOFT_SNDBUF;
	s->tos = (uint8_t)(a->dscp << 2);
	s->icrc_seed = sdr_icrc_seed_masked();
	s->host = s->net->stays && !(s->off & SDR_SOFT_NO_BARE) ? sdr_soft_host_id() : 0;
	s->ctl_qpn = SDR_QPN_CTL;
	s->qpn_next = SDR_SOFT_QPN_FIRST;
	ret = sdr_soft_mtu_set(s, a);
	if (ret)
		goto err;
	ret = sdr_soft_source_open(s, a);
	if (ret)
		goto err;
	ret = sdr_soft_workers_open(s, a);
	if (ret)
		goto err;
	s->rx.nic = s->port[0] == SDR_ROCE_PORT;
	/*
	 * The descriptor for sleeping must not change when a device becomes a peer and brings a
	 * socket along.
	 */
	if (s->nfd > 1 || s->crew || !s->rx.nic) {
		ret = sdr_soft_epoll_open(s);
		if (ret)
			goto err;
	}
	ret = s->net->name_get(s->fd[0], &sa);
	if (ret)
		goto err;
	sdr_uc_addr_from_sockaddr(&s->addr, (struct sockaddr *)&sa);
	s->any = sdr_sockaddr_any((struct sockaddr *)&sa);
	ret = sdr_soft_tx_init(s, &s->tx);
	if (ret)
		goto err;
	ret = sdr_soft_rx_init(&s->rx, &s->st, &s->xst);
	if (ret)
		goto err;
	/* further sources are paths, whose order is that of their sockets */
	if (a->shm && s->host && s->sources == 1) {
		ret = sdr_soft_near_create(s, a->shm);
		if (ret)
			goto err;
	}
	*uc = &s->uc;
	return 0;
err:
	sdr_soft_close(&s->uc);
	return ret;
}

static void sdr_soft_info(struct sdr_uc *uc, struct sdr_uc_info *out)
{
	struct sdr_soft *s = sdr_soft_of(uc);

	memset(out, 0, sizeof(*out));
	out->name = s->net->name;
	out->mtu = s->mtu;
	out->ctl_max = s->ctl_max;
	out->rx_window = s->rx_window;
	out->probe_max = s->probe_max;
	out->data_over = sdr_uc_head((sa_family_t)s->family) + SDR_DATA_OVERHEAD;
	out->ctl_over = sdr_uc_head((sa_family_t)s->family) + SDR_CTL_OVERHEAD;
	out->cuts = true;
	out->sources = s->sources;
	out->ecn = s->ecn;
	out->rcvbuf_asked = s->rcvbuf;
	out->rcvbuf_got = s->rcvbuf_got;
	out->sndbuf_asked = s->sndbuf;
	out->sndbuf_got = s->sndbuf_got;
	out->note = s->note[0] ? s->note : NULL;
	out->late = "epoch";
	out->nic_port = s->net == &sdr_soft_net_udp;
	out->workers = s->crew ? (uint8_t)s->crew->n : 0;
	if (!s->any)
		out->addr = s->addr;
}

static void sdr_soft_stats(struct sdr_uc *uc, struct sdr_uc_stats *out)
{
	struct sdr_soft_stats xst = { 0 };

	*out = sdr_soft_of(uc)->st;
	sdr_soft_crew_stats(sdr_soft_of(uc), out, &xst);
}

static void sdr_soft_sockname(struct sdr_uc *uc, struct sdr_uc_addr *out)
{
	*out = sdr_soft_of(uc)->addr;
}

static void sdr_soft_source(struct sdr_uc *uc, uint32_t source, struct sdr_uc_addr *out)
{
	sdr_soft_source_name(sdr_soft_of(uc), source, out);
}

static uint64_t sdr_soft_now(struct sdr_uc *uc)
{
	struct sdr_soft *s = sdr_soft_of(uc);
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	s->clock = sdr_soft_ns(&t);
	return s->clock;
}

static int sdr_soft_mr_reg(struct sdr_uc *uc, void *buf, size_t len, const struct sdr_mem *mem,
			   void **mr)
{
	(void)uc;
	(void)len;
	if (mem)
		return -EOPNOTSUPP;
	*mr = buf;
	return 0;
}

static void sdr_soft_mr_dereg(struct sdr_uc *uc, void *mr)
{
	(void)uc;
	(void)mr;
}

static int sdr_soft_fd(struct sdr_uc *uc)
{
	struct sdr_soft *s = sdr_soft_of(uc);

	return s->epfd >= 0 ? s->epfd : s->fd[0];
}

/*
 * Packets that did not fit the caller's events wait in our buffers, where the descriptor cannot
 * show them.
 */
static uint64_t sdr_soft_deadline(struct sdr_uc *uc)
{
	struct sdr_soft *s = sdr_soft_of(uc);

	if (s->paths.tell || sdr_soft_near_left(s) || (s->roce && sdr_soft_rx_left(&s->roce->rx)))
		return 0;
	if (!sdr_soft_rx_left(&s->rx))
		return UINT64_MAX;
	/* A worker that is behind says so when it is not; in case it does not, soon. */
	return s->crew && s->crew->blocked ? s->clock + SDR_SOFT_BLOCKED_NS : 0;
}

static bool sdr_soft_arm(struct sdr_uc *uc)
{
	struct sdr_soft *s = sdr_soft_of(uc);
	bool rings = sdr_soft_near_arm(s);

	return (s->crew && sdr_soft_crew_arm(s)) || rings;
}

static uint64_t sdr_soft_crew_all_done(struct sdr_uc *uc)
{
	return sdr_soft_crew_done(sdr_soft_of(uc));
}

static void sdr_soft_crew_set(struct sdr_uc *uc, const struct sdr_uc_crew *crew)
{
	struct sdr_soft *s = sdr_soft_of(uc);

	SDR_ASSERT(s->crew && !s->crew->on && crew->room && crew->placed);
	s->crew->to = *crew;
}

/* Without an epoll set there is only the socket itself: it cannot be silent. */
static void sdr_soft_hush(struct sdr_uc *uc, bool on)
{
	struct sdr_soft *s = sdr_soft_of(uc);
	int i;

	if (s->epfd < 0 || s->hushed == on)
		return;
	for (i = 0; i < s->nfd; i++) {
		struct epoll_event e = { .events = on ? 0 : EPOLLIN, .data.u32 = (uint32_t)i };

		if (epoll_ctl(s->epfd, EPOLL_CTL_MOD, s->fd[i], &e))
			break;
	}
	if (s->crew) {
		struct epoll_event e = { .events = on ? 0 : EPOLLIN, .data.u32 = SDR_SOFT_SOCKS };

		(void)epoll_ctl(s->epfd, EPOLL_CTL_MOD, s->crew->bell.fd, &e);
	}
	s->hushed = on;
	s->rx.many |= on;
	s->rx.hushed = on;
}

static const char *sdr_soft_reason(struct sdr_uc *uc)
{
	return sdr_soft_of(uc)->reason;
}

static const struct sdr_uc_ops sdr_soft_ops = {
	.close = sdr_soft_close,
	.info = sdr_soft_info,
	.stats = sdr_soft_stats,
	.sockname = sdr_soft_sockname,
	.now = sdr_soft_now,
	.qp_create = sdr_soft_qp_create,
	.qp_destroy = sdr_soft_qp_destroy,
	.qp_info = sdr_soft_qp_info,
	.qp_connect = sdr_soft_qp_connect,
	.qp_via = sdr_soft_qp_via,
	.source = sdr_soft_source,
	.qp_readdress = sdr_soft_qp_readdress,
	.qp_path = sdr_soft_qp_path,
	.via_path = sdr_soft_via_path,
	.path_mtu = sdr_soft_path_mtu,
	.slot_bind = sdr_soft_slot_bind,
	.slot_unbind = sdr_soft_slot_unbind,
	.mr_reg = sdr_soft_mr_reg,
	.mr_dereg = sdr_soft_mr_dereg,
	.post = sdr_soft_post,
	.poll = sdr_soft_poll,
	.dry = sdr_soft_dry,
	.fd = sdr_soft_fd,
	.arm = sdr_soft_arm,
	.rearm = sdr_soft_arm, /* rings, and the bell of workers */
	.hush = sdr_soft_hush,
	.reason = sdr_soft_reason,
	.crew = sdr_soft_crew_set,
	.crew_done = sdr_soft_crew_all_done,
	.deadline = sdr_soft_deadline,
};

void sdr_soft_stats_get(struct sdr_uc *uc, struct sdr_soft_stats *out)
{
	struct sdr_uc_stats st = { 0 };

	memset(out, 0, sizeof(*out));
	if (uc->ops != &sdr_soft_ops)
		return;
	*out = sdr_soft_of(uc)->xst;
	sdr_soft_crew_stats(sdr_soft_of(uc), &st, out);
}

uint32_t sdr_soft_worker_stats_get(struct sdr_uc *uc, struct sdr_soft_worker_stats *out,
				   uint32_t max)
{
	const struct sdr_soft_crew *c;
	struct sdr_uc_stats st;
	uint32_t i;

	if (uc->ops != &sdr_soft_ops || !sdr_soft_of(uc)->crew)
		return 0;
	c = sdr_soft_of(uc)->crew;
	for (i = 0; i < c->n && i < max; i++) {
		memset(&st, 0, sizeof(st));
		sdr_soft_worker_stats(c->worker[i], &st, NULL);
		out[i].pkts_rx = st.pkts_rx;
		out[i].bytes_rx = st.bytes_rx;
		out[i].pkts_tx = st.pkts_tx;
		out[i].bytes_tx = st.bytes_tx;
	}
	return c->n;
}

/* The i-th port that data packets come to; -1: there are no more. */
static int sdr_soft_mem_port(const struct sdr_soft *s, uint32_t i)
{
	if (s->crew)
		return i < s->crew->n ? s->crew->worker[i]->fd : -1;
	return i < (uint32_t)s->nfd ? s->fd[i] : -1;
}

void sdr_soft_mem_hold(struct sdr_uc *uc)
{
	struct sdr_soft *s = sdr_soft_of(uc);
	uint32_t i;
	int fd;

	SDR_ASSERT(uc->ops == &sdr_soft_ops && s->net == &sdr_soft_net_mem);
	for (i = 0; (fd = sdr_soft_mem_port(s, i)) >= 0; i++)
		sdr_soft_mem_port_hold(fd);
}

void sdr_soft_mem_play(struct sdr_uc *uc, uint32_t times)
{
	struct sdr_soft *s = sdr_soft_of(uc);
	uint32_t i;
	int fd;

	SDR_ASSERT(uc->ops == &sdr_soft_ops && s->net == &sdr_soft_net_mem);
	for (i = 0; (fd = sdr_soft_mem_port(s, i)) >= 0; i++)
		sdr_soft_mem_port_play(fd, times);
}

void sdr_soft_ctl_qpn_set(struct sdr_uc *uc, uint32_t qpn)
{
	sdr_soft_of(uc)->ctl_qpn = qpn;
}
