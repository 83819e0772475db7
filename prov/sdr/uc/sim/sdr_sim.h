/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A simulated network and the engines on it.
 *
 * A world has virtual time, nodes and, between any two nodes and for each direction, a link.  Each
 * node carries at most one engine (struct sdr_uc) at a time; everything above the engine is the
 * real code.  The world never looks at a clock and draws every random number from its seed, so a
 * run is a function of the seed and of the calls made: the same calls give the same trace, byte by
 * byte.
 *
 * A node may have several sources: addresses of one host, which its engine sends from and hears at
 * (sdr_uc_info.sources).  A link then has lanes, one for each of up to SDR_PATHS_MAX ways between
 * the two nodes: lane 0 is the link itself, and all that there is without further sources.  A
 * packet takes the lane of the source that it leaves from, or, when it leaves from source 0, that
 * of the source that it goes to.  Each lane has its own state, luck, blackouts and settings; one
 * that was not told anything is set as lane 0 is, and leads through lane 0's line.
 *
 * Time moves only in sdr_sim_world_step and sdr_sim_world_run_until.  A packet posted at time t
 * leaves the sender's queue when the link has serialised it, and lies in the receiver's unread
 * queue `delay` later; it is checked and placed when the receiver polls, as with a socket.
 *
 * One thread at a time uses a world and all its engines.
 */
#ifndef SDR_SIM_H
#define SDR_SIM_H

#include "sdr_sim_line.h"
#include "uc/sdr_uc.h"

#define SDR_SIM_NODES_MAX 4096u /* nodes of a world */
#define SDR_SIM_IP_UDP	  28u	/* bytes of IPv4 and UDP headers in front of each packet */
/*
 * A lane of a link, or a source of a node: in place of a node's number where a function says so,
 * and as `from` (`a`, where it is both directions) of all functions that have to do with links.
 */
#define SDR_SIM_LANE(node, k) ((uint32_t)(node) | (uint32_t)(k) << 16)
/* bytes of an IP packet besides the payload of a data packet, of a control datagram */
#define SDR_SIM_DATA_OVER (SDR_SIM_IP_UDP + SDR_DATA_OVERHEAD)
#define SDR_SIM_CTL_OVER  (SDR_SIM_IP_UDP + SDR_CTL_OVERHEAD)

struct sdr_sim_world;

enum sdr_sim_kind {
	SDR_SIM_DATA = 1,
	SDR_SIM_CTL,
	SDR_SIM_ICMP, /* to the sender of a packet: it was too long for its way */
	SDR_SIM_RAW,  /* without bytes, between nodes that have no engine (sdr_sim_raw_send) */
};

#define SDR_SIM_P_CORRUPT 0x1  /* the check sum at the receiver will fail */
#define SDR_SIM_P_COPY	  0x2  /* a duplicate or replay */
#define SDR_SIM_P_RKEYED  0x4  /* DATA: va and rkey are of a grant */
#define SDR_SIM_P_WRITTEN 0x8  /* rkeyed node, arrived: lies in its grant's buffer */
#define SDR_SIM_P_NULL	  0x10 /* rkeyed node, arrived: met the NULL key */
#define SDR_SIM_P_PROBE	  0x20 /* CTL: SDR_UC_F_PROBE */

