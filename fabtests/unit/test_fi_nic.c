/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The device of an entry: libfabric copies, prints and frees it as it does with any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "uc/verbs/sdr_verbs.h"
#include "fi/sdr_nic.h"

static void dev_make(struct sdr_uc_dev *d)
{
	struct sockaddr_in *in = (void *)&d->addr;

	memset(d, 0, sizeof(*d));
	d->engine = &sdr_verbs_engine;
	strcpy(d->name, "rxe7");
	strcpy(d->netdev, "eth9");
	strcpy(d->late, "mr");
	strcpy(d->driver, "rxe");
	d->port = 1;
	d->gid_index = 3;
	d->mtu = 4096;
	d->speed_bps = 2500000000ull;
	in->sin_family = AF_INET;
	inet_pton(AF_INET, "192.0.2.5", &in->sin_addr);
}

static void nic__copied_printed_freed(void **state)
{
	struct fi_info *info = fi_allocinfo(), *dup;
	const struct sdr_uc_dev *back;
	struct sdr_uc_dev d;
	bool asked = false;
	char *text;

	(void)state;
	dev_make(&d);
	info->nic = sdr_nic_make(&d, true);
	assert_non_null(info->nic);
	dup = fi_dupinfo(info);
	fi_freeinfo(info);
	memset(&d, 0xff, sizeof(d)); /* nothing points there */
	assert_non_null(dup);
	assert_string_equal(dup->nic->device_attr->name, "rxe7");
	assert_string_equal(dup->nic->device_attr->driver, "rxe");
	assert_int_equal(dup->nic->bus_attr->bus_type, FI_BUS_UNKNOWN);
	assert_int_equal(dup->nic->link_attr->mtu, 4096);
	assert_int_equal(dup->nic->link_attr->speed, 2500000000ull);
	assert_int_equal(dup->nic->link_attr->state, FI_LINK_UP);
	back = sdr_nic_dev(dup->nic, &asked);
	assert_non_null(back);
	assert_true(asked);
	assert_int_equal(back->gid_index, 3);

	text = fi_tostr(dup, FI_TYPE_INFO);
	assert_non_null(strstr(text, "engine: verbs"));
	assert_non_null(strstr(text, "late packets: mr"));
	assert_non_null(strstr(text, "rxe7"));
	assert_non_null(strstr(text, "192.0.2.5"));
	assert_non_null(strstr(text, "fi_fabric_attr")); /* what was there before is still there */
	fi_freeinfo(dup);
}

static int foreign_close(struct fid *fid)
{
	(void)fid;
	return 0;
}

static void nic__of_others_is_not_ours(void **state)
{
	struct fi_ops ops = { .size = sizeof(ops), .close = foreign_close };
	struct fid_nic other = { .fid = { .fclass = FI_CLASS_NIC, .ops = &ops } };
	bool asked = false;

	(void)state;
	assert_null(sdr_nic_dev(NULL, &asked));
	assert_null(sdr_nic_dev(&other, &asked));
	assert_false(asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic__copied_printed_freed),
		cmocka_unit_test(nic__of_others_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
