/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the tests of the libfabric objects share: the public API only, the provider loaded as an
 * application loads it (FI_PROVIDER_PATH, else the build directory), and two endpoints of one
 * domain on loopback that talk to each other.  Guards against hanging are generous; nothing asserts
 * a time.
 */
#ifndef TEST_FI_UTIL_H
#define TEST_FI_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <cmocka.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_ext_sdr.h>

#include "fi/sdr_old_api.h"

/* what libfabric 2 deprecates is called by the applications that the tests are written after */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define TEST_API     FI_VERSION(1, 17)
#define TEST_GUARD_S 20 /* nothing here takes that long */

#define assert_ok(call)                                                             \
	do {                                                                        \
		long r_ = (long)(call);                                             \
		if (r_)                                                             \
			fail_msg("%s: %ld (%s)", #call, r_, fi_strerror((int)-r_)); \
	} while (0)

static inline void test_env(void)
{
	const char *dir = getenv("SDR_BUILDDIR");
	char path[512];

	setenv("IPATH_NO_BACKTRACE", "1", 1);
	unsetenv("FI_SDR_FAULT");
	if (!getenv("FI_PROVIDER_PATH")) {
		snprintf(path, sizeof(path), "%s/.libs", dir ? dir : ".");
		setenv("FI_PROVIDER_PATH", path, 1);
	}
	setenv("FI_PROVIDER", "sdr", 1);
}

static inline struct fi_info *test_hints(enum fi_ep_type type, uint64_t caps)
{
	struct fi_info *h = fi_allocinfo();

	assert_non_null(h);
	h->fabric_attr->prov_name = strdup("sdr");
	h->ep_attr->type = type;
	h->caps = caps;
	return h;
}

/* NULL on -FI_ENODATA, anything else but success fails the test. */
static inline struct fi_info *test_getinfo(uint32_t version, const char *node, const char *service,
					   uint64_t flags, const struct fi_info *hints)
{
	struct fi_info *info = NULL;
	int ret = fi_getinfo(version, node, service, flags, hints, &info);

	if (ret == -FI_ENODATA)
		return NULL;
	assert_ok(ret);
	assert_non_null(info);
	return info;
}

static inline uint64_t test_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec;
}

/* ---- two endpoints --------------------------------------------------------------------------- */

struct test_opts {
	enum fi_ep_type type; /* 0: RDM */
	uint64_t caps;	      /* 0: everything */
	int mr_mode;	      /* set in the info that opens the domain */
	uint64_t mode;	      /* offered */
	enum fi_progress progress;
	enum fi_wait_obj wait_obj;
	uint64_t cq_flags; /* FI_SELECTIVE_COMPLETION */
	size_t cq_size;
	bool cntrs; /* a send, receive, write and remote-write counter a side */
	bool not_enabled;
	uint64_t msg_order; /* of transmits */
	const char *node;   /* "127.0.0.1" when NULL */
};

struct test_side {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_cntr *send, *recv, *write, *rwrite;
	fi_addr_t peer; /* the other side */
	struct sockaddr_storage name;
	size_t namelen;
};

struct test_pair {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct test_side s[2];
};

static inline void test_side_enable(struct test_pair *p, int k)
{
	struct test_side *s = &p->s[k];

	assert_ok(fi_enable(s->ep));
	s->namelen = sizeof(s->name);
	assert_ok(fi_getname(&s->ep->fid, &s->name, &s->namelen));
	assert_int_equal(fi_av_insert(p->av, &s->name, 1, &p->s[!k].peer, 0, NULL), 1);
}

