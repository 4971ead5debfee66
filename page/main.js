// The page: joins world, fabric, time line and panels, and turns keys and clicks into commands.

import {el, time} from "./common.js";
import {$, copy, fill, sentence} from "./dom.js";
import {Link} from "./link.js";
import {us, World} from "./world.js";
import {Colours, kKindWords} from "./colours.js";
import {FabricView, legendItems} from "./fabric.js";
import {signOf} from "./marks.js";
import {kLooksPart} from "./looks.js";
import {kWholePointing} from "./whole_pointing.js";
import {TimeLine} from "./timeline.js";
import {commandOf, lineOf, Menu} from "./menu.js";
import {kTabs, Panels} from "./panels.js";
import {Lessons} from "./lessons.js";
import {kPointing} from "./pointing.js";
import {kCommands, kKeys} from "./keys.js";
import {kSettingUp} from "./situations.js";
import {Palette} from "./palette.js";

const kSlowest = 1e4, kFastest = 1e9;  // ps of fabric time per second: 10 ns to 1 ms
const kSpeedWords = (ps) => time(ps) + "/s";

class Page {
  constructor() {
    this.world = new World();
    this.stored = (key) => { try { return localStorage.getItem("mrclab-" + key); } catch { return null; } };
    if (this.stored("theme")) document.documentElement.dataset.theme = this.stored("theme");
    this.colours = new Colours();
    this.fork = false;
    const words = new URLSearchParams(location.search);
    if (words.has("class") && !words.get("name")) return void askName("");
    this.link = new Link(visitor(words), (m) => this.heard(m), (s, why) => this.connection(s, why), () => this.sendSeek());
    this.fabric = new FabricView($("fabric"), this.world, this.link, this.colours);
    this.fabric.placed = (height) => { $("legends").style.bottom = height + 1 + "px"; };
    this.fabric.legendHigh = () => $("legends").offsetHeight;
    this.fabric.marksChanged = (effects) => this.keepRoom(() => fill($("marks"), effects.map((effect) => el("span", {"data-effect": effect}, el("b", {}, signOf(effect)[0]), signOf(effect)[1])),
      this.world.links.some((l) => l.slow) ? el("span", {}, el("b", {class: "slow"}, "┄┄"), "slower link") : null));
    this.line = new TimeLine($("line"), this.world, this.colours, (t) => this.seek(t), (from, to) => this.spanChosen(from, to));
    this.line.shown = () => { this.stale = true; };
    this.menu = new Menu(this);
    this.lessons = new Lessons(this);
    this.palette = new Palette(this);
    this.panels = new Panels(this, $("tabs"), $("panel"));
    this.controls();
    this.pointer();
    this.wholeControls();
    addEventListener("keydown", (e) => this.key(e));
    addEventListener("hashchange", () => this.readHash());
    addEventListener("resize", () => this.resized());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    let last = 0;
    const frame = (now) => {
      this.frame(now, now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  // --- messages of the server --------------------------------------------------------------------------

  connection(state, why) {
    if (state === "unwelcome") return askName(why);
    $("gone").hidden = state === "open";
    if (state === "open") return;
    $("gone").textContent = {
      refused: "mrclab does not let this page in. Open the link that `mrclab serve` printed: its token is part of it.",
      broken: "mrclab has ended, or cannot be reached. Trying again …",
      stopped: `The simulator in this page has stopped: ${why}. Load the page again to begin anew.`,
    }[state];
  }

  heard(message) {
    const word = this.world.take(message);
    if (word === "welcome") {
      const w = this.world.fabric;
      $("what").textContent = `${w.scenario} on ${w.fabric}`;
      document.title = `${w.scenario} – mrclab`;
      this.fabric.places = null;
      this.fabric.cell = null;
      this.fabric.setFocus(null);
      this.panels.welcome();
      this.panels.verdict = null;
      this.panels.life = null;
      this.line.show(0, this.world.end);
      this.planeLegend();
      this.legend();
    } else if (word === "branch") {
      if (this.fork && message.other !== null) this.setFork(false);
      this.panels.difference = null;
      const {lesson, student} = this.world.fabric;
      if (lesson) this.lessons.resume(lesson, student?.notes ?? []);
    } else if (word === "state") {
      if (!this.readOnce && this.world.branch) {  // before showState() writes the link anew
        this.readOnce = true;
        this.readHash();
      }
      this.showState();
    } else if (word === "error" || word === "note") {
      this.say(message.text);
    }
    this.badges();
    this.fabric.dirty = this.line.dirty = true;
    this.stale = true;
  }

  showState() {
    const {world} = this;
    $("play").textContent = world.playing ? "❚❚" : "▶";
    $("play").setAttribute("aria-label", world.playing ? "pause" : "play");
    if (document.activeElement !== $("speed")) $("speed").value = 100 * Math.log(world.perSecond / kSlowest) / Math.log(kFastest / kSlowest);
    $("speedtext").textContent = kSpeedWords(world.perSecond);
    if (!world.playing && world.branch) history.replaceState(null, "", location.pathname + location.search + this.hash());
  }

  badges() {
    const {world} = this, t = world.now();
    if (!world.branch) return;
    const open = world.branch.faults.filter((f) => f.from_ps <= t && (f.until_ps ?? Infinity) > t);
    const student = world.fabric.student?.name;
    const key = student + world.branch.world + open.map((f) => f.number).join() + world.mine + world.controlsFree + world.browsers + world.other + this.fork + world.cut?.from_ps + (world.fabric.whole ? world.reached : "") + world.goal;
    if (key === this.badgeKey) return;
    this.badgeKey = key;
    fill($("badges"), student ? el("span", {class: "badge", id: "student"}, student) : null, world.branch.world === "live" ? el("span", {class: "badge on", id: "world", title: `daemons in network namespaces, packets on veths: ip netns exec mrclab-${world.branch.lab}-${world.nodes[0].name} tcpdump`}, "live") :
           world.branch.world === "run" ? el("span", {class: "badge", id: "world", title: "what the nodes of a finished run wrote down"}, "recorded") : null,
         world.cut ? el("span", {class: "badge hot", id: "cut", title: world.cut.why}, `recorded up to ${time(world.cut.from_ps)}`) : null,
         world.fabric.whole && world.reached < world.end ? el("span", {class: "badge on", id: "come"}, world.goal != null ? `simulating to ${time(world.goal)}: ${time(world.reached)}` : `simulated up to ${time(world.reached)}`) : null,
         open.length ? el("span", {class: "badge hot"}, open.length === 1 ? open[0].kind : `${open.length} faults in force`) : null,
         world.other !== null ? el("span", {class: "badge on"}, "two branches") : null,
         world.browsers > 1 ? el("span", {class: "badge"}, `${world.browsers} browsers`) : null,
         world.browsers > 1 || !world.mine ? el("button", {type: "button", id: "hand", class: "badge", onclick: () => this.link.say({do: world.mine ? "give" : "take"})},
           world.mine ? "hand over the controls" : world.controlsFree ? "take the controls" : "another browser has the controls") : null);
  }

  // --- commands -----------------------------------------------------------------------------------------

  async command(command) {
    try {
      const answer = await this.acknowledged(command);
      if (answer.say === "note") this.say(answer.text);
    } catch (problem) {
      this.say(problem.message);
    }
  }

  /// The server answers every command with a ticket.
  acknowledged(command) { return this.link.ask(command); }

  seek(t) {
    this.world.t = t;
    this.world.asOf = this.world.soughtAt = performance.now();
    this.fabric.dirty = this.line.dirty = true;
    clearTimeout(this.seeking);
    this.seekTo = Math.round(t);
    this.seeking = setTimeout(() => this.sendSeek(), 30);
  }

  /// The instant that the page already shows: no other message may be sent before it.
  sendSeek() {
    const to = this.seekTo;
    this.seekTo = null;
    if (to != null) this.command({do: "seek", at_ps: to});
  }

  step(back) {
    this.command({do: "step", to: $("step").value, back});
  }

  play() {
    const {world} = this;
    if (world.playing) return this.command({do: "pause"});
    if (world.t >= world.end) this.world.t = 0;
    this.command({do: "play", per_second_ps: Math.round(world.perSecond)});
  }

  setSpeed(value) {
    const speed = kSlowest * (kFastest / kSlowest) ** (Math.max(0, Math.min(100, value)) / 100);
    this.world.perSecond = speed;
    $("speedtext").textContent = kSpeedWords(speed);
    this.command({do: "play", per_second_ps: Math.round(speed), playing: this.world.playing});
  }

  async breakIt(kind, body, rethrow = false) {
    const t = this.world.t;
    try {
      await this.link.ask({do: "break", kind, body, fork: this.fork});
      this.did(commandOf(kind, body), lineOf(kind, body, t));
      this.say(kind + (kind === "incast" ? `: ${body.size} of datagrams from each sender, at once` : ""));
      this.undo = "break";
    } catch (problem) {
      if (rethrow) throw problem;
      this.say(problem.message);
    }
  }

  async heal(what) {
    await this.command({do: "heal", what, fork: this.fork});
    this.did(`mrclab heal ${what}`.trim(), `healed: ${us(this.world.t)}`);
  }

  setFork(on) {
    this.fork = on;
    $("fork").setAttribute("aria-pressed", on ? "true" : "false");
    if (on) this.say("The next change keeps this branch and begins another one.");
    this.badges();
  }

  /// As a command, and as a line of a scenario; one of them may be empty.
  did(command, line = "") {
    $("did").hidden = false;
    for (const [id, text] of [["command", command], ["line-of-yaml", line]]) {
      $(id).textContent = text;
      $(id).parentElement.hidden = !text;
    }
  }

  say(text) {
    $("caption").textContent = text;
    $("caption").classList.add("on");
    clearTimeout(this.saying);
    this.saying = setTimeout(() => $("caption").classList.remove("on"), 4200);
  }

  follow(packet) {
    this.fabric.selected = packet;
    this.panels.look(packet);
  }

  async save() {
    try {
      const answer = await this.link.ask({do: "yaml"}), name = answer.name;
      const text = this.lessons.comments(name) + answer.text;
      const link = el("a", {href: URL.createObjectURL(new Blob([text], {type: "text/yaml"})), download: name + "-session.yaml"}, "Download");
      const dialog = $("dialog");
      const done = el("span", {class: "note"});
      fill(dialog, el("h2", {}, "This session as a scenario"), el("p", {class: "note"}, answer.cut ? sentence(answer.cut) + " The scenario from there on was not seen." : "It has the same history, to the picosecond. Run it with:"),
           el("pre", {id: "command"}, `mrclab run ${name}-session.yaml --world sim`), el("p", {class: "note"}, `${name}-session.yaml:`),
           el("pre", {id: "yaml"}, text), el("div", {class: "row"}, done, el("button", {type: "button", onclick: async () => { done.textContent = await copy(text) ? "copied" : "select it above"; }}, "Copy the file"),
           link, el("button", {type: "button", class: "main", onclick: () => dialog.close()}, "Close")));
      link.className = "button";
      dialog.showModal();
    } catch (problem) {
      this.say(problem.message);
    }
  }

  // --- links to an instant ---------------------------------------------------------------------------------

  hash() {
    let text = "#t=" + us(this.world.t);
    if (this.panels.tab !== "story") text += "&tab=" + this.panels.tab;
    if (this.panels.tab === "qp" && this.panels.qp !== null) text += "&qp=" + this.panels.qp;
    if (this.fabric.focus?.rack !== undefined) text += "&rack=" + this.fabric.focus.rack;
    if (this.fabric.focus?.rack !== undefined && this.fabric.focus.host !== undefined) text += "&host=" + this.world.nodes[this.fabric.focus.host].index;
    if (this.fabric.focus?.plane !== undefined) text += "&plane=" + this.fabric.focus.plane;
    return text;
  }

  readHash() {
    const words = new URLSearchParams(location.hash.slice(1)), at = /^([\d.]+)us$/.exec(words.get("t") ?? "");
    if (words.has("qp")) this.panels.qp = Number(words.get("qp"));
    if (words.has("plane")) this.fabric.setFocus({plane: Number(words.get("plane"))});
    const rack = Number(words.get("rack") ?? NaN), host = this.world.hostNumbered(Number(words.get("host") ?? NaN));
    if (this.isOfRacks() && this.world.isFollowed(rack)) this.fabric.setFocus({rack, ...(words.has("plane") ? {plane: Number(words.get("plane"))} : {}), ...(host ? {host: host.id} : {})});
    if (words.has("lesson")) this.lessons.start(words.get("lesson"));
    if (kTabs.some(([name]) => name === words.get("tab"))) this.panels.show(words.get("tab"));
    // What a link does is only what can be looked at.
    for (const id of (words.get("do") ?? "").split(",")) kCommands.find((c) => c.id === id && c.looks)?.act(this);
    if (at && Math.round(Number(at[1]) * 1e6) !== this.world.t) this.seek(Math.round(Number(at[1]) * 1e6));
  }

  // --- controls ---------------------------------------------------------------------------------------------

  controls() {
    const on = (id, act) => $(id).addEventListener("click", act);
    on("first", () => this.seek(0));
    on("back", () => this.step(true));
    on("forward", () => this.step(false));
    on("play", () => this.play());
    on("fork", () => this.setFork(!this.fork));
    on("heal", () => this.heal("all"));
    on("save", () => this.save());
    on("lessons", () => this.lessons.choose());
    on("help", () => this.help());
    on("find", () => this.palette.open());
    on("theme", () => this.theme());
    on("hall", () => this.hall());
    on("zoom-in", () => this.line.zoom(1.6));
    on("zoom-out", () => this.line.zoom(1 / 1.6));
    on("zoom-all", () => this.line.show(0, this.world.end));
    this.grip();
    for (const button of document.querySelectorAll("[data-copies]")) {
      button.addEventListener("click", async () => this.say(await copy($(button.dataset.copies).textContent) ? "copied" : "select it to copy it"));
    }
    $("speed").addEventListener("input", (e) => this.setSpeed(Number(e.target.value)));
    $("colour").addEventListener("change", (e) => this.colourBy(e.target.value));
  }

  colourBy(what) {
    this.fabric.by = $("colour").value = what;
    this.legend();
  }

  theme() {
    const next = this.colours.dark ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("mrclab-theme", next); } catch { /* a private window keeps nothing */ }
    this.recolour();
  }

  recolour() {
    this.colours.set(document.documentElement.dataset.theme);
    this.legend();
    this.planeLegend();
    this.fabric.places = null;
    this.fabric.dirty = this.line.dirty = true;
  }

  legend() {
    if (this.world.fabric && this.fabric.isWhole()) fill($("legend"), this.wholeLegend());
    else fill($("legend"), legendItems(this.fabric.by, this.colours).map(([kind, colour]) => {
      const line = el("i");
      line.style.background = colour;
      return el("span", {}, line, kKindWords[kind]);
    }));
    this.fabric.dirty = true;
  }

  // --- frames ----------------------------------------------------------------------------------------------------

  frame(now, took) {
    const {world} = this;
    if (!world.branch) return;
    const t = world.now();
    if (world.playing || this.fabric.dirty || now - (this.drawn ?? 0) > 250) {
      this.fabric.draw(t);
      this.drawn = now;
    }
    if (this.line.dirty || world.playing && now - (this.lined ?? 0) > 60) {
      this.line.draw(t);
      this.lined = now;
    }
    const clock = (t / 1e6).toFixed(world.playing ? 2 : 6) + " µs";
    if ($("clock").textContent !== clock) $("clock").textContent = clock;
    if (now - (this.ticked ?? 0) > (world.playing ? 200 : 400) || this.stale && !world.playing) {
      this.ticked = now;
      this.stale = false;
      this.badges();
      this.panels.tick();
    }
    this.frames = Math.max(0, (this.frames ?? took) * 0.95 + took * 0.05);
  }
}

/// Who asks to be let in. Of a class the browser keeps a secret, by which its student comes back.
function visitor(words) {
  const who = {token: words.get("token") ?? ""};
  if (!words.has("class")) return who;
  let key = null;
  try {
    key = localStorage.getItem("mrclab-key");
    if (!key) localStorage.setItem("mrclab-key", key = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join(""));
  } catch { /* a private window keeps nothing */ }
  return {...who, name: words.get("name") ?? "", key: key ?? "none"};
}

/// Of a class everybody has a name; the page is loaded again with it, so that a reload comes back to it.
function askName(why) {
  const dialog = $("dialog"), name = el("input", {type: "text", id: "name", maxlength: 40, "aria-label": "your name", autocomplete: "off"});
  const enter = () => {
    const words = new URLSearchParams(location.search);
    words.set("name", name.value.trim());
    if (name.value.trim()) location.search = words;
  };
  name.addEventListener("keydown", (e) => { if (e.key === "Enter") enter(); });
  dialog.addEventListener("cancel", (e) => e.preventDefault());
  fill(dialog, el("h2", {}, "Your name"), el("p", {class: why ? "error" : "note"}, why || "Your teacher sees it beside what you predict and what you find."), name,
       el("div", {class: "row"}, el("button", {type: "button", class: "main", id: "enter", onclick: enter}, "Begin")));
  if (!dialog.open) dialog.showModal();
  name.focus();
}

Object.assign(Page.prototype, kPointing, kKeys, kSettingUp, kLooksPart, kWholePointing);
window.mrclab = new Page();
