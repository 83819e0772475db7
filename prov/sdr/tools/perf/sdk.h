/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_perf --sdk: the SDK (sdr/sdr.h) measured without reliable endpoints above it; what its files
 * share.
 *
 *   sdk_points.c   what is run: sizes, packets, chunks ..., one after the other
 *   sdk_meet.c     the TCP connection over which both sides agree, or a pair of sockets
 *   sdk_run.c      the client's and the server's way through all points; rounds and medians
 *   sdk_end.c      one side of one run: its way, buffers, patterns, waiting
 *   sdk_send.c     the sender's loop
 *   sdk_recv.c     the receiver's loop
 *   sdk_over.c     the way "sdk": over sdr/sdr.h
 *   sdk_plain.c    the way "plain": the same engine's writes without the SDK
 *   sdk_out.c      table, CSV, JSON
 *
 * A point is run in one way at a time, with everything opened for it and closed after it:
 *
 *   client (sends)                                 server (receives)
 *   POINT {what is run}                      ──►   opens an engine
 *                                            ◄──   OPENED {what a packet carries}
 *   QP {info, payload of a packet}           ──►   a QP, connected; posts in_flight receives
 *                                            ◄──   QP {info, keys}
 *   messages, at most in_flight unanswered   ──►   polls bitmaps, completes, posts again
 *     SENT, a control datagram beside them   ──►   what lacks is lost
 *                                            ◄──   GOT, a control datagram: messages ended, packets
 *   END {messages}                           ──►
 *                                            ◄──   RESULT {counts}
 *
 * Either side says REFUSED {reason} instead of OPENED, QP or END: that point is over, the next one
 * may go well.  Nothing is sent twice: a message that lacks packets when it has been SENT for
 * a while is ended as it is and counted.  With --loopback the two sides are threads of one process,
 * and share nothing but the options, which nobody changes then.
 */
#ifndef SDR_PERF_SDK_H
#define SDR_PERF_SDK_H

#include <stdbool.h>
#include <stdint.h>

#include "sdr/sdr.h"
#include "sdk_points.h"
#include "sdr_perf_opt.h"
#include "sdr_perf_say.h"

#define SDK_KEYS_MAX PERF_SLOTS_MAX

/* ---- agreeing -------------------------------------------------------------------------------- */

enum sdk_way_no { SDK_OVER, SDK_PLAIN, SDK_WAYS };

/* One run; all of it is the client's to say. */
struct sdk_run {
	struct sdk_point at;
	uint32_t way;	/* enum sdk_way_no */
	uint32_t flags; /* PERF_F_VERIFY, PERF_F_WAIT */
	uint64_t iters; /* messages; 0: as many as fit into the duration */
	uint64_t duration_ns;
	uint64_t rate_bps; /* 0: as fast as the engine takes them */
	uint64_t token;	   /* of control datagrams */
};

struct sdk_key {
	uint64_t va;
	uint32_t rkey, zero;
};

/* What a run was, as the receiver saw it. */
struct sdk_result {
	uint64_t messages, incomplete; /* ended; of them without all packets */
	uint64_t wrong;		       /* with other bytes than were sent, in place */
	uint64_t packets, bytes;       /* in place when their message was ended */
	uint64_t late, dups, bad;      /* packets: behind the end, again, not ours */
	uint64_t full;		       /* datagrams that found this host's buffer full */
	uint64_t chunks;	       /* bits set; way sdk only */
	uint64_t reposts;	       /* receives ended and posted again */
	uint64_t repost_ns;	       /* time in both calls: the median */
	uint64_t cpu_ns;
};

enum sdk_step {
	SDK_HELLO,
	SDK_POINT,
	SDK_OPENED,
	SDK_QP,
	SDK_END,
	SDK_RESULT,
	SDK_REFUSED,
	SDK_BYE,
	SDK_STEPS
};

