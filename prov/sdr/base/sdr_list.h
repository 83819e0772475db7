/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Intrusive doubly linked list with a head node.  No ownership, no locks. */
#ifndef SDR_LIST_H
#define SDR_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "sdr_assert.h"

struct sdr_list {
	struct sdr_list *next, *prev;
};

#define sdr_container(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define sdr_list_each(pos, head)	 for (pos = (head)->next; pos != (head); pos = pos->next)
#define sdr_list_each_safe(pos, tmp, head) \
	for (pos = (head)->next, tmp = pos->next; pos != (head); pos = tmp, tmp = pos->next)

static inline void sdr_list_init(struct sdr_list *l)
{
	l->next = l->prev = l;
}
static inline bool sdr_list_empty(const struct sdr_list *l)
{
	return l->next == l;
}
static inline void sdr_list_add_before(struct sdr_list *n, struct sdr_list *at)
{
	SDR_ASSERT(n != at && at->prev->next == at);
	n->next = at;
	n->prev = at->prev;
	at->prev->next = n;
	at->prev = n;
}
static inline void sdr_list_add_tail(struct sdr_list *n, struct sdr_list *head)
{
	sdr_list_add_before(n, head);
}
static inline void sdr_list_add_head(struct sdr_list *n, struct sdr_list *head)
{
	sdr_list_add_before(n, head->next);
}
/* Leaves n initialised, so that removing twice is harmless. */
static inline void sdr_list_del(struct sdr_list *n)
{
	SDR_ASSERT(n->prev->next == n && n->next->prev == n);
	n->prev->next = n->next;
	n->next->prev = n->prev;
	sdr_list_init(n);
}
static inline struct sdr_list *sdr_list_pop(struct sdr_list *head)
{
	struct sdr_list *n = head->next;

	if (n == head)
		return NULL;
	sdr_list_del(n);
	return n;
}
/* All of from goes to the end of head, in its order. */
static inline void sdr_list_move(struct sdr_list *from, struct sdr_list *head)
{
	SDR_ASSERT(from != head);
	if (sdr_list_empty(from))
		return;
	from->next->prev = head->prev;
	head->prev->next = from->next;
	from->prev->next = head;
	head->prev = from->prev;
	sdr_list_init(from);
}

#endif /* SDR_LIST_H */
