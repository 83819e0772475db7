/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * SDR SDK: unreliable messages of any length with a partial-completion bitmap.
 *
 * The calls are those of Table 1 of the SDR-RDMA paper under the prefix sdr_, with the destroy and
 * progress calls that a C library needs.  A message is a sequence of packets written straight into
 * the buffer that the receiver posted for it; nothing is retransmitted.  The receiver reads which
 * chunks (and packets) have arrived from a bitmap and decides itself when the message is complete.
 * The n-th message of the sender lands in the n-th buffer that the receiver posted.
 *
 * Threads: a context and everything created from it belong to one thread at a time (the caller
 * locks). The bitmaps alone may be read by other threads meanwhile.  Different contexts are
 * independent. Errors: calls return 0 or a count, or a negative errno value; creators return NULL
 * and set errno. Progress: nothing happens behind the caller's back; packets move inside
 * sdr_context_progress and the calls that say so.
 */
#ifndef SDR_SDR_H
#define SDR_SDR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SDR_API_VERSION_MAJOR 1
#define SDR_API_VERSION_MINOR 2

struct sdr_context;
struct sdr_qp;
struct sdr_mr;
struct sdr_snd_handle;
struct sdr_rcv_handle;

/* ---- context --------------------------------------------------------------------------------- */

#define SDR_WHY_LEN 256

struct sdr_dev_attr {
	size_t size;	   /* sizeof(struct sdr_dev_attr), for growth */
	uint32_t mtu;	   /* payload bytes per packet; 0: what the path of the device carries */
	const char *fault; /* fault injection, syntax of FI_SDR_FAULT; NULL: none */
	uint64_t seed;	   /* for keys and QP numbers; 0: from the system */
	/* since 1.2 */
	char *why;	  /* when creation fails: its reason and one next step; may be NULL */
	size_t why_len;	  /* bytes of it; SDR_WHY_LEN hold every text */
	uint8_t channels; /* source ports that QPs can spread over, 1..16; 0: 1 */
};

/*
 * Opens an engine and the resources that QPs share.  dev_name: "soft", "soft:ADDRESS",
 * "soft:ADDRESS:PORT" (IPv6 addresses in brackets), "verbs", "verbs:DEVICE",
 * "verbs:DEVICE:ADDRESS[:PORT]".  attr may be NULL.  NULL with errno EINVAL (name), ENODEV,
 * EADDRINUSE, ...
 */
struct sdr_context *sdr_context_create(const char *dev_name, const struct sdr_dev_attr *attr);
/* QPs must be destroyed and memory deregistered before: -EBUSY otherwise. */
int sdr_context_destroy(struct sdr_context *ctx);
/*
 * Moves packets both ways; returns the number of events handled (0: nothing to do), or a negative
 * errno.
 */
int sdr_context_progress(struct sdr_context *ctx);
/*
 * A file descriptor that is readable when progress has something to receive, -1 if the engine has
 * none.
 */
int sdr_context_fd(struct sdr_context *ctx);
/* Nanoseconds until progress must be called even if the descriptor is silent; UINT64_MAX: never. */
uint64_t sdr_context_timeout(struct sdr_context *ctx);

/* ---- queue pairs ----------------------------------------------------------------------------- */

struct sdr_qp_attr {
	size_t size; /* sizeof(struct sdr_qp_attr) */
	uint32_t
		/*
		 * bytes; 0: the context's; the smaller of the two sides' is a matter of the
		 * exchange: both must give the same
		 */
		mtu;
	/* bytes a bit of the chunk bitmap, a multiple of mtu; 0: the multiple nearest to 64 KiB */
	uint32_t chunk;
	uint64_t max_msg; /* bytes of the largest message; 0: mtu << offset bits, at most 1 GiB */
	uint32_t
		/*
		 * messages in flight a direction, rounded up to a power of two; 0: the message ID
		 * space
		 */
		max_inflight;
	uint8_t id_bits, off_bits, user_bits; /* split of the 32-bit immediate; all 0: 10+18+4 */
	uint8_t channels;		      /* transport QPs a generation; 0: 1 */
	uint8_t generations;		      /* a power of two; 0: 4 */
	/* payload bits per second at which this QP injects; 0: as fast as the engine takes */
	uint64_t rate_bps;
	/* since 1.2 */
	char *why; /* as in struct sdr_dev_attr */
	size_t why_len;
};

/* NULL with errno: EINVAL (attr->why says what of it), ENOMEM, ... */
struct sdr_qp *sdr_qp_create(struct sdr_context *ctx, const struct sdr_qp_attr *attr);
/* Ends all messages of the QP; their handles must not be used any more. */
int sdr_qp_destroy(struct sdr_qp *qp);

#define SDR_QP_INFO_SIZE 160
/* Writes SDR_QP_INFO_SIZE bytes that the caller carries to the other side by any means. */
int sdr_qp_info_get(struct sdr_qp *qp, void *info);
/*
 * remote_qp_info: SDR_QP_INFO_SIZE bytes from the other side.  -EPROTO: geometry differs; -EBADMSG:
 * not an info.
 */
