/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What every engine checks before it makes or connects a QP. */
#ifndef SDR_UC_QP_H
#define SDR_UC_QP_H

#include "sdr_uc.h"

/* The attributes agree with each other and with the engine's payload of mtu bytes: 0 or -EINVAL. */
int sdr_uc_qp_attr_check(const struct sdr_uc_qp_attr *a, uint32_t mtu);
/*
 * The peer's geometry is qp's own: 0 or -EPROTO; and where the peer is: *out is addr, or what its
 * info says if addr is NULL.  -EDESTADDRREQ: neither says.
 */
int sdr_uc_qp_meet(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *peer,
		   const struct sdr_uc_addr *addr, struct sdr_uc_addr *out);

#endif /* SDR_UC_QP_H */
