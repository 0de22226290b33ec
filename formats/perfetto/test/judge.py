#!/usr/bin/env python3
"""Perfetto traces as tracetool reads them, beside Perfetto's own importer.

usage: judge.py BIN [-v] [TRACE...]       without traces: all good samples, real traces, and outputs of all samples
       judge.py BIN --samples             bad samples: the importer's stat of each rule
       judge.py BIN --cuts [TRACE...]     copies from each time on and up to it: the events behind and before the cut
PERFETTO: the importer (../shared/tools/perfetto).  Status 77: it is not there.  1: an unexpected difference.
-v also prints the expected differences, which KNOWN lists with their reasons.

Compared are the rows of track events: slices and states (time, duration, name, category; depth, process and thread,
arguments, call stack), counters, arrows, samples with their frames from the leaf to the root, and names of processes
and threads.  Rows that the importer makes of other packets are left out.
"""
import collections
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

IMPORTER = os.environ.get("PERFETTO", "../shared/tools/perfetto")
REAL = "../shared/traces/perfetto"

# ---- differences that are decisions of the reader ----

# (file, aspect): reason.  An entry that no longer differs is a difference, too.
KNOWN = {
    ("legacy-async.pftrace", "place"): "an async event of any id is in the process where it begins",
    ("legacy-async-global.pftrace", "place"): "an async event of any id is in the process where it begins",
    ("legacy-async-processes.pftrace", "place"): "an async event of any id is in the process where it begins",
    ("legacy-async-unnamed.pftrace", "slices"): "an async end with an empty name ends the innermost span",
    ("heap_profile.pftrace", "samples"): "a heap profile before time 0 is left out (heap-time)",
    ("inline_positions.pftrace", "samples"): "a heap profile before time 0 is left out (heap-time)",
    ("heap_profile.pftrace", "process names"): "a process without events is not shown",
    ("inline_positions.pftrace", "process names"): "a process without events is not shown",
    ("profiling-test_stack_profile_tracker_empty_callstack.pftrace", "samples"): "a heap sample with an empty stack stays",
    ("track_event_with_atrace.pftrace", "slices"): "ftrace is not read",
    ("typed-undescribed.pftrace", "arguments"): "fields without a description, or of another type, are shown",
    ("typed-annotations.pftrace", "arguments"): "an annotation without a value is shown",
    ("extensions.pftrace", "arguments"): "a field without a description is shown",
    ("chrome_histogram.pftrace", "arguments"): "the importer has the names of hashes from a table of the trace",
    ("order.json as .pftrace", "arrows"): "an arrow to the next span has an end without one",
}

# Tracks of track events; other kinds of packets make tracks of other types.
TYPES = {"thread_execution", "legacy_async_global_slice", "legacy_async_process_slice", "legacy_chrome_global_instants",
         "chrome_process_instant", "thread_time", "thread_instructions"}
TYPES |= {scope + kind for scope in ("thread", "process", "global")
          for kind in ("_merged_track_event", "_track_event", "_counter_track_event", "_state_track_event")}
IN_TYPES = "(" + ",".join("'%s'" % t for t in sorted(TYPES)) + ")"

# Track with its thread and process, whichever it has.
PLACE = f"""join track t on t.id = e.track_id and t.type in {IN_TYPES}
        left join thread_track ht on ht.id = t.id left join thread_counter_track hc on hc.id = t.id
        left join thread_state_track hs on hs.id = t.id
        left join thread th on th.utid = coalesce(ht.utid, hc.utid, hs.utid)
        left join process_track pt on pt.id = t.id left join process_counter_track pc on pc.id = t.id
        left join process_state_track ps on ps.id = t.id
        left join process p on p.upid = coalesce(th.upid, pt.upid, pc.upid, ps.upid)"""
SAMPLER = f"""left join __intrinsic_profiler_task_context c on c.id = task_context_id left join thread th on th.utid = c.utid
        left join process p on p.upid = coalesce(th.upid, c.upid)"""

