/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Event queues, address vectors, counters, poll sets, and the parts of completion queues without
 * traffic.
 */
#include <poll.h>
#include <pthread.h>

#include "test_fi_util.h"

struct res {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
};

static int res_open(void **state)
{
	static struct res r;
	struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG | FI_RMA);

	r.info = test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h);
	fi_freeinfo(h);
	assert_non_null(r.info);
	assert_ok(fi_fabric(r.info->fabric_attr, &r.fabric, NULL));
	assert_ok(fi_domain(r.fabric, r.info, &r.domain, NULL));
	*state = &r;
	return 0;
}

static int res_close(void **state)
{
	struct res *r = *state;

	assert_int_equal(fi_close(&r->fabric->fid), -FI_EBUSY); /* the domain is open */
	assert_ok(fi_close(&r->domain->fid));
	assert_ok(fi_close(&r->fabric->fid));
	fi_freeinfo(r->info);
	return 0;
}

static struct sockaddr_in sin_of(uint32_t ip, uint16_t port)
{
	struct sockaddr_in s = { .sin_family = AF_INET, .sin_port = htons(port) };

	s.sin_addr.s_addr = htonl(ip);
	return s;
}

/* ---- address vectors ------------------------------------------------------------------------- */

static struct fid_av *av_open(struct res *r, enum fi_av_type type, uint64_t flags)
{
	struct fi_av_attr attr = { .type = type, .count = 10, .flags = flags };
	struct fid_av *av;

	assert_ok(fi_av_open(r->domain, &attr, &av, NULL));
	return av;
}

static void av__insert_lookup_remove(void **state)
{
	struct fid_av *av = av_open(*state, FI_AV_TABLE, 0);
	struct sockaddr_in a[200], got;
	fi_addr_t fa[200], gone[2];
	size_t len;
	int i;

	for (i = 0; i < 200; i++)
		a[i] = sin_of(0x7f000001u + (uint32_t)i / 100, (uint16_t)(1000 + i));
	assert_int_equal(fi_av_insert(av, a, 200, fa, 0, NULL), 200);
	for (i = 0; i < 200; i++) {
		assert_int_equal(fa[i], i);
		len = sizeof(got);
		assert_ok(fi_av_lookup(av, fa[i], &got, &len));
		assert_int_equal(len, sizeof(got));
		assert_memory_equal(&got, &a[i], sizeof(got));
	}
	len = 4; /* truncated, but the length is reported */
	assert_ok(fi_av_lookup(av, 0, &got, &len));
	assert_int_equal(len, sizeof(got));
	gone[0] = 5;
	gone[1] = 7;
	assert_ok(fi_av_remove(av, gone, 2, 0));
	len = sizeof(got);
	assert_int_equal(fi_av_lookup(av, 5, &got, &len), -FI_EINVAL);
	assert_int_equal(fi_av_lookup(av, 100000, &got, &len), -FI_EINVAL);
	assert_int_equal(fi_av_remove(av, gone, 1, 0), -FI_EINVAL);
	assert_int_equal(fi_av_insert(av, &a[5], 1, fa, 0, NULL), 1);
	assert_int_equal(fa[0], 5); /* freed indexes first, in order */
	assert_int_equal(fi_av_insert(av, &a[7], 1, NULL, 0, NULL), 1);
	len = sizeof(got);
	assert_ok(fi_av_lookup(av, 7, &got, &len));
	assert_memory_equal(&got, &a[7], sizeof(got));
	assert_ok(fi_close(&av->fid));
}

static void av__same_address_twice(void **state)
{
	struct fid_av *av = av_open(*state, FI_AV_MAP, 0);
	struct sockaddr_in a[2] = { sin_of(INADDR_LOOPBACK, 7), sin_of(INADDR_LOOPBACK, 7) };
	fi_addr_t fa[2];
	size_t len = sizeof(a[0]);

	assert_int_equal(fi_av_insert(av, a, 2, fa, 0, NULL), 2);
	assert_true(fa[0] != fa[1]);
	assert_ok(fi_av_remove(av, &fa[0], 1, 0));
	assert_ok(fi_av_lookup(av, fa[1], &a[0], &len));
	assert_ok(fi_close(&av->fid));
}

