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
#   --tests DIR       the configured folder test/mpi of the same source (runtests is in it), in that source
#                     or beside it; programs that are not there yet are made as they are run
#   --lists LIST      folders of it, with commas between
#                     (pt2pt,coll,rma,datatype,comm,threads,errors,init,group,info,topo,attr)
#   --skip LIST       names of tests to leave out, with commas between: those that want more memory or
#                     time than there is (MPITEST_TIMEOUT_MULTIPLIER=N in the environment gives all N
#                     times as long, those too that say how long they may take)

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "prefix tests lists skip" "$@"
prefix=${option[prefix]:-}
tests=${option[tests]:-}
if [ -z "$prefix" ] || ! [ -x "$prefix/bin/mpiexec" ]; then
	stack_missing "no MPICH: give --prefix PREFIX (mpiexec is in PREFIX/bin); Debian's package mpich is ch4:ucx, its source can be built ch4:ofi"
fi
export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} MPITEST_TIMEOUT=$limit
"$prefix/bin/mpichversion" | grep -q 'ch4:ofi' || stack_missing "the MPICH in $prefix is not of device ch4:ofi"
[ -e "$tests/runtests" ] || stack_missing "no test suite: give --tests DIR, the configured folder test/mpi of MPICH's source"
stack_begin "$("$prefix/bin/mpichversion" | head -n 1)"

# Built beside its source, the suite has some of its lists here and some there.
source=$(sed -n 's/^abs_srcdir = //p' "$tests/Makefile" 2>/dev/null)
[ -d "${source:-/none}" ] || source=$tests
skip=${option[skip]:-}
listed=testlist.$$ # what runtests shall read of each folder, and that it finds in the built one first
trap 'find "$tests" -name "$listed" -delete; [[ $keep != *sdr-stack.* ]] || rm -rf "$keep"' EXIT

lists_made() { # FOLDER: the lists of it and of what is in it, without those left out
	(cd "$source" && find "$1" -name testlist; cd "$tests" && find "$1" -name testlist) | sort -u | while read -r list; do
		mkdir -p "$tests/${list%/*}"
		from=$tests/$list
		[ -e "$from" ] || from=$source/$list
		awk -v skip=",$skip," '{ n = split($1, part, "/") } !n || !index(skip, "," part[n] ",")' "$from" \
			>"$tests/${list%/*}/$listed"
	done
}
suite() { # FOLDER
	local tap=$keep/tap-${1//\//_}-$over
	lists_made "$1"
	cd "$tests/$1" || return 1
	timeout -s KILL $((limit * 200)) "${jail[@]}" "$tests/runtests" -srcdir="$source/$1" -tests="$listed" \
		-mpiexec="$prefix/bin/mpiexec" -showprogress -tapfile="$tap"
	# which: for the names of those that failed here alone (stack_named)
	sed -n '/# TODO/d; s/^not ok [0-9]* - \(.*[^ ]\) *# time=.*/FAIL: \1/p' "$tap"
}
# "N tests failed out of M", "All M tests passed!", behind the dots of its progress; neither: it was ended.
count_runtests() {
	awk '/[0-9]+ tests failed out of [0-9]+/ { sub(/^\.+/, ""); f = $1; t = $NF }
		/All [0-9]+ tests passed/ { sub(/.*All /, ""); f = 0; t = $1 }
		END { if (t == "") t = f = 1; print t - f, f + 0 }' "$1"
}
chosen() { # what the library itself says that it runs over
	[ -x "$tests/pt2pt/sendrecv1" ] || make -C "$tests/pt2pt" sendrecv1 >/dev/null
	MPIR_CVAR_DEBUG_SUMMARY=1 stack_run "$prefix/bin/mpiexec" -n 1 "$tests/pt2pt/sendrecv1" 2>&1 | grep -i 'provider'
}
count_chosen() { if grep -q "^libfabric provider: *${over}[ ;]" "$1"; then echo 1 0; else echo 0 1; fi; }
stack_case "the provider is the one" count_chosen chosen
lists=${option[lists]:-pt2pt,coll,rma,datatype,comm,threads,errors,init,group,info,topo,attr}
for folder in ${lists//,/ }; do
	[ -e "$tests/$folder/testlist" ] || [ -e "$source/$folder/testlist" ] ||
		{ echo "$folder: not run, no $tests/$folder/testlist"; continue; }
	stack_case "$folder" count_runtests suite "$folder"
done
stack_end
