/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Numbering of a transfer's messages, for both sides: pure arithmetic on what the record says.  The
 * count of messages depends on len, seg and from alone, so that a transfer whose code is refused
 * can be skipped number by number: in one round, which is why there is a limit.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_plan.h"

#define PLAN_MSGS_MAX (1u << 20)

int sdr_plan_init(struct sdr_plan *p, uint64_t len, uint64_t seg, const struct sdr_frame_code *code)
{
	uint64_t n;

	memset(p, 0, sizeof(*p));
	p->len = len;
	p->seg = code ? code->seg : seg;
	n = len / p->seg + (len % p->seg != 0);
	if (!len || n > PLAN_MSGS_MAX / 2)
		return -EINVAL;
	p->nsegs = p->first_coded = p->nmsgs = (uint32_t)n;
	if (!code)
		return 0;
	p->code = *code;
	if (code->from < len) {
		p->first_coded = (uint32_t)(code->from / p->seg);
		p->nmsgs += p->nsegs - p->first_coded;
	}
	SDR_ASSERT(p->first_coded <= p->nsegs && p->nmsgs <= PLAN_MSGS_MAX);
	SDR_ASSERT(p->nmsgs == 2 * p->nsegs - p->first_coded);
	return 0;
}

int sdr_plan_berth(struct sdr_plan *p, uint32_t mtu, uint64_t len, bool data)
{
	uint64_t at = data ? (p->len + mtu - 1) / mtu * mtu : 0;

	if (p->first_coded == p->nsegs)
		return 0;
	p->par_at = at;
	p->par_each = len < at ? 0 : (len - at) / (p->nsegs - p->first_coded) / mtu * mtu;
	return p->par_each ? 0 : -EINVAL;
}

void sdr_plan_msg(const struct sdr_plan *p, uint32_t i, struct sdr_plan_msg *m)
{
	SDR_ASSERT(i < p->nmsgs);
	m->parity = false;
	m->seg = i;
	if (i >= p->first_coded) {
		m->seg = p->first_coded + (i - p->first_coded) / 2;
		m->parity = (i - p->first_coded) & 1;
	}
	m->coded = m->seg >= p->first_coded && !m->parity;
	m->off = m->seg * p->seg;
	m->len = p->len - m->off < p->seg ? p->len - m->off : p->seg;
	SDR_ASSERT(m->seg < p->nsegs && m->off < p->len && m->len);
}

int sdr_plan_geometry(const struct sdr_plan *p, const struct sdr_plan_msg *m, uint32_t mtu,
		      uint64_t parity_max, struct sdr_code *g)
{
	struct sdr_code_attr a = {
		.kind = p->code.kind,
		.flags = p->code.flags,
		.k = p->code.k,
		.m = p->code.m,
		.mtu = mtu,
		.chunk_pkts = p->code.chunk / mtu,
		.len = m->len,
		.first = p->code.from > m->off ? (uint32_t)((p->code.from - m->off) / mtu) : 0,
		.parity_max = p->par_each && p->par_each < parity_max ? p->par_each : parity_max,
	};

	return sdr_code_init(g, &a);
}

int sdr_plan_check(const struct sdr_plan *p, uint32_t mtu, uint64_t max)
{
	/*
	 * They differ in where they begin and end only: the first coded one, one in the middle, the
	 * last.
	 */
	uint32_t last = p->nsegs - 1, segs[] = { p->first_coded, p->first_coded + 1, last };
	struct sdr_plan_msg m;
	struct sdr_code g;

	if (!p->code.kind)
		return 0;
	if (p->code.from >= p->len || p->seg > max || p->code.chunk % mtu ||
	    p->seg % p->code.chunk || p->code.from % p->code.chunk)
		return -EINVAL;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t s = segs[i] < last ? segs[i] : last;

		sdr_plan_msg(p, p->first_coded + 2 * (s - p->first_coded), &m);
		if (sdr_plan_geometry(p, &m, mtu, max, &g))
			return -EINVAL;
	}
	return 0;
}
