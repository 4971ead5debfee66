// Two runs side by side.
// One of the parts of the page's script: they are put into one function, in the order common,
// matrix, windows, jobs, report, compare, transports, main (report.html).

function comparePage({a, b, history}) {
  const runs = [a, b], names = ["A", "B"];
  document.title = `${a.verdict.scenario} and ${b.verdict.scenario}`;
  page.replaceChildren(el("header", {}, el("h1", {}, "Two runs side by side"),
      runs.map((run, i) => el("p", {class: "sub"}, el("b", {}, names[i] + "  "),
          el("span", {class: run.verdict.result}, resultWord(run.verdict.result)), "  ",
          run.verdict.scenario, ", ", el("code", {}, run.run)))));
  compareFacts(runs);
  compareGoodput(runs);
  compareChecks(runs);
  compareFaults(runs);
  compareHistories(history);
}

/// A number of each, and the second less the first where both are numbers.
function difference(x, y, show = plain) {
  if (typeof x !== "number" || typeof y !== "number") return x === y ? (x === undefined ? "" : "=") : el("span", {class: "differs"}, "≠");
  if (x === y) return "=";
  return el("span", {class: "differs"}, (y > x ? "+" : "−") + show(Math.abs(y - x)));
}

function compareFacts(runs) {
  const side = (value, which) => el("span", {"data-run": which}, value);
  const rows = [
    ["result", "/result", plain], ["world", "/world", plain], ["seed", "/seed", plain],
    ["faithful", "/timing/faithful", (f) => f ? "yes" : "no"], ["goodput", "/metrics/goodput_bps", rate],
    ["baseline", "/metrics/baseline_bps", rate], ["packets delivered", "/metrics/delivered", plain],
    ["lost", "/metrics/lost", plain], ["trimmed", "/metrics/trimmed", plain],
    ["retransmitted", "/metrics/retransmitted", plain]];
  const value = (run, pointer) => pointer.split("/").slice(1).reduce((v, key) => v && v[key], run.verdict);
  section("Verdicts", wideTable(["", "A", "B", "difference"], rows.map(([label, pointer, show]) => [label,
      side(field(runs[0].verdict, pointer, show), "a"), side(field(runs[1].verdict, pointer, show), "b"),
      difference(value(runs[0], pointer), value(runs[1], pointer), show)]), [1, 2, 3]));
}

function compareHistories(history) {
  section("Where their packets first differ", el("pre", {}, history));
}

function compareGoodput(runs) {
  if (!runs.every((run) => run.picture)) return;
  overlayCharts(runs, ["A", "B"], [css("--accent"), css("--bad")]).append(
      note("B is dashed. Hatched: the faults of both. Intervals: " +
           runs.map((run) => timeUs(run.picture.series.bin_us)).join(" and ") + "."));
}

/// All runs in one chart of each kind: instants of any of them, a gap where another has none. Returns their
/// section.
function overlayCharts(runs, names, colours) {
  const end = Math.max(...runs.map((run) => run.picture.end_us));
  const box = section("Time line");
  box.id = "timeline";
  const known = new Set();
  const regions = runs.flatMap((run) => run.picture.regions).filter((r) => {
    const key = `${r.from_us} ${r.until_us} ${r.label}`;
    return !known.has(key) && known.add(key);
  });
  const overlay = (title, unit, of, options) => {
    const rows = new Map();
    runs.forEach((run, i) => middles(run.picture.series).forEach((t, bin) => {
      if (!rows.has(t)) rows.set(t, [t, ...runs.map(() => null)]);
      rows.get(t)[i + 1] = of(run.picture.series, bin);
    }));
    chart(box, title, unit, names, [...rows.values()].sort((x, y) => x[0] - y[0]),
          {end, regions, colours, ...options});
  };
  overlay("Goodput", "Gb/s", (s, bin) => s.planes.reduce((sum, bins) => sum + bins[bin], 0), {});
  for (const [title, key] of [["Packets lost", "lost"], ["Packets retransmitted", "again"]]) {
    if (runs.some((run) => run.picture.series[key].some((n) => n > 0))) {
      overlay(title, "per interval", (s, bin) => s[key][bin], {low: true});
    }
  }
  return box;
}

function compareChecks(runs) {
  const keys = [], of = runs.map((run) => {
    const checks = new Map();
    run.verdict.checks.forEach((c, i) => {
      let key = c.about || c.name;
      while (checks.has(key)) key += " (again)";
      if (!keys.includes(key)) keys.push(key);
      checks.set(key, [c, `/checks/${i}`]);
    });
    return checks;
  });
  const cell = (i, key) => {
    const [check, at] = of[i].get(key) || [];
    if (!check) return "not asked";
    return el("span", {"data-run": "ab"[i]}, el("span", {class: check.result}, kSigns[check.result] + " "),
              field(runs[i].verdict, at + "/measured"));
  };
  const rows = keys.map((key) => {
    const [x, y] = [0, 1].map((i) => (of[i].get(key) || [{}])[0]);
    const any = x.name ? x : y;
    const changed = x.result !== y.result;
    return [changed ? el("span", {class: "differs"}, prose(key)) : prose(key), cell(0, key), cell(1, key),
            x.name && y.name ? difference(x.measured, y.measured) : "", plain(any.bound), unitOf(any)];
  });
  section("Checks", wideTable(["check", "A", "B", "difference", "bound", "unit"], rows, [1, 2, 3, 4], true),
          note("In bold: the two results differ."));
}

function compareFaults(runs) {
  if (!runs.some((run) => run.verdict.faults.length)) return;
  const rows = runs.flatMap((run, i) => run.verdict.faults.map((f, n) => ["AB"[i], prose(f.fault),
      nsField(run.verdict, `/faults/${n}/at_ns`, "0"), nsField(run.verdict, `/faults/${n}/detected_ns`, "at once"),
      nsField(run.verdict, `/faults/${n}/recovered_ns`, "no dip")]));
  section("Faults", wideTable(["", "fault", "at", "detected after", "recovered after"], rows, [2, 3, 4], true));
}
