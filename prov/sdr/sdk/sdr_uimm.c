/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The user's immediate at the receiver: put together by the receive worker from the fragments in
 * the packets' immediates (fragment = packet offset mod fragments), handed out here once every
 * fragment has come.  A message with fewer packets than fragments is followed by empty packets that
 * carry the rest; they have no bit in the bitmaps.  A sender that gives no immediate sends zeros,
 * which looks like an immediate of zero.
 */
#include <errno.h>

#include "sdr_qp.h"
#include "sdr_recv.h"

int sdr_recv_imm_get(struct sdr_rcv_handle *hdl, uint32_t *imm)
{
	uint32_t n, all;
	uint64_t v;

	if (!hdl || !hdl->qp || !imm)
		return -EINVAL;
	n = sdr_imm_frags(&hdl->qp->rxk.split);
	if (!n)
		return -EOPNOTSUPP;
	all = 0xffffffffu >> (32 - n);
	v = __atomic_load_n(&hdl->k.uimm, __ATOMIC_ACQUIRE);
	if ((uint32_t)(v >> 32) != all)
		return -EAGAIN;
	*imm = (uint32_t)v;
	return 0;
}
