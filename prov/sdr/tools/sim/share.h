/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Flows that share a bottleneck, in virtual time: the set-up, one run of it, and what came of it.
 *
 * sdr_sim share and the bars of fabtests/sim are made of this.  The files: share_bed.c builds the
 * world, share_flow.c is one sdr flow, rival.c one of another kind, share_run.c moves time and
 * counts; share_opt.c, share_main.c and share_out.c are the command.
 */
#ifndef SDR_TOOLS_SHARE_H
#define SDR_TOOLS_SHARE_H

#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "rel/path/sdr_path_mem.h"
#include "rival.h"
#include "sim_eps.h"

#define SHARE_NS	  1e9
#define SHARE_FLOWS_MAX	  64u
#define SHARE_CHANGES_MAX 16u
#define SHARE_NAME	  16u	/* bytes of a flow's name */
#define SHARE_TIMES_MAX	  1024u /* messages of a run whose times are kept */

/* The line's rate from a time on. */
struct share_change {
	double at_s, rate_bps;
};

struct share_cfg {
	uint32_t flows; /* of sdr; they are numbered first */
	/* and of others behind them, their controllers (rival_table) */
	const struct sdr_cc_ops *rival[SHARE_FLOWS_MAX];
	uint32_t rivals;
	double rate_bps;
	double rtt_s[SHARE_FLOWS_MAX]; /* of each flow, without the queue */
	double start_s[SHARE_FLOWS_MAX];
	uint64_t queue_bytes; /* 0: no end */
	double queue_bdp;     /* of the first flow's RTT; < 0: queue_bytes counts */
	double nic_bps;	      /* line of each sender in front of the bottleneck; 0: infinite */
	double loss, ge_loss, ge_burst;
	bool ge_packets;     /* bursts are counted in packets, not in time on the line */
	double reverse_loss; /* on the way back */
	/* both ways: up to so much more delay, and a share of packets that are so much later */
	double jitter_s, reorder, reorder_s;
	double codel_target_s, codel_interval_s, mark_s;
	uint32_t path_mtu; /* bytes of the largest IP packet */
	uint64_t size;	   /* of a message */
	uint32_t window;   /* messages posted at a time */
	/*
	 * One message at a time instead of a window of them, so many of each sdr flow, and a pause
	 * of up to pause_s in between; the run ends with the last.  The first warm ones do not
	 * count.
	 */
	uint32_t messages, warm;
	double pause_s;
	/*
	 * Before that a message of so many bytes, after which both ends close and open again with
	 * what they know of the path; 0: nothing is known.
	 */
	uint64_t teach_bytes;
	bool greets; /* then a message of a few bytes: the connection is open, and nothing known */
	/*
	 * The flows are an all-to-all: from so many senders, to flows / ranks receivers each.
	 * Their next messages begin when all of those before are done, and up to pause_s later,
	 * sender by sender.  0: each flow has ends of its own.
	 */
	uint32_t ranks;
	double seconds;
	double settle_s; /* after the last start: what comes then is counted apart */
	double sample_s; /* mean time between two looks at the queue */
	double tick_s;	 /* packets wait so long to be handled together */
	double clocks_s; /* the clock that hosts have in common: so far apart at most */
	double series_s; /* of a line of the series; 0: none */
	/* hosts of sdr flows stop, for so long on average, after so much time on average */
	double stall_s, stall_every_s;
	bool probes;	/* endpoints ask the path by long datagrams, as over sockets */
	bool incast;	/* one receiving node */
	bool rival_ecn; /* rivals' packets may be marked */
	uint32_t paths; /* of each sdr flow, all of them through the line */
	const struct sdr_cc_ops *cc;
	const struct sdr_scheme_ops *scheme; /* NULL: the default */
	struct share_change change[SHARE_CHANGES_MAX];
	uint32_t changes;
};

/* Packets and bytes of a flow since the run began. */
struct share_count {
	uint64_t bytes; /* of messages that were received whole */
	uint64_t messages;
	uint64_t offered; /* packets that came to the queue */
	uint64_t dropped; /* by it */
	uint64_t lost;	  /* in transit */
	uint64_t marked;
	uint64_t line_bytes;	    /* wire bytes that left the line */
	uint64_t data, parity, rtx; /* packets sent: all that carry data or parity; of those */
	uint64_t acks;		    /* packets on the way back */
};

/* Plain data: written by the process of a run. */
struct share_flow_result {
	char name[SHARE_NAME];
	struct share_count all, settled; /* the whole run; after everything had settled */
	double start_s;
	double goodput_bps; /* settled */
	/* from its start until it has 0.8 of an equal share; < 0: never */
	double to_share_s;
};

