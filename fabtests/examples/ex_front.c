/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The front of a reliable message is used before its end has come (fi_open_ops,
 * rdma/fi_ext_sdr.h): an ordinary receive of FI_EP_RDM, looked at while it is under way.
 *
 *	ex_front recv ADDRESS PORT		ex_front send ADDRESS PORT
 *
 * FI_PROVIDER_PATH says where libsdr-fi.so lies, FI_SDR_FAULT impairs what is sent ("drop=0.01").
 */
#include <errno.h>

#include "ends.h"

#define LEN   (48ull << 20) /* bytes of the message */
#define BLOCK (1ull << 20)  /* that are used together */
#define QUIET 10.0

struct hello {
	uint8_t name[64];
};

static int receiver;

/* 1: the operation is complete. */
static int turn(void)
{
	struct fi_cq_msg_entry e;
	struct fi_cq_err_entry err = { .err = 0 };
	ssize_t n = fi_cq_read(cq, &e, 1);

	if (n == -FI_EAVAIL)
		fi_cq_readerr(cq, &err, 0);
	CHECK(n == 1 || n == -FI_EAGAIN, "%s", fi_strerror(err.err ? err.err : (int)-n));
	return n == 1;
}

static void use(const uint8_t *buf, uint64_t block)
{
	for (uint64_t i = block * BLOCK; i < (block + 1) * BLOCK; i++)
		CHECK(buf[i] == meet_byte(0, i), "byte %llu is wrong", (unsigned long long)i);
}

static void receive(uint8_t *buf)
{
	struct fi_sdr_view v = { .size = sizeof(v), .unit = BLOCK };
	double last = meet_now();
	uint64_t used = 0, early;
	int err, over = 0;

	while (!over) {
		over = turn();
		err = over ? -FI_ENOENT : ops->view(ep, buf, &v);
		if (!err && v.front / BLOCK > used) {
			use(buf, used++);
			last = meet_now();
		}
		CHECK(meet_now() - last < QUIET, "the sender is silent");
	}
	for (early = used; used < LEN / BLOCK; used++)
		use(buf, used);
	printf("used %llu of %llu blocks before the message was complete, all right\n",
	       (unsigned long long)early, (unsigned long long)(LEN / BLOCK));
}

int main(int argc, char **argv)
{
	struct hello mine = { .name = { 0 } }, theirs;
	size_t len = sizeof(mine.name);
	uint8_t *buf = malloc(LEN);
	int fd;

	CHECK(argc > 3 && buf, "usage: %s send|recv ADDRESS PORT", argv[0]);
	receiver = !strcmp(argv[1], "recv");
	ends_open(receiver, argv[2], FI_EP_RDM, FI_MSG, FI_CQ_FORMAT_MSG);
	CHECK(FI_SDR_HAS_OP(ops, view), "this provider is older than 0.3.0");
	for (uint64_t i = 0; i < LEN; i++)
		buf[i] = receiver ? 0 : meet_byte(0, i);
	if (receiver)
		OK(fi_recv(ep, buf, LEN, NULL, FI_ADDR_UNSPEC, buf));
	OK(fi_getname(&ep->fid, mine.name, &len));
	fd = meet(receiver, argv[2], argv[3]);
	meet_swap(fd, &mine, &theirs, sizeof(mine));
	CHECK(fi_av_insert(av, theirs.name, 1, &peer, 0, NULL) == 1, "the peer's name");
	if (receiver) {
		receive(buf);
	} else {
		OK(fi_send(ep, buf, LEN, NULL, peer, buf));
		while (!turn())
			;
		printf("sent %llu bytes\n", LEN);
	}
	close(fd);
	ends_close();
	free(buf);
	return 0;
}
