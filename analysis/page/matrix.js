// The matrix of entropy values: rows are queue pairs, columns paths, the colour and sign a state.
// One of the parts of the page's script: they are put into one function, in the order common,
// matrix, windows, jobs, report, compare, transports, main (report.html).

/// The states of entropy values at an instant, as the judge has them: a change is of one cell, for all reasons together.
class Matrix {
  constructor(evs) {
    this.evs = evs;
    this.good = evs.states.indexOf("good");
    this.skip = evs.states.indexOf("skip");
    this.values = evs.rows.map(() => new Array(evs.columns.length).fill(this.good));
  }
  has(row, column) { return this.evs.rows[row].local === this.evs.columns[column].path.endsWith("/-"); }
  apply([, row, column, state]) { this.values[row][column] = state; }
  at(us) {
    for (const change of this.evs.changes) {
      if (change[0] > us) break;
      this.apply(change);
    }
    return this;
  }
  state(row, column) { return this.values[row][column]; }
  each(call) {
    for (let r = 0; r < this.evs.rows.length; ++r) {
      for (let c = 0; c < this.evs.columns.length; ++c) if (this.has(r, c)) call(r, c, this.state(r, c));
    }
  }
  out() {
    let count = 0;
    this.each((r, c, state) => { if (state !== this.good && state !== this.skip) ++count; });
    return count;
  }
  all() {
    let count = 0;
    this.each(() => { ++count; });
    return count;
  }
}

const kStateLooks = {good: ["--good", ""], skip: ["--skip", "s"], assumed_bad: ["--bad", "×"], denied: ["--denied", "–"],
                     port_down: ["--port", "↓"], port_up: ["--good", ""], other: ["--skip", "?"]};

function drawMatrix(canvas, matrix, width) {
  const evs = matrix.evs, label = width < 560 ? 62 : 190, top = 20;
  const cell = Math.max(Math.min(Math.floor((width - label) / evs.columns.length), 22), 4);
  const height = evs.rows.length > 40 ? 11 : 16, scale = window.devicePixelRatio || 1;
  const size = [label + cell * evs.columns.length + 1, top + height * evs.rows.length + 1];
  canvas.width = size[0] * scale;
  canvas.height = size[1] * scale;
  canvas.style.width = size[0] + "px";
  canvas.style.height = size[1] + "px";
  const ctx = canvas.getContext("2d");
  ctx.scale(scale, scale);
  ctx.textBaseline = "middle";
  ctx.font = "11px system-ui, sans-serif";
  ctx.fillStyle = css("--soft");
  evs.columns.forEach((column, c) => {
    if (c > 0 && evs.columns[c - 1].plane === column.plane) return;
    ctx.fillText("p" + column.plane, label + c * cell + 2, top / 2);
  });
  evs.rows.forEach((row, r) => {
    const text = label < 100 ? `${row.host} → ${row.peer}` : `${row.host} → ${row.peer}  ${row.qp}`;
    ctx.fillText(text, 0, top + r * height + height / 2, label - 6);
  });
  const looks = evs.states.map((s) => [css(kStateLooks[s][0]), kStateLooks[s][1]]);
  ctx.textAlign = "center";
  matrix.each((r, c, state) => {
    const first = c > 0 && evs.columns[c - 1].plane !== evs.columns[c].plane ? 2 : 0;
    const x = label + c * cell + first, y = top + r * height;
    ctx.fillStyle = looks[state][0];
    ctx.fillRect(x, y, cell - 1 - first, height - 1);
    if (!looks[state][1] || cell < 8) return;
    ctx.fillStyle = css("--paper");
    ctx.font = "bold " + Math.min(height - 2, 12) + "px system-ui, sans-serif";
    ctx.fillText(looks[state][1], x + (cell - 1 - first) / 2, y + height / 2);
  });
}

function evMatrix(run) {
  const evs = run.picture && run.picture.evs;
  if (!evs) return;
  if (evs.one_path && !evs.rows.length) {
    section("Entropy values", note("None: these queue pairs are of RC, and each keeps to one path."));
    return;
  }
  if (!evs.heard || !evs.rows.length) {
    section("Entropy values", note("Unknown: the hosts' reports about them were not recorded."));
    return;
  }
  const end = run.picture.end_us, moments = [...new Set(evs.changes.map((c) => c[0]))];
  const canvas = el("canvas", {class: "matrix", role: "img", "aria-label": "states of entropy values; the text above lists those out of use"});
  const says = el("p", {class: "note", "aria-live": "polite"});
  const slider = el("input", {type: "range", min: 0, max: end, step: end / 1000, "aria-label": "instant"});
  const holder = el("div", {class: "scroll"}, canvas);
  let now = 0;
  function show(us) {
    now = Math.min(Math.max(us, 0), end);
    slider.value = now;
    const matrix = new Matrix(evs).at(now), out = [];
    matrix.each((r, c, state) => {
      if (state !== matrix.good && state !== matrix.skip) out.push(`${evs.rows[r].host} → ${evs.rows[r].peer} ${evs.columns[c].path}`);
    });
    const known = evs.shown_until_us === null || now < evs.shown_until_us;
    says.textContent = !known ? `Not known at ${timeUs(now)}: changes from ${timeUs(evs.shown_until_us)} on are not shown.` :
        `At ${timeUs(now)}: ${out.length} of ${matrix.all()} out of use` +
        (out.length ? ": " + out.slice(0, 4).join(", ") + (out.length > 4 ? ", …" : "") : "") + ".";
    drawMatrix(canvas, matrix, holder.clientWidth || page.clientWidth - 40);
  }
  const step = (forward) => () => {
    const next = forward ? moments.find((t) => t > now) : moments.findLast((t) => t < now);
    if (next !== undefined) show(next);
  };
  slider.addEventListener("input", () => show(Number(slider.value)));
  const used = new Set(["good"].concat(evs.changes.map((c) => evs.states[c[3]])));
  const keys = [...used].filter((s) => s !== "port_up").map((s) => el("span", {class: "key"},
      el("i", {style: `background:var(${kStateLooks[s][0]});color:var(--paper)`}, kStateLooks[s][1] || "\u00a0"), s.replace("_", " ")));
  section("Entropy values of each queue pair",
      el("div", {class: "controls"}, el("button", {type: "button", onclick: step(false)}, "‹ change before"), slider,
         el("button", {type: "button", onclick: step(true)}, "next change ›")), says, el("div", {}, keys), holder,
      note("A row is one end of a connection, a column a path: plane by plane, its T0 uplinks (“-”: both hosts on one T0)." +
           (evs.one_path ? ` ${evs.one_path} ends of RC, which keep to one path, have no row.` : "") +
           (evs.rows_left_out ? ` ${evs.rows_left_out} more ends are not shown.` : "") +
           (evs.left_out ? ` ${evs.left_out} later changes are not shown.` : "")));
  canvases.push(canvas);
  // Starts at the instant at which most is out of use.
  const counts = outOfUse(evs, evs.shown_until_us ?? end);
  show(counts.reduce((best, row) => row[1] > best[1] ? row : best, [0, 0])[0]);
  addEventListener("resize", () => show(now));
  redraws.push(() => show(now));
}

/// How many entropy values were out of use, as steps.
function outOfUse(evs, end) {
  const state = new Matrix(evs), rows = [[0, 0]];
  for (const change of evs.changes) {
    state.apply(change);
    if (rows[rows.length - 1][0] === change[0]) rows.pop();
    rows.push([change[0], state.out()]);
  }
  rows.push([end, rows[rows.length - 1][1]]);
  return rows;
}
