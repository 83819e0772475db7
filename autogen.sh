#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Makes ./configure.  Needs autoconf, automake, libtool and pkg-config.
set -e
cd "$(dirname "$0")"
mkdir -p m4 build-aux
exec autoreconf --install --warnings=all,no-portability "$@"
