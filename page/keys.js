// What keys mean, and the overlay that says so. Methods of the page (main.js).

import {$, el, fill} from "./dom.js";

export const kKeys = {
  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || $("dialog").open) return;
    const inText = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.type !== "range";
    if (inText) return;
    if (!$("menu").hidden) return;
    const act = {
      " ": () => this.play(), "ArrowRight": () => this.step(false), "ArrowLeft": () => this.step(true),
      "Home": () => this.seek(0), "End": () => this.seek(this.world.end),
      "+": () => this.setSpeed(Number($("speed").value) + 5), "=": () => this.setSpeed(Number($("speed").value) + 5),
      "-": () => this.setSpeed(Number($("speed").value) - 5), "?": () => this.help(), "f": () => this.setFork(!this.fork),
      "h": () => this.heal("all"), "s": () => this.save(), "l": () => this.lessons.choose(), "d": () => this.theme(), "x": () => this.command({do: "swap"}),
      "c": () => { $("colour").value = this.fabric.by === "kind" ? "qp" : "kind"; this.fabric.by = $("colour").value; this.legend(); },
      "Escape": () => { this.fabric.setFocus(null); this.fabric.chosen = []; this.fabric.selected = null; },
      "[": () => this.seek(Math.max(0, this.world.t - this.world.fabric.base_rtt_ps)),
      "]": () => this.seek(Math.min(this.world.end, this.world.t + this.world.fabric.base_rtt_ps)),
      "n": () => this.chooseNext(1), "p": () => this.chooseNext(-1), "b": () => this.chosenMenu(), "Enter": () => this.chosenMenu(),
    }[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (/^[1-5]$/.test(e.key)) $("step").selectedIndex = Number(e.key) - 1;
    else if (e.code.startsWith("Digit") && e.shiftKey && act === undefined) this.focusPlane(Number(e.code.slice(5)) - 1);
    else if (act && !(e.key === "Enter" && e.target.tagName === "BUTTON") && !(e.key === " " && e.target.tagName === "BUTTON")) act();
    else return;
    e.preventDefault();
  },

  /// Everything that can be broken, in the order in which the keys N and P go through it.
  order() {
    const {world} = this;
    return [...world.optics, ...world.nodes.filter((n) => n.role !== "host"), ...world.hosts, ...world.links];
  },

  chooseNext(by) {
    const all = this.order(), at = all.indexOf(this.fabric.chosen[0]);
    this.fabric.chosen = [all[(at + by + all.length) % all.length]];
    this.say(this.nameOf(this.fabric.chosen[0]));
    this.fabric.dirty = true;
  },

  chosenMenu() {
    if (!this.fabric.chosen.length) this.chooseNext(1);
    const box = $("fabric").getBoundingClientRect();
    this.openMenu(box.left + box.width / 2 - 120, box.top + 60);
  },

  help() {
    const keys = [["Space", "play and pause"], ["← →", "one event back, forward"], ["1 … 5", "what an event is: packet, fault, loss, EV change, QP event"],
      ["[ ]", "one base RTT back, forward"], ["Home End", "to the beginning, to the end"], ["+ −", "faster, slower"], ["N P", "choose the next thing, the one before: optics, switches, hosts, links"],
      ["B, Enter", "break what is chosen"], ["H", "heal all"], ["F", "fork: the next change keeps this future"], ["X", "swap the two futures"], ["Shift 1 … 8", "a plane alone"],
      ["C", "colour packets by kind or by queue pair"], ["S", "save as scenario"], ["L", "lessons"], ["D", "light or dark"], ["Esc", "all planes, nothing chosen"]];
    const dialog = $("dialog");
    fill(dialog, el("h2", {}, "Keys and clicks"), el("dl", {class: "keys"}, keys.map(([k, text]) => [el("dt", {}, k.split(" ").map((x) => [el("kbd", {}, x), " "])), el("dd", {}, text)])),
         el("p", {class: "note"}, "Click a plane to see it alone, a packet to follow it, a switch or host to look at it. Right-click anything to break it; drag to choose several. Double-click: all planes."),
         el("div", {class: "row"}, el("button", {type: "button", class: "main", onclick: () => dialog.close()}, "Close")));
    dialog.showModal();
  },
};
