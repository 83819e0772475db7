/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See sdr_idtab.h.  The table doubles; numbers of freed objects are reused with the next use count.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_assert.h"
#include "sdr_idtab.h"

#define IDTAB_FIRST    64u
#define IDTAB_GEN_MASK 0xfffu

static int idtab_grow(struct sdr_idtab *t)
{
	uint32_t size = t->size ? t->size * 2 : IDTAB_FIRST;
	struct sdr_idtab_slot *s;

	if (size > SDR_IDTAB_MAX)
		return -ENOMEM;
	s = realloc(t->slot, size * sizeof(*s));
	if (!s)
		return -ENOMEM;
	for (uint32_t i = size; i-- > t->size;) {
		s[i] = (struct sdr_idtab_slot){ .next = t->free };
		t->free = i + 1;
	}
	t->slot = s;
	t->size = size;
	return 0;
}

int sdr_idtab_add(struct sdr_idtab *t, void *obj, uint32_t *id)
{
	struct sdr_idtab_slot *s;
	uint32_t i;

	SDR_ASSERT(obj); /* NULL means free */
	if (!t->free && idtab_grow(t))
		return -ENOMEM;
	i = t->free - 1;
	s = &t->slot[i];
	SDR_ASSERT(i < t->size && !s->obj);
	t->free = s->next;
	s->obj = obj;
	*id = s->gen << SDR_IDTAB_BITS | i;
	SDR_ASSERT(sdr_idtab_get(t, *id) == obj);
	return 0;
}

void *sdr_idtab_get(const struct sdr_idtab *t, uint32_t id)
{
	uint32_t i = id & (SDR_IDTAB_MAX - 1);

	if (i >= t->size || t->slot[i].gen != id >> SDR_IDTAB_BITS)
		return NULL;
	return t->slot[i].obj;
}

void sdr_idtab_del(struct sdr_idtab *t, uint32_t id)
{
	uint32_t i = id & (SDR_IDTAB_MAX - 1);

	if (!sdr_idtab_get(t, id))
		return;
	t->slot[i].obj = NULL;
	t->slot[i].gen = (t->slot[i].gen + 1) & IDTAB_GEN_MASK;
	t->slot[i].next = t->free;
	t->free = i + 1;
}

void sdr_idtab_destroy(struct sdr_idtab *t)
{
	free(t->slot);
	memset(t, 0, sizeof(*t));
}
