/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The objects of a reliable endpoint and who owns what.
 *
 *   sdr_rel ──< sdr_peer ──? sdr_conn ──< sdr_op          an operation posted here (or a READ
 *      served here) │                        ├──< sdr_rec              a reliable record to the
 *      peer │                        ├──< sdr_bulk_tx ──< sdr_seg_tx   bulk going out, one SDR
 *      message a segment │                        └──< sdr_bulk_rx ──< sdr_seg_rx   bulk coming in
 *      │                  sdr_group_tx, sdr_group_rx: a data segment and the one that carries its
 *      parity ├──< sdr_rx      a posted receive           └──< sdr_unexp  a message nobody asked
 *      for yet
 *
 * An operation lives from post to its completion; a record from post to its acknowledgement; a
 * segment until the receiver reported it complete and no entry of the transmission log names it any
 * more. Everything is single-threaded (the caller of the endpoint serialises) and takes its time
 * from rel->now, which is read from the engine at the start of a round and at each of its polls.
 */
#ifndef SDR_REL_PRIV_H
#define SDR_REL_PRIV_H

#include <errno.h>
#include <string.h>
#include "rel/path/sdr_cc.h"
#include "model/sdr_choice.h"
#include "base/sdr_idtab.h"
#include "base/sdr_bitmap.h"
#include "base/sdr_htab.h"
#include "base/sdr_list.h"
#include "rel/path/sdr_loss.h"
#include "rel/path/sdr_pacer.h"
#include "rel/bulk/sdr_plan.h"
#include "rel/path/sdr_pnset.h"
#include "rel/bulk/sdr_scratch.h"
#include "base/sdr_slab.h"
#include "sdr_rel.h"
#include "rel/path/sdr_rtt.h"
#include "base/sdr_timerq.h"
#include "wire/sdr_frame.h"

#define NEVER UINT64_MAX
#define MS    1000000ull /* ns */

#define SDR_HELLO_TRIES_FAST   2u /* handshake repeats before the interval doubles */
#define SDR_HELLO_INTERVAL_MIN (20 * MS)
/* connections whose peer's address is unproven; beyond: cookies */
#define SDR_CONN_UNPROVEN_MAX 64u
#define SDR_CONN_UNPROVEN_NS  (5000 * MS) /* they are dropped after this */
#define SDR_COOKIE_LIFE_NS    (10000 * MS)
/* records that a packet knows of when they have gone on to another */
#define SDR_PKT_RSEQS	  4u
#define SDR_PKT_LOG_MIN	  16u /* entries, power of two; grows to SDR_REL_CTL_WINDOW */
#define SDR_TX_LOG_MIN	  64u /* entries of the data transmission log, power of two */
#define SDR_TX_LOG_MAX	  (1u << 20)
#define SDR_RUN_BYTES	  65536u /* bytes of one transmission entry at the most */
#define SDR_RUN_PKTS_MAX  64u
#define SDR_MSEQ_CREDIT	  1024u /* ordered records a peer may send ahead of matching */
#define SDR_ANSWERS_LEAST 8u	/* a stranger may leave unacknowledged whatever others do */
/* ... and if others have filled the room for those without a receive */
#define SDR_MSEQ_LEAST 16u
/* data packets between two data acknowledgements at the most */
#define SDR_DACK_PKTS	      64u
#define SDR_DACK_PKTS_MIN     4u			/* ... however small our buffer is */
#define SDR_DACK_DELAY_MIN_NS 50000u			/* and time, while they trickle */
#define SDR_WIRE_OVERHEAD     (SDR_DATA_OVERHEAD + 28u) /* bytes: RoCEv2 frame, UDP, IPv4 */
/* bytes one connection sends before the next has its turn */
#define SDR_TX_BUDGET	    (256u * 1024)
#define SDR_PTO_BACKOFF_MAX 10u
#define SDR_LINGER_TRIES    6u /* BYE repeats */
/* BYEs of the peer after which what it did not acknowledge has failed */
#define SDR_BYES_ASK 3u
/* what a shut down endpoint has promised is given up after this */
#define SDR_LINGER_NS (3000 * MS)
/* answers a peer may leave unacknowledged before we give it up */
#define SDR_CONN_RECS_MAX 16384u
#define SDR_FEC_CACHE	  (SDR_FEC_SYMS_MAX + 1u)
/* times a receiver that could decode is asked why it does not, before data go again */
#define SDR_GROUP_ASKS_MAX 3u
/* rounds of parity on demand before data go again */
#define SDR_GROUP_ROUNDS_MAX 4u
/* reads of a peer being answered; as many bulk writes */
#define SDR_CONN_SERVES_MAX (4u * SDR_REL_CTL_WINDOW)

/* ---- endpoint -------------------------------------------------------------------------------- */

struct sdr_rel {
	struct sdr_context *ctx;
	struct sdr_uc *uc;
	struct sdr_rel_cfg cfg;
	const struct sdr_rel_cbs *cbs;
	void *user;
	bool rma_events;
	uint64_t instance;
	uint64_t rng;	    /* counter that is hashed for ids */
	uint64_t secret[2]; /* cookies */
	uint64_t hash_key;
	uint64_t now;  /* ns: of the round's start, then of the engine's last poll */
	uint64_t pass; /* rounds so far */
	uint32_t mtu, ctl_max, inline_max;
	uint32_t dack_pkts; /* packets a DACK waits for at the most */
	struct sdr_uc_info info;
	struct sdr_htab peers, conns; /* by address, by cid */
	struct sdr_htab peer_cids;    /* connections by the peer's cid and address */
	struct sdr_htab binds;	      /* transfers that wait for a BIND, by connection and number */
	/* all that live, the one that was silent longest first (see sdr_conn_heard) */
	struct sdr_list conn_list;
	struct sdr_list dead;	 /* connections to be freed at the end of the round */
	struct sdr_list ready;	 /* connections with something to send now */
	struct sdr_list remotes; /* sdr_remote: what peers do to our memory */
	struct sdr_timerq timers;
	struct sdr_slab op_pool, rec_pool, rx_pool, unexp_pool, btx_pool, brx_pool, srx_pool,
		buf_pool;
	void *seg_free[32]; /* freed sdr_seg_tx by log2 of packets */
	/* parity */
	struct sdr_slab gtx_pool, grx_pool;
	struct sdr_scratch scratch;
	struct sdr_code_work code_work;
	struct sdr_choice_table *choices;
	struct sdr_fec *fecs[SDR_FEC_CACHE]; /* by number of rows; NULL: not used yet */
	struct sdr_idtab ids;
	uint32_t nops, nrx, nunproven, nconns;
	uint32_t npeers_named; /* peers that somebody here names */
	uint32_t ngone;	       /* peers that are only remembered */
	struct sdr_list gone;  /* they, the oldest first */
	uint32_t nstrangers;   /* connections of peers that nobody here names */
	/* matching: [0] untagged, [1] tagged */
	struct sdr_list posted[2], unexp[2];
	uint64_t unexp_bytes; /* of all unexpected and early messages, with what keeps them */
	uint32_t nunexp_strangers;
	/* records that stand alone and READs being served, for strangers */
	uint32_t nanswers_strangers;
	bool closing, blocked, failed;
	bool parted;		     /* said farewell */
	uint64_t close_by;	     /* ns: closing: the end of patience */
	uint64_t work;		     /* counts everything done, for progress's return value */
	struct sdr_rel_stats closed; /* of connections that are gone */
	uint64_t steps;		     /* see sdr_rel_step */
};

