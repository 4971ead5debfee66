// What every section of the page uses, beside page/common.js. Every number of the verdict stands in an element with
// data-json (its JSON pointer) and data-value, so that a test can hold the page against verdict.json. Text from
// the run is only ever set as text.
// One of the parts of the page's script: they are put into one function, behind page/common.js and in the order
// common, matrix, windows, jobs, report, compare, transports, main (report.html).

const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const charts = [];    // every dygraph
const shown = [];     // those over fabric time, which zoom together
const canvases = [];  // drawn by hand
const redraws = [];   // what to do when the colours change
let sync = null;

// ---- small things ------------------------------------------------------------------------------

const section = (title, ...children) => {
  const s = el("section", {"aria-label": title}, el("h2", {}, title), children);
  page.append(s);
  return s;
};
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/// The page's data are in microseconds, but for what the verdict has in nanoseconds.
const timeUs = (us) => time(isNone(us) ? us : us * 1e6);
const plain = (value) => isNone(value) ? "–" :
    typeof value === "number" ? trimmed(value, 3) : String(value);
const resultWord = (result) => (kSigns[result] || "") + " " + result;

/// The value at a JSON pointer of a verdict, as an element that carries its pointer.
function field(verdict, pointer, show = plain) {
  const value = pointer.split("/").slice(1).reduce((v, key) => v === null || v === undefined ? v : v[key], verdict);
  return el("span", {"data-json": pointer, "data-value": JSON.stringify(value === undefined ? null : value)},
            show(value));
}
const nsField = (verdict, pointer, zero) =>
    field(verdict, pointer, (ns) => ns === 0 && zero ? zero : timeUs(isNone(ns) ? ns : ns / 1e3));

/// A table that scrolls where it is wider than the page.
const wideTable = (...words) => el("div", {class: "wide"}, table(...words));

/// A command to copy; `short` is what is seen of it where there is little room.
function command(text, short) {
  const code = el("code", {title: text}, short || text);
  const copy = el("button", {type: "button", title: "copy this command", onclick: () => {
    const done = () => { copy.textContent = "copied"; setTimeout(() => { copy.textContent = "copy"; }, 1500); };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => getSelection().selectAllChildren(code));
    else getSelection().selectAllChildren(code);
  }}, "copy");
  return el("span", {class: "command"}, code, " ", copy);
}
/// What prints a packet's life; the hosts, because a number of a queue pair is not a name.
const traceCommand = (run, p) => command(`mrclab trace --qp ${p.qp} --psn ${p.psn} --host ${p.source}` +
    ` --to ${p.destination} ${shellWord(run.run)}`, "trace");

// ---- charts ------------------------------------------------------------------------------------

const kStrokes = [null, [7, 3], [2, 2], [9, 3, 2, 3]];
function colours(count) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  // Neighbours differ in lightness as well as in hue.
  return Array.from({length: count}, (_, i) => {
    const light = (dark ? [74, 62, 68, 82] : [38, 58, 46, 30])[i % 4];
    return `hsl(${Math.round(210 + i * 360 / Math.max(count, 3)) % 360}, 62%, ${light}%)`;
  });
}

/// Shades where faults were on, with lines at both edges and hatching.
function shade(regions) {
  return (canvas, area, g) => {
    canvas.save();
    canvas.beginPath();
    canvas.rect(area.x, area.y, area.w, area.h);
    canvas.clip();
    const tint = css("--shade");
    for (const region of regions) {
      const left = g.toDomXCoord(region.from_us), right = Math.max(g.toDomXCoord(region.until_us), left + 2);
      canvas.fillStyle = `rgba(${tint}, ${Math.max(0.14 / Math.sqrt(regions.length), 0.04)})`;
      canvas.fillRect(left, area.y, right - left, area.h);
      canvas.strokeStyle = `rgba(${tint}, 0.55)`;
      canvas.lineWidth = 1;
      canvas.beginPath();
      for (const x of [left, right]) {
        canvas.moveTo(x, area.y);
        canvas.lineTo(x, area.y + area.h);
      }
      if (regions.length <= 3) {
        for (let x = Math.max(left, -area.h) - area.h; x < Math.min(right, area.x + area.w); x += 14) {
          const a = Math.max(x, left), b = Math.min(x + area.h, right);
          if (b <= a) continue;
          canvas.moveTo(a, area.y + area.h - (a - x));
          canvas.lineTo(b, area.y + area.h - (b - x));
        }
      }
      canvas.globalAlpha = 0.45;
      canvas.stroke();
      canvas.globalAlpha = 1;
    }
    canvas.restore();
  };
}

/// A chart over fabric time. `rows` are [us, value...]; `names` of the values.
function chart(parent, title, unit, names, rows, options) {
  const box = el("div", {class: "chart" + (options.low ? " low" : ""), role: "img",
                         "aria-label": title + " over fabric time; the numbers are in the tables"});
  const legend = el("div", {class: "legend"});
  parent.append(el("h3", {}, title + ", " + unit), box, legend);
  const values = names.length;
  const g = new Dygraph(box, rows, {
    labels: ["µs"].concat(names), labelsDiv: legend, legend: "always",
    colors: options.colours || colours(values),
    series: Object.fromEntries(names.map((n, i) => [n, {strokePattern: options.stacked ? null : kStrokes[i % 4]}])),
    stackedGraph: !!options.stacked, stackedGraphNaNFill: "none", fillGraph: !!options.fill,
    fillAlpha: options.stacked ? 0.75 : 0.25, stepPlot: !!options.step, strokeWidth: options.stacked ? 0.8 : 1.6,
    connectSeparatedPoints: true,
    dateWindow: [0, options.end], includeZero: options.zero !== false, axisLineColor: css("--line"),
    gridLineColor: css("--line"), highlightCircleSize: 3, rightGap: 12,
    underlayCallback: (canvas, area, g) => {
      shade(options.regions || [])(canvas, area, g);
      if (options.underlay) options.underlay(canvas, area, g);
    },
    axes: {x: {axisLabelFormatter: (us) => us === 0 ? "0" : trimmed(us, 3) + " µs", axisLabelWidth: 70,
               pixelsPerLabel: 84, valueFormatter: timeUs},
           y: {axisLabelWidth: 52, pixelsPerLabel: options.low ? 24 : 34, valueFormatter: (v) => trimmed(v, 2)}},
  });
  charts.push(g);
  if (options.together !== false) shown.push(g);
  return g;
}
function synchronize() {
  if (sync) sync.detach();
  sync = shown.length > 1 ? Dygraph.synchronize(shown, {zoom: true, selection: true, range: false}) : null;
}
function zoom(from, until) {
  if (!shown.length) return;
  const margin = Math.max((until - from) * 0.15, 1);
  shown[0].updateOptions({dateWindow: [Math.max(from - margin, 0), until + margin]});
  document.getElementById("timeline").scrollIntoView({behavior: "smooth"});
}
const middles = (series) => {
  const count = series.planes.length ? series.planes[0].length : 0;
  return Array.from({length: count}, (_, i) => (i + 0.5) * series.bin_us);
};
