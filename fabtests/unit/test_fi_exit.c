/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A process that ends without closing anything has acknowledged what it received.
 *
 * The receiver is this program again, in a process of its own: it sends its address through a pipe,
 * takes two messages and ends, in the way that its argument says.  (The first opens the connection,
 * and is acknowledged at once.)  The sender's second send then ends well; it would take
 * FI_SDR_TIMEOUT to end with an error.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_fi_util.h"

#define PATIENCE "10000" /* give-up time, ms, of a sender whose receiver may answer late */
#define NO_HOPE	 "1500"	 /* of one whose receiver will say nothing */
#define LEN	 100

struct one {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct sockaddr_storage name;
};

static void one_open(struct one *o, enum fi_progress progress)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_info *h = test_hints(FI_EP_RDM, 0);
	size_t len = sizeof(o->name);

	h->domain_attr->data_progress = progress;
	o->info = test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h);
	assert_non_null(o->info);
	fi_freeinfo(h);
	assert_ok(fi_fabric(o->info->fabric_attr, &o->fabric, NULL));
	assert_ok(fi_domain(o->fabric, o->info, &o->domain, NULL));
	assert_ok(fi_av_open(o->domain, &av, &o->av, NULL));
	assert_ok(fi_cq_open(o->domain, &cq, &o->cq, NULL));
	assert_ok(fi_endpoint(o->domain, o->info, &o->ep, NULL));
	assert_ok(fi_ep_bind(o->ep, &o->av->fid, 0));
	assert_ok(fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV));
	assert_ok(fi_enable(o->ep));
	assert_ok(fi_getname(&o->ep->fid, &o->name, &len));
}

static void one_close(struct one *o)
{
	assert_ok(fi_close(&o->ep->fid));
	assert_ok(fi_close(&o->cq->fid));
	assert_ok(fi_close(&o->av->fid));
	assert_ok(fi_close(&o->domain->fid));
	assert_ok(fi_close(&o->fabric->fid));
	fi_freeinfo(o->info);
}

/* ---- the process that ends ------------------------------------------------------------------- */

static atomic_int taken;

/* Waits inside the library when the process ends. */
static void *sleeper(void *arg)
{
	struct one *o = arg;
	struct fi_cq_tagged_entry e;

	for (;;) {
		if (fi_cq_sread(o->cq, &e, 1, NULL, -1) == 1)
			atomic_fetch_add(&taken, 1);
	}
	return NULL;
}

static int receiver(const char *how, int fd)
{
	static char rx[2][LEN];
	struct fi_cq_tagged_entry e;
	struct timespec nap = { .tv_nsec = 1000000 };
	static struct one o;
	pthread_t th;
	pid_t pid;
	int i;

	one_open(&o, strstr(how, "auto") ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL);
	if (fi_recv(o.ep, rx[0], LEN, NULL, FI_ADDR_UNSPEC, NULL) ||
	    fi_recv(o.ep, rx[1], LEN, NULL, FI_ADDR_UNSPEC, NULL) ||
	    write(fd, &o.name, sizeof(o.name)) != sizeof(o.name))
		return 2;
	if (strstr(how, "sleeper")) {
		if (pthread_create(&th, NULL, sleeper, &o))
			return 3;
		while (atomic_load(&taken) < 2)
			nanosleep(&nap, NULL);
	} else if (strstr(how, "sread")) {
		for (i = 0; i < 2; i++)
			if (fi_cq_sread(o.cq, &e, 1, NULL, -1) != 1)
				return 4;
	} else {
		for (i = 0; i < 2; i++)
			while (fi_cq_read(o.cq, &e, 1) == -FI_EAGAIN)
				;
	}
	if (!test_same(rx[1], LEN, 5))
		return 5;
	if (strstr(how, "child")) {
		pid = fork();
		if (!pid)
			exit(0); /* with its parent's endpoints open */
		waitpid(pid, NULL, 0);
		_exit(0); /* nothing runs here */
	}
	return 0;
}

/* ---- the one that sends to it ---------------------------------------------------------------- */

static pid_t receiver_start(const char *how, struct sockaddr_storage *name)
{
	char arg[16];
	int fd[2];
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (!pid) {
		close(fd[0]);
		setenv("LSAN_OPTIONS", "detect_leaks=0", 1); /* it closes nothing */
		snprintf(arg, sizeof(arg), "%d", fd[1]);
		execl("/proc/self/exe", "test_fi_exit", how, arg, NULL);
		_exit(9);
	}
	close(fd[1]);
	assert_int_equal(read(fd[0], name, sizeof(*name)), sizeof(*name));
	close(fd[0]);
	return pid;
}

/* Sends to a receiver that ends; 1 or -FI_EAVAIL. */
static ssize_t send_to(const char *how, const char *patience)
{
	struct sockaddr_storage name;
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err = { 0 };
	char tx[LEN];
	struct one o;
	fi_addr_t to;
	ssize_t ret;
	int status, i;
	pid_t pid;

	unsetenv("FI_SDR_FAULT");
	if (strstr(how, "fault"))
		setenv("FI_SDR_FAULT", "delay=150ms", 1);
	pid = receiver_start(how, &name);
	unsetenv("FI_SDR_FAULT");
	setenv("FI_SDR_TIMEOUT", patience, 1);
	one_open(&o, FI_PROGRESS_MANUAL);
	unsetenv("FI_SDR_TIMEOUT");
	assert_int_equal(fi_av_insert(o.av, &name, 1, &to, 0, NULL), 1);
	test_fill(tx, LEN, 5);
	for (i = 0; i < 2; i++) {
		assert_ok(fi_send(o.ep, tx, LEN, NULL, to, NULL));
		do
			ret = fi_cq_read(o.cq, &e, 1);
		while (ret == -FI_EAGAIN);
		assert_true(i || ret == 1);
	}
	if (ret == -FI_EAVAIL) {
		assert_int_equal(fi_cq_readerr(o.cq, &err, 0), 1);
		assert_int_equal(err.err, FI_ETIMEDOUT);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	one_close(&o);
	return ret;
}

static void exit__acknowledges_what_was_received(void **state)
{
	static const char *const how[] = { "poll", "sread", "poll,auto", "sread,auto" };

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(send_to(how[i], PATIENCE), 1);
}

/* Another thread sits in a blocking read: neither is in the other's way. */
static void exit__while_a_thread_sleeps(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(send_to(i % 2 ? "sleeper,auto" : "sleeper", PATIENCE), 1);
}

/* The farewell is delayed as everything else is. */
static void exit__waits_for_what_faults_delay(void **state)
{
	(void)state;
	assert_int_equal(send_to("poll,fault", PATIENCE), 1);
}

/*
 * A child that ends sends nothing; and a process that is ended without clean-up says nothing.
 */
static void exit__of_a_child_is_silent(void **state)
{
	(void)state;
	assert_int_equal(send_to("poll,child", NO_HOPE), -FI_EAVAIL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit__acknowledges_what_was_received),
		cmocka_unit_test(exit__while_a_thread_sleeps),
		cmocka_unit_test(exit__waits_for_what_faults_delay),
		cmocka_unit_test(exit__of_a_child_is_silent),
	};
	const char *fault = getenv("FI_SDR_FAULT");
	char *keep = fault ? strdup(fault) : NULL;

	test_env();
	if (argc == 3) {
		if (keep)
			setenv("FI_SDR_FAULT", keep, 1);
		alarm(3 * TEST_GUARD_S); /* never for ever */
		return receiver(argv[1], atoi(argv[2]));
	}
	free(keep);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