struct sdr_peer {
	struct sdr_hnode hnode;
	struct sdr_rel *rel;
	struct sdr_uc_addr addr;
	uint64_t user;
	/* holds of the caller's, and directed receives: without any it is a stranger */
	uint32_t names;
	uint32_t nconns;       /* open, or dead and not freed yet */
	uint32_t nunexp;       /* unexpected and early messages from it */
	struct sdr_list unexp; /* those that receives may meet, in order */
	/* their inline bytes, with what keeps them: beyond SDR_REL_UNEXP_PEER credit stops */
	uint64_t unexp_bytes;
	struct sdr_list gone;	   /* rel->gone: nothing needs it, it is remembered */
	bool proved;		   /* its address was its own, once */
	struct sdr_conn *conn;	   /* NULL: none open */
	struct sdr_rel_stats past; /* of earlier connections */
	struct sdr_loss loss;	   /* what the path to it loses */
	uint64_t srtt;		   /* ns, of the last connection; 0 unknown */
	uint32_t noted;		   /* the decision that was told last; 0: none */
	bool used;
};

/* ---- records --------------------------------------------------------------------------------- */

struct sdr_rec {
	struct sdr_list link;	/* a queue of the connection, or the packet that carries it */
	struct sdr_frame_rec f; /* payload is NULL: from op or buf */
	struct sdr_op *op;	/* payload and owner; NULL: stands alone, freed when acknowledged */
	bool acked, sent;
	bool stranger; /* counts in rel->nanswers_strangers */
};

struct sdr_pkt { /* a packet sent that wants an acknowledgement */
	uint32_t pn;
	uint32_t bytes;
	uint32_t txc; /* conn->txc at its transmission */
	uint64_t tx_ns;
	struct sdr_list recs; /* records whose latest transmission this is */
	struct sdr_cc_snap snap;
	bool done; /* acknowledged or given up */
	bool lost;
	bool probed; /* lost: by a probe */
	bool copy;   /* carries the records of packet copy_of once more; they belong to that one */
	uint8_t nrseq;
	uint32_t copy_of;
	uint32_t rseq[SDR_PKT_RSEQS]; /* the first of its records, for when it arrives after all */
};

/* ---- memory that peers use ------------------------------------------------------------------- */

struct sdr_remote {	      /* a peer's transfer into or out of a region */
	struct sdr_list link; /* rel->remotes */
	void *region;	      /* as mr_get named it */
	struct sdr_op *read;  /* one of the two */
	struct sdr_bulk_rx *write;
};

/* ---- operations ------------------------------------------------------------------------------ */

#define SDR_REL_READ_SERVE 0x80 /* kind: a peer's READ answered from here */

struct sdr_op {
	struct sdr_list link;  /* conn->ops or conn->held */
	struct sdr_conn *conn; /* NULL while the peer has none */
	struct sdr_peer *peer;
	uint8_t kind, niov;
	uint16_t flags;
	bool done;		  /* reported (or silent) */
	bool need_done, got_done; /* DONE record awaited, seen */
	bool data_out;		  /* bulk finished or there is none */
	bool data_in;		  /* READ: bytes are here */
	bool waiting;		  /* announced without data: CTS awaited */
	bool stranger;		  /* READ_SERVE: counts in rel->nanswers_strangers */
	uint32_t id;		  /* ours */
	uint32_t wire_id;	  /* in its record: ours, or the requester's for READ_SERVE */
	uint64_t len, tag, data, rma_addr, rma_key;
	void *ctx;
	uint64_t uflags;
	uint8_t *copy;	/* injected or gathered bytes */
	bool copy_pool; /* copy belongs to buf_pool, else malloc */
	struct sdr_rec rec;
	struct sdr_rec *bind;	/* its BIND record, while under way */
	struct sdr_list credit; /* conn->cts_wait: wants message numbers for its bulk */
	struct sdr_bulk_tx *btx;
	struct sdr_bulk_rx *brx;  /* READ: its data coming in */
	struct sdr_remote remote; /* READ_SERVE: the region it reads */
	bool keyed;		  /* va, rkey are valid */
	uint32_t rkey;
	uint64_t va; /* where a keyed peer wants the bulk */
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
};

/* ---- bulk out -------------------------------------------------------------------------------- */

struct sdr_bulk_tx {
	struct sdr_list link; /* conn->bulks: announced, not all segments open; in order */
	struct sdr_op *op;
	struct sdr_conn *conn;
	const uint8_t *base;
	uint64_t len;
	uint32_t msn; /* of message 0 */
	struct sdr_plan plan;
	uint32_t opened, finished; /* messages */
	/* of the data segment opened last, until its parity is opened too */
	struct sdr_group_tx *grp;
	struct sdr_list segs; /* those open */
	bool announced;	      /* its record has been sent once: data may follow */
	/* conn->copies: the record travels a second time behind the first data */
	struct sdr_list copy;
	/* packets of the first segment behind which the next copy of the record travels */
	uint32_t copy_at;
	struct sdr_rec *rec; /* the record that announces it */
	uint64_t not_before; /* ns: data wait until no packet sent before can overtake the record */
};

