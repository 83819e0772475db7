# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# fi/: the libfabric objects; with all layers below, they are libsdr-fi.so.
# Every .c and .h of the layer is in the list: what is not listed is neither built nor
# distributed.

noinst_LIBRARIES += libsdr_prov.a
libsdr_prov_a_SOURCES = \
	prov/sdr/fi/sdr_alarm.c \
	prov/sdr/fi/sdr_alarm.h \
	prov/sdr/fi/sdr_atomic.c \
	prov/sdr/fi/sdr_atomic_lock.c \
	prov/sdr/fi/sdr_atomic_lock.h \
	prov/sdr/fi/sdr_atomic_map.c \
	prov/sdr/fi/sdr_atomic_map.h \
	prov/sdr/fi/sdr_av.c \
	prov/sdr/fi/sdr_av.h \
	prov/sdr/fi/sdr_av_table.c \
	prov/sdr/fi/sdr_av_table.h \
	prov/sdr/fi/sdr_cache.c \
	prov/sdr/fi/sdr_cache.h \
	prov/sdr/fi/sdr_cm.c \
	prov/sdr/fi/sdr_cm.h \
	prov/sdr/fi/sdr_cntr.c \
	prov/sdr/fi/sdr_cntr.h \
	prov/sdr/fi/sdr_cntr_peer.c \
	prov/sdr/fi/sdr_cntr_peer.h \
	prov/sdr/fi/sdr_conds.c \
	prov/sdr/fi/sdr_conds.h \
	prov/sdr/fi/sdr_connreq.c \
	prov/sdr/fi/sdr_connreq.h \
	prov/sdr/fi/sdr_cq.c \
	prov/sdr/fi/sdr_cq.h \
	prov/sdr/fi/sdr_cq_peer.c \
	prov/sdr/fi/sdr_cq_peer.h \
	prov/sdr/fi/sdr_dgram.c \
	prov/sdr/fi/sdr_dgram.h \
	prov/sdr/fi/sdr_dgram_rma.c \
	prov/sdr/fi/sdr_dgram_rma.h \
	prov/sdr/fi/sdr_domain.c \
	prov/sdr/fi/sdr_domain.h \
	prov/sdr/fi/sdr_domain_eps.c \
	prov/sdr/fi/sdr_enosys.c \
	prov/sdr/fi/sdr_enosys.h \
	prov/sdr/fi/sdr_enosys_ep.c \
	prov/sdr/fi/sdr_env.c \
	prov/sdr/fi/sdr_env.h \
	prov/sdr/fi/sdr_env_kind.c \
	prov/sdr/fi/sdr_env_kind.h \
	prov/sdr/fi/sdr_env_net.c \
	prov/sdr/fi/sdr_env_qos.c \
	prov/sdr/fi/sdr_env_table.c \
	prov/sdr/fi/sdr_ep.c \
	prov/sdr/fi/sdr_ep.h \
	prov/sdr/fi/sdr_ep_addr.c \
	prov/sdr/fi/sdr_ep_addr.h \
	prov/sdr/fi/sdr_ep_done.c \
	prov/sdr/fi/sdr_ep_done.h \
	prov/sdr/fi/sdr_ep_engine.c \
	prov/sdr/fi/sdr_ep_engine.h \
	prov/sdr/fi/sdr_ep_opt.c \
	prov/sdr/fi/sdr_ep_opt.h \
	prov/sdr/fi/sdr_ep_peer.c \
	prov/sdr/fi/sdr_ep_peer.h \
	prov/sdr/fi/sdr_ep_progress.c \
	prov/sdr/fi/sdr_ep_progress.h \
	prov/sdr/fi/sdr_ep_sources.c \
	prov/sdr/fi/sdr_ep_sources.h \
	prov/sdr/fi/sdr_ep_view.c \
	prov/sdr/fi/sdr_ep_view.h \
	prov/sdr/fi/sdr_entry.c \
	prov/sdr/fi/sdr_entry.h \
	prov/sdr/fi/sdr_eq.c \
	prov/sdr/fi/sdr_eq.h \
	prov/sdr/fi/sdr_exit.c \
	prov/sdr/fi/sdr_exit.h \
	prov/sdr/fi/sdr_ext.c \
	prov/sdr/fi/sdr_ext.h \
	prov/sdr/fi/sdr_fabric.c \
	prov/sdr/fi/sdr_fabric.h \
	prov/sdr/fi/sdr_held.h \
	prov/sdr/fi/sdr_hints.c \
	prov/sdr/fi/sdr_hints.h \
	prov/sdr/fi/sdr_iface.c \
	prov/sdr/fi/sdr_iface.h \
	prov/sdr/fi/sdr_iface_pick.c \
	prov/sdr/fi/sdr_iface_pick.h \
	prov/sdr/fi/sdr_info.c \
	prov/sdr/fi/sdr_info.h \
	prov/sdr/fi/sdr_init.c \
	prov/sdr/fi/sdr_link.c \
	prov/sdr/fi/sdr_link.h \
	prov/sdr/fi/sdr_msg.c \
	prov/sdr/fi/sdr_msg_order.c \
	prov/sdr/fi/sdr_msg_order.h \
	prov/sdr/fi/sdr_named.c \
	prov/sdr/fi/sdr_named.h \
	prov/sdr/fi/sdr_nic.c \
	prov/sdr/fi/sdr_nic.h \
	prov/sdr/fi/sdr_notes.c \
	prov/sdr/fi/sdr_notes.h \
	prov/sdr/fi/sdr_offer.c \
	prov/sdr/fi/sdr_offer.h \
	prov/sdr/fi/sdr_old_api.h \
	prov/sdr/fi/sdr_paths.c \
	prov/sdr/fi/sdr_paths.h \
	prov/sdr/fi/sdr_peer_api.h \
	prov/sdr/fi/sdr_pep.c \
	prov/sdr/fi/sdr_pep.h \
	prov/sdr/fi/sdr_poll.c \
	prov/sdr/fi/sdr_poll.h \
	prov/sdr/fi/sdr_post.c \
	prov/sdr/fi/sdr_post.h \
	prov/sdr/fi/sdr_progress.c \
	prov/sdr/fi/sdr_progress.h \
	prov/sdr/fi/sdr_prov.c \
	prov/sdr/fi/sdr_prov.h \
	prov/sdr/fi/sdr_pset.c \
	prov/sdr/fi/sdr_pset.h \
	prov/sdr/fi/sdr_put.c \
	prov/sdr/fi/sdr_put.h \
	prov/sdr/fi/sdr_rate_word.c \
	prov/sdr/fi/sdr_rate_word.h \
	prov/sdr/fi/sdr_refusal.c \
	prov/sdr/fi/sdr_refusal.h \
	prov/sdr/fi/sdr_region.c \
	prov/sdr/fi/sdr_region.h \
	prov/sdr/fi/sdr_region_open.c \
	prov/sdr/fi/sdr_rma.c \
	prov/sdr/fi/sdr_search.c \
	prov/sdr/fi/sdr_srx.c \
	prov/sdr/fi/sdr_srx.h \
	prov/sdr/fi/sdr_srx_peer.c \
	prov/sdr/fi/sdr_srx_post.c \
	prov/sdr/fi/sdr_srx_post.h \
	prov/sdr/fi/sdr_srx_shared.c \
	prov/sdr/fi/sdr_srx_shared.h \
	prov/sdr/fi/sdr_stats.c \
	prov/sdr/fi/sdr_stats.h \
	prov/sdr/fi/sdr_tagged.c \
	prov/sdr/fi/sdr_tclass.c \
	prov/sdr/fi/sdr_tclass.h \
	prov/sdr/fi/sdr_wait.c \
	prov/sdr/fi/sdr_wait.h \
	prov/sdr/fi/sdr_write_in.c \
	prov/sdr/fi/sdr_write_in.h \
	prov/sdr/fi/sdr_work.c \
	prov/sdr/fi/sdr_work.h \
	prov/sdr/fi/sdr_yield.c \
	prov/sdr/fi/sdr_yield.h

# Prints the section RUNTIME PARAMETERS of fi_sdr(7) from the table in sdr_env_table.c.
noinst_PROGRAMS += sdr_env_man
sdr_env_man_SOURCES = prov/sdr/fi/sdr_env_man.c
sdr_env_man_LDADD = $(SDR_ALL_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)
EXTRA_DIST += prov/sdr/fi/README.md
