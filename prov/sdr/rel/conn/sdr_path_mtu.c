/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The size of packets on the paths of a connection beside its first.
 *
 * What the connection numbers and builds has the size that the first path carries
 * (sdr_conn_mtu.c).  Another path that carries less has its data packets cut by the engine, and
 * packets in parts; its size is found by the same search, no further than what the longest packet
 * needs.  Its probes are challenges: a ping there would be answered from there, and an
 * acknowledgement that comes by a faster way than the reports before it takes for lost what they
 * tell of.  One that carries all of that, which its challenge shows (sdr_multipath.c), has nothing
 * to search.  When what is needed grows, it begins to.
 *
 * A path is proved by a challenge that is as long as the longest packet; if that is not answered,
 * by one of the size that every path should carry, or of the least, from which the search begins.
 * So one that does not carry even that is not used.  When large packets die there and small ones
 * live, the size falls and is searched for anew, as the first path's; where it cannot fall the
 * path is narrow, and silent.
 *
 * With a peer that takes no pieces, or takes such a path for none (SDR_FEATURE_SIZES), there is no
 * search, pmtu.size is 0, and a path that carries less is not used.
 *
 * Timers: those of the search, while something is under way.  No allocation.
 */
#include <stdio.h>
#include "sdr_conn_ops.h"
#include "sdr_path_mtu.h"

uint32_t sdr_path_mtu_need(const struct sdr_conn *c)
{
	const struct sdr_uc_info *e = &c->rel->info;
	uint32_t size = c->main.pmtu.size, data = c->shape->mtu + e->data_over,
		 ctl = c->ctl_max + e->ctl_over;

	if (size && data > size)
		data = size; /* in pieces */
	return data > ctl ? data : ctl;
}

/* Paths have sizes of their own. */
static bool path_sizes(const struct sdr_conn *c)
{
	return c->main.pmtu.size && (c->hs.features & SDR_FEATURE_SIZES);
}

uint32_t sdr_path_mtu_asks(const struct sdr_conn *c, const struct sdr_path *p)
{
	uint32_t need = sdr_path_mtu_need(c), less[] = { need, SDR_PMTU_BASE, c->main.pmtu.least };
	uint32_t ask = less[p->tries % 3];

	return path_sizes(c) && ask < need ? ask : need;
}

void sdr_path_mtu_apply(struct sdr_conn *c, const struct sdr_path *p)
{
	for (uint32_t i = 0; i < sizeof(c->shapes) / sizeof(c->shapes[0]); i++)
		if (c->shapes[i].qp)
			sdr_qp_via_path_set(c->shapes[i].qp, p->index, p->pmtu.size);
	sdr_conn_kick(c);
}

void sdr_path_mtu_proved(struct sdr_conn *c, struct sdr_path *p, uint32_t bytes)
{
	uint32_t need = sdr_path_mtu_need(c);

	if (!path_sizes(c) || !p->index)
		return;
	if (!p->pmtu.size)
		sdr_pmtu_init(&p->pmtu, c->main.pmtu.least, need, c->rel->now);
	/* What is lost to rounding is not looked for. */
	if (bytes + 3 >= need)
		(void)sdr_pmtu_arrived(&p->pmtu, need, SDR_PMTU_BY_HELLO, c->rel->now);
	else if (bytes < p->pmtu.size)
		(void)sdr_pmtu_begin(&p->pmtu, bytes, c->rel->now);
	sdr_path_mtu_apply(c, p);
}

void sdr_path_mtu_follow(struct sdr_conn *c)
{
	for (uint32_t i = 1; i < c->npaths; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		if (sdr_pmtu_reach(&p->pmtu, sdr_path_mtu_need(c), c->rel->now))
			sdr_path_mtu_apply(c, p);
	}
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Once for each size. */
static void path_found(struct sdr_conn *c, struct sdr_path *p)
{
	char text[96];

	if (p->pmtu.size == p->mtu_found || !sdr_pmtu_settled(&p->pmtu))
		return;
	p->mtu_found = p->pmtu.size;
	if (p->pmtu.size == p->pmtu.max || !c->rel->cbs->note)
		return;
	snprintf(text, sizeof(text), "path %u of %u carries packets of at most %u bytes",
		 p->index + 1u, c->npaths, p->pmtu.size);
	c->rel->cbs->note(c->rel->user, c->peer, text);
}

uint32_t sdr_path_mtu_probes(struct sdr_conn *c, struct sdr_path *p, uint32_t size[SDR_PMTU_PROBES])
{
	uint32_t n;

	if (p->state != SDR_PATH_ALIVE || sdr_pmtu_deadline(&p->pmtu) > c->rel->now ||
	    !c->rel->ops->busy(c))
		return 0;
	n = sdr_pmtu_probes(&p->pmtu, c->rel->now, size);
	path_found(c, p);
	return n;
}

void sdr_path_mtu_passed(struct sdr_conn *c, struct sdr_path *p, uint32_t bytes)
{
	if (sdr_pmtu_arrived(&p->pmtu, bytes, SDR_PMTU_BY_PROBE, c->rel->now))
		sdr_path_mtu_apply(c, p);
}
