/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a transfer is cut into messages: every byte in exactly one segment, parity behind what it
 * protects, the count of messages the same whatever the code is, and nothing accepted that a
 * segment's geometry refuses.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>
#include "rel/bulk/sdr_plan.h"

#define MTU 4096u
#define SEG (16u * MTU)
#define MAX (1u << 26) /* bytes of a message */

static struct sdr_frame_code code_of(uint64_t from)
{
	return (struct sdr_frame_code){
		.kind = SDR_CODE_MDS, .k = 4, .m = 2, .chunk = 2 * MTU, .seg = SEG, .from = from
	};
}

static void plan__every_byte_has_its_message(void **state)
{
	(void)state;
	for (uint64_t len = 1; len < 6 * SEG; len += 2047) {
		for (uint64_t from = 0; from < 7 * SEG; from += 2 * MTU) {
			struct sdr_frame_code code = code_of(from);
			uint64_t at = 0, segs = 0, parity = 0;
			struct sdr_plan p;
			struct sdr_plan_msg m, last = { .coded = false };

			assert_int_equal(sdr_plan_init(&p, len, 0, &code), 0);
			for (uint32_t i = 0; i < p.nmsgs; i++) {
				sdr_plan_msg(&p, i, &m);
				assert_int_equal(m.parity, last.coded); /* right behind its data */
				if (m.parity) {
					assert_int_equal(m.seg, last.seg);
					assert_int_equal(m.off, last.off);
					assert_int_equal(m.len, last.len);
					assert_false(m.coded);
					parity++;
				} else {
					assert_int_equal(m.seg, segs++);
					assert_int_equal(m.off, at);
					assert_true(m.len && m.len <= SEG);
					at += m.len;
					assert_int_equal(m.coded, from < len && m.off + SEG > from);
				}
				last = m;
			}
			assert_false(last.coded);
			assert_int_equal(at, len);
			assert_int_equal(segs, p.nsegs);
			assert_int_equal(segs + parity, p.nmsgs);
			assert_int_equal(sdr_plan_check(&p, MTU, MAX), from < len ? 0 : -EINVAL);
		}
	}
}

static void plan__without_a_code(void **state)
{
	struct sdr_plan p;
	struct sdr_plan_msg m;

	(void)state;
	assert_int_equal(sdr_plan_init(&p, 5 * SEG + 1, SEG, NULL), 0);
	assert_int_equal(p.nmsgs, 6);
	assert_int_equal(p.nsegs, 6);
	for (uint32_t i = 0; i < 6; i++) {
		sdr_plan_msg(&p, i, &m);
		assert_true(!m.parity && !m.coded && m.seg == i && m.off == i * (uint64_t)SEG);
		assert_int_equal(m.len, i < 5 ? SEG : 1);
	}
	assert_int_equal(sdr_plan_check(&p, MTU, 1), 0); /* nothing to decode */
}

/* Covered packets begin where "from" says, in the segment that it cuts only. */
static void plan__from_cuts_one_segment(void **state)
{
	struct sdr_frame_code code = code_of(2 * SEG + 6 * MTU);
	struct sdr_plan_msg m;
	struct sdr_plan p;
	struct sdr_code g;

	(void)state;
	assert_int_equal(sdr_plan_init(&p, 5 * SEG - 100, 0, &code), 0);
	assert_int_equal(p.first_coded, 2);
	assert_int_equal(p.nmsgs, 5 + 3);
	for (uint32_t i = 2; i < 8; i += 2) {
		sdr_plan_msg(&p, i, &m);
		assert_true(m.coded);
		assert_int_equal(sdr_plan_geometry(&p, &m, MTU, MAX, &g), 0);
		assert_int_equal(g.a.first, i == 2 ? 6 : 0);
		assert_int_equal(g.npkts, 16);
		assert_int_equal(g.chunks, i == 2 ? 5 : 8);
		assert_true((uint64_t)g.par_pkts * MTU <= MAX);
	}
}

static void plan__what_has_no_sense_is_refused(void **state)
{
	struct sdr_frame_code code = code_of(0);
	struct sdr_plan p;

	(void)state;
	assert_int_equal(sdr_plan_init(&p, 0, SEG, NULL), -EINVAL);
	assert_int_equal(sdr_plan_init(&p, 0, 0, &code), -EINVAL);
	assert_int_equal(sdr_plan_init(&p, UINT64_MAX, MTU, NULL), -EINVAL);
	assert_int_equal(sdr_plan_init(&p, UINT64_MAX, 0, &code), -EINVAL);
	assert_int_equal(sdr_plan_init(&p, (1ull << 19) * 3, 3, NULL), 0);
	assert_int_equal(sdr_plan_init(&p, (1ull << 19) * 3 + 1, 3, NULL), -EINVAL);
	code.seg = 3;
	assert_int_equal(sdr_plan_init(&p, (1ull << 19) * 3, 0, &code), 0);
	assert_int_equal(p.nmsgs, 1u << 20);
}

