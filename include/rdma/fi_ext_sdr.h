/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Extensions of the sdr provider to libfabric.
 *
 *	struct fi_sdr_ep_ops_1 *ops;
 *	ret = fi_open_ops(&ep->fid, FI_SDR_EP_OPS_1, 0, (void **) &ops, NULL);
 *
 * The table is append-only: `size` says how many bytes of it the provider filled; a member is there
 * when FI_SDR_HAS_OP says so.  A new, incompatible table gets a new name.  Calls that make no sense
 * on an endpoint's type return -FI_EOPNOTSUPP, or NULL with errno EOPNOTSUPP.
 *
 * FI_EP_DGRAM endpoints carry, beside their datagrams, SDR messages: unreliable messages of any
 * length whose partial completion is a bitmap that the application reads.  The calls are those of
 * sdr/sdr.h (where their arguments and results are described) with the endpoint in front: the
 * provider owns the context and the lock.  Results are as there: 0 or a count, or a negative
 * errno.  Endpoints must be enabled; what was created must be destroyed before the endpoint is
 * closed.
 *
 * FI_EP_RDM endpoints have statistics, and settings of their own: those of the environment (fi_info
 * -g sdr), by name, "rate" as well as "FI_SDR_RATE".
 */
#ifndef FI_EXT_SDR_H
#define FI_EXT_SDR_H

#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <sdr/sdr.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FI_SDR_EP_OPS_1 "sdr_ep_ops_v1"

#define FI_SDR_HAS_OP(ops, member) \
	((ops) && (ops)->size > offsetof(struct fi_sdr_ep_ops_1, member) && (ops)->member)

/*
 * Counters since the endpoint was enabled; gauges say their unit.  Of one peer or of all: then
 * counters are sums and gauges the largest.  chunks_direct + chunks_fec + chunks_rtx are all chunks
 * delivered.
 */
