/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory of devices at the verbs engine: what is registered under which address, what is refused
 * and for how long, and that nothing but the device reads it.  The RDMA device is a table of
 * functions, the other one's memory pages that nobody may touch.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "uc/verbs/sdr_verbs_impl.h"

#define LEN  (1u << 20)
#define MTU  1024u
#define PAGE 4096u

/* What the device was asked for last, and says. */
static struct {
	struct ibv_mr mr[64];
	uint32_t regs, deregs;
	uint64_t off, iova;
	size_t len;
	int fd, access, err;
} dev;

static struct sdr_verbs v;
static struct sdr_verbs_pd pd;
static struct sdr_ibv ibv;
static uint8_t *bytes; /* of the other device */
static uint32_t exports;
static int export_err;

static struct ibv_mr *dev_reg_dmabuf(struct ibv_pd *p, uint64_t off, size_t len, uint64_t iova,
				     int fd, int access)
{
	(void)p;
	assert_true(fcntl(fd, F_GETFD) >= 0);
	dev.off = off;
	dev.len = len;
	dev.iova = iova;
	dev.fd = fd;
	dev.access = access;
	errno = dev.err;
	if (dev.err)
		return NULL;
	assert_int_equal(off % PAGE, iova % PAGE);
	dev.mr[dev.regs].lkey = dev.mr[dev.regs].rkey = 100 + dev.regs;
	return &dev.mr[dev.regs++];
}

static struct ibv_mr *dev_reg(struct ibv_pd *p, void *addr, size_t len, int access)
{
	(void)p;
	(void)addr;
	(void)len;
	(void)access;
	fail_msg("pages of a device registered as the CPU's");
	return NULL;
}

static int dev_dereg(struct ibv_mr *mr)
{
	assert_true(mr >= dev.mr && mr < dev.mr + dev.regs);
	dev.deregs++;
	return 0;
}

/* The "dma-buf" begins a page before the memory. */
static int far_dmabuf(const struct sdr_mem *m, const void *p, size_t n, struct sdr_dmabuf *out)
{
	(void)m;
	assert_true((const uint8_t *)p >= bytes && n <= LEN - (size_t)((const uint8_t *)p - bytes));
	exports++;
	if (export_err)
		return export_err;
	out->fd = dup(0);
	out->off = PAGE + (uint64_t)((const uint8_t *)p - bytes);
	return 0;
}

static const struct sdr_mem_ops far_ops = { .name = "far", .dmabuf = far_dmabuf };
static const struct sdr_mem far = { &far_ops }, other = { &far_ops };

static int far_open(void **state)
{
	(void)state;
	memset(&dev, 0, sizeof(dev));
	memset(&v, 0, sizeof(v));
	memset(&pd, 0, sizeof(pd));
	exports = 0;
	export_err = 0;
	bytes = mmap(NULL, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ibv.reg_dmabuf_mr = dev_reg_dmabuf;
	ibv.reg_mr = dev_reg;
	ibv.dereg_mr = dev_dereg;
	pd.ibv = v.ibv = &ibv;
	pd.pid = getpid();
	strcpy(pd.name, "fake0");
	pthread_mutex_init(&pd.lock, NULL);
	v.pd = &pd;
	v.keys = &sdr_verbs_keys_mr;
	return bytes == MAP_FAILED;
}

static int far_close(void **state)
{
	(void)state;
	assert_int_equal(pd.nmr, 0);
	assert_int_equal(dev.regs, dev.deregs);
	free(pd.mr);
	pthread_mutex_destroy(&pd.lock);
	return munmap(bytes, LEN);
}

static void far__is_registered_under_its_own_address(void **state)
{
	void *a, *b;
	int free_fd = dup(0);

	(void)state;
	close(free_fd);
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes + 100, 100000, &far, &a), 0);
	assert_true(dev.iova == (uintptr_t)bytes + 100 && dev.off == PAGE + 100);
	assert_int_equal(dev.len, 100000);
	assert_int_equal(dev.fd, free_fd);
	assert_int_equal(fcntl(free_fd, F_GETFD), -1); /* closed */
	/* inside it, however short: the same */
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes + 200, 10, &far, &b), 0);
	assert_int_equal(dev.regs, 1);
	sdr_verbs_mr_dereg(&v.uc, b);
	/* but not as another's memory, or the CPU's */
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes + 200, 70000, &other, &b), 0);
	assert_int_equal(dev.regs, 2);
	sdr_verbs_mr_dereg(&v.uc, b);
	sdr_verbs_mr_dereg(&v.uc, a);
	/* too short to be worth it */
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes, SDR_VERBS_REG_MIN - 1, &far, &a), -EAGAIN);
	assert_int_equal(dev.regs, 2);
}

static void far__is_refused(void **state)
{
	void *a;

	(void)state;
	/* for now */
	dev.err = ENOMEM;
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes, LEN, &far, &a), -ENOMEM);
	dev.err = 0;
	export_err = -EINVAL;
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes, LEN, &far, &a), -EINVAL);
	export_err = 0;
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes, LEN, &far, &a), 0);
	sdr_verbs_mr_dereg(&v.uc, a);
	/* for good: of this memory */
	dev.err = EOPNOTSUPP;
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes, LEN, &far, &a), -EOPNOTSUPP);
	assert_non_null(strstr(v.reason, "fake0: "));
	assert_non_null(strstr(v.reason, "dma-buf"));
	dev.err = 0;
	exports = 0;
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes, LEN, &far, &a), -EOPNOTSUPP);
	assert_int_equal(exports, 0);
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes, LEN, &other, &a), 0);
	sdr_verbs_mr_dereg(&v.uc, a);
	/* a library without the call */
	ibv.reg_dmabuf_mr = NULL;
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes, LEN, &other, &a), -EOPNOTSUPP);
}

