/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Reading and checking what the environment says, by the table of variables (sdr_env_table.c).
 *
 * A value is taken whole or refused with a sentence that names the variable, the value and what is
 * allowed; there is no silent default.  Variables are independent of each other except where
 * sdr_env_check says: it is called when all have been set, so that their order does not matter.  No
 * I/O except sdr_env_print_man; the environment itself is read in sdr_prov.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "fec/sdr_code.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "uc/sdr_uc_registry.h"
#include "wire/sdr_frame.h"
#include "sdr_env.h"
#include "sdr_env_kind.h"

static int sdr_env_refuse(char *err, size_t err_len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static int sdr_env_refuse(char *err, size_t err_len, const char *fmt, ...)
{
	va_list ap;

	if (err && err_len) {
		va_start(ap, fmt);
		vsnprintf(err, err_len, fmt, ap);
		va_end(ap);
	}
	return -EINVAL;
}

static const struct sdr_env_var *sdr_env_find(const char *name)
{
	const struct sdr_env_var *v;

	if (strncasecmp(name, "FI_SDR_", 7) == 0)
		name += 7;
	for (v = sdr_env_vars; v->name; v++) {
		if (strcasecmp(v->name, name) == 0)
			return v;
	}
	return NULL;
}

/* "FI_SDR_NAME" of a variable. */
static const char *sdr_env_upper(const struct sdr_env_var *v, char *buf, size_t len)
{
	size_t i;

	snprintf(buf, len, "FI_SDR_%s", v->name);
	for (i = 7; buf[i]; i++)
		buf[i] = (char)toupper((unsigned char)buf[i]);
	return buf;
}

const char *sdr_env_range(const struct sdr_env_var *v, char *buf, size_t len)
{
	if (v->range)
		return v->range;
	v->kind->names(v, buf, len);
	return buf;
}

const char *sdr_env_help(const struct sdr_env_var *v, char *buf, size_t len)
{
	const char *at = strstr(v->help, "%s");
	char engines[SDR_ENV_TEXT];

	if (!at)
		return v->help;
	sdr_uc_engine_help(engines, sizeof(engines));
	snprintf(buf, len, "%.*s%s%s", (int)(at - v->help), v->help, engines, at + 2);
	return buf;
}

const struct sdr_uc_engine *sdr_env_engine(const struct sdr_env *env)
{
	return sdr_uc_engine_find(env->engine, strlen(env->engine));
}

void sdr_env_defaults(struct sdr_env *env)
{
	const struct sdr_env_var *v;

	memset(env, 0, sizeof(*env));
	for (v = sdr_env_vars; v->name; v++) {
		if (v->def[0])
			(void)sdr_env_set(env, v->name, v->def, NULL, 0);
	}
}

int sdr_env_set(struct sdr_env *env, const char *name, const char *value, char *err, size_t err_len)
{
	const struct sdr_env_var *v = sdr_env_find(name);
	char full[64], why[SDR_ENV_ERR];

	if (!v) {
		sdr_env_refuse(err, err_len,
			       "%s is not a setting of sdr (fi_info -g sdr lists them)", name);
		return -ENOENT;
	}
	sdr_env_upper(v, full, sizeof(full));
	if (strlen(value) >= SDR_ENV_TEXT)
		return sdr_env_refuse(err, err_len, "%s: longer than %u characters", full,
				      SDR_ENV_TEXT - 1);
	if (v->kind->parse(v, value, (char *)env + v->off, why, sizeof(why)))
		return sdr_env_refuse(err, err_len, "%s=\"%s\": %s", full, value, why);
	return 0;
}

/* One submessage's parity is part of one SDR message and lies in the scratch memory as a whole. */
static int sdr_env_check_code(const struct sdr_rel_cfg *c, char *err, size_t err_len)
{
	uint64_t parity = (uint64_t)c->ec_m * c->chunk;

	if (c->ec_k + c->ec_m > SDR_CODE_SYMS_MAX)
		return sdr_env_refuse(
			err, err_len,
			"FI_SDR_EC_K=%u and FI_SDR_EC_M=%u: must be %u at most together, make one smaller",
			c->ec_k, c->ec_m, SDR_CODE_SYMS_MAX);
	if (!c->scheme->fixed_code)
		return 0;
	if (c->chunk > SDR_REL_EC_CHUNK)
		return sdr_env_refuse(
			err, err_len,
			"FI_SDR_CHUNK_SIZE=%u: must be %u bytes at most with FI_SDR_RELIABILITY=%s",
			c->chunk, SDR_REL_EC_CHUNK, c->scheme->name);
	if (parity > SDR_REL_SEG_MAX)
		return sdr_env_refuse(
			err, err_len,
			"FI_SDR_CHUNK_SIZE=%u and FI_SDR_EC_M=%u: the parity of a submessage must be %llu "
			"bytes at most (chunk size times m), make one smaller",
			c->chunk, c->ec_m, (unsigned long long)SDR_REL_SEG_MAX);
	if (parity > c->ec_scratch)
		return sdr_env_refuse(
			err, err_len,
			"FI_SDR_EC_SCRATCH=%llu: must be %llu bytes at least, the parity of a submessage "
			"(FI_SDR_CHUNK_SIZE times FI_SDR_EC_M)",
			(unsigned long long)c->ec_scratch, (unsigned long long)parity);
	return 0;
}

static int sdr_env_check_net(const struct sdr_env *env, char *err, size_t err_len)
{
	uint32_t want = env->rel.channels + env->workers + env->rel.paths - (env->port ? 2 : 1);
	uint32_t have = (uint32_t)env->ports.hi - env->ports.lo + 1;

	if (env->ports.lo && have < want)
		return sdr_env_refuse(
			err, err_len,
			"FI_SDR_PORT_RANGE=%u-%u has %u ports, but an endpoint with FI_SDR_CHANNELS=%u, "
			"FI_SDR_WORKERS=%u and FI_SDR_PATHS=%u takes %u of them",
			env->ports.lo, env->ports.hi, have, env->rel.channels, env->workers,
			env->rel.paths, want);
	if (env->bind.ss_family && env->advertise.ss_family &&
	    env->bind.ss_family != env->advertise.ss_family)
		return sdr_env_refuse(
			err, err_len,
			"FI_SDR_BIND and FI_SDR_ADVERTISE: must both be IPv4, or both IPv6");
	return 0;
}

int sdr_env_check(const struct sdr_env *env, char *err, size_t err_len)
{
	uint32_t mtu = env->rel.mtu ? env->rel.mtu : SDR_EP_MTU_MIN;

	if (env->rel.cc->provisioned && !env->rel.rate_bps)
		return sdr_env_refuse(err, err_len,
				      "FI_SDR_CC=%s needs FI_SDR_RATE, e.g. FI_SDR_RATE=10gbit",
				      env->rel.cc->name);
	if (env->rel.chunk < mtu)
		return sdr_env_refuse(
			err, err_len,
			"FI_SDR_CHUNK_SIZE=%u is smaller than a packet (FI_SDR_MTU=%u)",
			env->rel.chunk, mtu);
	if (sdr_env_check_net(env, err, err_len))
		return -EINVAL;
	return sdr_env_check_code(&env->rel, err, err_len);
}

int sdr_env_of_peers(const char *name)
{
	const struct sdr_env_var *v = sdr_env_find(name);

	return v ? v->peers : -ENOENT;
}

int sdr_env_get(const struct sdr_env *env, const char *name, char *buf, size_t len)
{
	const struct sdr_env_var *v = sdr_env_find(name);
	int n;

	if (!v)
		return -ENOENT;
	n = v->kind->format(v, (const char *)env + v->off, buf, len);
	return n < 0 || (size_t)n >= len ? -ENOSPC : 0;
}

void sdr_env_print_man(FILE *f)
{
	const struct sdr_env_var *v;
	char full[64], help[SDR_ENV_HELP], range[SDR_ENV_TEXT];

	for (v = sdr_env_vars; v->name; v++) {
		fprintf(f, "*%s*\n:   %s\n", sdr_env_upper(v, full, sizeof(full)),
			sdr_env_help(v, help, sizeof(help)));
		fprintf(f, "    Allowed: %s%s%s.", sdr_env_range(v, range, sizeof(range)),
			v->unit ? ", in " : "", v->unit ? v->unit : "");
		fprintf(f, " Default: %s.\n\n", v->def[0] ? v->def : "none");
	}
}
