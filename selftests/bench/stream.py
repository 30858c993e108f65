#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""stream.py serve PORT CC | send ADDRESS PORT CC BYTES: one TCP connection, in full.

The sender closes only its half, and reads TCP_INFO when the receiver, which has then
read all, has closed the other: nothing is cut off by a reset, and what was sent again is
counted to the last segment.  Both ends print a line of JSON.
"""

import json
import socket
import struct
import sys

TOTAL_RETRANS = 100     # offset of tcpi_total_retrans, u32 (linux/tcp.h)
BLOCK = 128 * 1024


def serve(port, _):
    """Read all of one connection."""
    with socket.create_server(("", int(port))) as listener:
        link, _ = listener.accept()
    got = 0
    with link:
        while block := link.recv(BLOCK):
            got += len(block)
    return {"bytes": got}


def send(address, port, cc, size):
    """Send so much, and wait until it has arrived."""
    link = socket.socket()
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    link.connect((address, int(port)))
    left = int(size)
    block = bytes(BLOCK)
    while left:
        left -= link.send(block[:left])
    link.shutdown(socket.SHUT_WR)
    if link.recv(1):
        sys.exit("the receiver answered, and should only read")
    info = link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return {"bytes": int(size),
            "retransmits": struct.unpack_from("I", info, TOTAL_RETRANS)[0]}


print(json.dumps({"serve": serve, "send": send}[sys.argv[1]](*sys.argv[2:])))