struct fi_sdr_stats {
	size_t size;		    /* in: sizeof(struct fi_sdr_stats) */
	uint64_t pkts_tx, bytes_tx; /* data packets and their payload, repairs included */
	uint64_t pkts_rx, bytes_rx;
	uint64_t parity_tx, repair_tx;
	/* repairs by what triggered them */
	uint64_t rtx_rack, rtx_nack, rtx_tlp, rtx_rto, rtx_spurious;
	uint64_t pkts_dup, pkts_late, pkts_bad;
	uint64_t chunks_direct, chunks_fec, chunks_rtx;
	uint64_t ack_tx, ack_rx, nack_tx, nack_rx;
	uint64_t ctl_tx, ctl_rx;	  /* control datagrams */
	uint64_t rec_tx, rec_rx, rec_rtx; /* reliable records in them */
	uint64_t msgs_tx, msgs_rx, msgs_unexp, msgs_parked;
	uint64_t ops_failed;
	uint64_t rtt_min_ns, srtt_ns, rttvar_ns; /* gauges, ns */
	uint64_t loss_ppm;			 /* gauge, packets per million */
	uint64_t cwnd_bytes;			 /* gauge, bytes */
	uint64_t pacing_bps;			 /* gauge, bits per second */
	/* of the endpoint's engine, 0 in the counters of one peer */
	uint64_t grants; /* leave given to devices' peers to write, a message each */
	uint64_t regs;	 /* registrations of memory with the device, of all endpoints on it */
	char engine[16]; /* "soft", "verbs" */
	char late[16];	 /* what keeps late packets out of memory: "lap", "root", "mw", "mr" */
	/* what was decided for transfers that this side sends */
	uint64_t choice_sr, choice_parity; /* transfers sent without parity, with parity */
	/* gauges: data and parity symbols of a codeword, last decision; 0: none */
	uint64_t code_k, code_m;
	/* gauge: share of that transfer that got parity, parts per million */
	uint64_t code_cover_ppm;
	uint64_t code_why; /* gauge: enum fi_sdr_why of the last decision */
	/* gauge: 95 % sure that fewer packets are lost, per thousand million */
	uint64_t loss_upper_ppb;
	uint64_t burst_milli; /* gauge: mean packets lost in a row, thousandths */
	/* records of lone packets that were sent twice ahead of any loss */
	uint64_t rec_copies;
	/* packets whose messages found no room here: the peer repeats them */
	uint64_t rec_refused;
	/* frames of the peer that this version passes over */
	uint64_t frames_skipped;
	/* connections that peers tried to open in a version that is not spoken here */
	uint64_t hello_other;
	/* peers behind address translation that were recognised under the name that they have */
	uint64_t aliases;
	/* and names that peers said they have, which others proved, or were believed, to have */
	uint64_t claims_refused;
	/* gauge: bytes of the largest IP packet that is sent to the peer; 0: its size is fixed */
	uint64_t path_bytes;
	uint64_t path_probes; /* probes of the path's size sent */
	uint64_t path_told;   /* times that this host's route or ICMP made it smaller */
	uint64_t path_holes;  /* times that large packets vanished while small ones arrived */
	/* pieces of control datagrams that became too long for the path, sent and received */
	uint64_t parts_tx, parts_rx;
	/* how often the size of a connection's packets changed */
	uint64_t reshapes;
	/* packets of a connection from another address than the peer's: nothing of them counts */
	uint64_t pkts_astray;
	uint64_t moves;		/* peers that were found, and proved, at another address */
	uint64_t moves_refuted; /* that were not: the peer answered from where it was */
	/* acknowledgements of packets that were never sent */
	uint64_t acks_false;
	/*
	 * losses that happened at this end (the host did not send) or at the peer's (its receive
	 * buffer was full): repaired, and not counted against the path
	 */
	uint64_t lost_home;
	/*
	 * explicit congestion notification: packets sent that queues may mark, and of these marked,
	 * as the peer says; packets that came so, and marked; times that a path was found not to
	 * carry it
	 */
	uint64_t ect_tx, ce_tx, ect_rx, ce_rx, ecn_off;
	/*
	 * losses that congestion control puts on the rate of this sender: not counted against the
	 * path either
	 */
	uint64_t lost_own;
	/* records of atomics of peers: carried out; refused, nothing was changed */
	uint64_t atomics_rx, atomics_refused;
	/* records of the peer that waited here for what they must follow */
	uint64_t recs_held;
	/*
	 * large transfers from and to devices' memory that an RDMA device read or wrote there, and
	 * those that passed through memory of the host
	 */
	uint64_t hmem_direct, hmem_staged;
	/*
	 * paths beside the first (FI_SDR_PATHS): challenges sent, times that one answered that had
	 * not before, or not any more, and times that one fell silent
	 */
	uint64_t path_asks, paths_up, paths_down;
	/* transfers to and from devices that waited for no key: it had been handed out ahead */
	uint64_t berths_tx, berths_rx;
};

/* Why transfers to a peer get parity, or do not. */
enum fi_sdr_why {
	/* nothing was decided: no transfer yet, or a scheme without parity */
	FI_SDR_WHY_NONE = 0,
	FI_SDR_WHY_PARITY = 1, /* parity: it saves a round trip, or the scheme sends it always */
	FI_SDR_WHY_NEAR = 2,   /* none: the peer is near, repairs are cheap */
	FI_SDR_WHY_CLEAN = 3,  /* none: no loss is to be expected within the objective */
	/* none: what is needed is more than the setting max_overhead allows */
	FI_SDR_WHY_OVERHEAD = 4,
	FI_SDR_WHY_HOPELESS = 5, /* none: so much is lost that no parity suffices */
};

/*
 * What has come of a receive, or of a read, that is not complete yet.  Members down to words are
 * the caller's and stay, but for size and unit.
 */
struct fi_sdr_view {
	size_t size; /* sizeof(struct fi_sdr_view), in; out: how much of it was filled */
	/*
	 * Passes over so many transfers of the same context: a buffer of FI_MULTI_RECV has one for
	 * each message that is on its way into it, in the order of senders, and of messages of one.
	 */
	uint32_t nth;
	/*
	 * Bytes that a bit stands for, any number: a bit is set when all of its bytes are in place.
	 * The last unit may be shorter.  0: a packet's, which is set then.
	 */
	uint64_t unit;
	uint64_t first; /* the bit that bits[0] begins with, a multiple of 64 */
	/* bit first + i is bit i % 64 of bits[i / 64]; clear behind the last; NULL: only sums */
	uint64_t *bits;
	size_t words; /* of bits, 0 with NULL */

