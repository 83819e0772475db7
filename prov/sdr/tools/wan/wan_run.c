/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Processes of a run: see wan.h.
 *
 * The first process of the namespace starts the emulator, then servers, then the other commands,
 * and waits for these.  A signal, or the limit of time, ends the commands: SIGTERM, and SIGKILL two
 * seconds later; the result is printed all the same.  Then servers are ended the same way, the
 * emulator says what it counted, and with this process the kernel ends whatever is left.
 *
 * Commands find the hosts by their environment: SDR_WAN_A1 and so on are addresses, SDR_WAN_NS_A1
 * namespaces, SDR_WAN_CONTROL takes lines for the emulator.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/tool.h"
#include "wan.h"

#define WAN_GRACE_MS 2000u /* between SIGTERM and SIGKILL */
#define WAN_TICK_MS  50u   /* between looks, where no signal comes */

static int wan_signal; /* that ended the run, 0: none */

static void wan_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGALRM);
	sigaddset(set, SIGCHLD);
}

/* From here on they wait until they are asked for: none comes between two looks. */
static void wan_catch(void)
{
	sigset_t set;

	wan_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void wan_uncatch(void)
{
	sigset_t set;

	wan_signals(&set);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Waits for a signal: a child has ended (0), or one that ends the run; -1: none within ms. */
static int wan_next_signal(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
	sigset_t set;
	int sig;

	wan_signals(&set);
	sig = sigtimedwait(&set, NULL, &ts);
	if (sig < 0)
		return -1;
	return sig == SIGCHLD ? 0 : sig;
}

/* ---- the environment of commands ----------------------------------------------------------- */

static void wan_env(const char *kind, const char *name, const char *value)
{
	char key[64];

	snprintf(key, sizeof(key), "SDR_WAN_%s%s", kind, name);
	for (char *p = key; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	setenv(key, value, 1);
}

/* Of its interface `interface`: further ones have their number behind the name, from 2. */
static void wan_env_address(const struct wan_plan *plan, const char *name, uint16_t i,
			    unsigned int interface)
{
	char key[WAN_NAME_MAX + 16], text[64];

	snprintf(key, sizeof(key), "%s", name);
	if (interface)
		snprintf(key, sizeof(key), "%s_%u", name, interface + 1);
	wan_host_address(&plan->names, i, interface, false, text);
	wan_env("", key, text);
	wan_host_address(&plan->names, i, interface, true, text);
	wan_env("6_", key, text);
}

static void wan_env_host(const struct wan_plan *plan, const struct wan_host *h, uint16_t i,
			 const char *self)
{
	char text[64], first[2] = { h->name[0], 0 };
	bool one = strcmp(h->name + 1, "1") == 0;

	for (unsigned int k = 0; k < wan_ifs(&plan->names); k++) {
		wan_env_address(plan, h->name, i, k);
		if (one)
			wan_env_address(plan, first, i, k);
	}
	snprintf(text, sizeof(text), "/proc/%.16s/fd/%d", self, h->ns);
	wan_env("NS_", h->name, text);
	if (one)
		wan_env("NS_", first, text);
}

static void wan_environment(const struct wan_plan *plan, const struct wan_host *host, int control)
{
	uint16_t n = (uint16_t)(plan->names.n[0] + plan->names.n[1]);
	char self[24] = { 0 }, text[64];

	if (readlink("/proc/self", self, sizeof(self) - 1) < 1)
		tool_die("/proc is not there; mount it");
	for (uint16_t i = 0; i < n; i++)
		wan_env_host(plan, &host[i], i, self);
	snprintf(text, sizeof(text), "/proc/%.16s/fd/%d", self, control);
	setenv("SDR_WAN_CONTROL", text, 1);
}

/* ---- commands ------------------------------------------------------------------------------ */

static void wan_start(struct wan_command *c, const struct wan_host *host)
{
	int null;

	fflush(NULL);
	c->pid = fork();
	if (c->pid < 0)
		tool_die("fork: %s", strerror(errno));
	if (c->pid)
		return;
	if (c->text) /* what its shell starts is ended with it */
		setpgid(0, 0);
	wan_uncatch();
	if (c->host >= 0 && wan_host_join(host[c->host].ns)) {
		tool_warn("into host %s: %s", host[c->host].name, strerror(errno));
		_exit(TOOL_FAILED);
	}
	if (!c->text) {
		execvp(c->argv[0], c->argv);
		tool_warn("%.200s: %s", c->argv[0], strerror(errno));
		_exit(127);
	}
	null = open("/dev/null", O_RDONLY);
	if (null > 0) {
		dup2(null, 0);
		close(null);
	}
	execl("/bin/sh", "sh", "-c", c->text, (char *)NULL);
	tool_warn("/bin/sh: %s", strerror(errno));
	_exit(127);
}

/* Commands of that kind which have not ended. */
static uint32_t wan_alive(const struct wan_plan *plan, bool server)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->ncommands; i++)
		n += plan->command[i].pid && plan->command[i].server == server;
	return n;
}

static void wan_ended(struct wan_plan *plan, pid_t pid, int status)
{
	for (uint32_t i = 0; i < plan->ncommands; i++) {
		struct wan_command *c = &plan->command[i];

		if (c->pid != pid)
			continue;
		c->pid = 0;
		c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

static void wan_kill(const struct wan_plan *plan, bool server, int sig)
{
	for (uint32_t i = 0; i < plan->ncommands; i++) {
		const struct wan_command *c = &plan->command[i];

		if (!c->pid || c->server != server)
			continue;
		if (!c->text || kill(-c->pid, sig))
			kill(c->pid, sig);
	}
}

/* Waits for them, at most ms (0: until a signal ends the run); -1: the emulator has ended. */
static int wan_await(struct wan_plan *plan, bool server, pid_t emulator, unsigned int ms)
{
	int status, sig;
	pid_t pid;

	for (unsigned int waited = 0; wan_alive(plan, server); waited += WAN_TICK_MS) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid == emulator)
				return -1;
			wan_ended(plan, pid, status);
		}
		if (!wan_alive(plan, server) || (ms && waited >= ms))
			return 0;
		sig = wan_next_signal(WAN_TICK_MS);
		if (sig > 0 && !wan_signal)
			wan_signal = sig;
		if (!ms && wan_signal)
			return 0;
	}
	return 0;
}

