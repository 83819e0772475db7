/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Collective and transfer libraries: aws-ofi-nccl and aws-ofi-rccl, oneCCL, NIXL.  What asks for
 * FI_HMEM first and for host memory last has a row for each.
 */
#include "test_consumers.h"

/* ---- aws-ofi-nccl, aws-ofi-rccl -------------------------------------------------------------- */

static void nccl_sendrecv(struct fi_info *h)
{
	h->caps = FI_LOCAL_COMM | FI_REMOTE_COMM | FI_TAGGED | FI_MSG;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->ep_attr->type = FI_EP_RDM;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT | MR_BASIC3;
	h->domain_attr->mr_key_size = 2;
	h->domain_attr->threading = FI_THREAD_SAFE;
}

static void nccl_sendrecv_hmem(struct fi_info *h)
{
	nccl_sendrecv(h);
	h->caps |= FI_HMEM | FI_RMA | FI_READ;
	h->domain_attr->mr_mode |= FI_MR_HMEM;
}

static void nccl_rdma(struct fi_info *h)
{
	h->caps = FI_MSG | FI_RMA | FI_HMEM | FI_LOCAL_COMM | FI_REMOTE_COMM;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_HMEM | MR_BASIC3;
	h->domain_attr->mr_key_size = 2;
	h->domain_attr->threading = FI_THREAD_COMPLETION;
	h->domain_attr->cq_data_size = 4;
}

static void nccl_gin(struct fi_info *h)
{
	nccl_rdma(h);
	h->mode |= FI_RX_CQ_DATA;
}

static int nccl_gin_answer(const struct fi_info *info)
{
	return info->mode & FI_RX_CQ_DATA ? 0 : ANSWER_MODE;
}

static void rccl(struct fi_info *h)
{
	h->caps = FI_REMOTE_COMM | FI_TAGGED | FI_MSG;
	h->mode = FI_CONTEXT;
	h->ep_attr->type = FI_EP_RDM;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
	h->domain_attr->mr_mode = FI_MR_ENDPOINT | MR_BASIC3;
}

static void rccl_hmem(struct fi_info *h)
{
	rccl(h);
	h->caps |= FI_HMEM;
	h->domain_attr->mr_mode |= FI_MR_HMEM;
}

/* Options that it sets once the endpoint is open; "not supported" is an answer, others end it. */
static void nccl_options(struct world *w)
{
#ifdef FI_OPT_SHARED_MEMORY_PERMITTED
	static const int names[] = { FI_OPT_SHARED_MEMORY_PERMITTED, FI_OPT_CUDA_API_PERMITTED };
#else
	/* of libfabric 1.20 and 1.17; the plugin is built with headers that have both */
	static const int names[] = { 11, 10 };
#endif
	bool no = false;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ret = fi_setopt(&w->ep->fid, FI_OPT_ENDPOINT, names[i], &no, sizeof(no));
		assert_true(ret == 0 || ret == -FI_ENOPROTOOPT || ret == -FI_EOPNOTSUPP);
	}
}

/* Where the provider makes no keys it counts its own, from 0 to 65535. */
static int nccl_later(struct fi_info *info)
{
	struct world_opts o = { .av_type = FI_AV_TABLE };
	uint8_t mem[3][64];
	struct fid_mr *mr[3];
	struct world w;
	unsigned int i;

	world_open(&w, info, &o);
	nccl_options(&w);
	for (i = 0; i < 3; i++)
		assert_ok(world_mr(&w, mem[i], sizeof(mem[i]),
				   FI_SEND | FI_RECV |
					   (info->caps & FI_RMA ? FI_REMOTE_WRITE | FI_REMOTE_READ |
									  FI_READ | FI_WRITE
								: 0),
				   i ? 65533 + i : 0, &mr[i]));
	if (info->caps & FI_TAGGED)
		world_tagged(&w, 4000);
	for (i = 0; i < 3; i++)
		assert_ok(fi_close(&mr[i]->fid));
	world_close(&w);
	return 0;
}

/* Writes with immediate data. */
static int nccl_rdma_later(struct fi_info *info)
{
	struct world_opts o = { .av_type = FI_AV_TABLE };
	uint64_t mem = 0, out = 0x1234567890;
	struct fi_cq_tagged_entry e = { 0 };
	struct fi_context ctx[2];
	struct fid_mr *mr;
	struct world w;
	bool imm = false;
	int i;

	world_open(&w, info, &o);
	nccl_options(&w);
	if (info->mode & FI_RX_CQ_DATA) /* each immediate takes a receive */
		assert_ok(fi_recv(w.ep, NULL, 0, NULL, FI_ADDR_UNSPEC, &ctx[0]));
	assert_ok(world_mr(&w, &mem, sizeof(mem), FI_REMOTE_WRITE | FI_REMOTE_READ, 65535, &mr));
	WORLD_POST(&w, fi_writedata(w.ep, &out, sizeof(out), NULL, 0xabcd, w.self,
				    world_raddr(&w, &mem, &mem), fi_mr_key(mr), &ctx[1]));
	for (i = 0; i < 2; i++) {
		memset(&e, 0, sizeof(e));
		world_done(&w, 1, &e);
		if (e.flags & FI_REMOTE_CQ_DATA) {
			assert_int_equal(e.data, 0xabcd);
			imm = true;
		}
	}
	assert_true(imm);
	assert_int_equal(mem, out);
	assert_ok(fi_close(&mr->fid));
	world_send(&w, 500);
	world_close(&w);
	return 0;
}

/* ---- oneCCL ---------------------------------------------------------------------------------- */

