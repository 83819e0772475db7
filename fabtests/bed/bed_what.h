/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a packet of the simulated network carries, as bits: a test names the packets it means by
 * what is in them, and not by their number or size.
 */
#ifndef BED_WHAT_H
#define BED_WHAT_H

#include "uc/sim/sdr_sim.h"

/* What a packet carries: a bit each. */
enum bed_what {
	BED_HELLO = 1 << 0,
	BED_HELLO_ACK = 1 << 1,
	BED_RETRY = 1 << 2,
	BED_RESET = 1 << 3,
	BED_PACKET = 1 << 4, /* any PACKET */
	BED_ACK = 1 << 5,
	BED_DACK = 1 << 6,
	BED_CREDIT = 1 << 7,
	BED_PING = 1 << 8,
	BED_END = 1 << 9,
	BED_CLOSE = 1 << 10,
	BED_COMPLETE = 1 << 11, /* DACK that says so */
	BED_DATA = 1 << 12,
	BED_REC = 1 << 13, /* any record; and by operation: */
	BED_SEND = 1 << 14,
	BED_WRITE = 1 << 15,
	BED_READ = 1 << 16,
	BED_READ_RSP = 1 << 17,
	BED_BIND = 1 << 18,
	BED_CTS = 1 << 19,
	BED_PARK = 1 << 20,
	BED_DONE = 1 << 21,
	BED_BYE = 1 << 22,
	BED_BYE_ACK = 1 << 23,
	BED_ALL = 1 << 24,
	BED_VERSION = 1 << 25,
	BED_HELD = 1 << 26,
	BED_SHAPE = 1 << 27,
	BED_PATH_CHALLENGE = 1 << 28,
	BED_PATH_RESPONSE = 1 << 29,
	BED_DROPS = 1 << 30,
};
#define BED_KINDS 31

/* enum bed_what bits of everything in it, BED_ALL always. */
uint32_t bed_what_of(const struct sdr_sim_packet *p);

#endif /* BED_WHAT_H */
