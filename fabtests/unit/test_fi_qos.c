/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Traffic classes as code points, and where the word of a ceiling lies: a file that others could
 * have put there is not taken.
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <rdma/fabric.h>
#include "fi/sdr_env.h"
#include "fi/sdr_rate_word.h"
#include "fi/sdr_tclass.h"
#include "rel/path/sdr_ceiling.h"

static void tclass__labels_and_code_points(void **state)
{
	uint8_t dscp;

	(void)state;
	for (unsigned int i = 0; i < 64; i++) {
		assert_true(sdr_tclass_dscp(fi_tc_dscp_set((uint8_t)i), &dscp));
		assert_int_equal(dscp, i);
	}
	assert_true(sdr_tclass_dscp(FI_TC_BEST_EFFORT, &dscp));
	assert_int_equal(dscp, 0);
	assert_true(sdr_tclass_dscp(FI_TC_SCAVENGER, &dscp));
	assert_int_equal(dscp, 1);
	assert_true(sdr_tclass_dscp(FI_TC_LOW_LATENCY, &dscp) && dscp);
	assert_true(sdr_tclass_dscp(FI_TC_BULK_DATA, &dscp) && dscp);
	assert_true(sdr_tclass_dscp(FI_TC_DEDICATED_ACCESS, &dscp) && dscp);
	assert_false(sdr_tclass_dscp(FI_TC_NETWORK_CTRL, &dscp));
	assert_false(sdr_tclass_dscp(FI_TC_LABEL + 50, &dscp));
	assert_false(sdr_tclass_dscp(fi_tc_dscp_set(64), &dscp));
	assert_false(sdr_tclass_dscp(0x10000 | FI_TC_DSCP, &dscp));
	assert_int_equal(sdr_tclass_make(0), FI_TC_UNSPEC);
	assert_int_equal(sdr_tclass_make(46), fi_tc_dscp_set(46));
}

static void tclass__the_endpoint_before_the_domain(void **state)
{
	struct fi_tx_attr tx = { 0 };
	struct fi_domain_attr dom = { 0 };
	struct fi_info info = { .tx_attr = &tx, .domain_attr = &dom };
	uint8_t dscp = 7;

	(void)state;
	assert_true(sdr_tclass_of(&info, &dscp));
	assert_int_equal(dscp, 7);
	dom.tclass = FI_TC_SCAVENGER;
	assert_true(sdr_tclass_of(&info, &dscp));
	assert_int_equal(dscp, 1);
	tx.tclass = fi_tc_dscp_set(0);
	assert_true(sdr_tclass_of(&info, &dscp));
	assert_int_equal(dscp, 0);
	tx.tclass = FI_TC_NETWORK_CTRL;
	assert_false(sdr_tclass_of(&info, &dscp));
}

/* ---- the word -------------------------------------------------------------------------------- */

static char dir[] = "/tmp/sdr-word-XXXXXX", path[64];

static int dir_make(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/word", dir);
	return 0;
}

static int dir_remove(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

static void word__whose_it_is(void **state)
{
	struct sdr_ceiling_word *a, *b;
	char err[SDR_ENV_ERR];

	(void)state;
	assert_int_equal(sdr_rate_word(SDR_SHARE_ENDPOINT, &a, err, sizeof(err)), 0);
	assert_null(a);
	assert_int_equal(sdr_rate_word(SDR_SHARE_PROCESS, &a, err, sizeof(err)), 0);
	assert_int_equal(sdr_rate_word(SDR_SHARE_PROCESS, &b, err, sizeof(err)), 0);
	assert_non_null(a);
	assert_ptr_equal(a, b);
}

/* What one process writes the other reads, and the next finds it there. */
static void word__of_a_host_is_shared(void **state)
{
	struct sdr_ceiling_word *w, *again;
	char err[SDR_ENV_ERR];
	struct stat st;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(sdr_rate_word_map(path, &w, err, sizeof(err)), 0);
	assert_int_equal(w->given, 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct sdr_ceiling_word *child;
		int ret = sdr_rate_word_map(path, &child, err, sizeof(err));

		if (!ret)
			child->given = 12345;
		_exit(ret != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_int_equal(w->given, 12345);
	assert_int_equal(sdr_rate_word_map(path, &again, err, sizeof(err)), 0);
	assert_int_equal(again->given, 12345);
	munmap(w, 1);
	munmap(again, 1);
	unlink(path);
}

static void refused(const char *why)
{
	struct sdr_ceiling_word *w;
	char err[SDR_ENV_ERR] = "";

	assert_int_equal(sdr_rate_word_map(path, &w, err, sizeof(err)), -EACCES);
	assert_null(w);
	assert_non_null(strstr(err, path));
	if (!strstr(err, why))
		fail_msg("%s", err);
	unlink(path);
}

static void word__of_others_is_refused(void **state)
{
	char other[80];
	int fd;

	(void)state;
	snprintf(other, sizeof(other), "%s/other", dir);
	fd = open(other, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(symlink(other, path), 0);
	refused("symbolic link");
	assert_int_equal(link(other, path), 0);
	refused("one name");
	unlink(other);
	close(fd);

	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0660), 0);
	refused("open to other users");
	close(fd);

	assert_int_equal(mkfifo(path, 0600), 0);
	refused("plain file");

	if (geteuid()) /* only root can give a file away */
		return;
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, 65534, 65534), 0);
	refused("another user");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tclass__labels_and_code_points),
		cmocka_unit_test(tclass__the_endpoint_before_the_domain),
		cmocka_unit_test(word__whose_it_is),
		cmocka_unit_test(word__of_a_host_is_shared),
		cmocka_unit_test(word__of_others_is_refused),
	};

	return cmocka_run_group_tests(tests, dir_make, dir_remove);
}
