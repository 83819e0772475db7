/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the rooms above do for a connection: the table of sdr_conn_ops.h, filled. */
#include "bulk/sdr_bulk_ack.h"
#include "bulk/sdr_bulk_arrive.h"
#include "bulk/sdr_bulk_loss.h"
#include "bulk/sdr_bulk_put.h"
#include "bulk/sdr_msn.h"
#include "bulk/sdr_policy.h"
#include "bulk/sdr_report.h"
#include "bulk/sdr_tlog.h"
#include "msg/sdr_match.h"
#include "msg/sdr_op.h"
#include "msg/sdr_rec_input.h"
#include "msg/sdr_rehome.h"
#include "sdr_bond.h"
#include "sdr_conn_timer.h"
#include "conn/sdr_alias.h"
#include "sdr_rooms.h"

static void rooms_init(struct sdr_conn *c)
{
	sdr_bulk_conn_init(c);
	sdr_msg_conn_init(c);
}

static bool rooms_wanted(const struct sdr_conn *c)
{
	return !sdr_list_empty(&c->msg->deferred);
}

static bool rooms_owned(const struct sdr_conn *c)
{
	return c->msg->nown;
}

static void rooms_closed(struct sdr_conn *c)
{
	sdr_ops_end(c, SDR_OPS_HELD, SDR_REL_ERR_CLOSED);
}

static void rooms_failed(struct sdr_conn *c)
{
	sdr_alias_failed(c);
	sdr_bond_failed(c);
}

static uint32_t rooms_due(const struct sdr_conn *c)
{
	uint32_t tell = sdr_report_due(c) || sdr_bulk_copies_due(c) ? SDR_DUE_TELL : 0;

	return tell | (sdr_bulk_ends_due(c) ? SDR_DUE_ASK : 0);
}

const struct sdr_conn_ops sdr_rooms = {
	.bulk_size = sizeof(struct sdr_conn_bulk),
	.msg_size = sizeof(struct sdr_conn_msg),
	.init = rooms_init,
	.wanted = rooms_wanted,
	.busy = sdr_conn_busy,
	.owned = rooms_owned,
	.opened = sdr_op_release_deferred,
	.failed = rooms_failed,
	.closed = rooms_closed,
	.handover = sdr_rehome_held,
	.rehomed = sdr_rehome,
	.released = sdr_match_released,
	.record = sdr_rec_input,
	.room = sdr_rec_input_room,
	.bytes = sdr_rec_input_bytes,
	.dack = sdr_bulk_dack,
	.end = sdr_bulk_arrive_end,
	.credit = sdr_op_release_credit,
	.msn_out = sdr_msn_out,
	.msn_in = sdr_msn_in,
	.detect_lost = sdr_bulk_detect_lost,
	.settled = sdr_tlog_trim,
	.path_lost = sdr_bulk_path_lost,
	.probe = sdr_bulk_probe,
	.due = rooms_due,
	.put_reports = sdr_report_write,
	.put_copies = sdr_bulk_put_copies,
	.put_ends = sdr_bulk_put_ends,
	.repeats = sdr_policy_repeats,
	.gather = sdr_op_rec_gather,
	.written = sdr_op_rec_written,
	.acked = sdr_op_rec_acked,
	.placed = sdr_bulk_arrive_placed,
};
