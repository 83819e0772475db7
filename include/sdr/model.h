/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How long will a transfer take?  Completion times of reliability schemes over a long, lossy link.
 *
 * The model is that of the SDR-RDMA paper (section 4, appendices A to C), as whole distributions
 * and not only as means, with the readings that sdr_model(1) lists, and with what the paper does
 * not have: packets instead of chunks as units of loss and of repair, and the hybrid scheme of this
 * library.  Time runs from the post of the message to the sender's completion, the last
 * acknowledgement included; without loss it is
 *
 *	injection of all data (and parity) + RTT
 *
 * Everything here is pure: no clock, no input or output, no threads of its own, no state but what
 * the caller holds. All calls may be made from any number of threads at a time; a law
 * (sdr_model_law) is not changed once it is made. Times are seconds, sizes bytes, rates bits a
 * second, all as double unless they count something.
 *
 * Errors: 0, or a negative errno value: -EINVAL with the field and the reason in *err where the
 * call has one (err may be NULL), -ENOMEM.  On an error nothing is written to the other results.
 */
#ifndef SDR_MODEL_H
#define SDR_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sdr_model_scheme {
	SDR_MODEL_IDEAL,   /* nothing is lost: data / bandwidth + RTT */
	SDR_MODEL_SR_RTO,  /* selective repeat by timeout, rto_rtts (default 3) */
	SDR_MODEL_SR_NACK, /* selective repeat by reports of the receiver: the same with 1 RTT */
	/*
	 * k data and m parity chunks per submessage, any k of them suffice; else selective repeat
	 */
	SDR_MODEL_EC_MDS,
	/* the paper's XOR code: parity i protects the chunks j with j mod m = i */
	SDR_MODEL_EC_XOR,
	/* selective repeat by reports, parity only over the last packets (this library's) */
	SDR_MODEL_HYBRID,
	SDR_MODEL_SCHEMES
};

/* What a choice of (k, m) minimises: this of the completion time. */
enum sdr_objective {
	SDR_OBJECTIVE_MEAN,
	SDR_OBJECTIVE_P99,
	SDR_OBJECTIVE_P999,
};

#define SDR_MODEL_SYMS_MAX  256u	 /* at most, k + m */
#define SDR_MODEL_BYTES_MAX (1ull << 63) /* of a message */

/*
 * One question.  sdr_model_point_init gives every field a value; set what differs.
 * The first group is the paper's; the second says where to leave the paper's reading.
 */
struct sdr_model_point {
	enum sdr_model_scheme scheme;
	double bandwidth_bps; /* 1e-30..1e30 (400e9) */
	double rtt_s;	      /* > 0 (25e-3); this and what follows as double: at most 1e30 */
	/* timeout of selective repeat and of the fallback, RTTs, > 0; 0: the scheme's default */
	double rto_rtts;
	double beta;	      /* fallback timeout of EC beyond the injection, RTTs, >= 0 (1) */
	double p_packet;      /* probability that a packet is lost, 0 <= p < 1 (0) */
	uint64_t msg_bytes;   /* 1..SDR_MODEL_BYTES_MAX (128 MiB) */
	uint32_t mtu_bytes;   /* payload of a packet, >= 1 (4096) */
	uint32_t chunk_bytes; /* >= 1 (65536); packets of a chunk: chunk / mtu, rounded up */
	/* EC: >= 1 each, k + m <= 256 (32, 8).  HYBRID: packets; both 0: chosen by the model */
	uint32_t k, m;

	uint32_t flags;	      /* SDR_MODEL_F_* (0) */
	double burst_packets; /* HYBRID: mean packets lost in a row, >= 1 (1) */
	/* HYBRID with k > 0: bytes at the end that have parity; 0: all */
	double cover_bytes;
	enum sdr_objective objective; /* HYBRID with k = 0: of the choice (P99) */
	/* HYBRID with k = 0: at most so much parity per data, >= 0 (0.25) */
	double max_overhead;
};

