#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Unit tests of the bench's pure parts (test_*.py); TAP.  No machine is booted."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from tap_unittest import status_of  # noqa: E402  (of the folder above)

if __name__ == "__main__":
    sys.exit(status_of(HERE, sys.argv[1:]))
