# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for the objects of prov/sdr/rel that know nothing of connections, and
# for the frame codec of prov/sdr/wire.

check_PROGRAMS += test_frame test_pnset test_rtt test_pacer test_cc test_loss_est test_choice
TESTS += test_frame test_pnset test_rtt test_pacer test_cc test_loss_est test_choice
test_frame_SOURCES = fabtests/unit/test_frame.c
test_frame_LDADD = libsdr_wire.la libsdr_base.la $(ISAL_LIBS) $(CMOCKA_LIBS)
test_pnset_SOURCES = fabtests/unit/test_pnset.c
test_pnset_LDADD = libsdr_rel.la libsdr_wire.la libsdr_base.la $(ISAL_LIBS) $(CMOCKA_LIBS)
test_rtt_SOURCES = fabtests/unit/test_rtt.c
test_rtt_LDADD = libsdr_rel.la libsdr_wire.la libsdr_base.la $(ISAL_LIBS) $(CMOCKA_LIBS)
test_pacer_SOURCES = fabtests/unit/test_pacer.c
test_pacer_LDADD = libsdr_rel.la libsdr_wire.la libsdr_base.la $(ISAL_LIBS) $(CMOCKA_LIBS)
test_cc_SOURCES = fabtests/unit/test_cc.c
test_cc_LDADD = libsdr_rel.la libsdr_wire.la libsdr_base.la $(ISAL_LIBS) $(CMOCKA_LIBS)
test_loss_est_SOURCES = fabtests/unit/test_loss_est.c fabtests/unit/test_draw.h
test_loss_est_LDADD = libsdr_rel.la libsdr_wire.la libsdr_base.la $(ISAL_LIBS) $(CMOCKA_LIBS)
test_choice_SOURCES = fabtests/unit/test_choice.c $(TEST_CHOICE_UTIL)
test_choice_LDADD = libsdr_rel.la libsdr_wire.la libsdr_base.la $(ISAL_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += test_plan test_scratch
TESTS += test_plan test_scratch
test_plan_SOURCES = fabtests/unit/test_plan.c
test_plan_LDADD = libsdr_rel.la libsdr_wire.la libsdr_base.la $(ISAL_LIBS) $(CMOCKA_LIBS)
test_scratch_SOURCES = fabtests/unit/test_scratch.c
test_scratch_LDADD = libsdr_rel.la libsdr_wire.la libsdr_base.la $(ISAL_LIBS) $(CMOCKA_LIBS)

check_PROGRAMS += test_rel_err
TESTS += test_rel_err
test_rel_err_SOURCES = fabtests/unit/test_rel_err.c
test_rel_err_LDADD = libsdr_rel_path.la $(CMOCKA_LIBS)
