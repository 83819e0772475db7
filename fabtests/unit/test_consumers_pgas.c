/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Languages, runtimes and I/O: GASNet-EX, Chapel, LCI, ADIOS2, oomph/GHEX, Charm++.
 */
#include "test_consumers.h"

/* ---- GASNet-EX, ofi-conduit ------------------------------------------------------------------ */

static void gasnet(struct fi_info *h)
{
	h->caps = FI_RMA | FI_MSG | FI_MULTI_RECV;
	h->mode = FI_CONTEXT;
	h->ep_attr->type = FI_EP_RDM;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->av_type = FI_AV_TABLE;
	h->domain_attr->mr_mode = MR_BASIC3 | FI_MR_ENDPOINT;
}

static int gasnet_answer(const struct fi_info *info)
{
	int basic = info->domain_attr->mr_mode & MR_BASIC3;

	assert_true(basic == 0 || basic == MR_BASIC3);
	return 0;
}

/* Asked again for each kind of endpoint: RMA without a mode, messages with buffers for many. */
static struct fi_info *gasnet_again(const struct fi_info *info, uint64_t caps, uint64_t mode)
{
	struct fi_info *h = fi_dupinfo(info), *out;

	assert_non_null(h);
	h->caps = caps;
	h->mode = mode;
	h->tx_attr->caps = h->rx_attr->caps = 0;
	out = consumer_ask(FI_VERSION(1, 5), 0, h);
	fi_freeinfo(h);
	assert_non_null(out);
	return out;
}

/* Three endpoints of one domain with one vector, their transmits in one queue. */
static int gasnet_later(struct fi_info *info)
{
	struct fi_info *rma = gasnet_again(info, FI_RMA, 0);
	struct fi_info *am = gasnet_again(info, FI_MSG | FI_MULTI_RECV, FI_CONTEXT);
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA };
	struct fi_av_attr av = { .type = FI_AV_TABLE, .count = 3 };
	struct sockaddr_storage name[3];
	uint8_t area[1024], out[100];
	struct iovec iov = { .iov_base = area, .iov_len = sizeof(area) };
	struct fi_msg m = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC };
	struct fi_cq_data_entry e;
	struct fid_fabric *fabric;
	struct fid_domain *dom;
	struct fid_cq *tx, *rx;
	struct fid_ep *ep[3];
	struct fid_av *v;
	size_t len, min = 256;
	struct fi_context ctx;
	uint64_t end = test_now_s() + TEST_GUARD_S;
	int k;

	assert_ok(fi_fabric(rma->fabric_attr, &fabric, NULL));
	assert_ok(fi_domain(fabric, rma, &dom, NULL));
	assert_ok(fi_av_open(dom, &av, &v, NULL));
	assert_ok(fi_cq_open(dom, &attr, &tx, NULL));
	assert_ok(fi_cq_open(dom, &attr, &rx, NULL));
	for (k = 0; k < 3; k++) {
		assert_ok(fi_endpoint(dom, k ? am : rma, &ep[k], NULL));
		assert_ok(fi_ep_bind(ep[k], &v->fid, 0));
		assert_ok(fi_ep_bind(ep[k], &tx->fid, FI_TRANSMIT));
		assert_ok(fi_ep_bind(ep[k], &rx->fid, FI_RECV));
		if (k)
			assert_ok(fi_setopt(&ep[k]->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
					    &min, sizeof(min)));
		assert_ok(fi_enable(ep[k]));
		len = sizeof(name[k]);
		assert_ok(fi_getname(&ep[k]->fid, &name[k], &len));
		/* no place for the handle: the order of insertion is what counts */
		assert_int_equal(fi_av_insert(v, &name[k], 1, NULL, 0, NULL), 1);
	}
	m.context = &ctx;
	assert_ok(fi_recvmsg(ep[2], &m, FI_MULTI_RECV));
	test_fill(out, sizeof(out), 6);
	while (fi_send(ep[1], out, sizeof(out), NULL, 2, NULL) == -FI_EAGAIN) {
		fi_cq_read(tx, NULL, 0);
		fi_cq_read(rx, NULL, 0);
		assert_true(test_now_s() <= end);
	}
	while (fi_cq_read(rx, &e, 1) != 1) {
		fi_cq_read(tx, NULL, 0);
		assert_true(test_now_s() <= end);
	}
	assert_true(test_same(e.buf, sizeof(out), 6));
	for (k = 0; k < 3; k++)
		assert_ok(fi_close(&ep[k]->fid));
	assert_ok(fi_close(&tx->fid));
	assert_ok(fi_close(&rx->fid));
	assert_ok(fi_close(&v->fid));
	assert_ok(fi_close(&dom->fid));
	assert_ok(fi_close(&fabric->fid));
	fi_freeinfo(rma);
	fi_freeinfo(am);
	return 0;
}

