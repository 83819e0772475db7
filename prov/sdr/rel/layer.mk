# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# rel/: reliable endpoints, in rooms that stand on each other: path (congestion control,
# pacing, RTT, losses), conn (connections, packets, records), bulk (transfers, parity),
# msg (operations, matching) and the top that drives them.
# Every .c and .h of the layer stands in a list: what is not listed is neither built nor
# distributed.

EXTRA_DIST += prov/sdr/rel/README.md prov/sdr/rel/path/README.md prov/sdr/rel/bulk/README.md \
	prov/sdr/rel/msg/README.md

noinst_LIBRARIES += libsdr_rel_path.a
libsdr_rel_path_a_SOURCES = \
	prov/sdr/rel/path/sdr_beat.c \
	prov/sdr/rel/path/sdr_beat.h \
	prov/sdr/rel/path/sdr_blame.c \
	prov/sdr/rel/path/sdr_blame.h \
	prov/sdr/rel/path/sdr_fan.c \
	prov/sdr/rel/path/sdr_fan.h \
	prov/sdr/rel/path/sdr_burst.c \
	prov/sdr/rel/path/sdr_burst.h \
	prov/sdr/rel/path/sdr_calm.c \
	prov/sdr/rel/path/sdr_calm.h \
	prov/sdr/rel/path/sdr_carries.c \
	prov/sdr/rel/path/sdr_carries.h \
	prov/sdr/rel/path/sdr_cc.c \
	prov/sdr/rel/path/sdr_cc.h \
	prov/sdr/rel/path/sdr_auto_burst.c \
	prov/sdr/rel/path/sdr_auto_burst.h \
	prov/sdr/rel/path/sdr_auto_cruise.c \
	prov/sdr/rel/path/sdr_auto_cruise.h \
	prov/sdr/rel/path/sdr_auto_cut.c \
	prov/sdr/rel/path/sdr_auto_cut.h \
	prov/sdr/rel/path/sdr_auto_drain.c \
	prov/sdr/rel/path/sdr_auto_drain.h \
	prov/sdr/rel/path/sdr_auto_start.c \
	prov/sdr/rel/path/sdr_auto_start.h \
	prov/sdr/rel/path/sdr_auto_target.c \
	prov/sdr/rel/path/sdr_auto_target.h \
	prov/sdr/rel/path/sdr_cc_auto.c \
	prov/sdr/rel/path/sdr_cc_auto.h \
	prov/sdr/rel/path/sdr_cc_bbr.c \
	prov/sdr/rel/path/sdr_cc_bbr.h \
	prov/sdr/rel/path/sdr_cc_fixed.c \
	prov/sdr/rel/path/sdr_cc_ops.h \
	prov/sdr/rel/path/sdr_cc_table.c \
	prov/sdr/rel/path/sdr_ceiling.c \
	prov/sdr/rel/path/sdr_ceiling.h \
	prov/sdr/rel/path/sdr_claim.c \
	prov/sdr/rel/path/sdr_claim.h \
	prov/sdr/rel/path/sdr_ecn.c \
	prov/sdr/rel/path/sdr_ecn.h \
	prov/sdr/rel/path/sdr_hold.c \
	prov/sdr/rel/path/sdr_hold.h \
	prov/sdr/rel/path/sdr_loss_est.c \
	prov/sdr/rel/path/sdr_loss_est.h \
	prov/sdr/rel/path/sdr_lull.c \
	prov/sdr/rel/path/sdr_lull.h \
	prov/sdr/rel/path/sdr_pacer.c \
	prov/sdr/rel/path/sdr_pacer.h \
	prov/sdr/rel/path/sdr_passed.c \
	prov/sdr/rel/path/sdr_passed.h \
	prov/sdr/rel/path/sdr_path_codec.c \
	prov/sdr/rel/path/sdr_path_codec.h \
	prov/sdr/rel/path/sdr_path_keys.c \
	prov/sdr/rel/path/sdr_path_keys.h \
	prov/sdr/rel/path/sdr_path_mem.c \
	prov/sdr/rel/path/sdr_path_mem.h \
	prov/sdr/rel/path/sdr_path_opens.c \
	prov/sdr/rel/path/sdr_path_opens.h \
	prov/sdr/rel/path/sdr_pmtu.c \
	prov/sdr/rel/path/sdr_pmtu.h \
	prov/sdr/rel/path/sdr_press.c \
	prov/sdr/rel/path/sdr_press.h \
	prov/sdr/rel/path/sdr_push.c \
	prov/sdr/rel/path/sdr_push.h \
	prov/sdr/rel/path/sdr_qdelay.c \
	prov/sdr/rel/path/sdr_qdelay.h \
	prov/sdr/rel/path/sdr_rack.c \
	prov/sdr/rel/path/sdr_rack.h \
	prov/sdr/rel/path/sdr_rival.c \
	prov/sdr/rel/path/sdr_rival.h \
	prov/sdr/rel/path/sdr_rival_at.h \
	prov/sdr/rel/path/sdr_shallow.c \
	prov/sdr/rel/path/sdr_shallow.h \
	prov/sdr/rel/path/sdr_standing.c \
	prov/sdr/rel/path/sdr_standing.h \
	prov/sdr/rel/path/sdr_rtt.c \
	prov/sdr/rel/path/sdr_rtt.h \
	prov/sdr/rel/path/sdr_spread.c \
	prov/sdr/rel/path/sdr_spread.h \
	prov/sdr/rel/path/sdr_train.c \
	prov/sdr/rel/path/sdr_train.h \
	prov/sdr/rel/sdr_rel_cfg.c \
	prov/sdr/rel/sdr_rel_cfg.h \
	prov/sdr/rel/sdr_orders.h \
	prov/sdr/rel/sdr_rel_err.c \
	prov/sdr/rel/sdr_rel_err.h