/* What travels over the connection; always all of it. */
struct sdk_word {
	uint32_t magic, step; /* enum sdk_step */
	union {
		char engine[PERF_TEXT_MAX]; /* HELLO: the client's wish; the server's: unused */
		struct sdk_run run;	    /* POINT */
		struct {
			uint32_t mtu; /* payload bytes of a packet */
			char engine[PERF_TEXT_MAX];
		} opened;
		struct {
			uint32_t mtu, nkeys;
			uint8_t info[SDR_QP_INFO_SIZE];
			struct sdk_key key[SDK_KEYS_MAX]; /* way plain, to devices */
		} qp;
		uint64_t messages;	  /* END */
		struct sdk_result result; /* RESULT */
		char why[PERF_WHY];	  /* REFUSED */
	};
};

struct sdk_meet {
	int fd;
	bool near;		  /* both sides are this process */
	char local[64], peer[64]; /* addresses, numeric, IPv6 in brackets */
};

enum { SDK_OK = 0, SDK_GONE = -1, SDK_NOT = 1 };

int sdk_meet_listen(const char *address, uint16_t port, char *why);
int sdk_meet_accept(struct sdk_meet *m, int listener, char *why);
int sdk_meet_call(struct sdk_meet *m, const char *host, uint16_t port, char *why);
int sdk_meet_pair(struct sdk_meet m[2], const char *address, char *why);
/* Fills in magic and step.  0 or -1 with why. */
int sdk_meet_say(struct sdk_meet *m, enum sdk_step step, struct sdk_word *w, char *why);
/* patience in ms, -1: for ever.  SDK_NOT: REFUSED came, which w has; SDK_GONE: why says how. */
int sdk_meet_hear(struct sdk_meet *m, enum sdk_step step, struct sdk_word *w, int patience,
		  char *why);
/* Something came, if only the end of the connection. */
bool sdk_meet_came(const struct sdk_meet *m);
void sdk_meet_close(struct sdk_meet *m);

/* ---- one side of one run --------------------------------------------------------------------- */

struct sdk_end;

/*
 * A way to carry messages.  Numbers of messages go up by one from 0; each side has in_flight places
 * for them, message n the place n % in_flight.  Errors are -1 with a sentence in e->why.
 */
struct sdk_way {
	const char *name;
	bool chunks; /* there is a bitmap of chunks */
	/* The engine `device`: fills e->mtu, e->engine.  mtu 0: what the path carries */
	int (*open)(struct sdk_end *e, const char *device, uint32_t mtu);
	int (*qp)(struct sdk_end *e); /* e->run.at is whole: fills e->info, e->chunk */
	int (*connect)(struct sdk_end *e, const uint8_t *info, const struct sdk_key *keys,
		       uint32_t nkeys);
	/* Moves packets both ways; returns events. */
	int (*progress)(struct sdk_end *e);
	/* What a sleeper waits for: descriptor, -1 none; ns until it must look anyway. */
	int (*sleep)(struct sdk_end *e, uint64_t *ns);
	/* A control datagram to the other side's sdk_end_heard(); one that cannot go is lost. */
	void (*say)(struct sdk_end *e, const void *buf, size_t len);
	/*
	 * Sends bytes off .. off + len of message n; returns how many were taken (0: not now).
	 * Parts come in order; all but the last are multiples of the payload of a packet.
	 */
	int64_t (*send)(struct sdk_end *e, uint64_t n, uint64_t off, uint64_t len);
	/* All of it has left this host (1), or not yet (0): asked in turn, until it has. */
	int (*left)(struct sdk_end *e, uint64_t n);
	int (*post)(struct sdk_end *e, uint64_t n); /* 1: posted, 0: not now */
	bool (*whole)(struct sdk_end *e, uint64_t n);
	uint64_t (*got)(struct sdk_end *e, uint64_t n); /* packets in place */
	/* Chunk i is in place; without a bitmap of chunks never asked. */
	bool (*chunk)(struct sdk_end *e, uint64_t n, uint64_t i);
	int (*finish)(struct sdk_end *e, uint64_t n); /* nothing is written to it any more */
	uint32_t (*keys)(struct sdk_end *e, struct sdk_key *keys); /* of the places */
	void (*stats)(struct sdk_end *e, struct sdk_result *r);
	void (*close)(struct sdk_end *e);
};
extern const struct sdk_way sdk_over, sdk_plain;
extern const struct sdk_way *const sdk_ways[SDK_WAYS];

