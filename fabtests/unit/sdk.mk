# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# prov/sdr/sdk: cmocka programs over an engine in memory (uc_loop) and over those that ship,
# and the benchmark of the receive worker.  The exhaustive explorer: fabtests/sim/explore.mk.

SDK_TEST_LIBS = libsdr_sdk.a $(SDR_WIRE_LIBS) $(CMOCKA_LIBS) -lpthread
SDK_TEST_COMMON = \
	fabtests/unit/test_sdk.h \
	fabtests/unit/uc_loop.c fabtests/unit/uc_loop.h
SDK_TESTS = test_sdk_rxk test_sdk_recv test_sdk_send test_sdk_context test_sdk_keys test_sdk_reg \
	test_sdk_app
check_PROGRAMS += $(SDK_TESTS)
TESTS += $(SDK_TESTS)

test_sdk_rxk_SOURCES = fabtests/unit/test_sdk_rxk.c $(SDK_TEST_COMMON)
test_sdk_rxk_LDADD = $(SDK_TEST_LIBS)
test_sdk_recv_SOURCES = fabtests/unit/test_sdk_recv.c $(SDK_TEST_COMMON)
test_sdk_recv_LDADD = $(SDK_TEST_LIBS)
test_sdk_send_SOURCES = fabtests/unit/test_sdk_send.c $(SDK_TEST_COMMON)
test_sdk_send_LDADD = $(SDK_TEST_LIBS)
test_sdk_context_SOURCES = fabtests/unit/test_sdk_context.c $(SDK_TEST_COMMON)
test_sdk_context_LDADD = $(SDK_TEST_LIBS)

test_sdk_keys_SOURCES = fabtests/unit/test_sdk_keys.c $(SDK_TEST_COMMON)
test_sdk_keys_LDADD = $(SDK_TEST_LIBS)
test_sdk_reg_SOURCES = fabtests/unit/test_sdk_reg.c $(SDK_TEST_COMMON)
test_sdk_reg_LDADD = $(SDK_TEST_LIBS)
test_sdk_app_SOURCES = fabtests/unit/test_sdk_app.c $(SDK_TEST_COMMON)
test_sdk_app_LDADD = $(SDK_TEST_LIBS)

noinst_PROGRAMS += sdr_workers_bench
sdr_workers_bench_SOURCES = fabtests/benchmarks/sdr_workers_bench.c
sdr_workers_bench_LDADD = $(SDR_SDK_LIBS) -lpthread -lm

noinst_PROGRAMS += sdr_rx_bench
sdr_rx_bench_SOURCES = fabtests/benchmarks/sdr_rx_bench.c
sdr_rx_bench_LDADD = libsdr_sdk.a $(SDR_WIRE_LIBS) -lpthread

check_PROGRAMS += test_sdk_engines
TESTS += test_sdk_engines
test_sdk_engines_SOURCES = fabtests/unit/test_sdk_engines.c
test_sdk_engines_LDADD = $(SDR_SDK_LIBS) $(CMOCKA_LIBS) -lpthread -lm

check_PROGRAMS += test_sdk_workers
TESTS += test_sdk_workers
test_sdk_workers_SOURCES = fabtests/unit/test_sdk_workers.c
test_sdk_workers_LDADD = $(SDR_SDK_LIBS) $(CMOCKA_LIBS) -lpthread -lm
