# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for prov/sdr/base, one per object; linked with the ground floor alone.

BASE_TESTS = test_base_assert test_base_bitmap test_base_books test_base_htab test_base_idtab \
	test_base_list test_base_minifloat test_base_rand test_base_ring test_base_slab test_base_stream \
	test_base_timerq test_base_units
BASE_TEST_LIBS = $(SDR_BASE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += $(BASE_TESTS)

test_base_assert_SOURCES = fabtests/unit/test_base_assert.c
test_base_assert_LDADD = $(BASE_TEST_LIBS)
test_base_books_SOURCES = fabtests/unit/test_base_books.c
test_base_books_LDADD = $(BASE_TEST_LIBS)
test_base_units_SOURCES = fabtests/unit/test_base_units.c
test_base_units_LDADD = $(BASE_TEST_LIBS)
test_base_bitmap_SOURCES = fabtests/unit/test_base_bitmap.c
test_base_bitmap_LDADD = $(BASE_TEST_LIBS)
test_base_list_SOURCES = fabtests/unit/test_base_list.c
test_base_list_LDADD = $(BASE_TEST_LIBS)
test_base_minifloat_SOURCES = fabtests/unit/test_base_minifloat.c
test_base_minifloat_LDADD = $(BASE_TEST_LIBS) -lm
test_base_rand_SOURCES = fabtests/unit/test_base_rand.c
test_base_rand_LDADD = $(BASE_TEST_LIBS)
test_base_ring_SOURCES = fabtests/unit/test_base_ring.c
test_base_ring_LDADD = $(BASE_TEST_LIBS)
test_base_htab_SOURCES = fabtests/unit/test_base_htab.c
test_base_htab_LDADD = $(BASE_TEST_LIBS)
test_base_idtab_SOURCES = fabtests/unit/test_base_idtab.c
test_base_idtab_LDADD = $(BASE_TEST_LIBS)
test_base_slab_SOURCES = fabtests/unit/test_base_slab.c
test_base_slab_LDADD = $(BASE_TEST_LIBS)
test_base_stream_SOURCES = fabtests/unit/test_base_stream.c
test_base_stream_LDADD = $(BASE_TEST_LIBS)
test_base_timerq_SOURCES = fabtests/unit/test_base_timerq.c
test_base_timerq_LDADD = $(BASE_TEST_LIBS)