/* A packet under way, as filters and traces see it. */
struct sdr_sim_packet {
	uint64_t due; /* ns: when it arrives; order in time is (due, seq) */
	uint64_t seq; /* creation order in the world */
	struct sdr_sim_packet *next;
	uint8_t *buf;		      /* see sdr_sim_packet_payload */
	uint64_t nth;		      /* DATA, CTL: the nth of its kind on this link, from 1 */
	uint64_t extra_ns;	      /* a filter may set it: further delay of this packet */
	uint64_t va;		      /* DATA: slot * max_msg + offset; RKEYED: in the grant */
	uint32_t len;		      /* payload bytes */
	uint32_t wire;		      /* bytes with all headers */
	uint32_t qpn, psn, rkey, imm; /* DATA */
	/* DATA: a piece, of a packet of that many bytes in pieces of that size; 0: not cut */
	uint16_t whole, piece;
	uint32_t from, to; /* addresses (numbers) */
	uint16_t src, dst; /* nodes */
	uint8_t kind;	   /* enum sdr_sim_kind */
	uint8_t flags;	   /* SDR_SIM_P_*; a filter may set CORRUPT */
	uint8_t pool;
	uint8_t ecn;	/* enum sdr_uc_ecn, as a line left it; a filter may change it */
	uint8_t lane;	/* of the link */
	uint8_t source; /* of the receiver, whose address is `to`; arrived */
};

/* Payload bytes of a packet (len of them), NULL when virtual. */
static inline uint8_t *sdr_sim_packet_payload(const struct sdr_sim_packet *p)
{
	return p->kind == SDR_SIM_DATA ? p->buf : p->buf + sizeof(struct sdr_uc_addr);
}

/*
 * One direction of a link.  All zero: infinitely fast, without delay, perfect.
 *
 * Bursts (Gilbert-Elliott): the link is good or bad, and a packet that meets a bad one is lost.
 * Where the link has a rate, a burst is a matter of time on the line: the state moves on with the
 * time from the start of one packet to the start of the next, in slots of a full data packet of the
 * sending node (its mtu and headers).  Full packets back to back see bursts of ge_burst packets on
 * average and lose the share ge_loss; after an idle time the state is forgotten; small packets see
 * the same bursts in time, so more of them fall into one.  Without a rate, or with bursts of one
 * packet (which have no length in time), the state moves on with each packet.
 *
 * Somewhere on the way no packet may be longer than mtu.  With icmp its sender is told, unless the
 * answer is lost (it passes half of the way there and half of the way back) or one was sent less
 * than SDR_SIM_ICMP_NS ago, as routers do: SDR_UC_EV_PATH.
 *
 * Cross traffic takes room in the queue and time on the line, in front of whatever comes later;
 * beyond that its packets are not seen.  It needs a rate; when it offers more than the rate, only
 * queue_bytes keeps the queue from growing.
 *
 * Links may lead through a line that they share (below): there a packet comes when the link's own
 * line, if it has a rate, has sent it, and all that is said here of loss and delay comes behind it.
 */
#define SDR_SIM_ICMP_NS 1000000u
struct sdr_sim_link {
	uint64_t rate_bps;    /* wire bits per second; 0 infinite */
	uint64_t delay_ns;    /* one way */
	uint64_t queue_bytes; /* waiting bytes beyond which the tail is dropped; 0 unlimited */
	/* a full queue stops post() instead (the queue is the sender's own) */
	bool block;
	double loss;	  /* probability a packet, independent */
	double loss_byte; /* added for each wire byte */
	double ge_loss;	  /* Gilbert-Elliott: mean share of packets lost */
	double ge_burst;  /*	and mean length of a burst, full packets */
	double dup;	  /* probability that a packet arrives twice */
	double reorder;	  /* probability that a packet is late by reorder_ns more */
	uint64_t reorder_ns;
	uint64_t jitter_ns; /* uniform in [0, jitter_ns], each packet for itself: reorders */
	double corrupt;	    /* probability that the check sum fails at the receiver */
	uint32_t mtu;	    /* bytes of the largest IP packet; longer ones vanish; 0 no limit */
	bool icmp;	    /* and their sender is told */
	/* cross traffic on the same line: Poisson arrivals, wire bits per second; 0 none */
	uint64_t cross_bps;
	uint32_t cross_bytes; /* of each of its packets, wire; 0: 1500 */
};

