/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Probes of one path over hours or days (--trials, --every, --append): what a path loses changes
 * with the time of day, and one probe is one moment.
 *
 * A trial is a probe in a process of its own; its rows go to the end of the file in one write, with
 * the number of the trial and when it began, and are on the disk before the next one.  So the file
 * is the state: whoever starts the same again goes on with the trial that lacks, at its time.  The
 * last line of a file whose writer was killed in the middle is cut off.  A trial that fails is
 * tried again at the next time; FAILS_MAX of them in a row, and the path is given up.  SIGINT ends
 * it behind the last trial that was whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define FAILS_MAX 10u
#define OUT_MAX	  8192u /* bytes of a trial's CSV */
#define HEAD	  "trial,unix_s,"

struct trials {
	const struct perf_opt *opt;
	int fd; /* the file, to append to */
	unsigned int done, fails;
	time_t last; /* when the last one began; 0: none has */
};

/* ---- the file -------------------------------------------------------------------------------- */

static char *file_read(const char *name, int fd, size_t *len)
{
	struct stat st;
	char *text;
	ssize_t n;

	if (fstat(fd, &st))
		perf_die("--append: %s: %s", name, strerror(errno));
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		perf_die("--append: no memory for %s", name);
	for (*len = 0; *len < (size_t)st.st_size; *len += (size_t)n) {
		n = pread(fd, text + *len, (size_t)st.st_size - *len, (off_t)*len);
		if (n <= 0)
			perf_die("--append: %s cannot be read: %s", name,
				 n ? strerror(errno) : "it became shorter");
	}
	text[*len] = 0;
	return text;
}

static void file_write(struct trials *t, const char *text, size_t len)
{
	if (write(t->fd, text, len) != (ssize_t)len || fsync(t->fd))
		perf_die("--append: %s cannot be written: %s; make room, and start this again",
			 t->opt->probe.append, strerror(errno ? errno : ENOSPC));
}

/* Finds out what is there, and makes an end of it that can be gone on with. */
static void file_open(struct trials *t)
{
	const char *name = t->opt->probe.append;
	char head[512], *text, *line, *end;
	size_t len, whole;
	int n = snprintf(head, sizeof(head), HEAD "%s\n", probe_columns);

	t->fd = open(name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (t->fd < 0)
		perf_die("--append: %s: %s; name another file", name, strerror(errno));
	text = file_read(name, t->fd, &len);
	for (whole = len; whole && text[whole - 1] != '\n'; whole--)
		;
	if (!whole) {
		if (len)
			perf_die("--append: %s has no line of trials; name another file", name);
		file_write(t, head, (size_t)n);
	} else if (whole < (size_t)n || memcmp(text, head, (size_t)n)) {
		perf_die("--append: %s has other columns than those of trials; name another file",
			 name);
	}
	if (whole < len && ftruncate(t->fd, (off_t)whole))
		perf_die("--append: the end of %s is cut off: %s", name, strerror(errno));
	text[whole] = 0;
	for (line = whole ? text + n : text + len; *line; line = end + 1) {
		unsigned long trial = strtoul(line, &end, 10);
		long long when = *end == ',' ? strtoll(end + 1, &end, 10) : 0;

		if (*end != ',' || trial < t->done || trial > t->done + 1ul || when <= 0)
			perf_die("--append: %s has a line that is none of a trial: %.40s", name,
				 line);
		t->done = (unsigned int)trial;
		t->last = (time_t)when;
		end = strchr(end, '\n');
	}
	free(text);
}

/* ---- a trial --------------------------------------------------------------------------------- */

/* What a probe prints as CSV; false: it failed, and has said why. */
static bool probe_once(const struct perf_opt *opt, char out[OUT_MAX])
{
	struct perf_opt one = *opt;
	size_t len = 0;
	int fds[2], status;
	ssize_t n;
	pid_t child;

	one.format = PERF_CSV;
	one.probe.plot = NULL;
	one.quiet = true;
	if (pipe(fds) || fflush(stdout))
		perf_die("a pipe: %s", strerror(errno));
	child = fork();
	if (child < 0)
		perf_die("another process: %s", strerror(errno));
	if (!child) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		exit(probe_client(&one));
	}
	close(fds[1]);
	while ((n = read(fds[0], out + len, OUT_MAX - 1 - len)) > 0 || (n < 0 && errno == EINTR))
		len += n > 0 ? (size_t)n : 0;
	close(fds[0]);
	out[len] = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == PERF_EXIT_OK;
}

