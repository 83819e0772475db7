/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine against UC queue pairs of a real driver, both directions: the engine in a network
 * namespace without devices, the queue pairs straight from libibverbs in this one, no layer of ours
 * above or beside them.  So a device, and not our own code, says that an ICRC is right.
 *
 *   sdr_soft_nic DEVICE NAMESPACE DEVICE_IP SOFT_IP      for instance: sdr_soft_nic rxe2 soft
 *                                                        10.9.1.1 10.9.1.2
 *
 * The parent is the device, the child the engine; they agree on steps over a socket pair.  Each
 * packet is waited for before the window moves on, so nothing is lost and all are counted.  Exit
 * status 0 when every case passed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "uc/soft/sdr_soft.h"
#include "uc/sdr_uc_open.h"

#define MTU	4096u
#define GENS	4u
#define PKTS	128u /* of a message: one a generation */
#define MSG	((uint64_t)PKTS * MTU)
#define TAIL	3u    /* bytes by which its last packet is shorter */
#define WINDOW	32u   /* packets under way */
#define LAP	7u    /* of the messages to the engine */
#define SOUND	50u   /* bytes of the packet behind the damaged ones, which are longer */
#define WAIT_MS 20000 /* that the other side may take; emulated machines are slow */

#define DIE(...)                                                                  \
	do {                                                                      \
		fprintf(stderr, "sdr_soft_nic: %s: ", child ? "soft" : "device"); \
		fprintf(stderr, __VA_ARGS__);                                     \
		fprintf(stderr, "\n");                                            \
		exit(1);                                                          \
	} while (0)

struct test {
	const char *name;
	bool any; /* the engine is bound to all addresses */
	bool own; /* and to port 4791 itself */
	uint8_t off;
};

/* What the two tell each other. */
struct hello {
	uint8_t info[SDR_QP_INFO_LEN];
	uint64_t va;
	uint32_t rkey;
};

static const char *dev_name, *netns, *dev_ip, *soft_ip;
static bool child;
static int pipe_fd;
static const struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void tell(const void *p, size_t n)
{
	if (write(pipe_fd, p, n) != (ssize_t)n)
		DIE("the other side is gone");
}

static void hear(void *p, size_t n)
{
	struct pollfd f = { .fd = pipe_fd, .events = POLLIN };

	if (poll(&f, 1, WAIT_MS) != 1 || recv(pipe_fd, p, n, MSG_WAITALL) != (ssize_t)n)
		DIE("nothing heard from the other side");
}

static void in_step(void)
{
	char c = 0;

	tell(&c, 1);
	hear(&c, 1);
}

static void fill(uint8_t *p, uint32_t seed)
{
	uint64_t i;

	for (i = 0; i < GENS * MSG; i++) {
		seed = seed * 1664525 + 1013904223;
		p[i] = (uint8_t)(seed >> 24);
	}
}

/* Bytes of packet i of a message. */
static uint32_t bytes(uint32_t i)
{
	return i == PKTS - 1 ? MTU - TAIL : MTU;
}

static void message_check(const uint8_t *got, const uint8_t *want, uint32_t gen)
{
	if (memcmp(got + gen * MSG, want + gen * MSG, MSG - TAIL))
		DIE("generation %u: other bytes than those sent", gen);
}

static void sockaddr_of(const char *ip, uint16_t port, struct sockaddr_storage *sa)
{
	char text[80];

	snprintf(text, sizeof(text), strchr(ip, ':') ? "[%s]:%u" : "%s:%u", ip, port);
	if (sdr_uc_addr_parse(text, sa))
		DIE("%s: not an address", ip);
}

/* ---- the device ------------------------------------------------------------------------------ */

struct device {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *scq, *rcq;
	struct ibv_qp *qp[GENS];
	struct ibv_mr *mr;
	uint8_t *mem, *src;
	union ibv_gid dgid;
	uint8_t gid_index;
};

