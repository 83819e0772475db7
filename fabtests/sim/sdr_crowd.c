/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One endpoint and very many peers, in virtual time: ten thousand at a time, seventy thousand over
 * its life.
 *
 * Node 0 is the endpoint, node 1 a real client that it knows and node 2 one that it does not; the
 * crowd are strangers (fabtests/functional/stranger.h) at addresses where no node is.  What they
 * say is injected, what is sent to them is caught where the network would lose it.  They come in
 * groups small enough to be taken without cookies, and their packets are never lost.
 */
#include <malloc.h>
#include <time.h>
#include "../bed/bed.h"
#include "../functional/stranger.h"

#define FIRST 1000u /* number of the first stranger's address */
#define GROUP 48u   /* fewer than SDR_CONN_UNVALIDATED_MAX */
#define MANY  10000u
#define LIFE  70000u   /* more than SDR_REL_PEERS_MAX */
#define TURN  (1 * MS) /* virtual: between what a group says and what it says next */
/* bytes that may be left behind by LIFE peers: tables that have grown */
#define LIFE_HEAP (1u << 20)
/* idle round beside MANY to beside none; what walks over them needs hundreds */
#define IDLE_FACTOR 20.0

struct member {
	struct stranger s;
	uint32_t acked, byes; /* acknowledgements of packets, of its BYE */
	bool again, dismissed, reset;
};

static struct crowd {
	struct bed *b;
	struct member *m;
	uint32_t n;
} crowd;

/* A packet of the endpoint to a stranger. */
static void heard(struct bed *b, const struct sdr_sim_packet *p)
{
	struct stranger_news news;
	struct member *m;

	(void)b;
	if (p->kind != SDR_SIM_CTL || p->to < FIRST || p->to - FIRST >= crowd.n)
		return;
	m = &crowd.m[p->to - FIRST];
	switch (stranger_input(&m->s, sdr_sim_packet_payload(p), p->len, &news)) {
	case STRANGER_AGAIN:
		m->again = true;
		break;
	case STRANGER_RESET:
		m->reset = true;
		break;
	case STRANGER_PACKET:
		m->acked += news.ack.n > 0;
		m->byes += news.bye_ack;
		m->dismissed |= news.bye;
		break;
	default:
		break;
	}
}

static void crowd_open_cfg(uint32_t n, struct sdr_rel_cfg cfg)
{
	struct bed *b = bed_new(3);

	b->cfg[0].strangers_max = cfg.strangers_max;
	b->cfg[0].unexp_max = cfg.unexp_max;
	b->astray = heard;
	bed_boot(b);
	b->eps.a.books = 4096; /* calls of progress: they cost as much as there are peers */
	bed_warm(b, 0, 1);
	crowd = (struct crowd){ .b = b, .m = calloc(n, sizeof(*crowd.m)), .n = n };
	assert_non_null(crowd.m);
	for (uint32_t i = 0; i < n; i++)
		stranger_init(&crowd.m[i].s, i + 1);
}

static void crowd_open(uint32_t n)
{
	crowd_open_cfg(n, (struct sdr_rel_cfg){ 0 });
}

/* The real client's message gets through, and the endpoint's answer. */
static void crowd_close(void)
{
	struct bed *b = crowd.b;
	uint8_t *p = bed_buf(b, 100000, 0), *q = bed_buf(b, 8, 0);
	struct bed_op *op[4];

	op[0] = bed_rr(b, 0, (struct sdr_rel_rr){ .kind = SDR_REL_TRECV, .tag = 1 }, p, 100000);
	op[1] = bed_tsend(b, 1, 0, 1, bed_buf(b, 100000, 9), 100000);
	op[2] = bed_rr(b, 1, (struct sdr_rel_rr){ .kind = SDR_REL_TRECV, .tag = 2 }, q, 8);
	op[3] = bed_tsend(b, 0, 1, 2, bed_buf(b, 8, 4), 8);
	for (int i = 0; i < 4; i++) {
		bed_wait(b, op[i], BED_SEC);
		bed_assert_ok(op[i]);
	}
	assert_true(bed_same(p, 100000, 9));
	bed_close(b);
	free(crowd.m);
}