/* Its rows behind those of the others; the worst size's share of losses. */
static double rows_append(struct trials *t, time_t when, const char *out)
{
	char text[2 * OUT_MAX];
	const char *line = strchr(out, '\n'), *end;
	size_t len = 0;
	double worst = 0;
	uint64_t sent, lost;

	for (line = line ? line + 1 : ""; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%u,%lld,%.*s\n",
					t->done + 1, (long long)when, (int)(end - line), line);
		if (sscanf(line, "%*u,%*u,%" SCNu64 ",%*u,%" SCNu64, &sent, &lost) == 2 && sent &&
		    (double)lost / (double)sent > worst)
			worst = (double)lost / (double)sent;
	}
	file_write(t, text, len);
	return worst;
}

static void trial(struct trials *t)
{
	const struct perf_opt *opt = t->opt;
	time_t when = time(NULL);
	char out[OUT_MAX];
	double worst;

	t->last = when;
	if (!probe_once(opt, out)) {
		if (++t->fails == FAILS_MAX)
			perf_die(
				"%u trials in a row failed: look at the path to %s, and start this again",
				t->fails, opt->host);
		fprintf(stderr, "sdr_perf: trial %u of %u failed; again in %u s\n", t->done + 1,
			opt->probe.trials, opt->probe.every_s);
		return;
	}
	if (probe_interrupted)
		return; /* not whole */
	worst = rows_append(t, when, out);
	t->fails = 0;
	t->done++;
	if (!opt->quiet)
		fprintf(stderr, "sdr_perf: trial %u of %u: at most %.3g of a size was lost\n",
			t->done, opt->probe.trials, worst);
}

static void wait_for(const struct trials *t)
{
	time_t due = t->last + t->opt->probe.every_s, now = time(NULL);

	/* a clock that was set back must not make it wait for longer than a trial's time */
	if (t->last > now)
		due = now + t->opt->probe.every_s;
	while (!probe_interrupted && t->last && time(NULL) < due)
		sleep(1);
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct sample {
	uint32_t payload;
	uint64_t sent, lost;
	double loss;
};

static int sample_order(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->payload != y->payload)
		return x->payload < y->payload ? -1 : 1;
	return x->loss < y->loss ? -1 : x->loss > y->loss;
}

static double quantile(const struct sample *s, unsigned int n, double q)
{
	return s[(unsigned int)(q * (n - 1) + 0.5)].loss;
}

/* Sums of the file's rows, by size; at most PROBE_SIZES_MAX of them. */
static unsigned int spread_make(const struct trials *t, struct probe_spread out[PROBE_SIZES_MAX])
{
	size_t len, n = 0, i, k;
	char *text = file_read(t->opt->probe.append, t->fd, &len), *line;
	unsigned int sizes = 0;
	struct sample *s;

	for (i = 0, k = 0; i < len; i++)
		k += text[i] == '\n';
	s = calloc(k + 1, sizeof(*s));
	if (!s)
		perf_die("no memory for %zu rows", k);
	for (line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		if (sscanf(line + 1, "%*u,%*d,%" SCNu32 ",%*u,%" SCNu64 ",%*u,%" SCNu64,
			   &s[n].payload, &s[n].sent, &s[n].lost) != 3 ||
		    !s[n].sent || s[n].lost > s[n].sent)
			continue;
		s[n].loss = (double)s[n].lost / (double)s[n].sent;
		n++;
	}
	qsort(s, n, sizeof(*s), sample_order);
	for (i = 0; i < n && sizes < PROBE_SIZES_MAX; i = k) {
		struct probe_spread *o = &out[sizes++];

		*o = (struct probe_spread){ .payload = s[i].payload };
		for (k = i; k < n && s[k].payload == s[i].payload; k++) {
			o->sent += s[k].sent;
			o->lost += s[k].lost;
		}
		o->trials = (unsigned int)(k - i);
		o->min = s[i].loss;
		o->low = quantile(s + i, o->trials, 0.25);
		o->median = quantile(s + i, o->trials, 0.5);
		o->high = quantile(s + i, o->trials, 0.75);
		o->max = s[k - 1].loss;
		o->resolution = (double)o->trials / (double)o->sent;
	}
	free(s);
	free(text);
	return sizes;
}

