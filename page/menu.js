// Faults by context menu: which kinds apply to what was chosen, with their parameters, by the server's table
// of faults. A click breaks it with the example's parameters; "…" asks for them.

import {el, shellWord} from "./common.js";
import {$, fill} from "./dom.js";
import {us} from "./world.js";

/// The values of the table's example: "{link: "x", down: 100us}" -> {link: "x", down: "100us"}.
function exampleOf(kind) {
  const values = {};
  for (const [, key, list, quoted, plain] of kind.example.matchAll(/(\w+):\s*(?:(\[[^\]]*\])|"([^"]*)"|([^,}\s]+))/g)) {
    values[key] = list ?? quoted ?? plain;
  }
  return values;
}

const listed = (names) => names.length === 1 ? names[0] : "[" + names.map((n) => JSON.stringify(n)).join(", ") + "]";

/// The keys that name the targets of this kind for what is chosen; null where it does not apply.
export function targetOf(kind, chosen, world) {
  const links = chosen.filter((c) => c.wires), nodes = chosen.filter((c) => c.role && c.role !== "host");
  const hosts = chosen.filter((c) => c.role === "host"), optics = chosen.filter((c) => c.links && !c.role && !c.wires);
  const planes = chosen.filter((c) => c.isPlane), example = exampleOf(kind);
  const all = (list) => list.length > 0 && list.length === chosen.length;
  const names = (list) => listed(list.map((n) => n.name));
  const linkNames = () => listed(links.map((l) => world.portName(l.a)));
  const direction = () => example.direction ? {direction: "both"} : {};
  switch (kind.targets) {
    case "links": return all(links) ? {link: linkNames()} : null;
    case "wires": return all(links) ? {link: linkNames(), ...direction()} : null;
    case "wires_or_switches":
      return all(links) ? {link: linkNames(), ...direction()} : all(nodes) ? {switch: names(nodes)} : null;
    case "optics": return all(optics) ? {optic: names(optics)} : null;
    case "ports": return all(links) ? {port: listed(links.map((l) => world.portName(l.a)))} : null;
    case "hosts": return all(hosts) ? {host: names(hosts)} : null;
    case "switches": return all(nodes) ? {switch: names(nodes)} : null;
    case "planes": return all(planes) ? {plane: listed(planes.map((p) => "p" + p.number))} : null;
    case "host_paths": return all(hosts) ? {host: names(hosts), path: example.path} : null;
    case "denials": return all(hosts) ? {host: names(hosts), path: "p0/*"} : null;
    case "routes": {
      const switchLinks = links.filter((l) => world.nodes[l.a.node].role !== "host");
      if (!all(switchLinks)) return null;
      if (kind.name === "stale_table" && switchLinks.length < 2) return null;
      return {route: listed(switchLinks.map((l) => world.portName(l.a)))};
    }
    case "routes_to": {
      if (links.length !== 1 || chosen.length !== 1 || world.nodes[links[0].a.node].role === "host") return null;
      const from = links[0].a;
      const other = world.nodes[from.node].links.find((l) => l.a.node === from.node && l !== links[0]);
      return other ? {route: world.portName(from), to: world.portName(other.a)} : null;
    }
    case "burst": {
      if (hosts.length !== 1 || chosen.length !== 1) return null;
      const others = world.hosts.filter((h) => h !== hosts[0]).slice(0, 7);
      return {from: listed(others.map((h) => h.name)), to: hosts[0].name};
    }
  }
  return null;
}

export function bodyOf(kind, target) {
  const example = exampleOf(kind), body = {...target};
  for (const parameter of kind.parameters) {
    if (parameter.name in example && !(parameter.name in target)) body[parameter.name] = example[parameter.name];
  }
  return body;
}

