/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The unreliable-write engine: what the SDK needs of a network.
 *
 * An engine moves one-packet RDMA Writes with immediate into slots of a peer's message table,
 * carries small control datagrams, and reports both as events.  It loses, repeats and reorders as
 * the network does, and hides none of it.  Below this table: sockets, verbs, a simulated network.
 * Above it: nothing that does I/O.
 *
 * Batches cross the boundary: `post` takes an array of descriptors, each a run of packets or a
 * datagram, in the order in which they should leave; `poll` returns an array of events.  An engine
 * is used by one thread at a time (its owner holds a lock); `wake` alone may be called from any
 * thread.
 *
 * Placement rule (laws 2 and 5): payload reaches memory only when frame, key, QP, slot, the slot's
 * generation and bounds are right at the moment of placement; then, and only then, the event PLACED
 * is reported.  After slot_unbind has returned nothing is written to that slot's buffer.  A packet
 * for an unbound slot or another generation is counted (pkts_late) and not reported; engines on
 * which such a completion cannot be recognised (hardware) report it, so receivers check again.
 */
#ifndef SDR_UC_H
#define SDR_UC_H

#include "wire/sdr_wire.h"

/* An engine's address: opaque above the engine, comparable byte by byte, unused bytes zero. */
struct sdr_uc_addr {
	uint8_t len; /* bytes used in b; 0 = none */
	/* soft, verbs: sdr_uc_addr.h; sim: the same, of a number */
	uint8_t b[31];
};

struct sdr_mem;
struct sdr_uc;
struct sdr_uc_qp; /* engine's side of an SDR QP: channels * generations transport QPs */

enum sdr_uc_tx_kind {
	SDR_UC_TX_WRITE, /* a run of packets of one message */
	SDR_UC_TX_CTL,	 /* one control datagram */
};

/* Test hook, honoured by engines that frame in software; others drop the packet instead. */
#define SDR_UC_F_CORRUPT 0x1 /* flip a bit after the check sum was made */
/*
 * WRITE: the message lies at w.va under w.rkey, which its receiver granted; without: in the root
 * key's table.
 */
#define SDR_UC_F_RKEYED 0x2
/*
 * CTL: a probe of the path: may be longer than ctl_max, up to info.probe_max; lost without a word
 * where something on the way does not carry it
 */
#define SDR_UC_F_PROBE 0x4
/* its packets leave as SDR_UC_ECT0: a queue may mark them; engines with info.ecn */
#define SDR_UC_F_ECT 0x8
/* WRITE: of a large message: may go to the ports of the peer's workers (sdr_uc_crew) */
#define SDR_UC_F_SPREAD 0x10

/* The two bits of an IP header that say what a queue may do, or has done (RFC 3168). */
enum sdr_uc_ecn {
	SDR_UC_NOT_ECT = 0, /* it may drop */
	SDR_UC_ECT1 = 1,    /* it may mark */
	SDR_UC_ECT0 = 2,    /* likewise */
	SDR_UC_CE = 3,	    /* it has marked */
	SDR_UC_ECNS = 4,    /* how many there are */
};

struct sdr_uc_tx {
	uint8_t kind; /* enum sdr_uc_tx_kind */
	uint8_t flags;
	uint8_t gen;	 /* WRITE: generation, < qp's generations */
	uint8_t channel; /* WRITE: channel, < qp's channels */
	/*
	 * WRITE: the way to the peer, 0 or one that qp_via has set; CTL: the source that it leaves
	 * from, < info.sources
	 */
	uint8_t via;
	/* bytes: WRITE all payload of the run, CTL payload (class header included) */
	uint32_t len;
	const uint8_t *buf; /* read during post(), or with mr until that is deregistered */
	/*
	 * WRITE: registration that covers buf, from mr_reg; NULL: the engine copies what it must,
	 * so the CPU reaches buf
	 */
	void *mr;
	union {
		/* all packets but the last have the qp's mtu bytes; len 0: one empty packet */
		struct {
			struct sdr_uc_qp *qp;
			uint32_t slot; /* message ID at the receiver */
			/* packet offset of the first packet; byte offset = first * mtu */
			uint32_t first;
			uint32_t user_imm; /* fragments are taken from it by packet offset */
			uint32_t epoch;	   /* times all IDs and generations were used before */
			uint32_t rkey;	   /* F_RKEYED */
			/* F_RKEYED: of the message's first byte, as its receiver counts */
			uint64_t va;
		} w;
		const struct sdr_uc_addr *to; /* CTL */
	};
};

