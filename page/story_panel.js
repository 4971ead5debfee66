// The tab with the story: what the faults cost, what the judge says, who waits for whom at the instant, and what has happened
// up to it. Methods of Panels (panels.js).

import {el, kSigns, note, prose, time} from "./common.js";
import {counted, hostsWord, sentence} from "./dom.js";
import {isAtOnce} from "./world.js";

const kStoryLines = 60;  // at first; a button shows as many more
const kToCome = 8, kWaits = 12;
const kWaitsBehind = 200e6, kWaitsMore = 50e6;  // ps: the server looks so far behind the instant; so much more is worth asking again

export const kStoryPart = {
  tab_story(world, t) {
    const fresh = this.verdict?.branch === world.number;
    const lines = fresh ? this.verdict.story : [];
    const told = this.heard(world, t);
    const waits = this.waitsPart(world, t);
    const key = ["story", world.number, fresh, lines.filter((l) => l.t_ps <= t).length, told.length, told.earlier, told.counts, told.at(-1)?.t, this.waits?.at_ps,
                 this.waits?.branch, this.waits?.until_ps, world.branch.faults.filter((f) => f.from_ps > t).length, this.judging ? 1 : 0].join(" ");
    if (key === this.storyKey && this.panel.dataset.tab === "story") return null;
    this.storyKey = key;
    this.panel.dataset.tab = "story";
    return [
      el("h2", {}, "The story"),
      el("details", {class: "about"}, el("summary", {}, firstSentence(world.fabric.about)), world.fabric.about),
      world.fabric.run ? this.replayed(world) : null,
      world.fabric.whole ? note("A fabric of this size is judged by mrclab run: here it would be simulated a second time.")
      : el("p", {}, el("button", {type: "button", class: fresh ? null : "main", id: "judge", disabled: this.judging, onclick: () => this.judge()},
         this.judging ? "judging …" : fresh ? "Judge again" : "Judge this session"),
         el("span", {class: "note"}, "  runs it to its end and looks at its packets alone")),
      fresh ? this.checks() : null,
      waits,
      fresh || !told.earlier ? null : el("p", {}, el("button", {type: "button", id: "earlier", onclick: () => { this.storyPages = (this.storyPages ?? 1) + 1; this.draw(); }},
        `show ${Math.min(told.earlier, kStoryLines)} of ${counted(told.earlier, "earlier line")}`)),
      fresh ? el("ol", {class: "story"}, lines.map((line) => el("li", {class: [storyClass(line.kind), line.t_ps > t ? "" : "now"].join(" "),
        onclick: () => this.page.seek(line.t_ps)}, el("span", {class: "when"}, time(line.t_ps)), prose(line.text))))
        : el("ol", {class: "story"}, told.map((line) => el("li", {class: line.kind, onclick: () => this.page.seek(line.t)},
          el("span", {class: "when"}, time(line.t)), prose(line.text), line.count > 1 ? ` (${line.count} times)` : null, line.said ? [" ", hostsWord()] : null))),
      fresh || !told.length || !world.unheard(t) ? null : note(sentence(world.unheard(t))),
      fresh ? null : this.toCome(world, t),
      fresh || told.length || world.branch.faults.length ? null : note(sentence(world.unheard(t) ?? "no fault has begun, and no host has reported a loss, a path or a failure up to here") + " Right-click a link, a switch, a host or an optic to break it."),
    ];
  },

  /// A finished run is shown as its nodes recorded it, or simulated again, from its scenario and seed; digests show whether
  /// both are one history.
  replayed(world) {
    const recorded = world.branch.world === "run";
    const run = world.fabric.run, said = el("span", {class: "note", id: "same-history", "aria-live": "polite"}, this.sameHistory ?? "");
    return el("p", {id: "replayed"}, el("b", {}, recorded ? "A finished run, as its nodes recorded it. " : "A finished run, simulated again. "), `${run.folder}, world ${run.world}` +
        (run.exact ? ", FAITHFUL: its history can be had again exactly. " : ", not FAITHFUL or by the wall clock: "
         + (recorded ? "simulated, it need not come out the same. " : "what you see need not be what happened. ")),
      run.exact && world.number === 1 ? el("button", {type: "button", id: "compare-history", onclick: async () => {
        said.textContent = "simulating to its end …";
        try {
          const {sha256, simulated} = await this.page.link.ask({do: "history"});
          this.sameHistory = (simulated ?? sha256) === run.sha256 ? `simulated, the same history: ${run.sha256.slice(0, 12)}…`
              : `simulated, another history: ${(simulated ?? sha256).slice(0, 12)}…, not ${run.sha256.slice(0, 12)}…`;
        } catch (problem) {
          this.sameHistory = problem.message;
        }
        said.textContent = this.sameHistory;
      }}, "Compare digests") : null, " ", said);
  },

  /// What is known without the judge: faults that began and ended, and what hosts reported, as sentences of the server. The
  /// newest lines; `earlier`: how many there are before them.
  heard(world, t) {
    const lines = [];
    for (const fault of world.branch.faults) {
      if (fault.from_ps <= t) lines.push({t: fault.from_ps, kind: "bad", text: fault.text});
      if (fault.until_ps !== null && fault.until_ps <= t && !isAtOnce(fault)) lines.push({t: fault.until_ps, kind: "good", text: fault.text.split(" at ")[0] + " is over"});
    }
    const recent = new Map();
    for (const e of world.branch.events) {
      if (e.t_ps > t) break;
      if (!e.text) continue;
      // An event that a host repeats soon is counted, not listed again.
      const same = recent.get(e.text);
      if (same && e.t_ps - same.t < 40e6) { ++same.count; continue; }
      const line = {t: e.t_ps, kind: e.kind === "qp_error" ? "bad" : "", text: e.text, said: true, count: 1};
      recent.set(e.text, line);
      lines.push(line);
    }
    lines.sort((a, b) => a.t - b.t);
    const shown = kStoryLines * (this.storyPages ?? 1);
    return Object.assign(lines.slice(-shown), {earlier: Math.max(0, lines.length - shown), counts: lines.reduce((sum, l) => sum + (l.count ?? 1), 0)});
  },

  /// Who waits for whom, as the server finds it by the packets: asked for where time stands.
  waitsPart(world, t) {
    if (world.fabric.whole) return null;  // that is found from the packets of all hosts
    const at = Math.round(t), key = `${world.number} ${at}`, before = this.waits;
    // What was not known yet when it was asked may name whom a host waits for.
    const more = before?.branch === world.number && before.until_ps < Math.min(at + kWaitsBehind, world.end) && world.branch.known * world.bin > before.until_ps + kWaitsMore;
    if (!world.playing && !this.waitsAsking && (this.waitsKey !== key || more)) {
      this.waitsKey = key;
      this.waitsAsking = true;
      const take = (answer) => { this.waitsAsking = false; this.waits = {...answer, branch: world.number}; this.draw(); };
      this.page.link.ask({do: "waits", at_ps: at}).then(take, (problem) => take({problem: problem.message, at_ps: at, until_ps: world.end}));
    }
    const found = this.waits;
    if (!found || found.branch !== world.number) return null;
    if (found.problem) return [el("h3", {}, "Who waits for whom"), note(sentence(found.problem))];
    const idle = found.hosts.filter((h) => h.reason !== "busy"), stalled = idle.filter((h) => h.stalled), others = idle.length - stalled.length;
    const shown = stalled.slice(0, kWaits);
    return el("details", {id: "waits", open: true}, el("summary", {}, `Who waits for whom at ${time(found.at_ps)}`),
      el("ul", {class: "list"}, shown.map((h) => el("li", {class: "waits", "data-host": h.host, "data-reason": h.reason,
        onclick: () => this.showNode(world.hostNumbered(h.host).id)}, prose(h.text)))),
      stalled.length > kWaits ? note(`And ${counted(stalled.length - kWaits, "more host")}: click one in the fabric.`) : null,
      note(!idle.length ? "Every host receives a tenth of its line rate or more." : !stalled.length ? `Nobody waits for what was lost. ${counted(others, "host receives", "hosts receive")} less than a tenth of the line rate: click one for why.`
        : others ? `${counted(others, "other host receives", "other hosts receive")} less than a tenth of the line rate, for want of work or a turn: click one for why.` : ""),
      note(`By the packets from ${time(found.from_ps)} to ${time(found.until_ps)}.`));
  },

  /// The faults that the schedule still has, so that one can look at their place.
  toCome(world, t) {
    const all = world.branch.faults.filter((f) => f.from_ps > t), faults = all.slice(0, kToCome);
    if (!faults.length) return null;
    return [el("h3", {}, "To come"), el("ol", {class: "story"}, faults.map((f) => el("li", {class: "later", onclick: () => this.page.seek(f.from_ps)},
              el("span", {class: "when"}, time(f.from_ps)), prose(f.text)))),
            all.length > faults.length ? note(`And ${all.length - faults.length} more, in the tab Faults.`) : null,
            note(el("kbd", {}, "Space"), " plays, ", el("kbd", {}, "+"), " and ", el("kbd", {}, "−"), " change the speed, ", el("kbd", {}, "G"), " and others set more up (", el("kbd", {}, "?"), " lists them). Right-click anything to break it.")];
  },

  checks() {
    return el("div", {id: "checks"}, el("p", {}, el("b", {class: this.verdict.result}, this.verdict.result.toUpperCase()),
      this.verdict.simulated ? " simulated" : null, this.verdict.why ? note(this.verdict.why) : null),
      this.verdict.cost ? el("p", {id: "cost"}, el("b", {}, "What the faults cost: "), prose(this.verdict.cost), ".") : null,
      this.verdict.checks.map((check) => el("div", {class: "check"}, el("b", {class: check.result}, kSigns[check.result] ?? "?"),
        check.text ?? check.about ?? check.name, check.note ? el("div", {class: "note"}, check.note) : null,
        check.looked ? el("div", {class: "note"}, "looked at " + check.looked.text) : null)));
  },

  async judge(expect = "") {
    this.judging = true;
    this.draw();
    try {
      const verdict = await this.page.link.ask({do: "judge", expect});
      verdict.branch = this.page.world.number;
      if (!expect) this.verdict = verdict;
      return verdict;
    } finally {
      this.judging = false;
      this.draw();
    }
  },
};

const storyClass = (kind) => /struck|lost|dropped|failed|refused|trimmed|waited|stayed/.test(kind) ? "bad" : /undone|returned|recovered|settled/.test(kind) ? "good" : "";
const firstSentence = (text) => (/^.{12,}?\.(?= [A-Z(]|$)/.exec(text)?.[0] ?? text.slice(0, 120)) || "about";
