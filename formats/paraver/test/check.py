#!/usr/bin/env python3
"""Checks Paraver traces with a parser written from the description of the format.

check.py FOLDER NDJSON                 compares the events of the trace in FOLDER with those of NDJSON
check.py --emulated FOLDER EMULATED    compares the intervals with EMULATED/thread.prv, which ovniemu wrote
"""
import collections
import json
import re
import sys


def fail(text):
    sys.exit("check.py: " + text)


def expect(truth, text):
    if not truth:
        fail(text)


# ---- the three files ----

def read_pcf(path):
    """labels: type -> text; values: type -> {number: text}"""
    labels, values, block, types, seen = {}, {}, None, [], None
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if re.fullmatch(r"[A-Z_]+", line):
            block = line
            if block == "EVENT_TYPE":
                types, seen = [], {}
        elif line.strip() == "":
            continue
        elif block == "EVENT_TYPE":
            m = re.fullmatch(r"\d+\s+(\d+)\s+(.+)", line)
            expect(m, f"{path}: bad type: {line!r}")
            expect(int(m[1]) not in labels, f"{path}: type {m[1]} twice")
            types.append(int(m[1]))
            labels[types[-1]] = m[2].strip()
            values[types[-1]] = seen
        elif block == "VALUES":
            m = re.fullmatch(r"(\d+)\s+(.*)", line)
            expect(m and int(m[1]) not in seen, f"{path}: bad value: {line!r}")
            seen[int(m[1])] = m[2]
    return labels, values


def read_row(path):
    """level -> labels"""
    rows, lines = {}, open(path, encoding="utf-8").read().split("\n")
    i = 0
    while i < len(lines):
        m = re.fullmatch(r"LEVEL (\w+) SIZE (\d+)", lines[i])
        if m:
            n = int(m[2])
            rows[m[1]] = lines[i + 1:i + 1 + n]
            expect(len(rows[m[1]]) == n, f"{path}: level {m[1]} is cut off")
            i += n
        else:
            expect(lines[i] == "", f"{path}: stray line {lines[i]!r}")
        i += 1
    return rows


HEAD = re.compile(r"#Paraver \((\d\d)/(\d\d)/(\d\d) at (\d\d):(\d\d)\):(\d+)_ns:0:1:(\d+)\(((?:\d+:1,?)+)\)")


