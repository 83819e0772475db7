/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The immediate: every triple of numbers is checked, every legal split packs and unpacks, and the
 * user's immediate comes back from its fragments in any order.
 */
#include "test_wire.h"

#include <stdio.h>

static bool legal(unsigned int id, unsigned int off, unsigned int user)
{
	return id >= 1 && id <= SDR_IMM_ID_BITS_MAX && off >= 1 && off <= 30 &&
	       id + off + user == 32 &&
	       (user == 0 || user == 1 || user == 2 || user == 4 || user == 8);
}

static void split__check_judges_every_triple(void **state)
{
	unsigned int id, off, user, n = 0;

	(void)state;
	for (id = 0; id < 256; id++) {
		for (off = 0; off < 256; off++) {
			for (user = 0; user < 256; user++) {
				struct sdr_imm_split s = { (uint8_t)id, (uint8_t)off,
							   (uint8_t)user };
				int want = legal(id, off, user) ? 0 : -EINVAL;

				if (sdr_imm_split_check(&s) != want)
					fail_msg("%u+%u+%u", id, off, user);
				n += !want;
			}
		}
	}
	assert_int_equal(n, 5 * 12 - 1); /* 1+31+0 has too wide an offset */
}

static void split__parse_good(void **state)
{
	struct sdr_imm_split s, d = SDR_IMM_SPLIT_DEFAULT;
	unsigned int id, off, user;
	char str[16];

	(void)state;
	assert_int_equal(sdr_imm_split_parse("10+18+4", &s), 0);
	assert_memory_equal(&s, &d, sizeof(s));
	assert_int_equal(sdr_imm_split_parse("8+22+2", &s), 0);
	assert_int_equal(s.id_bits, 8);
	assert_int_equal(s.off_bits, 22);
	assert_int_equal(s.user_bits, 2);
	for (id = 0; id < 100; id++) {
		for (off = 0; off < 100; off++) {
			for (user = 0; user < 12; user++) {
				snprintf(str, sizeof(str), "%u+%u+%u", id, off, user);
				assert_int_equal(sdr_imm_split_parse(str, &s),
						 legal(id, off, user) ? 0 : -EINVAL);
				if (legal(id, off, user)) {
					assert_int_equal(s.id_bits, id);
					assert_int_equal(s.off_bits, off);
					assert_int_equal(s.user_bits, user);
				}
			}
		}
	}
}

static void split__parse_bad(void **state)
{
	static const char *const bad[] = {
		"",
		"+",
		"++",
		"10",
		"10+18",
		"10+18+",
		"+18+4",
		"10++4",
		"10+18+4+",
		"10+18+4+0",
		"10+18+4 ",
		" 10+18+4",
		"10 +18+4",
		"10+ 18+4",
		"10,18,4",
		"10-18-4",
		"-10+38+4",
		"10+18+-4",
		"++10+18+4",
		"10+18+0x4",
		"0xa+18+4",
		"010+18+4",
		"10+018+4",
		"10+18+04",
		"10+18+00",
		"10+18+4x",
		"a+b+c",
		"266+18+4",
		"10+274+4",
		"10+18+260",
		"4294967306+18+4",
		"99999999999999999999+18+4",
		"10-18+4",
		"10+18-4",
		"12+20+",
		"12+20",
		"10+19+3",
		"13+15+4",
		"0+28+4",
		"1+31+0",
		"32+0+0",
		"12+4+16",
		"10+18+4\n",
		"11+18+4",
		"10+18+5",
	};
	struct sdr_imm_split s = { 1, 2, 3 };
	size_t i;

	(void)state;
	assert_int_equal(sdr_imm_split_parse(NULL, &s), -EINVAL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		/* stops at the terminator */
		const uint8_t *g = test_guard(bad[i], strlen(bad[i]) + 1);

		if (sdr_imm_split_parse((const char *)g, &s) != -EINVAL)
			fail_msg("accepted \"%s\"", bad[i]);
	}
	/* untouched on failure */
	assert_true(s.id_bits == 1 && s.off_bits == 2 && s.user_bits == 3);
}

/* Random short strings of the characters that matter: no crash, and only legal splits come out. */
static void split__parse_garbage(void **state)
{
	static const char set[] = "0123456789++++ -x";
	struct sdr_imm_split s;
	uint64_t r = 1;
	char str[12];
	int i, k, n;

	(void)state;
	for (i = 0; i < 200000; i++) {
		n = (int)(sdr_rand64(&r) % (sizeof(str) - 1));
		for (k = 0; k < n; k++)
			str[k] = set[sdr_rand64(&r) % (sizeof(set) - 1)];
		str[n] = 0;
		if (sdr_imm_split_parse((const char *)test_guard(str, (size_t)n + 1), &s) == 0)
			assert_true(legal(s.id_bits, s.off_bits, s.user_bits));
	}
}

