/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * fi_getopt and fi_setopt of an endpoint: a row an option.
 *
 * What is permitted by an option need not be used, and what an endpoint never does may be
 * forbidden: it uses no shared memory, no direct path between a device and its network, and no call
 * of a device's driver unless it has FI_HMEM.  An option that asks for what is not done, or forbids
 * what an endpoint lives on, is -FI_EOPNOTSUPP, one that is not known -FI_ENOPROTOOPT.
 */
#include <stdbool.h>
#include <string.h>

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "hmem/sdr_hmem.h"
#include "wire/sdr_cm_msg.h"

#include "sdr_ep.h"
#include "sdr_ep_opt.h"
#include "sdr_prov.h"

/* Options of libfabric 1.18, by their numbers there: our headers may be older. */
enum {
	SDR_OPT_CUDA_API_PERMITTED = 10,      /* bool */
	SDR_OPT_SHARED_MEMORY_PERMITTED = 11, /* bool */
};

static size_t opt_min_multi(const struct sdr_ep *ep)
{
	return ep->min_multi;
}

static size_t opt_cm_data(const struct sdr_ep *ep)
{
	return ep->cm_ops ? SDR_CM_DATA_MAX : 0;
}

static size_t opt_tx_size(const struct sdr_ep *ep)
{
	return ep->tx_size;
}

static size_t opt_rx_size(const struct sdr_ep *ep)
{
	return ep->rx_size;
}

static int opt_min_multi_set(struct sdr_ep *ep, const void *val)
{
	memcpy(&ep->min_multi, val, sizeof(ep->min_multi));
	return 0;
}

/* Never used, so either answer is kept. */
static int opt_unused_set(struct sdr_ep *ep, const void *val)
{
	(void)ep;
	(void)val;
	return 0;
}

/* Memory of devices is copied by their drivers, or not at all. */
static int opt_cuda_set(struct sdr_ep *ep, const void *val)
{
	bool permitted;

	memcpy(&permitted, val, sizeof(permitted));
	return permitted || !ep->hmem || !sdr_hmem_usable(FI_HMEM_CUDA, NULL) ? 0 : -FI_EOPNOTSUPP;
}

/* The direct path between an RDMA device and others: taken where it is, unless it is forbidden. */
static int opt_p2p_set(struct sdr_ep *ep, const void *val)
{
	struct sdr_uc_info info = { .far = false };
	int how;

	memcpy(&how, val, sizeof(how));
	if (how == FI_HMEM_P2P_REQUIRED)
		return -FI_EOPNOTSUPP;
	if (ep->rel)
		ep->uc->ops->info(ep->uc, &info);
	if (info.far && ep->env.rel.no_far != (how == FI_HMEM_P2P_DISABLED))
		return -FI_EOPBADSTATE;
	ep->env.rel.no_far = how == FI_HMEM_P2P_DISABLED;
	return 0;
}

struct sdr_ep_opt {
	int name;
	size_t size;				      /* bytes of its value */
	size_t (*get)(const struct sdr_ep *ep);	      /* NULL: it cannot be asked for */
	int (*set)(struct sdr_ep *ep, const void *v); /* NULL: it cannot be set; under ep->lock */
};

static const struct sdr_ep_opt sdr_ep_opts[] = {
	{ FI_OPT_MIN_MULTI_RECV, sizeof(size_t), opt_min_multi, opt_min_multi_set },
	{ FI_OPT_CM_DATA_SIZE, sizeof(size_t), opt_cm_data, NULL },
	{ FI_OPT_TX_SIZE, sizeof(size_t), opt_tx_size, NULL },
	{ FI_OPT_RX_SIZE, sizeof(size_t), opt_rx_size, NULL },
	{ FI_OPT_FI_HMEM_P2P, sizeof(int), NULL, opt_p2p_set },
	{ SDR_OPT_CUDA_API_PERMITTED, sizeof(bool), NULL, opt_cuda_set },
	{ SDR_OPT_SHARED_MEMORY_PERMITTED, sizeof(bool), NULL, opt_unused_set },
};

static const struct sdr_ep_opt *sdr_ep_opt_find(int level, int name)
{
	size_t i;

	if (level != FI_OPT_ENDPOINT)
		return NULL;
	for (i = 0; i < sizeof(sdr_ep_opts) / sizeof(sdr_ep_opts[0]); i++) {
		if (sdr_ep_opts[i].name == name)
			return &sdr_ep_opts[i];
	}
	return NULL;
}

int sdr_ep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid.fid);
	const struct sdr_ep_opt *o = sdr_ep_opt_find(level, optname);
	size_t v;

	if (!o || !o->get)
		return -FI_ENOPROTOOPT;
	v = o->get(ep);
	if (*optlen < sizeof(v)) {
		*optlen = sizeof(v);
		return -FI_ETOOSMALL;
	}
	*optlen = sizeof(v);
	memcpy(optval, &v, sizeof(v));
	return 0;
}

int sdr_ep_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid.fid);
	const struct sdr_ep_opt *o = sdr_ep_opt_find(level, optname);
	int ret;

	if (!o || !o->set)
		return -FI_ENOPROTOOPT;
	if (optlen < o->size)
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->lock);
	ret = o->set(ep, optval);
	pthread_mutex_unlock(&ep->lock);
	return ret;
}
