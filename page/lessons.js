// Lessons: words, a question to answer before one tries, and tasks that are done when checks pass. The checks
// are a scenario's expectations, judged by the server as any run is.

import {el, kSigns, note} from "./common.js";
import {$, fill} from "./dom.js";

export class Lessons {
  constructor(page) {
    this.page = page;
    this.lesson = null;
    this.done = new Map();  // task -> verdict
    this.guesses = new Map();
    this.answers = new Map();
  }

  /// The comments on the lesson in a saved session, for whoever checks what students hand in.
  comments() {
    if (!this.lesson) return "";
    const line = (word, entries) => [...entries].filter(([, text]) => text.trim())
        .map(([task, text]) => `# ${word} ${task + 1}: ${text.trim().replace(/\s+/g, " ").slice(0, 500)}\n`).join("");
    return `# lesson ${this.lesson.name}\n` + line("prediction", this.guesses) + line("answer", this.answers);
  }

  choose() {
    const dialog = $("dialog"), list = this.page.world.fabric.lessons ?? [];
    fill(dialog, el("h2", {}, "Lessons"), el("ul", {class: "list"}, list.map((lesson) => el("li", {},
      el("button", {type: "button", "data-lesson": lesson.name, onclick: () => { dialog.close(); this.start(lesson.name); }}, "start"),
      el("b", {}, lesson.title), el("div", {class: "note"}, `${lesson.minutes} minutes. ${lesson.aim}`)))),
      el("div", {class: "row"}, el("button", {type: "button", onclick: () => dialog.close()}, "Close")));
    dialog.showModal();
  }

  async start(name) {
    this.lesson = this.page.world.fabric.lessons.find((l) => l.name === name);
    this.done.clear();
    this.guesses.clear();
    this.answers.clear();
    await this.page.command({do: "open", lesson: name});
    this.page.panels.show("lesson");
  }

  /// The session on the server is a lesson's: of a class with what was done there before.
  resume(name, notes) {
    if (this.lesson?.name === name) return;
    this.lesson = this.page.world.fabric.lessons.find((l) => l.name === name);
    for (const note of notes.filter((n) => n.lesson === name)) {
      this.guesses.set(note.task, note.prediction);
      if (note.answer) this.answers.set(note.task, note.answer);
    }
    this.page.panels.show("lesson");
  }

  panel() {
    const lesson = this.lesson;
    if (!lesson) return [el("h2", {}, "Lessons"), note("Each asks for a prediction, lets you try, and checks what came of it."),
                         el("button", {type: "button", class: "main", onclick: () => this.choose()}, "Choose a lesson")];
    return [el("h2", {}, lesson.title), note(`${lesson.minutes} minutes. ${lesson.aim}`), paragraphs(lesson.text),
            lesson.tasks.map((task, i) => this.task(task, i)),
            el("p", {}, el("button", {type: "button", onclick: () => this.choose()}, "Other lessons"))];
  }

  task(task, i) {
    const guess = el("textarea", {"aria-label": "your prediction", "data-predict": i, placeholder: "your prediction, before you try",
                                   oninput: (e) => { this.guesses.set(i, e.target.value); check.disabled = !e.target.value.trim(); }});
    guess.value = this.guesses.get(i) ?? "";
    const answer = task.typed ? el("input", {type: "text", "data-answer": i, "aria-label": "your answer", autocomplete: "off",
                                             oninput: (e) => this.answers.set(i, e.target.value)}) : null;
    if (answer) answer.value = this.answers.get(i) ?? "";
    const verdict = this.done.get(i);
    const said = el("div", {"data-task": i, "aria-live": "polite"}, verdict ? this.result(task, verdict) : null);
    const check = el("button", {type: "button", class: "main", "data-check": i, title: "after a prediction", onclick: async (e) => {
      e.target.disabled = true;
      fill(said, note("judging …"));
      const asked = {lesson: this.lesson.name, task: i, prediction: this.guesses.get(i) ?? ""};
      try {
        this.done.set(i, await this.page.link.ask(task.typed ? {...asked, do: "answer", text: this.answers.get(i) ?? ""} : {...asked, do: "judge"}));
      } catch (problem) {
        this.page.say(problem.message);
      }
      this.page.panels.draw();
    }}, "Check");
    check.disabled = !guess.value.trim();
    return [el("h3", {}, `${i + 1}. ${task.title}`), el("p", {}, code(task.predict)), guess, el("p", {}, code(task.do)),
            el("p", {class: "row"}, answer, check), said];
  }

  result(task, verdict) {
    return [el("p", {class: verdict.result}, el("b", {}, verdict.result === "pass" ? "✓ done" : "not yet")),
            verdict.checks.map((c) => el("div", {class: "check"}, el("b", {class: c.result}, kSigns[c.result] ?? "?"), c.text ?? c.name)),
            verdict.result === "pass" ? el("p", {}, code(verdict.why ?? "")) : note(code(task.hint))];
  }
}

/// The little Markdown that lessons have: paragraphs, `code` and *stress* (of a word or a tab's name; a path such as
/// p0/* is none).
function paragraphs(text) {
  return text.trim().split(/\n\s*\n/).map((p) => el("p", {}, code(p.replaceAll("\n", " "))));
}

function code(text) {
  return text.split(/(`[^`]+`|\*\w[^*]*\*)/).map((part) =>
    part.startsWith("`") ? el("code", {}, part.slice(1, -1)) : /^\*\w/.test(part) ? el("em", {}, part.slice(1, -1)) : part);
}
