#!/usr/bin/env python3
"""mutants.py N [SEED [FOLDER...]]: how many single-line changes of the program the tests find.

Changes one operator, constant or result on a random line of src/ or formats/ (or of the folders), builds in
build-mutants/, and runs the tests: those of the folder first, then all that make test runs.  A change that does not compile
is not counted.  Prints each mutant with its fate and the list of those that survive; the tree is left as it was.
STRENGTH goes to the tests."""
import os
import random
import re
import subprocess
import sys

CHANGES = [
    (r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "),
    (r"\breturn true;", "return false;"), (r"\breturn false;", "return true;"), (r"\b1\b", "2"), (r"\b0\b", "1"),
    (r"!(?=[a-z(])", ""), (r" & ", " | "), (r" << ", " >> "), (r"\bcontinue;", "break;"),
]
BUILD = "build-mutants"
FLAGS = ["-s", "-j%d" % (os.cpu_count() or 1), "BUILD=" + BUILD, "CFLAGS=-O1"]


def sources(folders):
    files = subprocess.check_output(["git", "ls-files", "--"] + folders, text=True).split()
    return [f for f in files if f.endswith(".c") and "/test/" not in f and f != "src/main.c"]


def candidates(path):
    """Lines of code in functions, without comments and text."""
    with open(path) as f:
        lines = f.read().split("\n")
    inside = comment = False
    for i, line in enumerate(lines):
        if line.startswith("{"):
            inside = True
        elif line.startswith("}"):
            inside = False
        starts = "/*" in line
        comment = comment or starts
        if inside and not comment and '"' not in line and "#" not in line and "assert" not in line:
            for pattern, to in CHANGES:
                for m in re.finditer(pattern, line):
                    yield i, line[: m.start()] + to + line[m.end():]
        if "*/" in line:
            comment = False


def make(*targets):
    return subprocess.run(["make"] + FLAGS + list(targets), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def passes(pattern):
    env = dict(os.environ, TRACETOOL_BIN=BUILD + "/tracetool")
    try:
        run = subprocess.run([BUILD + "/tests", "--fail-fast", "--timeout", "60", "--filter", pattern], env=env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def suites(path):
    """The suites that test a file's folder, by their names."""
    parts = path.split("/")
    return parts[1] + "*/*" if parts[0] == "formats" else None


def main():
    count = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    files = sources(sys.argv[3:] or ["src", "formats"])
    targets = [BUILD + "/tracetool", BUILD + "/tests"]
    if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "src", "formats"]).returncode != 0:
        sys.exit("mutants: src/ or formats/ has changes that are not committed")
    if not make(*targets):
        sys.exit("mutants: the tree does not build")
    weights = [sum(1 for _ in open(f)) for f in files]
    tried = killed = 0
    survivors = []
    while tried < count:
        path = rng.choices(files, weights)[0]
        choices = list(candidates(path))
        if not choices:
            continue
        line, text = rng.choice(choices)
        with open(path) as f:
            original = f.read()
        lines = original.split("\n")
        before, lines[line] = lines[line], text
        try:
            with open(path, "w") as f:
                f.write("\n".join(lines))
            if not make(*targets):
                continue
            first = suites(path)
            alive = (first is None or passes(first)) and passes("!(host_*)/*")
        finally:
            with open(path, "w") as f:
                f.write(original)
        tried += 1
        killed += not alive
        note = "%s:%d: %s -> %s" % (path, line + 1, before.strip(), text.strip())
        print("%s %s" % ("SURVIVES" if alive else "killed  ", note), flush=True)
        if alive:
            survivors.append(note)
    print("%d mutants, %d killed, %d survive (seed %d)" % (tried, killed, len(survivors), seed))


if __name__ == "__main__":
    main()
