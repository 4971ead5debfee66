// Jobs: their steps over time, what each rank did, and a table of the steps.
// One of the parts of the page's script: they are put into one function, in the order common,
// matrix, windows, jobs, report, compare, transports, main (report.html).

const percentOf = (part, whole) => whole > 0 ? trimmed(100 * part / whole, 1) + " %" : "–";

/// A step's three parts over fabric time. Steps follow one another; an open one has no parts yet.
function stepRows(steps) {
  const rows = [];
  for (const s of steps) {
    if (s.end_ns === null) continue;
    const parts = [s.compute_ns, s.exposed_ns, s.bubble_ns].map((ns) => ns / 1e3);
    if (rows.length) rows.pop();  // the end of the one before
    rows.push([s.begin_ns / 1e3, ...parts], [s.end_ns / 1e3, ...parts]);
  }
  return rows;
}

/// A lane a rank: computing above, exchanges below it, each group in its colour.
function drawLanes(canvas, job, ranks, width) {
  const label = 72, lane = ranks.length > 32 ? 8 : 16, scale = window.devicePixelRatio || 1;
  const size = [Math.max(width, 320), lane * ranks.length + 18];
  canvas.width = size[0] * scale;
  canvas.height = size[1] * scale;
  canvas.style.width = size[0] + "px";
  canvas.style.height = size[1] + "px";
  const ctx = canvas.getContext("2d");
  ctx.scale(scale, scale);
  ctx.textBaseline = "middle";
  ctx.font = Math.min(lane - 1, 11) + "px system-ui, sans-serif";
  ctx.fillStyle = css("--soft");
  ranks.forEach((host, rank) => ctx.fillText(`${rank} ${host}`, 0, rank * lane + lane / 2, label - 4));
  const from = Math.min(...job.ops.map((op) => op[2])), until = Math.max(...job.ops.map((op) => op[3]), from + 1);
  const x = (us) => label + (us - from) / (until - from) * (size[0] - label);
  ctx.fillText(timeUs(from), label, size[1] - 7);
  ctx.textAlign = "right";
  ctx.fillText(timeUs(until), size[0], size[1] - 7);
  const tints = colours(job.groups.length), half = lane / 2 - 0.5;
  for (const [rank, , begin, stop, group] of job.ops) {
    if (group >= tints.length) continue;
    ctx.fillStyle = tints[group];
    ctx.fillRect(x(begin), rank * lane + (group ? half : 0), Math.max(x(stop) - x(begin), 0.5), half);
  }
}

function lanes(box, job, ranks) {
  const canvas = el("canvas", {role: "img", "aria-label": "what each rank did over fabric time; the steps are in the table"});
  const tints = () => colours(job.groups.length);
  const keys = el("div", {class: "controls"}, job.groups.map((word, i) => el("span", {class: "key"},
      el("i", {style: `background:${tints()[i]}`}), word)));
  const holder = el("div", {class: "scroll"}, canvas);
  box.append(el("h3", {}, "What each rank did"), keys, holder);
  const draw = () => drawLanes(canvas, job, ranks, holder.clientWidth - 24);  // the page may yet get a bar
  draw();
  canvases.push(canvas);
  redraws.push(draw);
  if (job.left_out) box.append(note(`${job.left_out} more operations are not drawn.`));
}

function jobSteps(v, place) {
  const job = v.jobs[place], at = `/jobs/${place}/steps/`;
  return job.steps.map((s, i) => {
    const took = s.end_ns === null ? null : s.end_ns - s.begin_ns;
    return [field(v, `${at}${i}/n`), span(s.begin_ns / 1e3, (s.end_ns ?? s.begin_ns) / 1e3), took === null ? "open" : timeUs(took / 1e3),
      took === null || !s.ideal_ns ? "–" : percentOf(took, s.ideal_ns),
      field(v, `${at}${i}/compute_ns`, (ns) => percentOf(ns, took)), field(v, `${at}${i}/exposed_ns`, (ns) => percentOf(ns, took)),
      field(v, `${at}${i}/bubble_ns`, (ns) => percentOf(ns, took)),
      job.ranks[s.slowest_rank] ?? "–", s.waited_for === null ? "–" : `${job.ranks[s.waited_for]} (${timeUs(s.waited_ns / 1e3)})`,
      field(v, `${at}${i}/lost`), s.faults.length ? s.faults.map((f) => "fault " + (f + 1)).join(", ") : ""];
  });
}

