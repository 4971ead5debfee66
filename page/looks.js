// How the page looks: large letters for a hall, how wide the details are, the colours of planes, the span of the time line
// that was chosen. Methods of the page (main.js).

import {el, rate, time} from "./common.js";
import {$, fill} from "./dom.js";
import {bytes} from "./world.js";

const kLeastSide = 240, kGripStep = 24;  // pixels

export const kLooksPart = {
  /// Large letters, or those of a desk again. Kept for the next visit.
  hall(on = document.documentElement.dataset.hall === undefined) {
    if (on) document.documentElement.dataset.hall = "";
    else delete document.documentElement.dataset.hall;
    this.store("hall", on ? "on" : "");
    $("hall").setAttribute("aria-pressed", on ? "true" : "false");
    this.recolour();
  },

  store(key, value) { try { localStorage.setItem("mrclab-" + key, value); } catch { /* a private window keeps nothing */ } },

  /// Another width may have other letters.
  resized() {
    const before = this.colours.scale;
    this.colours.set(document.documentElement.dataset.theme);
    if (this.colours.scale !== before) this.recolour();
    this.line.dirty = this.stale = true;
  },

  /// The border between fabric and details: dragged, or moved by arrow keys.
  grip() {
    const grip = $("grip"), root = document.documentElement;
    const widen = (width) => {
      const most = innerWidth - 320, wide = Math.round(Math.max(kLeastSide, Math.min(width, most)));
      root.style.setProperty("--side", wide + "px");
      grip.setAttribute("aria-valuenow", wide);
      this.store("side", wide);
      this.line.dirty = this.stale = true;
    };
    if (Number(this.stored("side"))) widen(Number(this.stored("side")));
    if (this.stored("hall")) this.hall(true);
    grip.addEventListener("pointerdown", (e) => { grip.setPointerCapture(e.pointerId); e.preventDefault(); });
    grip.addEventListener("pointermove", (e) => { if (e.buttons & 1) widen(innerWidth - e.clientX); });
    grip.addEventListener("keydown", (e) => {
      const by = {ArrowLeft: kGripStep, ArrowRight: -kGripStep}[e.key];
      if (!by) return;
      widen($("side").offsetWidth + by);
      e.preventDefault();
      e.stopPropagation();
    });
  },

  /// Legends may take another line by what `change` does: then the planes get another place.
  keepRoom(change) {
    const before = $("legends").offsetHeight;
    change();
    if ($("legends").offsetHeight === before) return;
    this.fabric.places = null;
    this.fabric.dirty = true;
  },

  planeLegend() {
    const planes = this.world.fabric?.planes;
    if (!planes) return;
    fill($("planes"), Array.from({length: planes}, (_, plane) => {
      const square = el("i");
      square.style.background = this.colours.plane(plane, planes);
      return el("span", {title: "plane " + plane}, square, (planes <= 4 ? "p" : "") + plane);
    }));
  },

  /// What the server counts in a span of the time line; null: none is chosen.
  async spanChosen(from, to) {
    $("span").hidden = from === null;
    if (from === null) return;
    try {
      const s = await this.link.ask({do: "span", from_ps: Math.round(from), to_ps: Math.round(to)});
      if (!this.line.span) return;
      fill($("span"), `${time(s.from_ps)} to ${time(s.to_ps)}: ${bytes(s.received_bytes)} received (${rate(s.rate_bps)}), ${s.lost} lost, ${s.trimmed} trimmed, `
         + `${s.marked} marked, ${s.again} retransmitted, of packets of all kinds. `,
         el("button", {type: "button", title: "(Z)", onclick: () => this.zoomToSpan()}, "zoom to it"), " ",
         el("button", {type: "button", title: "(Esc)", onclick: () => this.line.select(0, 0)}, "clear"));
    } catch (problem) {
      this.say(problem.message);
    }
  },

  zoomToSpan() { if (this.line.span) this.line.show(this.line.span.from, this.line.span.to); },
};
