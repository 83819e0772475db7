/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The kinds of values that settings have: how each is read from a text, written as one, and what
 * its names are.
 *
 * A value is read whole or not at all; `why` then completes the sentence "NAME=VALUE: ...".  Whole
 * numbers lie in fields of any width.  No state, no I/O.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "uc/fault/sdr_fault.h"
#include "uc/sdr_uc_registry.h"
#include "wire/sdr_imm.h"
#include "sdr_env.h"
#include "sdr_env_kind.h"

/* ---- numbers --------------------------------------------------------------------------------- */

struct sdr_suffix {
	const char *text; /* any case */
	double mul;
};

static const struct sdr_suffix sdr_no_suffix[] = { { NULL, 0 } };
static const struct sdr_suffix sdr_uint_suffix[] = {
	{ "k", 1024.0 }, { "m", 1048576.0 }, { "g", 1073741824.0 }, { NULL, 0 }
};
static const struct sdr_suffix sdr_rate_suffix[] = {
	{ "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 }, { "gbit", 1e9 }, { NULL, 0 }
};

/* A number with one of the suffixes, nothing behind it; with suffixes it is a whole one. */
static int sdr_number(const char *s, const struct sdr_suffix *suffix, double *out)
{
	bool whole = suffix->text != NULL;
	char *end;
	double x;

	if (!isdigit((unsigned char)*s) && *s != '.')
		return -EINVAL; /* no sign, no blank, no "nan" */
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return -EINVAL;
	x = strtod(s, &end);
	if (!isfinite(x))
		return -EINVAL;
	if (*end) {
		while (suffix->text && strcasecmp(end, suffix->text) != 0)
			suffix++;
		if (!suffix->text)
			return -EINVAL;
		x *= suffix->mul;
	}
	if (whole && x != floor(x))
		return -EINVAL;
	*out = x;
	return 0;
}

static int sdr_number_parse(const struct sdr_env_var *v, const char *text,
			    const struct sdr_suffix *suffix, double *out, char *why, size_t len)
{
	double x;

	if (!sdr_number(text, suffix, &x) && (!v->rule || v->rule(x)) &&
	    ((v->zero && x == 0) || (x >= v->min && x <= v->max))) {
		*out = x;
		return 0;
	}
	snprintf(why, len, "must be %s%s%s", v->range, v->unit ? " " : "", v->unit ? v->unit : "");
	return -EINVAL;
}

/* Whole numbers lie in fields of any width. */
static void sdr_store(void *p, size_t width, uint64_t x)
{
	switch (width) {
	case 1:
		*(uint8_t *)p = (uint8_t)x;
		break;
	case 2:
		*(uint16_t *)p = (uint16_t)x;
		break;
	case 4:
		*(uint32_t *)p = (uint32_t)x;
		break;
	default:
		*(uint64_t *)p = x;
		break;
	}
}

static uint64_t sdr_load(const void *p, size_t width)
{
	switch (width) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return *(const uint16_t *)p;
	case 4:
		return *(const uint32_t *)p;
	default:
		return *(const uint64_t *)p;
	}
}

static int sdr_whole_parse(const struct sdr_env_var *v, const char *text, void *at,
			   const struct sdr_suffix *suffix, char *why, size_t len)
{
	double x;
	int ret = sdr_number_parse(v, text, suffix, &x, why, len);

	if (!ret)
		sdr_store(at, v->width, (uint64_t)x);
	return ret;
}

static int sdr_uint_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			  size_t len)
{
	return sdr_whole_parse(v, text, at, sdr_uint_suffix, why, len);
}

static int sdr_rate_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			  size_t len)
{
	return sdr_whole_parse(v, text, at, sdr_rate_suffix, why, len);
}

int sdr_whole_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	return snprintf(buf, len, "%llu", (unsigned long long)sdr_load(at, v->width));
}

static int sdr_real_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			  size_t len)
{
	return sdr_number_parse(v, text, sdr_no_suffix, at, why, len);
}

static int sdr_real_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	(void)v;
	return snprintf(buf, len, "%g", *(const double *)at);
}

const struct sdr_env_kind sdr_kind_uint = { .parse = sdr_uint_parse, .format = sdr_whole_format };
const struct sdr_env_kind sdr_kind_rate = { .parse = sdr_rate_parse, .format = sdr_whole_format };
const struct sdr_env_kind sdr_kind_real = { .parse = sdr_real_parse, .format = sdr_real_format };

/* ---- names ----------------------------------------------------------------------------------- */

static const struct sdr_env_name *sdr_choice_find(const struct sdr_env_var *v, const char *text)
{
	const struct sdr_env_name *w;

	for (w = v->names; w->text; w++) {
		if (strcmp(w->text, text) == 0)
			return w;
	}
	return NULL;
}

static void sdr_choice_list(const struct sdr_env_var *v, char *buf, size_t len)
{
	const struct sdr_env_name *w;
	size_t n = 0;

	buf[0] = 0;
	for (w = v->names; w->text && n < len; w++)
		n += (size_t)snprintf(buf + n, len - n, "%s%s", n ? ", " : "", w->text);
}

