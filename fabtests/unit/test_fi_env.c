/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The table of environment variables: every default is valid, every wrong value is refused with its
 * reason.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fec/sdr_code.h"
#include "fi/sdr_env.h"
#include "fi/sdr_ep.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "uc/verbs/sdr_verbs.h"

static void env__defaults(void **state)
{
	char buf[SDR_ENV_TEXT], err[SDR_ENV_ERR] = "";
	const struct sdr_env_var *v;
	struct sdr_env env;

	(void)state;
	sdr_env_defaults(&env);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), 0);
	assert_ptr_equal(env.rel.scheme, &sdr_scheme_auto);
	assert_int_equal(env.rel.ec_code, SDR_CODE_MDS);
	assert_int_equal(env.rel.ec_k, 32);
	assert_int_equal(env.rel.ec_m, 8);
	assert_false(env.rel.ec_chunk_decode);
	assert_int_equal(env.rel.objective, SDR_OBJECTIVE_P99);
	assert_true(env.rel.max_overhead == 0.25);
	assert_int_equal(env.rel.ec_scratch, SDR_REL_EC_SCRATCH);
	assert_int_equal(env.ec_threads, 1);
	assert_ptr_equal(env.rel.cc, sdr_cc_table[0]);
	assert_int_equal(env.rel.timeout_ms, 30000);
	assert_int_equal(env.rel.chunk, 65536);
	assert_int_equal(env.rel.split.id_bits, 10);
	assert_int_equal(env.rel.channels, 1);
	assert_int_equal(env.rel.generations, 4);
	assert_string_equal(env.engine, "auto");
	assert_null(sdr_env_engine(&env));
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

/* The same defaults for an endpoint that is built without the environment. */
static void env__defaults_are_those_of_rel(void **state)
{
	struct sdr_rel_cfg rel;
	struct sdr_env env;

	(void)state;
	sdr_rel_cfg_init(&rel);
	assert_int_equal(rel.tx_depth, SDR_TX_SIZE);
	assert_int_equal(rel.rx_depth, SDR_RX_SIZE);
	assert_int_equal(rel.inject_max, SDR_INJECT_SIZE);
	sdr_env_defaults(&env);
	/* these come from the endpoint's attributes */
	env.rel.tx_depth = rel.tx_depth;
	env.rel.rx_depth = rel.rx_depth;
	env.rel.inject_max = rel.inject_max;
#define SAME(m) assert_memory_equal(&env.rel.m, &rel.m, sizeof(rel.m))
	/* NULL: the first of the table */
	assert_null(rel.scheme);
	assert_ptr_equal(env.rel.scheme, sdr_scheme_table[0]);
	SAME(cc);
	SAME(rate_bps);
	SAME(mtu);
	SAME(chunk);
	SAME(split.id_bits);
	SAME(split.off_bits);
	SAME(split.user_bits);
	SAME(channels);
	SAME(paths);
	SAME(generations);
	SAME(rtt_init_us);
	SAME(rto_rtts);
	SAME(timeout_ms);
	SAME(ec_code);
	SAME(ec_k);
	SAME(ec_m);
	SAME(ec_chunk_decode);
	SAME(objective);
	SAME(max_overhead);
	SAME(ec_scratch);
	SAME(strangers_max);
	SAME(answers_max);
	SAME(unexp_max);
#undef SAME
}

/* A congestion control that is added to the table can be chosen. */
static void env__takes_every_congestion_control_of_the_table(void **state)
{
	const struct sdr_cc_ops *const *ops;
	char text[64], err[SDR_ENV_ERR];
	struct sdr_env env;

	(void)state;
	sdr_env_defaults(&env);
	for (ops = sdr_cc_table; *ops; ops++) {
		assert_int_equal(sdr_env_set(&env, "FI_SDR_CC", (*ops)->name, err, sizeof(err)), 0);
		assert_ptr_equal(env.rel.cc, *ops);
		assert_int_equal(sdr_env_get(&env, "cc", text, sizeof(text)), 0);
		assert_string_equal(text, (*ops)->name);
		assert_int_equal(sdr_env_check(&env, err, sizeof(err)),
				 (*ops)->provisioned ? -EINVAL : 0);
	}
	assert_int_equal(sdr_env_set(&env, "FI_SDR_CC", "bbr, fixed", err, sizeof(err)), -EINVAL);
	for (ops = sdr_cc_table; *ops; ops++)
		assert_non_null(strstr(err, (*ops)->name));
}

