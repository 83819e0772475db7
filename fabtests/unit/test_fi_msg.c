/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* FI_EP_MSG: how connections are made, refused and lost, and what each call says when. */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/fi_trigger.h>

#include "test_fi_msg_util.h"

/* ---- offers ---------------------------------------------------------------------------------- */

static void info__who_gets_it(void **state)
{
	struct fi_info *h = test_hints(FI_EP_MSG, FI_MSG), *i;

	(void)state;
	i = test_getinfo(TEST_API, "127.0.0.1", NULL, 0, h);
	assert_non_null(i);
	for (struct fi_info *k = i; k; k = k->next) {
		assert_int_equal(k->ep_attr->type, FI_EP_MSG);
		assert_false(k->caps & (FI_SOURCE | FI_DIRECTED_RECV));
		assert_non_null(k->dest_addr);
	}
	fi_freeinfo(i);
	assert_null(test_getinfo(TEST_API, NULL, NULL, 1ull << 59, h)); /* a utility provider's */
	h->caps = FI_MSG | FI_SOURCE;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	h->caps = FI_MSG;
	h->ep_attr->type = FI_EP_UNSPEC;
	i = test_getinfo(TEST_API, "127.0.0.1", NULL, 0, h);
	assert_non_null(i);
	assert_int_equal(i->ep_attr->type, FI_EP_RDM); /* first for who does not say */
	fi_freeinfo(i);
	fi_freeinfo(h);
}

/* ---- states ---------------------------------------------------------------------------------- */

