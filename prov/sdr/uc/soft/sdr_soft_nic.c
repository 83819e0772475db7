/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers of the soft engine that are RDMA devices.  Their data go to UDP port 4791 in both
 * directions and carry the ICRC over the true IP and UDP headers; control datagrams are between
 * sockets, as with any peer.  Decided here: where a device's packets are received, what an ICRC
 * begins with, and whether a packet is from the device that the QP is connected to.
 *
 * Port 4791 is the engine's own socket if that is bound to it; else a second one, opened with the
 * first device and kept.  With two sockets the order of control datagrams and data is no longer
 * the kernel's: data are fetched first and wait until the control datagrams that had come by then
 * were reported, since one of them may bind their slot.
 *
 * What is sent: the addresses are known (of an engine that is bound to all, the one that routing
 * chooses when the peer is connected or moves), and so is the IPv4 identification: 0, or the
 * number of the segment in a train, since the socket is unconnected and forbids fragmentation.
 * What is received: the socket does not tell the identification, so it is solved for
 * (sdr_icrc_check_v4_any_id).  Seeds are kept by length and port; nothing is allocated a packet.
 *
 * No timers.  Not found out here: that a route changed below a peer that did not move (the device
 * then drops what comes), and devices that number the segments of a train otherwise.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "uc/sdr_uc_net.h"
#include "sdr_soft_impl.h"

/*
 * Polls after which data no longer wait for control datagrams, when of those more come than polls
 * report: what a receive buffer holds is reported by then.  Data that are placed too early only
 * cost a repetition.
 */
#define SDR_SOFT_NIC_PATIENCE 256u

/* ---- addresses ------------------------------------------------------------------------------- */

static inline uint32_t sdr_soft_ip_len(const struct sdr_soft *s)
{
	return s->family == AF_INET6 ? 16 : 4;
}

static inline const void *sdr_soft_ip(const struct sockaddr_storage *sa)
{
	if (sa->ss_family == AF_INET6)
		return &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	return &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
}

/* The port lies at the same place in both families. */
static inline void sdr_soft_port_set(struct sockaddr_storage *sa, uint16_t port)
{
	((struct sockaddr_in *)(void *)sa)->sin_port = htons(port);
}

static inline uint16_t sdr_soft_port_of(const struct sockaddr_storage *sa)
{
	return ntohs(((const struct sockaddr_in *)(const void *)sa)->sin_port);
}

static void sdr_soft_ip_text(const struct sockaddr_storage *sa, char text[INET6_ADDRSTRLEN])
{
	if (!inet_ntop(sa->ss_family, sdr_soft_ip(sa), text, INET6_ADDRSTRLEN))
		snprintf(text, INET6_ADDRSTRLEN, "?");
}

/* Our address as the peer sees it. */
static int sdr_soft_nic_local(struct sdr_soft *s, const struct sdr_soft_dest *to, uint8_t *out)
{
	char text[INET6_ADDRSTRLEN];
	struct sockaddr_storage sa;
	int ret;

	if (!s->any) {
		memcpy(out, s->addr.b + 3, sdr_soft_ip_len(s));
		return 0;
	}
	ret = sdr_uc_route((const struct sockaddr *)&to->sa, &sa);
	if (ret) {
		sdr_soft_ip_text(&to->sa, text);
		snprintf(
			s->reason, sizeof(s->reason),
			"no route to the RDMA device %s (%s): bind this endpoint to an address that reaches it",
			text, strerror(-ret));
		return ret;
	}
	memcpy(out, sdr_soft_ip(&sa), sdr_soft_ip_len(s));
	return 0;
}

/* ---- port 4791 ------------------------------------------------------------------------------- */

