/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * base/sdr_assert.h in both flavours of a build: what it prints and how the process ends, and that
 * a build without assertions does not evaluate the condition.
 */
#include "base/sdr_assert.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int asked;

static bool answer(bool b)
{
	asked++;
	return b;
}

/* In a child, its stderr in out.  The wait status. */
static int assert_in_child(bool cond, char *out, size_t len)
{
	int fd[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL);
		dup2(fd[1], 2);
		SDR_ASSERT(answer(cond));
		_exit(asked);
	}
	close(fd[1]);
	while ((got = read(fd[0], out + n, len - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = '\0';
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void assert__one_that_holds_is_silent(void **state)
{
	char out[512];
	int status = assert_in_child(true, out, sizeof(out));

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), SDR_ASSERTS ? 1 : 0);
	assert_string_equal(out, "");
}

static void assert__one_that_fails_says_where_and_aborts(void **state)
{
	char out[512];
	int status = assert_in_child(false, out, sizeof(out));

	(void)state;
	if (!SDR_ASSERTS) {
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0); /* not even evaluated */
		assert_string_equal(out, "");
		return;
	}
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(out, "test_base_assert.c:"));
	assert_non_null(strstr(out, "assert_in_child: assertion failed: answer(cond)\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(assert__one_that_holds_is_silent),
		cmocka_unit_test(assert__one_that_fails_says_where_and_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
