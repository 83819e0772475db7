#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# aws-ofi-nccl: the unit tests of its build, and, with GPUs and NCCL, its functional tests.  The protocol
# SENDRECV goes through host memory where the provider has no FI_HMEM; RDMA needs FI_HMEM.
#
# usage: aws-ofi-nccl.sh --build DIR [OPTION]...
#   --build DIR        where the plugin was built (make check has built tests/unit)
#   --functional YES   run tests/functional, too: two processes with a GPU each
#   --mpirun PROGRAM   what starts the processes (mpirun)

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "build functional mpirun" "$@"
build=${option[build]:-}
[ -d "$build/tests/unit" ] || stack_missing "no aws-ofi-nccl: give --build DIR, where it was configured and built"
mpirun=${option[mpirun]:-mpirun}
export OFI_NCCL_PROTOCOL=${OFI_NCCL_PROTOCOL:-SENDRECV}
stack_begin "aws-ofi-nccl of $build, OFI_NCCL_PROTOCOL=$OFI_NCCL_PROTOCOL"

one() { stack_run "$1"; }
pair() { stack_run "$mpirun" -n 2 -x FI_PROVIDER -x FI_PROVIDER_PATH -x OFI_NCCL_PROTOCOL "$1"; }
count_77() { if [ "$2" = 77 ]; then echo 0 0; else count_status "$@"; fi; } # skipped by itself
for program in "$build"/tests/unit/*; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	stack_case "unit/$(basename "$program")" count_77 one "$program"
done
if [ -n "${option[functional]:-}" ]; then
	for program in "$build"/tests/functional/*; do
		[ -f "$program" ] && [ -x "$program" ] || continue
		stack_case "functional/$(basename "$program")" count_77 pair "$program"
	done
fi
stack_end
