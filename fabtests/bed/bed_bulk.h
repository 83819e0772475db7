/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bulk room alone: two endpoints without messages, operations and timers, whose connections are
 * open to each other on the stub engine (unit/uc_loop.h).
 *
 * There are no records and no control packets: the test says what the plan of a transfer is, binds
 * it at the receiver, and carries reports (DACK frames) from one side to the other, or does not.
 * Data packets wait in the stub network until the test delivers or drops them; time stands still
 * until the test moves it.  It is linked with libsdr_rel_bulk.a and what is below it only.
 *
 * What goes wrong fails the cmocka test.
 */
#ifndef BED_BULK_H
#define BED_BULK_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "rel/bulk/sdr_bulk_ack.h"
#include "rel/bulk/sdr_bulk_arrive.h"
#include "rel/bulk/sdr_bulk_loss.h"
#include "rel/bulk/sdr_bulk_rx.h"
#include "rel/bulk/sdr_msn.h"
#include "rel/bulk/sdr_policy.h"
#include "rel/bulk/sdr_report.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/bulk/sdr_seg_tx.h"
#include "rel/bulk/sdr_tlog.h"
#include "../unit/uc_loop.h"

#define BED_BULK_MS 1000000u /* ns */

struct bed_bulk_side {
	struct sdr_rel rel;
	struct sdr_rel_bulk bulk;
	struct sdr_conn *c;
};

struct bed_bulk {
	struct loop_net *net;
	struct bed_bulk_side side[2];
	struct sdr_conn *tx, *rx; /* of side 0, of side 1 */
	uint32_t sent, arrived;	  /* transfers that were over, there and here */
};

/* Both sides with cfg; NULL: the defaults with scheme sr. */
void bed_bulk_open(struct bed_bulk *b, const struct sdr_rel_cfg *cfg);
void bed_bulk_close(struct bed_bulk *b);
/* A transfer by the plan: numbered, announced and bound at the receiver. */
struct sdr_bulk_tx *bed_bulk_start(struct bed_bulk *b, const uint8_t *from, uint8_t *to,
				   uint64_t len, const struct sdr_plan *plan);
/* What may leave leaves; returns the packets that wait in the network. */
uint32_t bed_bulk_send(struct bed_bulk *b);
void bed_bulk_arrive(struct bed_bulk *b); /* all that waits reaches the receiver */
/* The receiver's reports that are due reach the sender; returns how many there were. */
uint32_t bed_bulk_report(struct bed_bulk *b);
void bed_bulk_pass(struct bed_bulk *b, uint64_t ns);

#endif /* BED_BULK_H */
