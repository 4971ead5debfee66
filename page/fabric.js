// The fabric on a canvas: links by load and state, queues, packets as they travel. It draws what world.js
// has for an instant, and nothing that packets, schedules and hosts have not shown.
//
// A packet is as long as it is: its head leaves when its first bit does, its tail with the last one, and both
// take the propagation time. 4 KiB at 100 Gb/s are two thirds of a link of 500 ns.

import {kDropped, kTrimmed} from "./world.js";
import {kKinds} from "./colours.js";
import {hit, layoutOf} from "./layout.js";
import {drawFaultMarks} from "./marks.js";
import {kHostDrawing} from "./hosts_drawing.js";
import {kWholeDrawing} from "./whole_drawing.js";
import {box, isDark, listAt, strokeLines} from "./strokes.js";

/// Fabric time that a second may show while single packets are drawn (our choice: they can be followed).
const kPacketsUpTo = 6e6;
const kLeastLength = 3;    // pixels: a SACK is shorter than one
const kLeastFade = 0.5e6;  // ps that a loss, trim or mark stays visible
/// What stands still is drawn on a canvas of its own, and while it plays not again before so many ms: every 33 ms
/// where flows are widths, every tenth of a second where packets move over it. A dense one is drawn as rarely while its
/// user drags through time, which is over so many ms after the last step.
const kGroundEvery = {flows: 30, packets: 95}, kDragged = 150;
/// With more links than this they are lines of one pixel, whose colour alone is their load: a browser without a
/// graphics card draws these five times as fast as wider ones.
const kWideLinks = 800;
/// ps that a packet is on a link at most, and that it is sent: longer than any of the fabrics that are shown packet by packet.
const kOnLinks = {flight: 2.5e6, sending: 1.5e6};
const kLevels = 12;  // of load that can be distinguished
/// What a link looks like, as a number: a level of load or one of these two, and bits.
const kImpaired = 13, kDark = 14, kLooks = 16, kDim = 16, kSmall = 32, kChosen = 64, kBuiltSlow = 128;

export class FabricView {
  constructor(canvas, world, link, colours) {
    Object.assign(this, {canvas, world, link, colours, focus: null, chosen: [], hover: null, path: null, cell: null, measure: "load"});
    this.by = "kind";
    // Neither lets anything shine through, so that neither has to be blended with what is below it.
    this.front = canvas.getContext("2d", {alpha: false});
    this.ground = document.createElement("canvas");
    this.context = this.ground.getContext("2d", {alpha: false});
    this.shown = [];  // capsules of the last frame, to be hit
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    this.width = Math.max(box.width, 200);
    this.height = Math.max(box.height, 200);
    for (const canvas of [this.canvas, this.ground]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
    }
    this.ratio = ratio;
    this.places = null;
    this.dirty = true;
  }

  setFocus(focus) {
    this.focus = focus;
    // Of a large fabric packets are looked at where they can be seen.
    if (this.world.fabric?.whole) {
      this.world.showOnly(focus?.host !== undefined ? {host: this.world.nodes[focus.host].index} : focus?.rack !== undefined ? {rack: focus.rack} : null);
    }
    this.levelChanged?.();
    this.places = null;
    this.dirty = true;
  }

  at(x, y) {
    if (!this.places) return null;
    if (this.isWhole()) return this.hitWhole(x, y);
    const thing = hit(this.places, x, y);
    // Packets cross optics, ports and switches: who points at such a thing means it.
    if (thing && thing.what !== "link" && thing.what !== "plane" && thing.what !== "host" && thing.away < 2) return thing;
    let best = null, least = 7;
    for (const s of this.shown) {
      const d = Math.hypot(x - s.x, y - s.y);
      if (d < least) [best, least] = [s, d];
    }
    if (best) return {what: "packet", packet: best.packet, place: best};
    return thing;
  }

  isDense() { return this.places.links.length > kWideLinks; }

  showsPackets() { return !this.world.playing || this.world.perSecond <= kPacketsUpTo; }

