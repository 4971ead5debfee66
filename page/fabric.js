// The fabric on a canvas: links by load and state, queues, packets as they travel. It draws what world.js
// knows at an instant, and nothing that packets, schedules and hosts have not shown.
//
// A packet is as long as it is: its head leaves when its first bit does, its tail with the last one, and both
// take the propagation time. 4 KiB at 100 Gb/s are two thirds of a link of 500 ns.

import {kDropped, kTrimmed} from "./world.js";
import {kindOf, kKinds} from "./colours.js";
import {hit, layoutOf} from "./layout.js";

/// Fabric time that a second may show while single packets are drawn (our choice: they can be followed).
const kPacketsUpTo = 6e6;
const kLeastFade = 0.5e6;  // ps that a loss, trim or mark stays visible

export class FabricView {
  constructor(canvas, world, link, colours) {
    Object.assign(this, {canvas, world, link, colours, focus: null, chosen: [], hover: null, path: null});
    this.by = "kind";
    this.context = canvas.getContext("2d");
    this.shown = [];  // capsules of the last frame, to be hit
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    this.width = Math.max(box.width, 200);
    this.height = Math.max(box.height, 200);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.ratio = ratio;
    this.places = null;
    this.dirty = true;
  }

  setFocus(focus) {
    this.focus = focus;
    this.places = null;
    this.dirty = true;
  }

  at(x, y) {
    if (!this.places) return null;
    let best = null, least = 7;
    for (const s of this.shown) {
      const d = Math.hypot(x - s.x, y - s.y);
      if (d < least) [best, least] = [s, d];
    }
    if (best) return {what: "packet", packet: best.packet, place: best};
    return hit(this.places, x, y);
  }

  showsPackets() { return !this.world.playing || this.world.perSecond <= kPacketsUpTo; }

  draw(t) {
    const {context: c, world, colours} = this;
    if (!world.fabric || !this.width) return;
    if (!this.places) {
      this.places = layoutOf(world, this.width, this.height, this.focus);
      this.placed?.(this.height - this.places.cardsTop);
    }
    this.troubles = world.troubles(t);
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    c.lineCap = "round";
    this.drawPanels(t);
    this.drawLinks(t);
    this.shown = [];
    if (this.showsPackets()) this.drawPackets(t);
    this.drawOptics();
    this.drawNodes(t);
    this.drawPorts();
    this.drawCards(t);
    this.drawMarks();
    this.dirty = false;
  }

  drawPanels(t) {
    const {context: c, world, colours} = this;
    const bin = world.binAt(t);
    for (const [plane, p] of this.places.panels) {
      c.fillStyle = colours.paper;
      c.strokeStyle = this.focus?.plane === plane ? colours.accent : colours.line;
      c.lineWidth = 1;
      box(c, p.x, p.y, p.w, p.h, 10);
      c.fill();
      c.stroke();
      if (p.small && p.h < 26) continue;
      c.font = "600 12px system-ui, sans-serif";
      c.textAlign = "left";
      c.textBaseline = "top";
      c.fillStyle = colours.soft;
      c.fillText("plane " + plane, p.x + 10, p.y + 7);
      const sums = bin?.planes[plane];
      if (!sums || p.small) continue;
      const words = [];
      if (sums.lost) words.push([`${sums.lost} lost`, colours.bad]);
      if (sums.trimmed) words.push([`${sums.trimmed} trimmed`, colours.kinds.trimmed]);
      if (sums.marked) words.push([`${sums.marked} marked`, colours.soft]);
      let x = p.x + p.w - 10;
      c.textAlign = "right";
      for (const [text, colour] of words) {
        c.fillStyle = colour;
        c.fillText(text, x, p.y + 7);
        x -= c.measureText(text).width + 10;
      }
    }
  }

  dim(link) {
    if (this.focus?.host === undefined) return false;
    return link.a.node !== this.focus.host && link.b.node !== this.focus.host &&
        !(this.lit?.has(link.id));
  }

