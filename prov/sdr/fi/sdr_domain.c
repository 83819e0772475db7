/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The domain: one interface's address family or one RDMA device, its endpoints, its memory regions,
 * its progress thread and its workers.
 *
 * It fixes what fi_getinfo promised for everything opened from it: the settings of the environment
 * as they are now, the registration mode, the progress model.  It closes only when nothing opened
 * from it is left.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>

#include "base/sdr_assert.h"
#include "hmem/sdr_hmem.h"
#include "uc/sdr_uc_registry.h"

#include "sdr_domain.h"
#include "sdr_av.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_enosys.h"
#include "sdr_ep.h"
#include "sdr_eq.h"
#include "sdr_exit.h"
#include "sdr_fabric.h"
#include "sdr_nic.h"
#include "sdr_old_api.h"
#include "sdr_paths.h"
#include "sdr_atomic_map.h"
#include "sdr_poll.h"
#include "sdr_progress.h"
#include "sdr_prov.h"
#include "sdr_srx.h"

#define SDR_API_IFACE FI_VERSION(1, 10) /* the first with fi_mr_attr.iface */

static int sdr_domain_close(struct fid *fid)
{
	struct sdr_domain *dom = container_of(fid, struct sdr_domain, fid.fid);

	if (atomic_load(&dom->refs))
		return -FI_EBUSY;
	SDR_ASSERT(!dom->neps && !dom->closing);
	sdr_exit_domain_del(dom);
	sdr_thread_stop(dom);
	sdr_work_fini(&dom->work);
	sdr_paths_put(dom->paths);
	sdr_regions_fini(&dom->regions);
	if (dom->mr_eq)
		atomic_fetch_sub(&container_of(dom->mr_eq, struct sdr_eq, fid)->refs, 1);
	pthread_mutex_destroy(&dom->conds_lock);
	pthread_mutex_destroy(&dom->thread_lock);
	pthread_mutex_destroy(&dom->eps_lock);
	free(dom->eps);
	atomic_fetch_sub(&dom->fabric->refs, 1);
	free(dom);
	return 0;
}

static int sdr_domain_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct sdr_domain *dom = container_of(fid, struct sdr_domain, fid.fid);
	struct sdr_eq *eq;

	if (bfid->fclass != FI_CLASS_EQ)
		return -FI_EINVAL;
	if (dom->mr_eq)
		return -FI_EINVAL;
	if (flags & ~FI_REG_MR)
		return -FI_EBADFLAGS;
	eq = container_of(bfid, struct sdr_eq, fid.fid);
	if (flags & FI_REG_MR) {
		atomic_fetch_add(&eq->refs, 1);
		dom->mr_eq = &eq->fid;
	}
	return 0;
}

static struct fi_ops sdr_domain_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_domain_close,
	.bind = sdr_domain_bind,
	.control = sdr_no_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

static struct fi_ops_domain sdr_domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = sdr_av_open,
	.cq_open = sdr_cq_open,
	.endpoint = sdr_ep_open,
	.scalable_ep = sdr_no_scalable_ep,
	.cntr_open = sdr_cntr_open,
	.poll_open = sdr_poll_open,
	.stx_ctx = sdr_no_stx_ctx,
	.srx_ctx = sdr_srx_open,
	.query_atomic = sdr_atomic_query,
	.query_collective = sdr_no_query_collective,
	.endpoint2 = sdr_ep_open2,
};

/* The device of this name, of `only` or (NULL) of any engine. */
static bool sdr_domain_find(const char *name, const struct sdr_uc_engine *only,
			    struct sdr_uc_dev *out)
{
	const struct sdr_uc_engine *const *e;
	struct sdr_uc_dev *v = NULL;
	char why[SDR_ENV_ERR] = "";
	unsigned int n = 0, i;
	bool found = false;

	for (e = sdr_uc_engines; *e; e++) {
		if (!only || only == *e)
			sdr_uc_engine_probe(*e, &v, &n, why, sizeof(why));
	}
	for (i = 0; i < n && !found; i++) {
		found = strcasecmp(v[i].name, name) == 0;
		if (found)
			*out = v[i];
	}
	free(v);
	return found;
}