enum sdr_uc_ev_kind {
	SDR_UC_EV_PLACED, /* a packet lies in its slot */
	SDR_UC_EV_CTL,	  /* a control datagram arrived */
	/* a QP is broken: nothing arrives or leaves through it any more; reason() says why */
	SDR_UC_EV_QP,
	/* this host has learned what the way to an address carries (its route, ICMP) */
	SDR_UC_EV_PATH,
	SDR_UC_EV_ERROR, /* the engine is broken: err says how; nothing will arrive any more */
};

struct sdr_uc_ev {
	uint8_t kind;
	uint8_t gen; /* PLACED: generation of the transport QP it came through */
	uint8_t channel;
	/*
	 * PLACED, CTL: enum sdr_uc_ecn, as the packet came; of one in pieces CE where any that came
	 * by its way since the last whole one was; without info.ecn 0
	 */
	uint8_t ecn;
	uint8_t source; /* CTL: that it came to; PATH: that the way begins at; < info.sources */
	/*
	 * PLACED: the way of its QP (qp_via) whose other end it came from, to where that begins; 0:
	 * none of them
	 */
	uint8_t via;
	uint32_t len; /* PLACED, CTL: payload bytes */
	/*
	 * Since when this host had it, by the engine's clock, where that is known (of packets that
	 * came as one, since when it had the first); who polls may be late.  0: it is not.  PLACED
	 * by a worker: in the order of arrivals, 0 is the first
	 */
	uint64_t since;
	union {
		struct {
			void *cookie; /* PLACED: the QP's, from sdr_uc_qp_attr */
			uint32_t imm;
		} p;
		struct {
			/* CTL: payload, valid until the next poll */
			const uint8_t *buf;
			const struct sdr_uc_addr *from; /* CTL: likewise */
			uint32_t
				/*
				 * CTL: the sender's control QP as the datagram says, SDR_QPN_CTL:
				 * its socket
				 */
				qpn;
		} c;
		struct {
			void *cookie; /* QP: as with PLACED */
			int err;      /* negative errno */
		} q;
		struct {
			const struct sdr_uc_addr *to; /* PATH: valid until the next poll */
			uint32_t bytes;		      /* of the largest IP packet; as path_mtu */
		} path;
		int err; /* ERROR: negative errno */
	};
};

struct sdr_uc_qp_attr {
	uint8_t channels;    /* 1..SDR_CHANNELS_MAX */
	uint8_t generations; /* 1..SDR_GENERATIONS_MAX */
	struct sdr_imm_split split;
	uint32_t mtu; /* payload bytes; of both directions; <= the engine's */
	/* stride of the message table, bytes; a multiple of mtu, <= mtu << off_bits */
	uint64_t max_msg;
	void *cookie;
	uint64_t rand[2]; /* for QPN, root key, first PSN: unpredictable to others */
};

/* Counters of an engine; all u64, monotonic. */
struct sdr_uc_stats {
	uint64_t pkts_tx, bytes_tx; /* data packets and their payload handed to the network */
	uint64_t ctl_tx, ctl_rx;
	uint64_t pkts_rx, bytes_rx;    /* data packets placed */
	uint64_t pkts_late;	       /* right key, but slot unbound or of another generation */
	uint64_t pkts_bad;	       /* frame, ICRC, key, bounds */
	uint64_t tx_again;	       /* post() stopped because the network was full */
	uint64_t sys_tx, sys_rx;       /* system calls that moved packets */
	uint64_t grants, regs;	       /* grants made; registrations of memory with a device */
	uint64_t pieces_tx, pieces_rx; /* datagrams with a piece of a data packet */
	uint64_t shm_tx, shm_rx;       /* packets through memory that is shared with a peer */
	/* lost at home: packets that this host did not send, by cause; all are in tx_lost */
	uint64_t tx_lost;
	uint64_t tx_toobig; /* longer than the route carries (EMSGSIZE) */
	uint64_t tx_nobufs; /* no memory for it (ENOBUFS), after it was tried again */
	uint64_t tx_denied; /* a firewall of this host (EPERM, EACCES) */
	uint64_t rx_full; /* datagrams that came while the receive buffer was full (SO_RXQ_OVFL) */
	uint64_t fault_drop, fault_dup, fault_reorder, fault_corrupt; /* by fault injection */
};

