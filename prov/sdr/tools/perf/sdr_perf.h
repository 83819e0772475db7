/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the files of sdr_perf share: what the user wants, the endpoint, what two sides send each
 * other before a run, and the run's result.
 *
 *   sdr_perf.c       main: one client, or one server after another
 *   sdr_perf_opt.c   command line
 *   sdr_perf_ep.c    libfabric objects and completions
 *   sdr_perf_conn.c  how client and server find each other and agree
 *   sdr_perf_side.c  buffers, patterns, staying in step during the runs
 *   sdr_perf_run.c   the runs
 *   sdr_perf_out.c   table, CSV, JSON, progress line
 *   probe*.c         --probe-loss, which is no run of the provider's: probe.h
 *
 * One thread.  Whatever is wrong ends the process with one sentence (perf_die), except where a
 * server has to tell its client first: those functions return -1 with the sentence in `why`.
 */
#ifndef SDR_PERF_H
#define SDR_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext_sdr.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define PERF_API       FI_VERSION(1, 17)
#define PERF_PORT      18516u	    /* UDP, the server's; its data endpoint has the next one */
#define PERF_SLOTS_MAX 256u	    /* operations in flight */
#define PERF_SIZE_MAX  (1ull << 30) /* bytes of a message */
#define PERF_ROOM_MAX  (1ull << 30) /* bytes of a buffer: message size x operations in flight */
#define PERF_ITERS_MAX (1ull << 40)
#define PERF_SAMPLES   (1u << 20) /* round trips of which a latency run keeps the time */
#define PERF_ALL_MIN   2u	  /* bytes, smallest size of --all */
#define PERF_ALL_MAX   (8u << 20) /* bytes, largest */
#define PERF_WHY       320u	  /* bytes of a sentence that says what is wrong */
/* bytes of an endpoint's address: a struct sockaddr_in or _in6 */
#define PERF_NAME_MAX 64u
/* bytes of a setting or an engine's name, final zero included */
#define PERF_TEXT_MAX 32u
#define PERF_SEC      1000000000ull /* ns */

enum { PERF_EXIT_OK = 0, PERF_EXIT_FAILED = 1, PERF_EXIT_USAGE = 2, PERF_EXIT_CLIENT = 3 };
enum perf_opname { PERF_WRITE, PERF_SEND, PERF_TAGGED, PERF_READ, PERF_LAT, PERF_OPS };
enum perf_wait { PERF_WAIT_AUTO, PERF_WAIT_POLL, PERF_WAIT_SLEEP, PERF_WAITS };
enum perf_format { PERF_TABLE, PERF_CSV, PERF_JSON };
/* Settings of the provider that a run fixes for both sides. */
enum perf_setting {
	PERF_ENGINE,
	PERF_MTU,
	PERF_CHUNK,
	PERF_CHANNELS,
	PERF_GENERATIONS,
	PERF_IMM,
	PERF_SETTINGS
};

#define PERF_F_BIDIR  1u /* both sides send */
#define PERF_F_VERIFY 2u /* every byte is checked */
/* how long to poll before sleeping: enum perf_wait, in two bits from here on */
#define PERF_F_WAIT 4u
#define PERF_F_ALL  15u

/* What is run; all of it is the client's choice.  Sizes double from the first to the last. */
struct perf_plan {
	uint32_t op; /* enum perf_opname */
	uint32_t flags;
	uint32_t in_flight;
	uint32_t zero;
	uint64_t size_min, size_max; /* bytes */
	uint64_t iters;		     /* of each size; 0: as many as fit into the duration */
	uint64_t duration_ns;	     /* of each size */
};

/* --probe-loss */
#define PROBE_SIZES_MAX	  16u
#define PROBE_PAYLOAD_MIN 64u
#define PROBE_PAYLOAD_MAX 65000u
#define PROBE_PKTS_MAX	  (1u << 26) /* of a size: 8 MiB of map at the server */
#define PROBE_SECONDS_MAX 86400u

struct probe_opt {
	bool on, no_fragment;
	unsigned int sizes;		   /* 0: the default ones */
	uint32_t payload[PROBE_SIZES_MAX]; /* bytes */
	double rate;			   /* bit/s, of IP packets */
	const char *plot;		   /* file; NULL: none */
};

struct perf_opt {
	const char *host;    /* NULL: server */
	const char *address; /* server: to bind, NULL any */
	const char *domain;  /* NULL any */
	uint16_t port;
	enum perf_format format;
	bool loop, quiet;
	const char *setting[PERF_SETTINGS]; /* given as options; NULL: not */
	struct perf_plan plan;
	struct probe_opt probe;
};

/* ---- endpoint -------------------------------------------------------------------------------- */

struct perf_side;