  draw(t) {
    const {world, front} = this;
    if (!world.fabric || !this.width) return;
    if (this.isWhole()) return this.drawWhole(t);
    if (!this.places) {
      const scope = world.fabric.whole ? world.scopeOf(this.focus.rack, this.focus.host) : world;
      this.places = layoutOf(scope, this.width, this.height, this.focus, this.colours.scale, this.legendHigh?.(), this.crumbsHigh?.());
      this.placed?.(this.height - this.places.cardsTop);
      this.grounded = undefined;
    }
    const every = this.showsPackets() ? kGroundEvery.packets : kGroundEvery.flows;
    const now = performance.now(), moves = world.playing || this.isDense() && now - world.soughtAt < kDragged;
    if (!moves || this.grounded === undefined || now - this.grounded > every) this.drawGround(t);
    front.setTransform(1, 0, 0, 1, 0, 0);
    front.drawImage(this.ground, 0, 0);
    front.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.shown = [];
    if (this.showsPackets()) this.drawPackets(t);
    // Packets go through optics: where there are few of these, they are seen to.
    if (!this.isDense()) this.drawOptics(front);
    const marked = drawFaultMarks(front, this.places, this.troubles, this.colours), key = [...marked].sort().join();
    if (key !== this.marked) this.marksChanged?.([...marked]);
    this.marked = key;
    this.drawChoice();
  }

  /// All but packets.
  drawGround(t) {
    const {context: c, world, colours} = this;
    this.grounded = performance.now();
    this.dirty = false;
    this.troubles = world.troubles(t);
    this.loads = world.loads(t);
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = colours.back;
    c.fillRect(0, 0, this.width, this.height);
    this.drawPanels(t);
    this.drawLinks();
    if (this.isDense()) this.drawOptics(c);
    this.drawNodes();
    this.drawPorts();
    this.drawCards();
  }

  drawPanels(t) {
    const {context: c, world, colours} = this;
    for (const [plane, p] of this.places.panels) {
      c.fillStyle = colours.paper;
      c.strokeStyle = this.focus?.plane === plane ? colours.accent : colours.line;
      c.lineWidth = 1;
      box(c, p.x, p.y, p.w, p.h, 10);
      c.fill();
      c.stroke();
      c.font = colours.font(p.small ? 11 : 12, 600);
      c.textAlign = "left";
      c.textBaseline = p.small ? "middle" : "top";
      // The square has the colour that this plane has in the time line.
      const square = 9 * colours.scale, up = p.small ? p.y + p.h / 2 : p.y + 7;
      // A fabric whose planes are one panel has no square.
      const coloured = this.places.panels.size === world.fabric.planes;
      c.fillStyle = colours.plane(plane, world.fabric.planes);
      if (coloured) c.fillRect(p.x + (p.small ? 5 : 10), p.small ? up - square / 2 : up + 1.5, square, square);
      c.fillStyle = colours.soft;
      const words = p.small && p.title < 50 ? String(plane) : "plane " + plane;
      c.fillText(words, p.x + (p.small ? 8 : 15) + (coloured ? square : -5), up, p.small ? p.title - square - 6 : undefined);
      const sums = world.sumsOf(plane, t, this.focus?.rack);
      if (!sums || p.small) continue;
      c.textBaseline = "top";
      const counts = [];
      if (sums.lost) counts.push([`${sums.lost} lost`, colours.bad]);
      if (sums.trimmed) counts.push([`${sums.trimmed} trimmed`, colours.kinds.trimmed]);
      if (sums.marked) counts.push([`${sums.marked} marked`, colours.soft]);
      let x = p.x + p.w - 10;
      c.textAlign = "right";
      for (const [text, colour] of counts) {
        c.fillStyle = colour;
        c.fillText(text, x, p.y + 7);
        x -= c.measureText(text).width + 10;
      }
    }
  }

  dim(link) {
    if (this.focus?.host === undefined || this.focus.rack !== undefined) return false;
    return link.a.node !== this.focus.host && link.b.node !== this.focus.host;
  }

