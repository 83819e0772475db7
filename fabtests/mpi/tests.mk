# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# MPI programs are built by run.sh with mpicc (MPI may be missing where sdr is built); here
# they are only distributed. scripts/test.sh runs run.sh; "make check" does not.

EXTRA_DIST += \
	fabtests/mpi/run.sh \
	fabtests/mpi/sdr_mpi.h \
	fabtests/mpi/sdr_mpi.c \
	fabtests/mpi/sdr_mpi_pt2pt.c \
	fabtests/mpi/sdr_mpi_storm.c \
	fabtests/mpi/sdr_mpi_coll.c \
	fabtests/mpi/sdr_mpi_osc.c
