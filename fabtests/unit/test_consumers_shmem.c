/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One-sided libraries whose atomics are the point: Sandia OpenSHMEM, OpenFAM, ROFI (Lamellar) and
 * the transports of NVSHMEM.
 */
#include "test_consumers.h"

/* ---- Sandia OpenSHMEM ------------------------------------------------------------------------ */

static void sos_polling(struct fi_info *h)
{
	h->caps = FI_RMA | FI_ATOMIC;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->data_progress = FI_PROGRESS_AUTO;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = 0;
	h->domain_attr->mr_key_size = 1;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	h->tx_attr->inject_size = 16;
}

static void sos(struct fi_info *h)
{
	sos_polling(h);
	h->caps |= FI_RMA_EVENT;
}

static void sos_basic(struct fi_info *h)
{
	sos(h);
	h->domain_attr->mr_mode = MR_BASIC3;
	h->domain_attr->threading = FI_THREAD_SAFE;
}

static void sos_rma_event(struct fi_info *h)
{
	sos(h);
	h->domain_attr->mr_mode = FI_MR_RMA_EVENT;
}

static void sos_fence(struct fi_info *h)
{
	sos(h);
	h->caps |= FI_FENCE;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
}

static int sos_answer(const struct fi_info *info)
{
	assert_true(info->tx_attr->inject_size >= 16);
	assert_true(info->ep_attr->max_msg_size > 0);
	return 0;
}

/* All AMO types, and what they must do. */
static void sos_atomics(struct world *w)
{
	static const enum fi_datatype all[] = { FI_INT32,  FI_INT64, FI_UINT32,
						FI_UINT64, FI_FLOAT, FI_DOUBLE };
	static const enum fi_op standard[] = { FI_SUM, FI_CSWAP };
	static const enum fi_op extended[] = { FI_ATOMIC_WRITE, FI_ATOMIC_READ };
	static const enum fi_op bits[] = { FI_BAND, FI_BOR, FI_BXOR, FI_MSWAP };

	world_atomics(w, all, 4, standard, 2);
	world_atomics(w, all, 6, extended, 2);
	world_atomics(w, all, 4, bits, 4);
}

/*
 * Two endpoints: one is the target of all, one has the counters that a context waits for.  Or one
 * that is both: it is enabled as the target, and then gets the counters.
 */
static int sos_endpoint(struct fi_info *info, bool single)
{
	struct world_opts o = { .av_type = FI_AV_TABLE,
				.cq_bind = FI_SELECTIVE_COMPLETION,
				.cntr_bind = FI_READ | FI_WRITE,
				.cntr_late = single };
	static uint64_t heap[8];
	uint64_t one = 1, two[2] = { 2, 3 };
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC };
	bool events = info->caps & FI_RMA_EVENT;
	int basic = info->domain_attr->mr_mode & MR_BASIC3;
	struct fid_cntr *target = NULL;
	struct fid_mr *mr;
	struct world w;
	uint64_t addr;

	memset(heap, 0, sizeof(heap));
	world_open(&w, info, &o);
	/* scalable: all memory under key 0, addressed as it is here */
	assert_ok(fi_mr_reg(w.domain, basic ? heap : NULL, basic ? sizeof(heap) : UINT64_MAX,
			    FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, events ? FI_RMA_EVENT : 0, &mr,
			    NULL));
	if (events) {
		assert_ok(fi_cntr_open(w.domain, &attr, &target, NULL));
		assert_ok(fi_mr_bind(mr, &target->fid, FI_REMOTE_WRITE));
	}
	if (info->domain_attr->mr_mode & FI_MR_ENDPOINT)
		assert_ok(fi_mr_bind(mr, &w.ep->fid, FI_REMOTE_WRITE));
	if (info->domain_attr->mr_mode & (FI_MR_ENDPOINT | FI_MR_RMA_EVENT))
		assert_ok(fi_mr_enable(mr));
	addr = basic ? world_raddr(&w, heap, heap) : (uintptr_t)heap;
	/* shmem_p, shmem_put; shmem_quiet waits for the counter */
	WORLD_POST(&w, fi_inject_write(w.ep, &one, 8, w.self, addr, fi_mr_key(mr)));
	WORLD_POST(&w, fi_write(w.ep, two, 16, NULL, w.self, addr + 8, fi_mr_key(mr), NULL));
	assert_ok(fi_cntr_wait(w.cntr, 2, TEST_GUARD_S * 1000));
	assert_int_equal(heap[0], 1);
	assert_int_equal(heap[2], 3);
	if (events)
		assert_ok(fi_cntr_wait(target, 2, TEST_GUARD_S * 1000));
	/* shmem_g */
	WORLD_POST(&w, fi_read(w.ep, &one, 8, NULL, w.self, addr + 16, fi_mr_key(mr), NULL));
	assert_ok(fi_cntr_wait(w.cntr, 3, TEST_GUARD_S * 1000));
	assert_int_equal(one, 3);
	assert_ok(fi_close(&mr->fid));
	if (target)
		assert_ok(fi_close(&target->fid));
	if (info->caps & FI_ATOMIC)
		sos_atomics(&w);
	world_close(&w);
	return 0;
}

