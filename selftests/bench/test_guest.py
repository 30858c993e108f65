# SPDX-License-Identifier: GPL-2.0
"""What a run's machine is told to do: programs, their units, and when each is started."""

import contextlib
import importlib.util
import json
import tempfile
import types
import unittest
import unittest.mock
from pathlib import Path

import raw
from expand import runs_of
from small import small

FLOW = {"name": "f", "tool": "iperf3", "from": "src", "to": "dst", "seconds": 2}


class NoPlan(Exception):
    """There is none to carry out"""


def loaded():
    """guest.py, which as a program goes on to its plan: here it finds none"""
    spec = importlib.util.spec_from_file_location("guest", Path(__file__).with_name("guest.py"))
    module = importlib.util.module_from_spec(spec)
    with unittest.mock.patch("builtins.open", side_effect=NoPlan), \
            contextlib.suppress(NoPlan):
        spec.loader.exec_module(module)
    return module


guest = loaded()


def plan_of(**changes):
    """Of a small description"""
    return runs_of(small(vary=[], **changes))[0]["plan"]


def word_after(words, option):
    """What a command line has behind an option"""
    return words[words.index(option) + 1]


class Programs(unittest.TestCase):
    """Programs of a flow"""

    def flow(self, **more):
        return plan_of(flow=[{**FLOW, **more}])["flows"][0]

    def client(self, **more):
        return [str(word) for word in guest.client_of(self.flow(**more), 5201, "10.79.1.2")]

    def server(self, lowat=1, **more):
        return [str(word) for word in guest.server_of(self.flow(**more), 5201, lowat)]

    def test_iperf3(self):
        words = self.client(rate="30mbit", streams=3, cc="reno", options=["-Z"])
        self.assertEqual(words, "iperf3 -c 10.79.1.2 -p 5201 -i 0.1 -J -t 2 -P 3 "
                                "-b 30000000 -C reno -Z".split())
        self.assertEqual(self.server(), "iperf3 -s -1 -i 0.1 -J -p 5201".split())
        self.assertNotIn("-b", self.client())

    def test_bytes_in_place_of_seconds(self):
        words = self.client(bytes="3MB", seconds=None)
        self.assertEqual(word_after(words, "-n"), "3000000")
        self.assertNotIn("-t", words)
        self.assertEqual(self.client(tool="stream", bytes="3MB", seconds=None)[1:],
                         "send 10.79.1.2 5201 cubic 3000000".split())

    def test_udp(self):
        words = self.client(tool="udp", rate="30mbit")
        self.assertIn("-u", words)
        self.assertEqual(word_after(words, "-b"), "30000000")
        self.assertNotIn("-C", words)

    def test_nuttcp(self):
        words = self.client(tool="nuttcp")
        self.assertEqual(words, "nuttcp -P 5201 -p 5701 -T 2 -i 0.1 -fparse 10.79.1.2".split())
        self.assertEqual(self.server(tool="nuttcp"), "nuttcp -1 -P 5201 -p 5701".split())
        # raw.py looks for its data there
        self.assertEqual(raw.Raw("/", {"flows": [self.flow(tool="nuttcp")]}).port("f"), 5701)

    def test_users(self):
        more = {"tool": "users", "streams": 40, "options": ["-R"]}
        self.assertEqual(self.client(**more)[1:], "ask 10.79.1.2 5201 40 2 -R".split())
        self.assertEqual(self.server(**more)[1:], "serve 5201 cubic -R".split())
        # The users ask at the end that the data go to
        self.assertEqual(guest.ends_of(self.flow(**more)), ("src", "dst"))
        self.assertEqual(guest.ends_of(self.flow()), ("dst", "src"))

    def test_woken_by_so_many_bytes(self):
        self.assertEqual(self.server(lowat=4096)[2:], ["LOWAT=4096", *self.server()])
        self.assertTrue(self.server(lowat=4096, tool="nuttcp")[1].startswith("LD_PRELOAD="))

    def test_disks(self):
        flow = self.flow(reads="80mbit", writes="8mbit")
        self.assertEqual(word_after(guest.client_of(flow, 5201, "x"), "-F"), "/run/f.reads")
        self.assertEqual(word_after(guest.server_of(flow, 5201, 1), "-F"), "/run/f.writes")
        transfers = guest.Transfers(plan_of(), {})
        with unittest.mock.patch.object(guest.os, "mkfifo") as made, \
                unittest.mock.patch.object(guest.subprocess, "Popen") as begun:
            transfers.turn(flow, "reads", "/dev/zero", "")
            transfers.turn(flow, "writes", "", "/dev/null")
            transfers.turn(self.flow(), "reads", "/dev/zero", "")
        self.assertEqual([call.args[0] for call in made.call_args_list],
                         ["/run/f.reads", "/run/f.writes"])
        # pv counts bytes
        self.assertEqual([call.args[0][2] for call in begun.call_args_list],
                         ["pv -q -L 10000000 </dev/zero >/run/f.reads",
                          "pv -q -L 1000000 </run/f.writes >/dev/null"])


