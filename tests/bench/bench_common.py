"""What the benchmarks share: a sandbox that leaves nothing behind, repetition, tables, JSON.

A benchmark makes a Report, adds rows, marks and ratios, and returns report.finish(args). Times are seconds of
this machine's monotonic clock unless a column's name says otherwise. What was found is kept in BUILD/bench/NAME.json,
or NAME.quick.json; figures.py compares such files.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
import figures  # noqa: E402
from figures import shown, spread  # noqa: E402, F401
from sandbox import die_with_parent, start_again_inside  # noqa: E402

INSIDE = "MRCLAB_BENCH_SANDBOX"
AGAINST_HELP = "bench.json or a benchmark's own file of an earlier run: prints the ratios now/then, too"
COMMON_OPTIONS = {"build", "json", "quick", "against"}  # all others change what is measured
NOT_INSTALLED = 4  # exit code of a helper whose peer is missing


class BenchmarkParser(argparse.ArgumentParser):
    """Reads the file of --against at once, so that a file without figures is refused before anything is measured."""

    def parse_args(self, *words):
        args = super().parse_args(*words)
        if args.against:
            args.against = figures.or_exit(self.prog, args.against, figures.earlier_figures, [self.prog], args.quick)
        return args


def arguments(description, quick_help="a few seconds: every column, no figure worth quoting"):
    parser = BenchmarkParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help=quick_help)
    parser.add_argument("--against", metavar="FILE", help=AGAINST_HELP)
    return parser


def enter_sandbox():
    """Starts this script again in the sandbox and ends with its exit code. Needs root."""
    if os.environ.get(INSIDE):
        tempfile.tempdir = "/run/bench"
        return
    if os.geteuid() != 0:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: needs root: sudo {' '.join(sys.argv)}")
    start_again_inside({INSIDE: "1"})


def run(command, timeout=300, check=True, **kwargs):
    """A command that ends with this script. Returns the CompletedProcess with text output."""
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout,
                            preexec_fn=die_with_parent, **kwargs)
    if check and result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {result.returncode}\n"
                           f"{result.stdout[-1000:]}{result.stderr[-2000:]}")
    return result


def flow_rates(args, scenario, *options, timeout=400):
    """What every flow of a simulated scenario gets (flow_rates.cc). `scenario` is the text of its file."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(scenario)
        file.flush()
        return json.loads(run([args.build / "tests/flow_rates", *options, file.name], timeout=timeout).stdout)


def payload_of(found, source, destination):
    """Bytes that one host got from another, by the base RTT."""
    return found["hosts"][destination]["from"][source]["payload"]


def percent_of_line(found, source, destination, first, last):
    """Payload between two base RTTs, of the rate of all ports of a NIC."""
    seconds = (last - first) * found["rtt_ns"] * 1e-9
    line = found["port_bps"] * found["planes"]
    return 100 * 8 * sum(payload_of(found, source, destination)[first:last]) / (seconds * line)


def missing(tool, package):
    """Empty if `tool` is there, else what to do about it."""
    return "" if shutil.which(tool) else f"not installed: apt-get install {package}"


def machine():
    model = ""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"kernel": platform.release(), "processor": model, "cores": len(os.sched_getaffinity(0)),
            "memory_mib": memory >> 20, "load": [round(x, 2) for x in os.getloadavg()],
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def machine_line(of):
    return (f"Linux {of['kernel']}, {of['cores']} cores of {of['processor'] or platform.machine()}, "
            f"load {of['load'][0]} when it began")


def version_of(build):
    """Which sources the build has, with their commit; empty where its program cannot say."""
    try:
        said = run([build / "mrclab-cli", "--version"], timeout=20).stdout
    except (OSError, RuntimeError, subprocess.TimeoutExpired):
        return ""
    return said.removeprefix("mrclab ").strip()


def why_slow(build):
    """Empty if the build's CPU time may be compared with that of others, else why not."""
    try:
        cache = (build / "CMakeCache.txt").read_text()
    except OSError:
        return ""  # installed programs: no cache, and built for use
    of = dict(re.findall(r"(?m)^([A-Z_]+):[A-Z]+=(.*)$", cache))
    if of.get("MRCLAB_SANITIZE", "").upper() in ("ON", "1", "TRUE", "YES", "Y"):
        return "built with sanitizers"
    kind = of.get("CMAKE_BUILD_TYPE", "")
    flags = of.get("CMAKE_CXX_FLAGS", "").split() + of.get(f"CMAKE_CXX_FLAGS_{kind.upper()}", "").split()
    levels = [flag for flag in flags if re.fullmatch(r"-O\w*", flag)]
    if any(flag.startswith("-fsanitize") for flag in flags):
        return "built with sanitizers"
    # Without a type CMakeLists.txt chooses one that optimizes. Of several levels the last one counts.
    if kind and (not levels or levels[-1] in ("-O0", "-Og")):
        return "built without optimization"
    return ""