class Trace:
    def __init__(self, folder, stem):
        base = folder + "/" + stem
        self.labels, self.values = read_pcf(base + ".pcf")
        self.rows = read_row(base + ".row")
        self.records, self.arrows = [], []  # (time, row, type, value, more), (...)
        self.name = base
        with open(base + ".prv", encoding="ascii") as file:
            self.read_head(file.readline().rstrip("\n"))
            last = 0
            for line in file:
                f = [int(x) for x in line.rstrip("\n").split(":")]
                expect(f[0] in (2, 3), f"{base}: record {line!r}")
                time = f[5]
                expect(last <= time <= self.end, f"{base}: {time} after {last}, end {self.end}")
                last = time
                if f[0] == 2:
                    expect(len(f) >= 8 and len(f) % 2 == 0, f"{base}: {line!r}")
                    row, pairs = self.row(f[1:5]), list(zip(f[6::2], f[7::2]))
                    for type, value in pairs:
                        self.records.append((time, row, type, value, len(pairs) > 1))
                else:
                    expect(len(f) == 15, f"{base}: {line!r}")
                    expect(f[5] == f[6] and f[11] == f[12] and f[5] <= f[11] <= self.end, line)
                    self.arrows.append((f[5], self.row(f[1:5]), f[11], self.row(f[7:11]), f[14]))

    def read_head(self, line):
        m = HEAD.fullmatch(line)
        expect(m, f"{self.name}: head {line!r}")
        expect(1 <= int(m[1]) <= 31 and 1 <= int(m[2]) <= 12 and int(m[4]) < 24, "date: " + line)
        self.end = int(m[6])
        self.threads = [int(x.split(":")[0]) for x in m[8].split(",")]
        expect(len(self.threads) == int(m[7]), "tasks: " + line)
        expect("TASK" not in self.rows or len(self.rows["TASK"]) in (0, len(self.threads)), "rows of tasks")
        n = len(self.rows["THREAD"])
        expect(n == sum(self.threads) or n == 0, f"{n} rows, {sum(self.threads)} threads")

    def row(self, f):
        """cpu, application, task, thread -> index in LEVEL THREAD"""
        expect(f[1] == 1 and 1 <= f[2] <= len(self.threads), f"{self.name}: object {f}")
        expect(1 <= f[3] <= self.threads[f[2] - 1], f"{self.name}: object {f}")
        return sum(self.threads[:f[2] - 1]) + f[3] - 1

    def value(self, type, number):
        expect(number in self.values[type], f"{self.name}: type {type} has no value {number}")
        return self.values[type][number]

    def kind(self, type):
        """(group, "spans" | "instants" | "async" | "counter", level)"""
        label = self.labels[type]
        if not self.values[type]:
            return label, "counter", 0
        m = re.fullmatch(r"(.*?)((?:, (?:lane|level|async) \d+|, instants)*)", label, re.S)
        level = re.search(r", level (\d+)", m[2])
        word = "async" if "async" in m[2] else "instants" if "instants" in m[2] else "spans"
        return m[1], word, int(level[1]) if level else 0

    def contents(self):
        """Counters of spans, instants and counters, as (row label, group, ...)."""
        spans, instants, counters = collections.Counter(), collections.Counter(), collections.Counter()
        is_open = {}
        for time, row, type, value, more in self.records:
            group, kind, level = self.kind(type)
            thread = self.rows["THREAD"][row]
            if kind == "counter":
                counters[thread, group, time, value] += 1
            elif kind == "instants":
                instants[thread, group, time, self.value(type, value)] += 1
            elif more and level == 0:
                continue  # the innermost span changes, but the span at the outermost level stays open
            elif value != 0:
                expect((row, type) not in is_open, f"{self.name}: {time}: type {type} is open")
                is_open[row, type] = (time, value)
            else:
                expect((row, type) in is_open, f"{self.name}: {time}: type {type} is not open")
                start, value = is_open.pop((row, type))
                spans[thread, group, start, time, self.value(type, value)] += 1
        expect(not is_open, f"{self.name}: spans without an end: {is_open}")
        return spans, instants, counters


# ---- comparison with NDJSON ----

def plain(text):
    """Replaces characters that are escaped in labels, and in NDJSON in another way."""
    text = re.sub(r"(\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}|[\x00-\x1f\x7f-\x9f\ufffd])+", "?", text)
    return "".join(c if c.isprintable() or c == " " else "?" for c in text).strip() or "(no name)"


def number(value):
    """Returns the integer that the output has; None if the value is not a number."""
    if isinstance(value, str):
        if not re.fullmatch(r"-?\d+", value):
            return None
        value = int(value)
    if isinstance(value, float):
        value = round(value)
    return max(min(int(value), 2**63 - 1), -2**63) if isinstance(value, (bool, int)) else None


LAST = 2**63 - 1