  drawLinks() {
    const {context: c} = this, {load, queue} = this.loads, plain = this.showsPackets();
    const looks = new Map(), bars = new Map();
    for (const l of this.places.links) {
      if (!l) continue;
      const chosen = this.path?.has(l.link.id) || this.hover?.link === l.link || this.chosen.includes(l.link);
      const bits = (this.dim(l.link) ? kDim : 0) | (l.panel.small ? kSmall : 0) | (chosen ? kChosen : 0) | (l.link.slow ? kBuiltSlow : 0);
      for (const side of [0, 1]) {
        const wire = l.link.wires[side], sign = side === 0 ? 1 : -1, trouble = this.troubles.wires.get(wire);
        const look = bits | (trouble ? isDark(trouble) ? kDark : kImpaired : plain ? 0 : Math.round(load[wire] * kLevels));
        listAt(looks, look).push(l.x1 + l.ox * sign, l.y1 + l.oy * sign, l.x2 + l.ox * sign, l.y2 + l.oy * sign);
        if (queue[wire] > 0.03 && !l.panel.small) this.addQueue(bars, l, side, queue[wire]);
      }
    }
    // The busy over the idle, what is wrong over both.
    const order = (look) => (look & kChosen) * 2 + (look & (kLooks - 1)) * 4 - (look & kDim ? 1 : 0);
    for (const look of [...looks.keys()].sort((a, b) => order(a) - order(b))) {
      this.dress(look, plain);
      strokeLines(c, looks.get(look));
    }
    c.setLineDash([]);
    c.globalAlpha = 1;
    c.lineWidth = 3.4;
    for (const [colour, lines] of bars) {
      c.strokeStyle = colour;
      strokeLines(c, lines);
    }
  }

  /// Makes the next line one of this look.
  dress(look, plain) {
    const {context: c, colours} = this, level = look & (kLooks - 1), small = look & kSmall, chosen = look & kChosen;
    const thin = small || this.isDense();
    c.globalAlpha = look & kDim ? 0.15 : 1;
    c.setLineDash(level === kDark ? [4, 4] : level === kImpaired ? [9, 3] : look & kBuiltSlow ? [2, 3] : []);
    if (level >= kImpaired) {
      c.strokeStyle = level === kDark ? colours.bad : colours.warn;
      c.lineWidth = thin ? 1 : 1.8;
    } else {
      c.strokeStyle = chosen ? colours.accent : colours.load(level / kLevels);
      c.lineWidth = small ? 0.7 : plain || thin ? 1 : 0.8 + 3 * level / kLevels;
    }
    if (chosen) c.lineWidth += 1;
  }

  /// A bar at the port that packets wait for, as long as the queue in front of the last one.
  addQueue(bars, l, side, queue) {
    const {colours} = this;
    const [x, y, fx, fy] = side === 0 ? [l.x1, l.y1, l.x2, l.y2] : [l.x2, l.y2, l.x1, l.y1];
    const length = Math.hypot(fx - x, fy - y) || 1, reach = Math.min(26, length * 0.3) * Math.min(queue, 1.25);
    const sign = side === 0 ? 1 : -1, colour = queue >= 0.95 ? colours.bad : queue > 0.2 ? colours.warn : colours.soft;
    const left = x + l.ox * sign * 2.2, up = y + l.oy * sign * 2.2;
    listAt(bars, colour).push(left, up, left + (fx - x) / length * reach, up + (fy - y) / length * reach);
  }

