/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Clauses on packets in pieces (qp_path), for engines that say info.cuts: what is longer than the
 * path is placed and reported as if it had come in one datagram.
 */

#include "uc_conform_bed.h"

#define PKTS 20u
#define ROOM 100u /* payload bytes of a datagram: three pieces a packet */

/* A bed whose sender cuts at that many bytes of payload; NULL: engines that do not cut. */
static struct bed *pieces_of(void **state, uint32_t room)
{
	struct bed *b = bed_of(state);

	if (!b->ui[0].cuts || !b->ui[1].cuts) {
		bed_close(b);
		skip();
	}
	bed_ops(b, 0)->qp_path(b->qp[0], b->ui[0].data_over + room);
	return b;
}

static struct sdr_uc_stats pieces_stats(struct bed *b, int side)
{
	struct sdr_uc_stats st;

	bed_ops(b, side)->stats(b->net.uc[side], &st);
	return st;
}

/*
 * All of a run arrives, each packet is reported once and with its length; none is cut needlessly.
 */
static void pieces__a_run(void **state)
{
	uint32_t len = (PKTS - 1) * BED_MTU + 17;
	struct bed *b = pieces_of(state, ROOM);
	struct sdr_uc_stats st;

	bed_give(b, 0, len);
	bed_post_one(b, bed_write(b, 0, len));
	bed_wait(b, &b->seen[1].nplaced, PKTS);
	bed_settle(b);
	bed_check_placed(b, 0, PKTS);
	bed_check(b, 0, len);
	st = pieces_stats(b, 0);
	assert_true(st.pieces_tx >= st.pkts_tx);
	if (!(b->row->flags & UC_CONFORM_DUPS)) {
		assert_int_equal(st.pkts_tx, PKTS);
		assert_int_equal(st.bytes_tx, len);
		assert_true(st.pieces_tx >= (PKTS - 1) * 3 && st.pieces_tx <= (PKTS - 1) * 4);
		assert_int_equal(b->seen[1].bytes, len);
		assert_int_equal(pieces_stats(b, 1).pieces_rx, st.pieces_tx);
		assert_int_equal(pieces_stats(b, 1).pkts_rx, PKTS);
	}
	bed_close(b);
}

/* The limit is for what is posted from then on, up and down, and 0 ends it. */
static void pieces__the_path_changes(void **state)
{
	static const uint32_t room[] = { 64, 16, BED_MTU - 4, BED_MTU, 128 };
	struct bed *b = pieces_of(state, ROOM);
	uint64_t before;
	uint32_t i;

	bed_give(b, 0, BED_MSG);
	for (i = 0; i < sizeof(room) / sizeof(room[0]); i++) {
		bed_ops(b, 0)->qp_path(b->qp[0], b->ui[0].data_over + room[i]);
		bed_post_one(b, bed_write(b, 2 * i, 2 * BED_MTU));
		bed_wait(b, &b->seen[1].nplaced, 2 * (i + 1));
	}
	bed_settle(b);
	before = pieces_stats(b, 0).pieces_tx;
	bed_ops(b, 0)->qp_path(b->qp[0], 0);
	bed_post_one(b, bed_write(b, 2 * i, BED_MTU));
	bed_settle(b);
	bed_check_placed(b, 0, 2 * i + 1);
	bed_check(b, 0, (2 * i + 1) * BED_MTU);
	assert_int_equal(pieces_stats(b, 0).pieces_tx, before);
	bed_close(b);
}

/* Not a byte beyond what was bound, and no report: of the pieces that would fit either. */
static void pieces__bounds(void **state)
{
	struct bed *b = pieces_of(state, ROOM);

	bed_give(b, 0, 2 * BED_MTU - 1);
	bed_post_one(b, bed_write(b, 1, BED_MTU));
	bed_post_one(b, bed_write(b, 5, BED_MTU));
	bed_settle(b);
	bed_check(b, 0, 0);
	assert_int_equal(b->seen[1].nplaced, 0);
	bed_close(b);
}

/* A slot that has gone, another generation, and damage: as with whole packets. */
static void pieces__that_come_too_late(void **state)
{
	struct bed *b = pieces_of(state, ROOM);
	struct sdr_uc_tx t;

	bed_give(b, 1, BED_MSG);
	bed_post_one(b, bed_write(b, 0, PKTS * BED_MTU)); /* generation 0 */
	t = bed_write(b, 0, PKTS * BED_MTU);
	t.gen = 1;
	t.flags |= SDR_UC_F_CORRUPT;
	bed_post_one(b, t);
	bed_settle(b);
	bed_check(b, 0, 0);
	assert_int_equal(b->seen[1].nplaced, 0);
	bed_take_back(b);
	t.flags = 0;
	bed_post_one(b, t);
	bed_wait_late(b, 1);
	bed_settle(b);
	bed_check(b, 0, 0);
	assert_int_equal(b->seen[1].nplaced, 0);
	assert_int_equal(pieces_stats(b, 1).pkts_rx, 0);
	bed_close(b);
}

/* What the host knows is at least no lie: what it says passes. */
static void pieces__what_the_host_knows(void **state)
{
	struct bed *b = bed_of(state);
	uint32_t bytes = 0;

	if (bed_ops(b, 0)->path_mtu)
		bytes = bed_ops(b, 0)->path_mtu(b->net.uc[0], &b->addr[1]);
	assert_true(!bytes || bytes >= b->ui[0].ctl_over + SDR_CTL_MIN);
	bed_close(b);
}

const struct uc_clause uc_clauses_pieces[] = {
	UC_CLAUSE(pieces__a_run),
	UC_CLAUSE(pieces__the_path_changes),
	UC_CLAUSE(pieces__bounds),
	UC_CLAUSE(pieces__that_come_too_late),
	UC_CLAUSE(pieces__what_the_host_knows),
	{ NULL, NULL },
};
