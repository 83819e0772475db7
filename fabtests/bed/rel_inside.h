/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* All rooms of an endpoint, for tests that look inside. */
#ifndef REL_INSIDE_H
#define REL_INSIDE_H

#include <errno.h>
#include <string.h>
#include "base/sdr_bitmap.h"
#include "rel/conn/sdr_conn_ops.h"
#include "rel/conn/sdr_credit.h"
#include "rel/conn/sdr_handshake.h"
#include "rel/conn/sdr_peer_cid.h"
#include "rel/conn/sdr_pkt.h"
#include "rel/conn/sdr_rec.h"
#include "rel/conn/sdr_stranger.h"
#include "rel/bulk/sdr_bulk_ack.h"
#include "rel/bulk/sdr_bulk_loss.h"
#include "rel/bulk/sdr_tlog.h"
#include "rel/bulk/sdr_code_rx.h"
#include "rel/bulk/sdr_code_tx.h"
#include "rel/bulk/sdr_msn.h"
#include "rel/bulk/sdr_policy.h"
#include "rel/bulk/sdr_report.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/msg/sdr_deliver.h"
#include "rel/msg/sdr_early.h"
#include "rel/msg/sdr_follow.h"
#include "rel/msg/sdr_match.h"
#include "rel/msg/sdr_op.h"
#include "rel/msg/sdr_rec_input.h"
#include "rel/msg/sdr_remote.h"
#include "rel/msg/sdr_recv_entry.h"
#include "rel/msg/sdr_unexp.h"
#include "rel/sdr_conn_timer.h"
#include "rel/sdr_rel.h"

#endif /* REL_INSIDE_H */