/* Every operation's context; the provider's part comes first. */
struct perf_op {
	struct fi_context2 ctx;
	/* err: 0, FI_ECANCELED or FI_ETRUNC; anything else has ended the process */
	void (*done)(struct perf_op *op, size_t len, int err);
	struct perf_side *side;
	uint64_t n;    /* number of the message it carries */
	uint32_t slot; /* place in the buffer */
	bool busy;
};

struct perf_ep {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fi_sdr_ep_ops_1 *ops;
	fi_addr_t peer;
	uint64_t spin_ns;    /* polls that long before it sleeps; UINT64_MAX: never sleeps */
	uint64_t idle_since; /* 0: something completed */
	char engine[PERF_TEXT_MAX], domain_name[PERF_NAME_MAX];
};

struct perf_name {
	uint32_t len; /* bytes */
	uint8_t addr[PERF_NAME_MAX];
};

/* To a peer (`host` and its port), or to be called at a port. */
struct perf_ep_attr {
	const char *host;    /* client's: the server */
	const char *address; /* server's: to bind, NULL: any */
	const struct perf_name
		/* server's, if there is no address: prefer the domain that has this IP address */
		*like;
	const char *domain; /* NULL: any */
	uint16_t port;
	uint64_t spin_ns; /* of struct perf_ep */
};

int perf_ep_open(struct perf_ep *p, const struct perf_ep_attr *attr, char *why);
void perf_ep_close(struct perf_ep *p);
int perf_ep_peer(struct perf_ep *p, const struct perf_name *name, char *why);
int perf_ep_name(struct perf_ep *p, struct perf_name *name, char *why);
struct fid_mr *perf_ep_mr(struct perf_ep *p, void *buf, size_t len, uint64_t access, uint64_t key,
			  char *why);
/*
 * Hands each completion to its operation's done(); waits at most `ms` for the first.  Returns
 * their number.
 */
int perf_ep_progress(struct perf_ep *p, int ms);
void perf_ep_stats(struct perf_ep *p, struct fi_sdr_stats *stats);

/* A posting expression, until the provider has room for it. */
#define PERF_POST(p, expr)                                                            \
	do {                                                                          \
		ssize_t ret_;                                                         \
		while ((ret_ = (expr)) == -FI_EAGAIN)                                 \
			perf_ep_progress(p, 0);                                       \
		if (ret_)                                                             \
			perf_die("%s while %s", fi_strerror((int)-ret_), perf_doing); \
	} while (0)

/* ---- agreement ------------------------------------------------------------------------------- */

/* What one side of a run has; of the other side: what it sent. */
struct perf_end {
	struct perf_name name;
	uint64_t addr, key; /* of the buffer that its peer writes to or reads from */
	char engine[PERF_TEXT_MAX], domain[PERF_NAME_MAX];
};

/* Both open the data endpoint and the buffers of *s, and return when the peer's are known. */
void perf_conn_client(struct perf_side *s, struct perf_opt *opt);
void perf_conn_server(struct perf_side *s, struct perf_opt *opt);
/* false: the plan makes no sense, or more than this program does */
bool perf_plan_ok(const struct perf_plan *plan, char *why);
/* spin_ns of the endpoint */
uint64_t perf_plan_spin(const struct perf_plan *plan);
extern const char *const perf_op_name[PERF_OPS];
extern const char *const perf_setting_name[PERF_SETTINGS]; /* environment variables */

/* ---- runs ------------------------------------------------------------------------------------ */

struct perf_result {
	uint64_t size, iters; /* bytes; messages of this side */
	uint64_t bytes, ns;
	/* bytes per second, both sides together if both send */
	double peak, rate;
	double msgs;				   /* messages per second */
	double lat_min, lat_p50, lat_p99, lat_max; /* us, one way */
	/* data packets, those sent again, records; both sides */
	uint64_t pkts, rtx, rec_rtx;
	uint64_t srtt_ns;
};

void perf_run(struct perf_side *s, const struct perf_opt *opt);

void perf_out_begin(const struct perf_opt *opt, const struct perf_end *mine,
		    const struct perf_end *theirs);
void perf_out_row(const struct perf_opt *opt, const struct perf_result *r);
void perf_out_end(const struct perf_opt *opt);
/*
 * Now and then, while a size runs: bytes that are through, share of the run that is done (0 to 1).
 */
void perf_out_progress(const struct perf_opt *opt, uint64_t size, uint64_t ns, uint64_t bytes,
		       double share);

/* ---- the process ----------------------------------------------------------------------------- */

extern char perf_doing[96]; /* for messages */
extern bool perf_serving;   /* a client is known: its failure is not the server's */
uint64_t perf_now(void);    /* ns, monotonic */
void perf_die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void perf_usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* fills `why`; returns -1 */
int perf_why(char *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* text from the network as a line that does no harm to a terminal */
void perf_clean(char *text, size_t size);
void perf_options(struct perf_opt *opt, int argc, char **argv);

#endif /* SDR_PERF_H */
