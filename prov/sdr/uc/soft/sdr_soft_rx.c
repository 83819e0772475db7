/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine's poll: system calls -> trains -> packets -> events.
 *
 * A receive call fills up to SDR_SOFT_RX_BUFS buffers, each a datagram or a train that the kernel
 * aggregated; they are split at the segment size it reports, and each data packet is checked and
 * placed (sdr_soft_place.c).
 *
 * Where the last call found nothing the next one receives a single message: a lone datagram, which
 * is what latency is made of, is a third cheaper that way.  It is not followed by a call that most
 * likely finds nothing: what else is there waits for the next round (sdr_soft_dry).
 *
 * Events may be fewer than packets: the rest of the buffers waits for the next poll, and no buffer
 * is given to the kernel while an event of this poll points into it.
 */
#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#include "wire/sdr_knock.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_knock.h"
#include "sdr_soft_merge.h"
#include "sdr_soft_near.h"
#include "sdr_soft_place.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define SDR_SOFT_RX_ERRS 8  /* errors in a row that a poll steps over */
#define SDR_SOFT_RX_MORE 16 /* rounds of a poll in which nothing but pieces and knocks came */

static bool sdr_soft_rx_ctl(struct sdr_soft *s, struct sdr_soft_rx *rx, uint8_t *pkt, size_t len,
			    struct sdr_uc_ev *ev)
{
	struct sdr_wire_ctl c;
	const uint8_t *payload;
	size_t plen;

	if (rx->nic_only || sdr_wire_ctl_decode(pkt, len, &c, &payload, &plen) ||
	    (c.qkey != SDR_SOFT_QKEY && c.qkey != SDR_KNOCK_QKEY) ||
	    !sdr_soft_icrc_check(s, pkt, len))
		goto bad;
	if (c.qkey == SDR_KNOCK_QKEY) {
		if (!sdr_soft_knock_own(s, payload, plen, sdr_soft_rx_from(rx)))
			goto bad;
		s->knocks++;
		return false;
	}
	if (!rx->have_addr) {
		if (sdr_uc_addr_from_sockaddr(&rx->addr[rx->cur],
					      (const struct sockaddr *)sdr_soft_rx_from(rx)))
			goto bad;
		rx->have_addr = true;
	}
	rx->st->ctl_rx++;
	ev->kind = SDR_UC_EV_CTL;
	ev->since = rx->since;
	ev->gen = 0;
	ev->channel = 0;
	ev->ecn = rx->ecn;
	ev->source = rx->inlet[rx->cur]->source;
	ev->len = (uint32_t)plen;
	ev->c.buf = payload;
	ev->c.from = &rx->addr[rx->cur];
	ev->c.qpn = c.src_qpn;
	return true;
bad:
	rx->st->pkts_bad++;
	return false;
}

/* Control datagrams are read more than once: of what another process can write to, a copy. */
static uint8_t *sdr_soft_rx_own_copy(struct sdr_soft_rx *rx, const uint8_t *pkt, size_t len)
{
	const uint8_t *at = sdr_soft_rx_buf(rx);

	return memcpy(rx->bufs + (size_t)rx->cur * SDR_SOFT_RX_BUF_LEN + (pkt - at), pkt, len);
}

/*
 * Stamps are of the wall's clock, which is slewed, and set now and then; the engine's never is.
 * Behind a set one none is believed for as long as there may be older ones.  They are compared at
 * most every `apart` ns, and not by a look between whose halves the thread was away.
 */
static void sdr_soft_rx_clocks(const struct sdr_soft *s, struct sdr_soft_rx *rx, uint64_t apart)
{
	uint64_t before = rx->compared, differed = rx->engine_less_wall, at, moved;
	struct timespec wall, own;

	if (before && s->clock < before + apart)
		return;
	for (int i = 0;; i++) {
		clock_gettime(CLOCK_MONOTONIC, &own);
		at = sdr_soft_ns(&own);
		clock_gettime(CLOCK_REALTIME, &wall);
		clock_gettime(CLOCK_MONOTONIC, &own);
		if (sdr_soft_ns(&own) - at <= SDR_SOFT_LOOK_NS)
			break;
		if (i == SDR_SOFT_LOOKS)
			return;
	}
	rx->compared = sdr_soft_ns(&own);
	rx->engine_less_wall = rx->compared - sdr_soft_ns(&wall);
	moved = rx->engine_less_wall - differed;
	if (moved > UINT64_MAX / 2)
		moved = -moved;
	if (before && moved > SDR_SOFT_SET_NS + (rx->compared - before) / SDR_SOFT_SLEWS)
		rx->doubted = rx->compared + SDR_SOFT_LATE_MAX_NS;
}

