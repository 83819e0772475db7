/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The table of environment variables and its parser.
 *
 * Every FI_SDR_ variable stands once in sdr_env_vars: name, type, default, unit, range, help.  A value is
 * taken whole or refused with a sentence that names the variable, the value and what is allowed; there is no
 * silent default.  The words for schemes that are part of the contract but not of this build are
 * known here and refused as such.  Variables are independent of each other except where sdr_env_check says.
 * No I/O except sdr_env_print_man; the environment itself is read in sdr_init.c.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../uc/sdr_fault.h"
#include "../uc/sdr_verbs.h"
#include "sdr_env.h"

#define MAX_U32 4294967295.0

const struct sdr_env_var sdr_env_vars[] = {
	{ "engine", SDR_ENV_CHOICE, "auto", "", "auto, soft, verbs", 0, 0,
	  "Engine that moves the packets: soft is RoCEv2 over a UDP socket, verbs an RDMA device; auto offers "
	  "devices first, then sockets, and takes a socket where a device cannot be opened." },
	{ "reliability", SDR_ENV_CHOICE, "auto", "", "auto, hybrid, sr, sr_rto, sr_nack, ec, ec_sr", 0, 0,
	  "How losses are repaired: sr sends again what RACK, tail probes and NACKs show as lost; sr_rto and "
	  "sr_nack are the plain variants of the SDR paper, for comparison; ec, ec_sr and hybrid send parity (not "
	  "in this version); auto chooses (sr in this version)." },
	{ "ec_code", SDR_ENV_CHOICE, "mds", "", "mds, xor", 0, 0, "Erasure code of ec and ec_sr." },
	{ "ec_k", SDR_ENV_UINT, "32", "chunks", "1..255", 1, 255,
	  "Data chunks of a submessage under ec and ec_sr." },
	{ "ec_m", SDR_ENV_UINT, "8", "chunks", "1..255", 1, 255,
	  "Parity chunks of a submessage under ec and ec_sr." },
	{ "ec_decode", SDR_ENV_CHOICE, "row", "", "row, chunk", 0, 0,
	  "What a codeword is made of when decoding: the packets of a row, or whole chunks." },
	{ "objective", SDR_ENV_CHOICE, "p99", "", "mean, p99, p999", 0, 0, "Completion time that auto minimises." },
	{ "max_overhead", SDR_ENV_REAL, "0.25", "parity bytes per data byte", "0..4", 0, 4,
	  "Parity that auto may spend." },
	{ "mtu", SDR_ENV_UINT, "0", "bytes", "0, or a multiple of 4 in 256..8192", 0, SDR_MTU_MAX,
	  "Payload of a packet; 0 is what the interface carries, 4096 at most." },
	{ "chunk_size", SDR_ENV_UINT, "65536", "bytes", "256..1073741824", 256, 1073741824.0,
	  "Bytes that a bit of the chunk bitmap stands for; rounded to a multiple of the packet's payload." },
	{ "imm_split", SDR_ENV_STRING, "10+18+4", "bits", "message ID + packet offset + user immediate, 32 in all",
	  0, 0, "Layout of the 32-bit immediate; both sides must agree." },
	{ "channels", SDR_ENV_UINT, "1", "", "1..16", 1, SDR_CHANNELS_MAX,
	  "Internal queue pairs of a generation, each with its own source port, over which routers that hash ports "
	  "spread the load." },
	{ "generations", SDR_ENV_UINT, "4", "", "1, 2, 4, 8 or 16", 1, SDR_GENERATIONS_MAX,
	  "Internal queue pairs that tell the uses of a message ID apart." },
	{ "cc", SDR_ENV_CHOICE, "bbr", "", "bbr, fixed", 0, 0,
	  "Congestion control: from measured delivery rate and minimum round trip, or the fixed rate of "
	  "FI_SDR_RATE for provisioned links." },
	{ "rate", SDR_ENV_RATE, "0", "bits per second", "0, or 1000..1000gbit; kbit, mbit, gbit", 0, 1e12,
	  "Sending rate under FI_SDR_CC=fixed, wire headers counted." },
	{ "rtt_init", SDR_ENV_UINT, "0", "microseconds", "0..10000000", 0, 10000000,
	  "Round-trip time assumed before the first measurement; 0 is 50 ms." },
	{ "rto_rtts", SDR_ENV_REAL, "3", "round-trip times", "1..100", 1, 100,
	  "Retransmission timeout under FI_SDR_RELIABILITY=sr_rto." },
	{ "timeout", SDR_ENV_UINT, "30000", "milliseconds", "100..86400000", 100, 86400000.0,
	  "Time without any progress before an operation fails." },
	{ "verbs_late", SDR_ENV_CHOICE, "auto", "", "auto, root, mw, mr", 0, 0,
	  "How a device keeps packets that come late out of memory that is used for something else: root switches "
	  "an indirect key to nothing (mlx5), mw unbinds a memory window, mr gives a registration up; auto chooses "
	  "by the device." },
	{ "verbs_rx_depth", SDR_ENV_UINT, "1024", "packets", "64..16384", 64, SDR_VERBS_DEPTH_MAX,
	  "Receives posted to each internal queue pair of a device: what may arrive before the application "
	  "looks." },
	{ "verbs_tx_depth", SDR_ENV_UINT, "256", "packets", "16..16384", 16, SDR_VERBS_DEPTH_MAX,
	  "Sends that an internal queue pair of a device takes at a time." },
	{ "fault", SDR_ENV_STRING, "", "",
	  "e.g. "
	  "drop=0.01,dup=1e-4,reorder=1e-3,corrupt=1e-4,burst=8,delay=12.5ms,jitter=1ms,rate=1gbit,queue=4m,"
	  "blackout=2s+10s,seed=7",
	  0, 0, "Fault injection: spoils what this process sends, packet by packet; for tests." },
	{ "stats", SDR_ENV_STRING, "", "", "- or the name of a file", 0, 0,
	  "Statistics when an endpoint closes, one JSON object a line for each peer and one for the sum, on "
	  "standard output or appended to a file." },
	{ NULL, SDR_ENV_STRING, NULL, NULL, NULL, 0, 0, NULL }
};