struct sdr_seg_tx {
	struct sdr_list link;	   /* conn->segs, in the order of first sending */
	struct sdr_list lost_link; /* conn->lost_segs: packets wait to be sent again */
	struct sdr_list mine;	   /* bulk->segs */
	struct sdr_list end_link;  /* conn->ends: everything was sent (once more), END is owed */
	struct sdr_bulk_tx *bulk;  /* NULL: released, only the log names it */
	struct sdr_snd_handle *h;
	const uint8_t *base;
	uint64_t len;
	struct sdr_group_tx *grp; /* NULL: not coded */
	bool parity;		  /* carries the group's parity */
	uint32_t msn, npkts, nchunks, nruns;
	uint32_t goal; /* packets [0, goal) leave by themselves: all, or the planned parity */
	uint32_t next; /* packets [next, goal) were never sent */
	uint32_t high; /* 1 + highest packet ever sent */
	uint32_t nacked, nlost, nagain, again_hint;
	uint32_t rack_txc; /* newest transmission of it that was reported delivered */
	uint32_t end_txc;  /* packet with its latest END */
	/* packet with the oldest END that was not answered when the next one left */
	uint32_t end_first;
	bool ended;
	uint32_t top;	   /* highest packet known to be delivered */
	uint32_t inflight; /* packets sent, neither acknowledged nor lost */
	/* packets that were lost without our hearing of it before it was over */
	uint32_t unknown;
	uint32_t dec_chunks; /* chunks that came out of parity, the receiver says */
	uint32_t rtx, dups;  /* packets sent again, duplicates the receiver reported */
	uint32_t nlog;	     /* log entries naming this */
	uint32_t klass;	     /* log2 of capacity, for the free list */
	/* bitmaps of packets: delivered; sent and lost; to be sent (again) */
	uint64_t *acked, *lost, *again;
	/* bitmap of chunks: with packets sent again; parity: of packets ever sent */
	uint64_t *chunk_rtx;
	uint32_t *run_log; /* log position of each run's latest transmission */
	uint8_t *run_ntx;  /* transmissions of each run, saturating */
};

struct sdr_txent {		/* one transmission of a run of packets */
	struct sdr_seg_tx *seg; /* NULL: settled */
	uint32_t first, n;
	uint32_t txc; /* conn->txc at this transmission */
	uint64_t tx_ns;
	struct sdr_cc_snap snap;
};

/*
 * A coded segment: data and parity.  Losses of either are only noted; when all of both has left and
 * nothing of it is in flight, the group is judged by what the receiver has (sdr_code_tx.c).
 */
struct sdr_group_tx {
	struct sdr_list judge;	   /* conn->judge: nothing in flight any more */
	struct sdr_seg_tx *data;   /* NULL: released */
	struct sdr_seg_tx *parity; /* NULL: not opened yet, or released */
	const struct sdr_fec *fec; /* NULL: no bytes (simulation) */
	uint8_t *scratch;	   /* parity, code.par_pkts * mtu bytes */
	const uint8_t *base;	   /* of the data, once some have left */
	/* submessages whose encoding was begun; whoever adds one encodes it */
	atomic_uint begun;
	bool shared; /* job is lent: others may encode */
	struct sdr_job job;
	uint32_t rounds, asks;
	bool asked; /* could be decoded as far as we know: its answer is awaited */
	struct sdr_code code;
};

/* ---- bulk in --------------------------------------------------------------------------------- */

struct sdr_bulk_rx {
	struct sdr_list link;	 /* conn->brx */
	struct sdr_list partial; /* conn->partial */
	struct sdr_hnode bnode;	 /* rel->binds, while a BIND is expected */
	bool expected;
	struct sdr_conn *conn;
	uint8_t *buf;
	uint64_t len;
	uint32_t id; /* the peer's operation */
	uint32_t msn;
	struct sdr_plan plan; /* once has_msn */
	uint32_t bound;	      /* messages bound or skipped */
	uint32_t done;	      /* data segments complete */
	/* of the data segment bound last, until its parity is bound too */
	struct sdr_group_rx *grp;
	uint8_t op;   /* enum sdr_rec_op it belongs to */
	bool has_msn; /* false: waits for BIND, or READ_RSP */
	bool delivery;
	struct sdr_rx *rx;	  /* SEND, TSEND matched: the receive */
	struct sdr_unexp *unexp;  /* or its place in the unexpected list */
	uint64_t rx_off;	  /* where in the receive (MULTI) */
	struct sdr_op *read;	  /* READ_RSP: our READ */
	struct sdr_remote remote; /* WRITE: the region it goes to */
	uint64_t data, tag, key;
	bool has_data;
	struct sdr_list segs; /* sdr_seg_rx, bound */
	/* own engine keyed: of the whole buffer, as long as this lives */
	struct sdr_uc_grant grant;
};

struct sdr_group_rx {
	struct sdr_seg_rx *data, *parity; /* parity NULL: not bound */
	const struct sdr_fec *fec;
	uint8_t *scratch;
	uint32_t witness; /* a codeword that could not be decoded */
	bool dead;	  /* no memory to decode: waits for the data themselves */
	struct sdr_code code;
};

struct sdr_seg_rx {
	struct sdr_list link; /* bulk's segs */
	struct sdr_group_rx *grp;
	bool parity;
	struct sdr_list dirty; /* conn->dirty: a data acknowledgement is owed */
	struct sdr_bulk_rx *bulk;
	struct sdr_rcv_handle *h;
	uint32_t msn;
	uint32_t rep_got, rep_holes; /* at the last report */
	uint32_t base;		     /* packet at which the next report starts */
	bool gap;
};

/* ---- receives -------------------------------------------------------------------------------- */

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

