#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# ADIOS2: the tests of SST with the RDMA data plane, by ctest in its build.
#
# usage: adios2.sh --build DIR [OPTION]...
#   --build DIR    where ADIOS2 was built with ADIOS2_USE_SST=ON, ADIOS2_HAVE_LIBFABRIC and testing
#   --iface NAME   the domain of libfabric to use (FABRIC_IFACE), without which SST takes no provider that it
#                  does not know by name; default: the first of "fi_info -p PROVIDER"

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "build iface" "$@"
build=${option[build]:-}
[ -e "$build/CTestTestfile.cmake" ] || stack_missing "no ADIOS2: give --build DIR, where it was built with testing"
command -v ctest >/dev/null || stack_missing "no ctest: apt-get install cmake"
stack_begin "ADIOS2 SST of $build"

suite() {
	FABRIC_IFACE=${option[iface]:-$(fi_info -p "$over" -t FI_EP_RDM | awk '/domain:/ { print $2; exit }')}
	export FABRIC_IFACE
	cd "$build" && timeout -s KILL $((limit * 100)) "${jail[@]}" ctest --timeout "$limit" -R 'SST.*RDMA|RDMA.*SST'
}
stack_case "ctest, SST over RDMA" count_ctest suite
stack_end
