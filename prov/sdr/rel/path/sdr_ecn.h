/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Marks of congestion on the way to a peer (RFC 3168), see sdr_ecn.c.
 */
#ifndef SDR_ECN_H
#define SDR_ECN_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/sdr_frame.h"

/* packets of which all were lost, while others arrive, before the path is said to drop them */
#define SDR_ECN_TEST_PKTS 10u
/* timeouts that end as soon as packets leave that cannot be marked: likewise */
#define SDR_ECN_TEST_TIMEOUTS 3u
/*
 * packets, round trips and ns in which none came unmarked, before marks are taken for damage: the
 * queue of a near switch may be full for many round trips
 */
#define SDR_ECN_MANGLED_PKTS 32u
#define SDR_ECN_MANGLED_RTTS 4u
#define SDR_ECN_MANGLED_NS   (100 * 1000000ull)
/* packets that may be missing from the counts: these, and one of SDR_ECN_SHORT_PART */
#define SDR_ECN_SHORT_PKTS 10u
#define SDR_ECN_SHORT_PART 8u
/* acknowledged packets after which a path is looked at anew */
#define SDR_ECN_WINDOW 4096u

enum sdr_ecn_why {
	SDR_ECN_FINE = 0,
	SDR_ECN_BLEACHED, /* the counts miss packets: the path wipes the bits out */
	SDR_ECN_MANGLED,  /* marks on everything, or on more than was sent */
	SDR_ECN_DROPPED,  /* packets that may be marked do not arrive, others do */
	SDR_ECN_WHYS,
};

struct sdr_ecn {
	bool on;     /* both sides count, and the controller answers marks */
	bool ect;    /* on, and nothing wrong: what leaves now may be marked */
	bool hide;   /* not now: to see whether that is why nothing arrives */
	uint8_t why; /* enum sdr_ecn_why: not any more on this path */
	/* packets, of all time */
	uint64_t sent, plain; /* left so that they may be marked, or not */
	uint64_t acked;	      /* delivered, both sorts */
	uint64_t counted, ce; /* by the peer: came with any of the marks; with that of congestion */
	struct sdr_frame_ecn heard; /* as said last */
	/* of `sent` etc. when the path was looked at last, or began */
	struct {
		uint64_t sent, plain, acked, counted, ce;
	} base;
	uint64_t begun_ns;
	bool unmarked;	      /* one came without a mark since then */
	uint64_t short_ns;    /* the counts miss packets since; 0: they do not */
	uint64_t hide_acked;  /* acked when hide began */
	uint32_t hides;	      /* times that something arrived then */
	uint64_t bytes_acked; /* acked when sdr_ecn_bytes was called last */
	uint64_t pkt_bytes;   /* mean of what was acknowledged then */
	uint64_t owed_pkts;   /* marked, and not told to the controller: packets, */
	uint64_t owed_bytes;  /* and bytes */
};

/* A path begins, with so many packets under way from before; both sides can. */
void sdr_ecn_start(struct sdr_ecn *e, uint64_t under_way, uint64_t now);
/* So many packets left, as e->ect said, or all plain. */
void sdr_ecn_sent(struct sdr_ecn *e, uint64_t pkts, bool ect);
static inline void sdr_ecn_acked(struct sdr_ecn *e, uint64_t pkts)
{
	e->acked += pkts;
}
/*
 * So many of those that are delivered by it may not have come by it: they are not missed when they
 * are not counted.
 */
static inline void sdr_ecn_excuse(struct sdr_ecn *e, uint64_t pkts)
{
	e->base.acked += pkts;
}
/*
 * The peer's counts came, after all that they acknowledge was told by sdr_ecn_acked; one that
 * counts nothing sends zeros.  True: with that the path has failed, see e->why.
 */
bool sdr_ecn_heard(struct sdr_ecn *e, const struct sdr_frame_ecn *f, uint64_t srtt, uint64_t now);
/* Bytes of those newly delivered that carried the mark of congestion. */
uint64_t sdr_ecn_bytes(struct sdr_ecn *e, uint64_t bytes);
/* Nothing was acknowledged for a retransmission timeout, for the count-th time in a row. */
void sdr_ecn_timeout(struct sdr_ecn *e, uint32_t count, uint64_t under_way, uint64_t now);
/* What e->why says, for people. */
const char *sdr_ecn_why_text(uint8_t why);

#endif /* SDR_ECN_H */
