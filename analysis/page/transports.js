// One scenario under several transports.
// One of the parts of the page's script: they are put into one function, in the order common,
// matrix, windows, jobs, report, compare, transports, main (report.html).

/// Colours that people with any colour vision can distinguish (Okabe and Ito, Color Universal Design), darkened where
/// they would be faint on white; curves have strokes of their own beside them.
const kTransportColours = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b0609a", "#000000", "#b8860b", "#3a8fc4", "#7a7a7a"],
  dark: ["#56b4e9", "#ff8c42", "#2fd6a3", "#e39bc9", "#ffffff", "#f0e442", "#86aef9", "#a3adbd"]};
const transportColour = (i) => {
  const scheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return kTransportColours[scheme][i % kTransportColours[scheme].length];
};

function transportsPage({transports, headline}) {
  const first = transports[0];
  document.title = `${first.verdict.scenario} under ${transports.length} transports`;
  page.replaceChildren(el("header", {},
      el("h1", {}, `${first.verdict.scenario} under ${transports.length} transports`),
      el("p", {class: "sub"}, "The same fabric, workload, faults and seed ", plain(first.verdict.seed), ".")));
  transportHeadline(transports, headline);
  transportCurves(transports);
  transportVerdicts(transports);
  section("What happened", el("dl", {class: "transports"}, transports.flatMap((run) => [
      el("dt", {}, run.transport), el("dd", {}, el("p", {class: "note"}, run.about),
                                      run.said.map((sentence) => el("p", {}, prose(sentence))))])));
  section("Their runs", wideTable(["transport", "run"], transports.map((run) => [run.transport, el("code", {}, run.run)]), []));
}

/// The workload's completion time, or where it has none the goodput, as a bar for each transport.
function transportHeadline(runs, headline) {
  const timed = runs[0].verdict.metrics.work_ends;
  const most = Math.max(...runs.map((run) => run.share_of_first || 0), 100);
  const bars = runs.map((run, i) => {
    const share = run.share_of_first;
    const value = timed ? field(run.verdict, "/metrics/completed_ns", (ns) => ns === null ? "not done" : timeUs(ns / 1e3))
                        : field(run.verdict, "/metrics/goodput_bps", rate);
    const bar = el("span", {class: "bar"});
    bar.style.width = `${share === null ? 0 : 100 * share / most}%`;
    bar.style.background = transportColour(i);
    return [run.transport, el("span", {class: "track"}, bar), el("span", {"data-run": run.transport}, value),
            share === null ? "–" : trimmed(share, 1) + " %"];
  });
  const box = section(timed ? "Completion time" : "Goodput",
      wideTable(["transport", "", timed ? "time" : "goodput", "of " + runs[0].transport], bars, [2, 3]),
      note(prose(headline[0].toUpperCase() + headline.slice(1) + ".")));
  box.querySelector("table").classList.add("headline");
}

function transportVerdicts(runs) {
  const paused = (pauses) => pauses ? plain(pauses.ports) : "0";
  const columns = [
    ["retransmitted", "/metrics/retransmitted", plain], ["lost", "/metrics/lost", plain],
    ["trimmed", "/metrics/trimmed", plain], ["QPs failed", "/metrics/qps_failed", plain],
    ["ports paused", "/metrics/pauses", paused], ["CNPs", "/metrics/cnps", plain], ["NAKs", "/metrics/naks", plain],
    ["timeouts", "/metrics/timeouts", plain]]
    .filter(([, pointer]) => runs.some((run) => run.verdict.metrics[pointer.split("/")[2]]));
  const rows = runs.map((run) => [run.transport,
      ...columns.map(([, pointer, show]) => el("span", {"data-run": run.transport}, field(run.verdict, pointer, show))),
      run.checks_met]);
  section("In numbers", wideTable(["transport", ...columns.map(([label]) => label), "checks met"], rows,
                            columns.map((_, i) => i + 1).concat(columns.length + 1), true));
}

function transportCurves(runs) {
  if (!runs.every((run) => run.picture)) return;
  const key = el("p", {class: "legend"}, runs.map((run, i) => el("span", {class: "key"}, stroke(i), run.transport)));
  const box = overlayCharts(runs, runs.map((run) => run.transport), runs.map((_, i) => transportColour(i)));
  box.classList.add("transports");
  box.querySelector("h2").after(key);
  const faults = runs.some((run) => run.picture.regions.length) ? "Hatched: the faults. " : "";
  box.append(note(faults + "Intervals: " + timeUs(runs[0].picture.series.bin_us) + "."));
}

/// A piece of a curve as the charts draw it: who sees no colours goes by its strokes.
function stroke(i) {
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [name, value] of Object.entries({x1: 0, y1: 6, x2: 34, y2: 6, stroke: transportColour(i),
      "stroke-width": 2.4, "stroke-dasharray": (kStrokes[i % 4] || []).join(" ")})) line.setAttribute(name, value);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({width: 34, height: 12, "aria-hidden": "true"})) svg.setAttribute(name, value);
  svg.append(line);
  return svg;
}
