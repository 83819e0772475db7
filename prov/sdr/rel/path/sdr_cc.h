/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Congestion control: how many bytes may be unacknowledged and how fast they leave.
 *
 * One struct for all controllers: what they share, the two outputs, and room for the state of the
 * one that was chosen (sdr_cc_ops.h).  The pacer is part of it: every event that may change the
 * rate also sets the pacer, so that no caller can forget to.  The first window is min(receiver's
 * buffer, 256 KiB).
 *
 * Delivery rate samples follow draft-cheng-iccrg-delivery-rate-estimation: every transmission
 * records (delivered, delivered_time) and its acknowledgement gives the sample; application-limited
 * samples only raise the estimate.
 *
 * Bytes are what the caller counts, the same in every call; what rate_bps promises are wire bytes.
 */
#ifndef SDR_CC_H
#define SDR_CC_H

#include <stdbool.h>
#include <stdint.h>
#include "rel/path/sdr_pacer.h"
#include "rel/path/sdr_passed.h"
#include "rel/path/sdr_train.h"
#include "rel/sdr_rel_cfg.h"

/* Stored with each transmission (by the caller). */
struct sdr_cc_snap {
	uint64_t delivered;    /* bytes delivered when it was sent */
	uint64_t delivered_ns; /* when that was last updated */
	uint64_t first_tx_ns;  /* send time of the transmission acknowledged last */
	bool app_limited;
};

/* What is known of a path before anything was sent on it, or learnt by what was. */
struct sdr_cc_known {
	uint64_t rate_Bps; /* of its bottleneck; 0: nothing is known */
	uint64_t rtt_ns;   /* smallest */
	uint64_t age_ns;   /* of that knowledge */
	/* so many begin together, this one included: what they find out, they share; 0: as 1 */
	uint32_t together;
};

struct sdr_cc_ack { /* one acknowledgement event (all that it reports together) */
	uint64_t now;
	uint64_t bytes;			/* newly delivered */
	uint64_t ce;			/* bytes of those that carried a congestion mark */
	uint64_t lost;			/* newly declared lost */
	uint64_t repaired;		/* of those: some time ago, a decoder had no need of them */
	uint64_t late;			/* declared lost before, and not lost after all */
	uint64_t inflight;		/* after this event */
	uint64_t rtt;			/* latest sample, ns; 0 none */
	uint64_t rtt_full;		/* the same, of packets of cc->mtu bytes alone */
	uint64_t delay;			/* that the newest waited at the receiver, ns */
	uint64_t min_rtt;		/* ns */
	const struct sdr_cc_snap *snap; /* of the newest transmission acknowledged; NULL none */
	uint64_t snap_tx_ns;		/* its send time */
	bool overtakes;			/* packets were seen to overtake each other of late */
	uint64_t noise;			/* ns: by how much, as a mean of all */
	/*
	 * While cc->begins: flows that both ends see on the path, this one included, 0: unknown;
	 * and bytes with which they begin, as a mean, 0: unknown
	 */
	uint32_t sharers;
	uint32_t sharers_win;
};

/*
 * What the paths of one connection know of each other, so that together they want of a bottleneck
 * what one flow wants (the aim of RFC 6356).  Controllers that do not look at it are as many flows.
 */
struct sdr_cc_bond {
	uint32_t n;		   /* paths that count */
	uint32_t rivals;	   /* of them, those beside flows that do not yield */
	double win;		   /* bytes that they want in flight, together */
	uint64_t drain_ns;	   /* one of them began to empty its queue; 0: none did yet */
	const struct sdr_cc *asks; /* the one that looks for such flows; NULL: none yet */
};

/* bytes: a receiver that did not say; cap of the first window */
#define SDR_CC_RX_WINDOW (256u * 1024)
#define SDR_CC_STATE_MAX 1696u /* bytes of a controller's own state */

