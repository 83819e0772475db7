/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The cases in which flows share a network, and what must hold in each.
 *
 * Names are those of scripts/compare-share.sh, which runs the same over sdr_wan.  What is not said:
 * 25 ms, 1 Gbit/s, MTU 9000, a queue of 1 BDP, ten seconds, messages of 8 MiB.  A queue's delay is
 * what a ping has above the idle round trip.
 */
#include "share_bars.h"

#define MOST(m, b)                   \
	{                            \
		BAR_##m, BAR_MOST, b \
	}
#define LEAST(m, b)                   \
	{                             \
		BAR_##m, BAR_LEAST, b \
	}
#define SMALL .size = MIB, .window = 64 /* messages, where few of the others would come */
#define NOISY .queue_bytes = 10 * MIB, .seconds = 5, SMALL
#define LAN   .rate_bps = 1e9, .rtt_s = 0.2e-3, .incast = true, SMALL
#define LAN_MUST                                                     \
	{                                                            \
		MOST(DROP, 0.02), LEAST(JAIN, 0.9), LEAST(UTIL, 0.9) \
	}
#define SLOW .flows = 1, .probes = true, .seconds = 5, SMALL
#define ALONE_MUST                \
	{                         \
		LEAST(UTIL, 0.95) \
	}
#define WARM_MUST                                 \
	{                                         \
		MOST(MEAN, 1.04), MOST(P99, 1.10) \
	}
#define SAY(m)                      \
	{                           \
		BAR_##m, BAR_SAY, 0 \
	}
#define KERNEL(a, b, bdp)                                             \
	.rival = &rival_##a, .other = &rival_##b, .queue_bdp = (bdp), \
	.must = { SAY(FIRST), SAY(DROP), SAY(UTIL), SAY(DELAY50), SAY(DELAY95) }
#define CROWD_MUST(drop, jain, delay)                                     \
	{                                                                 \
		MOST(DROP, drop), LEAST(JAIN, jain), MOST(DELAY95, delay) \
	}
#define KIB (1ull << 10)
#define MIB (1ull << 20)