class Lines:
    def __init__(self, path):
        self.tracks, self.base = {}, None
        self.spans, self.instants, self.counters = (collections.Counter() for _ in range(3))
        self.out, self.arrows = {}, collections.Counter()
        events = []
        for line in open(path, encoding="utf-8"):
            e = json.loads(line)
            if e.get("type") == "track":
                self.tracks[e["index"]] = e
            elif "ts_ns" in e and e["kind"] != "structure":
                events.append(e)
        self.base = min((int(e["ts_ns"]) for e in events), default=0)
        for e in sorted(events, key=lambda e: int(e["ts_ns"])):
            self.add(e)

    def thread(self, index):
        t = self.tracks[index]
        while t.get("child") or t.get("lane"):
            t = self.tracks[t["parent"]]
        return t

    def group(self, e):
        t, thread = self.tracks[e["track_index"]], self.thread(e["track_index"])
        if not t.get("child"):
            return plain(e["category"])
        name, before = t["name"], thread["name"] + ": "
        return plain(name[len(before):] if name.startswith(before) else name)

    def add(self, e):
        time, name = min(int(e["ts_ns"]) - self.base, LAST), plain(e.get("name", ""))
        row = plain(self.thread(e["track_index"])["name"])
        if e["kind"] in ("span", "async"):
            end = min(time + int(e["dur_ns"]), LAST)
            self.spans[row, self.group(e), time, end, name] += 1
        elif e["kind"] == "counter":
            for field, value in e.get("args", {}).items():
                if number(value) is None or e.get("types", {}).get(field) in ("string", "bytes"):
                    continue
                same = field in ("", e.get("name", ""))
                label = plain(e.get("name", "") + ("" if same else ": " + field))
                self.counters[row, label, time, number(value)] += 1
        elif e["kind"] == "flow_out":
            self.out[e["id"]] = (time, row)
        elif e["kind"] in ("flow_in", "flow_step"):
            if e["id"] in self.out:
                self.arrows[self.out.pop(e["id"]) + (time, row)] += 1
        else:
            self.instants[row, self.group(e), time, name] += 1


def difference(what, got, want):
    only_got, only_want = got - want, want - got
    if only_got or only_want:
        fail(f"{what}: {sum(only_got.values())} of {sum(got.values())} are not in the lines: "
             f"{list(only_got)[:3]}; missing: {sum(only_want.values())}: {list(only_want)[:3]}")


def clean(counter):
    """Converts labels to the form of Lines."""
    result = collections.Counter()
    for key, n in counter.items():
        result[tuple(plain(x) if isinstance(x, str) else x for x in key)] += n
    return result


def compare(folder, path):
    trace, lines = Trace(folder, "trace"), Lines(path)
    spans, instants, counters = trace.contents()
    difference("spans", clean(spans), lines.spans)
    difference("instants", clean(instants), lines.instants)
    difference("counters", clean(counters), lines.counters)
    rows = [plain(x) for x in trace.rows["THREAD"]]
    arrows = collections.Counter((t, rows[a], u, rows[b]) for t, a, u, b, _ in trace.arrows)
    difference("arrows", arrows, lines.arrows)
    ends = [k[3] for k in lines.spans] + [k[2] for k in lines.instants] + [k[2] for k in lines.counters]
    expect(trace.end == max(ends + [k[2] for k in lines.arrows], default=trace.end), "the duration")
    print(sum(spans.values()), sum(instants.values()), sum(counters.values()), len(trace.arrows))


# ---- comparison with the emulator ----

def intervals(changes):
    """Returns intervals [(begin, end, label)] of changes [(time, label or None)]; of one time the last counts."""
    result, shown, since = [], None, 0
    last = {}
    for time, label in changes:
        last[time] = label
    for time, label in last.items():
        if label == shown:
            continue
        if shown is not None:
            result.append((since, time, shown))
        shown, since = label, time
    expect(shown is None, f"{shown} is shown from {since} on, without an end")
    return result


def innermost(spans):
    """[(begin, end, label)], which lie within each other -> what is innermost, as changes."""
    changes, stack = [], []

    def close(until):
        while stack and stack[-1][0] <= until:
            end = stack.pop()[0]
            changes.append((end, stack[-1][1] if stack else None))

    for begin, end, label in sorted(spans, key=lambda s: (s[0], -s[1])):
        close(begin)
        stack.append((end, label))
        changes.append((begin, label))
    close(float("inf"))
    return changes


def shown_while(shown, masks):
    """The parts of intervals within others: the emulator shows most things of running threads only."""
    result = []
    for begin, end, label in shown:
        for from_, to, _ in masks:
            if max(begin, from_) < min(end, to):
                result.append((max(begin, from_), min(end, to), label))
    return result


