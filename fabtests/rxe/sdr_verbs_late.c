/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Late packets on a real device (law 2): two verbs engines in this process, one on each of two
 * devices that can reach each other, for each way of protection that the device has.
 *
 *   sdr_verbs_late ADDRESS_A ADDRESS_B [LATE...]      IPv6 in brackets; LATE: mr, mw, root; default
 *                                                     mr and mw
 *
 *   placed     packets of a granted and bound message arrive, are reported once each, and are the
 *              bytes sent
 *   ahead      packets that arrive between grant and bind are reported after it: nothing is lost
 *   late       a message is completed while its packets are under way, its buffer is filled with
 *              something else: not one byte of it changes, nothing is reported; the next message in
 *              the slot is whole
 *   forged     a key that was never given, an address behind the end: nothing is written, the
 *              engine lives
 *   unread     more packets than receives: the rest is dropped, the engine lives and goes on
 *   reused     forty messages, one after the other, in the same few slots
 *
 * How long packets are under way is the network's business: the case "late" says how many of its
 * packets were cut off, and fails when none was, so the caller must provide a delay (netem, 100 ms
 * or more).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "uc/sdr_uc_addr.h"
#include "uc/soft/sdr_soft.h"
#include "uc/verbs/sdr_verbs.h"

#define PKTS	   64u
#define RX_DEPTH   256u
#define WAIT_NS	   10000000000ull /* what must come comes within this */
#define SILENCE_NS 1500000000ull  /* what comes after this is not under way any more */

struct side {
	struct sdr_uc *uc;
	struct sdr_uc_qp *qp;
	struct sdr_uc_info info;
	uint64_t seen[PKTS / 64 + 1];
	uint32_t placed, twice, last_id;
};

static struct side a, b;
static uint32_t mtu;
static uint8_t *src, *dst;
static size_t bytes;
static int failed, passed;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void report(const char *late, const char *name, const char *why)
{
	printf("%s: %s_%s%s%s\n", why ? "FAIL" : "PASS", name, late, why ? "\n    " : "",
	       why ? why : "");
	fflush(stdout);
	failed += why != NULL;
	passed += why == NULL;
}

static bool side_open(struct side *s, const char *address, const char *late)
{
	char err[256] = "";
	struct sdr_verbs_attr attr = {
		.late = late, .rx_depth = RX_DEPTH, .err = err, .err_len = sizeof(err)
	};
	struct sdr_uc_qp_attr q = {
		.channels = 1,
		.generations = 4,
		.split = SDR_IMM_SPLIT_DEFAULT,
		.cookie = s,
		.rand = { 0x123456789abcdefull, (uintptr_t)s },
	};
	int ret;

	memset(s, 0, sizeof(*s));
	ret = sdr_uc_addr_parse(address, &attr.bind);
	if (!ret)
		ret = sdr_verbs_open(&attr, &s->uc);
	if (ret) {
		fprintf(stderr, "%s: %s: %s\n", address, strerror(-ret), err);
		return false;
	}
	s->uc->ops->info(s->uc, &s->info);
	mtu = q.mtu = s->info.mtu;
	q.max_msg = (uint64_t)mtu * PKTS;
	return s->uc->ops->qp_create(s->uc, &q, &s->qp) == 0;
}

static void side_close(struct side *s)
{
	if (s->qp)
		s->uc->ops->qp_destroy(s->qp);
	if (s->uc)
		s->uc->ops->close(s->uc);
}

static bool both_open(const char *x, const char *y, const char *late)
{
	struct sdr_wire_qp_info ia, ib;

	if (!side_open(&a, x, late) || !side_open(&b, y, late))
		return false;
	a.uc->ops->qp_info(a.qp, &ia);
	b.uc->ops->qp_info(b.qp, &ib);
	return a.uc->ops->qp_connect(a.qp, &ib, NULL) == 0 &&
	       b.uc->ops->qp_connect(b.qp, &ia, NULL) == 0;
}

