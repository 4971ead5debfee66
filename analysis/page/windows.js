// The windows that hosts reported: a flow at a time, with the quadrants as a band and a mark at each cut.
// One of the parts of the page's script: they are put into one function, in the order common,
// matrix, windows, jobs, report, compare, transports, main (report.html).

const kQuadrantText = {clear: "no mark, delay below target", late: "no mark, delay above target",
  marked: "marked, delay below target", marked_late: "marked, delay above target"};
const kCauseText = {marked: "marks", delay: "delay", trimmed: "trims in the fabric", trimmed_last_hop: "trims of the last hop",
  lost: "losses", penalty: "the receiver's penalty", refused: "the receiver's refusals", quick_adapt: "quick adapt",
  ports: "ports lost", base_rtt: "a lower base RTT"};
const kQuadrantTints = ["--good", "--skip", "--port", "--bad"];
const quadrantName = (word) => word.replace("_", ", ");

/// The band of quadrants below the lines, and a triangle where the window was cut: as large as the share of
/// it that was taken, in the colour of the cause that took most.
function windowMarks(flowOf, causeTint) {
  const kBand = 9, kLeast = 2.5, kMost = 11;
  return (canvas, area, g) => {
    const points = flowOf().points;
    canvas.save();
    canvas.beginPath();
    canvas.rect(area.x, area.y, area.w, area.h);
    canvas.clip();
    points.forEach(([t, window, , , quadrant, cause, taken], i) => {
      const left = g.toDomXCoord(i ? points[i - 1][0] : t), right = g.toDomXCoord(t);
      if (quadrant >= 0) {
        canvas.fillStyle = css(kQuadrantTints[quadrant]);
        canvas.fillRect(left, area.y + area.h - kBand, Math.max(right - left, 1), kBand);
      }
      if (cause < 0) return;
      const size = Math.max(kMost * Math.sqrt(taken / (window + taken)), kLeast), top = g.toDomYCoord(window) - 5 - size;
      canvas.fillStyle = causeTint(cause);
      canvas.beginPath();
      canvas.moveTo(right - size, top);
      canvas.lineTo(right + size, top);
      canvas.lineTo(right, top + 1.6 * size);
      canvas.fill();
    });
    canvas.restore();
  };
}

function windows(run) {
  const w = run.picture && run.picture.windows;
  if (!w) return;
  const box = section("Windows, as hosts reported them");
  if (!w.heard || !w.flows.length) {
    box.append(note(w.heard ? "No host reported its window." : "Unknown: there are no events of the hosts."));
    return;
  }
  let flow = w.flows[0];
  const name = (f) => `${f.from} → ${f.to}`;
  const choice = el("select", {"aria-label": "flow"}, w.flows.map((f, i) => el("option", {value: i}, name(f))));
  box.append(el("div", {class: "controls"}, el("label", {}, "flow ", choice),
      el("span", {}, w.quadrants.map((word, i) => el("span", {class: "key"},
          el("i", {style: `background:var(${kQuadrantTints[i]})`}), quadrantName(word) + ": " + kQuadrantText[word])))));
  const end = run.picture.end_us, regions = run.picture.regions;
  const causeTint = (cause) => colours(w.causes.length)[cause];
  const sizes = () => flow.points.map((p) => [p[0], p[1], p[2]]);
  const delays = () => flow.points.map((p) => [p[0], p[3], flow.target_us]);
  const size = chart(box, "Window and in flight", "KiB", ["window", "in flight"], sizes(),
      {end, regions, colours: [css("--accent"), css("--soft")], underlay: windowMarks(() => flow, causeTint)});
  const delay = chart(box, "Queue delay, the longest", "µs", ["delay", "target"], delays(),
      {low: true, end, regions, colours: [css("--port"), css("--bad")]});
  const cuts = el("div");
  box.append(cuts);
  const tell = () => {
    const all = flow.cuts.reduce((sum, [, taken]) => sum + taken, 0);
    const rows = flow.cuts.map(([times, taken], i) => [i, times, taken]).filter(([, times]) => times > 0)
        .sort((a, b) => b[2] - a[2]).map(([cause, times, taken]) => [
            el("span", {class: "key"}, el("i", {style: "color:" + causeTint(cause)}, "▼"), kCauseText[w.causes[cause]]),
            String(times), trimmed(taken, 1) + " KiB",
            el("span", {class: "bar", style: `width:${Math.max(160 * taken / Math.max(all, 1e-9), 1)}px`})]);
    cuts.replaceChildren(el("h3", {}, `What cut the window of ${name(flow)}`),
        rows.length ? wideTable(["cause", "times", "taken", ""], rows, [1, 2]) : note(w.until_us === null ? "Nothing." : `Nothing up to ${timeUs(w.until_us)}.`));
  };
  choice.addEventListener("change", () => {
    flow = w.flows[Number(choice.value)];
    size.updateOptions({file: sizes()});
    delay.updateOptions({file: delays()});
    tell();
  });
  tell();
  const share = (f, i) => {
    const all = f.answers.reduce((sum, n) => sum + n, 0);
    return all ? trimmed(100 * f.answers[i] / all, 1) + " %" : "–";
  };
  box.append(el("h3", {}, "All of them"), el("div", {class: "scroll"}, wideTable(
      ["flow", "least", "median", "most", "in flight", "delay"].concat(w.quadrants.map(quadrantName), ["cut mostly by"]),
      w.flows.map((f) => [name(f), trimmed(f.least, 1), trimmed(f.median, 1), trimmed(f.most, 1), trimmed(f.in_flight, 1),
          timeUs(f.delay_us)].concat(w.quadrants.map((_, i) => share(f, i)), [f.mostly.replaceAll("_", " ") || "–"])),
      [1, 2, 3, 4, 5, 6, 7, 8, 9], true)),
      w.left_out ? note(`${w.left_out} flows that were cut less are left out: mrclab analyze has all.`) : "",
      w.until_us === null ? "" : note(`From ${timeUs(w.until_us)} on some are missing: more than a run keeps.`),
      note("No packet shows a window: these are the senders' own reports, about one in a base RTT, of a destination over " +
           "all its queue pairs and planes. Sizes in KiB; in flight and delay are medians; quadrants are shares of answers."));
}