static union ibv_gid gid_of(const char *ip)
{
	union ibv_gid g = { .raw = { [10] = 0xff, [11] = 0xff } };

	if (inet_pton(AF_INET, ip, g.raw + 12) != 1 && inet_pton(AF_INET6, ip, g.raw) != 1)
		DIE("%s: not an address", ip);
	return g;
}

static void device_open(struct device *d)
{
	union ibv_gid own = gid_of(dev_ip), g;
	struct ibv_device **list;
	int n, i;

	memset(d, 0, sizeof(*d));
	list = ibv_get_device_list(&n);
	for (i = 0; list && i < n; i++)
		if (!strcmp(ibv_get_device_name(list[i]), dev_name))
			d->ctx = ibv_open_device(list[i]);
	if (!d->ctx)
		DIE("no device %s", dev_name);
	ibv_free_device_list(list);
	for (i = 0; i < 32; i++)
		if (!ibv_query_gid(d->ctx, 1, i, &g) && !memcmp(&g, &own, sizeof(g)))
			break;
	if (i == 32)
		DIE("%s has no GID for %s", dev_name, dev_ip);
	d->gid_index = (uint8_t)i;
	d->dgid = gid_of(soft_ip);
	d->src = malloc(GENS * MSG);
	d->mem = malloc(GENS * MSG);
	d->pd = ibv_alloc_pd(d->ctx);
	d->scq = ibv_create_cq(d->ctx, 2 * WINDOW, NULL, NULL, 0);
	d->rcq = ibv_create_cq(d->ctx, GENS * (PKTS + WINDOW), NULL, NULL, 0);
	if (!d->src || !d->mem || !d->pd || !d->scq || !d->rcq)
		DIE("no resources: %s", strerror(errno));
	fill(d->src, 1);
}

static struct ibv_qp *device_qp(struct device *d)
{
	struct ibv_qp_init_attr ia = { .send_cq = d->scq,
				       .recv_cq = d->rcq,
				       .qp_type = IBV_QPT_UC };
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp;

	ia.cap.max_send_wr = 2 * WINDOW;
	ia.cap.max_recv_wr = PKTS + WINDOW;
	ia.cap.max_send_sge = ia.cap.max_recv_sge = 1;
	qp = ibv_create_qp(d->pd, &ia);
	a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (!qp ||
	    ibv_modify_qp(qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		DIE("no queue pair: %s", strerror(errno));
	return qp;
}

static void device_connect(struct device *d, const struct sdr_wire_qp_info *p)
{
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct ibv_qp_attr a;
	uint32_t g, i;

	for (g = 0; g < GENS; g++) {
		memset(&a, 0, sizeof(a));
		a.qp_state = IBV_QPS_RTR;
		a.path_mtu = IBV_MTU_4096;
		a.dest_qp_num = sdr_wire_tpn(p, g, 0);
		a.ah_attr.is_global = 1;
		a.ah_attr.port_num = 1;
		a.ah_attr.grh.dgid = d->dgid;
		a.ah_attr.grh.sgid_index = d->gid_index;
		a.ah_attr.grh.hop_limit = 64;
		if (ibv_modify_qp(d->qp[g], &a,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					  IBV_QP_RQ_PSN))
			DIE("not ready to receive: %s", strerror(errno));
		memset(&a, 0, sizeof(a));
		a.qp_state = IBV_QPS_RTS;
		a.sq_psn = p->psn;
		if (ibv_modify_qp(d->qp[g], &a, IBV_QP_STATE | IBV_QP_SQ_PSN))
			DIE("not ready to send: %s", strerror(errno));
		for (i = 0; i < PKTS + WINDOW; i++)
			if (ibv_post_recv(d->qp[g], &wr, &bad))
				DIE("no receive: %s", strerror(errno));
	}
}

static void device_complete(struct ibv_cq *cq, struct ibv_wc *wc)
{
	uint64_t end = now_ms() + WAIT_MS;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc)))
		if (now_ms() > end)
			DIE("no completion: the packet was dropped");
	if (n < 0 || wc->status)
		DIE("completion: %s", n < 0 ? "error" : ibv_wc_status_str(wc->status));
}

