# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for prov/sdr/rel, one per object, and those for connected endpoints on the
# simulated network, one per subject.

include fabtests/unit/rel_leaf.mk
include fabtests/unit/rel_conn.mk

UNIT_TESTS += test_rel_handshake test_rel_match test_rel_bulk test_rel_stage test_rel_end test_rel_wait test_rel_drops test_rel_forged
UNIT_TESTS += test_rel_home test_rel_limits test_rel_peers test_rel_revoke test_rel_farewell test_rel_broken
UNIT_TESTS += test_rel_shape test_rel_path test_rel_ecn test_rel_ceiling test_rel_probe
UNIT_TESTS += test_rel_seal test_rel_future test_rel_move test_rel_nat
UNIT_TESTS += test_rel_berth test_rel_berth_parity test_rel_keyed test_rel_keyed_bad
UNIT_TESTS += test_rel_head test_rel_head_end
UNIT_TESTS += test_rel_code test_rel_code_ways test_rel_code_bad test_rel_decode
UNIT_TESTS += test_rel_order test_rel_order_bad test_rel_view

UNIT_TESTS += test_bed
test_bed_SOURCES = fabtests/unit/test_bed.c
test_bed_LDADD = $(SDR_BED_UNIT_LIBS)

# A connection whose peer is the test: no simulated network.
UNIT_TESTS += test_rel_conn
test_rel_conn_SOURCES = \
	fabtests/unit/test_rel_conn.c \
	fabtests/bed/bed_conn.c fabtests/bed/bed_conn.h \
	fabtests/functional/stranger.h fabtests/functional/stranger_peer.c \
	fabtests/unit/uc_loop.c fabtests/unit/uc_loop.h
test_rel_conn_LDADD = $(SDR_REL_LIBS) $(SDR_SDK_LIBS) $(CMOCKA_LIBS) $(SDR_SYS_LIBS)

UNIT_TESTS += test_rel_shape_bad
test_rel_shape_bad_SOURCES = \
	fabtests/unit/test_rel_shape_bad.c \
	fabtests/bed/bed_conn.c fabtests/bed/bed_conn.h \
	fabtests/functional/stranger.h fabtests/functional/stranger_peer.c \
	fabtests/unit/uc_loop.c fabtests/unit/uc_loop.h
test_rel_shape_bad_LDADD = $(SDR_REL_LIBS) $(SDR_SDK_LIBS) $(CMOCKA_LIBS) $(SDR_SYS_LIBS)

test_rel_handshake_SOURCES = fabtests/unit/test_rel_handshake.c
test_rel_handshake_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_order_SOURCES = fabtests/unit/test_rel_order.c
test_rel_order_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_order_bad_SOURCES = fabtests/unit/test_rel_order_bad.c fabtests/unit/test_rel_liar.h
test_rel_order_bad_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_view_SOURCES = fabtests/unit/test_rel_view.c
test_rel_view_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_match_SOURCES = fabtests/unit/test_rel_match.c
test_rel_match_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_bulk_SOURCES = fabtests/unit/test_rel_bulk.c
test_rel_bulk_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_stage_SOURCES = fabtests/unit/test_rel_stage.c
test_rel_stage_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_end_SOURCES = fabtests/unit/test_rel_end.c
test_rel_end_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_wait_SOURCES = fabtests/unit/test_rel_wait.c fabtests/unit/test_rel_liar.h
test_rel_wait_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_drops_SOURCES = fabtests/unit/test_rel_drops.c
test_rel_drops_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_limits_SOURCES = fabtests/unit/test_rel_limits.c fabtests/unit/test_rel_liar.h
test_rel_limits_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_ceiling_SOURCES = fabtests/unit/test_rel_ceiling.c
test_rel_ceiling_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_ecn_SOURCES = fabtests/unit/test_rel_ecn.c
test_rel_ecn_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_path_SOURCES = fabtests/unit/test_rel_path.c
test_rel_path_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_probe_SOURCES = fabtests/unit/test_rel_probe.c
test_rel_probe_LDADD = $(SDR_BED_UNIT_LIBS)
UNIT_TESTS += test_rel_multipath test_rel_ecn_paths test_rel_path_sizes
test_rel_path_sizes_SOURCES = fabtests/unit/test_rel_path_sizes.c
test_rel_path_sizes_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_ecn_paths_SOURCES = fabtests/unit/test_rel_ecn_paths.c
test_rel_ecn_paths_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_multipath_SOURCES = fabtests/unit/test_rel_multipath.c
test_rel_multipath_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_nat_SOURCES = fabtests/unit/test_rel_nat.c
test_rel_nat_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_peers_SOURCES = fabtests/unit/test_rel_peers.c
test_rel_peers_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_home_SOURCES = fabtests/unit/test_rel_home.c
test_rel_home_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_forged_SOURCES = fabtests/unit/test_rel_forged.c fabtests/unit/test_rel_liar.h
test_rel_forged_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_farewell_SOURCES = fabtests/unit/test_rel_farewell.c
test_rel_farewell_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_broken_SOURCES = fabtests/unit/test_rel_broken.c
test_rel_broken_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_revoke_SOURCES = fabtests/unit/test_rel_revoke.c
test_rel_revoke_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_future_SOURCES = fabtests/unit/test_rel_future.c
test_rel_future_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_shape_SOURCES = fabtests/unit/test_rel_shape.c
test_rel_shape_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_move_SOURCES = fabtests/unit/test_rel_move.c
test_rel_move_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_seal_SOURCES = fabtests/unit/test_rel_seal.c
test_rel_seal_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_berth_SOURCES = fabtests/unit/test_rel_berth.c fabtests/unit/test_rel_berth_liar.h
test_rel_berth_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_head_SOURCES = fabtests/unit/test_rel_head.c fabtests/unit/test_rel_head.h
test_rel_head_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_head_end_SOURCES = \
	fabtests/unit/test_rel_head_end.c fabtests/unit/test_rel_head.h fabtests/unit/test_rel_berth_liar.h
