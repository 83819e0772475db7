/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Selective Repeat: no parity; what RACK, the tail-loss probe and reports of gaps show as lost is
 * sent again, with the retransmission timeout behind them.
 */
#include "sdr_scheme.h"

const struct sdr_scheme_ops sdr_scheme_sr = { .name = "sr" };