/* False: an engine broke. */
static bool poll_once(struct side *s)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	int n = s->uc->ops->poll(s->uc, ev, SDR_UC_POLL_MIN), i;
	const struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;

	for (i = 0; i < n; i++) {
		uint32_t off;

		if (ev[i].kind == SDR_UC_EV_ERROR)
			return false;
		if (ev[i].kind != SDR_UC_EV_PLACED)
			continue;
		off = sdr_imm_off(&split, ev[i].p.imm);
		s->last_id = sdr_imm_id(&split, ev[i].p.imm);
		s->placed++;
		if (off < PKTS) {
			s->twice += s->seen[off / 64] >> (off & 63) & 1;
			s->seen[off / 64] |= 1ull << (off & 63);
		}
	}
	return true;
}

static bool pump(uint32_t want, uint64_t ns)
{
	uint64_t until = now() + ns;

	while (b.placed < want && now() < until)
		if (!poll_once(&a) || !poll_once(&b))
			return false;
	return true;
}

static bool send_at(uint32_t slot, uint32_t use, uint64_t va, uint32_t rkey, uint32_t pkts)
{
	struct sdr_uc_tx t = {
		.kind = SDR_UC_TX_WRITE,
		.flags = SDR_UC_F_RKEYED,
		.gen = (uint8_t)(use % 4),
		.len = pkts * mtu,
		.buf = src,
		.w = { .qp = a.qp, .slot = slot, .rkey = rkey, .va = va },
	};
	uint64_t until = now() + WAIT_NS;

	while (a.uc->ops->post(a.uc, &t, 1) != 1)
		if (now() > until || !poll_once(&a))
			return false;
	return true;
}

static void fresh(uint8_t from)
{
	size_t i;

	memset(b.seen, 0, sizeof(b.seen));
	b.placed = b.twice = 0;
	for (i = 0; i < bytes; i++)
		src[i] = (uint8_t)(from + i * 7 + i / 251);
	memset(dst, 0xee, bytes);
}

static const char *message(uint32_t slot, uint32_t use, uint32_t pkts, bool ahead)
{
	struct sdr_uc_grant g;
	const char *why = NULL;
	uint64_t until;

	fresh((uint8_t)(slot + use));
	if (b.uc->ops->grant(b.qp, dst, (size_t)pkts * mtu, NULL, NULL, &g))
		return "no grant";
	if (!ahead && b.uc->ops->slot_bind(b.qp, slot, use, dst, (size_t)pkts * mtu, NULL))
		why = "no slot";
	if (!why && !send_at(slot, use, g.va, g.rkey, pkts))
		why = "not sent";
	if (!why && ahead) {
		/* They lie in memory before they are bound, and before a poll. */
		for (until = now() + WAIT_NS;
		     memcmp(dst, src, (size_t)pkts * mtu) && now() < until;)
			__asm__ volatile("" ::: "memory");
		if (b.uc->ops->slot_bind(b.qp, slot, use, dst, (size_t)pkts * mtu, NULL))
			why = "no slot";
	}
	if (!why && !pump(pkts, WAIT_NS))
		why = "an engine broke";
	if (!why && (b.placed != pkts || b.twice))
		why = "not every packet was reported once";
	if (!why && memcmp(dst, src, (size_t)pkts * mtu))
		why = "other bytes than those that were sent";
	b.uc->ops->slot_unbind(b.qp, slot);
	b.uc->ops->grant_end(b.qp, &g);
	if (!why && g.impl)
		why = "the grant has not ended";
	return why;
}

static const char *late(void)
{
	struct sdr_uc_stats st, before;
	struct sdr_uc_grant g;
	static char text[96];
	uint32_t had, i;

	fresh(1);
	b.uc->ops->stats(b.uc, &before);
	if (b.uc->ops->grant(b.qp, dst, bytes, NULL, NULL, &g) ||
	    b.uc->ops->slot_bind(b.qp, 7, 0, dst, bytes, NULL))
		return "no grant or slot";
	if (!send_at(7, 0, g.va, g.rkey, PKTS))
		return "not sent";
	b.uc->ops->slot_unbind(b.qp, 7);
	b.uc->ops->grant_end(b.qp, &g);
	had = b.placed;
	memset(dst, 0x55, bytes); /* the buffer is its owner's again */
	if (!pump(UINT32_MAX, SILENCE_NS))
		return "an engine broke";
	for (i = 0; i < bytes; i++)
		if (dst[i] != 0x55)
			return "a late packet wrote into a buffer that was given back";
	if (b.placed != had)
		return "a late packet was reported";
	b.uc->ops->stats(b.uc, &st);
	if (had == PKTS)
		return "nothing was under way: the network needs a delay";
	snprintf(text, sizeof(text), "%u of %u packets were cut off, %llu of them completed",
		 PKTS - had, PKTS, (unsigned long long)(st.pkts_late - before.pkts_late));
	printf("    %s\n", text);
	return message(7, 1, PKTS, false);
}