test_rel_head_end_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_berth_parity_SOURCES = \
	fabtests/unit/test_rel_berth_parity.c fabtests/unit/test_rel_code_util.h $(FEC_PASS)
test_rel_berth_parity_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_berth_parity_LINK = $(LINK) $(FEC_PASS_WRAP)
test_rel_keyed_SOURCES = fabtests/unit/test_rel_keyed.c
test_rel_keyed_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_keyed_bad_SOURCES = fabtests/unit/test_rel_keyed_bad.c
test_rel_keyed_bad_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_code_SOURCES = fabtests/unit/test_rel_code.c fabtests/unit/test_rel_code_util.h
test_rel_code_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_decode_SOURCES = fabtests/unit/test_rel_decode.c fabtests/unit/test_rel_code_util.h
test_rel_decode_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_code_ways_SOURCES = fabtests/unit/test_rel_code_ways.c fabtests/unit/test_rel_code_util.h
test_rel_code_ways_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_code_bad_SOURCES = fabtests/unit/test_rel_code_bad.c fabtests/unit/test_rel_code_util.h
test_rel_code_bad_LDADD = $(SDR_BED_UNIT_LIBS)

UNIT_TESTS += test_rel_pair test_rel_late test_rel_fan test_rel_more
test_rel_more_SOURCES = fabtests/unit/test_rel_more.c
test_rel_more_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_pair_SOURCES = fabtests/unit/test_rel_pair.c
test_rel_pair_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_fan_SOURCES = fabtests/unit/test_rel_fan.c
test_rel_fan_LDADD = $(SDR_BED_UNIT_LIBS)
test_rel_late_SOURCES = fabtests/unit/test_rel_late.c
test_rel_late_LDADD = $(SDR_BED_UNIT_LIBS)

UNIT_TESTS += test_rel_start
test_rel_start_SOURCES = fabtests/unit/test_rel_start.c
test_rel_start_LDADD = $(SDR_BED_UNIT_LIBS)

# How much a new congestion control is: one with a constant window.
UNIT_TESTS += test_cc_window
test_cc_window_SOURCES = fabtests/unit/test_cc_window.c
test_cc_window_LDADD = $(SDR_BED_UNIT_LIBS)

# And a new scheme: one that sends everything twice.
UNIT_TESTS += test_scheme_twice
test_scheme_twice_SOURCES = fabtests/unit/test_scheme_twice.c fabtests/unit/test_rel_code_util.h
test_scheme_twice_LDADD = $(SDR_BED_UNIT_LIBS)

# How much a new operation is: one whose target sends the bytes back.
UNIT_TESTS += test_op_echo test_rel_call
test_rel_call_SOURCES = fabtests/unit/test_rel_call.c
test_rel_call_LDADD = $(SDR_BED_UNIT_LIBS)
test_op_echo_SOURCES = fabtests/unit/test_op_echo.c
test_op_echo_LDADD = $(SDR_BED_UNIT_LIBS)

UNIT_TESTS += test_op_atomic
test_op_atomic_SOURCES = fabtests/unit/test_op_atomic.c
test_op_atomic_LDADD = $(SDR_BED_UNIT_LIBS)

# The room msg alone, with what is below it: an arrow that points up does not link.
REL_MSG_TEST_LIBS = libsdr_rel_msg.a libsdr_rel_bulk.a libsdr_rel_conn.a libsdr_rel_path.a \
	libsdr_fec.a libsdr_model.a $(SDR_SDK_LIBS) $(CMOCKA_LIBS) $(SDR_SYS_LIBS)
UNIT_TESTS += test_msg_room
test_msg_room_SOURCES = fabtests/unit/test_msg_room.c fabtests/unit/uc_loop.c fabtests/unit/uc_loop.h
test_msg_room_LDADD = $(REL_MSG_TEST_LIBS)
UNIT_TESTS += test_atomic_exec
test_atomic_exec_SOURCES = fabtests/unit/test_atomic_exec.c
test_atomic_exec_LDADD = $(REL_MSG_TEST_LIBS) -lm
