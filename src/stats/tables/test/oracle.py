#!/usr/bin/env python3
"""oracle.py TRACETOOL TRACE...: the tables of stats, top and compare, computed the slow way from NDJSON.

Without traces, on random Chrome and DFTracer traces.  Percentiles of tracetool are off by at most 1 %.
"""
import collections
import fractions
import json
import math
import os
import random
import subprocess
import sys
import tempfile

BIN = sys.argv[1]
EDGES = [10**i for i in range(3, 11)]
HEADS = ["<1us", "<10us", "<100us", "<1ms", "<10ms", "<100ms", "<1s", "<10s", ">=10s"]
checked = 0


def run(*args):
    return subprocess.run([BIN, *args], capture_output=True, text=True, check=False).stdout


def report(command, path, *args):
    text = run(command, "-q", "--json", *args, path)
    return json.loads(text)["inputs"][0]


def same(what, got, want):
    global checked
    checked += 1
    if got != want:
        sys.exit(f"{what}: {got}, but it is {want}")


def same_track(what, got, name):
    """The number of the track is added to a name that others have, too."""
    same(what, name if got.startswith(name + " (") else got, name)


def near(what, got, durations, percent):
    rank = math.ceil(len(durations) * percent / 100)
    want = sorted(durations)[rank - 1]
    if len(durations) <= 16 or want < 128:
        same(what, got, want)
    elif abs(got - want) > want / 100:
        sys.exit(f"{what}: {got}, but it is {want}")


class Trace:
    def __init__(self, path):
        self.path = path
        self.tracks, self.events = {}, []
        waiting = set()
        for s in report("stats", path)["spans"]:
            if s.get("waiting_ns", 0) > 0:
                waiting.add((s["name"], s["category"]))
        for line in run("convert", "-q", "--to", "ndjson", path, "-").splitlines():
            r = json.loads(line)
            if r.get("type") == "track":
                self.tracks[r["index"]] = r
            elif "kind" in r:
                self.events.append(r)
        for i, e in enumerate(self.events):
            e["number"] = i
            e["dur_ns"] = e.get("dur_ns", 0)
            e["waiting"] = (e.get("name"), e.get("category")) in waiting
        self.spans = [e for e in self.events if e["kind"] == "span"]
        self.asyncs = [e for e in self.events if e["kind"] == "async"]
        self.first = min((e["ts_ns"] for e in self.events), default=0)

    def process(self, track):
        while "parent" in self.tracks[track]:
            track = self.tracks[track]["parent"]
        return track

    def periods(self):
        """(track, from, to, innermost span) of all tracks, from all boundaries of their spans."""
        by_track = collections.defaultdict(list)
        for s in self.spans:
            if s["dur_ns"] > 0:
                by_track[s["track_index"]].append(s)
        for track, spans in by_track.items():
            starts = collections.defaultdict(list)
            ends = collections.defaultdict(list)
            for s in spans:
                starts[s["ts_ns"]].append(s)
                ends[s["ts_ns"] + s["dur_ns"]].append(s)
            times = sorted(set(starts) | set(ends))
            active = {}
            for a, b in zip(times, times[1:]):
                for s in ends[a]:
                    active.pop(s["number"], None)
                for s in starts[a]:
                    active[s["number"]] = s
                if active:
                    inner = max(active.values(), key=lambda s: (s["ts_ns"], -s["dur_ns"], -s["number"]))
                    yield track, a, b, inner
                else:
                    yield track, a, b, None


def durations_row(what, row, durations):
    same(what + " count", row["count"], len(durations))
    if durations:
        near(what + " p50", row["p50_ns"], durations, 50)
        near(what + " p90", row["p90_ns"], durations, 90)
        near(what + " p99", row["p99_ns"], durations, 99)
        same(what + " max", row["max_ns"], max(durations))


def decade(ns):
    return sum(ns >= e for e in EDGES)


