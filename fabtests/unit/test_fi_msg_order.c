/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* FI_EP_MSG: what follows from what at the caller is reported in that order to who listens. */
#include <poll.h>

#include "test_fi_msg_util.h"

static void order_accept(struct msg_listener *l, struct msg_end *e, struct fi_info *info)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED };

	memset(e, 0, sizeof(*e));
	assert_ok(fi_cq_open(l->domain, &attr, &e->cq, NULL));
	assert_ok(fi_endpoint(l->domain, info, &e->ep, e));
	fi_freeinfo(info);
	assert_ok(fi_ep_bind(e->ep, &l->eq->fid, 0));
	assert_ok(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV));
	assert_ok(fi_accept(e->ep, NULL, 0));
}

static void order_leave(struct msg_end *e)
{
	assert_ok(fi_close(&e->ep->fid));
	assert_ok(fi_close(&e->cq->fid));
}

/*
 * What slow sends takes long.  It is connected and its ACCEPT on the way to be answered when quick
 * has called as well: on return l has had the first request, b has accepted it, and the second one
 * is there.
 */
static void order_calls(struct msg_listener *l, struct msg_listener *slow, struct msg_end e[2],
			struct msg_end *b)
{
	struct msg_event ev;

	msg_open(l, FI_PROGRESS_UNSPEC);
	msg_listen(l);
	setenv("FI_SDR_FAULT", "delay=400ms", 1);
	msg_open(slow, FI_PROGRESS_UNSPEC);
	msg_end_open(slow, slow->info, &e[0]);
	unsetenv("FI_SDR_FAULT");
	msg_end_open(l, l->info, &e[1]);
	assert_ok(fi_connect(e[0].ep, &l->name, NULL, 0));
	msg_expect(l->eq, FI_CONNREQ, &l->pep->fid, &ev);
	order_accept(l, b, ev.entry.info);
	msg_expect(e[0].eq, FI_CONNECTED, &e[0].ep->fid, &ev);
	assert_ok(fi_connect(e[1].ep, &l->name, NULL, 0));
}

static void order_end(struct msg_listener *l, struct msg_listener *slow, struct msg_end e[2])
{
	msg_end_close(&e[0]);
	msg_end_close(&e[1]);
	msg_close(slow);
	msg_close(l);
}

/* Who calls again once it is connected has its second request reported behind that connection. */
static void order__connected_first(void **state)
{
	struct msg_listener l, slow;
	struct msg_end e[2], b, c;
	struct msg_event ev;

	(void)state;
	order_calls(&l, &slow, e, &b);
	msg_expect(l.eq, FI_CONNECTED, &b.ep->fid, &ev);
	msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev);
	order_accept(&l, &c, ev.entry.info);
	msg_expect(l.eq, FI_CONNECTED, &c.ep->fid, &ev);
	msg_expect(e[1].eq, FI_CONNECTED, &e[1].ep->fid, &ev);
	order_leave(&b);
	order_leave(&c);
	order_end(&l, &slow, e);
}

/* The accepting endpoint goes: what waited for it comes. */
static void order__accepting_closed(void **state)
{
	struct msg_listener l, slow;
	struct msg_end e[2], b, c;
	struct msg_event ev;

	(void)state;
	order_calls(&l, &slow, e, &b);
	order_leave(&b);
	msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev);
	order_accept(&l, &c, ev.entry.info);
	msg_expect(e[1].eq, FI_CONNECTED, &e[1].ep->fid, &ev);
	order_leave(&c);
	order_end(&l, &slow, e);
}

/* The passive endpoint goes: what waits is refused, and nobody hears of it. */
static void order__listener_closed(void **state)
{
	struct msg_listener l, slow;
	struct msg_end e[2], b;
	struct fi_eq_err_entry err;
	struct msg_event ev;

	(void)state;
	setenv("FI_SDR_TIMEOUT", "3000", 1); /* should the request come too late to be refused */
	order_calls(&l, &slow, e, &b);
	unsetenv("FI_SDR_TIMEOUT");
	poll(NULL, 0, 100);
	assert_ok(fi_close(&l.pep->fid));
	l.pep = NULL;
	msg_expect_err(&e[1], &err);
	assert_true(err.err == FI_ECONNREFUSED || err.err == FI_ETIMEDOUT);
	msg_expect(l.eq, FI_CONNECTED, &b.ep->fid, &ev);
	msg_no_event(l.eq);
	order_leave(&b);
	order_end(&l, &slow, e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order__connected_first),
		cmocka_unit_test(order__accepting_closed),
		cmocka_unit_test(order__listener_closed),
	};

	test_env();
	return cmocka_run_group_tests_name("fi_msg_order", tests, NULL, NULL);
}
