/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Parity to a device (rel/bulk/sdr_berth_rx.c, sdr_code_rx.c): where it lies, and that a packet
 * that the device writes late, at whatever moment of a decoding, changes nothing.
 *
 * Node 1 is the device; node 0, a socket, sends.  1 MiB with 16 + 4 chunks of 16 packets: more
 * sources than a kernel adds at once, so that it has half-made symbols to be caught with.
 */
#include "../bed/fec_pass.h"
#include "test_rel_code_util.h"

#define KEYS  3u /* engines: none, and the two kinds that are rkeyed */
#define LONG  (SDR_BERTH_MAX + 64 * KIB)
#define NODES 2u

static bool three_of_each(struct lab *l, struct pk *k)
{
	(void)l;
	return !k->parity && !k->nth && k->cw != NO_CW && k->pos < 3;
}

/* The device of node 1 writes what is under way to it. */
static void device_writes(void *user)
{
	struct lab *l = user;

	sdr_sim_node_write(l->b->w, 1);
}

/* heads: of what is too long for a berth the head comes to one. */
static struct lab *berth_lab(uint8_t key, uint64_t job_ns, bool heads)
{
	struct lab *l = lab_new(&sdr_scheme_ec);

	l->b->na[1].rkeyed = key;
	l->b->job_ns = job_ns;
	for (uint32_t i = 0; i < NODES; i++) {
		l->b->cfg[i].berths = SDR_REL_BERTHS;
		l->b->cfg[i].ec_k = 16;
		l->b->cfg[i].ec_m = 4;
		l->b->cfg[i].decode_lend = job_ns ? 1 : UINT64_MAX;
	}
	bed_boot(l->b);
	if (!heads)
		l->b->node[0].ep->rel->features &= ~SDR_FEATURE_HEAD;
	bed_warm(l->b, 0, 1);
	l->b->filter = lab_filter;
	return l;
}

/* What is lost comes after all, so late: while, and after, it is decoded. */
static void lose_late(struct lab *l, uint64_t late)
{
	l->lose = three_of_each;
	l->late = late;
	assert_true(fec_pass_set(device_writes, l));
}

/* Of len bytes each: the first waits for a key, those that follow have berths. */
static struct lab *berth_open_for(uint8_t key, uint64_t len, uint64_t job_ns, bool heads)
{
	struct lab *l = berth_lab(key, job_ns, heads);

	lab_move(l, 0, len, 3, NULL);
	bed_run(l->b, 3 * BED_RTT);
	assert_int_equal(bed_conn(l->b, 0, 1)->bulk->tx.nkeys, SDR_BERTHS_FIRST);
	return l;
}

static struct lab *berth_open(uint8_t key, uint64_t len, uint64_t job_ns)
{
	return berth_open_for(key, len, job_ns, false);
}

static void berth_close(struct lab *l)
{
	fec_pass_set(NULL, NULL);
	bed_run(l->b, 2 * BED_RTT);
	assert_int_equal(bed_grants_open(l->b, 1), bed_conn(l->b, 1, 0)->bulk->rx.berths.n);
	lab_close(l);
}

/* A message, or a write or a read of a region, of node 0; the bytes are right. */
enum way { SEND, WRITE, READ, WAYS };

static void move(struct lab *l, enum way way, uint64_t len, uint32_t seed)
{
	struct bed *b = l->b;
	uint8_t *from = bed_buf(b, len, seed), *to = bed_buf(b, len, 0);
	struct bed_op *op[2] = { NULL, NULL };

	b->node[1].nregions = b->node[0].nregions = 0;
	if (way == SEND) {
		op[1] = bed_recv(b, 1, to, len);
		op[0] = bed_send(b, 0, 1, from, len, SDR_REL_F_DELIVERY);
	} else if (way == WRITE) {
		bed_region_add(b, 1, 2, to, len, SDR_REL_ACCESS_WRITE);
		op[0] = bed_rma(b, 0, 1, SDR_REL_WRITE, from, len, 0, 2, 0);
	} else {
		bed_region_add(b, 0, 2, from, len, SDR_REL_ACCESS_READ);
		op[0] = bed_rma(b, 1, 0, SDR_REL_READ, to, len, 0, 2, 0);
	}
	for (int i = 0; i < 2 && op[i]; i++) {
		bed_wait(b, op[i], 5 * BED_SEC);
		bed_assert_ok(op[i]);
	}
	assert_true(bed_same(to, len, seed));
	/* whatever comes now finds no key: these are the application's bytes again */
	memset(to, 0x5a, len);
	bed_run(b, 8 * BED_RTT);
	for (uint64_t i = 0; i < len; i++)
		assert_int_equal(to[i], 0x5a);
}

