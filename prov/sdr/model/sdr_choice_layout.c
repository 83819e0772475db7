/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Where the parity of a transfer lies, see sdr_choice_layout.h. */
#include "base/sdr_assert.h"
#include "sdr_choice_layout.h"

uint64_t sdr_choice_seg(uint64_t max, uint64_t unit, uint32_t k, uint32_t m)
{
	uint64_t seg, whole = k * unit;

	SDR_ASSERT(unit && k && m);
	seg = m > k ? max / m * k : max;
	seg = seg > whole ? seg / whole * whole : seg / unit * unit;
	return seg > unit ? seg : unit;
}

static uint64_t layout_even(uint64_t len, uint64_t seg, uint64_t unit)
{
	uint64_t n = (len + seg - 1) / seg, even = (len + n - 1) / n;

	even = (even + unit - 1) / unit * unit;
	return even < seg ? even : seg;
}

void sdr_choice_layout(struct sdr_choice_layout *o, uint64_t len, uint64_t cover, uint64_t seg,
		       uint64_t unit)
{
	uint64_t last;

	SDR_ASSERT(unit && seg && seg % unit == 0);
	SDR_ASSERT(cover && cover <= len);
	o->seg = layout_even(len, seg, unit);
	o->from = (len - cover) / unit * unit;
	last = (len - 1) / o->seg * o->seg;
	if (cover > o->seg)
		o->from = o->from / o->seg * o->seg;
	else if (o->from % o->seg && o->from < last)
		o->from = last;
	SDR_ASSERT(o->seg % unit == 0 && o->from % unit == 0 && o->from < len);
	SDR_ASSERT(o->from % o->seg == 0 || o->from >= last);
}
