// The palette: commands, things of the fabric, queue pairs, lessons and instants, found by name.

import {el, note, time} from "./common.js";
import {$, fill} from "./dom.js";
import {kCommands, keyWords} from "./keys.js";

const kMost = 40;  // rows that are shown
const kUnits = {ps: 1, ns: 1e3, us: 1e6, "µs": 1e6, ms: 1e9};

export class Palette {
  constructor(page) {
    Object.assign(this, {page, at: 0});
  }

  /// Everything that a text finds, the commands first.
  found(text) {
    const {world} = this.page, words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (row) => words.every((word) => row.text.toLowerCase().includes(word) || row.id?.includes(word));
    const rows = kCommands.map((c) => ({id: c.id, text: c.text, keys: keyWords(c), act: () => c.act(this.page)}));
    const at = /^([\d.]+)\s*(ps|ns|us|µs|ms)$/.exec(text.trim());
    if (at) {
      const t = Math.round(Number(at[1]) * kUnits[at[2]]);
      if (t >= 0 && t <= world.end) return [{text: "go to " + time(t), act: () => this.page.seek(t)}];
    }
    const place = this.page.placeNamed(text);
    if (place) return [place];
    if (words.length) {
      for (const thing of this.page.order()) {
        rows.push({text: "choose " + this.page.nameOf(thing), act: () => { this.page.choose(thing); this.page.chosenMenu(); }});
      }
      for (const q of world.qps) {
        rows.push({text: `queue pair ${q.peer.split(":")[0]} to ${q.host}, ${q.qp}`,
                   act: () => { this.page.panels.qp = q.qpn; this.page.panels.qpHost = Number(q.host.slice(1)); this.page.panels.show("qp"); }});
      }
      for (const lesson of world.fabric.lessons ?? []) rows.push({text: "lesson: " + lesson.title, act: () => this.page.lessons.start(lesson.name)});
    }
    return rows.filter(fits);
  }

  open() {
    if (!this.page.world.branch) return;
    const dialog = $("dialog"), list = el("ul", {id: "found", role: "listbox", "aria-label": "what was found"});
    const input = el("input", {type: "text", id: "palette", autocomplete: "off", spellcheck: "false", role: "combobox", "aria-controls": "found", "aria-expanded": "true",
                               placeholder: "a command, p0.t0-1, h3, 150us, a lesson …", oninput: () => { this.at = 0; show(); }});
    // Until the next frame a browser would go on giving keys to the field of a dialog that is closed.
    const run = (row) => { input.blur(); dialog.close(); row.act(); };
    const show = () => {
      const rows = this.found(input.value), shown = rows.slice(0, kMost);
      this.at = Math.max(0, Math.min(this.at, shown.length - 1));
      fill(list, shown.map((row, i) => el("li", {role: "option", "data-id": row.id, "aria-selected": i === this.at ? "true" : "false", onclick: () => run(row)},
                                          row.text, el("span", {}, (row.keys ?? []).map((key) => [el("kbd", {}, key), " "])))),
           rows.length > kMost ? note(`and ${rows.length - kMost} more: type more of the name`) : rows.length ? null : note("Nothing has this name."));
      list.querySelector("[aria-selected=true]")?.scrollIntoView({block: "nearest"});
      return shown;
    };
    input.addEventListener("keydown", (e) => {
      const step = {ArrowDown: 1, ArrowUp: -1}[e.key];
      if (step) this.at += step;
      else if (e.key !== "Enter") return;
      e.preventDefault();
      const rows = show();
      if (e.key === "Enter" && rows[this.at]) run(rows[this.at]);
    });
    this.at = 0;
    fill(dialog, input, list);
    show();
    dialog.showModal();
    input.focus();
  }
}
