// The time line: what hosts receive per plane over the whole run, losses, trims, marks and retransmissions,
// faults as regions, the other branch as a dashed line, and the instant that is shown. Drag to scrub, drag with Shift to
// choose a span, turn the wheel to zoom.

import {rate, time} from "./common.js";
import {sized} from "./dom.js";

const kLanes = [["lost", "bad"], ["trimmed", "trim"], ["again", "again"]];
const kLaneHeight = 10, kAxis = 15;

const kMostZoom = 200;

/// `seek(t)` goes to an instant; `chosen(from, to)` has chosen a span, or none with null.
export class TimeLine {
  constructor(canvas, world, colours, seek, chosen) {
    Object.assign(this, {canvas, world, colours, seek, chosen, hover: null, from: 0, to: null, span: null});
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      if (e.shiftKey) this.anchor = this.timeAt(e.offsetX);
      else this.scrub(e);
    });
    canvas.addEventListener("pointermove", (e) => {
      this.hover = e.offsetX;
      if (e.buttons & 1 && this.anchor !== undefined) this.select(this.anchor, this.timeAt(e.offsetX));
      else if (e.buttons & 1) this.scrub(e);
      this.dirty = true;
    });
    canvas.addEventListener("pointerup", () => {
      if (this.anchor !== undefined && this.span) this.chosen(this.span.from, this.span.to);
      this.anchor = undefined;
    });
    canvas.addEventListener("pointerleave", () => { this.hover = null; this.dirty = true; });
    canvas.addEventListener("dblclick", () => this.show(0, world.end));
    canvas.addEventListener("wheel", (e) => {
      if (!world.end) return;
      e.preventDefault();
      if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan(e.deltaX / this.width * (this.until - this.from));
      else this.zoom(e.deltaY < 0 ? 1.25 : 0.8, this.timeAt(e.offsetX));
    }, {passive: false});
  }

  /// What is shown: [from, until).
  get until() { return this.to ?? this.world.end; }
  get width() { return this.canvas.getBoundingClientRect().width || 1; }
  get isWhole() { return this.from === 0 && this.until === this.world.end; }
  timeAt(x) { return Math.round(Math.max(0, Math.min(this.world.end, this.from + x / this.width * (this.until - this.from)))); }

  show(from, to) {
    const {end, bin} = this.world, least = Math.max(end / kMostZoom, bin * 4);
    const length = Math.min(Math.max(to - from, least), end);
    this.from = Math.max(0, Math.min(from, end - length));
    this.to = this.from + length >= end ? null : this.from + length;
    this.dirty = true;
    this.shown?.();
  }

  /// `by` times nearer; `around` stays where it is.
  zoom(by, around = this.world.now()) {
    const length = this.until - this.from, at = Math.max(0, Math.min(1, (around - this.from) / length));
    this.show(around - at * length / by, around + (1 - at) * length / by);
  }

  pan(by) { this.show(this.from + by, this.until + by); }

  select(a, b) {
    this.span = Math.abs(a - b) < this.world.bin / 2 ? null : {from: Math.min(a, b), to: Math.max(a, b)};
    this.dirty = true;
    if (!this.span) this.chosen(null);
  }

  scrub(event) {
    if (!this.world.end) return;
    this.seek(this.timeAt(Math.max(0, Math.min(event.offsetX, this.width))));
  }

  draw(t) {
    const {world, colours} = this;
    if (!world.fabric) return;
    const {c, w, h} = sized(this.canvas);
    const s = colours.scale, lane = kLaneHeight * s, axis = kAxis * s;
    const lanes = kLanes.length * lane, height = h - lanes - axis - 2;
    // While it plays in a part, the part goes along.
    if (!this.isWhole && world.playing && t > this.until) this.show(t, t + this.until - this.from);
    const x = (ps) => (ps - this.from) / (this.until - this.from) * w;
    this.regions(c, x, h - axis);
    this.areas(c, w, height);
    this.lanes(c, w, height + 2, lane);
    this.axis(c, w, h);
    const known = Math.max(world.reached, (world.branch?.known ?? 0) * world.bin);
    c.fillStyle = colours.back;
    c.globalAlpha = 0.6;
    if (known < this.until) c.fillRect(Math.max(0, x(known)), 0, w, h - axis);
    c.globalAlpha = 1;
    if (world.cut) this.cutOff(c, x(world.cut.from_ps), w, h - axis);
    if (this.span) this.drawSpan(c, x(this.span.from), x(this.span.to), h - axis);
    if (world.other !== null && world.forkedAt !== undefined) this.vertical(c, x(world.forkedAt), h - axis, colours.soft, [3, 3]);
    this.vertical(c, x(t), h - axis, colours.ink, []);
    c.fillStyle = colours.ink;
    c.beginPath();
    c.moveTo(x(t) - 5, 0);
    c.lineTo(x(t) + 5, 0);
    c.lineTo(x(t), 7);
    c.fill();
    if (w > 600) this.title(c, w);
    if (this.hover !== null) this.label(c, w, h);
    this.dirty = false;
  }

  drawSpan(c, left, right, h) {
    c.fillStyle = this.colours.accent;
    c.globalAlpha = 0.16;
    c.fillRect(left, 0, right - left, h);
    c.globalAlpha = 1;
    this.vertical(c, left, h, this.colours.accent, []);
    this.vertical(c, right, h, this.colours.accent, []);
  }

  /// Where the records end: the line ends there, with a note.
  cutOff(c, left, w, h) {
    const {colours} = this, text = "not recorded";
    this.vertical(c, left, h, colours.bad, []);
    c.font = colours.font(11);
    c.textBaseline = "middle";
    c.textAlign = w - left < 90 ? "right" : "left";
    c.fillStyle = colours.bad;
    c.fillText(text, w - left < 90 ? left - 4 : left + 4, h / 2);
  }

  regions(c, x, h) {
    const {world, colours} = this;
    for (const fault of world.branch?.faults || []) {
      const left = x(fault.from_ps), right = Math.max(x(fault.until_ps ?? world.end), left + 2);
      c.fillStyle = `rgba(${colours.shade}, 0.16)`;
      c.fillRect(left, 0, right - left, h);
      c.fillStyle = `rgba(${colours.shade}, 0.9)`;
      c.fillRect(left, 0, 1, h);
      c.fillRect(right - 1, 0, 1, h);
    }
  }

  /// Bins to columns of a pixel or more.
  columns(branch, w) {
    const {bin: length, fabric: {bins, planes}} = this.world;
    const begin = Math.max(0, Math.floor(this.from / length)), end = Math.min(bins, Math.ceil(this.until / length));
    const shown = (this.until - this.from) / length, step = Math.max(1, Math.ceil(shown / w));
    const list = [];
    for (let first = begin; first < end; first += step) {
      const sum = {planes: new Float64Array(planes), lost: 0, trimmed: 0, again: 0, known: 0};
      for (let i = first; i < Math.min(first + step, end); ++i) {
        const bin = branch?.bins[i];
        if (!bin?.planes) continue;
        ++sum.known;
        sum.again += bin.again ?? 0;
        bin.planes.forEach((p, plane) => {
          sum.planes[plane] += p.received;
          sum.lost += p.lost;
          sum.trimmed += p.trimmed;
          sum.again += p.again;
        });
      }
      list.push({...sum, x: (first - this.from / length) / shown * w, w: Math.max(step / shown * w, 1)});
    }
    return list;
  }

  /// Bytes of a bin at full height: line rate, or where never half of it was used a little more than what was.
  most() {
    const hosts = this.world.fabric.whole?.line_bps ?? this.world.hosts.reduce((sum, host) => sum + host.links.reduce((s, l) => s + l.rate, 0), 0);
const line = hosts / 8 * this.world.bin / 1e12, known = this.world.branch?.known ?? 0;
    if (this.mostOf !== `${this.world.number} ${known}`) {
      this.mostOf = `${this.world.number} ${known}`;
      this.mostSeen = 0;
      for (const bin of this.world.branch?.bins ?? []) if (bin?.planes) this.mostSeen = Math.max(this.mostSeen, bin.planes.reduce((sum, p) => sum + p.received, 0));
    }
    const used = this.mostSeen * 1.15;
    return used > 0 && used < line / 2 ? used : line;
  }

  areas(c, w, h) {
    const {world, colours} = this, most = this.most() * 1.04;
    const columns = this.columns(world.branch, w);
    const base = new Float64Array(columns.length);
    for (let plane = 0; plane < world.fabric.planes; ++plane) {
      c.fillStyle = colours.plane(plane, world.fabric.planes);
      c.globalAlpha = 0.78;
      c.beginPath();
      columns.forEach((col, i) => {
        if (!col.known) return;
        const value = smooth(columns, i, plane);
        const high = value / most * h;
        c.rect(col.x, h - base[i] - high, col.w + 0.35, high);
        base[i] += high;
      });
      c.fill();
    }
    c.globalAlpha = 1;
    const other = world.other === null ? null : world.of(world.other);
    if (!other) return;
    c.strokeStyle = colours.ink;
    c.setLineDash([5, 3]);
    c.lineWidth = 1.4;
    c.beginPath();
    const line = this.columns(other, w);
    line.forEach((col, i) => {
      if (!col.known) return;
      let sum = 0;
      for (let plane = 0; plane < world.fabric.planes; ++plane) sum += smooth(line, i, plane);
      c.lineTo(col.x + col.w / 2, h - sum / most * h);
    });
    c.stroke();
    c.setLineDash([]);
  }

  lanes(c, w, y, kHigh) {
    const {colours} = this, colour = {bad: colours.bad, trim: colours.kinds.trimmed, again: colours.kinds.again};
    const columns = this.columns(this.world.branch, w);
    c.font = colours.font(10);
    c.textBaseline = "middle";
    kLanes.forEach(([key, name], lane) => {
      c.fillStyle = colours.line;
      c.fillRect(0, y + lane * kHigh + kHigh / 2 - 0.5, w, 1);
      c.fillStyle = colour[name];
      for (const col of columns) if (col[key]) c.fillRect(col.x, y + lane * kHigh + 1, Math.max(col.w, 2), kHigh - 2);
      c.textAlign = "left";
      const words = {lost: "lost", trimmed: "trimmed", again: "retransmitted"};
      const middle = y + lane * kHigh + kHigh / 2, width = c.measureText(words[key]).width;
      c.fillStyle = colours.paper;
      c.fillRect(0, middle - kHigh / 2, width + 6, kHigh);
      c.fillStyle = colours.soft;
      c.fillText(words[key], 1, middle + 0.5);
    });
  }

  axis(c, w, h) {
    const {colours, world} = this;
    c.fillStyle = colours.soft;
    c.font = colours.font(11);
    c.textBaseline = "alphabetic";
    const length = this.until - this.from, step = niceStep(length / Math.max(2, Math.floor(w / (110 * colours.scale))));
    for (let at = Math.ceil(this.from / step) * step; at <= this.until; at += step) {
      const x = (at - this.from) / length * w;
      c.textAlign = x < 20 ? "left" : x > w - 30 ? "right" : "center";
      c.fillText(time(at), x, h - 3);
    }
  }

  title(c, w) {
    const {colours} = this;
    const text = `what hosts receive, by plane (full height: ${rate(this.most() * 8 / (this.world.bin / 1e12))})`;
    c.font = colours.font(11);
    c.textAlign = "right";
    c.textBaseline = "top";
    const width = c.measureText(text).width;
    c.fillStyle = colours.paper;
    c.globalAlpha = 0.75;
    c.fillRect(w - width - 8, 1, width + 8, 15 * colours.scale);
    c.globalAlpha = 1;
    c.fillStyle = colours.soft;
    c.fillText(text, w - 4, 3);
  }

  vertical(c, x, h, colour, dash) {
    c.strokeStyle = colour;
    c.lineWidth = 1.4;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(x, 0);
    c.lineTo(x, h);
    c.stroke();
    c.setLineDash([]);
  }

  label(c, w, h) {
    const {world, colours} = this;
    const t = this.timeAt(this.hover), bin = world.binAt(t);
    let text = time(Math.round(t / 1e4) * 1e4);
    if (bin?.planes) {
      const sum = bin.planes.reduce((s, p) => s + p.received, 0), lost = bin.planes.reduce((s, p) => s + p.lost, 0);
      text += `  received ${rate(sum * 8 / (world.bin / 1e12))}` + (lost ? `, ${lost} lost` : "");
    }
    else text += world.cut && t >= world.cut.from_ps ? "  not recorded" : t > world.reached ? "  not simulated yet" : "";
    for (const f of world.branch?.faults || []) if (f.from_ps <= t && (f.until_ps ?? Infinity) > t) text += `  ·  ${f.kind}`;
    c.font = colours.font(12);
    const width = c.measureText(text).width + 14, x = Math.max(0, Math.min(w - width, this.hover - width / 2));
    c.fillStyle = colours.ink;
    c.beginPath();
    c.roundRect(x, 3, width, 20 * colours.scale, 6);
    c.fill();
    c.fillStyle = colours.paper;
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.fillText(text, x + 7, 3 + 10.5 * colours.scale);
  }
}

/// Packets come in lumps of a third of a bin: neighbours are averaged for the eye.
function smooth(columns, i, plane) {
  let sum = 0, weight = 0;
  for (let k = Math.max(0, i - 3); k <= Math.min(columns.length - 1, i + 3); ++k) {
    if (!columns[k].known) continue;
    sum += columns[k].planes[plane];
    weight += columns[k].known;
  }
  return weight ? sum / weight : 0;
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
}
