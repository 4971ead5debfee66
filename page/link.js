// The connection to mrclab: JSON and binary messages, questions with answers, and a new try when it breaks. In an
// exported page it leads to the simulator inside it.

import {isExported, SimulatorSocket} from "./inside.js";

const kWait = [250, 500, 1000, 2000, 4000];  // ms between tries

export class Link {
  /// `heard(message)` gets every JSON object and decoded binary message that answers no question; `before()` is called
  /// before the first message. `visitor` is {token}, and of a class {name, key} beside it.
  constructor(visitor, heard, state, before) {
    this.visitor = visitor;
    this.over = false;
    this.heard = heard;
    this.before = before;
    this.state = state;  // called with "open", "broken", "refused" or "stopped", and then why
    this.tries = 0;
    this.ticket = 0;
    this.asked = new Map();  // ticket -> {resolve, reject}
    this.open();
  }

  open() {
    const address = `ws://${location.host}/live?${new URLSearchParams(this.visitor)}`;
    this.socket = isExported() ? new SimulatorSocket() : new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    let opened = false;
    this.socket.onopen = () => { opened = true; this.tries = 0; this.state("open"); };
    this.socket.onmessage = (event) => this.take(event.data);
    this.socket.onclose = async (event) => {
      for (const {reject} of this.asked.values()) reject(new Error("the connection is broken"));
      this.asked.clear();
      if (isExported()) return this.state("stopped", event.reason);
      if (this.over) return;
      this.state(opened || !(await this.isAnswered()) ? "broken" : "refused");
      const wait = kWait[Math.min(this.tries++, kWait.length - 1)];
      setTimeout(() => this.open(), wait);
    };
  }

  /// Does a server answer here? A browser does not report why a WebSocket did not open: where files are served
  /// and it is not, the token was refused.
  async isAnswered() {
    try {
      return (await fetch("style.css", {method: "HEAD", cache: "no-store"})).ok;
    } catch {
      return false;
    }
  }

  take(data) {
    const message = typeof data === "string" ? JSON.parse(data) : decoded(data);
    if (message.say === "refused") {  // another try would be, too
      this.over = true;
      return this.state("unwelcome", message.text);
    }
    const asked = this.asked.get(message.ticket);
    if (asked) {
      this.asked.delete(message.ticket);
      if (message.say === "error") asked.reject(new Error(message.text));
      else asked.resolve(message);
      return;
    }
    this.heard(message);
  }

  say(command) {
    this.before();
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  /// Resolves with the answer, rejects with the sentence of the refusal.
  ask(command) {
    this.before();
    const ticket = ++this.ticket;
    return new Promise((resolve, reject) => {
      if (this.socket.readyState !== WebSocket.OPEN) return reject(new Error("not connected"));
      this.asked.set(ticket, {resolve, reject});
      this.socket.send(JSON.stringify({...command, ticket}));
    });
  }
}

/// The binary forms of session/page_messages.h and whole_messages.h.
function decoded(buffer) {
  const view = new DataView(buffer);
  return [sums, packets, tally][view.getUint32(0, true) - 1](buffer, view);
}

function sums(buffer, view) {
  const [branch, first, count, wires, planes] = [4, 8, 12, 16, 20].map((at) => view.getUint32(at, true));
  const bins = [];
  let at = 24;
  for (let i = 0; i < count; ++i) {
    const load = new Uint8Array(buffer, at, wires), queue = new Uint8Array(buffer, at + wires, wires);
    at += 2 * wires;
    at += (4 - at % 4) % 4;
    const sums = [];
    for (let p = 0; p < planes; ++p, at += 12) {
      sums.push({received: view.getUint32(at, true), lost: view.getUint16(at + 4, true),
                 trimmed: view.getUint16(at + 6, true), marked: view.getUint16(at + 8, true),
                 again: view.getUint16(at + 10, true)});
    }
    bins.push({load, queue, planes: sums});
  }
  return {say: "sums", branch, first, bins};
}

function packets(buffer, view) {
  const [branch, ticket, count] = [4, 8, 12].map((at) => view.getUint32(at, true));
  const from = view.getFloat64(16, true), to = view.getFloat64(24, true);
  const list = new Array(count);
  for (let i = 0, at = 32; i < count; ++i, at += 40) {
    list[i] = {t: from + view.getUint32(at, true), wire: view.getUint32(at + 4, true),
               qp: view.getUint32(at + 8, true), psn: view.getUint32(at + 12, true),
               ev: view.getUint32(at + 16, true), source: view.getUint32(at + 20, true),
               destination: view.getUint32(at + 24, true), length: view.getUint16(at + 28, true),
               opcode: view.getUint8(at + 30), event: view.getUint8(at + 31), cause: view.getUint8(at + 32),
               kind: view.getUint8(at + 33), flags: view.getUint8(at + 34), tclass: view.getUint8(at + 35),
               waited: view.getUint32(at + 36, true)};
  }
  return {say: "packets", branch, ticket, from, to, packets: list};
}

/// Of a whole fabric: every switch's cells of a window lie in the message itself, as lists by switch.
function tally(buffer, view) {
  const [branch, first, count, planes, switches] = [4, 8, 12, 16, 20].map((at) => view.getUint32(at, true));
  const windows = [];
  let at = 24;
  for (let i = 0; i < count; ++i) {
    const again = view.getUint32(at, true), sums = [];
    at += 8;
    for (let p = 0; p < planes; ++p, at += 24) {
      sums.push({received: view.getFloat64(at, true), lost: view.getUint32(at + 8, true), trimmed: view.getUint32(at + 12, true),
                 marked: view.getUint32(at + 16, true), again: 0});
    }
    windows.push({planes: sums, again, cells: {bytes: new Uint8Array(buffer, at, 8 * switches), counts: new Uint16Array(buffer, at, 4 * switches)}});
    at += 8 * switches;
  }
  return {say: "tally", branch, first, windows};
}
