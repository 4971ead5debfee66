// What pointing means: hover, click, drag, the menu of what is under the pointer. Methods of the page (main.js).

import {el, time} from "./common.js";
import {$, counted, fill} from "./dom.js";
import {isDatagram} from "./world.js";

export const kPointing = {
  pointer() {
    const canvas = $("fabric");
    let down = null;
    canvas.addEventListener("pointerdown", (e) => { if (e.button === 0) down = {x: e.offsetX, y: e.offsetY}; });
    canvas.addEventListener("pointermove", (e) => {
      if (down && e.buttons & 1 && Math.hypot(e.offsetX - down.x, e.offsetY - down.y) > 6) {
        this.fabric.drag = {x1: down.x, y1: down.y, x2: e.offsetX, y2: e.offsetY};
      } else {
        this.hover(e);
      }
      this.fabric.dirty = true;
    });
    canvas.addEventListener("pointerleave", () => { $("tip").hidden = true; this.fabric.hover = null; this.fabric.dirty = true; });
    canvas.addEventListener("pointerup", (e) => {
      if (e.button !== 0) return;
      if (this.fabric.drag) {
        this.fabric.chosen = this.fabric.inside(this.fabric.drag);
        this.fabric.drag = null;
        if (this.fabric.chosen.length) this.openMenu(e.clientX, e.clientY);
      } else {
        this.click(e);
      }
      down = null;
      this.fabric.dirty = true;
    });
    canvas.addEventListener("dblclick", () => this.isOfRacks() ? null : this.fabric.setFocus(null));
    canvas.addEventListener("contextmenu", (e) => {
      e.preventDefault();
      const found = this.fabric.at(e.offsetX, e.offsetY), thing = this.thing(found);
      if (!thing) return;
      if (!this.fabric.chosen.includes(thing)) this.fabric.chosen = [thing];
      this.openMenu(e.clientX, e.clientY);
    });
  },

  /// What a fault would be about.
  thing(found) {
    switch (found?.what) {
      case "node": case "host": return found.node;
      case "port": case "link": return found.link;
      case "packet": return this.world.wires[found.packet.wire].link;
      case "optic": return found.optic;
      case "plane": return this.planeThing(found.plane);
      case "cell": return this.world.named.get(found.cell.name) ?? null;
    }
    return null;
  },

  planeThing(number) {
    this.planes ??= new Map();
    if (!this.planes.has(number)) this.planes.set(number, {isPlane: true, number, name: "p" + number});
    return this.planes.get(number);
  },

  nameOf(thing) {
    if (thing.isPlane) return "plane " + thing.number;
    return thing.wires ? this.world.linkName(thing) : thing.name;
  },

  openMenu(x, y) {
    const chosen = this.fabric.chosen, one = chosen.length === 1 ? chosen[0] : null;
    const extra = [];
    if (one?.isPlane) extra.push([this.fabric.focus?.plane === one.number ? "show all planes" : "show this plane alone", () => this.focusPlane(one.number)]);
    if (one?.role) extra.push(["look at it", () => this.panels.showNode(one.id)]);
    if (one?.wires) {
      for (const end of [one.a, one.b]) extra.push([`${this.world.portName(end)} over time`, () => this.panels.showNode(end.node, end.port)]);
      if (this.world.nodes[one.a.node].role === "host") extra.push([`break ${this.world.nodes[one.a.node].name} …`, () => { this.choose(this.world.nodes[one.a.node]); this.openMenu(x, y); }]);
    }
    if (one?.role && one.role !== "host") {
      // As a controller would before it works on the switch: nothing is broken, and no host uses it.
      extra.push(["drain it: no host uses its paths", () => this.breakIt("drain", {switch: one.name})]);
    }
    if (one?.role === "host") extra.push(["follow this host's links", () => this.isOfRacks() ? this.goHost(one.id) : this.fabric.setFocus(this.fabric.focus?.host === one.id ? null : {host: one.id})]);
    this.menu.open(x, y, chosen.length === 1 ? this.nameOf(one) : `${chosen.length} chosen`, chosen, extra);
  },

  focusPlane(number) {
    const {rack, plane} = this.fabric.focus ?? {}, within = rack === undefined ? null : {rack};
    this.fabric.setFocus(plane === number ? within : {...within, plane: number});
    this.showState();
  },

  click(e) {
    const found = this.fabric.at(e.offsetX, e.offsetY), thing = this.thing(found);
    if (e.shiftKey && thing) {
      this.fabric.chosen = this.fabric.chosen.includes(thing) ? this.fabric.chosen.filter((c) => c !== thing) : [...this.fabric.chosen, thing];
      return;
    }
    this.fabric.chosen = thing && found.what !== "plane" && found.what !== "packet" ? [thing] : [];
    if (!found) return this.isOfRacks() ? undefined : this.fabric.setFocus(null);
    if (found.what === "cell") return this.clickCell(found.cell);
    if (found.what === "packet" && isDatagram(found.packet)) this.say("A datagram of a burst has no number by which it could be followed.");
    else if (found.what === "packet") this.follow(found.packet);
    else if (found.what === "plane") this.focusPlane(found.plane);
    else if (found.what === "node") this.panels.showNode(found.node.id);
    // A box of a host in a plane is that host, and its port there.
    else if (found.what === "port") this.panels.showNode(found.host.id, found.link.a.node === found.host.id ? found.link.a.port : found.link.b.port);
    else if (found.what === "host") {
      if (this.isOfRacks()) return this.goHost(found.node.id);
      this.panels.node = found.node.id;
      this.panels.port = null;
      this.fabric.setFocus(this.fabric.focus?.host === found.node.id ? null : {host: found.node.id});
      this.panels.show("node");
    } else if (found.what === "link" || found.what === "optic") this.openMenu(e.clientX, e.clientY);
  },

  hover(e) {
    const found = this.fabric.at(e.offsetX, e.offsetY), tip = $("tip");
    this.fabric.hover = found;
    $("fabric").style.cursor = found && found.what !== "plane" ? "pointer" : "default";
    const lines = this.tipOf(found);
    tip.hidden = !lines;
    if (!lines) return;
    fill(tip, el("b", {}, lines[0]), lines.slice(1).map((line) => el("span", {}, line)));
    const box = $("stage").getBoundingClientRect();
    tip.style.left = Math.min(e.offsetX + 14, box.width - tip.offsetWidth - 6) + "px";
    tip.style.top = Math.min(e.offsetY + 14, box.height - tip.offsetHeight - 6) + "px";
  },

  tipOf(found) {
    const {world} = this, t = world.now();
    if (!found || found.what === "plane") return null;
    if (found.what === "cell") return this.tipOfCell(found.cell);
    if (found.what === "packet") {
      const p = found.packet, w = world.wires[p.wire];
      if (isDatagram(p)) return ["datagram", `h${p.source} → h${p.destination}, ${p.length} bytes, of no queue pair`, `${world.portName(w.from)} → ${world.portName(w.to)}`];
      return [`${world.fabric.opcodes[p.opcode].replaceAll("_", " ")}${world.kindOf(p) === "trimmed" ? ", trimmed" : ""}${p.flags & 1 ? ", retransmitted" : ""}`,
              `h${p.source} → h${p.destination}, PSN ${p.psn}, ${p.length} bytes`, `${world.portName(w.from)} → ${world.portName(w.to)}`,
              p.waited ? `waited ${time(p.waited * 1e3)} in the queue` : p.flags & 4 ? "did not wait" : "its wait was not seen here"];
    }
    if (found.what === "optic") return ["optic " + found.optic.name, `${counted(found.optic.links.length, "link shares", "links share")} it`, "click to break it"];
    if (found.what === "node" || found.what === "host") {
      const troubles = world.troubles(t).nodes.get(found.node.id) ?? [];
      return [found.node.name, found.node.isPart ? `${found.node.word}, of whose ports those to racks that are followed are shown` : `${found.node.word}, ${counted(found.node.ports.length, "port")}`, ...troubles.map((x) => x.fault.text)];
    }
    const link = found.link, [a, b] = link.wires.map((w) => world.load(w, t));
    const bad = new Set(link.wires.flatMap((w) => (world.troubles(t).wires.get(w) ?? []).map((x) => x.fault.text)));
    const slow = link.slow ? ", slower than others of its kind" : "";
    return [...(found.what === "port" ? [`${found.host.name}, its port ${world.portName(link.a.node === found.host.id ? link.a : link.b)}`] : []),
            link.name.replace("--", " – "), `${link.rate / 1e9} Gb/s${slow}`, `up ${Math.round(a.load * 100)} %, down ${Math.round(b.load * 100)} %`,
            ...(link.optic ? ["optic " + link.optic.name] : []), ...bad];
  },

  /// Lights the path of a cell of the matrix: which links it has, the server says.
  async light(found) {
    const words = found ? {source: found.flow[0], destination: found.flow[1], path: found.path} : null, lit = JSON.stringify(words);
    if (lit === this.lit) return;
    this.lit = lit;
    const links = words ? await this.link.ask({do: "path", ...words}).then((answer) => answer.links, () => []) : [];
    if (lit !== this.lit) return;  // the pointer is elsewhere by now
    this.fabric.path = new Set(links);
    this.fabric.dirty = true;
  },
};
