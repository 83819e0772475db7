/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The provider's settings: one table of variables, from which libfabric's parameter list, the man
 * page's section and the parser are made.  No libfabric type here: the table can be printed without
 * libfabric.
 */
#ifndef SDR_ENV_H
#define SDR_ENV_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include "rel/sdr_rel_cfg.h"
#include "uc/sdr_uc_engine.h"

/* bytes of a text value (FI_SDR_FAULT, FI_SDR_STATS, FI_SDR_CACHE), final zero included */
#define SDR_ENV_TEXT 256u
#define SDR_ENV_ERR  512u /* bytes of a reason */
#define SDR_ENV_HELP 512u /* bytes that hold every help text */

struct sdr_port_range {
	uint16_t lo, hi; /* both in it; 0, 0: none */
};

/* Who shares the ceiling of FI_SDR_RATE_MAX. */
enum sdr_share {
	SDR_SHARE_PROCESS = 0, /* all endpoints of the process */
	SDR_SHARE_ENDPOINT,    /* nobody */
	SDR_SHARE_HOST,	       /* all processes of this user on this host */
};

struct sdr_rate_max {
	uint64_t bps;  /* wire bits per second; 0: no ceiling */
	uint8_t share; /* enum sdr_share */
};

struct sdr_env {
	/* what the reliable endpoint takes; depths and inject_max are filled per endpoint */
	struct sdr_rel_cfg rel;
	struct sdr_rate_max rate_max;
	bool no_shm;		      /* peers of this host through the socket, too */
	uint8_t workers;	      /* threads that place packets, 0..SDR_WORKERS_MAX */
	uint8_t dscp;		      /* where the application names no traffic class */
	char engine[SDR_UC_NAME_MAX]; /* of the registry, or "auto": the first that serves */
	char late[8];		      /* of sdr_verbs_attr: "auto", "root", "mw", "mr" */
	uint32_t rx_depth, tx_depth;  /* likewise; 0: the engine's defaults */
	uint32_t ec_threads;	      /* workers that encode; 0 none */
	char iface[SDR_ENV_TEXT];     /* sdr_iface_rules_parse takes it; "": all interfaces */
	/* family 0: none */
	struct sockaddr_storage bind, advertise; /* bind: port 0; advertise: 0 as bound */
	uint16_t port;				 /* of the first endpoint; 0: any */
	struct sdr_port_range ports;		 /* of all sockets */
	char fault[SDR_ENV_TEXT];		 /* "": none */
	char stats[SDR_ENV_TEXT];		 /* "": none, "-": standard output */
	char cache[SDR_ENV_TEXT];		 /* file of known paths; "", "-": none */
};

struct sdr_env_kind;

struct sdr_env_name {
	const char *text; /* NULL: the end */
	unsigned int value;
};

struct sdr_env_var {
	const char *name; /* without FI_SDR_, lower case: what fi_param_define wants */
	const struct sdr_env_kind *kind;
	const char *def;   /* default, as the user would write it; "" none */
	const char *unit;  /* NULL none */
	const char *range; /* allowed values, for people; NULL: the kind's names */
	const struct sdr_env_name *names;
	double min, max;	/* of numbers */
	bool zero;		/* 0 is allowed below min */
	bool (*rule)(double x); /* what else must hold of a number; NULL nothing */
	bool peers;		/* peers may have their own (peer_setting_set) */
	const char *help;	/* a sentence or two */
	size_t off, width;	/* of the value in struct sdr_env, bytes */
};

/* Ends with a NULL name. */
extern const struct sdr_env_var sdr_env_vars[];

/* v->range and v->help, with what other tables say; buf is used where that is needed. */
const char *sdr_env_range(const struct sdr_env_var *v, char *buf, size_t len);
const char *sdr_env_help(const struct sdr_env_var *v, char *buf, size_t len);
/* The engine that was chosen; NULL: "auto". */
const struct sdr_uc_engine *sdr_env_engine(const struct sdr_env *env);

void sdr_env_defaults(struct sdr_env *env);
/*
 * Sets one variable from a text; name with or without FI_SDR_, any case.  0, -ENOENT (no such
 * variable) or -EINVAL (value), with the reason in err.
 */
int sdr_env_set(struct sdr_env *env, const char *name, const char *value, char *err,
		size_t err_len);
/* 1: a peer may have its own value of this one; 0: it may not; -ENOENT. */
int sdr_env_of_peers(const char *name);
/* The value in force, as text.  0, -ENOENT or -ENOSPC. */
int sdr_env_get(const struct sdr_env *env, const char *name, char *buf, size_t len);
/* What no single variable shows.  0 or -EINVAL with the reason. */
int sdr_env_check(const struct sdr_env *env, char *err, size_t err_len);
/* The man page's section, markdown. */
void sdr_env_print_man(FILE *f);

#endif /* SDR_ENV_H */