static void plan__what_nobody_decodes_is_refused(void **state)
{
	static const struct {
		struct sdr_frame_code code;
		uint64_t len, max;
	} bad[] = {
		/* chunk: not of packets */
		{ { SDR_CODE_MDS, 0, 4, 2, MTU / 2, SEG, 0 }, SEG, MAX },
		/* a segment: not of chunks */
		{ { SDR_CODE_MDS, 0, 4, 2, 3 * MTU, SEG, 0 }, SEG, MAX },
		/* from: not of chunks */
		{ { SDR_CODE_MDS, 0, 4, 2, 2 * MTU, SEG, MTU }, SEG, MAX },
		/* from: the end */
		{ { SDR_CODE_MDS, 0, 4, 2, 2 * MTU, SEG, SEG }, SEG, MAX },
		/* longer than a message */
		{ { SDR_CODE_MDS, 0, 4, 2, 2 * MTU, SEG, 0 }, SEG, SEG - 1 },
		/* its parity is */
		{ { SDR_CODE_MDS, 0, 1, 2, 2 * MTU, SEG, 0 }, SEG, SEG },
		/* and of the last it is not */
		{ { SDR_CODE_MDS, 0, 1, 2, 2 * MTU, SEG, 0 }, 9 * SEG + 1, SEG },
		/* of the second */
		{ { SDR_CODE_MDS, 0, 1, 2, 2 * MTU, SEG, SEG - 2 * MTU }, 2 * SEG, SEG },
		{ { SDR_CODE_MDS, 0, 250, 7, 2 * MTU, SEG, 0 }, SEG, MAX },
		{ { SDR_CODE_MDS, 0, 0, 2, 2 * MTU, SEG, 0 }, SEG, MAX },
		{ { SDR_CODE_MDS, 0, 4, 0, 2 * MTU, SEG, 0 }, SEG, MAX },
		{ { SDR_CODE_MDS, 4, 4, 2, 2 * MTU, SEG, 0 }, SEG, MAX }, /* unknown flag */
		{ { 3, 0, 4, 2, 2 * MTU, SEG, 0 }, SEG, MAX },		  /* and kind */
	};
	struct sdr_plan p;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(sdr_plan_init(&p, bad[i].len, 0, &bad[i].code), 0);
		if (sdr_plan_check(&p, MTU, bad[i].max) != -EINVAL)
			fail_msg("case %zu is accepted", i);
	}
}

/* What check accepts, every segment has a geometry for. */
static void plan__what_is_accepted_can_be_decoded(void **state)
{
	uint64_t x = 1, good = 0;

	(void)state;
	for (uint32_t n = 0; n < 20000; n++) {
		struct sdr_frame_code code;
		struct sdr_plan_msg m;
		struct sdr_plan p;
		struct sdr_code g;
		uint32_t v[8];

		for (uint32_t i = 0; i < 8; i++) {
			x = x * 6364136223846793005ull + 1442695040888963407ull;
			v[i] = (uint32_t)(x >> 33);
		}
		code = (struct sdr_frame_code){
			.kind = (uint8_t)(1 + v[0] % 2),
			.flags = (uint8_t)(v[1] % 4),
			.k = (uint16_t)(1 + v[2] % 40),
			.m = (uint16_t)(1 + v[3] % 40),
			.chunk = (1 + v[4] % 6) * MTU,
		};
		code.seg = code.chunk * (1 + v[5] % 20);
		code.from = code.chunk * (uint64_t)(v[6] % 80);
		assert_int_equal(sdr_plan_init(&p, 1 + v[7] % (7 * code.seg), 0, &code), 0);
		if (sdr_plan_check(&p, MTU, 1 << 20))
			continue;
		good++;
		for (uint32_t i = 0; i < p.nmsgs; i++) {
			sdr_plan_msg(&p, i, &m);
			if (!m.coded)
				continue;
			assert_int_equal(sdr_plan_geometry(&p, &m, MTU, 1 << 20, &g), 0);
			assert_true((uint64_t)g.par_pkts * MTU <= 1 << 20);
			assert_true(g.a.first < g.npkts);
		}
	}
	assert_in_range(good, 2000, 19999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan__every_byte_has_its_message),
		cmocka_unit_test(plan__without_a_code),
		cmocka_unit_test(plan__from_cuts_one_segment),
		cmocka_unit_test(plan__what_has_no_sense_is_refused),
		cmocka_unit_test(plan__what_nobody_decodes_is_refused),
		cmocka_unit_test(plan__what_is_accepted_can_be_decoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
