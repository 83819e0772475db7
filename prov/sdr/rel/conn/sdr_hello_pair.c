/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Is the path a slow one?  Told by the handshake, before the first window leaves.
 *
 * A first HELLO that goes in full size as well (sdr_hello_tx.c) goes so twice:
 *
 *     sent        LONG SHORT LONG SHORT                back to back
 *     answered    |   |          |   |                 the line takes as long as they are
 *                 0   e         gap  gap + e           when
 *
 * A bottleneck passes them one behind the other, so `gap` is the time that it takes for a SHORT and
 * a LONG, and the path passes no more than that (packet pairs: Keshav, SIGCOMM 1991).  The answers
 * are short, the way back adds nothing; others' packets in between make the gap longer, and are a
 * reason to begin with less, too.  Who is called sees the HELLOs themselves; it takes its own
 * direction to be as slow as theirs, and finds out soon if it is not.
 *
 * The first answer opens the connection, as ever: nothing waits for the others but the greater part
 * of the first window (sdr_cc_pair_waits), which comes with the second LONG's, on a fast path at
 * once.  It is a question for slow paths alone, where the first window of an unknown path is more
 * than line and queue hold: a gap of less than SDR_HELLO_PAIR_LEAST_NS says nothing.  A longer one
 * is believed when the SHORTs come in their places:
 *
 *     the first      at e after the first LONG, and not much later: else packets are late by chance
 *     the second     as long after the second LONG.  A host that had stopped for a moment hands out
 *                    both at once, a packet that was overtaken comes behind it
 *
 * These are the times of hosts, not of threads that may be late, where a HELLO has a stamp: an
 * answer says when its HELLO came (SDR_HELLO_CAME).  Then packets may be handed out together by
 * whatever coalesces them, and a second SHORT that came with its LONG is no sign of a host that
 * stopped.
 *
 * Whatever else comes, or does not (a HELLO or an answer was lost, overtaken, repeated), says
 * nothing, and the connection begins as without.  Where the path does not carry the long ones, what
 * comes first is a SHORT or the answer to it: nothing is asked.
 *
 * A state in the connection, no timers, no allocation; the endpoint's thread.  A HELLO may be
 * forged: the worst that it does is a first window of four packets.
 */
#include <stdio.h>
#include <string.h>
#include "sdr_hello_pair.h"

/* a SHORT may be late by that share of the gap, 1 in; and early by that of its own time */
#define PAIR_LATE  8u
#define PAIR_EARLY 2u
/* ns: of a gap; the time of a peer's clock goes round after 72 minutes */
#define PAIR_GAP_MAX 1e10

void sdr_hello_pair_left(struct sdr_conn *c, uint32_t longer, uint32_t shorter)
{
	SDR_ASSERT(longer > shorter && shorter);
	if (c->pair.n)
		return; /* a repeat, while the answers to those before it come */
	c->pair.ours = true;
	c->pair.longer = longer;
	c->pair.shorter = shorter;
}

void sdr_hello_pair_forget(struct sdr_conn *c)
{
	if (!c->pair.ours)
		memset(&c->pair, 0, sizeof(c->pair));
}

/* IP bytes. */
static double pair_wire(const struct sdr_conn *c, uint32_t bytes)
{
	return bytes + c->rel->info.ctl_over;
}

/* Of a gap, the time that a SHORT takes, ns. */
static double pair_short(const struct sdr_conn *c, double gap)
{
	double shorter = pair_wire(c, c->pair.shorter);

	return gap * shorter / (shorter + pair_wire(c, c->pair.longer));
}

static void pair_note(const struct sdr_conn *c)
{
	char text[96];

	if (!c->pair.rate_Bps || !c->rel->cbs->note)
		return;
	snprintf(text, sizeof(text), "a slow path: %.1f Mbit/s at most, says the handshake",
		 8 * (double)c->pair.rate_Bps / 1e6);
	c->rel->cbs->note(c->rel->user, c->peer, text);
}