	/* FI_RECV | FI_MSG, FI_RECV | FI_TAGGED, FI_READ | FI_RMA */
	uint64_t flags;
	const void *buf;  /* where the first byte lies */
	uint64_t len;	  /* bytes of the message, which are fewer than the buffer's or as many */
	uint64_t total;	  /* bits of the message: len / unit, rounded up */
	uint64_t arrived; /* bytes in place */
	uint64_t front;	  /* of them, those from buf on without a hole */
	uint64_t tag;	  /* with FI_TAGGED; rma_view: the write */
	fi_addr_t src;	  /* as fi_cq_readfrom would say; FI_ADDR_NOTAVAIL: not in the vector */
	uint64_t data;	  /* with FI_REMOTE_CQ_DATA */
	uint64_t key;	  /* rma_view: the region's */
};

/*
 * That a bitmap has changed, told by the endpoint's own queue and counter: once a round of progress
 * at most, and for each message.  An entry's flags have FI_SDR_BITMAP, and FI_SDR_WHOLE when all
 * packets of the message are in place, which is the last that is told of it.  The other members:
 * op_context as asked for; buf, the message's buffer; len, bytes in place; data, chunks whose bit
 * is set (packets, with FI_SDR_TELL_PACKETS), as they were when the entry was written; tag, the
 * message's number.
 *
 * A queue never has more entries by it than its size (1024 at least): while it is full a message
 * waits in line, once however often it changes, and is told by the round that finds room.  Counters
 * step each time.
 */
#define FI_SDR_BITMAP (1ull << 60)
#define FI_SDR_WHOLE  (1ull << 61)
#define FI_SDR_SENT   (1ull << 62) /* of writes of peers: all of it was sent, see rma_notify */
#define FI_SDR_OVER   (1ull << 63) /* likewise: it has ended here, nothing is written by it */

#define FI_SDR_TELL_CQ	    0x1u /* an entry of the queue that is bound with FI_RECV */
#define FI_SDR_TELL_CNTR    0x2u /* a step of the counter that is bound for it */
#define FI_SDR_TELL_PACKETS 0x4u /* whenever packets are placed; without: chunks become whole */
struct fi_sdr_notify {
	size_t size;	/* sizeof(struct fi_sdr_notify) */
	uint64_t flags; /* FI_SDR_TELL_* */
	void *context;	/* op_context of the entries */
};

/* Writes between datagram endpoints since this one was enabled. */
struct fi_sdr_rma_stats {
	size_t size;	    /* in: sizeof(struct fi_sdr_rma_stats) */
	uint64_t writes_tx; /* of ours, handed to the network */
	uint64_t writes_rx; /* of peers, that announced themselves here */
	uint64_t whole;	    /* of these, all bytes were placed */
	uint64_t part;	    /* some were not when it ended */
	uint64_t lost;	    /* that never announced themselves: numbers that were missing */
	/* key, range or right were wrong; or a limit of this endpoint, or its queue was full */
	uint64_t refused;
	uint64_t twice; /* announcements that came again, or too late: dropped */
	uint64_t links; /* gauge: peers that may write */
};

struct fi_sdr_ep_ops_1 {
	size_t size;

	/*
	 * FI_EP_RDM.  peer: FI_ADDR_UNSPEC for the sum over all; one never talked to gives zeros.
	 */
	int (*stats)(struct fid_ep *ep, fi_addr_t peer, struct fi_sdr_stats *stats);
	/*
	 * Before fi_enable (-FI_EOPBADSTATE after).  -FI_ENOENT: no such setting; -FI_EINVAL:
	 * value.  Settings that do not go together are found by fi_enable, which returns
	 * -FI_EINVAL.  Either way the log has the reason.
	 */
	int (*setting_set)(struct fid_ep *ep, const char *name, const char *value);
	/* The value in force, as text.  -FI_ETOOSMALL. */
	int (*setting_get)(struct fid_ep *ep, const char *name, char *buf, size_t len);

