/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory of devices over RDMA devices, through libfabric: two endpoints in this process, one on
 * each of two RDMA devices that can reach each other, with buffers that only drivers copy (fakes,
 * fabtests/hmem: whatever else touches them ends the process).
 *
 *   sdr_verbs_hmem ADDRESS_A ADDRESS_B direct|staged|forbidden
 *
 *   direct      soft RoCE takes dma-bufs (dmabuf_shim.c): what is large is read and written by the
 *               RDMA devices alone, not a byte of it is copied by a driver
 *   staged      it refuses them, as it does by itself (EOPNOTSUPP): all of it passes through memory
 *               of the host, and nothing else is different
 *   forbidden   it takes them, and endpoints are told not to use them (FI_HMEM_P2P_DISABLED): as
 *               staged
 *
 * In each, messages, writes and reads of each size arrive whole, and nothing beside them changes,
 * with buffers that were registered and that were not, and with one whose dma-buf its application
 * names; the counters say which way they went.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext_sdr.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "dmabuf_shim.h"
#include "../hmem/fake_mem.h"

#define LARGE	 (1000u * 1000)
#define LEN	 (LARGE + 3)
#define GUARD	 64u
#define ALL	 (LEN + 2 * GUARD)
#define WAIT_S	 60
#define DMABUF	 (1ULL << 40) /* FI_MR_DMABUF of libfabric 1.20 */
#define CHECK(x) check((x), #x, __LINE__)

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t peer;
};

struct buf {
	unsigned int iface;
	uint8_t *mem, *p;
	struct fid_mr *mr;
	void *desc;
};

struct named { /* struct fi_mr_dmabuf */
	int fd;
	uint64_t offset;
	size_t len;
	void *base;
};

static const size_t sizes[] = { 8, 1000, 5000, 40000, LARGE, LEN };
#define NSIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct side side[2];
static uint8_t scratch[ALL];
static bool direct, forbidden;
static unsigned int passed;

static void check(long ret, const char *what, int line)
{
	if (!ret)
		return;
	printf("FAIL: line %d: %s: %ld (%s)\n", line, what, ret, fi_strerror((int)-ret));
	exit(1);
}

static void must(bool ok, const char *what, size_t len)
{
	if (ok)
		return;
	printf("FAIL: %s, %zu bytes\n", what, len);
	exit(1);
}

/* ---- endpoints ------------------------------------------------------------------------------- */

static void side_open(struct side *s, const char *address)
{
	struct fi_info *h = fi_allocinfo();
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	int p2p = forbidden ? FI_HMEM_P2P_DISABLED : FI_HMEM_P2P_PREFERRED;
	int other = forbidden ? FI_HMEM_P2P_ENABLED : FI_HMEM_P2P_DISABLED;

	h->fabric_attr->prov_name = strdup("sdr");
	h->ep_attr->type = FI_EP_RDM;
	h->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_HMEM;
	h->domain_attr->mr_mode = FI_MR_HMEM;
	CHECK(fi_getinfo(FI_VERSION(1, 17), address, NULL, FI_SOURCE, h, &s->info));
	fi_freeinfo(h);
	must(!strncmp(s->info->domain_attr->name, "rxe", 3), s->info->domain_attr->name, 0);
	CHECK(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	CHECK(fi_domain(s->fabric, s->info, &s->domain, NULL));
	CHECK(fi_av_open(s->domain, &av, &s->av, NULL));
	CHECK(fi_cq_open(s->domain, &cq, &s->cq, NULL));
	CHECK(fi_endpoint(s->domain, s->info, &s->ep, NULL));
	CHECK(fi_ep_bind(s->ep, &s->av->fid, 0));
	CHECK(fi_ep_bind(s->ep, &s->cq->fid, FI_SEND | FI_RECV));
	CHECK(fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p, sizeof(p2p)));
	CHECK(fi_enable(s->ep));
	CHECK(fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &p2p, sizeof(p2p)));
	must(fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &other, sizeof(other)) ==
		     -FI_EOPBADSTATE,
	     "it may go another way once it runs", 0);
}

static void side_meet(struct side *s, struct side *other)
{
	char name[64];
	size_t len = sizeof(name);

	CHECK(fi_getname(&other->ep->fid, name, &len));
	CHECK(fi_av_insert(s->av, name, 1, &s->peer, 0, NULL) == 1 ? 0 : -FI_EINVAL);
}

