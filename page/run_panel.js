// What is run: transport, its options and the workload, each as its line of a scenario. A change
// begins at the start of the run; what it replaces stays as the other branch, but for another workload.

import {el, note} from "./common.js";

export function runPanel(page) {
  const {world} = page, error = el("p", {class: "error", role: "alert"});
  const ask = async (command, said) => {
    error.textContent = "";
    try {
      await page.link.ask(command);
      page.did("", said);
    } catch (problem) {
      error.textContent = problem.message;
    }
  };
  const options = el("textarea", {id: "options", rows: 3, spellcheck: "false", "aria-label": "options of the transport"});
  options.value = world.branch.transport;
  const workload = el("textarea", {id: "workload", rows: 5, spellcheck: "false", "aria-label": "workload"});
  workload.value = world.fabric.workload?.join("\n") ?? "";
  return [
    el("h2", {}, "What is run"),
    note("Changed for a new run from the start, with the same seed and the same faults. The branch that is there stays beside it."),
    el("h3", {}, "Transport"),
    el("p", {}, el("select", {id: "transport", "aria-label": "transport", onchange: (e) => e.target.value &&
      ask({do: "transport", name: e.target.value, fork: true}, `mrclab run ${world.fabric.scenario} --transport ${e.target.value}`)},
      el("option", {value: ""}, "another transport …"), world.fabric.transports.map((x) => el("option", {value: x.name, title: x.about}, `${x.name}: ${x.about}`)))),
    el("h3", {}, "Its options"), options,
    el("p", {class: "row"}, el("button", {type: "button", id: "set-options", class: "main", onclick: () => {
      const text = options.value.trim();
      ask({do: "options", text, fork: true}, "transport: " + text);
    }}, "Run from the start"), el("span", {class: "note"}, "all of them: ", el("code", {}, "mrclab transport"))),
    el("h3", {}, "Workload"), workload,
    el("p", {class: "row"}, el("button", {type: "button", id: "set-workload", onclick: () => {
      const text = workload.value.trim();
      ask({do: "workload", text}, "workload: " + text.replaceAll("\n", " "));
    }}, "Run it from the start"), el("span", {class: "note"}, "other queue pairs: branches before it are let go")),
    error,
  ];
}
