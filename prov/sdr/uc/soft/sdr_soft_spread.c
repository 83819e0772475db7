/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * To which of the peer's ports the trains of large messages go.
 *
 * A peer with receive workers names a port for each in its QP info, at its address.  Trains of what
 * is posted with SDR_UC_F_SPREAD take them in turn, whatever channel they belong to: the layer
 * above says of which messages order does not matter and workers do.  Everything else goes to the
 * port where control datagrams arrive, behind those that it depends on, and so does what is large
 * until a port has answered (sdr_soft_knock.c).  No timers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_soft_impl.h"
#include "sdr_soft_spread.h"

int sdr_soft_spread_connect(struct sdr_soft_qp *q, const struct sdr_wire_qp_info *p)
{
	struct sdr_soft_spread *n = NULL;
	uint32_t i;

	if (p->nports && !(p->flags & SDR_QP_F_NIC)) {
		n = calloc(1, sizeof(*n) + p->nports * sizeof(n->dest[0]));
		if (!n)
			return -ENOMEM;
		n->n = p->nports;
		n->all = (uint16_t)((1u << n->n) - 1);
		n->nonce = q->nonce;
		for (i = 0; i < n->n; i++)
			n->port[i] = p->port[i];
	}
	free(q->spread);
	q->spread = n;
	if (n)
		sdr_soft_spread_readdress(q);
	return 0;
}

void sdr_soft_spread_readdress(struct sdr_soft_qp *q)
{
	struct sdr_soft_spread *p = q->spread;
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		p->dest[i] = q->dest;
		/* It lies at the same place in both families. */
		((struct sockaddr_in *)&p->dest[i].sa)->sin_port = htons(p->port[i]);
	}
	p->answered = 0;
	p->tries = p->worker_tries = (struct sdr_soft_tries){ 0 };
	memset(p->heard, 0, sizeof(p->heard));
	p->nonce++; /* late answers from where the peer was are of no use */
	sdr_soft_knock(q);
}

uint32_t sdr_soft_spread_may(struct sdr_soft_qp *q)
{
	const struct sdr_soft_crew *c = q->s->crew;
	struct sdr_soft_spread *p = q->spread;
	uint32_t i, may = 0, all = (1u << c->help) - 1;

	for (i = 0; i < c->help && p->answered; i++)
		may |= (uint32_t) !(p->answered & ~p->heard[i]) << i;
	if (may != all && p->answered)
		sdr_soft_knock_from_workers(q);
	return may;
}

static bool sdr_soft_spread_same(const struct sdr_soft_dest *d, const struct sockaddr_storage *sa,
				 socklen_t len)
{
	return len == d->len && !memcmp(sa, &d->sa, len);
}

bool sdr_soft_spread_goes(const struct sdr_soft_qp *q, const struct sockaddr_storage *sa,
			  socklen_t len)
{
	uint32_t i;

	for (i = 0; q->spread && i < q->spread->n; i++)
		if (sdr_soft_spread_same(&q->spread->dest[i], sa, len))
			return true;
	return sdr_soft_spread_same(&q->dest, sa, len);
}