static void state__passive(void **state)
{
	struct msg_listener l;
	struct sockaddr_in name = { .sin_family = AF_INET };
	size_t v = 0, len = sizeof(v);
	struct fid_pep *pep;
	struct fid_ep *ep;
	int n = 3;

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	assert_ok(fi_getopt(&l.pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &v, &len));
	assert_int_equal(v, MSG_DATA_MAX);
	assert_int_equal(fi_listen(l.pep), -FI_ENOEQ);
	assert_int_equal(fi_pep_bind(l.pep, &l.domain->fid, 0), -FI_EINVAL);
	assert_ok(fi_control(&l.pep->fid, FI_BACKLOG, &n));
	n = 0;
	assert_int_equal(fi_control(&l.pep->fid, FI_BACKLOG, &n), -FI_EINVAL);
	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_ok(fi_setname(&l.pep->fid, &name, sizeof(name)));
	msg_listen(&l);
	assert_int_equal(((struct sockaddr_in *)&l.name)->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_true(((struct sockaddr_in *)&l.name)->sin_port != 0);
	assert_int_equal(fi_listen(l.pep), -FI_EOPBADSTATE);
	assert_int_equal(fi_setname(&l.pep->fid, &name, sizeof(name)), -FI_EOPBADSTATE);
	assert_int_equal(fi_reject(l.pep, &l.eq->fid, NULL, 0), -FI_EINVAL);
	assert_int_equal(fi_close(&l.eq->fid), -FI_EBUSY);
	assert_int_equal(fi_close(&l.fabric->fid), -FI_EBUSY);
	l.info->ep_attr->type = FI_EP_RDM;
	assert_int_equal(fi_passive_ep(l.fabric, l.info, &pep, NULL), -FI_EINVAL);
	l.info->ep_attr->type = FI_EP_MSG;
	l.info->handle = &l.pep->fid;
	assert_int_equal(fi_endpoint(l.domain, l.info, &ep, NULL), -FI_EINVAL);
	l.info->handle = NULL;
	msg_close(&l);
}

static void state__active(void **state)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct sockaddr_storage sa;
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	size_t v = 0, len = sizeof(v), salen = sizeof(sa);
	struct msg_event ev;
	struct msg_listener l;
	struct msg_end a, b;
	struct fid_av *av;
	struct fid_ep *ep;
	char buf[8] = "";

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	msg_listen(&l);
	assert_ok(fi_endpoint(l.domain, l.info, &ep, NULL));
	assert_ok(fi_av_open(l.domain, &av_attr, &av, NULL));
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_enable(ep), -FI_ENOEQ);
	assert_ok(fi_close(&ep->fid));
	assert_ok(fi_close(&av->fid));

	/* fi_connect enables */
	a.eq = msg_eq(l.fabric);
	assert_ok(fi_cq_open(l.domain, &attr, &a.cq, NULL));
	assert_ok(fi_endpoint(l.domain, l.info, &a.ep, &a));
	assert_ok(fi_ep_bind(a.ep, &a.eq->fid, 0));
	assert_int_equal(fi_connect(a.ep, &l.name, NULL, 0), -FI_ENOCQ);
	assert_ok(fi_ep_bind(a.ep, &a.cq->fid, FI_TRANSMIT | FI_RECV));
	assert_ok(fi_getopt(&a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &v, &len));
	assert_int_equal(v, MSG_DATA_MAX);
	assert_int_equal(fi_send(a.ep, buf, 8, NULL, 0, NULL), -FI_EOPBADSTATE);
	assert_int_equal(fi_connect(a.ep, &six, NULL, 0), -FI_EINVAL);
	assert_int_equal(fi_connect(a.ep, NULL, NULL, 0), -FI_EINVAL);
	assert_int_equal(fi_accept(a.ep, NULL, 0), -FI_EINVAL);
	assert_int_equal(fi_listen((struct fid_pep *)a.ep), -FI_ENOSYS);
	assert_ok(fi_connect(a.ep, &l.name, NULL, 0));
	assert_int_equal(fi_connect(a.ep, &l.name, NULL, 0), -FI_EALREADY);
	assert_int_equal(fi_send(a.ep, buf, 8, NULL, 0, NULL), -FI_ENOTCONN);
	assert_int_equal(fi_inject(a.ep, buf, 8, 0), -FI_ENOTCONN);
	assert_int_equal(fi_tsend(a.ep, buf, 8, NULL, 0, 1, NULL), -FI_ENOTCONN);
	assert_int_equal(fi_write(a.ep, buf, 8, NULL, 0, 0, 0, NULL), -FI_ENOTCONN);
	assert_int_equal(fi_read(a.ep, buf, 8, NULL, 0, 0, 0, NULL), -FI_ENOTCONN);
	assert_int_equal(fi_shutdown(a.ep, 0), -FI_ENOTCONN);
	assert_int_equal(fi_getpeer(a.ep, &sa, &salen), -FI_ENOTCONN);
	assert_ok(fi_recv(a.ep, buf, 8, NULL, 0, buf)); /* anytime */

	msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev);
	msg_end_open(&l, ev.entry.info, &b);
	assert_int_equal(fi_endpoint(l.domain, ev.entry.info, &ep, NULL), -FI_EBUSY);
	fi_freeinfo(ev.entry.info);
	assert_int_equal(fi_connect(b.ep, &l.name, NULL, 0), -FI_EINVAL); /* it is to accept */
	assert_ok(fi_accept(b.ep, NULL, 0));
	msg_expect(b.eq, FI_CONNECTED, &b.ep->fid, &ev);
	msg_expect(a.eq, FI_CONNECTED, &a.ep->fid, &ev);
	assert_null(ev.entry.info);
	assert_int_equal(fi_accept(b.ep, NULL, 0), -FI_EISCONN);
	assert_int_equal(fi_connect(a.ep, &l.name, NULL, 0), -FI_EISCONN);
	assert_int_equal(fi_shutdown(a.ep, 1), -FI_EBADFLAGS);
	assert_ok(fi_shutdown(a.ep, 0));
	msg_wait_err(&a, &b, FI_ECANCELED, buf); /* written before fi_shutdown returned */
	assert_int_equal(fi_shutdown(a.ep, 0), -FI_ENOTCONN);
	assert_int_equal(fi_connect(a.ep, &l.name, NULL, 0), -FI_EOPBADSTATE);
	assert_int_equal(fi_send(a.ep, buf, 8, NULL, 0, NULL), -FI_ENOTCONN);
	msg_expect(b.eq, FI_SHUTDOWN, &b.ep->fid, &ev);
	assert_int_equal(fi_send(b.ep, buf, 8, NULL, 0, NULL), -FI_ENOTCONN);
	assert_int_equal(fi_shutdown(b.ep, 0), -FI_ENOTCONN);
	msg_expect(a.eq, FI_SHUTDOWN, &a.ep->fid, &ev); /* one at each end, whoever asked */
	msg_no_event(a.eq);
	msg_no_event(b.eq);
	msg_end_close(&a);
	msg_end_close(&b);
	msg_close(&l);
}

