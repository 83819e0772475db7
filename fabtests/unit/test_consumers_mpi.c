/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * MPI libraries: Open MPI 4.1 and 5.0 (mtl ofi: tagged messages; btl ofi: one-sided), MPICH 4.0 and
 * 5.0 (ch4:ofi).  The requests are those of their sources, the later calls what their start-up and
 * their first transfers do.
 */
#include "test_consumers.h"

/* ---- Open MPI, mtl/ofi ----------------------------------------------------------------------- */

static void ompi4_mtl(struct fi_info *h)
{
	h->caps = FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->ep_attr->type = FI_EP_RDM;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
	h->tx_attr->op_flags = h->rx_attr->op_flags = FI_COMPLETION;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->cq_data_size = 4;
	h->domain_attr->av_type = FI_AV_MAP;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = 0;
	h->domain_attr->control_progress = FI_PROGRESS_UNSPEC;
	h->domain_attr->data_progress = FI_PROGRESS_UNSPEC;
}

static void ompi4_mtl_multiple(struct fi_info *h)
{
	ompi4_mtl(h);
	h->domain_attr->threading = FI_THREAD_SAFE;
}

static void ompi5_mtl(struct fi_info *h)
{
	ompi4_mtl(h);
	h->caps |= FI_MSG;
	h->domain_attr->mr_mode = FI_MR_ALLOCATED; /* stays so when it asks again */
}

static void ompi5_mtl_hmem(struct fi_info *h)
{
	ompi5_mtl(h);
	h->caps |= FI_HMEM;
	h->domain_attr->mr_mode |= FI_MR_HMEM;
}

/* Tag mode FULL: the sender's rank in the remote CQ data, the top bits of the tag its own. */
static int ompi_mtl_answer(const struct fi_info *info)
{
	assert_true(info->domain_attr->cq_data_size >= 4);
	assert_true(info->caps & FI_DIRECTED_RECV);
	assert_true(info->ep_attr->mem_tag_format >> 62);
	assert_int_equal(info->mode, 0);
	return 0;
}

static int ompi_mtl_later(struct fi_info *info)
{
	struct world_opts o = { .av_type = FI_AV_MAP, .cq_bind = FI_SELECTIVE_COMPLETION };
	struct fi_cq_tagged_entry e = { 0 };
	struct fi_msg_tagged peek = { .tag = 9 };
	struct fi_context ctx[3];
	uint32_t out = 0x5d5d, in = 0;
	struct iovec iov = { .iov_base = &out, .iov_len = sizeof(out) };
	struct fi_msg_tagged m = { .msg_iov = &iov, .iov_count = 1, .tag = 5, .data = 3 };
	struct world w;

	world_open(&w, info, &o);
	/* a directed receive, a message with the rank of its sender */
	assert_ok(fi_trecv(w.ep, &in, sizeof(in), NULL, w.self, 5, 0, &ctx[0]));
	m.addr = w.self;
	m.context = &ctx[1];
	WORLD_POST(&w, fi_tsendmsg(w.ep, &m, FI_REMOTE_CQ_DATA | FI_COMPLETION));
	world_done(&w, 2, &e);
	assert_int_equal(in, out);
	assert_true(e.flags & FI_REMOTE_CQ_DATA);
	assert_int_equal(e.data, 3);
	/* small ones are injected: no completion of the send */
	in = 0;
	assert_ok(fi_trecv(w.ep, &in, sizeof(in), NULL, FI_ADDR_UNSPEC, 6, 0, &ctx[0]));
	WORLD_POST(&w, fi_tinjectdata(w.ep, &out, sizeof(out), 3, w.self, 6));
	world_done(&w, 1, NULL);
	assert_int_equal(in, out);
	/* MPI_Iprobe: nothing is there */
	peek.addr = FI_ADDR_UNSPEC;
	peek.context = &ctx[2];
	assert_ok(fi_trecvmsg(w.ep, &peek, FI_PEEK | FI_COMPLETION));
	world_error(&w, FI_ENOMSG, &ctx[2]);
	/* MPI_Cancel */
	assert_ok(fi_trecv(w.ep, &in, sizeof(in), NULL, FI_ADDR_UNSPEC, 8, 0, &ctx[0]));
	assert_ok(fi_cancel(&w.ep->fid, &ctx[0]));
	world_error(&w, FI_ECANCELED, &ctx[0]);
	world_close(&w);
	return 0;
}

