/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the tests of FI_EP_MSG share: a listener, ends of connections with an event queue and a
 * completion queue of their own, and waiting for events.
 */
#ifndef TEST_FI_MSG_UTIL_H
#define TEST_FI_MSG_UTIL_H

#include "test_fi_util.h"

#define MSG_DATA_MAX 256u /* bytes: FI_OPT_CM_DATA_SIZE */

struct msg_event { /* a struct fi_eq_cm_entry with room for data */
	struct {
		fid_t fid;
		struct fi_info *info;
	} entry;
	uint8_t data[2 * MSG_DATA_MAX];
};
_Static_assert(offsetof(struct msg_event, data) == sizeof(struct fi_eq_cm_entry), "its layout");

struct msg_listener {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain; /* of those who accept and connect */
	struct fid_eq *eq;
	struct fid_pep *pep;
	struct sockaddr_storage name;
	size_t namelen;
	enum fi_progress progress;
};

struct msg_end {
	struct fid_ep *ep;
	struct fid_eq *eq;
	struct fid_cq *cq;
};

static inline struct fid_eq *msg_eq(struct fid_fabric *fabric)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_eq *eq;

	assert_ok(fi_eq_open(fabric, &attr, &eq, NULL));
	return eq;
}

/* Not listening yet. */
static inline void msg_open(struct msg_listener *l, enum fi_progress progress)
{
	struct fi_info *h = test_hints(FI_EP_MSG, FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC);

	memset(l, 0, sizeof(*l));
	h->domain_attr->data_progress = progress;
	l->info = test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h);
	fi_freeinfo(h);
	assert_non_null(l->info);
	assert_int_equal(l->info->ep_attr->type, FI_EP_MSG);
	assert_ok(fi_fabric(l->info->fabric_attr, &l->fabric, NULL));
	assert_ok(fi_domain(l->fabric, l->info, &l->domain, NULL));
	l->eq = msg_eq(l->fabric);
	assert_ok(fi_passive_ep(l->fabric, l->info, &l->pep, l));
}

static inline void msg_listen(struct msg_listener *l)
{
	assert_ok(fi_pep_bind(l->pep, &l->eq->fid, 0));
	assert_ok(fi_listen(l->pep));
	l->namelen = sizeof(l->name);
	assert_ok(fi_getname(&l->pep->fid, &l->name, &l->namelen));
}

static inline void msg_close(struct msg_listener *l)
{
	if (l->pep)
		assert_ok(fi_close(&l->pep->fid));
	assert_ok(fi_close(&l->eq->fid));
	assert_ok(fi_close(&l->domain->fid));
	assert_ok(fi_close(&l->fabric->fid));
	fi_freeinfo(l->info);
}

/* info: the listener's own for one that calls, a request's for one that accepts. */
static inline void msg_end_open(struct msg_listener *l, struct fi_info *info, struct msg_end *e)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED };

	e->eq = msg_eq(l->fabric);
	assert_ok(fi_cq_open(l->domain, &attr, &e->cq, NULL));
	assert_ok(fi_endpoint(l->domain, info, &e->ep, e));
	assert_ok(fi_ep_bind(e->ep, &e->eq->fid, 0));
	assert_ok(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV));
	assert_ok(fi_enable(e->ep));
}

static inline void msg_end_close(struct msg_end *e)
{
	if (e->ep)
		assert_ok(fi_close(&e->ep->fid));
	assert_ok(fi_close(&e->cq->fid));
	assert_ok(fi_close(&e->eq->fid));
	memset(e, 0, sizeof(*e));
}

/* The next event, or -FI_EAVAIL; the bytes of its data. */
static inline ssize_t msg_next(struct fid_eq *eq, uint32_t *event, struct msg_event *ev)
{
	ssize_t ret;

	memset(ev, 0, sizeof(*ev));
	ret = fi_eq_sread(eq, event, ev, sizeof(*ev), TEST_GUARD_S * 1000, 0);
	if (ret == -FI_EAVAIL)
		return ret;
	if (ret < (ssize_t)sizeof(ev->entry))
		fail_msg("no event: %zd (%s)", ret, fi_strerror((int)-ret));
	return ret - (ssize_t)sizeof(ev->entry);
}

