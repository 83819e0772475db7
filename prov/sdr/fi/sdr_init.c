/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Entry point and clean-up.
 *
 * fi_prov_ini runs with libfabric's initialisation lock held, so it only defines parameters and
 * completes the provider's struct, which carries the version of the libfabric that loads it, since
 * a provider with a lower version than the application wants is passed over.  Clean-up ends the
 * threads of domains that were never closed, in the process that started them, and says the last
 * packets of their endpoints (sdr_exit.c).
 */
#include <rdma/providers/fi_prov.h>

#include "sdr_env.h"
#include "sdr_exit.h"
#include "sdr_fabric.h"
#include "sdr_info.h"
#include "sdr_paths.h"
#include "sdr_progress.h"
#include "sdr_prov.h"
#include "sdr_work.h"

static void sdr_prov_cleanup(void)
{
	sdr_thread_stop_all();
	sdr_exit_farewell();
	sdr_paths_exit();
	sdr_work_stop_all();
}

struct fi_provider *fi_prov_ini(void);

FI_EXT_INI
{
	char help[SDR_ENV_HELP], range[SDR_ENV_TEXT];
	const struct sdr_env_var *v;

	for (v = sdr_env_vars; v->name; v++) {
		fi_param_define(&sdr_prov, v->name, FI_PARAM_STRING,
				"%s Allowed: %s%s%s. (default: %s)",
				sdr_env_help(v, help, sizeof(help)),
				sdr_env_range(v, range, sizeof(range)), v->unit ? ", in " : "",
				v->unit ? v->unit : "", v->def[0] ? v->def : "none");
	}
	sdr_prov.fi_version = fi_version();
	sdr_prov.getinfo = sdr_getinfo;
	sdr_prov.fabric = sdr_fabric_open;
	sdr_prov.cleanup = sdr_prov_cleanup;
	return &sdr_prov;
}
