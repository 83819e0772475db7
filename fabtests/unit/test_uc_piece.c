/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets in pieces (uc/sdr_uc_piece.h): every packet is cut and put together in any order and with
 * repetition, and what is no piece is seen to be none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/sdr_rand.h"
#include "uc/sdr_uc_piece.h"
#include "wire/sdr_limits.h"

static uint32_t count(uint32_t whole, uint32_t size)
{
	return (whole + size - 1) / size;
}

static struct sdr_uc_piece piece(uint32_t whole, uint32_t size, uint32_t i)
{
	struct sdr_uc_piece p = { .off = (uint64_t)i * size, .whole = whole, .size = size };
	uint32_t rest = whole - i * size;

	p.len = rest < size ? rest : size;
	return p;
}

/* Each size fits its datagram as long as that leaves no more than 16 pieces. */
static void piece__size_fits_the_room(void **state)
{
	(void)state;
	for (uint32_t len = SDR_MTU_MIN; len <= SDR_MTU_MAX; len += 37) {
		for (uint32_t room = 0; room < len; room += 13) {
			uint32_t size = sdr_uc_piece_size(len, room);

			assert_int_equal(size % 4, 0);
			assert_true(size && count(len, size) <= SDR_UC_PIECES_MAX);
			if (room >= len / SDR_UC_PIECES_MAX + 8)
				assert_true(size <= room && size + 4 > room);
			else
				assert_true(size <= len / SDR_UC_PIECES_MAX + 8);
		}
	}
	assert_int_equal(sdr_uc_piece_size(4096, 1356), 1356);
	assert_int_equal(sdr_uc_piece_size(8192, 100), 512);
}

static void piece__whole_once_in_any_order(void **state)
{
	uint64_t rng = 11;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t whole = SDR_MTU_MIN + (uint32_t)(sdr_rand64(&rng) % (SDR_MTU_MAX - 255));
		uint32_t room = (uint32_t)(sdr_rand64(&rng) % (whole - 4));
		uint32_t size = sdr_uc_piece_size(whole, room);
		uint32_t n = count(whole, size), seen = 0, bits = 0, wholes = 0;

		while (seen < n) {
			uint32_t k = (uint32_t)(sdr_rand64(&rng) % n);
			struct sdr_uc_piece p = piece(whole, size, k);
			enum sdr_uc_piece_now now;

			assert_true(sdr_uc_piece_check(&p, whole));
			now = sdr_uc_piece_take(&bits, &p);
			seen += !(wholes & 1u << k);
			wholes |= 1u << k;
			assert_int_equal(now, seen == n ? SDR_UC_PIECE_WHOLE : SDR_UC_PIECE_MORE);
		}
		assert_int_equal(bits, 0);
	}
}

/* One more after the end begins the next time round, which needs all of them again. */
static void piece__another_time(void **state)
{
	uint32_t bits = 0;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 3; i++) {
			struct sdr_uc_piece p = piece(4096, 1400, (i + 1) % 3);

			assert_int_equal(sdr_uc_piece_take(&bits, &p),
					 i == 2 ? SDR_UC_PIECE_WHOLE : SDR_UC_PIECE_MORE);
		}
	}
}

/* Cut otherwise: what had come counts no more. */
static void piece__another_size_begins_anew(void **state)
{
	struct sdr_uc_piece p = piece(4096, 2048, 0), q;
	uint32_t bits = 0;

	(void)state;
	assert_int_equal(sdr_uc_piece_take(&bits, &p), SDR_UC_PIECE_MORE);
	for (uint32_t i = 1; i < 4; i++) {
		q = piece(4096, 1024, i);
		assert_int_equal(sdr_uc_piece_take(&bits, &q), SDR_UC_PIECE_MORE);
	}
	p = piece(4096, 2048, 1);
	assert_int_equal(sdr_uc_piece_take(&bits, &p), SDR_UC_PIECE_MORE);
	p = piece(4096, 2048, 0);
	assert_int_equal(sdr_uc_piece_take(&bits, &p), SDR_UC_PIECE_WHOLE);
}

/* Sixteen pieces use all bits there are. */
static void piece__sixteen(void **state)
{
	uint32_t bits = 0;

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		struct sdr_uc_piece p = piece(SDR_MTU_MAX, 512, i);

		assert_true(sdr_uc_piece_check(&p, SDR_MTU_MAX));
		assert_int_equal(sdr_uc_piece_take(&bits, &p),
				 i == 15 ? SDR_UC_PIECE_WHOLE : SDR_UC_PIECE_MORE);
	}
}

static void piece__what_is_none(void **state)
{
	static const struct sdr_uc_piece bad[] = {
		{ .off = 0, .len = 0, .whole = 4096, .size = 0 },
		{ .off = 0, .len = 1402, .whole = 4096, .size = 1402 },	      /* no multiple of 4 */
		{ .off = 0, .len = 4096, .whole = 4096, .size = 4096 },	      /* all of it */
		{ .off = 0, .len = 4096, .whole = 4096, .size = 8192 },	      /* more than that */
		{ .off = 0, .len = 1400, .whole = 4097, .size = 1400 },	      /* longer than mtu */
		{ .off = 0, .len = 252, .whole = 4096, .size = 252 },	      /* 17 pieces */
		{ .off = 0, .len = 1399, .whole = 4096, .size = 1400 },	      /* a short one */
		{ .off = 0, .len = 1404, .whole = 4096, .size = 1400 },	      /* a long one */
		{ .off = 2800, .len = 1400, .whole = 4096, .size = 1400 },    /* past its end */
		{ .off = 1300, .len = 1400, .whole = 4096, .size = 1400 },    /* between two */
		{ .off = 4200, .len = 1400, .whole = 4096, .size = 1400 },    /* behind it */
		{ .off = 1ull << 32, .len = 256, .whole = 512, .size = 256 }, /* far behind it */
		{ .off = -256ull, .len = 256, .whole = 512, .size = 256 },    /* before it */
		{ .off = 0, .len = 0, .whole = 0, .size = 4 },
		{ .off = 0, .len = 1u << 31, .whole = 0xffffffff, .size = 1u << 31 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(sdr_uc_piece_check(&bad[i], 4096));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(piece__size_fits_the_room),
		cmocka_unit_test(piece__whole_once_in_any_order),
		cmocka_unit_test(piece__another_time),
		cmocka_unit_test(piece__another_size_begins_anew),
		cmocka_unit_test(piece__sixteen),
		cmocka_unit_test(piece__what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