static void device_receive(struct device *d, const uint8_t *want)
{
	struct ibv_wc wc;
	uint32_t g, i, off;

	for (g = 0; g < GENS; g++) {
		for (i = 0; i < PKTS; i++) {
			device_complete(d->rcq, &wc);
			off = sdr_imm_off(&split, ntohl(wc.imm_data));
			if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM ||
			    wc.qp_num != d->qp[g]->qp_num || off != i || wc.byte_len != bytes(i) ||
			    sdr_imm_id(&split, ntohl(wc.imm_data)) != 10 + g)
				DIE("generation %u, packet %u: another one came (offset %u, %u bytes)",
				    g, i, off, wc.byte_len);
			if (i == PKTS - 1)
				/* before the next packet may come */
				message_check(d->mem, want, g);
			if (i % WINDOW == WINDOW - 1)
				in_step();
		}
	}
	/* Damaged packets, then a sound one: that is all that comes. */
	device_complete(d->rcq, &wc);
	if (wc.byte_len != SOUND || wc.qp_num != d->qp[GENS - 1]->qp_num)
		DIE("a corrupt packet was taken");
	in_step();
}

static void device_send(struct device *d, const struct sdr_wire_qp_info *p)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sg;
	struct ibv_wc wc;
	uint32_t g, i;

	for (g = 0; g < GENS; g++) {
		for (i = 0; i < PKTS; i++) {
			memset(&wr, 0, sizeof(wr));
			sg.addr = (uintptr_t)d->src + g * MSG + (uint64_t)i * MTU;
			sg.length = bytes(i);
			sg.lkey = d->mr->lkey;
			wr.sg_list = &sg;
			wr.num_sge = 1;
			wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
			wr.send_flags = IBV_SEND_SIGNALED;
			wr.imm_data = htonl(sdr_imm_pack(&split, 20 + g, i, 0));
			wr.wr.rdma.remote_addr = (20 + g) * MSG + (uint64_t)i * MTU;
			wr.wr.rdma.rkey = sdr_rkey_of_epoch(p->rkey, LAP);
			if (ibv_post_send(d->qp[g], &wr, &bad))
				DIE("post: %s", strerror(errno));
			device_complete(d->scq, &wc);
			if (i % WINDOW == WINDOW - 1)
				in_step();
		}
	}
}

static void device_case(struct device *d)
{
	struct sdr_wire_qp_info own = { 0 }, p;
	struct sockaddr_storage sa;
	struct sdr_uc_addr addr;
	uint8_t *want = malloc(GENS * MSG);
	struct hello h;
	uint32_t g;

	if (!want)
		DIE("no memory");
	fill(want, 2);
	memset(d->mem, 0, GENS * MSG);
	d->mr = ibv_reg_mr(d->pd, d->mem, GENS * MSG,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!d->mr)
		DIE("no registration: %s", strerror(errno));
	hear(&h, sizeof(h));
	if (sdr_wire_qp_info_decode(h.info, sizeof(h.info), &p) || p.flags || p.ntps || p.ctl_qpn)
		DIE("QP info of a soft engine is wrong");
	own = p;
	own.flags = SDR_QP_F_NIC | SDR_QP_F_RKEYED;
	own.ntps = GENS;
	own.psn = 0xfffff0;
	for (g = 0; g < GENS; g++) {
		d->qp[g] = device_qp(d);
		own.tpn[g] = d->qp[g]->qp_num;
	}
	own.qpn = own.tpn[0];
	sockaddr_of(dev_ip, 5000, &sa);
	sdr_uc_addr_from_sockaddr(&addr, (struct sockaddr *)&sa);
	own.addr_len = addr.len < sizeof(own.addr) ? addr.len : sizeof(own.addr);
	memcpy(own.addr, addr.b, own.addr_len);
	sdr_wire_qp_info_encode(h.info, &own);
	h.va = (uintptr_t)d->mem;
	h.rkey = d->mr->rkey;
	tell(&h, sizeof(h));
	device_connect(d, &p);
	in_step();
	device_receive(d, want);
	ibv_dereg_mr(d->mr);
	d->mr = ibv_reg_mr(d->pd, d->src, GENS * MSG, 0);
	if (!d->mr)
		DIE("no registration: %s", strerror(errno));
	device_send(d, &p);
	in_step();
	for (g = 0; g < GENS; g++)
		ibv_destroy_qp(d->qp[g]);
	ibv_dereg_mr(d->mr);
	free(want);
}

