/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A connection: its state, by what the parts are about.  What it does in time (timers) is the
 * top's (sdr_conn_timer.c), since that needs all rooms.
 */
#ifndef SDR_CONN_H
#define SDR_CONN_H

#include "base/sdr_ring.h"
#include "base/sdr_assert.h"
#include "sdr_endpoint.h"
#include "sdr_path.h"
#include "sdr_peer.h"
#include "sdr_pnset.h"
#include "sdr_shape.h"
#include "wire/sdr_frame.h"

#define SDR_WIRE_OVERHEAD   (SDR_DATA_OVERHEAD + 28u) /* bytes: RoCEv2 frame, UDP, IPv4 */
#define SDR_PTO_BACKOFF_MAX 10u
/* a peer that repeated itself has lost something: believed so long */
#define SDR_TOLD_LOSSY_NS (60000 * MS)
/* the least of sdr_conn_report_delay */
#define SDR_REPORT_DELAY_MIN_NS 50000u

struct sdr_conn_bulk;
struct sdr_conn_msg;
struct sdr_multipath;
struct sdr_pkt;
struct sdr_rec;
struct sdr_reshape;

enum sdr_conn_state {
	SDR_CONN_HELLO, /* our HELLO is out, or about to be */
	SDR_CONN_OPEN,
	SDR_CONN_CLOSING, /* our BYE is out */
	SDR_CONN_DEAD,	  /* failed: ends, with all that is its, at the end of the round */
};

struct sdr_conn {
	struct sdr_hnode hnode; /* by cid */
	struct sdr_hnode pnode; /* by the peer's cid and address, while hs.peer_known */
	struct sdr_list link;	/* rel->conn_list, then rel->dead */
	struct sdr_list ready;	/* rel->ready */
	struct sdr_list turn;	/* rel->turns.wait */
	struct sdr_timer timer;
	struct sdr_rel *rel;
	struct sdr_peer *peer;
	struct sdr_uc_addr addr; /* where it is: as the handshake or a challenge has shown */
	enum sdr_conn_state state;
	int err;   /* enum sdr_rel_err: why it is DEAD */
	bool lost; /* and its peer had a bond: the caller hears of it */

	struct {
		uint64_t cid, peer_cid, peer_instance;
	} id;

	struct {
		bool passive;	 /* opened by the peer's HELLO */
		bool validated;	 /* the peer's address is validated */
		bool peer_known; /* its HELLO was accepted */
		bool answered;	 /* anything valid ever arrived */
		uint64_t cookie;
		uint64_t features; /* SDR_FEATURE_* in force: both sides know them */
		uint32_t ts;	   /* of the HELLO to be answered */
		uint32_t seen;	   /* and the bytes of its control payload */
		uint64_t came;	   /* and since when this host had it, ns; 0: that is not known */
		/* when this side followed a smaller mtu, own clock; 0: never */
		uint32_t asked_us;
		uint32_t tries;
		uint64_t next, born; /* ns */
	} hs;

	struct {	   /* two long HELLOs, ours or the peer's (sdr_hello_pair.c) */
		bool ours; /* answers count; else those that come */
		bool over;
		uint32_t longer, shorter; /* bytes of control payload */
		uint32_t ts_us;		  /* that they carry; valid from the first on */
		uint32_t n;		  /* that were answered, or came, until now, ... */
		uint64_t at[4];		  /* ... and when that was, ns */
		bool stamped;		  /* at: to a host, and not to its thread */
		uint64_t rate_Bps;	  /* over: the path passes that at most; 0: unknown */
	} pair;

	struct {			 /* sdr_alias.c */
		struct sdr_hnode node;	 /* rel->claims, while name is set */
		struct sdr_uc_addr name; /* claimed, and not decided; len 0: none */
		struct sdr_peer *by;	 /* it came as this one, an alias now; NULL: it did not */
		uint64_t until;		 /* ns, our HELLO: another claims the name; NEVER */
		bool seen_elsewhere;	 /* the peer's name is not where it was seen */
		bool translated;	 /* and so it is with us, the peer says */
	} alias;

	struct sdr_conn_shape shapes[2];
	struct sdr_conn_shape *shape; /* of what we number next: one of shapes */
	struct {		      /* the peer's numbers: from lo on they lie on now, ... */
		struct sdr_conn_shape *now, *old; /* ... below it on old; NULL: all on now */
		uint32_t lo;
		uint64_t over_ns; /* nothing is open on the one before: since then; 0: it is */
	} in;
	struct sdr_reshape *reshape; /* NULL: its shape was never to change */
	/*
	 * bytes of a control datagram: what the path carries now, and what both sides take
	 */
	uint32_t ctl_max, ctl_agreed;
	bool mtu_asked; /* this host's route */

	struct {
		uint8_t kinds;	      /* the peer decodes: bit n, kind n of parity */
		uint32_t syms, chunk; /* k + m, bytes of a chunk: the peer's bounds */
	} codes;

