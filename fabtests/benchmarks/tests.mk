# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Programs that measure: "make" builds them (noinst_PROGRAMS), no test runs them.
# compare.sh prints ratios against another provider; sdr_mem has limits and an exit status.

noinst_PROGRAMS += sdr_bench sdr_mem
sdr_bench_SOURCES = \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/benchmarks/sdr_bench.c
sdr_bench_LDADD = $(LIBFABRIC_LIBS)
sdr_mem_SOURCES = \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/benchmarks/sdr_mem.c
sdr_mem_LDADD = $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/benchmarks/compare.sh