static void wan_end(struct wan_plan *plan, bool server, pid_t emulator)
{
	wan_kill(plan, server, SIGTERM);
	wan_await(plan, server, emulator, WAN_GRACE_MS);
	wan_kill(plan, server, SIGKILL);
	wan_await(plan, server, emulator, WAN_GRACE_MS);
}

static void wan_limit(const struct wan_plan *plan)
{
	struct itimerspec its = { .it_value = { .tv_sec = (time_t)(plan->limit_ns / WAN_NS),
						.tv_nsec = (long)(plan->limit_ns % WAN_NS) } };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	timer_t timer;

	if (plan->limit_ns &&
	    (timer_create(CLOCK_MONOTONIC, &ev, &timer) || timer_settime(timer, 0, &its, NULL)))
		tool_die("--limit: %s", strerror(errno));
}

static int wan_verdict(const struct wan_plan *plan)
{
	if (wan_signal)
		return wan_signal == SIGALRM ? TOOL_FAILED : 128 + wan_signal;
	for (uint32_t i = 0; i < plan->ncommands; i++) {
		if (!plan->command[i].server && plan->command[i].status)
			return plan->command[i].status;
	}
	return TOOL_OK;
}

static int wan_commands(struct wan_plan *plan, const struct wan_host *host, pid_t emulator)
{
	for (unsigned int server = 2; server--;) {
		for (uint32_t i = 0; i < plan->ncommands; i++) {
			if (plan->command[i].server == server)
				wan_start(&plan->command[i], host);
		}
	}
	wan_limit(plan);
	if (wan_await(plan, false, emulator, 0))
		return -1;
	if (wan_signal == SIGALRM)
		tool_warn("the commands were ended by --limit");
	if (wan_alive(plan, false))
		wan_end(plan, false, emulator);
	wan_end(plan, true, emulator);
	return 0;
}

