/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Posted receives, see sdr_recv_entry.c.
 */
#ifndef SDR_RECV_ENTRY_H
#define SDR_RECV_ENTRY_H

#include "sdr_msg.h"
#include "rel/bulk/sdr_bulk_rx.h"

struct sdr_rxe {
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
	uint8_t *bounce;	   /* niov > 1 and bulk: lands here first; of rel->msg->bounce */
	uint64_t bounce_len;	   /* bytes */
	const struct sdr_mem *mem; /* where iov lies; NULL: where the CPU reaches it */
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
};

struct sdr_rxe *sdr_rxe_new(struct sdr_rel *rel); /* in no list; NULL: out of memory */
/* What was posted, but for whom it is directed at. */
void sdr_rxe_set(struct sdr_rxe *rx, const struct sdr_rel_rr *rr);
void sdr_rxe_free(struct sdr_rel *rel, struct sdr_rxe *rx);
/* enum sdr_rel_err */
int sdr_rxe_fill(const struct sdr_rxe *rx, uint64_t off, const uint8_t *p, uint64_t n);
void sdr_rxe_report(struct sdr_rel *rel, struct sdr_rxe *rx, struct sdr_peer *peer,
		    const struct sdr_frame_rec *f, uint64_t off, uint64_t got, int prov_err);
bool sdr_rxe_retires(const struct sdr_rxe *rx, uint64_t len);
uint64_t sdr_rxe_take(struct sdr_rxe *rx, uint64_t len, uint64_t *room);
void sdr_rxe_cancel(struct sdr_rel *rel, struct sdr_rxe *rx);

static inline bool sdr_rxe_matches(const struct sdr_rxe *rx, const struct sdr_peer *peer,
				   uint64_t tag)
{
	return (!rx->peer || rx->peer == peer) && ((tag ^ rx->tag) & ~rx->ignore) == 0;
}

#endif /* SDR_RECV_ENTRY_H */
