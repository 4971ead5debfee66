#pragma once
// Between the server of a class and its students' seats: who has which seat, and which browser is whose. A student comes
// back, by name and by a secret that the browser keeps, to the session that was left; one whose seat has ended gets
// another, with all that was done. Of what a browser has not read yet the seat that sends it waits.

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "console/interrupt.h"
#include "lab/serve/class_book.h"
#include "lab/serve/class_seat.h"
#include "lab/serve/page_server.h"

namespace mrclab::lab {

class ClassRoom {
 public:
  /// As many students as `students`, the other seats are for those whose seat ends. All outlive it.
  ClassRoom(PageServer& server, ClassBook& book, const std::vector<ClassSeat>& seats,
            size_t students);
  ~ClassRoom();
  ClassRoom(const ClassRoom&) = delete;
  ClassRoom& operator=(const ClassRoom&) = delete;

  void run(const IsInterrupted& interrupted);

 private:
  struct Place {
    std::string key;
    size_t seat = 0;
    size_t browsers = 0;
  };

  void take(PageInput input);
  void join(const PageInput& input);
  /// Why this visitor has no place; empty: it has one.
  std::string refusal(const PageVisitor& visitor);
  void leave(ClientId client);
  void read_seat(size_t seat, const std::string& student);

  PageServer& server_;
  ClassBook& book_;
  const std::vector<ClassSeat>& seats_;
  const size_t most_students_;
  size_t taken_ = 0;                       // seats, the first ones
  std::map<std::string, Place> students_;  // by name
  std::vector<std::atomic<bool>> ended_;   // by seat
  std::vector<std::thread> readers_;
  std::atomic<bool> over_ = false;
  mutable std::mutex mutex_;                 // of what follows
  std::map<ClientId, std::string> clients_;  // whose
};

}  // namespace mrclab::lab