	/* FI_EP_DGRAM: queue pairs. */
	struct sdr_qp *(*qp_create)(struct fid_ep *ep, const struct sdr_qp_attr *attr);
	int (*qp_destroy)(struct fid_ep *ep, struct sdr_qp *qp);
	/* SDR_QP_INFO_SIZE bytes */
	int (*qp_info_get)(struct fid_ep *ep, struct sdr_qp *qp, void *info);
	int (*qp_connect)(struct fid_ep *ep, struct sdr_qp *qp, const void *remote_qp_info);
	/* Memory; optional on the soft engine. */
	struct sdr_mr *(*mr_reg)(struct fid_ep *ep, void *addr, size_t length, uint64_t flags);
	int (*mr_dereg)(struct fid_ep *ep, struct sdr_mr *mr);
	/* Sending. */
	int (*send_stream_start)(struct fid_ep *ep, struct sdr_qp *qp,
				 const struct sdr_start_wr *wr, struct sdr_snd_handle **hdl);
	int (*send_stream_continue)(struct fid_ep *ep, struct sdr_snd_handle *hdl,
				    const struct sdr_continue_wr *wr);
	int (*send_stream_end)(struct fid_ep *ep, struct sdr_snd_handle *hdl);
	int (*send_post)(struct fid_ep *ep, struct sdr_qp *qp, const struct sdr_snd_wr *wr,
			 struct sdr_snd_handle **hdl);
	int (*send_poll)(struct fid_ep *ep, struct sdr_snd_handle *hdl);
	/* Receiving.  The bitmaps may be read without a call until recv_complete. */
	int (*recv_post)(struct fid_ep *ep, struct sdr_qp *qp, const struct sdr_rcv_wr *wr,
			 struct sdr_rcv_handle **hdl);
	int (*recv_bitmap_get)(struct fid_ep *ep, struct sdr_rcv_handle *hdl,
			       const uint8_t **bitmap, size_t *len);
	int (*recv_packet_bitmap_get)(struct fid_ep *ep, struct sdr_rcv_handle *hdl,
				      const uint8_t **bitmap, size_t *len);
	int (*recv_imm_get)(struct fid_ep *ep, struct sdr_rcv_handle *hdl, uint32_t *imm);
	int (*recv_complete)(struct fid_ep *ep, struct sdr_rcv_handle *hdl);
	/*
	 * Moves packets both ways; returns the number of events.  Reading the endpoint's CQ does so
	 * too.
	 */
	int (*progress)(struct fid_ep *ep);
	int (*dgram_stats)(struct fid_ep *ep, struct sdr_stats *stats);

	/*
	 * Since 0.2.0, FI_EP_DGRAM.  What attributes became; where the endpoint is and what its
	 * host holds; what is known of a QP's peer; what has come of a message; calling a send off;
	 * the immediate's last packets once more.  Control datagrams in order with the data are
	 * those of fi_send: they leave by the same socket.
	 */
	int (*context_query)(struct fid_ep *ep, struct sdr_context_info *out);
	int (*qp_query)(struct fid_ep *ep, struct sdr_qp *qp, struct sdr_qp_attr *out);
	int (*qp_peer_query)(struct fid_ep *ep, struct sdr_qp *qp, struct sdr_qp_peer *out);
	/*
	 * Its bitmaps may be read at any time, by atomic loads where the endpoint's thread makes
	 * progress; the sums are those of the last call.
	 */
	const struct sdr_rcv_state *(*recv_state)(struct fid_ep *ep, struct sdr_rcv_handle *hdl);
	int (*send_cancel)(struct fid_ep *ep, struct sdr_snd_handle *hdl);
	int (*send_imm_again)(struct fid_ep *ep, struct sdr_snd_handle *hdl);

