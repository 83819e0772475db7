/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_perf: bandwidth and latency of the sdr provider between two processes.
 *
 * A client connects, runs and ends.  A server serves one client and ends with its outcome; with
 * --loop a child process serves each client, so that whatever one of them leaves behind is gone
 * with it, and the server goes on unless it cannot even listen.  No libfabric call is made before
 * that fork, and none at all with --probe-loss or --sdk.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/probe/probe.h"
#include "sdk.h"
#include "sdr_perf_side.h"

static int client(struct perf_opt *opt)
{
	static struct perf_side side;
	char why[PERF_WHY];

	if (opt->probe.on)
		return opt->probe.trials ? probe_trials(opt) : probe_client(opt);
	if (opt->sdk.on)
		return sdk_client(opt);
	if (perf_mem_open(&side.mem, opt->memory, why))
		perf_die("%s", why);
	perf_times_open(opt->times);
	perf_conn_client(&side, opt);
	perf_run(&side, opt);
	perf_side_close(&side);
	return PERF_EXIT_OK;
}

static int serve(struct perf_opt *opt)
{
	static struct perf_side side;
	char why[PERF_WHY];

	if (opt->probe.on)
		return probe_server(opt);
	if (opt->sdk.on)
		return sdk_server(opt);
	if (perf_mem_open(&side.mem, opt->memory, why))
		perf_die("%s", why);
	perf_conn_server(&side, opt);
	perf_run(&side, opt);
	perf_side_close(&side);
	return PERF_EXIT_OK;
}

static int serve_all(struct perf_opt *opt)
{
	pid_t parent = getpid(), child;
	int status;

	for (;;) {
		fflush(NULL);
		child = fork();
		if (child < 0)
			perf_die("fork: %s", strerror(errno));
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(PERF_EXIT_FAILED);
			perf_looping = true;
			exit(serve(opt));
		}
		if (waitpid(child, &status, 0) != child)
			perf_die("waitpid: %s", strerror(errno));
		if (WIFEXITED(status) && WEXITSTATUS(status) == PERF_EXIT_FAILED)
			return PERF_EXIT_FAILED;
		if (WIFSIGNALED(status))
			fprintf(stderr,
				"sdr_perf: the process of a client was ended by signal %d\n",
				WTERMSIG(status));
	}
}

int main(int argc, char **argv)
{
	static struct perf_opt opt;

	perf_options(&opt, argc, argv);
	signal(SIGPIPE, SIG_IGN);
	if (opt.host || opt.sdk.loopback)
		return client(&opt);
	return opt.loop ? serve_all(&opt) : serve(&opt);
}
