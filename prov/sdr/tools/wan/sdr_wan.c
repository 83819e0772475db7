/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_wan: a WAN between network namespaces, for as long as some commands run.
 *
 * The first word says what is wanted: a run, whose options begin at once, or something for which
 * there is a name.
 */
#include <string.h>

#include "tools/common/tool.h"
#include "wan.h"

static int wan_main_run(int argc, char **argv)
{
	static struct wan_plan plan;

	wan_options(&plan, argc, argv);
	return wan_run(&plan);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} words[] = {
		{ "run", wan_main_run }, { "exec", wan_inside }, { "set", wan_inside },
		{ "phase", wan_inside }, { "ping", wan_ping },	 { "--self-test", wan_self_test },
	};
	char **with;

	tool_begin("sdr_wan");
	if (argc < 2)
		tool_bad("nothing to do; sdr_wan --help says what there is");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(argv[1], words[i].name) == 0)
			return words[i].run(argc, argv);
	}
	if (argv[1][0] != '-')
		tool_bad("there is no command \"%.32s\"; sdr_wan --help lists them", argv[1]);
	with = tool_alloc(NULL, (size_t)argc + 2, sizeof(*with));
	with[0] = argv[0];
	with[1] = (char *)"run";
	memcpy(with + 2, argv + 1, (size_t)argc * sizeof(*with));
	return wan_main_run(argc + 1, with);
}