static inline size_t msg_expect(struct fid_eq *eq, uint32_t want, const void *fid,
				struct msg_event *ev)
{
	struct fi_eq_err_entry err = { 0 };
	uint32_t event = 0;
	ssize_t n = msg_next(eq, &event, ev);

	if (n == -FI_EAVAIL) {
		fi_eq_readerr(eq, &err, 0);
		fail_msg("error event %d: %s", err.err,
			 fi_eq_strerror(eq, err.prov_errno, err.err_data, NULL, 0));
	}
	assert_int_equal(event, want);
	assert_ptr_equal(ev->entry.fid, fid);
	return (size_t)n;
}

/* The error event that comes next. */
static inline void msg_expect_err(struct msg_end *e, struct fi_eq_err_entry *err)
{
	struct msg_event ev;
	uint32_t event = 0;

	assert_int_equal(msg_next(e->eq, &event, &ev), -FI_EAVAIL);
	memset(err, 0, sizeof(*err));
	assert_int_equal(fi_eq_readerr(e->eq, err, 0), sizeof(*err));
	assert_ptr_equal(err->fid, &e->ep->fid);
	assert_ptr_equal(err->context, e);
}

static inline void msg_no_event(struct fid_eq *eq)
{
	struct msg_event ev;
	uint32_t event;

	assert_int_equal(fi_eq_read(eq, &event, &ev, sizeof(ev), 0), -FI_EAGAIN);
}

/* The two ends of a connection. */
static inline void msg_pair(struct msg_listener *l, struct msg_end *a, struct msg_end *b)
{
	struct msg_event ev;

	msg_end_open(l, l->info, a);
	assert_ok(fi_connect(a->ep, &l->name, NULL, 0));
	assert_int_equal(msg_expect(l->eq, FI_CONNREQ, &l->pep->fid, &ev), 0);
	msg_end_open(l, ev.entry.info, b);
	fi_freeinfo(ev.entry.info);
	assert_ok(fi_accept(b->ep, NULL, 0));
	msg_expect(b->eq, FI_CONNECTED, &b->ep->fid, &ev);
	msg_expect(a->eq, FI_CONNECTED, &a->ep->fid, &ev);
}

/* One completion of e: 1 or -FI_EAVAIL.  Also drives o, which may be NULL. */
static inline ssize_t msg_wait(struct msg_end *e, struct msg_end *o, struct fi_cq_tagged_entry *c)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;
	struct fi_cq_tagged_entry dummy;
	ssize_t ret;

	while ((ret = fi_cq_read(e->cq, c, 1)) == -FI_EAGAIN) {
		if (o)
			fi_cq_read(o->cq, &dummy, 0);
		if (test_now_s() > end)
			fail_msg("no completion");
	}
	return ret;
}

static inline void msg_wait_ok(struct msg_end *e, struct msg_end *o, struct fi_cq_tagged_entry *c)
{
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = msg_wait(e, o, c);

	if (ret == -FI_EAVAIL) {
		fi_cq_readerr(e->cq, &err, 0);
		fail_msg("error completion %d: %s", err.err,
			 fi_cq_strerror(e->cq, err.prov_errno, err.err_data, NULL, 0));
	}
	assert_int_equal(ret, 1);
}

static inline void msg_wait_err(struct msg_end *e, struct msg_end *o, int want, void *ctx)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry c;

	assert_int_equal(msg_wait(e, o, &c), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(e->cq, &err, 0), 1);
	assert_int_equal(err.err, want);
	assert_ptr_equal(err.op_context, ctx);
}

#endif /* TEST_FI_MSG_UTIL_H */
