// Everything that can be done by name or by key: one table for the keyboard, the overlay of help and the palette.
// Methods of the page (main.js). A command's id stays as it is: links have it (`do=`).

import {el} from "./common.js";
import {$, fill} from "./dom.js";
import {kTabs} from "./panels.js";
import {kSituations} from "./situations.js";

/// {id, keys, text, act(page)}; `looks`: it changes nothing but what is shown, so a link may hold it.
export const kCommands = [
  {id: "time.play", keys: [" "], text: "play and pause", act: (p) => p.play()},
  {id: "time.back", keys: ["ArrowLeft"], text: "one event back", act: (p) => p.step(true)},
  {id: "time.forward", keys: ["ArrowRight"], text: "one event forward", act: (p) => p.step(false)},
  ...["any packet", "fault", "loss", "EV change", "QP event"].map((what, i) =>
    ({id: "step." + ["packet", "fault", "loss", "path", "qp"][i], keys: [String(i + 1)], text: "events are from now on: " + what, looks: true,
      act: () => { $("step").selectedIndex = i; }})),
  {id: "list.back", keys: [","], text: "back to the event before, of those that the list of events shows", act: (p) => p.panels.events.step(true)},
  {id: "list.forward", keys: ["."], text: "on to the next event that the list of events shows", act: (p) => p.panels.events.step(false)},
  {id: "time.rtt_back", keys: ["["], text: "one base RTT back", act: (p) => p.seek(Math.max(0, p.world.t - p.world.fabric.base_rtt_ps))},
  {id: "time.rtt_forward", keys: ["]"], text: "one base RTT forward", act: (p) => p.seek(Math.min(p.world.end, p.world.t + p.world.fabric.base_rtt_ps))},
  {id: "time.first", keys: ["Home"], text: "to the beginning", act: (p) => p.seek(0)},
  {id: "time.last", keys: ["End"], text: "to the end", act: (p) => p.seek(p.world.end)},
  {id: "time.faster", keys: ["+", "="], text: "faster", act: (p) => p.setSpeed(Number($("speed").value) + 5)},
  {id: "time.slower", keys: ["-"], text: "slower", act: (p) => p.setSpeed(Number($("speed").value) - 5)},
  {id: "choose.next", keys: ["n"], text: "choose the next thing: optics, switches, hosts, links", looks: true, act: (p) => p.chooseNext(1)},
  {id: "choose.before", keys: ["p"], text: "choose the thing before", looks: true, act: (p) => p.chooseNext(-1)},
  {id: "fault.menu", keys: ["b", "Enter"], text: "break what is chosen", act: (p) => p.chosenMenu()},
  {id: "fault.heal", keys: ["h"], text: "heal all", act: (p) => p.heal("all")},
  ...kSituations.map((s) => ({id: "setup." + s.id, keys: [s.key], text: "set up: " + s.text, act: (p) => p.setUp(s)})),
  {id: "branch.fork", keys: ["f"], text: "fork: the next change keeps this branch", act: (p) => p.setFork(!p.fork)},
  {id: "branch.swap", keys: ["x"], text: "swap the two branches", act: (p) => p.command({do: "swap"})},
  {id: "branch.difference", keys: [], text: "the first packet that differs", act: (p) => { p.panels.show("faults"); p.panels.differ(); }},
  ...kTabs.map(([name, title]) => ({id: "tab." + name, keys: [], text: "tab: " + title, looks: true, act: (p) => p.panels.show(name)})),
  {id: "judge", keys: ["j"], text: "judge this session", act: (p) => { p.panels.show("story"); p.panels.judge(); }},
  {id: "colour", keys: ["c"], text: "colour packets by kind or by queue pair", looks: true, act: (p) => p.colourBy(p.fabric.by === "kind" ? "qp" : "kind")},
  {id: "save", keys: ["s"], text: "save as scenario", act: (p) => p.save()},
  {id: "lessons", keys: ["l"], text: "lessons", act: (p) => p.lessons.choose()},
  {id: "line.in", keys: ["e"], text: "time line: nearer, around the instant", looks: true, act: (p) => p.line.zoom(1.6)},
  {id: "line.out", keys: ["w"], text: "time line: further away", looks: true, act: (p) => p.line.zoom(1 / 1.6)},
  {id: "line.span", keys: ["z"], text: "time line: the span that was chosen (drag with Shift)", looks: true, act: (p) => p.zoomToSpan()},
  {id: "line.whole", keys: ["q"], text: "time line: the whole run", looks: true, act: (p) => p.line.show(0, p.world.end)},
  {id: "waits", keys: ["y"], text: "who waits for whom now", looks: true, act: (p) => { p.panels.show("story"); $("waits")?.scrollIntoView(); }},
  {id: "hall", keys: ["a"], text: "large letters, for a hall", looks: true, act: (p) => p.hall()},
  {id: "theme", keys: ["d"], text: "light or dark", looks: true, act: (p) => p.theme()},
  {id: "planes.all", keys: ["Escape"], text: "all planes, nothing chosen", looks: true,
   act: (p) => { if (p.isOfRacks()) p.up(); else p.fabric.setFocus(null); p.fabric.chosen = []; p.fabric.selected = null; p.line.select(0, 0); }},
  {id: "cells", keys: ["m"], text: "a large fabric: colour switches by load, queue, losses, trims or marks", looks: true, act: (p) => p.nextMeasure()},
  {id: "palette", keys: ["/", "Ctrl K"], text: "find a command, a thing of the fabric, an instant, a lesson, by name", act: (p) => p.palette.open()},
  {id: "help", keys: ["?"], text: "this overlay", act: (p) => p.help()},
];

