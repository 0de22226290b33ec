#!/usr/bin/env python3
"""bench.py [options]: speed and memory of tracetool, for each input and job the median of several runs.

  -i GLOB,...      inputs (*); --list names them: FORMAT/synthetic and FORMAT/plain: usual traces; FORMAT/real: a recording,
                   repeated with shifted clocks; the other shapes are adversarial, to be compared with FORMAT/plain
  -j GLOB,...      jobs (*; of plain, adversarial and packed inputs and ovni20k: validate, stats, copy since, to chrome, to perfetto)
  -t GLOB          threads: 1, all or * (*; of plain and adversarial inputs: 1)
  -n RUNS          runs of each job (5)
  --scale F        inputs F times as large (1: 300,000 to 2,500,000 events)
  --tool BUILD     the program (build/tracetool)
  --against BUILD  another build, whose runs alternate with those of the first; prints ratios, new divided by old
  --bound P%       with --against: exit 1 if a job got slower than this, by CPU time, on all threads by wall time
  --json FILE      also write the rows to FILE
  --docs FILE      also write tables to FILE, between its lines <!-- bench --> and <!-- /bench -->
  -d FOLDER        keeps the inputs for the next run ($TMPDIR/tracetool-bench)
  --list           lists inputs and jobs

MB/s and events/s are those of wall time and of the bytes and events of the input; ns an event are of CPU time, user and
system.  Inputs are in the page cache.  Output goes to /dev/null, or to the folder if it must be files."""
import argparse
import datetime
import fnmatch
import glob
import gzip
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

READABLE = ["htdump", "heph", "dial9", "dftracer", "ovni", "chrome", "ndjson"]
TO = ["chrome", "ndjson", "csv", "perfetto", "ctf", "speedscope", "folded", "paraver", "parquet", "sqlite"]
FILES_ONLY = {"ctf", "paraver", "sqlite", "ovni"}  # outputs that cannot go to standard output
PACKED = [".gz", ".zst"]
JOBS = {
    "validate": ["validate", "IN"],
    "info": ["info", "IN"],
    "stats": ["stats", "IN"],
    "validate pipe": ["validate", "-"],  # fed by cat
    "stats pipe": ["stats", "-"],
    "stats by name": ["stats", "--by", "name", "IN"],
    "stats by thread,name": ["stats", "--by", "thread,name", "IN"],
    "stats flows": ["stats", "--flows", "IN"],
    "stats gaps": ["stats", "--share", "IN"],
    "stats overlap": ["stats", "--overlap", "[a-m]*,[n-z]*", "IN"],
    "merge 1,000 tables": ["stats", "--merge", *["TABLE"] * 1000],  # of --full, of the input
    "compare": ["compare", "--exit-zero", "IN", "IN"],
    "top": ["top", "IN"],
    "copy": ["convert", "--to", "SAME", "IN", "OUT"],
    "copy since": ["convert", "--since", "50%", "--to", "SAME", "IN", "OUT"],
    "copy name": ["convert", "--name", "[a-m]*", "--to", "SAME", "IN", "OUT"],
    "verify": ["convert", "--verify", "--to", "chrome", "IN", "FILE"],
    **{"to " + to: ["convert", "--to", to, "IN", "OUT"] for to in TO},
    **{"to chrome" + end: ["convert", "--to", "chrome", "IN", "FILE" + end] for end in PACKED},
}
FEW_JOBS = "validate,stats,copy since,to chrome,to perfetto"
SHAPE_EVENTS = 300000


def call(*argv, ok=(0,), **options):
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode not in ok:
        sys.exit(f"bench: {' '.join(map(str, argv))}: status {done.returncode}\n{done.stderr.decode()[:500]}")
    return done.stdout


# ---- inputs ----

def shape_events(shape, n):
    """Spans in order of their start: (us, duration, thread, name, arguments)."""
    pick = random.Random(1)
    for i in range(n):
        name, thread, args, at, dur = f"step {pick.randrange(50)}", i % 4, {"size": pick.randrange(9999)}, 10 * i, 0
        if shape == "overlap":  # each span overlaps the next one of its thread in part
            dur = 65
        elif shape == "piled":  # 60 spans of a thread at any time, none within another
            thread, dur = 0, 605
        elif shape == "deep":  # nested 60 deep
            thread, dur = 0, 10 * (60 - i % 60) - 5
        else:  # nested 4 deep
            thread, dur = i // 4 % 4, 10 * (4 - i % 4) - 5
        if shape == "names":
            name = f"request {i:x}"
        elif shape == "records":
            name, args = f"record {i:x}", {f"field_{i:x}": i, f"other_{i % 7}": "text"}
        elif shape == "tracks":
            thread = i % 100000
        yield at, dur, thread, name, args


