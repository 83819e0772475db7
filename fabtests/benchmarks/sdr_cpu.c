/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * What a transfer costs the processors of both sides, with any provider, when both sleep while
 * there is nothing to do (fi_cq_sread, automatic progress): seconds of CPU and wake-ups a GB, by
 * getrusage of the two processes, all their threads included, without what opening costs. A client
 * sends messages one after the other to a server, which may be on another host (or in another
 * network namespace: wan-cpu.sh); each is acknowledged by a small one.
 *
 *   sdr_cpu [--prov P] --serve ADDR PORT
 *   sdr_cpu [--prov P] [--size BYTES] [--count N] ADDR PORT
 *
 * The client prints one line of CSV: prov,bytes,count,seconds,mbit_s,tx_cpu_s_gb,rx_cpu_s_gb,
 * tx_wakes_gb,rx_wakes_gb. A message that is not counted goes first.
 */
#include "bench_ep.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define TAG_HELLO 1u
#define TAG_DATA  2u
#define TAG_DONE  3u
#define SIZE_MAX_ (1ul << 30) /* bytes */

struct hello {
	struct bench_name name;
	uint64_t size, count;
};

struct cost {	    /* of one side, for the messages that count */
	double cpu; /* s */
	uint64_t wakes;
};

static struct bench_ep bep;
static fi_addr_t to = FI_ADDR_UNSPEC;

static void flag(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	*(bool *)op->arg = true;
}

/* Sleeps until the flag is there. */
static void wait_for(const bool *done)
{
	struct fi_cq_tagged_entry e;

	while (!*done) {
		ssize_t n = fi_cq_sread(bep.cq, &e, 1, NULL, 1000);

		if (n == 1) {
			struct bench_op *op = e.op_context;

			op->done(op, &e);
		} else if (n == -FI_EAVAIL) {
			bench_progress(&bep); /* says why and ends the process */
		} else if (n < 0 && n != -FI_EAGAIN && n != -FI_EINTR) {
			bench_die("fi_cq_sread", n);
		}
	}
}

struct slot {
	struct bench_op op;
	bool done;
};

static void slot_init(struct slot *s)
{
	s->done = false;
	s->op.done = flag;
	s->op.arg = &s->done;
}

static void post_recv(struct slot *s, void *buf, size_t len, struct fid_mr *mr, uint64_t tag)
{
	slot_init(s);
	BENCH_POST(&bep, fi_trecv(bep.ep, buf, len, bench_desc(&bep, mr), FI_ADDR_UNSPEC, tag, 0,
				  &s->op));
}

static void send_msg(const void *buf, size_t len, struct fid_mr *mr, uint64_t tag)
{
	struct slot s;

	slot_init(&s);
	BENCH_POST(&bep, fi_tsend(bep.ep, buf, len, bench_desc(&bep, mr), to, tag, &s.op));
	wait_for(&s.done);
}

static struct cost cost_now(void)
{
	struct cost c;
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	c.cpu = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
		(double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
	c.wakes = (uint64_t)r.ru_nvcsw;
	return c;
}

static struct cost cost_since(const struct cost *then)
{
	struct cost c = cost_now();