struct sdr_cc {
	const struct sdr_cc_ops *ops;
	/* outputs: the controller's */
	uint64_t cwnd;		/* bytes */
	uint64_t pacing_Bps;	/* 0: unlimited */
	bool spaced;		/* two packets together are too many (sdr_pacer.c) */
	struct sdr_pacer pacer; /* spreads what is sent at pacing_Bps */
	/* the path */
	uint64_t rx_window;	 /* bytes the peer's buffer takes */
	uint64_t first_win;	 /* bytes */
	uint64_t rtt_guess;	 /* ns, until min_rtt is known */
	uint64_t clock_ahead_ns; /* see struct sdr_rel_cfg */
	uint64_t srtt;		 /* ns; 0 unknown */
	/* what was known when it began, and what the controller knows now: by a model, else 0 */
	struct sdr_cc_known known, learnt;
	/*
	 * Kept by a controller that models the path; 0 unknown.  A rate sample that took less is
	 * none.  ns
	 */
	uint64_t min_rtt;
	uint32_t mtu;
	struct {		   /* what the handshake tells of an unknown path */
		bool waits;	   /* it will in a moment: few packets leave before */
		uint64_t most_Bps; /* more does not pass; 0: that is not known */
	} pair;
	/* delivery accounting */
	uint64_t delivered, delivered_ns, first_tx_ns;
	uint64_t round_end; /* delivered count that ends the round trip */
	struct sdr_passed passed;
	uint64_t busy_ns; /* of the last transmission or acknowledgement; 0: none was sent yet */
	/* delivered count up to which samples are application limited; 0 none */
	uint64_t app_limited_until;
	/* what the bottleneck passes; without it, at least that (fades), bytes per second */
	struct sdr_train train;
	uint64_t capacity_least;
	uint64_t train_left;  /* bytes that leave at once, to find that out */
	uint64_t train_first; /* and were to, when that flight began */
	uint32_t trains;      /* flights that began so */
	/*
	 * the controller wants one in the middle of a flight, of half the window, and at least of
	 * so many bytes; 0: none
	 */
	uint64_t train_asked;
	bool train_own;	       /* that is the one of which train_left is left; */
	uint64_t train_beyond; /* bytes of it that may go beyond the window */
	/*
	 * of what was lost: bytes that the controller puts on the own rate, not on the path; the
	 * caller takes them away
	 */
	uint64_t own_lost;
	/* with other paths of the connection; NULL: alone.  What of win and rivals is ours */
	struct sdr_cc_bond *bond;
	double bond_win;
	bool bond_rival;
	uint32_t begin_win; /* bytes with which the last flight began, as one of many; 0: as any */
	bool begins;	    /* what a flight begins with is under way: acks are to say who shares */
	bool starting;	    /* what the path carries is not known yet: the controller's */
	bool calm;	    /* for long nobody was met, and nothing lost: the controller's */
	bool rerouted;	    /* round trips are other ones from the next sample on */
	/* some of what was lost may yet be put on it: the controller has to see first */
	bool doubts;
	/* the controller's own */
	_Alignas(8) unsigned char state[SDR_CC_STATE_MAX];
};

/*
 * The controller is cfg->cc.  rx_window and rtt_guess_ns: 0 unknown (then 256 KiB and
 * SDR_RTT_INIT_NS).  known: copied; NULL: nothing.
 */
void sdr_cc_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint32_t mtu, uint64_t rx_window,
		 uint64_t rtt_guess_ns, const struct sdr_cc_known *known, uint64_t now);
/*
 * Takes a transmission from the pacer and notes in snap what its acknowledgement will be compared
 * with.  overhead: what its packets have on the wire besides bytes; a provisioned rate pays for it,
 * a measured one counts what it measured.  inflight: before this transmission.
 */
void sdr_cc_sent(struct sdr_cc *cc, uint64_t now, uint64_t bytes, uint64_t overhead,
		 uint64_t inflight, struct sdr_cc_snap *snap);
/* The chosen controller wants to know from the handshake whether a path is slow. */
bool sdr_cc_pair_asks(const struct sdr_rel_cfg *cfg);
/* Before the first transmission: the handshake will tell in a moment how slow the path is, ... */
void sdr_cc_pair_waits(struct sdr_cc *cc, uint64_t now);
/* ... and does: so many bytes a second at most; 0: it is not slow, or that is not known. */
void sdr_cc_pair_told(struct sdr_cc *cc, uint64_t most_Bps, uint64_t now);
/* While it starts: so many begin together, this one included, as far as is known by now. */
void sdr_cc_joined(struct sdr_cc *cc, uint32_t together, uint64_t now);
/* Packets are of this size from now on: the least window holds some of them. */
void sdr_cc_mtu_set(struct sdr_cc *cc, uint32_t mtu);
/* There was nothing to send although window and pacing allowed it. */
void sdr_cc_app_limited(struct sdr_cc *cc, uint64_t inflight);
/* Bytes that may be in flight: what is to leave at once goes beyond the window. */
static inline uint64_t sdr_cc_window(const struct sdr_cc *cc)
{
	return cc->cwnd + cc->train_beyond;
}
/* An acknowledgement, or losses found without one: window, rate and pacer follow. */
void sdr_cc_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack);
/* From now on it is one of those paths, or alone again (NULL). */
void sdr_cc_bond(struct sdr_cc *cc, struct sdr_cc_bond *bond);
/*
 * Round trips are measured by another way back from now on: what the smallest was says nothing of
 * them.
 */
void sdr_cc_rerouted(struct sdr_cc *cc);
/*
 * A retransmission timeout without any progress for a while: start again from the first window,
 * keep the model's RTT.
 */
void sdr_cc_timeout(struct sdr_cc *cc, uint64_t now);

#endif