static int sdr_env_refuse(char *err, size_t err_len, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
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

static bool sdr_env_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	const char *p = list;

	if (strpbrk(word, ", "))
		return false; /* a piece of the list is not a word of it */
	while (n && (p = strstr(p, word))) {
		if ((p == list || p[-1] == ' ') && (p[n] == 0 || p[n] == ','))
			return true;
		p += n;
	}
	return false;
}

/* A number with one of the suffixes of its type, nothing behind it. */
static int sdr_env_number(enum sdr_env_type type, const char *s, double *out)
{
	static const struct {
		const char *suffix;
		double mul;
	} rates[] = { { "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 }, { "gbit", 1e9 } };
	char *end;
	double v;
	size_t i;

	if (!isdigit((unsigned char)*s) && *s != '.')
		return -EINVAL; /* no sign, no blank, no "nan" */
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return -EINVAL;
	v = strtod(s, &end);
	if (!isfinite(v))
		return -EINVAL;
	if (*end && type == SDR_ENV_RATE) {
		for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
			if (strcasecmp(end, rates[i].suffix) == 0) {
				v *= rates[i].mul;
				end += strlen(end);
				break;
			}
		}
	} else if (*end && type == SDR_ENV_UINT && !end[1]) {
		switch (tolower((unsigned char)*end)) {
		case 'k':
			v *= 1024.0;
			end++;
			break;
		case 'm':
			v *= 1048576.0;
			end++;
			break;
		case 'g':
			v *= 1073741824.0;
			end++;
			break;
		default:
			break;
		}
	}
	if (*end)
		return -EINVAL;
	if (type != SDR_ENV_REAL && v != floor(v))
		return -EINVAL;
	*out = v;
	return 0;
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

static int sdr_env_set_choice(struct sdr_env *env, const char *name, const char *value)
{
	if (strcmp(name, "engine") == 0) {
		env->engine = strcmp(value, "soft") == 0    ? SDR_ENGINE_SOFT
			      : strcmp(value, "verbs") == 0 ? SDR_ENGINE_VERBS
							    : SDR_ENGINE_AUTO;
	} else if (strcmp(name, "verbs_late") == 0) {
		snprintf(env->late, sizeof(env->late), "%s", value);
	} else if (strcmp(name, "reliability") == 0) {
		if (strcmp(value, "sr_rto") == 0)
			env->rel.scheme = SDR_SCHEME_SR_RTO;
		else if (strcmp(value, "sr_nack") == 0)
			env->rel.scheme = SDR_SCHEME_SR_NACK;
		else if (strcmp(value, "sr") == 0 || strcmp(value, "auto") == 0)
			env->rel.scheme = SDR_SCHEME_SR;
		else
			return -EOPNOTSUPP;
	} else if (strcmp(name, "cc") == 0) {
		env->rel.cc = strcmp(value, "fixed") == 0 ? SDR_CC_FIXED : SDR_CC_BBR;
	}
	/* ec_code, ec_decode, objective: valid words that nothing reads while there is no parity */
	return 0;
}

static void sdr_env_set_number(struct sdr_env *env, const char *name, double x)
{
	if (strcmp(name, "mtu") == 0)
		env->rel.mtu = (uint32_t)x;
	else if (strcmp(name, "chunk_size") == 0)
		env->rel.chunk = (uint32_t)x;
	else if (strcmp(name, "channels") == 0)
		env->rel.channels = (uint8_t)x;
	else if (strcmp(name, "generations") == 0)
		env->rel.generations = (uint8_t)x;
	else if (strcmp(name, "rate") == 0)
		env->rel.rate_bps = (uint64_t)x;
	else if (strcmp(name, "rtt_init") == 0)
		env->rel.rtt_init_us = (uint32_t)x;
	else if (strcmp(name, "rto_rtts") == 0)
		env->rel.rto_rtts = x;
	else if (strcmp(name, "timeout") == 0)
		env->rel.timeout_ms = (uint32_t)x;
	else if (strcmp(name, "verbs_rx_depth") == 0)
		env->rx_depth = (uint32_t)x;
	else if (strcmp(name, "verbs_tx_depth") == 0)
		env->tx_depth = (uint32_t)x;
	/* ec_k, ec_m, max_overhead: checked, unused while there is no parity */
}

int sdr_env_set(struct sdr_env *env, const char *name, const char *value, char *err, size_t err_len)
{
	const struct sdr_env_var *v = sdr_env_find(name);
	struct sdr_imm_split split;
	struct sdr_fault_spec spec;
	char full[64], why[128] = "";
	double x;
	int ret;

	if (!v) {
		sdr_env_refuse(err, err_len, "%s is not a setting of sdr (fi_info -g sdr lists them)", name);
		return -ENOENT;
	}
	sdr_env_upper(v, full, sizeof(full));
	switch (v->type) {
	case SDR_ENV_CHOICE:
		if (!sdr_env_word(v->range, value))
			return sdr_env_refuse(err, err_len, "%s=\"%s\": must be one of %s", full, value, v->range);
		ret = sdr_env_set_choice(env, v->name, value);
		if (ret) {
			sdr_env_refuse(err, err_len,
				       "%s=%s is not there yet in this version of sdr: use auto, sr, sr_rto or "
				       "sr_nack",
				       full, value);
			return ret;
		}
		return 0;
	case SDR_ENV_UINT:
	case SDR_ENV_REAL:
	case SDR_ENV_RATE:
		if (sdr_env_number(v->type, value, &x) || x < v->min || x > v->max ||
		    (strcmp(v->name, "mtu") == 0 && x > 0 && (x < SDR_MTU_MIN || (uint32_t)x % 4)) ||
		    (strcmp(v->name, "rate") == 0 && x > 0 && x < 1000) ||
		    (strcmp(v->name, "generations") == 0 && ((uint32_t)x & ((uint32_t)x - 1))))
			return sdr_env_refuse(err, err_len, "%s=\"%s\": must be %s%s%s", full, value, v->range,
					      v->unit[0] ? " " : "", v->unit);
		sdr_env_set_number(env, v->name, x);
		return 0;
	case SDR_ENV_STRING:
		break;
	}
	if (strlen(value) >= SDR_ENV_TEXT)
		return sdr_env_refuse(err, err_len, "%s: longer than %u characters", full, SDR_ENV_TEXT - 1);
	if (strcmp(v->name, "imm_split") == 0) {
		if (sdr_imm_split_parse(value, &split) || sdr_imm_split_check(&split))
			return sdr_env_refuse(err, err_len, "%s=\"%s\": must be %s, e.g. 10+18+4 or 8+22+2", full,
					      value, v->range);
		env->rel.split = split;
	} else if (strcmp(v->name, "fault") == 0) {
		if (sdr_fault_parse(value, &spec, why, sizeof(why)))
			return sdr_env_refuse(err, err_len, "%s=\"%s\": %s; allowed are %s", full, value,
					      why[0] ? why : "not understood", v->range);
		strcpy(env->fault, value);
	} else if (strcmp(v->name, "stats") == 0) {
		strcpy(env->stats, value);
	}
	return 0;
}

int sdr_env_check(const struct sdr_env *env, char *err, size_t err_len)
{
	uint32_t mtu = env->rel.mtu ? env->rel.mtu : SDR_MTU_MIN;

	if (env->rel.cc == SDR_CC_FIXED && !env->rel.rate_bps)
		return sdr_env_refuse(err, err_len, "FI_SDR_CC=fixed needs FI_SDR_RATE, e.g. FI_SDR_RATE=10gbit");
	if (env->rel.chunk < mtu)
		return sdr_env_refuse(err, err_len, "FI_SDR_CHUNK_SIZE=%u is smaller than a packet (FI_SDR_MTU=%u)",
				      env->rel.chunk, mtu);
	return 0;
}

int sdr_env_get(const struct sdr_env *env, const char *name, char *buf, size_t len)
{
	static const char *const schemes[] = {
		[SDR_SCHEME_SR] = "sr", [SDR_SCHEME_SR_NACK] = "sr_nack", [SDR_SCHEME_SR_RTO] = "sr_rto"
	};
	static const char *const engines[] = {
		[SDR_ENGINE_AUTO] = "auto", [SDR_ENGINE_SOFT] = "soft", [SDR_ENGINE_VERBS] = "verbs"
	};
	const struct sdr_env_var *v = sdr_env_find(name);
	const struct sdr_rel_cfg *c = &env->rel;
	int n;

	if (!v)
		return -ENOENT;
	if (strcmp(v->name, "engine") == 0)
		n = snprintf(buf, len, "%s", engines[env->engine]);
	else if (strcmp(v->name, "verbs_late") == 0)
		n = snprintf(buf, len, "%s", env->late);
	else if (strcmp(v->name, "verbs_rx_depth") == 0)
		n = snprintf(buf, len, "%u", env->rx_depth);
	else if (strcmp(v->name, "verbs_tx_depth") == 0)
		n = snprintf(buf, len, "%u", env->tx_depth);
	else if (strcmp(v->name, "reliability") == 0)
		n = snprintf(buf, len, "%s", schemes[c->scheme]);
	else if (strcmp(v->name, "cc") == 0)
		n = snprintf(buf, len, "%s", c->cc == SDR_CC_FIXED ? "fixed" : "bbr");
	else if (strcmp(v->name, "mtu") == 0)
		n = snprintf(buf, len, "%u", c->mtu);
	else if (strcmp(v->name, "chunk_size") == 0)
		n = snprintf(buf, len, "%u", c->chunk);
	else if (strcmp(v->name, "imm_split") == 0)
		n = snprintf(buf, len, "%u+%u+%u", c->split.id_bits, c->split.off_bits, c->split.user_bits);
	else if (strcmp(v->name, "channels") == 0)
		n = snprintf(buf, len, "%u", c->channels);
	else if (strcmp(v->name, "generations") == 0)
		n = snprintf(buf, len, "%u", c->generations);
	else if (strcmp(v->name, "rate") == 0)
		n = snprintf(buf, len, "%llu", (unsigned long long)c->rate_bps);
	else if (strcmp(v->name, "rtt_init") == 0)
		n = snprintf(buf, len, "%u", c->rtt_init_us);
	else if (strcmp(v->name, "rto_rtts") == 0)
		n = snprintf(buf, len, "%g", c->rto_rtts);
	else if (strcmp(v->name, "timeout") == 0)
		n = snprintf(buf, len, "%u", c->timeout_ms);
	else if (strcmp(v->name, "fault") == 0)
		n = snprintf(buf, len, "%s", env->fault);
	else if (strcmp(v->name, "stats") == 0)
		n = snprintf(buf, len, "%s", env->stats);
	else
		n = snprintf(buf, len, "%s", v->def); /* of parity: not kept while nothing reads it */
	return n < 0 || (size_t)n >= len ? -ENOSPC : 0;
}

void sdr_env_print_man(FILE *f)
{
	const struct sdr_env_var *v;
	char full[64];

	for (v = sdr_env_vars; v->name; v++) {
		fprintf(f, "*%s*\n:   %s\n", sdr_env_upper(v, full, sizeof(full)), v->help);
		fprintf(f, "    Allowed: %s%s%s.", v->range, v->unit[0] ? ", in " : "", v->unit);
		fprintf(f, " Default: %s.\n\n", v->def[0] ? v->def : "none");
	}
}