struct sdr_unexp {
	struct sdr_list link;	 /* rel->unexp[kind]; not linked: before its turn, or matched */
	struct sdr_list of_peer; /* peer->unexp, together with link */
	struct sdr_conn *conn;	 /* NULL: gone; what is complete stays */
	struct sdr_peer *peer;
	uint64_t charged; /* bytes: in rel->unexp_bytes */
	/* the peer had no name when it came: counts in rel->nunexp_strangers */
	bool stranger;
	struct sdr_frame_rec f; /* payload: malloc, inline bytes or the bounce buffer of a bulk */
	uint8_t *payload;
	bool complete; /* all bytes are in payload */
	bool claimed;
	void *claim_ctx;
	struct sdr_bulk_rx *brx; /* bulk under way into payload */
	struct sdr_rx *rx;	 /* matched meanwhile: gets the bytes when they are complete */
	bool dropped;		 /* discarded meanwhile */
};

/* ---- connection ------------------------------------------------------------------------------ */

enum sdr_conn_state {
	SDR_CONN_HELLO, /* our HELLO is out, or about to be */
	SDR_CONN_OPEN,
	SDR_CONN_CLOSING, /* our BYE is out */
	SDR_CONN_DEAD,	  /* to be freed at the end of the round */
};

struct sdr_complete { /* a segment that is done, to be reported */
	uint32_t msn, echo;
	uint64_t last_ns;
	uint64_t at; /* not before */
	uint32_t dec_pkts, dec_chunks;
};
struct sdr_comp_ring {
	struct sdr_complete *e;
	uint32_t cap, head, tail; /* power of two; free-running */
};

struct sdr_early { /* ordered records that came before their turn, by mseq */
	struct sdr_unexp **slot;
	uint32_t cap, n; /* entries, power of two; of them in use */
};

struct sdr_conn {
	struct sdr_hnode hnode; /* by cid */
	struct sdr_hnode pnode; /* by the peer's cid and address, while peer_known */
	struct sdr_list link;	/* rel->conn_list, then rel->dead */
	struct sdr_list ready;	/* rel->ready */
	struct sdr_timer timer;
	struct sdr_rel *rel;
	struct sdr_peer *peer;
	struct sdr_uc_addr addr; /* where it was seen last */
	enum sdr_conn_state state;
	bool passive;	 /* opened by the peer's HELLO */
	bool proven;	 /* the peer's address is proven */
	bool peer_known; /* its HELLO was adopted */
	bool answered;	 /* anything valid ever arrived */
	uint64_t cid, peer_cid, peer_instance, cookie;
	uint32_t hello_ts; /* of the HELLO to be answered */
	uint32_t asked_us; /* when this side followed a smaller mtu, own clock; 0: never */
	uint32_t hello_tries;
	uint64_t hello_next, born;
	uint64_t heard_ns; /* last_rx when it got its place in rel->conn_list */
	uint32_t ctl_max;  /* bytes, both sides */
	uint32_t mtu;	   /* bytes a data packet, both directions */
	uint32_t chunk_pkts, run_pkts;
	/* bytes of one SDR message, both directions: the QP's max_msg */
	uint64_t seg_bytes;
	uint8_t codes;			/* the peer decodes: bit n, kind n of parity */
	uint32_t code_syms, code_chunk; /* k + m, bytes of a chunk: the peer's bounds */
	struct sdr_qp *qp;

	struct sdr_rtt rtt;
	struct sdr_cc cc;
	struct sdr_pacer pacer;
	uint64_t inflight; /* bytes */

	/* packets out */
	uint32_t next_pn;
	struct sdr_pkt *plog;		   /* ring */
	uint32_t pl_cap, pl_head, pl_tail; /* free-running */
	uint32_t pl_live;		   /* entries neither acknowledged nor lost */
	/* counts transmissions of packets and runs: their order */
	uint32_t txc;
	struct sdr_pnset rx_pns;
	bool ack_due, ack_now;
	uint64_t ack_pass; /* round in which ack_due was set */
	uint64_t ack_ns;   /* and when; and the arrival of the largest pn */
	uint64_t rx_largest_ns;

	/* records out */
	struct sdr_list rec_rtx, rec_q, msg_q; /* lost; unordered; ordered */
	struct sdr_rec **rec_ring;	       /* by rseq, NULL acknowledged */
	uint32_t rr_cap, next_rseq, una_rseq;
	uint32_t nrecs; /* records that stand alone */
	uint32_t tx_mseq, tx_mseq_limit;
	/* records in */
	uint32_t rx_rseq; /* all below were processed */
	uint64_t rx_rseq_bits[SDR_REL_CTL_WINDOW / 64];
	uint32_t rx_mseq; /* next ordered record to match */
	struct sdr_early early;
	uint32_t sent_msn_limit, sent_mseq_limit;

	/* operations */
	struct sdr_list ops, held; /* under way; behind a fence or the handshake */
	bool releasing;		   /* held is being walked */
	uint32_t nown;		   /* operations posted here, of both */
	uint32_t nserve;	   /* READs of the peer in ops */
	uint32_t nwrites;	   /* WRITEs of the peer, coming in as bulk */

	/* bulk out */
	struct sdr_list bulks, segs;
	struct sdr_list lost_segs, ends, copies;
	struct sdr_list judge;	      /* groups of which nothing is in flight */
	uint32_t nasked;	      /* groups whose receiver is asked why it does not decode */
	uint32_t ngroups;	      /* groups with a buffer for parity */
	bool parity_wait;	      /* the next one waits for such a buffer to come back */
	struct sdr_seg_tx **seg_ring; /* open segments by message number */
	uint32_t sr_cap;	      /* power of two, more than the span of open numbers */
	struct sdr_list cts_wait;     /* operations that want message numbers */
	uint32_t tx_msn, tx_msn_limit;
	struct sdr_txent *tlog; /* ring */
	uint32_t tl_cap, tl_head, tl_tail;
	bool wait_mode; /* the last rendezvous met no receive (keyed peers: see sdr_op.c) */
	/* bulk in */
	struct sdr_list brx, dirty;
	struct sdr_list partial;   /* of brx, those with messages that are not bound yet */
	uint64_t report_at;	   /* ns: what is dirty is reported, all of it together */
	uint32_t skip_lo, skip_hi; /* refused messages beyond the window: skipped as it moves */
	uint64_t skipped[(1u << SDR_IMM_ID_BITS_MAX) /
			 64];	      /* by ID: its latest message was refused, not completed */
	struct sdr_comp_ring comp[2]; /* completions to report: now, and once more a little later */
	/* losses were seen in either direction: protect what is worth a round trip */
	bool lossy;

