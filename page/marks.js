// Marks of faults: what is wrong with a link or a node at the instant, over the packets, one sign for each kind of effect
// that the server names. The legend shows the signs that are on the screen.

/// The server's word of an effect -> [sign, what it means].
const kSigns = {
  wire_state: ["✕", "no light"], port_carrier: ["⊘", "port down"], switch_state: ["✕", "switch dead"], host_state: ["✕", "host dead"],
  wire_loss: ["%", "loses packets"], wire_errors: ["≈", "bit errors"], wire_codewords: ["≈", "codewords lost"], wire_delay: ["+", "late"], wire_duplicates: ["2", "duplicates"],
  wire_rate: ["½", "slower by a fault"], ev_denial: ["–", "path denied"], switch_errors: ["≈", "switch: bit errors"],
  switch_route: ["↯", "wrong route"], switch_trim: ["✂", "does not trim"], switch_ecn: ["∅", "does not mark"], switch_buffer: ["▁", "less buffer"],
  host_burst: ["»", "burst"], host_drain: ["▽", "slow receiver"], host_storm: ["‖", "pause storm"], host_attack: ["☠", "attacks"],
  host_verbs: ["✕", "queue pair ended"],
};
export const signOf = (effect) => kSigns[effect] ?? ["!", effect.replaceAll("_", " ")];
const kMost = 400;  // marks at once: more would hide what they mark

/// One sign, around (x, y).
export function drawSign(c, x, y, trouble, small, colours) {
  const [sign] = signOf(trouble.effect), r = (small ? 5 : 7.5) * colours.scale;
  c.fillStyle = colours.paper;
  c.strokeStyle = trouble.dark ? colours.bad : colours.warn;
  c.lineWidth = 1.6;
  c.beginPath();
  c.arc(x, y, r, 0, 7);
  c.fill();
  c.stroke();
  c.fillStyle = c.strokeStyle;
  c.font = colours.font(small ? 8 : 11, 700);
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText(sign, x, y + 0.5);
}

/// Draws the marks and returns the effects that they are of.
export function drawFaultMarks(c, places, troubles, colours) {
  const seen = new Set(), done = new Set();
  let left = kMost;
  const put = (x, y, trouble, small) => {
    seen.add(trouble.effect);
    if (left-- > 0) drawSign(c, x, y, trouble, small, colours);
  };
  for (const l of places.links) {
    if (!l) continue;
    // One mark for what lets nothing pass, whatever does it, and one for each other kind, side by side along the link.
    const own = l.link.wires.flatMap((wire) => troubles.wires.get(wire) ?? []), dark = own.find((t) => t.dark && t.effect !== "port_carrier") ?? own.find((t) => t.dark);
    const kinds = [...new Map(own.filter((t) => !t.dark).map((t) => [t.effect, t])).values()];
    const along = 17 * colours.scale / (Math.hypot(l.x2 - l.x1, l.y2 - l.y1) || 1);
    (dark ? [dark, ...kinds] : kinds).forEach((t, i) => put(l.x1 + (l.x2 - l.x1) * (0.5 + i * along), l.y1 + (l.y2 - l.y1) * (0.5 + i * along), t, l.panel.small));
  }
  for (const p of [...places.nodes.values(), ...places.cards.map((card) => ({...card, node: card.host, x: card.x + card.w, small: false}))]) {
    const own = troubles.nodes.get(p.node.id);
    if (!own || done.has(p)) continue;
    done.add(p);
    put(p.panel ? p.x + p.w / 2 : p.x - 8, p.panel ? p.y - p.h / 2 : p.y + 8, own[0], p.panel?.small);
  }
  return seen;
}