class Hosts(unittest.TestCase):
    """Hosts of a run"""

    def prepared(self, **changes):
        """(commands, sysctls) that a plan's hosts get"""
        with unittest.mock.patch.object(guest, "run") as run, \
                unittest.mock.patch.object(guest, "sysctl") as sysctl:
            guest.prepare_hosts(plan_of(**changes), ["src", "dst"])
        return ([" ".join(call.args[0]).removeprefix("ip netns exec ")
                 for call in run.call_args_list],
                [call.args for call in sysctl.call_args_list])

    def test_windows_and_rates(self):
        ran, sysctls = self.prepared(
            path={"rate": "1gbit", "rtt": "12.112ms"},      # a bdp of 1000 frames
            sender={"fcwnd": "1bdp", "pace": "800mbit"})
        self.assertIn(("src", "net.ipv4.tcp_circuit_fcwnd", 1000), sysctls)
        # circuit_nl's rate is in bytes a second
        self.assertEqual(ran, ["src circuit_nl new pace prefix 0.0.0.0/0 window 1000 "
                               "rate 100000000"])

    def test_buffers(self):
        _, sysctls = self.prepared(hosts={"buffers": "16MiB",
                                          "src": {"net.ipv4.tcp_sack": 0}})
        for host in "src", "dst":
            self.assertIn((host, "net.ipv4.tcp_rmem", "4096 131072 16777216"), sysctls)
            self.assertIn((host, "net.ipv4.tcp_wmem", "4096 16384 16777216"), sysctls)
        self.assertEqual([s for s in sysctls if s[1] == "net.ipv4.tcp_sack"],
                         [("src", "net.ipv4.tcp_sack", 0)])

    def test_tbf(self):
        said = "src tc qdisc add dev eth1 root tbf rate 1000000000bit burst {} limit {}"
        sender = {"shaper": "tbf", "limit": "100p"}
        self.assertIn(said.format(3028, 151400), self.prepared(sender=sender)[0])
        self.assertIn(said.format(20000, 151400),
                      self.prepared(sender={**sender, "burst": "20kB"})[0])

    def test_queue_of_the_device(self):
        self.assertEqual(self.prepared(sender={"txqueuelen": 0})[0],
                         ["src ip link set eth1 txqueuelen 0"])

    def test_ctcp_setup(self):
        said = [{"buffer_bytes": size, "tcp_mem_pages": [size, 2 * size, 3 * size]}
                for size in (4000, 3000)]
        answers = iter(map(json.dumps, said))
        ran = []
        plan = plan_of(sender={"shaper": "ctcp-setup", "options": ["--guarantee", "1mbit"]})
        with unittest.mock.patch.object(
                guest, "run", lambda words: ran.append(words[4:]) or next(answers)), \
                unittest.mock.patch.object(guest, "keep") as kept, \
                unittest.mock.patch.object(guest, "heed") as heeded:
            guest.shape(plan, ["src", "dst"])
        self.assertEqual(ran, [("ctcp-setup --json --rate 1gbit --rtt 10ms "
                                "--guarantee 1mbit eth1").split()] * 2)
        self.assertEqual([call.args[0] for call in kept.call_args_list],
                         ["src.setup", "dst.setup"])
        heeded.assert_called_once_with(said)

    def heeded(self, said, now):
        """What /proc/sys has after guest.heed(), having had this"""
        with tempfile.TemporaryDirectory() as place:
            for key, text in now.items():
                path = Path(place) / key
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            with unittest.mock.patch.object(
                    guest, "Path", lambda path: Path(place) if path == "/proc/sys" else None):
                guest.heed(said)
            return {key: (Path(place) / key).read_text().split() for key in now}

    def test_what_ctcp_setup_asks_for(self):
        said = [{"buffer_bytes": 4000, "tcp_mem_pages": [10, 20, 30]},
                {"buffer_bytes": 3000, "tcp_mem_pages": [1, 2, 3]}]
        now = {"net/core/rmem_max": "3999\n", "net/core/wmem_max": "4001\n",
               "net/ipv4/tcp_mem": "12\t20\t30\n"}
        # The largest buffer, but the memory of all hosts together; never less than there is
        self.assertEqual(self.heeded(said, now), {
            "net/core/rmem_max": ["4000"], "net/core/wmem_max": ["4001"],
            "net/ipv4/tcp_mem": ["12", "22", "33"]})


