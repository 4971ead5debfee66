// Hosts in the fabric: a box in each plane, and a card below. Methods of FabricView (fabric.js).

import {box, isDark} from "./strokes.js";

export const kHostDrawing = {
  drawPorts() {
    const {context: c, colours} = this;
    for (const p of this.places.ports.values()) {
      const dark = p.link.wires.some((w) => isDark(this.troubles.wires.get(w) || []));
      const own = this.hover?.node === p.host || this.focus?.host === p.host.id || this.hover?.host === p.host;
      const framed = p.w > 4;
      c.fillStyle = dark ? colours.bad : own ? colours.accent : framed ? colours.node : colours.nodeline;
      c.strokeStyle = own ? colours.accent : colours.nodeline;
      c.lineWidth = 1;
      box(c, p.x - p.w / 2, p.y - p.h / 2, p.w, p.h, Math.min(3, p.w / 3));
      c.fill();
      if (framed) c.stroke();
      if (!p.label) continue;
      c.fillStyle = dark || own ? colours.paper : colours.soft;
      c.font = `${Math.min(11 * colours.scale, p.w * 0.55, p.h * 0.7)}px system-ui, sans-serif`;
      c.fillText(p.host.name, p.x, p.y + 0.5, p.w - 1);
    }
  },

  /// A host: its name, what it receives now, and a light for each of its ports.
  drawCards() {
    const {context: c, colours} = this;
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
      for (const link of card.host.links) load += this.loads.load[link.wires[1]] / card.host.links.length;
      // What it receives: a bar below, or where there is no room for one, how far the card is full.
      const wide = card.w - 16, bar = wide > 4;
      c.fillStyle = colours.accent;
      c.globalAlpha = 0.85;
      if (bar) c.fillRect(card.x + 8, card.y + card.h - 12, wide * Math.min(load, 1), 5);
      else c.fillRect(card.x, card.y + card.h * (1 - Math.min(load, 1)), card.w, card.h * Math.min(load, 1));
      c.globalAlpha = 0.25;
      if (bar) c.fillRect(card.x + 8, card.y + card.h - 12, wide, 5);
      c.globalAlpha = 1;
      if (!card.label) continue;
      c.textAlign = "left";
      c.fillStyle = trouble ? colours.bad : colours.ink;
      c.font = colours.font(13, 600);
      c.fillText(card.host.name, card.x + 9, card.y + 13 * colours.scale);
      c.fillStyle = colours.soft;
      c.font = colours.font(11);
      c.textAlign = "right";
      if (card.w > 84) c.fillText(`${Math.round(load * 100)} %`, card.x + card.w - 9, card.y + 13 * colours.scale);
      const step = wide / card.host.links.length, size = Math.min(step - 2, 9);
      card.host.links.forEach((link, i) => {
        const dark = link.wires.some((w) => isDark(this.troubles.wires.get(w) || []));
        c.fillStyle = dark ? colours.bad : colours.kinds.sack;
        c.globalAlpha = dark ? 1 : 0.75;
        if (size > 1.5) c.fillRect(card.x + 8 + i * step, card.y + card.h - 28, size, size * 0.8);
      });
      c.globalAlpha = 1;
    }
  },
};
