/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_perf: bandwidth and latency of the sdr provider between two processes.
 *
 * A client connects, runs and ends.  A server serves one client and ends with its outcome; with
 * --loop a child process serves each client, so that whatever one of them leaves behind is gone
 * with it, and the server goes on unless it cannot even listen.  No libfabric call is made before
 * that fork, and none at all with --probe-loss.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/probe/probe.h"
#include "sdr_perf_side.h"

char perf_doing[96] = "starting";
bool perf_serving;
static bool perf_looping;

uint64_t perf_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * PERF_SEC + (uint64_t)t.tv_nsec;
}

static void perf_say(const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "%ssdr_perf: ", isatty(STDERR_FILENO) ? "\r\033[K" : "");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void perf_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	perf_say(fmt, ap);
	va_end(ap);
	exit(perf_looping && perf_serving ? PERF_EXIT_CLIENT : PERF_EXIT_FAILED);
}

void perf_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	perf_say(fmt, ap);
	va_end(ap);
	fprintf(stderr, "sdr_perf --help lists the options\n");
	exit(PERF_EXIT_USAGE);
}

int perf_why(char *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, PERF_WHY, fmt, ap);
	va_end(ap);
	return -1;
}

void perf_clean(char *text, size_t size)
{
	size_t i;

	text[size - 1] = 0;
	for (i = 0; text[i]; i++) {
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	}
}

static int client(struct perf_opt *opt)
{
	static struct perf_side side;

	if (opt->probe.on)
		return probe_client(opt);
	perf_conn_client(&side, opt);
	perf_run(&side, opt);
	perf_side_close(&side);
	return PERF_EXIT_OK;
}

static int serve(struct perf_opt *opt)
{
	static struct perf_side side;

	if (opt->probe.on)
		return probe_server(opt);
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
	if (opt.host)
		return client(&opt);
	return opt.loop ? serve_all(&opt) : serve(&opt);
}
