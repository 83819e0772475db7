/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The table of environment variables: every default is valid, every wrong value is refused with its reason. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../../prov/sdr/fi/sdr_env.h"
#include "../../prov/sdr/uc/sdr_verbs.h"

static void env__defaults(void **state)
{
	char buf[SDR_ENV_TEXT], err[SDR_ENV_ERR] = "";
	const struct sdr_env_var *v;
	struct sdr_env env;

	(void)state;
	sdr_env_defaults(&env);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), 0);
	assert_int_equal(env.rel.scheme, SDR_SCHEME_SR);
	assert_int_equal(env.rel.cc, SDR_CC_BBR);
	assert_int_equal(env.rel.timeout_ms, 30000);
	assert_int_equal(env.rel.chunk, 65536);
	assert_int_equal(env.rel.split.id_bits, 10);
	assert_int_equal(env.rel.channels, 1);
	assert_int_equal(env.rel.generations, 4);
	assert_int_equal(env.engine, SDR_ENGINE_AUTO);
	assert_string_equal(env.late, "auto");
	assert_int_equal(env.rx_depth, SDR_VERBS_RX_DEPTH);
	assert_int_equal(env.tx_depth, SDR_VERBS_TX_DEPTH);
	for (v = sdr_env_vars; v->name; v++) {
		if (v->def[0] && sdr_env_set(&env, v->name, v->def, err, sizeof(err)))
			fail_msg("default of %s: %s", v->name, err);
		assert_int_equal(sdr_env_get(&env, v->name, buf, sizeof(buf)), 0);
		assert_true(strlen(v->help) > 10);
	}
}

static void env__contract_names(void **state)
{
	static const char *const names[] = { "FI_SDR_ENGINE",	     "FI_SDR_RELIABILITY",
					     "FI_SDR_EC_CODE",	     "FI_SDR_EC_K",
					     "FI_SDR_EC_M",	     "FI_SDR_EC_DECODE",
					     "FI_SDR_OBJECTIVE",     "FI_SDR_MAX_OVERHEAD",
					     "FI_SDR_MTU",	     "FI_SDR_CHUNK_SIZE",
					     "FI_SDR_IMM_SPLIT",     "FI_SDR_CHANNELS",
					     "FI_SDR_GENERATIONS",   "FI_SDR_CC",
					     "FI_SDR_RATE",	     "FI_SDR_RTT_INIT",
					     "FI_SDR_RTO_RTTS",	     "FI_SDR_TIMEOUT",
					     "FI_SDR_FAULT",	     "FI_SDR_STATS",
					     "FI_SDR_VERBS_LATE",    "FI_SDR_VERBS_RX_DEPTH",
					     "FI_SDR_VERBS_TX_DEPTH" };
	char buf[SDR_ENV_TEXT];
	struct sdr_env env;
	size_t i;

	(void)state;
	sdr_env_defaults(&env);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(sdr_env_get(&env, names[i], buf, sizeof(buf)), 0);
	assert_int_equal(sdr_env_get(&env, "FI_SDR_NONSENSE", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(sdr_env_get(&env, "chunk_size", buf, 3), -ENOSPC);
}

static void env__good_values(void **state)
{
	static const char *const v[][3] = {
		{ "rate", "10gbit", "10000000000" },
		{ "rate", "25e9", "25000000000" },
		{ "RATE", "1500kbit", "1500000" },
		{ "mtu", "8192", "8192" },
		{ "mtu", "0", "0" },
		{ "chunk_size", "64k", "65536" },
		{ "chunk_size", "1m", "1048576" },
		{ "imm_split", "8+22+2", "8+22+2" },
		{ "rto_rtts", "2.5", "2.5" },
		{ "timeout", "100", "100" },
		{ "reliability", "sr_rto", "sr_rto" },
		{ "reliability", "sr_nack", "sr_nack" },
		{ "reliability", "auto", "sr" },
		{ "engine", "soft", "soft" },
		{ "engine", "verbs", "verbs" },
		{ "engine", "auto", "auto" },
		{ "verbs_late", "mw", "mw" },
		{ "verbs_late", "auto", "auto" },
		{ "verbs_rx_depth", "16k", "16384" },
		{ "verbs_tx_depth", "16", "16" },
		{ "cc", "fixed", "fixed" },
		{ "channels", "16", "16" },
		{ "fault", "drop=0.01,delay=5ms", "drop=0.01,delay=5ms" },
		{ "stats", "-", "-" },
		{ "ec_k", "255", "32" },
	};
	char buf[SDR_ENV_TEXT], err[SDR_ENV_ERR];
	struct sdr_env env;
	size_t i;

	(void)state;
	sdr_env_defaults(&env);
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		if (sdr_env_set(&env, v[i][0], v[i][1], err, sizeof(err)))
			fail_msg("%s", err);
		assert_int_equal(sdr_env_get(&env, v[i][0], buf, sizeof(buf)), 0);
		assert_string_equal(buf, v[i][2]);
	}
}

static void env__bad_values(void **state)
{
	static const char *const v[][2] = {
		{ "rate", "abc" },
		{ "rate", "-1" },
		{ "rate", "5x" },
		{ "rate", "10" },
		{ "rate", "1e13" },
		{ "rate", "1gbits" },
		{ "rate", " 5" },
		{ "rate", "nan" },
		{ "rate", "inf" },
		{ "rate", "0x10" },
		{ "rate", "1e999" },
		{ "mtu", "255" },
		{ "mtu", "8193" },
		{ "mtu", "1.5" },
		{ "mtu", "" },
		{ "mtu", "1500 " },
		{ "chunk_size", "0" },
		{ "chunk_size", "2g" },
		{ "channels", "0" },
		{ "channels", "17" },
		{ "generations", "0" },
		{ "imm_split", "10+18" },
		{ "imm_split", "10+18+5" },
		{ "imm_split", "13+15+4" },
		{ "imm_split", "x" },
		{ "rto_rtts", "0.5" },
		{ "rto_rtts", "101" },
		{ "timeout", "99" },
		{ "timeout", "1k5" },
		{ "reliability", "SR" },
		{ "reliability", "s" },
		{ "reliability", "sr,ec" },
		{ "reliability", "" },
		{ "engine", "hard" },
		{ "cc", "cubic" },
		{ "ec_code", "rs" },
		{ "ec_k", "0" },
		{ "ec_m", "256" },
		{ "ec_decode", "rows" },
		{ "objective", "p50" },
		{ "max_overhead", "5" },
		{ "fault", "drop=2" },
		{ "fault", "nonsense=1" },
		{ "rtt_init", "10000001" },
		{ "verbs_late", "lap" },
		{ "verbs_rx_depth", "63" },
		{ "verbs_rx_depth", "16385" },
		{ "verbs_tx_depth", "0" },
	};
	char err[SDR_ENV_ERR], full[64];
	struct sdr_env env, before;
	size_t i;

	(void)state;
	sdr_env_defaults(&env);
	before = env;
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		err[0] = 0;
		if (sdr_env_set(&env, v[i][0], v[i][1], err, sizeof(err)) != -EINVAL)
			fail_msg("%s=\"%s\" was taken", v[i][0], v[i][1]);
		/* the reason names variable and value */
		snprintf(full, sizeof(full), "FI_SDR_%c", v[i][0][0] - 'a' + 'A');
		assert_non_null(strstr(err, full));
		assert_non_null(strstr(err, v[i][1]));
		assert_memory_equal(&env, &before, sizeof(env));
	}
}

