/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * RPC, and libfabric's own layers: mercury (which DAOS and Mochi use; it would have to know the
 * name first), lnx, and the utility providers that look for cores.
 */
#include <poll.h>

#include "test_consumers.h"

#define CORE_PROV_ONLY (1ULL << 59) /* libfabric's private flag of utility providers */

/* ---- mercury --------------------------------------------------------------------------------- */

static void mercury(struct fi_info *h)
{
	h->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_DIRECTED_RECV | FI_MULTI_RECV;
	h->mode = FI_ASYNC_IOV | FI_CONTEXT;
	h->ep_attr->type = FI_EP_RDM;
	h->addr_format = FI_SOCKADDR_IN;
	h->tx_attr->op_flags = FI_INJECT_COMPLETE;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = MR_BASIC3 | FI_MR_LOCAL | FI_MR_ENDPOINT;
}

/* Its event loop sleeps on a descriptor, and is woken by others. */
static int mercury_later(struct fi_info *info)
{
	struct world_opts o = { .av_type = FI_AV_MAP, .wait_obj = FI_WAIT_FD };
	struct fid *fids[1];
	size_t min = 64;
	uint64_t data = 3, in = 0;
	struct fi_cq_tagged_entry e;
	struct fi_context ctx[2];
	fi_addr_t src = FI_ADDR_UNSPEC;
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct pollfd p;
	struct world w;
	int got = 0, ret;

	world_open(&w, info, &o);
	assert_ok(fi_setopt(&w.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)));
	assert_ok(fi_control(&w.cq->fid, FI_GETWAIT, &p.fd));
	p.events = POLLIN;
	fids[0] = &w.cq->fid;
	assert_ok(fi_trecv(w.ep, &in, sizeof(in), NULL, w.self, 1, 0, &ctx[0]));
	WORLD_POST(&w, fi_tsend(w.ep, &data, sizeof(data), NULL, w.self, 1, &ctx[1]));
	while (got < 2 && test_now_s() < end) {
		ret = fi_trywait(w.fabric, fids, 1);
		if (!ret)
			assert_true(poll(&p, 1, TEST_GUARD_S * 1000) >= 0);
		else
			assert_int_equal(ret, -FI_EAGAIN);
		while (fi_cq_readfrom(w.cq, &e, 1, &src) == 1)
			got++;
	}
	assert_int_equal(got, 2);
	assert_int_equal(in, data);
	assert_ok(fi_cq_signal(w.cq));
	world_send(&w, 1000);
	world_rma(&w, 1, 0);
	world_close(&w);
	return 0;
}

/* ---- lnx, ofi_rxm, ofi_rxd ------------------------------------------------------------------- */

static void lnx(struct fi_info *h)
{
	h->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_PEER | FI_AV_USER_ID;
	h->ep_attr->type = FI_EP_RDM;
}

static void msg_ep(struct fi_info *h)
{
	h->caps = FI_MSG | FI_RMA;
	h->ep_attr->type = FI_EP_MSG;
}

static void rxd(struct fi_info *h)
{
	h->caps = FI_MSG;
	h->ep_attr->type = FI_EP_DGRAM;
}

const struct consumer consumers_layers[] = {
	{ "mercury", FI_VERSION(1, 13), mercury, NULL, mercury_later, GRANTED, 0 },
	{ "lnx", FI_VERSION(1, 17), lnx, NULL, NULL, GRANTED, 0 },
	{ "ofi_rxm", FI_VERSION(1, 17), msg_ep, NULL, NULL, REFUSED_CORE, CORE_PROV_ONLY },
	{ "ofi_rxd", FI_VERSION(1, 17), rxd, NULL, NULL, REFUSED_CORE, CORE_PROV_ONLY },
	{ "connected_endpoints", FI_VERSION(1, 17), msg_ep, NULL, NULL, GRANTED, 0 },
	{ 0 },
};
