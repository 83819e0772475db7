/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* How long a queue a flow under `auto` keeps: see sdr_auto_target.c. */
#ifndef SDR_AUTO_TARGET_H
#define SDR_AUTO_TARGET_H

#include "rel/path/sdr_cc.h"

/* packets that may be in flight: with fewer in the window, the pacer alone says how fast */
#define SDR_AUTO_LEAST_PKTS 4.0
#define SDR_AUTO_LAN_NS	    180000.0 /* from here on nothing is that of a rack */

/* What threads and processors at both ends make of a round trip of that length, ns. */
double sdr_auto_host(uint64_t base);
/* The queue that a flow with this window (bytes) keeps at a path of that round trip: ns. */
uint64_t sdr_auto_target(uint64_t base, uint32_t mtu, double win);
/* The window by which it goes: of all paths of a connection, mostly. */
double sdr_auto_counts(const struct sdr_cc *cc, double win);
/* The queue that this flow keeps with that window, noise and the time of a packet included: ns. */
uint64_t sdr_auto_keeps(const struct sdr_cc *cc, double win);
/* Of the queue that it would keep with its window: the share that losses leave at least. */
double sdr_auto_shallow(const struct sdr_cc *cc);
/* What an acknowledgement tells to be lost, bytes, in packets that a buffer may have dropped. */
double sdr_auto_overran(const struct sdr_cc *cc, double lost);
/* 1: its window is so few packets of a near path that they count one by one; 0: one as others. */
double sdr_auto_few(const struct sdr_cc *cc);
/* How far the mean of a round counts, and not its smallest sample: see sdr_qdelay_round(). */
double sdr_auto_even(const struct sdr_cc *cc);
double sdr_auto_floor(const struct sdr_cc *cc);	 /* the smallest window, bytes */
double sdr_auto_damp(const struct sdr_cc *cc);	 /* of a step, that the window takes */
double sdr_auto_lasted(const struct sdr_cc *cc); /* round trips that the last round counts for */

#endif /* SDR_AUTO_TARGET_H */
