/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers of this host, reached through shared memory (sdr_soft_near.c); sending is
 * sdr_soft_near_tx.c's, receiving sdr_soft_near_rx.c's.
 */
#ifndef SDR_SOFT_NEAR_H
#define SDR_SOFT_NEAR_H

#include <string.h>
#include <sys/socket.h>
#include "sdr_soft_impl.h"
#include "sdr_soft_knock.h"
#include "sdr_soft_ring.h"
#include "sdr_soft_rx.h"
#include "sdr_soft_via.h"

struct sdr_soft_qp;

#define SDR_SOFT_NEARS	    64u	    /* rings in each direction */
#define SDR_SOFT_NEAR_PORTS 256u    /* power of two */
#define SDR_SOFT_NEAR_MIN   262144u /* bytes that a QP sends before it has one made */
#define SDR_SOFT_NEAR_CTL   1024u   /* that a control datagram counts for: a system call */

/* A ring that we put in, to all that is at that address. */
struct sdr_soft_near_tx {
	struct sdr_soft_ring ring; /* head NULL: given up, as long as nobody connects anew */
	struct sdr_soft_dest dest;
	struct sdr_soft_tries tries; /* offers of it */
	uint64_t nonce;
	bool on; /* the peer reads it */
	/* ns: when it was looked at whether the peer takes out, and when it was found full; */
	uint64_t looked, full;
	uint64_t looked_out, full_out; /* and how far out was */
};

/* A ring that we take out of. */
struct sdr_soft_near_rx {
	struct sdr_soft_ring ring;
	struct sockaddr_storage from; /* what is in it came from */
	uint64_t nonce;
	/* not read yet: what its sender sent by the sockets before is to be read first */
	bool fresh;
	uint32_t waits; /* and there was something in it at so many looks */
};

struct sdr_soft_near {
	struct sdr_soft_near_tx tx[SDR_SOFT_NEARS];
	struct sdr_soft_near_rx rx[SDR_SOFT_NEARS];
	uint8_t at[SDR_SOFT_NEAR_PORTS]; /* by port: index of tx and 1; 0: none */
	/* by port: a QP whose peer is a process of this host, by which a ring can be offered */
	struct sdr_soft_qp *who[SDR_SOFT_NEAR_PORTS];
	uint32_t ntx, nrx, nfresh;
	uint32_t turn; /* the ring that is looked at next */
	uint32_t looks;
	uint64_t swept; /* ns: when it was looked for rings of peers that are gone */
	bool asleep;	/* and the rings say so */
	pid_t pid;	/* of who made it */
	/* a page of its own, 0 in a forked child, to which none of this belongs */
	volatile uint8_t *ours;
	uint64_t nonce;		      /* of the next ring */
	struct sdr_soft_near_rx *cur; /* that what is in `in` is of; NULL: none */
	struct sdr_soft_rx *in;	      /* NULL until there is a ring */
	struct sdr_soft_ring_train train[SDR_SOFT_RX_BUFS];
};

/* NULL: there is none, or it is the parent's of this process. */
static inline struct sdr_soft_near *sdr_soft_near_of(const struct sdr_soft *s)
{
	return s->near && *s->near->ours ? s->near : NULL;
}

/* A child leaves the rings as they are: its parent goes on with them. */
static inline void sdr_soft_near_drop(const struct sdr_soft_near *n, struct sdr_soft_ring *r,
				      bool sender)
{
	if (*n->ours)
		sdr_soft_ring_close(r, sender);
}

/* Where the port lies in both families. */
static inline uint32_t sdr_soft_near_port(const struct sockaddr_storage *sa)
{
	return ntohs(((const struct sockaddr_in *)sa)->sin_port);
}

static inline bool sdr_soft_near_is(const struct sdr_soft_dest *d,
				    const struct sockaddr_storage *sa, socklen_t len)
{
	return d->len == len && !memcmp(&d->sa, sa, len);
}

/* 0 or a negative errno.  Without it (s->near NULL) everything goes by the sockets. */
int sdr_soft_near_create(struct sdr_soft *s, uint64_t nonce);
void sdr_soft_near_destroy(struct sdr_soft *s);

/* The ring that leads to this address, as it can be used now; NULL: a socket. */
struct sdr_soft_near_tx *sdr_soft_near_find(struct sdr_soft *s, const struct sockaddr_storage *sa,
					    socklen_t len);
/* Packets go to a peer of this host: has a ring made and offered when they are enough. */
struct sdr_soft_near_tx *sdr_soft_near_to(struct sdr_soft_qp *q, uint32_t bytes);
/* The same for a control datagram to that address, whosever it is. */
struct sdr_soft_near_tx *sdr_soft_near_ctl(struct sdr_soft *s, const struct sockaddr_storage *sa,
					   socklen_t len);
/* A QP has been connected to there: whoever had its address before may be gone.  And it goes. */
void sdr_soft_near_meet(struct sdr_soft_qp *q);
void sdr_soft_near_part(struct sdr_soft_qp *q);
/* Message i of the batch.  0, -EAGAIN: not now, -EPIPE: it is lost. */
int sdr_soft_near_send(struct sdr_soft *s, struct sdr_soft_near_tx *t, uint32_t i);

/* A peer offers a ring.  False: nobody's, or not from this host. */
bool sdr_soft_near_offered(struct sdr_soft *s, const struct sdr_wire_knock *k,
			   const struct sockaddr_storage *from);
/* The rings are polled now, and before the sockets. */
bool sdr_soft_near_turn(struct sdr_soft *s);
/* There is nothing in the sockets that was there at the last turn. */
void sdr_soft_near_follow(struct sdr_soft *s);
/* As poll, of the rings. */
int sdr_soft_near_poll(struct sdr_soft *s, struct sdr_uc_ev *ev, int max);
/* Before a sleep.  True: there is something. */
bool sdr_soft_near_arm(struct sdr_soft *s);
/* Something waits in our own memory. */
bool sdr_soft_near_left(const struct sdr_soft *s);

#endif /* SDR_SOFT_NEAR_H */
