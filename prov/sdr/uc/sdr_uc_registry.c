/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The table of engines.  A new engine is its folder and one row here; what is printed of engines,
 * searched for and tried is taken from the rows.  The simulated engine has no row: it is opened on
 * a world, not by a name.  No state but the table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uc/soft/sdr_soft.h"
#include "uc/verbs/sdr_verbs.h"
#include "sdr_uc_registry.h"

const struct sdr_uc_engine *const sdr_uc_engines[] = {
	&sdr_verbs_engine,
	&sdr_soft_engine,
	NULL,
};
/*
 * Those whose network ends with this process: they are opened by their name, and offered to nobody.
 */
static const struct sdr_uc_engine *const sdr_uc_engines_here[] = {
	&sdr_soft_mem_engine,
	NULL,
};
#define SDR_UC_ENGINES (sizeof(sdr_uc_engines) / sizeof(sdr_uc_engines[0]) - 1)

static const struct sdr_uc_engine *sdr_uc_engine_in(const struct sdr_uc_engine *const *e,
						    const char *name, size_t n)
{
	for (; *e; e++) {
		if (strlen((*e)->name) == n && memcmp((*e)->name, name, n) == 0)
			return *e;
	}
	return NULL;
}

const struct sdr_uc_engine *sdr_uc_engine_find(const char *name, size_t n)
{
	return sdr_uc_engine_in(sdr_uc_engines, name, n);
}

const struct sdr_uc_engine *sdr_uc_engine_find_here(const char *name, size_t n)
{
	const struct sdr_uc_engine *e = sdr_uc_engine_find(name, n);

	return e ? e : sdr_uc_engine_in(sdr_uc_engines_here, name, n);
}

const struct sdr_uc_engine *sdr_uc_engine_any(void)
{
	const struct sdr_uc_engine *const *e;

	for (e = sdr_uc_engines; *e && (*e)->probe; e++)
		;
	return *e;
}

/* Appends, truncated, as snprintf does. */
static size_t sdr_uc_text(char *buf, size_t len, size_t at, const char *s)
{
	if (at < len)
		snprintf(buf + at, len - at, "%s", s);
	return at + strlen(s);
}

void sdr_uc_engine_names(char *buf, size_t len)
{
	size_t i, at = 0;

	for (i = SDR_UC_ENGINES; i--;) {
		at = sdr_uc_text(buf, len, at, sdr_uc_engines[i]->name);
		at = sdr_uc_text(buf, len, at, i ? ", " : "");
	}
}

void sdr_uc_engine_help(char *buf, size_t len)
{
	size_t i, at = 0;

	for (i = SDR_UC_ENGINES; i--;) {
		at = sdr_uc_text(buf, len, at, sdr_uc_engines[i]->name);
		at = sdr_uc_text(buf, len, at, " is ");
		at = sdr_uc_text(buf, len, at, sdr_uc_engines[i]->is);
		at = sdr_uc_text(buf, len, at, i ? ", " : "");
	}
}

void sdr_uc_engine_syntax(char *buf, size_t len)
{
	size_t i, at = 0;

	for (i = SDR_UC_ENGINES; i--;) {
		at = sdr_uc_text(buf, len, at, sdr_uc_engines[i]->names);
		at = sdr_uc_text(buf, len, at, i ? ", " : "");
	}
}

int sdr_uc_engine_probe(const struct sdr_uc_engine *e, struct sdr_uc_dev **v, unsigned int *n,
			char *err, size_t err_len)
{
	struct sdr_uc_dev *found = NULL, *all;
	unsigned int got = 0;
	int ret;

	if (!e->probe)
		return 0;
	ret = e->probe(&found, &got, err, err_len);
	if (ret || !got)
		return ret;
	all = realloc(*v, (*n + got) * sizeof(*all));
	if (!all) {
		free(found);
		return -ENOMEM;
	}
	memcpy(all + *n, found, got * sizeof(*all));
	free(found);
	*v = all;
	*n += got;
	return (int)got;
}