static void state__what_is_not_there(void **state)
{
	struct fi_wait_attr wait = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_info *h = test_hints(FI_EP_MSG, FI_MSG);
	struct fi_deferred_work work = { .op_type = FI_OP_SEND };
	struct msg_listener l;
	struct fid_wait *w;
	struct fid_stx *stx;
	struct fid_ep *ep;

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	assert_int_equal(fi_stx_context(l.domain, l.info->tx_attr, &stx, NULL), -FI_ENOSYS);
	assert_int_equal(fi_scalable_ep(l.domain, l.info, &ep, NULL), -FI_ENOSYS);
	assert_int_equal(fi_wait_open(l.fabric, &wait, &w), -FI_ENOSYS);
	assert_int_equal(fi_control(&l.domain->fid, FI_QUEUE_WORK, &work), -FI_ENOSYS);
	h->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	h->ep_attr->tx_ctx_cnt = 0;
	h->caps = FI_MSG | FI_TRIGGER;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	fi_freeinfo(h);
	msg_close(&l);
}

/* ---- what the two say to each other ---------------------------------------------------------- */

static void cm__data_and_names(void **state)
{
	uint8_t say[MSG_DATA_MAX + 50];
	struct sockaddr_storage name[2], peer[2];
	struct fi_eq_cm_entry bare;
	struct msg_event ev;
	struct msg_listener l;
	struct msg_end e[2];
	size_t len, plen;
	uint32_t event;

	(void)state;
	test_fill(say, sizeof(say), 1);
	msg_open(&l, FI_PROGRESS_UNSPEC);
	msg_listen(&l);
	msg_end_open(&l, l.info, &e[0]);
	/* what does not fit is cut, silently */
	assert_ok(fi_connect(e[0].ep, &l.name, say, sizeof(say)));
	assert_int_equal(msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev), MSG_DATA_MAX);
	assert_memory_equal(ev.data, say, MSG_DATA_MAX);
	len = sizeof(name[0]);
	assert_ok(fi_getname(&e[0].ep->fid, &name[0], &len));
	assert_int_equal(ev.entry.info->dest_addrlen, len);
	assert_memory_equal(ev.entry.info->dest_addr, &name[0], len);
	assert_int_equal(((struct sockaddr_in *)ev.entry.info->src_addr)->sin_port, 0);
	msg_end_open(&l, ev.entry.info, &e[1]);
	fi_freeinfo(ev.entry.info);
	assert_ok(fi_accept(e[1].ep, say + 1, 77));
	assert_int_equal(msg_expect(e[1].eq, FI_CONNECTED, &e[1].ep->fid, &ev), 0);
	/* data behind the room that is brought are dropped; too little for the entry is an error */
	while (fi_eq_read(e[0].eq, &event, &ev, 1, FI_PEEK) != -FI_ETOOSMALL)
		;
	assert_int_equal(fi_eq_sread(e[0].eq, &event, &bare, sizeof(bare), 1000, FI_PEEK),
			 sizeof(bare));
	assert_int_equal(msg_expect(e[0].eq, FI_CONNECTED, &e[0].ep->fid, &ev), 77);
	assert_memory_equal(ev.data, say + 1, 77);
	for (int k = 0; k < 2; k++) {
		len = sizeof(name[k]);
		plen = sizeof(peer[k]);
		assert_ok(fi_getname(&e[k].ep->fid, &name[k], &len));
		assert_ok(fi_getpeer(e[k].ep, &peer[k], &plen));
		assert_int_equal(len, plen);
	}
	assert_memory_equal(&name[0], &peer[1], len);
	assert_memory_equal(&name[1], &peer[0], len);
	plen = 3;
	assert_int_equal(fi_getpeer(e[0].ep, &peer[0], &plen), -FI_ETOOSMALL);
	assert_int_equal(plen, len);
	msg_end_close(&e[0]);
	msg_expect(e[1].eq, FI_SHUTDOWN, &e[1].ep->fid, &ev); /* closing says so as well */
	msg_end_close(&e[1]);
	msg_close(&l);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void refused__by_hand(void **state)
{
	struct fi_eq_err_entry err;
	uint8_t why[300], got[16];
	struct msg_listener l;
	struct msg_event ev;
	struct msg_end a;
	uint32_t event;

	(void)state;
	test_fill(why, sizeof(why), 2);
	msg_open(&l, FI_PROGRESS_UNSPEC);
	msg_listen(&l);
	for (int k = 0; k < 3; k++) {
		msg_end_open(&l, l.info, &a);
		assert_ok(fi_connect(a.ep, &l.name, NULL, 0));
		msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev);
		assert_ok(fi_reject(l.pep, ev.entry.info->handle, why, k ? 100 : 0));
		assert_int_equal(fi_reject(l.pep, ev.entry.info->handle, NULL, 0), -FI_EINVAL);
		fi_freeinfo(ev.entry.info);
		if (k < 2) {
			msg_expect_err(&a, &err); /* brings no buffer: it is lent ours */
			assert_int_equal(err.err_data_size, k ? 100 : 0);
			if (k)
				assert_memory_equal(err.err_data, why, 100);
		} else {
			assert_int_equal(msg_next(a.eq, &event, &ev), -FI_EAVAIL);
			err = (struct fi_eq_err_entry){ .err_data = got,
							.err_data_size = sizeof(got) };
			assert_int_equal(fi_eq_readerr(a.eq, &err, 0), sizeof(err));
			assert_ptr_equal(err.err_data, got);
			assert_int_equal(err.err_data_size, sizeof(got));
			assert_memory_equal(got, why, sizeof(got));
		}
		assert_int_equal(err.err, FI_ECONNREFUSED);
		assert_non_null(strstr(fi_eq_strerror(a.eq, err.prov_errno, err.err_data, NULL, 0),
				       "fi_listen"));
		assert_int_equal(fi_connect(a.ep, &l.name, NULL, 0), -FI_EOPBADSTATE);
		msg_end_close(&a);
	}
	msg_close(&l);
}

