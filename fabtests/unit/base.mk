# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for prov/sdr/base, one per object; linked with the ground floor alone.

BASE_TESTS = test_base_assert test_base_bitmap test_base_list test_base_rand \
	test_base_ring
BASE_TEST_LIBS = libsdr_base.la $(CMOCKA_LIBS)
UNIT_TESTS += $(BASE_TESTS)

test_base_assert_SOURCES = fabtests/unit/test_base_assert.c
test_base_assert_LDADD = $(BASE_TEST_LIBS)
test_base_bitmap_SOURCES = fabtests/unit/test_base_bitmap.c
test_base_bitmap_LDADD = $(BASE_TEST_LIBS)
test_base_list_SOURCES = fabtests/unit/test_base_list.c
test_base_list_LDADD = $(BASE_TEST_LIBS)
test_base_rand_SOURCES = fabtests/unit/test_base_rand.c
test_base_rand_LDADD = $(BASE_TEST_LIBS)
test_base_ring_SOURCES = fabtests/unit/test_base_ring.c
test_base_ring_LDADD = $(BASE_TEST_LIBS)
