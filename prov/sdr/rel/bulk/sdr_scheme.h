/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a scheme is: how the bytes of a transfer are laid out, how their losses are judged, and what
 * repairs them.  For those who write one and those who choose one.
 *
 * A scheme is a struct sdr_scheme_ops in a file of its own and a row of sdr_scheme_table.  What is
 * alike in all of them is attributes; what differs in kind is a callback.  None is called per
 * packet: plan once per transfer, rto once per round of loss detection, repeats once per packet
 * that would be alone on its way.
 *
 * Each side of a connection has the scheme of its own settings, or its own for this peer.  The
 * sender's decides the layout, which travels in the record, and judges losses; the receiver's
 * decides only when it reports.
 *
 * No clock, no timers, no allocation, no state; called by the thread that owns the connection.
 */
#ifndef SDR_SCHEME_H
#define SDR_SCHEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdr_code;
struct sdr_conn;
struct sdr_plan;

struct sdr_scheme_ops {
	const char *name; /* as FI_SDR_RELIABILITY, sdr_sim and sdr_ct_sim have it */

	/* ---- layout ---- */
	/*
	 * Segments and parity of a transfer of len bytes; enum sdr_rel_err.  NULL: no parity.  Not
	 * asked where the peer takes no parity at all: its transfers go without.
	 */
	int (*plan)(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan);
	/*
	 * Parity rows of a coded segment that are still worth sending when its data have left, of
	 * g->plan at most; the transfer has len bytes.  NULL: all.
	 */
	uint32_t (*rows)(struct sdr_conn *c, uint64_t len, const struct sdr_code *g);
	bool fixed_code; /* the plan is made of cfg.ec_code, ec_k and ec_m */
	bool far_only;	 /* parity and copies only where the round trip is a long one */

	/* ---- losses ---- */
	/*
	 * ns after which a transmission that was not acknowledged is lost.  NULL: RACK, a tail-loss
	 * probe, and the retransmission timeout of the connection behind them.
	 */
	uint64_t (*rto)(const struct sdr_conn *c);
	bool rto_rtts; /* rto is made of cfg.rto_rtts */
	/*
	 * A gap is no news: the receiver does not hurry to report one, and the sender that is told
	 * of one waits for rto.
	 */
	bool ignores_gaps;

	/* ---- repairs ---- */
	/* What parity did not suffice for is repaired by more of it, where the code has more. */
	bool parity_on_demand;
	bool (*repeats)(const struct sdr_conn *c); /* a lone packet is worth a copy; NULL: never */
};

/* Every scheme that can be chosen by name; the first is the default.  Ends with NULL. */
extern const struct sdr_scheme_ops *const sdr_scheme_table[];

extern const struct sdr_scheme_ops sdr_scheme_sr;
extern const struct sdr_scheme_ops sdr_scheme_sr_nack, sdr_scheme_sr_rto;
extern const struct sdr_scheme_ops sdr_scheme_ec, sdr_scheme_ec_sr;
extern const struct sdr_scheme_ops sdr_scheme_hybrid, sdr_scheme_auto;

/* The scheme of that name; NULL: there is none. */
const struct sdr_scheme_ops *sdr_scheme_find(const char *name);
/* All names, separated by ", ", as far as they fit. */
void sdr_scheme_names(char *buf, size_t len);

#endif /* SDR_SCHEME_H */