struct sdr_uc_info {
	const char *name; /* "soft", "sim", "verbs" */
	/* payload bytes of a data packet the path of the local device carries */
	uint32_t mtu;
	/* payload bytes of a control datagram, likewise; SDR_CTL_MIN..SDR_CTL_MAX */
	uint32_t ctl_max;
	/* bytes that may arrive without being polled before the kernel drops; 0 unknown */
	uint32_t rx_window;
	/*
	 * payload bytes of the largest control datagram that it sends as a probe, and takes in:
	 * what the local device carries, at least ctl_max; 0: the path is not for us to probe
	 */
	uint32_t probe_max;
	/* bytes of an IP packet besides the payload of a data packet, of a control datagram */
	uint32_t data_over, ctl_over;
	/* data packets can travel in pieces (qp_path), and pieces are put together */
	bool cuts;
	/* SDR_UC_F_ECT is obeyed, and events say what became of it on the way */
	bool ecn;
	/* messages to this engine need a grant, sent to their sender; else it starts at once */
	bool rkeyed;
	/* bytes from which registering what is sent pays; 0: never (mr_reg does nothing) */
	uint32_t reg_min;
	/* grant and mr_reg take memory of devices, where both agree (base/sdr_mem.h) */
	bool far;
	/* connecting a QP to a device opens a port of this host's: for validated peers only */
	bool nic_port;
	/* payloads are virtual: addresses are never read or written (simulation) */
	bool no_bytes;
	/* threads that place packets beside poll (sdr_uc_crew), 0..SDR_WORKERS_MAX */
	uint8_t workers;
	/*
	 * Where datagrams leave from and arrive, 1..SDR_PATHS_MAX: each another address of this
	 * host or another port.  Source 0 is where the engine is, the only one where this is 1.
	 */
	uint8_t sources;
	/*
	 * bytes of a socket's buffers, as asked for and as the kernel granted them; 0: it has none
	 */
	uint32_t rcvbuf_asked, rcvbuf_got, sndbuf_asked, sndbuf_got;
	/* what of this host limits the engine, and the remedy; NULL: nothing; its memory */
	const char *note;
	/* protection against late packets: "epoch", "root", "mw", "mr" (sdr_verbs.h) */
	const char *late;
	struct sdr_uc_addr addr; /* own address as others see it, when known */
};

/*
 * Leave to write into a buffer, for one message or several that lie in it one behind the other.
 * Engines with info.rkeyed only.  va and rkey go to the sender, in whatever way the layer above
 * has.
 */
struct sdr_uc_grant {
	uint64_t va;
	uint32_t rkey;
	void *impl; /* the engine's; NULL: no grant */
};

/*
 * What an engine's receive workers do with what they have placed.  A worker is a thread of the
 * engine's that takes data packets from a port or a queue of its own, while the owner's calls go
 * on: it checks and places them as poll does, and hands the events, PLACED only, all of one slot
 * and one arrival, to placed() on its own thread; or the owner does that in its place, in any call
 * but post, while the thread does not.  room() is asked before: false: not now, ask again.  Neither
 * may block, or call the engine.
 *
 * slot_unbind returns when no worker writes to the slot's buffer and none is in placed() with
 * events of it; qp_destroy when none has anything of the QP.
 *
 * Order.  What is posted arrives at several ports, and is to be seen in the order in which it came
 * to the host nevertheless.  A packet that comes before the control datagram that binds its slot
 * waits with its worker until the owner has polled what had come with it.  A control datagram waits
 * in poll until the packets before it have been placed, and events of workers are in order as far
 * as crew_done() says: those with `since` up to it are all reported.
 */
struct sdr_uc_crew {
	bool (*room)(void *user, uint32_t worker);
	void (*placed)(void *user, uint32_t worker, const struct sdr_uc_ev *ev, int n);
	void *user;
};

struct sdr_uc_ops {
	void (*close)(struct sdr_uc *uc);
	void (*info)(struct sdr_uc *uc, struct sdr_uc_info *out);
	void (*stats)(struct sdr_uc *uc, struct sdr_uc_stats *out);
	/*
	 * The address it is bound to, with its port: where others meet it.  Bound to all addresses
	 * of a family: of no address, or of the first that others reach it at.
	 */
	void (*sockname)(struct sdr_uc *uc, struct sdr_uc_addr *out);
	uint64_t (*now)(struct sdr_uc *uc); /* ns, monotonic: the one clock of everything above */