/* A scheme that is added to the table can be chosen. */
static void env__takes_every_scheme_of_the_table(void **state)
{
	const struct sdr_scheme_ops *const *ops;
	char text[64], err[SDR_ENV_ERR];
	struct sdr_env env;

	(void)state;
	sdr_env_defaults(&env);
	for (ops = sdr_scheme_table; *ops; ops++) {
		assert_ptr_equal(sdr_scheme_find((*ops)->name), *ops);
		assert_int_equal(
			sdr_env_set(&env, "FI_SDR_RELIABILITY", (*ops)->name, err, sizeof(err)), 0);
		assert_ptr_equal(env.rel.scheme, *ops);
		assert_int_equal(sdr_env_get(&env, "reliability", text, sizeof(text)), 0);
		assert_string_equal(text, (*ops)->name);
	}
	assert_null(sdr_scheme_find("SR"));
	assert_null(sdr_scheme_find(""));
	assert_int_equal(sdr_env_set(&env, "reliability", "sr, ec", err, sizeof(err)), -EINVAL);
	for (ops = sdr_scheme_table; *ops; ops++)
		assert_non_null(strstr(err, (*ops)->name));
}

static void env__contract_names(void **state)
{
	static const char *const names[] = { "FI_SDR_ENGINE",
					     "FI_SDR_RELIABILITY",
					     "FI_SDR_EC_CODE",
					     "FI_SDR_EC_K",
					     "FI_SDR_EC_M",
					     "FI_SDR_EC_DECODE",
					     "FI_SDR_OBJECTIVE",
					     "FI_SDR_MAX_OVERHEAD",
					     "FI_SDR_MTU",
					     "FI_SDR_CHUNK_SIZE",
					     "FI_SDR_IMM_SPLIT",
					     "FI_SDR_CHANNELS",
					     "FI_SDR_PATHS",
					     "FI_SDR_WORKERS",
					     "FI_SDR_SPREAD_MIN",
					     "FI_SDR_GENERATIONS",
					     "FI_SDR_CC",
					     "FI_SDR_RATE",
					     "FI_SDR_RATE_MAX",
					     "FI_SDR_ECN",
					     "FI_SDR_SHM",
					     "FI_SDR_DSCP",
					     "FI_SDR_RTT_INIT",
					     "FI_SDR_RTO_RTTS",
					     "FI_SDR_TIMEOUT",
					     "FI_SDR_FAULT",
					     "FI_SDR_STATS",
					     "FI_SDR_VERBS_LATE",
					     "FI_SDR_VERBS_RX_DEPTH",
					     "FI_SDR_VERBS_TX_DEPTH",
					     "FI_SDR_EC_SCRATCH",
					     "FI_SDR_EC_THREADS",
					     "FI_SDR_IFACE",
					     "FI_SDR_BIND",
					     "FI_SDR_PORT",
					     "FI_SDR_PORT_RANGE",
					     "FI_SDR_ADVERTISE" };
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
		{ "rate_max", "10gbit", "10000000000" },
		{ "rate_max", "10gbit/host", "10000000000/host" },
		{ "rate_max", "5000/endpoint", "5000/endpoint" },
		{ "rate_max", "1mbit/process", "1000000" },
		{ "rate_max", "0", "0" },
		{ "ecn", "off", "off" },
		{ "ecn", "on", "on" },
		{ "dscp", "EF", "46" },
		{ "dscp", "af41", "34" },
		{ "dscp", "LE", "1" },
		{ "dscp", "CS7", "56" },
		{ "dscp", "63", "63" },
		{ "dscp", "0", "0" },
		{ "mtu", "8192", "8192" },
		{ "mtu", "0", "0" },
		{ "chunk_size", "64k", "65536" },
		{ "chunk_size", "1m", "1048576" },
		{ "spread_min", "256k", "262144" },
		{ "spread_min", "64m", "67108864" },
		{ "imm_split", "8+22+2", "8+22+2" },
		{ "rto_rtts", "2.5", "2.5" },
		{ "timeout", "100", "100" },
		{ "reliability", "sr_rto", "sr_rto" },
		{ "reliability", "sr_nack", "sr_nack" },
		{ "reliability", "sr", "sr" },
		{ "reliability", "ec", "ec" },
		{ "reliability", "ec_sr", "ec_sr" },
		{ "reliability", "hybrid", "hybrid" },
		{ "reliability", "auto", "auto" },
		{ "ec_code", "xor", "xor" },
		{ "ec_code", "mds", "mds" },
		{ "ec_k", "1", "1" },
		{ "ec_m", "255", "255" },
		{ "ec_decode", "chunk", "chunk" },
		{ "ec_decode", "row", "row" },
		{ "ec_scratch", "1m", "1048576" },
		{ "ec_scratch", "64g", "68719476736" },
		{ "ec_threads", "0", "0" },
		{ "ec_threads", "64", "64" },
		{ "objective", "mean", "mean" },
		{ "objective", "p999", "p999" },
		{ "objective", "p99", "p99" },
		{ "max_overhead", "0", "0" },
		{ "max_overhead", "0.125", "0.125" },
		{ "max_overhead", "4", "4" },
		{ "engine", "soft", "soft" },
		{ "engine", "verbs", "verbs" },
		{ "engine", "auto", "auto" },
		{ "verbs_late", "mw", "mw" },
		{ "verbs_late", "auto", "auto" },
		{ "verbs_rx_depth", "16k", "16384" },
		{ "verbs_tx_depth", "16", "16" },
		{ "cc", "fixed", "fixed" },
		{ "channels", "16", "16" },
		{ "paths", "1", "1" },
		{ "paths", "16", "16" },
		{ "fault", "drop=0.01,delay=5ms", "drop=0.01,delay=5ms" },
		{ "stats", "-", "-" },
		{ "ec_k", "255", "255" },
		{ "iface", "wan0,!10.1.0.0/16", "wan0,!10.1.0.0/16" },
		{ "iface", "", "" },
		{ "bind", "10.0.0.2", "10.0.0.2" },
		{ "bind", "::", "[::]" },
		{ "bind", "[2001:db8::1]", "[2001:db8::1]" },
		{ "bind", "0.0.0.0", "0.0.0.0" },
		{ "bind", "", "" },
		{ "port", "65535", "65535" },
		{ "port", "0", "0" },
		{ "port_range", "20100-20109", "20100-20109" },
		{ "port_range", "1-65535", "1-65535" },
		{ "port_range", "7-7", "7-7" },
		{ "port_range", "", "" },
		{ "advertise", "203.0.113.1", "203.0.113.1" },
		{ "advertise", "203.0.113.1:20100", "203.0.113.1:20100" },
		{ "advertise", "2001:db8::1", "[2001:db8::1]" },
		{ "advertise", "[2001:db8::1]:7", "[2001:db8::1]:7" },
		{ "advertise", "", "" },
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

static const char *const bad_values[][2] = {
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
	{ "rate_max", "999" },
	{ "rate_max", "10gbit/" },
	{ "rate_max", "10gbit/site" },
	{ "rate_max", "/host" },
	{ "rate_max", "1e13/host" },
	{ "rate_max", "10gbit/host " },
	{ "ecn", "yes" },
	{ "dscp", "64" },
	{ "dscp", "-1" },
	{ "dscp", "AF51" },
	{ "dscp", "CS8" },
	{ "dscp", "" },
	{ "mtu", "255" },
	{ "mtu", "8193" },
	{ "mtu", "1.5" },
	{ "mtu", "" },
	{ "mtu", "1500 " },
	{ "chunk_size", "0" },
	{ "chunk_size", "2g" },
	{ "channels", "0" },
	{ "channels", "17" },
	{ "paths", "0" },
	{ "paths", "17" },
	{ "paths", "two" },
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
	{ "reliability", "bogus" },
	{ "reliability", "ec,ec_sr" },
	{ "engine", "hard" },
	{ "cc", "cubic" },
	{ "ec_code", "rs" },
	{ "ec_code", "xor,mds" },
	{ "ec_code", "2" },
	{ "ec_k", "0" },
	{ "ec_k", "256" },
	{ "ec_k", "2.5" },
	{ "ec_m", "0" },
	{ "ec_m", "256" },
	{ "ec_m", "-8" },
	{ "ec_scratch", "0" },
	{ "ec_scratch", "1048575" },
	{ "ec_scratch", "65g" },
	{ "ec_threads", "65" },
	{ "ec_threads", "-1" },
	{ "ec_decode", "rows" },
	{ "objective", "p50" },
	{ "objective", "p9" },
	{ "max_overhead", "5" },
	{ "max_overhead", "-1" },
	{ "max_overhead", "nan" },
	{ "max_overhead", "25%" },
	{ "fault", "drop=2" },
	{ "fault", "nonsense=1" },
	{ "rtt_init", "10000001" },
	{ "verbs_late", "epoch" },
	{ "verbs_rx_depth", "63" },
	{ "verbs_rx_depth", "16385" },
	{ "verbs_tx_depth", "0" },
	{ "iface", "wan0,,ctl0" },
	{ "iface", "10.0.0.0/33" },
	{ "bind", "10.0.0.2:7" },
	{ "bind", "[::1]:7" },
	{ "bind", "wan0" },
	{ "bind", "10.0.0" },
	{ "bind", "224.0.0.1" },
	{ "bind", "10.0.0.2 " },
	{ "port", "65536" },
	{ "port", "-1" },
	{ "port_range", "20100" },
	{ "port_range", "20109-20100" },
	{ "port_range", "0-10" },
	{ "port_range", "20100-65536" },
	{ "port_range", "20100-20109x" },
	{ "port_range", "20100 - 20109" },
	{ "port_range", "-5" },
	{ "port_range", "5-" },
	{ "port_range", "4294967297-4294967298" },
	{ "advertise", "0.0.0.0" },
	{ "advertise", "0.0.0.0:7" },
	{ "advertise", "::" },
	{ "advertise", "ff02::1" },
	{ "advertise", "255.255.255.255" },
	{ "advertise", "203.0.113.1:" },
	{ "advertise", "203.0.113.1:65536" },
	{ "advertise", "gate.example.org" },
	{ "advertise", ":7" },
};

static void env__bad_values(void **state)
{
	char err[SDR_ENV_ERR], full[64];
	struct sdr_env env, before;
	size_t i;

	(void)state;
	sdr_env_defaults(&env);
	before = env;
	for (i = 0; i < sizeof(bad_values) / sizeof(bad_values[0]); i++) {
		err[0] = 0;
		if (sdr_env_set(&env, bad_values[i][0], bad_values[i][1], err, sizeof(err)) !=
		    -EINVAL)
			fail_msg("%s=\"%s\" was taken", bad_values[i][0], bad_values[i][1]);
		/* the reason names variable and value */
		snprintf(full, sizeof(full), "FI_SDR_%c", bad_values[i][0][0] - 'a' + 'A');
		assert_non_null(strstr(err, full));
		assert_non_null(strstr(err, bad_values[i][1]));
		assert_memory_equal(&env, &before, sizeof(env));
	}
}

/* Names and numbers arrive in the fields that the reliable endpoint reads, and nowhere else. */
static void env__code_fields(void **state)
{
	static const struct {
		const char *word;
		const struct sdr_scheme_ops *scheme;
	} schemes[] = {
		{ "auto", &sdr_scheme_auto },	    { "hybrid", &sdr_scheme_hybrid },
		{ "sr", &sdr_scheme_sr },	    { "sr_rto", &sdr_scheme_sr_rto },
		{ "sr_nack", &sdr_scheme_sr_nack }, { "ec", &sdr_scheme_ec },
		{ "ec_sr", &sdr_scheme_ec_sr },
	};
	struct sdr_env env, want;
	char err[SDR_ENV_ERR];
	size_t i;

	(void)state;
	sdr_env_defaults(&env);
	want = env;
	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		assert_int_equal(
			sdr_env_set(&env, "reliability", schemes[i].word, err, sizeof(err)), 0);
		want.rel.scheme = schemes[i].scheme;
		assert_memory_equal(&env, &want, sizeof(env));
	}
	assert_int_equal(sdr_env_set(&env, "ec_code", "xor", err, sizeof(err)), 0);
	want.rel.ec_code = SDR_CODE_XOR;
	assert_memory_equal(&env, &want, sizeof(env));
	assert_int_equal(sdr_env_set(&env, "ec_k", "200", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_set(&env, "ec_m", "20", err, sizeof(err)), 0);
	want.rel.ec_k = 200;
	want.rel.ec_m = 20;
	assert_memory_equal(&env, &want, sizeof(env));
	assert_int_equal(sdr_env_set(&env, "ec_decode", "chunk", err, sizeof(err)), 0);
	want.rel.ec_chunk_decode = true;
	assert_memory_equal(&env, &want, sizeof(env));
	assert_int_equal(sdr_env_set(&env, "objective", "p999", err, sizeof(err)), 0);
	want.rel.objective = SDR_OBJECTIVE_P999;
	assert_memory_equal(&env, &want, sizeof(env));
	assert_int_equal(sdr_env_set(&env, "max_overhead", "0.5", err, sizeof(err)), 0);
	want.rel.max_overhead = 0.5;
	assert_memory_equal(&env, &want, sizeof(env));
	assert_int_equal(sdr_env_set(&env, "ec_scratch", "8g", err, sizeof(err)), 0);
	want.rel.ec_scratch = 8ull << 30;
	assert_memory_equal(&env, &want, sizeof(env));
}

/*
 * Settings of parity that are right by themselves and wrong together; the reason names those that
 * must change.
 */
static void env__code_together(void **state)
{
	static const struct {
		const char *set[4][2];
		const char *names[2]; /* NULL: goes */
	} v[] = {
		{ { { "ec_k", "250" }, { "ec_m", "10" } },
		  { "FI_SDR_EC_K=250", "FI_SDR_EC_M=10" } },
		{ { { "ec_k", "1" }, { "ec_m", "255" } }, { NULL } },
		{ { { "ec_k", "248" }, { "ec_m", "8" } }, { NULL } },
		/* with the default */
		{ { { "ec_k", "249" } }, { "FI_SDR_EC_K=249", "FI_SDR_EC_M=8" } },
		{ { { "ec_code", "xor" }, { "ec_k", "4" }, { "ec_m", "8" } }, { NULL } },
		{ { { "reliability", "ec" }, { "chunk_size", "8m" } }, { NULL } },
		{ { { "reliability", "ec" }, { "chunk_size", "8m" }, { "ec_m", "9" } },
		  { "FI_SDR_CHUNK_SIZE=8388608", "FI_SDR_EC_M=9" } },
		{ { { "reliability", "ec_sr" }, { "chunk_size", "16m" } },
		  { "FI_SDR_CHUNK_SIZE=16777216", "FI_SDR_EC_M=8" } },
		{ { { "reliability", "ec_sr" }, { "chunk_size", "16m" }, { "ec_m", "4" } },
		  { NULL } },
		{ { { "reliability", "ec_sr" }, { "chunk_size", "17m" }, { "ec_m", "1" } },
		  { "FI_SDR_CHUNK_SIZE=17825792", "FI_SDR_RELIABILITY" } },
		{ { { "reliability", "ec" }, { "ec_scratch", "1m" }, { "ec_m", "16" } }, { NULL } },
		{ { { "reliability", "ec" }, { "ec_scratch", "1m" }, { "ec_m", "17" } },
		  { "FI_SDR_EC_SCRATCH=1048576", "FI_SDR_EC_M" } },
		/* what is not used does no harm */
		{ { { "reliability", "auto" }, { "chunk_size", "1g" } }, { NULL } },
		{ { { "reliability", "sr" }, { "chunk_size", "1g" }, { "ec_scratch", "1m" } },
		  { NULL } },
	};
	char err[SDR_ENV_ERR];
	struct sdr_env env;
	size_t i, j;
	int ret;

	(void)state;
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		sdr_env_defaults(&env);
		for (j = 0; j < 4 && v[i].set[j][0]; j++)
			assert_int_equal(
				sdr_env_set(&env, v[i].set[j][0], v[i].set[j][1], err, sizeof(err)),
				0);
		err[0] = 0;
		ret = sdr_env_check(&env, err, sizeof(err));
		if (ret != (v[i].names[0] ? -EINVAL : 0))
			fail_msg("row %zu: %d %s", i, ret, err);
		for (j = 0; j < 2 && v[i].names[j]; j++) {
			if (!strstr(err, v[i].names[j]))
				fail_msg("row %zu: no %s in \"%s\"", i, v[i].names[j], err);
		}
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
	assert_int_equal(sdr_env_set(&env, "channels", "4", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_set(&env, "port_range", "7000-7002", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "7000-7002"));
	assert_int_equal(sdr_env_set(&env, "port", "6999", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), 0);
	/* the sockets of further paths are in the range, too */
	assert_int_equal(sdr_env_set(&env, "paths", "2", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "FI_SDR_PATHS=2"));
	assert_int_equal(sdr_env_set(&env, "port_range", "7000-7003", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), 0);
	assert_int_equal(sdr_env_set(&env, "bind", "10.0.0.2", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_set(&env, "advertise", "::1", err, sizeof(err)), 0);
	assert_int_equal(sdr_env_check(&env, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "FI_SDR_ADVERTISE"));
	assert_int_equal(sdr_env_set(&env, "bind", "::", err, sizeof(err)), 0);
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
		cmocka_unit_test(env__defaults),
		cmocka_unit_test(env__defaults_are_those_of_rel),
		cmocka_unit_test(env__takes_every_congestion_control_of_the_table),
		cmocka_unit_test(env__takes_every_scheme_of_the_table),
		cmocka_unit_test(env__contract_names),
		cmocka_unit_test(env__good_values),
		cmocka_unit_test(env__bad_values),
		cmocka_unit_test(env__code_fields),
		cmocka_unit_test(env__code_together),
		cmocka_unit_test(env__together),
		cmocka_unit_test(env__man_names_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