/*
 * Selective repeat: the lost packet is sent again and not its whole chunk (mtu_bytes is the unit of
 * everything).
 */
#define SDR_MODEL_F_PACKETS 0x1u
/*
 * EC: a chunk that lost one packet still counts with its others: every packet row of a submessage
 * is a codeword.
 */
#define SDR_MODEL_F_ROWS 0x2u
/*
 * EC: the fallback sends only what was lost (chunks; packets with F_PACKETS or F_ROWS), not whole
 * submessages.
 */
#define SDR_MODEL_F_MISSING 0x4u
#define SDR_MODEL_F_ALL	    0x7u

/* Why a point was refused. */
struct sdr_model_error {
	const char
		/*
		 * static: the name of the field of the point, as in sdr_model(1), "" if none is to
		 * blame
		 */
		*field;
	char text[192]; /* a sentence with the value and the bounds */
};

void sdr_model_point_init(struct sdr_model_point *p);
/* -EINVAL: the point makes no sense.  Every call below that takes a point checks it so. */
int sdr_model_point_check(const struct sdr_model_point *p, struct sdr_model_error *err);
/* "sr_rto"; NULL for what is no scheme. */
const char *sdr_model_scheme_name(enum sdr_model_scheme scheme);
/* -EINVAL: no scheme has that name. */
int sdr_model_scheme_parse(const char *name, enum sdr_model_scheme *scheme);
/*
 * Packet loss p with which a chunk of n packets is lost with probability p_chunk, and the other way
 * round.
 */
double sdr_model_p_packet(double p_chunk, uint32_t n);
double sdr_model_p_chunk(double p_packet, uint32_t n);
/* Timeout of selective repeat that applies to the point, s. */
double sdr_model_rto(const struct sdr_model_point *p);

/* ---- the law of one transfer ----------------------------------------------------------------- */

/* What a law is made of; 0 where the scheme has no such thing. */
struct sdr_model_derived {
	double ideal_s;	 /* data / bandwidth + RTT */
	double t_inj_s;	 /* injection of a chunk (of a packet with F_PACKETS, and for HYBRID) */
	uint64_t chunks; /* of the message, such units */
	double p_chunk;	 /* probability that one is lost */
	double base_s;	 /* injection of data and parity, without the RTT */
	uint64_t parity_chunks;
	double p_ec;	   /* probability that a full submessage can be decoded */
	double p_fallback; /* probability that some submessage cannot */
	double e_failures; /* expected number of submessages that cannot */
	uint32_t k, m;	   /* EC; HYBRID: as chosen, packets, 0 without parity */
	double cover;	   /* HYBRID: share of the data that has parity */
};

struct sdr_model_law;

/* Cost: microseconds for selective repeat of any size, up to a few hundred for EC. */
int sdr_model_law_create(const struct sdr_model_point *p, struct sdr_model_law **law,
			 struct sdr_model_error *err);
void sdr_model_law_destroy(struct sdr_model_law *law); /* NULL is allowed */
double sdr_model_law_mean(const struct sdr_model_law *law);
/* P(T <= t). */
double sdr_model_law_cdf(const struct sdr_model_law *law, double t_s);
/* The smallest t with P(T <= t) >= q; 0 <= q < 1, else NAN. */
double sdr_model_law_quantile(const struct sdr_model_law *law, double q);
void sdr_model_law_derived(const struct sdr_model_law *law, struct sdr_model_derived *out);

/* Mean and the usual quantiles. */
struct sdr_model_times {
	double mean_s, p50_s, p99_s, p999_s;
};

/* All of the above at once.  derived may be NULL. */
int sdr_model_predict(const struct sdr_model_point *p, struct sdr_model_times *times,
		      struct sdr_model_derived *derived, struct sdr_model_error *err);

/* ---- sampling -------------------------------------------------------------------------------- */

/*
 * Draws transfers: the lost packets or chunks that decide, each by itself, and not the inverse of
 * the law, so that one checks the other.  Time a sample: for selective repeat the logarithm of the
 * number of losses, for codes that number up to about a thousand; beyond, that of the failures, up
 * to about ten thousand.  Sample i of a seed is the same number in whatever thread and in whatever
 * order, so threads may share the work: first is the index of t_s[0], n counts.
 */
