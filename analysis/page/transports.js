// One scenario under several transports.
// One of the parts of the page's script: they are put into one function, in the order common,
// matrix, windows, report, compare, transports, main (report.html).

function transportsPage(runs) {
  const first = runs[0];
  document.title = `${first.verdict.scenario} under ${runs.length} transports`;
  page.replaceChildren(el("header", {},
      el("h1", {}, `${first.verdict.scenario} under ${runs.length} transports`),
      el("p", {class: "sub"}, "The same fabric, workload, faults and seed ", plain(first.verdict.seed), ".")));
  transportVerdicts(runs);
  transportCurves(runs);
  section("What happened", ...runs.slice(1).map((run) => el("p", {}, el("b", {}, run.transport + " "), prose(run.said))));
  section("Their runs", table(["transport", "run"], runs.map((run) => [run.transport, el("code", {}, run.run)]), []));
}

function transportVerdicts(runs) {
  const columns = [
    ["goodput", "/metrics/goodput_bps", rate], ["delivered", "/metrics/delivered", plain],
    ["sent again", "/metrics/retransmitted", plain], ["lost", "/metrics/lost", plain],
    ["trimmed", "/metrics/trimmed", plain]];
  const rows = runs.map((run) => [run.transport,
      ...columns.map(([, pointer, show]) => el("span", {"data-run": run.transport}, field(run.verdict, pointer, show))),
      el("span", {class: run.verdict.result}, resultWord(run.verdict.result))]);
  section("Verdicts", table(["transport", ...columns.map(([label]) => label), "verdict"], rows, [1, 2, 3, 4, 5], true),
          note("The bounds of the checks are those of the first transport."));
}

function transportCurves(runs) {
  if (!runs.every((run) => run.picture)) return;
  const palette = ["--accent", "--bad", "--pass", "--skip", "--port", "--denied"].map(css);
  const drawn = runs.slice(0, palette.length);
  overlayCharts(drawn, drawn.map((run) => run.transport), palette.slice(0, drawn.length)).append(
      note("Hatched: the faults. Intervals: " + time(runs[0].picture.series.bin_us) + "."));
}
