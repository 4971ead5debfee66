// The report of one run, section by section.
// One of the parts of the page's script: they are put into one function, in the order common,
// matrix, windows, jobs, report, compare, transports, main (report.html).

// ---- sections ----------------------------------------------------------------------------------

const tile = (value, label) => el("div", {}, el("b", {}, value), el("span", {class: "label"}, label));

function headline(run) {
  const v = run.verdict;
  document.title = v.scenario + ": " + v.result;
  const elided = v.payload === "elided" ? ", payload elided" : "";
  const without = v.without ? ", without " + v.without.join(", ") : "";
  page.replaceChildren(el("header", {}, el("h1", {},
      el("span", {class: "badge " + v.result, "data-json": "/result", "data-value": JSON.stringify(v.result)},
         resultWord(v.result)), v.scenario),
      el("p", {class: "sub"}, (run.picture ? "fabric " + run.picture.fabric + ", " : "") + "world " + v.world +
         elided + without + ", mrclab " + v.version + (v.commit ? " (commit " + v.commit + ", " + v.build_type + ")" : "")),
      origin(run.origin)));
  const t = v.timing;
  const mode = t.mode === "wall" ? "wall clock" : t.faithful ? "✓ FAITHFUL" : "✗ NOT FAITHFUL";
  const m = v.metrics;
  const share = m.baseline_bps ? trimmed(100 * m.goodput_bps / m.baseline_bps, 1) + " % of the baseline" : "goodput";
  if (v.faults.length) {
    page.append(el("p", {class: "cost"}, el("b", {}, "What it cost: "), v.cost ? field(v, "/cost/text", prose)
        : "not stated: this run was not held against the same run without its faults", "."));
  }
  const passed = v.checks.filter((c) => c.result === "pass").length;
  page.append(el("section", {class: "tiles", "aria-label": "verdict"},
      tile(`${passed} of ${v.checks.length}`, "checks passed"),
      tile(field(v, "/seed"), "seed"),
      run.picture ? tile(timeUs(run.picture.end_us), "of fabric time") : null,
      tile(mode, t.mode === "wall" ? "honest, but not exact" : "timing"),
      tile(field(v, "/metrics/goodput_bps", rate), m.baseline_bps ? "goodput, " + share : "goodput"),
      tile(field(v, "/metrics/baseline_bps", (bps) => isNone(bps) ? "none" : rate(bps)), m.no_baseline && v.faults.length ? "baseline: " + prose(m.no_baseline) : "baseline"),
      tile(field(v, "/metrics/delivered"), "packets delivered"),
      tile(field(v, "/metrics/lost"), "lost"),
      tile(field(v, "/metrics/trimmed"), "trimmed"),
      tile(field(v, "/metrics/retransmitted"), "retransmitted")));
  if (v.loss_timers) page.append(el("p", {}, "Losses were found by ", field(v, "/loss_timers", prose), "."));
  notPassed(run);
}

/// The scenario's description, when it was run and by which command.
function origin(from) {
  if (!from) return null;
  return el("div", {class: "origin"}, from.about ? el("p", {}, prose(from.about)) : null,
      from.command ? el("p", {}, el("code", {}, from.command), from.started ? ", " + from.started : "") : null,
      from.drawing ? el("details", {}, el("summary", {}, "The fabric"), drawing(from.drawing)) : null);
}

/// The element of a drawing that mrclab made (plan/fabric_drawing.h), which therefore holds no script. It keeps its
/// own size and scrolls, because the names of eight planes are too small to read in the width of a page.
function drawing(text) {
  const svg = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
  svg.style.width = svg.viewBox.baseVal.width + "px";
  return el("div", {class: "fabric", tabindex: 0}, svg);
}

/// What kept the run from passing, before anything else.
function notPassed(run) {
  const v = run.verdict;
  const items = v.checks.map((c, i) => [c, i]).filter(([c]) => c.result !== "pass").map(([c, i]) =>
      el("li", {}, el("span", {class: c.result}, resultWord(c.result)), " ",
         el("a", {href: "#check-" + i}, prose(c.about || c.name)), c.note ? ": " + prose(c.note) : ""));
  if (v.timing.mode !== "wall" && !v.timing.faithful) {
    items.push(el("li", {}, el("span", {class: "inconclusive"}, resultWord("inconclusive")), " ",
        "the lab was not faithful", v.timing.reasons.length ? ": " + prose(v.timing.reasons[0]) : ""));
  }
  if (items.length) section(v.result === "fail" ? "Why it failed" : "What is not settled", el("ul", {class: "why"}, items));
}