	/* loss detection */
	uint64_t rack_ns;	      /* send time of the newest transmission delivered */
	uint32_t rack_txc;	      /* its number */
	uint32_t ack_txc;	      /* of the newest packet acknowledged */
	uint32_t reo_mult;	      /* reordering window in quarters of min RTT */
	uint64_t reo_grown, reo_seen; /* when last grown, last evidence */
	uint64_t last_tx;	      /* last transmission that wants an answer */
	/* last acknowledgement of anything new, or first transmission after idle */
	uint64_t last_news;
	uint32_t pto_count;
	uint32_t rto_shift; /* sr_nack, sr_rto: doublings of the timeout */
	uint64_t last_rto;
	bool probed; /* losses found now were uncovered by a probe */
	uint64_t loss_timer;
	uint64_t last_rx; /* anything valid */
	bool ping_due;
	/* silence is counted from here while we wait for the peer; 0 not waiting */
	uint64_t wait_since;

	/* closing */
	bool bye_due, bye_ack_due;
	uint32_t byes; /* the peer's, while something of ours was unanswered */
	uint32_t bye_tries;
	uint64_t bye_next;

	struct sdr_rel_stats st;
	uint64_t est_sent, est_lost; /* aged packet counts behind loss_ppm */
	struct sdr_choice choice;    /* the last decision; why is valid with chosen */
	uint64_t cover_ppm;	     /* of the transfer */
	bool chosen;
};

/* ---- sdr_rel.c ------------------------------------------------------------------------------- */
void sdr_rel_now(struct sdr_rel *rel); /* in callbacks: the time of the poll they come from */
uint64_t sdr_rel_rand(struct sdr_rel *rel);

/*
 * One turn of a loop whose length a peer can influence (of a bitmap: one word), or n of them.
 * Tests demand that what a packet costs is bounded by its bytes.
 */
static inline void sdr_rel_step(struct sdr_rel *rel)
{
	rel->steps++;
}
static inline void sdr_rel_steps(struct sdr_rel *rel, uint64_t n)
{
	rel->steps += n;
}

/* ---- sdr_peer.c ------------------------------------------------------------------------------ */
struct sdr_peer *sdr_peer_find(struct sdr_rel *rel, const struct sdr_uc_addr *addr);
/* Finds or creates.  What nobody wants afterwards is to be released. */
struct sdr_peer *sdr_peer_make(struct sdr_rel *rel, const struct sdr_uc_addr *addr);
void sdr_peer_release(struct sdr_peer *p); /* frees it if nothing needs it any more */
void sdr_peer_name(struct sdr_peer *p);
void sdr_peer_unname(struct sdr_peer *p); /* and releases it */
void sdr_peer_conn_add(struct sdr_peer *p, struct sdr_conn *c);
void sdr_peer_conn_del(struct sdr_peer *p, struct sdr_conn *c); /* and releases it */
void sdr_peers_destroy(struct sdr_rel *rel);

void sdr_conn_stats_fold(struct sdr_conn *c);
void sdr_peer_stats_fold(struct sdr_peer *p); /* sdr_rel_text.c */

/* ---- sdr_conn.c: life of a connection -------------------------------------------------------- */
struct sdr_conn *sdr_conn_open(struct sdr_peer *peer, bool passive, uint32_t mtu);
/*
 * What follows from the size of packets; made beside what is in force, and then taken, or destroyed
 * with its QP.
 */
struct sdr_conn_shape {
	uint32_t mtu, chunk_pkts;
	uint64_t seg_bytes;
	struct sdr_qp *qp;
};
int sdr_conn_shape_make(struct sdr_conn *c, uint32_t mtu, struct sdr_conn_shape *s);
void sdr_conn_shape_take(struct sdr_conn *c, const struct sdr_conn_shape *s);
int sdr_conn_qp_make(struct sdr_conn *c, uint32_t mtu);
int sdr_rel_errno(int err);			      /* enum sdr_rel_err -> negative errno */
struct sdr_conn *sdr_conn_get(struct sdr_peer *peer); /* opens one if needed; NULL out of memory */
struct sdr_conn *sdr_conn_by_cid(struct sdr_rel *rel, uint64_t cid);
/* Fails everything under way with err; the connection is freed at the end of the round. */
void sdr_conn_fail(struct sdr_conn *c, int err);
void sdr_conn_free(struct sdr_conn *c);
void sdr_conn_kick(struct sdr_conn *c); /* has something to send */
void sdr_conn_rearm(struct sdr_conn *c);
void sdr_conn_timer(struct sdr_conn *c);
bool sdr_conn_busy(const struct sdr_conn *c); /* we wait for the peer to answer */
/* nothing under way in either direction that we promised */
bool sdr_conn_idle(const struct sdr_conn *c);
uint64_t sdr_conn_reo_wnd(const struct sdr_conn *c);
/* sent again for nothing: the reordering window grows */
void sdr_conn_spurious(struct sdr_conn *c);
/* packets overtake each other here: there is a window */
void sdr_conn_reordered(struct sdr_conn *c);
void sdr_conn_rack(struct sdr_conn *c, uint32_t txc, uint64_t tx_ns); /* was delivered */
/* By time and order: is a transmission lost?  If not yet but perhaps soon, arms the loss timer. */
bool sdr_conn_is_lost(struct sdr_conn *c, uint32_t txc, uint64_t tx_ns);
/* ns, doubled shift times, capped */
uint64_t sdr_conn_rto(const struct sdr_conn *c, uint32_t shift);
/* something new was acknowledged */
void sdr_conn_news(struct sdr_conn *c);
/* something that wants an answer was sent */
void sdr_conn_sent(struct sdr_conn *c);

/* ---- sdr_stranger.c -------------------------------------------------------------------------- */
void sdr_conn_heard(struct sdr_conn *c); /* something valid came */
/* one more stranger costs another one his place */
bool sdr_conn_crowded(const struct sdr_rel *rel);
bool sdr_conn_admit(struct sdr_rel *rel); /* one more stranger; may dismiss another one */

