/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Who names sdr, in hints and environment, and who does not. */
#include "test_fi_util.h"

#include "fi/sdr_named.h"

static const char *const vars[] = { "FI_PROVIDER", "OMPI_MCA_opal_common_ofi_provider_include",
				    "OMPI_MCA_mtl_ofi_provider_include",
				    "OMPI_MCA_btl_ofi_provider_include",
				    "MPIR_CVAR_OFI_USE_PROVIDER" };
#define NVARS (sizeof(vars) / sizeof(vars[0]))

static const struct {
	const char *list;
	bool named;
} lists[] = {
	{ "sdr", true },
	{ "SDR", true },
	{ "tcp,sdr", true },
	{ "sdr,shm", true },
	{ "shm, sdr", true },
	{ "sdr;ofi_hook_perf", true },
	{ "", false },
	{ ",", false },
	{ "tcp", false },
	{ "^tcp", false },
	{ "^sdr", false },
	{ "^shm,sdr", false },
	{ "sdr2", false },
	{ "xsdr", false },
	{ "tcp;ofi_rxm", false },
	{ "tcp,sdrs,sd", false },
	{ "shm,^sdr", false },
};
#define NLISTS (sizeof(lists) / sizeof(lists[0]))

static void named__nobody(void **state)
{
	struct fi_info *h = fi_allocinfo();

	(void)state;
	assert_false(sdr_named(NULL));
	assert_false(sdr_named(h));
	fi_freeinfo(h);
}

static void named__in_hints(void **state)
{
	struct fi_info *h = fi_allocinfo();
	size_t i;

	(void)state;
	for (i = 0; i < NLISTS; i++) {
		h->fabric_attr->prov_name = strdup(lists[i].list);
		if (sdr_named(h) != lists[i].named)
			fail_msg("prov_name \"%s\"", lists[i].list);
		free(h->fabric_attr->prov_name);
		h->fabric_attr->prov_name = NULL;
	}
	fi_freeinfo(h);
}

static void named__in_the_environment(void **state)
{
	size_t v, i;

	(void)state;
	for (v = 0; v < NVARS; v++) {
		for (i = 0; i < NLISTS; i++) {
			setenv(vars[v], lists[i].list, 1);
			if (sdr_named(NULL) != lists[i].named)
				fail_msg("%s=\"%s\"", vars[v], lists[i].list);
		}
		unsetenv(vars[v]);
	}
}

/* One that excludes it does not outweigh one that names it: libfabric filters, not we. */
static void named__anywhere(void **state)
{
	(void)state;
	setenv("FI_PROVIDER", "^tcp", 1);
	assert_false(sdr_named(NULL));
	setenv("OMPI_MCA_mtl_ofi_provider_include", "sdr", 1);
	assert_true(sdr_named(NULL));
	unsetenv("OMPI_MCA_mtl_ofi_provider_include");
	unsetenv("FI_PROVIDER");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named__nobody),
		cmocka_unit_test(named__in_hints),
		cmocka_unit_test(named__in_the_environment),
		cmocka_unit_test(named__anywhere),
	};
	struct fi_info *info = NULL;
	size_t v;

	for (v = 0; v < NVARS; v++)
		unsetenv(vars[v]);
	setenv("FI_PROVIDER_PATH", "/nowhere", 1);
	setenv("IPATH_NO_BACKTRACE", "1", 1);
	/* libfabric learns its own variables */
	fi_getinfo(TEST_API, NULL, NULL, FI_PROV_ATTR_ONLY, NULL, &info);
	fi_freeinfo(info);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
