/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers behind address translation.  Node 0 has an address of its own; the others are behind
 * translators and known by names that lead nowhere, or to a forwarded port.
 */
#include "../bed/bed_nat.h"
#include "rel/conn/sdr_conn_mtu.h"
#include "base/sdr_rand.h"

#define NAME  501u /* of node 1 */
#define NAME2 502u /* of node 2 */
#define LEN   100u
#define MSGS  4u
#define SEEDS 150u

static uint32_t open_conns(struct bed *b, uint32_t node)
{
	return b->node[node].ep->rel->nconns;
}

/* ---- traffic both ways, in any order --------------------------------------------------------- */

struct talk {				 /* one direction */
	uint32_t from, to;		 /* nodes */
	uint32_t name;			 /* by which the sender knows the receiver */
	uint32_t source;		 /* and the receiver the sender */
	bool directed;			 /* receives say so */
	uint64_t send_at[MSGS], recv_at; /* ns from the start */
	struct bed_op *s[MSGS], *r[MSGS];
	uint8_t *p[MSGS];
	uint32_t nsent;
	bool posted;
};

static void talk_draw(struct talk *t, uint64_t *rng, uint64_t span)
{
	uint64_t at = sdr_rand64(rng) % span;

	t->recv_at = sdr_rand64(rng) % span;
	for (uint32_t i = 0; i < MSGS; i++) {
		t->send_at[i] = at;
		at += sdr_rand64(rng) % (span / 2);
	}
}

static void talk_step(struct bed *b, struct talk *t, uint64_t now)
{
	struct sdr_rel_rr rr = { .kind = SDR_REL_RECV };

	if (!t->posted && now >= t->recv_at) {
		t->posted = true;
		if (t->directed)
			rr.peer = bed_peer_at(b, t->to, t->source);
		for (uint32_t i = 0; i < MSGS; i++) {
			t->p[i] = bed_buf(b, LEN, 0);
			t->r[i] = bed_rr(b, t->to, rr, t->p[i], LEN);
		}
	}
	while (t->nsent < MSGS && now >= t->send_at[t->nsent]) {
		t->s[t->nsent] = bed_post_to(b, t->from, bed_peer_at(b, t->from, t->name),
					     (struct sdr_rel_wr){ .kind = SDR_REL_SEND },
					     bed_buf(b, LEN, 10 + t->nsent), LEN);
		t->nsent++;
	}
}

static void talk_end(struct bed *b, struct talk *t)
{
	struct sdr_peer *source = bed_peer_at(b, t->to, t->source);

	for (uint32_t i = 0; i < MSGS; i++) {
		bed_wait(b, t->s[i], 10 * BED_SEC);
		bed_wait(b, t->r[i], 10 * BED_SEC);
		bed_assert_ok(t->s[i]);
		bed_assert_ok(t->r[i]);
		assert_true(bed_same(t->p[i], LEN, 10 + i)); /* in order */
		if (t->directed)
			assert_ptr_equal(t->r[i]->e.peer, source);
	}
}

static void talk_run(struct bed *b, struct talk *t, uint32_t n, uint64_t span)
{
	uint64_t t0 = bed_now(b);

	while (bed_now(b) - t0 <= 4 * span) {
		for (uint32_t i = 0; i < n; i++)
			talk_step(b, &t[i], bed_now(b) - t0);
		bed_run(b, span / 64);
	}
	for (uint32_t i = 0; i < n; i++)
		talk_end(b, &t[i]);
}

/* Both behind translators if two, by private names or forwarded ones. */
struct site {
	bool two, forwarded, keeps;
	uint32_t least, most; /* aliases, of both */
};

