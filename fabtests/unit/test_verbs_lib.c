/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * libibverbs is loaded or missed with a text, and the list of devices says what there is; with or
 * without devices. A broken library is tried in a process of its own (this program again, with an
 * argument), since what was loaded once stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "uc/sdr_uc_open.h"
#include "uc/verbs/sdr_verbs.h"
#include "uc/verbs/sdr_verbs_lib.h"

#define PROBE "--probe"

static void lib__all_or_nothing(void **state)
{
	char err[256] = "";
	const struct sdr_ibv *ibv = sdr_ibv_get(err, sizeof(err));
	size_t i, n = offsetof(struct sdr_ibv, fork_safe) / sizeof(void *);
	void *p;

	(void)state;
	if (!ibv) {
		assert_non_null(strstr(err, "libibverbs.so.1"));
		assert_non_null(strstr(err, "apt-get install"));
		return;
	}
	assert_string_equal(err, "");
	assert_ptr_equal(sdr_ibv_get(NULL, 0), ibv);
	for (i = 0; i < n; i++) {
		memcpy(&p, (const char *)ibv + i * sizeof(p), sizeof(p));
		assert_non_null(p);
	}
	/* A symbol of the right library, called with the right signature. */
	assert_string_equal(ibv->wc_status_str(IBV_WC_SUCCESS), "success");
	assert_non_null(strcasestr(ibv->port_state_str(IBV_PORT_ACTIVE), "active"));
	assert_true(ibv->fork_safe);
}

/* In the process of its own. */
static int probe(void)
{
	char err[256] = "";

	if (sdr_ibv_get(err, sizeof(err)) || sdr_ibv_get(NULL, 0))
		return 2;
	return strstr(err, "libibverbs.so.1") && strstr(err, "apt-get install") ? 0 : 3;
}

static void lib__broken(void **state)
{
	char dir[] = "/tmp/sdr-verbs-lib-XXXXXX", file[64];
	int fd, status = -1;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/libibverbs.so.1", dir);
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "no library\n", 11), 11);
	close(fd);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setenv("LD_LIBRARY_PATH", dir, 1);
		execl("/proc/self/exe", "test_verbs_lib", PROBE, (char *)NULL);
		_exit(9);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(file);
	rmdir(dir);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void list__says_what_there_is(void **state)
{
	struct sdr_uc_dev *v = (void *)(uintptr_t)1;
	unsigned int n = 77, i;
	char err[512] = "";
	int ret = sdr_verbs_list(&v, &n, err, sizeof(err));

	(void)state;
	if (ret || !n) {
		assert_true(ret <= 0);
		assert_int_equal(n, 0);
		assert_null(v);
		assert_true(strlen(err) > 20); /* what is missing, and what to do */
		assert_int_equal(sdr_verbs_list(&v, &n, NULL, 0), ret);
		return;
	}
	assert_string_equal(err, "");
	for (i = 0; i < n; i++) {
		assert_true(v[i].name[0] && v[i].netdev[0]);
		assert_true(v[i].port >= 1 && v[i].gid_index >= 0);
		assert_true(v[i].addr.ss_family == AF_INET || v[i].addr.ss_family == AF_INET6);
		assert_true(v[i].mtu >= 256 && v[i].mtu <= 4096 && !(v[i].mtu & (v[i].mtu - 1)));
		assert_true(!strcmp(v[i].late, "root") || !strcmp(v[i].late, "mw") ||
			    !strcmp(v[i].late, "mr"));
		if (strcmp(v[i].driver, "rxe") == 0)
			assert_string_equal(v[i].late, "mr");
	}
	free(v);
}

static void open__verbs_names(void **state)
{
	static const char *const bad[] = {
		"verbs::",	    "verbs::10.0.0.1",	      "verbs:rxe0:localhost",
		"verbs:rxe0:1.2.3", "verbs:rxe0:[::1",	      "verbs:rxe0:10.0.0.1:x",
		"verbsy",	    "verbs:rxe0:10.0.0.1:1:2"
	};
	char err[SDR_UC_ERR_LEN], longer[SDR_UC_DEV_NAME + 16];
	struct sdr_uc_open_attr a = { .err = err, .err_len = sizeof(err) };
	struct sdr_uc *uc;
	size_t i;
	int ret;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err[0] = 0;
		if (sdr_uc_open(bad[i], &a, &uc) != -EINVAL)
			fail_msg("%s was not refused", bad[i]);
		assert_non_null(strstr(err, "expected"));
	}
	snprintf(longer, sizeof(longer), "verbs:%070d", 0);
	assert_int_equal(sdr_uc_open(longer, &a, &uc), -EINVAL);
	err[0] = 0;
	ret = sdr_uc_open("verbs:no-such-device", &a, &uc);
	assert_true(ret == -ENODEV || ret == -EADDRNOTAVAIL || ret == -EACCES);
	assert_true(strlen(err) > 20);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lib__all_or_nothing),
		cmocka_unit_test(lib__broken),
		cmocka_unit_test(list__says_what_there_is),
		cmocka_unit_test(open__verbs_names),
	};

	if (argc > 1 && strcmp(argv[1], PROBE) == 0)
		return probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
