# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Programs to begin with: each is linked with the installed interface alone, and run by
# fabtests/functional/examples.sh.

noinst_PROGRAMS += ex_nack ex_stream ex_fec ex_ep ex_front ex_put
ex_nack_SOURCES = fabtests/examples/ex_nack.c fabtests/examples/meet.h
ex_nack_LDADD = libsdr.la
ex_nack_LINK = $(LT_LINK)
ex_stream_SOURCES = fabtests/examples/ex_stream.c fabtests/examples/meet.h
ex_stream_LDADD = libsdr.la
ex_stream_LINK = $(LT_LINK)
ex_fec_SOURCES = fabtests/examples/ex_fec.c fabtests/examples/meet.h
ex_fec_LDADD = libsdr.la
ex_fec_LINK = $(LT_LINK)
ex_ep_SOURCES = fabtests/examples/ex_ep.c fabtests/examples/ends.h fabtests/examples/meet.h
ex_ep_LDADD = $(LIBFABRIC_LIBS)
ex_front_SOURCES = fabtests/examples/ex_front.c fabtests/examples/ends.h fabtests/examples/meet.h
ex_front_LDADD = $(LIBFABRIC_LIBS)
ex_put_SOURCES = fabtests/examples/ex_put.c fabtests/examples/ends.h fabtests/examples/meet.h
ex_put_LDADD = $(LIBFABRIC_LIBS)

TESTS += fabtests/functional/examples.sh
EXTRA_DIST += fabtests/functional/examples.sh