/* The kernel's stamp, by the engine's clock; 0: somebody has set the wall's, or it is not known. */
static uint64_t sdr_soft_rx_since(const struct sdr_soft *s, struct sdr_soft_rx *rx)
{
	uint64_t ns = rx->stamp + rx->engine_less_wall;

	if (ns + SDR_SOFT_SET_NS < s->clock)
		sdr_soft_rx_clocks(s, rx, 1);
	if (!rx->compared || s->clock < rx->doubted || ns + SDR_SOFT_LATE_MAX_NS <= s->clock)
		return 0;
	return ns;
}

/*
 * rx->ecn: of all its packets, since the kernel aggregates none that differ in it (Linux 6.10;
 * before that, what it was of the first).
 */
uint32_t sdr_soft_rx_seg(struct sdr_soft *s, struct sdr_soft_rx *rx)
{
	struct mmsghdr *h = &rx->hdr[rx->cur];
	struct sdr_soft_inlet *in = rx->inlet[rx->cur];
	struct cmsghdr *cm;
	struct timespec t;
	uint32_t full;
	int seg = 0, tclass;

	rx->ecn = SDR_UC_NOT_ECT;
	rx->since = rx->stamp = 0;
	rx->via_of = NULL;

	if (rx->train) {
		const struct sdr_soft_ring_train *in_ring = &rx->train[rx->cur];

		rx->ecn = in_ring->ecn % SDR_UC_ECNS;
		if (in_ring->since <= s->clock && in_ring->since + SDR_SOFT_LATE_MAX_NS > s->clock)
			rx->since = in_ring->since;
		return in_ring->seg;
	}
	if (h->msg_hdr.msg_flags & MSG_TRUNC) {
		rx->xst->rx_trunc++;
		rx->st->pkts_bad++;
		return 0;
	}
	if (!h->msg_len) {
		rx->st->pkts_bad++;
		return 0;
	}
	for (cm = CMSG_FIRSTHDR(&h->msg_hdr); cm; cm = CMSG_NXTHDR(&h->msg_hdr, cm)) {
		if (cm->cmsg_level == IPPROTO_UDP && cm->cmsg_type == UDP_GRO) {
			memcpy(&seg, CMSG_DATA(cm), sizeof(seg));
		} else if (cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SO_RXQ_OVFL) {
			/* Cumulative, of this socket; there once something was dropped. */
			memcpy(&full, CMSG_DATA(cm), sizeof(full));
			rx->st->rx_full += full - in->drops;
			in->drops = full;
		} else if (cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&t, CMSG_DATA(cm), sizeof(t));
			rx->stamp = sdr_soft_ns(&t);
			if (!rx->worker)
				rx->since = sdr_soft_rx_since(s, rx);
		} else if (cm->cmsg_level == IPPROTO_IP && cm->cmsg_type == IP_TOS) {
			rx->ecn = *CMSG_DATA(cm) % SDR_UC_ECNS; /* one byte, unlike the next */
		} else if (cm->cmsg_level == IPPROTO_IPV6 && cm->cmsg_type == IPV6_TCLASS) {
			memcpy(&tclass, CMSG_DATA(cm), sizeof(tclass));
			rx->ecn = (uint8_t)((uint32_t)tclass % SDR_UC_ECNS);
		}
	}
	return seg > 0 ? (uint32_t)seg : h->msg_len;
}

/*
 * Splits received messages into events until one of the two is used up, or a data packet is
 * behind a control datagram: that one may bind the packet's slot, so its owner sees it first; or a
 * control datagram is behind data packets that workers have not placed yet.
 */