	/*
	 * Receive side may be written as soon as create returned and a slot is bound; sending needs
	 * connect.
	 */
	int (*qp_create)(struct sdr_uc *uc, const struct sdr_uc_qp_attr *attr,
			 struct sdr_uc_qp **qp);
	void (*qp_destroy)(struct sdr_uc_qp *qp);
	/* Fills qpn, rkey, psn, channels, generations, split, mtu, max_msg, rx_window, addr. */
	void (*qp_info)(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out);
	/*
	 * Geometry (channels, generations, split, mtu, max_msg) must agree: -EPROTO if not. addr
	 * may be NULL: from info. May be called again while nothing has been sent: then to this
	 * peer, and qp_info stays what it was.
	 */
	int (*qp_connect)(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *peer,
			  const struct sdr_uc_addr *addr);
	/*
	 * A way to the connected peer beside its own (tx.via 1..SDR_PATHS_MAX - 1): from that
	 * source to that address, to which qp_readdress is nothing.  Set again: another one from
	 * now on.  Data that come the other way round say by which they did (ev.via), so of two
	 * ways no more than one leads from there to there.
	 * What is posted to one that was never set is lost.  Engines with more than one source, or
	 * to peers that have: -EINVAL, -EAFNOSUPPORT.  May be NULL: this engine has one way.
	 */
	int (*qp_via)(struct sdr_uc_qp *qp, uint32_t via, uint32_t source,
		      const struct sdr_uc_addr *addr);
	/* As sockname, of a source.  May be NULL: there is one. */
	void (*source)(struct sdr_uc *uc, uint32_t source, struct sdr_uc_addr *out);
	/* The peer moved. */
	void (*qp_readdress)(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr);
	/*
	 * From now on no IP packet with data to this peer is longer than that, 0: as long as the
	 * local device carries.  A data packet that does not fit travels in pieces: all of them
	 * are placed as they come, and it is reported (PLACED) once, when it is whole; a lost
	 * piece loses all of it.  Engines with info.cuts only, to peers that put pieces together.
	 * An engine that is refused a packet by its host (EMSGSIZE) lowers it by itself, and says
	 * so (SDR_UC_EV_PATH).
	 */
	void (*qp_path)(struct sdr_uc_qp *qp, uint32_t bytes);
	/*
	 * The same of data by a way that qp_via has set, where that is less than the QP's; 0: as
	 * the QP's.  Set again, or by EMSGSIZE, it is of this way alone.  Engines with info.cuts
	 * and qp_via.
	 */
	void (*via_path)(struct sdr_uc_qp *qp, uint32_t via, uint32_t bytes);
	/*
	 * What this host knows now of the way to addr (route, ICMP that came): bytes of the largest
	 * IP packet; 0: nothing.  Costs system calls: not for each packet.  May be NULL.
	 */
	uint32_t (*path_mtu)(struct sdr_uc *uc, const struct sdr_uc_addr *to);

	/*
	 * slot < 1 << split.id_bits; len <= max_msg; rebinding a bound slot is allowed. mr may be
	 * NULL (soft, sim). use: how often this ID was used before; its generation is use mod
	 * generations, the epoch use / generations.
	 */
	int (*slot_bind)(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf, size_t len,
			 void *mr);
	void (*slot_unbind)(struct sdr_uc_qp *qp, uint32_t slot);

	/*
	 * mem: where buf lies; NULL: where the CPU reaches it.  mr: registration that covers buf,
	 * or NULL.  0, -ENOMEM, -EAGAIN (none free now), -EOPNOTSUPP (not that mem), or what the
	 * device said.  After grant_end has returned nothing is written through the grant;
	 * g->impl becomes NULL.  Packets of a granted message that arrive before slot_bind are
	 * placed and reported: their event is held back behind the control datagrams that came
	 * before it, and counted late if the slot is not bound then.
	 */
	int (*grant)(struct sdr_uc_qp *qp, void *buf, size_t len, const struct sdr_mem *mem,
		     void *mr, struct sdr_uc_grant *g);
	void (*grant_end)(struct sdr_uc_qp *qp, struct sdr_uc_grant *g);

	/*
	 * mem: as with grant; what is sent under it is read by the device alone.  -EAGAIN: of so
	 * few bytes that copying them is less work.  mr_dereg: packets posted before still leave;
	 * the engine gives the memory up when they have.
	 */
	int (*mr_reg)(struct sdr_uc *uc, void *buf, size_t len, const struct sdr_mem *mem,
		      void **mr);
	void (*mr_dereg)(struct sdr_uc *uc, void *mr);
	/*
	 * Packets posted with mr are still to be read from its memory.  May be NULL: post() reads
	 * everything.
	 */
	bool (*mr_busy)(struct sdr_uc *uc, void *mr);
	/*
	 * Packets posted under a registration that was released since are still to be read from
	 * there.  May be NULL: never.
	 */
	bool (*reading)(struct sdr_uc *uc, const void *buf, size_t len);

