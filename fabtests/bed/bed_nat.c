/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* See bed_nat.h.  The bed's user pointer is the translator's. */
#include "bed_nat.h"

#define NAT_FIRST 1000u /* outside addresses */

static struct bed_nat_map *map_by(struct bed_nat *t, uint32_t node, uint32_t to)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->map[i].node == node && t->map[i].to == to)
			return &t->map[i];
	return NULL;
}

static bool map_alive(const struct bed_nat *t, const struct bed_nat_map *m)
{
	return !t->life || bed_now(t->b) - m->used <= t->life;
}

static struct bed_nat_map *map_new(struct bed_nat *t, uint32_t node, uint32_t to)
{
	struct bed_nat_map *m = &t->map[t->n++];

	assert_true(t->n <= BED_NAT_MAPS);
	*m = (struct bed_nat_map){ .node = node, .to = to };
	return m;
}

static uint32_t nat_outside(struct bed_nat *t, uint32_t node, uint32_t to)
{
	struct bed_nat_map *m = map_by(t, node, to);

	if (!m)
		m = map_new(t, node, to);
	if (!m->out || !map_alive(t, m))
		m->out = t->keeps[node] ? t->forward[node] : NAT_FIRST + t->next++;
	m->used = bed_now(t->b);
	return m->out;
}

/* The node that an outside address leads to, for a packet that carries this sender; or -1. */
static int nat_inside(struct bed_nat *t, uint32_t from, uint32_t number)
{
	for (uint32_t i = 0; i < t->b->n; i++) {
		if (t->forward[i] != number)
			continue;
		/* The answer leaves as what was asked. */
		if (!map_by(t, i, from))
			*map_new(t, i, from) =
				(struct bed_nat_map){ i, from, number, bed_now(t->b) };
		return (int)i;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		struct bed_nat_map *m = &t->map[i];

		if (m->out != number || m->to != from || !map_alive(t, m))
			continue;
		m->used = bed_now(t->b);
		return (int)m->node;
	}
	return -1;
}

static bool nat_translate(void *user, uint32_t node, uint32_t *from, uint32_t *to)
{
	struct bed_nat *t = ((struct bed *)user)->user;
	int in;

	if (t->behind[node])
		*from = nat_outside(t, node, *to);
	if (*to && *to <= t->b->n)
		return !t->behind[*to - 1];
	in = nat_inside(t, *from, *to);
	if (in < 0)
		return false;
	*to = (uint32_t)in + 1;
	return true;
}

void bed_nat_init(struct bed_nat *t, struct bed *b)
{
	*t = (struct bed_nat){ .b = b };
	b->user = t;
	b->translate = nat_translate;
	for (uint32_t i = 0; i < b->n; i++)
		b->name[i] = i + 1;
}

void bed_nat_behind(struct bed_nat *t, uint32_t node, uint32_t name)
{
	t->behind[node] = true;
	t->b->name[node] = name;
}

void bed_nat_forget(struct bed_nat *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->map[i].out = 0;
}

uint32_t bed_nat_out(const struct bed_nat *t, uint32_t node, uint32_t to)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->map[i].node == node && t->map[i].to == to)
			return t->map[i].out;
	return 0;
}