static void site_once(const struct site *site, uint64_t seed)
{
	uint32_t other = site->two ? 2 : 0, name = site->two ? NAME2 : 1;
	struct talk t[2] = { { .from = 1, .to = other, .name = name, .source = NAME },
			     { .from = other, .to = 1, .name = NAME, .source = name } };
	uint64_t rng = seed, span = 1 + sdr_rand64(&rng) % (2 * BED_SEC);
	struct bed *b = bed_new(3);
	struct bed_nat nat;

	bed_nat_init(&nat, b);
	bed_nat_behind(&nat, 1, NAME);
	nat.forward[1] = site->forwarded ? NAME : 0;
	nat.keeps[1] = nat.keeps[2] = site->keeps;
	if (site->two) {
		bed_nat_behind(&nat, 2, NAME2);
		nat.forward[2] = NAME2;
	}
	b->link.jitter_ns = seed % 3 ? 0 : BED_DELAY;
	b->link.loss = seed % 5 ? 0 : 0.05;
	bed_boot(b);
	for (int i = 0; i < 2; i++) {
		t[i].directed = sdr_rand64(&rng) & 1;
		talk_draw(&t[i], &rng, span);
	}
	talk_run(b, t, 2, span);
	bed_run(b, 10 * BED_SEC);
	assert_true(open_conns(b, 1) <= (site->two || site->forwarded ? 2u : 1u));
	assert_true(open_conns(b, other) <= (site->two || site->forwarded ? 2u : 1u));
	assert_in_range(bed_stats(b, 1).aliases + bed_stats(b, other).aliases, site->least,
			site->most);
	assert_int_equal(bed_stats(b, 1).claims_refused + bed_stats(b, other).claims_refused, 0);
	assert_int_equal(bed_stats(b, 1).ops_failed + bed_stats(b, other).ops_failed, 0);
	/* And it stays so, under both names. */
	talk_draw(&t[0], &rng, span);
	for (int i = 0; i < 2; i++) {
		t[i].directed = true;
		t[i].posted = false;
		t[i].nsent = 0;
	}
	if (!site->two && !site->forwarded && bed_nat_out(&nat, 1, 1))
		t[1].name = bed_nat_out(&nat, 1, 1);
	talk_run(b, t, 2, span);
	bed_close(b);
}

static void site_run(const struct site *site)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		site_once(site, seed * 7919);
}

static void nat__a_private_name_is_met_whoever_starts(void **state)
{
	(void)state;
	site_run(&(struct site){ .least = 1, .most = 1 });
}

static void nat__a_forwarded_port_that_answers(void **state)
{
	(void)state;
	site_run(&(struct site){ .forwarded = true, .most = 1 });
}

static void nat__a_forwarded_port_that_is_kept(void **state)
{
	(void)state;
	site_run(&(struct site){ .forwarded = true, .keeps = true });
}

static void nat__both_sides_with_ports_that_change(void **state)
{
	(void)state;
	site_run(&(struct site){ .two = true, .forwarded = true, .most = 2 });
}

static void nat__both_sides_with_ports_that_are_kept(void **state)
{
	(void)state;
	site_run(&(struct site){ .two = true, .forwarded = true, .keeps = true });
}

/* ---- one side -------------------------------------------------------------------------------- */

static struct bed *one_behind(struct bed_nat *nat, uint32_t nodes)
{
	struct bed *b = bed_new(nodes);

	bed_nat_init(nat, b);
	bed_nat_behind(nat, 1, NAME);
	return b;
}

/* A message from the node to node 0, which any receive takes; returns its report. */
static const struct sdr_rel_cqe *call(struct bed *b, uint32_t node)
{
	struct bed_op *r = bed_recv(b, 0, bed_buf(b, LEN, 0), LEN);
	struct bed_op *s = bed_send(b, node, 0, bed_buf(b, LEN, 3), LEN, 0);

	bed_wait(b, r, 5 * BED_SEC);
	bed_wait(b, s, 5 * BED_SEC);
	bed_assert_ok(r);
	bed_assert_ok(s);
	return &r->e;
}

static struct bed_op *answer(struct bed *b, uint32_t name)
{
	return bed_post_to(b, 0, bed_peer_at(b, 0, name),
			   (struct sdr_rel_wr){ .kind = SDR_REL_SEND }, bed_buf(b, LEN, 4), LEN);
}

static void nat__messages_wait_until_it_is_known_whose_they_are(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	struct sdr_peer *p;

	(void)state;
	bed_boot(b);
	p = bed_peer_at(b, 0, NAME);
	/* any receive, and yet: not one is reported as a stranger's */
	assert_ptr_equal(call(b, 1)->peer, p);
	assert_in_range(bed_now(b), 100 * MS, 500 * MS);
	assert_ptr_equal(call(b, 1)->peer, p);
	bed_close(b);
}

