/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Posted receives, see sdr_rx.c.
 */
#ifndef SDR_RX_H
#define SDR_RX_H

#include "sdr_msg.h"
#include "rel/bulk/sdr_bulk_rx.h"

struct sdr_rx {
	struct sdr_list link; /* rel->posted[kind], or unlinked when matched */
	uint8_t kind, niov;
	uint16_t flags;
	struct sdr_peer *peer; /* NULL any; has a name as long as this lives */
	uint64_t tag, ignore, min_multi, total;
	uint64_t off;  /* MULTI: bytes used */
	uint32_t refs; /* MULTI: transfers into it under way */
	bool retired;  /* MULTI: takes no more */
	bool canceled; /* MULTI: by the caller, with transfers under way */
	void *ctx;
	uint64_t uflags;
	uint8_t *bounce; /* niov > 1 and bulk: lands here first; malloc */
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
};

void sdr_rx_free(struct sdr_rel *rel, struct sdr_rx *rx);
void sdr_rx_fill(const struct sdr_rx *rx, uint64_t off, const uint8_t *p, uint64_t n);
void sdr_rx_report(struct sdr_rel *rel, struct sdr_rx *rx, struct sdr_peer *peer,
		   const struct sdr_frame_rec *f, uint64_t off, uint64_t got, int prov_err);
bool sdr_rx_retires(const struct sdr_rx *rx, uint64_t len);
uint64_t sdr_rx_take(struct sdr_rx *rx, uint64_t len, uint64_t *room);
void sdr_rx_cancel(struct sdr_rel *rel, struct sdr_rx *rx);

static inline bool sdr_rx_matches(const struct sdr_rx *rx, const struct sdr_peer *peer,
				  uint64_t tag)
{
	return (!rx->peer || rx->peer == peer) && ((tag ^ rx->tag) & ~rx->ignore) == 0;
}

#endif /* SDR_RX_H */
