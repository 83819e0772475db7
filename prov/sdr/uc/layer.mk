# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# uc/: the unreliable-write engines (soft, sim, verbs) and fault injection, each a static
# library of its own over libsdr_uc_base.a; libsdr_uc.a, what opens them, is over all of them.
# verbs has a soft engine inside, as its socket; no other knows a second one, and a test that is
# linked with one of them alone shows it.
# Every .c and .h of the layer is in the list (what is not listed is neither built
# nor distributed).  Without libibverbs one file says so.

EXTRA_DIST += prov/sdr/uc/README.md

noinst_LIBRARIES += \
	libsdr_uc.a \
	libsdr_uc_base.a \
	libsdr_uc_fault.a \
	libsdr_uc_sim.a \
	libsdr_uc_soft.a \
	libsdr_uc_verbs.a

libsdr_uc_base_a_SOURCES = \
	prov/sdr/uc/sdr_uc.h \
	prov/sdr/uc/sdr_uc_addr.c \
	prov/sdr/uc/sdr_uc_addr.h \
	prov/sdr/uc/sdr_uc_bell.h \
	prov/sdr/uc/sdr_uc_engine.h \
	prov/sdr/uc/sdr_uc_net.c \
	prov/sdr/uc/sdr_uc_net.h \
	prov/sdr/uc/sdr_uc_offer.h \
	prov/sdr/uc/sdr_uc_pause.h \
	prov/sdr/uc/sdr_uc_piece.c \
	prov/sdr/uc/sdr_uc_piece.h \
	prov/sdr/uc/sdr_uc_qp.c \
	prov/sdr/uc/sdr_uc_qp.h \
	prov/sdr/uc/sdr_uc_thread.h

libsdr_uc_fault_a_SOURCES = \
	prov/sdr/uc/fault/sdr_fault.c \
	prov/sdr/uc/fault/sdr_fault.h \
	prov/sdr/uc/fault/sdr_fault_delayq.c \
	prov/sdr/uc/fault/sdr_fault_dice.c \
	prov/sdr/uc/fault/sdr_fault_dice.h \
	prov/sdr/uc/fault/sdr_fault_direct.c \
	prov/sdr/uc/fault/sdr_fault_direct.h \
	prov/sdr/uc/fault/sdr_fault_held.c \
	prov/sdr/uc/fault/sdr_fault_impl.h \
	prov/sdr/uc/fault/sdr_fault_spec.c

libsdr_uc_sim_a_SOURCES = \
	prov/sdr/uc/sim/sdr_sim.h \
	prov/sdr/uc/sim/sdr_sim_addr.c \
	prov/sdr/uc/sim/sdr_sim_addr.h \
	prov/sdr/uc/sim/sdr_sim_grant.c \
	prov/sdr/uc/sim/sdr_sim_impl.h \
	prov/sdr/uc/sim/sdr_sim_lane.c \
	prov/sdr/uc/sim/sdr_sim_lane.h \
	prov/sdr/uc/sim/sdr_sim_line.c \
	prov/sdr/uc/sim/sdr_sim_line.h \
	prov/sdr/uc/sim/sdr_sim_link.c \
	prov/sdr/uc/sim/sdr_sim_node.c \
	prov/sdr/uc/sim/sdr_sim_path.c \
	prov/sdr/uc/sim/sdr_sim_qp.c \
	prov/sdr/uc/sim/sdr_sim_raw.c \
	prov/sdr/uc/sim/sdr_sim_tx.c \
	prov/sdr/uc/sim/sdr_sim_world.c

