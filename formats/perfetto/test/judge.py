#!/usr/bin/env python3
"""What tracetool reads of Perfetto traces, beside what Perfetto's own importer reads.

usage: judge.py BIN [-v] [TRACE...]       without traces: all good samples, real traces, and outputs of all samples
       judge.py BIN --samples             bad samples: the importer's stat of each rule
       judge.py BIN --figures             the expected figures of the real traces, in tracetool and in the importer
       judge.py BIN --cuts [TRACE...]     copies from each time on and up to it: what is behind and before the cut
PERFETTO: the importer (../shared/tools/perfetto).  Status 77: it is not there.  1: something differs.

The traces are compared by their rows: slices (time, duration, name, category; then arguments, track, depth), counters,
arrows, threads and processes.  What the importer makes of packets other than track events is left out.
"""
import collections
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

IMPORTER = os.environ.get("PERFETTO", "../shared/tools/perfetto")
REAL = "../shared/traces/perfetto"

# Tracks of track events; other kinds of packets make tracks of other types.
TYPES = {"thread_execution", "legacy_async_global_slice", "legacy_async_process_slice", "legacy_chrome_global_instants",
         "chrome_process_instant", "thread_time", "thread_instructions", "legacy_chrome_global_instants"}
TYPES |= {scope + merged + kind for scope in ("thread", "process", "global") for merged in ("_merged", "")
          for kind in ("_track_event",)}
TYPES |= {scope + kind for scope in ("thread", "process", "global") for kind in ("_counter_track_event", "_state_track_event")}
IN_TYPES = "(" + ",".join("'%s'" % t for t in sorted(TYPES)) + ")"

QUERIES = [
    f"""select json_array('slice', s.id, s.ts, s.dur, s.depth, s.name, s.category, s.track_id, t.type, t.name, th.tid,
        coalesce(tp.pid, p.pid), s.arg_set_id) from slice s join track t on t.id = s.track_id
        left join thread_track tt on tt.id = t.id left join thread th on th.utid = tt.utid
        left join process tp on tp.upid = th.upid left join process_track pt on pt.id = t.id
        left join process p on p.upid = pt.upid where t.type in {IN_TYPES}""",
    f"""select json_array('counter', c.ts, printf('%!.17g', c.value), t.type, t.name, th.tid, coalesce(tp.pid, p.pid), ct.unit)
        from counter c join track t on t.id = c.track_id join counter_track ct on ct.id = t.id
        left join thread_counter_track tt on tt.id = t.id left join thread th on th.utid = tt.utid
        left join process tp on tp.upid = th.upid left join process_counter_track pt on pt.id = t.id
        left join process p on p.upid = pt.upid where t.type in {IN_TYPES}""",
    """select json_array('flow', o.ts, o.name, i.ts, i.name) from flow f join slice o on o.id = f.slice_out
        join slice i on i.id = f.slice_in""",
    """select json_array('arg', arg_set_id, key, value_type, int_value, string_value, printf('%!.17g', real_value))
        from args where key like 'debug.%'""",
    """select json_array('thread', t.tid, p.pid, t.name, (select count(*) from thread_track k where k.utid = t.utid))
        from thread t left join process p using (upid) where t.utid > 0 and t.tid <> 0""",
    "select json_array('process', p.pid, p.name) from process p where p.upid > 0 and p.pid <> 0",
    """select json_array('stat', name, severity, value) from stats where value > 0 and name not in
        ('guess_trace_type_duration_ns','parse_trace_duration_ns','traced_data_sources_seen','clock_sync_cache_miss')""",
    "select json_array('state', ts, dur, value) from state" if False else "select json_array('none')",
]


def run(*args, **kw):
    return subprocess.run(args, capture_output=True, **kw)


class Rows(dict):
    """Lists of rows by kind; loaded: the importer took the file."""

    def __missing__(self, key):
        self[key] = []
        return self[key]


def ask(path):
    r = run(IMPORTER, path, *QUERIES)
    rows = Rows()
    rows.loaded = r.returncode == 0
    for line in r.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith('["'):
            kind, *row = json.loads(line)
            rows[kind].append(row)
    args = collections.defaultdict(dict)
    for number, key, kind, whole, text, real in rows["arg"]:
        if kind in ("int", "uint", "pointer", "bool"):
            value = whole & (2 ** 64 - 1) if kind in ("uint", "pointer") else bool(whole) if kind == "bool" else whole
        else:
            value = text if kind in ("string", "json") else float(real) if real not in (None, "") else None
        args[number][key[6:]] = value
    rows.args = args
    return rows


