#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh: what uml.sh boots into for a run of the node.

PATH=$LAB_DIR/build/bin:$PATH
export PATH PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
exec python3 "$LAB_DIR/selftests/dtn/guest.py"