NOTHING = object()
STATE = "Thread: thread state"
TAMPI = {
    "non-blocking operation issue": "Communication: Issuing a non-blocking operation",
    "inside an API call": "Library code: Interface function",
    "queue insertion": "Queue: Adding to a queue",
    "request probe, one": "Request: Testing a request",
    "ticket creation": "Ticket: Creating a ticket",
    "ticket wait": "Ticket: Waiting a ticket",
}
NANOS6 = {
    "processing an assigned task": "Worker: Handling task",
    "task creation": "Task: Creating",
    "user task code": NOTHING, # shown by the emulator after the start of the task
    "paused": NOTHING,
}
NOSV = {"API submit": "API: Submit", "paused": NOTHING}
# type of the emulator: our group, and our labels by those of the emulator
VIEWS = {
    STATE: ("thread state", lambda s, known: s.capitalize()),
    "MPI function of the RUNNING thread": ("mpi", lambda s, known: s),
    "TAMPI subsystem of the ACTIVE thread": ("tampi", lambda s, known: TAMPI[s]),
    "Nanos6 subsystem of the ACTIVE thread": ("nanos6", lambda s, known: NANOS6.get(s, "Task: Running body")),
    "Nanos6 task type of the RUNNING thread": (
        "nanos6", lambda s, known: s if s in known else None if s == "paused" else NOTHING),
    "nOS-V subsystem of the ACTIVE thread": ("nosv", lambda s, known: NOSV.get(s, "Task: In body")),
    "nOS-V task type of the RUNNING thread": (
        "nosv", lambda s, known: s if s in known else None if s == "paused" else NOTHING),
    "OpenMP label of the ACTIVE thread": ("openmp", lambda s, known: s),
    "Progress": ("Progress", lambda s, known: s),
    "Colors": ("Colors", lambda s, known: s),
}


def compare_emulated(folder, other):
    trace, emulated = Trace(folder, "trace"), Trace(other, "thread")
    spans, _, _ = trace.contents()
    by_place = collections.defaultdict(list)
    for (thread, group, begin, end, label), n in spans.items():
        by_place[thread.split()[-1], group] += [(begin, end, label)] * n
    changes = collections.defaultdict(list)
    for time, row, type, value, _ in emulated.records:
        label = None
        if value != 0:
            label = emulated.values[type].get(value, str(value))
        if label == "Dead":  # an ended thread has no state
            label = None
        changes[emulated.rows["THREAD"][row].split(".")[-1], type].append((time, label))
    compared = 0
    for (thread, type), there in changes.items():
        view = VIEWS.get(emulated.labels[type])
        if view is None:
            continue
        known = set(emulated.values[type].values())
        ours = [(b, e, view[1](s, known)) for b, e, s in by_place[thread, view[0]]]
        ours = intervals(innermost([s for s in ours if s[2] is not NOTHING]))
        if emulated.labels[type] != STATE:
            active = ("running", "cooling", "warming") if "ACTIVE" in emulated.labels[type] else ("running",)
            ours = shown_while(ours, sorted(s for s in by_place[thread, "thread state"] if s[2] in active))
        there = intervals(there)
        for mine, its in zip(ours, there):
            expect(mine == its, f"{emulated.labels[type]}, {thread}: {mine}, the emulator has {its}")
        expect(len(ours) == len(there), f"{emulated.labels[type]}, {thread}: {len(ours)}, the emulator has "
               f"{len(there)}: {(ours[len(there):] + there[len(ours):])[:2]}")
        compared += len(ours)
    print(compared)


if len(sys.argv) == 4 and sys.argv[1] == "--emulated":
    compare_emulated(sys.argv[2], sys.argv[3])
elif len(sys.argv) == 3:
    compare(sys.argv[1], sys.argv[2])
else:
    fail("usage: see the head of the file")
