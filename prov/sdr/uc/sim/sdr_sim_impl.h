/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The simulator's inside: what its files share.  sdr_sim_world.c has time, events and packets,
 * sdr_sim_addr.c whose an address is, sdr_sim_link.c the impairments, sdr_sim_lane.c the lanes of
 * links and their settings, sdr_sim_line.c the lines that links share, sdr_sim_path.c how long
 * packets may be and who learns of it, sdr_sim_node.c the engine, sdr_sim_tx.c what it sends,
 * sdr_sim_qp.c its QPs and slots, sdr_sim_grant.c the grants of an rkeyed one, sdr_sim_raw.c nodes
 * without an engine.
 */
#ifndef SDR_SIM_IMPL_H
#define SDR_SIM_IMPL_H

#include "uc/sdr_uc_piece.h"
#include "sdr_sim.h"

#define SDR_SIM_POOLS	  7u   /* payload pools: 256 << i bytes */
#define SDR_SIM_POOL_MIN  256u /* bytes of the smallest payload buffer */
#define SDR_SIM_POOL_NONE 0xffu
/* packets allocated at a time */
#define SDR_SIM_BLOCK	      256u
#define SDR_SIM_QPN_SPAN      (SDR_CHANNELS_MAX * SDR_GENERATIONS_MAX) /* QPNs of a QP: 256 */
#define SDR_SIM_GRANT_BUCKETS 64u
#define SDR_SIM_QPS_MAX	      32768u /* QPs of a node: half of the 2^16 spans */

struct sdr_sim_rng {
	uint64_t s[4];
};

struct sdr_sim_fifo {
	struct sdr_sim_packet *head, *tail;
};

/* Gilbert-Elliott: state, as of the packet whose first byte left at ps; good at time 0. */
struct sdr_sim_ge {
	bool bad;
	uint64_t ps;
};

struct sdr_sim_ln;

/*
 * Packets of a link that arrive in the order they were sent wait in its fifo, of which the heap
 * knows the first; a packet that overtakes has its own event.  So the heap stays as small as the
 * number of links.
 */
struct sdr_sim_lnk {
	struct sdr_sim_link cfg;
	struct sdr_sim_rng rng;
	struct sdr_sim_fifo fly;
	struct sdr_sim_link_stats st;
	uint64_t busy_ps; /* when the last byte will have left, picoseconds */
	uint32_t down;	  /* blackouts under way */
	struct sdr_sim_ge ge;
	struct sdr_sim_ln *line;   /* it leads through; NULL: none */
	struct sdr_sim_fifo front; /* on their way to the line; the heap knows the first */
	/* the last answer to "how long is it on the line": most packets are alike */
	uint64_t last_rate, last_bytes, last_ps;
	/* cross traffic: when its next packet comes, and luck of its own */
	struct sdr_sim_rng cross_rng;
	uint64_t cross_ps;
	/* the next ICMP not before; what the node at its begin knows of it, and until when */
	uint64_t icmp_next;
	uint32_t known;
	uint64_t known_until;
	uint8_t lane;  /* that it is */
	bool own, led; /* it was set, given a line: it does not follow lane 0 in that any more */
	/* lane 0: the SDR_PATHS_MAX - 1 others, NULL: not used yet; NULL: none was */
	struct sdr_sim_lnk **lanes;
};

/* A line that links share: what waits, the packet that is being sent, CoDel's state. */
struct sdr_sim_ln {
	struct sdr_sim_line cfg;
	struct sdr_sim_rng rng;
	struct sdr_sim_ge ge;
	struct sdr_sim_fifo queue;
	struct sdr_sim_packet *sent; /* NULL: idle */
	uint64_t bytes;		     /* that wait */
	uint64_t start_ps, done_ps;  /* of the packet that is being sent */
	struct sdr_sim_line_stats st;
	/* RFC 8289 */
	uint64_t first_above, drop_next; /* ns; 0: not above */
	uint32_t count, lastcount;
	bool dropping;
};

enum sdr_sim_evk {
	SDR_SIM_E_LINK, /* first packet of a link's fifo */
	SDR_SIM_E_PKT,
	SDR_SIM_E_FN,
	SDR_SIM_E_FRONT, /* first packet of a link's front comes to its line */
	SDR_SIM_E_LINE,	 /* a line has sent its packet */
};