static void av__bad_address(void **state)
{
	struct fid_av *av = av_open(*state, FI_AV_TABLE, 0);
	struct sockaddr_in a[3] = { sin_of(INADDR_LOOPBACK, 1), sin_of(INADDR_LOOPBACK, 2),
				    sin_of(INADDR_LOOPBACK, 3) };
	fi_addr_t fa[3] = { 77, 77, 77 };
	int err[3] = { 9, 9, 9 };

	a[1].sin_family = 99;
	assert_int_equal(fi_av_insert(av, a, 3, fa, FI_SYNC_ERR, err), 2);
	assert_int_equal(fa[0], 0);
	assert_true(fa[1] == FI_ADDR_NOTAVAIL);
	assert_int_equal(fa[2], 1);
	assert_int_equal(err[0], 0);
	assert_int_equal(err[1], FI_EINVAL);
	assert_int_equal(err[2], 0);
	assert_int_equal(fi_av_insert(av, a, 1, fa, 1ULL << 50, NULL), -FI_EBADFLAGS);
	assert_ok(fi_close(&av->fid));
}

static void av__async(void **state)
{
	struct res *r = *state;
	struct fid_av *av = av_open(r, FI_AV_TABLE, FI_EVENT);
	struct sockaddr_in a[2] = { sin_of(INADDR_LOOPBACK, 1), sin_of(INADDR_LOOPBACK, 2) };
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_entry ev;
	struct fid_eq *eq;
	fi_addr_t fa[2];
	uint32_t event;
	int ctx;

	assert_int_equal(fi_av_insert(av, a, 2, fa, 0, &ctx), -FI_ENOEQ);
	assert_ok(fi_eq_open(r->fabric, &attr, &eq, NULL));
	assert_ok(fi_av_bind(av, &eq->fid, 0));
	a[1].sin_family = 99;
	assert_int_equal(fi_av_insert(av, a, 2, fa, 0, &ctx), 0);
	assert_int_equal(fi_eq_sread(eq, &event, &ev, sizeof(ev), 5000, 0), -FI_EAVAIL);
	assert_int_equal(fi_eq_readerr(eq, &err, 0), sizeof(err));
	assert_int_equal(err.data, 1);
	assert_int_equal(err.err, FI_EINVAL);
	assert_ptr_equal(err.context, &ctx);
	assert_int_equal(fi_eq_read(eq, &event, &ev, sizeof(ev), 0), sizeof(ev));
	assert_int_equal(event, FI_AV_COMPLETE);
	assert_int_equal(ev.data, 1);
	assert_ptr_equal(ev.fid, &av->fid);
	/* events of a closed vector are gone */
	assert_int_equal(fi_av_insert(av, a, 1, fa, 0, &ctx), 0);
	assert_int_equal(fi_close(&eq->fid), -FI_EBUSY);
	assert_ok(fi_close(&av->fid));
	assert_int_equal(fi_eq_read(eq, &event, &ev, sizeof(ev), 0), -FI_EAGAIN);
	assert_ok(fi_close(&eq->fid));
}

static void av__names(void **state)
{
	struct fid_av *av = av_open(*state, FI_AV_TABLE, 0);
	struct sockaddr_in got;
	fi_addr_t fa[6];
	char buf[64];
	size_t len = sizeof(got);

	assert_int_equal(fi_av_insertsvc(av, "127.0.0.1", "77", fa, 0, NULL), 1);
	assert_ok(fi_av_lookup(av, fa[0], &got, &len));
	assert_int_equal(ntohs(got.sin_port), 77);
	assert_int_equal(fi_av_insertsym(av, "127.0.0.1", 2, "100", 3, fa, 0, NULL), 6);
	len = sizeof(got);
	assert_ok(fi_av_lookup(av, fa[5], &got, &len));
	assert_int_equal(ntohl(got.sin_addr.s_addr), INADDR_LOOPBACK + 1);
	assert_int_equal(ntohs(got.sin_port), 102);
	len = sizeof(buf);
	assert_string_equal(fi_av_straddr(av, &got, buf, &len), "fi_sockaddr_in://127.0.0.2:102");
	assert_int_equal(len, strlen(buf) + 1);
	assert_int_equal(fi_av_insertsvc(av, "g00n13s.invalid", "1", fa, 0, NULL), 0);
	assert_ok(fi_close(&av->fid));
}

static void av__refused_attributes(void **state)
{
	struct res *r = *state;
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .name = "shared" };
	struct fid_av *av;

	assert_int_equal(fi_av_open(r->domain, &attr, &av, NULL), -FI_ENOSYS);
	attr.name = NULL;
	attr.rx_ctx_bits = 2;
	assert_int_equal(fi_av_open(r->domain, &attr, &av, NULL), -FI_EINVAL);
	attr.rx_ctx_bits = 0;
	attr.flags = FI_SYMMETRIC;
	attr.type = FI_AV_UNSPEC;
	assert_ok(fi_av_open(r->domain, &attr, &av, NULL));
	assert_int_equal(attr.type, FI_AV_TABLE);
	assert_ok(fi_close(&av->fid));
}

