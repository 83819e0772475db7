/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Random losses: independent, and in bursts (Gilbert-Elliott).
 *
 * The arithmetic of bursts is that of the simulated network (uc/sim/sdr_sim.h): where the line has
 * a rate, a burst is a matter of time on it.  The state moves on with the time from the start of
 * one packet to the start of the next, in slots of a full packet, and a packet that meets the bad
 * state is lost: full packets back to back see bursts of ge_burst packets and lose the share
 * ge_loss; after an idle time the state is forgotten.  Without a rate, or with bursts of one
 * packet, the state moves on with each packet.
 */
#include <math.h>

#include "base/sdr_rand.h"
#include "wan_loss.h"

/*
 * The chain forgets by a factor of lambda a slot: P(bad after t slots) = pi + (s - pi) * lambda^t,
 * pi being the share of bad slots and s the state (0, 1).
 */
static bool wan_loss_bad(struct wan_loss *s, const struct wan_link *c, uint64_t start_ps)
{
	double stay = c->ge_burst > 1 ? 1 - 1 / c->ge_burst : 0;
	double enter = c->ge_loss < 1 ? c->ge_loss * (1 - stay) / (1 - c->ge_loss) : 1;
	double p = s->bad ? stay : enter, lambda = stay - enter, slot_ps = 0;
	double gone_ps = start_ps > s->at_ps ? (double)(start_ps - s->at_ps) : 0;

	if (c->rate_bps)
		slot_ps = (double)c->slot_bytes * 8e12 / (double)c->rate_bps;
	if (slot_ps > 0 && lambda > 0 && fabs(gone_ps - slot_ps) > 1)
		p = c->ge_loss + (s->bad - c->ge_loss) * pow(lambda, gone_ps / slot_ps);
	s->at_ps = start_ps;
	s->bad = sdr_rand_unit(&s->rng) < p;
	return s->bad;
}

bool wan_loss_hit(struct wan_loss *s, const struct wan_link *cfg, uint64_t start_ps)
{
	bool lost = false;

	if (cfg->ge_loss > 0)
		lost = wan_loss_bad(s, cfg, start_ps);
	if (cfg->loss > 0 && sdr_rand_unit(&s->rng) < cfg->loss)
		lost = true;
	return lost;
}
