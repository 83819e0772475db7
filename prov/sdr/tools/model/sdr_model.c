/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_model: completion times of reliability schemes over long, lossy links, for people, scripts
 * and figures.
 *
 * An ordinary program on the public calls of sdr/model.h.  Whatever the user gave is checked before
 * anything is computed, and everything is computed before anything is printed: standard output has
 * the whole result or nothing. Threads only compute (model_pool.c); a run's result does not depend
 * on how many there are.
 */
#include "model_tool.h"

int main(int argc, char **argv)
{
	static struct model_opt opt;
	static struct model_rows rows;
	size_t group;

	tool_begin("sdr_model");
	model_options(&opt, argc, argv);
	if (opt.cmd == MODEL_ADVISE) {
		model_advise(&opt);
	} else if (opt.cmd == MODEL_PLOT) {
		model_plot(&opt);
	} else {
		model_rows_read(&rows, &opt, &group);
		if (opt.links)
			model_links(&rows, &opt);
		model_run(&rows, &opt);
		if (opt.cmd == MODEL_ALLREDUCE)
			model_compare(&rows, &opt, group);
		model_print(&rows, &opt);
		model_rows_free(&rows);
	}
	tool_written();
	return TOOL_OK;
}