/* ---- event queues ---------------------------------------------------------------------------- */

static void eq__write_peek_read(void **state)
{
	struct res *r = *state;
	struct fi_eq_attr attr = { .flags = FI_WRITE, .wait_obj = FI_WAIT_FD };
	struct fi_eq_entry in = { .context = &attr }, out;
	struct fid *fids[1];
	struct pollfd pfd = { .events = POLLIN };
	struct fid_eq *eq;
	uint32_t event;

	assert_ok(fi_eq_open(r->fabric, &attr, &eq, NULL));
	fids[0] = &eq->fid;
	assert_ok(fi_control(&eq->fid, FI_GETWAIT, &pfd.fd));
	assert_ok(fi_trywait(r->fabric, fids, 1));
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0), sizeof(in));
	assert_int_equal(poll(&pfd, 1, 0), 1);
	assert_int_equal(fi_trywait(r->fabric, fids, 1), -FI_EAGAIN);
	assert_int_equal(fi_eq_read(eq, &event, &out, 4, 0), -FI_ETOOSMALL);
	assert_int_equal(fi_eq_read(eq, &event, &out, sizeof(out), FI_PEEK), sizeof(out));
	assert_int_equal(fi_eq_sread(eq, &event, &out, sizeof(out), 0, 0), sizeof(out));
	assert_ptr_equal(out.context, &attr);
	assert_int_equal(fi_eq_sread(eq, &event, &out, sizeof(out), 1, 0), -FI_EAGAIN);
	assert_ok(fi_trywait(r->fabric, fids, 1));
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_ok(fi_close(&eq->fid));
	attr.flags = 0;
	assert_ok(fi_eq_open(r->fabric, &attr, &eq, NULL));
	assert_int_equal(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0), -FI_EINVAL);
	assert_ok(fi_close(&eq->fid));
}

/* ---- counters -------------------------------------------------------------------------------- */

static void cntr__values(void **state)
{
	struct res *r = *state;
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *c;

	assert_ok(fi_cntr_open(r->domain, &attr, &c, NULL));
	assert_ok(fi_cntr_set(c, 5));
	assert_ok(fi_cntr_add(c, 3));
	assert_int_equal(fi_cntr_read(c), 8);
	assert_ok(fi_cntr_seterr(c, 1));
	assert_ok(fi_cntr_adderr(c, 1));
	assert_int_equal(fi_cntr_readerr(c), 2);
	assert_ok(fi_cntr_wait(c, 8, 0));
	assert_int_equal(fi_cntr_wait(c, 9, 1), -FI_ETIMEDOUT);
	assert_ok(fi_close(&c->fid));
	attr.wait_obj = FI_WAIT_SET;
	assert_int_equal(fi_cntr_open(r->domain, &attr, &c, NULL), -FI_ENOSYS);
}

static void *cntr_adder(void *arg)
{
	struct timespec ts = { .tv_nsec = 20000000 };

	nanosleep(&ts, NULL);
	fi_cntr_add(arg, 1);
	return NULL;
}

static void cntr__wait_is_woken(void **state)
{
	struct res *r = *state;
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *c;
	pthread_t t;

	assert_ok(fi_cntr_open(r->domain, &attr, &c, NULL));
	assert_int_equal(pthread_create(&t, NULL, cntr_adder, c), 0);
	assert_ok(fi_cntr_wait(c, 1, TEST_GUARD_S * 1000));
	pthread_join(t, NULL);
	assert_ok(fi_close(&c->fid));
}

/* ---- completion queues ----------------------------------------------------------------------- */

static void *cq_signaller(void *arg)
{
	struct timespec ts = { .tv_nsec = 20000000 };

	nanosleep(&ts, NULL);
	fi_cq_signal(arg);
	return NULL;
}

static void cq__empty(void **state)
{
	struct res *r = *state;
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_entry e;
	struct pollfd pfd = { .events = POLLIN };
	struct fid *fids[1];
	struct fid_cq *cq;
	enum fi_wait_obj obj;
	pthread_t t;

	assert_ok(fi_cq_open(r->domain, &attr, &cq, NULL));
	assert_int_equal(attr.format, FI_CQ_FORMAT_CONTEXT);
	assert_int_equal(fi_cq_read(cq, &e, 1), -FI_EAGAIN);
	assert_int_equal(fi_cq_read(cq, NULL, 0), -FI_EAGAIN);
	assert_int_equal(fi_cq_readerr(cq, &err, 0), -FI_EAGAIN);
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, 1), -FI_EAGAIN);
	assert_ok(fi_control(&cq->fid, FI_GETWAITOBJ, &obj));
	assert_int_equal(obj, FI_WAIT_FD);
	assert_ok(fi_control(&cq->fid, FI_GETWAIT, &pfd.fd));
	fids[0] = &cq->fid;
	assert_ok(fi_trywait(r->fabric, fids, 1));
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(pthread_create(&t, NULL, cq_signaller, cq), 0);
	assert_int_equal(fi_cq_sread(cq, &e, 1, NULL, -1), -FI_EAGAIN);
	pthread_join(t, NULL);
	assert_ok(fi_close(&cq->fid));
}

