#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# oneCCL (CPU): its examples, and its benchmark's collectives with every value checked.
#
# usage: oneccl.sh --prefix PREFIX [OPTION]...
#   --prefix PREFIX   oneCCL is there (lib/libccl.so, examples/), configured with -DENABLE_OFI_OOT_PROV=ON and
#                     without a COMPUTE_BACKEND; its MPI's libraries are found (LD_LIBRARY_PATH)
#   --examples DIR    its built examples (PREFIX/examples)
#   --mpirun PROGRAM  what starts the processes: of the MPI that the examples were linked with (mpiexec.hydra
#                     where it is, else mpirun)
#   --libfabric FILE  the libfabric that it opens (libfabric.so where the loader finds it)

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "prefix examples mpirun libfabric" "$@"
prefix=${option[prefix]:-}
if [ -z "$prefix" ] || ! [ -e "$prefix/lib/libccl.so" ]; then
	stack_missing "no oneCCL: give --prefix PREFIX (libccl.so is in PREFIX/lib)"
fi
examples=${option[examples]:-$prefix/examples}
mpirun=${option[mpirun]:-mpirun}
if [ -z "${option[mpirun]:-}" ] && command -v mpiexec.hydra >/dev/null; then mpirun=mpiexec.hydra; fi
command -v "$mpirun" >/dev/null || stack_missing "no $mpirun: give --mpirun PROGRAM"
export CCL_ROOT=$prefix CCL_ATL_TRANSPORT=ofi CCL_ATL_SHM=0
[ -z "${option[libfabric]:-}" ] || export CCL_OFI_LIBRARY_PATH=${option[libfabric]}
export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# Of the MPI only the launcher and one broadcast are used: Open MPI's own messages go another way.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp
[ "$np" != 2 ] || np=4
stack_begin "oneCCL of $prefix, $np ranks"

one() { stack_run "$mpirun" -n "$np" "$@"; }
# bf16 skips itself where the processor, or the compiler, has none.
count_oneccl() { if grep -q 'skip test' "$1"; then echo 0 0; elif [ "$2" = 0 ] && grep -qi 'passed' "$1" && ! grep -qi 'failed' "$1"; then echo 1 0; else echo 0 1; fi; }
# A wrong value ends the benchmark.
count_benchmark() { if [ "$2" = 0 ] && grep -q 'All done' "$1"; then echo 1 0; else echo 0 1; fi; }
chosen() { CCL_LOG_LEVEL=info one "$examples/cpu/cpu_allreduce_test"; }
count_chosen() { if [ "$2" = 0 ] && grep -q "provider: *$over" "$1"; then echo 1 0; else echo 0 1; fi; }
found=
for program in "$examples"/cpu/*_test; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	found="$found $program"
	stack_case "$(basename "$program")" count_oneccl one "$program"
done
[ -n "$found" ] || stack_missing "no tests in $examples/cpu: build oneCCL's examples, or give --examples DIR"
[ ! -x "$examples/cpu/cpu_allreduce_test" ] || stack_case "the provider is the one" count_chosen chosen
if [ -x "$examples/benchmark/benchmark" ]; then
	for coll in allreduce alltoall alltoallv allgather allgatherv bcast reduce reduce_scatter; do
		stack_case "benchmark, $coll" count_benchmark one "$examples/benchmark/benchmark" --coll "$coll" \
			--backend host --check all --iters 2 --warmup_iters 0 --iter_policy off \
			--elem_counts 1,17,4096,100000 --dtype int32
	done
else
	echo "benchmark: not run, it is not in $examples"
fi
stack_end
