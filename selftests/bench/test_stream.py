# SPDX-License-Identifier: GPL-2.0
"""stream.py, both ends of it, on this machine's loopback device."""

import json
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

STREAM = Path(__file__).with_name("stream.py")
SYN_SENT, LISTEN = "02", "0A"   # /proc/net/tcp
LIMIT = 60                      # s


class Stream(unittest.TestCase):
    """One TCP connection, in full"""

    def started(self, *words):
        process = subprocess.Popen([sys.executable, STREAM, *map(str, words)], text=True,
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def said(self, process):
        text, _ = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 0)
        return json.loads(text)

    def wait_for_state(self, state, port, column):
        """Until a socket is in that state whose local (1) or remote (2) port is this one"""
        limit = time.monotonic() + LIMIT
        while time.monotonic() < limit:
            lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
            for fields in map(str.split, lines):
                if fields[3] == state and fields[column].endswith(f":{port:04X}"):
                    return
            time.sleep(0.02)
        self.fail(f"no socket of port {port} is in state {state}")

    def test_all_arrives(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = self.started("serve", port, "reno")
        self.wait_for_state(LISTEN, port, 1)
        size = 3 * 128 * 1024 + 1
        client = self.started("send", "127.0.0.1", port, "reno", size)
        self.assertEqual(self.said(client)["bytes"], size)
        self.assertEqual(self.said(server), {"bytes": size})

    def test_retransmits_of_the_whole_connection(self):
        with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
            # One waits to be accepted, and the next one's SYN is dropped
            port = listener.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port)):
                client = self.started("send", "127.0.0.1", port, "reno", 1)
                self.wait_for_state(SYN_SENT, port, 2)
                listener.accept()[0].close()
            link = listener.accept()[0]
        with link:
            while link.recv(4096):
                pass
        # One, or as many as there is a second until the first one is accepted
        self.assertIn(self.said(client)["retransmits"], range(1, LIMIT))
