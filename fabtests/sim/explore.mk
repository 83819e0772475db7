# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Every interleaving of a small world, through the real SDK; larger worlds with --deep.

check_PROGRAMS += sdr_explore
TESTS += sdr_explore
sdr_explore_SOURCES = \
	fabtests/sim/sdr_explore.c fabtests/sim/explore_model.c fabtests/sim/explore_real.c \
	fabtests/sim/explore.h \
	fabtests/unit/uc_loop.c fabtests/unit/uc_loop.h
sdr_explore_LDADD = libsdr_sdk.a $(SDR_WIRE_LIBS)

check_PROGRAMS += sdr_explore_crew
TESTS += sdr_explore_crew
sdr_explore_crew_SOURCES = \
	fabtests/sim/sdr_explore_crew.c fabtests/sim/explore_turns.c fabtests/sim/explore_turns.h
sdr_explore_crew_LDADD = libsdr_uc_soft.a libsdr_uc_base.a $(SDR_WIRE_LIBS) -lpthread

if HAVE_VERBS
check_PROGRAMS += sdr_explore_lanes
TESTS += sdr_explore_lanes
endif
sdr_explore_lanes_SOURCES = \
	fabtests/sim/sdr_explore_lanes.c fabtests/sim/lanes_code.c fabtests/sim/lanes_dev.c \
	fabtests/sim/lanes_world.h \
	fabtests/sim/explore_turns.c fabtests/sim/explore_turns.h
sdr_explore_lanes_LDADD = libsdr_uc_verbs.a libsdr_uc_soft.a libsdr_uc_base.a $(SDR_WIRE_LIBS) -lpthread