/// What was broken, by packets alone.
function blame(run) {
  const list = run.verdict.blame || [];
  if (!list.length && !run.verdict.faults.length && !run.verdict.losses_not_told) return;
  const kMost = 50;
  const rows = list.slice(0, kMost).map((b, i) => {
    const at = `/blame/${i}`;
    return [el("div", {}, b.kind + " " + b.component, b.or_else.length ? el("div", {class: "note"}, "or, with the same evidence: " +
                b.or_else.join(", ")) : null),
      b.symptom, span(b.from_ns / 1e3, b.until_ns / 1e3),
      el("span", {class: "word"}, field(run.verdict, at + "/bad"), " of ", field(run.verdict, at + "/of")),
      el("div", {}, prose(b.evidence) + ".", b.noticed ? el("div", {class: "note"}, prose(b.noticed)) : null)];
  });
  section("What was broken, by the packets alone",
      rows.length ? wideTable(["component", "symptom", "between", "packets", "evidence"], rows, [], true) : null,
      note(rows.length ? "Found without looking at the fault schedule: from captures and the hosts' events." :
           run.verdict.no_blame ? "Nothing is blamed, as evidence is missing: " + prose(run.verdict.no_blame) + "." :
           run.verdict.losses_not_told ? null :
           "The packets blame nothing: no loss, or too few and too scattered losses to find the cause."),
      run.verdict.losses_not_told ? note(prose(run.verdict.losses_not_told) + ".") : null,
      list.length > kMost ? note(`${list.length - kMost} more are in verdict.json.`) : null);
}

/// What a mapper's witness named: "found" by probes, "by_events" by what hosts report of their paths.
const namedParts = (run, witness, noun) => run.verdict.mapper[witness].map((b, i) => {
  const at = `/mapper/${witness}/${i}`;
  return [el("div", {}, b.kind + " " + b.component, b.or_else.length ? el("div", {class: "note"}, `or, with the same ${noun}: ` +
              b.or_else.join(", ")) : null),
    b.symptom, span(b.from_ns / 1e3, b.until_ns / 1e3), timeUs(b.named_ns / 1e3),
    el("span", {class: "word"}, field(run.verdict, at + "/bad"), " of ", field(run.verdict, at + "/of")),
    prose(b.evidence) + "."];
});

/// What was broken, by a mapper's probes alone, and by hosts' reports of their paths alone.
function mapper(run) {
  const m = run.verdict.mapper;
  if (!m) return;
  const rows = namedParts(run, "found", "probes");
  section("What was broken, by the mapper's probes alone",
      rows.length ? wideTable(["component", "symptom", "between", "named at", "probes", "evidence"], rows, [], true) : null,
      note(`Every link is probed once in ${timeUs(m.period_ns / 1e3)}: ${m.sent} probes, ${m.lost} lost, ${m.late} late; ` +
           `${m.probed} of ${m.links} links probed; at most ${(m.share * 100).toPrecision(2)} % of a port. ` +
           (m.none ? "Nothing is named, as evidence is missing: " + prose(m.none) + "." :
            rows.length ? "" : "The probes name nothing.")));
  if (!m.ev_events) return;
  const told = namedParts(run, "by_events", "paths");
  section("What was broken, by what hosts report of their paths alone",
      told.length ? wideTable(["component", "symptom", "between", "named at", "paths", "evidence"], told, [], true) : null,
      note(`Hosts assumed ${m.ev_events} entropy values bad` + (told.length ? "." : ": too few in one place to name a part.")));
}

/// What hosts left out because of it.
function denylist(run) {
  const d = run.verdict.denylist;
  if (!d) return;
  const at = (ns) => ns < 0 ? "-" : timeUs(ns / 1e3);
  const rows = d.spans.map((s) => [s.part, at(s.at_ns), at(s.reached_ns), `${s.hosts} of ${d.hosts}`, at(s.allowed_ns),
                                   prose(s.why) + "."]);
  section("What was denied",
      rows.length ? wideTable(["part", "denied at", "at the last host", "hosts", "allowed again", "why"], rows, [], true) : null,
      note(`${d.collector} decides; ${d.lists} lists.` + (rows.length ? "" : " Nothing was denied.")),
      ...d.capped.map((c) => note("Not denied: " + prose(c.part) + ", " + prose(c.why) + ".")));
}

