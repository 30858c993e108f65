# SPDX-License-Identifier: GPL-2.0
"""A Prometheus of our own, on the loopback, with two jobs of one host each: both are one
exporter.  And ask it, by its HTTP API."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack

LOOK_S = 0.2
BEGINS_S = 60		# until it has scraped, most of which it waits by itself
HOSTS = {"ctcpd": "dtn1.example.net:9810", "lab": "dtn2.example.net:9810"}
OPEN = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class Refused(Exception):
    """What Prometheus says is wrong with what it was asked for"""


def free_addresses(n):
    """Of the loopback, that nobody listens on: asked for all at once, so that no two are the same,
    and let go again"""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{s.getsockname()[1]}" for s in sockets]


class Prometheus:
    """It runs as long as the context does."""

    def __init__(self, exporter, prometheus, folder, scrape_s):
        self.exporter, self.program, self.folder = exporter, prometheus, folder
        self.scrape_s = scrape_s
        self.scraped, self.address = free_addresses(2)
        self.stack = ExitStack()

    def __enter__(self):
        (self.folder / "config").write_text(json.dumps(self.config()), encoding="utf-8")
        log = self.stack.enter_context(open(self.folder / "log", "w", encoding="utf-8"))
        try:
            self.run([self.exporter, self.scraped], log)
            self.run([self.program, f"--config.file={self.folder}/config",
                      f"--storage.tsdb.path={self.folder}/data",
                      f"--web.listen-address={self.address}", "--log.level=warn"], log)
        except OSError:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def run(self, command, log):
        """A program that ends with the context"""
        process = self.stack.enter_context(subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=log, stderr=log))
        self.stack.callback(process.kill)

    def config(self):
        """As its file has it: YAML is a superset of JSON"""
        every = f"{int(self.scrape_s * 1000)}ms"
        return {"global": {"scrape_interval": every, "scrape_timeout": every},
                "scrape_configs": [
                    {"job_name": job, "static_configs": [
                        {"targets": [self.scraped], "labels": {"instance": host}}]}
                    for job, host in HOSTS.items()]}

    def ask(self, path, **words):
        """The data of its answer"""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        try:
            with OPEN(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as e:
            if e.code == 503:  # it is not ready
                raise
            raise Refused(json.load(e)["error"]) from e

    def text(self):
        """What it scrapes"""
        with OPEN(f"http://{self.scraped}/metrics", timeout=10) as answer:
            return answer.read()

    def scraped_at(self, enough):
        """A time, s, when the expression @enough has been true for each host; None: never"""
        until = time.monotonic() + BEGINS_S
        while time.monotonic() < until:
            try:
                series = self.ask("query", query=enough)["result"]
            except OSError:
                series = []
            if len(series) == len(HOSTS):
                return series[0]["value"][0]
            time.sleep(LOOK_S)
        return None

    def series(self, expression, at, is_range):
        """[(labels, value)]"""
        if is_range:
            data = self.ask("query_range", query=expression, start=at, end=at, step=1)
        else:
            data = self.ask("query", query=expression, time=at)
        if data["resultType"] not in ("vector", "matrix"):
            raise Refused(f'it is a {data["resultType"]}, of which no panel is made')
        return [(s["metric"], float((s["values"][-1] if is_range else s["value"])[1]))
                for s in data["result"]]
