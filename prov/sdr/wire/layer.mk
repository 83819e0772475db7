# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# wire/: RoCEv2 headers and ICRC, the immediate codec, control messages.
# Every .c and .h of the layer stands in the list (what is not listed is neither built
# nor distributed).

noinst_LTLIBRARIES += libsdr_wire.la
libsdr_wire_la_SOURCES = \
	prov/sdr/wire/sdr_wire.h \
	prov/sdr/wire/sdr_roce.c \
	prov/sdr/wire/sdr_icrc.c \
	prov/sdr/wire/sdr_imm.c \
	prov/sdr/wire/sdr_class.c \
	prov/sdr/wire/sdr_frame.h prov/sdr/wire/sdr_frame.c \
	prov/sdr/wire/sdr_hello.c
