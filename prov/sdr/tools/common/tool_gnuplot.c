/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A picture by gnuplot.
 *
 * gnuplot reads its program from a pipe and writes to a file that this process has opened beside
 * the one that was given, so that no name has to be quoted for it.  That file takes the place
 * of the other when gnuplot has ended well and is removed otherwise: a picture is whole or as it
 * was before.  One at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tool.h"

extern char **environ;

/* Opens "FILE.part<pid>", whose name the caller frees; -1 with errno. */
static int part_open(const char *file, char **part)
{
	int fd, err;

	if (asprintf(part, "%s.part%ld", file, (long)getpid()) < 0) {
		*part = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = open(*part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		err = errno;
		free(*part);
		*part = NULL;
		errno = err;
	}
	return fd;
}

int tool_gnuplot_file(const char *file)
{
	struct stat st;
	char *part;
	int fd;

	if (stat(file, &st) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	fd = part_open(file, &part);
	if (fd < 0)
		return -errno;
	close(fd);
	unlink(part);
	free(part);
	return 0;
}

/* Starts gnuplot; its program is what is written to *in.  0 or an errno value. */
static int gnuplot_start(int out, pid_t *pid, FILE **in)
{
	char *argv[] = { (char *)"gnuplot", (char *)"-", NULL };
	posix_spawn_file_actions_t actions;
	int fd[2], err;

	if (pipe2(fd, O_CLOEXEC))
		return errno;
	*in = fdopen(fd[1], "w");
	if (!*in) {
		err = errno;
		close(fd[1]);
		goto out;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	err = posix_spawnp(pid, "gnuplot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		fclose(*in);
out:
	close(fd[0]);
	return err;
}

int tool_gnuplot(const char *file, void (*program)(FILE *f, const void *ctx), const void *ctx,
		 char why[TOOL_WHY])
{
	void (*pipe_signal)(int);
	int out, err, status, ret = -1;
	char *part;
	FILE *in = NULL;
	pid_t pid = -1;

	out = part_open(file, &part);
	if (out < 0) {
		snprintf(why, TOOL_WHY, "%.300s cannot be written: %s; name another file", file,
			 strerror(errno));
		return -1;
	}
	err = gnuplot_start(out, &pid, &in);
	if (err == ENOENT) {
		snprintf(
			why, TOOL_WHY,
			"gnuplot is not installed; install the package gnuplot-nox (Debian, Ubuntu) or gnuplot");
		goto out;
	}
	if (err) {
		snprintf(why, TOOL_WHY, "gnuplot could not be started: %s", strerror(err));
		goto out;
	}
	pipe_signal = signal(SIGPIPE, SIG_IGN); /* its exit status tells why it no longer reads */
	program(in, ctx);
	fclose(in);
	signal(SIGPIPE, pipe_signal);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		snprintf(why, TOOL_WHY, "gnuplot ended by signal %d", WTERMSIG(status));
		goto out;
	}
	if (WEXITSTATUS(status)) {
		snprintf(why, TOOL_WHY, "gnuplot failed with exit status %d; what it says is above",
			 WEXITSTATUS(status));
		goto out;
	}
	if (rename(part, file)) {
		snprintf(why, TOOL_WHY, "%.300s cannot be written: %s; name another file", file,
			 strerror(errno));
		goto out;
	}
	ret = 0;
out:
	close(out);
	if (ret)
		unlink(part);
	free(part);
	return ret;
}
