/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Kinds of settings that say how the network is used: a ceiling with those who share it, and a
 * differentiated services code point by number or name (RFC 2474, 2597, 3246, 5865, 8622).  No
 * state, no I/O.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sdr_env.h"
#include "sdr_env_kind.h"

/* ---- ceiling --------------------------------------------------------------------------------- */

static const char *const sdr_share_names[] = {
	[SDR_SHARE_PROCESS] = "process",
	[SDR_SHARE_ENDPOINT] = "endpoint",
	[SDR_SHARE_HOST] = "host",
};
#define SDR_SHARES (sizeof(sdr_share_names) / sizeof(sdr_share_names[0]))

static int sdr_ceiling_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			     size_t len)
{
	struct sdr_rate_max r = { .share = SDR_SHARE_PROCESS };
	struct sdr_env_var rate = *v;
	const char *slash = strchr(text, '/');
	char num[SDR_ENV_TEXT];

	rate.width = sizeof(r.bps);
	snprintf(num, sizeof(num), "%.*s", slash ? (int)(slash - text) : (int)strlen(text), text);
	if (sdr_kind_rate.parse(&rate, num, &r.bps, why, len))
		return -EINVAL;
	if (slash) {
		while (r.share < SDR_SHARES && strcmp(slash + 1, sdr_share_names[r.share]) != 0)
			r.share++;
		if (r.share == SDR_SHARES) {
			snprintf(why, len, "must be %s", v->range);
			return -EINVAL;
		}
	}
	memcpy(at, &r, sizeof(r));
	return 0;
}

static int sdr_ceiling_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	const struct sdr_rate_max *r = at;

	(void)v;
	return snprintf(buf, len, "%llu%s%s", (unsigned long long)r->bps, r->share ? "/" : "",
			r->share ? sdr_share_names[r->share] : "");
}

const struct sdr_env_kind sdr_kind_ceiling = { .parse = sdr_ceiling_parse,
					       .format = sdr_ceiling_format };

/* ---- traffic class --------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint8_t dscp;
} sdr_dscps[] = {
	{ "DF", 0 },	{ "LE", 1 },	{ "CS0", 0 },	{ "CS1", 8 },	{ "CS2", 16 },
	{ "CS3", 24 },	{ "CS4", 32 },	{ "CS5", 40 },	{ "CS6", 48 },	{ "CS7", 56 },
	{ "AF11", 10 }, { "AF12", 12 }, { "AF13", 14 }, { "AF21", 18 }, { "AF22", 20 },
	{ "AF23", 22 }, { "AF31", 26 }, { "AF32", 28 }, { "AF33", 30 }, { "AF41", 34 },
	{ "AF42", 36 }, { "AF43", 38 }, { "VA", 44 },	{ "EF", 46 },
};

static int sdr_dscp_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			  size_t len)
{
	uint8_t *dscp = at;
	size_t i;

	for (i = 0; i < sizeof(sdr_dscps) / sizeof(sdr_dscps[0]); i++) {
		if (strcasecmp(text, sdr_dscps[i].name) == 0) {
			*dscp = sdr_dscps[i].dscp;
			return 0;
		}
	}
	return sdr_kind_uint.parse(v, text, at, why, len);
}

const struct sdr_env_kind sdr_kind_dscp = { .parse = sdr_dscp_parse, .format = sdr_whole_format };