	c.cpu -= then->cpu;
	c.wakes -= then->wakes;
	return c;
}

static uint8_t *buffer(size_t len, struct fid_mr **mr)
{
	uint8_t *p = malloc(len);

	if (!p)
		bench_die("malloc", -FI_ENOMEM);
	memset(p, 0x5a, len);
	*mr = bench_mr(&bep, p, len, FI_SEND | FI_RECV, (uint64_t)(uintptr_t)p);
	return p;
}

static void serve(void)
{
	struct cost start = { 0 }, used = { 0 };
	struct fid_mr *hmr, *cmr, *mr;
	struct slot s;
	struct hello *h = (void *)buffer(sizeof(*h), &hmr);
	struct cost *c = (void *)buffer(sizeof(*c), &cmr);
	uint8_t *p;

	post_recv(&s, h, sizeof(*h), hmr, TAG_HELLO);
	wait_for(&s.done);
	to = bench_peer(&bep, &h->name);
	p = buffer(h->size, &mr);
	for (uint64_t i = 0; i <= h->count; i++) {
		post_recv(&s, p, h->size, mr, TAG_DATA);
		*c = used;
		send_msg(c, sizeof(*c), cmr, TAG_DONE); /* go on */
		wait_for(&s.done);
		if (!i)
			start = cost_now();
		used = cost_since(&start);
	}
	*c = used;
	send_msg(c, sizeof(*c), cmr, TAG_DONE);
}

static void drive(const char *prov, uint64_t size, uint64_t count)
{
	struct cost start = { 0 }, tx;
	struct fid_mr *hmr, *cmr, *mr;
	struct hello *h = (void *)buffer(sizeof(*h), &hmr);
	struct cost *c = (void *)buffer(sizeof(*c), &cmr);
	uint8_t *p = buffer(size, &mr);
	double gb = (double)size * (double)count / 1e9, t0 = 0, t;
	struct slot s;

	*h = (struct hello){ .name = bep.name, .size = size, .count = count };
	post_recv(&s, c, sizeof(*c), cmr, TAG_DONE);
	send_msg(h, sizeof(*h), hmr, TAG_HELLO);
	for (uint64_t i = 0; i <= count; i++) {
		wait_for(&s.done);
		if (i == 1) {
			start = cost_now();
			t0 = bench_now();
		}
		post_recv(&s, c, sizeof(*c), cmr, TAG_DONE);
		send_msg(p, size, mr, TAG_DATA);
	}
	wait_for(&s.done);
	t = bench_now() - t0;
	tx = cost_since(&start);
	printf("%s,%llu,%llu,%.3f,%.1f,%.4f,%.4f,%.0f,%.0f\n", prov, (unsigned long long)size,
	       (unsigned long long)count, t, gb * 8e3 / t, tx.cpu / gb, c->cpu / gb,
	       (double)tx.wakes / gb, (double)c->wakes / gb);
}

static void peer_of(const char *prov, const char *node, const char *service)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct bench_name name;

	if (!hints)
		bench_die("fi_allocinfo", -FI_ENOMEM);
	hints->ep_attr->type = FI_EP_RDM;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->fabric_attr->prov_name = strdup(prov);
	BENCH_CHECK(fi_getinfo(FI_VERSION(1, 17), node, service, 0, hints, &info));
	if (info->dest_addrlen > BENCH_NAME_MAX)
		bench_die("address of the server", -FI_ETOOSMALL);
	name.len = info->dest_addrlen;
	memcpy(name.bytes, info->dest_addr, name.len);
	fi_freeinfo(info);
	fi_freeinfo(hints);
	to = bench_peer(&bep, &name);
}

static int usage(void)
{
	fprintf(stderr, "usage: sdr_cpu [--prov P] --serve ADDR PORT\n"
			"       sdr_cpu [--prov P] [--size BYTES] [--count N] ADDR PORT\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct bench_attr attr = { .prov = "sdr",
				   .caps = FI_TAGGED | FI_MSG,
				   .threading = FI_THREAD_SAFE,
				   .progress = FI_PROGRESS_AUTO,
				   .peers = 1,
				   .cq_size = 64,
				   .sleeps = true };
	uint64_t size = 128ull << 20, count = 4;
	bool server = false;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--serve"))
			server = true;
		else if (i + 1 < argc && !strcmp(argv[i], "--prov"))
			attr.prov = argv[++i];
		else if (i + 1 < argc && !strcmp(argv[i], "--size"))
			size = strtoull(argv[++i], NULL, 0);
		else if (i + 1 < argc && !strcmp(argv[i], "--count"))
			count = strtoull(argv[++i], NULL, 0);
		else
			return usage();
	}
	if (argc - i != 2 || !size || size > SIZE_MAX_ || !count)
		return usage();
	if (server) {
		attr.node = argv[i];
		attr.service = argv[i + 1];
		bench_open(&bep, &attr);
		serve();
	} else {
		attr.to = argv[i];
		attr.to_service = argv[i + 1];
		bench_open(&bep, &attr);
		peer_of(attr.prov, argv[i], argv[i + 1]);
		drive(attr.prov, size, count);
	}
	bench_close(&bep);
	return 0;
}
