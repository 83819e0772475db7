/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Completions that tell of bitmaps that changed, on FI_EP_DGRAM (sdr_notes.c).
 */
#ifndef SDR_NOTES_H
#define SDR_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/fabric.h>

#include "base/sdr_list.h"

struct fi_sdr_notify;
struct sdr_ep;
struct sdr_qp;
struct sdr_rcv_handle;
struct sdr_rcv_state;

/* Of one message that comes in; zero and sdr_note_set, or nothing is told. */
struct sdr_note {
	struct sdr_list due; /* ep->notes: it has changed, and its queue is full */
	const struct sdr_rcv_state *st;
	void *buf;	  /* where its bytes go */
	uint32_t mtu;	  /* bytes */
	uint8_t cntr;	  /* enum sdr_cntr_kind */
	bool whole;	  /* it was told that all is there: there is no more */
	uint64_t how;	  /* FI_SDR_TELL_*; 0: nothing is told */
	uint64_t flags;	  /* of its entries */
	uint64_t tag;	  /* likewise */
	void *context;	  /* likewise */
	uint64_t cq_data; /* with FI_REMOTE_CQ_DATA in flags, and over */
	/* the message is over: what it had, and whom to tell that its last entry was written */
	bool over;
	uint64_t over_bytes;
	uint32_t over_count;
	void (*told)(struct sdr_ep *ep, struct sdr_note *n);
	fi_addr_t src;
	uint32_t got;	 /* packets at the last look */
	uint32_t counts; /* chunks or packets that were told, or will be when there is room */
};

/* What an application asks for is there: 0, or -FI_E*, and the log has the reason. */
int sdr_notify_check(struct sdr_ep *ep, uint8_t cntr, const struct fi_sdr_notify *how);
/* As asked (checked), and tells what is there already. */
void sdr_note_set(struct sdr_ep *ep, struct sdr_note *n, const struct fi_sdr_notify *how);
/* Packets came: tells if that has changed what it tells of. */
void sdr_note_look(struct sdr_ep *ep, struct sdr_note *n);
void sdr_note_end(struct sdr_note *n);
/* Something else than packets changed its flags: an entry says so. */
void sdr_note_say(struct sdr_ep *ep, struct sdr_note *n);
/*
 * Its message is over, st is not looked at any more.  True: all was told; false: it is when `told`
 * has been called.
 */
bool sdr_note_over(struct sdr_ep *ep, struct sdr_note *n, uint64_t flags);
/* Bytes that are in place. */
uint64_t sdr_note_bytes(const struct sdr_rcv_state *st, uint32_t mtu);

/* Those of receives that the application has posted, and the line of all that are due. */
int sdr_notes_open(struct sdr_ep *ep);
void sdr_notes_close(struct sdr_ep *ep);
/* After a round: those that found their queue full. */
void sdr_notes_flush(struct sdr_ep *ep);
/* how NULL: not any more. */
int sdr_notes_ask(struct sdr_ep *ep, struct sdr_qp *qp, struct sdr_rcv_handle *h,
		  const struct fi_sdr_notify *how);
/* Packets of h came, in a round. */
void sdr_notes_received(void *ep, struct sdr_rcv_handle *h);
/* The receive, all receives of the QP, end. */
void sdr_notes_drop(struct sdr_ep *ep, const struct sdr_rcv_handle *h);
void sdr_notes_drop_qp(struct sdr_ep *ep, const struct sdr_qp *qp);

#endif /* SDR_NOTES_H */
