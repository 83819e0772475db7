/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Whether somebody has asked for sdr.
 *
 * Entries are offered to those who name the provider, and to nobody else.  libfabric appends the
 * entries of providers that it does not know behind all others, which would do for programs that
 * take the first one; but some take whatever they do not exclude (Open MPI excludes tcp, shm and
 * sockets by name), and a job inside a datacenter must not leave its fabric because a package was
 * installed.  An entry cannot say "only if you mean it", so it is not there.
 *
 * It is named in the hints (prov_name), in FI_PROVIDER, or in a variable by which the user of a
 * stack names providers to that stack, where the stack asks libfabric without a name and picks from
 * the answer: a row of the table.  A list that begins with ^ says what is not wanted, and names
 * nobody.  The environment is read each time: one getenv for each row.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sdr_named.h"
#include "sdr_prov.h"

/* Of Open MPI, which hands the options of mpirun to the ranks in this way, and of MPICH. */
static const char *const sdr_named_vars[] = {
	"OMPI_MCA_opal_common_ofi_provider_include",
	"OMPI_MCA_mtl_ofi_provider_include",
	"OMPI_MCA_btl_ofi_provider_include",
	"MPIR_CVAR_OFI_USE_PROVIDER",
};

/* Is our name in the list?  Commas part providers, semicolons the layers of one. */
static bool sdr_named_in(const char *list)
{
	static const char sep[] = ",; ";
	size_t n;

	if (!list || list[0] == '^')
		return false;
	for (;;) {
		list += strspn(list, sep);
		n = strcspn(list, sep);
		if (!n)
			return false;
		if (n == strlen(SDR_PROV_NAME) && strncasecmp(list, SDR_PROV_NAME, n) == 0)
			return true;
		list += n;
	}
}

bool sdr_named(const struct fi_info *hints)
{
	char *list = NULL;
	size_t i;

	if (hints && hints->fabric_attr && sdr_named_in(hints->fabric_attr->prov_name))
		return true;
	/* the core's own variable, which it may also have from a file */
	if (!fi_param_get_str(NULL, "provider", &list) && sdr_named_in(list))
		return true;
	for (i = 0; i < sizeof(sdr_named_vars) / sizeof(sdr_named_vars[0]); i++) {
		if (sdr_named_in(getenv(sdr_named_vars[i])))
			return true;
	}
	return false;
}