/* ---- Open MPI, btl/ofi ----------------------------------------------------------------------- */

static void ompi_btl(struct fi_info *h, uint64_t caps)
{
	h->caps = caps;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->mr_mode = MR_BASIC3;
	h->tx_attr->iov_limit = h->rx_attr->iov_limit = 1;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
}

static void ompi_btl_rdma(struct fi_info *h)
{
	ompi_btl(h, FI_RMA | FI_ATOMIC);
}

static void ompi_btl_msg(struct fi_info *h)
{
	ompi_btl(h, FI_MSG);
}

static void ompi_btl_both(struct fi_info *h)
{
	ompi_btl(h, FI_RMA | FI_ATOMIC | FI_MSG);
}

static void ompi5_btl_hmem(struct fi_info *h)
{
	ompi_btl(h, FI_RMA | FI_ATOMIC | FI_HMEM);
	h->domain_attr->mr_mode |= FI_MR_HMEM;
}

static int ompi_btl_later(struct fi_info *info)
{
	static const enum fi_datatype types[] = { FI_UINT32, FI_UINT64 };
	static const enum fi_op ops[] = { FI_SUM, FI_BAND, FI_BOR,	    FI_BXOR,
					  FI_MIN, FI_MAX,  FI_ATOMIC_WRITE, FI_CSWAP };
	struct world_opts o = { .av_type = FI_AV_MAP };
	struct world w;

	world_open(&w, info, &o);
	if (info->caps & FI_RMA) {
		world_rma(&w, 11, 0);
		world_rma(&w, 12, 0);
	}
	if (info->caps & FI_MSG)
		world_send(&w, 64);
	if (info->caps & FI_ATOMIC)
		world_atomics(&w, types, 2, ops, sizeof(ops) / sizeof(ops[0]));
	world_close(&w);
	return 0;
}

/* ---- MPICH ----------------------------------------------------------------------------------- */

/* What it does with the entry that scored best: everything that the entry can is asked for. */
static void mpich4_caps(struct fi_info *h)
{
	struct fi_info *best = consumer_ask(fi_version(), 0, NULL);

	assert_non_null(best);
	assert_int_equal(best->ep_attr->type, FI_EP_RDM);
	assert_true(best->caps & FI_TAGGED && best->domain_attr->cq_data_size >= 4);
	assert_true(best->caps & FI_MSG && best->caps & FI_MULTI_RECV && best->caps & FI_RMA);
	h->caps = best->caps | FI_DIRECTED_RECV;
	h->mode = FI_CONTEXT | FI_CONTEXT2 | FI_ASYNC_IOV | FI_RX_CQ_DATA;
	h->ep_attr->type = FI_EP_RDM;
	h->ep_attr->mem_tag_format = best->ep_attr->mem_tag_format;
	h->domain_attr->mode = FI_RESTRICTED_COMP;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->av_type = FI_AV_TABLE;
	h->domain_attr->mr_mode = 0;
	h->domain_attr->cq_data_size = 4;
	h->tx_attr->op_flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
	h->rx_attr->op_flags = FI_COMPLETION;
	h->tx_attr->msg_order = FI_ORDER_SAS;
	fi_freeinfo(best);
}

static void mpich4(struct fi_info *h)
{
	mpich4_caps(h);
	h->tx_attr->msg_order |= ORDER_ATOMIC;
}

/* Its next step on a refusal: the order of the entry. */
static void mpich4_entry_order(struct fi_info *h)
{
	struct fi_info *best = consumer_ask(fi_version(), 0, NULL);

	mpich4_caps(h);
	h->tx_attr->msg_order = best->tx_attr->msg_order;
	fi_freeinfo(best);
}

static void mpich5(struct fi_info *h)
{
	mpich4_entry_order(h);
	h->rx_attr->msg_order = FI_ORDER_SAS;
	h->domain_attr->mr_mode |= FI_MR_ENDPOINT;
}

static int mpich_answer(const struct fi_info *info)
{
	assert_int_equal(info->domain_attr->threading, FI_THREAD_DOMAIN);
	assert_int_equal(info->domain_attr->av_type, FI_AV_TABLE);
	return 0;
}