static inline void test_pair_open(struct test_pair *p, const struct test_opts *o)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED,
				 .wait_obj = o->wait_obj,
				 .size = o->cq_size };
	struct fi_cntr_attr cntr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_info *h = test_hints(o->type ? o->type : FI_EP_RDM, o->caps);
	int k;

	memset(p, 0, sizeof(*p));
	h->domain_attr->data_progress = o->progress;
	h->mode = o->mode;
	h->tx_attr->msg_order = o->msg_order;
	p->info = test_getinfo(TEST_API, o->node ? o->node : "127.0.0.1", NULL, FI_SOURCE, h);
	assert_non_null(p->info);
	fi_freeinfo(h);
	p->info->domain_attr->mr_mode |= o->mr_mode;
	assert_ok(fi_fabric(p->info->fabric_attr, &p->fabric, NULL));
	assert_ok(fi_domain(p->fabric, p->info, &p->domain, NULL));
	assert_ok(fi_av_open(p->domain, &av, &p->av, NULL));
	for (k = 0; k < 2; k++) {
		struct test_side *s = &p->s[k];

		assert_ok(fi_cq_open(p->domain, &cq, &s->cq, s));
		assert_ok(fi_endpoint(p->domain, p->info, &s->ep, NULL));
		assert_ok(fi_ep_bind(s->ep, &p->av->fid, 0));
		assert_ok(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV | o->cq_flags));
		if (o->cntrs) {
			assert_ok(fi_cntr_open(p->domain, &cntr, &s->send, NULL));
			assert_ok(fi_cntr_open(p->domain, &cntr, &s->recv, NULL));
			assert_ok(fi_cntr_open(p->domain, &cntr, &s->write, NULL));
			assert_ok(fi_cntr_open(p->domain, &cntr, &s->rwrite, NULL));
			assert_ok(fi_ep_bind(s->ep, &s->send->fid, FI_SEND));
			assert_ok(fi_ep_bind(s->ep, &s->recv->fid, FI_RECV));
			assert_ok(fi_ep_bind(s->ep, &s->write->fid, FI_WRITE));
			assert_ok(fi_ep_bind(s->ep, &s->rwrite->fid, FI_REMOTE_WRITE));
		}
		if (!o->not_enabled)
			test_side_enable(p, k);
	}
}

static inline void test_side_close(struct test_side *s)
{
	if (s->ep)
		assert_ok(fi_close(&s->ep->fid));
	s->ep = NULL;
}

static inline void test_pair_close(struct test_pair *p)
{
	int k;

	for (k = 0; k < 2; k++)
		test_side_close(&p->s[k]);
	for (k = 0; k < 2; k++) {
		struct test_side *s = &p->s[k];

		assert_ok(fi_close(&s->cq->fid));
		if (s->send)
			assert_ok(fi_close(&s->send->fid) || fi_close(&s->recv->fid) ||
				  fi_close(&s->write->fid) || fi_close(&s->rwrite->fid));
	}
	assert_ok(fi_close(&p->av->fid));
	assert_ok(fi_close(&p->domain->fid));
	assert_ok(fi_close(&p->fabric->fid));
	fi_freeinfo(p->info);
}

/* One completion of side k (success or error: 1 or -FI_EAVAIL), driving both. */
static inline ssize_t test_wait(struct test_pair *p, int k, struct fi_cq_tagged_entry *e,
				fi_addr_t *src)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_cq_tagged_entry dummy;
	ssize_t ret;

	for (;;) {
		ret = fi_cq_readfrom(p->s[k].cq, e, 1, src);
		if (ret != -FI_EAGAIN)
			return ret;
		if (p->s[!k].ep)
			fi_cq_read(p->s[!k].cq, &dummy, 0);
		if (test_now_s() > end)
			fail_msg("no completion on side %d", k);
	}
}

static inline void test_wait_ok(struct test_pair *p, int k, struct fi_cq_tagged_entry *e)
{
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = test_wait(p, k, e, NULL);

	if (ret == -FI_EAVAIL) {
		fi_cq_readerr(p->s[k].cq, &err, 0);
		fail_msg("error completion %d: %s", err.err,
			 fi_cq_strerror(p->s[k].cq, err.prov_errno, err.err_data, NULL, 0));
	}
	assert_int_equal(ret, 1);
}

static inline void test_wait_err(struct test_pair *p, int k, struct fi_cq_err_entry *err)
{
	struct fi_cq_tagged_entry e;

	assert_int_equal(test_wait(p, k, &e, NULL), -FI_EAVAIL);
	memset(err, 0, sizeof(*err));
	assert_int_equal(fi_cq_readerr(p->s[k].cq, err, 0), 1);
}

/* Drives both sides for a while and sees that nothing completes on side k. */
static inline void test_quiet(struct test_pair *p, int k, int rounds)
{
	struct fi_cq_tagged_entry e;

	while (rounds--) {
		assert_int_equal(fi_cq_read(p->s[k].cq, &e, 1), -FI_EAGAIN);
		if (p->s[!k].ep)
			fi_cq_read(p->s[!k].cq, &e, 0);
	}
}

static inline void test_fill(void *buf, size_t len, uint32_t seed)
{
	uint8_t *b = buf;
	size_t i;

	for (i = 0; i < len; i++)
		b[i] = (uint8_t)((i * 2654435761u + seed) >> 11);
}

static inline bool test_same(const void *buf, size_t len, uint32_t seed)
{
	const uint8_t *b = buf;
	size_t i;

	for (i = 0; i < len; i++) {
		if (b[i] != (uint8_t)((i * 2654435761u + seed) >> 11))
			return false;
	}
	return true;
}

#endif /* TEST_FI_UTIL_H */
