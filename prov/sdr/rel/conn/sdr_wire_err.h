/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Causes inside the process (enum sdr_rel_err) and on the wire (enum sdr_wire_status).  What goes
 * out has the same value in both; what comes in may be of a later version.
 */
#ifndef SDR_WIRE_ERR_H
#define SDR_WIRE_ERR_H

#include <stdint.h>
#include "rel/sdr_rel.h"

/* Total: a status that this version does not know is SDR_REL_ERR_PROTO. */
enum sdr_rel_err sdr_rel_err_of_status(int32_t status);

#endif /* SDR_WIRE_ERR_H */
