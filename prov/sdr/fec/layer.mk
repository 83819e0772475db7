# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# fec/: erasure codes and which packet belongs to which codeword.

EXTRA_DIST += prov/sdr/fec/README.md

noinst_LIBRARIES += libsdr_fec.a
libsdr_fec_a_SOURCES = \
	prov/sdr/fec/sdr_code.c \
	prov/sdr/fec/sdr_code_bytes.c \
	prov/sdr/fec/sdr_codec.c \
	prov/sdr/fec/sdr_fec.c \
	prov/sdr/fec/sdr_fec_base.c \
	prov/sdr/fec/sdr_fec_gfni.c \
	prov/sdr/fec/sdr_fec_isal.c \
	prov/sdr/fec/sdr_fec_plan.c \
	prov/sdr/fec/sdr_code.h \
	prov/sdr/fec/sdr_code_impl.h \
	prov/sdr/fec/sdr_fec.h \
	prov/sdr/fec/sdr_fec_impl.h