	/*
	 * Returns how many descriptors were taken, in order; fewer than n means the network is full
	 * now: call again later with the rest.  A WRITE taken in part is advanced in place (buf,
	 * len, w.first) and not counted.  Errors of single packets are losses.  Never blocks.
	 */
	int (*post)(struct sdr_uc *uc, struct sdr_uc_tx *v, int n);
	/*
	 * Up to max events (>= SDR_UC_POLL_MIN); 0 when there is nothing.  Never blocks.  No data
	 * packet is placed in a call that already reports a control datagram which came before it:
	 * that one may bind the packet's slot.
	 */
	int (*poll)(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max);
	/*
	 * After a poll: it took what there was, or as good as; another one in the same round would
	 * most likely look in vain.  May be NULL: poll until it returns 0.
	 */
	bool (*dry)(struct sdr_uc *uc);

	/*
	 * Readable when poll would return something, after arm has returned false; -1: none (sim).
	 */
	int (*fd)(struct sdr_uc *uc);
	/* Before each sleep on fd.  True: do not sleep, poll. */
	bool (*arm)(struct sdr_uc *uc);
	/*
	 * After a poll by a thread, while another one sleeps on fd as arm has let it: the poll may
	 * have taken the notice away, this gives it back.  True: there is something, wake it.  May
	 * be NULL: a poll takes nothing away.
	 */
	bool (*rearm)(struct sdr_uc *uc);
	/*
	 * on: fd stays silent, whatever arrives, since who sleeps on it wakes and polls at a time
	 * of its own; off: as before, also for what came meanwhile.  May be NULL: never silent.
	 */
	void (*hush)(struct sdr_uc *uc, bool on);
	/*
	 * Cause and remedy of what failed last, as text; "": nothing failed.  Lives as long as the
	 * engine.
	 */
	const char *(*reason)(struct sdr_uc *uc);
	/*
	 * Engines with info.workers: who they work for; before the first QP.  Without: no worker
	 * starts, and no peer is told of their ports.
	 */
	void (*crew)(struct sdr_uc *uc, const struct sdr_uc_crew *crew);
	/* What came before that, or at that time, all workers have placed and reported. */
	uint64_t (*crew_done)(struct sdr_uc *uc);
	/*
	 * ns of now() at which poll must be called even if fd is silent (delayed packets);
	 * UINT64_MAX none.
	 */
	uint64_t (*deadline)(struct sdr_uc *uc);
	/*
	 * Sends what the engine itself holds back, each packet at its time: sleeps for as long as
	 * that takes, at most patience_ns.  May be NULL: nothing is held back.
	 */
	void (*drain)(struct sdr_uc *uc, uint64_t patience_ns);
};

/*
 * bytes of a message from which it may be large: F_SPREAD, and slots that workers expect data for
 */
#define SDR_UC_SPREAD_MIN (256u << 10)
#define SDR_UC_POLL_MIN	  64 /* smallest event array poll accepts */

/* Every engine's struct starts with this. */
struct sdr_uc {
	const struct sdr_uc_ops *ops;
};
struct sdr_uc_qp {
	struct sdr_uc *uc;
};

static inline bool sdr_uc_addr_equal(const struct sdr_uc_addr *a, const struct sdr_uc_addr *b)
{
	return __builtin_memcmp(a, b, sizeof(*a)) == 0;
}

/* They differ in nothing but the port. */
static inline bool sdr_uc_addr_same_host(const struct sdr_uc_addr *a, const struct sdr_uc_addr *b)
{
	return a->len == b->len && a->b[0] == b->b[0] &&
	       __builtin_memcmp(a->b + 3, b->b + 3, sizeof(a->b) - 3) == 0;
}

#define SDR_UC_ADDR_WHERE 21u /* bytes */
/*
 * Where it is, for whom ports do not matter: the host, or the network that this is in (its first 24
 * bits, of IPv6 48).  Returns bytes of out.
 */
uint8_t sdr_uc_addr_where(const struct sdr_uc_addr *a, bool net, uint8_t out[SDR_UC_ADDR_WHERE]);

#endif /* SDR_UC_H */
