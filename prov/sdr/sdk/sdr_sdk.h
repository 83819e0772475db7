/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The SDK as the layers above it in this tree see it: the public calls of sdr/sdr.h and the doors
 * that a reliability layer needs and an application does not.
 *
 *   - a context over an engine that is already open (simulator, fault injection, the provider's own
 *     socket);
 *   - control datagrams of other classes, in order with the data: one batch, one flush;
 *   - messages addressed by their sequence number (msn), posted in any order, so that a reliability
 *     layer which announces to the receiver what is coming can start at once, without waiting for
 *     CTS;
 *   - the packet state of a receive, for acknowledgements and decoders.
 *
 * msn counts messages of one direction of a QP modulo 2^32; slot = msn mod 2^id_bits, generation =
 * (msn / 2^id_bits) mod generations.  A sender may use msn m only while m - limit < 0 (limit: CTS,
 * or sdr_qp_limit_set).
 */
#ifndef SDR_SDK_H
#define SDR_SDK_H

#include <sdr/sdr.h>
#include "uc/sdr_uc.h"

/* ---- context --------------------------------------------------------------------------------- */

/*
 * Takes ownership of uc: closed by sdr_context_destroy.  rand: 16 unpredictable bytes that seed the
 * context's generator for keys and QP numbers.
 */
struct sdr_context *sdr_context_create_on(struct sdr_uc *uc, const struct sdr_dev_attr *attr,
					  const uint64_t rand[2]);
struct sdr_uc *sdr_context_uc(struct sdr_context *ctx);

/*
 * buf,len: payload behind the class header.  Called inside progress; must not destroy the context.
 */
typedef void (*sdr_ctl_fn)(void *user, const struct sdr_uc_addr *from, uint8_t type,
			   const uint8_t *buf, size_t len);
/* Datagrams of this class go to fn; without one they are counted as bad. */
void sdr_context_ctl_set(struct sdr_context *ctx, enum sdr_class cls, sdr_ctl_fn fn, void *user);
/* Inside such a call: enum sdr_uc_ecn of the datagram, as it came. */
uint8_t sdr_context_ctl_ecn(const struct sdr_context *ctx);
/* And since when this host had it, engine time; 0: that is not known. */
uint64_t sdr_context_ctl_since(const struct sdr_context *ctx);
/* And the source of the engine (sdr_uc_info.sources) that it came to. */
uint8_t sdr_context_ctl_source(const struct sdr_context *ctx);

/*
 * Datagrams of ours in another version than SDR_WIRE_VERSION: buf,len with the class header.
 * Without a function they are counted as bad.
 */
typedef void (*sdr_ctl_other_fn)(void *user, const struct sdr_uc_addr *from, const uint8_t *buf,
				 size_t len);
void sdr_context_ctl_other_set(struct sdr_context *ctx, sdr_ctl_other_fn fn, void *user);

/*
 * This host has learned what the way to an address carries (SDR_UC_EV_PATH): bytes of the largest
 * IP packet.  to: valid during the call.  Without a function nobody is told.
 */
typedef void (*sdr_path_fn)(void *user, const struct sdr_uc_addr *to, uint32_t bytes);
void sdr_context_path_set(struct sdr_context *ctx, sdr_path_fn fn, void *user);

/*
 * Room for one control datagram behind everything queued so far: returns a pointer to at least
 * ctl_max bytes in the context's arena, NULL when the batch is full (flush failed: try after the
 * next progress).  The caller encodes the class header itself and then calls ctl_push with the
 * total length; in between it may queue packets and flush, but alloc again only to drop what it
 * had.
 */
uint8_t *sdr_context_ctl_alloc(struct sdr_context *ctx);
void sdr_context_ctl_push(struct sdr_context *ctx, const struct sdr_uc_addr *to, size_t len);
/* Instead of ctl_push: a queue on the way may mark it (SDR_UC_F_ECT). */
void sdr_context_ctl_push_ect(struct sdr_context *ctx, const struct sdr_uc_addr *to, size_t len);
/*
 * Instead of ctl_push: the datagram is a probe of the path (SDR_UC_F_PROBE), of up to
 * info.probe_max bytes; for those too there is room.
 */
