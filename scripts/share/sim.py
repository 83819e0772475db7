# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
"""The same cases in the simulator, where sdr_sim share has them."""
import json
import os
import subprocess

import wan


def case(ctx, name):
    ctx.row("not in the simulator yet", "", "", "-")
