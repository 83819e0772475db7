/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* fi_getinfo: every hint is honoured or refused, and what is returned is what was requested. */
#include "test_fi_util.h"

static void info__both_types_rdm_first(void **state)
{
	struct fi_info *h = test_hints(FI_EP_UNSPEC, 0), *info, *i;
	bool dgram = false, rdm = false, lo = false;

	(void)state;
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_non_null(info);
	assert_int_equal(info->ep_attr->type, FI_EP_RDM);
	for (i = info; i; i = i->next) {
		assert_string_equal(i->fabric_attr->prov_name, "sdr");
		assert_int_equal(i->fabric_attr->api_version, TEST_API);
		assert_non_null(i->src_addr);
		assert_non_null(i->domain_attr->name);
		assert_non_null(i->fabric_attr->name);
		rdm |= i->ep_attr->type == FI_EP_RDM;
		assert_false(dgram && i->ep_attr->type == FI_EP_RDM);
		dgram |= i->ep_attr->type == FI_EP_DGRAM;
		lo |= strcmp(i->domain_attr->name, "lo") == 0;
		assert_int_equal(!(i->caps & FI_ATOMIC), i->ep_attr->type == FI_EP_DGRAM);
		assert_int_equal(i->tx_attr->caps & ~i->caps, 0);
		assert_int_equal(i->rx_attr->caps & ~i->caps, 0);
		assert_int_equal(i->tx_attr->caps &
					 (FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SOURCE),
				 0);
		assert_int_equal(i->rx_attr->caps & (FI_SEND | FI_READ | FI_WRITE), 0);
	}
	assert_true(rdm && dgram && lo);
	fi_freeinfo(info);
	fi_freeinfo(h);
}

static void info__utility_probe_gets_nothing(void **state)
{
	struct fi_info *h = test_hints(FI_EP_UNSPEC, 0);

	(void)state;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 1ULL << 59, h));
	fi_freeinfo(h);
}

/* Sets one field, asks, expects or not. */
#define ASK(expr)                                                                       \
	do {                                                                            \
		struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG | FI_TAGGED | FI_RMA); \
		expr;                                                                   \
		info = test_getinfo(TEST_API, NULL, NULL, 0, h);                        \
		h->fabric_attr->name = h->domain_attr->name = NULL;                     \
		fi_freeinfo(h);                                                         \
	} while (0)
