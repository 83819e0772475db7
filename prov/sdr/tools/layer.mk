# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# tools/: programs for users.

EXTRA_DIST += prov/sdr/tools/README.md

# What they have in common.  A row (model_row.c, model_source.c) is a question to the model: who reads rows links
# libsdr_model.a, too.
noinst_LIBRARIES += libsdr_tool.a
libsdr_tool_a_SOURCES = \
	prov/sdr/tools/common/model_row.c \
	prov/sdr/tools/common/model_row.h \
	prov/sdr/tools/common/model_source.c \
	prov/sdr/tools/common/tool.h \
	prov/sdr/tools/common/tool_csv.c \
	prov/sdr/tools/common/tool_cuda.c \
	prov/sdr/tools/common/tool_cuda.h \
	prov/sdr/tools/common/tool_gnuplot.c \
	prov/sdr/tools/common/tool_opt.c \
	prov/sdr/tools/common/tool_opt.h \
	prov/sdr/tools/common/tool_say.c \
	prov/sdr/tools/common/tool_text.c \
	prov/sdr/tools/common/tool_value.c

# An ordinary libfabric program: no part of the provider is linked into it, and of libsdr_tool.a tool_cuda.c and
# tool_gnuplot.c alone.
# What --sdk measures are the objects of the SDK and of the engines below it.

bin_PROGRAMS += sdr_perf
sdr_perf_SOURCES = \
	prov/sdr/tools/probe/probe.h \
	prov/sdr/tools/probe/probe_client.c \
	prov/sdr/tools/probe/probe_count.c \
	prov/sdr/tools/probe/probe_count.h \
	prov/sdr/tools/probe/probe_out.c \
	prov/sdr/tools/probe/probe_plot.c \
	prov/sdr/tools/probe/probe_send.c \
	prov/sdr/tools/probe/probe_server.c \
	prov/sdr/tools/probe/probe_sock.c \
	prov/sdr/tools/probe/probe_trials.c \
	prov/sdr/tools/perf/sdk.h \
	prov/sdr/tools/perf/sdk_end.c \
	prov/sdr/tools/perf/sdk_meet.c \
	prov/sdr/tools/perf/sdk_out.c \
	prov/sdr/tools/perf/sdk_over.c \
	prov/sdr/tools/perf/sdk_plain.c \
	prov/sdr/tools/perf/sdk_points.c \
	prov/sdr/tools/perf/sdk_points.h \
	prov/sdr/tools/perf/sdk_recv.c \
	prov/sdr/tools/perf/sdk_run.c \
	prov/sdr/tools/perf/sdk_send.c \
	prov/sdr/tools/perf/sdr_perf.c \
	prov/sdr/tools/perf/sdr_perf.h \
	prov/sdr/tools/perf/sdr_perf_conn.c \
	prov/sdr/tools/perf/sdr_perf_ep.c \
	prov/sdr/tools/perf/sdr_perf_mem.c \
	prov/sdr/tools/perf/sdr_perf_mem.h \
	prov/sdr/tools/perf/sdr_perf_opt.c \
	prov/sdr/tools/perf/sdr_perf_opt.h \
	prov/sdr/tools/perf/sdr_perf_out.c \
	prov/sdr/tools/perf/sdr_perf_run.c \
	prov/sdr/tools/perf/sdr_perf_say.c \
	prov/sdr/tools/perf/sdr_perf_say.h \
	prov/sdr/tools/perf/sdr_perf_side.c \
	prov/sdr/tools/perf/sdr_perf_side.h \
	prov/sdr/tools/perf/sdr_perf_table.c \
	prov/sdr/tools/perf/sdr_perf_table.h \
	prov/sdr/tools/perf/sdr_perf_times.c \
	prov/sdr/tools/perf/sdr_perf_value.c \
	prov/sdr/tools/perf/sdr_perf_value.h
sdr_perf_LDADD = libsdr_tool.a $(SDR_SDK_LIBS) $(LIBFABRIC_LIBS) $(SDR_SYS_LIBS)

# Linked with the model's objects themselves and not with libsdr.so: it runs where it was built, too.
bin_PROGRAMS += sdr_model
sdr_model_SOURCES = \
	prov/sdr/tools/model/model_advise.c \
	prov/sdr/tools/model/model_cell.c \
	prov/sdr/tools/model/model_cell.h \
	prov/sdr/tools/model/model_link.c \
	prov/sdr/tools/model/model_links.c \
	prov/sdr/tools/model/model_opt.c \
	prov/sdr/tools/model/model_out.c \
	prov/sdr/tools/model/model_plot.c \
	prov/sdr/tools/model/model_pool.c \
	prov/sdr/tools/model/model_rows.c \
	prov/sdr/tools/model/model_run.c \
	prov/sdr/tools/model/model_tool.h \
	prov/sdr/tools/model/sdr_model.c