/* A reliable endpoint, one of the same type that does not listen, and one that is connected. */
static void refused__by_others(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM };
	struct fi_eq_err_entry err;
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	struct msg_end a, b, c;
	struct msg_listener l;
	struct test_pair p;

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	msg_listen(&l);
	test_pair_open(&p, &o);
	msg_end_open(&l, l.info, &a);
	assert_ok(fi_connect(a.ep, &p.s[0].name, NULL, 0));
	msg_expect_err(&a, &err);
	assert_int_equal(err.err, FI_ECONNREFUSED);
	msg_end_close(&a);
	test_pair_close(&p);

	msg_pair(&l, &b, &c);
	for (int k = 0; k < 2; k++) {
		struct msg_end idle;

		msg_end_open(&l, l.info, &idle);
		msg_end_open(&l, l.info, &a);
		assert_ok(fi_getname(k ? &b.ep->fid : &idle.ep->fid, &name, &len));
		assert_ok(fi_connect(a.ep, &name, NULL, 0));
		msg_expect_err(&a, &err);
		assert_int_equal(err.err, FI_ECONNREFUSED);
		msg_end_close(&a);
		msg_end_close(&idle);
	}
	msg_no_event(b.eq);
	msg_end_close(&b);
	msg_end_close(&c);
	msg_close(&l);
}

static void refused__beyond_the_backlog(void **state)
{
	enum { N = 6, BACKLOG = 2 };
	struct fi_eq_err_entry err = { .err_data_size = 0 };
	struct msg_listener l;
	struct msg_event ev[BACKLOG];
	struct msg_end a[N];
	int n = BACKLOG, refused = 0;
	uint64_t end = test_now_s() + TEST_GUARD_S;

	(void)state;
	msg_open(&l, FI_PROGRESS_UNSPEC);
	assert_ok(fi_control(&l.pep->fid, FI_BACKLOG, &n));
	msg_listen(&l);
	for (int k = 0; k < N; k++) {
		msg_end_open(&l, l.info, &a[k]);
		assert_ok(fi_connect(a[k].ep, &l.name, NULL, 0));
	}
	while (refused < N - BACKLOG && test_now_s() < end)
		for (int k = 0; k < N; k++) {
			err.err_data_size = 0; /* brings no buffer */
			if (fi_eq_readerr(a[k].eq, &err, 0) > 0) {
				assert_int_equal(err.err, FI_ECONNREFUSED);
				refused++;
			}
		}
	assert_int_equal(refused, N - BACKLOG);
	for (int k = 0; k < BACKLOG; k++)
		msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev[k]);
	msg_no_event(l.eq);
	/* one that is answered makes room */
	assert_ok(fi_reject(l.pep, ev[0].entry.info->handle, NULL, 0));
	fi_freeinfo(ev[0].entry.info);
	for (int k = 0; k < N; k++)
		msg_end_close(&a[k]);
	msg_end_open(&l, l.info, &a[0]);
	assert_ok(fi_connect(a[0].ep, &l.name, NULL, 0));
	msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev[0]);
	/* closing refuses what waits, read or not; an endpoint opened for it cannot accept */
	msg_end_open(&l, ev[0].entry.info, &a[1]);
	fi_freeinfo(ev[0].entry.info);
	fi_freeinfo(ev[1].entry.info);
	assert_ok(fi_close(&l.pep->fid));
	l.pep = NULL;
	msg_expect_err(&a[0], &err);
	assert_int_equal(err.err, FI_ECONNREFUSED);
	assert_int_equal(fi_accept(a[1].ep, NULL, 0), -FI_ECONNABORTED);
	msg_end_close(&a[0]);
	msg_end_close(&a[1]);
	msg_close(&l);
}