/* Active messages: one large buffer for many. */
static void mpich_am(struct world *w)
{
	uint8_t area[2048], out[300];
	size_t min = 512;
	struct iovec iov = { .iov_base = area, .iov_len = sizeof(area) };
	struct fi_msg m = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC };
	struct fi_cq_tagged_entry e = { 0 };
	struct fi_context ctx[2];

	assert_ok(
		fi_setopt(&w->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)));
	m.context = &ctx[0];
	assert_ok(fi_recvmsg(w->ep, &m, FI_MULTI_RECV | FI_COMPLETION));
	test_fill(out, sizeof(out), 4);
	WORLD_POST(w, fi_send(w->ep, out, sizeof(out), NULL, w->self, &ctx[1]));
	world_done(w, 2, &e);
	assert_true(test_same(e.buf, sizeof(out), 4));
	assert_ok(fi_cancel(&w->ep->fid, &ctx[0]));
	world_error(w, FI_ECANCELED, &ctx[0]);
}

static int mpich_later(struct fi_info *info)
{
	struct world_opts o = { .av_type = FI_AV_TABLE, .cntr_bind = FI_READ | FI_WRITE };
	struct fi_av_attr shared = { .type = FI_AV_TABLE, .name = "mpich_av", .flags = FI_READ };
	struct fid_mr *win, *dynamic;
	struct fid_stx *stx = NULL;
	struct fid_av *av = NULL;
	struct world w;
	uint8_t mem[64];

	world_open(&w, info, &o);
	/* a vector shared by the ranks of a host, contexts shared by windows: it goes on without */
	assert_int_not_equal(fi_av_open(w.domain, &shared, &av, NULL), 0);
	assert_int_not_equal(fi_stx_context(w.domain, info->tx_attr, &stx, NULL), 0);
	world_tagged(&w, 100);
	mpich_am(&w);
	/* a window with a key of its own, and one of all memory */
	assert_ok(fi_mr_reg(w.domain, mem, sizeof(mem), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0,
			    &win, NULL));
	assert_ok(fi_mr_reg(w.domain, NULL, UINT64_MAX, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 2, 0,
			    &dynamic, NULL));
	assert_ok(fi_close(&win->fid));
	assert_ok(fi_close(&dynamic->fid));
	world_rma(&w, 3, 0);
	world_counted(&w, w.cntr, 2); /* a write and a read */
	world_close(&w);
	return 0;
}

const struct consumer consumers_mpi[] = {
	{ "ompi4_mtl", FI_VERSION(1, 5), ompi4_mtl, ompi_mtl_answer, ompi_mtl_later, GRANTED, 0 },
	{ "ompi4_mtl_multiple", FI_VERSION(1, 5), ompi4_mtl_multiple, ompi_mtl_answer,
	  ompi_mtl_later, GRANTED, 0 },
	{ "ompi4_btl_rdma", FI_VERSION(1, 5), ompi_btl_rdma, NULL, ompi_btl_later, GRANTED, 0 },
	{ "ompi4_btl_msg", FI_VERSION(1, 5), ompi_btl_msg, NULL, ompi_btl_later, GRANTED, 0 },
	{ "ompi4_btl_both", FI_VERSION(1, 5), ompi_btl_both, NULL, ompi_btl_later, GRANTED, 0 },
	{ "ompi5_mtl_hmem", FI_VERSION(1, 18), ompi5_mtl_hmem, ompi_mtl_answer, ompi_mtl_later,
	  REFUSED_HMEM, 0 },
	{ "ompi5_mtl", FI_VERSION(1, 18), ompi5_mtl, ompi_mtl_answer, ompi_mtl_later, GRANTED, 0 },
	{ "ompi5_btl_hmem", FI_VERSION(1, 18), ompi5_btl_hmem, NULL, ompi_btl_later, REFUSED_HMEM,
	  0 },
	{ "ompi5_btl_rdma", FI_VERSION(1, 9), ompi_btl_rdma, NULL, ompi_btl_later, GRANTED, 0 },
	{ "mpich4_native_accumulate", FI_VERSION(1, 17), mpich4, mpich_answer, mpich_later, GRANTED,
	  0 },
	{ "mpich4", FI_VERSION(1, 17), mpich4_entry_order, mpich_answer, mpich_later, GRANTED, 0 },
	{ "mpich5", FI_VERSION(1, 17), mpich5, mpich_answer, mpich_later, GRANTED, 0 },
	{ 0 },
};
