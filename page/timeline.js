// The time line: what hosts receive per plane over the whole run, losses, trims, marks and retransmissions,
// faults as regions, the other branch as a dashed line, and the instant that is shown. Drag to scrub.

import {rate, time} from "./common.js";
import {sized} from "./dom.js";

const kLanes = [["lost", "bad"], ["trimmed", "trim"], ["again", "again"]];
const kLaneHeight = 10, kAxis = 15;

export class TimeLine {
  constructor(canvas, world, colours, seek) {
    Object.assign(this, {canvas, world, colours, seek, hover: null});
    canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); this.scrub(e); });
    canvas.addEventListener("pointermove", (e) => {
      this.hover = e.offsetX;
      if (e.buttons & 1) this.scrub(e);
      this.dirty = true;
    });
    canvas.addEventListener("pointerleave", () => { this.hover = null; this.dirty = true; });
  }

  scrub(event) {
    if (!this.world.end) return;
    const f = Math.max(0, Math.min(1, event.offsetX / this.canvas.getBoundingClientRect().width));
    this.seek(Math.round(f * this.world.end));
  }

  draw(t) {
    const {world, colours} = this;
    if (!world.fabric) return;
    const {c, w, h} = sized(this.canvas);
    const lanes = kLanes.length * kLaneHeight, height = h - lanes - kAxis - 2;
    const x = (ps) => ps / world.end * w;
    this.regions(c, x, h - kAxis);
    this.areas(c, w, height);
    this.lanes(c, w, height + 2);
    this.axis(c, w, h);
    c.fillStyle = colours.back;
    c.globalAlpha = 0.6;
    if (world.reached < world.end) c.fillRect(x(world.reached), 0, w - x(world.reached), h - kAxis);
    c.globalAlpha = 1;
    if (world.cut) this.cutOff(c, x(world.cut.from_ps), w, h - kAxis);
    if (world.other !== null && world.forkedAt !== undefined) this.vertical(c, x(world.forkedAt), h - kAxis, colours.soft, [3, 3]);
    this.vertical(c, x(t), h - kAxis, colours.ink, []);
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

  /// Where the records end: the line ends there, with a note.
  cutOff(c, left, w, h) {
    const {colours} = this, text = "not recorded";
    this.vertical(c, left, h, colours.bad, []);
    c.font = "10.5px system-ui, sans-serif";
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
    const bins = this.world.fabric.bins, step = Math.max(1, Math.ceil(bins / w)), planes = this.world.fabric.planes;
    const list = [];
    for (let first = 0; first < bins; first += step) {
      const sum = {planes: new Float64Array(planes), lost: 0, trimmed: 0, again: 0, known: 0};
      for (let i = first; i < Math.min(first + step, bins); ++i) {
        const bin = branch?.bins[i];
        if (!bin) continue;
        ++sum.known;
        bin.planes.forEach((p, plane) => {
          sum.planes[plane] += p.received;
          sum.lost += p.lost;
          sum.trimmed += p.trimmed;
          sum.again += p.again;
        });
      }
      list.push({...sum, x: first / bins * w, w: Math.max(step / bins * w, 1)});
    }
    return list;
  }

  most() {
    const hosts = this.world.hosts.reduce((sum, host) => sum + host.links.reduce((s, l) => s + l.rate, 0), 0);
    return hosts / 8 * this.world.bin / 1e12;  // bytes of a bin at line rate
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

  lanes(c, w, y) {
    const {colours} = this, colour = {bad: colours.bad, trim: colours.kinds.trimmed, again: colours.kinds.again};
    const columns = this.columns(this.world.branch, w);
    c.font = "9px system-ui, sans-serif";
    c.textBaseline = "middle";
    kLanes.forEach(([key, name], lane) => {
      c.fillStyle = colours.line;
      c.fillRect(0, y + lane * kLaneHeight + kLaneHeight / 2 - 0.5, w, 1);
      c.fillStyle = colour[name];
      for (const col of columns) if (col[key]) c.fillRect(col.x, y + lane * kLaneHeight + 1, Math.max(col.w, 2), kLaneHeight - 2);
      c.textAlign = "left";
      const words = {lost: "lost", trimmed: "trimmed", again: "retransmitted"};
      const middle = y + lane * kLaneHeight + kLaneHeight / 2, width = c.measureText(words[key]).width;
      c.fillStyle = colours.paper;
      c.fillRect(0, middle - kLaneHeight / 2, width + 6, kLaneHeight);
      c.fillStyle = colours.soft;
      c.fillText(words[key], 1, middle + 0.5);
    });
  }

  axis(c, w, h) {
    const {colours, world} = this;
    c.fillStyle = colours.soft;
    c.font = "10.5px system-ui, sans-serif";
    c.textBaseline = "alphabetic";
    const step = niceStep(world.end / Math.max(2, Math.floor(w / 110)));
    for (let at = 0; at <= world.end; at += step) {
      const x = at / world.end * w;
      c.textAlign = at === 0 ? "left" : x > w - 30 ? "right" : "center";
      c.fillText(time(at), x, h - 3);
    }
  }

  title(c, w) {
    const {colours} = this;
    const text = `what hosts receive, by plane (full height: ${rate(this.most() * 8 / (this.world.bin / 1e12))})`;
    c.font = "10.5px system-ui, sans-serif";
    c.textAlign = "right";
    c.textBaseline = "top";
    const width = c.measureText(text).width;
    c.fillStyle = colours.paper;
    c.globalAlpha = 0.75;
    c.fillRect(w - width - 8, 1, width + 8, 15);
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
    const t = this.hover / w * world.end, bin = world.binAt(t);
    let text = time(Math.round(t / 1e4) * 1e4);
    if (bin) {
      const sum = bin.planes.reduce((s, p) => s + p.received, 0), lost = bin.planes.reduce((s, p) => s + p.lost, 0);
      text += `  received ${rate(sum * 8 / (world.bin / 1e12))}` + (lost ? `, ${lost} lost` : "");
    }
    else text += world.cut && t >= world.cut.from_ps ? "  not recorded" : t > world.reached ? "  not yet there" : "";
    for (const f of world.branch?.faults || []) if (f.from_ps <= t && (f.until_ps ?? Infinity) > t) text += `  ·  ${f.kind}`;
    c.font = "12px system-ui, sans-serif";
    const width = c.measureText(text).width + 14, x = Math.max(0, Math.min(w - width, this.hover - width / 2));
    c.fillStyle = colours.ink;
    c.beginPath();
    c.roundRect(x, 3, width, 20, 6);
    c.fill();
    c.fillStyle = colours.paper;
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.fillText(text, x + 7, 13.5);
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