/* A device that is named in an info that is not from us counts as requested. */
static int sdr_domain_device(struct sdr_domain *dom, const struct fi_info *info)
{
	const struct sdr_uc_dev *d = sdr_nic_dev(info->nic, &dom->device_asked);
	const struct sdr_uc_engine *only = sdr_env_engine(&dom->env);
	struct sdr_uc_dev named;

	dom->engine = only ? only : sdr_uc_engine_any();
	if (!dom->engine->probe && only)
		return 0;
	if (!d && info->domain_attr->name) {
		if (sdr_domain_find(info->domain_attr->name, only, &named))
			d = &named;
		dom->device_asked = true;
	}
	if (d) {
		dom->engine = d->engine;
		snprintf(dom->device, sizeof(dom->device), "%s", d->name);
		FI_INFO(&sdr_prov, FI_LOG_DOMAIN, "domain %s: engine %s, late packets: %s\n",
			d->name, d->engine->name, d->late);
	} else {
		FI_INFO(&sdr_prov, FI_LOG_DOMAIN, "domain %s: engine %s\n",
			info->domain_attr->name ? info->domain_attr->name : "",
			sdr_uc_engine_any()->name);
	}
	dom->device_asked |= only != NULL;
	return d || !only ? 0 : -FI_ENODEV;
}

int sdr_domain_open2(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
		     uint64_t flags, void *context)
{
	struct sdr_fabric *f = container_of(fabric, struct sdr_fabric, fid);
	struct sdr_domain *dom;
	int mode, ret;

	if (flags)
		return -FI_EBADFLAGS;
	if (!info || !info->domain_attr)
		return -FI_EINVAL;
	dom = calloc(1, sizeof(*dom));
	if (!dom)
		return -FI_ENOMEM;
	ret = sdr_env_read(&dom->env);
	if (ret)
		goto err;
	ret = sdr_domain_device(dom, info);
	if (ret)
		goto err;
	dom->hmem = info->caps & FI_HMEM;
	if (dom->hmem && !sdr_hmem_any()) {
		ret = -FI_ENOSYS;
		goto err;
	}
	ret = sdr_regions_init(&dom->regions);
	if (ret)
		goto err;

	mode = info->domain_attr->mr_mode;
	dom->mr_virt = mode == FI_MR_BASIC || (mode & FI_MR_VIRT_ADDR);
	dom->mr_prov_key = mode == FI_MR_BASIC || (mode & FI_MR_PROV_KEY);
	dom->mr_iface = !info->fabric_attr || !info->fabric_attr->api_version ||
			FI_VERSION_GE(info->fabric_attr->api_version, SDR_API_IFACE);
	dom->caps = info->caps;
	dom->addr_format = info->addr_format;
	dom->auto_progress = info->domain_attr->data_progress != FI_PROGRESS_MANUAL;
	atomic_init(&dom->thread_fd, -1);
	dom->thread_set = -1;
	pthread_mutex_init(&dom->thread_lock, NULL);
	pthread_mutex_init(&dom->conds_lock, NULL);
	pthread_mutex_init(&dom->eps_lock, NULL);
	sdr_work_init(&dom->work);
	dom->paths = sdr_paths_get(dom->env.cache);
	dom->fid.fid.fclass = FI_CLASS_DOMAIN;
	dom->fid.fid.context = context;
	dom->fid.fid.ops = &sdr_domain_fi_ops;
	dom->fid.ops = &sdr_domain_ops;
	dom->fid.mr = &sdr_mr_ops;
	dom->fabric = f;
	atomic_fetch_add(&f->refs, 1);
	sdr_exit_domain_add(dom);
	*domain = &dom->fid;
	return 0;
err:
	free(dom);
	return ret;
}

int sdr_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
		    void *context)
{
	return sdr_domain_open2(fabric, info, domain, 0, context);
}