static void oneccl(struct fi_info *h)
{
	h->caps = FI_TAGGED;
	h->mode = FI_CONTEXT;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
}

static void oneccl_contexts(struct fi_info *h)
{
	oneccl(h);
	h->ep_attr->tx_ctx_cnt = h->ep_attr->rx_ctx_cnt = 1;
}

/* Several receives, a probe that finds what came, a receive that is cancelled. */
static int oneccl_later(struct fi_info *info)
{
	struct world_opts o = { .av_type = FI_AV_TABLE };
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_msg_tagged peek = { .tag = 77, .addr = FI_ADDR_UNSPEC };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e = { 0 };
	struct fi_context ctx[3];
	uint64_t out = 5, in = 0;
	struct world w;
	ssize_t ret;

	world_open(&w, info, &o);
	world_tagged(&w, 4096);
	peek.context = &ctx[0];
	WORLD_POST(&w, fi_tsend(w.ep, &out, sizeof(out), NULL, w.self, 77, &ctx[1]));
	world_done(&w, 1, NULL);
	for (;;) {
		assert_ok(fi_trecvmsg(w.ep, &peek, FI_PEEK | FI_COMPLETION));
		while ((ret = fi_cq_read(w.cq, &e, 1)) == -FI_EAGAIN && test_now_s() < end)
			;
		if (ret == 1)
			break;
		assert_int_equal(ret, -FI_EAVAIL);
		assert_int_equal(fi_cq_readerr(w.cq, &err, 0), 1);
		assert_int_equal(err.err, FI_ENOMSG);
		assert_true(test_now_s() < end);
	}
	assert_int_equal(e.len, sizeof(out));
	assert_ok(fi_trecv(w.ep, &in, sizeof(in), NULL, FI_ADDR_UNSPEC, 77, 0, &ctx[2]));
	world_done(&w, 1, NULL);
	assert_int_equal(in, out);
	world_close(&w);
	return 0;
}

/* ---- NIXL ------------------------------------------------------------------------------------ */

static void nixl_discovery(struct fi_info *h)
{
	h->caps = FI_MSG | FI_RMA | FI_LOCAL_COMM | FI_REMOTE_COMM;
	h->mode = FI_CONTEXT;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->mr_mode = ~3;
}

static void nixl_rail(struct fi_info *h)
{
	nixl_discovery(h);
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_HMEM | MR_BASIC3;
	h->domain_attr->mr_key_size = 2;
	h->domain_attr->threading = FI_THREAD_COMPLETION;
}

static void nixl_rail_hmem(struct fi_info *h)
{
	nixl_rail(h);
	h->caps |= FI_HMEM;
}

/* Everything is registered with key 0: one region is read and written by peers, one is local. */
static int nixl_later(struct fi_info *info)
{
	struct world_opts o = { .format = FI_CQ_FORMAT_TAGGED, .cq_size = 12288 };
	static uint8_t bufs[1024][16];
	struct fi_context *ctx = calloc(1024, sizeof(*ctx));
	uint8_t a[32], b[32];
	struct fid_mr *m[2];
	struct world w;
	int ret, i;

	assert_non_null(ctx);
	world_open(&w, info, &o);
	for (i = 0; i < 1024; i++)
		assert_ok(fi_recv(w.ep, bufs[i], sizeof(bufs[i]), NULL, FI_ADDR_UNSPEC, &ctx[i]));
	assert_ok(world_mr(&w, a, sizeof(a), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, &m[0]));
	ret = world_mr(&w, b, sizeof(b), FI_READ | FI_WRITE, 0, &m[1]);
	if (!ret)
		assert_ok(fi_close(&m[1]->fid));
	else
		assert_int_equal(ret, -FI_ENOKEY);
	assert_ok(fi_close(&m[0]->fid));
	world_close(&w);
	free(ctx);
	return ret ? LATER_KEY : 0;
}

const struct consumer consumers_ccl[] = {
	{ "nccl_sendrecv_hmem", FI_VERSION(1, 20), nccl_sendrecv_hmem, NULL, nccl_later,
	  REFUSED_HMEM, 0 },
	{ "nccl_sendrecv_host", FI_VERSION(1, 6), nccl_sendrecv, NULL, nccl_later, GRANTED, 0 },
	{ "nccl_rdma", FI_VERSION(1, 18), nccl_rdma, NULL, nccl_rdma_later, REFUSED_HMEM, 0 },
	{ "nccl_gin", FI_VERSION(1, 18), nccl_gin, nccl_gin_answer, nccl_rdma_later, REFUSED_HMEM,
	  0 },
	{ "rccl_hmem", FI_VERSION(1, 17), rccl_hmem, NULL, nccl_later, REFUSED_HMEM, 0 },
	{ "rccl_host", FI_VERSION(1, 17), rccl, NULL, nccl_later, GRANTED, 0 },
	{ "oneccl", FI_VERSION(1, 10), oneccl, NULL, oneccl_later, GRANTED, 0 },
	{ "oneccl_one_context", FI_VERSION(1, 10), oneccl_contexts, NULL, oneccl_later, GRANTED,
	  0 },
	{ "nixl_discovery", FI_VERSION(1, 18), nixl_discovery, NULL, NULL, GRANTED, 0 },
	{ "nixl_rail_hmem", FI_VERSION(1, 18), nixl_rail_hmem, NULL, nixl_later, REFUSED_HMEM, 0 },
	{ "nixl_rail_host", FI_VERSION(1, 18), nixl_rail, NULL, nixl_later, GRANTED, 0 },
	{ 0 },
};