static int sos_later(struct fi_info *info)
{
	return sos_endpoint(info, false);
}

static int sos_later_single(struct fi_info *info)
{
	return sos_endpoint(info, true);
}

/* ---- OpenFAM, ROFI --------------------------------------------------------------------------- */

static void openfam(struct fi_info *h)
{
	h->caps = FI_MSG | FI_RMA | FI_ATOMIC | FI_RMA_EVENT;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->mr_mode = FI_MR_SCALABLE;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
}

static void rofi(struct fi_info *h)
{
	h->caps = FI_RMA | FI_ATOMIC | FI_COLLECTIVE | FI_MSG;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->mr_mode = FI_MR_BASIC;
}

static int rma_later(struct fi_info *info)
{
	static const enum fi_datatype types[] = { FI_INT32, FI_INT64, FI_UINT32, FI_UINT64 };
	static const enum fi_op ops[] = { FI_SUM,  FI_MIN,	    FI_MAX,	    FI_BAND, FI_BOR,
					  FI_BXOR, FI_ATOMIC_WRITE, FI_ATOMIC_READ, FI_CSWAP };
	struct world_opts o = { .cntr_bind = FI_READ | FI_WRITE };
	struct world w;

	world_open(&w, info, &o);
	world_rma(&w, 5, 0);
	world_counted(&w, w.cntr, 2);
	world_send(&w, 100);
	if (info->caps & FI_ATOMIC)
		world_atomics(&w, types, 4, ops, sizeof(ops) / sizeof(ops[0]));
	world_close(&w);
	return 0;
}

/* ---- NVSHMEM --------------------------------------------------------------------------------- */

static void nvshmem(struct fi_info *h, uint64_t more)
{
	h->caps = FI_RMA | FI_HMEM | more;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->threading = FI_THREAD_SAFE;
	h->domain_attr->mr_mode = MR_BASIC3 | FI_MR_HMEM | FI_MR_LOCAL;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
}

static void nvshmem_verbs(struct fi_info *h)
{
	nvshmem(h, FI_ATOMIC);
}

static void nvshmem_cxi(struct fi_info *h)
{
	nvshmem(h, FI_FENCE | FI_ATOMIC);
}

static void nvshmem_efa(struct fi_info *h)
{
	nvshmem(h, FI_MSG | FI_SOURCE);
}

static int nvshmem_answer(const struct fi_info *info)
{
	assert_true(info->tx_attr->inject_size >= 16);
	return info->domain_attr->mr_mode & FI_MR_PROV_KEY ? 0 : ANSWER_PROV_KEY;
}

const struct consumer consumers_shmem[] = {
	{ "sos_target_counters", FI_VERSION(1, 5), sos, sos_answer, sos_later, GRANTED, 0 },
	{ "sos_single_endpoint", FI_VERSION(1, 5), sos, sos_answer, sos_later_single, GRANTED, 0 },
	{ "sos_hard_polling", FI_VERSION(1, 5), sos_polling, sos_answer, sos_later, GRANTED, 0 },
	{ "sos_mr_basic", FI_VERSION(1, 5), sos_basic, sos_answer, sos_later, GRANTED, 0 },
	{ "sos_mr_rma_event", FI_VERSION(1, 5), sos_rma_event, sos_answer, sos_later, GRANTED, 0 },
	{ "sos_fence", FI_VERSION(1, 5), sos_fence, sos_answer, sos_later, GRANTED, 0 },
	{ "openfam", FI_VERSION(1, 5), openfam, NULL, rma_later, GRANTED, 0 },
	{ "rofi", FI_VERSION(1, 20), rofi, NULL, rma_later, REFUSED_COLLECTIVE, 0 },
	{ "nvshmem_verbs", FI_VERSION(1, 5), nvshmem_verbs, nvshmem_answer, NULL, REFUSED_HMEM, 0 },
	{ "nvshmem_cxi", FI_VERSION(1, 5), nvshmem_cxi, nvshmem_answer, NULL, REFUSED_HMEM, 0 },
	{ "nvshmem_efa", FI_VERSION(1, 5), nvshmem_efa, nvshmem_answer, NULL, REFUSED_HMEM, 0 },
	{ 0 },
};