int sdr_soft_rx_split(struct sdr_soft *s, struct sdr_soft_rx *rx, struct sdr_uc_ev *ev, int max,
		      bool *ctl)
{
	int n = 0;

	rx->held = false;
	for (; sdr_soft_rx_left(rx); rx->cur++, rx->seg = 0) {
		struct mmsghdr *h = &rx->hdr[rx->cur];
		uint8_t *buf = sdr_soft_rx_buf(rx);

		if (!rx->seg) {
			rx->seg = sdr_soft_rx_seg(s, rx);
			if (!rx->seg)
				continue;
			if (rx->stamp > rx->until) {
				rx->seg = 0;
				rx->held = true;
				return n;
			}
			rx->off = 0;
			rx->have_addr = false;
		}
		while (rx->off < h->msg_len) {
			uint8_t *pkt = buf + rx->off;
			uint32_t len = h->msg_len - rx->off;
			bool made;

			if (len > rx->seg)
				len = rx->seg;
			if (n == max ||
			    (*ctl && sdr_wire_opcode(pkt, len) == SDR_OP_UC_WRITE_ONLY_IMM))
				return n;
			if (s->crew && !rx->nic_only && !rx->train &&
			    sdr_wire_opcode(pkt, len) == SDR_OP_UD_SEND_ONLY &&
			    !sdr_soft_crew_passed(s, rx->stamp))
				return n;
			rx->off += len;
			rx->st->shm_rx += rx->train != NULL;
			switch (sdr_wire_opcode(pkt, len)) {
			case SDR_OP_UC_WRITE_ONLY_IMM:
				made = sdr_soft_place(s, rx, NULL, pkt, len, &ev[n]) ==
				       SDR_SOFT_PLACED;
				break;
			case SDR_OP_UD_SEND_ONLY:
				if (rx->train)
					pkt = sdr_soft_rx_own_copy(rx, pkt, len);
				made = sdr_soft_rx_ctl(s, rx, pkt, len, &ev[n]);
				*ctl |= made;
				break;
			default:
				rx->st->pkts_bad++;
				made = false;
			}
			n += made;
		}
	}
	return n;
}

int sdr_soft_rx_call(struct sdr_soft *s, struct sdr_soft_rx *rx, int fd, struct sdr_soft_inlet *in,
		     uint32_t room)
{
	int errs = 0, ret, i;
	unsigned int n;

	for (;;) {
		n = rx->many ? room : 1;
		ret = s->net->recv(fd, &rx->hdr[rx->nmsg], n);
		rx->drained = rx->many ? ret < (int)n : ret < 0;
		rx->lone = !rx->many && ret > 0;
		if (ret > 0) {
			rx->st->sys_rx++;
			if (!rx->worker)
				sdr_soft_rx_clocks(s, rx, SDR_SOFT_CLOCKS_NS);
			for (i = 0; i < ret; i++)
				rx->inlet[rx->nmsg++] = in;
			rx->many = true;
			return ret;
		}
		if (errno == EAGAIN) {
			rx->many = rx->hushed;
			return 0;
		}
		if (errno == EINTR)
			continue;
		if (errno == EBADF || errno == ENOTSOCK || errno == EFAULT)
			return -errno;
		rx->xst->rx_err++;
		if (++errs == SDR_SOFT_RX_ERRS) {
			rx->drained = false;
			return 0;
		}
	}
}

void sdr_soft_rx_reset_from(struct sdr_soft_rx *rx, uint32_t left)
{
	uint32_t i;

	for (i = left; i < rx->nmsg; i++) {
		rx->hdr[i].msg_hdr.msg_namelen = sizeof(rx->from[i]);
		rx->hdr[i].msg_hdr.msg_controllen = sizeof(rx->cmsg[i].buf);
	}
	rx->nmsg = left;
	rx->cur = 0;
	rx->seg = 0;
}

void sdr_soft_rx_reset(struct sdr_soft_rx *rx)
{
	sdr_soft_rx_reset_from(rx, 0);
}