libsdr_uc_soft_a_SOURCES = \
	prov/sdr/uc/soft/sdr_soft.c \
	prov/sdr/uc/soft/sdr_soft.h \
	prov/sdr/uc/soft/sdr_soft_crew.c \
	prov/sdr/uc/soft/sdr_soft_crew.h \
	prov/sdr/uc/soft/sdr_soft_engine.c \
	prov/sdr/uc/soft/sdr_soft_flush.c \
	prov/sdr/uc/soft/sdr_soft_frame.c \
	prov/sdr/uc/soft/sdr_soft_frame.h \
	prov/sdr/uc/soft/sdr_soft_host.c \
	prov/sdr/uc/soft/sdr_soft_host.h \
	prov/sdr/uc/soft/sdr_soft_impl.h \
	prov/sdr/uc/soft/sdr_soft_knock.c \
	prov/sdr/uc/soft/sdr_soft_knock.h \
	prov/sdr/uc/soft/sdr_soft_merge.c \
	prov/sdr/uc/soft/sdr_soft_merge.h \
	prov/sdr/uc/soft/sdr_soft_near.c \
	prov/sdr/uc/soft/sdr_soft_near.h \
	prov/sdr/uc/soft/sdr_soft_near_rx.c \
	prov/sdr/uc/soft/sdr_soft_near_tx.c \
	prov/sdr/uc/soft/sdr_soft_net.h \
	prov/sdr/uc/soft/sdr_soft_net_mem.c \
	prov/sdr/uc/soft/sdr_soft_net_udp.c \
	prov/sdr/uc/soft/sdr_soft_nic.c \
	prov/sdr/uc/soft/sdr_soft_nic.h \
	prov/sdr/uc/soft/sdr_soft_path.c \
	prov/sdr/uc/soft/sdr_soft_path.h \
	prov/sdr/uc/soft/sdr_soft_piece.c \
	prov/sdr/uc/soft/sdr_soft_piece.h \
	prov/sdr/uc/soft/sdr_soft_place.c \
	prov/sdr/uc/soft/sdr_soft_place.h \
	prov/sdr/uc/soft/sdr_soft_qp.c \
	prov/sdr/uc/soft/sdr_soft_qp.h \
	prov/sdr/uc/soft/sdr_soft_range.c \
	prov/sdr/uc/soft/sdr_soft_range.h \
	prov/sdr/uc/soft/sdr_soft_ring.c \
	prov/sdr/uc/soft/sdr_soft_ring.h \
	prov/sdr/uc/soft/sdr_soft_rx.c \
	prov/sdr/uc/soft/sdr_soft_rx.h \
	prov/sdr/uc/soft/sdr_soft_share.c \
	prov/sdr/uc/soft/sdr_soft_share.h \
	prov/sdr/uc/soft/sdr_soft_sock.c \
	prov/sdr/uc/soft/sdr_soft_sock.h \
	prov/sdr/uc/soft/sdr_soft_source.c \
	prov/sdr/uc/soft/sdr_soft_source.h \
	prov/sdr/uc/soft/sdr_soft_spread.c \
	prov/sdr/uc/soft/sdr_soft_spread.h \
	prov/sdr/uc/soft/sdr_soft_tx.c \
	prov/sdr/uc/soft/sdr_soft_tx.h \
	prov/sdr/uc/soft/sdr_soft_via.c \
	prov/sdr/uc/soft/sdr_soft_via.h \
	prov/sdr/uc/soft/sdr_soft_worker.c

libsdr_uc_verbs_a_SOURCES = \
	prov/sdr/uc/verbs/sdr_verbs.h \
	prov/sdr/uc/verbs/sdr_verbs_engine.c
if HAVE_VERBS
libsdr_uc_verbs_a_SOURCES += \
	prov/sdr/uc/verbs/sdr_verbs.c \
	prov/sdr/uc/verbs/sdr_verbs_bad.c \
	prov/sdr/uc/verbs/sdr_verbs_bind.c \
	prov/sdr/uc/verbs/sdr_verbs_bind.h \
	prov/sdr/uc/verbs/sdr_verbs_break.c \
	prov/sdr/uc/verbs/sdr_verbs_break.h \
	prov/sdr/uc/verbs/sdr_verbs_crew.c \
	prov/sdr/uc/verbs/sdr_verbs_crew.h \
	prov/sdr/uc/verbs/sdr_verbs_ctl.c \
	prov/sdr/uc/verbs/sdr_verbs_ctl.h \
	prov/sdr/uc/verbs/sdr_verbs_dev.c \
	prov/sdr/uc/verbs/sdr_verbs_far.c \
	prov/sdr/uc/verbs/sdr_verbs_impl.h \
	prov/sdr/uc/verbs/sdr_verbs_key.c \
	prov/sdr/uc/verbs/sdr_verbs_key.h \
	prov/sdr/uc/verbs/sdr_verbs_key_mr.c \
	prov/sdr/uc/verbs/sdr_verbs_key_mw.c \
	prov/sdr/uc/verbs/sdr_verbs_key_root.c \
	prov/sdr/uc/verbs/sdr_verbs_lane.c \
	prov/sdr/uc/verbs/sdr_verbs_lane.h \
	prov/sdr/uc/verbs/sdr_verbs_lib.c \
	prov/sdr/uc/verbs/sdr_verbs_lib.h \
	prov/sdr/uc/verbs/sdr_verbs_mr.c \
	prov/sdr/uc/verbs/sdr_verbs_path.c \
	prov/sdr/uc/verbs/sdr_verbs_pd.c \
	prov/sdr/uc/verbs/sdr_verbs_pd.h \
	prov/sdr/uc/verbs/sdr_verbs_qp.c \
	prov/sdr/uc/verbs/sdr_verbs_qp.h \
	prov/sdr/uc/verbs/sdr_verbs_rx.c \
	prov/sdr/uc/verbs/sdr_verbs_rx.h \
	prov/sdr/uc/verbs/sdr_verbs_slot.c \
	prov/sdr/uc/verbs/sdr_verbs_tx.c \
	prov/sdr/uc/verbs/sdr_verbs_tx.h \
	prov/sdr/uc/verbs/sdr_verbs_worker.c
else
libsdr_uc_verbs_a_SOURCES += prov/sdr/uc/verbs/sdr_verbs_none.c
endif

libsdr_uc_a_SOURCES = \
	prov/sdr/uc/sdr_uc_open.c \
	prov/sdr/uc/sdr_uc_open.h \
	prov/sdr/uc/sdr_uc_registry.c \
	prov/sdr/uc/sdr_uc_registry.h

# In the order in which the linker wants them.
SDR_UC_LIBS = libsdr_uc.a libsdr_uc_verbs.a libsdr_uc_soft.a libsdr_uc_sim.a libsdr_uc_fault.a libsdr_uc_base.a