static int sdr_soft_port_listen(struct sdr_soft *s, struct sdr_soft_port *r)
{
	socklen_t len =
		s->family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = SDR_SOFT_SOCKS };
	char text[INET6_ADDRSTRLEN];
	struct sockaddr_storage sa;
	const char *what;
	int ret;

	memset(&sa, 0, sizeof(sa));
	ret = sdr_uc_addr_to_sockaddr(&s->addr, &sa);
	if (ret < 0)
		return ret;
	sdr_soft_port_set(&sa, SDR_ROCE_PORT);
	r->fd = sdr_soft_sock_open((struct sockaddr *)&sa, len, s->rcvbuf, 0, &what);
	if (r->fd < 0) {
		ret = r->fd;
		sdr_soft_ip_text(&sa, text);
		if (ret == -EADDRINUSE)
			snprintf(
				s->reason, sizeof(s->reason),
				"UDP port %d of %s, where RDMA devices send to, is taken (by another endpoint "
				"here, or by "
				"the kernel's rdma_rxe module): free it, or bind to an address where it is free",
				SDR_ROCE_PORT, text);
		else
			snprintf(s->reason, sizeof(s->reason),
				 "UDP port %d of %s, where RDMA devices send to: %s: %s",
				 SDR_ROCE_PORT, text, what, strerror(-ret));
		return ret;
	}
	if (s->gro)
		sdr_soft_sock_gro(r->fd);
	ret = sdr_soft_rx_init(&r->rx, &s->st, &s->xst);
	if (ret)
		return ret;
	r->rx.nic = r->rx.nic_only = true;
	return epoll_ctl(s->epfd, EPOLL_CTL_ADD, r->fd, &e) ? -errno : 0;
}

static void sdr_soft_port_free(struct sdr_soft_port *r)
{
	if (r->fd >= 0)
		close(r->fd);
	sdr_soft_rx_free(&r->rx);
	free(r);
}

static int sdr_soft_port_open(struct sdr_soft *s)
{
	static const uint8_t none[4];
	struct sdr_soft_port *r;
	uint32_t i, zero;
	int ret;

	if (s->roce)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->fd = -1;
	/*
	 * A CRC is linear: what the identification changes is the same whatever lies around it.
	 */
	zero = sdr_icrc_seed_v4(none, none, 0, 0, 0, true, 0);
	for (i = 0; i < SDR_SOFT_GSO_SEGS; i++)
		r->id[i] = zero ^ sdr_icrc_seed_v4(none, none, 0, 0, (uint16_t)i, true, 0);
	ret = s->rx.nic ? 0 : sdr_soft_port_listen(s, r);
	if (ret)
		goto err;
	ret = sdr_soft_sock_no_check(r->fd >= 0 ? r->fd : s->fd[0], s->family);
	if (ret)
		goto err;
	s->roce = r;
	return 0;
err:
	sdr_soft_port_free(r);
	return ret;
}

void sdr_soft_nic_close(struct sdr_soft *s)
{
	if (s->roce)
		sdr_soft_port_free(s->roce);
}

int sdr_soft_nic_poll(struct sdr_soft *s, struct sdr_uc_ev *ev, int max)
{
	struct sdr_soft_port *r = s->roce;
	bool ctl = false, drained;
	int n, ret;

	if (r->ready && sdr_soft_rx_left(&r->rx)) {
		n = sdr_soft_rx_split(s, &r->rx, ev, max, &ctl);
		if (n)
			return n;
	}
	if (!sdr_soft_rx_left(&r->rx)) {
		sdr_soft_rx_reset(&r->rx);
		r->ready = false;
		r->age = 0;
		ret = sdr_soft_rx_call(s, &r->rx, r->fd, &r->inlet, sdr_soft_rx_room(&r->rx));
		if (ret < 0) {
			ev[0].kind = SDR_UC_EV_ERROR;
			ev[0].len = 0;
			ev[0].err = ret;
			return 1;
		}
	}
	n = sdr_soft_rx_own(s, ev, max, &ctl, &drained);
	s->drained = drained;
	if (!sdr_soft_rx_left(&r->rx))
		return n;
	r->ready |= drained || ++r->age == SDR_SOFT_NIC_PATIENCE;
	if (r->ready && !ctl && n < max)
		n += sdr_soft_rx_split(s, &r->rx, ev + n, max - n, &ctl);
	return n;
}

/* ---- peers ----------------------------------------------------------------------------------- */