int sdr_soft_rx_own(struct sdr_soft *s, struct sdr_uc_ev *ev, int max, bool *ctl, bool *drained)
{
	struct sdr_soft_rx *rx = &s->rx;
	uint32_t ready;
	int n, i, k, ret;

	if (s->sources > 1)
		return sdr_soft_merge(s, ev, max, ctl, drained);
	*ctl = *drained = rx->dry = false;
	if (sdr_soft_rx_left(rx)) {
		n = sdr_soft_rx_split(s, rx, ev, max, ctl);
		if (n || sdr_soft_rx_left(rx))
			return n;
	}
	*drained = true;
	sdr_soft_rx_reset(rx);
	ready = s->nfd > 1 ? sdr_soft_source_ready(s) : 1;
	if (!ready)
		rx->many = rx->hushed;
	for (i = 0, n = 0; i < s->nfd && sdr_soft_rx_room(rx); i++) {
		k = (s->next + i) % s->nfd;
		if (!(ready >> k & 1))
			continue;
		ret = sdr_soft_rx_call(s, rx, s->fd[k], &s->inlet[k], sdr_soft_rx_room(rx));
		*drained &= rx->drained;
		if (ret < 0) {
			ev[n].kind = SDR_UC_EV_ERROR;
			ev[n].len = 0;
			ev[n].err = ret;
			return n + 1;
		}
		if (ret)
			n += sdr_soft_rx_split(s, rx, ev + n, max - n, ctl);
		if (n == max || sdr_soft_rx_left(rx))
			break;
	}
	*drained &= i >= s->nfd - 1 && !sdr_soft_rx_left(rx);
	rx->dry = *drained || (rx->lone && s->nfd == 1 && !sdr_soft_rx_left(rx));
	if (++s->next >= s->nfd)
		s->next = 0;
	return n;
}

static int sdr_soft_poll_sockets(struct sdr_soft *s, struct sdr_uc_ev *ev, int max)
{
	uint64_t silent;
	bool ctl;
	int n, i;

	/*
	 * Pieces that make no packet whole, and knocks, are no event, and no reason to say that
	 * nothing came.
	 */
	for (i = 0; i < SDR_SOFT_RX_MORE; i++) {
		silent = s->st.pieces_rx + s->knocks;
		s->rx.dry = false;
		if (s->roce && s->roce->fd >= 0)
			n = sdr_soft_nic_poll(s, ev, max);
		else
			n = sdr_soft_rx_own(s, ev, max, &ctl, &s->drained);
		if (n || s->st.pieces_rx + s->knocks == silent)
			break;
	}
	return n;
}

int sdr_soft_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	struct sdr_soft *s = sdr_soft_of(uc);
	bool rings;
	int n = 0;

	if (s->crew)
		sdr_soft_crew_poll(s, s->drained);
	s->drained = s->rx.dry = false;
	if (s->paths.tell)
		return sdr_soft_path_tell(s, ev, max);
	rings = sdr_soft_near_turn(s);
	if (rings)
		n = sdr_soft_near_poll(s, ev, max);
	if (!n)
		n = sdr_soft_poll_sockets(s, ev, max);
	if (!rings && (!n || s->drained))
		sdr_soft_near_follow(s);
	if (!n && !rings)
		n = sdr_soft_near_poll(s, ev, max);
	if (!n && s->crew)
		sdr_soft_crew_rest(s);
	return n;
}

bool sdr_soft_dry(struct sdr_uc *uc)
{
	struct sdr_soft *s = sdr_soft_of(uc);

	/* of two sockets the order matters: it is polled until nothing comes */
	return s->rx.dry && !(s->roce && s->roce->fd >= 0) && !s->paths.tell;
}

int sdr_soft_rx_init(struct sdr_soft_rx *rx, struct sdr_uc_stats *st, struct sdr_soft_stats *xst)
{
	uint32_t i;

	rx->st = st;
	rx->xst = xst;
	rx->until = UINT64_MAX;

	if (posix_memalign((void **)&rx->bufs, 4096,
			   (size_t)SDR_SOFT_RX_BUFS * SDR_SOFT_RX_BUF_LEN)) {
		rx->bufs = NULL;
		return -ENOMEM;
	}
	/* A page fault costs as much as a packet: take them all now. */
	memset(rx->bufs, 0, (size_t)SDR_SOFT_RX_BUFS * SDR_SOFT_RX_BUF_LEN);
	for (i = 0; i < SDR_SOFT_RX_BUFS; i++) {
		struct msghdr *h = &rx->hdr[i].msg_hdr;

		rx->iov[i].iov_base = rx->bufs + (size_t)i * SDR_SOFT_RX_BUF_LEN;
		rx->iov[i].iov_len = SDR_SOFT_RX_BUF_LEN;
		h->msg_iov = &rx->iov[i];
		h->msg_iovlen = 1;
		h->msg_name = &rx->from[i];
		h->msg_control = rx->cmsg[i].buf;
		h->msg_namelen = sizeof(rx->from[i]);
		h->msg_controllen = sizeof(rx->cmsg[i].buf);
	}
	return 0;
}

void sdr_soft_rx_free(struct sdr_soft_rx *rx)
{
	free(rx->bufs);
}
