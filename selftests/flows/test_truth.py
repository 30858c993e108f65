# SPDX-License-Identifier: GPL-2.0
"""Tests of truth.py"""

import unittest

import truth


def a_flow(label, scenario="one", **more):
    """10 Mbit/s for 30 s"""
    return {"label": label, "scenario": scenario, "nic": 10e6, "line": 0, "police": 0,
            "rtt": 0.01, "seconds": 30, "loss": 0, "others": [], "bytes": 0, "window": 0,
            "heal": 0, "record": [0, 32], "acceptable": [], **more}


def counted(used=1.0, retrans=0, series=(), busy=1.0, held=0.0, **drops):
    """What guest.py leaves; @used: of 10 Mbit/s"""
    all_drops = {"hop": 0, "path": 0, "back": 0, "local": 0, **drops}
    told = {"retrans": retrans, "busy": busy * 30e6, "rwnd": held * 30e6,
            "sndbuf": held * 30e6}
    none = dict.fromkeys(all_drops, 0)
    return {"drops": all_drops, "sent": [told],
            "series": [[0, none], *series, [32, all_drops]],
            "received": [{"bytes": used * 10e6 / 8 * 1448 / 1514 * 30}]}


def at(second, hop):
    """A look at the counters"""
    return [second, {"hop": hop, "path": 0, "back": 0, "local": 0}]


class Objections(unittest.TestCase):
    """objections"""

    def holds(self, flow, counters):
        self.assertIsNone(truth.objection(flow, counters))

    def refused(self, why, flow, counters):
        self.assertIn(why, truth.objection(flow, counters) or "nothing")

    def test_an_overrun_drops_again_and_again(self):
        flow = a_flow("overrun", nic=40e6, line=10e6)
        self.holds(flow, counted(hop=30, retrans=30, series=[at(5, 10), at(10, 20)]))
        self.refused("one time only", flow,
                     counted(hop=30, retrans=30, series=[at(5, 30), at(10, 30)]))
        self.refused("no overrun", flow, counted(hop=9, retrans=9, series=[at(5, 4)]))

    def test_an_overrun_is_of_the_hop_and_not_of_the_path(self):
        flow = a_flow("overrun", nic=40e6, line=10e6)
        self.refused("the path lost 20", flow, counted(
            hop=30, path=20, retrans=50, series=[at(5, 10), at(10, 20)]))

    def test_an_overrun_is_not_what_others_overran(self):
        flow = a_flow("overrun", nic=40e6, line=10e6, others=["reno"])
        series = [at(5, 40), at(10, 80)]
        self.refused("49 of the hop's 100 drops", flow,
                     counted(hop=100, retrans=49, series=series))
        self.holds(flow, counted(hop=100, retrans=50, series=series))

    def test_a_policer_is_a_hop(self):
        flow = a_flow("overrun", police=10e6)
        looks = [[t, {"hop": 0, "path": 0, "back": 0, "local": 0, "police": n}]
                 for t, n in ((5, 10), (10, 20))]
        counters = counted(retrans=30, series=looks, police=30)
        counters["series"][0][1]["police"] = 0
        self.holds(flow, counters)

    def test_random_loss_is_of_the_path_alone(self):
        flow = a_flow("loss", loss=1e-3)
        self.holds(flow, counted(path=20, retrans=20))
        self.refused("the path lost nothing", flow, counted())
        self.refused("the hop 10", flow, counted(path=20, hop=10, retrans=30))

    def test_congestion_hits_the_flow_itself(self):
        flow = a_flow("loss", line=10e6, others=[{}])
        self.holds(flow, counted(hop=50, retrans=20))
        self.refused("no congestion", flow, counted(hop=50, retrans=2))

    def test_nothing_but_local_drops_drops_locally(self):
        self.refused("its own qdisc", a_flow("clean"), counted(local=1))
        self.holds(a_flow("local-drops"), counted(local=20))
        self.refused("its own qdisc", a_flow("local-drops"), counted(local=4))

    def test_a_window_of_the_peer_holds_it_for_most_of_its_time(self):
        flow = a_flow("remote-window")
        self.holds(flow, counted(used=0.3, held=0.9))
        self.refused("rwnd held it", flow, counted(used=0.3, held=0.4))

    def test_what_an_end_limits_does_not_fill_the_path(self):
        self.refused("nothing limited it", a_flow("send-buffer"), counted(used=0.8, held=0.9))
        self.refused("nothing limited it", a_flow("application"), counted(used=0.8))

    def test_pauses_are_pauses(self):
        flow = a_flow("application", "app-pauses")
        self.holds(flow, counted(used=0.3, busy=0.4))
        self.refused("no pauses", flow, counted(used=0.3, busy=0.8))

    def test_an_end_loses_nothing_where_the_path_does_not(self):
        self.refused("the hop dropped", a_flow("application"), counted(used=0.3, hop=1))
        self.refused("the path lost", a_flow("application"), counted(used=0.3, path=1))

    def test_several_need_the_loss_that_they_are_named_for(self):
        flow = a_flow("application", "several", loss=1e-4)
        self.holds(flow, counted(used=0.3, path=3))
        self.refused("the path lost nothing", flow, counted(used=0.3))

    def test_a_window_of_its_own_is_what_is_under_way(self):
        flow = a_flow("application-window", window=3000)
        self.holds(flow, counted(used=0.2))
        self.refused("was under way", flow, counted(used=0.6))

    def test_clean_is_full_and_loses_nothing(self):
        self.holds(a_flow("clean"), counted(used=0.95))
        self.refused("of the path only", a_flow("clean"), counted(used=0.5))
        self.refused("dropped frames", a_flow("clean"), counted(hop=1))

    def test_what_was_lost_before_it_was_seen_is_not_held_against_it(self):
        flow = a_flow("clean", heal=8, loss=0.02, record=[12, 32])
        before = {"hop": 0, "path": 50, "back": 0, "local": 0}
        self.holds(flow, counted(path=50, series=[[12, before]]))
        self.refused("dropped frames", flow, counted(path=51, series=[[12, before]]))

    def test_a_tiny_flow_arrives(self):
        flow = a_flow("unknown", bytes=1000)
        counters = counted()
        counters["received"] = [{"bytes": 1000}]
        self.holds(flow, counters)
        counters["received"] = []
        self.refused("0 of 1000 bytes", flow, counters)

    def test_a_first_sample_has_lost_before(self):
        flow = a_flow("unknown", record=[12, 32])
        self.holds(flow, counted(hop=50, series=[at(12, 40)]))
        self.refused("before it was seen", flow, counted(hop=50, series=[at(12, 0)]))


class Also(unittest.TestCase):
    """what is true, too"""

    def test_a_few_losses_tell_nothing(self):
        flow = a_flow("loss", loss=1e-5)
        self.assertEqual(truth.also(flow, counted(path=4)), ["unknown", "clean"])

    def test_a_full_path_is_clean_as_well(self):
        flow = a_flow("loss", loss=1e-4)
        self.assertEqual(truth.also(flow, counted(path=40)), ["clean"])
        self.assertEqual(truth.also(flow, counted(used=0.5, path=40)), [])

    def test_what_a_description_accepts_stays(self):
        flow = a_flow("overrun", acceptable=["loss"])
        self.assertEqual(truth.also(flow, counted(hop=40)), ["loss"])

    def test_local_drops_that_cost_nothing(self):
        self.assertEqual(truth.also(a_flow("local-drops"), counted(local=9, retrans=4)),
                         ["clean"])
        self.assertEqual(truth.also(a_flow("local-drops"), counted(local=9, retrans=9)), [])
