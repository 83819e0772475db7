/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Messages of a connection that came before their turn: a ring by mseq, as long as the farthest of
 * them needs.
 *
 * A ring of EARLY_MIN is the connection's own and kept; what it is longer is charged to the
 * endpoint with the messages (sdr_unexp.c), and goes with the last of them.  Credit bounds it:
 * SDR_MSEQ_CREDIT entries.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/sdr_assert.h"
#include "sdr_early.h"
#include "sdr_follow.h"
#include "sdr_unexp.h"

#define EARLY_MIN 16u /* messages, power of two */

static struct sdr_unexp **early_at(const struct sdr_early *e, uint32_t mseq)
{
	return &e->slot[mseq & (e->cap - 1)];
}

static uint64_t early_bytes(uint32_t cap)
{
	return cap > EARLY_MIN ? (cap - EARLY_MIN) * sizeof(struct sdr_unexp *) : 0;
}

/* Entries that a ring with room for mseq has. */
static uint32_t early_fit(const struct sdr_conn *c, uint32_t mseq)
{
	uint32_t cap = c->msg->early.cap ? c->msg->early.cap : EARLY_MIN;

	while (cap <= mseq - c->rec.rx_mseq)
		cap *= 2;
	return cap;
}

struct sdr_unexp *sdr_early_at(const struct sdr_conn *c, uint32_t mseq)
{
	return c->msg->early.n ? *early_at(&c->msg->early, mseq) : NULL;
}

bool sdr_early_has(const struct sdr_conn *c, uint32_t mseq)
{
	return mseq - c->rec.rx_mseq < c->msg->early.cap && *early_at(&c->msg->early, mseq);
}

uint64_t sdr_early_growth(const struct sdr_conn *c, uint32_t mseq)
{
	return early_bytes(early_fit(c, mseq)) - early_bytes(c->msg->early.cap);
}

uint64_t sdr_early_charge(const struct sdr_conn *c)
{
	return early_bytes(c->msg->early.cap);
}

int sdr_early_put(struct sdr_conn *c, struct sdr_unexp *u)
{
	struct sdr_early *e = &c->msg->early, n = { .cap = early_fit(c, u->f.mseq), .n = e->n };

	SDR_ASSERT(u->conn == c && !sdr_early_has(c, u->f.mseq));
	SDR_ASSERT(c->rec.held || u->f.mseq != c->rec.rx_mseq || !sdr_follow_turn(c, &u->f));
	if (n.cap != e->cap) {
		n.slot = calloc(n.cap, sizeof(struct sdr_unexp *));
		if (!n.slot)
			return -ENOMEM;
		sdr_rel_steps(c->rel, e->cap);
		for (uint32_t i = 0; i < e->cap; i++)
			if (e->slot[i])
				*early_at(&n, e->slot[i]->f.mseq) = e->slot[i];
		c->rel->unexp_bytes += early_bytes(n.cap) - early_bytes(e->cap);
		free(e->slot);
		*e = n;
	}
	SDR_ASSERT(!(e->cap & (e->cap - 1)) && e->n < e->cap && !*early_at(e, u->f.mseq));
	*early_at(e, u->f.mseq) = u;
	e->n++;
	return 0;
}

static void early_free(struct sdr_conn *c)
{
	SDR_ASSERT(c->rel->unexp_bytes >= early_bytes(c->msg->early.cap));
	c->rel->unexp_bytes -= early_bytes(c->msg->early.cap);
	free(c->msg->early.slot);
	c->msg->early = (struct sdr_early){ .slot = NULL };
}

struct sdr_unexp *sdr_early_take(struct sdr_conn *c, uint32_t mseq)
{
	struct sdr_early *e = &c->msg->early;
	struct sdr_unexp *u = e->n ? *early_at(e, mseq) : NULL;

	if (!u)
		return NULL;
	SDR_ASSERT(u->f.mseq == mseq);
	*early_at(e, mseq) = NULL;
	if (!--e->n && e->cap > EARLY_MIN)
		early_free(c);
	return u;
}

void sdr_early_drop(struct sdr_conn *c)
{
	sdr_rel_steps(c->rel, c->msg->early.cap);
	for (uint32_t i = 0; i < c->msg->early.cap; i++)
		if (c->msg->early.slot[i])
			sdr_unexp_free(c->rel, c->msg->early.slot[i]);
	early_free(c);
}
