#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# ADIOS2: the tests of SST, by ctest in its build, with the RDMA data plane.
#
# usage: adios2.sh --build DIR [OPTION]...
#   --build DIR    where ADIOS2 was built with ADIOS2_USE_SST=ON, ADIOS2_HAVE_LIBFABRIC and testing
#   --iface NAME   the domain of libfabric to use (FABRIC_IFACE), without which SST takes no provider that it
#                  does not know by name; default: the first of "fi_info -p PROVIDER"

. "$(dirname "$(readlink -f "$0")")/lib.sh"
columns="sdr evpath" # this data plane wants provider keys that the provider draws, and tcp refuses: fi_mr_reg, ENOKEY
stack_options "build iface" "$@"
build=${option[build]:-}
[ -e "$build/CTestTestfile.cmake" ] || stack_missing "no ADIOS2: give --build DIR, where it was built with testing"
command -v ctest >/dev/null || stack_missing "no ctest: apt-get install cmake"
stack_begin "ADIOS2 SST of $build"

export_iface() { # over evpath (SST's own sockets, what it falls back on) none is named
	[ "$over" != evpath ] || return 0
	FABRIC_IFACE=${option[iface]:-$(fi_info -p "$over" -t FI_EP_RDM | awk '/domain:/ { print $2; exit }')}
	export FABRIC_IFACE
}
tests() { # REGEX [OPTION]...: of ctest's tests, alone
	local regex=$1
	shift
	export_iface
	cd "$build" && timeout -s KILL $((limit * 100)) "${jail[@]}" ctest "$@" --timeout "$limit" -R "$regex"
}
# SST goes on over its own sockets where it finds no fabric, and every test passes: what it says of its choice
# is looked at first.  Of the tests with two programs, those over SST end with its name.
chosen() { SstVerbose=5 tests '^Staging\.1x1\.CommMin\..*SST$' -V; }
count_chosen() {
	local plane=rdma
	[ "$over" != evpath ] || plane=evpath
	if grep -q "Selecting DataPlane \"$plane\"" "$1" && grep -q '100% tests passed' "$1" &&
		{ [ "$plane" = evpath ] || grep -q "opening fabric with provider $over" "$1"; }; then echo 1 0; else echo 0 1; fi
}
stack_case "the data plane is the one" count_chosen chosen
stack_case "ctest, SST" count_ctest tests '^Staging\..*\.SST$'
stack_end
