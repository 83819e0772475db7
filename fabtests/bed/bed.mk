# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# The test beds over the simulated network, see fabtests/README.md.  libsdr_bed.a needs no cmocka;
# libsdr_bed_unit.a is the unit tests'.

check_LIBRARIES += libsdr_bed.a
libsdr_bed_a_SOURCES = \
	fabtests/bed/bed_mem.c \
	fabtests/bed/bed_mem.h \
	fabtests/bed/bed_pool.c \
	fabtests/bed/bed_pool.h \
	fabtests/bed/bed_what.c \
	fabtests/bed/bed_what.h \
	fabtests/bed/rel_inside.h \
	fabtests/bed/simnet.c \
	fabtests/bed/simnet.h \
	fabtests/bed/simnet_atoms.c \
	fabtests/bed/simnet_bytes.c \
	fabtests/bed/simnet_check.c \
	fabtests/bed/simnet_ops.c

if HAVE_CMOCKA
check_LIBRARIES += libsdr_bed_unit.a
libsdr_bed_unit_a_SOURCES = \
	fabtests/bed/bed.c \
	fabtests/bed/bed.h \
	fabtests/bed/bed_nat.c \
	fabtests/bed/bed_nat.h
endif

# For programs that look into a decoding, see fec_pass.c; linked with flags of their own.
FEC_PASS = fabtests/bed/fec_pass.c fabtests/bed/fec_pass.h
FEC_PASS_WRAP = -Wl,--wrap=ec_encode_data,--wrap=ec_encode_data_update

# In the order in which the linker wants them.
SDR_BED_LIBS = libsdr_bed.a libsdr_simeps.a $(SDR_REL_LIBS) $(SDR_SDK_LIBS) $(SDR_SYS_LIBS)
SDR_BED_UNIT_LIBS = libsdr_bed_unit.a $(SDR_BED_LIBS) $(CMOCKA_LIBS)