def check_every(t):
    last = max((e["ts_ns"] + (e["dur_ns"] if e["kind"] in ("span", "async") else 0) for e in t.events), default=0)
    every = max((last - t.first) // 23, 1000) // 1000 * 1000
    for by in ([], ["--by", "name"]):
        got = report("stats", t.path, "--every", f"{every}ns", "--hist", *by)
        same("every", got["every_ns"], every)
        name = (lambda e: e["name"]) if by else (lambda e: None)
        want = collections.defaultdict(lambda: {"durations": [], "busy": 0, "values": []})
        for kind, events in (("span", t.spans), ("async", t.asyncs)):
            for e in events:
                want[kind, name(e), None, (e["ts_ns"] - t.first) // every]["durations"].append(e["dur_ns"])
        for _, a, b, inner in t.periods():
            if inner is None or inner["waiting"]:
                continue
            for i in range((a - t.first) // every, (b - 1 - t.first) // every + 1):
                lo, hi = t.first + i * every, t.first + (i + 1) * every
                want["span", name(inner), None, i]["busy"] += min(b, hi) - max(a, lo)
        for e in t.events:
            for k, v in (e.get("args") or {}).items() if e["kind"] == "counter" else ():
                if isinstance(v, (int, float)) and not isinstance(v, bool):
                    want["counter", e["name"], k, (e["ts_ns"] - t.first) // every]["values"].append(v)
        seen = set()
        for row in got["intervals"]:
            who = row["counter"] if row["kind"] == "counter" else row.get("name")
            key = row["kind"], who, row.get("series"), (row["from_ns"] - t.first) // every
            seen.add(key)
            w, what = want[key], f"{t.path}: interval {key}"
            if row["kind"] == "counter":
                v = w["values"]
                same(what, row["count"], len(v))
                same(what, (row["min"], row["max"]), (min(v), max(v)))
                if not math.isclose(row["mean"], sum(v) / len(v), rel_tol=1e-9, abs_tol=1e-9):
                    sys.exit(f"{what}: mean {row['mean']}")
                continue
            durations_row(what, row, w["durations"])
            same(what + " sum", row["sum_ns"], sum(w["durations"]))
            if row["kind"] == "span":
                same(what + " busy", row["busy_ns"], w["busy"])
            counts = [0] * 9
            for d in w["durations"]:
                counts[decade(d)] += 1
            same(what + " hist", [row[h] for h in HEADS], counts)
        same("intervals", seen, {k for k, w in want.items() if w["durations"] or w["busy"] or w["values"]})


def check_hist(t):
    got = report("stats", t.path, "--hist")
    for key, events in (("spans", t.spans), ("async_spans", t.asyncs)):
        want = collections.defaultdict(lambda: [0] * 9)
        for e in events:
            want[e["name"], e["category"]][decade(e["dur_ns"])] += 1
        have = {(r["name"], r["category"]): [r["hist"][h] for h in HEADS] for r in got[key]}
        same(f"{t.path}: hist of {key}", have, dict(want))


def check_flows(t):
    open_, early = collections.defaultdict(list), collections.defaultdict(list)
    pairs, alone = collections.defaultdict(list), collections.Counter()
    end = lambda e: (e["name"], e["category"])
    for e in sorted((e for e in t.events if e["kind"].startswith("flow_")), key=lambda e: e["ts_ns"]):
        out = e if e["kind"] == "flow_out" else None
        if e["kind"] != "flow_out":
            if open_[e["id"]]:
                s = open_[e["id"]].pop()
                pairs[end(s), end(e)].append(e["ts_ns"] - s["ts_ns"])
                out = e if e["kind"] == "flow_step" else None
            else:
                early[e["id"]].append(e)
                if e["kind"] == "flow_step":  # it goes on without its start
                    open_[e["id"]].append(e)
        if out is not None:
            if early[e["id"]]:
                s = early[e["id"]].pop()
                if s["ts_ns"] == e["ts_ns"]:
                    pairs[end(e), end(s)].append(0)
                    continue
                alone[None, end(s)] += 1
            open_[e["id"]].append(out)
    for events in open_.values():
        for e in events:
            alone[end(e), None] += 1
    for events in early.values():
        for e in events:
            alone[None, end(e)] += 1
    ids = {e["id"] for e in t.events if e["kind"] == "flow_out"}
    got, seen = report("stats", t.path, "--flows"), {}
    for row in got["flows"]:
        a = (row["leaving"], row["leaving_category"]) if "leaving" in row else None
        b = (row["arriving"], row["arriving_category"]) if "arriving" in row else None
        what = f"{t.path}: flow {a} {b}"
        if a and b:
            durations_row(what, row, pairs.pop((a, b)))
        else:
            seen[a, b] = row["count"]
    same(f"{t.path}: flows", dict(pairs), {})
    if t.formatted != "dial9":  # there a wake without a poll is an instant
        same(f"{t.path}: ends without a partner", seen, dict(alone))
    return ids


def check_share(t):
    got = report("stats", t.path, "--share", "--gaps", "4")
    last = max((e["ts_ns"] + (e["dur_ns"] if e["kind"] in ("span", "async") else 0) for e in t.events), default=0)
    times, busy = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(list)
    for track, a, b, inner in t.periods():
        if inner is not None:
            times[track][inner["waiting"]] += b - a
            if not inner["waiting"]:
                busy[track].append((a, b, inner["name"]))
    tracks = sorted({s["track_index"] for s in t.spans}, key=lambda k: (-times[k][0], k))
    for row, k in zip(got["shares"], tracks, strict=True):
        what = f"{t.path}: share of {row}"
        same_track(what, row["track"], t.tracks[k]["name"])
        same(what, (row["busy_ns"], row["waiting_ns"]), tuple(times[k]))
        same(what, row["idle_ns"], last - t.first - sum(times[k]))
    rows = iter(got["gaps"])
    for k in tracks:
        gaps = [(b[0] - a[1], a[1], b[0]) for a, b in zip(busy[k], busy[k][1:]) if b[0] > a[1]]
        for length, a, b in sorted(gaps, key=lambda g: (-g[0], g[1]))[:4]:
            row, names = next(rows), collections.Counter()
            same(f"{t.path}: gap", (row["gap_ns"], row["ts_ns"]), (length, a))
            for other in tracks:
                if other != k and t.process(other) == t.process(k):
                    for x, y, name in busy[other]:
                        if max(x, a) < min(y, b):
                            names[name] += min(y, b) - max(x, a)
            have = [(m["name"], m["busy_ns"]) for m in row["meanwhile"]]
            same(f"{t.path}: meanwhile", [n for _, n in have], sorted(names.values(), reverse=True)[:3])
            same(f"{t.path}: meanwhile", have, [(n, names[n]) for n, _ in have])
    same("gaps", next(rows, None), None)


def check_imbalance(t):
    for of in ("thread", "process", "host"):
        shares = collections.defaultdict(lambda: collections.defaultdict(list))
        for e in t.spans:
            track = e["track_index"]
            while of == "thread" and t.tracks[track].get("child"):
                track = t.tracks[track]["parent"]
            unit = track if of == "thread" else t.process(track)
            if of == "host":
                unit = KEYS["host"](t, e)
            shares[e["name"], e["category"]][unit].append(e)
        got = report("stats", t.path, "--imbalance", of)["imbalance"]
        same(f"{t.path}: names", len(got), len(shares))
        lost = []
        for row in got:
            units, what = shares[row["name"], row["category"]], f"{t.path}: imbalance of {row['name']}"
            sums = {u: sum(e["dur_ns"] for e in v) for u, v in units.items()}
            ends = {u: max(e["ts_ns"] + e["dur_ns"] for e in v) for u, v in units.items()}
            most, last = max(sums.values()), max(ends.values())
            same(what, (row["units"], row["count"]), (len(units), sum(map(len, units.values()))))
            same(what, (row["min_ns"], row["max_ns"]), (min(sums.values()), most))
            if of == "host":
                same(what, sums[row["largest"]], most)
                same(what, ends[row["last"]], last)
            else:
                same_track(what, row["largest"], t.tracks[min(u for u in sums if sums[u] == most)]["name"])
                same_track(what, row["last"], t.tracks[min(u for u in ends if ends[u] == last)]["name"])
            lost.append((-(most - fractions.Fraction(sum(sums.values()), len(sums))), row["name"].encode(), row["category"].encode()))
            same(what, row["lag_ns"], last - min(ends.values()))
            if sum(sums.values()) > 0 and abs(row["max_per_mean"] - most * len(sums) / sum(sums.values())) > 0.001:
                sys.exit(f"{what}: {row}")
        same(f"{t.path}: order of the imbalance", lost, sorted(lost))


def check_overlap(t):
    names = sorted({e["name"] for e in t.spans})[:3] + ["*"]
    longer = sorted(e["dur_ns"] for e in t.spans)[len(t.spans) // 2] if t.spans else 1
    for a, b in zip(names, names[1:]):
        got = report("stats", t.path, "--overlap", f"{a},{b}", "--longer", f"{longer}ns")
        fits = lambda e, p: p in ("*", e["name"])
        spans = [e for e in t.spans + t.asyncs if fits(e, a) or fits(e, b)]
        rows = {r["process"]: r for r in got["overlap"]}
        same(f"{t.path}: processes", len(rows), len({t.process(e["track_index"]) for e in spans}))
        for p in {t.process(e["track_index"]) for e in spans}:
            row, own = rows[t.tracks[p]["name"]], [e for e in spans if t.process(e["track_index"]) == p]
            changes = collections.defaultdict(lambda: [0, 0])
            for e in own:
                for i, k in enumerate((a, b)):
                    if fits(e, k):
                        changes[e["ts_ns"]][i] += 1
                        changes[e["ts_ns"] + e["dur_ns"]][i] -= 1
            open_, want, before = [0, 0], [0, 0, 0], None
            for at in sorted(changes):
                if before is not None:
                    for i, on in enumerate((open_[0], open_[1], open_[0] and open_[1])):
                        want[i] += at - before if on else 0
                before, open_ = at, [x + y for x, y in zip(open_, changes[at])]
            same(f"{t.path}: overlap of {a} and {b}", [row["a_ns"], row["b_ns"], row["both_ns"]], want)
        outer = [e for e in t.spans if fits(e, a) and e["dur_ns"] > longer]
        same("long spans", got["long_spans"], len(outer))
        by_track, want = collections.defaultdict(list), 0
        for e in outer:
            by_track[e["track_index"]].append(e)
        order = lambda e: (e["ts_ns"], -(e["dur_ns"] if e["kind"] in ("span", "async") else 0), e["number"])

        def around(o, e):  # of spans with the same times the later one
            if o["kind"] == e["kind"] == "span" and order(o)[:2] == order(e)[:2]:
                return order(o) > order(e)
            return order(o) < order(e)

        for e in t.events:
            if fits(e, b) and not e["kind"].startswith("flow_"):
                want += any(
                    around(o, e) and e["ts_ns"] < o["ts_ns"] + o["dur_ns"]
                    for o in by_track[e["track_index"]]
                )
        same(f"{t.path}: {b} in {a}", sum(r["count"] for r in got["inside"]), want)


def check_examples(t):
    got = report("stats", t.path, "--examples", "2")
    for key, events in (("spans", t.spans), ("async_spans", t.asyncs)):
        for row in got[key]:
            own = [e for e in events if (e["name"], e["category"]) == (row["name"], row["category"])]
            want = sorted(own, key=lambda e: (-e["dur_ns"], e["number"]))[:2]
            have = [(e["dur_ns"], e["ts_ns"], e["args"]) for e in row["examples"]]
            same(f"{t.path}: examples", have, [(e["dur_ns"], e["ts_ns"], e.get("args", {})) for e in want])


def check_top(t):
    for by in ("name", "name,category"):
        keys = by.split(",")
        groups = collections.defaultdict(list)
        for e in t.spans + t.asyncs:
            groups[tuple(e[k] for k in keys)].append(e)
        got = report("top", t.path, "--by", by, "-n", "3")
        same(f"{t.path}: groups", len(got["groups"]), len(groups))
        for g in got["groups"]:
            events = groups[tuple(g[k] for k in keys)]
            want = sorted(events, key=lambda e: (-e["dur_ns"], e["number"]))[:3]
            same(f"{t.path}: top of {g}", [s["dur_ns"] for s in g["spans"]], [e["dur_ns"] for e in want])
            same("count", g["count"], len(events))
            near("p99", g["p99_ns"], [e["dur_ns"] for e in events], 99)
        p99 = {tuple(g[k] for k in keys): g["p99_ns"] for g in got["groups"]}
    out = report("top", t.path, "--outliers", "--times", "1.5", "-n", "10000")
    have = {(g["name"], g["category"]): len(g["spans"]) for g in out["groups"]}
    want = {k: sum(2 * e["dur_ns"] > 3 * p99[k] for e in v) for k, v in groups.items()}
    same(f"{t.path}: outliers", have, {k: v for k, v in want.items() if v})


def bytes_of(e):
    """By the built-in vocabulary of DFTracer, for the names that samples have."""
    args, fields = e.get("args") or {}, {"read": ["ret"], "write": ["ret"], "fread": ["ret", "size"], "fwrite": ["ret", "size"]}
    values = [args.get(f, -1) for f in fields.get(e["name"], ["?"])] if e["category"] in ("POSIX", "STDIO") else [-1]
    values = [int(v) if isinstance(v, str) and v.lstrip("-").isdigit() else v for v in values]
    return math.prod(values) if all(isinstance(v, int) and v >= 0 for v in values) else 0


def union(spans):
    """Time that spans take together, thread by thread."""
    by_track, total = collections.defaultdict(list), 0
    for s in spans:
        by_track[s["track_index"]].append((s["ts_ns"], s["ts_ns"] + s["dur_ns"]))
    for times in by_track.values():
        until = 0
        for a, b in sorted(times):
            total += max(0, b - max(a, until))
            until = max(until, b)
    return total


def rate(amount, total):
    return amount / (total / 1e9) if total else 0


KEYS = {
    "name": lambda t, e: e["name"],
    "category": lambda t, e: e["category"],
    "process": lambda t, e: t.process(e["track_index"]),
    "host": lambda t, e: t.tracks[t.process(e["track_index"])].get("host", "(none)"),
}


def groups_of(t, events, keys):
    groups = collections.defaultdict(list)
    for e in events:
        groups[tuple(KEYS[k](t, e) for k in keys)].append(e)
    return groups


def key_of(t, row, keys, processes):
    return tuple(processes.get(row[k]) if k == "process" else row[k] for k in keys)


def check_groups(t):
    names = collections.Counter(k["name"] for i, k in t.tracks.items() if "parent" not in k)
    processes = {k["name"]: i for i, k in t.tracks.items() if "parent" not in k and names[k["name"]] == 1}
    for keys in (["name", "category"], ["host"], ["host", "name"], ["process", "category"], ["category"]):
        if "process" in keys and len(processes) < len(names):
            continue
        got = report("stats", t.path, "--by", ",".join(keys))
        for key, events in (("spans", t.spans), ("async_spans", t.asyncs)):
            groups = groups_of(t, events, keys)
            same(f"{t.path}: groups by {keys}", len(got[key]), len(groups))
            for row in got[key]:
                own, what = groups[key_of(t, row, keys, processes)], f"{t.path}: {row}"
                d = [e["dur_ns"] for e in own]
                same(what, row["count"], len(own))
                dur = row["dur_ns"]
                same(what, (dur["sum"], dur["min"], dur["max"]), (sum(d), min(d), max(d)))
                same(what, dur["mean"], (sum(d) + len(d) // 2) // len(d))
                for part in (50, 90, 99):
                    near(what, dur[f"p{part}"], d, part)
                same(what, row["first_ns"], min(e["ts_ns"] for e in own))
                same(what, row["last_ns"], max(e["ts_ns"] + e["dur_ns"] for e in own))
                if key == "spans":
                    same(what, row["total_ns"], union(own))
                if "bytes" in row:
                    moved, total = sum(map(bytes_of, own)), row.get("total_ns", sum(d))
                    same(what, row["bytes"], moved)
                    if abs(row["bytes_per_s"] - rate(moved, total)) > 1:
                        sys.exit(f"{what}: {rate(moved, total)} bytes a second")
                elif t.formatted == "dftracer":
                    same(what, sum(map(bytes_of, t.spans)), 0)


def check_compare(t):
    """The trace, and a part of it as the new side."""
    keys = ["name", "category"]
    name = max((e["name"] for e in t.spans), default=None)
    if name is None or t.formatted not in ("chrome", "dftracer"):
        return
    with tempfile.TemporaryDirectory() as d:
        part = os.path.join(d, "part")
        run("convert", "-q", "--lanes", "off", "--not", "--name", name, "--to", t.formatted, t.path, part)
        got = json.loads(run("compare", "-q", "--json", "--exit-zero", "--by", "name,category", t.path, part))
    sides = [groups_of(t, t.spans + t.asyncs, keys), groups_of(t, [e for e in t.spans + t.asyncs if e["name"] != name], keys)]
    spans = {tuple(KEYS[k](t, e) for k in keys) for e in t.spans}
    for row in got["groups"]:
        key, what = (row["name"], row["category"]), f"{t.path}: compare {row}"
        if (row["kind"] == "span") != (key in spans) or key in {tuple(KEYS[k](t, e) for k in keys) for e in t.asyncs} & spans:
            continue
        total = union if row["kind"] == "span" else lambda v: sum(e["dur_ns"] for e in v)
        for side, groups in zip(("old", "new"), sides):
            own = groups.get(key, [])
            if not own:
                same(what, row["total_ns"][side], None)
                continue
            same(what, (row["count"][side], row["total_ns"][side]), (len(own), total(own)))
            for percent in (50, 90, 99):
                near(what, row[f"p{percent}_ns"][side], [e["dur_ns"] for e in own], percent)
            if "bytes" in row:
                same(what, row["bytes"][side], sum(map(bytes_of, own)))
        for number in ("count", "total_ns", "self_ns", "p50_ns", "p90_ns", "p99_ns", "bytes"):
            n = row.get(number)
            if n and n["old"] is not None and n["new"] is not None:
                same(what, n["difference"], n["new"] - n["old"])
                same(what, n["ratio"], n["new"] / n["old"] if n["old"] else None)


def check_merge(t):
    """Any number of copies of a table is that of as many traces."""
    with tempfile.TemporaryDirectory() as d:
        full = os.path.join(d, "full.json")
        with open(full, "w", encoding="utf-8") as f:
            f.write(run("stats", "-q", "--json", "--full", t.path))
        got = json.loads(run("stats", "--json", "--merge", full, full, full))["inputs"][0]
    one = report("stats", t.path)
    for row, want in zip(sorted(got["spans"], key=lambda r: (r["name"], r["category"])),
                         sorted(one["spans"], key=lambda r: (r["name"], r["category"])), strict=True):
        for k in ("count", "total_ns", "self_ns", "bytes", "waiting_ns"):
            same(f"{t.path}: merged {k}", row.get(k), 3 * want[k] if k in want else None)


def random_pfw(path, seed):
    r = random.Random(seed)
    with open(path, "w", encoding="utf-8") as f:
        f.write("[\n")
        at = 1700000000000000
        for i in range(r.choice([3, 40, 800])):
            at += r.choice([0, 1, 3, 20])
            pid = r.randrange(4) + 1
            args = {"hostname": f"node{pid % 3}"}
            if r.randrange(6):
                args["ret"] = r.choice([0, 1, -1, 4096, "4096", "-1", 2.5, 65536, r.randrange(1 << 20)])
            if r.randrange(3):
                args["size"] = r.choice([1, 8, -1, 4096])
            f.write(json.dumps({"id": i, "name": r.choice(["read", "write", "fread", "fwrite", "open", "readlink"]),
                                "cat": r.choice(["POSIX", "STDIO", "C_APP"]), "pid": pid, "tid": pid * 10 + r.randrange(2),
                                "ts": at, "dur": r.choice([0, 1, 2, 7, 30, 400]), "ph": "X", "args": args}) + "\n")


def random_trace(path, seed):
    r = random.Random(seed)
    events, at = [], 0
    for i in range(r.choice([3, 40, 1500])):
        at += r.choice([0, 1, 3, 20])
        one = {"pid": r.randrange(2) + 1, "tid": r.randrange(3) + 1, "ts": at, "name": r.choice("abcd"), "cat": r.choice("xy")}
        kind = r.randrange(8)
        if kind < 5:
            one.update(ph="X", dur=r.choice([0, 1, 2, 7, 30, 400, 5000]))
        elif kind == 5:
            one.update(ph="C", args={"v": r.randrange(9), "w": r.random()})
        else:
            one.update(ph=r.choice("sft"), id=r.randrange(12))
        events.append(one)
    r.shuffle(events)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(events, f)


CHECKS = [check_groups, check_compare, check_merge, check_top, check_flows, check_hist, check_every, check_share, check_imbalance, check_overlap, check_examples]


def check(path):
    t = Trace(path)
    t.formatted = report("stats", path)["format"]
    for c in CHECKS:
        c(t)


if len(sys.argv) > 2:
    for p in sys.argv[2:]:
        check(p)
else:
    with tempfile.TemporaryDirectory() as d:
        for seed in range(30):
            p = os.path.join(d, f"{seed}.json")
            random_trace(p, seed)
            check(p)
            random_pfw(p[:-5] + ".pfw", seed)
            check(p[:-5] + ".pfw")
print(f"{checked} figures agree")