/* What this host learns of the way concerns who is met there, whatever its name is. */
static void nat__the_size_of_the_way_to_a_translator(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	struct sdr_peer *p;
	struct sdr_conn *c;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		b->na[i].no_probe = false;
	bed_boot(b);
	p = bed_peer_at(b, 0, NAME);
	assert_ptr_equal(call(b, 1)->peer, p);
	c = p->conn;
	assert_non_null(c);
	assert_false(sdr_uc_addr_equal(&c->addr, &c->peer->addr));
	assert_true(c->main.pmtu.ceil > 1301);
	sdr_conn_mtu_told(c->rel, &c->addr, 1300);
	assert_int_equal(c->main.pmtu.ceil, 1301);
	bed_close(b);
}

static bool knows_name(void *user, const struct sdr_uc_addr *addr)
{
	struct sdr_uc_addr name;

	(void)user;
	sdr_sim_addr_make(NAME, &name);
	return sdr_uc_addr_equal(addr, &name);
}

static void nat__an_address_that_is_known_and_not_used_counts(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	struct sdr_rel_cbs cbs;
	struct sdr_peer *p;

	(void)state;
	bed_boot(b);
	cbs = *b->node[0].ep->rel->cbs;
	cbs.knows = knows_name;
	b->node[0].ep->rel->cbs = &cbs;
	p = call(b, 1)->peer;
	assert_ptr_equal(p, bed_peer_at(b, 0, NAME));
	bed_close(b);
}

static void nat__what_came_before_the_name_is_met_in_order(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	struct bed_op *r[3], *s[3];
	uint8_t *p[3];

	(void)state;
	bed_boot(b);
	for (uint32_t i = 0; i < 3; i++)
		s[i] = bed_send(b, 1, 0, bed_buf(b, LEN, 20 + i), LEN, 0);
	bed_run(b, BED_SEC);
	assert_int_equal(bed_stats(b, 0).msgs_unexp, 3);
	for (uint32_t i = 0; i < 3; i++) {
		p[i] = bed_buf(b, LEN, 0);
		r[i] = bed_rr(b, 0,
			      (struct sdr_rel_rr){ .kind = SDR_REL_RECV,
						   .peer = bed_peer_at(b, 0, NAME) },
			      p[i], LEN);
	}
	for (uint32_t i = 0; i < 3; i++) {
		bed_wait(b, r[i], BED_SEC);
		bed_assert_ok(r[i]);
		assert_true(bed_same(p[i], LEN, 20 + i));
		bed_wait(b, s[i], BED_SEC);
	}
	bed_close(b);
}

static void nat__bulk_both_ways_while_the_mapping_changes(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	size_t len = 8u << 20;
	uint8_t *at0 = bed_buf(b, len, 0), *at1 = bed_buf(b, len, 0);
	struct bed_op *w[2];

	(void)state;
	bed_boot(b);
	bed_region_add(b, 0, 1, at0, len, SDR_REL_ACCESS_WRITE);
	bed_region_add(b, 1, 1, at1, len, SDR_REL_ACCESS_WRITE);
	w[0] = bed_rma(b, 1, 0, SDR_REL_WRITE, bed_buf(b, len, 7), len, 0, 1, 0);
	bed_run(b, BED_RTT);
	w[1] = bed_post_to(b, 0, bed_peer_at(b, 0, NAME),
			   (struct sdr_rel_wr){ .kind = SDR_REL_WRITE, .rma_key = 1 },
			   bed_buf(b, len, 8), len);
	for (int i = 0; i < 2; i++) {
		bed_run(b, i ? 300 * MS : 25 * MS);
		bed_nat_forget(&nat);
	}
	for (int i = 0; i < 2; i++) {
		bed_wait(b, w[i], 60 * BED_SEC);
		bed_assert_ok(w[i]);
	}
	assert_true(bed_same(at0, len, 7));
	assert_true(bed_same(at1, len, 8));
	bed_close(b);
}

static void nat__mapping_changes_while_the_claim_is_looked_into(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	struct bed_op *s, *r, *m;

	(void)state;
	bed_boot(b);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	s = answer(b, NAME);
	m = bed_send(b, 1, 0, bed_buf(b, LEN, 5), LEN, 0);
	bed_run(b, 50 * MS);
	bed_nat_forget(&nat);
	/* nobody can know until the peer says something: that is what its keepalive is for */
	bed_wait(b, s, 20 * BED_SEC);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(s);
	bed_assert_ok(r);
	r = bed_recv(b, 0, bed_buf(b, LEN, 0), LEN);
	bed_wait(b, m, 10 * BED_SEC);
	bed_close(b);
}

