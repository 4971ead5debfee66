#include "lab/serve/class_room.h"

#include <fmt/format.h>

#include "fabric/text/counted_noun.h"
#include "fabric/text/json_text.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr size_t kMaxKey = 64;
constexpr size_t kMaxBrowsers = 4;  // of a student, the teacher's among them
constexpr size_t kEnoughUnread = size_t{4} << 20;

}  // namespace

ClassRoom::ClassRoom(PageServer& server, ClassBook& book, const std::vector<ClassSeat>& seats,
                     size_t students)
    : server_(server), book_(book), seats_(seats), most_students_(students), ended_(seats.size()) {}

ClassRoom::~ClassRoom() {
  server_.end_waits(over_);
  for (const ClassSeat& seat : seats_) seat.hang_up();
  for (std::thread& reader : readers_) reader.join();
}

void ClassRoom::run(const IsInterrupted& interrupted) {
  constexpr milliseconds kLook{100};
  PageInput input;
  while (!interrupted()) {
    if (server_.next(input, kLook)) take(std::move(input));
  }
}

void ClassRoom::take(PageInput input) {
  if (input.what == PageInput::What::kJoined) return join(input);
  std::string student;
  {
    const std::lock_guard lock(mutex_);
    const auto found = clients_.find(input.client);
    if (found == clients_.end()) return;  // it was refused
    student = found->second;
  }
  if (input.what == PageInput::What::kLeft) leave(input.client);
  // A seat that is too busy to take a message loses that browser, which then joins again.
  if (!seats_[students_.at(student).seat].hand(input)) server_.finish(input.client);
}

std::string ClassRoom::refusal(const PageVisitor& visitor) {
  if (!is_student_name(visitor.name)) {
    return "A name has 1 to 40 letters, digits, blanks, - or _.";
  }
  const auto known = students_.find(visitor.name);
  if (known == students_.end()) {
    if (visitor.teacher) return "There is no student of this name yet.";
    if (visitor.key.empty() || visitor.key.size() > kMaxKey) return "Your browser sent no key.";
    if (students_.size() >= most_students_ || taken_ >= seats_.size()) {
      return fmt::format("All {} are taken.", counted_noun(most_students_, "seat"));
    }
    return "";
  }
  if (!visitor.teacher && visitor.key != known->second.key) {
    return "This name is taken by another browser: choose another one, or ask your teacher.";
  }
  if (known->second.browsers >= kMaxBrowsers) return "Too many browsers have this name.";
  if (ended_[known->second.seat] && taken_ >= seats_.size()) return "No seat is left.";
  return "";
}

void ClassRoom::join(const PageInput& input) {
  const PageVisitor& visitor = input.visitor;
  if (const std::string why = refusal(visitor); !why.empty()) {
    server_.send_text(input.client, json{{"say", "refused"}, {"text", why}}.dump());
    return server_.finish(input.client);
  }
  const auto [place, is_new] = students_.try_emplace(visitor.name, Place{visitor.key});
  if (is_new || ended_[place->second.seat]) {
    place->second.seat = taken_++;
    readers_.emplace_back(&ClassRoom::read_seat, this, place->second.seat, visitor.name);
  }
  ++place->second.browsers;
  book_.joined(visitor.name);
  {
    const std::lock_guard lock(mutex_);
    clients_[input.client] = visitor.name;
  }
  const PageInput handed{input.client, PageInput::What::kJoined, book_.student_json(visitor.name)};
  if (!seats_[place->second.seat].hand(handed)) server_.finish(input.client);
}

void ClassRoom::leave(ClientId client) {
  std::string student;
  {
    const std::lock_guard lock(mutex_);
    student = clients_.at(client);
    clients_.erase(client);
  }
  --students_.at(student).browsers;
  book_.left(student);
}

/// A thread's work: all that a seat sends, until it ends.
void ClassRoom::read_seat(size_t seat, const std::string& student) {
  while (std::optional<SeatMessage> message = seats_[seat].receive()) {
    switch (message->what) {
      case SeatMessage::What::kText:
        server_.send_text(message->client, std::move(message->bytes));
        break;
      case SeatMessage::What::kBinary:
        server_.wait_until_sent(message->client, kEnoughUnread, over_);
        server_.send_binary(message->client, std::move(message->bytes));
        break;
      case SeatMessage::What::kNote: {
        const json kept = require_json<json>(message->bytes);
        book_.add(student, note_of(kept.at("note")), kept.at("yaml").get<std::string>());
        break;
      }
    }
  }
  ended_[seat] = true;
  const std::lock_guard lock(mutex_);
  for (const auto& [client, name] : clients_) {
    if (name == student && !over_) server_.finish(client);
  }
}

}  // namespace mrclab::lab
