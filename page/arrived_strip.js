// Which of a queue pair's latest packets have arrived, as records of packets at both hosts show: what the bitmap of
// the next SACK will carry. A square is a PSN, the newest at the right below.

import {el, note} from "./common.js";
import {sentence, sized} from "./dom.js";
import {isData, kAsking, kDropped} from "./world.js";

const kSpan = 24e6;    // ps of packets that it looks at: two base RTTs of the paper's fabric
const kSquares = 256;  // PSNs that are shown (our choice)
const kAcross = 32, kSize = 9;

/// States by PSN; later records win.
function statesOf(page, end, from, to, t) {
  const {world} = page, states = new Map();
  for (const p of world.packets(page.link, Math.max(0, t - kSpan), t)) {
    if (p.qp !== end.qpn || p.source !== from || p.destination !== to || !isData(p)) continue;
    const wire = world.wires[p.wire], last = world.nodes[wire.to.node] === world.hostNumbered(to);
    const first = world.nodes[wire.from.node] === world.hostNumbered(from);
    if (p.event === kDropped) states.set(p.psn, world.isRefused(p) ? "refused" : "lost");
    else if (world.kindOf(p) === "trimmed") states.set(p.psn, "trimmed");
    else if (last && p.t + wire.link.propagation_ps <= t) states.set(p.psn, "arrived");
    else if (first) states.set(p.psn, p.flags & 1 ? "again" : "sent");
  }
  return states;
}

export function arrivedStrip(page, end, from, to, t) {
  const states = statesOf(page, end, from, to, t), {colours} = page;
  if (!states.size) return [note(sentence(page.world.unseen(Math.max(0, t - kSpan), t) ?? `no data packet of it in the last ${kSpan / 1e6} µs`))];
  const newest = Math.max(...states.keys()), first = Math.max(newest - kSquares + 1, Math.min(...states.keys()));
  const rows = Math.ceil((newest - first + 1) / kAcross), size = Math.min(kSize, Math.floor(page.panels.panel.clientWidth / (kAcross + 3)));
  const canvas = el("canvas", {"aria-label": "latest packets: sent, arrived, trimmed, refused, lost"});
  canvas.style.width = kAcross * size + "px";
  canvas.style.height = rows * size + "px";
  const colour = {arrived: colours.kinds.sack, sent: colours.kinds.data, again: colours.kinds.again, trimmed: colours.kinds.trimmed, lost: colours.bad, refused: colours.soft};
  requestAnimationFrame(() => {
    const {c} = sized(canvas);
    for (let psn = first; psn <= newest; ++psn) {
      const i = psn - first, state = states.get(psn);
      c.fillStyle = colour[state] ?? colours.idle;
      c.globalAlpha = state === "sent" ? 0.45 : 1;
      c.fillRect(i % kAcross * size, Math.floor(i / kAcross) * size, size - 1.5, size - 1.5);
    }
  });
  const unseen = page.world.unseen(Math.max(0, t - kSpan), t);
  const count = (word) => [...states.values()].filter((s) => s === word).length;
  return [canvas, note(`PSN ${first} to ${newest}: ${count("arrived")} arrived, ${count("sent") + count("again")} on the way ` +
                       `(${count("again")} of them retransmitted), ` +
                       `${count("trimmed")} trimmed, ${count("refused")} refused by the receiver, ${count("lost")} lost. What has no colour is older than these microseconds.` + (unseen && unseen !== kAsking ? " " + sentence(unseen) : ""))];
}
