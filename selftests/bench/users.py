#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""users.py serve PORT CC | ask ADDRESS PORT USERS SECONDS: short flows in a closed loop.

A user thinks, asks for a file over a new connection, has it, closes, and thinks again:
the traffic of "Routers with tiny buffers", section 4.1.1.  After SECONDS users that still
wait give up, and the server is told to end.  Both ends print a line of JSON; that of the
asking end has every file that arrived whole, and the bytes of each second, as iperf3's has.

Each user draws from a generator of its own, seeded with its number and the Ethernet
address of the asking host.  The machine draws that address when it makes the network, so
another seed of the machine is another load, and one seed is the same load whatever the
buffers, links and algorithms are.
"""

import argparse
import asyncio
import bisect
import contextlib
import json
import random
import resource
import socket
from pathlib import Path

MEAN, SHAPE = 80e3, 1.5             # bytes of a file: Pareto
THINK = 1.0                         # s: exponential
BINS = (30e3, 50e3, 100e3, 200e3, 500e3)        # bytes, up to
BACKLOG = 4096                      # connections that wait to be accepted
BLOCK = memoryview(bytes(1 << 20))  # what is written at once
AT_ONCE = 256 << 10                 # bytes that wake a reader, if no fewer are left
ADDRESS = Path("/sys/class/net/eth1/address")


class User:
    """What one user draws: how long it thinks, and the size of what it asks for then"""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed} {number}")

    def think(self):
        """s"""
        return self.random.expovariate(1 / THINK)

    def size(self):
        """bytes"""
        return round(MEAN * (SHAPE - 1) / SHAPE * self.random.paretovariate(SHAPE))


class Over(Exception):
    """The asking end has finished"""


async def answer(link, sizes):
    """Serve one file; a request for 0 bytes ends the server"""
    loop = asyncio.get_running_loop()
    with link, contextlib.suppress(ConnectionError):    # of a user who gives up
        asked = await loop.sock_recv(link, 32)
        if asked == b"0\n":
            raise Over
        left = int(asked or b"0")
        while left:
            part = BLOCK[:left]
            await loop.sock_sendall(link, part)
            left -= len(part)
            sizes.append(len(part))


async def serve(options):
    """Serve files until a request for 0 bytes"""
    loop, sizes = asyncio.get_running_loop(), []
    with socket.create_server(("", options.port), backlog=BACKLOG) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION,
                            options.cc.encode())
        listener.setblocking(False)
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    link, _ = await loop.sock_accept(listener)
                    link.setblocking(False)
                    group.create_task(answer(link, sizes))
        except* Over:
            pass
    return {"bytes": sum(sizes)}


class Asking:
    """All users of one server"""

    def __init__(self, options, seed):
        self.server = options.address, options.port
        self.seed = seed
        self.loop = asyncio.get_running_loop()
        self.began = self.loop.time()
        self.files = []                             # [asked at, bytes, s it took]
        self.seconds = [0] * (options.seconds + 1)  # bytes
        self.buffer = bytearray(AT_ONCE)

    def now(self):
        """s since all began"""
        return self.loop.time() - self.began

    async def download(self, size):
        """Fetch a file of @size bytes; 0 ends the server"""
        with socket.socket() as link:
            link.setblocking(False)
            await self.loop.sock_connect(link, self.server)
            await self.loop.sock_sendall(link, b"%d\n" % size)
            left = size
            while left:
                # Without this each frame would wake the reader, which only costs time
                link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT,
                                min(left, AT_ONCE))
                got = await self.loop.sock_recv_into(link, self.buffer)
                if not got:
                    raise ConnectionError(f"{left} bytes of {size} did not come")
                left -= got
                self.seconds[min(int(self.now()), len(self.seconds) - 1)] += got

    async def use(self, number):
        """All that one user does"""
        user = User(self.seed, number)
        while True:
            await asyncio.sleep(user.think())
            size, asked = user.size(), self.now()
            await self.download(size)
            self.files.append([round(asked, 6), size, round(self.now() - asked, 6)])


def binned(files):
    """[{"most": bytes, "files": n, "goodput": Mbit/s}]: as figure 4.6, the mean of size
    over duration of all files that are no larger, and larger than those before"""
    found = [[] for _ in range(len(BINS) + 1)]
    for _, size, seconds in files:
        found[bisect.bisect_left(BINS, size)].append(size * 8 / 1e6 / seconds)
    return [{"most": most, "files": len(rates),
             "goodput": round(sum(rates) / len(rates), 6) if rates else None}
            for most, rates in zip([*BINS, None], found)]


async def ask(options):
    """Run all users for the seconds of @options, then end them and the server"""
    seed = ADDRESS.read_text("ascii").strip() if ADDRESS.exists() else "none"
    asking = Asking(options, seed)
    try:
        async with asyncio.timeout(options.seconds), asyncio.TaskGroup() as group:
            for number in range(options.users):
                group.create_task(asking.use(number))
    except TimeoutError:
        pass
    finally:
        asking.seconds.pop()        # what arrived after the last full second
        await asking.download(0)
    return {"users": options.users, "seed": seed, "bytes": sum(asking.seconds),
            "finished": len(asking.files), "bins": binned(asking.files),
            "files": asking.files,
            "intervals": [{"sum": {"start": i, "end": i + 1, "bytes": n}}
                          for i, n in enumerate(asking.seconds)]}


def words():
    """Of the command line"""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    both = argparse.ArgumentParser(add_help=False)
    both.add_argument("-R", action="store_true",
                      help="iperf3's word for a server that sends: so it is here")
    kinds = parser.add_subparsers(required=True)
    server = kinds.add_parser("serve", parents=[both])
    server.set_defaults(do=serve)
    server.add_argument("port", type=int)
    server.add_argument("cc")
    client = kinds.add_parser("ask", parents=[both])
    client.set_defaults(do=ask)
    client.add_argument("address")
    client.add_argument("port", type=int)
    client.add_argument("users", type=int)
    client.add_argument("seconds", type=int)
    return parser.parse_args()


def main():
    """Either end"""
    options = words()
    # Raise the soft limit of 1024 files, too few for thousands of users, to the hard limit
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(json.dumps(asyncio.run(options.do(options))))


if __name__ == "__main__":
    main()
