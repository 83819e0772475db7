/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One path of a connection: what is known of it, and how much is under way on it.
 *
 * A path leads from a source of our engine to an address of the peer.  Each connection has one, its
 * first (c->main); with several (sdr_multipath.h) each has its round trip, window, rate and order
 * of its own, since nothing that one of them shows says anything of another.  Plain data: what is
 * done with it is the rooms'.
 */
#ifndef SDR_PATH_H
#define SDR_PATH_H

#include "rel/path/sdr_cc.h"
#include "rel/path/sdr_ecn.h"
#include "rel/path/sdr_pmtu.h"
#include "rel/path/sdr_rack.h"
#include "rel/path/sdr_rtt.h"
#include "uc/sdr_uc.h"

enum sdr_path_state {
	SDR_PATH_ALIVE,	   /* the peer has answered by it: packets go there */
	SDR_PATH_UNPROVED, /* nothing has answered yet */
	SDR_PATH_SILENT, /* what went there was not answered: it is asked, and nothing else goes */
};

#define SDR_PATH_ASKED SDR_PMTU_PROBES /* challenges whose answers are known; power of two */

struct sdr_path {
	struct sdr_rtt rtt;
	struct sdr_cc cc;
	struct sdr_rack rack;
	struct sdr_ecn ecn;	      /* marks of what leaves by it (sdr_conn_ecn.c) */
	struct sdr_pmtu pmtu;	      /* how long that may be (sdr_conn_mtu.c) */
	uint32_t mtu_found;	      /* bytes: the size that was told last */
	uint64_t inflight;	      /* bytes of data and packets, neither acknowledged nor lost */
	uint32_t acked_seq;	      /* of the newest packet acknowledged */
	struct {		      /* the memory of paths (sdr_conn_known.c) */
		uint64_t since;	      /* ns: told last, or opened, ... */
		uint64_t delivered;   /* ... and of cc what was delivered then */
		uint64_t first, last; /* when it counted as one that moves data; 0: never */
	} known;
	/* the rest of all but the first (sdr_multipath.c) */
	uint8_t index;	/* among the connection's; of a QP's ways, too */
	uint8_t source; /* of our engine */
	uint8_t state;	/* enum sdr_path_state; of the first as well */
	bool doubles;	/* one before it leads from there to there: it is never used */
	bool reached;	/* a short challenge was answered: the next are as long as data */
	bool proved;	/* it was alive at some time */
	bool narrow;	/* what is large does not pass any more */
	/* of its packets, since something of it has arrived; the first of them left then */
	uint32_t timeouts;
	uint64_t timeout_ns;
	struct sdr_uc_addr addr;
	/* transmissions: the first since anything on it was answered, the last */
	uint64_t busy_ns, last_ns;
	uint64_t heard_ns; /* something that went there was answered last */
	bool answered;	   /* since the last transmission */
	uint64_t free_ns;  /* what has left has passed the path's narrowest place by then */
	struct { /* challenged: the last times, by asks; and with so many IP bytes, 0: few */
		uint64_t ns;
		uint32_t bytes;
	} asked[SDR_PATH_ASKED];
	uint32_t asks;	  /* challenges of all time, so that no answer is taken for another's */
	uint64_t next_ns; /* and again then; NEVER */
	uint32_t tries;
};

/* Bytes a second that it takes, as far as is known. */
static inline double sdr_path_rate(const struct sdr_path *p)
{
	if (p->cc.pacing_Bps)
		return (double)p->cc.pacing_Bps;
	return (double)p->cc.cwnd * 1e9 / (double)(p->rtt.srtt ? p->rtt.srtt : 1);
}

/* What one event says of each path of a connection; those beside its npaths are not initialised. */
struct sdr_acks {
	struct sdr_cc_ack v[SDR_PATHS_MAX];
};

#endif /* SDR_PATH_H */
