/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_xfer: a verified transfer between two processes through any libfabric provider.
 *
 * A plain libfabric program (API 1.17, FI_EP_RDM); nothing in it knows sdr.  The server
 * binds a port; the client resolves host and port with fi_getinfo, says hello, and sends
 * the server everything else (mode, sizes, repetitions, seed), so both walk the same list
 * of messages.  Every message goes through the same four steps, in one direction and then
 * in the other:
 *
 *	receiver   posts its buffer, sends READY
 *	sender     sends the data (FI_DELIVERY_COMPLETE), timed from the post to the
 *	           completion, then sends DONE with the time
 *	receiver   checks every byte and the guards around the buffer, sends VERDICT
 *	sender     goes on, or stops where the first byte was wrong
 *
 * READY comes first so that what is timed is the transfer, not the race with the other
 * side's verification.  Small control messages are always tagged; the data is tagged
 * messages, untagged messages or RMA writes.  The first `warm-up` messages of every size
 * are verified and not timed, so that no connection set-up is measured.
 *
 * One thread.  It waits in fi_cq_sread where the provider can, and ends by itself after
 * -T seconds; a call that never comes back is ended by SIGALRM.  It does not measure
 * bandwidth with a window of messages: one message is in flight at a time.
 *
 * Exit status: 0 all verified, 1 wrong bytes or an error, 2 usage, 3 out of time.
 */
#include "sdr_xfer.h"
#include "xfer_pattern.h"

const char *const xfer_mode_name[] = { "tagged", "msg", "write" };

struct xfer x = {
	.prov = "sdr",
	.port = "9229",
	.iters = 10,
	.warm = 1,
	.timeout_s = 120,
	.seed = 1,
	.size = { 8, 4096, 65536, 1 << 20, 16 << 20 },
	.last = { 8, 4096, 65536, 1 << 20, 16 << 20 },
	.nsizes = 5,
};

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

void die(int status, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "sdr_xfer: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(status);
}

static void on_alarm(int sig)
{
	static const char text[] =
		"sdr_xfer: out of time inside a library call that did not return\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)sig;
	(void)n;
	_exit(EXIT_TIME);
}

void deadline_check(void)
{
	if (now_ns() <= x.deadline_ns)
		return;
	fflush(stdout);
	fprintf(stderr, "sdr_xfer: timed out after %u s while %s\n", x.timeout_s, x.doing);
	if (x.ep) /* which may write down what it has counted */
		fi_close(&x.ep->fid);
	exit(EXIT_TIME);
}

/* ---- one message ----------------------------------------------------------------------------- */

static void data_post(struct op *op, uint64_t len, uint64_t seq, const struct ctl_msg *ready)
{
	uint64_t flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
	struct iovec iov = { x.tx, len };
	void *desc = mr_desc(x.mr_tx);
	struct fi_rma_iov rma = { .addr = ready->u.ready.addr,
				  .len = len,
				  .key = ready->u.ready.key };
	struct fi_msg_rma wr = { .msg_iov = &iov,
				 .desc = &desc,
				 .iov_count = 1,
				 .addr = x.peer,
				 .rma_iov = &rma,
				 .rma_iov_count = 1,
				 .context = &op->ctx };
	struct fi_msg_tagged tg = { .msg_iov = &iov,
				    .desc = &desc,
				    .iov_count = 1,
				    .addr = x.peer,
				    .tag = XFER_TAG_DATA | seq,
				    .context = &op->ctx };
	struct fi_msg ms = {
		.msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = x.peer, .context = &op->ctx
	};

	memset(op, 0, sizeof(*op));
	switch (x.mode) {
	case MODE_TAGGED:
		POST("fi_tsendmsg", fi_tsendmsg(x.ep, &tg, flags));
		break;
	case MODE_MSG:
		POST("fi_sendmsg", fi_sendmsg(x.ep, &ms, flags));
		break;
	case MODE_WRITE:
		POST("fi_writemsg", fi_writemsg(x.ep, &wr, flags));
		break;
	}
}

