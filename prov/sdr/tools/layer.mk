# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# tools/: programs for users.  sdr_perf is an ordinary libfabric program: nothing of the provider
# is linked into it.

bin_PROGRAMS += sdr_perf
sdr_perf_SOURCES = \
	prov/sdr/tools/sdr_perf.c \
	prov/sdr/tools/sdr_perf.h \
	prov/sdr/tools/sdr_perf_conn.c \
	prov/sdr/tools/sdr_perf_ep.c \
	prov/sdr/tools/sdr_perf_opt.c \
	prov/sdr/tools/sdr_perf_out.c \
	prov/sdr/tools/sdr_perf_run.c \
	prov/sdr/tools/sdr_perf_side.c \
	prov/sdr/tools/sdr_perf_side.h
sdr_perf_LDADD = $(LIBFABRIC_LIBS)