struct sdr_sim_link_stats {
	uint64_t data, ctl, bytes; /* handed to the link, wire bytes */
	/* dropped: by the queue; lost: in transit; drop_mtu: longer than mtu */
	uint64_t filtered, dropped, lost, blackout, drop_mtu;
	uint64_t icmp; /* answers sent to those */
	uint64_t dup, reordered, corrupt;
	uint64_t queue_peak; /* bytes */
	/* packets of cross traffic that got a place, and that did not */
	uint64_t cross, cross_dropped;
	/* behind a shared line: packets and wire bytes that left it, and those it marked */
	uint64_t line_out, line_bytes, marked;
};

enum sdr_sim_what {
	SDR_SIM_T_SENT = 1, /* on its way; due is known */
	SDR_SIM_T_FILTERED,
	SDR_SIM_T_QUEUE,
	SDR_SIM_T_LOST,
	SDR_SIM_T_BLACKOUT,
	SDR_SIM_T_OVERSIZE, /* longer than the link's mtu, or than the sender's route carries */
	SDR_SIM_T_NOROUTE,  /* no node has the address, or it is dead */
	SDR_SIM_T_RCVBUF,   /* the receiver's unread queue was full */
	SDR_SIM_T_ARRIVED,  /* in the receiver's unread queue */
	SDR_SIM_T_PLACED,
	SDR_SIM_T_LATE,
	SDR_SIM_T_BAD,
	SDR_SIM_T_READ, /* fate when polled; READ: control, ICMP */
};

/* A name for a trace record's kind. */
const char *sdr_sim_what_name(enum sdr_sim_what what);

struct sdr_sim_world_attr {
	uint64_t seed;
	uint32_t nodes;		  /* 1..SDR_SIM_NODES_MAX */
	bool virtual_payload;	  /* data packets carry no bytes; buffers are never touched */
	struct sdr_sim_link link; /* what every link is at first */
	void *user;		  /* for the hooks */
	/*
	 * Sees each packet before the link does; false drops it.  May change flags, extra_ns and
	 * payload.
	 */
	bool (*filter)(void *user, struct sdr_sim_packet *pkt);
	/*
	 * An address translator: what a packet of this node to that address carries beyond it.
	 * Both are numbers, and may be changed; false: it goes nowhere.  NULL: there is none.
	 */
	bool (*translate)(void *user, uint32_t node, uint32_t *from, uint32_t *to);
	void (*trace)(void *user, uint64_t now_ns, enum sdr_sim_what what,
		      const struct sdr_sim_packet *pkt);
};

/* NULL: out of memory, or the attributes make no sense. */
struct sdr_sim_world *sdr_sim_world_create(const struct sdr_sim_world_attr *attr);
/* Every engine must be closed before. */
void sdr_sim_world_destroy(struct sdr_sim_world *w);
uint64_t sdr_sim_world_now(const struct sdr_sim_world *w);
/* Time of the next event, ns; UINT64_MAX: none. */
uint64_t sdr_sim_world_next(const struct sdr_sim_world *w);
/* Moves to the next event and handles it (and no other); false when there is none. */
bool sdr_sim_world_step(struct sdr_sim_world *w);
/* Handles all events with time <= t; afterwards now is t. */
void sdr_sim_world_run_until(struct sdr_sim_world *w, uint64_t t);
/* Calls fn at that time (now, if it has passed), inside step or run_until. */
int sdr_sim_world_at(struct sdr_sim_world *w, uint64_t when, void (*fn)(void *user), void *user);
/* A number from the world's generator. */
uint64_t sdr_sim_world_random(struct sdr_sim_world *w);
/* Packets whose arrival was handled, for speed measurements. */
uint64_t sdr_sim_world_arrivals(const struct sdr_sim_world *w);
/* Wire bytes under way, queues included: a storm shows here first. */
uint64_t sdr_sim_world_flying(const struct sdr_sim_world *w);

/* ---- links ----------------------------------------------------------------------------------- */

