/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A link as it was measured: from the statistics of an endpoint (FI_SDR_STATS) or from a loss probe
 * (sdr_perf --probe-loss).
 *
 * What an option says is stronger than a file.  Of statistics the last line of the wanted peer
 * counts, for loss the bound that the provider itself goes by; of a probe the row whose packets are
 * most like those of the link.  A loss of which nothing was seen is taken for what could have been
 * missed with 5 %: 3 over the packets sent.  Every value taken gets a note that says from where.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "model_tool.h"

#define PAYLOAD_MAX 8192u /* of a packet of this library */

void model_note(char notes[MODEL_NOTES], const char *fmt, ...)
{
	size_t n = strlen(notes);
	va_list ap;

	if (n)
		n += (size_t)snprintf(notes + n, MODEL_NOTES - n, "\n");
	va_start(ap, fmt);
	if (n < MODEL_NOTES)
		vsnprintf(notes + n, MODEL_NOTES - n, fmt, ap);
	va_end(ap);
}

static void link_take(struct model_row *link, enum model_field f, double v, const char *file,
		      size_t line)
{
	char text[TOOL_NUMBER];

	tool_number(v, text);
	if (model_row_set(link, f, text))
		tool_bad("%s: line %zu: %s: %s", file, line, link->err.field, link->err.text);
}

static bool link_open(const struct model_row *link, enum model_field f)
{
	return !(link->given >> f & 1);
}

/* ---- statistics: a flat object of JSON a line ---- */

enum { STAT_RTT, STAT_PPM, STAT_UPPER, STAT_BURST, STAT_PACE, STAT_SENT, STATS };

struct stat_line {
	char peer[128];
	double v[STATS]; /* < 0: not there */
	size_t line;
};

static const char *stat_string(const char *p, char *out, size_t len)
{
	size_t n = 0;

	if (*p++ != '"')
		return NULL;
	for (; *p && *p != '"' && *p != '\\'; p++) {
		if (n + 1 < len)
			out[n++] = *p;
	}
	out[n] = 0;
	return *p == '"' ? p + 1 : NULL;
}