# ---- what tracetool says ----

def flat(key, value, into):
    """As the importer names members of maps and lists; empty ones vanish."""
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
        into[key] = value


def plain(k):
    return "".join("_" if c in ".[]" else c for c in k)


def number(v):
    """Integers beyond 2^53 and what is no number are texts in NDJSON."""
    if isinstance(v, str):
        try:
            return int(v, 0)
        except ValueError:
            pass
        if v.lower() in ("nan", "inf", "-inf", "infinity", "-infinity"):
            return float(v)
    return v


def same_value(a, b):
    if a == b or str(a) == str(b):
        return True
    a, b = number(a), number(b)
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
            return True
        return a == b or (isinstance(a, int) and isinstance(b, int) and (a - b) % 2 ** 64 == 0)
    return False


def read(binary, path, tmp, *options):
    out = os.path.join(tmp, "out.ndjson")
    r = run(binary, "convert", "-f", "--quiet", *options, path, out)
    rows = Rows()
    rows.said = r.stderr.decode("utf-8", "replace")
    rows.loaded = r.returncode <= 1 and os.path.exists(out)
    tracks = {}
    if not rows.loaded:
        return rows
    with open(out, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            m = json.loads(line)
            if m.get("type") == "track":
                tracks[m["index"]] = m
                rows["track"].append(m)
            elif "kind" in m:
                rows[m["kind"]].append(m)
            elif m.get("type") == "trace":
                rows.head = m
    os.remove(out)
    rows.tracks = tracks
    return rows


def place(rows, m):
    """pid, tid, name of the innermost track that is neither a process nor a thread."""
    t = rows.tracks.get(m.get("track_index"))
    name = None
    if t is not None and t.get("kind") == "thread" and ("id" not in t or t.get("child") or t.get("is_child")):
        name = t.get("name")
    return (m.get("pid"), m.get("tid"), name)


def is_open(m):
    return "unfinished" in m.get("args", {}) or "unfinished" in m


def slices_of(rows):
    out = []
    for kind in ("span", "async", "instant"):
        for m in rows[kind]:
            args = {}
            flat("", {k: v for k, v in m.get("args", {}).items()}, args)
            dur = -1 if is_open(m) else m.get("dur_ns", 0) if kind != "instant" else 0
            category = m.get("category") or None
            out.append((m["ts_ns"], dur, m.get("name") or None, category, args, m))
    return out


# ---- comparing ----

class Judge:
    def __init__(self, binary, verbose):
        self.binary, self.verbose, self.failed, self.count = binary, verbose, 0, 0
        self.tmp = tempfile.mkdtemp()

    def say(self, path, text):
        print(f"{path}: {text}")
        self.failed += 1

    def multisets(self, path, what, expected, got, most=4):
        want, have = collections.Counter(expected), collections.Counter(got)
        missing, more = list((want - have).elements()), list((have - want).elements())
        if missing or more:
            self.say(path, f"{what}: {len(missing)} of the importer are missing, {len(more)} are more: "
                     f"missing {sorted(missing, key=str)[:most]}, more {sorted(more, key=str)[:most]}")
        return not missing and not more

    def trace(self, path, name=None):
        name = name or path
        self.count += 1
        want, have = ask(path), read(self.binary, path, self.tmp)
        if not want.loaded:
            return
        if not have.loaded:
            self.say(name, "not read: " + have.said[:300])
            return
        self.slices(name, want, have)
        self.counters(name, want, have)
        self.flows(name, want, have)
        self.names(name, want, have)

    def slices(self, path, want, have):
        ours = slices_of(have)
        theirs = [(r[1], r[2], r[4] or None, r[5] or None, want.args.get(r[11], {}), r) for r in want["slice"]]
        no_category = {"track_event", "no category", "instant", "slice"}
        key = lambda s: (s[0], s[1], s[2], None if s[3] in no_category else s[3])
        if not self.multisets(path, "slices (ts, dur, name, category)", map(key, theirs), map(key, ours)):
            return
        # arguments: of slices that are equal otherwise, in any order
        by = collections.defaultdict(list)
        for s in ours:
            by[key(s)].append(s)
        wrong = []
        for s in theirs:
            candidates = by[key(s)]
            # a debug annotation is an argument of its name
            fits = [o for o in candidates if all(k in o[4] and same_value(v, o[4][k]) for k, v in s[4].items()
                                                  if v is not None)]
            best = fits[0] if fits else candidates[0]
            candidates.remove(best)
            if not fits:
                wrong.append((key(s), s[4], best[4]))
        if wrong:
            self.say(path, f"{len(wrong)} slices differ in arguments: {wrong[0][0]}: expected {wrong[0][1]}, got {wrong[0][2]}")
        threads = lambda pid, tid, n: (pid, tid)
        self.multisets(path, "slices by pid and tid", [(key(s), s[5][9], s[5][8 + 1] and None or None) and
                                                        (s[0], s[2], s[5][10], s[5][9]) for s in theirs],
                       [(s[0], s[2], s[5].get("pid"), s[5].get("tid")) for s in ours])

    def counters(self, path, want, have):
        theirs = [(r[0], None if r[1] is None else float(r[1])) for r in want["counter"]]
        ours = []
        for m in have["counter"]:
            for k, v in m.get("args", {}).items():
                v = number(v)
                if isinstance(v, (int, float)) and not isinstance(v, bool):
                    ours.append((m["ts_ns"], None if math.isnan(v) else float(v)))
        self.multisets(path, "counters (ts, value)", theirs, ours)
        self.multisets(path, "names of counters", {r[3] for r in want["counter"] if r[3]},
                       {m.get("name") for m in have["counter"] if m.get("name")})

    def flows(self, path, want, have):
        n = len(have["flow_in"]) + len(have["flow_step"])
        if n != len(want["flow"]):
            self.say(path, f"{len(want['flow'])} arrows in the importer, {n} here")

    def names(self, path, want, have):
        processes = {t["index"]: t for t in have["track"] if t["kind"] == "process"}
        ours = {(t.get("id"), t["name"]) for t in processes.values() if "id" in t}
        theirs = {(p, n) for p, n in want["process"] if n}
        for p, n in sorted(theirs - ours, key=str):
            self.say(path, f"process {p} is called {n!r} in the importer; here {[o for o in ours if o[0] == p]}")
        threads = {(t.get("id"), t["name"]) for t in have["track"] if t["kind"] == "thread" and "id" in t}
        for tid, pid, n, _ in want["thread"]:
            if n and (tid, n) not in threads:
                self.say(path, f"thread {tid} of {pid} is called {n!r} in the importer; here "
                         f"{[o for o in threads if o[0] == tid]}")

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
    """Slices, counters and arrows that lie in the window, without ids that a copy may change."""
    group = {}
    slices = collections.Counter()
    for i, ts, dur, depth, name, category, track, kind, track_name, tid, pid, args in rows["slice"]:
        if since <= ts and (until is None or (ts < until and dur >= 0 and ts + dur <= until)):
            slices[(ts, dur, name, category, kind.replace("_merged", ""), track_name, tid, pid,
                    tuple(sorted((k, str(v)) for k, v in rows.args.get(args, {}).items())))] += 1
    inside = lambda ts: since <= ts and (until is None or ts < until)
    counters = collections.Counter((r[0], r[1], r[2], r[3], r[4], r[5]) for r in rows["counter"] if inside(r[0]))
    flows = collections.Counter(tuple(r) for r in rows["flow"] if inside(r[0]) and inside(r[2]))
    return slices, counters, flows


def errors_of(rows):
    """Stats that tell of faults; what only counts is left out."""
    return {s[0] for s in rows["stat"] if s[0] not in
            ("heapprofd_last_profile_timestamp", "flow_end_without_start")}


def times_of(rows, most):
    times = sorted({r[1] for r in rows["slice"]} | {r[0] for r in rows["counter"]})
    step = max(1, len(times) // most)
    return times[::step]


def cut(judge, path, most=12):
    whole = ask(path)
    if not whole.loaded:
        return
    judge.count += 1
    out = os.path.join(judge.tmp, "cut.pftrace")
    first = min([r[1] for r in whole["slice"]] + [r[0] for r in whole["counter"]], default=None)
    for t in times_of(whole, most):
        for since, until in ((t, None), (first, t)):
            if until is not None and until <= first:
                continue
            options = ["--since", str(t)] if until is None else ["--until", str(t)]
            r = run(judge.binary, "convert", "-f", "--quiet", "--edges", "keep", *options, path, out)
            if r.returncode > 1:
                judge.say(path, f"{options}: status {r.returncode}: {r.stderr.decode()[:200]}")
                continue
            part = ask(out) if os.path.exists(out) and os.path.getsize(out) else Rows()
            for what, want, got in zip(("slices", "counters", "arrows"), rows_of(whole, since, until),
                                       rows_of(part, since, until) if part else (collections.Counter(),) * 3):
                missing, more = want - got, got - want
                if missing or more:
                    judge.say(path, f"{' '.join(options)}: {what}: missing {list(missing)[:2]}, more {list(more)[:2]}")
            new = errors_of(part) - errors_of(whole)
            if new:
                judge.say(path, f"{' '.join(options)}: import errors that the input had not: {new}")


# ---- bad samples: what the importer says ----

STATS = {
    "seq-missing": "track_event_missing_sequence_id", "seq-state-flags": "incremental_state_cleared_missing_sequence_id",
    "seq-state-loss": "previous_packet_dropped_missing_sequence_id", "seq-state-interned": "interned_data_missing_sequence_id",
    "seq-state-defaults": "trace_packet_defaults_missing_sequence_id",
    "state-missing": "packet_skipped_seq_needs_incremental_state_invalid",
    "interned-early": "interned_data_skipped_incremental_state_invalid", "iid-missing": "interned_data_tokenizer_errors",
    "iid-undefined": "interned_data_tokenizer_errors", "iid-undefined-category": "interned_data_tokenizer_errors",
    "iid-undefined-argument": "interned_data_tokenizer_errors", "iid-undefined-string": "interned_data_tokenizer_errors",
    "packed": "interned_data_tokenizer_errors", "clock-unknown": "clock_sync_failure_unknown_source_clock",
    "clock-no-path": "clock_sync_failure_no_path", "clock-snapshot-incremental": "invalid_clock_snapshots",
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
    "depth": "slice_max_depth_exceeded", "x-overlap": "slice_drop_overlapping_complete_event",
    "x-negative": "track_event_parser_errors", "counter-uuid": "track_event_counter_missing_track_uuid",
    "counter-value": "track_event_counter_missing_value", "counter-track": "track_event_counter_invalid_track_uuid",
    "extra-uuids": "track_event_extra_counter_missing_track_uuids", "extra-track": "track_event_extra_counter_invalid_track",
    "extra-track-few": "track_event_extra_counter_invalid_track", "extra-max": "track_event_extra_counter_exceeds_max",
    "state-uuid": "track_event_state_missing_track_uuid", "async-id": "track_event_parser_errors",
    "legacy-zero": "track_event_parser_errors", "flow-id": "flow_invalid_id", "flow-direction": "flow_without_direction",
    "flow-slice": "flow_no_enclosing_slice", "flow-duplicate": "flow_duplicate_id", "flow-alone": "flow_end_without_start",
    "da-name": "track_event_parser_errors", "da-name-entry": "track_event_parser_errors", "da-proto": "track_event_parser_errors",
    "log-thread": "track_event_parser_errors", "stack-callstack": "stackprofile_invalid_callstack_id",
    "stack-frame": "stackprofile_invalid_frame_id", "stack-mapping": "stackprofile_invalid_mapping_id",
    "stack-string": "stackprofile_invalid_string_id", "stack-empty": "stackprofile_empty_callstack",
    "stream-deltas": "stackprofile_parser_error", "stream-time": "streaming_profile_invalid_timestamp",
    "perf-lost": "perf_cpu_lost_records", "perf-skipped": "perf_samples_skipped",
}
NOT_LOADED = {"wire", "wire-group", "wire-number-zero", "wire-too-long", "wire-varint-long", "inflate", "inflate-behind",
              "inflate-checksum", "inflate-empty", "inflate-inner", "inflate-inner-cut", "inflate-mixed", "inflate-nested",
              "seq-zero", "clock-scoped"}


def bad_samples(judge):
    for path in sorted(glob.glob("testdata/perfetto/bad/*.pftrace")):
        name = os.path.basename(path)[:-len(".pftrace")]
        rows = ask(path)
        judge.count += 1
        said = {s[0] for s in rows["stat"]}
        if rows.loaded == (name in NOT_LOADED):
            judge.say(path, "the importer loads it" if rows.loaded else "the importer does not load it")
        elif name in STATS and STATS[name] not in said:
            judge.say(path, f"the importer says {said}, not {STATS[name]}")
        elif name not in STATS and said:
            judge.say(path, f"the importer says {said}")


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
    finally:
        subprocess.run(["rm", "-rf", judge.tmp])
    print(f"perfetto: {judge.count} traces, {judge.failed} differences")
    sys.exit(1 if judge.failed or judge.count == 0 else 0)


if __name__ == "__main__":
    main()