/* Everything that follows from the peer's address, or nothing. */
static int sdr_soft_nic_address(struct sdr_soft_qp *q, struct sdr_soft_nic *nic,
				const struct sdr_uc_addr *addr)
{
	struct sdr_soft *s = q->s;
	struct sdr_soft_dest to;
	uint8_t local[16] = { 0 };
	int ret;

	ret = sdr_soft_dest_make(s, &s->addr, addr, &to);
	if (ret)
		return ret;
	sdr_soft_port_set(&to.sa, SDR_ROCE_PORT);
	ret = sdr_soft_nic_local(s, &to, local);
	if (ret)
		return ret;
	memcpy(nic->local, local, sizeof(nic->local));
	memcpy(nic->peer, sdr_soft_ip(&to.sa), sdr_soft_ip_len(s));
	memset(nic->tx, 0, sizeof(nic->tx));
	memset(nic->rx, 0, sizeof(nic->rx));
	q->dest = to;
	return 0;
}

int sdr_soft_nic_connect(struct sdr_soft_qp *q, const struct sdr_wire_qp_info *p,
			 const struct sdr_uc_addr *addr)
{
	struct sdr_soft_nic *nic = NULL;
	uint32_t i;
	int ret;

	q->s->reason[0] = 0;
	if (q->s->net != &sdr_soft_net_udp)
		return -EOPNOTSUPP;
	if (p->ntps && p->ntps != q->ntp)
		return -EPROTO;
	ret = sdr_soft_port_open(q->s);
	if (ret)
		goto out;
	ret = -ENOMEM;
	nic = calloc(1, sizeof(*nic) + q->ntp * sizeof(nic->tpn[0]));
	if (!nic)
		goto out;
	ret = sdr_soft_nic_address(q, nic, addr);
	if (ret)
		goto out;
	for (i = 0; i < q->ntp; i++)
		nic->tpn[i] = sdr_wire_tpn(p, i / q->channels, i % q->channels);
	free(q->nic);
	__atomic_store_n(&q->nic, nic, __ATOMIC_RELAXED);
	nic = NULL;
out:
	free(nic);
	return ret;
}

int sdr_soft_nic_readdress(struct sdr_soft_qp *q, const struct sdr_uc_addr *addr)
{
	return sdr_soft_nic_address(q, q->nic, addr);
}

/* ---- packets --------------------------------------------------------------------------------- */

/* The one kept for this length and port, or the place for it. */
static inline struct sdr_soft_seed *sdr_soft_seed_at(struct sdr_soft_seed *v, uint32_t len,
						     uint16_t port)
{
	return &v[(len / 4 + port) % SDR_SOFT_NIC_SEEDS];
}

static void sdr_soft_seed_fill(const struct sdr_soft *s, struct sdr_soft_seed *e,
			       const uint8_t *src, const uint8_t *dst, uint16_t port, uint32_t len)
{
	e->len = len;
	e->port = port;
	if (s->family == AF_INET6)
		e->seed = sdr_icrc_seed_v6(src, dst, port, SDR_ROCE_PORT, len);
	else
		e->seed = sdr_icrc_seed_v4(src, dst, port, SDR_ROCE_PORT, 0, true, len);
}

uint32_t sdr_soft_nic_seed(struct sdr_soft_qp *q, uint8_t sock, uint32_t len, uint32_t segment)
{
	struct sdr_soft *s = q->s;
	struct sdr_soft_seed *e = sdr_soft_seed_at(q->nic->tx, len, s->port[sock]);

	if (e->len != len || e->port != s->port[sock])
		sdr_soft_seed_fill(s, e, q->nic->local, q->nic->peer, s->port[sock], len);
	return s->family == AF_INET6 ? e->seed : e->seed ^ s->roce->id[segment];
}

bool sdr_soft_nic_check(struct sdr_soft_qp *q, const struct sockaddr_storage *from,
			const uint8_t *pkt, size_t len)
{
	struct sdr_soft *s = q->s;
	uint16_t port = sdr_soft_port_of(from), id;
	struct sdr_soft_seed *e = sdr_soft_seed_at(q->nic->rx, (uint32_t)len, port);

	if (from->ss_family != s->family ||
	    memcmp(sdr_soft_ip(from), q->nic->peer, sdr_soft_ip_len(s)))
		return false;
	if (e->len != len || e->port != port) {
		sdr_soft_seed_fill(s, e, q->nic->peer, q->nic->local, port, (uint32_t)len);
		if (s->family == AF_INET)
			e->back = sdr_icrc_v4_back(len);
	}
	if (s->family == AF_INET6)
		return sdr_icrc_check(e->seed, pkt, len);
	return sdr_icrc_check_v4_any_id(e->seed, e->back, pkt, len, &id);
}
