/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the objects of sdr_wan share that are not the emulated network itself (wan_net.h, which has
 * neither clock nor devices).
 *
 * Three processes: the one that the user started, which waits and passes signals on; the first one
 * of a process namespace of its own, which makes the hosts, runs the commands and ends everything
 * (wan_run.c); and the emulator (wan_loop.c), which reads and writes the devices of all hosts.
 * When the first or the second dies the kernel ends the rest, and the namespaces are gone.
 */
#ifndef SDR_TOOLS_WAN_H
#define SDR_TOOLS_WAN_H

#include <sys/types.h>

#include "wan_net.h"

#define WAN_COMMANDS_MAX 64u
#define WAN_CHANGES_MAX	 256u
#define WAN_SKIP	 77 /* exit status: this machine allows no namespaces, or no TUN devices */
#define WAN_DEVICE	 "wan" /* and the number of the interface */

/* A change of settings, at the start or later. */
struct wan_change {
	uint64_t at_ns;
	int16_t group, path; /* -1: all */
	const char *text;    /* "rate=1gbit,queue=1bdp" */
};

struct wan_command {
	int host;	  /* -1: in none, beside the hosts */
	bool server;	  /* ended when the others have ended */
	const char *text; /* for a shell; NULL: argv */
	char **argv;
	pid_t pid;
	int status;
};

/* The emulator's process, beside the network. */
struct wan_machine {
	struct wan_hist late;		  /* how much later than due packets were handed over */
	uint64_t reads, packets, refused; /* super-packets count once; refused by a device */
	uint64_t before, behind;	  /* lost by the hosts' devices */
	bool real_time;
};

struct wan_plan {
	struct wan_names names;
	enum wan_shape shape;
	uint16_t paths;
	uint32_t mtu;
	uint64_t seed, every_ns, limit_ns;
	bool no_offload, quiet, ordinary; /* ordinary: no priority over other processes */
	const char *json, *series;	  /* files; NULL: standard output; none */
	struct wan_change change[WAN_CHANGES_MAX];
	uint32_t nchanges, nstart; /* the first nstart hold from the start */
	struct wan_command command[WAN_COMMANDS_MAX];
	uint32_t ncommands;
	/* gets the result in place of --json; NULL: nobody */
	void (*judge)(void *user, struct wan_net *net, const struct wan_machine *m);
	void *judge_user;
};

struct wan_host {
	char name[WAN_NAME_MAX];
	int ns;			/* its network namespace */
	int tun[WAN_PATHS_MAX]; /* its devices */
	int joins; /* 2: the devices take joined packets of TCP and UDP, 1: of TCP, 0: none */
};

/* ---- wan_opt.c: the command line ---- */
void wan_options(struct wan_plan *plan, int argc, char **argv);
/* "[SCOPE:]SETTINGS", SCOPE being DIRECTION, /PATH or both; -1: why says what is wrong. */
int wan_change_read(struct wan_change *c, const struct wan_plan *plan, const char *text,
		    char why[WAN_WHY]);

/* ---- wan_change.c ---- */
/* Makes the change in the network; -1: why says what is wrong, and nothing has changed. */
int wan_change_apply(struct wan_net *net, const struct wan_plan *plan, uint64_t now,
		     const struct wan_change *c, uint32_t n, char why[WAN_WHY]);

/* ---- wan_host.c: namespaces and devices ---- */
/* A user namespace where this process is no root, network and process namespaces; exits. */
void wan_hosts_enter(void);
/* The hosts, each with its devices; exits. */
void wan_hosts_make(const struct wan_plan *plan, struct wan_host *host);
/* Into the namespace of a host, by its descriptor; -1: errno. */
int wan_host_join(int ns);
/* Packets that a host's devices dropped before the emulator read them, and behind it. */
void wan_host_drops(const struct wan_host *h, uint64_t *before, uint64_t *behind);
/* "10.77.1.2" or "fd77:1::2", of its interface. */
void wan_host_address(const struct wan_names *names, uint16_t host, unsigned int interface,
		      bool six, char out[64]);

/* ---- wan_loop.c: the emulator's process ---- */
/* Until control says "end" or its other end is closed; prints the result.  Exit status. */
int wan_loop(const struct wan_plan *plan, const struct wan_host *host, int control);

/* ---- wan_out.c: results ---- */
void wan_out_json(FILE *f, const struct wan_plan *plan, struct wan_net *net,
		  const struct wan_machine *m, uint64_t now);
/* A row for each direction and each pair of hosts since the last call. */
struct wan_series;
struct wan_series *wan_series_make(FILE *f, const struct wan_net *net, uint64_t every_ns);
void wan_series_look(struct wan_series *s, const struct wan_net *net, uint64_t now);
void wan_series_free(struct wan_series *s);

/* ---- wan_run.c: processes ---- */
int wan_run(struct wan_plan *plan);
/* sdr_wan exec, set, phase: from a command of a run. */
int wan_inside(int argc, char **argv);

/* ---- wan_self.c ---- */
int wan_self_test(int argc, char **argv);

/* ---- wan_ping.c ---- */
int wan_ping(int argc, char **argv);

#endif /* SDR_TOOLS_WAN_H */