SHAPES = ["plain", "overlap", "piled", "deep", "names", "records", "tracks"]


def make_shape(bench, path, form, shape):
    events = os.path.join(bench.dir, f"{shape}-{bench.scale}.json")
    if not os.path.exists(events):
        with open(events + ".part", "w") as f:
            f.write('{"traceEvents":[\n')
            for i, (at, dur, tid, name, args) in enumerate(shape_events(shape, int(SHAPE_EVENTS * bench.scale))):
                f.write(("," if i else "") + f'{{"ph":"X","pid":1,"tid":{tid + 1},"ts":{at},"dur":{dur},"name":"{name}",'
                        f'"cat":"work","args":{json.dumps(args)}}}\n')
            f.write("]}\n")
        os.rename(events + ".part", events)
    if form == "chrome":
        os.link(events, path)
    else:
        call(bench.tool, "convert", "--quiet", "-f", "--lanes", "off", "--to", form, events, path, ok=(0, 1))


# Recordings, and the fields of their raw records that are times: 8 bytes, or digits.
REAL = {
    "htdump": ("htdump/two-threads.htdump", ["timestamp"]),
    "heph": ("heph/actors.bin.log", ["start", "end"]),
    "dial9": ("dial9/metrics-service.bin", ["timestamp_ns"]),
    "dftracer": ("dftracer/posix-v0.pfw", ["ts"]),
    "ovni": ("ovni/good/nosv-nested-tasks/*/*/*/stream.obs", ["clock"]),
    "chrome": ("chrome/viztracer-multi_process_pool.json.gz", []),
}
TRACES = os.environ.get("TRACES", "../shared/traces")
PAUSE = 1 << 24  # between copies: dial9 has times of up to this many ns after those that are shifted


def real_sample(form):
    return next(iter(sorted(glob.glob(os.path.join(TRACES, REAL[form][0])))), None) if form in REAL else None


def time_fields(data, records, names):
    """Offset, size, value and coding of each time."""
    for record, after in zip(records, records[1:] + [{"offset": len(data)}]):
        at = record["offset"]
        for value in (int(record.get("args", {}).get(name, 0)) for name in names):
            for order in ("little", "big", "text"):
                coded = str(value).encode() if order == "text" else value.to_bytes(8, order)
                found = data.find(coded, at, after["offset"]) if value else -1
                if found >= 0:
                    yield found, len(coded), value, order
                    at = found + len(coded)
                    break