	struct sdr_path main, *more; /* its first path, to addr; npaths - 1 others */
	struct sdr_multipath *multi; /* NULL: main is all there will be */
	uint8_t npaths;
	uint8_t ctl;   /* index of the path that packets leave by */
	bool rtt_mute; /* the packet in hand came by another way back: no round trips are taken */
	/* packets that came by no other path, by enum sdr_uc_ecn (sdr_conn_ecn.c) */
	uint64_t marks[SDR_UC_ECNS];
	uint64_t inflight; /* bytes, on all paths */

	struct {	     /* packets out */
		uint32_t pn; /* of the next one */
		/* counts transmissions of packets and runs: their order */
		uint32_t seq;
		struct sdr_ring log; /* of sdr_pkt, by pn */
		uint32_t live;	     /* entries neither acknowledged nor lost */
		uint64_t last_ns;    /* last transmission that wants an answer */
		bool ping_due;
		/* left out: now, or the next that will be (sdr_pn_skip.h) */
		bool skipped;
		uint32_t skip;
	} tx;

	struct { /* packets in */
		struct sdr_pnset pns;
		bool ack_due, ack_now;
		uint64_t ack_round;  /* round in which ack_due was set */
		uint64_t ack_ns;     /* and when */
		uint64_t largest_ns; /* arrival of the largest packet number */
		uint64_t gap_ns;     /* the last packet whose number did not follow on it */
		uint64_t last_ns;    /* anything valid */
		uint64_t heard_ns;   /* last_ns when it got its place in rel->conn_list */
		bool held_due;	     /* the peer is to hear that there was no room */
		/* losses are to be expected: what the next acknowledgement says is said again, */
		bool ack_twice;
		uint32_t pings;	   /* each is answered with a packet of its own */
		uint64_t again_ns; /* then; NEVER */
		uint64_t told_ns;  /* the peer repeated itself, or asked again, last; 0: never */
	} rx;

	struct {		 /* the memory of paths (sdr_conn_known.c) */
		uint64_t next;	 /* ns: something is told again; NEVER: there is none */
		uint32_t mtu;	 /* bytes of an IP packet that passed before; 0: unknown */
		uint32_t opened; /* sdr_path_mem_opened(), when it was asked who begins as well */
	} known;

	struct { /* who shares the path (sdr_conn_fan.c) */
		/* win: the peer's mean of those that send to it; what the peer begins with */
		struct sdr_fan_member out, in;
		uint32_t said; /* the peer's number of those that send to it; 0: none */
		uint64_t said_ns;
		uint32_t told; /* what we begin with, as the peer has it */
	} fan;

	struct { /* has the peer moved?  sdr_conn_path.c */
		/* packets come from elsewhere, from addr at last; it has answered */
		bool doubt, proved, home_asked;
		bool asked; /* the peer doubts where we are */
		/* of the path that c->addr is the end of; and what the peer calls our latest */
		uint8_t number, asked_number;
		uint32_t tries;
		uint32_t pn;	/* acknowledged from c->addr: it is there since the doubt began */
		uint32_t asks;	/* addresses asked since asks_ns */
		uint64_t key;	/* of the challenges of this doubt */
		uint64_t until; /* ns: c->addr would have answered by then */
		uint64_t next;	/* ns: asked again */
		uint64_t again; /* ns: no doubt before */
		uint64_t asks_ns;
		uint64_t here_ns; /* at c->addr since then */
		uint64_t rx, tx;  /* wire bytes from and to addr */
		struct sdr_uc_addr addr, home;
		struct sdr_pnset home_pns; /* received when it left home */
	} path;

	struct { /* records */
		struct sdr_list rtx, unordered,
			ordered; /* lost; both waiting for their first time */
		/* of sdr_rec *, by rseq: from the oldest that is not acknowledged; NULL: it is */
		struct sdr_ring ring;
		uint32_t n;    /* records that stand alone */
		uint32_t mseq; /* of the next message */
		/* in */
		uint32_t rx_next; /* all below were processed */
		uint64_t rx_bits[SDR_REL_CTL_WINDOW / 64];
		uint32_t rx_mseq; /* next ordered record to match */
		bool held;	  /* which waits, with all behind it, for whose it is */
	} rec;

	struct {
		uint32_t msn_limit, mseq_limit;	    /* what the peer grants */
		uint32_t msn_granted, mseq_granted; /* what was granted to it */
		uint32_t nserve;		    /* READs of the peer being answered */
	} credit;

	struct { /* timeouts */
		/* last acknowledgement of anything new, or first transmission after idle */
		uint64_t progress_ns;
		uint64_t probed_ns; /* the last probe */
		uint32_t count;	    /* probes since; of them (sdr_probe.c) */
		uint32_t patient;   /*	those that have not doubled the distance */
		uint32_t shift;	    /* doublings of the distance to the next one */
		uint32_t copies;    /* that the ping which is due goes with */
		bool forgot;	    /* congestion control has begun anew */
		uint32_t rto_shift; /* sr_nack, sr_rto: doublings of the timeout */
		uint64_t last_rto;
		/* silence is counted from here while we wait for the peer; 0 not waiting */
		uint64_t wait_since;
		/* what is due of the peer has not come closer since then; 0 nothing is due */
		uint64_t due_since;
	} pto;

