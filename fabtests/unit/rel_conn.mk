# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for the room rel/conn: linked with it and what is below it only, so that an arrow
# that points up does not link.

REL_CONN_TEST_LIBS = libsdr_rel_conn.a libsdr_rel_path.a libsdr_model.a $(SDR_SDK_LIBS) \
	$(CMOCKA_LIBS) $(SDR_SYS_LIBS)
REL_CONN_BED = \
	fabtests/bed/bed_room.c fabtests/bed/bed_room.h \
	fabtests/functional/stranger.h fabtests/functional/stranger_peer.c \
	fabtests/unit/uc_loop.c fabtests/unit/uc_loop.h

UNIT_TESTS += test_pnset test_conn_rec test_conn_pkt test_conn_hello
test_pnset_SOURCES = fabtests/unit/test_pnset.c
test_pnset_LDADD = $(REL_CONN_TEST_LIBS)
test_conn_rec_SOURCES = fabtests/unit/test_conn_rec.c $(REL_CONN_BED)
test_conn_rec_LDADD = $(REL_CONN_TEST_LIBS)
test_conn_pkt_SOURCES = fabtests/unit/test_conn_pkt.c $(REL_CONN_BED)
test_conn_pkt_LDADD = $(REL_CONN_TEST_LIBS)
test_conn_hello_SOURCES = fabtests/unit/test_conn_hello.c $(REL_CONN_BED)
test_conn_hello_LDADD = $(REL_CONN_TEST_LIBS)