#define TAKEN(expr, check)                                                  \
	do {                                                                \
		struct fi_info *info;                                       \
		ASK(expr);                                                  \
		if (!info)                                                  \
			fail_msg("refused: %s", #expr);                     \
		if (!(check))                                               \
			fail_msg("%s is not true after %s", #check, #expr); \
		fi_freeinfo(info);                                          \
	} while (0)
#define REFUSED(expr)                                 \
	do {                                          \
		struct fi_info *info;                 \
		ASK(expr);                            \
		if (info)                             \
			fail_msg("taken: %s", #expr); \
	} while (0)

static void info__caps(void **state)
{
	(void)state;
	TAKEN(h->caps = FI_MSG,
	      info->caps & FI_SEND && info->caps & FI_RECV && !(info->caps & (FI_TAGGED | FI_RMA)));
	TAKEN(h->caps = FI_MSG | FI_SEND, !(info->caps & FI_RECV));
	TAKEN(h->caps = FI_RMA | FI_READ, !(info->caps & (FI_WRITE | FI_REMOTE_WRITE)));
	TAKEN(h->caps = FI_TAGGED, !(info->caps & (FI_SOURCE | FI_RMA_EVENT)));
	TAKEN(h->caps = FI_TAGGED | FI_SOURCE | FI_DIRECTED_RECV,
	      info->rx_attr->caps & FI_DIRECTED_RECV);
	TAKEN(h->caps = 0, info->caps & FI_RMA);
	TAKEN(h->tx_attr->caps = FI_MSG,
	      info->tx_attr->caps & FI_SEND && !(info->tx_attr->caps & FI_RMA));
	/* old applications leave receive bits there */
	TAKEN(h->tx_attr->caps = FI_MSG | FI_RECV, true);
	TAKEN(h->caps = FI_ATOMIC, info->caps & FI_ATOMIC && info->caps & FI_WRITE &&
					   info->caps & FI_REMOTE_READ && !(info->caps & FI_RMA));
	TAKEN(h->caps = FI_ATOMIC | FI_READ, !(info->caps & (FI_WRITE | FI_REMOTE_WRITE)));
	REFUSED(h->caps = FI_MSG | FI_MULTICAST);
	REFUSED(h->caps = FI_MSG | FI_TRIGGER);
	REFUSED(h->caps = FI_COLLECTIVE);
	REFUSED(h->caps = FI_MSG | FI_HMEM);
	REFUSED(h->caps = FI_MSG | FI_NAMED_RX_CTX);
	if (FI_VARIABLE_MSG != 0) { /* 0 in the headers of libfabric 2 */
		REFUSED(h->caps = FI_MSG | FI_VARIABLE_MSG);
		REFUSED(h->rx_attr->caps = FI_VARIABLE_MSG);
	}
	TAKEN(h->tx_attr->caps = FI_ATOMIC, true);
	REFUSED(h->ep_attr->type = FI_EP_DGRAM; h->caps = FI_ATOMIC);
	REFUSED(h->domain_attr->caps = FI_SHARED_AV);
}

static void info__traffic_class(void **state)
{
	struct fi_info *hints = test_hints(FI_EP_RDM, FI_MSG), *old;

	(void)state;
	TAKEN(h->caps = FI_MSG, info->tx_attr->tclass == FI_TC_UNSPEC);
	TAKEN(h->tx_attr->tclass = fi_tc_dscp_set(46),
	      info->tx_attr->tclass == fi_tc_dscp_set(46) && !info->domain_attr->tclass);
	TAKEN(h->domain_attr->tclass = FI_TC_SCAVENGER,
	      info->domain_attr->tclass == FI_TC_SCAVENGER &&
		      info->tx_attr->tclass == FI_TC_SCAVENGER);
	REFUSED(h->tx_attr->tclass = FI_TC_NETWORK_CTRL);
	REFUSED(h->domain_attr->tclass = fi_tc_dscp_set(64));
	setenv("FI_SDR_DSCP", "AF11", 1);
	TAKEN(h->caps = FI_MSG, info->tx_attr->tclass == fi_tc_dscp_set(10));
	TAKEN(h->tx_attr->tclass = FI_TC_BEST_EFFORT, info->tx_attr->tclass == FI_TC_BEST_EFFORT);
	/* an application that knows no such field */
	old = test_getinfo(FI_VERSION(1, 8), NULL, NULL, 0, hints);
	assert_non_null(old);
	assert_int_equal(old->tx_attr->tclass, 0);
	fi_freeinfo(old);
	unsetenv("FI_SDR_DSCP");
	fi_freeinfo(hints);
}

static void info__attributes(void **state)
{
	(void)state;
	TAKEN(h->mode = 0, info->mode == 0);
	TAKEN(h->tx_attr->msg_order = FI_ORDER_SAS, info->tx_attr->msg_order & FI_ORDER_SAS);
	TAKEN(h->mode = 0, info->tx_attr->msg_order == FI_ORDER_SAS);
	TAKEN(h->rx_attr->msg_order = FI_ORDER_STRICT, info->rx_attr->msg_order == FI_ORDER_STRICT);
	REFUSED(h->tx_attr->msg_order = FI_ORDER_DATA);
	REFUSED(h->rx_attr->msg_order = 1ULL << 63);
	REFUSED(h->tx_attr->comp_order = FI_ORDER_STRICT);
	TAKEN(h->tx_attr->size = 7, info->tx_attr->size == 7);
	REFUSED(h->tx_attr->size = 1u << 20);
	TAKEN(h->rx_attr->size = 9, info->rx_attr->size == 9);
	TAKEN(h->tx_attr->inject_size = 4096, info->tx_attr->inject_size == 4096);
	REFUSED(h->tx_attr->inject_size = 4097);
	TAKEN(h->tx_attr->iov_limit = 8, info->tx_attr->iov_limit == 8);
	REFUSED(h->tx_attr->iov_limit = 9);
	REFUSED(h->rx_attr->iov_limit = 9);
	REFUSED(h->tx_attr->rma_iov_limit = 2);
	TAKEN(h->tx_attr->op_flags = FI_DELIVERY_COMPLETE,
	      info->tx_attr->op_flags == FI_DELIVERY_COMPLETE);
	TAKEN(h->tx_attr->op_flags = FI_COMPLETION, info->tx_attr->op_flags == FI_COMPLETION);
	REFUSED(h->tx_attr->op_flags = FI_COMMIT_COMPLETE);
	REFUSED(h->rx_attr->op_flags = FI_INJECT);
	TAKEN(h->domain_attr->threading = FI_THREAD_DOMAIN,
	      info->domain_attr->threading == FI_THREAD_DOMAIN);
	TAKEN(h->domain_attr->data_progress = FI_PROGRESS_MANUAL,
	      info->domain_attr->data_progress == FI_PROGRESS_MANUAL);
	TAKEN(h->domain_attr->control_progress = 3, true);
	TAKEN(h->domain_attr->resource_mgmt = FI_RM_ENABLED,
	      info->domain_attr->resource_mgmt == FI_RM_ENABLED);
	TAKEN(h->domain_attr->av_type = FI_AV_MAP, info->domain_attr->av_type == FI_AV_MAP);
	TAKEN(h->domain_attr->cq_data_size = 8, info->domain_attr->cq_data_size == 8);
	REFUSED(h->domain_attr->cq_data_size = 9);
	REFUSED(h->domain_attr->mr_iov_limit = 2);
	REFUSED(h->ep_attr->tx_ctx_cnt = 2);
	REFUSED(h->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT);
	REFUSED(h->ep_attr->rx_ctx_cnt = 2);
	TAKEN(h->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT,
	      info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT);
	TAKEN(h->ep_attr->rx_ctx_cnt = 1, info->ep_attr->rx_ctx_cnt == 1);
	TAKEN(h->ep_attr->type = FI_EP_MSG, info->ep_attr->type == FI_EP_MSG);
	REFUSED(h->ep_attr->max_msg_size = SIZE_MAX);
	REFUSED(h->ep_attr->protocol = FI_PROTO_UDP);
	REFUSED(h->ep_attr->max_order_raw_size = 1);
	REFUSED(h->ep_attr->max_order_war_size = 1);
	REFUSED(h->ep_attr->max_order_waw_size = 1);
	REFUSED(h->addr_format = FI_ADDR_STR);
	REFUSED(h->domain_attr->name = strdupa("no_such_device"));
	TAKEN(h->domain_attr->name = strdupa("lo"), strcmp(info->domain_attr->name, "lo") == 0);
	REFUSED(h->fabric_attr->name = strdupa("10.11.12.0/24"));
	TAKEN(h->fabric_attr->name = strdupa("127.0.0.0/8"),
	      strcmp(info->domain_attr->name, "lo") == 0);
	TAKEN(h->addr_format = FI_SOCKADDR_IN, info->addr_format == FI_SOCKADDR_IN);
	TAKEN(h->addr_format = FI_SOCKADDR, true);
}

/* Each order is there for who asks, data at any size with it; nobody else has it. */
static void info__orders(void **state)
{
	static const struct {
		uint64_t bit;
		bool raw, war, waw;
	} orders[] = {
		{ FI_ORDER_RAR, false, false, false },
		{ FI_ORDER_RAW, true, false, false },
		{ FI_ORDER_RAS, false, false, false },
		{ FI_ORDER_WAR, false, true, false },
		{ FI_ORDER_WAW, false, false, true },
		{ FI_ORDER_WAS, false, false, false },
		{ FI_ORDER_SAR, false, false, false },
		{ FI_ORDER_SAW, false, false, false },
		{ FI_ORDER_RMA_RAR, false, false, false },
		{ FI_ORDER_RMA_RAW, true, false, false },
		{ FI_ORDER_RMA_WAR, false, true, false },
		{ FI_ORDER_RMA_WAW, false, false, true },
		{ FI_ORDER_ATOMIC_RAR, false, false, false },
		{ FI_ORDER_ATOMIC_RAW, true, false, false },
		{ FI_ORDER_ATOMIC_WAR, false, true, false },
		{ FI_ORDER_ATOMIC_WAW, false, false, true },
		{ FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_SAS, true, false, true },
		{ FI_ORDER_STRICT, true, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG | FI_RMA), *info;

		h->tx_attr->msg_order = orders[i].bit;
		info = test_getinfo(TEST_API, NULL, NULL, 0, h);
		assert_non_null(info);
		assert_true(info->tx_attr->msg_order == (orders[i].bit | FI_ORDER_SAS));
		assert_true(info->rx_attr->msg_order == FI_ORDER_SAS);
		assert_true(info->ep_attr->max_order_raw_size == (orders[i].raw ? SIZE_MAX : 0));
		assert_true(info->ep_attr->max_order_war_size == (orders[i].war ? SIZE_MAX : 0));
		assert_true(info->ep_attr->max_order_waw_size == (orders[i].waw ? SIZE_MAX : 0));
		fi_freeinfo(info);
		/* A size may be asked for with its order. */
		h->ep_attr->max_order_raw_size = 1u << 20;
		info = test_getinfo(TEST_API, NULL, NULL, 0, h);
		assert_true((info != NULL) == orders[i].raw);
		fi_freeinfo(info);
		fi_freeinfo(h);
	}
}

static void info__mr_mode(void **state)
{
	(void)state;
	TAKEN(h->domain_attr->mr_mode = 0, info->domain_attr->mr_mode == 0);
	TAKEN(h->domain_attr->mr_mode = FI_MR_BASIC, info->domain_attr->mr_mode == FI_MR_BASIC);
	TAKEN(h->domain_attr->mr_mode = FI_MR_SCALABLE,
	      info->domain_attr->mr_mode == FI_MR_SCALABLE);
	TAKEN(h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
					FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_RAW,
	      info->domain_attr->mr_mode == (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY));
	/* The three together or none: that is how they are relied on. */
	TAKEN(h->domain_attr->mr_mode =
		      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT,
	      info->domain_attr->mr_mode == 0);
	REFUSED(h->domain_attr->mr_mode = FI_MR_BASIC | FI_MR_LOCAL);
	REFUSED(h->domain_attr->mr_mode = FI_MR_SCALABLE | FI_MR_PROV_KEY);
}

/* Nothing is required; who offers to post receives for data of writes gets to. */
static void info__mode(void **state)
{
	(void)state;
	TAKEN(h->mode = FI_CONTEXT | FI_CONTEXT2 | FI_ASYNC_IOV,
	      info->mode == 0 && info->rx_attr->mode == 0 && info->tx_attr->mode == 0);
	TAKEN(h->mode = FI_CONTEXT | FI_RX_CQ_DATA,
	      info->mode == FI_RX_CQ_DATA && info->rx_attr->mode == FI_RX_CQ_DATA);
}

static void info__old_api(void **state)
{
	struct fi_info *h = test_hints(FI_EP_RDM, FI_RMA), *info;

	(void)state;
	info = test_getinfo(FI_VERSION(1, 4), NULL, NULL, 0, h);
	assert_non_null(info);
	assert_int_equal(info->domain_attr->mr_mode, FI_MR_BASIC);
	assert_int_equal(info->fabric_attr->api_version, FI_VERSION(1, 4));
	fi_freeinfo(info);
	h->domain_attr->mr_mode = FI_MR_PROV_KEY; /* bits came with 1.5 */
	assert_null(test_getinfo(FI_VERSION(1, 4), NULL, NULL, 0, h));
	fi_freeinfo(h);
}

static void info__addresses(void **state)
{
	struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG), *info;
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(4242) };
	struct sockaddr_in *p;

	(void)state;
	/* destination: resolved, source chosen by the route */
	info = test_getinfo(TEST_API, "127.0.0.1", "9228", 0, h);
	assert_non_null(info);
	p = info->dest_addr;
	assert_int_equal(ntohs(p->sin_port), 9228);
	p = info->src_addr;
	assert_int_equal(ntohl(p->sin_addr.s_addr), INADDR_LOOPBACK);
	assert_int_equal(p->sin_port, 0);
	assert_string_equal(info->domain_attr->name, "lo");
	fi_freeinfo(info);
	/* source */
	info = test_getinfo(TEST_API, "127.0.0.1", "9228", FI_SOURCE, h);
	assert_non_null(info);
	p = info->src_addr;
	assert_int_equal(ntohs(p->sin_port), 9228);
	assert_null(info->dest_addr);
	fi_freeinfo(info);
	/* a service alone binds all addresses, on a device one of its own */
	info = test_getinfo(TEST_API, NULL, "9228", FI_SOURCE, h);
	assert_non_null(info);
	p = info->src_addr;
	assert_int_equal(p->sin_addr.s_addr == INADDR_ANY, info->nic == NULL);
	assert_int_equal(ntohs(p->sin_port), 9228);
	fi_freeinfo(info);
	setenv("FI_SDR_ENGINE", "soft", 1);
	info = test_getinfo(TEST_API, NULL, "9228", FI_SOURCE, h);
	unsetenv("FI_SDR_ENGINE");
	assert_non_null(info);
	p = info->src_addr;
	assert_int_equal(p->sin_addr.s_addr, INADDR_ANY);
	assert_int_equal(ntohs(p->sin_port), 9228);
	fi_freeinfo(info);
	/* not one of this machine's */
	assert_null(test_getinfo(TEST_API, "192.0.2.77", NULL, FI_SOURCE, h));
	/* not a name */
	assert_null(test_getinfo(TEST_API, "g00n13s.invalid", NULL, 0, h));
	assert_null(test_getinfo(TEST_API, "localhost", NULL, FI_NUMERICHOST, h));
	/* through the hints */
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	h->src_addr = malloc(sizeof(sin));
	memcpy(h->src_addr, &sin, sizeof(sin));
	h->src_addrlen = sizeof(sin);
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_non_null(info);
	assert_memory_equal(info->src_addr, &sin, sizeof(sin));
	assert_null(info->next);
	fi_freeinfo(info);
	h->src_addrlen = 3;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	fi_freeinfo(h);
}

static void info__ipv6(void **state)
{
	struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG), *info;

	(void)state;
	h->addr_format = FI_SOCKADDR_IN6;
	info = test_getinfo(TEST_API, "::1", NULL, FI_SOURCE, h);
	fi_freeinfo(h);
	if (!info)
		skip(); /* no IPv6 here */
	assert_int_equal(info->addr_format, FI_SOCKADDR_IN6);
	assert_int_equal(info->src_addrlen, sizeof(struct sockaddr_in6));
	fi_freeinfo(info);
}