/* ---- the engine ------------------------------------------------------------------------------ */

static void soft_post(struct sdr_uc *uc, struct sdr_uc_tx *t)
{
	uint64_t end = now_ms() + WAIT_MS;

	while (!uc->ops->post(uc, t, 1))
		if (now_ms() > end)
			DIE("the network stays full");
}

static void soft_send(struct sdr_uc *uc, struct sdr_uc_qp *q, const struct hello *h, uint8_t *src)
{
	struct sdr_uc_tx t;
	uint32_t g, i;

	for (g = 0; g < GENS; g++) {
		for (i = 0; i < PKTS; i += WINDOW) {
			memset(&t, 0, sizeof(t));
			t.kind = SDR_UC_TX_WRITE;
			t.flags = SDR_UC_F_RKEYED;
			t.gen = (uint8_t)g;
			t.buf = src + g * MSG + (uint64_t)i * MTU;
			t.len = WINDOW * MTU - (i + WINDOW == PKTS ? TAIL : 0);
			t.w.qp = q;
			t.w.slot = 10 + g;
			t.w.first = i;
			t.w.va = h->va + g * MSG;
			t.w.rkey = h->rkey;
			soft_post(uc, &t);
			in_step();
		}
	}
	for (i = 0; i < WINDOW; i++) {
		t.flags = SDR_UC_F_RKEYED | SDR_UC_F_CORRUPT;
		t.buf = src + i;
		t.len = 100 + i;
		soft_post(uc, &t);
	}
	t.flags = SDR_UC_F_RKEYED;
	t.len = SOUND;
	soft_post(uc, &t);
	in_step();
}

static void soft_receive(struct sdr_uc *uc, struct sdr_uc_qp *q, uint8_t *dst, const uint8_t *want)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	uint32_t g, i, seen = 0;
	struct sdr_uc_stats st;
	int n, k;

	for (g = 0; g < GENS; g++)
		if (uc->ops->slot_bind(q, 20 + g, LAP * GENS + g, dst + g * MSG, MSG, NULL))
			DIE("no slot");
	for (g = 0; g < GENS; g++) {
		for (i = 0; i < PKTS;) {
			struct pollfd f = { .fd = uc->ops->fd(uc), .events = POLLIN };

			n = uc->ops->poll(uc, ev, SDR_UC_POLL_MIN);
			if (!n && uc->ops->deadline(uc) && poll(&f, 1, WAIT_MS) != 1)
				DIE("generation %u: %u of %u packets came", g, i, PKTS);
			for (k = 0; k < n; k++, i++) {
				if (ev[k].kind != SDR_UC_EV_PLACED || ev[k].gen != g || i >= PKTS ||
				    ev[k].len != bytes(i) ||
				    ev[k].p.imm != sdr_imm_pack(&split, 20 + g, i, 0))
					DIE("generation %u, packet %u: another event came", g, i);
				if (++seen % WINDOW == 0)
					in_step();
			}
		}
		message_check(dst, want, g);
	}
	uc->ops->stats(uc, &st);
	if (st.pkts_rx != GENS * PKTS || st.pkts_bad || st.pkts_late)
		DIE("%llu placed, %llu bad, %llu late", (unsigned long long)st.pkts_rx,
		    (unsigned long long)st.pkts_bad, (unsigned long long)st.pkts_late);
}