static void spread_print(const struct perf_opt *opt, const struct probe_spread *s, unsigned int n)
{
	static const char *const row[] = {
		[PERF_TABLE] = "%7u %7u %14" PRIu64 " %12" PRIu64
			       " %10.3e %10.3e %10.3e %10.3e %10.3e %10.3e\n",
		[PERF_CSV] = "%u,%u,%" PRIu64 ",%" PRIu64 ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n",
		[PERF_JSON] =
			"{\"payload_bytes\":%u,\"trials\":%u,\"sent\":%" PRIu64 ",\"lost\":%" PRIu64
			",\"loss\":%.9g,\"loss_min\":%.9g,\"loss_p25\":%.9g,"
			"\"loss_p50\":%.9g,\"loss_p75\":%.9g,\"loss_max\":%.9g}\n",
	};
	unsigned int i;

	if (opt->format == PERF_TABLE)
		printf("%7s %7s %14s %12s %10s %10s %10s %10s %10s %10s\n", "payload", "trials",
		       "sent", "lost", "loss", "min", "quarter", "median", "quarter", "max");
	if (opt->format == PERF_CSV)
		printf("payload_bytes,trials,sent,lost,loss,loss_min,loss_p25,loss_p50,loss_p75,loss_max\n");
	if (opt->format == PERF_JSON)
		printf("[");
	for (i = 0; i < n; i++) {
		if (opt->format == PERF_JSON && i)
			printf(",");
		printf(row[opt->format], s[i].payload, s[i].trials, s[i].sent, s[i].lost,
		       (double)s[i].lost / (double)s[i].sent, s[i].min, s[i].low, s[i].median,
		       s[i].high, s[i].max);
	}
	if (opt->format == PERF_JSON)
		printf("]\n");
	if (fflush(stdout) || ferror(stdout))
		perf_die("the result could not be written; is the disk full, or the reader gone?");
}

int probe_trials(const struct perf_opt *opt)
{
	struct probe_spread spread[PROBE_SIZES_MAX];
	struct trials t = { .opt = opt };
	char title[128];
	unsigned int n;

	if (opt->probe.plot)
		probe_plot_check(opt->probe.plot);
	file_open(&t);
	if (t.done && !opt->quiet)
		fprintf(stderr, "sdr_perf: %s has %u trials already\n", opt->probe.append, t.done);
	probe_catch();
	while (t.done < opt->probe.trials && !probe_interrupted) {
		wait_for(&t);
		if (!probe_interrupted)
			trial(&t);
	}
	if (probe_interrupted)
		fprintf(stderr,
			"sdr_perf: interrupted after %u of %u trials; the same again goes on\n",
			t.done, opt->probe.trials);
	n = spread_make(&t, spread);
	if (!n)
		perf_die("there is no trial in %s yet", opt->probe.append);
	spread_print(opt, spread, n);
	snprintf(title, sizeof(title), "Drop rate of UDP packets, %u trials", t.done);
	if (opt->probe.plot)
		probe_plot_spread(spread, n, opt->probe.plot, title);
	close(t.fd);
	return PERF_EXIT_OK;
}