	/*
	 * Since 0.2.0, FI_EP_RDM, enabled: a setting for one peer of the address vector, until the
	 * endpoint is closed; value NULL: the endpoint's again.  "reliability" can be set.
	 * -FI_EBUSY: there is a connection with it, which has the setting that it began with;
	 * -FI_ENOENT: no such setting; -FI_EOPNOTSUPP: not one that peers have of their own;
	 * -FI_EINVAL: value, or with other settings; the log has the reason.
	 */
	int (*peer_setting_set)(struct fid_ep *ep, fi_addr_t peer, const char *name,
				const char *value);

	/*
	 * Since 0.3.0, FI_EP_RDM and FI_EP_MSG, enabled, any thread: what is in place of the
	 * receive, or read, that was posted with this context.  A copy; nothing moves by it.  Bytes
	 * in place are final: the application may use them ahead of the completion, but must not
	 * change them before (a packet that comes twice is written again), and the operation may
	 * still end with an error.
	 *
	 * -FI_EAGAIN: posted, and nothing has come that could be told; so it stays up to the end of
	 * a message that fits one datagram.  -FI_ENODATA: its bytes come by way of other memory,
	 * and none is in place before the completion: a message that was there before its receive,
	 * a buffer in several pieces, memory of a device.  -FI_ENOENT: nothing with this context is
	 * posted or under way: its completion is in the queue, or was; or it is a receive of a
	 * receive context, and no message of this endpoint has met it.  -FI_EINVAL: first, bits and
	 * words, or size.
	 */
	int (*view)(struct fid_ep *ep, void *context, struct fi_sdr_view *view);

	/*
	 * Since 0.3.0, FI_EP_DGRAM: tells of changes of the bitmap of a receive that is posted on
	 * qp, until recv_complete or qp_destroy; what is in place already is told at once.  The
	 * counter is that of FI_RECV.  how NULL: not any more; entries that are in the queue
	 * stay there.  -FI_EINVAL: not such a receive, or size and flags; -FI_ENOCQ: no queue, or
	 * counter, is bound; the log has the reason.
	 */
	int (*recv_notify)(struct fid_ep *ep, struct sdr_qp *qp, struct sdr_rcv_handle *hdl,
			   const struct fi_sdr_notify *how);

	/*
	 * Since 0.3.0, FI_EP_DGRAM with FI_RMA (-FI_EOPNOTSUPP without): unreliable writes of
	 * peers into regions of this domain, fi_sdr(7).  Each that begins gets a number, never used
	 * again, and ends once: when all of it is in place (FI_SDR_WHOLE), by rma_end, with its
	 * region or its peer's link, or when a write 64 later of the same peer needs its place.
	 * Without rma_notify it also ends when its sender has sent all; with, it stays for what is
	 * still under way.
	 *
	 * rma_notify: writes that begin from now on are told of as receives are (recv_notify); the
	 * counter is that of FI_REMOTE_WRITE, and flags have FI_REMOTE_WRITE | FI_RMA; tag is the
	 * number; FI_SDR_SENT: the sender has sent all, what is missing is lost, or late;
	 * FI_SDR_OVER: the last entry, exactly one for each write that did not end by rma_end or
	 * with this endpoint, then data is the remote CQ data if there is some.  A write that is
	 * over waits in line for room in the queue; one of a single datagram is refused where there
	 * is none.  how NULL: not any more.  Errors as of recv_notify.
	 *
	 * rma_list: numbers of those that have begun and not ended; returns how many there are, and
	 * writes the first n.  rma_view: as view, of one of them (nth is 0).  rma_end: ends one;
	 * nothing is written by it any more, and nothing told.  -FI_ENOENT: it has ended.
	 */
	int (*rma_notify)(struct fid_ep *ep, const struct fi_sdr_notify *how);
	int (*rma_list)(struct fid_ep *ep, uint64_t *writes, size_t n);
	int (*rma_view)(struct fid_ep *ep, uint64_t write, struct fi_sdr_view *view);
	int (*rma_end)(struct fid_ep *ep, uint64_t write);
	int (*rma_stats)(struct fid_ep *ep, struct fi_sdr_rma_stats *stats);
};

#ifdef __cplusplus
}
#endif
#endif /* FI_EXT_SDR_H */