/* A control datagram beside the data: SENT by the sender, GOT by the receiver; both only grow. */
struct sdk_note {
	uint64_t token;
	uint64_t messages; /* that have left whole; ended */
	uint64_t packets;  /* handed over; in place, or of messages that were ended */
};

struct sdk_end {
	const struct sdk_way *way;
	void *impl;
	struct sdk_run run; /* mtu, chunk: as they became */
	bool sends, near;
	uint32_t mtu;	    /* the engine's */
	uint32_t rx_window; /* bytes that this host holds; 0: not known */
	uint32_t npkts;	    /* of a message */
	char engine[PERF_TEXT_MAX];
	char peer[64]; /* address */
	uint8_t info[SDR_QP_INFO_SIZE];
	uint32_t window; /* packets that may be on the way to the receiver; 0: not known */
	uint8_t *room;	 /* in_flight places */
	size_t room_len, stride;
	struct sdk_note heard;
	uint64_t heard_ns;   /* since when heard.messages is what it is */
	uint64_t idle_since; /* 0: something happened */
	uint64_t spin_ns;
	char why[PERF_WHY];
};

/* `device` to open with: engine[:DEVICE]:ADDRESS[:PORT]. */
void sdk_device(char *out, size_t len, const struct perf_opt *opt, const char *engine,
		const char *address, uint16_t port);
/* The engine, and then all else; the run's mtu may be 0 for the first only. */
int sdk_end_open(struct sdk_end *e, const struct sdk_run *run, bool sends, const struct sdk_meet *m,
		 const char *device);
int sdk_end_qp(struct sdk_end *e, uint32_t mtu);
void sdk_end_close(struct sdk_end *e);
void sdk_end_window(struct sdk_end *e, uint32_t bytes);
void sdk_end_heard(struct sdk_end *e, const void *buf, size_t len);
void sdk_end_note(struct sdk_end *e, uint64_t messages, uint64_t packets);
/* Nothing happened in this pass: polls on, or sleeps a while; fd is looked at too (-1: none). */
void sdk_end_idle(struct sdk_end *e, int fd);
static inline uint8_t *sdk_place(const struct sdk_end *e, uint64_t n)
{
	return e->room + (size_t)(n % e->run.at.in_flight) * e->stride;
}
/* Bytes off .. off + len of message n, as they are to be. */
void sdk_fill(uint8_t *p, size_t len, uint64_t n);
bool sdk_filled(const uint8_t *p, size_t off, size_t len, uint64_t n);
uint64_t sdk_cpu_ns(bool near);

/* The loops; shown NULL: without a progress line. */
int sdk_send(struct sdk_end *e, struct sdk_meet *m, const struct perf_opt *shown,
	     uint64_t *messages, uint64_t *ns);
int sdk_recv(struct sdk_end *e, struct sdk_meet *m, struct sdk_result *r);

/* ---- results --------------------------------------------------------------------------------- */

struct sdk_row {
	struct sdk_point at; /* as it became */
	char engine[PERF_TEXT_MAX], peer_engine[PERF_TEXT_MAX];
	bool chunks; /* counted */
	uint64_t messages, ns, cpu_ns;
	uint64_t packets; /* sent */
	struct sdk_result r;
	double rate;  /* bytes in place a second: the median of the rounds */
	double plain; /* of plain writes; 0: not run */
};

void sdk_out_begin(const struct perf_opt *opt);
void sdk_out_row(const struct perf_opt *opt, const struct sdk_row *row);
void sdk_out_end(const struct perf_opt *opt);

/* Exit status; with opt->sdk.loopback the client is both sides. */
int sdk_client(const struct perf_opt *opt);
int sdk_server(const struct perf_opt *opt);

#endif /* SDR_PERF_SDK_H */
