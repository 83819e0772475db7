/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Settings of a reliable endpoint and its named limits.  The provider fills the settings from its
 * environment table; simulator and tests fill them directly.
 */
#ifndef SDR_REL_CFG_H
#define SDR_REL_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sdr/model.h> /* enum sdr_objective */
#include "sdr_orders.h"
#include "wire/sdr_wire.h"

struct sdr_cc_ops;
struct sdr_ceiling_word;
struct sdr_scheme_ops;

struct sdr_rel_cfg {
	/* how losses are repaired, e.g. of sdr_scheme_table; NULL: the default */
	const struct sdr_scheme_ops *scheme;
	/* congestion control, e.g. of sdr_cc_table; NULL: the default */
	const struct sdr_cc_ops *cc;
	bool no_ecn; /* marks of congestion are neither asked for nor counted */
	/*
	 * ns, modulo 2^64: what a clock that the hosts of a network have in common is ahead of the
	 * callers' own.  Where theirs differ by more than a round trip flows find each other later.
	 */
	uint64_t clock_ahead_ns;
	uint64_t rate_bps; /* wire bits per second for a provisioned controller; else 0 */
	/*
	 * Wire bits per second that the endpoint never exceeds, whatever its controllers say; 0: no
	 * such ceiling.  With all who share the word; NULL: alone.  Kept.
	 */
	uint64_t rate_max_bps;
	struct sdr_ceiling_word *ceiling;
	uint32_t mtu;	/* payload bytes, 0: the engine's */
	uint32_t chunk; /* bytes per bitmap bit, rounded to a multiple of the mtu */
	struct sdr_imm_split split;
	uint8_t channels, generations;
	uint64_t spread_min;  /* bytes of a segment that goes to workers; 0: SDR_REL_SPREAD_MIN */
	uint32_t paths;	      /* that a connection may use, 1..SDR_PATHS_MAX */
	uint32_t rtt_init_us; /* first RTT guess, 0: SDR_RTT_INIT_NS */
	double rto_rtts;      /* sr_rto: RTO in RTTs, 1..100 */
	uint32_t timeout_ms;  /* of silence of a peer we wait for, before operations fail */
	/*
	 * idle time after which a connection in use is probed, and one that address translation
	 * must not forget; 0: only as often as timeout_ms needs
	 */
	uint32_t keepalive_ms;
	/* a peer behind address translation is a stranger, whatever name it says it has */
	bool no_aliases;
	struct sdr_orders orders;    /* what keeps its order beside messages */
	uint32_t tx_depth, rx_depth; /* operations posted at a time, each */
	uint32_t inject_max;	     /* bytes */
	/* parity */
	uint8_t ec_code; /* ec, ec_sr: enum sdr_code_kind */
	/* ec, ec_sr: chunks of a submessage, parity chunks; k + m <= SDR_CODE_SYMS_MAX */
	uint16_t ec_k, ec_m;
	/* the paper's decoder instead of packet rows; all schemes with parity */
	bool ec_chunk_decode;
	uint8_t objective; /* enum sdr_objective; hybrid, auto */
	/* hybrid, auto: maximum parity bytes per data byte, 0..16; 0: no parity */
	double max_overhead;
	/* bytes of parity buffers of the endpoint, both directions; 0: SDR_REL_EC_SCRATCH */
	uint64_t ec_scratch;
	/*
	 * from so much work on a thread of the caller's decodes a segment: bytes of sources by
	 * symbols made of them; 0: SDR_DECODE_LEND
	 */
	uint64_t decode_lend;
	/*
	 * bytes of memory between devices and the network, each direction; 0: SDR_REL_STAGE; at
	 * least SDR_REL_SEG_MAX
	 */
	uint64_t stage;
	bool no_far; /* devices' bytes always pass through that memory */
	/*
	 * rkeyed engine: bytes of memory whose keys peers get ahead of what they send; 0: none
	 */
	uint64_t berths;
	/* what strangers may have here */
	/* connections of strangers; 0: SDR_REL_STRANGERS_MAX */
	uint32_t strangers_max;
	uint32_t answers_max; /* answers to strangers under way; 0: SDR_REL_ANSWERS_STRANGERS */
	/* bytes of unexpected messages of the endpoint; 0: SDR_REL_UNEXP_TOTAL */
	uint64_t unexp_max;
};

/* The defaults: auto, MDS (32, 8), p99, 64 KiB chunks, bbr, 30 s.  A caller changes the rest. */
void sdr_rel_cfg_init(struct sdr_rel_cfg *cfg);

/* before the first sample: RFC 6298 says 1 s, links here are <= 300 ms */
#define SDR_RTT_INIT_NS (50 * 1000000ull)
#define SDR_RTO_MIN_NS	(1 * 1000000ull) /* floor of any retransmission timeout */
/* cap of the exponential backoff: probes come at least once a second */
#define SDR_RTO_MAX_NS (1000 * 1000000ull)
/* a data acknowledgement waits at most this long; others a fiftieth */
#define SDR_ACK_DELAY_MAX_NS (1 * 1000000ull)
/* default of keepalive_ms: half of what RFC 4787 demands that a translator remembers */
#define SDR_KEEPALIVE_MS 15000u

#define SDR_REL_PEERS_MAX  65536u /* peers that an endpoint's user names at a time */
#define SDR_REL_PEERS_GONE 256u	  /* strangers that are gone and remembered */
/* connections of others; with so many the one that was silent longest goes */
#define SDR_REL_STRANGERS_MAX 61440u
/* reliable records in flight a connection and direction; power of two */
#define SDR_REL_CTL_WINDOW 1024u
/* bytes of unexpected inline messages buffered for one peer before its credit stops */
#define SDR_REL_UNEXP_PEER (8u << 20)
/*
 * Bytes of unexpected and early messages of an endpoint, inline and bulk, with what keeps them.
 * Strangers have half of it, messages before their turn three quarters of what their sender may
 * have: what comes in order finds a place.
 */
#define SDR_REL_UNEXP_TOTAL (256u << 20)
/* answers to strangers (WRITE, READ) that they have not acknowledged */
#define SDR_REL_ANSWERS_STRANGERS 65536u
/* unexpected and early messages of strangers: each is looked at by a receive */
#define SDR_REL_UNEXP_STRANGERS 32768u
/* a bulk message up to this size may land in a bounce buffer */
#define SDR_REL_UNEXP_BULK (1u << 20)
/* bytes of idle bounce buffers that an endpoint keeps: their pages are there already */
#define SDR_REL_BOUNCE_KEEP (32u << 20)
/* bytes of one SDR message; longer transfers take several */
#define SDR_REL_SEG_MAX (64ull << 20)
/*
 * Default of spread_min: of less, it takes longer to see that what binds it came before its data
 * than to place them.
 */
#define SDR_REL_SPREAD_MIN (8ull << 20)
#define SDR_REL_EC_SCRATCH (512ull << 20) /* default of ec_scratch */
#define SDR_REL_STAGE	   (256ull << 20) /* default of stage */
#define SDR_REL_BERTHS	   (64ull << 20)  /* default of berths */
#define SDR_REL_EC_CHUNK   (16u << 20)	  /* bytes: the largest chunk a peer may code with */
#define SDR_REL_MSG_MAX	   (1ull << 40)	  /* bytes of one operation */

#endif /* SDR_REL_CFG_H */