	struct {
		bool bye_due, bye_ack_due;
		bool wanted;   /* this side hangs up: BYE when nothing is under way */
		uint32_t byes; /* the peer's, while something of ours was unanswered */
		uint32_t tries;
		uint64_t next; /* ns */
	} close;

	struct {		 /* datagrams dropped by a receiver's host (sdr_home.c) */
		uint64_t base;	 /* by this one when the connection was opened */
		uint32_t saying; /* since then: what the peer is told, */
		uint32_t says;	 /* so often still */
		uint32_t heard;	 /* by the peer's */
	} home;

	struct sdr_conn_bulk *bulk;
	struct sdr_conn_msg *msg;

	struct sdr_rel_stats st;
	struct {
		uint64_t sent, lost; /* aged packet counts behind loss_ppm */
	} est;
};

/* Handshakes begin with the next round: the caller wakes it. */
struct sdr_conn *sdr_conn_open(struct sdr_peer *peer, bool passive, uint32_t mtu);
struct sdr_conn *sdr_conn_by_cid(struct sdr_rel *rel, uint64_t cid);
/*
 * It is over, for err (enum sdr_rel_err).  Whatever is under way ends, and is reported, at the end
 * of the round.
 */
void sdr_conn_fail(struct sdr_conn *c, int err);
/* After all rooms have let go of it. */
void sdr_conn_free(struct sdr_conn *c);
void sdr_conn_kick(struct sdr_conn *c); /* has something to send */
void sdr_conn_wake(struct sdr_conn *c); /* its timers are looked at in this round */
/* ns, doubled shift times, capped */
uint64_t sdr_conn_rto(const struct sdr_conn *c, uint32_t shift);
/* ns from an answer to its repetition, and between two reports while packets trickle */
uint64_t sdr_conn_report_delay(const struct sdr_conn *c);
/* something that wants an answer was sent */
void sdr_conn_sent(struct sdr_conn *c);
/* what is due of the peer has come closer: the give-up clock starts anew */
static inline void sdr_conn_came_closer(struct sdr_conn *c)
{
	c->pto.due_since = c->rel->now;
}

static inline bool sdr_conn_live(const struct sdr_conn *c)
{
	return c->state != SDR_CONN_DEAD;
}

static inline struct sdr_path *sdr_conn_path(struct sdr_conn *c, uint32_t index)
{
	SDR_ASSERT(index < c->npaths);
	return index ? &c->more[index - 1] : &c->main;
}

/* The same, to be read. */
static inline const struct sdr_path *sdr_conn_path_of(const struct sdr_conn *c, uint32_t index)
{
	return sdr_conn_path((struct sdr_conn *)(uintptr_t)c, index);
}

/* Bytes a second that leave by all paths that are alive. */
static inline double sdr_conn_rate(const struct sdr_conn *c)
{
	double rate = (double)c->main.cc.pacing_Bps;

	if (c->main.state != SDR_PATH_ALIVE)
		rate = 0;
	for (uint32_t i = 1; i < c->npaths; i++)
		if (c->more[i - 1].state == SDR_PATH_ALIVE)
			rate += (double)c->more[i - 1].cc.pacing_Bps;
	return rate;
}

/* Bytes are under way on p from now on. */
static inline void sdr_conn_fly(struct sdr_conn *c, struct sdr_path *p, uint64_t bytes)
{
	if (p->answered || !p->inflight)
		p->busy_ns = c->rel->now;
	p->answered = false;
	p->last_ns = c->rel->now;
	p->inflight += bytes;
	c->inflight += bytes;
}

/* And are no more. */
static inline void sdr_conn_land(struct sdr_conn *c, struct sdr_path *p, uint64_t bytes)
{
	SDR_ASSERT(p->inflight >= bytes && c->inflight >= bytes);
	p->inflight -= bytes;
	c->inflight -= bytes;
}

/* Something that went there has arrived. */
static inline void sdr_conn_answered(const struct sdr_conn *c, struct sdr_path *p)
{
	p->answered = true;
	p->heard_ns = c->rel->now;
}

static inline void sdr_acks_init(const struct sdr_conn *c, struct sdr_acks *as)
{
	for (uint32_t i = 0; i < c->npaths; i++)
		as->v[i] = (struct sdr_cc_ack){ .now = c->rel->now };
}

/*
 * What says that it waited so long at the peer, ns, may be the repetition of an answer that was
 * lost: a packet was missed since.
 */
static inline bool sdr_conn_repeats(const struct sdr_conn *c, uint64_t delay)
{
	return c->rel->now - c->rx.gap_ns <= delay + sdr_rel_late(c->rel);
}

/* Losses are to be expected: they were seen here, or the peer's conduct says so. */
static inline bool sdr_conn_lossy(const struct sdr_conn *c)
{
	bool lossy = c->main.rack.lossy;

	for (uint32_t i = 1; i < c->npaths; i++)
		lossy |= c->more[i - 1].rack.lossy;
	return lossy || (c->rx.told_ns && c->rel->now - c->rx.told_ns < SDR_TOLD_LOSSY_NS);
}

#endif /* SDR_CONN_H */