static void say(uint32_t i, const void *frames, size_t n)
{
	uint8_t p[SDR_CTL_MAX];
	struct stranger *s = &crowd.m[i].s;
	size_t len = frames ? stranger_packet(s, p, frames, n) : stranger_hello(s, p);

	assert_int_equal(sdr_sim_inject_ctl(crowd.b->w, FIRST + i, 0, 0, p, len), 0);
}

/* Their acknowledgements, and the frames they are to send. */
static void say_with_acks(uint32_t i, const void *frames, size_t n)
{
	uint8_t f[STRANGER_FRAMES_MAX];
	size_t k = stranger_acks(&crowd.m[i].s, f, sizeof(f));

	memcpy(f + k, frames, n);
	if (k + n)
		say(i, f, k + n);
}

static void hellos(uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		say(i, NULL, 0);
	bed_run(crowd.b, TURN);
	for (uint32_t i = first; i < end; i++)
		if (crowd.m[i].again)
			say(i, NULL, 0);
	bed_run(crowd.b, TURN);
}

/* Connections [first, end) are open and validated. */
static void crowd_come(uint32_t first, uint32_t end)
{
	uint8_t f[8];
	size_t n = sdr_frame_ping_encode(f, sizeof(f));

	for (uint32_t at = first, to; at < end; at = to) {
		to = at + GROUP < end ? at + GROUP : end;
		hellos(at, to);
		for (uint32_t i = at; i < to; i++) {
			if (!crowd.m[i].s.peer_cid)
				fail_msg("stranger %u was not taken: status %u", i,
					 crowd.m[i].s.status);
			say(i, f, n);
		}
		bed_run(crowd.b, TURN);
		for (uint32_t i = at; i < to; i++)
			assert_true(crowd.m[i].acked > 0);
	}
}

static void crowd_go(uint32_t first, uint32_t end)
{
	uint8_t f[8];
	size_t n = sdr_frame_close_encode(f, sizeof(f),
					  &(struct sdr_frame_close){ .reason = SDR_CLOSE_BYE });

	for (uint32_t at = first, to; at < end; at = to) {
		to = at + GROUP < end ? at + GROUP : end;
		for (uint32_t i = at; i < to; i++)
			say_with_acks(i, f, n);
		bed_run(crowd.b, TURN);
		for (uint32_t i = at; i < to; i++)
			assert_int_equal(crowd.m[i].byes, 1);
	}
}

static void crowd_message(uint32_t i, uint32_t mseq)
{
	uint8_t f[64];
	uint32_t word = i;
	size_t n = stranger_rec(&crowd.m[i].s, f, sizeof(f),
				(struct sdr_frame_rec){ .op = SDR_REC_SEND,
							.flags = SDR_REC_F_ORDER,
							.id = mseq,
							.mseq = mseq,
							.len = sizeof(word),
							.payload_len = sizeof(word) },
				&word);

	assert_true(n > 0);
	say(i, f, n);
}

static struct sdr_rel *victim(void)
{
	return crowd.b->node[0].ep->rel;
}

/*
 * Peers that something needs: without those who are gone and only remembered, of whom there are
 * few.
 */
static uint32_t peers_needed(void)
{
	assert_in_range(victim()->ngone, 0, SDR_REL_PEERS_GONE);
	return victim()->peers.n - victim()->ngone;
}

