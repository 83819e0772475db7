/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Binds the numbers of the wire (wire/sdr_status.h) to those that rel and fec call the same: a line
 * inserted into an enum here cannot change what peers receive.  And translates what peers say.
 */
#include "fec/sdr_code.h"
#include "sdr_wire_err.h"
#include "wire/sdr_record.h"
#include "wire/sdr_status.h"

#define BIND(wire, here) _Static_assert((int)(wire) == (int)(here), #here " is " #wire)

BIND(SDR_WIRE_STATUS_OK, SDR_REL_OK);
BIND(SDR_WIRE_STATUS_KEY, SDR_REL_ERR_KEY);
BIND(SDR_WIRE_STATUS_TRUNC, SDR_REL_ERR_TRUNC);
BIND(SDR_WIRE_STATUS_CANCELED, SDR_REL_ERR_CANCELED);
BIND(SDR_WIRE_STATUS_NOMEM, SDR_REL_ERR_NOMEM);
BIND(SDR_WIRE_STATUS_ENGINE, SDR_REL_ERR_ENGINE);
BIND(SDR_WIRE_STATUS_REG, SDR_REL_ERR_REG);
BIND(SDR_WIRE_STATUS_PROTO, SDR_REL_ERR_PROTO);
BIND(SDR_WIRE_STATUS_CODE, SDR_REL_ERR_CODE);
BIND(SDR_WIRE_STATUS_UNSUPPORTED, SDR_REL_ERR_UNSUPPORTED);
BIND(SDR_WIRE_STATUS_ALIGN, SDR_REL_ERR_ALIGN);
BIND(SDR_WIRE_STATUS_MEM, SDR_REL_ERR_MEM);
BIND(SDR_WIRE_STATUS_NOBODY, SDR_REL_ERR_NOBODY);
BIND(SDR_WIRE_CTS_LATE, false);
BIND(SDR_WIRE_CTS_EXPECTED, true);

BIND(SDR_WIRE_CODE_XOR, SDR_CODE_XOR);
BIND(SDR_WIRE_CODE_MDS, SDR_CODE_MDS);
BIND(SDR_WIRE_CODE_F_INTERLEAVE, SDR_CODE_F_INTERLEAVE);
BIND(SDR_WIRE_CODE_F_CHUNK, SDR_CODE_F_CHUNK);
BIND(SDR_WIRE_CODE_FLAGS, SDR_CODE_FLAGS);
BIND(SDR_CODE_SYMS_MAX, SDR_FEC_SYMS_MAX);

enum sdr_rel_err sdr_rel_err_of_status(int32_t status)
{
	switch (status) {
	case SDR_WIRE_STATUS_OK:
	case SDR_WIRE_STATUS_KEY:
	case SDR_WIRE_STATUS_TRUNC:
	case SDR_WIRE_STATUS_CANCELED:
	case SDR_WIRE_STATUS_NOMEM:
	case SDR_WIRE_STATUS_ENGINE:
	case SDR_WIRE_STATUS_REG:
	case SDR_WIRE_STATUS_PROTO:
	case SDR_WIRE_STATUS_CODE:
	case SDR_WIRE_STATUS_UNSUPPORTED:
	case SDR_WIRE_STATUS_ALIGN:
	case SDR_WIRE_STATUS_MEM:
	case SDR_WIRE_STATUS_NOBODY:
		return (enum sdr_rel_err)status;
	default:
		return SDR_REL_ERR_PROTO;
	}
}
