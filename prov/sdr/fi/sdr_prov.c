/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What every file of this layer stands on: the provider's struct, the settings of the environment,
 * and warnings.
 *
 * The struct is writable: the core keeps fields of its own in it, and sdr_init.c completes it.  The
 * environment is read anew by every fi_getinfo and fi_domain; what is wrong in it is reported once:
 * on stderr when the log is off, because otherwise nothing would say why there is no sdr.
 */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "sdr_prov.h"
#include "sdr_env.h"

struct fi_provider sdr_prov = {
	.version = SDR_PROV_VERSION,
	.fi_version = SDR_FI_API_VERSION, /* the loading library's, once loaded */
	.name = SDR_PROV_NAME,
};

/* Texts reported already, so that a job that calls fi_getinfo in a loop says things once. */
#define SDR_WARNED_MAX 32u

void sdr_warn_once(const char *fmt, ...)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static uint64_t warned[SDR_WARNED_MAX];
	static unsigned int nwarned;
	char text[SDR_ENV_ERR + 128];
	uint64_t h = 14695981039346656037ull;
	unsigned int i;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (i = 0; text[i]; i++)
		h = (h ^ (uint8_t)text[i]) * 1099511628211ull;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nwarned; i++) {
		if (warned[i] == h)
			break;
	}
	if (i == nwarned) {
		if (nwarned < SDR_WARNED_MAX)
			warned[nwarned++] = h;
		if (fi_log_enabled(&sdr_prov, FI_LOG_WARN, FI_LOG_CORE))
			FI_WARN(&sdr_prov, FI_LOG_CORE, "%s\n", text);
		else
			fprintf(stderr, "libfabric sdr: %s\n", text);
	}
	pthread_mutex_unlock(&lock);
}

/* A variable that starts with our prefix and is in no table is most likely misspelt. */
static void sdr_env_unknown(void)
{
	const struct sdr_env_var *v;
	char name[64];
	size_t n;
	char **e;

	for (e = environ; e && *e; e++) {
		if (strncmp(*e, "FI_SDR_", 7) != 0)
			continue;
		n = strcspn(*e + 7, "=");
		for (v = sdr_env_vars; v->name; v++) {
			if (strlen(v->name) == n && strncasecmp(v->name, *e + 7, n) == 0)
				break;
		}
		if (!v->name) {
			snprintf(name, sizeof(name), "%.*s", (int)n + 7, *e);
			sdr_warn_once(
				"%s is set, but there is no such variable: fi_info -g sdr lists them",
				name);
		}
	}
}

int sdr_env_read(struct sdr_env *env)
{
	const struct sdr_env_var *v;
	char err[SDR_ENV_ERR];
	char *text;
	int ret = 0;

	sdr_env_defaults(env);
	sdr_env_unknown();
	for (v = sdr_env_vars; v->name; v++) {
		text = NULL;
		if (fi_param_get_str(&sdr_prov, v->name, &text) || !text || !text[0])
			continue;
		if (sdr_env_set(env, v->name, text, err, sizeof(err))) {
			sdr_warn_once("%s", err);
			ret = -FI_EINVAL;
		}
	}
	if (!ret && sdr_env_check(env, err, sizeof(err))) {
		sdr_warn_once("%s", err);
		ret = -FI_EINVAL;
	}
	return ret;
}
