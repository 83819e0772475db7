# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Drivers without devices, under the names that the provider looks for, and what is tested with them.  A
# program that is linked with them has them loaded before the provider asks for them by name.

HMEM_FAKES = fabtests/hmem/libfakemem.la fabtests/hmem/libcuda.la fabtests/hmem/libhsa-runtime64.la \
	fabtests/hmem/libze_loader.la
check_LTLIBRARIES += $(HMEM_FAKES)
HMEM_FAKE_CFLAGS = $(AM_CFLAGS) -fvisibility=default
# -rpath: libtool builds a shared library of what is not installed only if it is told where it would be.
HMEM_FAKE_LDFLAGS = $(AM_LDFLAGS) -rpath /nowhere -version-info 1:0:0

fabtests_hmem_libfakemem_la_SOURCES = fabtests/hmem/fake_mem.c fabtests/hmem/fake_mem.h
fabtests_hmem_libfakemem_la_CFLAGS = $(HMEM_FAKE_CFLAGS)
fabtests_hmem_libfakemem_la_LDFLAGS = $(HMEM_FAKE_LDFLAGS)
fabtests_hmem_libcuda_la_SOURCES = fabtests/hmem/fake_cuda.c
fabtests_hmem_libcuda_la_CFLAGS = $(HMEM_FAKE_CFLAGS)
fabtests_hmem_libcuda_la_LDFLAGS = $(HMEM_FAKE_LDFLAGS)
fabtests_hmem_libcuda_la_LIBADD = fabtests/hmem/libfakemem.la
fabtests_hmem_libhsa_runtime64_la_SOURCES = fabtests/hmem/fake_hsa.c
fabtests_hmem_libhsa_runtime64_la_CFLAGS = $(HMEM_FAKE_CFLAGS)
fabtests_hmem_libhsa_runtime64_la_LDFLAGS = $(HMEM_FAKE_LDFLAGS)
fabtests_hmem_libhsa_runtime64_la_LIBADD = fabtests/hmem/libfakemem.la
fabtests_hmem_libze_loader_la_SOURCES = fabtests/hmem/fake_ze.c
fabtests_hmem_libze_loader_la_CFLAGS = $(HMEM_FAKE_CFLAGS)
fabtests_hmem_libze_loader_la_LDFLAGS = $(HMEM_FAKE_LDFLAGS)
fabtests_hmem_libze_loader_la_LIBADD = fabtests/hmem/libfakemem.la

UNIT_TESTS += test_fi_hmem
test_fi_hmem_SOURCES = fabtests/unit/test_fi_hmem.c fabtests/unit/test_fi_util.h \
	fabtests/hmem/far_fake.c fabtests/hmem/far_mem.h
test_fi_hmem_LINK = $(LT_LINK) -Wl,--no-as-needed
test_fi_hmem_LDADD = $(HMEM_FAKES) $(FI_TEST_LIBS)

# The same on a GPU, where there is one.
UNIT_TESTS += test_fi_gpu
test_fi_gpu_SOURCES = fabtests/unit/test_fi_hmem.c fabtests/unit/test_fi_util.h \
	fabtests/hmem/far_cuda.c fabtests/hmem/far_mem.h
test_fi_gpu_LDADD = libsdr_tool.a $(FI_TEST_LIBS) -ldl

UNIT_TESTS += test_hmem
test_hmem_SOURCES = fabtests/unit/test_hmem.c
test_hmem_LINK = $(test_fi_hmem_LINK)
test_hmem_LDADD = libsdr_hmem.a $(HMEM_FAKES) $(CMOCKA_LIBS) -lpthread

# The same rows as test_consumers, where a driver has a device.
UNIT_TESTS += test_consumers_device
test_consumers_device_SOURCES = $(CONSUMERS) fabtests/unit/test_consumers_device.c
test_consumers_device_LINK = $(test_fi_hmem_LINK)
test_consumers_device_LDADD = $(test_fi_hmem_LDADD)
