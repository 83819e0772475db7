# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Tests on RDMA devices: guest.sh and the programs it runs, in the guest of scripts/rxe-vm.sh.
# scripts/test.sh boots it with run.sh.  Without a device they have nothing to test: "make check"
# builds them and runs none.

EXTRA_DIST += fabtests/rxe/run.sh fabtests/rxe/guest.sh fabtests/rxe/perf.sh fabtests/rxe/warm.sh
if HAVE_VERBS
noinst_PROGRAMS += sdr_verbs_late sdr_early sdr_verbs_workers
sdr_early_SOURCES = fabtests/rxe/sdr_early.c
sdr_early_LDADD = $(SDR_SDK_LIBS) $(SDR_SYS_LIBS)
sdr_verbs_late_SOURCES = fabtests/rxe/sdr_verbs_late.c
sdr_verbs_late_LDADD = $(SDR_UC_LIBS) $(SDR_WIRE_LIBS) $(SDR_SYS_LIBS)

sdr_verbs_workers_SOURCES = fabtests/rxe/sdr_verbs_workers.c
sdr_verbs_workers_LDADD = $(SDR_SDK_LIBS) $(SDR_SYS_LIBS)

# Linked with libibverbs: the device there is no part of ours.
noinst_PROGRAMS += sdr_soft_nic
sdr_soft_nic_SOURCES = fabtests/rxe/sdr_soft_nic.c
sdr_soft_nic_LDADD = $(SDR_UC_LIBS) $(SDR_WIRE_LIBS) -libverbs $(SDR_SYS_LIBS)

# The provider finds dlvsym of the program, and with it ibv_reg_dmabuf_mr.  The fakes are there with cmocka.
if HAVE_CMOCKA
noinst_PROGRAMS += sdr_verbs_hmem
sdr_verbs_hmem_SOURCES = fabtests/rxe/sdr_verbs_hmem.c fabtests/rxe/dmabuf_shim.c fabtests/rxe/dmabuf_shim.h
sdr_verbs_hmem_CFLAGS = $(AM_CFLAGS) -fvisibility=default
sdr_verbs_hmem_LINK = $(LT_LINK) -export-dynamic -Wl,--no-as-needed
sdr_verbs_hmem_LDADD = $(HMEM_FAKES) $(LIBFABRIC_LIBS) -lpthread
endif
endif
EXTRA_DIST += fabtests/rxe/sdr_verbs_late.c fabtests/rxe/sdr_early.c fabtests/rxe/sdr_soft_nic.c \
	fabtests/rxe/sdr_verbs_workers.c fabtests/rxe/sdr_verbs_hmem.c fabtests/rxe/dmabuf_shim.c fabtests/rxe/dmabuf_shim.h
