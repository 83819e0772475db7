/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The drop-rate probe of sdr_perf (--probe-loss): what its files share.
 *
 *   probe_count.c    numbers that arrived -> losses, bursts, bounds; no I/O
 *   probe_sock.c     sockets, messages, SIGINT
 *   probe_client.c   the plan; agreeing, results
 *   probe_send.c     the sending
 *   probe_server.c   the receiving
 *   probe_out.c      table, CSV, JSON
 *   probe_plot.c     the picture, by gnuplot
 *   probe_trials.c   one probe after the other, over days, in a file
 *
 * Plain UDP; nothing of libfabric is called.
 *
 *   client                                     server
 *   HELLO {own token, sizes, packets}    ──►   remembers it
 *                                        ◄──   WELCOME {both tokens}, or REFUSE {reason}
 *   BEGIN {token}                        ──►   it is no forged address: makes room
 *                                        ◄──   BEGUN
 *   DATA {token, flow, number} ...       ──►   counts; from any port of the client's host
 *     some of them ASK                   ◄──   ECHO
 *   waits for stragglers
 *   END {flow, packets sent}             ──►   closes the flow's count
 *                                        ◄──   RESULT {flow, counts}
 *   BYE                                  ──►   ends
 *
 * The client repeats each of its messages until it is answered, for a bounded time; the server only
 * ever answers (but for one STOP when it is interrupted), with no more bytes than it was sent, so
 * it cannot be used as an amplifier by forging addresses.  What lacks the right token is ignored.
 */
#ifndef SDR_PROBE_H
#define SDR_PROBE_H

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "probe_count.h"
#include "tools/perf/sdr_perf_opt.h"
#include "tools/perf/sdr_perf_say.h"

#define PROBE_MAGIC   0x50524250u /* "PRBP" */
#define PROBE_VERSION 2u	  /* 1: data from one port only */
#define PROBE_HEAD    32u	  /* bytes, in front of every packet */
/* bytes of every message but DATA, ASK and ECHO: no path fragments them */
#define PROBE_CONTROL  256u
#define PROBE_BATCH    64u	      /* packets of a system call */
#define PROBE_SAMPLES  4096u	      /* round trips that are kept, of a size */
#define PROBE_REPEAT   (PERF_SEC / 5) /* ns between repetitions of a message */
#define PROBE_ANSWER   (5 * PERF_SEC) /* ns, until a server is not there */
#define PROBE_TEXT_MAX (PROBE_CONTROL - PROBE_HEAD)

enum probe_type {
	PROBE_HELLO,
	PROBE_WELCOME,
	PROBE_REFUSE,
	PROBE_BEGIN,
	PROBE_BEGUN,
	PROBE_DATA,
	PROBE_ASK,
	PROBE_ECHO,
	PROBE_END,
	PROBE_RESULT,
	PROBE_STOP,
	PROBE_BYE,
	PROBE_TYPES
};

/* In host order here; big-endian on the wire. */
struct probe_head {
	uint32_t magic;
	uint8_t version, type; /* enum probe_type */
	uint16_t flow;	       /* index of the payload size */
	uint64_t token;	       /* HELLO: the client's; otherwise the server's */
	/* number of the packet; WELCOME, REFUSE: the client's token; END: packets sent */
	uint64_t n;
	uint64_t stamp; /* the client's clock, ns, which comes back with the answer */
};

struct probe_peer {
	struct sockaddr_storage addr;
	socklen_t len;
	/*
	 * own address that the peer used, as it came and goes with a message: IP_PKTINFO,
	 * IPV6_PKTINFO
	 */
	_Alignas(struct cmsghdr) char from[64];
	size_t from_len;
};

/* What the client knows of a size when all is over. */
struct probe_row {
	uint32_t payload, wire; /* bytes; wire: IP and UDP headers included, of all fragments */
	struct probe_tally tally;
	struct probe_loss loss;
	double rtt_min, rtt_median; /* s; 0: no echo came */
	double rate;		    /* bit/s that were sent, of wire bytes */
	bool known;		    /* something was sent, and the server reported what came */
};

struct probe_out {
	const struct perf_opt *opt;
	char peer[PERF_NAME_MAX]; /* numeric address */
	struct probe_row row[PROBE_SIZES_MAX];
	unsigned int rows;
	uint64_t overflow; /* packets that the server's socket had no room for */
	double seconds;	   /* of sending */
	bool interrupted;
};