struct share_result {
	volatile bool ended;
	bool failed;
	char why[SIM_WHY_MAX];
	uint32_t flows;
	struct share_flow_result flow[SHARE_FLOWS_MAX];
	double from_s, settled_s; /* when "settled" begins, and what it counts */
	double jain, utilisation; /* settled */
	double delay_p50_s, delay_p95_s, delay_max_s; /* of the queue, settled */
	double drop_all, drop_settled;		      /* shares of what was offered */
	double parity_settled;			      /* share of the packets sent */
	/* after the line's last change, until 90 % of its rate is used; < 0: never */
	double adapt_s;
	float time_s[SHARE_TIMES_MAX]; /* of messages sent one at a time */
	uint32_t times;
	uint64_t packets;
	double cpu_s;
};

/* One line of a series: what a flow did in the time before. */
struct share_tick {
	double t_s, rate_bps, goodput_bps, drop, delay_s;
	double cwnd_bytes, pacing_bps, srtt_s, min_rtt_s, loss;
};

/* What a flow of sdr is at: messages that do not count come first, where they are asked for. */
enum share_step { SHARE_TEACH, SHARE_GREET, SHARE_RUN };

struct sim_share_flow;

/* What a flow is made of. */
struct share_flow {
	struct share_bed *bed;
	uint32_t idx;
	uint32_t from, to; /* nodes */
	uint64_t start_ns;
	bool started;
	struct share_flow_result *res;
	struct share_count mark; /* when everything had settled */
	struct share_count tick; /* at the last line of the series, or look at its share */
	uint64_t received, received_bytes;
	/* sdr */
	struct rival *rival; /* not of sdr */
	struct sdr_peer *peer;
	struct sdr_peer *back;	    /* its sender, as the receiver knows it */
	uint32_t sends, recvs;	    /* posted and not done */
	struct sdr_path_mem *paths; /* what its sender knows; NULL: nothing */
	enum share_step step;
	uint32_t posted;  /* messages so far */
	uint64_t post_ns; /* of the last */
	uint64_t next_ns; /* the next not before */
	double share_bps; /* smoothed rate on the line */
};

struct share_bed {
	const struct share_cfg *cfg;
	struct sim_eps eps;
	struct share_flow flow[SHARE_FLOWS_MAX];
	uint32_t flows, nodes;
	uint32_t left; /* flows that have messages to send, where these are counted */
	uint32_t busy; /* flows whose message of this all-to-all is not done */
	struct share_result *res;
	int line;
	uint64_t rng, begin_ns;
	uint64_t clocks; /* of everything random about hosts' clocks */
	char *mem;	 /* of all messages: nobody looks at it */
	uint64_t mem_len;
};

/* ---- share_opt.c ---- */
struct share_plan {
	struct share_cfg cfg;
	uint32_t runs, jobs;
	uint64_t seed;
	int format; /* enum tool_format */
};
void share_options(struct share_plan *plan, int argc, char **argv);

/* ---- share_main.c ---- */
/* The command, from its name on; its exit status. */
int share_main(int argc, char **argv);

/* ---- share_bed.c ---- */
/* The set-up that the options start from. */
void share_cfg_init(struct share_cfg *cfg);
/* False: failed, and eps.why says why; close it all the same. */
bool share_bed_open(struct share_bed *b, const struct share_cfg *cfg, uint64_t seed);
void share_bed_close(struct share_bed *b);
uint64_t share_rand(struct share_bed *b);
/* Seconds since the run began. */
double share_now(const struct share_bed *b);
/* Opens the endpoint of a node, with what it knows of paths (may be NULL).  0 or -errno. */
int share_node_open(struct share_bed *b, uint32_t i, struct sdr_path_mem *paths);
/* The flow's names for its ends, after both are open.  0 or -ENOMEM. */
int share_flow_meet(struct share_flow *f);
uint64_t share_queue_bytes(const struct share_cfg *cfg);
/* Payload bytes of a packet on a path of that many bytes. */
uint32_t share_payload(uint32_t path_mtu);

/* ---- share_flow.c ---- */
extern const struct sdr_rel_cbs share_cbs;
/* Posts what its window still has room for. */
void share_flow_post(struct share_flow *f);
void share_flow_count(struct share_flow *f, struct share_count *c);
/* What its sender has set now, for a line of the series. */
void share_flow_state(struct share_flow *f, struct share_tick *t);

/* ---- share_run.c ---- */
/* Runs it in this process.  say (may be NULL): a line of the series, flow by flow. */
void share_run(const struct share_cfg *cfg, uint64_t seed, struct share_result *res,
	       void (*say)(void *user, uint32_t flow, const struct share_tick *t), void *user);

/* ---- share_out.c ---- */
void share_out(const struct share_plan *plan, const struct share_result *res);
/* Runs with the seed and prints what each flow did over time.  False: it failed. */
bool share_out_series(struct share_plan *plan, uint64_t seed);

#endif /* SDR_TOOLS_SHARE_H */