  drawLinks(t) {
    const {context: c, world, colours} = this;
    for (const l of this.places.links) {
      if (!l) continue;
      const dx = l.x2 - l.x1, dy = l.y2 - l.y1, length = Math.hypot(dx, dy) || 1;
      const ox = -dy / length * (l.panel.small ? 0.7 : 2), oy = dx / length * (l.panel.small ? 0.7 : 2);
      l.ox = ox;
      l.oy = oy;
      const chosen = this.path?.has(l.link.id) || this.hover?.link === l.link || this.chosen.includes(l.link);
      for (const side of [0, 1]) {
        const wire = l.link.wires[side], sign = side === 0 ? 1 : -1;
        const {load, queue} = world.load(wire, t);
        const trouble = this.troubles.wires.get(wire);
        c.globalAlpha = this.dim(l.link) ? 0.15 : 1;
        c.beginPath();
        c.moveTo(l.x1 + ox * sign, l.y1 + oy * sign);
        c.lineTo(l.x2 + ox * sign, l.y2 + oy * sign);
        if (trouble) {
          c.strokeStyle = isDark(trouble) ? colours.bad : colours.warn;
          c.setLineDash(isDark(trouble) ? [4, 4] : [9, 3]);
          c.lineWidth = l.panel.small ? 1 : 1.8;
        } else {
          c.setLineDash([]);
          c.strokeStyle = chosen ? colours.accent : this.showsPackets() ? colours.idle : shade(colours, load);
          c.lineWidth = l.panel.small ? 0.7 : this.showsPackets() ? 1 : 0.8 + 3 * load;
        }
        if (chosen) c.lineWidth += 1;
        c.stroke();
        if (queue > 0.03 && !l.panel.small) this.drawQueue(l, side, queue);
      }
      c.setLineDash([]);
      c.globalAlpha = 1;
    }
  }

  /// A bar at the port that packets wait for, as long as the queue in front of the last one.
  drawQueue(l, side, queue) {
    const {context: c, colours} = this;
    const [x, y, fx, fy] = side === 0 ? [l.x1, l.y1, l.x2, l.y2] : [l.x2, l.y2, l.x1, l.y1];
    const length = Math.hypot(fx - x, fy - y) || 1, reach = Math.min(26, length * 0.3) * Math.min(queue, 1.25);
    const sign = side === 0 ? 1 : -1;
    c.beginPath();
    c.moveTo(x + l.ox * sign * 2.2, y + l.oy * sign * 2.2);
    c.lineTo(x + l.ox * sign * 2.2 + (fx - x) / length * reach, y + l.oy * sign * 2.2 + (fy - y) / length * reach);
    c.strokeStyle = queue >= 0.95 ? colours.bad : queue > 0.2 ? colours.warn : colours.soft;
    c.lineWidth = 3.4;
    c.stroke();
  }

