#!/usr/bin/env python3
"""mutants.py [-n N] [-s SEED] [-t SECONDS] [-j JOBS] [-o FILE] [--same FILE] [FOLDER...] | --compare FILE FILE

Changes single lines of src/ and formats/ (or of the folders), and reports which changes the tests detect.  A single build has
all changes (mutant schemata): in the copy build-mutants/tree each chosen line has both forms, and the variable MUTANT selects
one at run time.  First each test runs without a mutant, and records which mutants it reaches and, for pure expressions,
whether the two forms ever differ.  Then each mutant runs against the tests in which they differ, first the tests of its
folder, then the fastest, until a test fails, or takes ten times as long.

  -n N           number of mutants (200)
  -s SEED        seed of the choice (1): the same tree and seed give the same mutants
  -t SECONDS     CPU time of tests per mutant (20); a mutant that no test detects in this time survives
  -j JOBS        tests in parallel (one per processor)
  -o FILE        the result (build-mutants/result.txt)
  --same FILE    use the mutants of an earlier result, by file and text of the line, if it still exists
  --compare A B  print the differences of two results

A line of the result: fate, file:line, before, after, the test that fails.  Fates: killed, survives, same (reached, but the
forms never differ), unreached."""
import argparse
import bisect
import collections
import concurrent.futures
import fnmatch
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TREE = "build-mutants/tree"
# Tests that measure the machine, build the tree or test the tests.  Tests that fail without a mutant are left out too.
LEFT_OUT = ["host_*/*", "*_cost/*", "docs*/*", "ci/*", "cli_util/*"]
NOTES = 8192  # bytes; 2 * MUTANTS_MAX of mutants.h


def files_of(patterns):
    listed = subprocess.check_output(["git", "ls-files", "--"] + patterns, text=True).splitlines()
    return [name for name in listed if os.path.isfile(name)]


# ---- candidates ----

SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "&": "|", "|": "&", "<<": ">>", ">>": "<<"}
LEVELS = {op: level for level, ops in enumerate(["||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %"])
          for op in ops.split()}