/* It is over.  rate_Bps: what the path passes at most; 0: nothing was told. */
static void pair_end(struct sdr_conn *c, double rate_Bps)
{
	c->pair.over = true;
	c->pair.rate_Bps = (uint64_t)rate_Bps;
	if (!c->hs.validated)
		return;
	sdr_cc_pair_told(&c->main.cc, c->pair.rate_Bps, c->rel->now);
	pair_note(c);
}

void sdr_hello_pair_begin(struct sdr_conn *c)
{
	SDR_ASSERT(c->hs.validated);
	if (!c->pair.n)
		return;
	sdr_cc_pair_waits(&c->main.cc, c->rel->now);
	if (c->pair.over)
		pair_end(c, (double)c->pair.rate_Bps);
}

/* The second LONG. */
static void pair_gap(struct sdr_conn *c)
{
	double gap = (double)(c->pair.at[2] - c->pair.at[0]);
	double first = (double)(c->pair.at[1] - c->pair.at[0]);

	if (gap < SDR_HELLO_PAIR_LEAST_NS || gap > PAIR_GAP_MAX ||
	    first > pair_short(c, gap) + gap / PAIR_LATE)
		pair_end(c, 0);
}

/* The second SHORT. */
static void pair_rate(struct sdr_conn *c)
{
	double gap = (double)(c->pair.at[2] - c->pair.at[0]);
	double second = (double)(c->pair.at[3] - c->pair.at[2]), due = pair_short(c, gap);
	double wire = pair_wire(c, c->pair.longer) + pair_wire(c, c->pair.shorter);

	if ((second < due / PAIR_EARLY && !c->pair.stamped) || second > due + gap / PAIR_LATE)
		wire = 0;
	pair_end(c, wire / gap * 1e9);
}

/* The next of the four; at: when it came, ns of either clock. */
static void pair_next(struct sdr_conn *c, uint32_t ts_us, uint32_t bytes, uint64_t at, bool stamped)
{
	if (!c->pair.n)
		c->pair.stamped = stamped;
	if (bytes != (c->pair.n & 1 ? c->pair.shorter : c->pair.longer) ||
	    stamped != c->pair.stamped || (c->pair.n && at < c->pair.at[c->pair.n - 1])) {
		pair_end(c, 0);
		return;
	}
	c->pair.ts_us = ts_us;
	c->pair.at[c->pair.n++] = at;
	if (c->pair.n == 3)
		pair_gap(c);
	else if (c->pair.n == 4)
		pair_rate(c);
}

void sdr_hello_pair_answered(struct sdr_conn *c, const struct sdr_hello *h)
{
	uint64_t at = h->has_came ? h->came_us * 1000ull : c->rel->now;

	/* none is out; the answer to another; to a longer one, that was tried as well */
	if (!c->pair.ours || c->pair.over || (c->pair.n && h->ts_us != c->pair.ts_us) ||
	    h->seen > c->pair.longer)
		return;
	pair_next(c, h->ts_us, h->seen, at, h->has_came);
	if (c->pair.n == 1 && !c->pair.over)
		sdr_hello_pair_begin(c);
}

void sdr_hello_pair_came(struct sdr_conn *c, uint32_t ts_us, uint32_t bytes)
{
	uint64_t at = sdr_rel_since(c->rel);

	if (c->pair.ours || c->pair.over || !c->hs.passive || (c->pair.n && ts_us != c->pair.ts_us))
		return;
	/* the longest may have come; a SHORT is shorter than what every path carries */
	if (c->pair.n < 2 && bytes > SDR_CTL_MIN) {
		c->pair.n = 0;
		c->pair.longer = bytes;
	} else if (c->pair.n < 2) {
		c->pair.shorter = bytes;
	}
	pair_next(c, ts_us, bytes, at ? at : c->rel->now, at);
	if (c->pair.n == 1 && !c->pair.over && c->hs.validated)
		sdr_hello_pair_begin(c);
}
