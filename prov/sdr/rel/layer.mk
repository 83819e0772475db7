# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# rel/: reliable endpoints: connection, matching, repair, pacing.
# Every .c and .h of the layer stands in the list: what is not listed is neither built nor
# distributed.


noinst_LTLIBRARIES += libsdr_rel.la
libsdr_rel_la_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
libsdr_rel_la_SOURCES = \
	prov/sdr/rel/sdr_bulk_ack.c \
	prov/sdr/rel/sdr_bulk_rx.c \
	prov/sdr/rel/sdr_bulk_tx.c \
	prov/sdr/rel/sdr_cc.c \
	prov/sdr/rel/sdr_cc_bbr.c \
	prov/sdr/rel/sdr_cc_fixed.c \
	prov/sdr/rel/sdr_code_rx.c \
	prov/sdr/rel/sdr_code_tx.c \
	prov/sdr/rel/sdr_conn.c \
	prov/sdr/rel/sdr_early.c \
	prov/sdr/rel/sdr_farewell.c \
	prov/sdr/rel/sdr_handshake.c \
	prov/sdr/rel/sdr_loss.c \
	prov/sdr/rel/sdr_match.c \
	prov/sdr/rel/sdr_msn.c \
	prov/sdr/rel/sdr_op.c \
	prov/sdr/rel/sdr_pacer.c \
	prov/sdr/rel/sdr_peer.c \
	prov/sdr/rel/sdr_pkt_rx.c \
	prov/sdr/rel/sdr_pkt_tx.c \
	prov/sdr/rel/sdr_plan.c \
	prov/sdr/rel/sdr_pnset.c \
	prov/sdr/rel/sdr_policy.c \
	prov/sdr/rel/sdr_rec.c \
	prov/sdr/rel/sdr_rel.c \
	prov/sdr/rel/sdr_rel_text.c \
	prov/sdr/rel/sdr_remote.c \
	prov/sdr/rel/sdr_report.c \
	prov/sdr/rel/sdr_rtt.c \
	prov/sdr/rel/sdr_rx.c \
	prov/sdr/rel/sdr_scratch.c \
	prov/sdr/rel/sdr_seg_tx.c \
	prov/sdr/rel/sdr_stranger.c \
	prov/sdr/rel/sdr_unexp.c \
	prov/sdr/rel/sdr_cc.h \
	prov/sdr/rel/sdr_cc_impl.h \
	prov/sdr/rel/sdr_loss.h \
	prov/sdr/rel/sdr_pacer.h \
	prov/sdr/rel/sdr_plan.h \
	prov/sdr/rel/sdr_pnset.h \
	prov/sdr/rel/sdr_rel.h \
	prov/sdr/rel/sdr_rel_cfg.h \
	prov/sdr/rel/sdr_rel_priv.h \
	prov/sdr/rel/sdr_rtt.h \
	prov/sdr/rel/sdr_scratch.h
