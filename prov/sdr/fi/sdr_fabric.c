/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The fabric: the root of an application's objects.  It owns nothing but their count; fi_trywait is
 * its one decision, and that is delegated to the queue.
 */
#include <errno.h>
#include <stdlib.h>

#include "sdr_fabric.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_eq.h"
#include "sdr_pep.h"
#include "sdr_prov.h"

static int sdr_fabric_close(struct fid *fid)
{
	struct sdr_fabric *f = container_of(fid, struct sdr_fabric, fid.fid);

	if (atomic_load(&f->refs))
		return -FI_EBUSY;
	pthread_mutex_destroy(&f->answer);
	free(f);
	return 0;
}

/* 0: the caller may sleep on all the descriptors; -FI_EAGAIN: read first. */
static int sdr_fabric_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	int i, ret;

	(void)fabric;
	for (i = 0; i < count; i++) {
		switch (fids[i]->fclass) {
		case FI_CLASS_CQ:
			ret = sdr_cq_trywait(container_of(fids[i], struct sdr_cq, fid.fid));
			break;
		case FI_CLASS_CNTR:
			ret = sdr_cntr_trywait(container_of(fids[i], struct sdr_cntr, fid.fid));
			break;
		case FI_CLASS_EQ:
			ret = sdr_eq_trywait(container_of(fids[i], struct sdr_eq, fid.fid));
			break;
		default:
			ret = -FI_EINVAL;
			break;
		}
		if (ret)
			return ret;
	}
	return 0;
}

static struct fi_ops sdr_fabric_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_fabric_close,
	.bind = sdr_no_bind,
	.control = sdr_no_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

static struct fi_ops_fabric sdr_fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = sdr_domain_open,
	.passive_ep = sdr_pep_open,
	.eq_open = sdr_eq_open,
	.wait_open = sdr_no_wait_open,
	.trywait = sdr_fabric_trywait,
	.domain2 = sdr_domain_open2,
};

int sdr_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	struct sdr_fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return -FI_ENOMEM;
	pthread_mutex_init(&f->answer, NULL);
	f->fid.fid.fclass = FI_CLASS_FABRIC;
	f->fid.fid.context = context;
	f->fid.fid.ops = &sdr_fabric_fi_ops;
	f->fid.ops = &sdr_fabric_ops;
	f->fid.api_version = attr->api_version;
	*fabric = &f->fid;
	return 0;
}
