#!/usr/bin/env python3
"""bench_peers.py [-n RUNS] [--scale F] [-d FOLDER]: tracetool, one thread, beside programs from Debian or npm that do a similar
job, in the same run: their runs alternate.  The ratio is the CPU time of the other program, divided by that of tracetool.
What is not there is skipped.  `make bench-peers` installs what it can."""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the scripts
import bench

NODE_DIR = os.environ.get("NODE_DIR", "build/viewers")
DUCKDB = """
const { DuckDBInstance } = await import(process.argv[1] + '/node_modules/@duckdb/node-api/lib/index.js');
const duck = await (await DuckDBInstance.create()).connect();
await duck.run('SET threads = 1');
await duck.runAndReadAll(process.argv[2]);
process.exit(0)"""
COUNT = 'reduce inputs as $e ({}; .[$e.name // ""] += 1)'


def duckdb(query):
    return ["node", "--input-type=module", "-e", DUCKDB, os.path.abspath(NODE_DIR), query]


def converted(run, source, suffix):
    """The input in another format; made once."""
    path = os.path.join(run.dir, source.name.replace("/", "-") + f"-{run.scale}.peer{suffix}")
    if not os.path.exists(path):
        bench.call(run.tool, "convert", "--quiet", "--threads", "1", source.path, path)
    return path


def peers(run, dump, lines):
    """Job, arguments of tracetool, what the other program does, its command line."""
    json_lines = [os.path.join(os.path.dirname(run.maker), "json_lines")]
    csv, ctf, ndjson, parquet = (converted(run, dump, suffix) for suffix in (".csv", ".ctf", ".ndjson", ".parquet"))
    out = os.path.join(run.dir, "out.peer")
    for job, argv in (("validate", ["validate"]), ("stats", ["stats"]), ("to Chrome JSON", ["convert", "-o", "-", "--to", "chrome"])):
        for library in ("yyjson", "simdjson"):
            yield f"DFTracer, {job}", [*argv, lines.path], f"{library}: parses each line", [*json_lines, library, lines.path]
    yield "HawkTracer, to CSV", ["convert", "--to", "csv", dump.path, "-"], "babeltrace2: the same CTF, to text", ["babeltrace2", ctf]
    yield "HawkTracer, stats", ["stats", dump.path], "babeltrace2: reads the CTF", ["babeltrace2", ctf, "-o", "dummy"]
    yield ("HawkTracer, to SQLite", ["convert", "--to", "sqlite", dump.path, out], "sqlite3: .import of the CSV, no index",
           ["sqlite3", out, f'.import --csv "{csv}" events'])
    yield ("HawkTracer, to Parquet", ["convert", "--to", "parquet", dump.path, "-"], "DuckDB: the CSV to Parquet, 0.1 s to start",
           duckdb(f"COPY (FROM read_csv('{csv}')) TO '{out}' (FORMAT parquet, COMPRESSION zstd)"))
    yield ("HawkTracer, stats by name", ["stats", "--by", "name", dump.path], "DuckDB: the same of Parquet, 0.1 s to start",
           duckdb(f"SELECT name, count(*), sum(dur_ns), min(dur_ns), max(dur_ns), quantile_cont(dur_ns, [0.5, 0.9, 0.99]) "
                  f"FROM '{parquet}' GROUP BY name"))
    yield "NDJSON, stats by name", ["stats", "--by", "name", ndjson], "jq: counts names", ["jq", "-n", COUNT, ndjson]
    yield "NDJSON, a copy by name", ["convert", "--name", "f*", "--to", "ndjson", ndjson, "-"], "jq: selects by name", [
        "jq", "-c", 'select((.name // "") | startswith("f"))', ndjson]


def why_not(run, command):
    """The reason to skip a program, or None."""
    if shutil.which(command[0]) is None:
        return f"there is no {command[0]}"
    if command[0] == "node" and not os.path.isdir(os.path.join(NODE_DIR, "node_modules/@duckdb/node-api")):
        return "the npm package @duckdb/node-api cannot be had"
    if os.path.basename(command[0]) == "json_lines" and subprocess.run([*command[:2], "/dev/null"], stdout=subprocess.DEVNULL).returncode == 77:
        return f"lib{command[1]}-dev is not installed"
    return None


def main():
    run = bench.options(sys.argv[1:], __doc__)
    inputs = {source.name: source for source in bench.all_inputs(run)}
    dump, lines = inputs["htdump/synthetic"], inputs["dftracer/synthetic"]
    dump.make(run)
    lines.make(run)
    print(f"{'tracetool':<28} {'the other program':<46} {'cpu s':>8} {'cpu s':>8} {'ratio':>7}")
    for job, argv, what, command in peers(run, dump, lines):
        reason = why_not(run, command)
        if reason:
            print(f"{job:<28} {what:<46} skipped: {reason}")
            continue
        costs = [[], []]
        for i in range(run.runs):
            for side in (0, 1) if i % 2 == 0 else (1, 0):
                ours = [run.tool, argv[0], "--quiet", "--threads", "1", *argv[1:]]
                costs[side].append(bench.measure(run, ours if side == 0 else command))
                bench.remove(os.path.join(run.dir, "out.peer"))
        mine, theirs = (bench.medians(cost)["cpu_s"] for cost in costs)
        print(f"{job:<28} {what:<46} {mine:>8.3f} {theirs:>8.3f} {theirs / mine:>6.1f}x", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
