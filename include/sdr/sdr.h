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
 * locks).  The bitmaps alone may be read by other threads meanwhile; with sdr_dev_attr.workers they
 * are written by threads of the context's own, and are to be read with atomic loads that acquire.
 * Different contexts are independent.  Errors: calls return 0 or a count, or a negative errno
 * value; creators return NULL and set errno.  Progress: nothing happens behind the caller's back;
 * packets move inside sdr_context_progress and the calls that say so.
 */
#ifndef SDR_SDR_H
#define SDR_SDR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SDR_API_VERSION_MAJOR 1
#define SDR_API_VERSION_MINOR 3

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
	/*
	 * since 1.3: threads that place packets of large messages (spread_min), each from a UDP
	 * port of its own, 0..16; 0: all is done in sdr_context_progress.  They start with the
	 * first QP, sleep while nothing comes, and are told of by sdr_qp_info_get.  So with "soft"
	 * and "mem"; of "verbs" each takes in all that comes in a share of the QPs' channels.
	 */
	uint8_t workers;
};

/*
 * Opens an engine and the resources that QPs share.  dev_name: "soft", "soft:ADDRESS",
 * "soft:ADDRESS:PORT" (IPv6 addresses in brackets), "verbs", "verbs:DEVICE",
 * "verbs:DEVICE:ADDRESS[:PORT]", "mem" (rings in this process).  attr may be NULL.  NULL with errno EINVAL (name), ENODEV,
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

/* What became of what was left open. */
struct sdr_context_info {
	size_t size;	 /* sizeof(struct sdr_context_info), in */
	char engine[16]; /* "soft", "verbs" */
	/*
	 * Numeric, with the port: "192.0.2.1:40000", "[2001:db8::1]:40000".  Of a context without
	 * an address of its own that of the default route, or 0.0.0.0 where there is none.
	 */
	char addr[64];
	uint32_t mtu;	  /* payload bytes of a packet, at most */
	uint32_t ctl_max; /* bytes of one sdr_qp_ctl_send, at most */
	/*
	 * bytes that may arrive between two rounds before this host drops what comes; 0: not known
	 */
	uint32_t rx_window;
	uint32_t keyed; /* 1: messages to it need a key (sdr_recv_key_get); 0: they do not */
};
int sdr_context_query(struct sdr_context *ctx, struct sdr_context_info *out);

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
	uint32_t flags; /* SDR_QP_NUMBERED */
	/*
	 * since 1.3: bytes of a message of this side from which its packets go to the ports of the
	 * peer's workers, where it has some; at least 256 KiB, which is also what 0 means
	 */
	uint64_t spread_min;
};

/*
 * Messages have numbers that the two sides give them ("numbered messages" below); the QP tells the
 * other side nothing of its receives by itself.
 */
#define SDR_QP_NUMBERED 0x1

/* NULL with errno: EINVAL (attr->why says what of it), ENOMEM, ... */
struct sdr_qp *sdr_qp_create(struct sdr_context *ctx, const struct sdr_qp_attr *attr);
/* Ends all messages of the QP; their handles must not be used any more. */
int sdr_qp_destroy(struct sdr_qp *qp);

/*
 * What its attributes became: size says how much of out there is, and is then how much was filled;
 * why and why_len are left as they are.
 */
int sdr_qp_query(struct sdr_qp *qp, struct sdr_qp_attr *out);

#define SDR_QP_INFO_SIZE 160
/*
 * Writes SDR_QP_INFO_SIZE bytes that the caller carries to the other side by any means.  Of a
 * context that was created without an address it names that of this host's default route, or none
 * where there is no such route (sdr_qp_connect then says -EDESTADDRREQ): take sdr_qp_info_route.
 */
int sdr_qp_info_get(struct sdr_qp *qp, void *info);
/*
 * The same with the address that this host sends from towards the peer: "ADDRESS" or
 * "ADDRESS:PORT", numeric.  A context with an address of its own keeps to that.  -EINVAL: not an
 * address; -ENETUNREACH ...: no route.
 */
int sdr_qp_info_route(struct sdr_qp *qp, const char *peer, void *info);
/*
 * remote_qp_info: SDR_QP_INFO_SIZE bytes from the other side.  -EPROTO: geometry differs; -EBADMSG:
 * not an info; -EDESTADDRREQ: an info without an address.
 */
int sdr_qp_connect(struct sdr_qp *qp, const void *remote_qp_info);

/* What is known of the other side of a connected QP.  -ENOTCONN. */
struct sdr_qp_peer {
	size_t size; /* sizeof(struct sdr_qp_peer), in */
	/*
	 * Bytes, headers included, that the other side's host holds until they are looked at; 0:
	 * not known.  Who has more than half of it under way that nothing was heard of is faster
	 * than its receiver, and loses packets there: wait, or set rate_bps.
	 */
	uint32_t rx_window;
	uint32_t keyed; /* 1: its messages need a key (sdr_send_key_set) */
};
int sdr_qp_peer_query(struct sdr_qp *qp, struct sdr_qp_peer *out);

/*
 * What happens to a QP.  Called inside progress, by its thread; any may be NULL.  They may post,
 * send, complete, and destroy the QP, but neither call progress nor sdr_send_poll.
 */
