/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * SDR_REL_F_MORE: operations that are posted one behind the other leave together.
 */
#include "../bed/bed.h"

#define N   20u
#define LEN 8u

/* A connection that is open and quiet. */
static struct bed *quiet(void)
{
	struct bed *b = bed_open(2);

	bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	bed_send(b, 0, 1, bed_buf(b, LEN, 1), LEN, 0);
	bed_wait_all(b, BED_SEC);
	bed_run(b, BED_SEC);
	return b;
}

/* n sends; all say that more follows, but for the last if `ends`.  Packets that left by then. */
static uint64_t burst(struct bed *b, uint32_t n, uint16_t flags, bool ends)
{
	uint64_t before = bed_seen(b, 0, BED_PACKET);

	for (uint32_t i = 0; i < n; i++) {
		bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
		bed_send(b, 0, 1, bed_buf(b, LEN, 2 + i), LEN, ends && i == n - 1 ? 0 : flags);
	}
	return bed_seen(b, 0, BED_PACKET) - before;
}

static void more__leave_together(void **state)
{
	struct bed *b = quiet();

	(void)state;
	/* each by itself, at once */
	assert_int_equal(burst(b, N, 0, true), N);
	bed_wait_all(b, BED_SEC);
	bed_run(b, BED_SEC);
	/* with the last one, at once: one packet holds them */
	assert_int_equal(burst(b, N, SDR_REL_F_MORE, true), 1);
	bed_wait_all(b, BED_SEC);
	bed_close(b);
}

/* Who promised more and posts no more is not forgotten: a round is due at once. */
static void more__and_nothing_follows(void **state)
{
	struct bed *b = quiet();
	uint64_t before = bed_seen(b, 0, BED_PACKET), now = bed_now(b);

	(void)state;
	assert_int_equal(burst(b, N, SDR_REL_F_MORE, false), 0);
	assert_true(sdr_rel_deadline(b->node[0].ep->rel) <= now);
	bed_rounds(b);
	assert_int_equal(bed_seen(b, 0, BED_PACKET), before + 1);
	assert_int_equal(bed_now(b), now);
	bed_wait_all(b, BED_SEC);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more__leave_together),
		cmocka_unit_test(more__and_nothing_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
