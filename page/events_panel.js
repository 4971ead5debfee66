// The list of events around the instant: packets at every port, events of hosts, and faults, filtered by kind and by
// words. A click goes to the event; the keys , and . go through what the filter leaves.

import {el, note, time} from "./common.js";
import {sentence} from "./dom.js";
import {isDatagram} from "./world.js";
import {kKinds, kKindWords} from "./colours.js";

const kBefore = 8, kAfter = 60;            // rows that are shown of what was and of what comes
const kSpan = 2e6;                         // ps each way from which they are taken
const kPiece = 2e6, kMostPieces = 60;      // ps asked for at once when a step looks further, and how often
const kOthers = [["lost", "lost"], ["refused", "refused"], ["marked", "marked (ECN)"], ["word", "reported by hosts"], ["fault", "faults"]];

export class EventsPanel {
  constructor(page) {
    Object.assign(this, {page, shown: new Set([...kKinds, ...kOthers.map(([kind]) => kind)]), words: ""});
  }

  /// {t, kinds, text, packet?} of each packet at a port.
  rowOfPacket(p) {
    const {world} = this.page, wire = world.wires[p.wire], opcodes = world.fabric.opcodes;
    const refused = world.isRefused(p);
    const kinds = [refused ? "refused" : p.event === 2 ? "lost" : world.kindOf(p)];
    if (p.flags & 2) kinds.push("marked");
    const name = isDatagram(p) ? "datagram" : `${opcodes[p.opcode].replaceAll("_", " ")} PSN ${p.psn}`;
    const became = p.event === 2 ? `, ${refused ? "refused" : "dropped"}: ${world.fabric.causes[p.cause].replaceAll("_", " ")}` : p.event === 1 ? ", trimmed here" : p.flags & 2 ? ", marked here" : "";
    const host = (number) => world.fabric.whole && number !== 0xFFFFFFFF ? "h" + number : world.hostNumbered(number)?.name ?? "?";
    return {t: p.t, kinds, packet: p, text: `${host(p.source)} → ${host(p.destination)} ${name}${became}, ${world.portName(wire.from)} → ${world.portName(wire.to)}`};
  }

  /// Events of hosts, faults and heals in [from, to).
  otherRows(from, to) {
    const {world} = this.page, {branch} = world, rows = [];
    for (const e of branch.events) {
      if (e.t_ps < from || e.t_ps >= to) continue;
      rows.push({t: e.t_ps, kinds: ["word"], text: `${world.nodes[e.node].name}: ${e.kind.replaceAll("_", " ")} ${e.path ?? ""} ${(e.cause ?? "").replaceAll("_", " ")}`});
    }
    for (const f of branch.faults) {
      for (const [t, stage] of [[f.from_ps, "begins"], [f.until_ps, "is over"]]) {
        if (t !== null && t >= from && t < to && (stage === "begins" || t > f.from_ps)) rows.push({t, kinds: ["fault"], text: `${f.text} ${stage}`});
      }
    }
    return rows;
  }

  /// Those of the rows that the filter leaves, by time.
  left(packets, from, to) {
    const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    return [...packets.map((p) => this.rowOfPacket(p)), ...this.otherRows(from, to)]
        .filter((row) => row.kinds.some((kind) => this.shown.has(kind)) && words.every((word) => row.text.toLowerCase().includes(word)))
        .sort((a, b) => a.t - b.t);
  }

  panel(t) {
    const {world, link, colours} = this.page, from = Math.max(0, t - kSpan), to = t + kSpan;
    const rows = this.left(world.packets(link, from, to), from, to), now = rows.findIndex((row) => row.t > t);
    const next = now < 0 ? rows.length : now, seen = rows.slice(Math.max(0, next - kBefore), next + kAfter);
    const again = () => { this.page.panels.draw(); };
    const kinds = [...kKinds.map((kind) => [kind, kKindWords[kind]]), ...kOthers];
    const box = ([kind, text]) => el("label", {}, el("input", {type: "checkbox", "data-kind": kind, checked: this.shown.has(kind), onchange: (e) => {
      if (e.target.checked) this.shown.add(kind);
      else this.shown.delete(kind);
      again();
    }}), el("i", {"data-colour": kind}), text);
    const all = (on) => el("button", {type: "button", onclick: () => { this.shown = new Set(on ? kinds.map(([kind]) => kind) : []); again(); }}, on ? "all" : "none");
    const words = el("input", {type: "text", id: "event-words", placeholder: "words: h3, p0.t0-1:u2, PSN 1024 …", "aria-label": "words that an event has",
                               oninput: (e) => { this.words = e.target.value; again(); }});
    words.value = this.words;
    const parts = [el("h2", {}, "Events"), el("div", {class: "filters"}, kinds.map(box), all(true), all(false)), words,
      note("Click: go there, and follow the packet. ", el("kbd", {}, ","), " and ", el("kbd", {}, "."), ": the event before and after, of those shown."),
      el("ol", {class: "events"}, seen.map((row) => el("li", {class: row.t <= t ? "now" : null, onclick: () => this.go(row)},
        el("span", {class: "when"}, (row.t / 1e6).toFixed(3) + " µs"), el("i", {"data-colour": row.kinds[0]}), row.text, row.kinds[0] === "word" ? " (its own report)" : null))),
      seen.length ? null : note(sentence(this.unknown(from, to) ?? "none of these within 2 µs of the instant"))];
    for (const part of parts) {
      for (const mark of part?.querySelectorAll?.("[data-colour]") ?? []) {
        const kind = mark.dataset.colour;
        mark.style.background = colours.kinds[kind] ?? (kind === "lost" || kind === "fault" ? colours.bad : colours.soft);
      }
    }
    return parts;
  }

  /// Why events in [from, to) need not all be here; null: they are.
  unknown(from, to) { return this.page.world.unseen(from, to) ?? this.page.world.unheard(to); }

  go(row) {
    if (row.packet && !isDatagram(row.packet)) this.page.fabric.selected = row.packet;
    this.page.seek(row.t);
  }

  /// To the next event that the filter leaves, or the one before; simulates further where it has to.
  async step(back) {
    const {world, link} = this.page, start = world.t;
    if (world.playing) await this.page.command({do: "pause"});
    if (this.stepping) return;
    this.stepping = true;
    let looked = start;
    try {
      for (let i = 0; i < kMostPieces; ++i) {
        const from = Math.max(0, back ? start - (i + 1) * kPiece : start + i * kPiece), to = back ? start - i * kPiece : from + kPiece;
        if (to <= 0 || from > world.end) break;
        if (!back && to > world.reached && world.reached < world.end) await link.ask({do: "seek", at_ps: Math.min(to, world.end)});
        const {packets} = await link.ask({do: "packets", branch: world.number, from_ps: from, to_ps: to + 1});
        const rows = this.left(packets, from, to + 1).filter((row) => back ? row.t < start : row.t > start);
        const row = back ? rows[rows.length - 1] : rows[0];
        if (row) return this.go(row);
        looked = back ? from : Math.min(to, world.reached);
        if (!back && world.cut && to > world.reached) break;
      }
      this.page.seek(start);
      const heard = world.unheard(Math.max(looked, start)), cut = !back && world.cut && looked >= world.reached ? world.cut.why : null;
      this.page.say(`None of the events that the list shows is from ${time(Math.min(looked, start))} to ${time(Math.max(looked, start))}.` +
                    [cut, heard].filter(Boolean).map((why) => " " + sentence(why)).join(""));
    } catch (problem) {
      this.page.say(problem.message);
    } finally {
      this.stepping = false;
    }
  }
}