struct sdr_qp_handlers {
	size_t size; /* sizeof(struct sdr_qp_handlers) */
	void *user;
	/*
	 * Once a round for each receive that got packets in it, after all that came with them has
	 * been placed.
	 */
	void (*received)(void *user, struct sdr_rcv_handle *hdl);
	/*
	 * A datagram of sdr_qp_ctl_send, when all that arrived before it has been placed.  buf is
	 * valid during the call.
	 */
	void (*control)(void *user, const void *buf, size_t len);
	/* The QP is broken and of no more use (err, negative errno).  Once. */
	void (*broken)(void *user, int err);
};
/* Takes the place of what was set before; NULL: none. */
int sdr_qp_handlers_set(struct sdr_qp *qp, const struct sdr_qp_handlers *handlers);

/*
 * Sends a datagram to the other side's `control`, by the way that packets take and behind all that
 * has been handed to the network (sdr_send_poll): nothing overtakes it but in the network.  Like
 * packets it may be lost, come twice, or late.  buf is copied.  -EMSGSIZE: longer than ctl_max;
 * -EAGAIN: call progress; -ENOTCONN.
 */
int sdr_qp_ctl_send(struct sdr_qp *qp, const void *buf, size_t len);

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
/*
 * Ends a message of which not all was sent, or nothing: nothing more is, and the handle is
 * released.  It keeps its number: the receiver's buffer stays posted, for its owner to complete.
 * -EAGAIN: a device still reads addr; the message is over, and sdr_send_poll says when addr is
 * free.
 */
int sdr_send_cancel(struct sdr_snd_handle *hdl);
/*
 * A message of fewer packets than the immediate has fragments (32 / user_bits) is followed by empty
 * packets with the rest of it, which have no bit in any bitmap: this sends them again, for a
 * receiver that has all packets and no immediate.  Of a longer message every fragment comes with
 * packets that have a bit; 0, and nothing is sent.  -EINVAL: after sdr_send_stream_end; -EAGAIN.
 */
int sdr_send_imm_again(struct sdr_snd_handle *hdl);

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
/*
 * What has come of a message.  The library's own, written inside progress only, valid until
 * recv_complete; members are added at the end.
 */
struct sdr_rcv_state {
	void *user; /* from sdr_recv_post_at */
	uint32_t msn;
	uint32_t npkts, nchunks;
	uint32_t got;		  /* distinct packets in place */
	uint32_t high;		  /* 1 + highest packet seen */
	uint32_t cum;		  /* all packets below are in place */
	uint32_t last;		  /* packet placed last */
	uint32_t dups;		  /* packets that came again */
	uint64_t last_ns;	  /* engine time at which this host had `last`, or found it */
	const uint64_t *pkt_bits; /* bit i % 64 of word i / 64; words behind npkts are zero */
	const uint64_t *chunk_bits;
	void *buf;
	uint64_t length; /* bytes */
};
/* NULL: not a receive that is posted. */
const struct sdr_rcv_state *sdr_recv_state(const struct sdr_rcv_handle *hdl);
/*
 * 0 and *imm when all fragments of the sender's immediate have arrived; -EAGAIN before: some are
 * missing, or under way (sdr_send_imm_again).
 */
int sdr_recv_imm_get(struct sdr_rcv_handle *hdl, uint32_t *imm);
/*
 * Ends the message, whole or not, and releases the handle.  After it returns nothing is written to
 * the buffer, whatever is still under way.
 */
int sdr_recv_complete(struct sdr_rcv_handle *hdl);

/* ---- numbered messages ----------------------------------------------------------------------- */

/*
 * Of QPs with SDR_QP_NUMBERED, for those who tell the other side themselves what is coming and what
 * is posted: buffers in any order, messages that start before anybody has asked for them.  Message
 * msn lands in the buffer that was posted for msn; what comes while none is posted is lost.
 *
 * A receiver has a window of max_inflight numbers, from the lowest that was neither completed nor
 * skipped; numbers go modulo 2^32.  A sender may send the numbers below its limit, which is 0 at
 * first and never moves back.
 */

/* -EBUSY: outside the window, or posted; -EALREADY: completed or skipped before. */
int sdr_recv_post_at(struct sdr_qp *qp, uint32_t msn, const struct sdr_rcv_wr *wr, void *user,
		     struct sdr_rcv_handle **hdl);
/* msn will not be posted: it counts as completed.  Of a posted one, or outside: nothing. */
void sdr_recv_skip(struct sdr_qp *qp, uint32_t msn);
/* The receive that is posted for msn; NULL: none. */
struct sdr_rcv_handle *sdr_recv_find(const struct sdr_qp *qp, uint32_t msn);
/* The lowest number of the window. */
uint32_t sdr_qp_recv_base(const struct sdr_qp *qp);
/* 1: msn was completed or skipped. */
int sdr_recv_is_done(const struct sdr_qp *qp, uint32_t msn);
/* Where the message lies, for its sender, if the receiving context is keyed; else both are 0. */
int sdr_recv_key_get(const struct sdr_rcv_handle *hdl, uint64_t *va, uint32_t *rkey);

void sdr_qp_limit_set(struct sdr_qp *qp, uint32_t limit);
/* As sdr_send_stream_start, with this number: each number once.  -EOPNOTSUPP: not such a QP. */
int sdr_send_stream_start_at(struct sdr_qp *qp, uint32_t msn, const struct sdr_start_wr *wr,
			     struct sdr_snd_handle **hdl);
/*
 * Of a message to a keyed peer, before its first part (-EAGAIN from sdr_send_stream_continue until
 * then).
 */
void sdr_send_key_set(struct sdr_snd_handle *hdl, uint64_t va, uint32_t rkey);

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