def shifted_copies(bench, form, path, data, n):
    """Copies of the sample at path, each later than the one before."""
    listed = call(bench.tool, "cat", "--quiet", "--raw", "--json", path, ok=(0, 1)).splitlines()
    records = [record for record in map(json.loads, listed) if "offset" in record]
    events = [record for record in records if record["kind"] != "structure"]
    fields = list(time_fields(data, records, REAL[form][1]))
    times = [value for _, _, value, _ in fields]
    # Headers and definitions are not repeated, but in dial9, where each segment has its own.
    first = 0 if form == "dial9" else events[0]["offset"]
    yield data
    for copy in range(1, max(2, n // len(events))):
        at = first
        for offset, size, value, order in fields:
            if offset >= first:
                value += copy * (max(times) - min(times) + PAUSE)
                yield data[at:offset] + (str(value).encode() if order == "text" else value.to_bytes(size, order))
                at = offset + size
        yield data[at:]


def shifted_json(data, n):
    """The same of a Chrome trace."""
    trace = json.loads(data)
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    timed = [event for event in events if event.get("ph") != "M"]
    period = max(event["ts"] for event in timed) - min(event["ts"] for event in timed) + 1000
    yield b"[\n" + b",\n".join(json.dumps(event).encode() for event in events)
    for copy in range(1, max(2, n // len(timed))):
        for event in timed:
            yield b",\n" + json.dumps({**event, "ts": event["ts"] + copy * period}).encode()
    yield b"\n]\n"


def make_real(bench, path, form):
    """Repeats the recording until it has as many events as other inputs."""
    with open(real_sample(form), "rb") as f:
        data = f.read()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    sample, n = path + ".sample", int(SHAPE_EVENTS * bench.scale)
    with open(sample, "wb") as f:
        f.write(data)
    with open(path, "wb") as f:
        f.writelines(shifted_json(data, n) if form == "chrome" else shifted_copies(bench, form, sample, data, n))
    os.remove(sample)


class Input:
    """An input; name: that of its generator in build/bench, or None."""

    def __init__(self, form, shape, name=None, suffix="", events=0):
        self.form, self.shape, self.generator, self.suffix, self.events = form, shape, name, suffix, events
        self.name = f"{name or form}/{shape}"

    def make(self, bench):
        """Creates the input unless it exists, and counts its bytes and events."""
        self.path = os.path.join(bench.dir, self.name.replace("/", "-") + f"-{bench.scale}{self.suffix}")
        if not os.path.exists(self.path):
            part = os.path.join(bench.dir, "part" + self.suffix)
            remove(part)
            if self.shape == "gzip":
                plain = Input(self.form, "synthetic", self.generator, self.suffix[:-3], self.events)
                plain.make(bench)
                with open(part, "wb") as f:
                    f.write(call("gzip", "-nc", plain.path))
            elif self.generator:
                call(bench.maker, "make", self.generator, int(self.events * bench.scale), part)
            elif self.shape == "real":
                make_real(bench, part, self.form)
            else:
                make_shape(bench, part, self.form, self.shape)
            os.rename(part, self.path)
        said = json.loads(call(bench.tool, "info", "--quiet", "--json", self.path, ok=(0, 1)))["inputs"][0]
        self.bytes, self.count = said["bytes"], max(1, said["events"])


def all_inputs(bench):
    suffixes = {"ovni": "", "ndjson": ".ndjson", "chrome": ".json", "dftracer": ".pfw"}
    for line in call(bench.maker, "list").decode().splitlines():
        form, name, suffix, events = line.split()
        yield Input(form, "synthetic", name, "" if suffix == "-" else suffix, int(events))
        if suffix != "-":
            yield Input(form, "gzip", name, suffix + ".gz", int(events))
    for form in READABLE:
        if real_sample(form):
            yield Input(form, "real", suffix=".obs" if form == "ovni" else suffixes.get(form, "." + form))
        for shape in SHAPES[:-1] if form == "ovni" else SHAPES:  # ovni20k has the tracks; the writer's limit is 2,400
            yield Input(form, shape, suffix=suffixes.get(form, "." + form))


# ---- runs ----

def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def put_away(bench, path):
    """Removes an output; one of thousands of files at the end: ext4 does not reuse inodes that were freed in the last
    seconds, and examines each of them for each new file."""
    if sum(len(files) for _, _, files in os.walk(path)) < 1000:
        remove(path)
    else:
        bench.put_away.append(os.path.join(bench.dir, f"away-{len(bench.put_away)}"))
        remove(bench.put_away[-1])  # of an earlier run that was ended
        os.rename(path, bench.put_away[-1])


def measure(bench, argv, fed=None):
    """Seconds, memory and status of one run; fed: a file for its standard input, through a pipe."""
    if fed:
        with subprocess.Popen(["cat", fed], stdout=subprocess.PIPE) as feeder:
            cost = json.loads(call(bench.maker, "run", *argv, stdin=feeder.stdout))
    else:
        cost = json.loads(call(bench.maker, "run", *argv, stdin=subprocess.DEVNULL))
    if cost["status"] not in (0, 1):
        sys.exit(f"bench: {' '.join(argv)}: status {cost['status']}")
    return cost


def medians(costs):
    return {"wall_s": statistics.median(c["wall_s"] for c in costs), "cpu_s": statistics.median(c["cpu_s"] for c in costs),
            "rss_kib": max(c["rss_kib"] for c in costs)}


def output_path(bench):
    return os.path.join(bench.dir, "out")


def arguments(bench, source, job, threads):
    to = next((a for b, a in zip(JOBS[job], JOBS[job][1:]) if b == "--to"), None)
    to = source.form if to == "SAME" else to
    path = output_path(bench)
    table = os.path.join(bench.dir, "table.json")
    if "TABLE" in JOBS[job]:
        call(bench.tool, "stats", "-q", "-f", "--json", "--full", "-o", table, source.path, ok=(0, 1))
    words = {"TABLE": table, "IN": source.path, "SAME": source.form, "OUT": path if to in FILES_ONLY else "-",
             **{"FILE" + end: path + end for end in ["", *PACKED]}}
    argv = [words.get(a, a) for a in JOBS[job]]
    return [argv[0], "--quiet", *(["-f"] if argv[-1].startswith(path) else []), *(["--threads", "1"] if threads == "1" else []), *argv[1:]]


def run_row(bench, source, job, threads):
    """One row.  Two builds alternate, and swap which is first, so that a machine whose speed drifts favours none."""
    argv = arguments(bench, source, job, threads)
    costs = {tool: [] for tool in (bench.tool, bench.against) if tool}
    for i in range(bench.runs):
        for tool in sorted(costs, reverse=i % 2 == 1):
            costs[tool].append(measure(bench, [tool, *argv], source.path if job.endswith("pipe") else None))
            for end in ["", *PACKED]:
                put_away(bench, output_path(bench) + end)
    row = {"input": source.name, "job": job, "threads": threads, "bytes": source.bytes, "events": source.count,
           **medians(costs[bench.tool])}
    row["mb_per_s"] = source.bytes / 1e6 / row["wall_s"]
    row["events_per_s"] = source.count / row["wall_s"]
    row["ns_per_event"] = 1e9 * row["cpu_s"] / source.count
    if bench.against:
        old = medians(costs[bench.against])
        row["cpu_ratio"] = row["cpu_s"] / max(old["cpu_s"], 1e-6)
        row["wall_ratio"] = row["wall_s"] / old["wall_s"]
    return row


def print_row(row, first):
    ratios = "cpu_ratio" in row
    if first:
        print(f"{'input':<20} {'job':<20} {'threads':<7} {'MB/s':>7} {'Mev/s':>7} {'ns/ev':>7} {'cpu s':>8} {'wall s':>8} {'RSS MiB':>7}"
              + (f" {'cpu':>6} {'wall':>6}  new/old" if ratios else ""))
    print(f"{row['input']:<20} {row['job']:<20} {row['threads']:<7} {row['mb_per_s']:>7.0f} {row['events_per_s'] / 1e6:>7.2f} "
          f"{row['ns_per_event']:>7.0f} {row['cpu_s']:>8.3f} {row['wall_s']:>8.3f} {row['rss_kib'] / 1024:>7.1f}"
          + (f" {row['cpu_ratio']:>6.3f} {row['wall_ratio']:>6.3f}" if ratios else ""), flush=True)


# ---- docs ----

def matrix(title, rows, down, across, cell):
    """A table in Markdown; cell(row): its text, or None."""
    cells = {}
    for row in rows:
        text = cell(row)
        if text is not None:
            cells[down(row), across(row)] = text
    columns = sorted(dict.fromkeys(key[1] for key in cells), key=lambda column: COLUMNS.index(column) if column in COLUMNS else 99)
    lines = [f"### {title}", "", "| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name in dict.fromkeys(key[0] for key in cells):
        lines.append(f"| {name} | " + " | ".join(cells.get((name, column), "") for column in columns) + " |")
    return lines + [""] if cells else []


COLUMNS = ["htdump", "heph", "dial9", "dftracer", "ovni", "ovni4", "ovni20k", "perfetto", "chrome", "kineto", "ndjson"]
MAIN_JOBS = ("validate", "info", "stats", "copy", "to chrome")


def tables(rows):
    """For each question a table, with a column for each format."""
    by = {(row["input"], row["job"], row["threads"]): row for row in rows}

    def form(row):
        return row["input"].split("/")[0]

    def shape(row):
        return row["input"].split("/")[1]

    def job(row):
        return row["job"] + (", gzip" if shape(row) == "gzip" else "")

    def of(shapes, threads="1", jobs=JOBS):
        return [row for shape_of in shapes for row in rows
                if shape(row) == shape_of and row["threads"] == threads and row["job"] in jobs]

    def ns(row):
        return f"{row['ns_per_event']:.0f}"

    def size(row):
        return f"{row['bytes'] / 1e6:.0f} MB, {row['events'] / 1e6:.1f} M"

    def speedup(row):
        every = by.get((row["input"], row["job"], "all"))
        return f"{row['wall_s'] / every['wall_s']:.2f}" if every else None

    def slowdown(row):
        plain = by.get((form(row) + "/plain", row["job"], row["threads"]))
        return f"{row['ns_per_event'] / plain['ns_per_event']:.1f}" if plain else None

    return (matrix("Inputs: size and events", of(("synthetic", "real")), shape, form, size)
            + matrix("ns of CPU time an event, synthetic, one thread", of(("synthetic", "gzip")), job, form, ns)
            + matrix("ns of CPU time an event, real, one thread", of(("real",)), job, form, ns)
            + matrix("MB/s of input, synthetic, one thread", of(("synthetic", "gzip"), jobs=MAIN_JOBS), job, form,
                     lambda row: f"{row['mb_per_s']:.0f}")
            + matrix("Peak memory in MiB, synthetic, all threads", of(("synthetic",), "all"), job, form,
                     lambda row: f"{row['rss_kib'] / 1024:.0f}")
            + matrix("Wall time of one thread, divided by that of all, synthetic", of(("synthetic",)), job, form, speedup)
            + matrix("Adversarial: time an event, divided by that of the plain input of the format", of(SHAPES[1:]),
                     lambda row: f"{shape(row)}: {job(row)}", form, slowdown))


def machine(bench):
    """A sentence about the machine, the date and the compiler."""
    model = platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as f:
            model = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), model)
    compiler = call(os.environ.get("CC", "cc"), "--version").decode().splitlines()[0]
    return (f"{datetime.date.today():%d %B %Y}, {os.cpu_count()} cores ({model}), {platform.system()} {platform.release()}, {compiler}, "
            f"medians of {bench.runs} runs, `--scale {bench.scale}`.")


def write_docs(bench, rows):
    begin, end = "<!-- bench -->\n", "<!-- /bench -->"
    with open(bench.docs) as f:
        before, _, rest = f.read().partition(begin)
    after = rest.partition(end)[2]
    with open(bench.docs, "w") as f:
        f.write(before + begin + machine(bench) + "\n\n" + "\n".join(tables(rows)) + end + after)


# ---- the command line ----

def options(argv, usage=__doc__):
    parser = argparse.ArgumentParser(usage=usage, add_help=False)
    for flag, default in (("-i", None), ("-j", None), ("-t", None), ("--against", None), ("--json", None), ("--docs", None),
                          ("--tool", "build/tracetool"), ("--maker", "build/bench")):
        parser.add_argument(flag, default=default)
    parser.add_argument("-n", dest="runs", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--bound", type=lambda text: float(text.rstrip("%")) / 100)
    parser.add_argument("-d", dest="dir", default=os.path.join(tempfile.gettempdir(), "tracetool-bench"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    bench = parser.parse_args(argv)
    if bench.help:
        print(usage)
        sys.exit(0)
    os.makedirs(bench.dir, exist_ok=True)
    return bench


def matches(name, globs):
    return any(fnmatch.fnmatchcase(name, part) for part in globs.split(","))


def chosen(bench):
    """Inputs, which are made, with the jobs and threads to run."""
    for source in all_inputs(bench):
        if not matches(source.name, bench.i or "*"):
            continue
        source.make(bench)
        few = source.shape in (*SHAPES, "gzip") or source.generator == "ovni20k"
        jobs = [job for job in JOBS if matches(job, bench.j or (FEW_JOBS if few else "*"))
                and job != "to " + source.form and not (job.endswith("pipe") and os.path.isdir(source.path))]
        threads = [t for t in ("1", "all") if matches(t, bench.t or ("1" if source.shape in SHAPES else "*"))]
        yield source, [(job, t) for job in jobs for t in threads]


def main():
    bench = options(sys.argv[1:])
    bench.put_away = []
    if bench.list:
        print("inputs:", *(source.name for source in all_inputs(bench)), sep="\n  ")
        print("jobs:", *JOBS, sep="\n  ")
        return 0
    rows = []
    for source, todo in chosen(bench):
        for job, threads in todo:
            rows.append(run_row(bench, source, job, threads))
            print_row(rows[-1], len(rows) == 1)
    for path in bench.put_away:
        remove(path)
    if bench.json:
        with open(bench.json, "w") as f:
            json.dump({"about": machine(bench), "rows": rows}, f, indent=1)
    if bench.docs:
        write_docs(bench, rows)
    slow = [row for row in rows if bench.bound is not None and bench.against
            and row["cpu_ratio" if row["threads"] == "1" else "wall_ratio"] > 1 + bench.bound]
    for row in slow:
        print(f"slower than the bound: {row['input']}, {row['job']}, threads {row['threads']}")
    return 1 if slow or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
