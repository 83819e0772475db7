/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * poll: system calls, splitting trains (sdr_soft_rx.c).
 */
#ifndef SDR_SOFT_RX_H
#define SDR_SOFT_RX_H

#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include "sdr_soft.h"
#include "sdr_soft_ring.h"

struct sdr_soft;
struct sdr_soft_qp;

#define SDR_SOFT_RX_BUFS    8u	   /* datagrams (GRO trains) a receive call may bring */
#define SDR_SOFT_RX_BUF_LEN 65536u /* bytes; no UDP datagram is longer */
/* ns: what is said to have come before that came when the clocks were set */
#define SDR_SOFT_LATE_MAX_NS 1000000000u
#define SDR_SOFT_CLOCKS_NS   10000000u /* ns: between two looks at both clocks */
#define SDR_SOFT_LOOKS	     4	       /* tries to get one, */
#define SDR_SOFT_LOOK_NS     50000u    /* ns: that takes no longer: the thread was not away */
/* What the wall's clock moves by when it is set, ns; when it is slewed, 1 in so much at most. */
#define SDR_SOFT_SET_NS 1000000u
#define SDR_SOFT_SLEWS	1000u

/* A socket, as who reads it knows it. */
struct sdr_soft_inlet {
	uint32_t drops; /* what its queue had no room for, as last heard */
	uint8_t source; /* that it is of */
};

struct sdr_soft_rx {
	struct sdr_uc_stats *st;	      /* what is counted here, */
	struct sdr_soft_stats *xst;	      /* and here: of the thread that reads */
	struct mmsghdr hdr[SDR_SOFT_RX_BUFS]; /* in the order in which they are split */
	/* what those point to, in any order: sdr_soft_rx_buf, sdr_soft_rx_from */
	struct iovec iov[SDR_SOFT_RX_BUFS];
	struct sockaddr_storage from[SDR_SOFT_RX_BUFS];
	struct sdr_uc_addr addr[SDR_SOFT_RX_BUFS]; /* of control events */
	union {
		/* UDP_GRO, SO_RXQ_OVFL, IP_TOS or IPV6_TCLASS, and SCM_TIMESTAMPNS */
		char buf[2 * CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint32_t)) +
			 CMSG_SPACE(sizeof(struct timespec))];
		struct cmsghdr align;
	} cmsg[SDR_SOFT_RX_BUFS];
	/* of messages that lie in a ring: what is said of each; NULL: they came by a socket */
	const struct sdr_soft_ring_train *train;
	struct sdr_soft_inlet *inlet[SDR_SOFT_RX_BUFS]; /* the socket that a message came from */
	uint32_t nmsg, cur;				/* received, and the one being split */
	/* of several sources (sdr_soft_merge.c): stamps; what is younger than that is for later, */
	uint64_t came[SDR_SOFT_RX_BUFS], until;
	bool held;	   /* and something is */
	uint32_t off, seg; /* in it: byte offset of the next packet; segment size, 0 = not begun */
	uint8_t ecn;	   /* of all its packets: enum sdr_uc_ecn */
	uint8_t via;	   /* by which it came, of the ways of ... */
	const struct sdr_soft_qp *via_of; /* ... this QP; NULL: nobody has asked */
	uint64_t stamp; /* when the kernel got it, ns of the wall's clock; 0: not known */
	uint64_t since; /* the same by the engine's clock, 0: not known; not a worker's */
	/* when the two clocks were compared, ns of the engine's; that, less the wall's */
	uint64_t compared, engine_less_wall;
	uint64_t doubted; /* until then no stamp is believed: the wall's was set; engine's, ns */
	bool have_addr;	  /* addr[cur] is filled */
	bool many;	  /* the last call brought something: ask for all there is */
	/* it brought less than it had room for: nothing older is in the socket */
	bool drained;
	bool lone;     /* it was asked for one and got one */
	bool dry;      /* after a poll: as good as all there was has been taken */
	bool hushed;   /* who reads wakes at times of its own: a call takes all there is */
	bool worker;   /* read by a worker: without stamps */
	bool nic;      /* read from port 4791: devices may be heard here */
	bool nic_only; /* and no others: the socket is there for them */
	uint8_t *bufs;
};

static inline uint64_t sdr_soft_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

int sdr_soft_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max);
bool sdr_soft_dry(struct sdr_uc *uc);
/* st, xst: where it counts. */
int sdr_soft_rx_init(struct sdr_soft_rx *rx, struct sdr_uc_stats *st, struct sdr_soft_stats *xst);
void sdr_soft_rx_free(struct sdr_soft_rx *rx);
void sdr_soft_rx_reset(struct sdr_soft_rx *rx);
/* The first left messages stay. */
void sdr_soft_rx_reset_from(struct sdr_soft_rx *rx, uint32_t left);
/*
 * One call on one socket, into up to room buffers behind those in use.  Messages received, 0 or a
 * negative errno.
 */
int sdr_soft_rx_call(struct sdr_soft *s, struct sdr_soft_rx *rx, int fd, struct sdr_soft_inlet *in,
		     uint32_t room);
/*
 * Segment size of the message at rx->cur, whose ancillary data go to rx->ecn and rx->since; 0: to
 * be skipped.
 */
uint32_t sdr_soft_rx_seg(struct sdr_soft *s, struct sdr_soft_rx *rx);
/* Makes events of what was received; *ctl: control datagrams were among them. */
int sdr_soft_rx_split(struct sdr_soft *s, struct sdr_soft_rx *rx, struct sdr_uc_ev *ev, int max,
		      bool *ctl);
/* One round over the engine's own sockets.  *drained: what had come before the call is reported. */
int sdr_soft_rx_own(struct sdr_soft *s, struct sdr_uc_ev *ev, int max, bool *ctl, bool *drained);
static inline bool sdr_soft_rx_left(const struct sdr_soft_rx *rx)
{
	return rx->cur < rx->nmsg;
}

static inline uint32_t sdr_soft_rx_room(const struct sdr_soft_rx *rx)
{
	return SDR_SOFT_RX_BUFS - rx->nmsg;
}

/* Of the message at rx->cur: its bytes, and where it came from. */
static inline uint8_t *sdr_soft_rx_buf(const struct sdr_soft_rx *rx)
{
	return rx->hdr[rx->cur].msg_hdr.msg_iov->iov_base;
}

static inline const struct sockaddr_storage *sdr_soft_rx_from(const struct sdr_soft_rx *rx)
{
	return rx->hdr[rx->cur].msg_hdr.msg_name;
}

#endif /* SDR_SOFT_RX_H */