/* Under a key and an address of its own, which tells nothing but a place in a page. */
static void far__is_granted(void **state)
{
	struct sdr_verbs_range r = { bytes + 5000, 3000, &far, NULL };
	struct sdr_uc_grant g = { 0 }, h = { 0 };

	(void)state;
	assert_int_equal(v.keys->grant(&v, &r, &g), 0);
	assert_true(g.va == 5000 - PAGE && dev.iova == g.va && dev.off == PAGE + 5000);
	assert_int_equal(g.rkey, 100);
	assert_int_equal(dev.access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(v.keys->grant(&v, &r, &h), 0);
	assert_int_equal(h.rkey, 101);
	v.keys->end(&v, &g);
	v.keys->end(&v, &h);
	dev.err = EMFILE;
	assert_int_equal(v.keys->grant(&v, &r, &g), -EMFILE);
}

/* A region whose dma-buf the application named: its memory is never asked for one. */
static void far__named_by_its_application(void **state)
{
	struct sdr_dmabuf d = { .fd = dup(0), .off = 2 * PAGE };
	struct sdr_verbs_range r = { bytes, LEN, &far, &d };
	struct sdr_verbs_range part = { bytes + 5000, 3000, &far, NULL };
	struct sdr_uc_grant g = { 0 };
	struct sdr_verbs_mr *m;
	void *a;

	(void)state;
	m = sdr_verbs_mr_get(&pd, &r, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(m);
	assert_int_equal(dev.fd, d.fd);
	assert_int_equal(dev.off, 2 * PAGE);
	close(d.fd); /* its own; ours is another */
	assert_int_equal(v.keys->grant(&v, &part, &g), 0);
	assert_int_equal(dev.off, 2 * PAGE + 5000);
	v.keys->end(&v, &g);
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes + 10, 100, &far, &a), 0);
	sdr_verbs_mr_dereg(&v.uc, a);
	assert_int_equal(exports, 0);
	d.fd = m->dmabuf.fd;
	sdr_verbs_mr_put(&pd, m);
	assert_int_equal(fcntl(d.fd, F_GETFD), -1);
}

/* ---- sending --------------------------------------------------------------------------------- */

static struct ibv_send_wr sent[4];
static struct ibv_sge sge[4];
static uint32_t nsent;

static int dev_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	(void)bad;
	for (nsent = 0; wr; wr = wr->next) {
		sge[nsent] = *wr->sg_list;
		sent[nsent++] = *wr;
	}
	return 0;
}

static int dev_poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	(void)cq;
	(void)max;
	(void)wc;
	return 0;
}

/* The last packet is short enough to travel inside its request; then the CPU would read it. */
static void far__is_read_by_the_device_alone(void **state)
{
	static struct ibv_context ctx = { .ops = { .post_send = dev_post_send,
						   .poll_cq = dev_poll_cq } };
	struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	struct ibv_qp qp = { .context = &ctx };
	struct ibv_cq cq = { .context = &ctx };
	struct sdr_verbs_batch batch[4] = { 0 };
	struct sdr_verbs_qp *q = calloc(1, sizeof(*q) + sizeof(q->tp[0]));
	struct sdr_uc_tx t = {
		.kind = SDR_UC_TX_WRITE,
		.flags = SDR_UC_F_RKEYED,
		.len = 2 * MTU + 8,
		.buf = bytes + 300,
	};
	void *a;

	(void)state;
	assert_non_null(q);
	v.mtu = MTU;
	v.inl = 128;
	v.tx_depth = 4;
	v.scq = &cq;
	v.copy_free = SDR_VERBS_NONE;
	for (uint32_t i = 0; i < SDR_VERBS_BATCH; i++) {
		v.swr[i].sg_list = &v.sge[i];
		v.swr[i].next = i + 1 < SDR_VERBS_BATCH ? &v.swr[i + 1] : NULL;
	}
	q->qp.uc = &v.uc;
	q->v = &v;
	q->channels = q->generations = q->ntp = 1;
	q->split = split;
	q->mtu = MTU;
	q->connected = true;
	q->tp[0].q = q;
	q->tp[0].qp = &qp;
	q->tp[0].tx_free = 4;
	q->tp[0].batch = batch;
	assert_int_equal(sdr_verbs_tp_add(&v, &q->tp[0]), 0);
	assert_int_equal(sdr_verbs_mr_reg(&v.uc, bytes, LEN, &far, &a), 0);
	t.w.qp = &q->qp;
	t.mr = a;
	assert_int_equal(sdr_verbs_post(&v.uc, &t, 1), 1);
	assert_int_equal(nsent, 3);
	for (uint32_t i = 0; i < nsent; i++) {
		assert_false(sent[i].send_flags & IBV_SEND_INLINE);
		assert_true(sge[i].addr == (uintptr_t)bytes + 300 + i * MTU);
		assert_int_equal(sge[i].lkey, 100);
		assert_int_equal(sge[i].length, i < 2 ? MTU : 8);
	}
	sdr_verbs_mr_dereg(&v.uc, a);
	assert_true(sdr_verbs_mr_reading(&v.uc, bytes + 5000, 1));
	sdr_verbs_tp_forget(&q->tp[0]);
	assert_false(sdr_verbs_mr_reading(&v.uc, bytes + 5000, 1));
	free(v.tps);
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(far__is_registered_under_its_own_address, far_open,
						far_close),
		cmocka_unit_test_setup_teardown(far__is_refused, far_open, far_close),
		cmocka_unit_test_setup_teardown(far__is_granted, far_open, far_close),
		cmocka_unit_test_setup_teardown(far__named_by_its_application, far_open, far_close),
		cmocka_unit_test_setup_teardown(far__is_read_by_the_device_alone, far_open,
						far_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