/// A stretch of time, to be looked at in the charts.
const span = (from, until) => el("button", {type: "button", class: "span", title: "show this in the charts",
    onclick: () => zoom(from, until)}, `${timeUs(from)} – ${timeUs(until)}`);

function story(run) {
  const p = run.picture;
  if (!p) return;
  const known = new Set(p.packets.rows.map((r) => r.qp + "-" + r.psn));
  const lines = p.story.map((line) => {
    const links = line.packets.filter(([qp, psn]) => known.has(qp + "-" + psn)).map(([qp, psn]) =>
        el("a", {href: "#packet-" + qp + "-" + psn}, "PSN " + psn + " of QP " + qp));
    return el("li", {}, el("span", {class: "when"}, timeUs(line.t_us)), el("span", {class: "kind"}, line.kind),
              el("span", {class: "text"}, prose(line.text), links.length ? el("span", {class: "links"}, " See ", links) : null));
  });
  const failed = run.verdict.checks.filter((c) => c.result !== "pass").map((c) => prose(c.about || c.name));
  lines.push(el("li", {}, el("span", {class: "when"}, timeUs(p.end_us)), el("span", {class: "kind"}, "ended"),
      el("span", {class: "text"}, "The run ended: " + run.verdict.result + "." +
         (failed.length ? " Not passed: " + failed.join("; ") + "." : ""))));
  const kMany = 30;
  section("What happened", el("div", {class: lines.length > kMany ? "scroll" : null}, el("ol", {class: "story"}, lines)));
}

/// Hosts that received next to nothing, and for whom they waited, by the packets.
function waits(run) {
  const list = run.picture && run.picture.waits;
  if (!list || !list.length) return;
  const rows = list.map((w) => [span(w.from_us, w.until_us), w.host, w.chain.join(" ← "), prose(w.text) + "."]);
  section("Who waited for whom", el("div", {class: rows.length > 12 ? "scroll" : null},
      wideTable(["from – to", "host", "waited for", "at the beginning"], rows, [], true)),
      note("By the packets alone, looked at twice in each base RTT: hosts that received less than a tenth of their line rate, and " +
           "waited for packets that did not arrive at once."));
}

