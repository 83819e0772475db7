# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# One program per parser of what the network sends, one for what engines of one host say to each
# other (fuzz_near), one for the file of paths, two for coded transfers: geometry and
# bytes (fuzz_code), and a whole endpoint (fuzz_parity: slow, so fewer inputs), and one whose
# peer says anything at any time (fuzz_liar: slower).  configure
# --enable-fuzz (CC=clang) makes them libFuzzer programs; otherwise standalone.c is their main,
# and "make check" runs each over its valid inputs, their truncations and bit flips, and mutated
# and random ones.
#
#   ./fuzz_roce -w corpus           (normal build) valid inputs as files
#   ./fuzz_roce -max_len=8448 corpus    (--enable-fuzz) libFuzzer over them
#   ./fuzz_roce crash-...           (either) replays one

FUZZ_TARGETS = fuzz_roce fuzz_near fuzz_class fuzz_frame fuzz_code fuzz_paths fuzz_parity fuzz_liar

if ENABLE_FUZZ
FUZZ_MAIN =
noinst_PROGRAMS += $(FUZZ_TARGETS)
else
FUZZ_MAIN = fabtests/fuzz/standalone.c
check_PROGRAMS += $(FUZZ_TARGETS)
TESTS += $(FUZZ_TARGETS)
endif
EXTRA_DIST += fabtests/fuzz/standalone.c
CLEANFILES += crash-fuzz_roce crash-fuzz_class crash-fuzz_frame crash-fuzz_code crash-fuzz_paths crash-fuzz_parity
CLEANFILES += crash-fuzz_liar crash-fuzz_near

FUZZ_LINK = $(LINK) $(SDR_FUZZ_LDFLAGS)

fuzz_roce_SOURCES = fabtests/fuzz/fuzz_roce.c fabtests/fuzz/fuzz.h $(FUZZ_MAIN)
fuzz_roce_LINK = $(FUZZ_LINK)
fuzz_roce_LDADD = $(SDR_WIRE_LIBS)

fuzz_near_SOURCES = fabtests/fuzz/fuzz_near.c fabtests/fuzz/fuzz.h $(FUZZ_MAIN)
fuzz_near_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_INPUTS=20000u
fuzz_near_LINK = $(FUZZ_LINK)
fuzz_near_LDADD = libsdr_uc_soft.a $(SDR_WIRE_LIBS)

fuzz_class_SOURCES = fabtests/fuzz/fuzz_class.c fabtests/fuzz/fuzz.h $(FUZZ_MAIN)
fuzz_class_LINK = $(FUZZ_LINK)
fuzz_class_LDADD = $(SDR_WIRE_LIBS)

fuzz_frame_SOURCES = fabtests/fuzz/fuzz_frame.c fabtests/fuzz/fuzz.h $(FUZZ_MAIN)
fuzz_frame_LINK = $(FUZZ_LINK)
fuzz_frame_LDADD = $(SDR_WIRE_LIBS)

fuzz_code_SOURCES = fabtests/fuzz/fuzz_code.c fabtests/fuzz/fuzz.h $(FUZZ_MAIN)
fuzz_code_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_INPUTS=20000u
fuzz_code_LINK = $(FUZZ_LINK)
fuzz_code_LDADD = libsdr_fec.a $(SDR_BASE_LIBS) $(ISAL_LIBS)

fuzz_paths_SOURCES = fabtests/fuzz/fuzz_paths.c fabtests/fuzz/fuzz.h $(FUZZ_MAIN)
fuzz_paths_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_INPUTS=20000u
fuzz_paths_LINK = $(FUZZ_LINK)
fuzz_paths_LDADD = libsdr_rel_path.a libsdr_model.a $(SDR_BASE_LIBS) $(SDR_SYS_LIBS)

fuzz_parity_SOURCES = fabtests/fuzz/fuzz_parity.c fabtests/fuzz/fuzz.h $(FUZZ_MAIN)
fuzz_parity_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_INPUTS=2000u
fuzz_parity_LINK = $(FUZZ_LINK)
fuzz_parity_LDADD = $(SDR_BED_LIBS)

fuzz_liar_SOURCES = fabtests/fuzz/fuzz_liar.c fabtests/fuzz/fuzz.h $(FUZZ_MAIN)
fuzz_liar_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_INPUTS=100u -DFUZZ_FLIPS_MAX=2u -DFUZZ_CUT=64u
fuzz_liar_LINK = $(FUZZ_LINK) $(SDR_LIAR_WRAP)
fuzz_liar_LDADD = $(SDR_LIAR_LIBS)
