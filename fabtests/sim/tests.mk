# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Seeds and scenarios in the simulated network.  cmocka programs go to UNIT_TESTS, programs
# with a main of their own to check_PROGRAMS and TESTS.  Run without arguments sdr_props does
# 1000 seeds.

SDR_CRASH_NOTE = fabtests/sim/crash_note.c fabtests/sim/crash_note.h fabtests/sim/sim_asan.h

check_PROGRAMS += fabtests/sim/sdr_props
TESTS += fabtests/sim/sdr_props
fabtests_sim_sdr_props_SOURCES = \
	fabtests/sim/sdr_props.c fabtests/sim/props_lanes.c fabtests/sim/props_lanes.h $(SDR_CRASH_NOTE) \
	fabtests/sim/props_parity.c fabtests/sim/props_parity.h $(FEC_PASS)
fabtests_sim_sdr_props_LDADD = $(SDR_BED_LIBS)
fabtests_sim_sdr_props_LINK = $(LINK) $(FEC_PASS_WRAP)

UNIT_TESTS += fabtests/sim/sdr_scenarios fabtests/sim/sdr_scenarios_ends fabtests/sim/sdr_scenarios_keyed
UNIT_TESTS += fabtests/sim/sdr_scenarios_parity fabtests/sim/sdr_scenarios_path
fabtests_sim_sdr_scenarios_SOURCES = \
	fabtests/sim/sdr_scenarios.c fabtests/sim/scenarios.h
fabtests_sim_sdr_scenarios_LDADD = $(SDR_BED_LIBS) $(CMOCKA_LIBS)
fabtests_sim_sdr_scenarios_ends_SOURCES = \
	fabtests/sim/sdr_scenarios_ends.c fabtests/sim/scenarios.h
fabtests_sim_sdr_scenarios_ends_LDADD = $(SDR_BED_LIBS) $(CMOCKA_LIBS)
fabtests_sim_sdr_scenarios_keyed_SOURCES = \
	fabtests/sim/sdr_scenarios_keyed.c fabtests/sim/scenarios.h
fabtests_sim_sdr_scenarios_keyed_LDADD = $(SDR_BED_LIBS) $(CMOCKA_LIBS)
fabtests_sim_sdr_scenarios_parity_SOURCES = \
	fabtests/sim/sdr_scenarios_parity.c fabtests/sim/scenarios.h
fabtests_sim_sdr_scenarios_parity_LDADD = $(SDR_BED_LIBS) $(CMOCKA_LIBS)
fabtests_sim_sdr_scenarios_path_SOURCES = \
	fabtests/sim/sdr_scenarios_path.c fabtests/sim/scenarios.h
fabtests_sim_sdr_scenarios_path_LDADD = $(SDR_BED_LIBS) $(CMOCKA_LIBS)

# One endpoint and very many peers.
UNIT_TESTS += fabtests/sim/sdr_crowd
fabtests_sim_sdr_crowd_SOURCES = \
	fabtests/sim/sdr_crowd.c \
	fabtests/functional/stranger.h fabtests/functional/stranger_peer.c
fabtests_sim_sdr_crowd_LDADD = $(SDR_BED_UNIT_LIBS)

# Flows that share a bottleneck: bars in virtual time; without arguments the quick ones.
noinst_PROGRAMS += sdr_share_bars
TESTS += sdr_share_bars
sdr_share_bars_SOURCES = \
	fabtests/sim/sdr_share_bars.c fabtests/sim/share_bars.h fabtests/sim/sim_asan.h \
	fabtests/sim/share_cases.c fabtests/sim/share_judge.c
sdr_share_bars_LDADD = libsdr_simshare.a libsdr_simbed.a libsdr_simeps.a $(SDR_REL_LIBS) $(SDR_SDK_LIBS) \
	$(SDR_SYS_LIBS) -lm

UNIT_TESTS += fabtests/sim/test_share
fabtests_sim_test_share_SOURCES = fabtests/sim/test_share.c
fabtests_sim_test_share_LDADD = libsdr_simshare.a libsdr_simeps.a $(SDR_REL_LIBS) $(SDR_SDK_LIBS) $(CMOCKA_LIBS) \
	$(SDR_SYS_LIBS) -lm

# The other flows of these worlds hold to their laws.
UNIT_TESTS += fabtests/sim/test_rivals
fabtests_sim_test_rivals_SOURCES = fabtests/sim/test_rivals.c
fabtests_sim_test_rivals_LDADD = libsdr_simshare.a libsdr_simeps.a $(SDR_REL_LIBS) $(SDR_SDK_LIBS) $(CMOCKA_LIBS) \
	$(SDR_SYS_LIBS) -lm

include fabtests/sim/explore.mk