static const char *stat_blank(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

/* False: no such object. */
static bool stat_parse(const char *p, struct stat_line *l)
{
	static const char *const names[] = { "rtt_min_ns",  "loss_ppm",	  "loss_upper_ppb",
					     "burst_milli", "pacing_bps", "pkts_tx",
					     NULL };
	char name[64], text[128], number[64];
	size_t n;
	double v;
	int i;

	for (i = 0; i < STATS; i++)
		l->v[i] = -1;
	l->peer[0] = 0;
	p = stat_blank(p);
	if (*p++ != '{')
		return false;
	for (;; p++) {
		p = stat_string(stat_blank(p), name, sizeof(name));
		if (!p || *(p = stat_blank(p)) != ':')
			return false;
		p = stat_blank(p + 1);
		if (*p == '"') {
			p = stat_string(p, text, sizeof(text));
			if (!p)
				return false;
			if (strcmp(name, "peer") == 0)
				snprintf(l->peer, sizeof(l->peer), "%s", text);
		} else {
			n = strspn(p, "0123456789+-.eE");
			if (!n || n >= sizeof(number))
				return false;
			memcpy(number, p, n);
			number[n] = 0;
			if (tool_real(number, &v))
				return false;
			i = tool_word(name, names);
			if (i >= 0)
				l->v[i] = v;
			p += n;
		}
		p = stat_blank(p);
		if (*p == '}')
			return l->peer[0] && !*stat_blank(p + 1);
		if (*p != ',')
			return false;
	}
}

static void stat_find(const char *file, const char *peer, struct stat_line *found)
{
	bool in = strcmp(file, "-") == 0;
	FILE *f = in ? stdin : fopen(file, "r");
	struct stat_line l;
	char *text = NULL;
	size_t room = 0;

	if (!f)
		tool_bad("--stats: %s: %s", file, strerror(errno));
	memset(found, 0, sizeof(*found));
	for (l.line = 1; getline(&text, &room, f) >= 0; l.line++) {
		if (!*stat_blank(text))
			continue;
		if (!stat_parse(text, &l))
			tool_bad(
				"%s: line %zu: no line of statistics; FI_SDR_STATS writes one JSON object a line",
				file, l.line);
		if (strcmp(l.peer, peer) == 0)
			*found = l;
	}
	if (ferror(f))
		tool_bad("--stats: %s: %s", file, strerror(errno));
	if (!found->line)
		tool_bad("%s: peer: %s", file,
			 l.line == 1 ? "the file is empty"
				     : "there is no line of the peer given with --peer");
	free(text);
	if (!in)
		fclose(f);
}

static void link_stats(struct model_row *link, const struct model_opt *opt, char notes[MODEL_NOTES])
{
	struct stat_line l = { .line = 0 };

	stat_find(opt->stats, opt->peer ? opt->peer : "total", &l);
	if (link_open(link, MODEL_RTT) && l.v[STAT_RTT] > 0) {
		link_take(link, MODEL_RTT, l.v[STAT_RTT] * 1e-9, opt->stats, l.line);
		model_note(notes, "rtt_s: smallest round trip that was measured (%s, line %zu)",
			   opt->stats, l.line);
	}
	if (link_open(link, MODEL_BANDWIDTH) && l.v[STAT_PACE] > 0) {
		link_take(link, MODEL_BANDWIDTH, l.v[STAT_PACE], opt->stats, l.line);
		model_note(
			notes,
			"bandwidth_bps: pace of the connection at its end; --bandwidth knows better");
	}
	if (link_open(link, MODEL_P) && l.v[STAT_UPPER] > 0) {
		link_take(link, MODEL_P, l.v[STAT_UPPER] * 1e-9, opt->stats, l.line);
		model_note(notes, "p_packet: upper bound of the loss, 95 %% sure, of %.0f packets",
			   fmax(l.v[STAT_SENT], 0));
	} else if (link_open(link, MODEL_P) && l.v[STAT_PPM] >= 0) {
		link_take(link, MODEL_P, l.v[STAT_PPM] * 1e-6, opt->stats, l.line);
		model_note(notes, "p_packet: loss that was measured");
	}
	if (link_open(link, MODEL_BURST) && l.v[STAT_BURST] >= 1000) {
		link_take(link, MODEL_BURST, l.v[STAT_BURST] * 1e-3, opt->stats, l.line);
		model_note(notes, "burst_packets: as measured");
	}
}

/* ---- a loss probe ---- */

static double probe_number(const struct tool_csv *c, size_t row, int col)
{
	const char *text = tool_csv_cell(c, row, (size_t)col);
	double v;

	if (tool_real(text, &v) || v < 0)
		tool_bad("%s: line %zu: %s: \"%.40s\" is no number from 0 on", c->name,
			 c->line[row], tool_csv_cell(c, 0, (size_t)col), text);
	return v;
}

static void link_probe(struct model_row *link, const struct model_opt *opt, char notes[MODEL_NOTES])
{
	enum { PAYLOAD, SENT, LOST, BURST, RTT, COLS, NEEDED = BURST };
	static const char *const name[COLS] = { "payload_bytes", "sent", "lost", "burst_packets",
						"rtt_min_s" };
	double v[COLS], best[COLS] = { 0 },
			want = link_open(link, MODEL_MTU) ? PAYLOAD_MAX : link->point.mtu_bytes;
	size_t row, line = 0;
	struct tool_csv c;
	int col[COLS], k;

	tool_csv_read(&c, opt->probe);
	for (k = 0; k < COLS; k++) {
		col[k] = tool_csv_column(&c, name[k]);
		if (k < NEEDED && col[k] < 0)
			tool_bad(
				"%s: line %zu: there is no column %s; sdr_perf --probe-loss writes it",
				c.name, c.line[0], name[k]);
	}
	tool_csv_even(&c, -1);
	for (row = 1; row < c.n; row++) {
		for (k = 0; k < COLS; k++)
			v[k] = col[k] < 0 || (k >= NEEDED &&
					      !*tool_csv_cell(&c, row, (size_t)col[k]))
				       ? 0
				       : probe_number(&c, row, col[k]);
		if (v[LOST] > v[SENT])
			tool_bad("%s: line %zu: lost: more than were sent", c.name, c.line[row]);
		if (v[SENT] < 1 || v[PAYLOAD] < 1 ||
		    (line && fabs(v[PAYLOAD] - want) >= fabs(best[PAYLOAD] - want)))
			continue;
		memcpy(best, v, sizeof(best));
		line = c.line[row];
	}
	if (!line)
		tool_bad("%s: sent: no row has packets that were sent", c.name);
	if (link_open(link, MODEL_MTU) && best[PAYLOAD] <= PAYLOAD_MAX) {
		link_take(link, MODEL_MTU, best[PAYLOAD], c.name, line);
		model_note(notes, "mtu_bytes: payload of the probe's packets");
	}
	if (link_open(link, MODEL_P)) {
		link_take(link, MODEL_P,
			  best[LOST] > 0 ? best[LOST] / best[SENT] : 3 / (best[SENT] + 3), c.name,
			  line);
		if (best[LOST] > 0)
			model_note(
				notes,
				"p_packet: %.0f of %.0f packets of %.0f bytes were lost (%s, line %zu)",
				best[LOST], best[SENT], best[PAYLOAD], opt->probe, line);
		else
			model_note(
				notes,
				"p_packet: of %.0f packets none was lost: an upper bound, 95 %% sure (%s, "
				"line %zu)",
				best[SENT], opt->probe, line);
	}
	if (link_open(link, MODEL_BURST) && best[BURST] >= 1) {
		link_take(link, MODEL_BURST, best[BURST], c.name, line);
		model_note(notes, "burst_packets: as measured");
	}
	if (link_open(link, MODEL_RTT) && best[RTT] > 0) {
		link_take(link, MODEL_RTT, best[RTT], c.name, line);
		model_note(notes, "rtt_s: smallest round trip that was measured (%s, line %zu)",
			   opt->probe, line);
	}
	tool_csv_free(&c);
}

void model_link_file(struct model_row *link, const struct model_opt *opt, char notes[MODEL_NOTES])
{
	if (opt->stats)
		link_stats(link, opt, notes);
	if (opt->probe)
		link_probe(link, opt, notes);
}