void sdr_context_ctl_push_probe(struct sdr_context *ctx, const struct sdr_uc_addr *to, size_t len);
/*
 * Instead of ctl_push: from that source of the engine.  flags: SDR_UC_F_PROBE, up to
 * info.probe_max bytes; SDR_UC_F_ECT; or 0.
 */
void sdr_context_ctl_push_from(struct sdr_context *ctx, uint8_t source,
			       const struct sdr_uc_addr *to, size_t len, uint8_t flags);
/*
 * Hands the batch to the engine.  0 everything went, -EAGAIN the engine is full and the rest stays
 * queued in order.  Called by progress, and by a caller that wants its packets out now.
 */
int sdr_context_flush(struct sdr_context *ctx);
/*
 * Takes the data out of the batch, as if it had been lost: what is left lies in the context's own
 * memory.
 */
void sdr_context_data_drop(struct sdr_context *ctx);
/* True when nothing is queued in front of the engine. */
bool sdr_context_tx_idle(const struct sdr_context *ctx);
/* One round: poll the engine until it is empty or max_events were handled, deliver, flush. */
int sdr_context_progress_max(struct sdr_context *ctx, int max_events);
/* The last round left nothing with the engine that it knew of. */
bool sdr_context_dry(const struct sdr_context *ctx);
/* Engine time of the last poll, ns. */
uint64_t sdr_context_now(struct sdr_context *ctx);

/* ---- QPs ------------------------------------------------------------------------------------- */

struct sdr_qp_hooks {
	void *user;
	/*
	 * Once per progress round for each receive that got packets in it, after the whole round
	 * was placed. May complete the receive, and any other; may destroy the QP.
	 */
	void (*recv_progress)(void *user, struct sdr_rcv_handle *hdl);
	/* The QP is broken (err, negative errno) and of no more use.  Once; may destroy it. */
	void (*broken)(void *user, int err);
	/*
	 * SDR_UC_ECNS counters, by enum sdr_uc_ecn: packets placed, each once however often it
	 * comes; NULL: not counted
	 */
	uint64_t *marks;
};
/*
 * As sdr_qp_create; with hooks the QP is numbered, the grants that its receives need are the
 * caller's (sdr_qp_grant), and it may be connected again.
 */
struct sdr_qp *sdr_qp_create_hooked(struct sdr_context *ctx, const struct sdr_qp_attr *attr,
				    const struct sdr_qp_hooks *hooks);
/* addr: where the peer was seen; NULL: as in the info. */
/*
 * With hooks also again, to another peer, while nothing has been sent: what this side has said of
 * itself stays true.
 */
int sdr_qp_connect_addr(struct sdr_qp *qp, const void *remote_qp_info,
			const struct sdr_uc_addr *addr);
void sdr_qp_readdress(struct sdr_qp *qp, const struct sdr_uc_addr *addr);
/*
 * A way to the peer beside its own (sdr_uc_ops.qp_via), 1..SDR_PATHS_MAX - 1.  0 or a negative
 * errno.
 */
int sdr_qp_via(struct sdr_qp *qp, uint32_t via, uint8_t source, const struct sdr_uc_addr *addr);
/*
 * What comes by ways from 1 on is counted there, row by row, from now on, in place of hooks.marks:
 * SDR_PATHS_MAX - 1 rows of SDR_UC_ECNS counters; NULL: with all others again.
 */
void sdr_qp_marks_via(struct sdr_qp *qp, uint64_t (*marks)[SDR_UC_ECNS]);
/* What is sent from now on (sdr_send_packets) goes by it; 0: by the QP's own. */
void sdr_qp_via_set(struct sdr_qp *qp, uint32_t via);
/* Engines with info.cuts: no IP packet with data of this QP is longer (sdr_uc_ops.qp_path). */
void sdr_qp_path_set(struct sdr_qp *qp, uint32_t bytes);
/* Nor of what goes by one of its ways, where that is less (sdr_uc_ops.via_path); 0: it is not. */
void sdr_qp_via_path_set(struct sdr_qp *qp, uint32_t via, uint32_t bytes);
/* Engines with info.ecn: queues on the way may mark what is sent from now on. */
void sdr_qp_ect_set(struct sdr_qp *qp, bool on);
/* Where its packets go. */
const struct sdr_uc_addr *sdr_qp_addr(const struct sdr_qp *qp);
/*
 * A QP whose numbers go on where those of another end: its first message, in and out, has this
 * number instead of 0.  With hooks, before anything is posted or sent.
 */
