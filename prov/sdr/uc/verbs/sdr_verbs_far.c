/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory of devices (CUDA, ROCr, Level Zero) registered with an RDMA device: by its dma-buf, which
 * the driver of the memory hands out, or the application did with its region (ibv_reg_dmabuf_mr:
 * rdma-core 34, Linux 5.12, and a driver that takes it).
 *
 * Where it does not work it is the caller's to bring memory of ours.  What a device refuses for
 * good (EOPNOTSUPP: its driver, the kernel, a path between the two on the bus) is remembered for
 * each memory, so that not every message asks again; what fails for the moment (ENOMEM, EMFILE) is
 * not.  The dma-buf's descriptor is closed at once: the registration holds what is behind it.
 *
 * The kernel wants the registration's address and the place in the dma-buf to agree in a page.
 * Threads: under the device's lock; the drivers' calls take no lock of ours.
 */
#include <errno.h>
#include <unistd.h>

#include "sdr_verbs_impl.h"

static bool sdr_verbs_far_refused(const struct sdr_verbs_pd *pd, const struct sdr_mem *mem)
{
	uint32_t i;

	for (i = 0; i < pd->nrefused; i++)
		if (pd->refused[i] == mem)
			return true;
	return false;
}

static void sdr_verbs_far_refuse(struct sdr_verbs_pd *pd, const struct sdr_mem *mem)
{
	if (pd->nrefused < SDR_VERBS_FAR_REFUSED)
		pd->refused[pd->nrefused++] = mem;
}

/* The dma-buf of a range, with *mine set if its descriptor is ours to close. */
static int sdr_verbs_far_dmabuf(const struct sdr_verbs_range *r, struct sdr_dmabuf *d, bool *mine)
{
	*mine = !r->dmabuf;
	if (!r->dmabuf)
		return sdr_mem_dmabuf(r->mem, r->buf, r->len, d);
	*d = *r->dmabuf;
	return 0;
}

struct ibv_mr *sdr_verbs_far_reg(struct sdr_verbs_pd *pd, const struct sdr_verbs_range *r,
				 uint64_t *moved, int access)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), iova = (uintptr_t)r->buf;
	struct ibv_mr *mr = NULL;
	struct sdr_dmabuf d;
	int err = EOPNOTSUPP;
	bool mine;

	if (!pd->ibv->reg_dmabuf_mr || sdr_verbs_far_refused(pd, r->mem))
		goto out;
	err = -sdr_verbs_far_dmabuf(r, &d, &mine);
	if (!err) {
		if (moved)
			iova = *moved = d.off & (page - 1);
		errno = 0;
		mr = pd->ibv->reg_dmabuf_mr(pd->pd, d.off, r->len, iova, d.fd, access);
		err = mr ? 0 : errno ? errno : ENOMEM;
		if (mine)
			close(d.fd);
	}
	if (err == EOPNOTSUPP || err == ENOSYS || err == EPROTONOSUPPORT)
		sdr_verbs_far_refuse(pd, r->mem);
out:
	errno = err;
	return mr;
}