noinst_LIBRARIES += libsdr_rel_conn.a
libsdr_rel_conn_a_SOURCES = \
	prov/sdr/rel/conn/sdr_alias.c \
	prov/sdr/rel/conn/sdr_alias.h \
	prov/sdr/rel/conn/sdr_conn.c \
	prov/sdr/rel/conn/sdr_conn.h \
	prov/sdr/rel/conn/sdr_conn_books.c \
	prov/sdr/rel/conn/sdr_conn_books.h \
	prov/sdr/rel/conn/sdr_conn_ecn.c \
	prov/sdr/rel/conn/sdr_conn_ecn.h \
	prov/sdr/rel/conn/sdr_conn_known.c \
	prov/sdr/rel/conn/sdr_conn_known.h \
	prov/sdr/rel/conn/sdr_conn_open.c \
	prov/sdr/rel/conn/sdr_conn_ops.h \
	prov/sdr/rel/conn/sdr_conn_mtu.c \
	prov/sdr/rel/conn/sdr_conn_mtu.h \
	prov/sdr/rel/conn/sdr_conn_path.c \
	prov/sdr/rel/conn/sdr_conn_path.h \
	prov/sdr/rel/conn/sdr_credit.c \
	prov/sdr/rel/conn/sdr_credit.h \
	prov/sdr/rel/conn/sdr_ctl_input.c \
	prov/sdr/rel/conn/sdr_ctl_input.h \
	prov/sdr/rel/conn/sdr_endpoint.c \
	prov/sdr/rel/conn/sdr_endpoint.h \
	prov/sdr/rel/conn/sdr_handshake.c \
	prov/sdr/rel/conn/sdr_handshake.h \
	prov/sdr/rel/conn/sdr_hello_addr.c \
	prov/sdr/rel/conn/sdr_hello_addr.h \
	prov/sdr/rel/conn/sdr_hello_pair.c \
	prov/sdr/rel/conn/sdr_hello_pair.h \
	prov/sdr/rel/conn/sdr_hello_tx.c \
	prov/sdr/rel/conn/sdr_hello_tx.h \
	prov/sdr/rel/conn/sdr_conn_fan.c \
	prov/sdr/rel/conn/sdr_conn_fan.h \
	prov/sdr/rel/conn/sdr_home.c \
	prov/sdr/rel/conn/sdr_home.h \
	prov/sdr/rel/conn/sdr_multipath.c \
	prov/sdr/rel/conn/sdr_multipath.h \
	prov/sdr/rel/conn/sdr_parts.c \
	prov/sdr/rel/conn/sdr_parts.h \
	prov/sdr/rel/conn/sdr_path.h \
	prov/sdr/rel/conn/sdr_path_ctl.c \
	prov/sdr/rel/conn/sdr_path_life.c \
	prov/sdr/rel/conn/sdr_path_life.h \
	prov/sdr/rel/conn/sdr_path_mtu.c \
	prov/sdr/rel/conn/sdr_path_mtu.h \
	prov/sdr/rel/conn/sdr_peer.c \
	prov/sdr/rel/conn/sdr_peer.h \
	prov/sdr/rel/conn/sdr_peer_cid.c \
	prov/sdr/rel/conn/sdr_peer_cid.h \
	prov/sdr/rel/conn/sdr_pkt.h \
	prov/sdr/rel/conn/sdr_pkt_ack.c \
	prov/sdr/rel/conn/sdr_pkt_copy.c \
	prov/sdr/rel/conn/sdr_pkt_copy.h \
	prov/sdr/rel/conn/sdr_pkt_out.c \
	prov/sdr/rel/conn/sdr_pkt_out.h \
	prov/sdr/rel/conn/sdr_pkt_put.c \
	prov/sdr/rel/conn/sdr_pkt_put.h \
	prov/sdr/rel/conn/sdr_pkt_rx.c \
	prov/sdr/rel/conn/sdr_pkt_tx.c \
	prov/sdr/rel/conn/sdr_plog.c \
	prov/sdr/rel/conn/sdr_plog.h \
	prov/sdr/rel/conn/sdr_pn_skip.c \
	prov/sdr/rel/conn/sdr_pn_skip.h \
	prov/sdr/rel/conn/sdr_pnset.c \
	prov/sdr/rel/conn/sdr_pnset.h \
	prov/sdr/rel/conn/sdr_probe.c \
	prov/sdr/rel/conn/sdr_probe.h \
	prov/sdr/rel/conn/sdr_rec.c \
	prov/sdr/rel/conn/sdr_rec.h \
	prov/sdr/rel/conn/sdr_reshape.c \
	prov/sdr/rel/conn/sdr_reshape.h \
	prov/sdr/rel/conn/sdr_seal.c \
	prov/sdr/rel/conn/sdr_seal.h \
	prov/sdr/rel/conn/sdr_shape.c \
	prov/sdr/rel/conn/sdr_shape.h \
	prov/sdr/rel/conn/sdr_stranger.c \
	prov/sdr/rel/conn/sdr_stranger.h \
	prov/sdr/rel/conn/sdr_turn.c \
	prov/sdr/rel/conn/sdr_turn.h \
	prov/sdr/rel/conn/sdr_versions.c \
	prov/sdr/rel/conn/sdr_versions.h \
	prov/sdr/rel/conn/sdr_wire_err.c \
	prov/sdr/rel/conn/sdr_wire_err.h