static void cq__attributes(void **state)
{
	struct res *r = *state;
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_SET };
	struct fi_mutex_cond mc = { NULL, NULL };
	struct fid_cq *cq;

	assert_int_equal(fi_cq_open(r->domain, &attr, &cq, NULL), -FI_ENOSYS);
	attr.wait_obj = FI_WAIT_MUTEX_COND;
	assert_ok(fi_cq_open(r->domain, &attr, &cq, NULL));
	assert_ok(fi_control(&cq->fid, FI_GETWAIT, &mc));
	assert_non_null(mc.mutex);
	assert_non_null(mc.cond);
	assert_ok(fi_close(&cq->fid));
	attr.wait_obj = FI_WAIT_NONE;
	attr.size = SIZE_MAX;
	assert_int_equal(fi_cq_open(r->domain, &attr, &cq, NULL), -FI_EINVAL);
}

static void poll__counter_and_queue(void **state)
{
	struct res *r = *state;
	struct fi_cntr_attr cattr = { .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr qattr = { .wait_obj = FI_WAIT_NONE };
	struct fi_poll_attr pattr = { 0 };
	struct fid_poll *p;
	struct fid_cntr *c;
	struct fid_cq *cq;
	void *ctx[2];

	assert_ok(fi_poll_open(r->domain, &pattr, &p));
	assert_ok(fi_cntr_open(r->domain, &cattr, &c, &cattr));
	assert_ok(fi_cq_open(r->domain, &qattr, &cq, &qattr));
	assert_ok(fi_poll_add(p, &c->fid, 0));
	assert_ok(fi_poll_add(p, &cq->fid, 0));
	assert_int_equal(fi_poll(p, ctx, 2), 0);
	assert_ok(fi_cntr_add(c, 1));
	assert_int_equal(fi_poll(p, ctx, 2), 1);
	assert_ptr_equal(ctx[0], &cattr);
	assert_int_equal(fi_poll(p, ctx, 2), 0);
	assert_int_equal(fi_close(&c->fid), -FI_EBUSY);
	assert_ok(fi_poll_del(p, &c->fid, 0));
	assert_int_equal(fi_poll_del(p, &c->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_poll_add(p, &r->domain->fid, 0), -FI_EINVAL);
	assert_ok(fi_close(&p->fid));
	assert_ok(fi_close(&c->fid));
	assert_ok(fi_close(&cq->fid));
}

static void domain__what_is_not_there(void **state)
{
	struct res *r = *state;
	struct fi_wait_attr wait = { .wait_obj = FI_WAIT_FD };
	struct fi_atomic_attr atomic;
	struct fid_wait *w;
	struct fid_pep *pep;
	struct fid_ep *ep;

	assert_int_equal(fi_wait_open(r->fabric, &wait, &w), -FI_ENOSYS);
	assert_int_equal(fi_passive_ep(r->fabric, r->info, &pep, NULL), -FI_EINVAL);
	assert_int_equal(fi_scalable_ep(r->domain, r->info, &ep, NULL), -FI_ENOSYS);
	assert_int_equal(fi_query_atomic(r->domain, FI_INT32, FI_SUM, &atomic, FI_TAGGED),
			 -FI_EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(av__insert_lookup_remove),
		cmocka_unit_test(av__same_address_twice),
		cmocka_unit_test(av__bad_address),
		cmocka_unit_test(av__async),
		cmocka_unit_test(av__names),
		cmocka_unit_test(av__refused_attributes),
		cmocka_unit_test(eq__write_peek_read),
		cmocka_unit_test(cntr__values),
		cmocka_unit_test(cntr__wait_is_woken),
		cmocka_unit_test(cq__empty),
		cmocka_unit_test(cq__attributes),
		cmocka_unit_test(poll__counter_and_queue),
		cmocka_unit_test(domain__what_is_not_there),
	};

	test_env();
	return cmocka_run_group_tests(tests, res_open, res_close);
}
