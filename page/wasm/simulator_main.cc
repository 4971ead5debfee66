// The simulator of an exported page: the session of `mrclab serve` for one browser, as WebAssembly in a worker
// of that page. page/simulator.js calls the functions exported here and passes messages on.

#include <emscripten.h>

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "session/serve_loop.h"
#include "session/session_start.h"

namespace mrclab::lab {
namespace {

constexpr ClientId kPage = 1;

// clang-format off
EM_JS(void, tell_text, (const char* text, size_t size), {
  postMessage(UTF8ToString(text, size));
});
EM_JS(void, tell_binary, (const char* bytes, size_t size), {
  const copy = HEAPU8.slice(bytes, bytes + size).buffer;
  postMessage(copy, [copy]);
});
// clang-format on

/// Messages of the page wait here; those to the page go out at once, and the browser keeps them.
class WorkerDoor : public PageConnections {
 public:
  void put(PageInput input) { inbox_.push_back(std::move(input)); }
  bool next(PageInput& input, std::chrono::milliseconds) override {
    if (inbox_.empty()) return false;
    input = std::move(inbox_.front());
    inbox_.pop_front();
    return true;
  }
  size_t waiting_bytes(ClientId) const override { return 0; }
  void send_text(ClientId, std::string text) override { tell_text(text.data(), text.size()); }
  void send_binary(ClientId, std::string bytes) override {
    tell_binary(bytes.data(), bytes.size());
  }

 private:
  std::deque<PageInput> inbox_;  // at most one: it is taken before the worker gets the next
};

struct Simulator {
  explicit Simulator(PlayedSession session) : played(std::move(session)) {
    door.put({kPage, PageInput::What::kJoined});
  }
  PlayedSession played;
  WorkerDoor door;
  ServeLoop loop{door, played};
};

std::unique_ptr<Simulator>& simulator() {
  static std::unique_ptr<Simulator> only;
  return only;
}

}  // namespace
}  // namespace mrclab::lab

namespace {

/// Does something; returns the empty text, or why it went wrong.
template <class Act>
const char* told(Act act) {
  static std::string problem;  // is read before the next call
  try {
    act();
    return "";
  } catch (const std::exception& error) {
    problem = error.what();
    return problem.c_str();
  }
}

}  // namespace

// What page/simulator.js calls; the first three return the empty text, or why it went wrong.
extern "C" {

/// Begins with a text of session_start.h.
EMSCRIPTEN_KEEPALIVE const char* simulator_open(const char* start) {
  using namespace mrclab::lab;
  return told([&] { simulator() = std::make_unique<Simulator>(session_of_start(start)); });
}

/// Takes a message of the page.
EMSCRIPTEN_KEEPALIVE const char* simulator_hear(const char* text) {
  using namespace mrclab::lab;
  return told([&] { simulator()->door.put({kPage, PageInput::What::kText, text}); });
}

/// One round of the loop.
EMSCRIPTEN_KEEPALIVE const char* simulator_turn() {
  using namespace mrclab::lab;
  return told([] { simulator()->loop.turn(std::chrono::milliseconds(0)); });
}

/// Does time pass, or is the whole surveyed, so that another round is due soon?
EMSCRIPTEN_KEEPALIVE bool simulator_plays() {
  const auto& now = *mrclab::lab::simulator();
  return now.played.playing || now.loop.surveys();
}
}