static void env__not_there_yet(void **state)
{
	static const char *const v[][2] = { { "reliability", "ec" },
					    { "reliability", "ec_sr" },
					    { "reliability", "hybrid" } };
	char err[SDR_ENV_ERR];
	struct sdr_env env;
	size_t i;

	(void)state;
	sdr_env_defaults(&env);
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		assert_int_equal(sdr_env_set(&env, v[i][0], v[i][1], err, sizeof(err)), -EOPNOTSUPP);
		assert_non_null(strstr(err, "not there yet"));
	}
}

static void env__together(void **state)
{
	char err[SDR_ENV_ERR];
	struct sdr_env env;

	(void)state;
	sdr_env_defaults(&env);
	assert_int_equal(sdr_env_set(&env, "cc", "fixed", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "FI_SDR_RATE"));
	assert_int_equal(sdr_env_set(&env, "rate", "1gbit", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), 0);
	assert_int_equal(sdr_env_set(&env, "mtu", "8192", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_set(&env, "chunk_size", "4096", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), -EINVAL);
}

static void env__man_names_all(void **state)
{
	const struct sdr_env_var *v;
	char *text = NULL, name[64];
	size_t len = 0, i;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	sdr_env_print_man(f);
	fclose(f);
	for (v = sdr_env_vars; v->name; v++) {
		snprintf(name, sizeof(name), "*FI_SDR_%s*", v->name);
		for (i = 8; name[i]; i++)
			name[i] = (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 32 : name[i]);
		assert_non_null(strstr(text, name));
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(env__defaults),      cmocka_unit_test(env__contract_names),
		cmocka_unit_test(env__good_values),   cmocka_unit_test(env__bad_values),
		cmocka_unit_test(env__not_there_yet), cmocka_unit_test(env__together),
		cmocka_unit_test(env__man_names_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