static void soft_case(const struct test *t)
{
	struct sdr_uc_qp_attr qa = {
		.channels = 1, .generations = GENS, .mtu = MTU, .max_msg = MSG, .split = split
	};
	struct sdr_uc_open_attr oa = { .mtu = MTU, .off = t->off };
	uint8_t *src = malloc(GENS * MSG), *dst = calloc(GENS, MSG), *want = malloc(GENS * MSG);
	char name[96], err[SDR_UC_ERR_LEN] = "";
	struct sdr_wire_qp_info own, p;
	struct sdr_uc_qp *q;
	struct sdr_uc *uc;
	const char *ip = soft_ip;
	struct hello h;
	int ret;

	if (!src || !dst || !want)
		DIE("no memory");
	fill(src, 2);
	fill(want, 1);
	if (t->any)
		ip = strchr(soft_ip, ':') ? "::" : "0.0.0.0";
	snprintf(name, sizeof(name), strchr(ip, ':') ? "soft:[%s]:%u" : "soft:%s:%u", ip,
		 t->own ? SDR_ROCE_PORT : 0);
	oa.err = err;
	oa.err_len = sizeof(err);
	if (sdr_uc_open(name, &oa, &uc))
		DIE("%s: %s", name, err);
	qa.rand[0] = now_ms() * 0x9e3779b97f4a7c15u;
	qa.rand[1] = qa.rand[0] ^ (uint64_t)getpid() << 7;
	if (uc->ops->qp_create(uc, &qa, &q))
		DIE("no queue pair");
	uc->ops->qp_info(q, &own);
	own.chunk = MTU;
	sdr_wire_qp_info_encode(h.info, &own);
	tell(&h, sizeof(h));
	hear(&h, sizeof(h));
	if (sdr_wire_qp_info_decode(h.info, sizeof(h.info), &p))
		DIE("QP info of the device is wrong");
	ret = uc->ops->qp_connect(q, &p, NULL);
	if (ret)
		DIE("connect: %s: %s", strerror(-ret), uc->ops->reason(uc));
	in_step();
	soft_send(uc, q, &h, src);
	soft_receive(uc, q, dst, want);
	in_step();
	uc->ops->qp_destroy(q);
	uc->ops->close(uc);
	free(src);
	free(dst);
	free(want);
}

/* ---- both ------------------------------------------------------------------------------------ */

static void netns_enter(void)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		DIE("namespace %s: %s", path, strerror(errno));
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ .name = "trains" },
		{ .name = "single packets", .off = SDR_SOFT_NO_GSO | SDR_SOFT_NO_GRO },
		{ .name = "bound to all addresses", .any = true },
		{ .name = "bound to port 4791", .own = true },
	};
	struct device d;
	int sv[2], status;
	uint32_t i;
	pid_t pid;

	if (argc != 5) {
		fprintf(stderr, "usage: sdr_soft_nic DEVICE NAMESPACE DEVICE_IP SOFT_IP\n");
		return 2;
	}
	dev_name = argv[1];
	netns = argv[2];
	dev_ip = argv[3];
	soft_ip = argv[4];
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		DIE("socketpair: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		DIE("fork: %s", strerror(errno));
	child = !pid;
	pipe_fd = sv[child];
	close(sv[!child]);
	if (child) {
		netns_enter();
		for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
			soft_case(&tests[i]);
		return 0;
	}
	device_open(&d);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		uint64_t t0 = now_ms();

		device_case(&d);
		printf("ok - soft engine and device, %s, %s: 2 x %u packets in %llu ms\n", soft_ip,
		       tests[i].name, GENS * PKTS, (unsigned long long)(now_ms() - t0));
	}
	if (waitpid(pid, &status, 0) != pid || status)
		DIE("the engine's process failed");
	return 0;
}