/* ---- sdr_handshake.c ------------------------------------------------------------------------- */
void sdr_hello_send(struct sdr_conn *c, enum sdr_rel_type type);
/*
 * It is found by what the peer calls it and where the peer is; not any more.  Both change together.
 */
void sdr_conn_peer_note(struct sdr_conn *c);
void sdr_conn_peer_forget(struct sdr_conn *c);
void sdr_conn_prove(struct sdr_conn *c); /* the peer's address is really its own */
void sdr_hello_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, uint8_t type,
		     const uint8_t *p, size_t len);
void sdr_retry_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, uint8_t type,
		     const uint8_t *p, size_t len);
void sdr_reset_send(struct sdr_rel *rel, const struct sdr_uc_addr *to, uint64_t cid);
int sdr_reset_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
		    size_t len);

/* ---- sdr_pkt_tx.c: packets out, their acknowledgement ---------------------------------------- */
/* Sends what is due; returns false when the engine is full. */
bool sdr_pkt_send(struct sdr_conn *c);
bool sdr_pkt_due(const struct sdr_conn *c);
bool sdr_pkt_paced(const struct sdr_conn *c); /* records wait for the pacer, and for nothing else */
void sdr_pkt_acked(struct sdr_conn *c, const struct sdr_frame_ack *f, struct sdr_cc_ack *ca);
void sdr_pkt_detect_lost(struct sdr_conn *c, struct sdr_cc_ack *ca);
/* PTO: the records of the oldest packets travel again. */
void sdr_pkt_probe(struct sdr_conn *c);
void sdr_pkt_drop_all(struct sdr_conn *c);
/*
 * What was received and what was done, in packets that want no answer.  False: the engine is full.
 */
bool sdr_pkt_last_words(struct sdr_conn *c);

/* ---- sdr_pkt_rx.c ---------------------------------------------------------------------------- */
void sdr_pkt_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
		   size_t len);

/* ---- sdr_rec.c: reliable records ------------------------------------------------------------- */
void sdr_rec_queue(struct sdr_conn *c, struct sdr_rec *r);
/* stands alone; NULL no memory */
struct sdr_rec *sdr_rec_new(struct sdr_conn *c, uint8_t op, uint32_t id);
/* one that stands alone */
void sdr_rec_free(struct sdr_conn *c, struct sdr_rec *r);
bool sdr_rec_sendable(const struct sdr_conn *c);
/* The next record that may be sent and fits room, given its rseq; NULL none. */
struct sdr_rec *sdr_rec_next(struct sdr_conn *c, size_t room);
/* One that stands alone gets its rseq where it is, if it has none; false: not now. */
bool sdr_rec_number(struct sdr_conn *c, struct sdr_rec *r);
size_t sdr_rec_write(struct sdr_conn *c, struct sdr_rec *r, uint8_t *p, size_t room);
void sdr_rec_acked(struct sdr_conn *c, struct sdr_rec *r);
/* its operation ends: it must not be sent again */
void sdr_rec_detach(struct sdr_conn *c, struct sdr_rec *r);
/* false: seen before or outside the window. */
bool sdr_rec_accept(struct sdr_conn *c, uint32_t rseq);
bool sdr_rec_room(const struct sdr_conn *c, uint32_t rseq);
bool sdr_rec_seen(const struct sdr_conn *c, uint32_t rseq);
/*
 * May this peer ask n more things of us, each of which is to be answered, before it takes the
 * answers it has?
 */
bool sdr_rec_answerable(const struct sdr_conn *c, uint32_t n);
void sdr_rec_input(struct sdr_conn *c, const struct sdr_frame_rec *f);

/* ---- sdr_op.c -------------------------------------------------------------------------------- */
void sdr_op_advance(struct sdr_op *op);			   /* completes it if nothing is missing */
void sdr_op_end(struct sdr_op *op, int err, int prov_err); /* reports and frees */
/* reports; messages keep their place in the order */
void sdr_op_cancel(struct sdr_op *op);
/* Several at a time: whatever ends operations of a connection in a row comes here. */
enum sdr_ops_which {
	SDR_OPS_ALL,  /* the connection is gone */
	SDR_OPS_HELD, /* what has not started */
	/* what the application may still be told has not happened: is cancelled */
	SDR_OPS_UNPROMISED,
};
void sdr_ops_end(struct sdr_conn *c, enum sdr_ops_which which, int err); /* enum sdr_rel_err */
void sdr_op_start(struct sdr_op *op); /* gives it to its connection; may end it */
int sdr_op_land(struct sdr_op *op);   /* READ: its bulk gets its place; enum sdr_rel_err */
/* Its bytes travel inside its record.  Both sides compute the same. */
static inline bool sdr_op_fits(const struct sdr_conn *c, uint64_t len)
{
	return len + SDR_PACKET_HDR + SDR_REC_HDR_MAX <= c->ctl_max;
}
bool sdr_op_serve_read(struct sdr_conn *c, const struct sdr_frame_rec *f, void *va, void *region);
size_t sdr_op_gather(const struct sdr_op *op, uint8_t *p);
void sdr_op_scatter(struct sdr_op *op, const uint8_t *p, uint64_t n);
void sdr_op_release_held(struct sdr_conn *c);	/* behind a fence or the handshake */
void sdr_op_release_credit(struct sdr_conn *c); /* waiting for message numbers */

/* ---- sdr_remote.c ---------------------------------------------------------------------------- */
/* From here to its end it stands under this region. */
void sdr_remote_write(struct sdr_bulk_rx *b, void *region);
void sdr_remote_read(struct sdr_op *op, void *region);
/* The peer's READ gets no bytes (any more): err is enum sdr_rel_err. */
void sdr_remote_read_refuse(struct sdr_conn *c, uint32_t id, int err);

/* ---- sdr_bulk_tx.c, sdr_bulk_ack.c ----------------------------------------------------------- */
int sdr_bulk_tx_new(struct sdr_op *op, const uint8_t *base,
		    const struct sdr_plan *plan); /* takes msns: credit was checked */
