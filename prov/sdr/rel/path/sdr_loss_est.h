/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a path loses: loss rate with confidence, and the length of bursts.
 *
 * Fed with the fate of data packets in the order of sending.  Losses in a row are one event, a
 * burst.  The memory is as long as the path is steady: it fades with time (half-life
 * SDR_LOSS_SLOW_NS, not below SDR_LOSS_SLOW_PKTS packets) and with volume (the last SDR_LOSS_EVENTS
 * bursts or so, at least SDR_LOSS_KEEP_PKTS packets), and it is cut where the last bursts came
 * significantly closer together than those before, or a run without loss is significantly too long.
 * Knowing nothing is not "no loss": the rate of bursts has a Gamma posterior (with the prior of
 * half a burst in SDR_LOSS_PRIOR_PKTS packets), whose mean and upper bound shrink with evidence
 * only.  Losses that are known to have happened at home are forgiven.  Copied from connection to
 * connection of a peer.  No clock; ns are the caller's.
 */
#ifndef SDR_LOSS_EST_H
#define SDR_LOSS_EST_H

#include <stdbool.h>
#include <stdint.h>
#include "model/sdr_choice.h"

#define SDR_LOSS_SLOW_NS   (30 * 1000000000ull)
#define SDR_LOSS_SLOW_PKTS 65536u
#define SDR_LOSS_FAST_PKTS 2048u /* the shortest stretch that is compared with what came before */
#define SDR_LOSS_EVENTS	   512u	 /* bursts remembered: the rate is then known to 4 % (1 / sqrt) */
/* but no fewer packets than that: the prior must not weigh against much loss */
#define SDR_LOSS_KEEP_PKTS 16384u
/* packets of a burst that count: more is an outage, against which no parity helps */
#define SDR_LOSS_BURST_MAX 256u
/*
 * A mean of 5e-4 and an upper bound of 1.9e-3 before the first packet: the first large transfer
 * over a WAN survives the usual 1e-3 without a further round trip, and ten thousand clean packets
 * make the prior irrelevant.
 */
#define SDR_LOSS_PRIOR_PKTS 1000u
/*
 * a loss is declared in the round in which it is known to be one of ours, or a few round trips
 * later
 */
#define SDR_LOSS_FORGIVE_NS  (500 * 1000000ull)
#define SDR_LOSS_FORGIVE_MAX 4096u
#define SDR_LOSS_MARKS	     32u /* bursts of which the place is remembered; power of two */

struct sdr_loss_debt {
	uint64_t n, ns; /* losses to come that say nothing of the path, as of then */
};

struct sdr_loss_est {
	double sent, lost, bursts;	  /* remembered (faded counts) */
	double run;			  /* of sent: since the last loss */
	uint64_t faded_ns;		  /* when the counts faded last */
	uint64_t reported, reported_lost; /* packets ever reported, and the lost ones that count */
	struct {
		uint64_t reported, lost; /* both counters behind the burst */
	} mark[SDR_LOSS_MARKS];		 /* ring: burst i in i % SDR_LOSS_MARKS */
	uint64_t marks;			 /* bursts marked since the memory was cut last */
	struct sdr_loss_debt home, ours; /* that happened at an end; that we made */
	uint32_t burst;			 /* packets of the burst reported last */
	bool in_burst;			 /* the packet reported last was lost */
	bool doubted;			 /* it is not judged whose the losses since then were: */
	struct {
		double sent, lost, bursts, run;
		uint64_t reported, reported_lost;
	} before; /* what was known before them, and is believed until then */
};

void sdr_loss_est_init(struct sdr_loss_est *l, uint64_t now);
/* What others have seen on this path, when nothing was seen yet: lost of pkts, in bursts. */
void sdr_loss_est_begin(struct sdr_loss_est *l, uint64_t now, double pkts, double lost,
			double bursts);
/*
 * Next in the order of sending: n packets that arrived; n that were lost.  Returns those that are
 * forgiven: they count as if they had never been sent.
 */
void sdr_loss_est_arrived(struct sdr_loss_est *l, uint64_t now, uint64_t n);
uint64_t sdr_loss_est_lost(struct sdr_loss_est *l, uint64_t now, uint64_t n);
/*
 * Losses of which only the number is known (decoded before they were reported): counted as arrived
 * before.  Returns those that are forgiven: they stay counted as that.
 */
uint64_t sdr_loss_est_recount(struct sdr_loss_est *l, uint64_t now, uint64_t n);
/*
 * So many of the losses that are reported next happened at one of the ends and not on the path.
 * What is not used soon is forgotten (half-life SDR_LOSS_FORGIVE_NS), and it is never more than
 * SDR_LOSS_FORGIVE_MAX, wherever the number comes from.
 */
void sdr_loss_est_forgive(struct sdr_loss_est *l, uint64_t now, uint64_t n);

/*
 * The losses that are reported from now on may be ours, and not the path's: what is known is what
 * was known before them, until they are judged, or excused.  Again before that: nothing.
 */
void sdr_loss_est_doubt(struct sdr_loss_est *l);
void sdr_loss_est_judged(struct sdr_loss_est *l); /* what was not excused is the path's */
/*
 * n of the losses reported so far turned out to be ours: they count as packets that arrived, and
 * where losses lay is forgotten.  Those in doubt go first, and what they made of the memory with
 * them; what is left of these is the path's.  Those that were not reported yet (a decoder repaired
 * them) will be excused when they are, as others are forgiven.
 */
void sdr_loss_est_excuse(struct sdr_loss_est *l, uint64_t now, uint64_t n);

/* posterior mean of the packets' loss rate, > 0, <= 1 */
double sdr_loss_est_mean(const struct sdr_loss_est *l);
/* 95 % of the posterior lie below, >= mean, <= 1 */
double sdr_loss_est_upper(const struct sdr_loss_est *l);
/* mean packets lost in a row, >= 1; 1 before the fourth burst */
double sdr_loss_est_burst(const struct sdr_loss_est *l);
/* a loss is remembered: the rate is more than a prior */
bool sdr_loss_est_seen(const struct sdr_loss_est *l);
/* All that the choice of parity needs, at once. */
void sdr_loss_est_known(const struct sdr_loss_est *l, struct sdr_choice_loss *out);
/* Probability that the next n packets lose at least one, given what is known. */
double sdr_loss_est_any(const struct sdr_loss_est *l, double n);

#endif /* SDR_LOSS_EST_H */