static void info__dgram(void **state)
{
	struct fi_info *h = test_hints(FI_EP_DGRAM, FI_MSG), *info;

	(void)state;
	info = test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h);
	assert_non_null(info);
	assert_true(info->ep_attr->max_msg_size >= 1000 && info->ep_attr->max_msg_size <= 4096);
	assert_int_equal(info->tx_attr->msg_order, 0);
	assert_int_equal(info->ep_attr->max_order_raw_size, 0);
	h->ep_attr->max_msg_size = info->ep_attr->max_msg_size + 1;
	assert_null(test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h));
	h->ep_attr->max_msg_size = 0;
	fi_freeinfo(info);
	h->caps = FI_TAGGED;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	h->caps = FI_RMA;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	fi_freeinfo(h);
}

static void info__wrong_environment(void **state)
{
	struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG), *info;

	(void)state;
	setenv("FI_SDR_RATE", "fast", 1);
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	setenv("FI_SDR_RATE", "1gbit", 1);
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_non_null(info);
	fi_freeinfo(info);
	setenv("FI_SDR_EC_K", "250", 1);
	setenv("FI_SDR_EC_M", "10", 1); /* together more symbols than a code has */
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	unsetenv("FI_SDR_RATE");
	unsetenv("FI_SDR_EC_K");
	unsetenv("FI_SDR_EC_M");
	fi_freeinfo(h);
}

