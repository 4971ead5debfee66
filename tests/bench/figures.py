"""Figures of benchmarks as files: kept, read again, and those of an earlier run beside those of a later one.

Which rows belong together: a benchmark names its key columns ("keys" in its JSON), which say what a row is, such as
hosts and threads; all others say what was measured. Two rows belong together when all their keys show the same; of
several such rows the first of one file belongs to the first of the other. In files from before there were keys,
those of the other file count; where neither has any, the columns without numbers, or else the first column.
Columns that hold numbers are compared; of repeated measurements the median.

A file may come from anywhere, so nothing of it is believed before benchmark_of() has looked at it.
"""

import collections
import json
import math
import os
import pathlib
import stat
import statistics
import sys
import tempfile

MAX_BYTES = 16 << 20  # bench.json of everything has 40 KB
MAX_TEXT = 100
SAME_MACHINE = ("processor", "cores", "kernel")  # what ratios of two runs depend on
BETTER = {"at least": "more is better", "at most": "less is better"}


class BadFigures(Exception):
    """What is wrong with a file, in one sentence without its name."""


# ---- values --------------------------------------------------------------------------------------

def spread(values):
    values = sorted(values)
    return {"median": statistics.median(values), "min": values[0], "max": values[-1], "n": len(values)}


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, dict):  # spread
        text = shown(value["median"])
        return text if value["n"] == 1 else f"{text} [{shown(value['min'])}-{shown(value['max'])}]"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"
    return str(value)


def printable_text(value, where):
    """A text of a file without what a terminal would obey."""
    if not isinstance(value, str):
        raise BadFigures(f"{where} is no text")
    return "".join(c if c.isprintable() else "?" for c in value[:MAX_TEXT])


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def plain_value(value, where):
    """A cell as None, a text or a finite number; of a spread its median."""
    if isinstance(value, dict) and is_number(value.get("median")):
        value = value["median"]
    if value is None or isinstance(value, bool):
        return value if value is None else str(value)
    if is_number(value):
        try:
            finite = math.isfinite(float(value))
        except OverflowError:  # an integer beyond every float
            finite = False
        if not finite:
            raise BadFigures(f"{where} is no finite number")
        return value
    if isinstance(value, str):
        return printable_text(value, where)
    raise BadFigures(f"{where} is neither a number nor a text nor a spread of numbers")


# ---- files ---------------------------------------------------------------------------------------

def figures_file(folder, name, quick, suffix=".json"):
    """Where figures are kept; those of --quick beside the others, so that neither takes the other's place."""
    return folder / f"{name}{'.quick' if quick else ''}{suffix}"


def owned_like(path, above):
    """What root makes in the checkout of another user is that user's, who may run some benchmarks without root."""
    if os.geteuid() == 0:
        of = above.stat()
        os.chown(path, of.st_uid, of.st_gid, follow_symlinks=False)


def make_folder(folder):
    if not folder.is_dir():
        folder.mkdir(parents=True)
        owned_like(folder, folder.parent)


def keep_file(path, text):
    """Writes a file as a whole or not at all."""
    folder = path.parent
    make_folder(folder)
    handle, unfinished = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            os.fchmod(handle, 0o644)
            file.write(text)
        owned_like(unfinished, folder)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise


