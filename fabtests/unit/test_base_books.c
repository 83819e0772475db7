/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Books say what is wrong first, with the object and both numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "base/sdr_books.h"

static void books__that_add_up_say_nothing(void **state)
{
	struct sdr_books k = { 0 };
	uint32_t a = 3;

	(void)state;
	SDR_BOOK(&k, a == 3);
	SDR_BOOK_EQ(&k, a, 3);
	SDR_BOOK_IS(&k, a, <, 4);
	assert_true(sdr_books_ok(&k));
}

static void books__keep_the_first_that_does_not(void **state)
{
	struct sdr_books k = { 0 };
	uint32_t live = 3, there = 2;

	(void)state;
	sdr_books_of(&k, "packet", 0x1f);
	SDR_BOOK_EQ(&k, live, there);
	sdr_books_of(&k, "record", 1);
	SDR_BOOK(&k, live < there);
	assert_false(sdr_books_ok(&k));
	assert_string_equal(k.why, "packet 1f: not live == there: 3 and 2");
}

static void books__ask_each_thing_once(void **state)
{
	struct sdr_books k = { 0 };
	uint32_t n = 0;

	(void)state;
	SDR_BOOK_EQ(&k, n++, 0);
	SDR_BOOK(&k, n++ == 1);
	assert_int_equal(n, 2);
	assert_true(sdr_books_ok(&k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(books__that_add_up_say_nothing),
		cmocka_unit_test(books__keep_the_first_that_does_not),
		cmocka_unit_test(books__ask_each_thing_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
