/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the tables of consumers share: a row, its verdicts, and an endpoint that talks to itself.
 *
 * A row is one request that a program which is known to run on libfabric makes, as it makes it, and
 * the calls that it makes later with what it was given.  Its verdict says what becomes of both
 * today: nothing (it is granted), or why not.  A reason counts only if it is the reason: without
 * the bits that it is about the same request is granted, with them it is not (test_consumers.c).
 */
#ifndef TEST_CONSUMERS_H
#define TEST_CONSUMERS_H

#include "test_fi_util.h"

/* Reasons, of which a row may have several. */
enum verdict {
	GRANTED = 0,
	/* fi_getinfo says -FI_ENODATA because of: */
	REFUSED_HMEM = 1 << 0,	     /* FI_HMEM: memory of devices */
	REFUSED_COLLECTIVE = 1 << 1, /* FI_COLLECTIVE */
	REFUSED_CORE = 1 << 2,	     /* a utility provider that looks for a core: on purpose */
	REFUSED = (1 << 3) - 1,
	/* it is granted, and the program cannot use the answer because of: */
	ANSWER_MODE = 1 << 8,	  /* a mode that it needs did not come back */
	ANSWER_PROV_KEY = 1 << 9, /* FI_MR_PROV_KEY did not come back */
	/* it is granted, and a later call fails: */
	LATER_ACCESS = 1 << 10, /* an access mask with bits that others ignore */
	LATER_KEY = 1 << 11,	/* a second registration with the key of the first */
};

struct consumer {
	const char *name;
	uint32_t api; /* version that it asks for; the library's own when that is older */
	void (*ask)(struct fi_info *hints);
	int (*answer)(const struct fi_info *info); /* its own look at the answer: 0, ANSWER_... */
	int (*later)(struct fi_info *info);	   /* what it then does: 0, LATER_... */
	int verdict;
	uint64_t flags; /* of fi_getinfo */
};

/*
 * What a driver with a device makes of it: the reasons that are none any more, and what a program
 * does then with a device's memory.  One of test_consumers_no_device.c and test_consumers_device.c.
 */
extern const int consumers_lifted;
void consumer_device(struct fi_info *info);

/* The tables, each with its end (no name). */
extern const struct consumer consumers_mpi[];
extern const struct consumer consumers_shmem[];
extern const struct consumer consumers_pgas[];
extern const struct consumer consumers_ccl[];
extern const struct consumer consumers_layers[];

#define MR_BASIC3 (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define ORDER_ATOMIC \
	(FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW)

/* fi_getinfo for one row's request; NULL where it is refused. */
struct fi_info *consumer_ask(uint32_t api, uint64_t flags, const struct fi_info *hints);

/* ---- an endpoint that talks to itself -------------------------------------------------------- */

struct world {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_cntr *cntr; /* with cntr_bind */
	struct fid_ep *ep;
	fi_addr_t self;
};

struct world_opts {
	enum fi_av_type av_type;
	enum fi_cq_format format; /* FI_CQ_FORMAT_UNSPEC: tagged */
	enum fi_wait_obj wait_obj;
	uint64_t cq_bind;   /* beside FI_TRANSMIT | FI_RECV */
	uint64_t cntr_bind; /* a counter, bound for these */
	bool cntr_late;	    /* and only when the endpoint is enabled */
	size_t cq_size;
	bool no_source; /* no address of its own in the vector */
};

void world_open(struct world *w, struct fi_info *info, const struct world_opts *o);
void world_close(struct world *w);

/* A call that posts, and that may say -FI_EAGAIN first, as to any program. */
#define WORLD_POST(w, call)                                                             \
	do {                                                                            \
		uint64_t end_ = test_now_s() + TEST_GUARD_S;                            \
		ssize_t ret_;                                                           \
                                                                                        \
		while ((ret_ = (call)) == -FI_EAGAIN && test_now_s() <= end_)           \
			fi_cq_read((w)->cq, NULL, 0);                                   \
		if (ret_)                                                               \
			fail_msg("%s: %zd (%s)", #call, ret_, fi_strerror((int)-ret_)); \
	} while (0)
/* Reads n completions, no error among them; `last' (zeroed) gets that of a receive, if any. */
void world_done(struct world *w, int n, struct fi_cq_tagged_entry *last);
/* The error completion that comes next, which is to be `err'. */
void world_error(struct world *w, int err, const void *context);
/* Waits until the counter is at n, with no error counted. */
void world_counted(struct world *w, struct fid_cntr *cntr, uint64_t n);

/*
 * Registers memory; what fi_mr_regattr or fi_mr_reg said.  An endpoint's region is bound and
 * enabled where the domain wants it.
 */
int world_mr(struct world *w, const void *buf, size_t len, uint64_t access, uint64_t key,
	     struct fid_mr **mr);
/* What a peer has to name to reach the byte at buf. */
uint64_t world_raddr(const struct world *w, const void *base, const void *buf);

/* A message, a tagged message, a write to itself, with its bytes compared. */
void world_send(struct world *w, size_t len);
void world_tagged(struct world *w, size_t len);
void world_rma(struct world *w, uint64_t key, uint64_t flags);
/* The types and operations that a program needs valid, and one fetch-add that adds. */
void world_atomics(struct world *w, const enum fi_datatype *types, size_t ntypes,
		   const enum fi_op *ops, size_t nops);

#endif /* TEST_CONSUMERS_H */
