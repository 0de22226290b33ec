#!/usr/bin/env python3
"""CPU profiles in Chrome JSON as tracetool reads them, beside a plain reading and Perfetto's own importer.

usage: profile.py BIN [TRACE...]          without traces: the good sample and real traces
PERFETTO: the importer (../shared/tools/perfetto); without it, only the plain reading is compared.
Status 1: a difference.

Compared are the samples: time, process, thread, frames with their files, line and column.  With the importer: time and
frames; it does not read .cpuprofile, its thread is that of the chunk, its frames have no files, and a function without
a name has an empty one there.
"""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys

IMPORTER = os.environ.get("PERFETTO", "../shared/tools/perfetto")


def read_plainly(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        document = json.load(f)
    if "nodes" in document:
        return read_file(document)
    profiles, samples = {}, []
    for e in document["traceEvents"] if isinstance(document, dict) else document:
        if e.get("ph") != "P" or e["name"] not in ("Profile", "ProfileChunk"):
            continue
        key, data = (e["pid"], e["id"]), e["args"]["data"]
        if e["name"] == "Profile":
            profiles[key] = [data["startTime"], e["tid"], {}]
            continue
        at, profile = profiles[key], data.get("cpuProfile", {})
        for node in profile.get("nodes", []):
            frame = node["callFrame"]
            above = at[2].get(node.get("parent"), [])
            at[2][node["id"]] = [(frame["functionName"] or "(anonymous)", frame.get("url", ""))] + above
        ids = profile.get("samples", [])
        none = [0] * len(ids)
        for node, delta, line, column in zip(ids, data.get("timeDeltas", []), data.get("lines", none),
                                             data.get("columns", none)):
            at[0] += delta
            samples.append((at[0] * 1000, key[0], at[1], tuple(at[2][node]), line, column))
    return samples


def read_file(document):
    """Reads a file .cpuprofile."""
    stacks, above, us, samples = {}, {}, document["startTime"], []
    for node in document["nodes"]:
        above.update({child: node["id"] for child in node.get("children", [])})
        frame = node["callFrame"]
        stacks[node["id"]] = ((frame["functionName"] or "(anonymous)", frame["url"]),) + stacks.get(above.get(node["id"]), ())
    for node, delta in zip(document["samples"], document["timeDeltas"]):
        us += delta
        samples.append((us * 1000, 0, 0, stacks[node], 0, 0))
    return samples


def read(binary, path):
    command = [binary, "convert", "--quiet", "--to", "ndjson", path, "-"]
    samples = []
    for line in subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().split("\n"):
        e = json.loads(line) if line else {}
        if e.get("kind") != "instant" or e["name"] not in ("cpu_profile", "cpu_profile_idle"):
            continue
        args = e["args"]
        names = args["callstack"]
        if (names[0] == "(idle)") != (e["name"] == "cpu_profile_idle"):
            sys.exit(f"{path}: {e}")
        frames = tuple(zip(names, args.get("callstack_mappings", [""] * len(names))))
        samples.append((e["ts_ns"], e["pid"], e["tid"], frames, args.get("line", 0), args.get("column", 0)))
    return samples


def query(path, sql):
    text = subprocess.run([IMPORTER, path, sql], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout.decode()
    return [line.split("\t", 2) for line in text.split("\n") if line.count("\t") > 1]


def read_imported(path):
    sites = {}
    for at, above, name in query(path, "select c.id, ifnull(c.parent_id, -1), f.name from stack_profile_callsite c "
                                 "join stack_profile_frame f on f.id = c.frame_id order by c.id"):
        sites[int(at)] = (name.replace("\\t", "\t") or "(anonymous)",) + sites.get(int(above), ())
    return [(int(ts), sites[int(site)]) for ts, site, _ in query(path, "select ts, callsite_id, 0 from cpu_profile_stack_sample")]


def compare(path, what, got, want):
    got, want = collections.Counter(got), collections.Counter(want)
    if got == want:
        return False
    print(f"{path}: not as {what}: {list((got - want).items())[:1]}, {list((want - got).items())[:1]}")
    return True


def main():
    binary, paths = sys.argv[1], sys.argv[2:]
    for name in ([] if paths else ["testdata/chrome/good/profile.json"] + sorted(glob.glob("../shared/traces/chrome/*palette*"))):
        paths.append(name)
    bad = 0
    for path in paths:
        samples = read(binary, path)
        differs = compare(path, "a plain reading", samples, read_plainly(path))
        if os.access(IMPORTER, os.X_OK) and "cpuprofile" not in path:
            short = [(ts, tuple(name for name, _ in frames)) for ts, _, _, frames, _, _ in samples]
            differs |= compare(path, "Perfetto", short, read_imported(path))
        print(f"{path}: {len(samples)} samples" + ("" if differs else ", equal"))
        bad += differs
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