/* Packets already under way keep their arrival time. */
int sdr_sim_link_set(struct sdr_sim_world *w, uint32_t from, uint32_t to,
		     const struct sdr_sim_link *l);
int sdr_sim_link_set_both(struct sdr_sim_world *w, uint32_t a, uint32_t b,
			  const struct sdr_sim_link *l);
void sdr_sim_link_get(struct sdr_sim_world *w, uint32_t from, uint32_t to, struct sdr_sim_link *l);
/* The same at a later time: a path change. */
int sdr_sim_link_set_at(struct sdr_sim_world *w, uint64_t when, uint32_t from, uint32_t to,
			const struct sdr_sim_link *l);
/* Only mtu and icmp of it: now, at a later time. */
int sdr_sim_link_mtu(struct sdr_sim_world *w, uint32_t from, uint32_t to, uint32_t mtu, bool icmp);
int sdr_sim_link_mtu_at(struct sdr_sim_world *w, uint64_t when, uint32_t from, uint32_t to,
			uint32_t mtu, bool icmp);
/* Packets that enter the link in [begin, end) vanish. */
int sdr_sim_blackout(struct sdr_sim_world *w, uint32_t from, uint32_t to, uint64_t begin,
		     uint64_t end);
int sdr_sim_blackout_both(struct sdr_sim_world *w, uint32_t a, uint32_t b, uint64_t begin,
			  uint64_t end);
void sdr_sim_link_stats(struct sdr_sim_world *w, uint32_t from, uint32_t to,
			struct sdr_sim_link_stats *out);
/* Of all lanes, summed up; queue_peak is the longest queue's.  from is a node. */
void sdr_sim_lanes_stats(struct sdr_sim_world *w, uint32_t from, uint32_t to,
			 struct sdr_sim_link_stats *out);

/* ---- nodes ----------------------------------------------------------------------------------- */

enum sdr_sim_rkeyed {
	SDR_SIM_RKEYED_NONE = 0, /* root key and slots, as the soft engine */
	/* grants; after its end a packet is dropped in silence (counted pkts_late) */
	SDR_SIM_RKEYED_MR,
	SDR_SIM_RKEYED_ROOT, /* grants; after its end a packet completes and writes nothing */
};

struct sdr_sim_node_attr {
	uint32_t mtu; /* payload bytes; 0: SDR_MTU_DEFAULT */
	/* payload bytes; 0: what fits the same packet as mtu, within the wire's limits */
	uint32_t ctl_max;
	/* payload bytes of the largest control datagram sent and taken; 0: SDR_PROBE_MAX */
	uint32_t probe_max;
	bool no_probe;	     /* info.probe_max is 0: nothing beyond ctl_max */
	uint32_t rx_window;  /* wire bytes the unread queue takes; 0 unlimited */
	bool stamps;	     /* events say since when the node had them, as kernels do */
	bool report_late;    /* PLACED also for unbound slots and old generations, as on hardware */
	uint8_t rkeyed;	     /* enum sdr_sim_rkeyed: info.rkeyed */
	bool ecn;	     /* info.ecn: packets may be marked, and marks are seen */
	bool far;	     /* info.far: reaches memory of devices, as its copies do */
	bool far_refuses;    /* with far: and takes no registration of any, as some drivers do */
	uint32_t grants_max; /* rkeyed: grants that can be open at a time; 0 no limit */
	uint8_t sources;     /* info.sources; 0: 1 */
};

/*
 * Opens the node's engine; attr may be NULL.  -EBUSY: it has one already; -EADDRINUSE: another has
 * the number of a source.
 */
int sdr_sim_node_open(struct sdr_sim_world *w, uint32_t node, const struct sdr_sim_node_attr *attr,
		      struct sdr_uc **uc);
/*
 * At first node n has number n + 1, and its source k that with k in bits 20 to 23 of it.  Bits 8 to
 * 23 of a number are the port.  node: or a source of one.
 */
