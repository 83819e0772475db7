# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for prov/sdr/rel, one per object, and those for connected endpoints on the
# simulated network, one per subject.

include fabtests/unit/rel_leaf.mk

REL_BED = fabtests/unit/test_rel_util.h fabtests/unit/test_rel_util.c
REL_BED_LIBS = libsdr_rel.la $(SDR_SDK_LIBS) $(CMOCKA_LIBS) $(SDR_SYS_LIBS)
UNIT_TESTS += test_rel_handshake test_rel_match test_rel_bulk test_rel_end test_rel_forged
UNIT_TESTS += test_rel_home test_rel_limits test_rel_peers test_rel_revoke test_rel_farewell test_rel_broken
UNIT_TESTS += test_rel_keyed test_rel_keyed_bad test_rel_code test_rel_code_ways test_rel_code_bad

test_rel_handshake_SOURCES = fabtests/unit/test_rel_handshake.c $(REL_BED)
test_rel_handshake_LDADD = $(REL_BED_LIBS)
test_rel_match_SOURCES = fabtests/unit/test_rel_match.c $(REL_BED)
test_rel_match_LDADD = $(REL_BED_LIBS)
test_rel_bulk_SOURCES = fabtests/unit/test_rel_bulk.c $(REL_BED)
test_rel_bulk_LDADD = $(REL_BED_LIBS)
test_rel_end_SOURCES = fabtests/unit/test_rel_end.c $(REL_BED)
test_rel_end_LDADD = $(REL_BED_LIBS)
test_rel_limits_SOURCES = fabtests/unit/test_rel_limits.c fabtests/unit/test_rel_liar.h $(REL_BED)
test_rel_limits_LDADD = $(REL_BED_LIBS)
test_rel_peers_SOURCES = fabtests/unit/test_rel_peers.c $(REL_BED)
test_rel_peers_LDADD = $(REL_BED_LIBS)
test_rel_home_SOURCES = fabtests/unit/test_rel_home.c $(REL_BED)
test_rel_home_LDADD = $(REL_BED_LIBS)
test_rel_forged_SOURCES = fabtests/unit/test_rel_forged.c fabtests/unit/test_rel_liar.h $(REL_BED)
test_rel_forged_LDADD = $(REL_BED_LIBS)
test_rel_farewell_SOURCES = fabtests/unit/test_rel_farewell.c $(REL_BED)
test_rel_farewell_LDADD = $(REL_BED_LIBS)
test_rel_broken_SOURCES = fabtests/unit/test_rel_broken.c $(REL_BED)
test_rel_broken_LDADD = $(REL_BED_LIBS)
test_rel_revoke_SOURCES = fabtests/unit/test_rel_revoke.c $(REL_BED)
test_rel_revoke_LDADD = $(REL_BED_LIBS)
test_rel_keyed_SOURCES = fabtests/unit/test_rel_keyed.c $(REL_BED)
test_rel_keyed_LDADD = $(REL_BED_LIBS)
test_rel_keyed_bad_SOURCES = fabtests/unit/test_rel_keyed_bad.c $(REL_BED)
test_rel_keyed_bad_LDADD = $(REL_BED_LIBS)
REL_CODE_BED = fabtests/unit/test_rel_code_util.h $(REL_BED)
test_rel_code_SOURCES = fabtests/unit/test_rel_code.c $(REL_CODE_BED)
test_rel_code_LDADD = $(REL_BED_LIBS)
test_rel_code_ways_SOURCES = fabtests/unit/test_rel_code_ways.c $(REL_CODE_BED)
test_rel_code_ways_LDADD = $(REL_BED_LIBS)
test_rel_code_bad_SOURCES = fabtests/unit/test_rel_code_bad.c $(REL_CODE_BED)
test_rel_code_bad_LDADD = $(REL_BED_LIBS)
