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

#define SDR_VERBS_MR_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

/*
 * Of a device's memory, which has no page of the CPU's.  A region that the application named by its
 * dma-buf is there already, and knows it.
 */
static struct ibv_mr *sdr_verbs_mr_far(struct sdr_verbs *v, struct sdr_verbs_range r, uint64_t *va)
{
	struct sdr_verbs_mr *m = sdr_verbs_mr_share(v->pd, &r, 0);
	struct sdr_dmabuf d = { .fd = -1 };
	struct ibv_mr *mr;
	int err;

	if (m && m->dmabuf.fd >= 0) {
		d.fd = m->dmabuf.fd;
		d.off = m->dmabuf.off + ((uintptr_t)r.buf - m->lo);
		r.dmabuf = &d;
	}
	pthread_mutex_lock(&v->pd->lock);
	mr = sdr_verbs_far_reg(v->pd, &r, va, SDR_VERBS_MR_ACCESS);
	pthread_mutex_unlock(&v->pd->lock);
	err = errno;
	if (m)
		sdr_verbs_mr_put(v->pd, m);
	errno = err;
	return mr;
}

static int sdr_verbs_mr_grant(struct sdr_verbs *v, const struct sdr_verbs_range *r,
			      struct sdr_uc_grant *g)
{
	uint64_t va = (uintptr_t)r->buf & ((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	struct ibv_mr *mr;
	int err;

	errno = 0;
	mr = r->mem ? sdr_verbs_mr_far(v, *r, &va)
		    : v->ibv->reg_mr_iova(v->pd->pd, r->buf, r->len, va, SDR_VERBS_MR_ACCESS);
	if (!mr) {
		err = errno ? errno : ENOMEM;
		sdr_verbs_why(v->pd, err,
			      r->mem ? SDR_VERBS_FAR_WHAT : "cannot register a receive buffer",
			      v->reason, sizeof(v->reason));
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