void sdr_sim_node_addr(const struct sdr_sim_world *w, uint32_t node, struct sdr_uc_addr *addr);
void sdr_sim_addr_make(uint32_t number, struct sdr_uc_addr *addr);
/*
 * The node gets another address, and each of its sources one that differs from it in bits 20 to 23;
 * SDR_SIM_LANE(node, k > 0): that source alone.  What is under way to the old one is lost.
 * -EADDRINUSE, -EINVAL (0, or no such source).
 */
int sdr_sim_node_rebind(struct sdr_sim_world *w, uint32_t node, uint32_t number);
/*
 * No IP packet longer than that leaves the node, whose host knows of it: what is longer is refused
 * (EMSGSIZE), and all but probes with SDR_UC_EV_PATH.  0: none is too long.
 */
void sdr_sim_node_route(struct sdr_sim_world *w, uint32_t node, uint32_t mtu);
/*
 * A dead node sends and receives nothing; its engine may be closed without a trace on the network.
 */
void sdr_sim_node_kill(struct sdr_sim_world *w, uint32_t node, bool dead);
/*
 * poll finds nothing and post takes nothing until then; what arrives waits, or overflows the
 * window.
 */
void sdr_sim_node_stall(struct sdr_sim_world *w, uint32_t node, uint64_t until);
bool sdr_sim_node_stalled(const struct sdr_sim_world *w, uint32_t node);
/*
 * The node's QP with this number (any of its) breaks, as one does that a device disables:
 * SDR_UC_EV_QP.  -ENOENT.
 */
int sdr_sim_qp_break(struct sdr_sim_world *w, uint32_t node, uint32_t qpn);
/*
 * What a device may do at any moment, for tests that call it in the middle of something: the data
 * that are under way to the node are written under their grants, as far as it has them now, all
 * before their completions come, which come when they arrive.  Nodes without info.rkeyed: nothing.
 */
void sdr_sim_node_write(struct sdr_sim_world *w, uint32_t node);
/* True when poll would find something now. */
bool sdr_sim_node_pending(const struct sdr_sim_world *w, uint32_t node);
uint64_t sdr_sim_node_rcvbuf_drops(const struct sdr_sim_world *w, uint32_t node);
/*
 * Grants of all engines that the node had; those that were open when their engine was closed never
 * end.
 */
void sdr_sim_node_grants(const struct sdr_sim_world *w, uint32_t node, uint64_t *made,
			 uint64_t *ended);

/* ---- packets of others ----------------------------------------------------------------------- */

/*
 * A node without an engine can send and take packets of its own kind: reactive cross traffic.
 * They have a length on the wire and two numbers, which are the caller's, and meet all that links
 * and lines do to packets.  A damaged one does not arrive.
 */
struct sdr_sim_raw {
	uint64_t a, b;
	uint32_t wire;
	uint8_t ecn; /* enum sdr_uc_ecn */
};

/*
 * fn gets what arrives at the node, inside step or run_until, and may send.  -EBUSY: the node has
 * an engine, or such a function.
 */
int sdr_sim_raw_open(struct sdr_sim_world *w, uint32_t node,
		     void (*fn)(void *user, const struct sdr_sim_raw *r), void *user);
int sdr_sim_raw_send(struct sdr_sim_world *w, uint32_t from, uint32_t to,
		     const struct sdr_sim_raw *r);

/* ---- injection ------------------------------------------------------------------------------- */

/*
 * Control datagram from any address, arriving at the node (or a source of it) after delay, past all
 * links and filters.
 */
int sdr_sim_inject_ctl(struct sdr_sim_world *w, uint32_t from_number, uint32_t node,
		       uint64_t delay_ns, const void *buf, size_t len);
/* A copy of a packet seen in a filter or trace, arriving `delay` from now at the same node. */
int sdr_sim_replay(struct sdr_sim_world *w, const struct sdr_sim_packet *pkt, uint64_t delay_ns);

#endif /* SDR_SIM_H */
