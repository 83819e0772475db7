# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for prov/sdr/uc, one per object.  Those that open engines by name are linked with
# the whole layer, the others with the one engine that they test: an arrow from it to another does
# not link.  They run from anywhere: a test that needs a file finds it through $SDR_SRCDIR and
# $SDR_BUILDDIR.

UC_TEST_LIBS = libsdr_uc_base.a $(SDR_WIRE_LIBS) $(CMOCKA_LIBS) $(SDR_SYS_LIBS)

UNIT_TESTS += fabtests/unit/test_uc_bell fabtests/unit/test_uc_offer
fabtests_unit_test_uc_bell_SOURCES = fabtests/unit/test_uc_bell.c
fabtests_unit_test_uc_bell_LDADD = $(UC_TEST_LIBS)
fabtests_unit_test_uc_offer_SOURCES = fabtests/unit/test_uc_offer.c
fabtests_unit_test_uc_offer_LDADD = $(UC_TEST_LIBS)

UNIT_TESTS += fabtests/unit/test_uc_piece
fabtests_unit_test_uc_piece_SOURCES = fabtests/unit/test_uc_piece.c
fabtests_unit_test_uc_piece_LDADD = $(UC_TEST_LIBS)

UNIT_TESTS += fabtests/unit/test_sim_node fabtests/unit/test_sim_link fabtests/unit/test_sim_path
UNIT_TESTS += fabtests/unit/test_sim_line
fabtests_unit_test_sim_line_LDADD = libsdr_uc_sim.a $(UC_TEST_LIBS)
fabtests_unit_test_sim_line_SOURCES = fabtests/unit/test_sim_line.c fabtests/unit/test_sim_util.h
fabtests_unit_test_sim_node_LDADD = libsdr_uc_sim.a $(UC_TEST_LIBS)
fabtests_unit_test_sim_link_LDADD = libsdr_uc_sim.a $(UC_TEST_LIBS)
UNIT_TESTS += fabtests/unit/test_sim_source
fabtests_unit_test_sim_source_LDADD = libsdr_uc_sim.a $(UC_TEST_LIBS)
fabtests_unit_test_sim_source_SOURCES = fabtests/unit/test_sim_source.c \
	fabtests/unit/test_sim_util.h
fabtests_unit_test_sim_path_LDADD = libsdr_uc_sim.a $(UC_TEST_LIBS)
fabtests_unit_test_sim_path_SOURCES = fabtests/unit/test_sim_path.c fabtests/unit/test_sim_util.h
fabtests_unit_test_sim_node_SOURCES = fabtests/unit/test_sim_node.c fabtests/unit/test_sim_util.h
fabtests_unit_test_sim_link_SOURCES = fabtests/unit/test_sim_link.c fabtests/unit/test_sim_util.h

UNIT_TESTS += fabtests/unit/test_soft_open fabtests/unit/test_soft_data fabtests/unit/test_soft_late
UNIT_TESTS += fabtests/unit/test_soft_bad
UNIT_TESTS += fabtests/unit/test_soft_full
fabtests_unit_test_soft_full_SOURCES = fabtests/unit/test_soft_full.c fabtests/unit/test_soft_sends.c \
	fabtests/unit/test_soft_sends.h fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_open_SOURCES = fabtests/unit/test_soft_open.c fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_late_SOURCES = fabtests/unit/test_soft_late.c fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_data_SOURCES = fabtests/unit/test_soft_data.c fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_bad_SOURCES = fabtests/unit/test_soft_bad.c fabtests/unit/test_soft_util.h
UNIT_TESTS += fabtests/unit/test_soft_share
fabtests_unit_test_soft_share_SOURCES = fabtests/unit/test_soft_share.c fabtests/unit/test_soft_sends.c \
	fabtests/unit/test_soft_sends.h fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_share_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
UNIT_TESTS += fabtests/unit/test_soft_near
fabtests_unit_test_soft_near_SOURCES = fabtests/unit/test_soft_near.c \
	fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_near_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
UNIT_TESTS += fabtests/unit/test_soft_path
fabtests_unit_test_soft_path_SOURCES = fabtests/unit/test_soft_path.c \
	fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_path_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
UNIT_TESTS += fabtests/unit/test_soft_ecn
fabtests_unit_test_soft_ecn_SOURCES = fabtests/unit/test_soft_ecn.c \
	fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_ecn_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)

UNIT_TESTS += fabtests/unit/test_soft_piece
fabtests_unit_test_soft_piece_SOURCES = fabtests/unit/test_soft_piece.c \
	fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_piece_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
UNIT_TESTS += fabtests/unit/test_soft_source
fabtests_unit_test_soft_source_SOURCES = fabtests/unit/test_soft_source.c \
	fabtests/unit/test_soft_util.h
fabtests_unit_test_soft_source_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
UNIT_TESTS += fabtests/unit/test_soft_nic
fabtests_unit_test_soft_nic_SOURCES = fabtests/unit/test_soft_nic.c fabtests/unit/test_soft_nic.h \
	fabtests/unit/test_soft_nic_host.h \
	fabtests/unit/test_soft_util.h
