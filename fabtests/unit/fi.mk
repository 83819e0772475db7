# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# cmocka programs for prov/sdr/fi.  All but test_fi_raise, test_fi_cache, test_fi_qos, test_fi_env, test_fi_iface, test_fi_err, test_fi_nic and
# test_fi_region use the public libfabric API and load the
# provider from FI_PROVIDER_PATH, as an application does: they are linked with libfabric only (test_fi_work with the
# layer as well, for the pool of threads by itself; test_fi_yield for what decides on yields; test_fi_named for one
# function).

FI_TESTS = test_fi_info test_fi_queue test_fi_ep test_fi_wait test_fi_sleep test_fi_rma test_fi_atomic test_fi_dgram test_fi_threads test_fi_order
FI_TESTS += test_fi_exit test_fi_addr test_fi_source test_consumers test_fi_refusal test_fi_peer test_fi_msg test_fi_msg_data
FI_TESTS += test_fi_msg_order test_fi_srx test_fi_view test_fi_notify test_fi_dgram_rma
UNIT_TESTS += test_fi_raise test_fi_err test_fi_cache test_fi_qos test_fi_env test_fi_iface test_fi_nic test_fi_region test_fi_work test_fi_yield test_fi_named $(FI_TESTS)
FI_TEST_LIBS = $(CMOCKA_LIBS) $(LIBFABRIC_LIBS) -lpthread