function timeline(run) {
  const p = run.picture;
  if (!p) return;
  const s = p.series, at = middles(s), end = p.end_us, regions = p.regions;
  const box = section("Time line");
  box.id = "timeline";
  const planes = s.planes.map((_, i) => "plane " + i);
  const stack = el("input", {type: "checkbox", checked: true});
  const counted = !s.unseen || s.planes.some((bins) => bins.some((n) => n > 0));
  box.append(el("div", {class: "controls"},
      counted ? el("label", {}, stack, " planes on top of each other") : [],
      el("button", {type: "button", onclick: () => shown[0]?.updateOptions({dateWindow: [0, end]})}, "whole run"),
      regions.slice(0, 12).map((r) => el("button", {type: "button", title: prose(r.label),
          onclick: () => zoom(r.from_us, r.until_us)}, "fault " + (r.fault + 1)))));
  const rows = at.map((t, i) => [t].concat(s.planes.map((bins) => bins[i])));
  const nothing = (title, text) => box.append(el("h3", {}, title), note(text));
  if (counted) {
    const goodput = chart(box, "Goodput of each plane", "Gb/s", planes, rows, {stacked: true, fill: true, end, regions});
    stack.addEventListener("change", () => goodput.updateOptions({
      stackedGraph: stack.checked, fillGraph: stack.checked, strokeWidth: stack.checked ? 0.8 : 1.6,
      series: Object.fromEntries(planes.map((n, i) => [n, {strokePattern: stack.checked ? null : kStrokes[i % 4]}]))}));
  } else {
    nothing("Goodput of each plane", "Unknown, as evidence is missing: " + prose(s.unseen) + ".");
  }
  if ([s.lost, s.trimmed, s.again].some((bins) => bins.some((n) => n > 0))) {
    chart(box, "Packets lost, trimmed and retransmitted", "per " + timeUs(s.bin_us), ["lost", "trimmed", "retransmitted"],
          at.map((t, i) => [t, s.lost[i], s.trimmed[i], s.again[i]]),
          {low: true, end, regions, colours: [css("--bad"), css("--skip"), css("--accent")]});
  } else {
    nothing("Packets lost, trimmed and retransmitted", s.unseen ? "None was seen, but evidence is missing: " + prose(s.unseen) + "." : "None.");
  }
  if (s.queues.kib) {
    chart(box, "Deepest data queue of each plane", "KiB", planes,
          at.map((t, i) => [t].concat(s.queues.kib.map((bins) => bins[i]))), {low: true, end, regions});
    const deep = s.queues.deep || [], names = deep.map((q) => q.port + (q.roce ? " RoCE" : ""));
    const ofPorts = (title, unit, of) => {
      if (!deep.some((q) => of(q).some((n) => n > 0))) return;
      chart(box, title, unit, names, at.map((t, i) => [t].concat(deep.map((q) => of(q)[i]))), {low: true, end, regions});
    };
    ofPorts("Deepest queues, by port", "KiB", (q) => q.kib);
    ofPorts("Frames trimmed at these ports", "per " + timeUs(s.bin_us), (q) => q.trimmed);
    ofPorts("Frames that left these ports with a mark of theirs", "per " + timeUs(s.bin_us), (q) => q.marked);
  } else {
    nothing("Queue depths", "Unknown: " + s.queues.unknown + ".");
  }
  if (p.evs.heard && p.evs.rows.length && !outOfUse(p.evs, p.evs.shown_until_us ?? end).some(([, count]) => count > 0)) {
    nothing("Entropy values out of use", p.evs.unseen ? "None was reported, but reports are missing: " + prose(p.evs.unseen) + "." :
        `None of ${new Matrix(p.evs).all()} ever was.` + (p.evs.rows_left_out ? ` ${p.evs.rows_left_out} queue pairs are not in it.` : ""));
  } else if (p.evs.heard && p.evs.rows.length) {
    chart(box, "Entropy values out of use", `of ${new Matrix(p.evs).all()}`, ["out of use"], outOfUse(p.evs, p.evs.shown_until_us ?? end),
          {low: true, step: true, fill: true, end, regions, colours: [css("--port")]});
  }
  box.append(note(`Goodput is payload of first deliveries at the receivers, read from the captures, in ` +
      `intervals of ${timeUs(s.bin_us)}. Hatched: from a fault's start until it was undone. ` +
      `Drag over a chart to zoom all of them, double-click for the whole run.`));
}

/// What the captures show of RoCEv2: the sections of `mrclab analyze`.
function roce(run) {
  const tables = run.sections;
  if (!tables || !tables.length) return;
  const box = section("RoCEv2, by the packets");
  for (const t of tables) {
    if (t.bins) rateCharts(box, run, t.bins);
    const numbers = t.columns.flatMap((c, i) => c.number ? [i] : []);
    const rows = wideTable(t.columns.map((c) => c.heading), t.rows.map((cells) => cells.map(indented)), numbers, true);
    const body = [el("div", {class: t.rows.length > 12 ? "scroll" : null}, rows), t.notes.map((text) => note(prose(text) + ".")),
                  t.left_out ? note(`${t.left_out} more: mrclab analyze ${shellWord(run.run)} --section ${t.name}`) : null];
    // Long lists, and what the charts have shown already, are opened by who wants them.
    if (t.bins || t.rows.length > 12 && t.name !== "pauses") box.append(el("details", {}, el("summary", {}, `${t.title} (${t.rows.length + t.left_out})`), body));
    else box.append(el("h3", {}, t.title), ...body.flat().filter((part) => part));
  }
}
/// The depth of a tree stands in front of a name as blanks.
const indented = (text) => text.startsWith(" ") ? "\u00a0".repeat(2 * (text.length - text.trimStart().length)) + text.trimStart() : text;

