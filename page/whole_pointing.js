// How one goes through a fabric that is shown by switch and rack: plane, rack, host, by wheel, click, name and key. Methods
// of the page (main.js).

import {el} from "./common.js";
import {$, fill} from "./dom.js";
import {kMeasures} from "./whole_world.js";

const kNotch = 60, kWheelRest = 260;  // pixels of the wheel to the next level, and ms between two
const kName = /^(?:(h)(\d+)|p(\d+)\.(t[012])-(\d+)|(rack) ?(\d+))(?::(\w+))?$/i;

export const kWholePointing = {
  isOfRacks() { return Boolean(this.world.fabric?.whole); },

  /// The wheel over the fabric, and the line of breadcrumbs above it.
  wholeControls() {
    let turned = 0, before = 0;
    $("fabric").addEventListener("wheel", (e) => {
      if (!this.isOfRacks()) return;
      e.preventDefault();
      if (Math.sign(e.deltaY) !== Math.sign(turned)) turned = 0;
      turned += e.deltaY * (e.deltaMode === 1 ? 20 : 1);
      if (Math.abs(turned) < kNotch || performance.now() - before < kWheelRest) return;
      before = performance.now();
      if (turned < 0) this.nearer(this.fabric.at(e.offsetX, e.offsetY));
      else this.up();
      turned = 0;
    }, {passive: false});
    this.fabric.crumbsHigh = () => this.isOfRacks() ? $("crumbs").offsetHeight + 4 : 0;
    this.fabric.levelChanged = () => this.levelChanged();
  },

  levelChanged() {
    $("crumbs").hidden = !this.isOfRacks();
    if (!this.isOfRacks()) return;
    this.crumbs();
    this.legend();
    this.stale = true;
  },

  crumbs() {
    const {world, fabric: {focus}} = this, whole = world.fabric.whole;
    $("crumbs").hidden = false;
    const to = (text, go) => el("button", {type: "button", class: "link", onclick: go}, text);
    const parts = [to(`${world.fabric.fabric}: ${whole.hosts.toLocaleString("en")} hosts`, () => this.goWhere(null))];
    if (focus?.rack !== undefined) {
      const [first, last] = world.hostsOf(focus.rack);
      parts.push(to(`rack ${focus.rack}: h${first} to h${last}`, () => this.goWhere({rack: focus.rack})));
    }
    if (focus?.plane !== undefined) parts.push(to(`plane ${focus.plane}`, () => this.goWhere(focus)));
    if (focus?.host !== undefined) parts.push(to(world.nodes[focus.host].name, () => this.goWhere(focus)));
    fill($("crumbs"), parts.flatMap((part, i) => i ? [el("span", {"aria-hidden": "true"}, "›"), part] : [part]),
         el("span", {class: "note"}, focus?.host !== undefined ? "" : focus?.rack !== undefined ? "click a host" : "outlined racks are followed: click one"));
  },

  goWhere(focus) {
    this.fabric.hover = null;
    $("tip").hidden = true;
    this.fabric.setFocus(focus);
    this.showState();
  },

  /// One level out.
  up() {
    const {focus} = this.fabric;
    if (!focus) return;
    if (focus.host !== undefined || focus.plane !== undefined && focus.rack !== undefined) return this.goWhere({rack: focus.rack});
    this.goWhere(null);
  },

  /// One level in, to what is there.
  nearer(found) {
    const {fabric, world} = this;
    if (fabric.isWhole()) {
      if (found?.what === "cell" && found.cell.rack !== null && world.isFollowed(found.cell.rack)) return this.goWhere({rack: found.cell.rack});
      if (found?.what === "cell") return this.chooseCell(found.cell.place);
      if (found?.what === "plane" && fabric.focus?.plane === undefined) return this.goWhere({plane: found.plane});
      return;
    }
    if (found?.what === "host" || found?.what === "port") return this.goHost((found.node ?? found.host).id);
    if (found?.what === "plane" && fabric.focus?.plane === undefined && fabric.focus?.host === undefined) this.goWhere({rack: fabric.focus.rack, plane: found.plane});
  },

  goHost(id) {
    this.goWhere({rack: this.world.rackOf(this.world.nodes[id].index), host: id});
    this.panels.showNode(id);
  },

  chooseCell(place) {
    this.fabric.cell = place;
    this.fabric.dirty = true;
    this.panels.chooseSwitch(this.world.switchAt(place));
  },

  /// A click on a cell: a rack that is followed is gone to, of all others the details are shown.
  clickCell(cell) {
    if (cell.rack !== null && this.world.isFollowed(cell.rack)) this.goWhere({rack: cell.rack});
    this.chooseCell(cell.place);
  },

  /// What a name leads to: {text, act}; null: it is no name of this fabric.
  placeNamed(text) {
    const {world} = this, found = this.isOfRacks() ? kName.exec(text.trim()) : null;
    if (!found) return null;
    const whole = world.fabric.whole, [, , host, plane, role, index, , rackText, port] = found;
    const goRack = (rack) => () => {
      this.goWhere(world.isFollowed(rack) ? {rack} : null);
      this.fabric.cell = world.placeOf(0, "t0", rack);
      this.panels.chooseRack(rack);
    };
    if (host !== undefined) {
      if (Number(host) >= whole.hosts) return null;
      const node = world.hostNumbered(Number(host)), rack = world.rackOf(Number(host));
      return {text: `go to h${host}, in rack ${rack}`, act: node ? () => this.goHost(node.id) : goRack(rack)};
    }
    if (rackText !== undefined) return Number(rackText) < whole.racks ? {text: `go to rack ${rackText}`, act: goRack(Number(rackText))} : null;
    const place = world.placeOf(Number(plane), role.toLowerCase(), Number(index));
    if (place === null) return null;
    const {name, rack} = world.switchAt(place), node = world.named.get(name), at = port === undefined ? -1 : node?.ports.indexOf(port) ?? -1;
    return {text: `go to ${name}${port ? ":" + port : ""}`, act: () => {
      this.goWhere(rack !== null && world.isFollowed(rack) ? {rack} : null);
      this.chooseCell(place);
      if (at >= 0) this.panels.showNode(node.id, at);
    }};
  },

  /// Where a fault is: the switch or the rack that has most of it.
  goFault(fault) {
    const {world} = this, held = fault.places[0];
    if (world.t < fault.from_ps || world.t >= (fault.until_ps ?? Infinity)) this.seek(fault.from_ps);
    if (!held) return;
    this.goWhere(null);
    const most = [...held.switches].sort((a, b) => (a[1] === 0 ? -1 : b[1] === 0 ? 1 : b[1] - a[1]))[0];
    if (most) this.chooseCell(most[0]);
    else if (held.hosts.length) this.chooseCell(world.placeOf(0, "t0", world.rackOf(held.hosts[0][0])));
  },

  measureBy(what) {
    this.fabric.measure = what;
    this.fabric.dirty = true;
    this.legend();
    this.panels.fabricKey = null;
    this.stale = true;
  },

  nextMeasure() {
    if (!this.isOfRacks()) return;
    const at = kMeasures.findIndex(([name]) => name === this.fabric.measure);
    this.measureBy(kMeasures[(at + 1) % kMeasures.length][0]);
    this.say("cells: " + kMeasures.find(([name]) => name === this.fabric.measure)[1]);
  },

  wholeLegend() {
    const {colours, fabric} = this, bar = el("i", {class: "wide"});
    bar.style.background = `linear-gradient(to right, ${fabric.cellColour(0)}, ${fabric.cellColour(12)})`;
    const square = (colour, text) => { const i = el("i", {class: "square"}); i.style.background = colour; return el("span", {}, i, text); };
    const frame = (colour, text) => { const i = el("i", {class: "square"}); i.style.border = "1.5px solid " + colour; return el("span", {}, i, text); };
    return [el("span", {}, bar, kMeasures.find(([name]) => name === fabric.measure)[1]), square(colours.bad, "lost here"), square(colours.kinds.trimmed, "trimmed here"),
            frame(colours.bad, "dark"), frame(colours.ink, "followed")];
  },

  tipOfCell(cell) {
    const {world} = this, t = world.now(), window = world.windowAt(t), lines = [`${cell.name}${cell.rack !== null ? `, rack ${cell.rack}` : ""}`];
    if (cell.rack !== null) { const [first, last] = world.hostsOf(cell.rack); lines.push(`h${first} to h${last}, ${world.isFollowed(cell.rack) ? "followed: click to see its packets" : "not followed"}`); }
    if (window) {
      const c = world.cellOf(window, cell.place), much = (n) => n >= 65535 ? "65,535 or more" : n.toLocaleString("en");
      lines.push(`sent ${Math.round(c.load * 100)} % of the line rate of its ports`, `longest queue ${Math.round(c.queue * 100)} % of the trim threshold`, `${much(c.lost)} lost, ${much(c.trimmed)} trimmed, ${much(c.marked)} marked`);
    } else lines.push("what it does now is not known yet");
    for (const x of (world.placesInTrouble(t).switches.get(cell.place) ?? []).slice(0, 3)) lines.push(x.links ? `${x.links} of its links: ${x.fault.kind}` : x.fault.text);
    return lines;
  },
};
