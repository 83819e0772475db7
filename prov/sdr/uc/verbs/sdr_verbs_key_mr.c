/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Grants by registration ("mr"): each grant registers its buffer anew, under a key that is used for
 * it alone, and ends by giving the registration up.  Works on every device; costs a system call and
 * the pinning of the buffer per message.  Releasing returns only when the device has finished with
 * the pages, so nothing is written after it, not even by a packet that was being placed.
 *
 * Addresses are offsets from the start of the buffer's first page: the peer learns nothing about
 * where the buffer lies but its place in a page, which the kernel insists on.
 */
#include <errno.h>
#include <unistd.h>

#include "sdr_verbs_impl.h"

static int sdr_verbs_mr_grant(struct sdr_verbs *v, void *buf, size_t len, struct sdr_uc_grant *g)
{
	uint64_t va = (uintptr_t)buf & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	struct ibv_mr *mr;
	int err;

	errno = 0;
	mr = v->ibv->reg_mr_iova(v->pd->pd, buf, len, va,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr) {
		err = errno ? errno : ENOMEM;
		sdr_verbs_why(v->pd, err, "cannot register a receive buffer", v->reason,
			      sizeof(v->reason));
		return -err;
	}
	g->va = va;
	g->rkey = mr->rkey;
	g->impl = mr;
	v->st.regs++;
	return 0;
}

static void sdr_verbs_mr_end(struct sdr_verbs *v, struct sdr_uc_grant *g)
{
	if (v->ibv->dereg_mr(g->impl))
		sdr_verbs_break(v, -EIO, "a receive buffer cannot be taken back from the device");
}

static int sdr_verbs_mr_open(struct sdr_verbs *v)
{
	(void)v;
	return 0;
}

static void sdr_verbs_mr_close(struct sdr_verbs *v)
{
	(void)v;
}

const struct sdr_verbs_keys sdr_verbs_keys_mr = {
	.name = "mr",
	.open = sdr_verbs_mr_open,
	.close = sdr_verbs_mr_close,
	.grant = sdr_verbs_mr_grant,
	.end = sdr_verbs_mr_end,
};
