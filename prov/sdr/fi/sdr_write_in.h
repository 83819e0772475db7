/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Writes of peers into regions, on a datagram endpoint (sdr_write_in.c), for what brings their
 * datagrams (sdr_dgram.c) and for the application's calls (sdr_write_ext.c).  All under the
 * endpoint's lock.
 */
#ifndef SDR_WRITE_IN_H
#define SDR_WRITE_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>

#include "base/sdr_htab.h"
#include "base/sdr_list.h"

#include "sdr_notes.h"

struct sdr_ep;
struct sdr_link;
struct sdr_rcv_handle;
struct sdr_region;
struct sdr_uc_addr;

/* writes that are bound, or over and still to be told of, of all links */
#define SDR_WRITES_MAX 16384u
/* bytes of their bitmaps */
#define SDR_WRITES_BITS_MAX (64ull << 20)
/* numbers that a link may be ahead of what was seen of it; beyond it asks anew */
#define SDR_WRITE_JUMP_MAX 65536u

struct sdr_write {
	struct sdr_list list; /* link->ops, or links->told */
	struct sdr_hnode by_id;
	uint64_t id;
	struct sdr_link *link;	  /* NULL: over */
	struct sdr_rcv_handle *h; /* bound */
	const struct sdr_region *region;
	uint64_t key, data, len, charge;
	uint8_t *va;
	uint32_t msn;
	bool has_data, sent;
	fi_addr_t src;
	struct sdr_note note;
};

static inline struct sdr_write *sdr_write_by(struct sdr_list *e)
{
	return sdr_container(e, struct sdr_write, list);
}

void sdr_writes_open(struct sdr_ep *ep);
void sdr_writes_close(struct sdr_ep *ep);
/* WRITE, WRITE_ALL, SENT. */
void sdr_write_input(struct sdr_ep *ep, const struct sdr_uc_addr *from, uint8_t type,
		     const uint8_t *p, size_t len);
/* Its slot is unbound: nothing is written by it any more.  quiet: who ends it knows. */
void sdr_write_over(struct sdr_write *w, bool quiet);

#endif /* SDR_WRITE_IN_H */