/* Returns the completion time in ns. */
static uint64_t message_send(uint64_t len, uint64_t seq)
{
	struct ctl_msg ready, verdict;
	uint64_t start, ns;
	struct op op;

	pattern_fill(x.tx, len, x.seed, seq);
	ready = ctl_wait(CTL_READY, seq);
	start = now_ns();
	data_post(&op, len, seq, &ready);
	op_wait(&op);
	ns = now_ns() - start;
	x.ctl[XFER_CTL_RECVS].u.done.ns = ns;
	ctl_send(CTL_DONE, seq);
	verdict = ctl_wait(CTL_VERDICT, seq);
	if (verdict.u.verdict.bad)
		die(EXIT_BAD,
		    "the peer found %" PRIu64 " wrong bytes, the first at offset %" PRId64 " (%s)",
		    verdict.u.verdict.bad, (int64_t)verdict.u.verdict.offset, x.doing);
	return ns;
}

static uint64_t message_recv(uint64_t len, uint64_t seq)
{
	struct ctl_msg *m = &x.ctl[XFER_CTL_RECVS], done;
	uint64_t bad, where;
	struct op op = { .done = true, .len = len };

	/* A guard right behind this size, and nothing left of an earlier message. */
	memset(x.rx, ~PATTERN_GUARD_BYTE & 0xff, len);
	memset(x.rx + len, PATTERN_GUARD_BYTE, PATTERN_GUARD);
	if (x.mode != MODE_WRITE)
		memset(&op, 0, sizeof(op));
	if (x.mode == MODE_TAGGED)
		POST("fi_trecv", fi_trecv(x.ep, x.rx, len, mr_desc(x.mr_rx), x.peer,
					  XFER_TAG_DATA | seq, 0, &op.ctx));
	else if (x.mode == MODE_MSG)
		POST("fi_recv", fi_recv(x.ep, x.rx, len, mr_desc(x.mr_rx), x.peer, &op.ctx));
	else {
		m->u.ready.key = fi_mr_key(x.mr_rx);
		m->u.ready.addr =
			x.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)x.rx : 0;
	}
	ctl_send(CTL_READY, seq);
	op_wait(&op);
	done = ctl_wait(CTL_DONE, seq);
	if (op.len != len)
		die(EXIT_BAD, "received %zu bytes instead of %" PRIu64 " (%s)", op.len, len,
		    x.doing);
	bad = pattern_check(x.rx, len, x.seed, seq, &where);
	m->u.verdict.bad = bad;
	m->u.verdict.offset = where;
	ctl_send(CTL_VERDICT, seq);
	if (bad)
		die(EXIT_BAD, "%" PRIu64 " wrong bytes, the first at offset %" PRId64 " (%s)", bad,
		    (int64_t)where, x.doing);
	return done.u.done.ns;
}

/* ---- all messages, and the report ------------------------------------------------------------ */

static int cmp_u64(const void *a, const void *b)
{
	uint64_t u = *(const uint64_t *)a, v = *(const uint64_t *)b;

	return u < v ? -1 : u > v;
}

static void report_head(void)
{
	if (x.json)
		printf("{\"provider\":\"%s\",\"mode\":\"%s\",\"seed\":%" PRIu64 ",\"results\":[",
		       x.info->fabric_attr->prov_name, xfer_mode_name[x.mode], x.seed);
	else if (x.csv)
		printf("provider,mode,direction,size_bytes,messages,min_ms,median_ms,max_ms,mb_per_s\n");
	else
		printf("provider %s, %s; completion time at the sender, every byte verified\n"
		       "%-10s %12s %8s %10s %10s %10s %10s\n",
		       x.info->fabric_attr->prov_name, xfer_mode_name[x.mode], "direction", "bytes",
		       "messages", "min ms", "median ms", "max ms", "MB/s");
}

uint64_t entry_messages(unsigned int i)
{
	uint64_t sizes = x.last[i] - x.size[i] + 1;

	if (x.last[i] < x.size[i] || sizes > XFER_MAX_ITERS || x.iters > XFER_MAX_ITERS / sizes)
		return 0;
	return sizes * x.iters;
}