/* "must be one of ..."; -EINVAL. */
static int sdr_choice_refuse(const struct sdr_env_var *v, char *why, size_t len)
{
	char names[SDR_ENV_TEXT];

	v->kind->names(v, names, sizeof(names));
	snprintf(why, len, "must be one of %s", names);
	return -EINVAL;
}

static int sdr_choice_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			    size_t len)
{
	const struct sdr_env_name *w = sdr_choice_find(v, text);

	if (!w)
		return sdr_choice_refuse(v, why, len);
	sdr_store(at, v->width, w->value);
	return 0;
}

static int sdr_choice_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	const struct sdr_env_name *w = v->names;

	while (w->text && w->value != sdr_load(at, v->width))
		w++;
	return snprintf(buf, len, "%s", w->text ? w->text : "");
}

static int sdr_text_put(const struct sdr_env_var *v, const char *text, void *at)
{
	snprintf(at, v->width, "%s", text);
	return 0;
}

static int sdr_text_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	(void)v;
	return snprintf(buf, len, "%s", (const char *)at);
}

static int sdr_label_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			   size_t len)
{
	return sdr_choice_find(v, text) ? sdr_text_put(v, text, at)
					: sdr_choice_refuse(v, why, len);
}

const struct sdr_env_kind sdr_kind_choice = { sdr_choice_parse, sdr_choice_format,
					      sdr_choice_list };
const struct sdr_env_kind sdr_kind_label = { sdr_label_parse, sdr_text_format, sdr_choice_list };

/* ---- names of other tables ------------------------------------------------------------------- */

static void sdr_engine_names(const struct sdr_env_var *v, char *buf, size_t len)
{
	int n = snprintf(buf, len, "%s, ", v->def);

	if (n > 0 && (size_t)n < len)
		sdr_uc_engine_names(buf + n, len - (size_t)n);
}

static int sdr_engine_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			    size_t len)
{
	if (strcmp(text, v->def) != 0 && !sdr_uc_engine_find(text, strlen(text)))
		return sdr_choice_refuse(v, why, len);
	return sdr_text_put(v, text, at);
}

static void sdr_cc_kind_names(const struct sdr_env_var *v, char *buf, size_t len)
{
	(void)v;
	sdr_cc_names(buf, len);
}

static int sdr_cc_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			size_t len)
{
	const struct sdr_cc_ops **cc = at;

	if (!sdr_cc_find(text))
		return sdr_choice_refuse(v, why, len);
	*cc = sdr_cc_find(text);
	return 0;
}

static int sdr_cc_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	const struct sdr_cc_ops *const *cc = at;

	(void)v;
	return snprintf(buf, len, "%s", (*cc)->name);
}

static void sdr_scheme_kind_names(const struct sdr_env_var *v, char *buf, size_t len)
{
	(void)v;
	sdr_scheme_names(buf, len);
}

static int sdr_scheme_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			    size_t len)
{
	const struct sdr_scheme_ops **scheme = at;

	if (!sdr_scheme_find(text))
		return sdr_choice_refuse(v, why, len);
	*scheme = sdr_scheme_find(text);
	return 0;
}

static int sdr_scheme_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	const struct sdr_scheme_ops *const *scheme = at;

	(void)v;
	return snprintf(buf, len, "%s", (*scheme)->name);
}

const struct sdr_env_kind sdr_kind_engine = { sdr_engine_parse, sdr_text_format, sdr_engine_names };
const struct sdr_env_kind sdr_kind_scheme = { sdr_scheme_parse, sdr_scheme_format,
					      sdr_scheme_kind_names };
const struct sdr_env_kind sdr_kind_cc = { sdr_cc_parse, sdr_cc_format, sdr_cc_kind_names };

/* ---- texts ----------------------------------------------------------------------------------- */

static int sdr_text_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			  size_t len)
{
	(void)why;
	(void)len;
	return sdr_text_put(v, text, at);
}

static int sdr_split_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			   size_t len)
{
	struct sdr_imm_split split;

	if (sdr_imm_split_parse(text, &split) || sdr_imm_split_check(&split)) {
		snprintf(why, len, "must be %s, e.g. 10+18+4 or 8+22+2", v->range);
		return -EINVAL;
	}
	memcpy(at, &split, sizeof(split));
	return 0;
}

static int sdr_split_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	const struct sdr_imm_split *split = at;

	(void)v;
	return snprintf(buf, len, "%u+%u+%u", split->id_bits, split->off_bits, split->user_bits);
}

static int sdr_fault_kind_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
				size_t len)
{
	struct sdr_fault_spec spec;
	char bad[128] = "";

	if (sdr_fault_parse(text, &spec, bad, sizeof(bad))) {
		snprintf(why, len, "%s; allowed are %s", bad[0] ? bad : "not understood", v->range);
		return -EINVAL;
	}
	return sdr_text_put(v, text, at);
}

const struct sdr_env_kind sdr_kind_text = { .parse = sdr_text_parse, .format = sdr_text_format };
const struct sdr_env_kind sdr_kind_split = { .parse = sdr_split_parse, .format = sdr_split_format };
const struct sdr_env_kind sdr_kind_fault = { .parse = sdr_fault_kind_parse,
					     .format = sdr_text_format };