/* ---- Chapel, comm=ofi ------------------------------------------------------------------------ */

static void chapel(struct fi_info *h)
{
	h->caps = FI_MSG | FI_MULTI_RECV | FI_RMA | FI_LOCAL_COMM | FI_REMOTE_COMM;
	h->ep_attr->type = FI_EP_RDM;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->av_type = FI_AV_TABLE;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
}

static void chapel_fence(struct fi_info *h)
{
	chapel(h);
	h->caps |= FI_ATOMIC | FI_FENCE;
	h->tx_attr->msg_order |= FI_ORDER_ATOMIC_WAW;
	h->rx_attr->msg_order |= FI_ORDER_ATOMIC_WAW;
}

static void chapel_ordered(struct fi_info *h)
{
	chapel(h);
	h->tx_attr->msg_order |= FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_SAW;
	h->rx_attr->msg_order |= FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_SAW;
}

static void chapel_delivery(struct fi_info *h)
{
	chapel(h);
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
}

static int chapel_later(struct fi_info *info)
{
	static const enum fi_datatype types[] = { FI_INT32,  FI_INT64, FI_UINT32,
						  FI_UINT64, FI_FLOAT, FI_DOUBLE };
	static const enum fi_op ops[] = { FI_SUM, FI_ATOMIC_READ, FI_ATOMIC_WRITE };
	struct world_opts o = { .av_type = FI_AV_TABLE };
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP };
	struct fi_wait_attr wait = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_wait *set = NULL;
	struct fid_cntr *cntr;
	struct fid_ep *ep;
	struct world w;
	int ret;

	world_open(&w, info, &o);
	ret = fi_wait_open(w.fabric, &wait, &set);
	assert_true(ret == 0 || ret == -FI_ENOSYS);
	if (!ret)
		assert_ok(fi_close(&set->fid));
	/* an endpoint with a counter for both directions and a queue for neither */
	assert_ok(fi_endpoint(w.domain, info, &ep, NULL));
	assert_ok(fi_cntr_open(w.domain, &attr, &cntr, NULL));
	assert_ok(fi_ep_bind(ep, &w.av->fid, 0));
	assert_ok(fi_ep_bind(ep, &cntr->fid, FI_SEND | FI_RECV | FI_READ | FI_WRITE));
	ret = fi_enable(ep);
	assert_true(ret == 0 || ret == -FI_ENOCQ);
	assert_ok(fi_close(&ep->fid));
	assert_ok(fi_close(&cntr->fid));
	world_rma(&w, 1, 0);
	world_rma(&w, 2, info->caps & FI_FENCE ? FI_FENCE : 0);
	world_send(&w, 200);
	if (info->caps & FI_ATOMIC)
		world_atomics(&w, types, 6, ops, 3);
	world_close(&w);
	return 0;
}

/* ---- LCI ------------------------------------------------------------------------------------- */

static void lci(struct fi_info *h)
{
	h->caps = FI_RMA | FI_MSG;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->threading = FI_THREAD_SAFE;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->mr_mode = MR_BASIC3 | FI_MR_LOCAL | FI_MR_ENDPOINT;
}

static int lci_answer(const struct fi_info *info)
{
	assert_true(info->domain_attr->cq_data_size >= 4);
	assert_true(info->domain_attr->mr_key_size <= 8);
	return 0;
}

