/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Unreliable writes into the other side's memory (fi_write on FI_EP_DGRAM), of which the target is
 * told by bitmaps (fi_open_ops, rdma/fi_ext_sdr.h).  What is missing is asked for again, so in the
 * end all is there: who can live with holes would leave that out.
 *
 *	ex_put recv ADDRESS PORT		ex_put send ADDRESS PORT
 *
 * FI_PROVIDER_PATH says where libsdr-fi.so lies, FI_SDR_FAULT impairs what is sent ("drop=0.01").
 */
#include <errno.h>
#include <rdma/fi_rma.h>

#include "ends.h"

#define BLOCK  (256ull << 10) /* bytes of a write */
#define BLOCKS 64u
#define LEN    (BLOCK * BLOCKS)
#define QUIET  10.0

struct hello {
	uint8_t name[64];
	uint64_t key, addr;
};
struct want { /* blocks that lack something; none: all is there */
	uint32_t n, block[BLOCKS];
};

static struct fid_mr *mr;
static int receiver;

/* One entry of the queue; 0: none came for a while. */
static int next(struct fi_cq_tagged_entry *e, double seconds)
{
	double end = meet_now() + seconds;
	ssize_t n;

	do {
		n = fi_cq_read(cq, e, 1);
		CHECK(n == 1 || n == -FI_EAGAIN, "%s", fi_strerror((int)-n));
	} while (n != 1 && meet_now() < end);
	return n == 1;
}

/* What is in place of each block, added up over the writes that brought it; returns those whole. */
static uint32_t receive(const uint8_t *buf, uint8_t *whole, uint32_t *holes)
{
	struct fi_cq_tagged_entry e;
	struct fi_sdr_view v = { .size = sizeof(v) };
	uint32_t n = 0;

	while (next(&e, 0.1)) {
		if (!(e.flags & FI_SDR_BITMAP))
			continue;
		if (e.flags & FI_SDR_WHOLE)
			whole[((uint8_t *)e.buf - buf) / BLOCK] = 1;
		/* all was sent, and this is what came: it is not worth waiting for more */
		if ((e.flags & FI_SDR_SENT) && !ops->rma_view(ep, e.tag, &v)) {
			*holes += (uint32_t)((v.len - v.arrived) / v.unit);
			OK(ops->rma_end(ep, e.tag));
		}
	}
	for (uint32_t i = 0; i < BLOCKS; i++)
		n += whole[i];
	return n;
}

static void send_blocks(const uint8_t *buf, const struct hello *to, const struct want *w)
{
	struct fi_cq_tagged_entry e;
	long ret;

	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t off = w->block[i] % BLOCKS * BLOCK;

		while ((ret = fi_write(ep, buf + off, BLOCK, NULL, peer, to->addr + off, to->key,
				       NULL)) == -FI_EAGAIN)
			next(&e, 0.001);
		OK(ret);
		CHECK(next(&e, QUIET),
		      "a write does not leave"); /* and no more than one at a time */
	}
}

int main(int argc, char **argv)
{
	struct fi_sdr_notify how = { sizeof(how), FI_SDR_TELL_CQ, NULL };
	struct hello mine = { .key = 0 }, theirs;
	struct want want = { .n = BLOCKS };
	uint8_t *buf = malloc(LEN), whole[BLOCKS] = { 0 };
	size_t len = sizeof(mine.name);
	uint32_t rounds = 0, holes = 0;
	int fd;

	CHECK(argc > 3 && buf, "usage: %s send|recv ADDRESS PORT", argv[0]);
	receiver = !strcmp(argv[1], "recv");
	ends_open(receiver, argv[2], FI_EP_DGRAM, FI_MSG | FI_RMA | FI_WRITE | FI_REMOTE_WRITE,
		  FI_CQ_FORMAT_TAGGED);
	CHECK(FI_SDR_HAS_OP(ops, rma_notify), "this provider is older than 0.3.0");
	for (uint64_t i = 0; i < LEN; i++)
		buf[i] = receiver ? 0 : meet_byte(0, i);
	if (receiver) {
		OK(fi_mr_reg(domain, buf, LEN, FI_REMOTE_WRITE, 0, 0x5d, 0, &mr, NULL));
		mine.key = fi_mr_key(mr);
		mine.addr = info->domain_attr->mr_mode & (FI_MR_BASIC | FI_MR_VIRT_ADDR)
				    ? (uint64_t)(uintptr_t)buf
				    : 0;
		OK(ops->rma_notify(ep, &how));
	}
	OK(fi_getname(&ep->fid, mine.name, &len));
	fd = meet(receiver, argv[2], argv[3]);
	meet_swap(fd, &mine, &theirs, sizeof(mine));
	CHECK(fi_av_insert(av, theirs.name, 1, &peer, 0, NULL) == 1, "the peer's name");
	for (uint32_t i = 0; i < BLOCKS; i++)
		want.block[i] = i;
	for (; want.n; rounds++) {
		if (receiver) {
			receive(buf, whole, &holes);
			for (uint32_t i = want.n = 0; i < BLOCKS; i++)
				if (!whole[i])
					want.block[want.n++] = i;
		} else {
			send_blocks(buf, &theirs, &want);
		}
		/* the receiver says what it lacks, the sender hears it */
		if (receiver)
			CHECK(send(fd, &want, sizeof(want), MSG_NOSIGNAL) == sizeof(want), "send");
		else
			CHECK(recv(fd, &want, sizeof(want), MSG_WAITALL) == sizeof(want), "recv");
		CHECK(rounds < 100, "it does not come to an end");
	}
	for (uint64_t i = 0; i < LEN; i++)
		CHECK(buf[i] == meet_byte(0, i), "byte %llu is wrong", (unsigned long long)i);
	if (receiver)
		printf("all %u blocks are there after %u rounds and %u holes, all right\n", BLOCKS,
		       rounds, holes);
	if (mr)
		fi_close(&mr->fid);
	ends_close();
	close(fd);
	free(buf);
	return 0;
}
