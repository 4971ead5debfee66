"""What the benchmarks share: a sandbox that leaves nothing behind, repetition, tables, JSON.

A benchmark makes a Report, adds rows and marks, and returns report.finish(args). Times are seconds of
this machine's monotonic clock unless a column's name says otherwise.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from sandbox import die_with_parent, start_again_inside  # noqa: E402

INSIDE = "MRCLAB_BENCH_SANDBOX"
NOT_INSTALLED = 4  # exit code of a helper whose peer is missing


def arguments(description, quick_help="a few seconds: every column, no figure worth quoting"):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help=quick_help)
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


def timed(function):
    """(seconds, what it returned)."""
    start = time.monotonic()
    value = function()
    return time.monotonic() - start, value


def spread(values):
    values = sorted(values)
    return {"median": statistics.median(values), "min": values[0], "max": values[-1], "n": len(values)}


def missing(tool, package):
    """Empty if `tool` is there, else what to do about it."""
    return "" if shutil.which(tool) else f"not installed: apt-get install {package}"


def machine():
    model = ""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {"kernel": platform.release(), "processor": model, "cores": len(os.sched_getaffinity(0)),
            "load": [round(x, 2) for x in os.getloadavg()]}


def machine_line(of):
    return (f"Linux {of['kernel']}, {of['cores']} cores of {of['processor'] or platform.machine()}, "
            f"load {of['load'][0]} when it began")


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, dict):  # spread
        text = shown(value["median"])
        return text if value["n"] == 1 else f"{text} [{shown(value['min'])}-{shown(value['max'])}]"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"
    return str(value)


class Report:
    """Rows of one benchmark. `columns` maps a row's keys to what stands above the column."""

    def __init__(self, name, columns):
        self.name, self.columns = name, columns
        self.machine = machine()
        self.rows, self.marks, self.notes = [], [], []
        self.start = time.monotonic()

    def add(self, **row):
        assert set(row) <= set(self.columns), row
        self.rows.append({key: row.get(key) for key in self.columns})

    def note(self, text):
        self.notes.append(text)

    def mark(self, name, measured, bound, unit, at_most=True):
        """A figure that the design promises. Missing one is said, and is no failure of the run."""
        met = measured is not None and (measured <= bound if at_most else measured >= bound)
        self.marks.append({"mark": name, "measured": measured, "bound": bound, "unit": unit,
                           "relation": "at most" if at_most else "at least", "met": met})

    def data(self):
        return {"benchmark": self.name, "machine": self.machine, "columns": self.columns,
                "rows": self.rows, "marks": self.marks, "notes": self.notes,
                "seconds": round(time.monotonic() - self.start, 1)}

    def finish(self, args):
        print(json.dumps(self.data()) if args.json else text_of(self.data()))
        return 0


def cells_of(data):
    return [list(data["columns"].values())] + [
        [shown(row.get(key)) for key in data["columns"]] for row in data["rows"]]


def tail_of(data):
    lines = []
    for mark in data["marks"]:
        lines.append(f"mark: {mark['mark']}: {shown(mark['measured'])} {mark['unit']}, {mark['relation']} "
                     f"{mark['bound']}: {'met' if mark['met'] else 'MISSED'}")
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
