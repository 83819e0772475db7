#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# LCI with its OFI backend: its own tests, by ctest in its build.
#
# usage: lci.sh --build DIR [OPTION]...
#   --build DIR    where LCI was built with LCI_NETWORK_BACKENDS=ofi and tests
#   --tests REGEX  of ctest's tests (loopback|collective; the others need GPUs or end processes on purpose)

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "build tests" "$@"
build=${option[build]:-}
[ -e "$build/CTestTestfile.cmake" ] || stack_missing "no LCI: give --build DIR, where it was built with tests"
command -v ctest >/dev/null || stack_missing "no ctest: apt-get install cmake"
stack_begin "LCI of $build"

suite() {
	cd "$build" && timeout -s KILL $((limit * 50)) "${jail[@]}" ctest --timeout "$limit" -R "${option[tests]:-loopback|collective}"
}
stack_case "ctest" count_ctest suite
stack_end
