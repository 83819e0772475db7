/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* All rooms of an endpoint, for its top. */
#ifndef SDR_REL_PRIV_H
#define SDR_REL_PRIV_H

#include <errno.h>
#include <string.h>
#include "base/sdr_bitmap.h"
#include "conn/sdr_credit.h"
#include "conn/sdr_handshake.h"
#include "conn/sdr_pkt.h"
#include "conn/sdr_rec.h"
#include "conn/sdr_seal.h"
#include "conn/sdr_stranger.h"
#include "bulk/sdr_bulk_ack.h"
#include "bulk/sdr_code_rx.h"
#include "bulk/sdr_code_tx.h"
#include "bulk/sdr_msn.h"
#include "bulk/sdr_policy.h"
#include "bulk/sdr_report.h"
#include "msg/sdr_early.h"
#include "msg/sdr_match.h"
#include "msg/sdr_op.h"
#include "msg/sdr_rec_input.h"
#include "msg/sdr_remote.h"
#include "msg/sdr_rx.h"
#include "msg/sdr_unexp.h"

/* handshake repeats before the interval doubles */
#define SDR_HELLO_TRIES_FAST   2u
#define SDR_HELLO_INTERVAL_MIN (20 * MS)
/* bytes one connection sends before the next has its turn */
#define SDR_TX_BUDGET	 (256u * 1024)
#define SDR_LINGER_TRIES 6u /* BYE repeats */
/* what a shut down endpoint has promised is given up after this */
#define SDR_LINGER_NS (3000 * MS)

void sdr_conn_stats_fold(struct sdr_conn *c);
void sdr_peer_stats_fold(struct sdr_peer *p); /* sdr_rel_stats.c */
void sdr_conn_rearm(struct sdr_conn *c);
void sdr_conn_timer(struct sdr_conn *c);
bool sdr_conn_busy(const struct sdr_conn *c); /* we wait for the peer to answer */
/* nothing under way in either direction that we promised */
bool sdr_conn_idle(const struct sdr_conn *c);

#endif /* SDR_REL_PRIV_H */