const yamlValue = (value) => /^[\[{]/.test(value) || /^[\w.%\/-]+$/.test(value) ? value : JSON.stringify(value);

/// What was done, as the command and as the line of a scenario that do the same.
export function commandOf(kind, body, t) {
  const shell = (v) => v.startsWith("[") ? v.replace(/[[\]" ]/g, "") : v;
  return `mrclab fault ${kind} ${Object.entries(body).map(([k, v]) => `${k}=${shellWord(shell(v))}`).join(" ")}` +
      `     - {at: ${us(t)}, ${kind}: {${Object.entries(body).map(([k, v]) => `${k}: ${yamlValue(v)}`).join(", ")}}}`;
}

export class Menu {
  constructor(page) {
    this.page = page;
    this.box = $("menu");
    document.addEventListener("pointerdown", (e) => { if (!this.box.contains(e.target)) this.close(); });
    this.box.addEventListener("keydown", (e) => this.key(e));
  }

  close() {
    if (this.box.hidden) return;
    this.box.hidden = true;
    this.back?.focus();
  }

  key(event) {
    const buttons = [...this.box.querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) buttons[(at + step + buttons.length) % buttons.length]?.focus();
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /// `chosen`: links, nodes, optics or planes; `extra`: [text, act] rows before the faults.
  open(x, y, title, chosen, extra = []) {
    const world = this.page.world, kinds = [];
    for (const kind of world.kinds.values()) {
      const target = targetOf(kind, chosen, world);
      if (target) kinds.push({kind, target});
    }
    this.back = document.activeElement;
    fill(this.box, el("h2", {}, title),
         extra.map(([text, act]) => el("button", {type: "button", role: "menuitem", onclick: () => { this.close(); act(); }}, text)),
         extra.length && kinds.length ? el("hr") : null,
         kinds.map(({kind, target}) => el("button", {type: "button", role: "menuitem", "data-kind": kind.name,
           title: "click: at once; with Shift, or from the keyboard with P: choose its parameters",
           onclick: (e) => { this.close(); e.shiftKey ? this.form(kind, target) : this.page.breakIt(kind.name, bodyOf(kind, target)); },
           onkeydown: (e) => { if (e.key === "p" || e.key === "P") { this.close(); this.form(kind, target); } }},
           kind.name.replaceAll("_", " ") + parametersOf(kind), el("span", {}, kind.about))),
         kinds.length ? [el("hr"), el("button", {type: "button", role: "menuitem", onclick: () => { this.close(); this.choose(kinds); }},
                                      "choose parameters …")] : null);
    this.box.hidden = false;
    const width = this.box.offsetWidth, height = this.box.offsetHeight;
    this.box.style.left = Math.max(4, Math.min(x, innerWidth - width - 6)) + "px";
    this.box.style.top = Math.max(4, Math.min(y, innerHeight - height - 6)) + "px";
    this.box.querySelector("button")?.focus();
  }

  choose(kinds) {
    const dialog = $("dialog");
    const select = el("select", {"aria-label": "kind of fault"}, kinds.map(({kind}, i) => el("option", {value: i}, kind.name)));
    fill(dialog, el("h2", {}, "Which fault?"), select, el("div", {class: "row"},
         el("button", {type: "button", onclick: () => dialog.close()}, "Cancel"),
         el("button", {type: "button", class: "main", onclick: () => { dialog.close(); this.form(kinds[select.value].kind, kinds[select.value].target); }}, "Next")));
    dialog.showModal();
  }

  /// Asks for target and parameters; a refusal of the server is shown here.
  form(kind, target) {
    const dialog = $("dialog"), values = bodyOf(kind, target), inputs = new Map();
    const error = el("p", {class: "error wide", role: "alert"});
    const line = (name, about, required) => {
      const input = el("input", {type: "text", id: "f-" + name, name, value: values[name] ?? "", required, placeholder: required ? "" : "not given",
                                 autocomplete: "off", spellcheck: "false"});
      inputs.set(name, input);
      return [el("label", {for: "f-" + name}, name), el("div", {}, input, about ? el("div", {class: "note"}, about) : null)];
    };
    const form = el("form", {method: "dialog", onsubmit: async (e) => {
      e.preventDefault();
      const body = {};
      for (const [name, input] of inputs) if (input.value.trim()) body[name] = input.value.trim();
      try {
        await this.page.breakIt(kind.name, body, true);
        dialog.close();
      } catch (problem) {
        error.textContent = problem.message;
      }
    }}, el("p", {class: "wide note"}, kind.about), Object.keys(target).map((key) => line(key, "", true)),
    kind.parameters.map((p) => line(p.name, `${p.about}${bounds(p)}`, p.required)), error,
    el("div", {class: "row wide"}, el("button", {type: "button", onclick: () => dialog.close()}, "Cancel"),
       el("button", {class: "main"}, "Break it now")));
    fill(dialog, el("h2", {}, kind.name), form);
    dialog.showModal();
  }
}

function parametersOf(kind) {
  const example = exampleOf(kind);
  const said = kind.parameters.filter((p) => p.name in example).map((p) => p.name === "for" ? `for ${example.for}` : `${p.name} ${example[p.name]}`);
  return said.length ? " · " + said.join(", ") : "";
}

function bounds(p) {
  if (p.quantity === "count") return `; ${p.min} to ${p.max}`;
  if (p.quantity === "share") return "; up to 100%";
  if (p.quantity === "time") return "; such as 50us or 6rtt";
  return "";
}