bool sdr_bulk_tx_credit(const struct sdr_conn *c, uint64_t len);
void sdr_bulk_tx_abort(struct sdr_bulk_tx *b);
void sdr_bulk_tx_delivered(struct sdr_bulk_tx *b); /* all of it: the receiver said so */
void sdr_bulk_announced(struct sdr_bulk_tx *b);
bool sdr_bulk_tx_work(const struct sdr_conn *c);
/* ns at which the next bulk's data may leave; UINT64_MAX */
uint64_t sdr_bulk_tx_hold(const struct sdr_conn *c);
bool sdr_bulk_tx_window(const struct sdr_conn *c); /* room for one packet */
/* false: engine full */
bool sdr_bulk_tx_send(struct sdr_conn *c, uint64_t budget);
/* the next of b; NULL: not now */
struct sdr_seg_tx *sdr_seg_tx_open(struct sdr_conn *c, struct sdr_bulk_tx *b);
void sdr_seg_tx_sent(struct sdr_seg_tx *s); /* END is due if nothing is left to send */
void sdr_seg_tx_release(struct sdr_conn *c, struct sdr_seg_tx *s);
void sdr_seg_tx_drop(struct sdr_rel *rel, struct sdr_seg_tx *s);
/* delivered, with its group; true: and the whole transfer */
bool sdr_seg_tx_end(struct sdr_seg_tx *s);
struct sdr_seg_tx *sdr_seg_tx_by_msn(const struct sdr_conn *c, uint32_t msn);
void sdr_seg_tx_end_due(struct sdr_seg_tx *s);
void sdr_bulk_dack(struct sdr_conn *c, const struct sdr_frame_dack *f, struct sdr_cc_ack *ca);
void sdr_bulk_detect_lost(struct sdr_conn *c, bool nack, struct sdr_cc_ack *ca);
void sdr_bulk_tlog_trim(struct sdr_conn *c);
uint64_t sdr_bulk_loss_deadline(const struct sdr_conn *c);
void sdr_bulk_probe(struct sdr_conn *c);
void sdr_bulk_tx_destroy(struct sdr_conn *c);
/* these packets are to be sent (again) */
void sdr_seg_tx_again(struct sdr_seg_tx *s, uint32_t lo, uint32_t hi);

/* ---- sdr_bulk_rx.c --------------------------------------------------------------------------- */
/*
 * enum sdr_rel_err.  On a keyed engine the buffer is granted to the peer from here to the end of
 * *out.
 */
int sdr_bulk_rx_new(struct sdr_conn *c, uint8_t op, uint32_t id, void *buf, uint64_t len,
		    struct sdr_bulk_rx **out);
/*
 * Asks for the data of what was only announced; expected: the receive was there first.  False: the
 * connection failed.
 */
bool sdr_bulk_rx_cts(struct sdr_bulk_rx *b, bool expected);
/*
 * Binds what the window allows; f: the record that numbers it.  SDR_REL_ERR_CODE: refused, the
 * numbers are skipped.
 */
int sdr_bulk_rx_start(struct sdr_bulk_rx *b, const struct sdr_frame_rec *f);
/* The one that this BIND is for; NULL: it is over, or never was. */
struct sdr_bulk_rx *sdr_bulk_rx_expected(struct sdr_conn *c, uint32_t id);
/* May a record give its bulk these numbers?  Honest peers number within what they were allowed. */
bool sdr_bulk_rx_numbers(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t len);
/*
 * What a record says of its messages, or could not have (-EINVAL): whether they can be received is
 * another matter.
 */
int sdr_bulk_rx_plan(const struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t len,
		     struct sdr_plan *plan);
void sdr_bulk_rx_more(struct sdr_conn *c);
void sdr_bulk_rx_progress(void *user, struct sdr_rcv_handle *h);
void sdr_bulk_rx_abort(struct sdr_bulk_rx *b);
void sdr_bulk_rx_skip(struct sdr_conn *c, const struct sdr_frame_rec *f,
		      uint64_t len);			  /* nobody wants these bytes */
void sdr_bulk_rx_ended(struct sdr_conn *c, uint32_t msn); /* END arrived */
uint32_t sdr_conn_mseq_limit(const struct sdr_conn *c);

/* ---- sdr_msn.c: numbers of what comes in ----------------------------------------------------- */
/* will never be bound, or ended before it was complete */
void sdr_msn_skip(struct sdr_conn *c, uint32_t msn);
void sdr_msn_skip_range(struct sdr_conn *c, uint32_t lo, uint32_t hi);
void sdr_msn_skip_on(struct sdr_conn *c); /* the window may have moved */
void sdr_msn_not_skipped(struct sdr_conn *c, uint32_t msn);
bool sdr_msn_complete(const struct sdr_conn *c, uint32_t msn);
/* some of msn, msn + 1, ... */
bool sdr_msn_beyond(const struct sdr_conn *c, uint32_t msn, uint32_t n);
uint32_t sdr_conn_msn_limit(const struct sdr_conn *c);

/* ---- sdr_policy.c ---------------------------------------------------------------------------- */
/* How an operation's bytes travel: scheme, segments, parity.  enum sdr_rel_err. */
int sdr_policy_plan(struct sdr_conn *c, uint64_t len, struct sdr_plan *plan);
bool sdr_policy_repeats(const struct sdr_conn *c); /* a lone packet is worth a copy */
/* NULL: no memory */
const struct sdr_fec *sdr_policy_fec(struct sdr_rel *rel, const struct sdr_code *g);
/* the paper's plain schemes: timeouts, no RACK */
static inline bool sdr_scheme_plain(enum sdr_rel_scheme s)
{
	return s == SDR_SCHEME_SR_NACK || s == SDR_SCHEME_SR_RTO;
}

/* ---- sdr_code_tx.c: coded segments out ------------------------------------------------------- */
struct sdr_group_tx *sdr_group_tx_new(struct sdr_conn *c, const struct sdr_plan *plan,
				      const struct sdr_plan_msg *m);
void sdr_group_tx_drop(struct sdr_conn *c, struct sdr_group_tx *g,
		       struct sdr_seg_tx *s); /* s goes; the last one ends it */
void sdr_group_tx_sent(struct sdr_seg_tx *s, uint32_t first,
		       uint32_t n); /* data left for the first time: its share of parity is made */
void sdr_group_tx_make(struct sdr_seg_tx *s, uint32_t first,
		       uint32_t n);	       /* parity about to leave: rows on demand */