/* ---- late packets ---------------------------------------------------------------------------- */

/*
 * Behind the data in their berth, or, where these have their place already (a read) or are too long
 * for one, in a berth for itself; or the one for the head, the other for the rest.
 */
static void late__between_two_sources_of_a_symbol(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		for (int way = 0; way < 3 * WAYS; way++) {
			uint64_t len = way < WAYS ? MIB : LONG;
			bool heads = way >= 2 * WAYS;
			struct lab *l = berth_open_for(key, len, 0, heads);
			unsigned long passes = fec_passes();

			lose_late(l, 4 * BED_RTT);
			move(l, way % WAYS, len, 5);
			assert_true(l->lost_data >= 48 && fec_passes() > passes + 10);
			assert_true(bed_stats(l->b, 0).chunks_fec > 0);
			assert_int_equal(bed_stats(l->b, 1).berths_rx,
					 way % WAYS != READ && (way < WAYS || heads));
			berth_close(l);
		}
	}
}

/* Decoded by a thread: they come before it begins, while it does it, and behind it. */
static void late__while_a_thread_decodes(void **state)
{
	static const uint64_t late[] = { MS, 3 * MS, 6 * MS, 12 * MS, 30 * MS, 80 * MS };

	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		for (uint32_t i = 0; i < sizeof(late) / sizeof(*late); i++) {
			struct lab *l = berth_open(key, MIB, 8 * MS);
			struct sdr_rel_bulk *room = l->b->node[1].ep->rel->bulk;
			uint64_t lent = room->nlent;

			lose_late(l, late[i]);
			move(l, i % 2 ? WRITE : SEND, MIB, 5);
			assert_true(late[i] < 3 * MS || room->nlent > lent);
			berth_close(l);
		}
	}
}

/* The receive ends while it is decoded: neither thread nor device writes from there on. */
static void late__the_region_is_revoked_meanwhile(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		for (int with_berth = 0; with_berth < 2; with_berth++) {
			uint64_t len = with_berth ? MIB : LONG;
			struct lab *l = berth_open(key, len, 30 * MS);
			struct bed *b = l->b;
			struct bed_node *nd = &b->node[1];
			struct sdr_rel_bulk *room = nd->ep->rel->bulk;
			uint64_t lent = room->nlent, end = bed_now(b) + BED_SEC;
			uint8_t *p = bed_buf(b, len, 0), *was = malloc(len);
			struct bed_op *w;

			assert_non_null(was);
			lose_late(l, 4 * BED_RTT);
			bed_region_add(b, 1, 7, p, len, SDR_REL_ACCESS_WRITE);
			w = bed_rma(b, 0, 1, SDR_REL_WRITE, bed_buf(b, len, 5), len, 0, 7, 0);
			while (room->nlent == lent && bed_now(b) < end)
				bed_run(b, MS / 10);
			assert_true(room->nlent > lent);
			nd->region[0].key = UINT64_MAX;
			nd->ep->dirty = true;
			assert_int_equal(sdr_rel_mr_revoke(nd->ep->rel, &nd->region[0]), 1);
			memcpy(was, p, len);
			assert_int_equal(nd->ep->nlent, 0);
			bed_run(b, 100 * MS);
			assert_memory_equal(was, p, len);
			free(was);
			bed_assert_err(w, SDR_REL_ERR_KEY);
			l->lose = NULL;
			berth_close(l);
		}
	}
}

/* ---- where it lies --------------------------------------------------------------------------- */

/* A berth for parity alone that was taken back while its record was under way: there is none. */
static void berth__taken_back_under_way(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		for (int way = 0; way < WAYS; way++) {
			struct lab *l = berth_open(key, LONG, 0);
			struct bed *b = l->b;
			uint8_t *from = bed_buf(b, LONG, 7), *to = bed_buf(b, LONG, 0);
			struct bed_op *op;
			uint64_t fec;

			l->lose = three_of_each;
			bed_region_add(b, 1, 2, to, LONG, SDR_REL_ACCESS_WRITE);
			bed_region_add(b, 0, 2, from, LONG, SDR_REL_ACCESS_READ);
			op = way == SEND    ? bed_recv(b, 1, to, LONG)
			     : way == WRITE ? bed_rma(b, 0, 1, SDR_REL_WRITE, from, LONG, 0, 2, 0)
					    : bed_rma(b, 1, 0, SDR_REL_READ, to, LONG, 0, 2, 0);
			if (way == SEND)
				bed_send(b, 0, 1, from, LONG, 0);
			/* the record that names it (BIND, READ_RSP) is on its way */
			bed_run(b, BED_RTT / 2 * (way == READ ? 1 : 2) + MS);
			fec = bed_stats(b, 0).chunks_fec;
			sdr_berths_recall(bed_conn(b, 1, 0));
			bed_conn(b, 1, 0)->bulk->rx.berths.want = 0;
			b->node[1].ep->dirty = true;
			bed_wait(b, op, 5 * BED_SEC);
			bed_wait_all(b, 5 * BED_SEC);
			bed_assert_ok(op);
			assert_true(bed_same(to, LONG, 7));
			assert_true(l->lost_data > 0 && l->data_again > 0);
			assert_int_equal(bed_stats(b, 0).chunks_fec, fec);
			berth_close(l);
		}
	}
}

