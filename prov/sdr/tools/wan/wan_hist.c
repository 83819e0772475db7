/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Histogram of times: see wan_hist.h. */
#include "wan_hist.h"

static uint32_t wan_hist_step(uint64_t v)
{
	uint32_t bits;

	if (v >> WAN_HIST_FINE == 0)
		return (uint32_t)v;
	if (v >> WAN_HIST_TOP)
		return WAN_HIST_N - 1;
	bits = 63 - (uint32_t)__builtin_clzll(v); /* >= FINE */
	return ((bits - WAN_HIST_FINE) << WAN_HIST_FINE) + (uint32_t)(v >> (bits - WAN_HIST_FINE));
}

/* The middle of a step. */
static uint64_t wan_hist_value(uint32_t i)
{
	uint32_t shift;

	if (i < 1u << WAN_HIST_FINE)
		return i;
	shift = (i >> WAN_HIST_FINE) - 1;
	return ((uint64_t)(i - (shift << WAN_HIST_FINE)) << shift) + (1ull << shift >> 1);
}

void wan_hist_add(struct wan_hist *h, uint64_t v)
{
	h->n++;
	h->sum += v;
	if (v > h->max)
		h->max = v;
	h->count[wan_hist_step(v)]++;
}

void wan_hist_merge(struct wan_hist *to, const struct wan_hist *h)
{
	to->n += h->n;
	to->sum += h->sum;
	if (h->max > to->max)
		to->max = h->max;
	for (uint32_t i = 0; i < WAN_HIST_N; i++)
		to->count[i] += h->count[i];
}

uint64_t wan_hist_at(const struct wan_hist *h, double q)
{
	uint64_t want = (uint64_t)(q * (double)h->n), seen = 0, v;

	if (!h->n)
		return 0;
	if (want >= h->n)
		return h->max;
	for (uint32_t i = 0; i < WAN_HIST_N; i++) {
		seen += h->count[i];
		if (seen > want) {
			v = wan_hist_value(i);
			return v < h->max ? v : h->max;
		}
	}
	return h->max;
}
