/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Traffic of the self-test, and what its receiver saw: wan_self.c, wan_self_load.c. */
#ifndef SDR_TOOLS_WAN_SELF_H
#define SDR_TOOLS_WAN_SELF_H

#include "wan.h"

struct self_load {
	uint32_t packets, bytes; /* datagrams and their payload; TCP: writes */
	uint32_t batch; /* datagrams a call (UDP_SEGMENT where there are several); 0: TCP */
	double per_s;	/* datagrams a second */
	uint8_t ecn;
};

/* What the receiver saw, in memory that all share. */
struct self_seen {
	uint64_t packets, bytes, wrong, marked;
	uint64_t full;			/* came, and the socket had no room: this machine is slow */
	uint64_t reordered;		/* came before one that had been sent earlier */
	uint64_t gaps, gap_packets;	/* runs of numbers that never came, and how many */
	uint64_t first_ns, last_ns;	/* arrivals */
	struct wan_hist way;		/* from the send to the arrival */
	volatile int ready, done, gone; /* the receiver is, the sender is, the receiver is */
	char why[WAN_WHY];		/* what failed, if something did */
};

/* Processes in the hosts; -1: errno.  The sender ends after the receiver. */
pid_t wan_self_receive(const struct self_load *load, int ns, struct self_seen *seen);
pid_t wan_self_send(const struct self_load *load, int ns, struct self_seen *seen);

#endif /* SDR_TOOLS_WAN_SELF_H */
