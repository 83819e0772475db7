/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * Opening, progress and closing of a benchmark's endpoint: see bench_ep.h. The CQ is read by
 * spinning (as fabtests do); nothing here blocks except bench_read_all on a pipe.
 */
#include "bench_ep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CQ_BATCH 16 /* completions a read */

void bench_die(const char *what, long err)
{
	fprintf(stderr, "%s: %s (%ld)\n", what, fi_strerror((int)-err), err);
	_exit(1);
}

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void bench_write_all(int fd, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			bench_die("write to the other process", n < 0 ? -errno : -EPIPE);
		p += n;
		len -= (size_t)n;
	}
}

void bench_read_all(int fd, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			bench_die("read from the other process", n < 0 ? -errno : -EPIPE);
		p += n;
		len -= (size_t)n;
	}
}

void bench_open(struct bench_ep *b, const struct bench_attr *attr)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_av_attr av = { .count = attr->peers };
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .size = attr->cq_size };

	cq.wait_obj = attr->sleeps ? FI_WAIT_UNSPEC : FI_WAIT_NONE;

	memset(b, 0, sizeof(*b));
	if (!hints)
		bench_die("fi_allocinfo", -FI_ENOMEM);
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = attr->caps;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	hints->domain_attr->threading = attr->threading;
	hints->domain_attr->data_progress = attr->progress;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	hints->tx_attr->msg_order = FI_ORDER_SAS;
	hints->rx_attr->msg_order = FI_ORDER_SAS;
	if (attr->prov)
		hints->fabric_attr->prov_name = strdup(attr->prov);
	BENCH_CHECK(fi_getinfo(FI_VERSION(1, 17), attr->to ? attr->to : attr->node,
			       attr->to ? attr->to_service : attr->service,
			       attr->node ? FI_SOURCE : 0, hints, &b->info));
	fi_freeinfo(hints);
	b->local_mr = (b->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
	BENCH_CHECK(fi_fabric(b->info->fabric_attr, &b->fabric, NULL));
	BENCH_CHECK(fi_domain(b->fabric, b->info, &b->domain, NULL));
	BENCH_CHECK(fi_cq_open(b->domain, &cq, &b->cq, NULL));
	av.type = b->info->domain_attr->av_type;
	BENCH_CHECK(fi_av_open(b->domain, &av, &b->av, NULL));
	BENCH_CHECK(fi_endpoint(b->domain, b->info, &b->ep, NULL));
	BENCH_CHECK(fi_ep_bind(b->ep, &b->cq->fid, FI_TRANSMIT | FI_RECV));
	BENCH_CHECK(fi_ep_bind(b->ep, &b->av->fid, 0));
	BENCH_CHECK(fi_enable(b->ep));
	b->name.len = BENCH_NAME_MAX;
	BENCH_CHECK(fi_getname(&b->ep->fid, b->name.bytes, &b->name.len));
}

void bench_close(struct bench_ep *b)
{
	fi_close(&b->ep->fid);
	fi_close(&b->av->fid);
	fi_close(&b->cq->fid);
	fi_close(&b->domain->fid);
	fi_close(&b->fabric->fid);
	fi_freeinfo(b->info);
	memset(b, 0, sizeof(*b));
}

struct fid_mr *bench_mr(struct bench_ep *b, void *buf, size_t len, uint64_t access, uint64_t key)
{
	struct fid_mr *mr = NULL;

	if (!b->local_mr && !(access & (FI_REMOTE_READ | FI_REMOTE_WRITE)))
		return NULL;
	BENCH_CHECK(fi_mr_reg(b->domain, buf, len, access, 0, key, 0, &mr, NULL));
	if (b->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		BENCH_CHECK(fi_mr_bind(mr, &b->ep->fid, 0));
		BENCH_CHECK(fi_mr_enable(mr));
	}
	return mr;
}

void *bench_desc(const struct bench_ep *b, struct fid_mr *mr)
{
	return mr && b->local_mr ? fi_mr_desc(mr) : NULL;
}

fi_addr_t bench_peer(struct bench_ep *b, const struct bench_name *name)
{
	fi_addr_t addr = FI_ADDR_UNSPEC;
	int n = fi_av_insert(b->av, name->bytes, 1, &addr, 0, NULL);

	if (n != 1)
		bench_die("fi_av_insert", n < 0 ? n : -FI_EINVAL);
	return addr;
}

int bench_progress(struct bench_ep *b)
{
	struct fi_cq_tagged_entry e[CQ_BATCH];
	ssize_t n = fi_cq_read(b->cq, e, CQ_BATCH);
	struct bench_op *op;

	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL) {
		struct fi_cq_err_entry err = { 0 };
		char text[128] = "";

		if (fi_cq_readerr(b->cq, &err, 0) < 0)
			bench_die("fi_cq_readerr", -FI_EOTHER);
		fprintf(stderr, "error completion: %s\n",
			fi_cq_strerror(b->cq, err.prov_errno, err.err_data, text, sizeof(text)));
		op = err.op_context;
		if (!op || !op->failed)
			bench_die("an operation failed", -err.err);
		op->failed(op);
		return 1;
	}
	if (n < 0)
		bench_die("fi_cq_read", n);
	for (ssize_t i = 0; i < n; i++) {
		op = e[i].op_context;
		if (op)
			op->done(op, &e[i]);
	}
	return (int)n;
}
