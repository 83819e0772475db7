# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for prov/sdr/fec, one per object.

FEC_TEST_LIBS = libsdr_fec.a $(SDR_BASE_LIBS) $(ISAL_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += test_code test_code_bytes test_codec
TESTS += test_code test_code_bytes test_codec
check_PROGRAMS += test_fec test_fec_plan
TESTS += test_fec test_fec_plan

test_fec_SOURCES = fabtests/unit/test_fec.c fabtests/unit/test_fec_util.h
test_fec_LDADD = $(FEC_TEST_LIBS) -lpthread
test_fec_plan_SOURCES = fabtests/unit/test_fec_plan.c fabtests/unit/test_fec_util.h
test_fec_plan_LDADD = $(FEC_TEST_LIBS) -lpthread
test_codec_SOURCES = fabtests/unit/test_codec.c
test_codec_LDADD = $(FEC_TEST_LIBS)
test_code_SOURCES = fabtests/unit/test_code.c fabtests/unit/test_code_util.h
test_code_LDADD = $(FEC_TEST_LIBS)
test_code_bytes_SOURCES = fabtests/unit/test_code_bytes.c fabtests/unit/test_code_util.h $(FEC_PASS)
test_code_bytes_LDADD = $(FEC_TEST_LIBS)
test_code_bytes_LINK = $(LINK) $(FEC_PASS_WRAP)
