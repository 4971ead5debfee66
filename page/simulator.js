// The worker of an exported page, behind the glue that starts the simulator (page/wasm/simulator_main.cc): hands on
// messages of the page, and lets time pass while it plays.

const kTick = 16;  // ms between rounds: a frame of a screen
let simulator = null, timer = null;

function stop(problem) {
  postMessage({stopped: String(problem?.message ?? problem)});
  close();
}

/// Calls a function of the simulator, which returns the empty text or why it went wrong.
function call(act, text) {
  let at = 0;
  if (text !== undefined) {
    const size = simulator.lengthBytesUTF8(text) + 1;
    at = simulator._malloc(size);
    if (at === 0) throw new Error("no memory is left");
    simulator.stringToUTF8(text, at, size);
  }
  const problem = simulator.UTF8ToString(act(at));
  simulator._free(at);
  if (problem) throw new Error(problem);
}

/// One round; the next one follows by itself while time passes.
function turn() {
  const begun = performance.now();
  clearTimeout(timer);
  try {
    call(simulator._simulator_turn);
    if (simulator._simulator_plays()) timer = setTimeout(turn, Math.max(0, kTick - (performance.now() - begun)));
  } catch (problem) {
    stop(problem);
  }
}

async function open({wasm, start}) {
  simulator = await createSimulator({wasmBinary: wasm});
  call(simulator._simulator_open, start);
  postMessage({opened: true});
  turn();
}

onmessage = ({data}) => {
  if (typeof data !== "string") return open(data).catch(stop);
  try {
    call(simulator._simulator_hear, data);
  } catch (problem) {
    return stop(problem);
  }
  turn();
};
