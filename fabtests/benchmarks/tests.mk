# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Programs that measure: "make" builds them (noinst_PROGRAMS), no test runs them.
# compare.sh prints ratios against another provider; sdr_ct and sdr_mem have limits and an exit status.

noinst_PROGRAMS += sdr_bench sdr_ct sdr_mem sdr_idle
sdr_bench_SOURCES = \
	fabtests/benchmarks/bench_atomic.h fabtests/benchmarks/bench_atomic.c \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/benchmarks/bench_side.h fabtests/benchmarks/bench_side.c \
	fabtests/benchmarks/sdr_bench.c
sdr_bench_LDADD = $(LIBFABRIC_LIBS)
sdr_ct_SOURCES = \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/benchmarks/ct_pair.h fabtests/benchmarks/ct_pair.c \
	fabtests/benchmarks/sdr_ct.c
sdr_ct_LDADD = $(LIBFABRIC_LIBS)
sdr_mem_SOURCES = \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/benchmarks/sdr_mem.c
sdr_mem_LDADD = $(LIBFABRIC_LIBS)
# What idle peers and endpoints cost; runs sdr_stranger, which lies beside it; --check has an exit status.
sdr_idle_SOURCES = \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/benchmarks/sdr_idle.c
sdr_idle_LDADD = $(LIBFABRIC_LIBS)
# What a transfer costs the processors of both sides, and the floor beneath it; wan-cpu.sh runs them over sdr_wan.
noinst_PROGRAMS += sdr_cpu sdr_bare
sdr_bare_SOURCES = fabtests/benchmarks/sdr_bare.c
sdr_cpu_SOURCES = \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/benchmarks/sdr_cpu.c
sdr_cpu_LDADD = $(LIBFABRIC_LIBS)
EXTRA_DIST += fabtests/benchmarks/compare.sh fabtests/benchmarks/wan-cpu.sh

# Completion times in simulation, one process a cell; --bars has an exit status.  Nodes, clock and processes are
# those of the tool sdr_sim.
noinst_PROGRAMS += sdr_ct_sim
sdr_ct_sim_SOURCES = \
	fabtests/benchmarks/ct_sim.h fabtests/benchmarks/ct_cell.c \
	fabtests/benchmarks/ct_out.c fabtests/benchmarks/ct_opts.c \
	fabtests/benchmarks/sdr_ct_sim.c
sdr_ct_sim_LDADD = libsdr_simbed.a libsdr_simeps.a $(SDR_REL_LIBS) $(SDR_SDK_LIBS) $(SDR_SYS_LIBS)

# The bytes of the erasure code beside bare ISA-L and beside XOR; --check has an exit status.
noinst_PROGRAMS += sdr_fec_bench
sdr_fec_bench_SOURCES = \
	fabtests/benchmarks/fec_bench.h fabtests/benchmarks/fec_bench_out.c \
	fabtests/benchmarks/fec_bench_work.c \
	fabtests/benchmarks/sdr_fec_bench.c
sdr_fec_bench_LDADD = libsdr_fec.a $(SDR_WIRE_LIBS) -lpthread

# How long decoding holds up a round of an endpoint, in the round and by a thread.
noinst_PROGRAMS += sdr_decode_bench
sdr_decode_bench_SOURCES = \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/benchmarks/sdr_decode_bench.c
sdr_decode_bench_LDADD = $(LIBFABRIC_LIBS) -lpthread

# What a prediction costs; --check has an exit status.
noinst_PROGRAMS += sdr_model_bench
sdr_model_bench_SOURCES = fabtests/benchmarks/sdr_model_bench.c
sdr_model_bench_LDADD = libsdr_model.a $(SDR_BASE_LIBS) -lm