/* ---- lost ------------------------------------------------------------------------------------ */

static void lost__unanswered(void **state)
{
	struct fi_eq_err_entry err;
	struct sockaddr_storage name;
	size_t len = sizeof(name);
	struct msg_listener l;
	struct msg_end a;
	char buf[8];
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)state;
	setenv("FI_SDR_TIMEOUT", "500", 1);
	msg_open(&l, FI_PROGRESS_UNSPEC);
	unsetenv("FI_SDR_TIMEOUT");
	/* a socket that says nothing */
	memset(&name, 0, sizeof(name));
	((struct sockaddr_in *)&name)->sin_family = AF_INET;
	((struct sockaddr_in *)&name)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(struct sockaddr_in)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&name, (socklen_t *)&len), 0);
	msg_end_open(&l, l.info, &a);
	assert_ok(fi_recv(a.ep, buf, sizeof(buf), NULL, 0, buf));
	assert_ok(fi_connect(a.ep, &name, NULL, 0));
	msg_expect_err(&a, &err);
	assert_int_equal(err.err, FI_ETIMEDOUT);
	msg_wait_err(&a, NULL, FI_ECANCELED, buf);
	close(fd);
	msg_end_close(&a);
	msg_close(&l);
}

/* The other end's process is killed; nothing is under way. */
static void lost__peer_dies(void **state)
{
	struct sockaddr_storage name;
	struct msg_listener l;
	struct msg_event ev;
	struct msg_end a, b;
	int up[2], fd;
	char buf[8];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(up), 0);
	setenv("FI_SDR_TIMEOUT", "3000", 1); /* a busy machine answers within */
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a parent that fails leaves nobody behind */
		msg_open(&l, FI_PROGRESS_UNSPEC);
		msg_end_open(&l, l.info, &a);
		fd = (int)read(up[0], &name, sizeof(name));
		assert_ok(fi_connect(a.ep, &name, NULL, 0));
		msg_expect(a.eq, FI_CONNECTED, &a.ep->fid, &ev);
		for (;;)
			poll(NULL, 0, fd);
	}
	msg_open(&l, FI_PROGRESS_UNSPEC);
	unsetenv("FI_SDR_TIMEOUT");
	msg_listen(&l);
	assert_int_equal(write(up[1], &l.name, sizeof(l.name)), sizeof(l.name));
	msg_expect(l.eq, FI_CONNREQ, &l.pep->fid, &ev);
	msg_end_open(&l, ev.entry.info, &b);
	fi_freeinfo(ev.entry.info);
	assert_ok(fi_recv(b.ep, buf, sizeof(buf), NULL, 0, buf));
	assert_ok(fi_accept(b.ep, NULL, 0));
	msg_expect(b.eq, FI_CONNECTED, &b.ep->fid, &ev);
	msg_no_event(b.eq);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	msg_expect(b.eq, FI_SHUTDOWN, &b.ep->fid, &ev);
	msg_wait_err(&b, NULL, FI_ECANCELED, buf);
	msg_end_close(&b);
	msg_close(&l);
	close(up[0]);
	close(up[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost__peer_dies), /* forks: before there are threads */
		cmocka_unit_test(info__who_gets_it),  cmocka_unit_test(state__passive),
		cmocka_unit_test(state__active),      cmocka_unit_test(state__what_is_not_there),
		cmocka_unit_test(cm__data_and_names), cmocka_unit_test(refused__by_hand),
		cmocka_unit_test(refused__by_others), cmocka_unit_test(refused__beyond_the_backlog),
		cmocka_unit_test(lost__unanswered),
	};

	test_env();
	return cmocka_run_group_tests_name("fi_msg", tests, NULL, NULL);
}
