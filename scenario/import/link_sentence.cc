#include "scenario/import/link_sentence.h"

#include <algorithm>
#include <array>

#include "scenario/import/text_scanner.h"

namespace mrclab::lab {
namespace {

constexpr LinkEventKind kUp = LinkEventKind::kUp, kDown = LinkEventKind::kDown,
                        kErrors = LinkEventKind::kErrors;
constexpr size_t kLongestGap = 300;  // what a '~' may stand for

// clang-format off
constexpr std::array kSentences{
    // Cisco's way, which many have taken over; with a description behind the interface.
    LinkSentence{"link status for interface $ is down", kDown, "HPE Aruba AOS-CX", "AOS-CX event log, 404"},
    LinkSentence{"link status for interface $ is up", kUp, "HPE Aruba AOS-CX", "AOS-CX event log, 403"},
    LinkSentence{"interface $, changed state to down", kDown, "Cisco IOS, IOS XE, IOS XR, Arista EOS, Ruijie", "%LINEPROTO-5-UPDOWN, %LINK-3-UPDOWN"},
    LinkSentence{"interface $, changed state to administratively down", kDown, "Cisco IOS, IOS XE", "%LINK-5-CHANGED"},
    LinkSentence{"interface $, changed state to up", kUp, "Cisco IOS, IOS XE, IOS XR, Arista EOS, Ruijie", "%LINEPROTO-5-UPDOWN, %LINK-3-UPDOWN"},
    LinkSentence{"interface $ (~), changed state to down", kDown, "Arista EOS, with a description", "%LINEPROTO-5-UPDOWN"},
    LinkSentence{"interface $ (~), changed state to up", kUp, "Arista EOS, with a description", "%LINEPROTO-5-UPDOWN"},
    LinkSentence{"interface $ changed state to down", kDown, "IP Infusion OcNOS, Cisco ASA", "IFMGR_IF_DOWN, %ASA-4-411002"},
    LinkSentence{"interface $ changed state to up", kUp, "IP Infusion OcNOS, Cisco ASA", "IFMGR_IF_UP, %ASA-4-411001"},
    LinkSentence{"interface $ state changed to down", kDown, "NVIDIA Onyx", "Onyx user manual, event notifications"},
    LinkSentence{"interface $ state changed to up", kUp, "NVIDIA Onyx", "Onyx user manual, event notifications"},
    LinkSentence{"interface $ is not operational", kDown, "Nokia SR OS", "SR OS log events, linkDown"},
    LinkSentence{"interface $ is operational", kUp, "Nokia SR OS", "SR OS log events, linkUp"},
    LinkSentence{"interface $ is now down", kDown, "Nokia SR Linux", "SR Linux log events, portDown"},
    LinkSentence{"interface $ is now up", kUp, "Nokia SR Linux", "SR Linux log events, portUp"},
    LinkSentence{"interface $ is link down", kDown, "Extreme SLX, Brocade NOS", "NSM-1003"},
    LinkSentence{"interface $ is link up", kUp, "Extreme SLX, Brocade NOS", "NSM-1002"},
    LinkSentence{"interface $, state down", kDown, "Extreme NetIron, Ruckus FastIron", "FastIron monitoring guide, syslog messages"},
    LinkSentence{"interface $, state up", kUp, "Extreme NetIron, Ruckus FastIron", "FastIron monitoring guide, syslog messages"},
    LinkSentence{"interface $ is down", kDown, "Cisco NX-OS", "%ETHPORT-5-IF_DOWN_LINK_FAILURE"},
    LinkSentence{"interface $ is up", kUp, "Cisco NX-OS", "%ETHPORT-5-IF_UP"},
    LinkSentence{"interface $ (~) is down", kDown, "Cisco NX-OS, with a description", "%ETHPORT-5-IF_DOWN_LINK_FAILURE"},
    LinkSentence{"interface $ (~) is up", kUp, "Cisco NX-OS, with a description", "%ETHPORT-5-IF_UP"},
    // What begins with errors ends with any other word about the port: an alarm that is cleared is an "up".
    LinkSentence{"interface $, low rx power warning cleared", kUp, "Cisco NX-OS", "%ETHPORT-4-IF_SFP_WARNING"},
    LinkSentence{"interface $, low rx power alarm cleared", kUp, "Cisco NX-OS", "%ETHPORT-3-IF_SFP_ALARM"},
    LinkSentence{"interface $, low rx power warning", kErrors, "Cisco NX-OS", "%ETHPORT-4-IF_SFP_WARNING"},
    LinkSentence{"interface $, low rx power alarm", kErrors, "Cisco NX-OS", "%ETHPORT-3-IF_SFP_ALARM"},
    LinkSentence{"error detected on $, putting", kDown, "Cisco IOS", "%PM-4-ERR_DISABLE"},
    LinkSentence{"port-channel#: $ is down", kDown, "Cisco NX-OS", "%ETH_PORT_CHANNEL-5-PORT_DOWN"},
    LinkSentence{"port-channel#: $ is up", kUp, "Cisco NX-OS", "%ETH_PORT_CHANNEL-5-PORT_UP"},
    LinkSentence{"interface $: link state down", kDown, "Open vSwitch", "ofproto/bond.c"},
    LinkSentence{"interface $: link state up", kUp, "Open vSwitch", "ofproto/bond.c"},
    LinkSentence{"interface $ was turned down", kDown, "Fortinet FortiOS", "FortiOS log reference"},
    LinkSentence{"interface $ was turned up", kUp, "Fortinet FortiOS", "FortiOS log reference"},
    LinkSentence{"physical state on the interface $ changed to down", kDown, "H3C Comware 7", "IFNET/3/PHY_UPDOWN"},
    LinkSentence{"physical state on the interface $ changed to up", kUp, "H3C Comware 7", "IFNET/3/PHY_UPDOWN"},
    LinkSentence{"protocol state on the interface $ changed to down", kDown, "H3C Comware 7", "IFNET/5/LINK_UPDOWN"},
    LinkSentence{"protocol state on the interface $ changed to up", kUp, "H3C Comware 7", "IFNET/5/LINK_UPDOWN"},
    LinkSentence{"$: link status is down", kDown, "H3C Comware 5", "IFNET/4/LINK UPDOWN"},
    LinkSentence{"$: link status is up", kUp, "H3C Comware 5", "IFNET/4/LINK UPDOWN"},
    LinkSentence{"$ link status is down", kDown, "H3C Comware 5", "IFNET/3/LINK_UPDOWN"},
    LinkSentence{"$ link status is up", kUp, "H3C Comware 5", "IFNET/3/LINK_UPDOWN"},
    LinkSentence{"interface $ has turned into down state", kDown, "Huawei VRP", "IFNET/4/IF_STATE, IFPDT/4/IF_STATE"},
    LinkSentence{"interface $ has turned into up state", kUp, "Huawei VRP", "IFNET/4/IF_STATE, IFPDT/4/IF_STATE"},
    LinkSentence{"turned into down state.(interfaceindex=#, interfacename=$)", kDown, "Huawei VRP", "IFNET/4/IF_STATE"},
    LinkSentence{"turned into up state.(interfaceindex=#, interfacename=$)", kUp, "Huawei VRP", "IFNET/4/IF_STATE"},
    LinkSentence{"(ifname=$, ~operstatus=down", kDown, "Huawei VRP 8", "IFNET/2/linkDown_active"},
    LinkSentence{"(ifname=$, ~operstatus=up", kUp, "Huawei VRP 8", "IFNET/2/linkDown_clear"},
    LinkSentence{"linkdown_active~ifname=$", kDown, "Huawei VRP 8", "IFNET/2/linkDown_active"},
    LinkSentence{"linkdown_clear~ifname=$", kUp, "Huawei VRP 8", "IFNET/2/linkDown_clear"},
    LinkSentence{"$: change status to down", kDown, "Huawei VRP", "PHY/1/PHY"},
    LinkSentence{"$: change status to up", kUp, "Huawei VRP", "PHY/1/PHY"},
    LinkSentence{"interface operational state is down~:$", kDown, "Dell OS10", "%IFM_OSTATE_DN"},
    LinkSentence{"interface operational state is up~:$", kUp, "Dell OS10", "%IFM_OSTATE_UP"},
    LinkSentence{"changed interface state to down: $", kDown, "Dell OS9", "%IFMGR-5-OSTATE_DN"},
    LinkSentence{"changed interface state to up: $", kUp, "Dell OS9", "%IFMGR-5-OSTATE_UP"},
    LinkSentence{"changed interface physical state to down: $", kDown, "Dell OS9", "%IFMGR-5-PHYSICAL_STATE_DN"},
    LinkSentence{"changed interface physical state to up: $", kUp, "Dell OS9", "%IFMGR-5-PHYSICAL_STATE_UP"},
    LinkSentence{"ifoperstatus down(2), ifname $", kDown, "Juniper Junos", "SNMP_TRAP_LINK_DOWN"},
    LinkSentence{"ifoperstatus up(1), ifname $", kUp, "Juniper Junos", "SNMP_TRAP_LINK_UP"},
    // Ports.
    LinkSentence{"port $ oper state set from up to down", kDown, "SONiC", "sonic-swss, orchagent/portsorch.cpp"},
    LinkSentence{"port $ oper state set from down to up", kUp, "SONiC", "sonic-swss, orchagent/portsorch.cpp"},
    LinkSentence{"port $ oper error event: ~ occurred", kErrors, "SONiC", "sonic-swss, orchagent/portsorch.cpp"},
    LinkSentence{"status down to host interface $", kDown, "SONiC", "sonic-swss, orchagent/portsorch.cpp"},
    LinkSentence{"status up to host interface $", kUp, "SONiC", "sonic-swss, orchagent/portsorch.cpp"},
    LinkSentence{"publish $(ok:down)", kDown, "SONiC", "sonic-swss, portsyncd/linksync.cpp"},
    LinkSentence{"publish $(ok:up)", kUp, "SONiC", "sonic-swss, portsyncd/linksync.cpp"},
    LinkSentence{"port $ is now off-line", kDown, "HP ProCurve", "event log, ports"},
    LinkSentence{"port $ is now on-line", kUp, "HP ProCurve", "event log, ports"},
    LinkSentence{"port down notification received for $", kDown, "Allied Telesis AlliedWare Plus", "NSM"},
    LinkSentence{"port up notification received for $", kUp, "Allied Telesis AlliedWare Plus", "NSM"},
    LinkSentence{"port $ link state down", kDown, "Extreme EXOS", "vlan.msgs.portLinkStateDown"},
    LinkSentence{"port $ link state up", kUp, "Extreme EXOS", "vlan.msgs.portLinkStateUp"},
    LinkSentence{"port $ link down", kDown, "Extreme EXOS", "vlan.msgs.portLinkStateDown"},
    LinkSentence{"port $ link up", kUp, "Extreme EXOS", "vlan.msgs.portLinkStateUp"},
    LinkSentence{"port $ is down", kDown, "Cisco small business, D-Link, Zyxel", "their event logs"},
    LinkSentence{"port $ is up", kUp, "Cisco small business, D-Link, Zyxel", "their event logs"},
    LinkSentence{"port $: down", kDown, "Palo Alto PAN-OS", "system log, type port"},
    LinkSentence{"port $: up", kUp, "Palo Alto PAN-OS", "system log, type port"},
    LinkSentence{"link down: $", kDown, "FASTPATH: Dell N, Edge-Core, EdgeSwitch", "TRAPMGR"},
    LinkSentence{"link up: $", kUp, "FASTPATH: Dell N, Edge-Core, EdgeSwitch", "TRAPMGR"},
    LinkSentence{"link down($)", kDown, "Extreme VOSS", "HW INFO"},
    LinkSentence{"link up($)", kUp, "Extreme VOSS", "HW INFO"},
    LinkSentence{"link $ operationally down", kDown, "Alcatel-Lucent AOS", "intfNi"},
    LinkSentence{"link $ operationally up", kUp, "Alcatel-Lucent AOS", "intfNi"},
    LinkSentence{"link: $ is down", kDown, "F5 BIG-IP", "01b5004, 01bb0004"},
    LinkSentence{"link: $ is up", kUp, "F5 BIG-IP", "01b5004, 01bb0004"},
    // Hosts: bonds and teams, managers of networks, drivers.
    LinkSentence{"(slave $): link status definitely down", kDown, "Linux bonding", "drivers/net/bonding/bond_main.c"},
    LinkSentence{"(slave $): link status definitely up", kUp, "Linux bonding", "drivers/net/bonding/bond_main.c"},
    LinkSentence{"link status definitely down for interface $", kDown, "Linux bonding before 5.3", "drivers/net/bonding/bond_main.c"},
    LinkSentence{"link status definitely up for interface $", kUp, "Linux bonding before 5.3", "drivers/net/bonding/bond_main.c"},
    LinkSentence{"$: ethtool-link went down", kDown, "teamd", "libteam, teamd_link_watch.c"},
    LinkSentence{"$: ethtool-link went up", kUp, "teamd", "libteam, teamd_link_watch.c"},
    LinkSentence{"device ($): link disconnected", kDown, "NetworkManager", "src/core/devices/nm-device.c"},
    LinkSentence{"device ($): carrier: link connected", kUp, "NetworkManager", "src/core/devices/nm-device.c"},
    LinkSentence{"device ($): link connected", kUp, "NetworkManager", "src/core/devices/nm-device.c"},
    LinkSentence{"($): carrier now off", kDown, "NetworkManager 0.9", "src/nm-device.c"},
    LinkSentence{"($): carrier now on", kUp, "NetworkManager 0.9", "src/nm-device.c"},
    LinkSentence{"($): link disconnected", kDown, "NetworkManager 1.0", "src/devices/nm-device.c"},
    LinkSentence{"($): link connected", kUp, "NetworkManager 1.0", "src/devices/nm-device.c"},
    LinkSentence{"$: lost carrier", kDown, "systemd-networkd", "src/network/networkd-link.c"},
    LinkSentence{"$: gained carrier", kUp, "systemd-networkd", "src/network/networkd-link.c"},
    LinkSentence{"$: carrier lost", kDown, "dhcpcd", "src/dhcpcd.c"},
    LinkSentence{"$: carrier acquired", kUp, "dhcpcd", "src/dhcpcd.c"},
    LinkSentence{"$: carrier off", kDown, "Linux, USB network devices", "drivers/net/usb/usbnet.c, r8152.c"},
    LinkSentence{"$: carrier on", kUp, "Linux, USB network devices", "drivers/net/usb/usbnet.c, r8152.c"},
    LinkSentence{"ifplugd($)~link beat lost", kDown, "ifplugd", "ifplugd(8)"},
    LinkSentence{"ifplugd($)~link beat detected", kUp, "ifplugd", "ifplugd(8)"},
    LinkSentence{"netlink reports $ down", kDown, "keepalived", "keepalived/vrrp/vrrp_if.c"},
    LinkSentence{"netlink reports $ up", kUp, "keepalived", "keepalived/vrrp/vrrp_if.c"},
    LinkSentence{"device '$' link is down", kDown, "OpenWrt netifd", "netifd, device.c"},
    LinkSentence{"device '$' link is up", kUp, "OpenWrt netifd", "netifd, device.c"},
    LinkSentence{"intf $(#) has gone down", kDown, "FRR zebra, Cumulus", "zebra/interface.c"},
    LinkSentence{"intf $(#) has come up", kUp, "FRR zebra, Cumulus", "zebra/interface.c"},
    LinkSentence{"($)]link is down", kDown, "Linux qede", "drivers/net/ethernet/qlogic/qede"},
    LinkSentence{"($)]link is up", kUp, "Linux qede", "drivers/net/ethernet/qlogic/qede"},
    LinkSentence{"$: atlantic: link change old # new 0", kDown, "Linux atlantic", "drivers/net/ethernet/aquantia"},
    LinkSentence{"$: atlantic: link change old 0 new #", kUp, "Linux atlantic", "drivers/net/ethernet/aquantia"},
    LinkSentence{"$: logical state changed to port_down", kDown, "Linux hfi1", "drivers/infiniband/hw/hfi1"},
    LinkSentence{"$: logical state changed to port_active", kUp, "Linux hfi1", "drivers/infiniband/hw/hfi1"},
    LinkSentence{"nic $ linkstate is down", kDown, "VMware ESXi", "esx.problem.net.vmnic.linkstate.down"},
    LinkSentence{"nic $ linkstate is up", kUp, "VMware ESXi", "esx.clear.net.vmnic.linkstate.up"},
    LinkSentence{"vmnic $ linkstate down", kDown, "VMware ESXi", "vob.net.vmnic.linkstate.down"},
    LinkSentence{"vmnic $ linkstate up", kUp, "VMware ESXi", "vob.net.vmnic.linkstate.up"},
    LinkSentence{"$: link state changed to down", kDown, "FreeBSD", "sys/net/if.c, do_link_state_change"},
    LinkSentence{"$: link state changed to up", kUp, "FreeBSD", "sys/net/if.c, do_link_state_change"},
    LinkSentence{"$: link becomes ready", kUp, "Linux, ADDRCONF(NETDEV_CHANGE)", "net/ipv6/addrconf.c"},
    LinkSentence{"$ nic link is down", kDown, "Linux: bnxt, ice, i40e, igb, ixgbe, e1000e, bnx2x", "drivers/net/ethernet"},
    LinkSentence{"$ nic link is up", kUp, "Linux: bnxt, ice, i40e, igb, ixgbe, e1000e, bnx2x", "drivers/net/ethernet"},
    LinkSentence{"$: nic link is down", kDown, "Linux: bnxt, ice, i40e, igb, ixgbe, e1000e, bnx2x", "drivers/net/ethernet"},
    LinkSentence{"$: nic link is up", kUp, "Linux: bnxt, ice, i40e, igb, ixgbe, e1000e, bnx2x", "drivers/net/ethernet"},
    LinkSentence{"$: nic ~ link is down", kDown, "Linux bnx2", "drivers/net/ethernet/broadcom/bnx2.c"},
    LinkSentence{"$: nic ~ link is up", kUp, "Linux bnx2", "drivers/net/ethernet/broadcom/bnx2.c"},
    LinkSentence{"$ link is down", kDown, "Linux: phylink, mlxsw, r8169, tg3, hinic", "drivers/net"},
    LinkSentence{"$ link is up", kUp, "Linux: phylink, mlxsw, r8169, tg3, hinic", "drivers/net"},
    LinkSentence{"$: link is down", kDown, "Linux: phylink, mlxsw, r8169, tg3, hinic", "drivers/net"},
    LinkSentence{"$: link is up", kUp, "Linux: phylink, mlxsw, r8169, tg3, hinic", "drivers/net"},
    LinkSentence{"$: link down", kDown, "Linux: mlx5, mlx4, mlxsw, cxgb4, hns3, sfc, ionic; illumos", "drivers/net/ethernet"},
    LinkSentence{"$: link up", kUp, "Linux: mlx5, mlx4, mlxsw, cxgb4, hns3, sfc, ionic; illumos", "drivers/net/ethernet"},
    LinkSentence{"$ link down", kDown, "MikroTik RouterOS, illumos", "RouterOS, topic interface"},
    LinkSentence{"$ link up", kUp, "MikroTik RouterOS, illumos", "RouterOS, topic interface"},
};
// clang-format on

bool in_name(char c) {
  return is_letter(c) || is_digit(c) ||
         std::string_view("/.:_-@+").find(c) != std::string_view::npos;
}

bool is_word_end(std::string_view text, size_t at) {
  return at >= text.size() || !(is_letter(text[at]) || is_digit(text[at]));
}

/// Does the sentence's part stand at `at`? The position behind it.
std::optional<size_t> part_at(std::string_view text, size_t at, std::string_view part) {
  while (!part.empty()) {
    const char c = part.front();
    part.remove_prefix(1);
    if (c == '~') {
      for (size_t gap = 0; gap <= kLongestGap && at + gap <= text.size(); ++gap) {
        if (const auto end = part_at(text, at + gap, part)) return end;
      }
      return std::nullopt;
    }
    if (c == '#') {
      const size_t first = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      if (at == first) return std::nullopt;
    } else if (at >= text.size() || text[at++] != c) {
      return std::nullopt;
    }
  }
  return at;
}

/// A word that is no interface's though it stands where one would.
bool is_other_word(std::string_view word) {
  constexpr std::array<std::string_view, 16> kOthers{
      "kernel", "link",   "port", "interface", "device", "slave",   "state", "status",
      "nic",    "notice", "info", "warning",   "error",  "message", "the",   "carrier"};
  return std::find(kOthers.begin(), kOthers.end(), word) != kOthers.end();
}

struct FoundName {
  size_t from = 0, to = 0;        ///< of the interface
  std::optional<size_t> kind_at;  ///< of a word before it that belongs to it: "ethernet 1/1"
  size_t end = 0;                 ///< where what follows it begins
};

/// An interface has a number or stands between marks; another word is the sentence's.
bool is_interface(std::string_view text, const FoundName& name, bool marked) {
  const std::string_view word = text.substr(name.from, name.to - name.from);
  if (word.empty() || is_other_word(word)) return false;
  if (!is_letter(word.front()) && !is_digit(word.front())) return false;
  return marked || name.kind_at || std::any_of(word.begin(), word.end(), is_digit);
}

/// Words that stand before a number with a blank between: "Ethernet 1/1", "Te 0/1".
bool is_kind_of_interface(std::string_view word) {
  constexpr std::array<std::string_view, 12> kShort{
      "te", "gi", "fa", "fo", "hu", "tf", "twe", "po", "et", "eth", "port-channel", "mgmt"};
  return word.ends_with("ethernet") || word.ends_with("gige") || word.ends_with("gig") ||
         std::find(kShort.begin(), kShort.end(), word) != kShort.end();
}

/// The interface that begins at `at`.
FoundName name_from(std::string_view text, size_t at) {
  FoundName name{at, at, std::nullopt, at};
  while (name.to < text.size() && in_name(text[name.to])) ++name.to;
  const std::string_view word = text.substr(at, name.to - at);
  const bool number_follows =
      name.to + 1 < text.size() && text[name.to] == ' ' && is_digit(text[name.to + 1]);
  if (is_kind_of_interface(word) && number_follows) {
    name.kind_at = at;
    name.from = name.to + 1;
    name.to = name.from;
    while (name.to < text.size() && in_name(text[name.to])) ++name.to;
  }
  while (name.to > name.from && (text[name.to - 1] == ':' || text[name.to - 1] == '.')) --name.to;
  name.end = name.to;
  return name;
}

/// The interface that ends at `at`.
FoundName name_before(std::string_view text, size_t at) {
  FoundName name{at, at, std::nullopt, at};
  if (at > 0 && (text[at - 1] == ':' || text[at - 1] == '.')) return name;  // of the clause before
  while (name.from > 0 && in_name(text[name.from - 1])) --name.from;
  if (name.from > 1 && name.from < at && is_digit(text[name.from]) && text[name.from - 1] == ' ') {
    size_t kind = name.from - 1;
    while (kind > 0 && (is_letter(text[kind - 1]) || text[kind - 1] == '-')) --kind;
    if (is_kind_of_interface(text.substr(kind, name.from - 1 - kind))) name.kind_at = kind;
  }
  return name;
}

std::optional<FoundName> find_sentence(std::string_view text, std::string_view sentence) {
  const size_t dollar = sentence.find('$');
  const std::string_view before = sentence.substr(0, dollar), after = sentence.substr(dollar + 1);
  const bool forward = !before.empty();
  const std::string_view side = forward ? before : after;
  const std::string_view anchor = side.substr(0, side.find_first_of("~#"));
  const bool marked =
      (forward && std::string_view("('=").find(before.back()) != std::string_view::npos) ||
      (!after.empty() && std::string_view(":,)'").find(after.front()) != std::string_view::npos);
  for (size_t at = text.find(anchor); at != std::string_view::npos;
       at = text.find(anchor, at + 1)) {
    const bool inside = forward && at > 0 && is_letter(before.front()) && is_letter(text[at - 1]);
    if (inside) continue;
    std::optional<size_t> start = at;
    if (forward) start = part_at(text, at, before);
    if (!start) continue;
    const FoundName name = forward ? name_from(text, *start) : name_before(text, at);
    if (!is_interface(text, name, marked)) continue;
    const std::optional<size_t> end = part_at(text, name.end, after);
    if (end && (after.empty() || is_word_end(text, *end))) return name;
  }
  return std::nullopt;
}

std::string in_small_letters(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = to_lower(c);
  return result;
}

/// Every sentence has one of these words, and most lines of a log have none.
bool may_be_about_link(std::string_view text) {
  constexpr std::array<std::string_view, 8> kWords{"link",        "down", "up",        "carrier",
                                                   "operational", "port", "connected", "rx power"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if ((at == 0 || is_word_end(text, at - 1)) && is_word_end(text, at + word.size())) return true;
  }
  return false;
}

}  // namespace

std::span<const LinkSentence> link_sentences() { return kSentences; }

std::optional<LinkMessage> read_link_message(std::string_view message) {
  const std::string text = in_small_letters(message);
  if (!may_be_about_link(text)) return std::nullopt;
  for (const LinkSentence& sentence : kSentences) {
    const auto name = find_sentence(text, sentence.text);
    if (!name) continue;
    std::string interface(message.substr(name->from, name->to - name->from));
    if (name->kind_at) {
      interface.insert(0, message.substr(*name->kind_at, name->from - 1 - *name->kind_at));
    }
    return LinkMessage{sentence.kind, std::move(interface), &sentence};
  }
  return std::nullopt;
}

bool looks_like_link_message(std::string_view message) {
  const std::string text = in_small_letters(message);
  const bool about_link = has_word(text, "link") || has_word(text, "carrier");
  const bool changed = has_word(text, "down") || has_word(text, "up") || has_word(text, "lost");
  const bool other = text.find("neighbor") != std::string_view::npos ||
                     text.find("not ready") != std::string_view::npos ||
                     text.find("session") != std::string_view::npos ||
                     text.find("sata") != std::string_view::npos ||
                     text.find("pciehp") != std::string_view::npos;
  return about_link && changed && !other;
}

}  // namespace mrclab::lab
