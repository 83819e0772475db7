# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# What "make install" installs beside libraries, headers, programs and man pages, and what packages are made from.

# The pages for users; a distribution says with --docdir where its own go.
dist_doc_DATA = README.md CHANGELOG.md

# libfabric opens every file in its provider directory by name: libtool's description of the provider is of no use
# there.  Without it "make uninstall" does not know the provider any more.
install-data-hook:
	rm -f "$(DESTDIR)$(providerdir)/libsdr-fi.la"

uninstall-hook:
	rm -f "$(DESTDIR)$(providerdir)/libsdr-fi.so"

EXTRA_DIST += \
	scripts/package.sh scripts/package-test.sh scripts/package/sdr.spec.in \
	debian/changelog debian/control debian/copyright debian/rules debian/source/format \
	debian/libfabric-sdr.install debian/libfabric-sdr.lintian-overrides debian/libsdr-dev.install \
	debian/libsdr0.install debian/libsdr0.symbols