static size_t heap(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* All are peers like any other: each says something, and each is heard. */
static void crowd__ten_thousand_at_a_time(void **state)
{
	struct bed_op *r;
	uint8_t *buf;

	(void)state;
	crowd_open(MANY);
	r = bed_op(crowd.b, 0, -1);
	buf = bed_buf(crowd.b, 4 * GROUP, 0);
	crowd_come(0, MANY);
	assert_int_equal(victim()->nconns, MANY + 1);
	for (uint32_t at = 0; at < MANY; at += GROUP) {
		uint32_t to = at + GROUP < MANY ? at + GROUP : MANY;

		for (uint32_t i = at; i < to; i++) {
			bed_rr(crowd.b, 0, (struct sdr_rel_rr){ .kind = SDR_REL_RECV, .ctx = r },
			       buf + 4 * (i - at), 4);
			crowd_message(i, 0);
		}
		bed_run(crowd.b, TURN);
		assert_int_equal(r->n, to);
		assert_int_equal(r->e.err, 0);
		for (uint32_t i = at; i < to; i++) {
			uint32_t word;

			memcpy(&word, buf + 4 * (i - at), 4);
			assert_in_range(word, at, to - 1);
		}
	}
	crowd_close();
}

static void crowd__seventy_thousand_over_a_life(void **state)
{
	uint32_t peers, conns;
	size_t before;

	(void)state;
	crowd_open(LIFE);
	/* Tables have their size, pools their first piece. */
	crowd_come(0, GROUP);
	crowd_go(0, GROUP);
	bed_run(crowd.b, BED_SEC);
	peers = peers_needed();
	conns = victim()->nconns;
	assert_int_equal(conns, 1);
	before = heap();
	for (uint32_t at = GROUP, to; at < LIFE; at = to) {
		to = at + GROUP < LIFE ? at + GROUP : LIFE;
		crowd_come(at, to);
		crowd_go(at, to);
	}
	bed_run(crowd.b, BED_SEC);
	assert_int_equal(victim()->nconns, conns);
	assert_int_equal(peers_needed(), peers);
	assert_true(heap() <= before + LIFE_HEAP);
	crowd_close();
}

/*
 * What a stranger sent before it went is still its own: the peer stays until nothing can refer to
 * it.
 */
static void crowd__last_words_are_heard(void **state)
{
	bool heard_of[GROUP] = { false };
	uint8_t *buf;
	uint32_t peers;

	(void)state;
	crowd_open(GROUP);
	peers = peers_needed();
	buf = bed_buf(crowd.b, 4, 0);
	crowd_come(0, GROUP);
	for (uint32_t i = 0; i < GROUP; i++)
		crowd_message(i, 0);
	bed_run(crowd.b, TURN);
	crowd_go(0, GROUP);
	bed_run(crowd.b, BED_SEC);
	assert_int_equal(victim()->nconns, 1);
	for (uint32_t i = 0; i < GROUP; i++) {
		struct bed_op *r = bed_recv(crowd.b, 0, buf, 4);
		uint32_t word;

		bed_wait(crowd.b, r, BED_SEC);
		bed_assert_ok(r);
		memcpy(&word, buf, 4);
		assert_in_range(word, 0, GROUP - 1);
		assert_false(heard_of[word]);
		heard_of[word] = true;
	}
	bed_run(crowd.b, TURN);
	assert_int_equal(peers_needed(), peers);
	crowd_close();
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Steps of a group that comes and goes. */
static uint64_t visit(uint32_t first)
{
	uint64_t before = victim()->steps;

	crowd_come(first, first + GROUP);
	crowd_go(first, first + GROUP);
	return victim()->steps - before;
}

static void crowd__a_visit_costs_the_same_beside_many(void **state)
{
	uint64_t alone, beside;

	(void)state;
	crowd_open(MANY + 3 * GROUP);
	(void)visit(0);
	alone = visit(GROUP);
	crowd_come(3 * GROUP, MANY + 3 * GROUP);
	beside = visit(2 * GROUP);
	print_message("a visit: %.1f steps alone, %.1f beside %u\n", (double)alone / GROUP,
		      (double)beside / GROUP, MANY);
	assert_true(beside <= 2 * alone + GROUP);
	crowd_close();
}

/* The cheapest of many batches of rounds that have nothing to do. */
static double idle_round(void)
{
	double best = 1e18, t;

	for (int i = 0; i < 30; i++) {
		t = cpu_ns();
		for (int k = 0; k < 200; k++)
			assert_int_equal(sdr_rel_progress(victim()), 0);
		t = cpu_ns() - t;
		best = t < best ? t : best;
	}
	return best / 200;
}

/*
 * No step of those that are counted.  Of others: processor time, not the clock's; and a limit far
 * from both what is right and what is wrong.
 */
static void crowd__idle_peers_cost_nothing(void **state)
{
	double alone, beside;
	uint64_t steps;

	(void)state;
	crowd_open(MANY);
	bed_run(crowd.b, BED_SEC);
	alone = idle_round();
	crowd_come(0, MANY);
	bed_run(crowd.b, BED_SEC);
	steps = victim()->steps;
	beside = idle_round();
	assert_int_equal(victim()->steps, steps);
	print_message("idle round: %.0f ns alone, %.0f ns beside %u\n", alone, beside, MANY);
	assert_true(beside < IDLE_FACTOR * alone);
	crowd_close();
}

/* ---- limits ---------------------------------------------------------------------------------- */

#define PLACES 500u
#define NAMED  3u
#define TALKER 7u

/* The one silent longest goes first, with a CLOSE; one that has a name, or sends, stays. */
static void crowd__more_than_there_are_places(void **state)
{
	struct sdr_uc_addr addr;
	struct sdr_peer *named;
	uint32_t acked, first, i;
	uint8_t ping[8];
	size_t n = sdr_frame_ping_encode(ping, sizeof(ping));

	(void)state;
	crowd_open_cfg(4 * PLACES, (struct sdr_rel_cfg){ .strangers_max = PLACES });
	crowd_come(0, GROUP);
	sdr_sim_addr_make(FIRST + NAMED, &addr);
	named = sdr_rel_peer(victim(), &addr);
	assert_non_null(named);
	for (first = GROUP; first < 4 * PLACES; first += GROUP) {
		crowd_come(first, first + GROUP < 4 * PLACES ? first + GROUP : 4 * PLACES);
		bed_run(crowd.b, 200 * MS);
		say(TALKER, ping, n);
		bed_run(crowd.b, 200 * MS);
		/* who has a name takes no place */
		assert_in_range(victim()->nconns, 1, PLACES + 2);
	}
	for (i = 0; i < 3 * PLACES - GROUP; i++)
		assert_true(crowd.m[i].dismissed == (i != NAMED && i != TALKER));
	for (; i < 4 * PLACES; i++)
		assert_false(crowd.m[i].dismissed && i > 3 * PLACES + GROUP);
	acked = crowd.m[NAMED].acked;
	say(NAMED, ping, n);
	bed_run(crowd.b, TURN);
	assert_true(crowd.m[NAMED].acked > acked);
	/*
	 * Without the name it is one of them, though not the first to go: it has just been heard.
	 */
	sdr_rel_peer_put(named);
	assert_int_equal(victim()->npeers_named, 1);
	crowd_close();
}

/*
 * Strangers leave messages that are never received until no more are taken, and stay.  One who
 * comes now, whom the endpoint does not know either, finds the receive that is posted for his
 * message.
 */
static void crowd__full_of_messages_serves_who_is_waited_for(void **state)
{
	struct bed_op *r, *s;
	uint64_t kept = 0;
	uint8_t *p;

	(void)state;
	crowd_open_cfg(10 * GROUP, (struct sdr_rel_cfg){ .unexp_max = 1u << 20 });
	crowd_come(0, 10 * GROUP);
	for (uint32_t mseq = 0; mseq < 100; mseq++) {
		for (uint32_t i = 0; i < 10 * GROUP; i++)
			crowd_message(i, mseq);
		bed_run(crowd.b, TURN);
		if (victim()->unexp_bytes == kept)
			break;
		kept = victim()->unexp_bytes;
	}
	assert_in_range(kept, 1u << 18, 1u << 20);
	p = bed_buf(crowd.b, 1000, 0);
	r = bed_rr(crowd.b, 0, (struct sdr_rel_rr){ .kind = SDR_REL_TRECV, .tag = 77 }, p, 1000);
	s = bed_tsend(crowd.b, 2, 0, 77, bed_buf(crowd.b, 1000, 5), 1000);
	bed_wait(crowd.b, r, BED_SEC);
	bed_wait(crowd.b, s, BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	assert_true(bed_same(p, 1000, 5));
	crowd_close();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crowd__ten_thousand_at_a_time),
		cmocka_unit_test(crowd__seventy_thousand_over_a_life),
		cmocka_unit_test(crowd__last_words_are_heard),
		cmocka_unit_test(crowd__a_visit_costs_the_same_beside_many),
		cmocka_unit_test(crowd__idle_peers_cost_nothing),
		cmocka_unit_test(crowd__more_than_there_are_places),
		cmocka_unit_test(crowd__full_of_messages_serves_who_is_waited_for),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
