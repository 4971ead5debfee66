#include "netio/shaper.h"

#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/tbf.h>
#include <netlink/route/tc.h>

#include <algorithm>
#include <memory>

#include "netio/system_error.h"

namespace mrclab::netio {

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

}  // namespace mrclab::netio
