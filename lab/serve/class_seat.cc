#include "lab/serve/class_seat.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>

#include "fabric/text/json_text.h"
#include "netio/system/forked_process.h"
#include "netio/system/socket_bytes.h"
#include "netio/system/system_error.h"
#include "session/serve_loop.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// Before the text of an input, and before the bytes of a message.
struct Head {
  uint64_t client = 0;
  uint32_t what = 0, size = 0;
};
/// A text of a browser (PageLimits::kMaxTextBytes), or what a student has done of all lessons.
constexpr size_t kMaxInput = size_t{192} << 10;
constexpr size_t kMaxMessage = size_t{64} << 20;
constexpr int kLessUrgent = 5;  ///< of the server's process and whatever else the machine does

/// In the seat's process: the server's process as browsers that have joined. What browsers have not read holds up the
/// server's reading, and so the writing here: nothing ever waits but in the socket.
class SeatConnections : public PageConnections {
 public:
  SeatConnections(int inputs, int outputs) : inputs_(inputs), outputs_(outputs) {}

  bool next(PageInput& input, milliseconds at_most) override {
    pollfd ready{inputs_, POLLIN, 0};
    if (ended_ || ::poll(&ready, 1, static_cast<int>(at_most.count())) <= 0) return false;
    std::string packet(sizeof(Head) + kMaxInput, '\0');
    const ssize_t got = ::recv(inputs_, packet.data(), packet.size(), 0);
    if (got < static_cast<ssize_t>(sizeof(Head))) {
      ended_ = got >= 0 || errno != EINTR;
      return false;
    }
    Head head;
    std::memcpy(&head, packet.data(), sizeof head);
    input = {head.client, static_cast<PageInput::What>(head.what),
             packet.substr(sizeof head, static_cast<size_t>(got) - sizeof head)};
    return true;
  }
  size_t waiting_bytes(ClientId) const override { return 0; }
  void send_text(ClientId client, std::string text) override {
    send(SeatMessage::What::kText, client, text);
  }
  void send_binary(ClientId client, std::string bytes) override {
    send(SeatMessage::What::kBinary, client, bytes);
  }
  void send(SeatMessage::What what, ClientId client, const std::string& bytes) {
    const Head head{client, static_cast<uint32_t>(what), static_cast<uint32_t>(bytes.size())};
    ended_ = ended_ || bytes.size() > kMaxMessage ||
             !netio::send_all(outputs_, &head, sizeof head) ||
             !netio::send_all(outputs_, bytes.data(), bytes.size());
  }
  bool ended() const { return ended_; }

 private:
  int inputs_, outputs_;
  bool ended_ = false;
};

/// Bytes of address space that this process has already.
size_t used_bytes() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

void bound_memory(size_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, used_bytes() + bytes);
  ::setrlimit(RLIMIT_AS, &limit);
}

void serve_seat(int inputs, int outputs, const ClassSeat::Begin& begin) {
  SeatConnections browsers(inputs, outputs);
  PageInput first;
  while (!browsers.next(first, milliseconds(1000))) {
    if (browsers.ended()) return;
  }
  PlayedSession played = begin();
  played.student = Student::of(require_json<json>(first.text));
  played.keep_note = [&](const LessonNote& note, const std::string& yaml) {
    const json kept{{"note", note_json(note)}, {"yaml", yaml}};
    browsers.send(SeatMessage::What::kNote, 0,
                  kept.dump(-1, ' ', false, json::error_handler_t::replace));
  };
  ServeLoop loop(browsers, played);
  loop.take(first);
  loop.run([&] { return browsers.ended(); });
}

}  // namespace

std::vector<ClassSeat> ClassSeat::start(size_t count, size_t bytes, const Begin& begin) {
  using netio::check_system_call;
  std::vector<ClassSeat> seats;
  seats.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    std::array<int, 2> inputs{}, outputs{};
    check_system_call("socketpair",
                      ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, inputs.data()));
    const netio::FileDescriptor inputs_there(inputs[1]);
    ClassSeat seat;
    seat.inputs_ = netio::FileDescriptor(inputs[0]);
    check_system_call("socketpair",
                      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, outputs.data()));
    const netio::FileDescriptor outputs_there(outputs[1]);
    seat.outputs_ = netio::FileDescriptor(outputs[0]);
    seat.pid_ = netio::fork_worker([&] {
      // What another seat has open would keep its end from being noticed.
      for (ClassSeat& other : seats) {
        other.inputs_.reset();
        other.outputs_.reset();
      }
      seat.inputs_.reset();
      seat.outputs_.reset();
      try {
        bound_memory(bytes);
        ::setpriority(PRIO_PROCESS, 0, kLessUrgent);
        serve_seat(inputs_there.get(), outputs_there.get(), begin);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "mrclab serve: the session of a student has ended: %s\n",
                     error.what());
      }
    });
    seats.push_back(std::move(seat));
  }
  return seats;
}

ClassSeat::ClassSeat(ClassSeat&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      inputs_(std::move(other.inputs_)),
      outputs_(std::move(other.outputs_)) {}

ClassSeat::~ClassSeat() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool ClassSeat::hand(const PageInput& input) const {
  const Head head{input.client, static_cast<uint32_t>(input.what),
                  static_cast<uint32_t>(input.text.size())};
  std::string packet(reinterpret_cast<const char*>(&head), sizeof head);
  packet += input.text;
  return input.text.size() <= kMaxInput &&
         ::send(inputs_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

std::optional<SeatMessage> ClassSeat::receive() const {
  Head head;
  if (!netio::receive_all(outputs_.get(), &head, sizeof head) || head.size > kMaxMessage) return {};
  SeatMessage message{static_cast<SeatMessage::What>(head.what), head.client,
                      std::string(head.size, '\0')};
  if (!netio::receive_all(outputs_.get(), message.bytes.data(), message.bytes.size())) return {};
  return message;
}

void ClassSeat::hang_up() const {
  ::shutdown(inputs_.get(), SHUT_RDWR);
  ::shutdown(outputs_.get(), SHUT_RDWR);
}

}  // namespace mrclab::lab
