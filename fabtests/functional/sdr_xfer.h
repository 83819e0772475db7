/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the two files of sdr_xfer share: the run's state, the control messages, and waiting.
 */
#ifndef SDR_XFER_H
#define SDR_XFER_H

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define XFER_API	   FI_VERSION(1, 17)
#define XFER_MAGIC	   0x53445258u /* first word of every control message */
#define XFER_MAX_SIZES	   64	       /* entries of -S */
#define XFER_MAX_ITERS	   100000      /* messages of one entry of -S, either way */
#define XFER_MAX_NAME	   256	       /* bytes of an endpoint address */
#define XFER_CTL_RECVS	   8	       /* control receives kept posted */
#define PATTERN_GUARD	   256	       /* guard bytes before and after a buffer */
#define PATTERN_GUARD_BYTE 0xa5
#define XFER_POLL_MS	   50	/* longest sleep in fi_cq_sread */
#define XFER_BYE_MS	   3000 /* grace for the last control message */
#define XFER_MR_KEY	   0x5d
#define XFER_TAG_CTL	   (1ULL << 40)
#define XFER_TAG_DATA	   (1ULL << 41) /* plus the message number */

enum { EXIT_OK = 0, EXIT_BAD = 1, EXIT_USAGE = 2, EXIT_TIME = 3 };
enum xfer_mode { MODE_TAGGED, MODE_MSG, MODE_WRITE };
extern const char *const xfer_mode_name[];

enum ctl_type { CTL_HELLO = 1, CTL_READY, CTL_DONE, CTL_VERDICT, CTL_BYE };

/* Both sides are the same program on machines of the same byte order. */
struct ctl_msg {
	uint32_t magic;
	uint32_t type;
	uint64_t seq; /* message this is about */
	union {
		struct {
			uint64_t seed;
			uint32_t mode, nsizes, iters, warm, oneway, namelen;
			uint8_t name[XFER_MAX_NAME];
			uint64_t size[XFER_MAX_SIZES], last[XFER_MAX_SIZES];
		} hello;
		struct {
			uint64_t addr, key;
		} ready;
		struct {
			uint64_t ns;
		} done;
		struct {
			uint64_t bad, offset;
		} verdict; /* bad: wrong bytes */
	} u;
};

/* What a posted operation's context points to; the fi_context2 comes first. */
struct op {
	struct fi_context2 ctx;
	bool done;
	int err; /* positive FI_E* of an error completion */
	size_t len;
	char text[512]; /* the provider's text for it */
};

extern struct xfer {
	/* what the user said */
	const char *prov, *node, *port, *bind_addr;
	enum xfer_mode mode;
	bool mode_given, client, json, csv, oneway, busy, quiet;
	uint64_t size[XFER_MAX_SIZES],
		last[XFER_MAX_SIZES]; /* every size from the one to the other */
	unsigned int nsizes, iters, warm, timeout_s;
	uint64_t seed;
	/* libfabric objects */
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr_ctl, *mr_tx, *mr_rx;
	fi_addr_t peer;
	bool sread;
	/* buffers */
	struct ctl_msg *ctl; /* XFER_CTL_RECVS to receive into, one to send from */
	struct op ctl_op[XFER_CTL_RECVS];
	unsigned int ctl_next; /* receives complete in the order posted */
	uint8_t *tx, *rx;      /* each with PATTERN_GUARD bytes on both sides */
	uint64_t max_size;
	/* progress */
	uint64_t deadline_ns;
	char doing[96]; /* for the message when time is up */
} x;

uint64_t now_ns(void);
void die(int status, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* Ends the program when its time is up. */
void deadline_check(void);

/* Takes what completions there are; sleeps at most `ms` for the first one. */
void cq_progress(int ms);
/* Until op is done; an error completion ends the program. */
void op_wait(struct op *op);
void *mr_desc(struct fid_mr *mr);

/* The control message to be sent next is prepared in x.ctl[XFER_CTL_RECVS]. */
void ctl_send_start(struct op *op, enum ctl_type type, uint64_t seq);
void ctl_send(enum ctl_type type, uint64_t seq);
struct ctl_msg ctl_wait(enum ctl_type type, uint64_t seq);

/* Timed messages of an entry of -S, either way; 0: too many. */
uint64_t entry_messages(unsigned int i);

void fabric_open(void);
void ctl_open(void);
void hello_send(void);
void hello_wait(void);
void buffers_open(void);
void fabric_close(void);

/* Runs a posting expression until the provider has room for it. */
#define POST(what, expr)                                                                          \
	do {                                                                                      \
		ssize_t ret_;                                                                     \
		while ((ret_ = (expr)) == -FI_EAGAIN) {                                           \
			deadline_check();                                                         \
			cq_progress(0);                                                           \
		}                                                                                 \
		if (ret_)                                                                         \
			die(EXIT_BAD, "%s while %s: %s", what, x.doing, fi_strerror((int)-ret_)); \
	} while (0)

#define CHECK(call, ...)                                                \
	do {                                                            \
		int ret_ = (call);                                      \
		if (ret_)                                               \
			die(EXIT_BAD, __VA_ARGS__, fi_strerror(-ret_)); \
	} while (0)

#endif /* SDR_XFER_H */