/* clang-format off */
const struct bar_case bar_cases[] = {
	{ "fair-2-0.1", .flows = 2, .queue_bdp = 0.1, .quick = true,
	  .must = { MOST(DROP, 0.02), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(PARITY, 0.001) } },
	{ "fair-2-0.5", .flows = 2, .queue_bdp = 0.5,
	  .must = { MOST(DROP, 0.01), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(PARITY, 0.001) } },
	{ "fair-2-1", .flows = 2, .queue_bdp = 1, .quick = true,
	  .must = { MOST(DROP, 0.005), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(DELAY95, 6e-3),
		    MOST(PARITY, 0.001) } },
	{ "fair-2-4", .flows = 2, .queue_bdp = 4,
	  .must = { MOST(DROP, 0.001), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(DELAY95, 6e-3),
		    MOST(PARITY, 0.001) } },
	{ "fair-4-0.1", .flows = 4, .queue_bdp = 0.1, .quick = true,
	  .must = { MOST(DROP, 0.02), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(PARITY, 0.001) } },
	{ "fair-4-0.5", .flows = 4, .queue_bdp = 0.5,
	  .must = { MOST(DROP, 0.01), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(PARITY, 0.001) } },
	{ "fair-4-1", .flows = 4, .queue_bdp = 1,
	  .must = { MOST(DROP, 0.005), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(DELAY95, 6e-3),
		    MOST(PARITY, 0.001) } },
	{ "fair-4-4", .flows = 4, .queue_bdp = 4,
	  .must = { MOST(DROP, 0.001), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(DELAY95, 6e-3),
		    MOST(PARITY, 0.001) } },
	/* a buffer that is less than any of them would keep */
	{ "metro-2-0.1", .flows = 2, .rtt_s = 4e-3, .queue_bdp = 0.1,
	  .must = { MOST(DROP, 0.01), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(PARITY, 0.01) } },
	{ "metro-4-0.1", .flows = 4, .rtt_s = 4e-3, .queue_bdp = 0.1, .quick = true,
	  .must = { MOST(DROP, 0.02), LEAST(JAIN, 0.9), LEAST(UTIL, 0.93), MOST(PARITY, 0.01) } },
	{ "metro-8-0.1", .flows = 8, .rtt_s = 8e-3, .queue_bdp = 0.1,
	  .must = { MOST(DROP, 0.03), LEAST(JAIN, 0.9), LEAST(UTIL, 0.93), MOST(PARITY, 0.02) } },
	/* three packets: who has more sees a shorter one */
	{ "metro-8-2ms", .flows = 8, .rtt_s = 2e-3, .queue_bdp = 0.1,
	  .must = { MOST(DROP, 0.03), LEAST(JAIN, 0.8), LEAST(UTIL, 0.93), MOST(PARITY, 0.02) } },
	/* some lose their whole first flight, and are to get their share nevertheless */
	{ "metro-4-3ms", .flows = 4, .rtt_s = 3e-3, .queue_bdp = 0.2, .quick = true,
	  .must = { MOST(DROP, 0.02), LEAST(JAIN, 0.95), LEAST(UTIL, 0.93), MOST(PARITY, 0.01) } },
	/* alone: the mean of a round has late hosts in it */
	{ "metro-weather", .flows = 1, .rtt_s = 2e-3, .loss = 1e-2, .must = ALONE_MUST },
	{ "fair-4-0.04", .flows = 4, .queue_bdp = 0.04,
	  .must = { MOST(DROP, 0.02), LEAST(JAIN, 0.95), LEAST(UTIL, 0.9), MOST(PARITY, 0.02) } },
	/* and one of two packets, which nobody can share well */
	{ "tiny-4", .flows = 4, .rtt_s = 4e-3, .queue_bytes = 15000, .must = { MOST(DROP, 0.15) } },
	/* nobody takes the others for rivals */
	{ "crowd-8", .flows = 8, .quick = true,
	  .must = { MOST(DROP, 0.01), LEAST(JAIN, 0.95), LEAST(UTIL, 0.95), MOST(DELAY95, 12e-3) } },
	{ "crowd-8-4", .flows = 8, .queue_bdp = 4,
	  .must = { MOST(DROP, 0.005), LEAST(JAIN, 0.95), LEAST(UTIL, 0.95), MOST(DELAY95, 12e-3) } },
	{ "crowd-16", .flows = 16, .must = CROWD_MUST(0.02, 0.95, 12e-3) },
	{ "crowd-16-4", .flows = 16, .queue_bdp = 4, .quick = true,
	  .must = CROWD_MUST(0.01, 0.98, 12e-3) },
	/* whose queue does not swing */
	{ "crowd-8-6ms", .flows = 8, .rtt_s = 6e-3, .queue_bdp = 0.5, .quick = true,
	  .must = { MOST(DROP, 0.01), LEAST(JAIN, 0.98), LEAST(UTIL, 0.95), MOST(DELAY95, 2e-3) } },
	{ "crowd-16-12ms", .flows = 16, .rtt_s = 12e-3, .queue_bdp = 0.25,
	  .must = { MOST(DROP, 0.02), LEAST(JAIN, 0.9), LEAST(UTIL, 0.95) } },
	{ "crowd-16-6ms", .flows = 16, .rtt_s = 6e-3, .must = CROWD_MUST(0.025, 0.95, 12e-3) },
	{ "crowd-32-12ms", .flows = 32, .rtt_s = 12e-3, .queue_bdp = 0.5,
	  .must = CROWD_MUST(0.06, 0.85, 12e-3) },
	{ "crowd-16-30ms", .flows = 16, .queue_bdp = 4, .clocks_s = 30e-3,
	  .must = CROWD_MUST(0.01, 0.98, 12e-3) },
	/* of these some do, see rel/path/README.md */
	{ "crowd-32-4", .flows = 32, .queue_bdp = 4, .must = CROWD_MUST(0.06, 0.85, 40e-3) },
	{ "crowd-16-2s", .flows = 16, .queue_bdp = 4, .clocks_s = 2,
	  .must = { SAY(DROP), SAY(JAIN), SAY(DELAY95) } },
	{ "crowd-32-2s", .flows = 32, .queue_bdp = 4, .clocks_s = 2,
	  .must = { SAY(DROP), SAY(JAIN), SAY(DELAY95) } },
	{ "late-comer", .flows = 2, .late_s = 5, .seconds = 12, .quick = true, .must = { MOST(LATE, 3) } },
	{ "late-comer-0.1", .flows = 2, .queue_bdp = 0.1, .late_s = 5, .seconds = 12,
	  .must = { MOST(LATE, 3) } },

	{ "bbr-0.1", .flows = 1, .rival = &rival_bbr, .queue_bdp = 0.1,
	  .must = { LEAST(SHARE, 0.35), MOST(SHARE, 0.6) } },
	{ "bbr-1", .flows = 1, .rival = &rival_bbr,
	  .must = { LEAST(SHARE, 0.35), MOST(SHARE, 0.6) } },
	{ "cubic-0.1", .flows = 1, .rival = &rival_cubic, .ref = &rival_bbr, .queue_bdp = 0.1,
	  .must = { LEAST(LEAVES, 2) } },
	{ "cubic-1", .flows = 1, .rival = &rival_cubic, .quick = true,
	  .must = { LEAST(SHARE, 0.35), MOST(SHARE, 0.65) } },
	{ "cubic-4", .flows = 1, .rival = &rival_cubic, .queue_bdp = 4,
	  .must = { LEAST(SHARE, 0.35), MOST(SHARE, 0.65) } },
	/* which is filling the queue when we come, as over real kernels, or has filled it before */
	{ "soon-cubic-1", .flows = 1, .rival = &rival_cubic, .late_s = 0.2,
	  .must = { LEAST(SHARE, 0.35), MOST(SHARE, 0.65) } },
	{ "soon-bbr-0.1", .flows = 1, .rival = &rival_bbr, .queue_bdp = 0.1, .late_s = 0.2,
	  .quick = true, .must = { LEAST(SHARE, 0.35), MOST(SHARE, 0.6) } },
	{ "soon-bbr-1", .flows = 1, .rival = &rival_bbr, .late_s = 0.2,
	  .must = { LEAST(SHARE, 0.35), MOST(SHARE, 0.6) } },
	{ "late-bbr-1", .flows = 1, .rival = &rival_bbr, .late_s = 3, .greets = true, .seconds = 14,
	  .quick = true, .must = { LEAST(SHARE, 0.3), MOST(SHARE, 0.6) } },
	{ "late-cubic-1", .flows = 1, .rival = &rival_cubic, .late_s = 3, .greets = true,
	  .seconds = 14, .quick = true, .must = { LEAST(SHARE, 0.35), MOST(SHARE, 0.65) } },
	{ "late-cubic-4", .flows = 1, .rival = &rival_cubic, .late_s = 3, .greets = true,
	  .seconds = 14, .queue_bdp = 4, .must = { LEAST(SHARE, 0.2), MOST(SHARE, 0.65) } },
	{ "bbr3-1", .flows = 1, .rival = &rival_bbr3, .must = { SAY(SHARE), SAY(DROP) } },

	{ "alone-0.1", .flows = 1, .queue_bdp = 0.1,
	  .must = { MOST(DROP, 0.005), LEAST(UTIL, 0.95), MOST(PARITY, 0.001) } },
	{ "alone-1", .flows = 1, .quick = true,
	  .must = { MOST(DROP, 0.0005), LEAST(UTIL, 0.95), MOST(PARITY, 0.001) } },
	{ "weather-1e-3", .flows = 1, .loss = 1e-3, .must = ALONE_MUST },
	{ "weather-1e-2", .flows = 1, .loss = 1e-2, .quick = true, .must = ALONE_MUST },
	{ "weather-3e-2", .flows = 1, .loss = 3e-2, .must = ALONE_MUST },
	{ "weather-5e-2", .flows = 1, .loss = 5e-2, .must = ALONE_MUST },
	{ "weather-burst", .flows = 1, .ge_loss = 1e-2, .ge_burst = 8, .must = ALONE_MUST },
	{ "weather-small", .flows = 1, .loss = 1e-2, SMALL, .must = { SAY(UTIL) } },
	{ "foul-0.3", .flows = 1, .loss = 0.3, SMALL, .seconds = 5, .quick = true,
	  .must = { LEAST(UTIL, 0.2) } },
	{ "jitter-lan", .flows = 1, NOISY, .rtt_s = 0.2e-3, .jitter_s = 0.3e-3, .quick = true,
	  .must = { LEAST(UTIL, 0.95) } },
	{ "jitter-near", .flows = 1, NOISY, .rtt_s = 1e-3, .jitter_s = 5e-3,
	  .must = { LEAST(UTIL, 0.6) } },
	{ "jitter-far", .flows = 1, NOISY, .jitter_s = 5e-3, .must = { LEAST(UTIL, 0.6) } },
	/* three of four are late, either way: as seldom on time as a queue would make them */
	{ "overtakes-lan", .flows = 1, NOISY, .rtt_s = 0.2e-3, .reorder = 0.75, .reorder_s = 5e-3,
	  .quick = true, .must = { LEAST(UTIL, 0.3) } },
	{ "overtakes-near", .flows = 1, NOISY, .rtt_s = 1e-3, .reorder = 0.75, .reorder_s = 5e-3,
	  .must = { LEAST(UTIL, 0.1) } },
	{ "overtakes-far", .flows = 1, NOISY, .reorder = 0.1, .reorder_s = 5e-3,
	  .must = { LEAST(UTIL, 0.7) } },
	{ "both-0.1", .flows = 2, .loss = 1e-2, .queue_bdp = 0.1, .must = { MOST(DROP, 0.03) } },
	{ "both-1", .flows = 2, .loss = 1e-2, .must = { MOST(DROP, 0.01) } },
	{ "three-0.25", .flows = 3, .queue_bdp = 0.25,
	  .must = { MOST(DROP, 0.02), LEAST(SHARE_LEAST, 0.25) } },
	{ "three-1", .flows = 3, .must = { MOST(DROP, 0.005), LEAST(SHARE_LEAST, 0.25) } },

	{ "incast-3-64k", .flows = 3, LAN, .queue_bytes = 64 * KIB, .seconds = 3, .must = LAN_MUST },
	{ "incast-3-128k", .flows = 3, LAN, .queue_bytes = 128 * KIB, .seconds = 3, .quick = true,
	  .must = LAN_MUST },
	{ "incast-3-512k", .flows = 3, LAN, .queue_bytes = 512 * KIB, .seconds = 3, .must = LAN_MUST },
	{ "incast-8-64k", .flows = 8, LAN, .queue_bytes = 64 * KIB, .seconds = 3, .must = LAN_MUST },
	{ "incast-8-128k", .flows = 8, LAN, .queue_bytes = 128 * KIB, .seconds = 3, .must = LAN_MUST },
	{ "incast-8-512k", .flows = 8, LAN, .queue_bytes = 512 * KIB, .seconds = 3, .must = LAN_MUST },
	/* whoever comes finds the queue of those before, and takes it for a part of the path */
	{ "incast-8-512k-joins", .flows = 8, LAN, .queue_bytes = 512 * KIB, .apart_s = 10e-3,
	  .seconds = 5, .quick = true, .must = LAN_MUST },
	/* of hosts that have other things to do */
	{ "incast-3-64k-late", .flows = 3, LAN, .queue_bytes = 64 * KIB, .seconds = 3,
	  .stall_s = 1e-3, .stall_every_s = 10e-3, .must = LAN_MUST },
	{ "incast-8-64k-late", .flows = 8, LAN, .queue_bytes = 64 * KIB, .seconds = 3,
	  .stall_s = 1e-3, .stall_every_s = 10e-3, .quick = true, .must = LAN_MUST },
	/* and that have a quarter of a processor each: nobody uses the line, or harms it much */
	{ "incast-8-64k-slow", .flows = 8, LAN, .queue_bytes = 64 * KIB, .seconds = 3,
	  .stall_s = 3e-3, .stall_every_s = 1e-3, .quick = true, .must = { MOST(DROP, 0.2) } },
	{ "shaper", .flows = 1, .rate_bps = 300e6, .rtt_s = 50e-6, .queue_bytes = 64 * KIB, SMALL,
	  .must = { MOST(DROP, 0.005), LEAST(UTIL, 0.9) } },
	{ "slow", SLOW, .rate_bps = 10e6, .rtt_s = 40e-3, .quick = true,
	  .must = { MOST(DROP, 0.02) } },
	{ "slow-1500", SLOW, .rate_bps = 10e6, .rtt_s = 40e-3, .mtu = 1500,
	  .must = { MOST(DROP, 0.02) } },
	/* a HELLO is repeated before it can be answered */
	{ "slow-far", SLOW, .rate_bps = 10e6, .rtt_s = 110e-3, .quick = true,
	  .must = { MOST(DROP, 0.02), LEAST(UTIL, 0.9) } },
	{ "slow-40m", SLOW, .rate_bps = 40e6, .must = { MOST(DROP, 0.02), LEAST(UTIL, 0.95) } },

	{ "parity", .flows = 2, .queue_bdp = 0.1, .must = { MOST(PARITY, 0.001) } },
	{ "halves", .flows = 1, .at_s = 5, .at_rate_bps = 500e6,
	  .must = { MOST(ADAPT, 1), MOST(DROP, 0.01), LEAST(UTIL, 0.9) } },
	{ "doubles", .flows = 1, .at_s = 5, .at_rate_bps = 2e9,
	  .must = { MOST(ADAPT, 1), MOST(DROP, 0.01) } },
	{ "marks", .flows = 2, .mark_s = 1e-3, .queue_bdp = 4,
	  .must = { MOST(DROP, 0), MOST(DELAY95, 3e-3), LEAST(UTIL, 0.9) } },
	{ "marks-codel", .flows = 2, .codel_s = 5e-3, .queue_bdp = 4, .must = { MOST(DROP, 0) } },

	{ "cold-1m", .flows = 1, .probes = true, .size = MIB, .messages = 1, .quick = true,
	  .must = { MOST(MEAN, 1.6), MOST(DROP, 0.0005) } },
	{ "cold-16m", .flows = 1, .probes = true, .size = 16 * MIB, .messages = 1, .quick = true,
	  .must = { MOST(MEAN, 1.2), MOST(DROP, 0.0005) } },
	{ "known-1m", .flows = 1, .size = MIB, .messages = 1, .teach_bytes = 128 * MIB,
	  .quick = true, .must = { MOST(MEAN, 1.10) } },
	/* 1.05, of which hosts need 0.03 */
	{ "known-16m", .flows = 1, .size = 16 * MIB, .messages = 1, .teach_bytes = 128 * MIB,
	  .quick = true, .must = { MOST(MEAN, 1.02), MOST(DROP, 0.0005) } },
	{ "warm-64k-0", .flows = 1, .size = 64 * KIB, .messages = 400, .warm = 300, .quick = true,
	  .must = WARM_MUST },
	{ "warm-64k-1e-3", .flows = 1, .size = 64 * KIB, .messages = 1200, .warm = 1000, .loss = 1e-3,
	  .must = WARM_MUST },
	{ "warm-64k-1e-2", .flows = 1, .size = 64 * KIB, .messages = 600, .warm = 400, .loss = 1e-2,
	  .must = WARM_MUST },
	{ "warm-1m-0", .flows = 1, .size = MIB, .messages = 150, .warm = 50, .quick = true,
	  .must = WARM_MUST },
	{ "warm-1m-1e-3", .flows = 1, .size = MIB, .messages = 200, .warm = 100, .loss = 1e-3,
	  .must = WARM_MUST },
	{ "warm-1m-1e-2", .flows = 1, .size = MIB, .messages = 200, .warm = 100, .loss = 1e-2,
	  .must = WARM_MUST },
	{ "warm-16m-0", .flows = 1, .size = 16 * MIB, .messages = 15, .warm = 5, .must = WARM_MUST },
	{ "warm-16m-1e-3", .flows = 1, .size = 16 * MIB, .messages = 20, .warm = 10, .loss = 1e-3,
	  .must = WARM_MUST },
	{ "warm-16m-1e-2", .flows = 1, .size = 16 * MIB, .messages = 20, .warm = 10, .loss = 1e-2,
	  .must = WARM_MUST },
	{ "warm-128m-0", .flows = 1, .size = 128 * MIB, .messages = 4, .warm = 2, .must = WARM_MUST },
	{ "warm-128m-1e-3", .flows = 1, .size = 128 * MIB, .messages = 4, .warm = 2, .loss = 1e-3,
	  .must = WARM_MUST },
	{ "warm-128m-1e-2", .flows = 1, .size = 128 * MIB, .messages = 4, .warm = 2, .loss = 1e-2,
	  .must = WARM_MUST },
	/* flows of a host, each with a message now and then, on a path with room for all of them */
	{ "warm-4-together", .flows = 4, .ranks = 1, .rate_bps = 10e9, .queue_bdp = 2,
	  .greets = true, .size = MIB, .messages = 30, .warm = 5, .pause_s = 0.2, .quick = true,
	  .must = { MOST(MEAN, 1.3), MOST(DROP, 0) } },
	{ "sparse", .flows = 1, .size = 64 * KIB, .messages = 200, .pause_s = 0.2,
	  .ge_loss = 1e-2, .ge_burst = 8, .ge_packets = true, .must = { MOST(LONGEST, 12) } },

	/* 16 flows that begin together, time and again; its times are the line's use */
	{ "mpi", .flows = 16, .ranks = 4, .size = MIB, .messages = 16, .pause_s = 0.05,
	  .queue_bdp = 0.25, .quick = true,
	  .must = { MOST(DROP, 0.01), LEAST(UTIL, 0.55), MOST(PARITY, 0.05) } },
	{ "mpi-weather", .flows = 16, .ranks = 4, .size = MIB, .messages = 16, .pause_s = 0.05,
	  .queue_bdp = 0.25, .loss = 1e-2, .must = { MOST(DROP, 0.01), LEAST(UTIL, 0.5) } },
	{ "mpi-late", .flows = 16, .ranks = 4, .size = MIB, .messages = 16, .pause_s = 0.05,
	  .queue_bdp = 0.25, .stall_s = 3e-3, .stall_every_s = 10e-3,
	  .must = { MOST(DROP, 0.007), LEAST(UTIL, 0.5) } },
	{ "mpi-barrier", .flows = 16, .ranks = 4, .greets = true, .size = MIB, .messages = 2,
	  .pause_s = 0.05, .queue_bdp = 0.25, .quick = true, .must = { MOST(DROP, 0.02) } },
	{ "mpi-4", .flows = 4, .ranks = 2, .size = MIB, .messages = 30, .pause_s = 0.05,
	  .queue_bdp = 0.25, .must = { MOST(DROP, 0.02), LEAST(UTIL, 0.3) } },

	/* no sdr: what the rivals do to each other, to be held against the kernel's */
	{ "kernel-bbr-bbr-0.1", KERNEL(bbr, bbr, 0.1) },
	{ "kernel-cubic-cubic-0.1", KERNEL(cubic, cubic, 0.1) },
	{ "kernel-bbr-cubic-0.1", KERNEL(bbr, cubic, 0.1) },
	{ "kernel-bbr-bbr-1", KERNEL(bbr, bbr, 1) },
	{ "kernel-cubic-cubic-1", KERNEL(cubic, cubic, 1) },
	{ "kernel-bbr-cubic-1", KERNEL(bbr, cubic, 1) },
	{ "kernel-bbr-bbr-4", KERNEL(bbr, bbr, 4) },
	{ "kernel-cubic-cubic-4", KERNEL(cubic, cubic, 4) },
	{ "kernel-bbr-cubic-4", KERNEL(bbr, cubic, 4) },
};
/* clang-format on */

const uint32_t bar_cases_n = sizeof(bar_cases) / sizeof(*bar_cases);
