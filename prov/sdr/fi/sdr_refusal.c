/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Why fi_getinfo offers nothing.
 *
 * A request is held against each type of endpoint, and refused by some of them in any case, so a
 * reason alone is no news: it goes into the log at level info.  When all types have refused and
 * somebody has asked for sdr by name, the reason that stopped the first type in question is said
 * again at level warn, bits by their names: FI_PROVIDER=sdr and a program that finds no provider
 * then explain themselves with FI_LOG_LEVEL=warn.
 *
 * The reason is the thread's, for the length of one fi_getinfo: the checks that find it run through
 * a dozen functions, which would hand it on and nothing else.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sdr_refusal.h"
#include "sdr_prov.h"

#define SDR_REFUSAL_LEN 512u /* bytes of a reason, with its 0 */

/* Reasons that another one takes the place of come first. */
enum sdr_refusal_rank { SDR_REFUSAL_NONE, SDR_REFUSAL_TYPE, SDR_REFUSAL_FINAL };

static _Thread_local struct {
	enum sdr_refusal_rank rank;
	char text[SDR_REFUSAL_LEN];
} sdr_refusal;

void sdr_refusal_clear(void)
{
	sdr_refusal.rank = SDR_REFUSAL_NONE;
	sdr_refusal.text[0] = 0;
}

static void sdr_refusal_keep(enum sdr_refusal_rank rank, const char *text)
{
	if (rank <= sdr_refusal.rank)
		return;
	sdr_refusal.rank = rank;
	snprintf(sdr_refusal.text, sizeof(sdr_refusal.text), "%.*s", (int)strcspn(text, "\n"),
		 text);
}

void sdr_refusal_hint(const char *fmt, ...)
{
	char text[SDR_REFUSAL_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	FI_INFO(&sdr_prov, FI_LOG_CORE, "hints refused: %.*s\n", (int)strcspn(text, "\n"), text);
	sdr_refusal_keep(SDR_REFUSAL_FINAL, text);
}

void sdr_refusal_bits(const char *what, uint64_t bits, enum fi_type type)
{
	char names[SDR_REFUSAL_LEN / 2];

	names[0] = 0;
	fi_tostr_r(names, sizeof(names), &bits, type); /* which does not know all of them */
	sdr_refusal_hint("%s%s%s (0x%" PRIx64 ") not there\n", what, names[0] ? " " : "", names,
			 bits);
}

void sdr_refusal_type(enum fi_ep_type type)
{
	char text[64], name[32];

	name[0] = 0;
	fi_tostr_r(name, sizeof(name), &type, FI_TYPE_EP_TYPE);
	snprintf(text, sizeof(text), "endpoint type %s is not there", name);
	sdr_refusal_keep(SDR_REFUSAL_TYPE, text);
}

void sdr_refusal_place(const struct fi_info *hints)
{
	const char *dom = hints && hints->domain_attr ? hints->domain_attr->name : NULL;
	const char *net = hints && hints->fabric_attr ? hints->fabric_attr->name : NULL;
	char text[SDR_REFUSAL_LEN], format[32];
	uint32_t family = hints ? hints->addr_format : FI_FORMAT_UNSPEC;

	format[0] = 0;
	fi_tostr_r(format, sizeof(format), &family, FI_TYPE_ADDR_FORMAT);
	snprintf(text, sizeof(text),
		 "no address of this host is in domain %.64s and fabric %.64s with format %s, and "
		 "reaches what the capabilities ask for",
		 dom ? dom : "(any)", net ? net : "(any)", family ? format : "(any)");
	sdr_refusal_keep(SDR_REFUSAL_FINAL, text);
}

void sdr_refusal_warn(void)
{
	if (sdr_refusal.rank != SDR_REFUSAL_NONE)
		FI_WARN(&sdr_prov, FI_LOG_CORE, "nothing offered: %s\n", sdr_refusal.text);
}
