/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The plain schemes of the SDR paper, for comparison: no parity, and a timeout for each
 * transmission in place of RACK and the tail-loss probe.
 *
 *   sr_nack   packets that a report shows missing are sent again when their transmission is at
 *             least a round trip old; the timeout is one round trip and what it varies by, the
 *             paper's best case
 *   sr_rto    what is missing is not looked at; the timeout is cfg.rto_rtts round trips
 *
 * Silence doubles the timeout, as anywhere.
 */
#include "rel/conn/sdr_conn.h"
#include "sdr_scheme.h"

static uint64_t nack_rto(const struct sdr_conn *c)
{
	return sdr_conn_rto(c, c->pto.rto_shift);
}

static uint64_t rtts_rto(const struct sdr_conn *c)
{
	uint64_t least = nack_rto(c);
	uint64_t rto = (uint64_t)((double)c->main.rtt.srtt * c->rel->cfg.rto_rtts);

	return rto > least ? rto : least;
}

const struct sdr_scheme_ops sdr_scheme_sr_nack = { .name = "sr_nack", .rto = nack_rto };
const struct sdr_scheme_ops sdr_scheme_sr_rto = {
	.name = "sr_rto",
	.rto = rtts_rto,
	.rto_rtts = true,
	.ignores_gaps = true,
};