void sdr_qp_recv_from(struct sdr_qp *qp, uint32_t msn);
void sdr_qp_send_from(struct sdr_qp *qp, uint32_t msn);
uint32_t
/* window: 1 << id_bits, or max_inflight rounded up to a power of two */
sdr_qp_ids(const struct sdr_qp *qp);
uint32_t sdr_qp_mtu(const struct sdr_qp *qp);
uint32_t sdr_qp_chunk(const struct sdr_qp *qp); /* bytes */
uint64_t sdr_qp_max_msg(const struct sdr_qp *qp);

/*
 * Engines with info.rkeyed: leave for the peer to write into a buffer (one message, or several one
 * behind the other).  The layer above sends the peer va and rkey, and ends the grant before it
 * gives the buffer back. Receives that are posted by number need it; sdr_recv_post does all this by
 * itself.
 */
int sdr_qp_grant(struct sdr_qp *qp, void *buf, size_t len, const struct sdr_mem *mem,
		 struct sdr_uc_grant *g);
/* harmless on one that is not there */
void sdr_qp_grant_end(struct sdr_qp *qp, struct sdr_uc_grant *g);
/* This side's, and the peer's, messages need a grant.  The peer's: known once connected. */
bool sdr_qp_far(const struct sdr_qp *qp); /* info.far of its engine */
bool sdr_qp_rkeyed(const struct sdr_qp *qp);
bool sdr_qp_peer_rkeyed(const struct sdr_qp *qp);

/* ---- receive by number: beside what sdr.h has ------------------------------------------------ */

/*
 * sdr_recv_skip of [lo, hi), as far as the window reaches: returns where it stopped, hi when all
 * are decided.  Costs a look at the window's bitmap, however long the range.
 */
uint32_t sdr_recv_skip_range(struct sdr_qp *qp, uint32_t lo, uint32_t hi);
/*
 * From here on nothing is written to its buffer, and no bit of its bitmaps changes: what still
 * comes of it is late.  It keeps its number and its state, until it is completed.  Engines without
 * info.rkeyed.  0, or -EINVAL.
 */
int sdr_recv_seal(struct sdr_rcv_handle *hdl);
/* ---- send by number -------------------------------------------------------------------------- */

/*
 * As stream_start with the number chosen by the caller (each number once, within limit: else
 * -EAGAIN).
 */
int sdr_send_start_at(struct sdr_qp *qp, uint32_t msn, const struct sdr_start_wr *wr,
		      struct sdr_snd_handle **hdl);
/*
 * Queues packets [first, first + n) of a message whose bytes start at base; base + first * mtu is
 * read.  The run goes into the context's batch; flush sends it.  Returns packets taken (0..n):
 * fewer when the batch is full.  Never blocks.
 */
uint32_t sdr_send_packets(struct sdr_snd_handle *hdl, const void *base, uint32_t first, uint32_t n);
/*
 * Its bytes lie at base in this memory of a device, and are read there by the engine alone: before
 * its first packet, which then are all from this base.  0; or a negative errno, and its bytes must
 * come from memory of ours.
 */
int sdr_send_far(struct sdr_snd_handle *hdl, const struct sdr_mem *mem, const void *base);
/* sdr_send_poll would say 1, without a round. */
bool sdr_send_is_over(const struct sdr_snd_handle *hdl);
/*
 * Ends a numbered send at once, whatever was sent; packets still in the batch are taken out of it.
 */
void sdr_send_release(struct sdr_snd_handle *hdl);

#endif /* SDR_SDK_H */