/* A device without berths, and a peer that knows none: as ever. */
static void berth__none_no_parity(void **state)
{
	(void)state;
	for (uint8_t key = 1; key < KEYS; key++) {
		for (int how = 0; how < 2; how++) {
			struct lab *l = lab_new(&sdr_scheme_ec);

			l->b->na[1].rkeyed = key;
			l->b->cfg[1].berths = how ? SDR_REL_BERTHS : 0;
			bed_boot(l->b);
			if (how)
				l->b->node[0].ep->rel->features &= ~SDR_FEATURE_BERTH;
			bed_warm(l->b, 0, 1);
			l->b->filter = lab_filter;
			for (uint32_t i = 0; i < 3; i++) {
				lab_move(l, 0, MIB, i + 1, NULL);
				bed_run(l->b, 2 * BED_RTT);
			}
			assert_int_equal(l->parity, 0);
			assert_int_equal(bed_conn(l->b, 1, 0)->bulk->rx.berths.n, 0);
			lab_close(l);
		}
	}
}

/* Any one datagram may be lost, of either side, and the next transfer has its parity again. */
static void berth__any_datagram_may_be_lost(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 48; i++) {
		uint64_t len = i / 2 % 2 ? LONG : MIB;
		struct lab *l = berth_open_for((uint8_t)(1 + i % 2), MIB, 0, i >= 24);
		struct bed_rule *rule =
			bed_drop(l->b, i / 4 % 2, BED_REC | BED_END | BED_COMPLETE, i / 8 % 3, 1);

		lose_late(l, 3 * MS);
		for (uint32_t k = 0; k < 4; k++)
			move(l, k % WAYS, len, k + 1);
		assert_int_equal(rule->hit, 1);
		berth_close(l);
	}
}

/* What is in them stays within what the endpoint may hand out, and a peer may have. */
static void berth__within_the_bounds(void **state)
{
	struct lab *l = berth_lab(SDR_SIM_RKEYED_MR, 0, true);
	struct bed *b = l->b;
	struct sdr_scratch *room;

	(void)state;
	for (uint32_t k = 0; k < 4; k++) {
		for (uint32_t i = 0; i < 20; i++) {
			bed_recv(b, 1, bed_buf(b, MIB, 0), MIB);
			bed_send(b, 0, 1, bed_buf(b, MIB, i + 1), MIB, 0);
		}
		room = &b->node[1].ep->rel->bulk->berths.room;
		for (uint32_t i = 0; i < 50; i++) {
			bed_run(b, 2 * MS);
			assert_true(room->used <= SDR_REL_BERTHS / 4 &&
				    room->held <= SDR_REL_BERTHS);
			assert_true(bed_conn(b, 1, 0)->bulk->rx.berths.n <= SDR_BERTHS_PEER);
		}
		bed_wait_all(b, 5 * BED_SEC);
	}
	assert_true(bed_stats(b, 1).berths_rx > 0 && l->parity > 0);
	sdr_rel_shutdown(b->node[1].ep->rel);
	assert_int_equal(bed_grants_open(b, 1), 0);
	assert_int_equal(room->used, 0);
	bed_run(b, BED_SEC);
	bed_close(b);
	lab_free(l);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late__between_two_sources_of_a_symbol),
		cmocka_unit_test(late__while_a_thread_decodes),
		cmocka_unit_test(late__the_region_is_revoked_meanwhile),
		cmocka_unit_test(berth__taken_back_under_way),
		cmocka_unit_test(berth__none_no_parity),
		cmocka_unit_test(berth__any_datagram_may_be_lost),
		cmocka_unit_test(berth__within_the_bounds),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