/// What the flows that sent most sent over time, and the CNPs of all: bins of flows have lengths of their own.
function rateCharts(box, run, bins) {
  const kFlows = 8, kPoints = 128, end = run.picture ? run.picture.end_us : Math.max(...bins.map((b) => b[1] + b[2]));
  const regions = run.picture ? run.picture.regions : [];
  const sent = new Map();
  for (const [flow, , long, bps] of bins) sent.set(flow, (sent.get(flow) || 0) + long * bps);
  const most = [...sent.keys()].sort((a, b) => sent.get(b) - sent.get(a)).slice(0, kFlows);
  const step = end / kPoints, rates = [], answers = [];
  for (let i = 0; i < kPoints; ++i) {
    const t = (i + 0.5) * step, here = bins.filter(([, from, long]) => from <= t && t < from + long);
    rates.push([t].concat(most.map((flow) => here.filter((b) => b[0] === flow).reduce((sum, b) => sum + b[3], 0) / 1e9)));
    answers.push([t, here.reduce((sum, b) => sum + b[5] * step / b[2], 0), here.reduce((sum, b) => sum + b[4] * step / b[2], 0)]);
  }
  chart(box, "Rates of RoCEv2" + (sent.size > kFlows ? `: the ${kFlows} of ${sent.size} flows that sent most` : ""), "Gb/s", most, rates,
        {end, regions});
  if (answers.some(([, cnps, marked]) => cnps + marked > 0)) {
    chart(box, "CNPs and packets marked CE", "per " + timeUs(step), ["CNPs", "marked"], answers,
          {low: true, end, regions, colours: [css("--bad"), css("--skip")]});
  }
}

function symmetry(run) {
  const planes = run.picture && run.picture.planes;
  if (!planes || !planes.length) return;
  const shares = planes.map((p) => p.share), most = Math.max(...shares), least = Math.min(...shares);
  const which = (value) => planes.filter((p) => p.share === value).map((p) => p.plane).slice(0, 4).join(", ");
  section("Symmetry of the planes",
      wideTable(["plane", "delivered", "share", ""], planes.map((p) => ["plane " + p.plane,
          trimmed(p.bytes / 1e6, 2) + " MB", trimmed(p.share, 2) + " %",
          el("span", {class: "bar", style: `width:${most > 0 ? Math.max(160 * p.share / most, 1) : 0}px`})]), [1, 2]),
      note(most > 0 ? `Least: plane ${which(least)} with ${trimmed(least, 2)} %; most: plane ${which(most)} with ` +
           `${trimmed(most, 2)} %; least over most ${trimmed(100 * least / most, 2)} %.` : "Nothing was delivered."));
}

function recovery(run) {
  const v = run.verdict;
  if (!v.faults.length) return;
  const kMost = 200;
  const rows = v.faults.slice(0, kMost).map((f, i) => [
    el("div", {}, `${i + 1}. `, prose(f.fault),
       f.dip ? el("div", {class: "note"}, "dip: " + prose(f.dip.text)) : null, f.note ? el("div", {class: "note"}, prose(f.note)) : null,
       f.recovery_note ? el("div", {class: "note"}, "recovered: " + prose(f.recovery_note)) : null),
    nsField(v, `/faults/${i}/at_ns`, "0"), nsField(v, `/faults/${i}/detected_ns`, "at once"),
    field(v, `/faults/${i}/recovered_ns`, (ns) => !isNone(ns) ? (ns === 0 ? "no dip" : timeUs(ns / 1e3)) :
        (f.recovery_note || "").startsWith("not known") || !v.metrics.baseline_bps && !f.recovery_note ? "not known" : "not by the end"),
    f.healed || f.healed_at_ns === null ? nsField(v, `/faults/${i}/healed_at_ns`) : "not all back",
    run.picture && run.picture.regions[i] ? el("button", {type: "button", onclick: () =>
        zoom(run.picture.regions[i].from_us, run.picture.regions[i].until_us)}, "show") : ""]);
  const limit = (name) => {
    const check = v.checks.find((c) => c.name === name);
    return check ? "≤ " + timeUs(check.bound) : "–";
  };
  const figure = (name) => {
    const check = v.checks.find((c) => c.name === name && c.published);
    return check ? el("div", {}, check.published.text, el("div", {class: "note"}, check.published.figure)) : "–";
  };
  const any = (...names) => v.checks.some((c) => names.includes(c.name) && c.published);
  if (v.checks.some((c) => ["detect", "recover"].includes(c.name))) rows.push([el("b", {}, "bound"), "", limit("detect"), limit("recover"), "", ""]);
  if (any("detect", "recover")) rows.push([el("b", {}, "published"), "", figure("detect"), figure("recover"), "", ""]);
  section("Faults and recovery",
      wideTable(["fault", "at", "detected after", "recovered after", "healed at", ""], rows, [1, 2, 3, 4], true),
      v.faults.length > kMost ? note(`${v.faults.length - kMost} more are in verdict.json.`) : "");
}

