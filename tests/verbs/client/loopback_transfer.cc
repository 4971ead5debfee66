// What the loopback server does with work requests.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "tests/verbs/client/loopback_server.h"

namespace mrclab::verbs::client_test {
namespace {

// Of verbs.h: states, opcodes of requests and completions, statuses, flags, access.
enum : uint32_t { kRtr = 2, kRts = 3, kSqd = 4, kErr = 6 };
enum : uint32_t { kWrite, kWriteImmediate, kSend, kSendImmediate, kRead, kCompareSwap, kFetchAdd };
enum : uint32_t {
  kSuccess,
  kLength,
  kLocalProtection = 4,
  kFlushed,
  kRemoteRequest = 9,
  kRemoteAccess,
  kRetries = 12
};
enum : uint32_t { kRnrRetries = 13 };
constexpr uint32_t kSignaled = 2, kSolicited = 4, kInline = 8;
constexpr uint32_t kReceived = 128, kReceivedWrite = 129;

uint32_t completion_opcode(uint32_t opcode) {
  const uint32_t opcodes[] = {1, 1, 0, 0, 2, 3, 4};
  return opcode < 7 ? opcodes[opcode] : 0;
}

}  // namespace

void LoopbackServer::take_work(Connection& from) {
  if (from.work == nullptr) {
    return;
  }
  uint64_t taken = from.work->taken.load();
  const uint64_t written = from.work->written.load();
  while (taken != written) {
    const uint8_t* at = &from.work->records[taken % kWorkRingBytes];
    Work work{};
    std::memcpy(&work.head.bytes, at, 4);
    std::memcpy(&work.head.kind, at + 4, 2);
    taken += work.head.bytes;
    if (work.head.kind == kWorkPadding) {
      continue;
    }
    std::memcpy(&work.head, at, sizeof(WorkRecord));
    work.list.resize(work.head.sges);
    if (!work.list.empty()) {
      std::memcpy(work.list.data(), at + sizeof(WorkRecord), work.list.size() * sizeof(WorkSge));
    }
    if ((work.head.flags & kInline) != 0) {
      work.data.assign(at + sizeof(WorkRecord), at + sizeof(WorkRecord) + work.head.inline_bytes);
    }
    const uint32_t handle = work.head.handle;
    if (work.head.kind == static_cast<uint16_t>(WorkKind::kSharedReceive)) {
      if (const auto found = from.shared.find(handle); found != from.shared.end()) {
        found->second.receives.push_back(std::move(work));
      }
    } else if (const auto found = from.pairs.find(handle); found != from.pairs.end()) {
      const bool receive = work.head.kind == static_cast<uint16_t>(WorkKind::kReceive);
      (receive ? found->second.receives : found->second.sends).push_back(std::move(work));
      if (found->second.state == kErr) {
        fail(from, found->second);
      }
    }
  }
  from.work->taken.store(taken);
}

void LoopbackServer::progress(Connection& from) {
  for (auto& [handle, pair] : from.pairs) {
    while (pair.state == kRts && !pair.sends.empty() && execute(from, pair, pair.sends.front())) {
      if (!pair.sends.empty()) {
        pair.sends.pop_front();
      }
    }
  }
}

/// False: the request has to wait.
bool LoopbackServer::execute(Connection& from, Pair& pair, Work& work) {
  const WorkRecord& head = work.head;
  bool wait = false;
  uint32_t status = kSuccess;
  uint32_t bytes = 0;
  for (const WorkSge& sge : work.list) {
    bytes += sge.length;
  }
  const bool outgoing = head.opcode <= kSendImmediate;
  if (outgoing && (head.flags & kInline) == 0) {
    work.data.clear();  // a request that had to wait was read already
    status =
        copy_local(from, pair.domain, work.list, work.data, false, 0) ? kSuccess : kLocalProtection;
  } else if (!outgoing) {
    std::vector<uint8_t> probe;  // a bad local key wins over a bad remote one
    status = copy_local(from, pair.domain, work.list, probe, false, kLocalWrite) ? kSuccess
                                                                                 : kLocalProtection;
  }
  if (status == kSuccess) {
    status = kRetries;
    for (const auto& connection : connections_) {
      for (auto& [handle, peer] : connection->pairs) {
        if (peer.qpn == pair.attributes.remote_qpn &&
            (peer.state == kRtr || peer.state == kRts || peer.state == kSqd)) {
          status = execute_on(from, pair, work, *connection, peer, wait);
        }
      }
    }
    const bool patient = status == kRetries && ++work.tries < 2000;
    if (wait || patient) {
      return false;
    }
  }
  if (status == kSuccess && !outgoing &&
      !copy_local(from, pair.domain, work.list, work.data, true, kLocalWrite)) {
    status = kLocalProtection;
  }
  if ((head.flags & kSignaled) != 0 || status != kSuccess) {
    CompletionEntry entry{};
    entry.wr_id = head.wr_id;
    entry.status = status;
    entry.opcode = completion_opcode(head.opcode);
    entry.bytes = outgoing ? 0 : bytes;
    entry.qpn = pair.qpn;
    complete(from, pair.send_cq, entry, false);
  }
  if (status != kSuccess) {
    pair.sends.pop_front();
    fail(from, pair);
    return false;
  }
  return true;
}

uint32_t LoopbackServer::execute_on(Connection& from, Pair& pair, Work& work, Connection& to,
                                    Pair& peer, bool& wait) {
  const WorkRecord& head = work.head;
  const auto allowed = [&peer](uint32_t access) { return (peer.attributes.access & access) != 0; };
  uint32_t bytes = 0;
  for (const WorkSge& sge : work.list) {
    bytes += sge.length;
  }
  uint32_t status = kSuccess;
  switch (head.opcode) {
    case kWrite:
    case kWriteImmediate:
      if (head.opcode == kWriteImmediate) {
        const bool none =
            peer.srq != 0 ? to.shared[peer.srq].receives.empty() : peer.receives.empty();
        if (none) {
          return deliver(to, peer, {}, work, wait);
        }
      }
      if (!work.data.empty() &&
          (!allowed(kRemoteWrite) || !copy_remote(to, peer.domain, head.rkey, head.remote_address,
                                                  work.data, true, kRemoteWrite))) {
        status = kRemoteAccess;
      } else if (head.opcode == kWriteImmediate) {
        status = deliver(to, peer, {}, work, wait);
      }
      break;
    case kSend:
    case kSendImmediate: status = deliver(to, peer, work.data, work, wait); break;
    case kRead:
      work.data.assign(bytes, 0);
      if (bytes > 0 &&
          (!allowed(kRemoteRead) || !copy_remote(to, peer.domain, head.rkey, head.remote_address,
                                                 work.data, false, kRemoteRead))) {
        status = kRemoteAccess;
      }
      break;
    default: {
      work.data.assign(8, 0);
      if (!allowed(kRemoteAtomic) || !copy_remote(to, peer.domain, head.rkey, head.remote_address,
                                                  work.data, false, kRemoteAtomic)) {
        status = kRemoteAccess;
        break;
      }
      if (head.remote_address % 8 != 0) {
        status = kRemoteRequest;
        break;
      }
      uint64_t old = 0;
      std::memcpy(&old, work.data.data(), 8);
      const uint64_t now = head.opcode == kFetchAdd  ? old + head.compare_add
                           : old == head.compare_add ? head.swap
                                                     : old;
      std::vector<uint8_t> value(8);
      std::memcpy(value.data(), &now, 8);
      copy_remote(to, peer.domain, head.rkey, head.remote_address, value, true, kRemoteAtomic);
    }
  }
  (void)from;
  (void)pair;
  if (status == kRemoteAccess || status == kRemoteRequest) {
    fail(to, peer);
  }
  return status;
}

uint32_t LoopbackServer::deliver(Connection& to, Pair& peer, const std::vector<uint8_t>& data,
                                 const Work& work, bool& wait) {
  std::deque<Work>& receives = peer.srq != 0 ? to.shared[peer.srq].receives : peer.receives;
  if (receives.empty()) {
    wait = const_cast<Work&>(work).tries++ < 4000;
    return kRnrRetries;
  }
  Work receive = std::move(receives.front());
  receives.pop_front();
  const bool with_data = work.head.opcode == kSend || work.head.opcode == kSendImmediate;
  CompletionEntry entry{};
  entry.wr_id = receive.head.wr_id;
  entry.opcode = with_data ? kReceived : kReceivedWrite;
  entry.bytes = static_cast<uint32_t>(work.data.size());
  entry.immediate = last_immediate_ = work.head.immediate;
  entry.flags = work.head.opcode == kSend ? 0 : 2;
  entry.qpn = peer.qpn;
  if (with_data) {
    uint64_t room = 0;
    for (const WorkSge& sge : receive.list) {
      room += sge.length;
    }
    std::vector<uint8_t> copy = data;
    const uint32_t domain = peer.srq != 0 ? to.shared[peer.srq].domain : peer.domain;
    if (room < data.size()) {
      entry.status = kLength;
    } else if (!copy_local(to, domain, receive.list, copy, true, kLocalWrite)) {
      entry.status = kLocalProtection;
    }
  }
  complete(to, peer.recv_cq, entry, (work.head.flags & kSolicited) != 0);
  if (entry.status != kSuccess) {
    fail(to, peer);
    return entry.status == kLength ? uint32_t{kRemoteRequest} : 11u;
  }
  return kSuccess;
}

void LoopbackServer::fail(Connection& of, Pair& pair) {
  pair.state = kErr;
  for (auto* works : {&pair.sends, &pair.receives}) {
    for (; !works->empty(); works->pop_front()) {
      const bool receive = works == &pair.receives;
      CompletionEntry entry{};
      entry.wr_id = works->front().head.wr_id;
      entry.status = kFlushed;
      entry.opcode = receive ? kReceived : completion_opcode(works->front().head.opcode);
      entry.qpn = pair.qpn;
      complete(of, receive ? pair.recv_cq : pair.send_cq, entry, false);
    }
  }
}

void LoopbackServer::complete(Connection& of, uint32_t cq, CompletionEntry entry, bool solicited) {
  const auto found = of.queues.find(cq);
  if (found == of.queues.end()) {
    return;
  }
  Queue& queue = found->second;
  if (queue.written - queue.ring->taken.load() >= queue.depth) {
    return;
  }
  queue.ring->entries[queue.written % queue.depth] = entry;
  queue.ring->written.store(++queue.written);
  if (queue.armed == 1 || (queue.armed == 2 && (solicited || entry.status != kSuccess))) {
    queue.armed = 0;
    if (const auto channel = of.channels.find(queue.channel); channel != of.channels.end()) {
      const ChannelEventWire event{cq, 0};
      [[maybe_unused]] const ssize_t sent = write(channel->second.write_end, &event, sizeof(event));
    }
  }
  if (of.work->sleeping.exchange(0) != 0) {
    syscall(SYS_futex, &of.work->sleeping, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  }
}

bool LoopbackServer::copy_local(Connection& of, uint32_t domain, const std::vector<WorkSge>& list,
                                std::vector<uint8_t>& data, bool store, uint32_t access) {
  size_t at = 0;
  for (const WorkSge& sge : list) {
    if (sge.length == 0) {
      continue;
    }
    const size_t bytes = store ? std::min<size_t>(sge.length, data.size() - at) : sge.length;
    std::vector<uint8_t> part(store ? data.begin() + at : data.end(),
                              store ? data.begin() + at + bytes : data.end());
    part.resize(bytes);
    if (bytes > 0 && !copy_remote(of, domain, sge.lkey, sge.address, part, store, access)) {
      return false;
    }
    if (!store) {
      data.insert(data.end(), part.begin(), part.end());
    }
    at += bytes;
  }
  return true;
}

bool LoopbackServer::copy_remote(Connection& of, uint32_t domain, uint32_t rkey, uint64_t address,
                                 std::vector<uint8_t>& data, bool store, uint32_t access) {
  const auto found = of.regions.find(rkey);
  if (found == of.regions.end()) {
    return false;
  }
  const Region& region = found->second;
  if (region.domain != domain || (region.access & access) != access || address < region.iova ||
      data.size() > region.length || address - region.iova > region.length - data.size()) {
    return false;
  }
  const auto offset = static_cast<off_t>(region.address + (address - region.iova));
  const ssize_t moved = store ? pwrite(of.memory, data.data(), data.size(), offset)
                              : pread(of.memory, data.data(), data.size(), offset);
  return moved == static_cast<ssize_t>(data.size());
}

}  // namespace mrclab::verbs::client_test
