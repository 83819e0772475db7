# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# base/: the ground floor, what every layer may use.
# Every .c and .h of the layer is in the list: what is not listed is neither built nor
# distributed.

EXTRA_DIST += prov/sdr/base/README.md

noinst_LIBRARIES += libsdr_base.a
libsdr_base_a_SOURCES = \
	prov/sdr/base/sdr_assert.c \
	prov/sdr/base/sdr_assert.h \
	prov/sdr/base/sdr_bitmap.c \
	prov/sdr/base/sdr_bitmap.h \
	prov/sdr/base/sdr_books.c \
	prov/sdr/base/sdr_books.h \
	prov/sdr/base/sdr_endian.h \
	prov/sdr/base/sdr_htab.c \
	prov/sdr/base/sdr_htab.h \
	prov/sdr/base/sdr_idtab.c \
	prov/sdr/base/sdr_idtab.h \
	prov/sdr/base/sdr_list.h \
	prov/sdr/base/sdr_mem.h \
	prov/sdr/base/sdr_minifloat.c \
	prov/sdr/base/sdr_minifloat.h \
	prov/sdr/base/sdr_rand.c \
	prov/sdr/base/sdr_rand.h \
	prov/sdr/base/sdr_ring.c \
	prov/sdr/base/sdr_ring.h \
	prov/sdr/base/sdr_seq.h \
	prov/sdr/base/sdr_slab.c \
	prov/sdr/base/sdr_slab.h \
	prov/sdr/base/sdr_stream.c \
	prov/sdr/base/sdr_stream.h \
	prov/sdr/base/sdr_timerq.c \
	prov/sdr/base/sdr_timerq.h \
	prov/sdr/base/sdr_units.c \
	prov/sdr/base/sdr_units.h
