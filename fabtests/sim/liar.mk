# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# A peer that lies.  What the endpoint allocates is counted by wrapping the allocator.
check_LIBRARIES += libsdr_liar.a
libsdr_liar_a_SOURCES = \
	fabtests/sim/liar.h \
	fabtests/sim/liar.c \
	fabtests/sim/liar_app.c \
	fabtests/sim/liar_bed.c \
	fabtests/sim/liar_draw.c \
	fabtests/sim/liar_forge.c \
	fabtests/sim/liar_heap.c \
	fabtests/sim/liar_heap.h \
	fabtests/sim/liar_ops.c \
	fabtests/sim/liar_ops.h \
	fabtests/sim/liar_path.c \
	fabtests/sim/liar_say.c \
	fabtests/sim/liar_say.h \
	fabtests/sim/liar_talk.c \
	fabtests/sim/sim_asan.h
SDR_LIAR_LIBS = libsdr_liar.a $(SDR_BED_LIBS)
SDR_LIAR_WRAP = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free

check_PROGRAMS += fabtests/sim/sdr_liar
TESTS += fabtests/sim/sdr_liar
fabtests_sim_sdr_liar_SOURCES = fabtests/sim/sdr_liar.c $(SDR_CRASH_NOTE)
fabtests_sim_sdr_liar_LINK = $(LINK) $(SDR_LIAR_WRAP)
fabtests_sim_sdr_liar_LDADD = $(SDR_LIAR_LIBS)