static const char *forged(void)
{
	struct sdr_uc_grant g;
	const char *why = NULL;

	fresh(2);
	if (b.uc->ops->grant(b.qp, dst, bytes / 2, NULL, NULL, &g) ||
	    b.uc->ops->slot_bind(b.qp, 9, 0, dst, bytes / 2, NULL))
		return "no grant or slot";
	if (!send_at(9, 0, g.va, g.rkey ^ 0x5a5a00, 4) || !send_at(9, 0, g.va + bytes, g.rkey, 4) ||
	    !send_at(9, 0, g.va - 1, g.rkey, 1))
		why = "not sent";
	if (!pump(UINT32_MAX, SILENCE_NS))
		why = "an engine broke";
	for (size_t i = 0; i < bytes && !why; i++)
		if (dst[i] != 0xee)
			why = "a forged packet was written";
	b.uc->ops->slot_unbind(b.qp, 9);
	b.uc->ops->grant_end(b.qp, &g);
	return why ? why : message(9, 1, PKTS, false);
}

/* Nothing polls: receives run out, packets are dropped, and the queue pair lives. */
static const char *unread(void)
{
	struct sdr_uc_grant g;
	uint32_t i;

	fresh(3);
	if (b.uc->ops->grant(b.qp, dst, bytes, NULL, NULL, &g) ||
	    b.uc->ops->slot_bind(b.qp, 11, 0, dst, bytes, NULL))
		return "no grant or slot";
	for (i = 0; i < 2 * RX_DEPTH / PKTS + 2; i++)
		if (!send_at(11, 0, g.va, g.rkey, PKTS))
			return "not sent";
	for (uint64_t until = now() + SILENCE_NS; now() < until;)
		if (!poll_once(&a))
			return "the sender broke";
	if (!pump(UINT32_MAX, SILENCE_NS))
		return "the receiver broke";
	if (b.placed > RX_DEPTH || b.placed < RX_DEPTH / 2)
		return "not as many packets as there were receives";
	b.uc->ops->slot_unbind(b.qp, 11);
	b.uc->ops->grant_end(b.qp, &g);
	return message(11, 1, PKTS, false);
}

static const char *reused(void)
{
	const char *why = NULL;
	uint32_t i;

	for (i = 0; i < 40 && !why; i++)
		why = message(i % 3, 100 + i / 3, 1 + i % 5, false);
	return why;
}

int main(int argc, char **argv)
{
	static const char *all[] = { "mr", "mw" };
	const char **v = argc > 3 ? (const char **)(argv + 3) : all;
	int n = argc > 3 ? argc - 3 : 2, i;

	if (argc < 3) {
		fprintf(stderr, "usage: sdr_verbs_late ADDRESS_A ADDRESS_B [mr|mw|root]...\n");
		return 2;
	}
	for (i = 0; i < n; i++) {
		if (!both_open(argv[1], argv[2], v[i])) {
			report(v[i], "open", "the two engines could not be opened and connected");
			side_close(&a);
			side_close(&b);
			continue;
		}
		bytes = (size_t)PKTS * mtu;
		src = malloc(bytes);
		dst = malloc(bytes);
		if (!src || !dst)
			return 1;
		report(v[i], "placed", message(0, 0, PKTS, false));
		report(v[i], "ahead", message(1, 0, PKTS, true));
		report(v[i], "late", late());
		report(v[i], "forged", forged());
		report(v[i], "unread", unread());
		report(v[i], "reused", reused());
		side_close(&a);
		side_close(&b);
		free(src);
		free(dst);
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