static void nat__a_peer_that_restarts_is_told_apart(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	struct bed_op *s, *r;

	(void)state;
	bed_boot(b);
	bed_peer_at(b, 0, NAME);
	call(b, 1);
	s = answer(b, NAME); /* meets no receive, and no end of its own */
	bed_run(b, BED_SEC);
	bed_crash(b, 1);
	bed_boot_node(b, 1);
	s = bed_post_to(b, 0, bed_peer_at(b, 0, NAME),
			(struct sdr_rel_wr){ .kind = SDR_REL_SEND, .flags = SDR_REL_F_DELIVERY },
			bed_buf(b, LEN, 4), LEN);
	assert_ptr_equal(call(b, 1)->peer, bed_peer_at(b, 0, NAME));
	bed_wait(b, s, BED_SEC);
	bed_assert_err(s, SDR_REL_ERR_RESTARTED);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	s = answer(b, NAME);
	bed_wait(b, s, 5 * BED_SEC);
	bed_wait(b, r, 5 * BED_SEC);
	bed_assert_ok(s);
	bed_assert_ok(r);
	assert_int_equal(bed_stats(b, 0).aliases, 2);
	bed_close(b);
}

/* ---- names that are another's ---------------------------------------------------------------- */

static void nat__of_two_with_one_name_the_first_has_it(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 3);
	struct sdr_peer *p;
	struct bed_op *s, *r;

	(void)state;
	bed_nat_behind(&nat, 2, NAME);
	bed_boot(b);
	p = bed_peer_at(b, 0, NAME);
	assert_ptr_equal(call(b, 1)->peer, p);
	assert_ptr_not_equal(call(b, 2)->peer, p);
	assert_int_equal(bed_stats(b, 0).aliases, 1);
	assert_int_equal(bed_stats(b, 0).claims_refused, 1);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	s = answer(b, NAME);
	bed_wait(b, s, BED_SEC);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(r);
	/* The other is there under the address that it has. */
	r = bed_recv(b, 2, bed_buf(b, LEN, 0), LEN);
	s = answer(b, bed_nat_out(&nat, 2, 1));
	bed_wait(b, r, BED_SEC);
	bed_wait(b, s, BED_SEC);
	bed_assert_ok(r);
	bed_close(b);
}

/* Node 2 says that it is node 1, which is there. */
static void impostor(bool before, bool connected)
{
	struct bed_nat nat;
	struct bed *b = bed_new(3);
	struct bed_op *s, *r;

	bed_nat_init(&nat, b);
	b->name[2] = 2;
	bed_boot(b);
	if (before)
		call(b, 2);
	if (connected)
		call(b, 1);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	s = bed_send(b, 0, 1, bed_buf(b, LEN, 4), LEN, 0);
	if (!before)
		assert_ptr_not_equal(call(b, 2)->peer, bed_peer(b, 0, 1));
	bed_wait(b, s, 5 * BED_SEC);
	bed_wait(b, r, 5 * BED_SEC);
	bed_assert_ok(r);
	assert_ptr_not_equal(call(b, 2)->peer, bed_peer(b, 0, 1));
	assert_ptr_equal(call(b, 1)->peer, bed_peer(b, 0, 1));
	assert_int_equal(bed_stats(b, 0).aliases, 0);
	assert_int_equal(bed_stats(b, 0).claims_refused, 1);
	bed_close(b);
}

static void nat__a_name_whose_owner_answers_is_not_taken(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		impostor(i & 1, i & 2);
}

static void nat__a_name_that_once_answered_is_not_taken_when_it_is_silent(void **state)
{
	struct bed_nat nat;
	struct bed *b = bed_new(3);

	(void)state;
	bed_nat_init(&nat, b);
	b->name[2] = 2;
	b->cfg[0].timeout_ms = 2000;
	bed_boot(b);
	bed_peer(b, 0, 1);
	call(b, 1);
	bed_crash(b, 1);
	answer(b, 2)->expect = -1;
	bed_run(b, 3 * BED_SEC);
	call(b, 2);
	assert_ptr_not_equal(call(b, 2)->peer, bed_peer(b, 0, 1));
	assert_int_equal(bed_stats(b, 0).aliases, 0);
	bed_close(b);
}

