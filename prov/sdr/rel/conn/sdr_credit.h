/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a peer may send and ask for, given what is kept for it already: credit for messages and for
 * message numbers, room for unexpected messages, answers under way.
 */
#ifndef SDR_CREDIT_H
#define SDR_CREDIT_H

#include "sdr_conn.h"

#define SDR_MSEQ_CREDIT	  1024u /* ordered records a peer may send ahead of matching */
#define SDR_ANSWERS_LEAST 8u	/* that each stranger may leave unacknowledged */
/* ... and if others have filled the room for those without a receive */
#define SDR_MSEQ_LEAST 16u

uint32_t sdr_conn_msn_limit(const struct sdr_conn *c);
uint32_t sdr_conn_mseq_limit(const struct sdr_conn *c);
bool sdr_credit_due(const struct sdr_conn *c); /* the limits have moved enough to be sent */
/* May so many bytes of messages of this peer be kept; early: that are not the next in order? */
bool sdr_unexp_room(const struct sdr_conn *c, uint64_t bytes, bool early);
/*
 * May this peer ask n more things of us, each of which is to be answered, before it takes the
 * answers it has?
 */
bool sdr_rec_answerable(const struct sdr_conn *c, uint32_t n);

#endif /* SDR_CREDIT_H */