QUERIES = [
    f"""select json_array('slice', e.track_id, ts, dur, depth, e.name, category, p.pid, th.tid, p.name, e.arg_set_id,
        (select max(callsite_id) from __intrinsic_track_event_callstacks where slice_id = e.id),
        (select max(end_callsite_id) from __intrinsic_track_event_callstacks where slice_id = e.id),
        replace(t.type, '_merged', ''), coalesce(t.name, th.name)) from slice e {PLACE}""",
    f"""select json_array('state', e.track_id, ts, dur, 0, value, category, p.pid, th.tid, p.name, e.arg_set_id, null, null,
        t.type, t.name) from state e {PLACE}""",
    f"""select json_array('counter', ts, printf('%!.17g', value), t.name, p.pid, th.tid) from counter e {PLACE}""",
    """select json_array('flow', o.ts, o.name, i.ts, i.name) from flow f join slice o on o.id = f.slice_out
        join slice i on i.id = f.slice_in""",
    """select json_array('arg', arg_set_id, key, value_type, int_value, string_value, printf('%!.17g', real_value))
        from args where key not glob 'legacy_event.*' and key not in ('source_location_iid', 'legacy_trace_source_id')
        and key not glob 'chrome_mojo_event_info.mojo_interface_method*'""",
    "select json_array('thread', tid, p.pid, th.name) from thread th left join process p using (upid) where utid > 0",
    "select json_array('process', pid, name) from process where upid > 0",
    f"select json_array('sample', ts, source, p.pid, th.tid, callsite_id) from __intrinsic_profiler_sample {SAMPLER}",
    """select json_array('heap', ts, p.pid, size, callsite_id) from heap_profile_allocation
        left join process p using (upid)""",
    """select json_array('callsite', c.id, c.parent_id, f.name, f.rel_pc, m.name, m.build_id,
        (select max(source_file) from stack_profile_symbol s where s.symbol_set_id = f.symbol_set_id))
        from stack_profile_callsite c join stack_profile_frame f on f.id = c.frame_id
        left join stack_profile_mapping m on m.id = f.mapping""",
    """select json_array('stat', name, severity, value) from stats where value > 0 and name not in
        ('guess_trace_type_duration_ns','parse_trace_duration_ns','traced_data_sources_seen','clock_sync_cache_miss')""",
]


def run(*args, **kw):
    return subprocess.run(args, capture_output=True, **kw)


class Rows(dict):
    """Lists of rows by kind; loaded: the importer took the file."""

    def __missing__(self, key):
        self[key] = []
        return self[key]


# ---- values ----

def canon(v):
    """One form of a value: NDJSON has integers beyond 2^53 and what is no number as texts."""
    if isinstance(v, str):
        if re.fullmatch(r"-?\d+|0x[0-9a-f]+", v):
            v = int(v, 0) if not re.fullmatch(r"-?0\d+", v) else v
        elif v.lower() in ("nan", "inf", "-inf", "infinity", "-infinity"):
            v = float(v)
    if isinstance(v, float):
        if math.isnan(v) or math.isinf(v):
            return str(v)
        return str(int(v) % 2 ** 64) if v.is_integer() and abs(v) < 2 ** 63 else repr(v)
    return str(v % 2 ** 64) if isinstance(v, int) else v


def plain(k):
    return "".join("_" if c in ".[]" else c for c in k)


