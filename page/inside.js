// The simulator inside an exported page, as if it were a WebSocket to mrclab (lab/serve/page_export.h puts it
// there). It runs in a worker, so that the page stays alive while it computes.

export const isExported = () => document.getElementById("simulator") !== null;

/// The bytes of a block of data in the page: gzip in base64.
async function unpacked(id) {
  const text = atob(document.getElementById(id).textContent), packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

export class SimulatorSocket {
  constructor() {
    this.readyState = WebSocket.CONNECTING;
    this.begin().catch((problem) => this.close(problem.message));
  }

  async begin() {
    const [wasm, worker, start] = await Promise.all(["simulator", "worker", "start"].map(unpacked));
    const address = URL.createObjectURL(new Blob([worker], {type: "text/javascript"}));
    this.worker = new Worker(address);
    this.worker.onerror = (event) => this.close(event.message || "this browser does not let it run");
    this.worker.onmessage = ({data}) => this.take(data);
    this.worker.postMessage({wasm, start: new TextDecoder().decode(start)}, [wasm]);
  }

  /// The session sends texts or bytes; the worker's own messages are objects.
  take(data) {
    if (data.stopped !== undefined) return this.close(data.stopped);
    if (!data.opened) return this.onmessage({data});
    this.readyState = WebSocket.OPEN;
    this.onopen();
  }

  send(text) { this.worker.postMessage(text); }

  close(reason) {
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    this.worker?.terminate();
    this.onclose({reason});
  }
}
