/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Each reason why an operation fails has its errno and its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rel/sdr_rel_err.h"

static const int errnos[] = {
	[SDR_REL_OK] = 0,
	[SDR_REL_ERR_NO_ANSWER] = ETIMEDOUT,
	[SDR_REL_ERR_STOPPED] = ETIMEDOUT,
	[SDR_REL_ERR_RESTARTED] = ECONNRESET,
	[SDR_REL_ERR_CLOSED] = ECONNABORTED,
	[SDR_REL_ERR_REFUSED] = ECONNREFUSED,
	[SDR_REL_ERR_KEY] = EACCES,
	[SDR_REL_ERR_TRUNC] = EMSGSIZE,
	[SDR_REL_ERR_CANCELED] = ECANCELED,
	[SDR_REL_ERR_NOMEM] = ENOMEM,
	[SDR_REL_ERR_ENGINE] = EIO,
	[SDR_REL_ERR_NOMSG] = ENOMSG,
	[SDR_REL_ERR_REG] = ENOMEM,
	[SDR_REL_ERR_PROTO] = EPROTO,
	[SDR_REL_ERR_PATH] = ECONNREFUSED,
	[SDR_REL_ERR_CODE] = EOPNOTSUPP,
	[SDR_REL_ERR_VERSION] = EPROTONOSUPPORT,
	[SDR_REL_ERR_STALLED] = ETIMEDOUT,
	[SDR_REL_ERR_DENIED] = ETIMEDOUT,
	[SDR_REL_ERR_UNSUPPORTED] = EOPNOTSUPP,
	[SDR_REL_ERR_ALIGN] = EINVAL,
	[SDR_REL_ERR_MEM] = EIO,
	[SDR_REL_ERR_NOBODY] = ECONNREFUSED,
};

static void err__each_has_its_errno(void **state)
{
	int e;

	(void)state;
	assert_int_equal(sizeof(errnos) / sizeof(errnos[0]), SDR_REL_ERRS);
	for (e = 0; e < SDR_REL_ERRS; e++) {
		assert_int_equal(sdr_rel_errno(e), -errnos[e]);
		assert_true(!e == !errnos[e]);
	}
	assert_int_equal(sdr_rel_errno(SDR_REL_ERRS), -EIO);
	assert_int_equal(sdr_rel_errno(-1), -EIO);
}

/* One line, and none is another's. */
static void err__each_has_a_text_of_its_own(void **state)
{
	const char *unknown = sdr_rel_strerror(SDR_REL_ERRS);
	int e, f;

	(void)state;
	assert_string_equal(sdr_rel_strerror(-1), unknown);
	for (e = 0; e < SDR_REL_ERRS; e++) {
		assert_non_null(sdr_rel_strerror(e));
		assert_true(strlen(sdr_rel_strerror(e)) >= strlen("success"));
		assert_null(strchr(sdr_rel_strerror(e), '\n'));
		assert_string_not_equal(sdr_rel_strerror(e), unknown);
		for (f = 0; f < e; f++)
			assert_string_not_equal(sdr_rel_strerror(e), sdr_rel_strerror(f));
	}
}

/* The peer's versions travel in the number itself. */
static void err__of_versions_names_both_sides(void **state)
{
	char text[SDR_REL_ERR_TEXT];
	int e = sdr_rel_err_version(3, 5);

	(void)state;
	assert_int_equal(sdr_rel_err_kind(e), SDR_REL_ERR_VERSION);
	assert_int_equal(sdr_rel_errno(e), -EPROTONOSUPPORT);
	assert_string_equal(sdr_rel_strerror(e), sdr_rel_strerror(SDR_REL_ERR_VERSION));
	sdr_rel_err_text(e, text, sizeof(text));
	assert_non_null(strstr(text, "versions 3 to 5"));
	assert_non_null(strstr(text, "version 2"));
	sdr_rel_err_text(sdr_rel_err_version(255, 255), text, sizeof(text));
	assert_non_null(strstr(text, "version 255"));
	for (e = 0; e < SDR_REL_ERRS; e++) { /* all others are as they are */
		sdr_rel_err_text(e, text, sizeof(text));
		assert_string_equal(text, sdr_rel_strerror(e));
		assert_int_equal(sdr_rel_err_kind(e), e);
	}
}

/* And so does the size of datagrams that may be too long for the path. */
static void err__of_a_stall_names_the_size_to_try(void **state)
{
	static const uint32_t bytes[] = { 256, 1472, 8972, 65535 };
	char text[SDR_REL_ERR_TEXT], size[32];

	(void)state;
	for (uint32_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		int e = sdr_rel_err_stalled(bytes[i]);

		assert_true(e > 0);
		assert_int_equal(sdr_rel_err_kind(e), SDR_REL_ERR_STALLED);
		assert_int_equal(sdr_rel_errno(e), -ETIMEDOUT);
		assert_string_equal(sdr_rel_strerror(e), sdr_rel_strerror(SDR_REL_ERR_STALLED));
		sdr_rel_err_text(e, text, sizeof(text));
		snprintf(size, sizeof(size), " %u bytes", bytes[i]);
		assert_non_null(strstr(text, size));
		assert_non_null(strstr(text, "FI_SDR_MTU"));
		assert_true(strlen(text) < sizeof(text) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(err__each_has_its_errno),
		cmocka_unit_test(err__each_has_a_text_of_its_own),
		cmocka_unit_test(err__of_versions_names_both_sides),
		cmocka_unit_test(err__of_a_stall_names_the_size_to_try),
	};

	return cmocka_run_group_tests_name("rel err", tests, NULL, NULL);
}
