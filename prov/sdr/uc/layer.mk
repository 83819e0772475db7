# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# uc/: the unreliable-write engines (soft, sim, verbs) and fault injection.
# Every .c and .h of the layer stands in the list (what is not listed is neither built
# nor distributed); one line a file.

noinst_LTLIBRARIES += libsdr_uc.la
libsdr_uc_la_SOURCES = prov/sdr/uc/sdr_uc.h
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_uc_open.h
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_soft.h
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_fault.h
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_sim.h prov/sdr/uc/sdr_sim_impl.h
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_sim_world.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_sim_link.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_sim_node.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_sim_qp.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_sim_grant.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_uc_open.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_soft_impl.h
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_soft.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_soft_addr.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_soft_sock.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_soft_qp.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_soft_tx.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_soft_rx.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_soft_nic.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_fault_impl.h
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_fault_spec.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_fault.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_fault_hold.c

# The verbs engine, or what says that it was left out.
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs.h
if HAVE_VERBS
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_impl.h prov/sdr/uc/sdr_verbs_lib.h
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_lib.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_dev.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_pd.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_mr.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_path.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_qp.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_tx.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_rx.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_ctl.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_bad.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_key_mr.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_key_mw.c
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_key_root.c
else
libsdr_uc_la_SOURCES += prov/sdr/uc/sdr_verbs_none.c
endif
