# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for the objects of prov/sdr/rel that know nothing of connections, and
# for the frame codec of prov/sdr/wire.  Those of a room are linked with that room and what is
# below it, so that an arrow that points up does not link.

REL_PATH_TEST_LIBS = libsdr_rel_path.a libsdr_model.a $(SDR_BASE_LIBS) $(CMOCKA_LIBS) -lm
REL_PATH_TESTS = test_ceiling test_ecn test_rtt test_pmtu test_pacer test_cc test_cc_shared test_loss_est \
	test_rack test_choice test_train test_path_mem test_lull test_qdelay test_shallow test_spread test_passed test_standing test_beat test_carries test_blame test_burst test_calm \
	test_fan \
	test_rival test_cc_auto
UNIT_TESTS += $(REL_PATH_TESTS)


check_PROGRAMS += test_frame
TESTS += test_frame
test_frame_SOURCES = fabtests/unit/test_frame.c
test_frame_LDADD = $(SDR_WIRE_LIBS) $(CMOCKA_LIBS)
test_pmtu_SOURCES = fabtests/unit/test_pmtu.c
test_pmtu_LDADD = $(REL_PATH_TEST_LIBS)
test_ceiling_SOURCES = fabtests/unit/test_ceiling.c
test_ceiling_LDADD = $(REL_PATH_TEST_LIBS)
test_ecn_SOURCES = fabtests/unit/test_ecn.c
test_ecn_LDADD = $(REL_PATH_TEST_LIBS)
test_rtt_SOURCES = fabtests/unit/test_rtt.c
test_rtt_LDADD = $(REL_PATH_TEST_LIBS)
test_pacer_SOURCES = fabtests/unit/test_pacer.c
test_pacer_LDADD = $(REL_PATH_TEST_LIBS)
test_cc_SOURCES = fabtests/unit/test_cc.c
test_cc_LDADD = $(REL_PATH_TEST_LIBS)
test_cc_shared_SOURCES = fabtests/unit/test_cc_shared.c
test_cc_shared_LDADD = $(REL_PATH_TEST_LIBS)
test_cc_auto_SOURCES = fabtests/unit/test_cc_auto.c fabtests/bed/bed_flows.c fabtests/bed/bed_flows.h
test_cc_auto_LDADD = $(REL_PATH_TEST_LIBS)
test_spread_SOURCES = fabtests/unit/test_spread.c
test_spread_LDADD = $(REL_PATH_TEST_LIBS)
test_passed_SOURCES = fabtests/unit/test_passed.c
test_passed_LDADD = $(REL_PATH_TEST_LIBS)
test_shallow_SOURCES = fabtests/unit/test_shallow.c
test_shallow_LDADD = $(REL_PATH_TEST_LIBS)
test_carries_SOURCES = fabtests/unit/test_carries.c
test_carries_LDADD = $(REL_PATH_TEST_LIBS)
test_beat_SOURCES = fabtests/unit/test_beat.c
test_beat_LDADD = $(REL_PATH_TEST_LIBS)
test_standing_SOURCES = fabtests/unit/test_standing.c
test_standing_LDADD = $(REL_PATH_TEST_LIBS)
test_qdelay_SOURCES = fabtests/unit/test_qdelay.c
test_qdelay_LDADD = $(REL_PATH_TEST_LIBS)
test_blame_SOURCES = fabtests/unit/test_blame.c fabtests/unit/test_draw.h
test_blame_LDADD = $(REL_PATH_TEST_LIBS)
test_fan_SOURCES = fabtests/unit/test_fan.c
test_fan_LDADD = $(REL_PATH_TEST_LIBS)
test_burst_SOURCES = fabtests/unit/test_burst.c
test_burst_LDADD = $(REL_PATH_TEST_LIBS)
test_calm_SOURCES = fabtests/unit/test_calm.c
test_calm_LDADD = $(REL_PATH_TEST_LIBS)
test_rival_SOURCES = fabtests/unit/test_rival.c
test_rival_LDADD = $(REL_PATH_TEST_LIBS)
test_loss_est_SOURCES = fabtests/unit/test_loss_est.c fabtests/unit/test_draw.h
test_loss_est_LDADD = $(REL_PATH_TEST_LIBS)
test_rack_SOURCES = fabtests/unit/test_rack.c
test_rack_LDADD = $(REL_PATH_TEST_LIBS)
test_path_mem_SOURCES = fabtests/unit/test_path_mem.c
test_path_mem_LDADD = $(REL_PATH_TEST_LIBS) $(SDR_SYS_LIBS)
test_lull_SOURCES = fabtests/unit/test_lull.c
test_lull_LDADD = $(REL_PATH_TEST_LIBS)
test_train_SOURCES = fabtests/unit/test_train.c
test_train_LDADD = $(REL_PATH_TEST_LIBS)
test_choice_SOURCES = fabtests/unit/test_choice.c $(TEST_CHOICE_UTIL)
test_choice_LDADD = $(REL_PATH_TEST_LIBS)

REL_BULK_TEST_LIBS = libsdr_rel_bulk.a libsdr_rel_conn.a libsdr_rel_path.a libsdr_fec.a libsdr_model.a \
	$(SDR_SDK_LIBS) $(CMOCKA_LIBS) $(SDR_SYS_LIBS)
UNIT_TESTS += test_plan test_scratch test_rel_room_bulk
test_plan_SOURCES = fabtests/unit/test_plan.c
test_plan_LDADD = $(REL_BULK_TEST_LIBS)
test_scratch_SOURCES = fabtests/unit/test_scratch.c
test_scratch_LDADD = $(REL_BULK_TEST_LIBS)
test_rel_room_bulk_SOURCES = \
	fabtests/unit/test_rel_room_bulk.c \
	fabtests/bed/bed_bulk.c fabtests/bed/bed_bulk.h \
	fabtests/unit/uc_loop.c fabtests/unit/uc_loop.h
test_rel_room_bulk_LDADD = $(REL_BULK_TEST_LIBS)

check_PROGRAMS += test_rel_err
TESTS += test_rel_err
test_rel_err_SOURCES = fabtests/unit/test_rel_err.c
test_rel_err_LDADD = libsdr_rel_path.a $(CMOCKA_LIBS)
