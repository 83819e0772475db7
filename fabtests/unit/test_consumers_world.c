/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An endpoint that talks to itself, for the later calls of the consumers: opened from the first
 * entry of the answer as they open it, with one queue, one vector and perhaps one counter.  One
 * thread; each transfer is waited for under the guard of test_fi_util.h.
 */
#include "test_consumers.h"

#define WORLD_MAX 4096 /* bytes of one transfer */

void world_open(struct world *w, struct fi_info *info, const struct world_opts *o)
{
	struct fi_cq_attr cq = { .format = o->format ? o->format : FI_CQ_FORMAT_TAGGED,
				 .wait_obj = o->wait_obj,
				 .size = o->cq_size };
	struct fi_av_attr av = { .type = o->av_type ? o->av_type : FI_AV_TABLE };
	struct fi_cntr_attr cntr = { .events = FI_CNTR_EVENTS_COMP };
	struct sockaddr_storage name;
	size_t len = sizeof(name);

	memset(w, 0, sizeof(*w));
	w->info = info;
	w->self = FI_ADDR_NOTAVAIL;
	assert_ok(fi_fabric(info->fabric_attr, &w->fabric, NULL));
	assert_ok(fi_domain(w->fabric, info, &w->domain, NULL));
	assert_ok(fi_av_open(w->domain, &av, &w->av, NULL));
	assert_ok(fi_cq_open(w->domain, &cq, &w->cq, NULL));
	assert_ok(fi_endpoint(w->domain, info, &w->ep, NULL));
	assert_ok(fi_ep_bind(w->ep, &w->av->fid, 0));
	assert_ok(fi_ep_bind(w->ep, &w->cq->fid, FI_TRANSMIT | FI_RECV | o->cq_bind));
	if (o->cntr_bind)
		assert_ok(fi_cntr_open(w->domain, &cntr, &w->cntr, NULL));
	if (o->cntr_bind && !o->cntr_late)
		assert_ok(fi_ep_bind(w->ep, &w->cntr->fid, o->cntr_bind));
	assert_ok(fi_enable(w->ep));
	if (o->cntr_bind && o->cntr_late)
		assert_ok(fi_ep_bind(w->ep, &w->cntr->fid, o->cntr_bind));
	if (o->no_source)
		return;
	assert_ok(fi_getname(&w->ep->fid, &name, &len));
	assert_int_equal(fi_av_insert(w->av, &name, 1, &w->self, 0, NULL), 1);
}

void world_close(struct world *w)
{
	assert_ok(fi_close(&w->ep->fid));
	if (w->cntr)
		assert_ok(fi_close(&w->cntr->fid));
	assert_ok(fi_close(&w->cq->fid));
	assert_ok(fi_close(&w->av->fid));
	assert_ok(fi_close(&w->domain->fid));
	assert_ok(fi_close(&w->fabric->fid));
}

void world_done(struct world *w, int n, struct fi_cq_tagged_entry *last)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	ssize_t ret;

	while (n) {
		ret = fi_cq_read(w->cq, &e, 1);
		if (ret == -FI_EAVAIL) {
			fi_cq_readerr(w->cq, &err, 0);
			fail_msg("error completion %d: %s", err.err,
				 fi_cq_strerror(w->cq, err.prov_errno, err.err_data, NULL, 0));
		}
		if (ret == 1) {
			n--;
			if (last && (e.flags & FI_RECV || !(last->flags & FI_RECV)))
				*last = e;
		} else {
			assert_int_equal(ret, -FI_EAGAIN);
		}
		if (test_now_s() > end)
			fail_msg("%d completions did not come", n);
	}
}

void world_error(struct world *w, int error, const void *context)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	ssize_t ret;

	while ((ret = fi_cq_read(w->cq, &e, 1)) == -FI_EAGAIN && test_now_s() <= end)
		;
	assert_int_equal(ret, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w->cq, &err, 0), 1);
	assert_int_equal(err.err, error);
	assert_ptr_equal(err.op_context, context);
}

void world_counted(struct world *w, struct fid_cntr *cntr, uint64_t n)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;

	while (fi_cntr_read(cntr) < n) {
		fi_cq_read(w->cq, NULL, 0);
		if (test_now_s() > end)
			fail_msg("counter stays at %llu", (unsigned long long)fi_cntr_read(cntr));
	}
	assert_int_equal(fi_cntr_readerr(cntr), 0);
}

int world_mr(struct world *w, const void *buf, size_t len, uint64_t access, uint64_t key,
	     struct fid_mr **mr)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	struct fi_mr_attr attr = {
		.mr_iov = &iov, .iov_count = 1, .access = access, .requested_key = key
	};
	int ret = fi_mr_regattr(w->domain, &attr, 0, mr);

	if (!ret && w->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		assert_ok(fi_mr_bind(*mr, &w->ep->fid, 0));
		assert_ok(fi_mr_enable(*mr));
	}
	return ret;
}

