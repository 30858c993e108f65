# SPDX-License-Identifier: GPL-2.0
"""What ip and tc are told to do."""

import contextlib
import unittest
import unittest.mock

import network
from expand import runs_of
from small import small


class Networks(unittest.TestCase):
    """What ip is told to do"""

    def lines(self, **plan):
        wires = network.Wires({"mtu": 9000, "ipv6": False, "gso": 65536, **plan})
        wires.add("src", "sw")
        wires.link("src", "eth1", "sw", "from-src", "10.77.1")
        wires.route("src", "10.79.0.0/16", "10.77.1.2")
        return wires.first[-1], wires.ip["src"]

    def test_ipv4_alone(self):
        link, words = self.lines()
        self.assertEqual(link, "link add eth1 mtu 9000 netns src type veth peer name "
                               "from-src mtu 9000 netns sw")
        self.assertFalse([w for w in words if "fd00" in w])

    def test_big_tcp(self):
        link, words = self.lines(ipv6=True, gso=524280)
        self.assertRegex(link, "eth1 mtu 9000 .* from-src mtu 9008")
        self.assertIn("addr add fd00:10:77:1::1/64 dev eth1 nodad", words)
        self.assertIn("route add fd00:10:79::/48 via fd00:10:77:1::2", words)

    def towards(self, **path):
        """tc's words for the path to dst"""
        path = {"rate": "1gbit", "rtt": "10ms", **path}
        plan = runs_of(small(vary=[], path=path))[0]["plan"]
        wires = network.Wires(plan)
        wires.add("sw")
        network.towards(wires, plan, "dst", 1, plan["rtt"])
        return wires.tc

    def test_delay_is_half_each_way(self):
        words = self.towards(loss="1/22000", reorder="3%")
        self.assertEqual(words["sw"], [])
        self.assertEqual([line.split() for line in words["wan-dst"]], [
            "qdisc add dev on root netem limit 10000000 delay 5000.000us "
            "loss 0.004545455% reorder 3.000000000%".split(),
            "qdisc add dev back root netem limit 10000000 delay 5000.000us".split()])

    def test_port(self):
        line = {"line": "500mbit", "buffer": "20p"}
        said = "qdisc add dev to-dst root tbf rate 500000000bit burst {} limit {}"
        self.assertEqual(self.towards(**line)["sw"], [said.format(3028, 30280)])
        self.assertEqual(self.towards(**line, offloads=True)["sw"],
                         [said.format(81920, 30280)])

    def lay(self, **path):
        """What lay() runs and sets, of a small plan"""
        plan = runs_of(small(vary=[], path={"rate": "1gbit", "rtt": "10ms",
                                            **path}))[0]["plan"]
        with unittest.mock.patch.object(network, "run") as run, \
                unittest.mock.patch.object(network, "sysctl") as sysctl, \
                unittest.mock.patch.object(network, "inside",
                                           lambda _: contextlib.nullcontext()):
            namespaces, addresses = network.lay(plan)
        return namespaces, addresses, [c.args[0] for c in run.call_args_list], \
            [c.args for c in sysctl.call_args_list]

    def test_laid(self):
        namespaces, addresses, ran, sysctls = self.lay()
        self.assertEqual(namespaces, ["sw", "src", "wan-dst", "dst"])
        self.assertEqual(addresses, {"src": "10.77.1.1", "dst": "10.79.1.2"})
        ports = [words[2] for words in ran if words[0] == "ethtool"]
        self.assertEqual(len(ports), 6)
        self.assertIn(["ethtool", "-K", "eth1", "tso", "off", "gso", "off", "gro",
                       "off"], ran)
        for name in namespaces:
            self.assertIn((name, "net.ipv4.tcp_no_metrics_save", 1), sysctls)
            self.assertIn((name, "net.ipv4.ip_forward", 1), sysctls)

    def test_laid_with_offloads(self):
        _, _, ran, _ = self.lay(offloads=True)
        self.assertFalse([w for w in ran if w[0] == "ethtool" or "gso_max_size" in w])
        _, addresses, ran, _ = self.lay(offloads=True, ipv6=True, gso="512KiB",
                                        rtt2="20ms")
        self.assertEqual(addresses, {"src": "fd00:10:77:1::1",
                                     "dst": "fd00:10:79:1::2",
                                     "dst2": "fd00:10:79:2::2"})
        self.assertTrue([w for w in ran if "gso_max_size" in w])
