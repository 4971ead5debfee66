// What a sender has learnt of its receiver: the bytes of the newest SACK that has arrived at its host. A cell is a
// PSN of the bitmap; PSNs outside the bitmap are not known to the sender.

import {el, note, time} from "./common.js";
import {sentence, sized} from "./dom.js";

const kHigh = 14, kLabel = 14, kEvery = 150;  // pixels, pixels, ms between two questions

export class SackRow {
  constructor(page) {
    Object.assign(this, {page, said: null, key: "", asked: 0});
  }

  /// Of the queue pair `qp` of host `host`, at t.
  parts(host, qp, t) {
    this.ask(host, qp, Math.round(t));
    const sack = this.said;
    if (!sack || sack.who !== `${host} ${qp}`) return [note("…")];
    if (sack.problem) return [note(sentence(sack.problem))];
    if (!sack.found && sack.kept_from_ps !== undefined) return [note(`No SACK since ${time(sack.kept_from_ps)}; what came before is no longer kept.`)];
    if (!sack.found) return [note("No SACK has come back yet. (RC has none: it acknowledges with one number.)")];
    const states = statesOf(sack.bits), count = (word) => states.filter((s) => s === word).length, last = psn(sack.first + states.length - 1);
    const told = `PSN ${sack.first} to ${last}: ${count("received")} received, ${count("missing")} missing, ${count("beyond")} beyond the newest that it has`;
    const canvas = el("canvas", {id: "sack", class: "row", "data-states": states.map((s) => s[0]).join(""), role: "img", "aria-label": told});
    requestAnimationFrame(() => this.paint(canvas, sack, states, last));
    const gap = psn(sack.first - sack.cumulative - 1);
    return [canvas, note(`All up to PSN ${sack.cumulative} was received. ${told}. ` +
                         (gap > 0 ? `Its bitmap does not cover the ${gap} between them. ` : "") + `From the SACK that came in at ${time(sack.t_ps)}.`)];
  }

  ask(host, qp, at_ps) {
    const {world, link} = this.page, key = `${world.number} ${host} ${qp} ${at_ps} ${Math.min(world.reached, at_ps)}`;
    if (this.asking || key === this.key || performance.now() - this.asked < kEvery) return;
    Object.assign(this, {key, asking: true, asked: performance.now()});
    link.ask({do: "sack", host, qp, at_ps, branch: world.number}).then((said) => {
      this.asking = false;
      this.said = {...said, who: `${host} ${qp}`};
      if (this.page.panels.tab === "qp") this.page.panels.draw();
    }, (problem) => {
      this.asking = false;
      this.said = {problem: problem.message, who: `${host} ${qp}`};
    });
  }

  paint(canvas, sack, states, last) {
    const {c, w} = sized(canvas), {colours} = this.page, step = w / states.length;
    states.forEach((state, i) => {
      c.fillStyle = {received: colours.kinds.sack, missing: colours.bad, beyond: colours.idle}[state];
      c.globalAlpha = state === "beyond" ? 0.6 : 1;
      // What is missing is lower too, so that it needs no colour to be seen.
      const low = state === "missing" ? kHigh / 2 : 0;
      c.fillRect(i * step, low, Math.max(step - 1, 1), kHigh - low);
    });
    c.globalAlpha = 1;
    c.font = "10.5px system-ui, sans-serif";
    c.textBaseline = "bottom";
    c.fillStyle = colours.soft;
    c.textAlign = "left";
    c.fillText(sack.first, 0, kHigh + kLabel);
    c.textAlign = "right";
    c.fillText(last, w, kHigh + kLabel);
  }
}

const psn = (value) => value & 0xffffff;

/// What each bit means: a zero below the highest bit set is a gap, one above it has no meaning.
function statesOf(bits) {
  const newest = bits.lastIndexOf("1");
  return [...bits].map((bit, i) => bit === "1" ? "received" : i < newest ? "missing" : "beyond");
}
