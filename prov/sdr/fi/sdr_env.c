/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The table of environment variables and its parser.
 *
 * Every FI_SDR_ variable stands once in sdr_env_vars: name, type, default, unit, range, help, and
 * where in struct sdr_env its value lies; words of a choice have their numbers in sdr_env_words.  A
 * value is taken whole or refused with a sentence that names the variable, the value and what is
 * allowed; there is no silent default.  Variables are independent of each other except where
 * sdr_env_check says: it is asked when all have been set, so that their order does not matter. No
 * I/O except sdr_env_print_man; the environment itself is read in sdr_prov.c.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fec/sdr_code.h"
#include "rel/path/sdr_cc_ops.h"
#include "uc/fault/sdr_fault.h"
#include "uc/sdr_uc_registry.h"
#include "wire/sdr_frame.h"
#include "sdr_env.h"
#include "sdr_work.h"

#define AT(m) offsetof(struct sdr_env, m), sizeof(((struct sdr_env *)NULL)->m)

const struct sdr_env_var sdr_env_vars[] = {
	{ "engine", SDR_ENV_CHOICE, "auto", "", NULL, 0, 0,
	  "Engine that moves the packets: %s; auto offers devices first, then sockets, and takes a socket where a "
	  "device cannot be opened.",
	  AT(engine) },
	{ "reliability", SDR_ENV_CHOICE, "auto", "", "auto, hybrid, sr, sr_rto, sr_nack, ec, ec_sr",
	  0, 0,
	  "How losses are repaired: sr sends again what RACK, tail probes and NACKs show as lost; ec sends "
	  "parity with everything and more of it on demand; hybrid sends parity where a repair would come too "
	  "late; auto does as hybrid where that pays, else as sr, judged for each transfer. sr_rto, sr_nack and "
	  "ec_sr are the plain schemes of the SDR paper, for comparison.",
	  AT(rel.scheme) },
	{ "ec_code", SDR_ENV_CHOICE, "mds", "", "mds, xor", 0, 0,
	  "Erasure code of ec and ec_sr: mds repairs any FI_SDR_EC_M losses of a codeword, xor one in each of "
	  "FI_SDR_EC_M groups.",
	  AT(rel.ec_code) },
	{ "ec_k", SDR_ENV_UINT, "32", "chunks", "1..255", 1, 255,
	  "Data chunks of a submessage under ec and ec_sr; 256 at most with FI_SDR_EC_M.",
	  AT(rel.ec_k) },
	{ "ec_m", SDR_ENV_UINT, "8", "chunks", "1..255", 1, 255,
	  "Parity chunks of a submessage under ec and ec_sr; 256 at most with FI_SDR_EC_K.",
	  AT(rel.ec_m) },
	{ "ec_decode", SDR_ENV_CHOICE, "row", "", "row, chunk", 0, 0,
	  "What a codeword of ec and ec_sr is made of: the packets at one place of all chunks, or whole chunks as "
	  "in the SDR "
	  "paper.",
	  AT(rel.ec_chunk_decode) },
	{ "ec_scratch", SDR_ENV_UINT, "512m", "bytes", "1m..64g", 1048576, 68719476736.0,
	  "Parity that an endpoint may hold at a time, sent and received.", AT(rel.ec_scratch) },
	{ "ec_threads", SDR_ENV_UINT, "1", "threads", "0..64", 0, SDR_WORK_THREADS_MAX,
	  "Threads of a domain that help to make parity of messages from 1 MiB on; 0: the thread that sends makes "
	  "it.",
	  AT(ec_threads) },
	{ "objective", SDR_ENV_CHOICE, "p99", "", "mean, p99, p999", 0, 0,
	  "Completion time that auto and hybrid make small: the mean, or that of 99 or 99.9 % of the transfers.",
	  AT(rel.objective) },
	{ "max_overhead", SDR_ENV_REAL, "0.25", "parity bytes per data byte", "0..4", 0, 4,
	  "Parity that auto and hybrid may send with data; 0 switches it off.",
	  AT(rel.max_overhead) },
	{ "mtu", SDR_ENV_UINT, "0", "bytes", "0, or a multiple of 4 in 256..8192", 0, SDR_MTU_MAX,
	  "Payload of a packet; 0 is what the interface carries, 4096 at most.", AT(rel.mtu) },
	{ "chunk_size", SDR_ENV_UINT, "65536", "bytes", "256..1073741824", 256, 1073741824.0,
	  "Bytes that a bit of the chunk bitmap stands for; rounded to a multiple of the packet's payload.",
	  AT(rel.chunk) },
	{ "imm_split", SDR_ENV_STRING, "10+18+4", "bits",
	  "message ID + packet offset + user immediate, 32 in all", 0, 0,
	  "Layout of the 32-bit immediate; both sides must agree.", AT(rel.split) },
	{ "channels", SDR_ENV_UINT, "1", "", "1..16", 1, SDR_CHANNELS_MAX,
	  "Internal queue pairs of a generation, each with its own source port, over which routers that hash ports "
	  "spread the load.",
	  AT(rel.channels) },
	{ "generations", SDR_ENV_UINT, "4", "", "1, 2, 4, 8 or 16", 1, SDR_GENERATIONS_MAX,
	  "Internal queue pairs that tell the uses of a message ID apart.", AT(rel.generations) },
	{ "cc", SDR_ENV_CC, "bbr", "", NULL, 0, 0,
	  "Congestion control: from measured delivery rate and minimum round trip, or the fixed rate of "
	  "FI_SDR_RATE for provisioned links.",
	  AT(rel.cc) },
	{ "rate", SDR_ENV_RATE, "0", "bits per second", "0, or 1000..1000gbit; kbit, mbit, gbit", 0,
	  1e12, "Sending rate under FI_SDR_CC=fixed, wire headers counted.", AT(rel.rate_bps) },
	{ "rtt_init", SDR_ENV_UINT, "0", "microseconds", "0..10000000", 0, 10000000,
	  "Round-trip time assumed before the first measurement; 0 is 50 ms.",
	  AT(rel.rtt_init_us) },
	{ "rto_rtts", SDR_ENV_REAL, "3", "round-trip times", "1..100", 1, 100,
	  "Retransmission timeout under FI_SDR_RELIABILITY=sr_rto.", AT(rel.rto_rtts) },
	{ "timeout", SDR_ENV_UINT, "30000", "milliseconds", "100..86400000", 100, 86400000.0,
	  "Time without any progress before an operation fails.", AT(rel.timeout_ms) },
	{ "verbs_late", SDR_ENV_CHOICE, "auto", "", "auto, root, mw, mr", 0, 0,
	  "How a device keeps packets that come late out of memory that is used for something else: root switches "
	  "an indirect key to nothing (mlx5), mw unbinds a memory window, mr gives a registration up; auto chooses "
	  "by the device.",
	  AT(late) },
	{ "verbs_rx_depth", SDR_ENV_UINT, "1024", "packets", "64..16384", 64, SDR_UC_DEPTH_MAX,
	  "Receives posted to each internal queue pair of a device: what may arrive before the application "
	  "looks.",
	  AT(rx_depth) },
	{ "verbs_tx_depth", SDR_ENV_UINT, "256", "packets", "16..16384", 16, SDR_UC_DEPTH_MAX,
	  "Sends that an internal queue pair of a device takes at a time.", AT(tx_depth) },
	{ "fault", SDR_ENV_STRING, "", "",
	  "e.g. "
	  "drop=0.01,dup=1e-4,reorder=1e-3,corrupt=1e-4,burst=8,delay=12.5ms,jitter=1ms,rate=1gbit,queue=4m,"
	  "blackout=2s+10s,seed=7",
	  0, 0, "Fault injection: spoils what this process sends, packet by packet; for tests.",
	  AT(fault) },
	{ "stats", SDR_ENV_STRING, "", "", "- or the name of a file", 0, 0,
	  "Statistics when an endpoint closes, one JSON object a line for each peer and one for the sum, on "
	  "standard output or appended to a file.",
	  AT(stats) },
	{ .name = NULL }
};

