# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for prov/sdr/wire, one per object.

WIRE_TESTS = test_wire_roce test_wire_icrc test_wire_imm test_wire_class
WIRE_TESTS += test_frame_long test_wire_golden test_wire_hello test_wire_part
WIRE_TEST_LIBS = $(SDR_WIRE_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += $(WIRE_TESTS)
TESTS += $(WIRE_TESTS)

test_wire_roce_SOURCES = fabtests/unit/test_wire_roce.c fabtests/unit/test_wire.h
test_wire_roce_LDADD = $(WIRE_TEST_LIBS)
test_wire_icrc_SOURCES = fabtests/unit/test_wire_icrc.c fabtests/unit/test_wire.h
test_wire_icrc_LDADD = $(WIRE_TEST_LIBS)
test_wire_imm_SOURCES = fabtests/unit/test_wire_imm.c fabtests/unit/test_wire.h
test_wire_imm_LDADD = $(WIRE_TEST_LIBS)
test_wire_class_SOURCES = fabtests/unit/test_wire_class.c fabtests/unit/test_wire.h
test_wire_class_LDADD = $(WIRE_TEST_LIBS)
test_frame_long_SOURCES = fabtests/unit/test_frame_long.c fabtests/unit/test_wire.h
test_frame_long_LDADD = $(WIRE_TEST_LIBS)
test_wire_golden_SOURCES = fabtests/unit/test_wire_golden.c fabtests/unit/test_wire.h
test_wire_golden_LDADD = $(WIRE_TEST_LIBS)
test_wire_part_SOURCES = fabtests/unit/test_wire_part.c
test_wire_part_LDADD = $(WIRE_TEST_LIBS)
test_wire_hello_SOURCES = fabtests/unit/test_wire_hello.c fabtests/unit/test_wire.h
test_wire_hello_LDADD = $(WIRE_TEST_LIBS)