static int lci_later(struct fi_info *info)
{
	uint64_t access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RMA;
	struct world_opts o = { .av_type = FI_AV_TABLE };
	uint8_t mem[64];
	struct fid_mr *mr;
	struct world w;
	int ret;

	info->tx_attr->size = info->rx_attr->size = 512;
	world_open(&w, info, &o);
	world_send(&w, 300);
	world_rma(&w, 9, 0);
	ret = world_mr(&w, mem, sizeof(mem), access, 4, &mr);
	if (!ret)
		assert_ok(fi_close(&mr->fid));
	else
		assert_int_equal(ret, -FI_EINVAL);
	world_close(&w);
	return ret ? LATER_ACCESS : 0;
}

/* ---- ADIOS2, SST over RDMA ------------------------------------------------------------------- */

static void adios2(struct fi_info *h)
{
	h->caps = FI_MSG | FI_SEND | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RMA | FI_READ |
		  FI_WRITE;
	h->mode = FI_CONTEXT | FI_LOCAL_MR | FI_CONTEXT2 | FI_MSG_PREFIX | FI_ASYNC_IOV |
		  FI_RX_CQ_DATA;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->mr_mode = MR_BASIC3 | FI_MR_LOCAL;
	h->domain_attr->control_progress = FI_PROGRESS_AUTO;
}

/*
 * It takes the entry whose domain is $FABRIC_IFACE, and asks the domain for keys of the provider's
 * own, whatever fi_getinfo said: every region is registered with key 0.
 */
static int adios2_later(struct fi_info *info)
{
	struct world_opts o = { .av_type = FI_AV_MAP };
	uint8_t a[32], b[32];
	struct fid_mr *m[2];
	struct world w;

	info->domain_attr->mr_mode =
		FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL |
		(info->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_ENDPOINT));
	world_open(&w, info, &o);
	assert_ok(world_mr(&w, a, sizeof(a), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, &m[0]));
	assert_ok(world_mr(&w, b, sizeof(b), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, &m[1]));
	assert_int_not_equal(fi_mr_key(m[0]), fi_mr_key(m[1]));
	assert_ok(fi_close(&m[0]->fid));
	assert_ok(fi_close(&m[1]->fid));
	world_rma(&w, 0, 0);
	world_close(&w);
	return 0;
}

/* ---- oomph/GHEX, Charm++ --------------------------------------------------------------------- */

static void oomph(struct fi_info *h)
{
	h->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE |
		  FI_REMOTE_READ | FI_REMOTE_WRITE;
	h->addr_format = FI_SOCKADDR_IN;
	h->ep_attr->type = FI_EP_RDM;
}

static void charm(struct fi_info *h)
{
	h->caps = FI_TAGGED | FI_RMA | FI_REMOTE_READ;
	h->ep_attr->type = FI_EP_RDM;
}

static int tagged_later(struct fi_info *info)
{
	struct world_opts o = { .av_type = FI_AV_MAP };
	struct fid_mr *mr;
	uint8_t mem[16];
	struct world w;

	world_open(&w, info, &o);
	world_tagged(&w, 1000);
	if (info->caps & FI_MSG)
		world_send(&w, 1000);
	assert_ok(world_mr(&w, mem, sizeof(mem), FI_REMOTE_READ | FI_READ, 1, &mr));
	assert_ok(fi_close(&mr->fid));
	world_close(&w);
	return 0;
}

const struct consumer consumers_pgas[] = {
	{ "gasnet", FI_VERSION(1, 5), gasnet, gasnet_answer, gasnet_later, GRANTED, 0 },
	{ "chapel_1_fence", FI_VERSION(1, 9), chapel_fence, NULL, chapel_later, GRANTED, 0 },
	{ "chapel_2_orders", FI_VERSION(1, 9), chapel_ordered, NULL, chapel_later, GRANTED, 0 },
	{ "chapel_3_delivery", FI_VERSION(1, 9), chapel_delivery, NULL, chapel_later, GRANTED, 0 },
	{ "lci", FI_VERSION(1, 6), lci, lci_answer, lci_later, GRANTED, 0 },
	{ "adios2", FI_VERSION(1, 5), adios2, NULL, adios2_later, GRANTED, 0 },
	{ "oomph", FI_VERSION(1, 15), oomph, NULL, tagged_later, GRANTED, 0 },
	{ "charm", FI_VERSION(1, 0), charm, NULL, tagged_later, GRANTED, 0 },
	{ 0 },
};
