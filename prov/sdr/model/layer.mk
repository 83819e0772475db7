# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# model/: completion times, as laws, by sampling and of collectives, and the choice of a scheme.  Part of libsdr.so;
# rel/ uses it.  It uses nothing but libm.

EXTRA_DIST += prov/sdr/model/README.md

noinst_LIBRARIES += libsdr_model.a
libsdr_model_a_SOURCES = \
	prov/sdr/model/sdr_choice.c \
	prov/sdr/model/sdr_choice_layout.c \
	prov/sdr/model/sdr_choice_layout.h \
	prov/sdr/model/sdr_choice_table.c \
	prov/sdr/model/sdr_choice.h \
	prov/sdr/model/sdr_choice_table.h \
	prov/sdr/model/sdr_model_point.c \
	prov/sdr/model/sdr_model_law.c \
	prov/sdr/model/sdr_model_law_sr.c \
	prov/sdr/model/sdr_model_sr.c \
	prov/sdr/model/sdr_model_sr_far.c \
	prov/sdr/model/sdr_model_code.c \
	prov/sdr/model/sdr_model_count.c \
	prov/sdr/model/sdr_model_ec.c \
	prov/sdr/model/sdr_model_ec.h \
	prov/sdr/model/sdr_model_mix.c \
	prov/sdr/model/sdr_model_draw.c \
	prov/sdr/model/sdr_model_draw_hybrid.c \
	prov/sdr/model/sdr_model_coll.c \
	prov/sdr/model/sdr_model_sample.c \
	prov/sdr/model/sdr_model_advise.c \
	prov/sdr/model/sdr_model_hybrid.c \
	prov/sdr/model/sdr_model_hybrid_part.c \
	prov/sdr/model/sdr_model_hybrid_plan.c \
	prov/sdr/model/sdr_model_hybrid.h \
	prov/sdr/model/sdr_model_draw.h \
	prov/sdr/model/sdr_model_random.h \
	prov/sdr/model/sdr_model_impl.h
