/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Every consumer's request, and the later calls that depend on it: none may get lost.
 *
 * The tables (test_consumers_*.c) are what programs that run on libfabric ask of a provider and do
 * with the answer, a row each.  This file asks, and holds the row's verdict against what happened,
 * in both directions: a row that is granted today must stay so, and one that is refused names the
 * reason, which is proved by asking without it: with any one of a row's reasons left in, it must be
 * refused, and without them all be granted, opened and used.  Who makes the provider offer more
 * removes a word from the rows that become `GRANTED'; this test fails until he does.
 *
 * The same rows are asked where a driver of devices is (test_consumers_device): there nothing is
 * refused for FI_HMEM, and who asked for it moves a device's bytes.
 *
 * Environments, transfers and timing are other tests' subjects: one machine, the first entry, a
 * message to itself.
 */
#include "test_consumers.h"

#define ROWS_MAX 64u

struct fi_info *consumer_ask(uint32_t api, uint64_t flags, const struct fi_info *hints)
{
	/* a newer one gets -FI_ENOSYS from the library itself, and its caller asks for less */
	if (FI_VERSION_LT(fi_version(), api))
		api = fi_version();
	return test_getinfo(api, NULL, NULL, flags, hints);
}

/* The request without what one reason is about. */
static void strip(struct fi_info *h, uint64_t *flags, int reason)
{
	switch (reason) {
	case REFUSED_HMEM:
		h->caps &= ~FI_HMEM;
		break;
	case REFUSED_COLLECTIVE:
		h->caps &= ~FI_COLLECTIVE;
		break;
	case REFUSED_CORE:
		*flags = 0;
		break;
	default:
		fail_msg("reason 0x%x has no bits", reason);
	}
}

/* The answer to a row's request without the reasons in `without'. */
static struct fi_info *ask(const struct consumer *c, int without)
{
	struct fi_info *h = fi_allocinfo(), *info;
	uint64_t flags = c->flags;
	int reason;

	assert_non_null(h);
	c->ask(h);
	for (reason = 1; reason <= REFUSED; reason <<= 1) {
		if (without & reason)
			strip(h, &flags, reason);
	}
	info = consumer_ask(c->api, flags, h);
	fi_freeinfo(h);
	return info;
}

static void assert_refused(const struct consumer *c, int without)
{
	struct fi_info *info = ask(c, without);

	if (!info)
		return;
	fi_freeinfo(info);
	if (!without)
		fail_msg("%s: granted, and its row says 0x%x", c->name, c->verdict);
	fail_msg("%s: granted without 0x%x, so the other reasons of its row (0x%x) are none",
		 c->name, without, c->verdict);
}

static void consumer(void **state)
{
	const struct consumer *c = *state;
	int why = c->verdict & REFUSED & ~consumers_lifted, reason, got = 0;
	struct fi_info *info;

	if (why)
		assert_refused(c, 0);
	for (reason = 1; reason <= REFUSED; reason <<= 1) {
		if (why & reason && why != reason)
			assert_refused(c, why & ~reason);
	}
	info = ask(c, why);
	if (!info)
		fail_msg("%s: refused, %s", c->name,
			 why ? "not for the reasons of its row alone" : "and was granted before");
	assert_string_equal(info->fabric_attr->prov_name, "sdr");
	if (c->answer)
		got |= c->answer(info);
	if (c->later)
		got |= c->later(info);
	if (info->caps & FI_HMEM)
		consumer_device(info);
	fi_freeinfo(info);
	if (got != (c->verdict & ~REFUSED))
		fail_msg("%s: 0x%x of what it needs afterwards is missing, its row says 0x%x",
			 c->name, got, c->verdict & ~REFUSED);
}

int main(void)
{
	static const struct consumer *const tables[] = { consumers_mpi, consumers_shmem,
							 consumers_pgas, consumers_ccl,
							 consumers_layers };
	struct CMUnitTest tests[ROWS_MAX] = { { 0 } };
	size_t n = 0, t;
	const struct consumer *c;

	test_env();
	for (t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (c = tables[t]; c->name; c++) {
			if (n == ROWS_MAX)
				return 1;
			tests[n].name = c->name;
			tests[n].test_func = consumer;
			tests[n++].initial_state = (void *)(uintptr_t)c;
		}
	}
	return _cmocka_run_group_tests("consumers", tests, n, NULL, NULL);
}
