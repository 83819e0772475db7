/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the application sees of each reason, and that fi_sdr(7) says the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "fi/sdr_ep_done.h"

#define ERR(e, fi) [SDR_REL_ERR_##e] = { fi, #fi }

static const struct {
	int err; /* positive FI error */
	const char *name;
} errs[] = {
	ERR(NO_ANSWER, FI_ETIMEDOUT),
	ERR(STOPPED, FI_ETIMEDOUT),
	ERR(RESTARTED, FI_ECONNRESET),
	ERR(CLOSED, FI_ECONNABORTED),
	ERR(REFUSED, FI_ECONNREFUSED),
	ERR(KEY, FI_EACCES),
	ERR(TRUNC, FI_ETRUNC),
	ERR(CANCELED, FI_ECANCELED),
	ERR(NOMEM, FI_ENOMEM),
	ERR(ENGINE, FI_EIO),
	ERR(NOMSG, FI_ENOMSG),
	ERR(REG, FI_ENOMEM),
	ERR(PROTO, EPROTO),
	ERR(PATH, FI_ECONNREFUSED),
	ERR(CODE, FI_EOPNOTSUPP),
	ERR(VERSION, EPROTONOSUPPORT),
	ERR(STALLED, FI_ETIMEDOUT),
	ERR(DENIED, FI_ETIMEDOUT),
	ERR(UNSUPPORTED, FI_EOPNOTSUPP),
	ERR(ALIGN, FI_EINVAL),
	ERR(MEM, FI_EIO),
	ERR(NOBODY, FI_ECONNREFUSED),
};

static void err__applications_see_the_errno_of_rel(void **state)
{
	int e;

	(void)state;
	assert_int_equal(sizeof(errs) / sizeof(errs[0]), SDR_REL_ERRS);
	for (e = 1; e < SDR_REL_ERRS; e++)
		assert_int_equal(sdr_ep_done_errno(sdr_rel_errno(e)), errs[e].err);
	/* A failure is never reported as success. */
	assert_int_equal(sdr_ep_done_errno(0), FI_EOTHER);
}

/* The rows of the table in ERRORS: | *prov_errno* number | *FI_E...* | when |. */
static void err__the_man_page_has_a_row_for_each(void **state)
{
	const char *src = getenv("SDR_SRCDIR");
	bool seen[SDR_REL_ERRS] = { false };
	char path[4096], line[1024], name[64];
	int e;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/man/fi_sdr.7.md", src ? src : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "| %d | *%63[A-Z_]* |", &e, name) != 2)
			continue;
		assert_in_range(e, 1, SDR_REL_ERRS - 1);
		assert_false(seen[e]);
		seen[e] = true;
		assert_string_equal(name, errs[e].name);
	}
	fclose(f);
	for (e = 1; e < SDR_REL_ERRS; e++)
		assert_true(seen[e]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(err__applications_see_the_errno_of_rel),
		cmocka_unit_test(err__the_man_page_has_a_row_for_each),
	};

	return cmocka_run_group_tests_name("fi err", tests, NULL, NULL);
}