  drawPackets(t) {
    const {front: c, world, colours} = this;
    const whole = world.fabric.whole, {flight: reach, sending} = whole ? world.onLinks : kOnLinks;
    const fade = Math.max(kLeastFade, world.playing ? world.perSecond * 0.5 : 0);
    const seen = world.packets(this.link, t - Math.max(reach, fade), t + sending);
    const batches = new Map(), happenings = [], dense = this.isDense();
    for (const p of seen) {
      const wire = world.wires[p.wire], l = this.places.links[wire.link.id];
      if (!l || (l.panel.small && p.event !== kDropped)) continue;
      if (p.event === kDropped) {
        if (p.t <= t && t - p.t < fade) happenings.push({p, l, wire, age: (t - p.t) / fade});
        continue;
      }
      const serialization = p.length * 8 / wire.link.rate * 1e12, flight = wire.link.propagation_ps;
      const head = (t - (p.t - serialization)) / flight, tail = (t - p.t) / flight;
      if (p.t - serialization <= t && t - p.t < fade && (p.event === kTrimmed || p.flags & 2)) {
        happenings.push({p, l, wire, age: Math.max((t - p.t) / fade, 0)});
      }
      if (head <= 0 || tail >= 1) continue;
      const key = this.by === "kind" ? world.kindOf(p) : "qp" + p.source % colours.flows.length;
      if (this.dim(l.link)) continue;
      const sign = wire.up ? 1 : -1, [x, y, fx, fy] = wire.up ? [l.x1, l.y1, l.x2, l.y2] : [l.x2, l.y2, l.x1, l.y1];
      const dx = fx - x, dy = fy - y, to = Math.min(head, 1);
      const from = Math.min(Math.max(tail, 0), Math.max(0, to - kLeastLength / (Math.hypot(dx, dy) || 1)));
      const sx = x + dx * from + l.ox * sign, sy = y + dy * from + l.oy * sign;
      const ex = x + dx * to + l.ox * sign, ey = y + dy * to + l.oy * sign;
      this.shown.push({packet: p, x: (sx + ex) / 2, y: (sy + ey) / 2});
      const lines = listAt(batches, key)[p.length > 400 ? 0 : 1] ??= [];
      // Of a rack there are ten thousand at once, and one pixel each is all that there is room for.
      if (!dense || whole) { lines.push(sx, sy, ex, ey); continue; }
      for (const side of [-0.25, 0.25]) lines.push(sx + l.ox * side, sy + l.oy * side, ex + l.ox * side, ey + l.oy * side);
    }
    for (const [key, sizes] of batches) {
      c.strokeStyle = key.startsWith("qp") ? colours.flows[Number(key.slice(2))] : colours.kinds[key];
      sizes.forEach((lines, small) => {
        c.lineWidth = dense ? 1 : small ? 2.6 : 3.2;
        strokeLines(c, lines);
      });
    }
    if (this.selected) this.drawSelected(t);
    for (const happening of happenings) this.drawHappening(happening);
  }

  /// A ring around the packet that is followed, wherever it is.
  drawSelected() {
    const {front: c, colours} = this;
    for (const s of this.shown) {
      const p = s.packet, q = this.selected;
      if (p.qp !== q.qp || p.psn !== q.psn || p.source !== q.source || p.destination !== q.destination) continue;
      c.strokeStyle = colours.ink;
      c.lineWidth = 2;
      c.beginPath();
      c.arc(s.x, s.y, 9, 0, 7);
      c.stroke();
    }
  }

  /// A loss is a cross where it happened, a refusal by the receiver a ring, a trim a triangle, a mark a dot.
  drawHappening({p, l, wire, age}) {
    const {front: c, colours} = this;
    const atEnd = p.event === kDropped && ["wire_down", "wire_loss", "frame_check"].includes(this.world.fabric.causes[p.cause]);
    const f = atEnd ? 0.8 : 0.06;
    const [x, y, fx, fy] = wire.up ? [l.x1, l.y1, l.x2, l.y2] : [l.x2, l.y2, l.x1, l.y1];
    const px = x + (fx - x) * f, py = y + (fy - y) * f, size = l.panel.small ? 3 : 6;
    c.globalAlpha = Math.max(0, 1 - age);
    c.lineWidth = 2.4;
    c.beginPath();
    if (this.world.isRefused(p)) {
      c.strokeStyle = colours.soft;
      c.arc(px, py, size, 0, 7);
      c.stroke();
    } else if (p.event === kDropped) {
      c.strokeStyle = colours.bad;
      c.moveTo(px - size, py - size);
      c.lineTo(px + size, py + size);
      c.moveTo(px + size, py - size);
      c.lineTo(px - size, py + size);
      c.stroke();
    } else if (p.event === kTrimmed) {
      c.fillStyle = colours.kinds.trimmed;
      c.moveTo(px, py - size);
      c.lineTo(px + size, py + size);
      c.lineTo(px - size, py + size);
      c.fill();
    } else {
      c.fillStyle = colours.warn;
      c.arc(px, py, 2.6, 0, 7);
      c.fill();
    }
    c.globalAlpha = 1;
  }