class Times(unittest.TestCase):
    """Clock of a run"""

    def setUp(self):
        self.now = 100.0
        clock = types.SimpleNamespace(monotonic=lambda: self.now, sleep=self.pass_time)
        patch = unittest.mock.patch.object(guest, "time", clock)
        patch.start()
        self.addCleanup(patch.stop)

    def pass_time(self, seconds):
        self.now += seconds

    def test_all_at_their_time(self):
        clock, done = guest.Clock(), []
        for when, name in ((2, "c"), (0, "a"), (2, "d"), (0.5, "b")):
            clock.at(when, lambda name=name: done.append((clock.now(), name)))
        # What takes time until then is no part of the run
        self.pass_time(7)
        clock.go()
        self.assertEqual(done, [(0, "a"), (0.5, "b"), (2, "c"), (2, "d")])

    def test_one_that_is_late_does_not_move_the_next(self):
        clock, done = guest.Clock(), []
        clock.at(0, lambda: self.pass_time(3))
        clock.at(1, lambda: done.append(clock.now()))
        clock.at(4, lambda: done.append(clock.now()))
        clock.go()
        self.assertEqual(done, [3, 4])

    def test_schedule(self):
        plan = plan_of(flow=[{**FLOW, "start": 3}], hosts={"sample": "500ms"},
                       step=[{"at": 1, "on": "src", "do": "true"}])
        clock, transfers = guest.Clock(), unittest.mock.Mock()
        done = []
        transfers.start = lambda flow: done.append((clock.now(), flow["name"]))
        with unittest.mock.patch.object(
                guest, "Sampler", lambda _: lambda: done.append((clock.now(), "sample"))), \
                unittest.mock.patch.object(
                    guest, "run", lambda words: done.append((clock.now(), words))):
            guest.schedule(plan, clock, transfers, 5)
            clock.go()
        transfers.listen.assert_called_once_with(plan["flows"][0])
        self.assertIn((3, "f"), done)
        self.assertIn((1, guest.in_ns("src", ["sh", "-ec", "true"])), done)
        # Until a second after the last flow's end
        self.assertEqual([when for when, what in done if what == "sample"],
                         [i / 2 for i in range(12)])

    def waited(self, *codes):
        """How long each of these programs, which takes 400 s, is waited for at most, s"""
        transfers, limits = guest.Transfers(plan_of(), {}), []
        for code in codes:
            def wait(left, code=code):
                limits.append(left)
                self.pass_time(400)
                return code
            transfers.running.append((unittest.mock.Mock(wait=wait, returncode=code), ["x"]))
        transfers.wait(30)
        return limits

    def test_all_programs_together_have_one_limit(self):
        self.assertEqual(self.waited(0, 0, 0), [630, 230, 0.1])

    def test_program_that_fails_ends_the_run(self):
        with self.assertRaisesRegex(SystemExit, "exit 3: x"):
            self.waited(0, 3)


class Counted(unittest.TestCase):
    """Counters of a run"""

    def inside(self, place, content, *modules):
        """Files that guest.py writes and reads are in this folder"""
        files = {f"/proc/thread-self/net/{name}": text for name, text in content.items()}
        ports = iter(modules)
        stack = contextlib.ExitStack()
        for name, value in (
                ("LAB", place + "/"), ("inside", lambda _: contextlib.nullcontext()),
                ("run", lambda _: next(ports)),
                ("Path", lambda path: unittest.mock.Mock(
                    read_text=lambda encoding: files[path]))):
            stack.enter_context(unittest.mock.patch.object(guest, name, value))
        return stack

    def test_tcp_counters_by_name(self):
        content = {"snmp": "Ip: Forwarding InSegs\nIp: 1 5\nTcp: InSegs RetransSegs\n"
                           "Tcp: 90 7\n",
                   "netstat": "TcpExt: TCPTimeouts\nTcpExt: 3\nIpExt: InOctets\nIpExt: 8\n"}
        with self.inside("/", content, "stats: trips=2"):
            self.assertEqual(guest.counters(["src"]), {"src": {
                "module": "stats: trips=2", "InSegs": 90, "RetransSegs": 7,
                "TCPTimeouts": 3}})

    def test_samples_as_they_are_read(self):
        port = [{"kind": "netem", "bytes": 1}, {"kind": "tbf", "root": True, "bytes": 1500,
                                                "packets": 3, "drops": 2}]
        times = iter((0.5, 1.25))
        with tempfile.TemporaryDirectory() as place, self.inside(
                place, {}, "ESTAB cwnd:10\n", json.dumps(port), "", "[]"):
            sampler = guest.Sampler(types.SimpleNamespace(now=lambda: next(times)))
            sampler()
            sampler()
            sampler.file.close()
            sampler.port.close()
            one = raw.Raw(place, {"flows": []})
            self.assertEqual(one.samples, [(0.5, "ESTAB cwnd:10\n"), (1.25, "")])
            # Time, bytes, packets, drops, as metrics.py reads them
            self.assertEqual(one.text("port"), "0.500000 1500 3 2\n1.250000 0 0 0\n")