  drawPackets(t) {
    const {context: c, world, colours} = this;
    const reach = 2.5e6, fade = Math.max(kLeastFade, world.playing ? world.perSecond * 0.5 : 0);
    const seen = world.packets(this.link, t - Math.max(reach, fade), t + 1.5e6);
    const batches = new Map(), happenings = [];
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
      const key = this.by === "kind" ? kindOf(p, world.fabric.opcodes) : "qp" + p.source % colours.flows.length;
      if (!batches.has(key)) batches.set(key, []);
      batches.get(key).push({p, l, wire, head: Math.min(head, 1), tail: Math.max(tail, 0)});
    }
    for (const [key, list] of batches) {
      c.strokeStyle = key.startsWith("qp") ? colours.flows[Number(key.slice(2))] : colours.kinds[key];
      for (const wide of [true, false]) {
        c.beginPath();
        for (const {p, l, wire, head, tail} of list) {
          if ((p.length > 400) !== wide) continue;
          if (this.dim(l.link)) continue;
          const sign = wire.up ? 1 : -1;
          const [x, y, fx, fy] = wire.up ? [l.x1, l.y1, l.x2, l.y2] : [l.x2, l.y2, l.x1, l.y1];
          const sx = x + (fx - x) * tail + l.ox * sign, sy = y + (fy - y) * tail + l.oy * sign;
          const ex = x + (fx - x) * head + l.ox * sign, ey = y + (fy - y) * head + l.oy * sign;
          c.moveTo(sx, sy);
          c.lineTo(ex, ey);
          this.shown.push({packet: p, x: (sx + ex) / 2, y: (sy + ey) / 2});
        }
        c.lineWidth = wide ? 3.2 : 2.6;
        c.stroke();
      }
    }
    if (this.selected) this.drawSelected(t);
    for (const happening of happenings) this.drawHappening(happening);
  }

  /// A ring around the packet that is followed, wherever it is.
  drawSelected() {
    const {context: c, colours} = this;
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

  /// A loss is a cross where it happened, a trim a triangle, a mark a dot.
  drawHappening({p, l, wire, age}) {
    const {context: c, colours} = this;
    const atEnd = p.event === kDropped && ["wire_down", "wire_loss", "frame_check"].includes(this.world.fabric.causes[p.cause]);
    const f = atEnd ? 0.8 : 0.06;
    const [x, y, fx, fy] = wire.up ? [l.x1, l.y1, l.x2, l.y2] : [l.x2, l.y2, l.x1, l.y1];
    const px = x + (fx - x) * f, py = y + (fy - y) * f, size = l.panel.small ? 3 : 6;
    c.globalAlpha = Math.max(0, 1 - age);
    c.lineWidth = 2.4;
    c.beginPath();
    if (p.event === kDropped) {
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

  drawOptics() {
    const {context: c, colours} = this;
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
      c.font = `${Math.min(12, p.h * 0.55)}px system-ui, sans-serif`;
      c.fillText(`${p.node.word}-${p.node.index}`, p.x, p.y + 0.5);
    }
  }

  drawPorts() {
    const {context: c, colours} = this;
    for (const p of this.places.ports.values()) {
      const dark = p.link.wires.some((w) => isDark(this.troubles.wires.get(w) || []));
      const own = this.hover?.node === p.host || this.focus?.host === p.host.id || this.hover?.host === p.host;
      c.fillStyle = dark ? colours.bad : own ? colours.accent : colours.node;
      c.strokeStyle = own ? colours.accent : colours.nodeline;
      c.lineWidth = 1;
      box(c, p.x - p.w / 2, p.y - p.h / 2, p.w, p.h, Math.min(3, p.w / 3));
      c.fill();
      if (p.w > 4) c.stroke();
      if (!p.label) continue;
      c.fillStyle = dark || own ? colours.paper : colours.soft;
      c.font = "10px system-ui, sans-serif";
      c.fillText(p.host.name, p.x, p.y + 0.5);
    }
  }

  /// A host: its name, what it receives now, and a light for each of its ports.
  drawCards(t) {
    const {context: c, world, colours} = this;
    c.textBaseline = "middle";
    for (const card of this.places.cards) {
      const trouble = this.troubles.nodes.get(card.host.id);
      const own = this.hover?.node === card.host || this.focus?.host === card.host.id || this.chosen.includes(card.host);
      c.fillStyle = colours.paper;
      c.strokeStyle = own ? colours.accent : trouble ? colours.bad : colours.line;
      c.lineWidth = own || trouble ? 2 : 1;
      box(c, card.x, card.y, card.w, card.h, 7);
      c.fill();
      c.stroke();
      let load = 0;
      for (const link of card.host.links) load += world.load(link.wires[1], t).load / Math.max(card.host.links.length, 1);
      c.fillStyle = colours.accent;
      c.globalAlpha = 0.85;
      const wide = card.w - 16;
      if (wide > 4) c.fillRect(card.x + 8, card.y + card.h - 12, wide * Math.min(load, 1), 5);
      c.globalAlpha = 0.25;
      if (wide > 4) c.fillRect(card.x + 8, card.y + card.h - 12, wide, 5);
      c.globalAlpha = 1;
      if (!card.label) continue;
      c.textAlign = "left";
      c.fillStyle = trouble ? colours.bad : colours.ink;
      c.font = "600 13px system-ui, sans-serif";
      c.fillText(card.host.name, card.x + 9, card.y + 13);
      c.fillStyle = colours.soft;
      c.font = "11px system-ui, sans-serif";
      c.textAlign = "right";
      if (card.w > 84) c.fillText(`${Math.round(load * 100)} %`, card.x + card.w - 9, card.y + 13);
      const step = wide / card.host.links.length, size = Math.min(step - 2, 9);
      card.host.links.forEach((link, i) => {
        const dark = link.wires.some((w) => isDark(this.troubles.wires.get(w) || []));
        c.fillStyle = dark ? colours.bad : colours.kinds.sack;
        c.globalAlpha = dark ? 1 : 0.75;
        if (size > 1.5) c.fillRect(card.x + 8 + i * step, card.y + card.h - 28, size, size * 0.8);
      });
      c.globalAlpha = 1;
    }
  }

  drawMarks() {
    if (!this.drag) return;
    const {context: c, colours} = this, d = this.drag;
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

/// Does one of these troubles stop everything?
export function isDark(troubles) {
  return troubles.some((trouble) => /wire_state|port_carrier|switch_state/.test(trouble.effect));
}

function shade(colours, load) {
  if (load < 0.02) return colours.idle;
  return load > 0.97 ? colours.accent : `color-mix(in srgb, ${colours.accent} ${Math.round(25 + 75 * load)}%, ${colours.idle})`;
}

function box(c, x, y, w, h, r) {
  c.beginPath();
  c.roundRect(x, y, w, h, Math.max(0, Math.min(r, w / 2, h / 2)));
}

export function legendItems(by, colours) {
  return by === "kind" ? kKinds.map((kind) => [kind, colours.kinds[kind]]) : [];
}
