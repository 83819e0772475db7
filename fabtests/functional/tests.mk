# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Programs over real sockets, through libfabric.  A script (.sh, listed in TESTS and in
# EXTRA_DIST) is run by bash; it finds programs under $SDR_BUILDDIR and files under
# $SDR_SRCDIR; FI_PROVIDER_PATH is set.  It prints "ok - name" or "not ok - name" per case.

noinst_PROGRAMS += sdr_xfer
sdr_xfer_SOURCES = \
	fabtests/functional/sdr_xfer.c \
	fabtests/functional/sdr_xfer.h \
	fabtests/functional/xfer_fabric.c \
	fabtests/functional/xfer_pattern.h
sdr_xfer_LDADD = $(LIBFABRIC_LIBS)

TESTS += fabtests/functional/xfer.sh
EXTRA_DIST += fabtests/functional/xfer.sh

# Atomics between processes.
noinst_PROGRAMS += sdr_atom
sdr_atom_SOURCES = fabtests/functional/sdr_atom.c
sdr_atom_LDADD = $(LIBFABRIC_LIBS)

TESTS += fabtests/functional/atom.sh
EXTRA_DIST += fabtests/functional/atom.sh

noinst_PROGRAMS += sdr_garbage
sdr_garbage_SOURCES = fabtests/functional/sdr_garbage.c
sdr_garbage_LDADD = $(SDR_WIRE_LIBS)

# Several endpoints of a process under one ceiling (scripts/net/qos.sh).
noinst_PROGRAMS += sdr_many
sdr_many_SOURCES = \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/functional/sdr_many.c
sdr_many_LDADD = $(LIBFABRIC_LIBS)

noinst_PROGRAMS += sdr_relay
sdr_relay_SOURCES = fabtests/functional/sdr_relay.c
sdr_relay_LDADD =

# A host that can reach the port, and the endpoint behind it.
noinst_PROGRAMS += sdr_stranger sdr_honest
sdr_stranger_SOURCES = \
	fabtests/functional/sdr_stranger.c \
	fabtests/functional/stranger.h \
	fabtests/functional/stranger_link.c \
	fabtests/functional/stranger_seen.c \
	fabtests/functional/stranger_peer.c
sdr_stranger_LDADD = $(SDR_WIRE_LIBS)
sdr_honest_SOURCES = \
	fabtests/benchmarks/bench_ep.h fabtests/benchmarks/bench_ep.c \
	fabtests/functional/sdr_honest.c
sdr_honest_LDADD = $(LIBFABRIC_LIBS)

TESTS += \
	fabtests/functional/ends.sh \
	fabtests/functional/badinput.sh \
	fabtests/functional/loadable.sh \
	fabtests/functional/model.sh \
	fabtests/functional/parity.sh \
	fabtests/functional/perf.sh \
	fabtests/functional/perf_sdk.sh \
	fabtests/functional/stranger.sh \
	fabtests/functional/sim.sh \
	fabtests/functional/wan.sh
EXTRA_DIST += \
	fabtests/functional/cases.sh \
	fabtests/functional/ends.sh \
	fabtests/functional/badinput.sh \
	fabtests/functional/loadable.sh \
	fabtests/functional/model.sh \
	fabtests/functional/model_golden.csv \
	fabtests/functional/parity.sh \
	fabtests/functional/perf.sh \
	fabtests/functional/perf_sdk.sh \
	fabtests/functional/stranger.sh \
	fabtests/functional/sim.sh \
	fabtests/functional/wan.sh
