/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The consumers where a driver has a device (a fake, fabtests/hmem): who asked for FI_HMEM was
 * granted it, registers a buffer of the device as it would, and sends or writes it to itself, by
 * what it asked for.
 */
#include "test_consumers.h"

#include "../hmem/fake_mem.h"

#define LEN 20000u /* bytes: more than one datagram holds */
#define KEY 7u

const int consumers_lifted = REFUSED_HMEM;

static void *mem_new(struct world *w, uint64_t key, struct fid_mr **mr)
{
	uint64_t access = FI_SEND | FI_RECV;
	struct iovec v = { fake_alloc(FI_HMEM_CUDA, 0, LEN), LEN };
	struct fi_mr_attr attr = {
		.mr_iov = &v, .iov_count = 1, .requested_key = key, .iface = FI_HMEM_CUDA
	};

	if (w->info->caps & FI_RMA)
		access |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	attr.access = access;
	assert_ok(fi_mr_regattr(w->domain, &attr, 0, mr));
	if (w->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		assert_ok(fi_mr_bind(*mr, &w->ep->fid, 0));
		assert_ok(fi_mr_enable(*mr));
	}
	return v.iov_base;
}

static void go(struct world *w, void **mem, struct fid_mr **mr)
{
	void *to = mem[1], *there = fi_mr_desc(mr[1]), *here = fi_mr_desc(mr[0]);
	int n = 2;

	if (w->info->caps & FI_TAGGED) {
		assert_ok(fi_trecv(w->ep, to, LEN, there, FI_ADDR_UNSPEC, 3, 0, NULL));
		WORLD_POST(w, fi_tsend(w->ep, mem[0], LEN, here, w->self, 3, NULL));
	} else if (w->info->caps & FI_MSG) {
		assert_ok(fi_recv(w->ep, to, LEN, there, FI_ADDR_UNSPEC, NULL));
		WORLD_POST(w, fi_send(w->ep, mem[0], LEN, here, w->self, NULL));
	} else {
		n = 0;
	}
	world_done(w, n, NULL);
}

static void write_back(struct world *w, void **mem, struct fid_mr **mr)
{
	if (!(w->info->caps & FI_RMA) || !(w->info->caps & FI_WRITE))
		return;
	WORLD_POST(w, fi_write(w->ep, mem[1], LEN, fi_mr_desc(mr[1]), w->self,
			       world_raddr(w, mem[0], mem[0]), fi_mr_key(mr[0]), NULL));
	world_done(w, 1, NULL);
}

static void holds(const void *mem, const uint8_t *want)
{
	uint8_t got[LEN];

	fake_read(got, mem, LEN);
	assert_memory_equal(got, want, LEN);
}

void consumer_device(struct fi_info *info)
{
	struct world_opts o = { .av_type = FI_AV_TABLE };
	uint8_t want[LEN], none[LEN] = { 0 };
	struct fid_mr *mr[2];
	struct world w;
	void *mem[2];

	test_fill(want, LEN, 5);
	world_open(&w, info, &o);
	for (unsigned int i = 0; i < 2; i++)
		mem[i] = mem_new(&w, KEY + i, &mr[i]);
	fake_write(mem[0], want, LEN);
	fake_write(mem[1], none, LEN);
	go(&w, mem, mr);
	if (info->caps & (FI_TAGGED | FI_MSG))
		holds(mem[1], want);
	else
		fake_write(mem[1], want, LEN);
	fake_write(mem[0], none, LEN);
	write_back(&w, mem, mr);
	if (info->caps & FI_RMA && info->caps & FI_WRITE)
		holds(mem[0], want);
	for (unsigned int i = 0; i < 2; i++) {
		assert_ok(fi_close(&mr[i]->fid));
		fake_free(mem[i]);
	}
	world_close(&w);
}
