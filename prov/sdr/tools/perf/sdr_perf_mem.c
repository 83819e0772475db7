/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Buffers, of the host or of a device, and the patterns in them.
 *
 * A kind of memory is a row: how there is some, and how bytes come in and out.  Memory of a device
 * is filled and checked through CHUNK bytes of the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sdr_perf_mem.h"
#include "sdr_perf_say.h"
#include "tools/common/tool_cuda.h"

#define CHUNK (256u << 10) /* bytes, a multiple of the pattern's word */

struct perf_mem_kind {
	const char *name;
	enum fi_hmem_iface iface;
	int (*open)(int device, char *why);
	void *(*get_some)(size_t len);
	void (*give_back)(void *p, size_t len);
	/* NULL: memory of the host, which anybody may touch */
	bool (*put)(void *far, const void *near, size_t n);
	bool (*get)(void *near, const void *far, size_t n);
};

/* ---- host ------------------------------------------------------------------------------------ */

static int host_open(int device, char *why)
{
	return device ? perf_why(why, "--memory: the host has no number") : 0;
}

static void *host_get(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void host_give(void *p, size_t len)
{
	munmap(p, len);
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

static int cuda_open(int device, char *why)
{
	char said[TOOL_CUDA_WHY];

	return tool_cuda_open(device, said) ? perf_why(why, "--memory cuda:%d: %s", device, said)
					    : 0;
}

static void cuda_give_back(void *p, size_t len)
{
	(void)len;
	(void)tool_cuda_free(p);
}

/* ---- all ------------------------------------------------------------------------------------- */

static const struct perf_mem_kind kinds[] = {
	{ "host", FI_HMEM_SYSTEM, host_open, host_get, host_give, NULL, NULL },
	{ "cuda", FI_HMEM_CUDA, cuda_open, tool_cuda_alloc, cuda_give_back, tool_cuda_put,
	  tool_cuda_get },
};

int perf_mem_open(struct perf_mem *m, const char *name, char *why)
{
	size_t i, len;
	char *end = NULL;

	m->kind = &kinds[0];
	m->device = 0;
	if (!name)
		return 0;
	len = strcspn(name, ":");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].name) == len && !memcmp(name, kinds[i].name, len))
			break;
	}
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return perf_why(why, "--memory: \"%.30s\" is none of host, cuda, cuda:N", name);
	m->kind = &kinds[i];
	if (name[len]) {
		unsigned long v = strtoul(name + len + 1, &end, 10);

		if (name[len + 1] < '0' || name[len + 1] > '9' || *end || v > 255)
			return perf_why(why, "--memory: \"%.30s\": a device is 0 to 255", name);
		m->device = (int)v;
	}
	return m->kind->open(m->device, why);
}

uint8_t *perf_mem_new(const struct perf_mem *m, size_t len, char *why)
{
	uint8_t *p = m->kind->get_some(len);

	if (p)
		perf_mem_wipe(m, p, len);
	else
		perf_why(why, "no %s memory for a buffer of %zu bytes", m->kind->name, len);
	return p;
}

void perf_mem_free(const struct perf_mem *m, uint8_t *p, size_t len)
{
	if (p)
		m->kind->give_back(p, len);
}

bool perf_mem_far(const struct perf_mem *m)
{
	return m->kind->put;
}

void perf_mem_name(const struct perf_mem *m, char *name, size_t size)
{
	if (perf_mem_far(m))
		snprintf(name, size, "%s:%d", m->kind->name, m->device);
	else
		snprintf(name, size, "%s", m->kind->name);
}

void perf_mem_attr(const struct perf_mem *m, struct fi_mr_attr *attr)
{
	attr->iface = m->kind->iface;
	attr->device.cuda = m->device; /* every kind's is a number there */
}

/* ---- patterns -------------------------------------------------------------------------------- */

static uint64_t pattern_word(uint64_t n, uint64_t i, bool client)
{
	uint64_t x = (2 * n + client + 1) * 0x9e3779b97f4a7c15ull + i * 0xd1342543de82ef95ull;

	return x ^ x >> 29;
}

/* Bytes [at, at + len) of message n, into p. */
static void pattern_write(uint8_t *p, size_t at, size_t len, uint64_t n, bool client)
{
	uint64_t w;
	size_t i;

	for (i = 0; i < len; i += sizeof(w)) {
		w = pattern_word(n, at + i, client);
		memcpy(p + i, &w, len - i < sizeof(w) ? len - i : sizeof(w));
	}
}

static bool pattern_is(const uint8_t *p, size_t at, size_t len, uint64_t n, bool client)
{
	uint64_t w;
	size_t i;

	for (i = 0; i < len; i += sizeof(w)) {
		w = pattern_word(n, at + i, client);
		if (memcmp(p + i, &w, len - i < sizeof(w) ? len - i : sizeof(w)) != 0)
			return false;
	}
	return true;
}

static uint8_t bounce[CHUNK];

static size_t piece(size_t at, size_t len)
{
	return len - at < CHUNK ? len - at : CHUNK;
}

static void put(const struct perf_mem *m, uint8_t *p, size_t n)
{
	if (!m->kind->put(p, bounce, n))
		perf_die("%s: a copy of %zu bytes to the device failed", m->kind->name, n);
}

void perf_mem_fill(const struct perf_mem *m, uint8_t *p, size_t len, uint64_t n, bool client)
{
	size_t at;

	if (!perf_mem_far(m)) {
		pattern_write(p, 0, len, n, client);
		return;
	}
	for (at = 0; at < len; at += CHUNK) {
		pattern_write(bounce, at, piece(at, len), n, client);
		put(m, p + at, piece(at, len));
	}
}

bool perf_mem_filled(const struct perf_mem *m, const uint8_t *p, size_t len, uint64_t n,
		     bool client)
{
	size_t at;

	if (!perf_mem_far(m))
		return pattern_is(p, 0, len, n, client);
	for (at = 0; at < len; at += CHUNK) {
		if (!m->kind->get(bounce, p + at, piece(at, len)))
			perf_die("%s: a copy from the device failed", m->kind->name);
		if (!pattern_is(bounce, at, piece(at, len), n, client))
			return false;
	}
	return true;
}

void perf_mem_wipe(const struct perf_mem *m, uint8_t *p, size_t len)
{
	size_t at;

	if (!perf_mem_far(m)) {
		memset(p, 0, len);
		return;
	}
	memset(bounce, 0, sizeof(bounce));
	for (at = 0; at < len; at += CHUNK)
		put(m, p + at, piece(at, len));
}