def flat(key, value, into):
    """As the importer names members of maps and lists; empty ones vanish.  {"$TYPE": V} is a typed value."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$") and key:
        value = next(iter(value.values()))
    if isinstance(value, dict):
        for k, v in value.items():
            flat(f"{key}.{plain(k)}" if key else plain(k), v, into)
    elif isinstance(value, list):
        n = 0
        for v in value:
            if v in ({}, []) or v is None:
                continue
            flat(f"{key}[{n}]", v, into)
            n += 1
    elif value is not None:
        into[key] = canon(value)


# ---- the importer ----

def ask(path):
    r = run(IMPORTER, path, *QUERIES)
    rows = Rows()
    rows.loaded = r.returncode == 0
    rows.error = r.stderr.decode("utf-8", "replace")
    for line in r.stdout.decode("utf-8", "replace").split("\n"):
        if line.startswith('["'):
            kind, *row = json.loads(line)
            rows[kind].append(row)
    rows.args = collections.defaultdict(dict)
    for number, key, kind, whole, text, real in rows["arg"]:
        if key == "correlation_id" and kind == "string":
            text = text.removeprefix("tp:#")
        if kind == "string" and text is None:
            continue
        value = text if kind in ("string", "json") else float(real or "nan") if kind == "real" else whole
        for prefix, ours in (("debug.", ""), ("track_event.log_message.message", "log_message_message"),
                             ("track_event.log_message.", "log_message_source_location_"),
                             ("track_event.priority", "log_message_priority"), ("", "")):
            if key.startswith(prefix):
                ends = plain(key) if key.startswith(LOCATIONS) else key[len(prefix):]
                rows.args[number][ours + ends] = canon(value)
                break
    sites = {r[0]: r[1:] for r in rows["callsite"]}
    rows.stacks, rows.scripts = {}, {}
    for site in sites:
        frames, scripts, at = [], [], site
        while at is not None:
            at, name, pc, mapping, build, source = sites[at]
            frames.append((name or hex(pc), "" if (mapping or "").endswith("_inline") else mapping or "", build or ""))
            scripts.append((name or "(anonymous)", source or "", ""))
        rows.stacks[site], rows.scripts[site] = tuple(frames), tuple(scripts)
    return rows


# ---- tracetool ----

def read(binary, path, tmp, *options):
    out = os.path.join(tmp, "out.ndjson")
    r = run(binary, "convert", "-f", "--quiet", *options, path, out)
    rows = Rows()
    rows.said = r.stderr.decode("utf-8", "replace")
    rows.loaded = r.returncode <= 1 and os.path.exists(out)
    rows.tracks = {}
    if not rows.loaded:
        return rows
    with open(out, encoding="utf-8", errors="replace") as f:
        for line in f:
            m = json.loads(line)
            if m.get("type") == "track":
                rows.tracks[m["index"]] = m
                rows["track"].append(m)
            elif "kind" in m:
                rows[m["kind"]].append(m)
    os.remove(out)
    return rows


def process_name(rows, m):
    t = rows.tracks.get(m.get("track_index"))
    while t is not None and t["kind"] != "process":
        t = rows.tracks.get(t.get("parent"))
    return t["name"] if t is not None and t["name"] != "global tracks" else None


def depths(events):
    """The number of spans around each event of a track, in order of time, as the importer counts: an instant stays for
    another instant at its time.  None: an instant, or a span of no length, when a span ends, which precedes or follows that
    end in the file."""
    found, stack = {}, []
    for i, (ts, end, is_instant) in events:
        unclear = (is_instant or end == ts) and any(e == ts and not instant for _, e, instant in stack)
        while stack and stack[-1][1] is not None and stack[-1][1] <= ts and not (
                is_instant and stack[-1][2] and stack[-1][0] == ts):
            stack.pop()
        found[i] = None if unclear else len(stack)
        stack.append((ts, end, is_instant))
    return found


def frames_of(args):
    """Frames with mapping and build id, and the arguments without them."""
    names = args.pop("callstack", None)
    paths, ids = args.pop("callstack_mappings", None), args.pop("callstack_build_ids", None)
    if names is None:
        return ()
    names = [next(iter(n.values())) if isinstance(n, dict) else n for n in names]
    return tuple(zip(names, paths or [""] * len(names), ids or [""] * len(names)))


LOCATIONS = ("source.", "source_location.", "task.")  # names of arguments, not maps

# The importer looks up this number of a symbol.
SYMBOL = ("chrome_mojo_event_info", "mojo_interface_method_iid")
COLUMNS = ("tdur", "thread_instruction_delta")  # of the importer's table of slices

SAMPLES = {"perf_sample": "linux.perf", "cpu_profile": "chrome", "cpu_profile_idle": "chrome", "stack_sample": "profiler"}
V8 = "legacy_v8"  # source of CPU profiles of V8
Slice = collections.namedtuple("Slice", "key depth place process args stack end_stack track", defaults=[None])


def end_arguments(args):
    """Of an argument that begin and end have, the importer keeps that of the end, tracetool both: NAME and end.NAME."""
    for k in [k for k in args if k.startswith("end.") and k[4:] in args]:
        args[k[4:]] = args.pop(k)


def slices_of(rows, own):
    by_track, slices, samples = collections.defaultdict(list), [], []
    for kind in ("span", "async", "instant"):
        for m in rows[kind]:
            args = dict(m.get("args", {}))
            if not own and (m.get("name") in SAMPLES or m.get("name") == "heap_profile"):
                samples.append((m, frames_of(args)))
                continue
            dur = m.get("dur_ns", 0) if kind != "instant" else 0
            if not own and args.pop("unfinished", None):
                dur = -1
            stack, end_stack = (), ()
            if not own:
                end_stack = frames_of({k[4:]: args.pop(k) for k in list(args) if k.startswith("end.callstack")})
                args.pop("callstack_weight", None)
                args.pop("end.callstack_weight", None)
                stack = frames_of(args)
                end_arguments(args)
                args = {k: v for k, v in args.items() if k not in COLUMNS and m.get("types", {}).get(k) != "bytes"}
                if isinstance(args.get(SYMBOL[0]), dict):
                    args[SYMBOL[0]] = {k: v for k, v in args[SYMBOL[0]].items() if k != SYMBOL[1]}
            into = {}
            flat("", args, into)
            key = (m["ts_ns"], dur, m.get("name") or None, m.get("category") or None)
            if kind != "async":
                by_track[m["track_index"]].append((m["ts_ns"], m["offset"], -dur if dur >= 0 else -2 ** 63, len(slices),
                                                   kind == "instant"))
            slices.append(Slice(key, 0, (m.get("pid"), m.get("tid")), process_name(rows, m), into, stack, end_stack))
    for events in by_track.values():
        events.sort()
        found = depths([(i, (ts, None if -less == 2 ** 63 else ts - less, instant))
                        for ts, _, less, i, instant in events])
        for i, depth in found.items():
            slices[i] = slices[i]._replace(depth=depth)
    return slices, samples


# ---- comparing ----

class Judge:
    def __init__(self, binary, verbose):
        self.binary, self.verbose, self.failed, self.count = binary, verbose, 0, 0
        self.known = set()
        self.tmp = tempfile.mkdtemp()

    def say(self, path, aspect, text):
        key = (os.path.basename(path), aspect)
        if key in KNOWN:
            self.known.add(key)
            if self.verbose:
                print(f"{path}: {aspect}: expected, {KNOWN[key]}: {text}")
            return
        print(f"{path}: {aspect}: {text}")
        self.failed += 1

    def multisets(self, path, aspect, expected, got, most=3):
        want, have = collections.Counter(expected), collections.Counter(got)
        if want == have:
            return True
        missing, more = list((want - have).elements()), list((have - want).elements())
        self.say(path, aspect, f"{len(missing)} of the importer are missing, {len(more)} are more: "
                 f"missing {sorted(missing, key=str)[:most]}, more {sorted(more, key=str)[:most]}")
        return False

    def trace(self, path, name=None):
        own, name = name is not None, name or path
        self.count += 1
        want, have = ask(path), read(self.binary, path, self.tmp)
        if "Traceback" in want.error:
            self.say(name, "importer", want.error[:300])
        if not want.loaded:
            return
        if not have.loaded:
            self.say(name, "reading", have.said[:300])
            return
        slices, samples = slices_of(have, own)
        self.slices(name, own, want, slices)
        self.samples(name, own, want, slices, samples)
        self.counters(name, own, want, have)
        self.flows(name, want, have)
        self.names(name, own, want, have)

    def slices(self, path, own, want, ours):
        theirs = []
        lanes = collections.defaultdict(set)
        for row in want["slice"] + want["state"]:
            lane, ts, dur, depth, name, category, pid, tid, process, args, site, end_site, _, track = row
            lanes[track].add(lane)
            theirs.append(Slice((ts, dur, name or None, category or None), depth, (pid, tid), process or None,
                                want.args.get(args, {}), want.stacks.get(site, ()), want.stacks.get(end_site, ()), track))
        no_category = {"track_event", "no category", "instant", "slice"}
        key = lambda s: s.key[:3] + ((None,) if s.key[3] in no_category else s.key[3:])
        if not self.multisets(path, "slices", map(key, theirs), map(key, ours)):
            return
        of = lambda what: ([key(s) + (what(s),) for s in theirs], [key(s) + (what(s),) for s in ours])
        # NDJSON does not tell the lanes of a track apart
        in_lanes = {key(s) for s in theirs if s.track and len(lanes[s.track]) > 1}
        in_lanes |= {key(s) for s in ours if s.depth is None}
        self.multisets(path, "depth", *of(lambda s: s.depth if key(s) not in in_lanes else None))
        self.multisets(path, "place", *of((lambda s: s.process) if own else (lambda s: s.place)))
        self.multisets(path, "arguments", *of(lambda s: tuple(sorted(s.args.items(), key=str))))
        if not own:
            self.multisets(path, "call stacks", *of(lambda s: (s.stack, s.end_stack if s.end_stack != s.stack else ())))

    def samples(self, path, own, want, slices, samples):
        theirs = [("chrome", ts, pid, tid, want.scripts.get(site, ())) if source == V8 else
                  (source if source in SAMPLES.values() else "profiler", ts, pid, tid, want.stacks.get(site, ()))
                  for ts, source, pid, tid, site in want["sample"]]
        if own:  # each sample is also a slice, which has the frames as an argument
            lists = collections.defaultdict(set)
            for s in slices:
                for k in {k[:-3] for k in s.args if k.endswith("[0]")}:
                    n = sum(1 for a in s.args if re.fullmatch(re.escape(k) + r"\[\d+\]", a))
                    lists[s.key[0]].add(tuple(s.args.get(f"{k}[{i}]") for i in range(n)))
            lost = [s for s in theirs if tuple(canon(f[0]) for f in s[4]) not in lists[s[1]]]
            if lost:
                self.say(path, "samples", f"{len(lost)} of {len(theirs)} are no slice with these frames: {lost[:2]}")
            return
        theirs += [("heap", ts, pid, size, want.stacks.get(site, ())) for ts, pid, size, site in want["heap"]]
        ours = []
        for m, frames in samples:
            if m["name"] != "heap_profile":
                ours.append((SAMPLES[m["name"]], m["ts_ns"], m.get("pid"), m.get("tid"), frames))
                continue
            for size in (m["args"]["allocated"], -m["args"]["freed"]):
                if size != 0:
                    ours.append(("heap", m["ts_ns"], m.get("pid"), size, frames))
        writers = {(row[2], row[3]) for row in want["sample"] if row[1] == V8}
        self.multisets(path, "samples", self.moved(path, theirs, ours, writers), ours)

    def moved(self, path, theirs, ours, writers):
        """Moves samples of V8 from the thread that writes a profile, which the importer shows, to the one that is profiled:
        it has the same samples.  Each writer has one."""
        threads, all_ours = {}, set(ours)
        for writer in sorted(writers):
            times = [(s[1], s[4]) for s in theirs if s[2:4] == writer]
            of_process = {s[3] for s in ours if s[0] == "chrome" and s[2] == writer[0]}
            fits = [tid for tid in sorted(of_process, key=str)
                    if all(("chrome", ts, writer[0], tid, frames) in all_ours for ts, frames in times)]
            if len(fits) != 1:
                self.say(path, "samples", f"the samples of thread {writer} are those of {fits} here")
            else:
                threads[writer] = fits[0]
        return [s[:3] + (threads.get(s[2:4], s[3]),) + s[4:] for s in theirs]

    def counters(self, path, own, want, have):
        theirs = [(r[0], canon(float(r[1] or "nan")), r[2] or "counter") + (() if own else tuple(r[3:]))
                  for r in want["counter"]]
        ours = []
        for m in have["counter"]:
            v = m["args"]["value"]
            v = next(iter(v.values())) if isinstance(v, dict) else v
            place = () if own else (m.get("pid"), m.get("tid"))
            ours.append((m["ts_ns"], canon(float(v)), m.get("name") or "counter") + place)
        self.multisets(path, "counters", theirs, ours)

    def flows(self, path, want, have):
        """Each end but the first of an arrow, in order of time; the importer has no row for an end without a start.  The
        end of a legacy arrow leaves it open, which NDJSON does not tell from a terminating one."""
        ends = collections.defaultdict(list)
        for kind in ("flow_out", "flow_step", "flow_in"):
            for m in have[kind]:
                ends[m["id"]].append((m["ts_ns"], m["offset"], kind))
        least = most = 0
        for of_one in ends.values():
            started = is_open = False
            for _, _, kind in sorted(of_one):
                least += is_open and kind != "flow_out"
                most += started and kind != "flow_out"
                started |= kind == "flow_out"
                is_open = kind == "flow_out" or (is_open and kind == "flow_step")
        if not least <= len(want["flow"]) <= most:
            self.say(path, "arrows", f"{len(want['flow'])} in the importer, {least} to {most} here")

    def names(self, path, own, want, have):
        """Names of processes and threads that have events."""
        rows = want["slice"] + want["state"]
        tids = {(r[6], r[7]) for r in rows} | {(r[3], r[4]) for r in want["counter"]} | {
            (r[2], r[3]) for r in want["sample"] if r[1] != V8}
        pids = {pid for pid, _ in tids} | {r[1] for r in want["heap"]}
        place = (lambda *n: ()) if own else (lambda *n: n)  # numbers of outputs may be the writer's
        for what, theirs in (("process", {place(p) + (n,) for p, n in want["process"] if n and p in pids}),
                             ("thread", {place(t) + (n,) for t, p, n in want["thread"] if n and (p, t) in tids})):
            ours = {place(t.get("id")) + (t["name"],) for t in have["track"] if t["kind"] == what}
            if theirs - ours:
                self.say(path, f"{what} names",
                         f"missing {sorted(theirs - ours, key=str)[:4]}, here {sorted(ours, key=str)[:4]}")

    # ---- outputs of other formats ----

    def outputs(self, inputs):
        for path in inputs:
            out = os.path.join(self.tmp, "x.pftrace")
            run(self.binary, "convert", "-f", "--quiet", path, out)
            if os.path.exists(out) and os.path.getsize(out) > 0:
                self.trace(out, path + " as .pftrace")
                os.remove(out)


# ---- cuts ----

def rows_of(rows, since, until):
    """Slices, counters, arrows and samples that lie in the window, without ids that a copy may change."""
    slices = collections.Counter()
    for _, ts, dur, depth, name, category, pid, tid, process, args, _, _, kind, track in rows["slice"]:
        if since <= ts and (until is None or (ts < until and dur >= 0 and ts + dur <= until)):
            slices[(ts, dur, name, category, kind, track, tid, pid,
                    tuple(sorted(rows.args.get(args, {}).items(), key=str)))] += 1
    inside = lambda ts: since <= ts and (until is None or ts < until)
    counters = collections.Counter(tuple(r) for r in rows["counter"] if inside(r[0]))
    flows = collections.Counter(tuple(r) for r in rows["flow"] if inside(r[0]) and inside(r[2]))
    samples = collections.Counter((ts, source, pid, tid, rows.scripts.get(site))
                                  for ts, source, pid, tid, site in rows["sample"] if inside(ts))
    return slices, counters, flows, samples


def errors_of(rows):
    """Stats that tell of faults; what only counts is left out."""
    return {s[0] for s in rows["stat"] if s[0] not in
            ("heapprofd_last_profile_timestamp", "flow_end_without_start")}


def times_of(rows, most):
    times = sorted({r[1] for r in rows["slice"]} | {r[0] for r in rows["counter"]} | {r[0] for r in rows["sample"]})
    step = max(1, len(times) // most)
    return times[::step]


def cut(judge, path, most=12):
    whole = ask(path)
    # of a text where an enum is described, the importer shows an address, another one each time
    if not whole.loaded or os.path.basename(path) == "typed-undescribed.pftrace":
        return
    judge.count += 1
    out = os.path.join(judge.tmp, "cut.pftrace")
    first = min([r[1] for r in whole["slice"]] + [r[0] for r in whole["counter"]] +
                [r[0] for r in whole["sample"]], default=None)
    for t in times_of(whole, most):
        for since, until in ((t, None), (first, t)):
            if until is not None and until <= first:
                continue
            options = ["--since", str(t)] if until is None else ["--until", str(t)]
            r = run(judge.binary, "convert", "-f", "--quiet", "--edges", "keep", *options, path, out)
            if r.returncode > 1:
                judge.say(path, "cuts", f"{options}: status {r.returncode}: {r.stderr.decode()[:200]}")
                continue
            part = ask(out) if os.path.exists(out) and os.path.getsize(out) else Rows()
            for what, want, got in zip(("slices", "counters", "arrows", "samples"), rows_of(whole, since, until),
                                       rows_of(part, since, until) if part else (collections.Counter(),) * 4):
                missing, more = want - got, got - want
                if missing or more:
                    judge.say(path, "cuts", f"{' '.join(options)}: {what}: missing {list(missing)[:2]}, more {list(more)[:2]}")
            new = errors_of(part) - errors_of(whole)
            if new:
                judge.say(path, "cuts", f"{' '.join(options)}: import errors that the input had not: {new}")


# ---- bad samples: what the importer says ----

STATS = {
    "seq-missing": "track_event_missing_sequence_id", "seq-state-flags": "incremental_state_cleared_missing_sequence_id",
    "seq-state-loss": "previous_packet_dropped_missing_sequence_id", "seq-state-interned": "interned_data_missing_sequence_id",
    "seq-state-defaults": "trace_packet_defaults_missing_sequence_id",
    "state-missing": "packet_skipped_seq_needs_incremental_state_invalid",
    "state-missing-thread": "thread_descriptor_skipped_incremental_state_invalid",
    "interned-early": "interned_data_skipped_incremental_state_invalid", "iid-missing": "interned_data_tokenizer_errors",
    "iid-undefined": "interned_data_tokenizer_errors", "iid-undefined-category": "interned_data_tokenizer_errors",
    "iid-undefined-argument": "interned_data_tokenizer_errors", "iid-undefined-string": "interned_data_tokenizer_errors",
    "packed": "interned_data_tokenizer_errors", "clock-unknown": "clock_sync_failure_unknown_source_clock",
    "clock-no-path": "clock_sync_failure_no_path", "clock-backwards-used": "clock_sync_failure_no_path",
    "limit-clock": "clock_sync_failure_no_path", "clock-snapshot-incremental": "invalid_clock_snapshots",
    "clock-snapshot-twice": "invalid_clock_snapshots", "clock-snapshot-unit": "invalid_clock_snapshots",
    "clock-back": "invalid_clock_snapshots", "time-missing": "track_event_missing_timestamp",
    "time-range": "track_event_invalid_timestamp", "time-range-negative": "track_event_invalid_timestamp",
    "delta-base": "track_event_skipped_timestamp_delta_without_valid_state",
    "legacy-clock": "clock_sync_failure_unknown_source_clock", "td-uuid": "track_descriptor_missing_uuid",
    "td-thread": "track_descriptor_thread_missing_pid_tid", "td-process": "track_descriptor_process_missing_pid",
    "td-parent": "track_hierarchy_missing_uuid", "td-loop": "track_event_track_hierarchy_loop",
    "td-deep": "track_event_track_hierarchy_too_deep", "td-conflict": "track_descriptor_conflicting_reservation",
    "td-conflict-tid": "track_descriptor_conflicting_reservation", "td-default": "track_descriptor_default_track_with_parent",
    "td-order": "track_descriptor_invalid_child_ordering", "type": "track_event_parser_errors", "overlap": "misplaced_end_event",
    "overlap-complete": "misplaced_end_event", "depth": "slice_max_depth_exceeded",
    "x-overlap": "slice_drop_overlapping_complete_event",
    "flow-alone-step": "flow_step_without_start", "legacy-track": "track_event_parser_errors",
    "td-loop-thread": "track_event_track_hierarchy_loop", "td-parent-thread": "track_hierarchy_missing_uuid",
    "x-negative": "track_event_parser_errors", "counter-uuid": "track_event_counter_missing_track_uuid",
    "counter-value": "track_event_counter_missing_value", "counter-track": "track_event_counter_invalid_track_uuid",
    "extra-uuids": "track_event_extra_counter_missing_track_uuids", "extra-track": "track_event_extra_counter_invalid_track",
    "extra-track-few": "track_event_extra_counter_invalid_track", "extra-max": "track_event_extra_counter_exceeds_max",
    "state-uuid": "track_event_state_missing_track_uuid", "state-track": "track_event_parser_errors", "async-id": "track_event_parser_errors",
    "legacy-zero": "track_event_parser_errors", "flow-id": "flow_invalid_id", "flow-direction": "flow_without_direction",
    "flow-slice": "flow_no_enclosing_slice", "flow-duplicate": "flow_duplicate_id", "flow-alone": "flow_end_without_start",
    "da-name": "track_event_parser_errors", "da-name-entry": "track_event_parser_errors", "da-proto": "track_event_parser_errors",
    "log-thread": "track_event_parser_errors", "stack-callstack": "stackprofile_invalid_callstack_id",
    "stack-frame": "stackprofile_invalid_frame_id", "stack-mapping": "stackprofile_invalid_mapping_id",
    "stack-string": "stackprofile_invalid_string_id", "stack-empty": "stackprofile_empty_callstack",
    "profile-start": "legacy_v8_cpu_profile_invalid_callsite", "profile-node": "legacy_v8_cpu_profile_invalid_callsite",
    "profile-sample": "legacy_v8_cpu_profile_invalid_sample", "profile-count": "legacy_v8_cpu_profile_invalid_sample",
    "profile-time": "legacy_v8_cpu_profile_invalid_sample",
    "stream-deltas": "stackprofile_parser_error", "stream-time": "streaming_profile_invalid_timestamp",
    "heap-time": "heapprofd_last_profile_timestamp", "heap-clock": "clock_sync_failure_unknown_source_clock",
    "perf-lost": "perf_cpu_lost_records", "perf-skipped": "perf_samples_skipped",
}
NOT_LOADED = {"wire", "wire-group", "wire-number-zero", "wire-too-long", "wire-varint-long", "inflate", "inflate-behind",
              "inflate-checksum", "inflate-empty", "inflate-inner", "inflate-inner-cut", "inflate-mixed",
              "inflate-mixed-twice", "inflate-nested", "seq-zero", "clock-scoped"}


def bad_samples(judge):
    for path in sorted(glob.glob("testdata/perfetto/bad/*.pftrace")):
        name = os.path.basename(path)[:-len(".pftrace")]
        rows = ask(path)
        judge.count += 1
        said = {s[0] for s in rows["stat"]}
        if rows.loaded == (name in NOT_LOADED):
            judge.say(path, "samples", "the importer loads it" if rows.loaded else "the importer does not load it")
        elif name in STATS and STATS[name] not in said:
            judge.say(path, "samples", f"the importer says {said}, not {STATS[name]}")
        elif name not in STATS and said:
            judge.say(path, "samples", f"the importer says {said}")


def inputs_of_all():
    """What scripts/viewers.sh converts."""
    found = [p for p in glob.glob("testdata/*/good/*") if not p.endswith(".expect") and "/perfetto/" not in p]
    for p in glob.glob("../shared/traces/*/*"):
        if os.path.isfile(p) and not p.endswith((".md", "EXPECTED.json")) and \
                not any(f"/{d}" in p for d in ("ovni", "chrome/", "perfetto/")) and os.path.getsize(p) < 4 << 20:
            found.append(p)
    return sorted(found)


def traces():
    return sorted(glob.glob("testdata/perfetto/good/*.pftrace*")) + sorted(glob.glob(REAL + "/*.pftrace"))


def main():
    args = sys.argv[1:]
    if not args:
        sys.exit(__doc__)
    if not os.access(IMPORTER, os.X_OK):
        print(f"skipped: no importer of Perfetto ({IMPORTER})")
        sys.exit(77)
    binary, args = args[0], args[1:]
    verbose = "-v" in args
    modes = [a for a in args if a.startswith("-") and a != "-v"]
    paths = [a for a in args if not a.startswith("-")]
    judge = Judge(binary, verbose)
    try:
        if "--samples" in modes:
            bad_samples(judge)
        elif "--cuts" in modes:
            for p in paths or traces():
                cut(judge, p)
        elif paths:
            for p in paths:
                judge.trace(p)
        else:
            for p in traces():
                judge.trace(p)
            judge.outputs(inputs_of_all())
            bad_samples(judge)
            for path, aspect in sorted(set(KNOWN) - judge.known):
                judge.say(path, "expected " + aspect, "there is no such difference")
    finally:
        subprocess.run(["rm", "-rf", judge.tmp])
    print(f"perfetto: {judge.count} traces, {judge.failed} unexpected differences, {len(judge.known)} expected")
    sys.exit(1 if judge.failed or judge.count == 0 else 0)


if __name__ == "__main__":
    main()
