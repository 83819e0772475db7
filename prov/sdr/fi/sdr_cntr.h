/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Counters (sdr_cntr.c).
 */
#ifndef SDR_CNTR_H
#define SDR_CNTR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include "sdr_pset.h"
#include "sdr_wait.h"
#include "sdr_yield.h"

struct fid_peer_cntr;

struct sdr_cntr {
	struct fid_cntr fid;
	struct sdr_domain *dom;
	/* counts: here, or at an owner's counter (sdr_cntr_peer.c) */
	void (*bump)(struct sdr_cntr *cntr, bool error);
	struct fid_peer_cntr *owner;
	atomic_int refs;
	_Atomic uint64_t val, err;
	uint64_t polled_val, polled_err;     /* at the last fi_poll */
	_Atomic uint64_t last_val, last_err; /* read last */
	struct sdr_yield yield;		     /* of those who spin */
	struct sdr_wait wait;
	struct sdr_pset eps;
	bool of_regions;       /* at least one is, or was, bound to it */
	struct sdr_cntr *next; /* of those, in the domain */
};

int sdr_cntr_open(struct fid_domain *dom, struct fi_cntr_attr *attr, struct fid_cntr **cntr,
		  void *context);
static inline void sdr_cntr_bump(struct sdr_cntr *cntr, bool error)
{
	cntr->bump(cntr, error);
}

int sdr_cntr_trywait(struct sdr_cntr *cntr);

#endif /* SDR_CNTR_H */
