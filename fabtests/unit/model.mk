# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for prov/sdr/model.

MODEL_TEST_LIBS = libsdr_model.a $(SDR_BASE_LIBS) $(CMOCKA_LIBS) -lm

TEST_CHOICE_UTIL = fabtests/unit/test_choice_util.h fabtests/unit/test_draw.h
UNIT_TESTS += test_choice_table test_choice_layout
test_choice_table_SOURCES = fabtests/unit/test_choice_table.c $(TEST_CHOICE_UTIL)
test_choice_table_LDADD = $(MODEL_TEST_LIBS)
test_choice_layout_SOURCES = fabtests/unit/test_choice_layout.c
test_choice_layout_LDADD = $(MODEL_TEST_LIBS)

UNIT_TESTS += test_model_sample test_model_draw test_model_coll
test_model_sample_SOURCES = fabtests/unit/test_model_sample.c fabtests/unit/test_model_golden_mc.h
test_model_sample_LDADD = $(MODEL_TEST_LIBS)
test_model_draw_SOURCES = fabtests/unit/test_model_draw.c fabtests/unit/test_draw.h
test_model_draw_LDADD = $(MODEL_TEST_LIBS)
test_model_coll_SOURCES = fabtests/unit/test_model_coll.c fabtests/unit/test_model_golden_mc.h
test_model_coll_LDADD = $(MODEL_TEST_LIBS)

UNIT_TESTS += test_model_hybrid test_model_advise
test_model_hybrid_SOURCES = fabtests/unit/test_model_hybrid.c
test_model_hybrid_LDADD = $(MODEL_TEST_LIBS)
test_model_advise_SOURCES = fabtests/unit/test_model_advise.c fabtests/unit/test_draw.h
test_model_advise_LDADD = $(MODEL_TEST_LIBS)

UNIT_TESTS += test_model_sr test_model_ec
MODEL_TEST_REF = fabtests/unit/model_golden.h fabtests/unit/test_model_brute.h
test_model_sr_SOURCES = fabtests/unit/test_model_sr.c $(MODEL_TEST_REF)
test_model_sr_LDADD = $(MODEL_TEST_LIBS)
test_model_ec_SOURCES = fabtests/unit/test_model_ec.c $(MODEL_TEST_REF)
test_model_ec_LDADD = $(MODEL_TEST_LIBS)