/* ---- the first process --------------------------------------------------------------------- */

static int wan_first_process(struct wan_plan *plan)
{
	static struct wan_host host[WAN_SIDES * WAN_HOSTS_MAX];
	int control[2], status = 0;
	pid_t emulator;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	wan_catch();
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		(void)!mount("proc", "/proc", "proc", 0, NULL);
	wan_hosts_make(plan, host);
	if (pipe(control))
		tool_die("pipe: %s", strerror(errno));
	fflush(NULL);
	emulator = fork();
	if (emulator < 0)
		tool_die("fork: %s", strerror(errno));
	if (!emulator) {
		close(control[1]);
		if (plan->quiet && !plan->json)
			plan->json = "/dev/null";
		exit(wan_loop(plan, host, control[0]));
	}
	fcntl(control[0], F_SETFD, FD_CLOEXEC);
	fcntl(control[1], F_SETFD, FD_CLOEXEC);
	wan_environment(plan, host, control[1]);
	if (wan_commands(plan, host, emulator) == 0) {
		(void)!write(control[1], "end\n", 4);
		while (waitpid(emulator, &status, 0) < 0 && errno == EINTR)
			;
	} else {
		tool_warn("the emulator has ended, and the commands with it");
		status = TOOL_FAILED << 8;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : TOOL_FAILED;
	return wan_verdict(plan);
}

int wan_run(struct wan_plan *plan)
{
	int status, sig;
	pid_t pid;

	wan_hosts_enter();
	fflush(NULL);
	wan_catch();
	pid = fork();
	if (pid < 0)
		tool_die("fork: %s", strerror(errno));
	if (!pid)
		exit(wan_first_process(plan));
	while (waitpid(pid, &status, WNOHANG) == 0) {
		sig = wan_next_signal(1000);
		if (sig > 0)
			kill(pid, sig);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- from a command of a run --------------------------------------------------------------- */

static int wan_exec(int argc, char **argv)
{
	char key[64];
	const char *file;
	int ns;

	if (argc < 4)
		tool_bad("exec: give a host and a command, as in sdr_wan exec a1 ls");
	snprintf(key, sizeof(key), "SDR_WAN_NS_%.32s", argv[2]);
	for (char *p = key; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	file = getenv(key);
	if (!file)
		tool_bad(
			"exec: there is no host \"%.32s\" here; sdr_wan exec is for commands of a run "
			"(sdr_wan [OPTION]... -- COMMAND)",
			argv[2]);
	ns = open(file, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || wan_host_join(ns))
		tool_die("exec: host %.32s: %s; has the run ended?", argv[2], strerror(errno));
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[3], argv + 3);
	tool_warn("%.200s: %s", argv[3], strerror(errno));
	return 127;
}

int wan_inside(int argc, char **argv)
{
	const char *file = getenv("SDR_WAN_CONTROL");
	char line[1024];
	int fd, n;

	if (strcmp(argv[1], "exec") == 0)
		return wan_exec(argc, argv);
	if (argc != 3 || strchr(argv[2], '\n'))
		tool_bad("%s: give one text, as in sdr_wan %s %s", argv[1], argv[1],
			 strcmp(argv[1], "set") == 0 ? "ab:rate=500mbit" : "later");
	if (!file)
		tool_bad("%s: it is for commands of a run (sdr_wan [OPTION]... -- COMMAND)",
			 argv[1]);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	n = snprintf(line, sizeof(line), "%s %.900s\n", argv[1], argv[2]);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		tool_die("%s: %s; has the run ended?", argv[1], strerror(errno));
	close(fd);
	return TOOL_OK;
}