/* Of a range of sizes: the largest, and the times of all. */
static void report_row(unsigned int dir, uint64_t size, uint64_t *ns, uint64_t n, bool first)
{
	const char *name = dir ? "from" : "to"; /* as the client sees the server */
	double min, med, max, rate;

	if (!n)
		return;
	qsort(ns, n, sizeof(*ns), cmp_u64);
	min = (double)ns[0] / 1e6;
	max = (double)ns[n - 1] / 1e6;
	med = (double)(ns[(n - 1) / 2] + ns[n / 2]) / 2e6;
	rate = med > 0 ? (double)size / med / 1e3 : 0;
	if (x.json)
		printf("%s{\"direction\":\"%s\",\"size\":%" PRIu64 ",\"messages\":%" PRIu64
		       ",\"min_ms\":%.6f,"
		       "\"median_ms\":%.6f,\"max_ms\":%.6f,\"mb_per_s\":%.3f}",
		       first ? "" : ",", name, size, n, min, med, max, rate);
	else if (x.csv)
		printf("%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%.6f,%.3f\n",
		       x.info->fabric_attr->prov_name, xfer_mode_name[x.mode], name, size, n, min,
		       med, max, rate);
	else
		printf("%-10s %12" PRIu64 " %8" PRIu64 " %10.3f %10.3f %10.3f %10.1f\n", name, size,
		       n, min, med, max, rate);
	fflush(stdout);
}

/* One message each way; returns 1 when it is timed. */
static uint64_t message_both(uint64_t len, uint64_t seq, unsigned int i, uint64_t *ns[2],
			     uint64_t n)
{
	unsigned int dir;
	uint64_t t;

	for (dir = 0; dir < (x.oneway ? 1u : 2u); dir++, seq++) {
		snprintf(x.doing, sizeof(x.doing), "%s %s message %u of %" PRIu64 " bytes",
			 dir == x.client ? "receiving" : "sending",
			 i < x.warm ? "warm-up" : "timed", i, len);
		t = dir == x.client ? message_recv(len, seq) : message_send(len, seq);
		if (i >= x.warm)
			ns[dir][n] = t;
	}
	return i >= x.warm;
}

static void run(void)
{
	uint64_t *ns[2], seq = 0, most = 0, n, len;
	unsigned int s, i, dir;

	for (s = 0; s < x.nsizes; s++) {
		if (entry_messages(s) > most)
			most = entry_messages(s);
	}
	for (dir = 0; dir < 2; dir++) {
		ns[dir] = calloc(most + 1, sizeof(uint64_t));
		if (!ns[dir])
			die(EXIT_BAD, "out of memory");
	}
	if (x.client)
		report_head();
	for (s = 0; s < x.nsizes; s++) {
		n = 0;
		for (len = x.size[s]; len <= x.last[s]; len++)
			for (i = 0; i < x.warm + x.iters; i++, seq += 2)
				n += message_both(len, seq, i, ns, n);
		for (dir = 0; x.client && dir < (x.oneway ? 1u : 2u); dir++)
			report_row(dir, x.last[s], ns[dir], n, s == 0 && dir == 0);
	}
	if (x.client && x.json)
		printf("],\"verified\":true}\n");
	free(ns[0]);
	free(ns[1]);
}

/*
 * Everything is verified; what is left is that neither side leaves while the other still
 * needs an acknowledgement from it.  No failure here is an error.
 */
static void goodbye(void)
{
	uint64_t until = now_ns() + XFER_BYE_MS * 1000000ull;
	struct op op, *wait = &op;

	if (x.client)
		ctl_send_start(&op, CTL_BYE, 0);
	else
		wait = &x.ctl_op[x.ctl_next];
	while (!wait->done && now_ns() < until)
		cq_progress(XFER_POLL_MS);
}

/* ---- command line ---------------------------------------------------------------------------- */

static void usage(FILE *f)
{
	fprintf(f,
		"usage: sdr_xfer [options]          server: waits for one client, then exits\n"
		"       sdr_xfer [options] HOST     client: runs the transfers and prints the times\n"
		"  -p PROV   libfabric provider (default sdr; e.g. \"tcp;ofi_rxm\")\n"
		"  -B PORT   the server's port (default 9229)\n"
		"  -A ADDR   server: local address to bind (default: any)\n"
		"  -m MODE   tagged, msg or write (default tagged; a server without it serves all three)\n"
		"  -S LIST   message sizes, with k, m, g suffixes (default 8,4k,64k,1m,16m); FROM-TO: each one\n"
		"  -I N      timed messages of each size and direction (default 10)\n"
		"  -W N      verified, untimed messages before them (default 1)\n"
		"  -o        one way only: client to server\n"
		"  -s SEED   of the byte pattern (default 1)\n"
		"  -b        poll for completions instead of sleeping\n"
		"  -T SEC    end with an error after this many seconds (default 120)\n"
		"  -C, -J    print CSV, JSON instead of a table\n"
		"  -h        this text\n"
		"Exit status: 0 all verified, 1 wrong bytes or an error, 2 usage, 3 out of time.\n");
}