/*
 * Entries of devices have one, come first, and are there only when wanted; there may be none on
 * this machine.
 */
static void info__engines(void **state)
{
	struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG), *info, *i;
	unsigned int soft = 0, verbs = 0;

	(void)state;
	setenv("FI_SDR_ENGINE", "soft", 1);
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_non_null(info);
	for (i = info; i; i = i->next, soft++)
		assert_null(i->nic);
	fi_freeinfo(info);

	setenv("FI_SDR_ENGINE", "verbs", 1);
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	for (i = info; i; i = i->next, verbs++) {
		assert_non_null(i->nic);
		assert_string_equal(i->nic->device_attr->name, i->domain_attr->name);
		assert_int_not_equal(i->src_addrlen, 0);
	}
	fi_freeinfo(info);

	unsetenv("FI_SDR_ENGINE");
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_non_null(info);
	for (i = info; i; i = i->next) {
		if (verbs) {
			assert_non_null(i->nic);
			verbs--;
		} else {
			assert_null(i->nic);
			assert_int_not_equal(soft--, 0);
		}
	}
	assert_int_equal(soft, 0);
	fi_freeinfo(info);
	fi_freeinfo(h);
}

/*
 * A domain is what its info says; one that names a device which is not there is refused where
 * nothing else will do.
 */