void sdr_group_tx_touch(struct sdr_seg_tx *s); /* something of it left the network */
void sdr_group_tx_judge(struct sdr_conn *c);

/* ---- sdr_code_rx.c: coded segments in -------------------------------------------------------- */
struct sdr_group_rx *sdr_group_rx_new(struct sdr_conn *c, const struct sdr_plan *plan,
				      const struct sdr_plan_msg *m);
void sdr_group_rx_free(struct sdr_conn *c, struct sdr_group_rx *g);
/*
 * Packets of either came: decodes if that completes the data.  > 0: packets decoded, the segment is
 * complete.
 */
uint32_t sdr_group_rx_try(struct sdr_conn *c, struct sdr_group_rx *g, uint32_t *chunks);

/* ---- sdr_report.c ---------------------------------------------------------------------------- */
void sdr_report_complete(struct sdr_conn *c, const struct sdr_complete *e);
void sdr_report_owed(struct sdr_conn *c, struct sdr_seg_rx *s); /* soon */
void sdr_report_now(struct sdr_conn *c, struct sdr_seg_rx *s);	/* with the next packet */
bool sdr_report_due(const struct sdr_conn *c, uint64_t now);
uint64_t sdr_report_deadline(const struct sdr_conn *c);
/* Writes DACK frames; returns bytes; *more: some did not fit. */
size_t sdr_report_write(struct sdr_conn *c, uint8_t *p, size_t room, bool *more);

/* ---- sdr_match.c ----------------------------------------------------------------------------- */
void sdr_match_input(struct sdr_conn *c, const struct sdr_frame_rec *f); /* in order of mseq */
/* Can it be taken now?  And the bytes that it costs at the most to keep it. */
bool sdr_match_room(struct sdr_conn *c, const struct sdr_frame_rec *f);
uint64_t sdr_match_bytes(const struct sdr_conn *c, const struct sdr_frame_rec *f);
void sdr_match_done(struct sdr_bulk_rx *b); /* bulk of a message is complete */
void sdr_match_bind(struct sdr_conn *c, const struct sdr_frame_rec *f);
void sdr_match_conn_gone(struct sdr_conn *c, int err);
void sdr_match_destroy(struct sdr_rel *rel);
void sdr_match_cancel_all(struct sdr_rel *rel);
void sdr_done_send(struct sdr_conn *c, uint32_t id, int status);

/* ---- sdr_early.c ----------------------------------------------------------------------------- */
bool sdr_early_has(const struct sdr_conn *c, uint32_t mseq);
/* bytes that keeping it costs beyond itself */
uint64_t sdr_early_growth(const struct sdr_conn *c, uint32_t mseq);
int sdr_early_put(struct sdr_conn *c, struct sdr_unexp *u);
struct sdr_unexp *sdr_early_take(struct sdr_conn *c, uint32_t mseq); /* NULL: it is not there */
void sdr_early_drop(struct sdr_conn *c);

/* ---- sdr_rx.c, sdr_unexp.c ------------------------------------------------------------------- */
void sdr_rx_free(struct sdr_rel *rel, struct sdr_rx *rx);
void sdr_rx_fill(const struct sdr_rx *rx, uint64_t off, const uint8_t *p, uint64_t n);
void sdr_rx_report(struct sdr_rel *rel, struct sdr_rx *rx, struct sdr_peer *peer,
		   const struct sdr_frame_rec *f, uint64_t off, uint64_t got, int prov_err);
bool sdr_rx_retires(const struct sdr_rx *rx, uint64_t len);
uint64_t sdr_rx_take(struct sdr_rx *rx, uint64_t len, uint64_t *room);
void sdr_rx_truncated(struct sdr_conn *c, struct sdr_rx *rx, const struct sdr_frame_rec *f,
		      uint64_t off);
void sdr_rx_bulk(struct sdr_conn *c, struct sdr_rx *rx, const struct sdr_frame_rec *f, uint64_t off,
		 bool expected, bool has_msn);
void sdr_rx_deliver(struct sdr_conn *c, struct sdr_rx *rx, const struct sdr_frame_rec *f);
void sdr_rx_cancel(struct sdr_rel *rel, struct sdr_rx *rx);
void sdr_unexp_free(struct sdr_rel *rel, struct sdr_unexp *u);
struct sdr_unexp *sdr_unexp_new(struct sdr_conn *c, const struct sdr_frame_rec *f);
/* May so many bytes of messages of this peer be kept; early: that are not the next in order? */
bool sdr_unexp_room(const struct sdr_conn *c, uint64_t bytes, bool early);
void sdr_unexp_add(struct sdr_conn *c, struct sdr_unexp *u);
void sdr_unexp_deliver(struct sdr_rel *rel, struct sdr_unexp *u, struct sdr_rx *rx);
void sdr_unexp_drop(struct sdr_rel *rel, struct sdr_unexp *u);
struct sdr_unexp *sdr_unexp_find(struct sdr_rel *rel, const struct sdr_rx *rx, bool claimed,
				 const void *ctx);

static inline bool sdr_rec_is_message(const struct sdr_frame_rec *f)
{
	return f->op == SDR_REC_SEND || f->op == SDR_REC_TSEND;
}

/* Whatever comes of it, it wants an answer of ours. */
static inline bool sdr_rec_is_request(const struct sdr_frame_rec *f)
{
	return f->op == SDR_REC_WRITE || f->op == SDR_REC_READ;
}

static inline int sdr_msg_kind(uint8_t rec_op)
{
	return rec_op == SDR_REC_TSEND;
}

static inline uint64_t sdr_msg_len(const struct sdr_frame_rec *f)
{
	return f->flags & SDR_REC_F_LEN ? f->len : f->payload_len;
}

static inline bool sdr_rx_matches(const struct sdr_rx *rx, const struct sdr_peer *peer,
				  uint64_t tag)
{
	return (!rx->peer || rx->peer == peer) && ((tag ^ rx->tag) & ~rx->ignore) == 0;
}

static inline bool sdr_seq_lt(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}
/* Microseconds from then to now, for delays on the wire. */
static inline uint32_t sdr_us_since(uint64_t now, uint64_t then)
{
	uint64_t us = now > then ? (now - then) / 1000 : 0;

	return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

#endif /* SDR_REL_PRIV_H */
