# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# hmem/: memory of devices.
# Every .c and .h of the layer is in the list: what is not listed is neither built nor
# distributed.

EXTRA_DIST += prov/sdr/hmem/README.md

noinst_LIBRARIES += libsdr_hmem.a
libsdr_hmem_a_SOURCES = \
	prov/sdr/hmem/sdr_hmem.c \
	prov/sdr/hmem/sdr_hmem.h \
	prov/sdr/hmem/sdr_hmem_cuda.c \
	prov/sdr/hmem/sdr_hmem_rocr.c \
	prov/sdr/hmem/sdr_hmem_rows.h \
	prov/sdr/hmem/sdr_hmem_ze.c
