/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * To which of the peer's ports the trains of large messages go (sdr_soft_spread.c).
 */
#ifndef SDR_SOFT_SPREAD_H
#define SDR_SOFT_SPREAD_H

#include "sdr_soft_knock.h"
#include "sdr_soft_qp.h"

struct sdr_soft_spread {
	uint32_t n;		/* ports, >= 1 */
	uint32_t turn;		/* the one that the last train went to */
	uint16_t all, answered; /* a bit a port: those there are; those that let data through */
	/* of those that have not answered (sdr_soft_knock.c) */
	struct sdr_soft_tries tries, worker_tries;
	uint64_t nonce;
	uint16_t heard[SDR_WORKERS_MAX]; /* a bit a port: by each of our own workers */
	uint16_t port[SDR_WORKERS_MAX];	 /* host order */
	struct sdr_soft_dest dest[];	 /* n of them */
};

/* What the peer's info says of its ports.  0 or -ENOMEM. */
int sdr_soft_spread_connect(struct sdr_soft_qp *q, const struct sdr_wire_qp_info *p);
/* q->dest has changed. */
void sdr_soft_spread_readdress(struct sdr_soft_qp *q);
/* Data of the QP goes to this address. */
bool sdr_soft_spread_goes(const struct sdr_soft_qp *q, const struct sockaddr_storage *sa,
			  socklen_t len);

/* A bit for each of our workers that may send to all ports that data go to. */
uint32_t sdr_soft_spread_may(struct sdr_soft_qp *q);

/* Where packets of this descriptor go now. */
static inline struct sdr_soft_dest *sdr_soft_spread_dest(struct sdr_soft_qp *q,
							 const struct sdr_uc_tx *t)
{
	struct sdr_soft_spread *p = q->spread;

	/* Pieces are put together where everything else arrives. */
	if (!p || !(t->flags & SDR_UC_F_SPREAD) || q->cut.whole != UINT32_MAX)
		return &q->dest;
	if (p->answered != p->all)
		sdr_soft_knock(q);
	return p->answered ? &p->dest[p->turn] : &q->dest;
}

/* A train ends: the next goes elsewhere.  to: where it went. */
static inline struct sdr_soft_dest *sdr_soft_spread_next(struct sdr_soft_qp *q,
							 struct sdr_soft_dest *to)
{
	struct sdr_soft_spread *p = q->spread;

	if (!p || to != &p->dest[p->turn])
		return to;
	do {
		if (++p->turn == p->n)
			p->turn = 0;
	} while (!(p->answered >> p->turn & 1));
	return &p->dest[p->turn];
}

#endif /* SDR_SOFT_SPREAD_H */