int sdr_qp_connect(struct sdr_qp *qp, const void *remote_qp_info);

/* ---- memory ---------------------------------------------------------------------------------- */

/*
 * Registers memory for sends and receives on QPs of the context.  flags: 0.  Optional on the soft
 * engine (mr NULL).
 */
struct sdr_mr *sdr_mr_reg(struct sdr_context *ctx, void *addr, size_t length, uint64_t flags);
int sdr_mr_dereg(struct sdr_mr *mr);

/* ---- send ------------------------------------------------------------------------------------ */

#define SDR_SEND_IMM 0x1 /* imm is valid and reaches sdr_recv_imm_get */

struct sdr_start_wr {
	uint64_t length; /* bytes of the whole message, 0..max_msg */
	uint32_t imm;
	uint32_t flags; /* SDR_SEND_IMM */
};
struct sdr_continue_wr {
	/* must stay unchanged (and mr registered) until the message's handle is released */
	const void *addr;
	uint64_t offset;   /* where in the remote buffer; a multiple of the mtu */
	uint64_t length;   /* a multiple of the mtu unless it ends at the message's end */
	struct sdr_mr *mr; /* or NULL */
};
struct sdr_snd_wr {
	const void *addr;
	uint64_t length;
	uint32_t imm;
	uint32_t flags;	   /* SDR_SEND_IMM */
	struct sdr_mr *mr; /* or NULL */
};

/* Opens a streaming message.  -EAGAIN: all message IDs are in flight; call progress. */
int sdr_send_stream_start(struct sdr_qp *qp, const struct sdr_start_wr *wr,
			  struct sdr_snd_handle **hdl);
/*
 * Sends (or sends again) part of the message.  -EAGAIN: the receiver has not posted the buffer yet,
 * or the engine is full; call progress and try again.  -EINVAL: outside the message or not aligned.
 */
int sdr_send_stream_continue(struct sdr_snd_handle *hdl, const struct sdr_continue_wr *wr);
/* No more parts: the handle is released once sdr_send_poll has returned 1. */
int sdr_send_stream_end(struct sdr_snd_handle *hdl);
/*
 * Sends a whole message; queued until the receiver's buffer is posted.  A message that the receiver
 * has completed meanwhile is not sent, and counts as sent.
 */
int sdr_send_post(struct sdr_qp *qp, const struct sdr_snd_wr *wr, struct sdr_snd_handle **hdl);
/*
 * 1: everything was handed to the network, addr is read no more, the handle is released; 0: not
 * yet; drives progress.
 */
int sdr_send_poll(struct sdr_snd_handle *hdl);

/* ---- receive --------------------------------------------------------------------------------- */

struct sdr_rcv_wr {
	void *addr;
	uint64_t length;   /* bytes, 0..max_msg */
	struct sdr_mr *mr; /* or NULL */
};

/*
 * Posts the buffer of the next message and tells the sender (clear to send).  The buffer must be as
 * long as the message: a packet is taken only where its length belongs, so of a shorter message the
 * last one is not.  A message of no bytes is one empty packet.  -EAGAIN: no message ID or no grant
 * of the device is free, or this receiver has run thousands of messages ahead of a sender that has
 * not answered; call progress.
 */
int sdr_recv_post(struct sdr_qp *qp, const struct sdr_rcv_wr *wr, struct sdr_rcv_handle **hdl);
/*
 * Chunk bitmap: bit i % 8 of byte i / 8 is chunk i; *len is its length in bytes.  Valid until
 * recv_complete. A set bit means that every byte of the chunk is in place.
 */
int sdr_recv_bitmap_get(struct sdr_rcv_handle *hdl, const uint8_t **bitmap, size_t *len);
/* The same for packets. */
int sdr_recv_packet_bitmap_get(struct sdr_rcv_handle *hdl, const uint8_t **bitmap, size_t *len);
/* 0 and *imm when all fragments of the sender's immediate have arrived; -EAGAIN before. */
int sdr_recv_imm_get(struct sdr_rcv_handle *hdl, uint32_t *imm);
/*
 * Ends the message, whole or not, and releases the handle.  After it returns nothing is written to
 * the buffer, whatever is still under way.
 */
int sdr_recv_complete(struct sdr_rcv_handle *hdl);

/* ---- statistics ------------------------------------------------------------------------------ */

struct sdr_stats {
	size_t size; /* sizeof(struct sdr_stats), in */
	uint64_t pkts_tx, bytes_tx, pkts_rx, bytes_rx;
	uint64_t pkts_dup;  /* packets whose bit was set already */
	uint64_t pkts_late; /* for a completed message or another generation */
	uint64_t pkts_bad;  /* not ours, damaged, out of bounds */
	uint64_t chunks_rx; /* chunk bits set */
	uint64_t cts_tx, cts_rx;
};
int sdr_context_stats(struct sdr_context *ctx, struct sdr_stats *out);

/* Text for a negative errno of this library: the cause and one next step. */
const char *sdr_strerror(int err);

#ifdef __cplusplus
}
#endif
#endif /* SDR_SDR_H */
