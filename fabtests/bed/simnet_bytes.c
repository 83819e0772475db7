/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bench's bytes: what a message consists of, guards around buffers, the regions of remote
 * access.
 *
 * Every message has a number, and its bytes are a function of number and position: the first eight
 * hold the number itself, so that a receive can tell which message it got; shorter ones carry it as
 * remote CQ data. A buffer lies between guards; once it is the caller's again its sum is taken and
 * must stay.  Writes get places of their own in the target's region, with guards between them.
 */
#include <errno.h>
#include <isa-l/crc64.h>
#include <stdlib.h>
#include <string.h>
#include "bed_pool.h"
#include "simnet.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

static uint64_t pattern_word(uint64_t id, uint64_t i)
{
	return i ? (id + 0x51ed27) * 0x9e3779b97f4a7c15ull + i * 0xc2b2ae3d27d4eb4full
		 : id | 0x5d5aull << 48;
}

void simnet_pattern_fill(uint8_t *p, uint64_t id, uint64_t off, uint64_t n)
{
	uint64_t w;

	while (n) {
		uint64_t in = off & 7, k = 8 - in < n ? 8 - in : n;

		w = pattern_word(id, off >> 3);
		memcpy(p, (uint8_t *)&w + in, k);
		p += k;
		off += k;
		n -= k;
	}
}

uint64_t simnet_pattern_check(const uint8_t *p, uint64_t id, uint64_t off, uint64_t n)
{
	uint64_t done = 0, w;

	while (done < n) {
		uint64_t in = (off + done) & 7, k = 8 - in < n - done ? 8 - in : n - done;

		w = pattern_word(id, (off + done) >> 3);
		if (memcmp(p + done, (uint8_t *)&w + in, k)) {
			while (p[done] == ((uint8_t *)&w)[in]) {
				done++;
				in++;
			}
			return done;
		}
		done += k;
	}
	return n;
}

bool simnet_all(const uint8_t *p, uint64_t n, uint8_t byte)
{
	return !n || (*p == byte && !memcmp(p, p + 1, n - 1));
}

void simnet_parts_fill(struct simnet_op *op)
{
	uint64_t off = 0;

	for (int i = 0; i < op->niov; i++) {
		simnet_pattern_fill(op->iov[i].buf, op->id, off, op->iov[i].len);
		off += op->iov[i].len;
	}
}

void simnet_parts_set(struct simnet_op *op, int byte)
{
	for (int i = 0; i < op->niov; i++)
		memset(op->iov[i].buf, byte, op->iov[i].len);
}

uint64_t simnet_parts_check(const struct simnet_op *op, uint64_t id, uint64_t off, uint64_t len)
{
	uint64_t done = 0, n, bad;

	for (int i = 0; i < op->niov && done < len; i++) {
		n = op->iov[i].len < len - done ? op->iov[i].len : len - done;
		bad = simnet_pattern_check(op->iov[i].buf, id, off + done, n);
		if (bad < n)
			return done + bad;
		done += n;
	}
	return len;
}

static bool guards_ok(const struct simnet_op *op)
{
	const uint8_t *p = op->mem, *end = op->mem + op->mem_len;

	for (int i = 0; i <= op->niov; i++) {
		const uint8_t *stop = i < op->niov ? op->iov[i].buf : end;

		if (!simnet_all(p, (uint64_t)(stop - p), SIMNET_GUARD_BYTE))
			return false;
		p = stop;
		if (i < op->niov)
			p += op->iov[i].len;
	}
	return true;
}

/* With ISA-L's sum, for it is most of what a run of many seeds costs. */
static uint64_t mem_sum(const struct simnet_op *op)
{
	return crc64_ecma_refl(1, op->mem, op->mem_len);
}

void simnet_op_seal(struct simnet_op *op)
{
	if (!op->mem || op->sn->cfg.virtual_payload)
		return;
	if (!guards_ok(op))
		simnet_fail(
			op->sn,
			"I3: bytes around the buffer of operation %u (%s, %llu bytes) were written",
			op->id, simnet_kind_name(op->kind), (unsigned long long)op->len);
	op->sealed = true;
	op->sum = mem_sum(op);
}

bool simnet_check_memory(struct simnet *sn, uint32_t step)
{
	for (uint32_t i = step > 1 ? (uint32_t)simnet_below(sn, step) : 0;
	     i < sn->nops && !sn->failed; i += step) {
		struct simnet_op *op = sn->ops[i];

		if (!op->mem || sn->cfg.virtual_payload)
			continue;
		if (op->sealed ? mem_sum(op) != op->sum : !guards_ok(op))
			simnet_fail(
				sn,
				"I3: %s operation %u (%s of %llu bytes at node %u, completed at %.6f s) were "
				"written",
				op->sealed ? "bytes of the finished" : "bytes around the buffer of",
				op->id, simnet_kind_name(op->kind), (unsigned long long)op->len,
				op->node, (double)op->done_ns / 1e9);
	}
	return !sn->failed;
}

/* ---- regions --------------------------------------------------------------------------------- */

void simnet_region_init(struct simnet *sn, struct simnet_node *nd)
{
	nd->ro.len = sn->cfg.ro_len;
	nd->wo.len = sn->cfg.wo_len;
	nd->ro.mem = bed_pool_get(nd->ro.len + 1);
	nd->wo.mem = bed_pool_get(nd->wo.len + 1);
	if (!nd->ro.mem || !nd->wo.mem)
		abort();
	nd->wo.next = SIMNET_WO_GAP;
	nd->at = calloc(SIMNET_ATOMS, sizeof(*nd->at));
	if (!nd->at)
		abort();
	if (sn->cfg.virtual_payload)
		return;
	simnet_pattern_fill(nd->ro.mem, SIMNET_RO_ID(nd->idx), 0, nd->ro.len);
	memset(nd->wo.mem, SIMNET_FRESH, nd->wo.len);
}

int simnet_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access, void **va,
		  void **region)
{
	struct simnet_node *nd = user;
	struct simnet_region *r, at = { (uint8_t *)nd->at, SIMNET_ATOMS * sizeof(*nd->at), 0 };

	access &= ~(uint32_t)SDR_REL_ACCESS_COPY; /* what the CPU reaches may also be copied */
	if (key == SIMNET_KEY_AT)
		r = &at;
	else if (key == SIMNET_KEY_RO && access == SDR_REL_ACCESS_READ)
		r = &nd->ro;
	else if (key == SIMNET_KEY_WO && access == SDR_REL_ACCESS_WRITE)
		r = &nd->wo;
	else
		return -EACCES;
	if (addr > r->len || len > r->len - addr)
		return -EINVAL;
	*va = r->mem + addr;
	*region = key == SIMNET_KEY_AT ? (void *)nd->at : r;
	return 0;
}

void simnet_write_check(struct simnet *sn, const struct simnet_op *op, const char *when)
{
	const uint8_t *p = sn->nodes[op->peer].wo.mem + op->rma_addr;
	uint64_t bad;

	if (sn->cfg.virtual_payload)
		return;
	bad = simnet_pattern_check(p, op->id, 0, op->len);
	if (bad < op->len)
		simnet_fail(
			sn,
			"I2: write %u from node %u to %u, %llu bytes: byte %llu is wrong (%02x) %s",
			op->id, op->node, op->peer, (unsigned long long)op->len,
			(unsigned long long)bad, p[bad], when);
}
