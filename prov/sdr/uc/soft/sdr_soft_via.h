/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Further ways to a QP's peer (sdr_soft_via.c).
 */
#ifndef SDR_SOFT_VIA_H
#define SDR_SOFT_VIA_H

#include "sdr_soft_qp.h"

struct sdr_soft_via {
	struct sdr_soft_dest dest; /* len 0: it was never set */
	uint8_t source;
	bool stays; /* what takes it stays on this host */
};

int sdr_soft_qp_via(struct sdr_uc_qp *qp, uint32_t via, uint32_t source,
		    const struct sdr_uc_addr *addr);
/* The peer is another kind of engine: there are none. */
void sdr_soft_via_forget(struct sdr_soft_qp *q);
/* Data of the QP goes to this address by one of them. */
bool sdr_soft_via_goes(const struct sdr_soft_qp *q, const struct sockaddr_storage *sa,
		       socklen_t len);

/* The way by which a packet has come that came from there to that source of the engine; 0: none. */
uint8_t sdr_soft_via_back(const struct sdr_soft_qp *q, uint32_t source,
			  const struct sockaddr_storage *from, socklen_t len);

/* via: not 0.  NULL: it was never set. */
static inline struct sdr_soft_via *sdr_soft_via_find(const struct sdr_soft_qp *q, uint32_t via)
{
	struct sdr_soft_via *v = q->via && via < SDR_PATHS_MAX ? &q->via[via] : NULL;

	return v && v->dest.len ? v : NULL;
}

#endif /* SDR_SOFT_VIA_H */