/// The requests of a service: when each had its first token, against the faults, and a table of those that took longest.
function service(v, place, run) {
  const job = v.jobs[place], s = job.serve, at = `/jobs/${place}/serve/`;
  const end = run.picture ? run.picture.end_us : Math.max(0, ...s.requests.map((r) => (r.last_token_ns ?? r.arrival_ns) / 1e3));
  const box = section("Service " + job.name, el("p", {}, field(v, `/jobs/${place}/text`, prose), "."));
  const time = (path, about) => tile(field(v, at + path, (ns) => timeUs(ns / 1e3)), about);
  box.append(el("div", {class: "tiles"},
      s.ttft ? time("ttft/p50_ns", "to the first token, median") : null, s.ttft ? time("ttft/p99_ns", "to the first token, p99") : null,
      s.fabric_ttft ? time("fabric_ttft/p99_ns", "of it the fabric's, p99") : null,
      s.tpot ? time("tpot/p99_ns", "each token behind it, p99") : null, s.fabric_tpot ? time("fabric_tpot/p99_ns", "of it the fabric's, p99") : null,
      s.objective ? tile(percentOf(s.objective.within, s.objective.requests), "within the objective") : null));
  const begun = s.requests.filter((r) => r.first_token_ns !== null);
  if (begun.length) {
    chart(box, "Time to the first token, by arrival", "µs", ["whole", "of the fabric"],
          begun.map((r) => [r.arrival_ns / 1e3, (r.first_token_ns - r.arrival_ns) / 1e3, r.fabric_ttft_ns / 1e3]),
          {end, regions: run.picture ? run.picture.regions : []});
  }
  const drawn = run.picture && (run.picture.jobs || [])[place];
  if (drawn && drawn.ops.length) lanes(box, drawn, job.ranks);
  if (s.messages.length) {
    box.append(el("h3", {}, "Messages"), wideTable(["messages", "count", "open", "p50", "p99", "p99.9", "longest"], s.messages.map((m, i) =>
        [m.group, field(v, `${at}messages/${i}/count`), field(v, `${at}messages/${i}/open`)].concat(["p50_ns", "p99_ns", "p999_ns", "max_ns"].map((key) =>
            field(v, `${at}messages/${i}/${key}`, (ns) => timeUs(ns / 1e3))))), [1, 2, 3, 4, 5, 6]));
  }
  const waited = (r) => r.first_token_ns === null ? Infinity : r.first_token_ns - r.arrival_ns;
  const slowest = s.requests.map((r) => r).sort((a, b) => waited(b) - waited(a) || a.n - b.n).slice(0, 24);
  const cell = (n, key) => field(v, `${at}requests/${n}/${key}`, (ns) => ns === null ? "open" : timeUs(ns / 1e3));
  box.append(el("h3", {}, "Requests that waited longest"), el("div", {class: slowest.length > 12 ? "scroll" : null}, wideTable(
      ["request", "arrived", "prompt", "answer", "prefill", "decode", "to the first token", "of the fabric", "a token behind it", "tokens"],
      slowest.map((r) => [field(v, `${at}requests/${r.n}/n`), timeUs(r.arrival_ns / 1e3), `${r.input}`, `${r.output}`, job.ranks[r.prefill_rank],
          job.ranks[r.decode_rank], r.first_token_ns === null ? "open" : timeUs(waited(r) / 1e3), cell(r.n, "fabric_ttft_ns"),
          r.last_token_ns === null ? "open" : r.output > 1 ? timeUs((r.last_token_ns - r.first_token_ns) / (r.output - 1) / 1e3) : "–",
          field(v, `${at}requests/${r.n}/tokens`)]), [0, 1, 2, 3, 6, 7, 8, 9], true)));
  box.append(note("From a request's arrival to the first token that a decode rank makes for it. The fabric's part: the cache's way behind the end of " +
      "the prompt, and what an iteration did not compute." + (s.compression > 1 ? ` The service takes ${trimmed(s.compression, 1)} times as long as this run.` : "") +
      (s.requests_left_out ? ` ${s.requests_left_out} more requests are not in the file.` : "")));
}

function jobs(run) {
  const v = run.verdict, list = v.jobs || [];
  list.forEach((job, place) => {
    if (job.serve) return service(v, place, run);
    const t = job.step_time, end = run.picture ? run.picture.end_us : Math.max(0, ...job.steps.map((s) => (s.end_ns ?? s.begin_ns) / 1e3));
    const box = section("Job " + job.name, el("p", {}, field(v, `/jobs/${place}/text`, prose), "."));
    (job.turns || []).forEach((turn, i) => box.append(el("p", {}, field(v, `/jobs/${place}/turns/${i}/text`, prose), ".")));
    if (t) {
      box.append(el("div", {class: "tiles"},
          tile(field(v, `/jobs/${place}/step_time/mean_ns`, (ns) => timeUs(ns / 1e3)), `mean of ${t.steps} steps from ${t.first}`),
          tile(field(v, `/jobs/${place}/step_time/p99_ns`, (ns) => timeUs(ns / 1e3)), "99th percentile"),
          t.ideal_ns ? tile(percentOf(t.mean_ns, t.ideal_ns), "of the roofline") : null,
          tile(percentOf(t.compute_ns, t.mean_ns), "computing"), tile(percentOf(t.exposed_ns, t.mean_ns), "exposed communication"),
          tile(percentOf(t.bubble_ns, t.mean_ns), "bubble")));
    }
    if (job.steps.some((s) => s.end_ns !== null)) {
      chart(box, "Time of each step", "µs", ["computing", "exposed", "bubble"], stepRows(job.steps),
            {stacked: true, fill: true, step: true, end, regions: run.picture ? run.picture.regions : []});
    }
    const drawn = run.picture && (run.picture.jobs || [])[place];
    if (drawn && drawn.ops.length) lanes(box, drawn, job.ranks);
    const all = job.path.reduce((sum, part) => sum + part.ns, 0);
    if (all) box.append(el("p", {}, "Its end waited for: " + job.path.map((part) => `${part.what} ${percentOf(part.ns, all)}`).join(", ") + "."));
    if (job.steps.length) {
      box.append(el("div", {class: job.steps.length > 12 ? "scroll" : null}, wideTable(["step", "from – to", "took", "of roofline", "computing",
          "exposed", "bubble", "slowest", "waited for", "lost", "faults"], jobSteps(v, place), [0, 2, 3, 4, 5, 6, 9], true)));
    }
    (job.notes || []).forEach((text, i) => box.append(el("p", {}, "Note: ", field(v, `/jobs/${place}/notes/${i}`, prose), ".")));
    box.append(note("Computing, exposed and bubble are means over the ranks. Exposed: a rank computed nothing while data of its own was " +
        "under way. Bubble: it waited for others, or had nothing to do." + (job.steps_left_out ? ` ${job.steps_left_out} more steps are not in the file.` : "")));
  });
}
