/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The model of sdr_explore: what the SDK promises, in a few lines without pointers.  It knows
 * messages by number only (no slots, no generations), which is the point: what the real code does
 * with slots and generations must look as if they were not there.
 */
#include "explore.h"

uint8_t model_base(const struct model *s)
{
	uint8_t b = 0;

	while (b < s->posted && s->rx[b] == RX_DONE)
		b++;
	return b;
}

static bool model_stale(const struct model *s, uint32_t m)
{
	return m + IDS < s->limit || s->key[m] == KEY_VOID;
}

uint8_t model_known(const struct model *s)
{
	uint8_t n = 0;

	while (n < s->limit && (s->key[n] || model_stale(s, n)))
		n++;
	return n;
}

static uint32_t model_events(const struct model *s)
{
	uint32_t n = 0, m, p;

	for (m = 0; m < w->msgs; m++)
		for (p = 0; p < PKTS; p++)
			n += s->p[m][p].events;
	return n;
}

/* An ID is free, and the sender is known to have come close enough. */
bool model_may_post(const struct model *s)
{
	return s->posted - model_base(s) < (int)IDS &&
	       s->posted - s->seen < (int)((GENS - 1) * IDS);
}

/*
 * Each message's key by itself, with the least `posted` that it can come with: larger datagrams are
 * the same as several of these.  Those that were sent while the receive was posted may come at any
 * time after.
 */
static uint32_t model_acts_keys(const struct model *s, struct act *a, uint32_t n)
{
	uint32_t m;

	for (m = 0; m < s->posted; m++) {
		if (m + IDS < s->limit)
			continue;
		a[n++] = (struct act){ ACT_KEY, (uint8_t)m, KEY_LIVE };
		if (s->rx[m] == RX_DONE)
			a[n++] = (struct act){ ACT_KEY, (uint8_t)m, KEY_VOID };
	}
	return n;
}

uint32_t model_acts(const struct model *s, struct act *a)
{
	uint32_t n = 0, m, p, ev = model_events(s),
		 known = world_rkeyed() ? model_known(s) : s->limit;

	if (s->posted < w->msgs && model_may_post(s))
		a[n++] = (struct act){ ACT_POST, s->posted, 0 };
	for (m = 0; m < w->msgs; m++) {
		if (s->rx[m] == RX_LIVE)
			a[n++] = (struct act){ ACT_COMPLETE, (uint8_t)m, 0 };
		for (p = 0; p < PKTS; p++) {
			if (s->p[m][p].copies && (w->mode == LOOP_SOFT || ev < w->events_max))
				a[n++] = (struct act){ ACT_DELIVER, (uint8_t)m, (uint8_t)p };
			if (s->p[m][p].events)
				a[n++] = (struct act){ ACT_EVENT, (uint8_t)m, (uint8_t)p };
		}
	}
	if (world_rkeyed())
		n = model_acts_keys(s, a, n);
	/* newer ones, and one that says nothing new */
	for (m = s->limit ? s->limit : 1u; !world_rkeyed() && m <= s->posted; m++)
		a[n++] = (struct act){ ACT_CTS, (uint8_t)m, 0 };
	for (m = s->seen + 1u; m <= known; m++)
		a[n++] = (struct act){ ACT_SEEN, (uint8_t)m, 0 };
	if (w->lazy && s->sent < s->limit &&
	    (!world_rkeyed() || s->key[s->sent] || model_stale(s, s->sent)))
		a[n++] = (struct act){ ACT_SEND, s->sent, 0 };
	return n;
}

static void model_bit(struct model *s, struct act a)
{
	if (s->rx[a.m] != RX_LIVE)
		return;
	s->p[a.m][a.p].bit = true;
	if (s->seen <= a.m && !world_rkeyed())
		s->seen = a.m + 1;
}

/*
 * The sender's next message: onto the network, unless the receiver is known to have completed it.
 */
static void model_send(struct model *s)
{
	uint32_t m = s->sent++, p;

	for (p = 0; p < PKTS; p++)
		s->p[m][p].copies = model_stale(s, m) ? 0 : w->copies;
}

/* The sender learns of message a.m; what may go now goes, those in a hurry. */
static void model_key_take(struct model *s, struct act a)
{
	uint32_t m, p;

	if (s->limit < a.m + 1)
		s->limit = a.m + 1;
	if (s->key[a.m] < a.p)
		s->key[a.m] = a.p;
	for (m = 0; m < s->limit && !w->lazy; m++) {
		if (s->went >> m & 1 || !(s->key[m] || model_stale(s, m)))
			continue;
		s->went |= (uint8_t)(1u << m);
		for (p = 0; p < PKTS; p++)
			s->p[m][p].copies = model_stale(s, m) ? 0 : w->copies;
	}
}

void model_step(struct model *s, struct act a)
{
	struct model_pkt *k = &s->p[a.m < MSGS_MAX ? a.m : 0][a.p];
	uint32_t p;

	switch (a.kind) {
	case ACT_POST:
		s->rx[a.m] = RX_LIVE;
		s->posted++;
		if (w->bounded && a.m >= BOUND)
			for (p = 0; p < PKTS; p++)
				s->p[a.m - BOUND][p].copies = s->p[a.m - BOUND][p].events = 0;
		break;
	case ACT_COMPLETE:
		s->rx[a.m] = RX_DONE;
		break;
	case ACT_CTS:
		s->limit = a.m;
		while (!w->lazy && s->sent < s->limit)
			model_send(s);
		break;
	case ACT_KEY:
		model_key_take(s, a);
		break;
	case ACT_SEND:
		model_send(s);
		break;
	case ACT_SEEN:
		s->seen = a.m;
		break;
	case ACT_DELIVER:
		k->copies--;
		if (s->rx[a.m] == RX_LIVE)
			k->bytes = true;
		if (w->mode == LOOP_SOFT)
			model_bit(s, a);
		else if (w->mode != LOOP_RKEYED || s->rx[a.m] == RX_LIVE)
			k->events++;
		break;
	case ACT_EVENT:
		k->events--;
		model_bit(s, a);
		break;
	}
	/* Of a completed message nothing matters any more but what is still under way. */
	for (p = 0; p < PKTS; p++)
		if (a.kind != ACT_CTS && a.kind != ACT_KEY && a.kind != ACT_SEEN &&
		    a.kind != ACT_SEND && s->rx[a.m] == RX_DONE)
			s->p[a.m][p].bytes = s->p[a.m][p].bit = false;
}

struct key model_key(const struct model *s)
{
	struct key k = { s->limit, (((uint64_t)s->posted << 3 | s->seen) << 3 | s->sent)
						   << MSGS_MAX |
					   s->went };
	uint32_t m, p;

	for (m = 0; m < MSGS_MAX; m++)
		k.a = k.a << 2 | s->key[m];
	for (m = 0; m < MSGS_MAX; m++) {
		uint64_t *x = m < 3 ? &k.a : &k.b;

		*x = *x << 2 | s->rx[m];
		for (p = 0; p < PKTS; p++)
			*x = *x << 6 | (uint64_t)s->p[m][p].copies << 4 |
			     (uint64_t)s->p[m][p].events << 2 | (uint64_t)s->p[m][p].bytes << 1 |
			     s->p[m][p].bit;
	}
	return k;
}
