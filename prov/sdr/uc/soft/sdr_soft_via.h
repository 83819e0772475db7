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
	bool stays;		 /* what takes it stays on this host */
	struct sdr_soft_cut cut; /* where it carries less than the QP sends; path 0: it does not */
};

int sdr_soft_qp_via(struct sdr_uc_qp *qp, uint32_t via, uint32_t source,
		    const struct sdr_uc_addr *addr);
/* The peer is another kind of engine: there are none. */
void sdr_soft_via_forget(struct sdr_soft_qp *q);
void sdr_soft_via_path(struct sdr_uc_qp *qp, uint32_t via, uint32_t bytes);
/* Those from that source to this address carry no more than that.  True: one was to carry more. */
bool sdr_soft_via_lower(struct sdr_soft_qp *q, uint32_t source, const struct sockaddr_storage *sa,
			socklen_t len, uint32_t bytes);
/* What data by it are cut in. */
static inline const struct sdr_soft_cut *sdr_soft_via_cut(const struct sdr_soft_qp *q,
							  const struct sdr_soft_via *v)
{
	bool less = v->cut.path && (!q->cut.path || v->cut.path < q->cut.path);

	return less ? &v->cut : &q->cut;
}

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