int sdr_model_sample(const struct sdr_model_point *p, uint64_t seed, uint64_t first, size_t n,
		     double *t_s, struct sdr_model_error *err);
/*
 * Mean and quantiles (smallest value that the share q of all does not exceed) of n > 0 times, which
 * it sorts.
 */
void sdr_model_summary(double *t_s, size_t n, struct sdr_model_times *times);

/* ---- collectives ----------------------------------------------------------------------------- */

enum sdr_model_collective {
	SDR_MODEL_RING_ALLREDUCE, /* 2 N - 2 rounds of buffer / N to the next node (appendix C) */
	SDR_MODEL_REDUCE_SCATTER, /* the first N - 1 of them */
	SDR_MODEL_ALLGATHER,	  /* the last N - 1 */
	SDR_MODEL_TREE_ALLREDUCE, /* binomial tree to node 0 and back, whole buffers */
	SDR_MODEL_COLLECTIVES
};

struct sdr_model_coll_attr {
	enum sdr_model_collective kind;
	uint32_t nodes; /* 2..1024 */
	/* of each node, >= 1; a ring step carries buffer / nodes bytes, rounded up */
	uint64_t buffer_bytes;
	/*
	 * Scheme and link of the steps (msg_bytes is not looked at): nlinks 1: all alike; nodes *
	 * nodes: from node i to node j is links[i * nodes + j].  Links that the collective does not
	 * use may be anything.
	 */
	const struct sdr_model_point *links;
	uint32_t nlinks;
	double compute_s; /* of a step, between the arrival of its data and its use, 0..1e30 */
};

struct sdr_model_coll;

int sdr_model_coll_create(const struct sdr_model_coll_attr *attr, struct sdr_model_coll **coll,
			  struct sdr_model_error *err);
void sdr_model_coll_destroy(struct sdr_model_coll *coll); /* NULL is allowed */
/* As sdr_model_sample: the times at which the last node is done. */
void sdr_model_coll_sample(const struct sdr_model_coll *coll, uint64_t seed, uint64_t first,
			   size_t n, double *t_s);
/*
 * Below every mean: the longest path with its mean step times (a ring: rounds * (compute + mean
 * step)).
 */
double sdr_model_coll_bound(const struct sdr_model_coll *coll);
/*
 * The same with ideal steps (data / bandwidth + RTT), and the mean time of the slowest link's step,
 * without compute_s; both s.
 */
double sdr_model_coll_ideal(const struct sdr_model_coll *coll);
double sdr_model_coll_step(const struct sdr_model_coll *coll);
uint32_t sdr_model_coll_rounds(const struct sdr_model_coll *coll);
/* "ring", "reduce_scatter", "allgather", "tree"; NULL. */
const char *sdr_model_coll_name(enum sdr_model_collective kind);

/* ---- advice ---------------------------------------------------------------------------------- */

/* What a scheme would do on a link. */
struct sdr_model_candidate {
	struct sdr_model_point point; /* with its (k, m) */
	struct sdr_model_times times;
	struct sdr_model_derived derived;
	double overhead; /* bytes sent beyond the data, per data byte, expected, repairs included */
	double cost_s;	 /* what the objective looks at */
	char why[192];	 /* a sentence: what decides for or against it here */
};

#define SDR_MODEL_CANDIDATES 8u

/*
 * Compares the schemes on the link and message of *link (its scheme, k, m, flags do not matter;
 * objective and max_overhead do): each with the best parameters it can have within max_overhead,
 * best first.  out: room for SDR_MODEL_CANDIDATES; *n is how many there are.  Milliseconds.
 */
int sdr_model_advise(const struct sdr_model_point *link, struct sdr_model_candidate *out,
		     uint32_t *n, struct sdr_model_error *err);

#ifdef __cplusplus
}
#endif

#endif /* SDR_MODEL_H */