noinst_LIBRARIES += libsdr_rel_bulk.a
libsdr_rel_bulk_a_SOURCES = \
	prov/sdr/rel/bulk/sdr_berth_rx.c \
	prov/sdr/rel/bulk/sdr_berth_rx.h \
	prov/sdr/rel/bulk/sdr_berth_tx.c \
	prov/sdr/rel/bulk/sdr_berth_tx.h \
	prov/sdr/rel/bulk/sdr_bulk.c \
	prov/sdr/rel/bulk/sdr_bulk.h \
	prov/sdr/rel/bulk/sdr_bulk_ack.c \
	prov/sdr/rel/bulk/sdr_bulk_ack.h \
	prov/sdr/rel/bulk/sdr_bulk_arrive.c \
	prov/sdr/rel/bulk/sdr_bulk_arrive.h \
	prov/sdr/rel/bulk/sdr_bulk_books.c \
	prov/sdr/rel/bulk/sdr_bulk_books.h \
	prov/sdr/rel/bulk/sdr_bulk_loss.c \
	prov/sdr/rel/bulk/sdr_bulk_loss.h \
	prov/sdr/rel/bulk/sdr_bulk_path.c \
	prov/sdr/rel/bulk/sdr_bulk_path.h \
	prov/sdr/rel/bulk/sdr_bulk_put.c \
	prov/sdr/rel/bulk/sdr_bulk_put.h \
	prov/sdr/rel/bulk/sdr_bulk_rx.c \
	prov/sdr/rel/bulk/sdr_head_rx.c \
	prov/sdr/rel/bulk/sdr_head_rx.h \
	prov/sdr/rel/bulk/sdr_bulk_rx.h \
	prov/sdr/rel/bulk/sdr_bulk_tx.c \
	prov/sdr/rel/bulk/sdr_bulk_tx.h \
	prov/sdr/rel/bulk/sdr_code_rx.c \
	prov/sdr/rel/bulk/sdr_code_rx.h \
	prov/sdr/rel/bulk/sdr_code_tx.c \
	prov/sdr/rel/bulk/sdr_code_tx.h \
	prov/sdr/rel/bulk/sdr_decode.c \
	prov/sdr/rel/bulk/sdr_decode.h \
	prov/sdr/rel/bulk/sdr_msn.c \
	prov/sdr/rel/bulk/sdr_msn.h \
	prov/sdr/rel/bulk/sdr_plan.c \
	prov/sdr/rel/bulk/sdr_plan.h \
	prov/sdr/rel/bulk/sdr_policy.c \
	prov/sdr/rel/bulk/sdr_policy.h \
	prov/sdr/rel/bulk/sdr_report.c \
	prov/sdr/rel/bulk/sdr_report.h \
	prov/sdr/rel/bulk/sdr_scheme.h \
	prov/sdr/rel/bulk/sdr_scheme_auto.c \
	prov/sdr/rel/bulk/sdr_scheme_ec.c \
	prov/sdr/rel/bulk/sdr_scheme_plain.c \
	prov/sdr/rel/bulk/sdr_scheme_sr.c \
	prov/sdr/rel/bulk/sdr_scheme_table.c \
	prov/sdr/rel/bulk/sdr_scratch.c \
	prov/sdr/rel/bulk/sdr_scratch.h \
	prov/sdr/rel/bulk/sdr_seg_rx.c \
	prov/sdr/rel/bulk/sdr_seg_rx.h \
	prov/sdr/rel/bulk/sdr_seg_tx.c \
	prov/sdr/rel/bulk/sdr_seg_tx.h \
	prov/sdr/rel/bulk/sdr_stage.c \
	prov/sdr/rel/bulk/sdr_stage.h \
	prov/sdr/rel/bulk/sdr_tlog.c \
	prov/sdr/rel/bulk/sdr_tlog.h

