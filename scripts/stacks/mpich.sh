#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# MPICH with device ch4:ofi (Debian's binary is ch4:ucx): its own test suite, built.
#
# usage: mpich.sh --prefix PREFIX --tests DIR [OPTION]...
#   --prefix PREFIX   MPICH is there, configured with --with-device=ch4:ofi and a libfabric that loads sdr;
#                     without shared-memory modules, or ranks of one host never use the provider
#   --tests DIR       the built folder test/mpi of the same source (runtests is in it)
#   --lists LIST      folders of it, with commas between (pt2pt,coll,rma,datatype,comm,threads)

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "prefix tests lists" "$@"
prefix=${option[prefix]:-}
tests=${option[tests]:-}
if [ -z "$prefix" ] || ! [ -x "$prefix/bin/mpiexec" ]; then
	stack_missing "no MPICH: give --prefix PREFIX (mpiexec is in PREFIX/bin); Debian's package mpich is ch4:ucx, its source can be built ch4:ofi"
fi
"$prefix/bin/mpichversion" | grep -q 'ch4:ofi' || stack_missing "the MPICH in $prefix is not of device ch4:ofi"
[ -e "$tests/runtests" ] || stack_missing "no test suite: give --tests DIR, the built folder test/mpi of MPICH's source"
export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} MPITEST_TIMEOUT=$limit
stack_begin "$("$prefix/bin/mpichversion" | head -n 1)"

suite() { # FOLDER
	cd "$tests/$1" || return 1
	timeout -s KILL $((limit * 200)) "${jail[@]}" "$tests/runtests" -srcdir="$tests/$1" -tests=testlist \
		-mpiexec="$prefix/bin/mpiexec" -showprogress
}
# "N tests failed out of M", "All M tests passed!", behind the dots of its progress; neither: it was ended.
count_runtests() {
	awk '/[0-9]+ tests failed out of [0-9]+/ { sub(/^\.+/, ""); f = $1; t = $NF }
		/All [0-9]+ tests passed/ { sub(/.*All /, ""); f = 0; t = $1 }
		END { if (t == "") t = f = 1; print t - f, f + 0 }' "$1"
}
chosen() { # what the library itself says that it runs over
	MPIR_CVAR_DEBUG_SUMMARY=1 stack_run "$prefix/bin/mpiexec" -n 1 "$tests/pt2pt/sendrecv1" 2>&1 | grep -i 'provider'
}
count_chosen() { if grep -q "^libfabric provider: *${over}[ ;]" "$1"; then echo 1 0; else echo 0 1; fi; }
stack_case "the provider is the one" count_chosen chosen
lists=${option[lists]:-pt2pt,coll,rma,datatype,comm,threads}
for folder in ${lists//,/ }; do
	[ -e "$tests/$folder/testlist" ] || { echo "$folder: not run, no $tests/$folder/testlist"; continue; }
	stack_case "$folder" count_runtests suite "$folder"
done
stack_end
