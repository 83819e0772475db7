# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Tests on RDMA devices: guest.sh and the programs it runs, in the guest of scripts/rxe-vm.sh.
# scripts/test.sh boots it with run.sh.  Without a device they have nothing to test: "make check"
# builds them and runs none.

EXTRA_DIST += fabtests/rxe/run.sh fabtests/rxe/guest.sh fabtests/rxe/perf.sh
if HAVE_VERBS
noinst_PROGRAMS += sdr_verbs_late sdr_early
sdr_early_SOURCES = fabtests/rxe/sdr_early.c
sdr_early_LDADD = $(SDR_SDK_LIBS) $(SDR_SYS_LIBS)
sdr_verbs_late_SOURCES = fabtests/rxe/sdr_verbs_late.c
sdr_verbs_late_LDADD = libsdr_uc.la libsdr_wire.la libsdr_base.la $(SDR_SYS_LIBS)

# Linked with libibverbs: the device there is no part of ours.
noinst_PROGRAMS += sdr_soft_nic
sdr_soft_nic_SOURCES = fabtests/rxe/sdr_soft_nic.c
sdr_soft_nic_LDADD = libsdr_uc.la libsdr_wire.la libsdr_base.la -libverbs $(SDR_SYS_LIBS)
endif
EXTRA_DIST += fabtests/rxe/sdr_verbs_late.c fabtests/rxe/sdr_early.c fabtests/rxe/sdr_soft_nic.c