noinst_LIBRARIES += libsdr_rel_msg.a
libsdr_rel_msg_a_SOURCES = \
	prov/sdr/rel/msg/sdr_above.c \
	prov/sdr/rel/msg/sdr_above.h \
	prov/sdr/rel/msg/sdr_atomic_exec.c \
	prov/sdr/rel/msg/sdr_atomic_exec.h \
	prov/sdr/rel/msg/sdr_deliver.c \
	prov/sdr/rel/msg/sdr_deliver.h \
	prov/sdr/rel/msg/sdr_early.c \
	prov/sdr/rel/msg/sdr_early.h \
	prov/sdr/rel/msg/sdr_follow.c \
	prov/sdr/rel/msg/sdr_follow.h \
	prov/sdr/rel/msg/sdr_match.c \
	prov/sdr/rel/msg/sdr_match.h \
	prov/sdr/rel/msg/sdr_msg.c \
	prov/sdr/rel/msg/sdr_msg.h \
	prov/sdr/rel/msg/sdr_msg_books.c \
	prov/sdr/rel/msg/sdr_msg_books.h \
	prov/sdr/rel/msg/sdr_op.c \
	prov/sdr/rel/msg/sdr_op.h \
	prov/sdr/rel/msg/sdr_op_atomic.c \
	prov/sdr/rel/msg/sdr_op_kind.h \
	prov/sdr/rel/msg/sdr_op_bulk.c \
	prov/sdr/rel/msg/sdr_op_bytes.c \
	prov/sdr/rel/msg/sdr_op_call.c \
	prov/sdr/rel/msg/sdr_op_read.c \
	prov/sdr/rel/msg/sdr_op_send.c \
	prov/sdr/rel/msg/sdr_op_table.c \
	prov/sdr/rel/msg/sdr_op_void.c \
	prov/sdr/rel/msg/sdr_op_void.h \
	prov/sdr/rel/msg/sdr_op_write.c \
	prov/sdr/rel/msg/sdr_order.c \
	prov/sdr/rel/msg/sdr_order.h \
	prov/sdr/rel/msg/sdr_rec_input.c \
	prov/sdr/rel/msg/sdr_rec_input.h \
	prov/sdr/rel/msg/sdr_recv.c \
	prov/sdr/rel/msg/sdr_rehome.c \
	prov/sdr/rel/msg/sdr_rehome.h \
	prov/sdr/rel/msg/sdr_remote.c \
	prov/sdr/rel/msg/sdr_remote.h \
	prov/sdr/rel/msg/sdr_recv_entry.c \
	prov/sdr/rel/msg/sdr_recv_entry.h \
	prov/sdr/rel/msg/sdr_unexp.c \
	prov/sdr/rel/msg/sdr_unexp.h \
	prov/sdr/rel/msg/sdr_view.c \
	prov/sdr/rel/msg/sdr_view.h

noinst_LIBRARIES += libsdr_rel.a
libsdr_rel_a_SOURCES = \
	prov/sdr/rel/sdr_conn_timer.c \
	prov/sdr/rel/sdr_conn_timer.h \
	prov/sdr/rel/sdr_bond.c \
	prov/sdr/rel/sdr_bond.h \
	prov/sdr/rel/sdr_farewell.c \
	prov/sdr/rel/sdr_post.c \
	prov/sdr/rel/sdr_rel.c \
	prov/sdr/rel/sdr_rel.h \
	prov/sdr/rel/sdr_rel_books.c \
	prov/sdr/rel/sdr_rel_books.h \
	prov/sdr/rel/sdr_rel_cbs.h \
	prov/sdr/rel/sdr_rel_stats.c \
	prov/sdr/rel/sdr_rel_stats.h \
	prov/sdr/rel/sdr_rel_sum.h \
	prov/sdr/rel/sdr_rooms.c \
	prov/sdr/rel/sdr_rooms.h

# The rooms with what they are over but for the SDK, in the order in which the linker wants them.
SDR_REL_LIBS = libsdr_rel.a libsdr_rel_msg.a libsdr_rel_bulk.a libsdr_rel_conn.a libsdr_rel_path.a \
	libsdr_fec.a libsdr_model.a