/* ---- probe_sock.c ---- */

void probe_put16(uint8_t *p, uint16_t v);
void probe_put32(uint8_t *p, uint32_t v);
void probe_put64(uint8_t *p, uint64_t v);
uint16_t probe_get16(const uint8_t *p);
uint32_t probe_get32(const uint8_t *p);
uint64_t probe_get64(const uint8_t *p);
void probe_head_put(uint8_t *p, const struct probe_head *h);
/* false: not a packet of the probe, of any version */
bool probe_head_get(const uint8_t *p, size_t len, struct probe_head *h);
/*
 * Client: connected to the host, *peer_text its address.  Server: bound.  Ends the process on
 * errors.
 */
int probe_sock_client(const struct perf_opt *opt, char peer_text[PERF_NAME_MAX], int *family);
int probe_sock_server(const struct perf_opt *opt);
/* Another one to where fd is connected, from a port of its own. */
int probe_sock_more(const struct perf_opt *opt, int fd, int family);
/* Until something can be read, or the time (perf_now). */
void probe_sock_wait(int fd, uint64_t until);
uint64_t probe_token(void);
/* The first SIGINT or SIGTERM sets this, the second ends the process. */
extern volatile sig_atomic_t probe_interrupted;
void probe_catch(void);

/* ---- the two sides ---- */

/* What a client is going to do. */
struct probe_plan {
	unsigned int sizes;
	uint32_t payload[PROBE_SIZES_MAX], wire[PROBE_SIZES_MAX]; /* bytes */
	uint64_t pkts[PROBE_SIZES_MAX];
	uint64_t total_pkts, total_bytes; /* wire */
	double rate;			  /* bit/s, of wire bytes */
	double seconds;
	uint64_t rounds;
	bool timed; /* by --duration */
};

struct probe_client {
	const struct perf_opt *opt;
	struct probe_plan plan;
	int fd;
	int port[PROBE_FLOWS_MAX]; /* sockets that packets leave by in turn; [0] is fd */
	unsigned int turn;
	uint64_t token;	   /* the server's; own until it has answered */
	uint64_t rtt;	   /* ns, of the handshake; then the largest seen */
	uint64_t rtt0;	   /* ns, of the handshake */
	uint64_t heard;	   /* when the last echo came */
	bool refused;	   /* ICMP: nothing listens there */
	bool silent;	   /* no echo for too long */
	bool peer_stopped; /* the server was interrupted */
	uint64_t sent[PROBE_SIZES_MAX], busy_ns[PROBE_SIZES_MAX];
	uint64_t *rtts[PROBE_SIZES_MAX]; /* ns, PROBE_SAMPLES each */
	uint64_t nrtts[PROBE_SIZES_MAX], echoes[PROBE_SIZES_MAX], stride[PROBE_SIZES_MAX];
	struct probe_out out;
};

int probe_client(const struct perf_opt *opt);
int probe_trials(const struct perf_opt *opt);
int probe_server(const struct perf_opt *opt);
/* probe_send.c: sends everything, or until it makes no sense to go on */
void probe_send(struct probe_client *c);
/* A packet that came while sending or waiting. */
void probe_heard(struct probe_client *c, const struct probe_head *h, uint64_t now);
/*
 * Reads what is there; hands echoes to probe_heard(); true: another message, in *h and msg, whose
 * length is *len.
 */
bool probe_recv(struct probe_client *c, uint8_t msg[PROBE_CONTROL], size_t *len,
		struct probe_head *h);

/* Header of the CSV, without a newline. */
extern const char probe_columns[];
void probe_out(const struct probe_out *o);
/* Before the run: what would make the picture fail at its end. */
void probe_plot_check(const char *file);
void probe_plot(const struct probe_out *o, const char *file);

/* A payload size over all trials: shares of its packets that were lost. */
struct probe_spread {
	uint32_t payload;
	unsigned int trials;
	uint64_t sent, lost;
	double min, low, median, high, max; /* low, high: quartiles */
	double resolution;		    /* of one trial: a packet of those that it sent */
};
void probe_plot_spread(const struct probe_spread *s, unsigned int n, const char *file,
		       const char *title);

#endif /* SDR_PROBE_H */
