/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Who asks for sdr and gets nothing is told why at level warn, by the name of what is not there;
 * who gets something is told nothing.  The log is libfabric's, on stderr, which is a file here.
 */
#include <fcntl.h>
#include <unistd.h>

#include "test_fi_util.h"

static char said[65536]; /* what the last call logged */

static struct fi_info *ask(const struct fi_info *h, uint64_t flags)
{
	char name[] = "/tmp/sdr-refusal.XXXXXX";
	struct fi_info *info;
	int fd = mkstemp(name), err;
	ssize_t n;

	assert_true(fd >= 0);
	unlink(name);
	fflush(stderr);
	err = dup(2);
	assert_true(err >= 0 && dup2(fd, 2) == 2);
	info = test_getinfo(TEST_API, NULL, NULL, flags, h);
	fflush(stderr);
	assert_int_equal(dup2(err, 2), 2);
	close(err);
	n = pread(fd, said, sizeof(said) - 1, 0);
	assert_true(n >= 0);
	said[n] = 0;
	close(fd);
	return info;
}

/* Is refused, and the text is said at level warn. */
#define SAYS(text, ...)                                                                \
	do {                                                                           \
		struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG);                     \
                                                                                       \
		__VA_ARGS__;                                                           \
		if (ask(h, 0))                                                         \
			fail_msg("taken: %s", #__VA_ARGS__);                           \
		fi_freeinfo(h);                                                        \
		if (!strstr(said, "<warn> nothing offered: ") || !strstr(said, text))  \
			fail_msg("%s: not \"%s\", but: %s", #__VA_ARGS__, text, said); \
	} while (0)

static void refusal__names_the_bit(void **state)
{
	(void)state;
	SAYS("capabilities FI_TRIGGER ", h->caps |= FI_TRIGGER);
	if (FI_VARIABLE_MSG != 0) { /* 0 in the headers of libfabric 2 */
		SAYS("capabilities FI_VARIABLE_MSG ", h->caps |= FI_VARIABLE_MSG);
		SAYS("receive capabilities FI_VARIABLE_MSG ", h->rx_attr->caps = FI_VARIABLE_MSG);
	}
	SAYS("FI_COLLECTIVE", h->caps |= FI_COLLECTIVE | FI_NAMED_RX_CTX);
	SAYS("FI_NAMED_RX_CTX", h->caps |= FI_COLLECTIVE | FI_NAMED_RX_CTX);
	SAYS("domain capabilities FI_SHARED_AV ", h->domain_attr->caps = FI_SHARED_AV);
	SAYS("transmit capabilities FI_TRIGGER ", h->tx_attr->caps = FI_MSG | FI_TRIGGER);
	SAYS("transmit op_flags (0x40000000) ", h->tx_attr->op_flags = FI_COMMIT_COMPLETE);
	SAYS("receive op_flags FI_INJECT ", h->rx_attr->op_flags = FI_INJECT);
	SAYS("completion order", h->tx_attr->comp_order = FI_ORDER_STRICT);
	SAYS("iov_limit 99", h->tx_attr->iov_limit = 99);
	SAYS("cq_data_size 9", h->domain_attr->cq_data_size = 9);
	SAYS("FI_MR_BASIC with other", h->domain_attr->mr_mode = FI_MR_BASIC | FI_MR_LOCAL);
	SAYS("tx_ctx_cnt 2", h->ep_attr->tx_ctx_cnt = 2);
	SAYS("traffic class", h->tx_attr->tclass = FI_TC_NETWORK_CTRL);
}

/* The type in question counts, whatever the others would have said. */
static void refusal__type(void **state)
{
	(void)state;
	if (FI_EP_SOCK_STREAM != FI_EP_UNSPEC) /* as libfabric 2 has it */
		SAYS("endpoint type FI_EP_SOCK_STREAM ", h->ep_attr->type = FI_EP_SOCK_STREAM);
	SAYS("capabilities FI_TAGGED ", h->ep_attr->type = FI_EP_DGRAM; h->caps = FI_TAGGED);
	SAYS("capabilities FI_TRIGGER ", h->ep_attr->type = FI_EP_UNSPEC;
	     h->caps = FI_TAGGED | FI_TRIGGER);
}

static void refusal__place(void **state)
{
	(void)state;
	SAYS("domain no_such_device ", h->domain_attr->name = strdup("no_such_device"));
	SAYS("fabric 10.11.12.0/24 ", h->fabric_attr->name = strdup("10.11.12.0/24"));
	SAYS("domain no_such_device ", h->ep_attr->type = FI_EP_UNSPEC; h->caps = FI_TAGGED;
	     h->domain_attr->name = strdup("no_such_device"));
}

static void refusal__silent(void **state)
{
	struct fi_info *h = test_hints(FI_EP_UNSPEC, FI_TAGGED), *info;

	(void)state;
	info = ask(h, 0); /* datagrams are refused, messages are there */
	assert_non_null(info);
	assert_null(strstr(said, "nothing offered"));
	fi_freeinfo(info);
	assert_null(ask(h, 1ULL << 59)); /* a utility provider: nobody's wish */
	assert_null(strstr(said, "nothing offered"));
	fi_freeinfo(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusal__names_the_bit),
		cmocka_unit_test(refusal__type),
		cmocka_unit_test(refusal__place),
		cmocka_unit_test(refusal__silent),
	};

	test_env();
	setenv("FI_LOG_LEVEL", "warn", 1);
	setenv("FI_LOG_PROV", "sdr", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