static uint64_t number_parse(const char *opt, const char *s, uint64_t max, char **end)
{
	unsigned long long v;
	unsigned int shift = 0;

	errno = 0;
	v = strtoull(s, end, 10);
	if (*end == s || errno || *s == '-')
		die(EXIT_USAGE, "%s: \"%s\" is not a number (-h for help)", opt, s);
	switch (**end) {
	case 'g':
	case 'G':
		shift = 30;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'k':
	case 'K':
		shift = 10;
		break;
	}
	*end += shift ? 1 : 0;
	if (v > max >> shift)
		die(EXIT_USAGE, "%s: \"%s\" is above the limit of %" PRIu64, opt, s, max);
	return v << shift;
}

static uint64_t one_number(const char *opt, const char *s, uint64_t max)
{
	char *end;
	uint64_t v = number_parse(opt, s, max, &end);

	if (*end)
		die(EXIT_USAGE, "%s: \"%s\" is not a number (-h for help)", opt, s);
	return v;
}

static void sizes_parse(const char *s)
{
	char *end;

	for (x.nsizes = 0;; s = end + 1) {
		if (x.nsizes == XFER_MAX_SIZES)
			die(EXIT_USAGE, "-S: more than %d sizes", XFER_MAX_SIZES);
		x.size[x.nsizes] = x.last[x.nsizes] = number_parse("-S", s, 1ull << 40, &end);
		if (*end == '-')
			x.last[x.nsizes] = number_parse("-S", end + 1, 1ull << 40, &end);
		x.nsizes++;
		if (!*end)
			return;
		if (*end != ',')
			die(EXIT_USAGE, "-S: cannot read \"%s\" (e.g. 8,64k,16m)", s);
	}
}

static void options_parse(int argc, char **argv)
{
	unsigned int i;
	int c;

	while ((c = getopt(argc, argv, "p:B:A:m:S:I:W:os:bT:CJh")) != -1) {
		switch (c) {
		case 'p':
			x.prov = optarg;
			break;
		case 'B':
			x.port = optarg;
			one_number("-B", optarg, 65535);
			break;
		case 'A':
			x.bind_addr = optarg;
			break;
		case 'm':
			for (x.mode = MODE_TAGGED; x.mode <= MODE_WRITE; x.mode++)
				if (!strcmp(optarg, xfer_mode_name[x.mode]))
					break;
			if (x.mode > MODE_WRITE)
				die(EXIT_USAGE, "-m: \"%s\" is not tagged, msg or write", optarg);
			x.mode_given = true;
			break;
		case 'S':
			sizes_parse(optarg);
			break;
		case 'I':
			x.iters = (unsigned int)one_number("-I", optarg, XFER_MAX_ITERS);
			break;
		case 'W':
			x.warm = (unsigned int)one_number("-W", optarg, XFER_MAX_ITERS);
			break;
		case 'o':
			x.oneway = true;
			break;
		case 's':
			x.seed = one_number("-s", optarg, UINT64_MAX);
			break;
		case 'b':
			x.busy = true;
			break;
		case 'T':
			x.timeout_s = (unsigned int)one_number("-T", optarg, 86400);
			break;
		case 'C':
			x.csv = true;
			break;
		case 'J':
			x.json = true;
			break;
		case 'h':
			usage(stdout);
			exit(EXIT_OK);
		default:
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
	for (i = 0; i < x.nsizes; i++) {
		if (x.iters && !entry_messages(i))
			die(EXIT_USAGE, "-S, -I: more than %d messages of one entry, or none",
			    XFER_MAX_ITERS);
	}
	if (argc - optind > 1)
		die(EXIT_USAGE, "more than one host given (-h for help)");
	x.client = argc > optind;
	x.node = x.client ? argv[optind] : NULL;
}

int main(int argc, char **argv)
{
	static char err_line[1024];

	setvbuf(stderr, err_line, _IOLBF, sizeof(err_line));
	options_parse(argc, argv);
	x.deadline_ns = now_ns() + x.timeout_s * 1000000000ull;
	signal(SIGALRM, on_alarm);
	alarm(x.timeout_s + 10);

	snprintf(x.doing, sizeof(x.doing), "opening the provider");
	fabric_open();
	ctl_open();
	if (x.client)
		hello_send();
	else
		hello_wait();
	buffers_open();
	run();
	goodbye();
	fabric_close();
	if (!x.client)
		printf("server: all messages verified\n");
	return EXIT_OK;
}
