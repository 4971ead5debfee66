// The tabs beside the fabric: story, entropy values, one queue pair, one packet, one switch or host, faults
// and branches. Each is drawn from what is known at the instant that is shown.

import {el, note, table, time} from "./common.js";
import {fill, hostsWord, sentence, sized} from "./dom.js";
import {bytes, isAtOnce, isData, us} from "./world.js";
import {kMatrixSpan, matrixPanel} from "./matrix.js";
import {packetPanel} from "./packet_panel.js";
import {runPanel} from "./run_panel.js";
import {arrivedStrip} from "./arrived_strip.js";
import {SackRow} from "./sack_row.js";
import {EventsPanel} from "./events_panel.js";
import {kStoryPart} from "./story_panel.js";
import {kNodePart} from "./node_panel.js";
import {kWholePart} from "./whole_panel.js";

export const kTabs = [["story", "Story"], ["evs", "EVs"], ["qp", "QP"], ["packet", "Packet"], ["node", "Node"],
                      ["faults", "Faults"], ["events", "Events"], ["run", "Run"], ["lesson", "Lesson"], ["fabric", "Fabric"]];

export class Panels {
  constructor(page, tabs, panel) {
    Object.assign(this, {page, panel, tab: "story", place: 0, qp: null, node: null, life: null, verdict: null});
    this.sacks = new SackRow(page);
    this.events = new EventsPanel(page);
    this.buttons = kTabs.map(([name, text]) => el("button", {type: "button", role: "tab", id: "tab-" + name,
      "aria-selected": "false", onclick: () => this.show(name)}, text));
    fill(tabs, this.buttons);
    this.buttons[0].setAttribute("aria-selected", "true");
    tabs.addEventListener("keydown", (e) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
      if (!step) return;
      const count = this.buttons[kTabs.length - 1].hidden ? kTabs.length - 1 : kTabs.length;
      const at = (kTabs.findIndex(([n]) => n === this.tab) + step + count) % count;
      this.show(kTabs[at][0]);
      this.buttons[at].focus();
      e.stopPropagation();
    });
  }

  /// The last tab is of fabrics that are shown by switch and rack alone.
  welcome() {
    const whole = Boolean(this.page.world.fabric.whole);
    this.buttons[kTabs.length - 1].hidden = !whole;
    this.about = null;
    this.fabricKey = null;
    if (whole && this.tab === "story") this.show("fabric");
    else if (!whole && this.tab === "fabric") this.show("story");
  }

  show(name) {
    this.tab = name;
    kTabs.forEach(([n], i) => this.buttons[i].setAttribute("aria-selected", n === name ? "true" : "false"));
    this.draw();
  }

  /// Draws the tab again if it shows something that moves with time.
  tick() {
    if (["qp", "node", "faults", "events", "story", "run", "fabric"].includes(this.tab)) this.draw();
    else if (this.tab === "evs" && performance.now() - (this.asked ?? 0) > (this.page.world.playing ? 400 : 150)) this.draw();
  }

  draw() {
    const {world} = this.page;
    if (!world.fabric || !world.branch) return;
    const top = this.panel.scrollTop;
    const drawn = this["tab_" + this.tab](world, world.now());
    if (drawn) fill(this.panel, drawn);
    this.panel.scrollTop = top;
  }

  // --- entropy values -------------------------------------------------------------------------------

  tab_evs(world, t) {
    this.panel.dataset.tab = "evs";
    if (this.asking) return null;
    this.asking = true;
    this.asked = performance.now();
    const at = Math.round(t);
    if (this.evsAt === at && this.evsBranch === world.number && this.panel.querySelector("canvas.matrix")) { this.asking = false; return null; }
    this.evsAt = at;
    this.evsBranch = world.number;
    world.sideWidth = this.panel.clientWidth;
    this.page.link.ask({do: "use", from_ps: Math.max(0, at - kMatrixSpan), to_ps: at}).then((use) => {
      this.asking = false;
      if (this.tab !== "evs" || this.panel.matches(":hover") && this.panel.querySelector("canvas.matrix") && world.playing) return;
      fill(this.panel, matrixPanel(use, world, at, this.page.colours, (found) => this.page.light(found),
                                   (flow) => { this.qp = flow[2]; this.qpHost = flow[1]; this.show("qp"); }));
    }, (problem) => {
      this.asking = false;
      if (this.tab === "evs") fill(this.panel, [el("h2", {}, "Entropy values"), note(sentence(problem.message))]);
    });
    return null;
  }

  // --- one queue pair --------------------------------------------------------------------------------

  qp_end() { return this.page.world.qps.find((q) => q.qpn === this.qp && (this.qpHost === undefined || q.host === "h" + this.qpHost)) ?? this.page.world.qps[0]; }

  qp_select(world) {
    return el("select", {"aria-label": "queue pair", onchange: (e) => { const q = world.qps[e.target.value]; this.qp = q.qpn; this.qpHost = Number(q.host.slice(1)); this.panel.dataset.tab = ""; this.draw(); }},
      world.qps.map((q, i) => el("option", {value: i, selected: q === this.qp_end()}, `${q.peer.split(":")[0]} → ${q.qp}`)));
  }

  tab_qp(world, t) {
    if (this.qp === null) {  // at first one that has data
      const some = world.packets(this.page.link, t - 6e6, t).find(isData);
      if (some) [this.qp, this.qpHost] = [some.qp, some.destination];
    }
    const end = this.qp_end();
    if (!end) return [note("This scenario has no queue pairs.")];
    if (document.activeElement?.tagName === "SELECT" && this.panel.contains(document.activeElement)) return null;
    this.panel.dataset.tab = "qp";
    const to = Number(end.host.slice(1)), from = Number(end.peer.split(":")[0].slice(1)), senderQp = Number(end.peer.split(":")[1]);
    const windows = world.branch.windows.filter((w) => w.host === from && w.peer === to && w.t_ps <= t);
    const now = windows[windows.length - 1];
    const events = world.branch.events.filter((e) => e.qp === senderQp && world.nodes[e.node].name === "h" + from && e.t_ps <= t);
    const packets = world.packets(this.page.link, t - 3e6, t + 1e6)
        .filter((p) => p.qp === end.qpn && p.source === from && p.t <= t + 1e6 && world.nodes[world.wires[p.wire].from.node].name === "h" + from);
    const canvas = el("canvas", {class: "small", "aria-label": "window and bytes in flight over time"});
    requestAnimationFrame(() => this.windowChart(canvas, windows, t));
    return [
      el("h2", {}, `h${from} → h${to}`), el("p", {}, this.qp_select(world)),
      now ? table(["", ""], [["window", bytes(now.window)], ["in flight", bytes(now.in_flight)],
        ["queue delay", now.delay_ps === undefined ? "–" : `${time(now.delay_ps)} (target ${time(now.target_ps)})`],
        ["RTT, base and now", `${time(now.base_ps ?? world.fabric.base_rtt_ps)}, ` +
          (now.delay_ps === undefined ? "–" : time((now.base_ps ?? world.fabric.base_rtt_ps) + now.delay_ps))], ["NSCC quadrant", (now.quadrant ?? "–").replace("_", " and ")],
        ["last cut", (now.cut ?? "none up to then").replaceAll("_", " ")]], [1]) : note(sentence(world.unheard(t) ?? "the sender has reported no window up to here (RC has none)")),
      el("p", {class: "note"}, "window and flight ", hostsWord()), canvas,
      el("h3", {}, "What the last SACK reported to the sender"), ...this.sacks.parts(from, senderQp, t),
      el("h3", {}, "What the receiver has"), ...arrivedStrip(this.page, end, from, to, t),
      el("h3", {}, "Events of the sender"),
      events.length ? el("ol", {class: "story"}, events.slice(-8).reverse().map((e) => el("li", {onclick: () => this.page.seek(e.t_ps)},
        el("span", {class: "when"}, time(e.t_ps)), `${e.kind.replaceAll("_", " ")} ${e.path ?? ""} ${(e.cause ?? "").replaceAll("_", " ")}`)))
        : note(sentence(world.unheard(t) ?? "it reported no change of a path and no loss up to here")),
      el("h3", {}, "Packets that it sends around now"),
      packets.length ? el("div", {class: "hops"}, packets.slice(-24).map((p) => el("button", {type: "button", title: time(p.t), onclick: () => this.page.follow(p)},
        (p.flags & 1 ? "↻ " : "") + p.psn))) : note(sentence(world.unseen(Math.max(0, t - 3e6), t + 1e6) ?? "none from 3 µs before to 1 µs after the instant")),
    ];
  }

  windowChart(canvas, windows, t) {
    const {c, w, h} = sized(canvas), {world, colours} = this.page;
    if (!windows.length) return;
    const most = Math.max(...windows.map((x) => Math.max(x.window, x.in_flight))) * 1.1, end = Math.max(t, 1);
    const line = (key, colour) => {
      c.strokeStyle = colour;
      c.lineWidth = 1.4;
      c.beginPath();
      for (const x of windows) c.lineTo(x.t_ps / end * w, h - 14 - x[key] / most * (h - 18));
      c.stroke();
    };
    line("window", colours.accent);
    line("in_flight", colours.kinds.sack);
    c.font = colours.font(11);
    c.fillStyle = colours.accent;
    c.fillText("window", 2, h - 2);
    c.fillStyle = colours.kinds.sack;
    c.fillText("in flight", 52, h - 2);
    c.fillStyle = colours.soft;
    c.textAlign = "right";
    c.fillText(bytes(most), w - 2, 10);
  }

  // --- one packet ------------------------------------------------------------------------------------

  tab_packet() {
    this.panel.dataset.tab = "packet";
    if (this.looking) return [note("Simulating again, to watch this packet at every place …")];
    if (!this.life && this.page.world.fabric.whole) return [el("h2", {}, "One packet"), note("Its headers at each place are found by simulating again, which is not done with a fabric of this size.")];
    if (!this.life) return [el("h2", {}, "One packet"), note("Pause, and click a packet in the fabric: its life from host to host, with every header at each place.")];
    return packetPanel(this.life, this.place, (i) => { this.place = i; this.draw(); }, (t) => this.page.seek(t));
  }

  async look(packet) {
    this.looking = true;
    this.show("packet");
    try {
      const {source, destination, qp, psn} = packet;
      this.life = await this.page.link.ask({do: "packet", source, destination, qp, psn, branch: this.page.world.number});
      const now = this.page.world.now();
      this.place = Math.max(0, this.life.places.findLastIndex((p) => p.t_ps <= now));
    } catch (problem) {
      this.life = null;
      this.page.say(problem.message);
    } finally {
      this.looking = false;
      this.draw();
    }
  }

  // --- faults and branches ------------------------------------------------------------------------------

  tab_faults(world, t) {
    const key = "faults" + world.number + world.other + world.mine + this.page.fork + world.branch.faults.map((f) => f.from_ps <= t && (f.until_ps ?? Infinity) > t).join() + (this.difference?.key ?? "");
    if ((key === this.faultsKey || this.panel.contains(document.activeElement) && document.activeElement.tagName === "SELECT") && this.panel.dataset.tab === "faults") return null;
    this.faultsKey = key;
    this.panel.dataset.tab = "faults";
    const faults = world.branch.faults;
    const stage = (f) => t < f.from_ps ? "to come" : t < (f.until_ps ?? Infinity) ? "in force" : isAtOnce(f) ? "at once" : "over";
    return [
      el("h2", {}, "Faults"),
      faults.length ? el("ul", {class: "list"}, faults.map((f) => el("li", {},
        stage(f) === "in force" || stage(f) === "to come" ? el("button", {type: "button", onclick: () => this.page.heal(String(f.number))}, stage(f) === "in force" ? "heal" : "call off") : null,
        el("button", {type: "button", title: "go there", onclick: () => this.page.seek(f.from_ps)}, "go"),
        el("b", {}, f.kind), " ", el("span", {class: "word"}, stage(f)), " ", el("span", {class: "word"}, f.source === "hand" ? "by hand" : f.source),
        el("div", {class: "note"}, f.text), el("code", {}, "- " + f.yaml)))) : note("None is scheduled, and none was made by hand. Right-click something in the fabric."),
      el("h2", {}, "Branches"),
      world.other === null ? note("Press Fork (F): the next change keeps this branch, and both are shown side by side on the time line.")
        : [el("p", {}, `They part at ${time(world.forkedAt)}. The other one is the dashed line.`),
           el("p", {}, el("button", {type: "button", onclick: () => this.page.command({do: "swap"})}, "Swap"), " ",
              el("button", {type: "button", id: "difference", onclick: () => this.differ()}, "First packet that differs"), " ",
              el("button", {type: "button", onclick: () => this.page.command({do: "drop"})}, "Let it go")),
           this.difference ? el("p", {id: "differs"}, this.difference.text) : null],
    ];
  }

  async differ() {
    const {world} = this.page;
    try {
      const d = await this.page.link.ask({do: "difference"});
      const words = (p) => p ? `${p.packet} PSN ${p.psn} from h${p.source} to h${p.destination} on ${p.wire}${p.dropped ? ", dropped: " + p.dropped.replaceAll("_", " ") : ""}` : "nothing";
      this.difference = {key: world.number + "d", text: d.found ? `At ${us(d.t_ps)}: here ${words(d.here)}; there ${words(d.there)}.` : `No difference from ${time(d.from_ps)} to ${time(d.until_ps)}.`};
      if (d.found) this.page.seek(d.t_ps);
    } catch (problem) {
      this.page.say(problem.message);
    }
    this.faultsKey = null;
    this.draw();
  }

  tab_run(world) {
    const key = "run" + world.number + world.fabric.workload + this.page.fork;
    if (key === this.runKey && this.panel.dataset.tab === "run") return null;
    this.runKey = key;
    this.panel.dataset.tab = "run";
    return runPanel(this.page);
  }

  tab_events(world, t) {
    const {events} = this, shown = world.playing ? Math.floor(performance.now() / 400) : Math.round(t) + " " + world.packetsAsOf;
    const key = `events ${world.number} ${shown} ${[...events.shown]} ${events.words} ${this.page.colours.dark}`;
    if (key === this.eventsKey && this.panel.dataset.tab === "events") return null;
    this.eventsKey = key;
    this.panel.dataset.tab = "events";
    const typed = document.activeElement?.id === "event-words" ? document.activeElement.selectionStart : null;
    const parts = events.panel(t);
    // Who types in it goes on typing.
    if (typed !== null) requestAnimationFrame(() => { const e = document.getElementById("event-words"); e?.focus(); e?.setSelectionRange(typed, typed); });
    return parts;
  }

  tab_lesson() {
    this.panel.dataset.tab = "lesson";
    return this.page.lessons.panel();
  }
}

Object.assign(Panels.prototype, kStoryPart, kNodePart, kWholePart);
