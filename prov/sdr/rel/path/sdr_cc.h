/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Congestion control: how many bytes may be unacknowledged and how fast they leave.
 *
 * `fixed`: the configured rate, window = as much as the rate needs (no guess of ours slows a
 * provisioned link).  `bbr`: models the path by its largest recent delivery rate and its smallest
 * recent RTT: startup (gain 2.77 until the rate stops growing by 25 % over three rounds), drain,
 * then cycling gains; never reacts to single losses, so random loss costs nothing; a guard cuts
 * rate and window when loss stays above 20 % over rounds in which the rate did not grow (that is
 * congestion, or a receiver that cannot keep up), and takes the cut back when it did not help (then
 * the loss is the link's). Both: window <= pacing rate * (RTT + acknowledgement delay) + the
 * receiver's buffer (fixed: twice the first term), so that a receiver that does not read for a
 * moment loses little.  The first window is min(receiver's buffer, 256 KiB).
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
#include "rel/sdr_rel_cfg.h"

/* Stored with each transmission (by the caller). */
struct sdr_cc_snap {
	uint64_t delivered;    /* bytes delivered when it was sent */
	uint64_t delivered_ns; /* when that was last updated */
	uint64_t first_tx_ns;  /* send time of the transmission acknowledged last */
	bool app_limited;
};

struct sdr_cc_ack { /* one acknowledgement event (all its news together) */
	uint64_t now;
	uint64_t bytes;			/* newly delivered */
	uint64_t lost;			/* newly declared lost */
	uint64_t inflight;		/* after this event */
	uint64_t rtt;			/* latest sample, ns; 0 none */
	uint64_t min_rtt;		/* ns */
	const struct sdr_cc_snap *snap; /* of the newest transmission acknowledged; NULL none */
	uint64_t snap_tx_ns;		/* its send time */
};

#define SDR_CC_BW_WINDOW 10 /* rounds over which the largest delivery rate is kept */
/* bytes: a receiver that did not say; cap of the first window */
#define SDR_CC_RX_WINDOW (256u * 1024)

struct sdr_cc {
	enum sdr_cc_kind kind;
	uint64_t fixed_Bps;
	uint64_t rx_window; /* bytes the peer's buffer takes; 0 unknown (then 256 KiB) */
	uint32_t mtu;
	/* outputs */
	uint64_t cwnd;	     /* bytes */
	uint64_t pacing_Bps; /* 0: unlimited */
	/* delivery accounting */
	uint64_t delivered, delivered_ns, first_tx_ns;
	/* delivered count up to which samples are application limited; 0 none */
	uint64_t app_limited_until;
	/* model and state: implementation's own */
	uint64_t first_win;	       /* bytes */
	uint64_t rtt_guess;	       /* ns, until min_rtt is known */
	uint64_t min_rtt;	       /* ns; 0 unknown */
	uint64_t srtt, srtt_max;       /* ns; 0 unknown */
	uint64_t bw[SDR_CC_BW_WINDOW]; /* bytes a second: the largest of each round */
	uint32_t bw_round;	       /* rounds that the filter counted */
	uint64_t bw_stamp;	       /* when the last of them began, ns */
	uint64_t max_bw;	       /* largest of bw[], bytes a second; 0 unknown */
	uint64_t round_end;	       /* delivered count that ends the round trip */
	uint64_t round_lost, round_delivered, round_bw, last_round_bw;
	uint64_t full_bw; /* startup: largest rate that was a growth */
	/* delivered count up to which samples are of the first window only */
	uint64_t startup_until;
	uint64_t min_rtt_stamp, phase_stamp, probe_rtt_done, probe_rtt_min; /* ns */
	/* ns; guard_bw bytes a second */
	uint64_t guard_bw, guard_stamp, guard_off_until, cut_until;
	/* bytes, until cut_until */
	uint64_t cut_win;
	uint64_t cut_hold; /* ns */
	uint32_t full_count, cycle, hot_rounds, cold_rounds;
	int state;
	double pacing_gain, loss, guard_loss; /* loss: share of bytes, smoothed over rounds */
};

void sdr_cc_init(struct sdr_cc *cc, const struct sdr_rel_cfg *cfg, uint32_t mtu, uint64_t rx_window,
		 uint64_t rtt_guess_ns, uint64_t now);
/* inflight: before this transmission. */
void sdr_cc_sent(struct sdr_cc *cc, uint64_t now, uint64_t bytes, uint64_t inflight,
		 struct sdr_cc_snap *snap);
/* There was nothing to send although window and pacing allowed it. */
void sdr_cc_app_limited(struct sdr_cc *cc, uint64_t inflight);
void sdr_cc_acked(struct sdr_cc *cc, const struct sdr_cc_ack *ack);
/*
 * A retransmission timeout without any news for a while: start again from the first window, keep
 * the model's RTT.
 */
void sdr_cc_timeout(struct sdr_cc *cc, uint64_t now);

#endif
