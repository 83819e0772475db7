/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * One RDM endpoint with its fabric, domain, CQ and AV, for programs that measure: no more than
 * libfabric's API 1.17, any provider. A context (struct bench_op) travels with each operation and
 * is handed back by bench_progress through `done`. All calls end the process with a message when
 * libfabric returns an error: a benchmark has nothing to recover.
 */
#ifndef SDR_BENCH_EP_H
#define SDR_BENCH_EP_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define BENCH_NAME_MAX 256u /* bytes of an endpoint's address */

struct bench_op {
	struct fi_context2 ctx; /* first: the provider's, while the operation is open */
	void (*done)(struct bench_op *op, const struct fi_cq_tagged_entry *e);
	void (*failed)(struct bench_op *op); /* NULL: that ends the process */
	void *arg;
	uint32_t index;
};

struct bench_name {
	size_t len; /* bytes */
	uint8_t bytes[BENCH_NAME_MAX];
};

struct bench_ep {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	struct bench_name name;
	int local_mr; /* local buffers must be registered */
};

struct bench_attr {
	const char *prov;    /* NULL: any */
	const char *node;    /* source address; NULL: the provider's choice */
	const char *service; /* its port; NULL: any */
	/* instead of both: whom it talks to, which settles the interface */
	const char *to, *to_service;
	uint64_t caps;
	enum fi_threading threading;
	enum fi_progress progress; /* of data */
	size_t peers;		   /* expected, for the AV */
	size_t cq_size;		   /* entries */
	int sleeps;		   /* the CQ is read with fi_cq_sread */
};

void bench_die(const char *what, long err) __attribute__((noreturn));
#define BENCH_CHECK(call)                      \
	do {                                   \
		long rc_ = (long)(call);       \
		if (rc_ < 0)                   \
			bench_die(#call, rc_); \
	} while (0)
/* a call that may say -FI_EAGAIN: makes progress until it does not */
#define BENCH_POST(b, call)                          \
	do {                                         \
		ssize_t rc_;                         \
		while ((rc_ = (call)) == -FI_EAGAIN) \
			bench_progress(b);           \
		if (rc_ < 0)                         \
			bench_die(#call, rc_);       \
	} while (0)

void bench_open(struct bench_ep *b, const struct bench_attr *attr);
void bench_close(struct bench_ep *b);
/* the descriptor is NULL where the provider wants none; access as for fi_mr_reg */
struct fid_mr *bench_mr(struct bench_ep *b, void *buf, size_t len, uint64_t access, uint64_t key);
void *bench_desc(const struct bench_ep *b, struct fid_mr *mr);
fi_addr_t bench_peer(struct bench_ep *b, const struct bench_name *name);
/* reads the CQ once, calls done() for each completion, or failed(); returns their number */
int bench_progress(struct bench_ep *b);

double bench_now(void); /* seconds, monotonic */
void bench_write_all(int fd, const void *buf, size_t len);
void bench_read_all(int fd, void *buf, size_t len);

#endif