struct sdr_sim_event {
	uint64_t due;
	uint64_t seq;
	union {
		struct sdr_sim_lnk *lnk;
		struct sdr_sim_packet *pkt;
		struct sdr_sim_ln *line;
		void (*fn)(void *user);
	};
	void *user;
	uint8_t kind; /* enum sdr_sim_evk */
	bool own;     /* FN: user is the event's, to be freed */
};

struct sdr_sim_eng;

struct sdr_sim_node {
	struct sdr_sim_eng *eng;
	struct sdr_sim_lnk **out; /* by destination; NULL not used yet */
	uint32_t addr;		  /* number */
	uint32_t *more;		  /* those of its other sources */
	uint8_t sources;	  /* >= 1; the last engine's */
	uint32_t route;		  /* bytes of the longest IP packet that leaves it; 0 any */
	bool dead;
	uint64_t stall_until;
	uint64_t rcvbuf_drops;
	uint64_t grants_made, grants_ended;
	/* it takes packets of its own kind */
	void (*raw)(void *user, const struct sdr_sim_raw *r);
	void *raw_user;
};

struct sdr_sim_world {
	struct sdr_sim_world_attr attr;
	uint64_t now;
	uint64_t seq;
	uint64_t arrivals;
	uint64_t flying; /* wire bytes under way */
	struct sdr_sim_rng rng;
	struct sdr_sim_node *nodes;
	struct sdr_sim_event *heap;
	uint32_t heap_n, heap_cap;
	struct sdr_sim_packet *free_pkt;
	struct sdr_sim_packet **blocks; /* to be freed at the end */
	uint32_t blocks_n;
	void *free_buf[SDR_SIM_POOLS];
	struct sdr_sim_ln *line[SDR_SIM_LINES_MAX];
	uint32_t lines_n;
	uint32_t *route; /* hash: address number -> node + 1, source */
	uint32_t route_mask;
};

/* ---- the engine ---- */

struct sdr_sim_slot {
	uint8_t *buf;
	uint64_t len;
	bool bound;
	uint8_t gen;
	uint32_t rkey;	  /* of its epoch */
	uint32_t *pieces; /* of each packet, as sdr_uc_piece_take; NULL: none came */
};

struct sdr_sim_via {
	uint32_t number; /* of the peer */
	uint32_t path;	 /* where it carries less than the QP's: as that */
	uint8_t source;
	bool set;
};

struct sdr_sim_qp {
	struct sdr_uc_qp base;
	struct sdr_uc_qp_attr attr;
	uint32_t qpn; /* multiple of the span */
	uint32_t rkey;
	uint32_t first_psn;
	uint32_t mtu;
	uint32_t psn[SDR_SIM_QPN_SPAN];
	struct sdr_sim_slot *slots;
	bool connected;
	bool broken, reported; /* by sdr_sim_qp_break; and reported */
	uint32_t piece_ce;     /* bit of a way: a piece came marked since the last whole packet */
	uint32_t peer_qpn, peer_rkey;
	struct sdr_sim_via via[SDR_PATHS_MAX]; /* 0: its own way */
	bool vias;			       /* there is another */
	uint32_t path; /* no data packet to the peer is longer, headers included; 0 any */
};

struct sdr_sim_eng {
	struct sdr_uc base;
	struct sdr_sim_world *w;
	uint32_t node;
	struct sdr_sim_node_attr attr;
	struct sdr_uc_stats st;
	struct sdr_sim_qp **qps; /* hash by qpn / span, linear probing */
	uint32_t qps_n, qps_mask;
	struct sdr_sim_qp *last;     /* found last */
	uint32_t broken;	     /* QPs to be reported */
	struct sdr_sim_fifo rx;	     /* unread */
	uint64_t unread;	     /* wire bytes in rx */
	struct sdr_sim_packet *held; /* control datagrams that the last poll showed */
	uint64_t blocked_until;
	struct sdr_sim_rng rng; /* rkeyed: keys and addresses */
	uint32_t root;		/* rkeyed: R_Key of all grants of SDR_SIM_RKEYED_ROOT */
	uint32_t grants_n;	/* open */
	struct sdr_sim_grant *grants[SDR_SIM_GRANT_BUCKETS];
};

static inline struct sdr_sim_eng *sdr_sim_eng(struct sdr_uc *uc)
{
	return (struct sdr_sim_eng *)uc;
}

/* Memory of devices is read and written where it lies. */
static inline bool sdr_sim_far(const struct sdr_sim_eng *e)
{
	return e->attr.far && !e->attr.far_refuses;
}