/// Figures that somebody has published, and ours.
function published(run) {
  const v = run.verdict;
  const rows = v.checks.map((c, i) => [c, i]).filter(([c]) => c.published).map(([c, i]) => [
    el("div", {}, el("a", {href: "#check-" + i}, prose(c.about || c.name)),
       el("div", {class: "note"}, "published: " + prose(c.published.figure))),
    el("span", {}, field(v, `/checks/${i}/measured`), " " + unitOf(c)), c.published.text]);
  if (rows.length) section("Beside what was published", wideTable(["check", "measured here", "published"], rows, [1, 2], true),
      note("Times are those of this fabric; the scenario states what was compressed."));
}
const unitOf = (check) => check.unit === "us" ? "µs" : check.unit;

function checks(run) {
  const v = run.verdict;
  if (!v.checks.length) return;
  const head = ["check", "result", "measured", "bound", "unit", "where to look"];
  const rows = v.checks.map((c, i) => {
    const at = `/checks/${i}`;
    const where = c.where;
    const until = where && (where.until_ns ?? (run.picture ? run.picture.end_us * 1e3 : where.from_ns));
    const packet = where && where.packet;
    const look = where ? el("div", {}, span(where.from_ns / 1e3, until / 1e3),
        where.who ? el("div", {class: "note"}, prose(where.who)) : null,
        packet && packet.frame ? el("div", {class: "note"}, `frame ${packet.frame} of ${packet.file}`) : null,
        packet ? el("div", {}, traceCommand(run, packet)) : null) : "–";
    return {id: "check-" + i, cells: [
      el("div", {}, prose(c.about || c.name), c.note ? el("div", {class: "note"}, prose(c.note)) : null,
          c.looked ? el("div", {class: "note"}, "looked at " + prose(c.looked.text)) : null),
      el("span", {class: "word " + c.result, "data-json": at + "/result", "data-value": JSON.stringify(c.result)}, resultWord(c.result)),
      field(v, at + "/measured"), field(v, at + "/bound"), unitOf(c), look]};
  });
  section("Checks", wideTable(head, rows, [2, 3], true));
}

/// What it cost that libpcap looked on as well.
function taps(run) {
  const v = run.verdict, t = v.taps;
  if (!t) return;
  const seconds = (s) => trimmed(s, 3) + " s";
  section("The cost of capturing", el("div", {class: "tiles"},
      tile(field(v, "/taps/interfaces"), "interfaces tapped"), tile(field(v, "/taps/packets"), "packets"),
      tile(field(v, "/taps/bytes", (b) => trimmed(b / 1e6, 1) + " MB"), "captured"),
      tile(field(v, "/taps/missing"), "missing"), tile(field(v, "/taps/cpu_seconds", seconds), "of CPU"),
      t.packets ? tile(trimmed(1e6 * t.cpu_seconds / t.packets, 2) + " µs", "of CPU for a packet") : null,
      tile(field(v, "/taps/open_seconds", seconds), "to open them")),
      note("libpcap on the veths, beside the daemons' own captures: its thread's CPU time, and what it wrote."));
}

