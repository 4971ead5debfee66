// Faults by context menu: which kinds apply to what was chosen, with their parameters, by the server's table
// of faults. A click breaks it with the example's parameters; "…" asks for them.

import {el, shellWord} from "./common.js";
import {$, fill} from "./dom.js";
import {us} from "./world.js";

/// The kinds that all of `chosen` can have, as the server says: {kind, target}, where the target is what names it in the
/// body of that fault.
export async function kindsFor(chosen, {world, link}) {
  const ids = (is) => chosen.filter(is).map((thing) => thing.id);
  const {kinds} = await link.ask({do: "kinds", nodes: ids((c) => c.role), links: ids((c) => c.wires), optics: ids((c) => c.links && !c.role),
                                  planes: chosen.filter((c) => c.isPlane).map((c) => c.number)});
  return kinds.map(({name, target}) => ({kind: world.kinds.get(name), target: Object.fromEntries(target)}));
}

export const bodyOf = (kind, target) => ({...target, ...Object.fromEntries(kind.usual)});

const yamlValue = (value) => /^[\[{]/.test(value) || /^[\w.%\/-]+$/.test(value) ? value : JSON.stringify(value);

/// What was done, as a command, and as a line of a scenario, that do the same.
export function commandOf(kind, body) {
  const shell = (v) => v.startsWith("[") ? v.replace(/[[\]" ]/g, "") : v;
  return `mrclab fault ${kind} ${Object.entries(body).map(([k, v]) => `${k}=${shellWord(shell(v))}`).join(" ")}`;
}
export const lineOf = (kind, body, t) => `- {at: ${us(t)}, ${kind}: {${Object.entries(body).map(([k, v]) => `${k}: ${yamlValue(v)}`).join(", ")}}}`;

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
  async open(x, y, title, chosen, extra = []) {
    const back = document.activeElement, asked = this.asked = {};
    const kinds = await kindsFor(chosen, this.page).catch((problem) => { this.page.say(problem.message); });
    if (!kinds || this.asked !== asked) return;  // another menu has been asked for meanwhile
    this.back = back;
    fill(this.box, el("h2", {}, title),
         extra.map(([text, act, about]) => el("button", {type: "button", role: "menuitem", onclick: () => { this.close(); act(); }}, text, about ? el("span", {}, about) : null)),
         extra.length && kinds.length ? el("hr") : null,
         kinds.map(({kind, target}) => el("button", {type: "button", role: "menuitem", "data-kind": kind.name,
           title: "click: at once; with Shift, or from the keyboard with P: choose its parameters",
           onclick: (e) => { this.close(); e.shiftKey ? this.form(kind, target) : this.page.breakIt(kind.name, bodyOf(kind, target)); },
           onkeydown: (e) => { if (e.key === "p" || e.key === "P") { this.close(); this.form(kind, target); } }},
           el("code", {}, kind.name), parametersOf(kind), el("span", {}, kind.about))),
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
  return kind.usual.length ? " · " + kind.usual.map((word) => word.join(" ")).join(", ") : "";
}

function bounds(p) {
  if (p.quantity === "count") return `; ${p.min} to ${p.max}`;
  if (p.quantity === "share") return "; up to 100%";
  if (p.quantity === "time") return "; such as 50us or 6rtt";
  return "";
}