static inline struct sdr_sim_qp *sdr_sim_qp(struct sdr_uc_qp *qp)
{
	return (struct sdr_sim_qp *)qp;
}

/* ---- sdr_sim_world.c ---- */
uint64_t sdr_sim_rng_next(struct sdr_sim_rng *r);
void sdr_sim_rng_seed(struct sdr_sim_rng *r, uint64_t seed);
static inline bool sdr_sim_rng_hit(struct sdr_sim_rng *r, double p)
{
	return (double)(sdr_sim_rng_next(r) >> 11) * 0x1p-53 < p;
}
/* A packet with a payload buffer of len bytes, without one when len is 0.  NULL: no memory. */
struct sdr_sim_packet *sdr_sim_packet_get(struct sdr_sim_world *w, size_t len);
void sdr_sim_packet_put(struct sdr_sim_world *w, struct sdr_sim_packet *p);
/*
 * As sdr_sim_world_at; arg comes from malloc and is freed behind the call, or at the world's end,
 * or on error.
 */
int sdr_sim_at_own(struct sdr_sim_world *w, uint64_t when, void (*fn)(void *user), void *arg);
/* An event of a line, or of a link's front.  -ENOMEM. */
int sdr_sim_event_at(struct sdr_sim_world *w, uint64_t due, enum sdr_sim_evk kind, void *what);
/* Takes the packet; due is set. */
void sdr_sim_packet_schedule(struct sdr_sim_world *w, struct sdr_sim_lnk *l,
			     struct sdr_sim_packet *p);
static inline void sdr_sim_trace(struct sdr_sim_world *w, enum sdr_sim_what what,
				 const struct sdr_sim_packet *p)
{
	if (w->attr.trace)
		w->attr.trace(w->attr.user, w->now, what, p);
}
static inline void sdr_sim_fifo_push(struct sdr_sim_fifo *f, struct sdr_sim_packet *p)
{
	p->next = NULL;
	if (f->head)
		f->tail->next = p;
	else
		f->head = p;
	f->tail = p;
}

/* ---- sdr_sim_link.c ---- */
/* Sets it as it is at first: its luck, what every link is. */
void sdr_sim_lnk_init(const struct sdr_sim_world *w, struct sdr_sim_lnk *l, uint64_t seed,
		      const struct sdr_sim_link *cfg);
/* What waits, waits at the new rate. */
void sdr_sim_lnk_set(const struct sdr_sim_world *w, struct sdr_sim_lnk *l,
		     const struct sdr_sim_link *cfg);
/*
 * Time (ns) at which the queue will have room for wire bytes; 0 when it has now, or never blocks.
 */
uint64_t sdr_sim_lnk_blocked(const struct sdr_sim_world *w, struct sdr_sim_lnk *l, uint32_t wire);
/* Sends: takes the packet, whatever becomes of it. */
void sdr_sim_lnk_send(struct sdr_sim_world *w, struct sdr_sim_lnk *l, struct sdr_sim_packet *p);

void sdr_sim_lnk_launch(struct sdr_sim_world *w, struct sdr_sim_lnk *l, struct sdr_sim_packet *p);
/* Behind the line: loss, corruption, delay.  It was on the line from start_ps to end_ps. */
void sdr_sim_lnk_transit(struct sdr_sim_world *w, struct sdr_sim_lnk *l, struct sdr_sim_packet *p,
			 uint64_t start_ps, uint64_t end_ps);
/* Takes the packet: it is no more. */
void sdr_sim_lnk_gone(struct sdr_sim_world *w, struct sdr_sim_packet *p, enum sdr_sim_what fate);
/* Is the line bad for a packet that starts at start_ps?  A slot of 0 ps: a step a packet. */
bool sdr_sim_ge_bad(struct sdr_sim_ge *g, struct sdr_sim_rng *rng, double share, double burst,
		    uint64_t start_ps, uint64_t slot_ps);
/* Time (ps) of so many bytes at so many bits a second. */
static inline uint64_t sdr_sim_ps(uint64_t rate, uint64_t bytes)
{
	uint64_t x = bytes * 8 * 1000000000ull;

	return rate ? x / rate * 1000 + x % rate * 1000 / rate : 0;
}

/* ---- sdr_sim_line.c ---- */
/* The packet comes to the line of its link. */
void sdr_sim_line_enter(struct sdr_sim_world *w, struct sdr_sim_lnk *l, struct sdr_sim_packet *p);
/* The line has sent its packet. */
void sdr_sim_line_leave(struct sdr_sim_world *w, struct sdr_sim_ln *n);

