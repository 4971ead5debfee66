#include "netio/kernel/ruleset_watch.h"

#include <arpa/inet.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <array>
#include <utility>

namespace mrclab::netio {
namespace {

/// The kernel answers at once, in one message.
constexpr size_t kAnswerBytes = 4096;

struct GenerationRequest {
  nlmsghdr header;
  nfgenmsg body;
};

}  // namespace

RulesetWatch::RulesetWatch(const NetworkNamespace& ns)
    : socket_(check_system_call("watch the packet filter of " + ns.name(), ns.run_in([] {
        return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
      }))),
      known_(generation()) {}

uint32_t RulesetWatch::generation() const {
  GenerationRequest request{};
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof(nfgenmsg));
  request.header.nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.body.nfgen_family = AF_UNSPEC;
  request.body.version = NFNETLINK_V0;
  constexpr const char* kAttempted = "ask for the generation of the packet filter";
  check_system_call(kAttempted, ::send(socket_.get(), &request, request.header.nlmsg_len, 0));
  alignas(nlmsghdr) std::array<char, kAnswerBytes> answer;
  const ssize_t size =
      check_system_call(kAttempted, ::recv(socket_.get(), answer.data(), answer.size(), 0));
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (!nlmsg_ok(header, static_cast<int>(size))) throw SystemError(kAttempted, EBADMSG);
  if (header->nlmsg_type == NLMSG_ERROR) {
    throw SystemError(kAttempted, -static_cast<const nlmsgerr*>(NLMSG_DATA(header))->error);
  }
  nlattr* attributes[NFTA_GEN_MAX + 1] = {};
  if (nlmsg_parse(const_cast<nlmsghdr*>(header), sizeof(nfgenmsg), attributes, NFTA_GEN_MAX,
                  nullptr) < 0 ||
      attributes[NFTA_GEN_ID] == nullptr) {
    throw SystemError(kAttempted, EBADMSG);
  }
  return ntohl(nla_get_u32(attributes[NFTA_GEN_ID]));
}

bool RulesetWatch::look() {
  const uint32_t now = generation();
  return std::exchange(known_, now) != now;
}

void RulesetWatch::after_own_change() {
  ++known_;
  changed_ |= look();
}

bool RulesetWatch::take_changed() {
  changed_ |= look();
  return std::exchange(changed_, false);
}

}  // namespace mrclab::netio