function pace(run) {
  const v = run.verdict, t = v.timing, points = run.picture ? run.picture.pace : [];
  const box = section("Timing: slack and dilation");
  const dilation = ["min", "mean", "max"].flatMap((k, i) => [i ? " / " : "", field(v, "/timing/dilation/" + k, (d) => plain(Math.round(d)))]);
  box.append(el("div", {class: "tiles"},
      tile(field(v, "/timing/faithful", (f) => t.mode === "wall" ? "wall clock" : f ? "yes" : "no"), "faithful"),
      tile(field(v, "/timing/late_frames"), "late frames"), tile(field(v, "/timing/gaps"), "gaps"),
      v.world === "live" ? [tile(field(v, "/timing/min_slack_ns", (ns) => timeUs(ns / 1e3)), "least slack"),
      tile(dilation, "dilation min / mean / max"), tile(field(v, "/timing/holds"), "times the clock began to wait"),
      tile(field(v, "/timing/jumps"), "times the clock jumped")] : null));
  if (points.length > 1) {
    const end = run.picture.end_us;
    const held = points.filter((p) => p[1] === null).map((p) => ({from_us: p[0], until_us: p[0]}));
    chart(box, "Dilation", "lab seconds per fabric second", ["dilation"], points.map((p) => [p[0], p[1]]), {low: true, end, regions: held});
    chart(box, "Least slack", "ms of the lab's time", ["slack"], points.map((p) => [p[0], p[2]]), {low: true, end, colours: [css("--port")]});
    box.append(note("Slack is the time between a frame's arrival in a process and its need there. Negative slack is no lateness: the gate " +
        "waited, and the lab was slower for it. Marked: fabric time stood."));
  } else if (v.world === "sim") {
    box.append(note("A simulation has no lab clock, so neither slack nor dilation."));
  }
  for (const reason of t.reasons) box.append(note("Not faithful: " + prose(reason)));
}

function packets(run) {
  const list = run.picture && run.picture.packets, unseen = run.picture && run.picture.series.unseen;
  if (!list) return;
  if (!list.rows.length) {
    section("Packets that did not make it at once", note(unseen ? "None was seen, but evidence is missing: " + prose(unseen) + "." : "No packet was lost, trimmed or refused."));
    return;
  }
  const seen = new Set();
  const rows = list.rows.map((r) => {
    const key = r.qp + "-" + r.psn, id = seen.has(key) ? undefined : "packet-" + key;
    seen.add(key);
    return {id, cells: [timeUs(r.t_us), `${r.what}: ${r.cause.replaceAll("_", " ")}`, r.where || "–",
      `${r.source} → ${r.destination}`, r.qp, String(r.psn), r.path, timeUs(r.sent_us),
      r.again_us === null ? "–" : `${timeUs(r.again_us)} on ${r.again_path}`,
      r.delivered_us === null ? (unseen ? "not seen" : "not by the end") : timeUs(r.delivered_us),
      traceCommand(run, r)]};
  });
  section("Packets that did not make it at once",
      el("div", {class: "scroll"}, wideTable(["at", "what", "where", "flow", "QP", "PSN", "path", "sent", "retransmitted", "arrived", "its life"], rows, [0, 5, 7, 9], true)),
      list.rows.length > 30 ? el("p", {class: "note printed"}, "Printed: the first 30.") : null,
      list.left_out ? note(`${list.left_out} later ones are not shown.`) : "");
}

function rest(run) {
  const v = run.verdict, sha = v.metrics.history_sha256;
  const box = section("Go on from here", el("p", {}, command(`mrclab replay ${shellWord(run.run)}`), " repeats it, packet for packet."),
      el("p", {}, command(`mrclab report ${shellWord(run.run)} --compare latest`), " puts another run beside it."));
  if (sha) box.append(el("p", {class: "note"}, "history ", el("code", {}, field(v, "/metrics/history_sha256"))));
  for (const text of v.depends_on ?? []) box.append(note("depends on " + prose(text)));
  for (const text of v.notes) box.append(note("note: " + prose(text)));
}

function reportPage(run) {
  headline(run);
  story(run);
  waits(run);
  blame(run);
  mapper(run);
  denylist(run);
  timeline(run);
  jobs(run);
  evMatrix(run);
  windows(run);
  roce(run);
  symmetry(run);
  recovery(run);
  published(run);
  checks(run);
  pace(run);
  taps(run);
  packets(run);
  rest(run);
  contents();
}

/// Every section by its title, below the headline.
function contents() {
  const titled = [...page.querySelectorAll("section > h2")];
  for (const title of titled) title.parentElement.id ||= title.textContent.toLowerCase().replace(/[^a-z]+/g, "-");
  page.querySelector("section.tiles").before(el("nav", {class: "contents", "aria-label": "contents"},
      titled.map((title) => el("a", {href: "#" + title.parentElement.id}, title.textContent))));
}
