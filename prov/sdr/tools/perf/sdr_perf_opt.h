/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the user wants (sdr_perf_opt.c).  No libfabric: the probe has the same command line.
 */
#ifndef SDR_PERF_OPT_H
#define SDR_PERF_OPT_H

#include <stdbool.h>
#include <stdint.h>

#define PERF_PORT      18516u	    /* UDP, the server's; its data endpoint has the next one */
#define PERF_SLOTS_MAX 256u	    /* operations in flight */
#define PERF_SIZE_MAX  (1ull << 30) /* bytes of a message */
#define PERF_ROOM_MAX  (1ull << 30) /* bytes of a buffer: message size x operations in flight */
#define PERF_ITERS_MAX (1ull << 40)
#define PERF_SAMPLES   (1u << 20) /* round trips of which a latency run keeps the time */
#define PERF_ALL_MIN   2u	  /* bytes, smallest size of --all */
#define PERF_ALL_MAX   (8u << 20) /* bytes, largest */
/* bytes of an endpoint's address: a struct sockaddr_in or _in6 */
#define PERF_NAME_MAX 64u
/* bytes of a setting or an engine's name, final zero included */
#define PERF_TEXT_MAX 32u

enum perf_opname { PERF_WRITE, PERF_SEND, PERF_TAGGED, PERF_READ, PERF_LAT, PERF_OPS };
enum perf_wait { PERF_WAIT_AUTO, PERF_WAIT_POLL, PERF_WAIT_SLEEP, PERF_WAITS };
enum perf_format { PERF_TABLE, PERF_CSV, PERF_JSON };
/* Settings of the provider that a run fixes for both sides. */
enum perf_setting {
	PERF_ENGINE,
	PERF_MTU,
	PERF_CHUNK,
	PERF_CHANNELS,
	PERF_GENERATIONS,
	PERF_IMM,
	PERF_SETTINGS
};

#define PERF_F_BIDIR  1u /* both sides send */
#define PERF_F_VERIFY 2u /* every byte is checked */
/* how long to poll before sleeping: enum perf_wait, in two bits from here on */
#define PERF_F_WAIT 4u
#define PERF_F_ALL  15u

/* What is run; all of it is the client's choice.  Sizes double from the first to the last. */
struct perf_plan {
	uint32_t op; /* enum perf_opname */
	uint32_t flags;
	uint32_t in_flight;
	uint32_t zero;
	uint64_t size_min, size_max; /* bytes */
	uint64_t iters;		     /* of each size; 0: as many as fit into the duration */
	uint64_t duration_ns;	     /* of each size */
};

/* --probe-loss */
#define PROBE_SIZES_MAX	  16u
#define PROBE_PAYLOAD_MIN 64u
#define PROBE_PAYLOAD_MAX 65000u
#define PROBE_PKTS_MAX	  (1u << 26) /* of a size: 8 MiB of map at the server */
#define PROBE_SECONDS_MAX 86400u
#define PROBE_FLOWS_MAX	  16u
#define PROBE_TRIALS_MAX  100000u
#define PROBE_EVERY	  600u	 /* s, from trial to trial */
#define PROBE_EVERY_MAX	  86400u /* s */

struct probe_opt {
	bool on, no_fragment;
	unsigned int sizes;		   /* 0: the default ones */
	uint32_t payload[PROBE_SIZES_MAX]; /* bytes */
	double rate;			   /* bit/s, of IP packets */
	const char *plot;		   /* file; NULL: none */
	unsigned int flows;		   /* source ports */
	unsigned int trials;		   /* 0: one run, which is none of several */
	unsigned int every_s;		   /* from the beginning of a trial to the next */
	const char *append;		   /* file with the trials; NULL: none */
};

/* --sdk */
#define SDK_ROUNDS_MAX 99u

struct sdk_opt {
	bool on;
	bool loopback;	     /* both sides are this process */
	bool plain;	     /* beside the engine's own writes */
	unsigned int rounds; /* of each point, of which the median counts */
	uint64_t rate_bps;   /* 0: as fast as the engine takes it */
	const char *sweep;   /* "WHAT[=LIST]"; NULL: none */
	const char *workers; /* number; NULL: 0 */
};

struct perf_opt {
	const char *host;    /* NULL: server */
	const char *address; /* server: to bind, NULL any */
	const char *domain;  /* NULL any */
	uint16_t port;
	enum perf_format format;
	bool loop, quiet;
	const char *times;		    /* file; NULL: none */
	const char *memory;		    /* of buffers; NULL: host */
	const char *setting[PERF_SETTINGS]; /* given as options; NULL: not */
	struct perf_plan plan;
	struct probe_opt probe;
	struct sdk_opt sdk;
};

extern const char *const perf_op_name[PERF_OPS];

/* Of the command line; ends the process on errors, and after --help. */
void perf_options(struct perf_opt *opt, int argc, char **argv);

#endif /* SDR_PERF_OPT_H */
