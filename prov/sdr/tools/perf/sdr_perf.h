/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the files of sdr_perf share: the endpoint, what two sides send each other before a run, and
 * the run's result.
 *
 *   sdr_perf.c       main: one client, or one server after another
 *   sdr_perf_say.c   messages, exits, clock
 *   sdr_perf_opt.c   command line, with sdr_perf_value.c for its values
 *   sdr_perf_ep.c    libfabric objects and completions
 *   sdr_perf_conn.c  how client and server find each other and agree
 *   sdr_perf_mem.c   memory of buffers, of the host or a device, and patterns in it
 *   sdr_perf_side.c  buffers, staying in step during the runs
 *   sdr_perf_run.c   the runs
 *   sdr_perf_out.c   table, CSV, JSON, progress line
 *   sdk*.c           --sdk, which has neither libfabric nor reliable endpoints: sdk.h
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

#include "sdr_perf_opt.h"
#include "sdr_perf_say.h"

#define PERF_API FI_VERSION(1, 17)
/* ---- endpoint -------------------------------------------------------------------------------- */

struct perf_side;

/* Every operation's context; the provider's part comes first. */
struct perf_op {
	struct fi_context2 ctx;
	/* err: 0, FI_ECANCELED or FI_ETRUNC; anything else has ended the process */
	void (*done)(struct perf_op *op, size_t len, int err);
	struct perf_side *side;
	uint64_t n;	   /* number of the message it carries */
	uint64_t begin_ns; /* it was posted */
	uint32_t slot;	   /* place in the buffer */
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
	bool far;	  /* memory of devices is sent from or received into */
	uint64_t spin_ns; /* of struct perf_ep */
};

int perf_ep_open(struct perf_ep *p, const struct perf_ep_attr *attr, char *why);
void perf_ep_close(struct perf_ep *p);
int perf_ep_peer(struct perf_ep *p, const struct perf_name *name, char *why);
int perf_ep_name(struct perf_ep *p, struct perf_name *name, char *why);
struct fid_mr *perf_ep_mr(struct perf_ep *p, const struct fi_mr_attr *attr, char *why);
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
	char engine[PERF_TEXT_MAX], domain[PERF_NAME_MAX], memory[PERF_TEXT_MAX];
};

/* Both open the data endpoint and the buffers of *s, and return when the peer's are known. */
void perf_conn_client(struct perf_side *s, struct perf_opt *opt);
void perf_conn_server(struct perf_side *s, struct perf_opt *opt);
/* false: the plan makes no sense, or more than this program does */
bool perf_plan_ok(const struct perf_plan *plan, char *why);
/* spin_ns of the endpoint */
uint64_t perf_plan_spin(const struct perf_plan *plan);
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
	uint64_t cpu_ns, peer_cpu_ns; /* of the processes, kernel included */
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

/* Takes that line off the screen. */
void perf_out_clear(void);

/* --times, of a client; NULL: not wanted. */
void perf_times_open(const char *file);
bool perf_times_wanted(void);
/* Message n of a size: when it was posted, and what it took. */
void perf_times_row(uint64_t size, uint64_t n, uint64_t begin_ns, uint64_t ns);
void perf_times_close(void);

#endif /* SDR_PERF_H */
