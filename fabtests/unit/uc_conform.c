/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The runner: every row through every clause.  What an engine may leave out (grants, a descriptor,
 * telling late packets) is asked of it, not of the row; what its network may add (repetition,
 * reordering) is the row's.
 */
#include <stdio.h>

#include "uc_conform.h"
#include "uc_conform_bed.h"

#define CLAUSES_MAX 64u

static const struct uc_clause *const all[] = { uc_clauses_memory, uc_clauses_calls,
					       uc_clauses_pieces };

int uc_conform_run(const struct uc_conform *rows, unsigned int n, int argc, char **argv)
{
	struct CMUnitTest tests[CLAUSES_MAX];
	unsigned int r, opened = 0;
	char names[CLAUSES_MAX][128];
	int failed = 0;
	size_t i, count;

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	for (r = 0; r < n; r++) {
		struct uc_net net = { .priv = NULL };
		int ret = rows[r].open(&rows[r], &net);

		if (ret == 77) {
			printf("%s: not on this host\n", rows[r].name);
			continue;
		}
		opened++;
		if (!ret) {
			net.uc[0]->ops->close(net.uc[0]);
			net.uc[1]->ops->close(net.uc[1]);
			if (rows[r].close)
				rows[r].close(&net);
		}
		count = 0;
		for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			const struct uc_clause *c;

			for (c = all[i]; c->name; c++, count++) {
				if (count == CLAUSES_MAX)
					abort();
				snprintf(names[count], sizeof(names[count]), "%s, %s", c->name,
					 rows[r].name);
				tests[count] = (struct CMUnitTest){
					.name = names[count],
					.test_func = c->run,
					.initial_state = (void *)(uintptr_t)&rows[r],
				};
			}
		}
		failed += _cmocka_run_group_tests(rows[r].name, tests, count, NULL, NULL);
	}
	return opened ? failed : 77;
}
