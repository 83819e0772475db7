/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How large a packet the path carries: Packetization Layer Path MTU Discovery for datagrams
 * (RFC 8899), of one direction of a connection.  See sdr_pmtu.c.
 *
 * All sizes are bytes of an IP packet, its headers included; all times ns.
 */
#ifndef SDR_PMTU_H
#define SDR_PMTU_H

#include <stdbool.h>
#include <stdint.h>

/* Sizes that are relied on before anything is known (RFC 8899, 5.1.2: BASE_PLPMTU). */
#define SDR_PMTU_BASE	1200u
#define SDR_PMTU_PROBES 8u  /* probes on their way at a time */
#define SDR_PMTU_TRIES	3u  /* probes of a size that are lost before it is too large (MAX_PROBES) */
#define SDR_PMTU_GRAIN	24u /* the search ends when what is left to find is no more */
/* larger sizes are tried again after that (PMTU_RAISE_TIMER) */
#define SDR_PMTU_RAISE_NS (600 * 1000000000ull)

/* What the size in force is known from. */
enum sdr_pmtu_how {
	SDR_PMTU_BY_BASE,  /* nothing: what every path is supposed to carry */
	SDR_PMTU_BY_HELLO, /* a HELLO of this size was answered */
	SDR_PMTU_BY_PROBE, /* a probe of this size was acknowledged */
	SDR_PMTU_BY_ROUTE, /* the route of this host, or ICMP that came to it */
	SDR_PMTU_BY_HOLE,  /* large packets die and small ones live */
	SDR_PMTU_BY_PEER,  /* the largest that the peer takes */
};

/* Large packets die and small ones live: packets lost since one as large has passed. */
struct sdr_pmtu_hole {
	uint32_t lost, lost_min; /* lost_min: bytes of the smallest of them */
	uint64_t lost_ns;	 /* when the first of them was sent */
	bool small_lives;	 /* a smaller one sent since then has arrived */
	uint8_t enough;		 /* packets that say it; 0: where nothing else is lost */
};

struct sdr_pmtu {
	uint32_t least, max; /* the size is never below; nothing above is tried */
	uint32_t size;	     /* in force: nothing longer is sent but probes; 0: no discovery */
	uint32_t ceil;	     /* the smallest that is known not to pass; max + 1: none */
	bool told;	     /* ceil is what this host or the peer said: one below may well pass */
	uint8_t how;	     /* enum sdr_pmtu_how: the size in force */
	/* the search */
	bool searching;
	uint8_t nprobes;
	uint8_t tries; /* rounds in which `failed` was the smallest that did not pass */
	uint32_t failed;
	struct {
		uint32_t pn, size;
	} probe[SDR_PMTU_PROBES]; /* on their way; size 0: acknowledged */
	uint64_t next_ns;	  /* of the next round, or the end of this one */
	struct sdr_pmtu_hole hole;
};

/*
 * least <= max.  One that is given 0 for max does not discover: size is 0, and all calls do
 * nothing.
 */
void sdr_pmtu_init(struct sdr_pmtu *p, uint32_t least, uint32_t max, uint64_t now);

/* ---- what is learned; each returns whether the size in force has changed ---- */

/* A packet of this size has arrived. */
bool sdr_pmtu_arrived(struct sdr_pmtu *p, uint32_t size, enum sdr_pmtu_how how, uint64_t now);
/* Nothing longer passes, this host says (ROUTE); or may be sent (PEER). */
bool sdr_pmtu_limit(struct sdr_pmtu *p, uint32_t size, enum sdr_pmtu_how how, uint64_t now);
/* Packets [lo, hi] were acknowledged: those of probes among them have arrived. */
bool sdr_pmtu_acked(struct sdr_pmtu *p, uint32_t lo, uint32_t hi, uint64_t now);
/*
 * A packet that was no probe has been lost (n of them), or delivered: is there a black hole?
 * tx_ns: when it was sent; rtt: ns, smoothed.
 */
bool sdr_pmtu_lost(struct sdr_pmtu *p, uint32_t n, uint32_t size, uint64_t tx_ns, uint64_t rtt,
		   uint64_t now);
void sdr_pmtu_passed(struct sdr_pmtu *p, uint32_t size, uint64_t tx_ns);
/* Of all packets so many are lost anyway, 0 to 1: that many in a row say nothing. */
void sdr_pmtu_hole_weather(struct sdr_pmtu_hole *h, double loss);
/* The same without a search, of a path whose size of packets is another's (rel/conn). */
bool sdr_pmtu_hole_lost(struct sdr_pmtu_hole *h, uint32_t n, uint32_t size, uint64_t tx_ns,
			uint64_t rtt);
void sdr_pmtu_hole_passed(struct sdr_pmtu_hole *h, uint32_t size, uint64_t tx_ns);
/* Nothing longer than that is of use any more; or now that is, too. */
bool sdr_pmtu_reach(struct sdr_pmtu *p, uint32_t max, uint64_t now);
/* The path may be another one; it carries that much, at least. */
bool sdr_pmtu_begin(struct sdr_pmtu *p, uint32_t size, uint64_t now);
/* The path may be another one, of which nothing is known. */
bool sdr_pmtu_restart(struct sdr_pmtu *p, uint64_t now);

/* ---- probes ---- */

/*
 * Sizes of the probes to be sent now, ascending, at most SDR_PMTU_PROBES; 0: none.  A round that
 * has had its time is closed before.
 */
uint32_t sdr_pmtu_probes(struct sdr_pmtu *p, uint64_t now, uint32_t size[SDR_PMTU_PROBES]);
/* One has left; its fate is known after rto. */
void sdr_pmtu_sent(struct sdr_pmtu *p, uint32_t pn, uint32_t size, uint64_t now, uint64_t rto);
/* ns at which sdr_pmtu_probes has something to do. */
static inline uint64_t sdr_pmtu_deadline(const struct sdr_pmtu *p)
{
	return p->size ? p->next_ns : UINT64_MAX;
}
/* The search is over, for now. */
static inline bool sdr_pmtu_settled(const struct sdr_pmtu *p)
{
	return !p->searching;
}

#endif /* SDR_PMTU_H */
