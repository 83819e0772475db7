/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Parts of packets: every cut comes together again, and nothing else is taken for a part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>
#include "wire/sdr_part.h"

static uint8_t frames[SDR_PART_TOTAL_MAX], got[SDR_PART_TOTAL_MAX];

/* Bytes of the part in out. */
static size_t put(uint32_t total, uint32_t part, uint32_t of, uint8_t *out)
{
	struct sdr_part h = { .cid = 0x1122334455667788, .pn = 77 };

	h.total = (uint16_t)total;
	h.part = (uint8_t)part;
	h.of = (uint8_t)of;
	return sdr_part_encode(out, &h, frames);
}

static void part__every_cut_comes_together(void **state)
{
	static const uint32_t total[] = { 100, 1148, 1149, 2000, 3999, 4000, SDR_PART_TOTAL_MAX };
	uint8_t p[SDR_CTL_MAX];
	struct sdr_part h;

	(void)state;
	for (size_t i = 0; i < sizeof(frames); i++)
		frames[i] = (uint8_t)(i * 31 + i / 256);
	for (uint32_t t = 0; t < 7; t++) {
		for (uint32_t of = 2; of <= SDR_PARTS_OF; of++) {
			uint32_t sum = 0;

			memset(got, 0, sizeof(got));
			for (uint32_t k = of; k--;) {
				size_t n = put(total[t], k, of, p);

				assert_int_equal(
					sdr_part_decode(p + SDR_CLASS_LEN, n - SDR_CLASS_LEN, &h),
					0);
				assert_true(h.cid == 0x1122334455667788 && h.pn == 77);
				assert_int_equal(h.total, total[t]);
				assert_true(h.at + h.len <= h.total && h.len);
				memcpy(got + h.at, h.bytes, h.len);
				sum += h.len;
			}
			assert_int_equal(sum, total[t]);
			assert_memory_equal(got, frames, total[t]);
		}
	}
}

static void part__nothing_else(void **state)
{
	uint8_t p[SDR_CTL_MAX], bad[SDR_CTL_MAX];
	struct sdr_part h;
	size_t n = put(2000, 1, 3, p) - SDR_CLASS_LEN;

	(void)state;
	memmove(p, p + SDR_CLASS_LEN, n);
	assert_int_equal(sdr_part_decode(p, n, &h), 0);
	for (size_t len = 0; len < n; len++)
		assert_int_equal(sdr_part_decode(p, len, &h), -EBADMSG);
	assert_int_equal(sdr_part_decode(p, n + 1, &h), -EBADMSG);
	static const struct {
		uint16_t total;
		uint8_t part, of;
	} no[] = { { 2000, 3, 3 },
		   { 2000, 0, 0 },
		   { 2000, 0, 1 },
		   { 2000, 0, 9 },
		   { 0, 0, 2 },
		   { 1, 0, 2 },
		   { SDR_PART_TOTAL_MAX + 1, 0, 4 },
		   { 9, 7, 8 } };

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		memcpy(bad, p, n);
		bad[12] = (uint8_t)no[i].total;
		bad[13] = (uint8_t)(no[i].total >> 8);
		bad[14] = no[i].part;
		bad[15] = no[i].of;
		for (size_t len = 16; len <= n; len++)
			assert_int_equal(sdr_part_decode(bad, len, &h), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(part__every_cut_comes_together),
		cmocka_unit_test(part__nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
