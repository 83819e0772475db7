#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# oneCCL (CPU): its examples, which verify what they reduce.
#
# usage: oneccl.sh --prefix PREFIX [OPTION]...
#   --prefix PREFIX   oneCCL is there (lib/libccl.so, examples/), built with CCL_ENABLE_OFI_OOT_PROV
#   --examples DIR    its built examples (PREFIX/examples)
#   --mpirun PROGRAM  what starts the processes (mpirun)

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "prefix examples mpirun" "$@"
prefix=${option[prefix]:-}
if [ -z "$prefix" ] || ! [ -e "$prefix/lib/libccl.so" ]; then
	stack_missing "no oneCCL: give --prefix PREFIX (libccl.so is in PREFIX/lib)"
fi
examples=${option[examples]:-$prefix/examples}
mpirun=${option[mpirun]:-mpirun}
command -v "$mpirun" >/dev/null || stack_missing "no $mpirun: give --mpirun PROGRAM"
export CCL_ROOT=$prefix CCL_ATL_TRANSPORT=ofi CCL_ATL_SHM=0
export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[ "$np" != 2 ] || np=4
stack_begin "oneCCL of $prefix, $np ranks"

one() { stack_run "$mpirun" -n "$np" "$1"; }
count_oneccl() { if [ "$2" = 0 ] && grep -qi 'passed' "$1" && ! grep -qi 'failed' "$1"; then echo 1 0; else echo 0 1; fi; }
found=
for program in "$examples"/cpu/cpu_*_test "$examples"/cpu/*_test; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	[[ " $found " != *" $program "* ]] || continue
	found="$found $program"
	stack_case "$(basename "$program")" count_oneccl one "$program"
done
[ -n "$found" ] || stack_missing "no tests in $examples/cpu: build oneCCL's examples, or give --examples DIR"
stack_end