test_fi_raise_SOURCES = fabtests/unit/test_fi_raise.c
test_fi_raise_LDADD = $(SDR_ALL_LIBS) $(CMOCKA_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)
test_fi_err_SOURCES = fabtests/unit/test_fi_err.c
test_fi_err_LDADD = $(SDR_ALL_LIBS) $(CMOCKA_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)
test_fi_cache_SOURCES = fabtests/unit/test_fi_cache.c
test_fi_cache_LDADD = $(SDR_ALL_LIBS) $(CMOCKA_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)
test_fi_qos_SOURCES = fabtests/unit/test_fi_qos.c
test_fi_qos_LDADD = $(SDR_ALL_LIBS) $(CMOCKA_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)
test_fi_env_SOURCES = fabtests/unit/test_fi_env.c
test_fi_env_LDADD = $(SDR_ALL_LIBS) $(CMOCKA_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)
test_fi_iface_SOURCES = fabtests/unit/test_fi_iface.c
test_fi_iface_LDADD = $(SDR_ALL_LIBS) $(CMOCKA_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)
test_fi_nic_SOURCES = fabtests/unit/test_fi_nic.c
test_fi_nic_LDADD = $(SDR_ALL_LIBS) $(CMOCKA_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)
test_fi_region_SOURCES = fabtests/unit/test_fi_region.c
test_fi_region_LDADD = $(SDR_ALL_LIBS) $(CMOCKA_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)
test_fi_work_SOURCES = fabtests/unit/test_fi_work.c fabtests/unit/test_fi_util.h
test_fi_work_LDADD = $(SDR_ALL_LIBS) $(FI_TEST_LIBS) $(SDR_SYS_LIBS)
test_fi_yield_SOURCES = fabtests/unit/test_fi_yield.c fabtests/unit/test_fi_util.h
test_fi_yield_LDADD = $(SDR_ALL_LIBS) $(FI_TEST_LIBS) $(SDR_SYS_LIBS)
test_fi_info_SOURCES = fabtests/unit/test_fi_info.c fabtests/unit/test_fi_util.h
test_fi_info_LDADD = $(FI_TEST_LIBS)
test_fi_queue_SOURCES = fabtests/unit/test_fi_queue.c fabtests/unit/test_fi_util.h
test_fi_queue_LDADD = $(FI_TEST_LIBS)
test_fi_ep_SOURCES = fabtests/unit/test_fi_ep.c fabtests/unit/test_fi_util.h
test_fi_ep_LDADD = $(FI_TEST_LIBS)
test_fi_wait_SOURCES = fabtests/unit/test_fi_wait.c fabtests/unit/test_fi_util.h
test_fi_wait_LDADD = $(FI_TEST_LIBS)
test_fi_wait_LINK = $(LINK) -rdynamic
test_fi_sleep_SOURCES = fabtests/unit/test_fi_sleep.c fabtests/unit/test_fi_util.h
test_fi_sleep_LDADD = $(FI_TEST_LIBS)
test_fi_atomic_SOURCES = fabtests/unit/test_fi_atomic.c fabtests/unit/test_fi_util.h
test_fi_atomic_LDADD = $(FI_TEST_LIBS)
test_fi_order_SOURCES = fabtests/unit/test_fi_order.c fabtests/unit/test_fi_util.h
test_fi_order_LDADD = $(FI_TEST_LIBS)
test_fi_rma_SOURCES = fabtests/unit/test_fi_rma.c fabtests/unit/test_fi_util.h
test_fi_rma_LDADD = $(FI_TEST_LIBS)
test_fi_dgram_SOURCES = fabtests/unit/test_fi_dgram.c fabtests/unit/test_fi_util.h
test_fi_dgram_LDADD = $(FI_TEST_LIBS)
test_fi_view_SOURCES = fabtests/unit/test_fi_view.c fabtests/unit/test_fi_util.h
test_fi_view_LDADD = $(FI_TEST_LIBS)
test_fi_notify_SOURCES = fabtests/unit/test_fi_notify.c fabtests/unit/test_fi_util.h
test_fi_notify_LDADD = $(FI_TEST_LIBS)
test_fi_dgram_rma_SOURCES = fabtests/unit/test_fi_dgram_rma.c fabtests/unit/test_fi_util.h
test_fi_dgram_rma_LDADD = $(SDR_WIRE_LIBS) $(FI_TEST_LIBS)
test_fi_threads_SOURCES = fabtests/unit/test_fi_threads.c fabtests/unit/test_fi_util.h
test_fi_threads_LDADD = $(FI_TEST_LIBS)
test_fi_exit_SOURCES = fabtests/unit/test_fi_exit.c fabtests/unit/test_fi_util.h
test_fi_exit_LDADD = $(FI_TEST_LIBS)
test_fi_addr_SOURCES = fabtests/unit/test_fi_addr.c fabtests/unit/test_fi_util.h
test_fi_addr_LDADD = $(FI_TEST_LIBS)
test_fi_source_SOURCES = fabtests/unit/test_fi_source.c fabtests/unit/test_fi_util.h
test_fi_source_LDADD = $(FI_TEST_LIBS)
test_fi_refusal_SOURCES = fabtests/unit/test_fi_refusal.c fabtests/unit/test_fi_util.h
test_fi_refusal_LDADD = $(FI_TEST_LIBS)
test_fi_named_SOURCES = fabtests/unit/test_fi_named.c fabtests/unit/test_fi_util.h
test_fi_named_LDADD = $(SDR_ALL_LIBS) $(FI_TEST_LIBS) $(SDR_SYS_LIBS)
CONSUMERS = fabtests/unit/test_consumers.c fabtests/unit/test_consumers.h \
	fabtests/unit/test_consumers_world.c fabtests/unit/test_consumers_mpi.c \
	fabtests/unit/test_consumers_shmem.c fabtests/unit/test_consumers_pgas.c \
	fabtests/unit/test_consumers_ccl.c fabtests/unit/test_consumers_layers.c fabtests/unit/test_fi_util.h
test_consumers_SOURCES = $(CONSUMERS) fabtests/unit/test_consumers_no_device.c
test_consumers_LDADD = $(FI_TEST_LIBS)
test_fi_peer_SOURCES = fabtests/unit/test_fi_peer.c fabtests/unit/test_fi_util.h
test_fi_peer_LDADD = $(FI_TEST_LIBS)
test_fi_msg_SOURCES = fabtests/unit/test_fi_msg.c fabtests/unit/test_fi_msg_util.h fabtests/unit/test_fi_util.h
test_fi_msg_LDADD = $(FI_TEST_LIBS)
test_fi_msg_data_SOURCES = fabtests/unit/test_fi_msg_data.c fabtests/unit/test_fi_msg_util.h fabtests/unit/test_fi_util.h
test_fi_msg_data_LDADD = $(FI_TEST_LIBS)
test_fi_msg_order_SOURCES = fabtests/unit/test_fi_msg_order.c fabtests/unit/test_fi_msg_util.h fabtests/unit/test_fi_util.h
test_fi_msg_order_LDADD = $(FI_TEST_LIBS)
test_fi_srx_SOURCES = fabtests/unit/test_fi_srx.c fabtests/unit/test_fi_msg_util.h fabtests/unit/test_fi_util.h
test_fi_srx_LDADD = $(FI_TEST_LIBS)