/* The numbers of words that are no texts; a choice without any (engine) keeps its word. */
static const struct {
	const char *name, *word;
	unsigned int value;
} sdr_env_words[] = {
	{ "reliability", "auto", SDR_SCHEME_AUTO },
	{ "reliability", "hybrid", SDR_SCHEME_HYBRID },
	{ "reliability", "sr", SDR_SCHEME_SR },
	{ "reliability", "sr_rto", SDR_SCHEME_SR_RTO },
	{ "reliability", "sr_nack", SDR_SCHEME_SR_NACK },
	{ "reliability", "ec", SDR_SCHEME_EC },
	{ "reliability", "ec_sr", SDR_SCHEME_EC_SR },
	{ "ec_code", "mds", SDR_CODE_MDS },
	{ "ec_code", "xor", SDR_CODE_XOR },
	{ "ec_decode", "row", false },
	{ "ec_decode", "chunk", true },
	{ "objective", "mean", SDR_OBJECTIVE_MEAN },
	{ "objective", "p99", SDR_OBJECTIVE_P99 },
	{ "objective", "p999", SDR_OBJECTIVE_P999 },
};
#define NWORDS (sizeof(sdr_env_words) / sizeof(sdr_env_words[0]))

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

/* Whole numbers lie in fields of any width. */
static void sdr_env_store(struct sdr_env *env, const struct sdr_env_var *v, uint64_t x)
{
	void *p = (char *)env + v->off;

	switch (v->width) {
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

static uint64_t sdr_env_load(const struct sdr_env *env, const struct sdr_env_var *v)
{
	const void *p = (const char *)env + v->off;

	switch (v->width) {
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

const char *sdr_env_range(const struct sdr_env_var *v, char *buf, size_t len)
{
	int n;

	if (v->range)
		return v->range;
	if (v->type == SDR_ENV_CC) {
		sdr_cc_names(buf, len);
		return buf;
	}
	n = snprintf(buf, len, "%s, ", v->def);
	if (n > 0 && (size_t)n < len)
		sdr_uc_engine_names(buf + n, len - (size_t)n);
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

static void sdr_env_set_choice(struct sdr_env *env, const struct sdr_env_var *v, const char *value)
{
	size_t i;

	for (i = 0; i < NWORDS; i++) {
		if (strcmp(sdr_env_words[i].name, v->name) == 0 &&
		    strcmp(sdr_env_words[i].word, value) == 0) {
			sdr_env_store(env, v, sdr_env_words[i].value);
			return;
		}
	}
	snprintf((char *)env + v->off, v->width, "%s", value);
}

int sdr_env_set(struct sdr_env *env, const char *name, const char *value, char *err, size_t err_len)
{
	const struct sdr_env_var *v = sdr_env_find(name);
	struct sdr_imm_split split;
	struct sdr_fault_spec spec;
	char full[64], why[128] = "", words[SDR_ENV_TEXT];
	const char *range;
	double x;

	if (!v) {
		sdr_env_refuse(err, err_len,
			       "%s is not a setting of sdr (fi_info -g sdr lists them)", name);
		return -ENOENT;
	}
	sdr_env_upper(v, full, sizeof(full));
	range = sdr_env_range(v, words, sizeof(words));
	switch (v->type) {
	case SDR_ENV_CHOICE:
		if (!sdr_env_word(range, value))
			return sdr_env_refuse(err, err_len, "%s=\"%s\": must be one of %s", full,
					      value, range);
		sdr_env_set_choice(env, v, value);
		return 0;
	case SDR_ENV_CC:
		if (!sdr_cc_find(value))
			return sdr_env_refuse(err, err_len, "%s=\"%s\": must be one of %s", full,
					      value, range);
		env->rel.cc = sdr_cc_find(value);
		return 0;
	case SDR_ENV_UINT:
	case SDR_ENV_REAL:
	case SDR_ENV_RATE:
		if (sdr_env_number(v->type, value, &x) || x < v->min || x > v->max ||
		    (strcmp(v->name, "mtu") == 0 && x > 0 &&
		     (x < SDR_MTU_MIN || (uint32_t)x % 4)) ||
		    (strcmp(v->name, "rate") == 0 && x > 0 && x < 1000) ||
		    (strcmp(v->name, "generations") == 0 && ((uint32_t)x & ((uint32_t)x - 1))))
			return sdr_env_refuse(err, err_len, "%s=\"%s\": must be %s%s%s", full,
					      value, range, v->unit[0] ? " " : "", v->unit);
		if (v->type == SDR_ENV_REAL)
			memcpy((char *)env + v->off, &x, sizeof(x));
		else
			sdr_env_store(env, v, (uint64_t)x);
		return 0;
	case SDR_ENV_STRING:
		break;
	}
	if (strlen(value) >= SDR_ENV_TEXT)
		return sdr_env_refuse(err, err_len, "%s: longer than %u characters", full,
				      SDR_ENV_TEXT - 1);
	if (strcmp(v->name, "imm_split") == 0) {
		if (sdr_imm_split_parse(value, &split) || sdr_imm_split_check(&split))
			return sdr_env_refuse(err, err_len,
					      "%s=\"%s\": must be %s, e.g. 10+18+4 or 8+22+2", full,
					      value, range);
		env->rel.split = split;
		return 0;
	}
	if (strcmp(v->name, "fault") == 0 && sdr_fault_parse(value, &spec, why, sizeof(why)))
		return sdr_env_refuse(err, err_len, "%s=\"%s\": %s; allowed are %s", full, value,
				      why[0] ? why : "not understood", range);
	snprintf((char *)env + v->off, v->width, "%s", value);
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
	if (c->scheme != SDR_SCHEME_EC && c->scheme != SDR_SCHEME_EC_SR)
		return 0;
	if (c->chunk > SDR_REL_EC_CHUNK)
		return sdr_env_refuse(
			err, err_len,
			"FI_SDR_CHUNK_SIZE=%u: must be %u bytes at most with FI_SDR_RELIABILITY=ec or ec_sr",
			c->chunk, SDR_REL_EC_CHUNK);
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

int sdr_env_check(const struct sdr_env *env, char *err, size_t err_len)
{
	uint32_t mtu = env->rel.mtu ? env->rel.mtu : SDR_MTU_MIN;

	if (env->rel.cc->provisioned && !env->rel.rate_bps)
		return sdr_env_refuse(err, err_len,
				      "FI_SDR_CC=%s needs FI_SDR_RATE, e.g. FI_SDR_RATE=10gbit",
				      env->rel.cc->name);
	if (env->rel.chunk < mtu)
		return sdr_env_refuse(
			err, err_len,
			"FI_SDR_CHUNK_SIZE=%u is smaller than a packet (FI_SDR_MTU=%u)",
			env->rel.chunk, mtu);
	return sdr_env_check_code(&env->rel, err, err_len);
}

int sdr_env_get(const struct sdr_env *env, const char *name, char *buf, size_t len)
{
	const struct sdr_env_var *v = sdr_env_find(name);
	const char *text;
	double x;
	size_t i;
	int n;

	if (!v)
		return -ENOENT;
	text = (const char *)env + v->off;
	switch (v->type) {
	case SDR_ENV_UINT:
	case SDR_ENV_RATE:
		n = snprintf(buf, len, "%llu", (unsigned long long)sdr_env_load(env, v));
		break;
	case SDR_ENV_REAL:
		memcpy(&x, text, sizeof(x));
		n = snprintf(buf, len, "%g", x);
		break;
	case SDR_ENV_CC:
		n = snprintf(buf, len, "%s", env->rel.cc->name);
		break;
	case SDR_ENV_CHOICE:
		for (i = 0; i < NWORDS; i++) {
			if (strcmp(sdr_env_words[i].name, v->name) == 0 &&
			    sdr_env_load(env, v) == sdr_env_words[i].value)
				text = sdr_env_words[i].word;
		}
		n = snprintf(buf, len, "%s", text);
		break;
	default:
		if (strcmp(v->name, "imm_split") == 0)
			n = snprintf(buf, len, "%u+%u+%u", env->rel.split.id_bits,
				     env->rel.split.off_bits, env->rel.split.user_bits);
		else
			n = snprintf(buf, len, "%s", text);
		break;
	}
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
			v->unit[0] ? ", in " : "", v->unit);
		fprintf(f, " Default: %s.\n\n", v->def[0] ? v->def : "none");
	}
}
