/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who says records in the name of a device to its peer, or of that to the device
 * (test_rel_liar.h: to node 0, in anybody's).
 */
#ifndef TEST_REL_BERTH_LIAR_H
#define TEST_REL_BERTH_LIAR_H

#include "../bed/bed.h"

struct liar {
	struct bed *b;
	struct sdr_conn *c; /* the victim's */
	uint32_t victim, pn, rseq;
};

/* The victim, node 0 or 1 of b, hears packets in the name of the other. */
static inline struct liar liar_in(struct bed *b, uint32_t victim)
{
	struct liar l = { .b = b, .victim = victim, .pn = 1000 };

	l.c = bed_conn(b, victim, !victim);
	l.rseq = l.c->rec.rx_next;
	return l;
}

static inline void say_rec(struct liar *l, struct sdr_frame_rec f)
{
	uint8_t buf[256];
	size_t n;

	f.rseq = l->rseq++;
	n = sdr_frame_rec_encode(buf, sizeof(buf), &f);
	assert_true(n);
	bed_forge(l->b, !l->victim, l->victim, l->c->id.cid, l->pn++, buf, n);
	bed_run(l->b, 1000);
}

#endif /* TEST_REL_BERTH_LIAR_H */