static void info__domain_of_an_engine(void **state)
{
	struct fi_info *h = test_hints(FI_EP_RDM, FI_MSG), *info;
	struct fid_fabric *fabric;
	struct fid_domain *dom;

	(void)state;
	h->domain_attr->name = strdup("lo");
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_non_null(info);
	assert_ok(fi_fabric(info->fabric_attr, &fabric, NULL));
	assert_ok(fi_domain(fabric, info, &dom, NULL));
	assert_ok(fi_close(&dom->fid));
	setenv("FI_SDR_ENGINE", "verbs", 1); /* changed after fi_getinfo: lo is no device */
	assert_int_equal(fi_domain(fabric, info, &dom, NULL), -FI_ENODEV);
	unsetenv("FI_SDR_ENGINE");
	assert_ok(fi_close(&fabric->fid));
	fi_freeinfo(info);
	fi_freeinfo(h);
}

/* What fi_info shows as the provider's version is the package's. */
static void info__version(void **state)
{
	struct fi_info *h = test_hints(FI_EP_RDM, 0), *info;
	unsigned int major = 0, minor = 0;

	(void)state;
	assert_int_equal(sscanf(PACKAGE_VERSION, "%u.%u.", &major, &minor), 2);
	info = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_non_null(info);
	assert_int_equal(info->fabric_attr->prov_version, FI_VERSION(major, minor));
	fi_freeinfo(info);
	fi_freeinfo(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info__version),
		cmocka_unit_test(info__both_types_rdm_first),
		cmocka_unit_test(info__utility_probe_gets_nothing),
		cmocka_unit_test(info__caps),
		cmocka_unit_test(info__traffic_class),
		cmocka_unit_test(info__attributes),
		cmocka_unit_test(info__orders),
		cmocka_unit_test(info__mr_mode),
		cmocka_unit_test(info__mode),
		cmocka_unit_test(info__old_api),
		cmocka_unit_test(info__addresses),
		cmocka_unit_test(info__ipv6),
		cmocka_unit_test(info__dgram),
		cmocka_unit_test(info__wrong_environment),
		cmocka_unit_test(info__engines),
		cmocka_unit_test(info__domain_of_an_engine),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
