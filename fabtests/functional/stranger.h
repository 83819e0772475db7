/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A peer that is not one: it speaks the protocol as far as it wants to and keeps none of its
 * promises.
 *
 * Two parts.  struct stranger is the protocol alone, without any I/O: it makes the datagrams of one
 * connection and understands the answers, on real sockets (sdr_stranger) as in the simulated
 * network (sdr_crowd).  struct stranger_link is one such connection over a UDP socket, with as much
 * repair as it takes to get all its packets processed.  Nothing here knows more than any host that
 * can send datagrams does.
 */
#ifndef STRANGER_H
#define STRANGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <netinet/in.h>

#include "rel/sdr_rel_cfg.h"
#include "wire/sdr_frame.h"

/* ---- stranger_peer.c: one side of a connection, sans I/O ------------------------------------- */

#define STRANGER_FRAMES_MAX (SDR_CTL_MAX - SDR_PACKET_HDR) /* bytes of frames in a packet */
/* ordered records that we grant, and message numbers */
#define STRANGER_MSEQ_GRANT 1024u

struct stranger {
	uint64_t instance, cid, cookie;
	uint64_t peer_cid; /* 0: not open */
	uint32_t pn, rseq; /* the next ones */
	uint32_t status;   /* of a refusal, enum sdr_hello_status */
	uint32_t mseq_limit, msn_limit;
	struct sdr_frame_ack seen; /* packets of the victim that we owe an acknowledgement of */
};

enum stranger_event {
	STRANGER_NOTHING, /* not for us, or nothing new */
	STRANGER_AGAIN,	  /* RETRY: the HELLO is to be said once more */
	STRANGER_OPEN,
	STRANGER_REFUSED,
	STRANGER_RESET,
	STRANGER_PACKET,
};

/* What a packet of the victim said, as far as strangers need it. */
struct stranger_news {
	struct sdr_frame_ack ack; /* n == 0: none */
	bool bye, bye_ack;
};

void stranger_init(struct stranger *s, uint64_t seed);
/* Payloads of control datagrams, SDR_CTL_MAX bytes of room; both return the length. */
size_t stranger_hello(const struct stranger *s, uint8_t *p);
size_t stranger_packet(struct stranger *s, uint8_t *p, const void *frames, size_t n);
/* An ACK frame of all that is owed; 0: nothing is. */
size_t stranger_acks(struct stranger *s, uint8_t *p, size_t room);
/* A record with the next rseq; 0: no room. */
size_t stranger_rec(struct stranger *s, uint8_t *p, size_t room, struct sdr_frame_rec f,
		    const void *payload);
enum stranger_event stranger_input(struct stranger *s, const uint8_t *p, size_t len,
				   struct stranger_news *news);

/* ---- stranger_seen.c: what an observer of the loopback knows --------------------------------- */

int seen_open(void); /* -1: this user may not */
/* The next PACKET to that port; false: none until then. */
bool seen_number(int fd, uint16_t port, uint64_t until_ms, uint64_t *cid, uint32_t *pn);

/* ---- stranger_link.c: over a UDP socket ------------------------------------------------------ */

#define LINK_FLIGHT 64u /* packets that wait for their acknowledgement */

struct stranger_link {
	struct stranger s;
	int fd; /* -1: closed */
	struct sockaddr_in to;
	uint32_t nflight;
	uint64_t sent, bytes, again; /* packets, bytes of control payload, packets sent once more */
	struct link_pkt {
		uint8_t frames[STRANGER_FRAMES_MAX];
		size_t n; /* 0: free */
		uint32_t pn, rseq;
	} flight[LINK_FLIGHT];
};

extern uint64_t link_silence_ms; /* of the victim, after which all below end with an error */

uint64_t now_ms(void);
/* A socket at the nth of many loopback addresses (0: any port); -1: it is taken. */
int stranger_socket(uint32_t nth);
/* Control payload n at buf + SDR_CTL_HDR becomes a datagram. */
bool stranger_send(int fd, const struct sockaddr_in *to, uint8_t *buf, size_t n);
/* The payload of the next datagram, without waiting; NULL: none.  A bad one has length 0. */
const uint8_t *stranger_recv(int fd, uint8_t *buf, size_t room, size_t *n);

/*
 * All below: 0, or a negative errno.  -ECONNREFUSED: the victim said no; -ECONNRESET: RESET;
 * -ETIMEDOUT.
 */
int link_open(struct stranger_link *l, const struct sockaddr_in *to, uint64_t seed);
/* The same socket, another instance. */
int link_reopen(struct stranger_link *l, uint64_t seed);
/* Sends frames, nrecs records among them that were numbered last; waits for room. */
int link_put(struct stranger_link *l, const void *frames, size_t n, uint32_t nrecs);
/* Until all is acknowledged. */
int link_drain(struct stranger_link *l);
void link_close(struct stranger_link *l);

#endif /* STRANGER_H */
