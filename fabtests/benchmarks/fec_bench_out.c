/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* sdr_fec_bench: rows as a table, as CSV or as JSON, all with the same fields. */
#include <stdio.h>
#include <string.h>

#include "fec_bench.h"

static bool missed;
static uint32_t printed;

void row_print(enum format format, const struct row *r)
{
	const char *fmt = r->value >= 100 ? "%.0f" : "%.2f";
	bool ok = r->ratio >= r->at_least && (r->at_most <= 0 || r->ratio <= r->at_most);
	bool bar = r->at_least > 0 || r->at_most > 0;
	char value[32], ratio[32] = "", limit[32] = "";

	snprintf(value, sizeof(value), fmt, r->value);
	if (r->ratio > 0)
		snprintf(ratio, sizeof(ratio), "%.2f", r->ratio);
	if (bar)
		snprintf(limit, sizeof(limit), "%s%.2f",
			 r->at_least > 0 ? ">=" : "<=", r->at_least + r->at_most);
	missed |= bar && !ok;
	if (format == JSON) {
		printf("%s\n  "
		       "{\"test\":\"%s\",\"k\":%u,\"m\":%u,\"bytes\":%u,\"lost\":%u,\"threads\":%u,\"what\":\"%s\","
		       "\"value\":%s,\"unit\":\"%s\"",
		       printed++ ? "," : "[", r->test, r->k, r->m, r->piece, r->lost, r->threads,
		       r->what, value, r->unit);
		if (r->ratio > 0)
			printf(",\"ref\":\"%s\",\"ratio\":%s", r->ref, ratio);
		if (bar)
			printf(",\"bar\":\"%s\",\"met\":%s", limit, ok ? "true" : "false");
		printf("}");
		return;
	}
	if (format == CSV) {
		if (!printed++)
			printf("test,k,m,bytes,lost,threads,what,value,unit,ref,ratio,bar,met\n");
		printf("%s,%u,%u,%u,%u,%u,%s,%s,%s,%s,%s,%s,%s\n", r->test, r->k, r->m, r->piece,
		       r->lost, r->threads, r->what, value, r->unit, r->ratio > 0 ? r->ref : "",
		       ratio, limit,
		       !bar ? ""
		       : ok ? "yes"
			    : "no");
		return;
	}
	if (!printed++)
		printf("%-8s %9s %7s %5s %8s %-19s %9s %-6s %7s %-14s %s\n", "test", "(k,m)",
		       "bytes", "lost", "threads", "what", "value", "unit", "ratio", "to", "bar");
	snprintf(limit + strlen(limit), sizeof(limit) - strlen(limit), "%s",
		 !bar || ok ? "" : " MISSED");
	printf("%-8s (%3u,%3u) %7u %5u %8u %-19s %9s %-6s %7s %-14s %s\n", r->test, r->k, r->m,
	       r->piece, r->lost, r->threads, r->what, value, r->unit, ratio,
	       r->ratio > 0 ? r->ref : "", limit);
	fflush(stdout);
}

void rows_end(enum format format)
{
	if (format == JSON)
		printf("%s\n", printed ? "\n]" : "[]");
}

bool row_missed(void)
{
	return missed;
}