static void side_close(struct side *s)
{
	CHECK(fi_close(&s->ep->fid));
	CHECK(fi_close(&s->cq->fid));
	CHECK(fi_close(&s->av->fid));
	CHECK(fi_close(&s->domain->fid));
	CHECK(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}

/* One completion of each side that is wanted. */
static void wait_for(unsigned int want)
{
	time_t until = time(NULL) + WAIT_S;
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err;

	while (want) {
		for (unsigned int i = 0; i < 2; i++) {
			ssize_t n = fi_cq_read(side[i].cq, &e, 1);

			if (n == -FI_EAVAIL) {
				memset(&err, 0, sizeof(err));
				fi_cq_readerr(side[i].cq, &err, 0);
				printf("FAIL: side %u: %s, provider's %d\n", i,
				       fi_strerror(err.err), err.prov_errno);
				exit(1);
			}
			if (n > 0)
				want &= ~(1u << i);
		}
		must(time(NULL) < until, "no completion in a minute", 0);
	}
}

static struct fi_sdr_stats stats(unsigned int k)
{
	struct fi_sdr_stats s = { .size = sizeof(s) };
	struct fi_sdr_ep_ops_1 *ops;

	CHECK(fi_open_ops(&side[k].ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&ops, NULL));
	CHECK(ops->stats(side[k].ep, FI_ADDR_UNSPEC, &s));
	return s;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void buf_set(const struct buf *b, const void *from, size_t off, size_t n)
{
	if (b->iface)
		fake_write(b->mem + off, from, n);
	else
		memcpy(b->mem + off, from, n);
}

static void buf_open(struct buf *b, unsigned int k, unsigned int iface, bool registered, bool named)
{
	struct named d = { .fd = -1, .offset = GUARD, .len = LEN };
	struct iovec v;
	struct fi_mr_attr attr = {
		.iov_count = 1,
		.access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
		.requested_key = k,
		.iface = (enum fi_hmem_iface)iface,
	};
	uint64_t off;

	memset(b, 0, sizeof(*b));
	b->iface = iface;
	b->mem = iface ? fake_alloc((int)iface, 1, ALL) : malloc(ALL);
	b->p = b->mem + GUARD;
	if (!registered)
		return;
	attr.device.cuda = 1;
	v = (struct iovec){ b->p, LEN };
	attr.mr_iov = &v;
	if (named) {
		must(fake_dmabuf(b->mem, ALL, true, &d.fd, &off), "no dma-buf", ALL);
		d.base = b->mem;
		attr.mr_iov = (const struct iovec *)(const void *)&d;
	}
	CHECK(fi_mr_regattr(side[k].domain, &attr, named ? DMABUF : 0, &b->mr));
	if (named)
		close(d.fd);
	b->desc = fi_mr_desc(b->mr);
}

static void buf_close(struct buf *b)
{
	if (b->mr)
		CHECK(fi_close(&b->mr->fid));
	if (b->iface)
		fake_free(b->mem);
	else
		free(b->mem);
}

static uint8_t byte_of(size_t i, uint32_t seed)
{
	return (uint8_t)((i * 2654435761u + seed * 40503u) >> 11);
}

static void buf_fill(const struct buf *b, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		scratch[i] = byte_of(i, seed);
	buf_set(b, scratch, GUARD, len);
}

static void buf_wipe(const struct buf *b)
{
	memset(scratch, 0xa5, ALL);
	buf_set(b, scratch, 0, ALL);
}

/* len bytes are there, and nothing before or behind them. */
static void buf_check(const struct buf *b, size_t len, uint32_t seed, const char *what)
{
	if (b->iface)
		fake_read(scratch, b->mem, ALL);
	else
		memcpy(scratch, b->mem, ALL);
	for (size_t i = 0; i < ALL; i++)
		must(scratch[i] ==
			     (i >= GUARD && i < GUARD + len ? byte_of(i - GUARD, seed) : 0xa5),
		     what, len);
}

/* ---- what is moved --------------------------------------------------------------------------- */

enum how { MESSAGE, WRITE, READ };
static const char *const hows[] = { "message", "write", "read" };

/* Bytes of one operation between b[0], of side 0, and b[1], of side 1. */
static void move(struct buf *b, enum how how, size_t len, uint32_t seed)
{
	const struct buf *from = &b[how == READ], *to = &b[how != READ];
	struct iovec v = { b[0].p, len };
	struct fi_rma_iov r = { 0, len, 1 };
	struct fi_msg_rma m = { &v, &b[0].desc, 1, side[0].peer, &r, 1, NULL, 0 };
	struct fake_stats before, after;
	uint64_t moved;

	buf_fill(from, len, seed);
	buf_wipe(to);
	fake_stats(&before);
	switch (how) {
	case MESSAGE:
		CHECK(fi_trecv(side[1].ep, to->p, len, to->desc, FI_ADDR_UNSPEC, seed, 0, NULL));
		CHECK(fi_tsend(side[0].ep, from->p, len, from->desc, side[0].peer, seed, NULL));
		wait_for(3);
		break;
	case WRITE:
		CHECK(fi_writemsg(side[0].ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE));
		wait_for(1);
		break;
	case READ:
		CHECK(fi_readmsg(side[0].ep, &m, FI_COMPLETION));
		wait_for(1);
		break;
	}
	fake_stats(&after);
	moved = after.bytes - before.bytes;
	if (len >= LARGE && direct)
		must(moved == 0, "a driver copied what goes directly", (size_t)moved);
	else if (len >= LARGE)
		must(moved >= len * ((from->iface != 0) + (to->iface != 0)), "nothing was staged",
		     (size_t)moved);
	buf_check(to, len, seed, hows[how]);
}

static void ways(unsigned int from, unsigned int to, bool registered, bool named)
{
	struct buf b[2];
	uint32_t seed = 1;

	buf_open(&b[0], 0, from, registered, named && from);
	buf_open(&b[1], 1, to, true, named && to);
	for (unsigned int i = 0; i < NSIZES; i++)
		for (enum how how = MESSAGE; how <= READ; how++)
			move(b, how, sizes[i], seed++);
	buf_close(&b[0]);
	buf_close(&b[1]);
	printf("PASS: %u to %u%s%s\n", from, to, registered ? "" : ", not registered",
	       named ? ", dma-bufs named" : "");
	fflush(stdout);
	passed++;
}

/* What the counters say of all that. */
static void counted(void)
{
	uint64_t straight = 0, staged = 0;
	struct fake_stats f;

	for (unsigned int k = 0; k < 2; k++) {
		struct fi_sdr_stats s = stats(k);

		straight += s.hmem_direct;
		staged += s.hmem_staged;
	}
	fake_stats(&f);
	printf("    %llu transfers went directly, %llu were staged; %u registrations by dma-buf\n",
	       (unsigned long long)straight, (unsigned long long)staged, dmabuf_shim_made());
	if (direct) {
		must(straight > staged && dmabuf_shim_made(), "few went directly", 0);
		must(f.flushes > 0, "nothing was flushed", 0);
	} else {
		/* a region is registered for its domain, whatever an endpoint does */
		must(!straight && staged && (forbidden || !dmabuf_shim_made()),
		     "some went directly", 0);
	}
	printf("PASS: counted\n");
	passed++;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr,
			"usage: sdr_verbs_hmem ADDRESS_A ADDRESS_B direct|staged|forbidden\n");
		return 2;
	}
	direct = !strcmp(argv[3], "direct");
	forbidden = !strcmp(argv[3], "forbidden");
	dmabuf_shim(direct || forbidden);
	for (unsigned int k = 0; k < 2; k++)
		side_open(&side[k], argv[1 + k]);
	for (unsigned int k = 0; k < 2; k++)
		side_meet(&side[k], &side[!k]);
	ways(FI_HMEM_CUDA, FI_HMEM_CUDA, true, false);
	ways(FI_HMEM_ROCR, FI_HMEM_ZE, false, false);
	ways(FI_HMEM_CUDA, FI_HMEM_SYSTEM, true, false);
	ways(FI_HMEM_SYSTEM, FI_HMEM_CUDA, true, false);
	ways(FI_HMEM_ROCR, FI_HMEM_CUDA, true, true);
	counted();
	for (unsigned int k = 0; k < 2; k++)
		side_close(&side[k]);
	printf("%u passed, 0 failed\n", passed);
	return 0;
}
