/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the bulk room keeps, made and freed.  See sdr_bulk.h. */
#include <errno.h>
#include <stdlib.h>
#include "base/sdr_idtab.h"
#include "model/sdr_choice_table.h"
#include "sdr_bulk.h"
#include "sdr_code_rx.h"
#include "sdr_code_tx.h"
#include "sdr_report.h"
#include "sdr_scheme.h"

/* objects of an endpoint */
#define BULK_TX_MAX SDR_IDTAB_MAX
#define BULK_RX_MAX (16 * SDR_IDTAB_MAX)

int sdr_bulk_open(struct sdr_rel *rel)
{
	struct sdr_rel_bulk *b = rel->bulk;

	if (!rel->cfg.scheme)
		rel->cfg.scheme = sdr_scheme_table[0];
	b->choices = sdr_choice_table_create();
	if (!b->choices)
		return -ENOMEM;
	sdr_slab_init(&b->btx_pool, sizeof(struct sdr_bulk_tx), BULK_TX_MAX);
	sdr_slab_init(&b->brx_pool, sizeof(struct sdr_bulk_rx), BULK_RX_MAX);
	sdr_slab_init(&b->srx_pool, sizeof(struct sdr_seg_rx), BULK_RX_MAX);
	sdr_slab_init(&b->gtx_pool, sizeof(struct sdr_group_tx), BULK_RX_MAX);
	sdr_slab_init(&b->grx_pool, sizeof(struct sdr_group_rx), BULK_RX_MAX);
	sdr_scratch_init(&b->scratch,
			 rel->cfg.ec_scratch ? rel->cfg.ec_scratch : SDR_REL_EC_SCRATCH,
			 rel->info.no_bytes);
	sdr_list_init(&b->decodes);
	sdr_stages_open(rel);
	sdr_berths_open(rel);
	sdr_slab_init(&b->key_pool, sizeof(struct sdr_berth_key), BULK_RX_MAX);
	return 0;
}

void sdr_bulk_close(struct sdr_rel *rel)
{
	struct sdr_rel_bulk *b = rel->bulk;

	for (uint32_t i = 0; i < SDR_SEG_CLASSES; i++) {
		while (b->seg_free[i]) {
			void *s = b->seg_free[i];

			b->seg_free[i] = *(void **)s;
			free(s);
		}
	}
	sdr_htab_destroy(&b->binds);
	sdr_slab_destroy(&b->btx_pool);
	sdr_slab_destroy(&b->brx_pool);
	sdr_slab_destroy(&b->srx_pool);
	sdr_slab_destroy(&b->gtx_pool);
	sdr_slab_destroy(&b->grx_pool);
	sdr_scratch_destroy(&b->scratch);
	sdr_stages_close(rel);
	sdr_berths_close(rel);
	sdr_slab_destroy(&b->key_pool);
	sdr_code_scratch_destroy(&b->code_scratch);
	sdr_choice_table_destroy(b->choices);
	for (uint32_t i = 0; i < SDR_FEC_CACHE; i++)
		sdr_fec_destroy(b->fecs[i]);
}

void sdr_bulk_conn_init(struct sdr_conn *c)
{
	struct sdr_conn_bulk *b = c->bulk;

	b->scheme = c->peer->scheme ? c->peer->scheme : c->rel->cfg.scheme;
	sdr_list_init(&b->tx.bulks);
	sdr_list_init(&b->tx.segs);
	sdr_list_init(&b->tx.lost_segs);
	sdr_list_init(&b->tx.ends);
	sdr_list_init(&b->tx.copies);
	sdr_list_init(&b->tx.evaluate);
	sdr_list_init(&b->tx.stage_link);
	b->tx.conn = c;
	sdr_list_init(&b->rx.brx);
	sdr_list_init(&b->rx.dirty);
	sdr_list_init(&b->rx.asked);
	sdr_list_init(&b->rx.partial);
	sdr_list_init(&b->tx.keys);
	sdr_berths_conn_init(c);
}

void sdr_bulk_conn_free(struct sdr_conn *c)
{
	sdr_bulk_tx_destroy(c);
	sdr_berths_conn_free(c);
	sdr_berth_keys_free(c);
	sdr_list_del(&c->bulk->tx.stage_link);
	sdr_ring_destroy(&c->bulk->tx.log);
	sdr_ring_destroy(&c->bulk->tx.index);
	sdr_ring_destroy(&c->bulk->rx.comp[0]);
	sdr_ring_destroy(&c->bulk->rx.comp[1]);
}