  drawOptics(c) {
    const {colours} = this;
    for (const o of this.places.optics) {
      const dark = o.optic.links.filter((id) => this.world.links[id].wires.some((w) => isDark(this.troubles.wires.get(w) || [])));
      const chosen = this.hover?.optic === o.optic || this.chosen.includes(o.optic);
      c.fillStyle = dark.length ? colours.bad : colours.paper;
      c.strokeStyle = chosen ? colours.accent : dark.length ? colours.bad : colours.nodeline;
      c.lineWidth = chosen ? 2 : 1;
      box(c, o.x, o.y, o.w, o.h, 4);
      c.globalAlpha = dark.length && dark.length < o.optic.links.length ? 0.55 : 1;
      c.fill();
      c.globalAlpha = 1;
      c.stroke();
    }
  }

  drawNodes() {
    const {context: c, colours} = this;
    c.textAlign = "center";
    c.textBaseline = "middle";
    for (const p of this.places.nodes.values()) {
      const trouble = this.troubles.nodes.get(p.node.id);
      const chosen = this.hover?.node === p.node || this.chosen.includes(p.node);
      c.fillStyle = trouble ? colours.bad : colours.node;
      c.strokeStyle = chosen ? colours.accent : trouble ? colours.bad : colours.nodeline;
      c.lineWidth = chosen ? 2.4 : 1.2;
      box(c, p.x - p.w / 2, p.y - p.h / 2, p.w, p.h, Math.min(5, p.h / 2));
      c.fill();
      c.stroke();
      if (!p.label) continue;
      c.fillStyle = trouble ? colours.paper : colours.ink;
      c.font = `${Math.min(12 * colours.scale, p.h * 0.6)}px system-ui, sans-serif`;
      c.fillText(`${p.node.word}-${p.node.index}`, p.x, p.y + 0.5);
    }
  }

  drawChoice() {
    if (!this.drag) return;
    const {front: c, colours} = this, d = this.drag;
    c.strokeStyle = colours.accent;
    c.setLineDash([4, 3]);
    c.lineWidth = 1.2;
    c.strokeRect(Math.min(d.x1, d.x2), Math.min(d.y1, d.y2), Math.abs(d.x2 - d.x1), Math.abs(d.y2 - d.y1));
    c.setLineDash([]);
  }

  /// Everything inside a rectangle: nodes if there are some, else links whose middle is inside.
  inside({x1, y1, x2, y2}) {
    const [l, r] = [Math.min(x1, x2), Math.max(x1, x2)], [u, d] = [Math.min(y1, y2), Math.max(y1, y2)];
    const within = (x, y) => x >= l && x <= r && y >= u && y <= d;
    const nodes = [...this.places.nodes.values()].filter((p) => within(p.x, p.y)).map((p) => p.node);
    const hosts = this.places.cards.filter((p) => within(p.x + p.w / 2, p.y + p.h / 2)).map((p) => p.host);
    if (nodes.length) return nodes;
    if (hosts.length) return hosts;
    return this.places.links.filter((p) => p && within((p.x1 + p.x2) / 2, (p.y1 + p.y2) / 2)).map((p) => p.link);
  }
}

Object.assign(FabricView.prototype, kHostDrawing, kWholeDrawing);

export function legendItems(by, colours) {
  return by === "kind" ? kKinds.map((kind) => [kind, colours.kinds[kind]]) : [];
}
