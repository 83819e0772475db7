/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The dice of fault injection.  What happens to a packet depends on the seed and on its position
 * alone: each kind of fault has a random stream of its own, and a draw moves each one in use,
 * whatever the others say.  Losses in bursts are Gilbert's and Elliott's: in the bad state
 * everything is lost.
 *
 * All that a draw changes lies in struct sdr_fault_dice: who keeps a copy can undo draws.
 */
#include <string.h>

#include "base/sdr_rand.h"
#include "sdr_fault_impl.h"

void sdr_fault_dice_seed(struct sdr_fault_dice *d, uint64_t seed)
{
	int i;

	memset(d, 0, sizeof(*d));
	for (i = 0; i < SDR_FAULT_STREAMS; i++)
		d->rng[i] = sdr_rand64(&seed);
}

unsigned int sdr_fault_draw(struct sdr_fault *f)
{
	struct sdr_fault_dice *d = &f->dice;
	const struct sdr_fault_spec *s = &f->spec;
	unsigned int fate = 0;

	if (s->drop > 0) {
		double u = sdr_rand_unit(&d->rng[SDR_FAULT_S_DROP]);

		if (s->burst > 1 && s->drop < 1) {
			d->bad = d->bad ? u >= f->go_good : u < f->go_bad;
			fate |= d->bad ? SDR_FAULT_DROP : 0;
		} else {
			fate |= u < s->drop ? SDR_FAULT_DROP : 0;
		}
	}
	if (s->dup > 0 && sdr_rand_unit(&d->rng[SDR_FAULT_S_DUP]) < s->dup)
		fate |= SDR_FAULT_DUP;
	if (s->reorder > 0 && sdr_rand_unit(&d->rng[SDR_FAULT_S_REORDER]) < s->reorder)
		fate |= SDR_FAULT_REORDER;
	if (s->corrupt > 0 && sdr_rand_unit(&d->rng[SDR_FAULT_S_CORRUPT]) < s->corrupt)
		fate |= SDR_FAULT_CORRUPT;
	if (fate & SDR_FAULT_DROP) {
		d->drop++;
		return SDR_FAULT_DROP;
	}
	d->dup += !!(fate & SDR_FAULT_DUP);
	d->reorder += !!(fate & SDR_FAULT_REORDER);
	d->corrupt += !!(fate & SDR_FAULT_CORRUPT);
	return fate;
}