UNIT_TESTS += fabtests/unit/test_fault_spec fabtests/unit/test_fault_engine fabtests/unit/test_fault_soft
fabtests_unit_test_fault_spec_SOURCES = fabtests/unit/test_fault_spec.c fabtests/unit/test_fault_util.h
fabtests_unit_test_fault_engine_SOURCES = fabtests/unit/test_fault_engine.c fabtests/unit/test_fault_util.h
fabtests_unit_test_fault_soft_SOURCES = fabtests/unit/test_fault_soft.c fabtests/unit/test_soft_util.h

fabtests_unit_test_fault_spec_LDADD = libsdr_uc_fault.a $(UC_TEST_LIBS)
fabtests_unit_test_fault_engine_LDADD = libsdr_uc_fault.a $(UC_TEST_LIBS)
fabtests_unit_test_fault_soft_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
fabtests_unit_test_soft_full_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
fabtests_unit_test_soft_open_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
fabtests_unit_test_soft_data_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
fabtests_unit_test_soft_late_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
fabtests_unit_test_soft_bad_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)
fabtests_unit_test_soft_nic_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)

if HAVE_VERBS
UNIT_TESTS += fabtests/unit/test_verbs_lib fabtests/unit/test_verbs_bad fabtests/unit/test_verbs_far
UNIT_TESTS += fabtests/unit/test_verbs_crew
endif
fabtests_unit_test_verbs_bad_SOURCES = fabtests/unit/test_verbs_bad.c
fabtests_unit_test_verbs_bad_LDADD = libsdr_uc_verbs.a libsdr_uc_soft.a $(UC_TEST_LIBS)
fabtests_unit_test_verbs_crew_SOURCES = fabtests/unit/test_verbs_crew.c
fabtests_unit_test_verbs_crew_LDADD = libsdr_uc_verbs.a libsdr_uc_soft.a $(UC_TEST_LIBS)
fabtests_unit_test_verbs_far_SOURCES = fabtests/unit/test_verbs_far.c
fabtests_unit_test_verbs_far_LDADD = libsdr_uc_verbs.a libsdr_uc_soft.a $(UC_TEST_LIBS)
fabtests_unit_test_verbs_lib_SOURCES = fabtests/unit/test_verbs_lib.c
fabtests_unit_test_verbs_lib_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)

# The conformance suite: what uc/sdr_uc.h promises, clause by clause, for each engine.
UC_CONFORM = \
	fabtests/unit/uc_conform.c fabtests/unit/uc_conform.h \
	fabtests/unit/uc_conform_bed.c fabtests/unit/uc_conform_bed.h \
	fabtests/unit/uc_conform_calls.c fabtests/unit/uc_conform_memory.c \
	fabtests/unit/uc_conform_pieces.c
UNIT_TESTS += fabtests/unit/test_uc_soft fabtests/unit/test_uc_sim fabtests/unit/test_uc_fault
fabtests_unit_test_uc_soft_SOURCES = fabtests/unit/test_uc_soft.c fabtests/unit/uc_conform_soft.h \
	$(UC_CONFORM)
fabtests_unit_test_uc_soft_LDADD = libsdr_uc_soft.a $(UC_TEST_LIBS)
fabtests_unit_test_uc_sim_SOURCES = fabtests/unit/test_uc_sim.c fabtests/unit/uc_conform_sim.h \
	$(UC_CONFORM)
fabtests_unit_test_uc_sim_LDADD = libsdr_uc_sim.a $(UC_TEST_LIBS)
fabtests_unit_test_uc_fault_SOURCES = fabtests/unit/test_uc_fault.c \
	fabtests/unit/uc_conform_sim.h fabtests/unit/uc_conform_soft.h $(UC_CONFORM)
fabtests_unit_test_uc_fault_LDADD = libsdr_uc_soft.a libsdr_uc_sim.a libsdr_uc_fault.a \
	$(UC_TEST_LIBS)

UNIT_TESTS += fabtests/unit/test_uc_registry
fabtests_unit_test_uc_registry_SOURCES = fabtests/unit/test_uc_registry.c
fabtests_unit_test_uc_registry_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)

# Skipped where there is no RDMA device; fabtests/rxe/guest.sh runs it where there are two.
UNIT_TESTS += fabtests/unit/test_uc_verbs
fabtests_unit_test_uc_verbs_SOURCES = fabtests/unit/test_uc_verbs.c $(UC_CONFORM)
fabtests_unit_test_uc_verbs_LDADD = libsdr_uc_verbs.a libsdr_uc_soft.a libsdr_uc_fault.a \
	$(UC_TEST_LIBS)

# How much a new engine is: one over a socket pair.
UNIT_TESTS += fabtests/unit/test_uc_pair
fabtests_unit_test_uc_pair_SOURCES = fabtests/unit/test_uc_pair.c $(UC_CONFORM)
fabtests_unit_test_uc_pair_LDADD = $(SDR_UC_LIBS) $(UC_TEST_LIBS)

# Measures the soft engine beside a bare UDP socket; "make" builds it, no test runs it.
noinst_PROGRAMS += sdr_uc_bench
sdr_uc_bench_SOURCES = fabtests/benchmarks/sdr_uc_bench.c
sdr_uc_bench_LDADD = $(SDR_UC_LIBS) $(SDR_WIRE_LIBS) $(SDR_SYS_LIBS)