class Report:
    """Rows of one benchmark. `columns` maps a row's keys to what stands above the column; `keys` are those columns
    that say what a row is, by which it is found again in another run: the first one alone unless given."""

    def __init__(self, name, columns, keys=()):
        assert set(keys) <= set(columns), keys
        self.name, self.columns, self.keys = name, columns, list(keys) or list(columns)[:1]
        self.machine = machine()
        self.rows, self.marks, self.ratios, self.notes = [], [], [], []
        self.start = time.monotonic()

    def add(self, **row):
        assert set(row) <= set(self.columns), row
        self.rows.append({key: row.get(key) for key in self.columns})

    def note(self, text):
        self.notes.append(text)

    def mark(self, name, measured, bound, unit, at_most=True, column=""):
        """A figure that the design promises. Missing one is said, and is no failure of the run. `column`: the one
        of which the figure is a value, so that it is known which direction is better there."""
        assert not column or column in self.columns, column
        met = measured is not None and (measured <= bound if at_most else measured >= bound)
        self.marks.append({"mark": name, "measured": measured, "bound": bound, "unit": unit,
                           "relation": "at most" if at_most else "at least", "met": met, "column": column})

    def ratio(self, name, measured, least, most):
        """CPU time of ours to that of a peer in the same run, which the machine and its load hardly change. The test
        command fails where it does not hold, so the bounds are wide: they find what became many times slower (or
        does nothing any more), not some percent."""
        self.ratios.append({"ratio": name, "measured": measured, "least": least, "most": most,
                            "holds": measured is not None and least <= measured <= most})

    def data(self, args):
        slow = why_slow(args.build) if self.ratios else ""
        ratios = [dict(ratio, holds=None) if slow else ratio for ratio in self.ratios]
        notes = self.notes + ([f"ratios not judged: {slow}"] if slow else [])
        options = {key: value for key, value in vars(args).items() if key not in COMMON_OPTIONS}
        return {"benchmark": self.name, "quick": args.quick, "options": options, "machine": self.machine,
                "version": version_of(args.build), "columns": self.columns, "keys": self.keys, "rows": self.rows,
                "marks": self.marks, "ratios": ratios, "notes": notes,
                "seconds": round(time.monotonic() - self.start, 1)}

    def finish(self, args):
        """Keeps and prints what was found; the exit code."""
        data = self.data(args)
        kept = self.keep(args, data)
        against = figures.compare_all(args.against, {self.name: figures.benchmark_of(data)}) if args.against else None
        if args.json:
            print(json.dumps(data | ({"against": against} if against else {})))
        else:
            print(text_of(data) + (f"\n\n{figures.comparison_text(against)}" if against else "") +
                  (f"\nwritten: {kept}" if kept else ""))
        return 0 if kept else 1

    def keep(self, args, data):
        """The file; None where it could not be written, which is said."""
        path = figures.figures_file(args.build / "bench", self.name, args.quick)
        try:
            figures.keep_file(path, json.dumps(data, indent=1) + "\n")
        except OSError as error:
            print(f"{self.name}: {path}: not kept: {error.strerror}", file=sys.stderr)
            return None
        return path


def cells_of(data):
    return [list(data["columns"].values())] + [
        [shown(row.get(key)) for key in data["columns"]] for row in data["rows"]]


def tail_of(data):
    lines = []
    for mark in data["marks"]:
        lines.append(f"mark: {mark['mark']}: {shown(mark['measured'])} {mark['unit']}, {mark['relation']} "
                     f"{mark['bound']}: {'met' if mark['met'] else 'MISSED'}")
    verdicts = {True: "holds", False: "BROKEN", None: "not judged"}
    for ratio in data["ratios"]:
        lines.append(f"ratio: {ratio['ratio']}: {shown(ratio['measured'])}, from {ratio['least']} to {ratio['most']}: "
                     f"{verdicts[ratio['holds']]}")
    return lines + data["notes"]


def text_of(data):
    cells = cells_of(data)
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = [f"{data['benchmark']}: {machine_line(data['machine'])}, {data['seconds']} s"]
    for row in cells:
        first, rest = row[0].ljust(widths[0]), [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        lines.append("  ".join([first, *rest]).rstrip())
    return "\n".join(lines + tail_of(data))


def markdown_of(data):
    cells = cells_of(data)
    lines = [f"## {data['benchmark']}", "", f"{machine_line(data['machine'])}; {data['seconds']} s.", "",
             "| " + " | ".join(cells[0]) + " |", "|" + "---|" * len(cells[0])]
    lines += ["| " + " | ".join(row) + " |" for row in cells[1:]]
    lines += [""] + [f"- {line}" for line in tail_of(data)]
    return "\n".join(lines) + "\n"