/* ---- sdr_sim_path.c ---- */
/* The link has dropped the packet for its length: its sender may be told. */
void sdr_sim_path_icmp(struct sdr_sim_world *w, struct sdr_sim_lnk *l,
		       const struct sdr_sim_packet *p);
/* The node's own host refuses the packet for its length, and says so at once. */
void sdr_sim_path_refuse(struct sdr_sim_eng *e, struct sdr_sim_lnk *l, struct sdr_sim_packet *p);
/* The host hears of a packet that was too long. */
void sdr_sim_path_hear(struct sdr_sim_world *w, const struct sdr_sim_packet *p);
uint32_t sdr_sim_path_mtu(struct sdr_uc *uc, const struct sdr_uc_addr *to);
void sdr_sim_qp_path(struct sdr_uc_qp *base, uint32_t bytes);
void sdr_sim_via_path(struct sdr_uc_qp *base, uint32_t via, uint32_t bytes);

/* ---- sdr_sim_tx.c ---- */
int sdr_sim_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n);

/* ---- sdr_sim_qp.c ---- */
/* any QPN of it; NULL: none */
struct sdr_sim_qp *sdr_sim_qp_find(struct sdr_sim_eng *e, uint32_t qpn);
void sdr_sim_qp_free(struct sdr_sim_qp *qp);
/* Reports QPs that broke: number of events. */
int sdr_sim_qp_report(struct sdr_sim_eng *e, struct sdr_uc_ev *ev, int max);
int sdr_sim_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *a, struct sdr_uc_qp **out);
void sdr_sim_qp_destroy(struct sdr_uc_qp *base);
void sdr_sim_qp_info(struct sdr_uc_qp *base, struct sdr_wire_qp_info *out);
void sdr_sim_qp_readdress(struct sdr_uc_qp *base, const struct sdr_uc_addr *addr);
int sdr_sim_qp_connect(struct sdr_uc_qp *base, const struct sdr_wire_qp_info *peer,
		       const struct sdr_uc_addr *addr);
int sdr_sim_qp_via(struct sdr_uc_qp *base, uint32_t via, uint32_t source,
		   const struct sdr_uc_addr *addr);
int sdr_sim_slot_bind(struct sdr_uc_qp *base, uint32_t slot, uint32_t use, void *buf, size_t len,
		      void *mr);
void sdr_sim_slot_unbind(struct sdr_uc_qp *base, uint32_t slot);
/* A piece of a packet of a bound slot was placed.  True: it was the last one. */
bool sdr_sim_slot_whole(struct sdr_sim_qp *qp, struct sdr_sim_slot *slot, uint32_t pkt,
			const struct sdr_uc_piece *piece);

/* ---- sdr_sim_grant.c ---- */
void sdr_sim_grants_init(struct sdr_sim_eng *e);
void sdr_sim_grants_free(struct sdr_sim_eng *e);
struct sdr_sim_mr { /* what mr_reg hands out */
	const struct sdr_mem *mem;
};
int sdr_sim_grant(struct sdr_uc_qp *qp, void *buf, size_t len, const struct sdr_mem *mem, void *mr,
		  struct sdr_uc_grant *out);
void sdr_sim_grant_end(struct sdr_uc_qp *qp, struct sdr_uc_grant *g);
/* Arrival of a data packet at an rkeyed node.  False: refused, and the host never learns of it. */
bool sdr_sim_grant_write(struct sdr_sim_eng *e, struct sdr_sim_packet *p);
/* The same before it arrives: its bytes, if it would be written, and no trace of it. */
void sdr_sim_grant_early(struct sdr_sim_eng *e, const struct sdr_sim_packet *p);
/* Its completion is polled.  True: ev is an event to report. */
bool sdr_sim_grant_report(struct sdr_sim_eng *e, const struct sdr_sim_packet *p,
			  struct sdr_uc_ev *ev);

/* ---- sdr_sim_raw.c ---- */
/* Has arrived at its node: takes it. */
void sdr_sim_raw_arrive(struct sdr_sim_world *w, struct sdr_sim_packet *p);

/* ---- sdr_sim_node.c ---- */
/* The packet has arrived: takes it. */
void sdr_sim_node_arrive(struct sdr_sim_world *w, struct sdr_sim_packet *p);

#endif /* SDR_SIM_IMPL_H */