const kByKey = new Map(kCommands.flatMap((command) => command.keys.map((key) => [key, command])));
const kShown = {" ": "Space", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", "-": "−"};
const shown = (key) => kShown[key] ?? (key.length === 1 ? key.toUpperCase() : key);
export const keyWords = (command) => command.keys.filter((key) => key !== "=").map(shown);

export const kKeys = {
  key(e) {
    if ($("dialog").open) return;
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
      this.palette.open();
      return e.preventDefault();
    }
    if (e.ctrlKey || e.metaKey || e.altKey || !$("menu").hidden) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && !/^(range|checkbox)$/.test(e.target.type)) return;
    const onButton = e.target.tagName === "BUTTON" || e.target.type === "checkbox";
    if (onButton && (e.key === "Enter" || e.key === " ")) return;
    const command = kByKey.get(e.key.length === 1 ? e.key.toLowerCase() : e.key);
    if (command) command.act(this);
    else if (e.code.startsWith("Digit") && e.shiftKey) this.focusPlane(Number(e.code.slice(5)) - 1);
    else return;
    e.preventDefault();
  },

  /// Everything that can be broken, in the order in which the keys N and P go through it.
  order() {
    const {world} = this;
    return [...world.optics, ...world.nodes.filter((n) => n.role !== "host"), ...world.hosts, ...world.links];
  },

  choose(thing) {
    this.fabric.chosen = [thing];
    this.say(this.nameOf(thing));
    this.fabric.dirty = true;
  },

  chooseNext(by) {
    const all = this.order(), at = all.indexOf(this.fabric.chosen[0]);
    this.choose(all[(at + by + all.length) % all.length]);
  },

  chosenMenu() {
    if (!this.fabric.chosen.length) this.chooseNext(1);
    const box = $("fabric").getBoundingClientRect();
    this.openMenu(box.left + box.width / 2 - 120, box.top + 60);
  },

  help() {
    const dialog = $("dialog"), listed = kCommands.filter((c) => c.keys.length);
    const row = (keys, text) => [el("dt", {}, keys.map((key) => [el("kbd", {}, key), " "])), el("dd", {}, text)];
    fill(dialog, el("h2", {}, "Keys and clicks"), el("dl", {class: "keys"}, listed.map((c) => row(keyWords(c), c.text)), row(["Shift 1", "… 8"], "a plane alone")),
         el("p", {class: "note"}, "Click a plane to see it alone, a packet to follow it, a switch or host to look at it. Right-click anything to break it; drag to choose several. Double-click: all planes. A fabric of more than 1,024 nodes is shown by switch and rack: the wheel goes in and out."),
         el("div", {class: "row"}, el("button", {type: "button", class: "main", onclick: () => dialog.close()}, "Close")));
    dialog.showModal();
    dialog.scrollTop = 0;  // not where the button is that has the focus
  },
};