/* Runs fn for every legal split. */
static void each_split(void (*fn)(const struct sdr_imm_split *s, uint64_t *r))
{
	unsigned int id, user;
	uint64_t r = 2;

	for (id = 1; id <= SDR_IMM_ID_BITS_MAX; id++) {
		for (user = 0; user <= 8; user++) {
			struct sdr_imm_split s = { (uint8_t)id, (uint8_t)(32 - id - user),
						   (uint8_t)user };

			if (sdr_imm_split_check(&s) == 0)
				fn(&s, &r);
		}
	}
}

static void pack_one(const struct sdr_imm_split *s, uint64_t *r)
{
	uint32_t id_max = (1u << s->id_bits) - 1, off_max = (1u << s->off_bits) - 1;
	uint32_t frag_max = (1u << s->user_bits) - 1;
	int i;

	for (i = 0; i < 2000; i++) {
		uint32_t id = (uint32_t)sdr_rand64(r) & id_max,
			 off = (uint32_t)sdr_rand64(r) & off_max;
		uint32_t frag = (uint32_t)sdr_rand64(r) & frag_max, imm;

		if (i < 8) { /* corners */
			id = i & 1 ? id_max : 0;
			off = i & 2 ? off_max : 0;
			frag = i & 4 ? frag_max : 0;
		}
		imm = sdr_imm_pack(s, id, off, frag);
		assert_int_equal(sdr_imm_id(s, imm), id);
		assert_int_equal(sdr_imm_off(s, imm), off);
		assert_int_equal(sdr_imm_user(s, imm), frag);
	}
	assert_int_equal(sdr_imm_pack(s, id_max, off_max, frag_max), 0xffffffffu);
	assert_int_equal(sdr_imm_pack(s, 0, 0, 0), 0);
}

static void imm__pack_every_split(void **state)
{
	(void)state;
	each_split(pack_one);
}

static void imm__default_layout(void **state)
{
	struct sdr_imm_split s = SDR_IMM_SPLIT_DEFAULT;

	(void)state;
	assert_int_equal(sdr_imm_pack(&s, 1, 0, 0), 1u << 22);
	assert_int_equal(sdr_imm_pack(&s, 0, 1, 0), 1u << 4);
	assert_int_equal(sdr_imm_pack(&s, 0x3ff, 0x2aaaa, 0x5), 0x3ffu << 22 | 0x2aaaau << 4 | 5);
	assert_int_equal(sdr_imm_frags(&s), 8);
	assert_int_equal(sdr_imm_frag(&s, 0x87654321, 0), 1);
	assert_int_equal(sdr_imm_frag(&s, 0x87654321, 7), 8);
	assert_int_equal(sdr_imm_frag(&s, 0x87654321, 8), 1);
}

/*
 * A receiver that sees packets from a random offset on, in a shuffled order, puts every fragment
 * where its offset says and has the user's immediate when all positions were seen.
 */
static void rebuild_one(const struct sdr_imm_split *s, uint64_t *r)
{
	uint32_t n = sdr_imm_frags(s), order[32], i, k, t, round;

	if (!n) {
		assert_int_equal(sdr_imm_frag(s, 0xffffffffu, 3), 0);
		return;
	}
	assert_int_equal(n * s->user_bits, 32);
	assert_true(n <= 1u << s->off_bits);
	for (round = 0; round < 200; round++) {
		uint32_t user = (uint32_t)sdr_rand64(r), got = 0, seen = 0;
		uint32_t first = (uint32_t)sdr_rand64(r) % ((1u << s->off_bits) - n + 1);

		for (i = 0; i < n; i++)
			order[i] = i;
		for (i = n; i > 1; i--) {
			k = (uint32_t)(sdr_rand64(r) % i);
			t = order[i - 1];
			order[i - 1] = order[k];
			order[k] = t;
		}
		for (i = 0; i < n; i++) {
			uint32_t off = first + order[i], imm, pos;

			imm = sdr_imm_pack(s, 0, off, sdr_imm_frag(s, user, off));
			pos = sdr_imm_off(s, imm) % n;
			got |= sdr_imm_user(s, imm) << (pos * s->user_bits);
			seen |= 1u << pos;
		}
		assert_int_equal(seen, n == 32 ? 0xffffffffu : (1u << n) - 1);
		assert_int_equal(got, user);
	}
}

static void imm__rebuild_every_split(void **state)
{
	(void)state;
	each_split(rebuild_one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(split__check_judges_every_triple),
		cmocka_unit_test(split__parse_good),
		cmocka_unit_test(split__parse_bad),
		cmocka_unit_test(split__parse_garbage),
		cmocka_unit_test(imm__pack_every_split),
		cmocka_unit_test(imm__default_layout),
		cmocka_unit_test(imm__rebuild_every_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
