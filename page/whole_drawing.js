// A fabric that is too large to be shown packet by packet: each plane as a box, each switch as a cell of it, coloured by what
// it did in the window of the instant. Methods of FabricView (fabric.js).

import {bestColumns} from "./layout.js";
import {drawSign} from "./marks.js";

const kGap = 12, kMostCell = 34, kLeastCell = 3;  // pixels
const kSteps = 12;                                // of a colour that can be distinguished
const kMostSigns = 60;                            // more would hide what they mark: outlines alone
const kCaptions = {t0: "T0", t1: "T1", t2: "T2"};

/// How much of its colour a cell has, 0 to 1: shares as they are, counts by their logarithm (1,000: all).
function depth(cell, by) {
  if (by === "load" || by === "queue") return Math.min(cell[by], 1);
  return cell[by] ? Math.min(1, 0.3 + 0.7 * Math.log10(cell[by]) / 3) : 0;
}

export const kWholeDrawing = {
  isWhole() { return Boolean(this.world.fabric?.whole) && this.focus?.rack === undefined; },

  /// Where everything is: {panels: plane -> box with blocks}. A block is the cells of one tier, row by row.
  placeWhole() {
    const {world, width, height, colours: {scale}} = this, planes = Array.from({length: world.fabric.planes}, (_, p) => p);
    const top = 8 + this.crumbsHigh(), area = {x: 8, y: top, w: width - 16, h: height - top - 8 - Math.max(24 * scale, this.legendHigh?.() ?? 0)};
    const panels = new Map(), chosen = this.focus?.plane, shown = chosen === undefined ? planes : [chosen];
    const columns = bestColumns(shown.length, area), rows = Math.ceil(shown.length / columns);
    const w = (area.w - (columns - 1) * kGap) / columns, h = (area.h - (rows - 1) * kGap) / rows;
    shown.forEach((plane, i) => panels.set(plane, {plane, x: area.x + i % columns * (w + kGap), y: area.y + Math.floor(i / columns) * (h + kGap), w, h}));
    const tiers = [...world.fabric.whole.tiers].reverse(), caption = 16 * scale, title = 26 * scale;
    for (const panel of panels.values()) {
      const room = panel.h - title - tiers.length * caption - 10, wide = panel.w - 20;
      let size = kMostCell;
      const rowsOf = (tier) => Math.ceil(tier.count / Math.floor(wide / size));
      while (size > kLeastCell && tiers.reduce((sum, tier) => sum + rowsOf(tier), 0) * size > room) size -= size > 12 ? 1 : 0.5;
      const across = Math.floor(wide / size);
      let y = panel.y + title;
      panel.blocks = tiers.map((tier) => {
        const block = {role: tier.role, first: tier.first[panel.plane], count: tier.count, x: panel.x + 10, y: y + caption, size, across};
        y += caption + rowsOf(tier) * size;
        return block;
      });
    }
    return {cardsTop: height - 4, nodes: new Map(), ports: new Map(), links: [], optics: [], cards: [], panels};
  },

  /// The corner of a cell, and its size; null: its plane is not shown.
  cellBox(place) {
    for (const panel of this.places.panels.values()) {
      for (const block of panel.blocks) {
        const i = place - block.first;
        if (i >= 0 && i < block.count) return {x: block.x + i % block.across * block.size, y: block.y + Math.floor(i / block.across) * block.size, size: block.size};
      }
    }
    return null;
  },

  hitWhole(x, y) {
    for (const [plane, panel] of this.places.panels) {
      if (x < panel.x || x > panel.x + panel.w || y < panel.y || y > panel.y + panel.h) continue;
      for (const block of panel.blocks) {
        const column = Math.floor((x - block.x) / block.size), row = Math.floor((y - block.y) / block.size), i = row * block.across + column;
        if (column >= 0 && column < block.across && row >= 0 && i < block.count) return {what: "cell", cell: this.world.switchAt(block.first + i), away: 0};
      }
      return {what: "plane", plane, place: panel, away: 0};
    }
    return null;
  },

  cellColour(step) {
    const {colours, measure} = this, key = measure + step + colours.dark;
    this.cellColours ??= new Map();
    if (!this.cellColours.has(key)) {
      const full = {load: colours.accent, queue: colours.warn, lost: colours.bad, trimmed: colours.kinds.trimmed, marked: colours.kinds.probe}[measure];
      this.cellColours.set(key, step === 0 ? colours.idle : `color-mix(in srgb, ${full} ${Math.round(20 + 80 * step / kSteps)}%, ${colours.idle})`);
    }
    return this.cellColours.get(key);
  },

  drawWhole(t) {
    const {world, front} = this;
    if (!this.places) {
      this.places = this.placeWhole();
      this.placed?.(this.height - this.places.cardsTop);
      this.grounded = undefined;
    }
    this.troubles = world.troubles(t);
    this.shown = [];
    if (!world.playing || this.grounded === undefined || performance.now() - this.grounded > 30) {
      this.grounded = performance.now();
      this.dirty = false;
      this.drawCells(t);
    }
    front.setTransform(1, 0, 0, 1, 0, 0);
    front.drawImage(this.ground, 0, 0);
    front.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.drawPlaces(t);
  },

  drawCells(t) {
    const {context: c, world, colours} = this, window = world.windowAt(t), filled = new Map(), small = {lost: [], trimmed: []};
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = colours.back;
    c.fillRect(0, 0, this.width, this.height);
    this.drawPanels(t);
    c.textAlign = "left";
    c.textBaseline = "alphabetic";
    for (const panel of this.places.panels.values()) {
      for (const block of panel.blocks) {
        c.fillStyle = colours.soft;
        c.font = colours.font(10.5);
        c.fillText(`${kCaptions[block.role]} · ${block.count}`, block.x, block.y - 4 * colours.scale);
        for (let i = 0; i < block.count; ++i) {
          const x = block.x + i % block.across * block.size, y = block.y + Math.floor(i / block.across) * block.size;
          const cell = window ? world.cellOf(window, block.first + i) : null, step = cell ? Math.ceil(depth(cell, this.measure) * kSteps) : 0;
          if (!filled.has(step)) filled.set(step, []);
          filled.get(step).push(x, y, block.size);
          if (cell?.lost && this.measure !== "lost") small.lost.push(x, y, block.size);
          else if (cell?.trimmed && this.measure !== "trimmed") small.trimmed.push(x, y, block.size);
        }
      }
    }
    for (const [step, cells] of filled) {
      c.fillStyle = this.cellColour(step);
      for (let i = 0; i < cells.length; i += 3) c.fillRect(cells[i], cells[i + 1], cells[i + 2] - gapOf(cells[i + 2]), cells[i + 2] - gapOf(cells[i + 2]));
    }
    // What was lost or trimmed in the window is seen whatever the colours mean.
    for (const [what, colour] of [["trimmed", colours.kinds.trimmed], ["lost", colours.bad]]) {
      c.fillStyle = colour;
      for (let i = 0; i < small[what].length; i += 3) {
        const [x, y, size] = small[what].slice(i, i + 3), inner = Math.max(2, size * 0.4), at = (size - gapOf(size) - inner) / 2;
        c.fillStyle = colours.paper;
        if (size >= 8) c.fillRect(x + at - 1.5, y + at - 1.5, inner + 3, inner + 3);
        c.fillStyle = colour;
        c.fillRect(x + at, y + at, inner, inner);
      }
    }
  },

  /// What is followed, faulted, chosen and pointed at, over the cells.
  drawPlaces(t) {
    const {front: c, world, colours} = this, {switches, hosts} = world.placesInTrouble(t), marked = new Set();
    const outline = (place, colour, width, out = 0) => {
      const b = this.cellBox(place);
      if (!b) return;
      const side = b.size - gapOf(b.size);
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.strokeRect(b.x - out, b.y - out, side + 2 * out, side + 2 * out);
    };
    const racks = (rack, colour, width, out) => {
      for (const plane of this.places.panels.keys()) outline(world.placeOf(plane, "t0", rack), colour, width, out);
    };
    for (const rack of world.fabric.whole.followed) racks(rack, colours.ink, 1.4, 0.5);
    const troubled = new Map(switches);
    for (const [host, troubles] of hosts) {
      for (const plane of this.places.panels.keys()) {
        const place = world.placeOf(plane, "t0", world.rackOf(host));
        if (!troubled.has(place)) troubled.set(place, troubles);
      }
    }
    for (const [place, troubles] of troubled) {
      outline(place, troubles.some((x) => x.dark) ? colours.bad : colours.warn, 1.6, 0.5);
      for (const x of troubles) marked.add(x.effect);
    }
    if (troubled.size <= kMostSigns) {
      for (const [place, troubles] of troubled) {
        const b = this.cellBox(place);
        if (b) drawSign(c, b.x + b.size + 3, b.y + b.size + 3, troubles.find((x) => x.dark) ?? troubles[0], b.size < 14, colours);
      }
    }
    const key = "whole" + [...marked].sort().join();
    if (key !== this.marked) this.marksChanged?.([...marked]);
    this.marked = key;
    if (this.hover?.cell) {
      if (this.hover.cell.rack !== null) racks(this.hover.cell.rack, colours.accent, 1.6, 1);
      outline(this.hover.cell.place, colours.accent, 2.6, 1);
    }
    if (this.cell != null) {
      outline(this.cell, colours.paper, 4.5, 2);
      outline(this.cell, colours.accent, 2.4, 2);
    }
  },
};

/// Pixels between cells.
const gapOf = (size) => size >= 8 ? 1.5 : size >= 5 ? 1 : 0.5;
