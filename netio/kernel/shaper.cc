#include "netio/kernel/shaper.h"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/tbf.h>
#include <netlink/route/tc.h>

#include <algorithm>
#include <array>
#include <memory>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

/// The kernel counts bucket sizes as time at the rate, in units of 64 ns (psched_tick).
constexpr uint64_t kTicksPerSecond = 1'000'000'000 / 64;

std::optional<Shaper> read_tbf(nlattr* options) {
  std::array<nlattr*, TCA_TBF_MAX + 1> tbf{};
  if (options == nullptr || nla_parse_nested(tbf.data(), TCA_TBF_MAX, options, nullptr) < 0 ||
      tbf[TCA_TBF_PARMS] == nullptr) {
    return std::nullopt;
  }
  tc_tbf_qopt parameters{};
  nla_memcpy(&parameters, tbf[TCA_TBF_PARMS], sizeof parameters);
  const uint64_t rate = parameters.rate.rate;
  return Shaper{rate, static_cast<uint32_t>(rate * parameters.buffer / kTicksPerSecond),
                parameters.limit};
}

}  // namespace

void queue_shaper(NamespaceNetlink& netlink, const std::string& device, const Shaper& shaper) {
  const std::string attempted = "shape " + device + " in " + netlink.namespace_name();
  struct PutQdisc {
    void operator()(rtnl_qdisc* q) const { rtnl_qdisc_put(q); }
  };
  const auto check = [&](int status) {
    if (status < 0) throw SystemError(attempted, EINVAL, nl_geterror(status));
  };
  const std::unique_ptr<rtnl_qdisc, PutQdisc> qdisc(rtnl_qdisc_alloc());
  if (!qdisc) throw SystemError(attempted, ENOMEM);
  rtnl_tc* tc = TC_CAST(qdisc.get());
  rtnl_tc_set_ifindex(tc, static_cast<int>(netlink.ifindex(device)));
  rtnl_tc_set_parent(tc, TC_H_ROOT);
  check(rtnl_tc_set_kind(tc, "tbf"));
  // libnl takes the rate in bytes a second as a signed int; beyond it nothing here needs shaping.
  const uint64_t rate = std::min<uint64_t>(shaper.bytes_per_second, INT32_MAX);
  rtnl_qdisc_tbf_set_rate(qdisc.get(), static_cast<int>(rate), static_cast<int>(shaper.burst), 0);
  rtnl_qdisc_tbf_set_limit(qdisc.get(), static_cast<int>(shaper.queue));
  nl_msg* message = nullptr;
  check(rtnl_qdisc_build_add_request(qdisc.get(), NLM_F_CREATE | NLM_F_REPLACE, &message));
  netlink.socket().queue(NlMessage(message), attempted);
}

std::vector<InstalledQdisc> installed_qdiscs(NamespaceNetlink& netlink) {
  const std::vector<LinkState> links = netlink.links();
  NlMessage request = make_message(RTM_GETQDISC, NLM_F_DUMP);
  tcmsg header{};
  nlmsg_append(request.get(), &header, sizeof header, NLMSG_ALIGNTO);
  std::vector<InstalledQdisc> qdiscs;
  netlink.socket().dump(std::move(request),
                        "list the queueing disciplines of " + netlink.namespace_name(),
                        [&](const nlmsghdr& answer) {
                          std::array<nlattr*, TCA_MAX + 1> attributes{};
                          if (answer.nlmsg_type != RTM_NEWQDISC ||
                              nlmsg_parse(const_cast<nlmsghdr*>(&answer), sizeof(tcmsg),
                                          attributes.data(), TCA_MAX, nullptr) < 0 ||
                              attributes[TCA_KIND] == nullptr) {
                            return;
                          }
                          const auto* tc = static_cast<const tcmsg*>(nlmsg_data(&answer));
                          if (tc->tcm_parent != TC_H_ROOT) return;
                          for (const LinkState& link : links) {
                            if (link.ifindex != static_cast<uint32_t>(tc->tcm_ifindex)) continue;
                            qdiscs.push_back({link.name, nla_get_string(attributes[TCA_KIND]), {}});
                            if (qdiscs.back().kind == "tbf")
                              qdiscs.back().shaper = read_tbf(attributes[TCA_OPTIONS]);
                          }
                        });
  return qdiscs;
}

}  // namespace mrclab::netio