STOPS = {";", ",", "?", ":", "return", "=", "+=", "-=", "|=", "&=", "^=", "*=", "/=", "%=", "<<=", ">>="}
PLAIN = set(SWAPS) - {"&&", "||"}
COMPARE = {"==", "!=", "<", "<=", ">", ">="}
TOKEN = re.compile(r"\w+|->|<<=|>>=|<<|>>|[<>=!]=|&&|\|\||[-+*/%&|^]=|\+\+|--|\S")
HIDDEN = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
IMPURE = re.compile(r"\w\(|\+\+|--|[^=!<>]=[^=]")  # must not be evaluated twice
STATEMENT = re.compile(r"^\t+([\w>.*\[\]+-]+(?: [-+|&^]?= .*|\(.*\)|\+\+|--));$", re.M)
JUMP = re.compile(r"^\t+(return true|return false|continue);$", re.M)
ASSIGN = {"+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "++": "--", "--": "++"}
JUMPS = {"return true": "return false", "return false": "return true", "continue": "break"}


class Mutant:
    """One change: text[start:end] is replaced by one of two forms."""
    def __init__(self, source, at, start, end, cut, new, *forms):
        self.path, self.start, self.end, self.forms = source.path, start, end, list(forms)
        self.line = bisect.bisect_right(source.starts, at)  # from 1
        self.lines = range(bisect.bisect_right(source.starts, start), bisect.bisect_right(source.starts, end) + 1)
        first = source.starts[self.line - 1]
        text = source.text[first:].split("\n", 1)[0]
        self.before = text.strip()
        self.after = (text[: at - first] + new + text[at - first + cut:]).strip()
        self.name = "%s:%d\t%s\t%s" % (self.path, self.line, self.before, self.after)
        self.old = source.text[start:end]
        self.new = source.text[start:at] + new + source.text[at + cut: end]

    def schema(self, n):
        return self.forms[0].format(n=n, old=self.old, new=self.new.replace("\n", " "))


class Source:
    """A file: its text, and the text without comments, string literals and preprocessor lines."""
    def __init__(self, path):
        self.path = path
        self.text = pathlib.Path(path).read_text()
        self.plain = HIDDEN.sub(lambda m: re.sub(r"[^\n]", "s" if m[0][0] in "\"'" else " ", m[0]), self.text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", self.text)]

    def edge(self, tokens, k, step, level):
        """Index of the last token of an operand, to the left (-1) or right (1) of token k."""
        deeper, shallower = (")]}", "([{") if step < 0 else ("([{", ")]}")
        depth, i = 0, k + step
        while 0 <= i < len(tokens):
            t = tokens[i][0]
            depth += (t in deeper) - (t in shallower)
            lower = self.is_binary(tokens[i]) and LEVELS[t] < level + (step > 0)
            if depth < 0 or depth == 0 and (lower or t in STOPS):
                break
            i += step
        return i - step

    def is_binary(self, m):
        return m[0] in LEVELS and self.plain[m.start() - 1].isspace() and self.plain[m.end()].isspace()

    def operators(self, start, end):
        tokens = list(TOKEN.finditer(self.plain, start, end))
        for k, m in enumerate(tokens):
            t, at, behind = m[0], m.start(), self.plain[m.end()]
            if self.is_binary(m) and t in SWAPS:
                yield self.expression(tokens, k, m, SWAPS[t], t in PLAIN)
            elif re.fullmatch(r"\d+U?", t) and behind != ".":
                new = str(int(t.rstrip("U")) + 1) + "U" * t.endswith("U")
                op = [i for i in (k - 1, k + 1) if self.is_binary(tokens[i]) and tokens[i][0] in COMPARE]
                yield self.expression(tokens, op[0], m, new, True) if op else Mutant(
                    self, at, at, m.end(), len(t), new, "(mutant({n}) ? {new} : {old})")
            elif t == "!" and re.match(r"[a-z(]", behind):
                b = tokens[self.edge(tokens, k, 1, len(LEVELS))].end()
                yield Mutant(self, at, at, b, 1, "!!", "(mutant({n}) ? {new} : {old})")
            elif t in ("if", "while") and tokens[k + 1][0] == "(":
                a, b = tokens[k + 2].start(), tokens[self.edge(tokens, k + 1, 1, -1)].end()
                yield Mutant(self, a, a, b, 0, "not ", "mutant({n}) != !!({old})")

    def expression(self, tokens, k, m, new, plain):
        """Replaces token m in the expression of binary operator k."""
        a = tokens[self.edge(tokens, k, -1, LEVELS[tokens[k][0]])].start()
        b = tokens[self.edge(tokens, k, 1, LEVELS[tokens[k][0]])].end()
        forms = "(mutant_if({n}, ({old}) != ({new})) ? ({new}) : ({old}))", "(mutant({n}) ? ({new}) : ({old}))"
        plain = plain and not IMPURE.search(self.plain[a:b])
        return Mutant(self, m.start(), a, b, len(m[0]), new, *forms[not plain:])

    def statements(self, start, end):
        def both(m, at, cut, new, *forms):
            return Mutant(self, at, m.start(1), m.end(), cut, new, *forms, "{{ if (mutant({n})) {new} else {old} }}")

        for m in STATEMENT.finditer(self.plain, start, end):
            op = re.search(r"(?<= )[-+|&]=(?= )|(\+\+|--)$", m[1])
            if op:
                yield both(m, m.start(1) + op.start(), 2, ASSIGN[op[0]])
            to, is_set, value = m[1].partition(" = ")
            if is_set and not IMPURE.search(to) and not IMPURE.search(value):
                value = self.text[m.end(1) - len(value): m.end(1)].replace("{", "{{").replace("}", "}}")
                differs = "{{ if (mutant_if({n}, (%s) != (%s))) {new} else {old} }}" % (to, value)
                yield both(m, m.start(1), len(m[1]), "", differs)
            elif not re.match(r"\w*free\(|assert\(", m[1]):  # tests do not detect leaks
                yield both(m, m.start(1), len(m[1]), "")
        for m in JUMP.finditer(self.plain, start, end):
            yield both(m, m.start(1), len(m[1]), JUMPS[m[1]])


def all_candidates(folders):
    """The candidates of each file."""
    for path in files_of(folders):
        if path.endswith(".c") and "/test/" not in path and path != "src/main.c":
            source = Source(path)
            bodies = [m.span() for m in re.finditer(r"^\{$.*?^\}$", source.plain, re.S | re.M)]
            found = [m for span in bodies for m in itertools.chain(source.operators(*span), source.statements(*span))]
            yield source, [m for m in found if not re.match(r"case\b|default:|static ", m.before)]


def overlaps(m, chosen):
    return any(m.path == c.path and (m.line == c.line or m.start < c.end and c.start < m.end) for c in chosen)


def choose(n, seed, folders):
    """Chooses files with a probability proportional to their lines, then a line and a change.  At most one mutant per line."""
    rng = random.Random(seed)
    files = [f for f in all_candidates(folders) if f[1]]
    weights, chosen, tries = [len(source.starts) for source, _ in files], [], 0
    while len(chosen) < n and tries < 20 * n:
        found, tries = rng.choices(files, weights)[0][1], tries + 1
        line = rng.choice(sorted({m.line for m in found}))
        m = rng.choice([m for m in found if m.line == line])
        if not overlaps(m, chosen):
            chosen.append(m)
    return chosen


def read_result(path):
    return re.findall(r"^(\w+)\t(.*):(\d+)\t(.*)\t(.*)\t(.*)$", pathlib.Path(path).read_text(), re.M)


def choose_same(path, folders):
    wanted, chosen = read_result(path), []
    of_file = {source.path: found for source, found in all_candidates(folders)}
    for _, file, line, before, after, _ in wanted:
        found = [m for m in of_file.get(file, []) if (m.before, m.after) == (before, after) and not overlaps(m, chosen)]
        chosen += sorted(found, key=lambda m: abs(m.line - int(line)))[:1]
    print("%d of %d mutants of %s are still there" % (len(chosen), len(wanted), path))
    return chosen


# ---- the copy ----
def write_copy(mutants):
    """Writes only changed files, so that make compiles no others."""
    files = {name: pathlib.Path(name).read_bytes() for name in files_of([])}
    for n, m in sorted(mutants.items(), key=lambda i: i[1].start, reverse=True):
        text = files[m.path].decode()
        files[m.path] = (text[:m.start] + m.schema(n) + text[m.end:]).encode()
    for name in "mutants.h", "mutants.c":
        files["src/base/" + name] = files["scripts/" + name]
    for folder, _, here in os.walk(TREE):
        for path in (os.path.relpath(os.path.join(folder, name), TREE) for name in here):
            if path not in files and not path.startswith("build/"):
                os.remove(os.path.join(TREE, path))
    for name, data in files.items():
        path = pathlib.Path(TREE, name)
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def build(mutants):
    """Builds the copy.  Drops mutants that do not compile in any form."""
    while True:
        write_copy(mutants)
        command = ["make", "-s", "-k", "-j%d" % os.cpu_count(), "-C", TREE, "BUILD=build", "WARN=-std=c11 -Wvla -Werror",
                   "CFLAGS=-O1 -include base/mutants.h", "build/tracetool", "build/tests"]
        run = subprocess.run(command, env=dict(os.environ, MAKEFLAGS="", LC_ALL="C"), text=True, capture_output=True)
        if run.returncode == 0:
            return
        faults = re.findall(r"^(\S+?\.c):(\d+):\d+: error:", run.stderr, re.M)
        bad = [n for n, m in mutants.items() if any(path == m.path and int(line) in m.lines for path, line in faults)]
        if not bad:
            sys.exit("mutants: the copy does not build\n" + run.stderr[-3000:])
        for n in bad:
            mutants[n].forms.pop(0)
            if not mutants[n].forms:
                del mutants[n]


# ---- running tests ----

def list_tests():
    """Returns the folder of each test."""
    folders = {suite: path.rsplit("/", 2)[0] for path in files_of(["*_test.c"])
               for suite in re.findall(r"^Test\((\w+)", pathlib.Path(path).read_text(), re.M)}
    listed = subprocess.check_output(["build/tests", "--list"], cwd=TREE, text=True)
    suite, tests = "", {}
    for head, name in re.findall(r"^(\w+): \d+ test|── (\w+)", listed, re.M):
        suite, name = head or suite, "%s/%s" % (suite, name)
        if not head and not any(fnmatch.fnmatch(name, p) for p in LEFT_OUT):
            tests[name] = folders.get(suite, "")
    return tests


def run_tests(tests, seconds, **env):
    """Returns "" if all tests pass, else the name of the failing test, or "time"; and the CPU time."""
    limits = "ulimit -S -f 4000000; ulimit -S -v 16000000; ulimit -S -t %d" % (10 + 10 * seconds)
    command = ["sh", "-c", limits + "; \"$@\"; s=$?; times >&2; exit $s", "sh", "build/tests", "-j1", "--fail-fast",
               "--filter", "@(%s)" % "|".join(tests)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as tmp:
        cwd = os.path.join(tmp, "tree")  # mutants may write files of any name
        os.mkdir(cwd)
        for name in os.listdir(TREE):
            os.symlink(os.path.abspath(os.path.join(TREE, name)), os.path.join(cwd, name))
        env = dict(os.environ, TRACETOOL_BIN="build/tracetool", TMPDIR=tmp, **env)
        run = subprocess.Popen(command, cwd=cwd, env=env, text=True, errors="replace", start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            err = run.communicate(timeout=60 + 20 * seconds)[1]
        except subprocess.TimeoutExpired:
            subprocess.run(["pkill", "-KILL", "-s", str(run.pid)])  # Criterion has its own process group
            run.communicate()
            return "time", 0
    used = sum(60 * float(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", err[-30:]))
    failed = re.search(r"\[FAIL\S*\] (\w+)::(\w+)", err)
    return "" if run.returncode == 0 else "/".join(failed.groups()) if failed else "status %d" % run.returncode, used


Note = collections.namedtuple("Note", "seconds test folder reached differs")


def note(test, folder, mutants):
    """Runs a test without a mutant.  Returns the mutants that it reaches, and those with different forms; None if it fails."""
    with tempfile.NamedTemporaryFile(buffering=0) as f:
        f.write(bytes(NOTES))
        failed, seconds = run_tests([test], 60, MUTANT_NOTES=f.name)
        f.seek(0)
        got = f.read()
    differs = {n for n in mutants if got[2 * n + 1]}
    return None if failed else Note(seconds, test, folder, differs | {n for n in mutants if got[2 * n]}, differs)


def judge(n, m, notes, limit):
    """Returns the fate of a mutant, and the test that detected it."""
    tests = sorted((k for k in notes if n in k.differs), key=lambda k: (not m.path.startswith(k.folder + "/"), k.seconds))
    if not tests:
        return "same" if any(n in k.reached for k in notes) else "unreached", ""
    done, spent, most = 0, 0.0, 0.2
    while done < len(tests) and spent < limit:
        sums = list(itertools.accumulate(k.seconds for k in tests[done:done + 40]))  # Criterion limits the number of patterns
        group = tests[done:done + bisect.bisect_left(sums, most) + 1]
        failed, used = run_tests([k.test for k in group], sum(k.seconds for k in group), MUTANT=str(n))
        if failed:
            return "killed", failed
        done, spent, most = done + len(group), spent + used, 2 * most
    return "survives", "" if done == len(tests) else "%d of %d tests" % (done, len(tests))


def run(mutants, count, out, limit, jobs):
    build(mutants)
    mutants = dict(list(mutants.items())[:count])
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tests = list_tests()
        notes = sorted(filter(None, pool.map(lambda t: note(t, tests[t], mutants), tests)))
        failing = sorted(set(tests) - {k.test for k in notes})
        print("%d tests pass; left out, as they fail without a mutant: %s" % (len(notes), " ".join(failing)), flush=True)
        rows = []
        for m, (fate, by) in zip(mutants.values(), pool.map(lambda n: judge(n, mutants[n], notes, limit), mutants)):
            rows.append("%s\t%s\t%s" % (fate, m.name, by))
            print(rows[-1], flush=True)
    counts = collections.Counter(r.split("\t")[0] for r in rows)
    end = "# %d mutants: %s" % (len(rows), ", ".join("%d %s" % (n, fate) for fate, n in counts.most_common()))
    pathlib.Path(out).write_text("\n".join(rows + [end, ""]))
    print("\nNot killed:")
    for row in sorted(r for r in rows if not r.startswith("killed")):
        print("%-9s %s: %s -> %s %s" % tuple(row.split("\t")))
    print(end[2:])


def compare(one, two):
    new = {(r[1], r[3], r[4]): r for r in read_result(two)}
    for fate, path, line, before, after, by in read_result(one):
        row = new.get((path, before, after))
        if row is None:
            print("gone: %s:%s: %s" % (path, line, before))
        elif row[0] != fate:
            print("%s -> %s: %s:%s: %s -> %s (%s)" % (fate, row[0], path, row[2], before, after, by or row[5]))
    print(*(dict(collections.Counter(r[0] for r in read_result(path))) for path in (one, two)), sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage="")
    for option, default in ("-n", 200), ("-s", 1), ("-t", 20), ("-j", os.cpu_count()):
        parser.add_argument(option, type=int, default=default)
    parser.add_argument("-o", default="build-mutants/result.txt")
    parser.add_argument("--same")
    parser.add_argument("--compare", nargs=2)
    parser.add_argument("folders", nargs="*", default=["src", "formats"])
    args = parser.parse_args()
    if args.compare:
        return compare(*args.compare)
    # A quarter more than requested, as some do not compile; the rest is never active.
    chosen = choose_same(args.same, args.folders) if args.same else choose(args.n + args.n // 4, args.s, args.folders)
    run(dict(enumerate(chosen)), len(chosen) if args.same else args.n, args.o, args.t, args.j)


if __name__ == "__main__":
    main()
