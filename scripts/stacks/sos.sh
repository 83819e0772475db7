#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Sandia OpenSHMEM: its own tests, built.  It needs FI_ATOMIC of a provider, and counters of what peers wrote
# (FI_RMA_EVENT) unless it was configured with --enable-hard-polling.  libfabric's tcp has no FI_RMA_EVENT;
# where it is refused, sockets is the second column.
#
# usage: sos.sh --prefix PREFIX --tests DIR [OPTION]...
#   --prefix PREFIX   SOS is there (oshrun), configured with a libfabric that loads sdr; scalable and basic
#                     registration are two builds of it (--enable-ofi-mr=basic): run this once for each
#   --tests DIR       the folder of its tests, configured for that PREFIX or in the tree that it was built in
#                     (modules/tests-sos); make check is run there
#   --launcher NAME   what oshrun calls: with --enable-pmi-simple that of MPICH (mpiexec.hydra where it is)

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "prefix tests launcher" "$@"
prefix=${option[prefix]:-}
tests=${option[tests]:-}
if [ -z "$prefix" ] || ! [ -x "$prefix/bin/oshrun" ]; then
	stack_missing "no Sandia OpenSHMEM: give --prefix PREFIX (oshrun is in PREFIX/bin)"
fi
[ -e "$tests/Makefile" ] || stack_missing "no tests: give --tests DIR, where SOS's tests are configured"
if [ -n "${option[launcher]:-}" ]; then
	OSHRUN_LAUNCHER=${option[launcher]}
elif [ -z "${OSHRUN_LAUNCHER:-}" ] && command -v mpiexec.hydra >/dev/null; then
	OSHRUN_LAUNCHER=mpiexec.hydra
fi
[ -z "${OSHRUN_LAUNCHER:-}" ] || export OSHRUN_LAUNCHER
export IPATH_NO_BACKTRACE=1 PATH=$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# The first test of all: the library starts over that provider.
hello() { stack_run "$prefix/bin/oshrun" -np 2 "$tests/test/unit/hello"; }
starts() (limit=60 over=$1; stack_env "$1"; hello) >/dev/null 2>&1 </dev/null
jail=()
make -C "$tests/test/unit" hello >/dev/null 2>&1 || stack_missing "its tests cannot be built in $tests"
if starts tcp; then
	columns="sdr tcp"
elif starts sockets; then
	columns="sdr sockets"
else
	columns="sdr"
fi
stack_begin "Sandia OpenSHMEM of $prefix"
fi_info -p sdr -t FI_EP_RDM -c 'FI_RMA|FI_ATOMIC' >/dev/null 2>&1 || echo "sdr has no FI_ATOMIC: it will be refused"

suite() { # FOLDER
	timeout -s KILL $((limit * 100)) "${jail[@]}" make -C "$tests/test/$1" -k check NPROCS="$np" \
		TEST_RUNNER="timeout -k 5 $limit $prefix/bin/oshrun -np $np"
}
stack_case "hello, 2 processes" count_status hello
for folder in unit shmemx spec-example apps; do
	[ -e "$tests/test/$folder/Makefile" ] || continue
	stack_case "make check, $folder, $np processes" count_automake suite "$folder"
done
stack_end
