/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Further ways to a QP's peer: from a source of the engine to an address of the peer's.
 *
 * A table of SDR_PATHS_MAX in the QP, allocated with the first way.  Way 0 is none of them: it is
 * the QP's own address and what is spread over workers' ports.  A way stays what it is when the
 * peer moves, and is nothing to a peer that is an RDMA device, whose packets have one address.  How
 * long a packet may be is the QP's, or the way's own where that is less.
 *
 * Data that come the other way round are known by where they came from and to which source: looked
 * up once for each message of the kernel's (rx->via_of), so a train costs what a packet does.
 *
 * Packets to a neighbour go without an ICRC (sdr_soft_host.c) where the way's own address is one of
 * this host, too, and what leaves from its source gets there over no wire: a source that is bound
 * to a device (sdr_soft_source.c) sends what is for an address of another one out by it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "uc/sdr_uc_net.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_piece.h"
#include "sdr_soft_via.h"

static bool sdr_soft_via_stays(const struct sdr_soft *s, uint32_t source,
			       const struct sdr_soft_dest *to)
{
	const struct sockaddr *sa = (const struct sockaddr *)&to->sa;

	if (!s->host || !s->net->stays(sa))
		return false;
	return !s->pin[source] || s->pin[source] == sdr_uc_device_index(sa);
}

int sdr_soft_qp_via(struct sdr_uc_qp *qp, uint32_t via, uint32_t source,
		    const struct sdr_uc_addr *addr)
{
	struct sdr_soft_qp *q = (struct sdr_soft_qp *)qp;
	struct sdr_soft *s = q->s;
	struct sdr_soft_dest to;
	struct sdr_uc_addr own;
	int ret;

	if (!via || via >= SDR_PATHS_MAX || source >= s->sources || q->nic || !q->dest.len)
		return -EINVAL;
	sdr_soft_source_name(s, source, &own);
	ret = sdr_soft_dest_make(s, &own, addr, &to);
	if (ret)
		return ret;
	if (!q->via)
		q->via = calloc(SDR_PATHS_MAX, sizeof(q->via[0]));
	if (!q->via)
		return -ENOMEM;
	q->via[via].dest = to;
	q->via[via].source = (uint8_t)source;
	q->via[via].stays = sdr_soft_via_stays(s, source, &to);
	return 0;
}

void sdr_soft_via_forget(struct sdr_soft_qp *q)
{
	free(q->via);
	q->via = NULL;
}

uint8_t sdr_soft_via_back(const struct sdr_soft_qp *q, uint32_t source,
			  const struct sockaddr_storage *from, socklen_t len)
{
	const struct sdr_soft_via *v;
	uint8_t i;

	for (i = 1; q->via && i < SDR_PATHS_MAX; i++) {
		v = sdr_soft_via_find(q, i);
		if (v && v->source == source && v->dest.len == len &&
		    !memcmp(&v->dest.sa, from, len))
			return i;
	}
	return 0;
}

void sdr_soft_via_path(struct sdr_uc_qp *qp, uint32_t via, uint32_t bytes)
{
	struct sdr_soft_qp *q = (struct sdr_soft_qp *)qp;
	struct sdr_soft_via *v = via ? sdr_soft_via_find(q, via) : NULL;

	if (v)
		sdr_soft_piece_limit(q, &v->cut, bytes);
}

bool sdr_soft_via_lower(struct sdr_soft_qp *q, uint32_t source, const struct sockaddr_storage *sa,
			socklen_t len, uint32_t bytes)
{
	struct sdr_soft_via *v;
	bool lower = false;
	uint32_t i;

	for (i = 1; q->via && i < SDR_PATHS_MAX; i++) {
		v = sdr_soft_via_find(q, i);
		if (!v || v->source != source || v->dest.len != len ||
		    memcmp(&v->dest.sa, sa, len) ||
		    (sdr_soft_via_cut(q, v)->path && sdr_soft_via_cut(q, v)->path <= bytes))
			continue;
		sdr_soft_piece_limit(q, &v->cut, bytes);
		lower = true;
	}
	return lower;
}
