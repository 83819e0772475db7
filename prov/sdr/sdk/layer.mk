# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# sdk/: the SDR middleware; with uc/ and wire/ below it, it is libsdr.so.
# Every .c and .h of the layer is in the list: what is not listed is neither built nor
# distributed.

noinst_LIBRARIES += libsdr_sdk.a
libsdr_sdk_a_SOURCES = \
	prov/sdr/sdk/sdr_app.c \
	prov/sdr/sdk/sdr_app.h \
	prov/sdr/sdk/sdr_context.c \
	prov/sdr/sdk/sdr_context.h \
	prov/sdr/sdk/sdr_context_open.c \
	prov/sdr/sdk/sdr_context_progress.c \
	prov/sdr/sdk/sdr_crew.c \
	prov/sdr/sdk/sdr_crew.h \
	prov/sdr/sdk/sdr_cts.c \
	prov/sdr/sdk/sdr_cts.h \
	prov/sdr/sdk/sdr_keys.c \
	prov/sdr/sdk/sdr_keys.h \
	prov/sdr/sdk/sdr_mr.c \
	prov/sdr/sdk/sdr_mr.h \
	prov/sdr/sdk/sdr_msgtab.c \
	prov/sdr/sdk/sdr_msgtab.h \
	prov/sdr/sdk/sdr_pool.c \
	prov/sdr/sdk/sdr_pool.h \
	prov/sdr/sdk/sdr_qp.c \
	prov/sdr/sdk/sdr_qp.h \
	prov/sdr/sdk/sdr_qp_open.c \
	prov/sdr/sdk/sdr_recv.c \
	prov/sdr/sdk/sdr_recv.h \
	prov/sdr/sdk/sdr_rxk.c \
	prov/sdr/sdk/sdr_rxk.h \
	prov/sdr/sdk/sdr_sdk.h \
	prov/sdr/sdk/sdr_send.c \
	prov/sdr/sdk/sdr_send.h \
	prov/sdr/sdk/sdr_send_poll.c \
	prov/sdr/sdk/sdr_send_run.c \
	prov/sdr/sdk/sdr_send_run.h \
	prov/sdr/sdk/sdr_strerror.c \
	prov/sdr/sdk/sdr_txq.c \
	prov/sdr/sdk/sdr_txq.h \
	prov/sdr/sdk/sdr_uimm.c \
	prov/sdr/sdk/sdr_why.c \
	prov/sdr/sdk/sdr_why.h
EXTRA_DIST += prov/sdr/sdk/README.md
