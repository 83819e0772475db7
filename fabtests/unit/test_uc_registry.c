/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The table of engines: what is printed of it, what is found in it, what each row must have. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "uc/sdr_uc_open.h"
#include "uc/sdr_uc_registry.h"

static void registry__rows_are_whole(void **state)
{
	const struct sdr_uc_engine *const *e, *const *f;

	(void)state;
	for (e = sdr_uc_engines; *e; e++) {
		assert_in_range(strlen((*e)->name), 1, SDR_UC_NAME_MAX - 1);
		assert_null(strpbrk((*e)->name, ":, "));
		assert_true((*e)->is && (*e)->one && (*e)->what && (*e)->look && (*e)->names);
		assert_true((*e)->open && (*e)->ctl_max);
		assert_true(!(*e)->mem_reg == !(*e)->mem_dereg);
		for (f = sdr_uc_engines; f != e; f++)
			assert_string_not_equal((*f)->name, (*e)->name);
		assert_ptr_equal(sdr_uc_engine_find((*e)->name, strlen((*e)->name)), *e);
		assert_null(sdr_uc_engine_find((*e)->name, strlen((*e)->name) - 1));
	}
}

/* Auto tries what needs a device first, and there is always one that needs none. */
static void registry__devices_first(void **state)
{
	const struct sdr_uc_engine *const *e = sdr_uc_engines;

	(void)state;
	while (*e && (*e)->probe)
		e++;
	assert_non_null(*e);
	assert_ptr_equal(sdr_uc_engine_any(), *e);
	for (; *e; e++)
		assert_null((*e)->probe);
}

static void registry__names(void **state)
{
	char buf[256], err[SDR_UC_ERR_LEN] = "";
	struct sdr_uc_open_attr a = { .err = err, .err_len = sizeof(err) };
	struct sdr_uc *uc;

	(void)state;
	sdr_uc_engine_names(buf, sizeof(buf));
	assert_string_equal(buf, "soft, verbs");
	sdr_uc_engine_help(buf, sizeof(buf));
	assert_string_equal(buf, "soft is RoCEv2 over a UDP socket, verbs is an RDMA device");
	sdr_uc_engine_names(buf, 7); /* truncated, as snprintf does */
	assert_string_equal(buf, "soft, ");
	assert_int_equal(sdr_uc_open("hard", &a, &uc), -EINVAL);
	assert_string_equal(err, "engine \"hard\": expected soft, soft:ADDRESS, soft:ADDRESS:PORT, "
				 "verbs, verbs:DEVICE or verbs:DEVICE:ADDRESS[:PORT]");
	assert_int_equal(sdr_uc_open("soft:here", &a, &uc), -EINVAL);
	assert_string_equal(err, "engine \"soft:here\": expected a numeric ADDRESS, ADDRESS:PORT, "
				 "[IPV6] or [IPV6]:PORT");
	assert_int_equal(sdr_uc_open("verbs::1.2.3.4", &a, &uc), -EINVAL);
	assert_non_null(strstr(err, "expected DEVICE and a numeric ADDRESS"));
}

/* What is missing is said; what is there bears its engine. */
static void registry__probe(void **state)
{
	const struct sdr_uc_engine *const *e;
	struct sdr_uc_dev *v = NULL;
	unsigned int n = 0, i;
	char why[256];
	int ret;

	(void)state;
	for (e = sdr_uc_engines; *e; e++) {
		why[0] = 0;
		i = n;
		ret = sdr_uc_engine_probe(*e, &v, &n, why, sizeof(why));
		assert_true(ret > 0 || n == i);
		assert_true(ret > 0 || !(*e)->probe || why[0]);
		for (; i < n; i++)
			assert_ptr_equal(v[i].engine, *e);
	}
	free(v);
}

/* The largest datagram is what an engine that is open says. */
static void registry__limits(void **state)
{
	const struct sdr_uc_engine *any = sdr_uc_engine_any();
	struct sdr_uc_open_attr a = { .seed = 0 };
	struct sockaddr_in *in = (void *)&a.bind;
	struct sdr_uc_info info;
	struct sdr_uc *uc;

	(void)state;
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(sdr_uc_open_engine(any, &a, &uc), 0);
	uc->ops->info(uc, &info);
	assert_int_equal(info.ctl_max, any->ctl_max((struct sockaddr *)&a.bind, NULL));
	assert_string_equal(info.name, any->name);
	uc->ops->close(uc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registry__rows_are_whole),
		cmocka_unit_test(registry__devices_first),
		cmocka_unit_test(registry__names),
		cmocka_unit_test(registry__probe),
		cmocka_unit_test(registry__limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