def read_json(path):
    """What a file holds. A pipe may have no end, and is read again in a sandbox, so it must be a file."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise BadFigures("is not a file")
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise BadFigures(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > MAX_BYTES:
        raise BadFigures(f"has more than {MAX_BYTES >> 20} MiB, which no benchmark writes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise BadFigures("is not JSON") from None


def list_of(found, key, where):
    value = found.get(key, [])
    if not isinstance(value, list):
        raise BadFigures(f"{where}: \"{key}\" is no list")
    return value


def machine_value(value, where):
    """What is said about a machine; of the load the first figure."""
    return plain_value((value or [None])[0] if isinstance(value, list) else value, where)


def named_values(found, kind, where):
    """(name -> value, name -> direction) of marks or ratios."""
    values, directions = {}, {}
    for entry in list_of(found, kind + "s", where):
        if not isinstance(entry, dict) or kind not in entry:
            raise BadFigures(f"{where}: a {kind} has no name")
        name = printable_text(entry[kind], f"{where}: the name of a {kind}")
        values[name] = plain_value(entry.get("measured"), f"{where}: {kind} \"{name}\"")
        directions[name] = BETTER.get(str(entry.get("relation")), "")
    return values, directions


def benchmark_of(found):
    """The figures of one benchmark as compare() wants them; BadFigures where they are not of this form."""
    if not isinstance(found, dict) or "benchmark" not in found:
        raise BadFigures("has no \"benchmark\", nor \"results\" of several: no benchmark wrote it")
    name = printable_text(found["benchmark"], "the name of a benchmark")
    if "failed" in found:
        return {"benchmark": name, "failed": True}
    columns, machine = found.get("columns"), found.get("machine", {})
    if not isinstance(columns, dict) or not columns or not isinstance(machine, dict):
        raise BadFigures(f"{name} has no columns, or its machine is none")
    headings = {key: printable_text(text, f"{name}: a heading") or printable_text(key, "")
                for key, text in columns.items()}
    rows = []
    for number, row in enumerate(list_of(found, "rows", name), 1):
        if not isinstance(row, dict):
            raise BadFigures(f"{name}: row {number} is none")
        rows.append({key: plain_value(row.get(key), f"{name}: row {number}, \"{printable_text(key, '')}\"")
                     for key in columns})
    keys = list_of(found, "keys", name)
    if any(not isinstance(key, str) or key not in columns for key in keys):
        raise BadFigures(f"{name}: a key is none of the columns")
    marks, mark_directions = named_values(found, "mark", name)
    directions = {str(mark.get("column")): BETTER.get(str(mark.get("relation")), "")
                  for mark in found.get("marks", [])}
    return {"benchmark": name, "failed": False, "quick": found.get("quick") is True, "keys": keys,
            "columns": headings, "rows": rows, "marks": marks, "mark_directions": mark_directions,
            "directions": directions, "ratios": named_values(found, "ratio", name)[0],
            "options": printable_text(json.dumps(found.get("options", {}), sort_keys=True), ""),
            "version": printable_text(found.get("version", ""), f"{name}: \"version\""),
            "machine": {key: machine_value(machine.get(key), f"{name}: its {key}")
                        for key in (*SAME_MACHINE, "date", "load")}}


def read_figures(path):
    """name -> benchmark_of() of a file that run_all or one benchmark wrote."""
    found = read_json(path)
    several = isinstance(found, dict) and isinstance(found.get("results"), list)
    benchmarks = [benchmark_of(each) for each in (found["results"] if several else [found])]
    return {each["benchmark"]: each for each in benchmarks}


def earlier_figures(path, names, quick):
    """read_figures() of those of `names` that have figures to compare with a run that is to come."""
    found = {name: each for name, each in read_figures(path).items() if name in names and not each["failed"]}
    if not found:
        raise BadFigures(f"has no figures of {', '.join(names) if len(names) < 4 else 'any benchmark that would run'}")
    for each in found.values():
        if each["quick"] != quick:
            raise BadFigures(f"has figures of {each['benchmark']} {'with' if each['quick'] else 'without'} --quick: "
                             "they cannot be compared with such a run")
    return found


def or_exit(program, path, read, *more):
    """read(path, *more); if the file is no good, one sentence and exit code 2."""
    try:
        return read(path, *more)
    except BadFigures as problem:
        print(f"{program}: {printable_text(str(path), 'the name')}: {problem}", file=sys.stderr)
        sys.exit(2)


# ---- comparing -----------------------------------------------------------------------------------

def keys_of(old, new):
    """The columns, of those that both have, which say what a row is."""
    both = [key for key in new["columns"] if key in old["columns"]]
    keys = [key for key in new["keys"] or old["keys"] if key in both]
    rows = old["rows"] + new["rows"]
    return keys or [key for key in both if not any(is_number(row[key]) for row in rows)] or both[:1]


def row_name(row, keys, columns):
    """"veth, ours, switches 1, 4 KB": a number means nothing without its heading."""
    values = [(columns[key], row[key]) for key in keys]
    return ", ".join(f"{heading} {shown(int(value) if value == int(value) else value)}" if is_number(value)
                     else shown(value) for heading, value in values)


def rows_by_name(benchmark, keys, columns):
    """(name, which of this name) -> row"""
    seen, rows = collections.Counter(), {}
    for row in benchmark["rows"]:
        name = row_name(row, keys, columns)
        seen[name] += 1
        rows[name if seen[name] == 1 else f"{name} ({seen[name]})"] = row
    return rows


def ratio_of(old, new):
    """New to old; None where that says nothing."""
    ratio = new / old if is_number(old) and is_number(new) and old != 0 else None
    return ratio if ratio is None or math.isfinite(ratio) else None


def compared_values(pairs):
    """[name, old, new, ratio] of (name, old, new) where either is a number."""
    return [[name, *(value if is_number(value) else None for value in (old, new)), ratio_of(old, new)]
            for name, old, new in pairs if is_number(old) or is_number(new)]


def compare(old, new):
    """What is comparable of two runs of one benchmark; texts and numbers only."""
    keys = keys_of(old, new)
    before, after = (rows_by_name(each, keys, new["columns"]) for each in (old, new))
    both = [name for name in after if name in before]
    sections = []
    for key, heading in new["columns"].items():
        values = [] if key in keys or key not in old["columns"] else compared_values(
            (name, before[name][key], after[name][key]) for name in both)
        if values:
            sections.append({"title": heading, "better": new["directions"].get(key, ""), "values": values})
    for kind, title in (("marks", "marks"), ("ratios", "ratios to peers in the same run")):
        values = compared_values((name, old[kind].get(name), value) for name, value in new[kind].items())
        if values:
            sections.append({"title": title, "better": "", "values": values})
            if kind == "marks":
                sections[-1]["directions"] = new["mark_directions"]
    return {"benchmark": new["benchmark"], "keys": [new["columns"][key] for key in keys],
            "then": run_line(old), "now": run_line(new), "machines": machines_line(old["machine"], new["machine"]),
            "sections": sections, "only_then": [name for name in before if name not in after],
            "only_now": [name for name in after if name not in before]}


def run_line(benchmark):
    """When, which build, under which load."""
    machine = benchmark["machine"]
    parts = [machine["date"], benchmark["version"].split(" (")[0],  # what follows does not fit, and repeats it
             f"load {shown(machine['load'])}" if is_number(machine["load"]) else "",
             "--quick" if benchmark["quick"] else "",
             f"options {benchmark['options']}" if benchmark["options"] != "{}" else ""]
    return ", ".join(str(part) for part in parts if part) or "the file does not say when"


def machines_line(old, new):
    if any(of[what] is None for of in (old, new) for what in SAME_MACHINE):
        return "OTHER MACHINE, perhaps: not both files say which"
    unlike = [f"{what} {shown(old[what])}, now {shown(new[what])}" for what in SAME_MACHINE if old[what] != new[what]]
    if unlike:
        return f"OTHER MACHINE: {'; '.join(unlike)}"
    return f"the same machine: {shown(new['cores'])} cores of {shown(new['processor'])}, Linux {shown(new['kernel'])}"


def compare_all(old, new):
    """compare() of each benchmark in both, and which are in one of them only."""
    usable = [{name: each for name, each in those.items() if not each["failed"]} for those in (old, new)]
    for name in usable[0].keys() & usable[1].keys():
        if old[name]["quick"] != new[name]["quick"]:
            raise BadFigures(f"has {name} {'with' if old[name]['quick'] else 'without'} --quick, the other not so")
    return {"compared": [compare(old[name], each) for name, each in usable[1].items() if name in usable[0]],
            "only_then": sorted(usable[0].keys() - usable[1].keys()),
            "only_now": sorted(usable[1].keys() - usable[0].keys())}


# ---- as text -------------------------------------------------------------------------------------

def shown_ratio(ratio):
    return "-" if ratio is None else f"{ratio:.2f}" if 0.1 <= abs(ratio) < 1000 or ratio == 0 else f"{ratio:.2g}"


def comparison_lines(found):
    """A table for each column: 80 characters wide unless the names of rows are longer."""
    lines = [f"{found['benchmark']}: rows matched by {', '.join(found['keys'])}"]
    tables = [(section, [(name, shown(old), shown(new), shown_ratio(ratio))
                         for name, old, new, ratio in section["values"]]) for section in found["sections"]]
    cells = []  # of each line
    for section, rows in tables:
        title = section["title"] + (f" ({section['better']})" if section["better"] else "")
        cells.append((title, "then", "now", "now/then"))
        for name, *values in rows:
            better = section.get("directions", {}).get(name, "")
            cells.append((f"  {name}" + (f" ({better})" if better else ""), *values))
    widths = [max((len(each[i]) for each in cells), default=0) for i in range(4)]
    lines += ["  ".join([each[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(each[1:], widths[1:]))])
              for each in cells]
    if not tables:
        lines.append("  no row has numbers in both")
    lines += [f"  only then: {name}" for name in found["only_then"]]
    return lines + [f"  only now: {name}" for name in found["only_now"]]


def comparison_text(found):
    """All of compare_all(); whose runs they were is said again only when it changes."""
    lines, said = [], None
    for each in found["compared"]:
        runs = [f"then: {each['then']}", f"now:  {each['now']}", each["machines"]]
        lines += ([""] if lines else []) + (runs + [""] if runs != said else []) + comparison_lines(each)
        said = runs
    lines += [] if found["compared"] else ["no benchmark has figures in both"]
    for what, names in (("then", found["only_then"]), ("now", found["only_now"])):
        lines += [f"figures only {what}: {name}" for name in names]
    return "\n".join(lines)