sdr_model_LDADD = libsdr_tool.a libsdr_model.a $(SDR_BASE_LIBS) -lpthread -lm

# sdr_sim is the real transport on the simulated engine; beds, workloads and processes are those of the benchmark
# sdr_ct_sim too.
# Below them, and below every test bed: reliable endpoints on the simulated network and their clock.
noinst_LIBRARIES += libsdr_simeps.a
libsdr_simeps_a_SOURCES = \
	prov/sdr/tools/sim/sim_eps.c \
	prov/sdr/tools/sim/sim_eps.h

noinst_LIBRARIES += libsdr_simbed.a
libsdr_simbed_a_SOURCES = \
	prov/sdr/tools/sim/sim_bed.c \
	prov/sdr/tools/sim/sim_bed.h \
	prov/sdr/tools/sim/sim_jobs.c \
	prov/sdr/tools/sim/sim_jobs.h \
	prov/sdr/tools/sim/sim_trace.c \
	prov/sdr/tools/sim/sim_trace.h \
	prov/sdr/tools/sim/sim_work.c \
	prov/sdr/tools/sim/sim_work.h

noinst_LIBRARIES += libsdr_simshare.a
libsdr_simshare_a_SOURCES = \
	prov/sdr/tools/sim/rival.c \
	prov/sdr/tools/sim/rival.h \
	prov/sdr/tools/sim/rival_bbr.c \
	prov/sdr/tools/sim/rival_bbr3.c \
	prov/sdr/tools/sim/rival_cubic.c \
	prov/sdr/tools/sim/share.h \
	prov/sdr/tools/sim/share_bed.c \
	prov/sdr/tools/sim/share_flow.c \
	prov/sdr/tools/sim/share_run.c

bin_PROGRAMS += sdr_sim
sdr_sim_SOURCES = \
	prov/sdr/tools/sim/sdr_sim.c \
	prov/sdr/tools/sim/share_main.c \
	prov/sdr/tools/sim/share_opt.c \
	prov/sdr/tools/sim/share_out.c \
	prov/sdr/tools/sim/sim.h \
	prov/sdr/tools/sim/sim_cell.c \
	prov/sdr/tools/sim/sim_lane.c \
	prov/sdr/tools/sim/sim_lane.h \
	prov/sdr/tools/sim/sim_opt.c \
	prov/sdr/tools/sim/sim_out.c \
	prov/sdr/tools/sim/sim_shard.c
sdr_sim_LDADD = libsdr_simshare.a libsdr_simbed.a libsdr_simeps.a libsdr_tool.a $(SDR_REL_LIBS) $(SDR_SDK_LIBS) $(SDR_SYS_LIBS)

# The emulated network is pure (no clock, no device), a library of its own for its tests; the program adds devices,
# namespaces and processes, and links nothing of the stack.
noinst_LIBRARIES += libsdr_wan.a
libsdr_wan_a_SOURCES = \
	prov/sdr/tools/wan/wan_aqm.c \
	prov/sdr/tools/wan/wan_aqm.h \
	prov/sdr/tools/wan/wan_hist.c \
	prov/sdr/tools/wan/wan_hist.h \
	prov/sdr/tools/wan/wan_line.c \
	prov/sdr/tools/wan/wan_line.h \
	prov/sdr/tools/wan/wan_link.c \
	prov/sdr/tools/wan/wan_link.h \
	prov/sdr/tools/wan/wan_loss.c \
	prov/sdr/tools/wan/wan_loss.h \
	prov/sdr/tools/wan/wan_net.c \
	prov/sdr/tools/wan/wan_net.h \
	prov/sdr/tools/wan/wan_pkt.c \
	prov/sdr/tools/wan/wan_pkt.h

bin_PROGRAMS += sdr_wan
sdr_wan_SOURCES = \
	prov/sdr/tools/wan/sdr_wan.c \
	prov/sdr/tools/wan/wan.h \
	prov/sdr/tools/wan/wan_change.c \
	prov/sdr/tools/wan/wan_host.c \
	prov/sdr/tools/wan/wan_loop.c \
	prov/sdr/tools/wan/wan_opt.c \
	prov/sdr/tools/wan/wan_out.c \
	prov/sdr/tools/wan/wan_ping.c \
	prov/sdr/tools/wan/wan_run.c \
	prov/sdr/tools/wan/wan_self.c \
	prov/sdr/tools/wan/wan_self.h \
	prov/sdr/tools/wan/wan_self_load.c
sdr_wan_LDADD = libsdr_wan.a libsdr_tool.a $(SDR_BASE_LIBS) -lm
