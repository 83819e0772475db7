/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What every engine checks before it makes or connects a QP: attributes that agree with each other,
 * and a peer with the same geometry whose address is known.  An engine has limits of its own beside
 * these.  No state.
 */
#include <errno.h>
#include <string.h>

#include "sdr_uc_qp.h"

int sdr_uc_qp_attr_check(const struct sdr_uc_qp_attr *a, uint32_t mtu)
{
	if (!a->channels || a->channels > SDR_CHANNELS_MAX)
		return -EINVAL;
	if (!a->generations || a->generations > SDR_GENERATIONS_MAX)
		return -EINVAL;
	if (sdr_imm_split_check(&a->split) || !a->mtu || a->mtu > mtu)
		return -EINVAL;
	if (!a->max_msg || a->max_msg % a->mtu || a->max_msg / a->mtu > 1ull << a->split.off_bits)
		return -EINVAL;
	return 0;
}

int sdr_uc_qp_meet(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *peer,
		   const struct sdr_uc_addr *addr, struct sdr_uc_addr *out)
{
	struct sdr_wire_qp_info own;

	qp->uc->ops->qp_info(qp, &own);
	if (peer->channels != own.channels || peer->generations != own.generations ||
	    peer->mtu != own.mtu || peer->max_msg != own.max_msg ||
	    peer->split.id_bits != own.split.id_bits ||
	    peer->split.off_bits != own.split.off_bits ||
	    peer->split.user_bits != own.split.user_bits)
		return -EPROTO;
	if (addr) {
		*out = *addr;
		return 0;
	}
	if (!peer->addr_len || peer->addr_len > sizeof(peer->addr))
		return -EDESTADDRREQ;
	memset(out, 0, sizeof(*out));
	out->len = peer->addr_len;
	memcpy(out->b, peer->addr, peer->addr_len);
	return 0;
}