static void nat__nobody_takes_our_own_name_and_none_means_nothing(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);

	(void)state;
	b->name[1] = 1; /* node 0's */
	bed_boot(b);
	bed_peer_at(b, 0, 1);
	call(b, 1);
	assert_int_equal(bed_stats(b, 0).aliases, 0);
	assert_int_equal(bed_stats(b, 0).claims_refused, 1);
	bed_close(b);
}

static void nat__claims_can_be_switched_off(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	struct sdr_peer *p;

	(void)state;
	b->cfg[0].no_aliases = true;
	bed_boot(b);
	p = bed_peer_at(b, 0, NAME);
	assert_ptr_not_equal(call(b, 1)->peer, p);
	bed_close(b);
}

/* ---- keeping alive --------------------------------------------------------------------------- */

static void nat__a_mapping_is_kept_by_who_is_behind_it(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	struct bed_op *s, *r;

	(void)state;
	nat.life = 30 * BED_SEC;
	bed_boot(b);
	bed_peer_at(b, 0, NAME);
	call(b, 1);
	r = bed_recv(b, 1, bed_buf(b, LEN, 0), LEN);
	bed_run(b, 300 * BED_SEC);
	assert_in_range(bed_stats(b, 1).ctl_tx, 10, 60);
	s = answer(b, NAME);
	bed_wait(b, s, BED_SEC);
	bed_wait(b, r, BED_SEC);
	bed_assert_ok(r);
	bed_close(b);
}

static void nat__nothing_is_sent_when_there_is_no_translator(void **state)
{
	struct bed_nat nat;
	struct bed *b = bed_new(2);
	uint64_t sent;

	(void)state;
	bed_nat_init(&nat, b);
	bed_boot(b);
	call(b, 1);
	bed_run(b, BED_SEC);
	sent = bed_stats(b, 0).ctl_tx + bed_stats(b, 1).ctl_tx;
	bed_run(b, 300 * BED_SEC);
	assert_int_equal(bed_stats(b, 0).ctl_tx + bed_stats(b, 1).ctl_tx, sent);
	bed_close(b);
}

static void nat__keepalive_off_sends_nothing(void **state)
{
	struct bed_nat nat;
	struct bed *b = one_behind(&nat, 2);
	uint64_t sent;

	(void)state;
	b->cfg[1].keepalive_ms = 0;
	bed_boot(b);
	call(b, 1);
	bed_run(b, BED_SEC);
	sent = bed_stats(b, 1).ctl_tx;
	bed_run(b, 300 * BED_SEC);
	assert_int_equal(bed_stats(b, 1).ctl_tx, sent);
	bed_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nat__messages_wait_until_it_is_known_whose_they_are),
		cmocka_unit_test(nat__the_size_of_the_way_to_a_translator),
		cmocka_unit_test(nat__an_address_that_is_known_and_not_used_counts),
		cmocka_unit_test(nat__what_came_before_the_name_is_met_in_order),
		cmocka_unit_test(nat__bulk_both_ways_while_the_mapping_changes),
		cmocka_unit_test(nat__mapping_changes_while_the_claim_is_looked_into),
		cmocka_unit_test(nat__a_peer_that_restarts_is_told_apart),
		cmocka_unit_test(nat__of_two_with_one_name_the_first_has_it),
		cmocka_unit_test(nat__a_name_whose_owner_answers_is_not_taken),
		cmocka_unit_test(nat__a_name_that_once_answered_is_not_taken_when_it_is_silent),
		cmocka_unit_test(nat__nobody_takes_our_own_name_and_none_means_nothing),
		cmocka_unit_test(nat__claims_can_be_switched_off),
		cmocka_unit_test(nat__a_mapping_is_kept_by_who_is_behind_it),
		cmocka_unit_test(nat__nothing_is_sent_when_there_is_no_translator),
		cmocka_unit_test(nat__keepalive_off_sends_nothing),
		cmocka_unit_test(nat__a_private_name_is_met_whoever_starts),
		cmocka_unit_test(nat__a_forwarded_port_that_answers),
		cmocka_unit_test(nat__a_forwarded_port_that_is_kept),
		cmocka_unit_test(nat__both_sides_with_ports_that_change),
		cmocka_unit_test(nat__both_sides_with_ports_that_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
