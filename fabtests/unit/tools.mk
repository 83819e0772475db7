# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for the parts of prov/sdr/tools that compute.

UNIT_TESTS += test_probe_count
test_probe_count_SOURCES = \
	fabtests/unit/test_probe_count.c \
	fabtests/unit/test_draw.h \
	prov/sdr/tools/probe/probe_count.c \
	prov/sdr/tools/probe/probe_count.h
test_probe_count_LDADD = $(CMOCKA_LIBS) -lm

# What sdr_perf --sdk runs.
UNIT_TESTS += test_perf_sdk
test_perf_sdk_SOURCES = \
	fabtests/unit/test_perf_sdk.c \
	prov/sdr/tools/perf/sdk_points.c \
	prov/sdr/tools/perf/sdk_points.h \
	prov/sdr/tools/perf/sdr_perf_say.c \
	prov/sdr/tools/perf/sdr_perf_say.h
test_perf_sdk_LDADD = $(CMOCKA_LIBS)

# The emulated WAN: virtual time, no device.
UNIT_TESTS += test_wan test_wan_pkt
test_wan_SOURCES = fabtests/unit/test_wan.c fabtests/unit/test_wan_util.h
test_wan_LDADD = libsdr_wan.a libsdr_tool.a $(SDR_BASE_LIBS) $(CMOCKA_LIBS) -lm
test_wan_pkt_SOURCES = fabtests/unit/test_wan_pkt.c fabtests/unit/test_wan_util.h
test_wan_pkt_LDADD = libsdr_wan.a $(SDR_BASE_LIBS) $(CMOCKA_LIBS) -lm
