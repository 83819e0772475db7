/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Control datagrams that came in, see sdr_ctl_input.c. */
#ifndef SDR_CTL_INPUT_H
#define SDR_CTL_INPUT_H

#include "sdr_endpoint.h"

sdr_rel_input_fn sdr_ctl_input;

#endif /* SDR_CTL_INPUT_H */