uint64_t world_raddr(const struct world *w, const void *base, const void *buf)
{
	int mode = w->info->domain_attr->mr_mode;

	if (mode == FI_MR_BASIC || (mode != FI_MR_SCALABLE && mode & FI_MR_VIRT_ADDR))
		return (uintptr_t)buf;
	return (uintptr_t)buf - (uintptr_t)base;
}

void world_send(struct world *w, size_t len)
{
	uint8_t out[WORLD_MAX], in[WORLD_MAX] = { 0 };

	test_fill(out, len, 1);
	assert_ok(fi_recv(w->ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	WORLD_POST(w, fi_send(w->ep, out, len, NULL, w->self, out));
	world_done(w, 2, NULL);
	assert_true(test_same(in, len, 1));
}

void world_tagged(struct world *w, size_t len)
{
	uint8_t out[WORLD_MAX], in[WORLD_MAX] = { 0 };
	struct fi_cq_tagged_entry e = { 0 };

	test_fill(out, len, 2);
	assert_ok(fi_trecv(w->ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, 7, 0, in));
	WORLD_POST(w, fi_tsend(w->ep, out, len, NULL, w->self, 7, out));
	world_done(w, 2, &e);
	assert_int_equal(e.tag, 7);
	assert_true(test_same(in, len, 2));
}

void world_rma(struct world *w, uint64_t key, uint64_t flags)
{
	uint8_t mem[256] = { 0 }, out[256], in[256] = { 0 };
	uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	struct fi_rma_iov rma = { .len = sizeof(out) };
	struct iovec iov = { .iov_base = out, .iov_len = sizeof(out) };
	struct fi_msg_rma m = { .msg_iov = &iov,
				.iov_count = 1,
				.addr = w->self,
				.rma_iov = &rma,
				.rma_iov_count = 1,
				.context = out };
	struct fid_mr *mr;

	assert_ok(world_mr(w, mem, sizeof(mem), access, key, &mr));
	test_fill(out, sizeof(out), 3);
	rma.key = fi_mr_key(mr);
	rma.addr = world_raddr(w, mem, mem);
	WORLD_POST(w, fi_writemsg(w->ep, &m, flags | FI_COMPLETION | FI_DELIVERY_COMPLETE));
	world_done(w, 1, NULL);
	assert_true(test_same(mem, sizeof(mem), 3));
	iov.iov_base = in;
	WORLD_POST(w, fi_readmsg(w->ep, &m, FI_COMPLETION));
	world_done(w, 1, NULL);
	assert_true(test_same(in, sizeof(in), 3));
	assert_ok(fi_close(&mr->fid));
}

static void world_valid(struct world *w, enum fi_datatype type, enum fi_op op)
{
	size_t count = 0;
	int ret;

	if (op == FI_CSWAP || op == FI_MSWAP)
		ret = fi_compare_atomicvalid(w->ep, type, op, &count);
	else if (op == FI_ATOMIC_READ)
		ret = fi_fetch_atomicvalid(w->ep, type, op, &count);
	else
		ret = fi_atomicvalid(w->ep, type, op, &count);
	if (ret || !count)
		fail_msg("type %d, operation %d: %d, %zu elements", (int)type, (int)op, ret, count);
}

void world_atomics(struct world *w, const enum fi_datatype *types, size_t ntypes,
		   const enum fi_op *ops, size_t nops)
{
	uint64_t access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	uint64_t mem = 40, one = 2, was = 0;
	struct fi_rma_ioc rma = { .count = 1 };
	struct fi_ioc ioc = { .addr = &one, .count = 1 }, result = { .addr = &was, .count = 1 };
	struct fi_msg_atomic m = { .msg_iov = &ioc,
				   .iov_count = 1,
				   .addr = w->self,
				   .rma_iov = &rma,
				   .rma_iov_count = 1,
				   .datatype = FI_UINT64,
				   .op = FI_SUM };
	struct fid_mr *mr;
	size_t t, o;

	for (t = 0; t < ntypes; t++) {
		for (o = 0; o < nops; o++)
			world_valid(w, types[t], ops[o]);
	}
	assert_ok(world_mr(w, &mem, sizeof(mem), access, 77, &mr));
	rma.addr = world_raddr(w, &mem, &mem);
	rma.key = fi_mr_key(mr);
	WORLD_POST(w, fi_fetch_atomicmsg(w->ep, &m, &result, NULL, 1, FI_COMPLETION));
	world_done(w, 1, NULL);
	assert_int_equal(was, 40);
	assert_int_equal(mem, 42);
	assert_ok(fi_close(&mr->fid));
}
