#include "standalone/peer_messages.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fabric/text/json_text.h"
#include "fabric/topology/path.h"
#include "netio/kernel/route.h"

namespace mrclab::standalone {
namespace {

using nlohmann::json;

[[noreturn]] void reject(const std::string& what) {
  throw std::invalid_argument("the peer's message: " + what);
}

json parse_object(const std::string& line) {
  auto value = parse_json<json>(line);
  if (!value.is_object()) reject("no JSON object: " + in_quotes(line));
  return value;
}

uint64_t number_at(const json& object, const char* name, uint64_t low, uint64_t high) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) {
    reject(std::string("\"") + name + "\" must be a whole number");
  }
  const auto value = found->get<uint64_t>();
  if (value < low || value > high) {
    reject(std::string("\"") + name + "\" is " + std::to_string(value) + ", must be " +
           std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

std::string word_at(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) {
    reject(std::string("\"") + name + "\" must be a text");
  }
  return found->get<std::string>();
}

bool flag_at(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_boolean()) {
    reject(std::string("\"") + name + "\" must be true or false");
  }
  return found->get<bool>();
}

}  // namespace

MacAddress parse_mac(std::string_view text) {
  std::array<unsigned, 6> parts{};
  int used = 0;
  const std::string copy(text);
  const int read = std::sscanf(copy.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%n", &parts[0], &parts[1],
                               &parts[2], &parts[3], &parts[4], &parts[5], &used);
  if (read != 6 || static_cast<size_t>(used) != copy.size()) {
    throw std::invalid_argument("\"" + copy + "\" is no MAC address");
  }
  MacAddress mac{};
  for (size_t i = 0; i < mac.size(); ++i) mac[i] = static_cast<uint8_t>(parts[i]);
  return mac;
}

std::string to_line(const Hello& hello) {
  json macs = json::array();
  for (const MacAddress& mac : hello.macs) macs.push_back(to_string(mac));
  return json{{"mrc", 1},
              {"address", mrclab::to_string(hello.address)},
              {"macs", std::move(macs)},
              {"pmtu", hello.pmtu}}
      .dump();
}

Hello parse_hello(const std::string& line, const Hello& mine) {
  const json object = parse_object(line);
  number_at(object, "mrc", 1, 1);
  Hello hello;
  hello.address = netio::parse_address(word_at(object, "address"));
  if (hello.address == mine.address) reject("it has our own address");
  hello.pmtu = static_cast<uint32_t>(number_at(object, "pmtu", mine.pmtu, mine.pmtu));
  const auto macs = object.find("macs");
  if (macs == object.end() || !macs->is_array() || macs->size() != mine.macs.size()) {
    reject("\"macs\" must list " + std::to_string(mine.macs.size()) + " MACs, one per plane");
  }
  for (const json& mac : *macs) {
    if (!mac.is_string()) reject("a MAC must be a text");
    hello.macs.push_back(parse_mac(mac.get<std::string>()));
  }
  return hello;
}

bool is_hello(const std::string& line) {
  try {
    return number_at(parse_object(line), "mrc", 1, UINT32_MAX) > 0;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

Hello exchange_hello(netio::LineChannel& channel, const Hello& mine) {
  channel.send(to_line(mine));
  return parse_hello(channel.receive(kPeerPatience), mine);
}

std::string to_line(const QueuePairInfo& info) {
  return json{{"qpn", info.qpn.value},
              {"psn", info.psn.value()},
              {"va", info.region.va},
              {"rkey", info.region.rkey},
              {"size", info.region.size.value},
              {"attributes",
               {{"mpr", info.attributes.mpr},
                {"mpr_dest", info.attributes.mpr_dest},
                {"max_wimm", info.attributes.max_wimm},
                {"max_wimm_dest", info.attributes.max_wimm_dest},
                {"dynamic_mpr", info.attributes.dynamic_mpr},
                {"service_time", info.attributes.service_time.as_responder}}}}
      .dump();
}

QueuePairInfo parse_queue_pair_info(const std::string& line) {
  const json object = parse_object(line);
  QueuePairInfo info;
  info.qpn = {static_cast<uint32_t>(number_at(object, "qpn", kEndpointQpn.value + 1, 0xFF'FFFF))};
  info.psn = Psn{static_cast<uint32_t>(number_at(object, "psn", 0, 0xFF'FFFF))};
  info.region.va = number_at(object, "va", 0, UINT64_MAX);
  info.region.rkey = static_cast<uint32_t>(number_at(object, "rkey", 0, 0xFFFF'FFFF));
  info.region.size = {number_at(object, "size", 0, UINT64_MAX)};
  if (!object.contains("attributes") || !object["attributes"].is_object()) {
    reject("\"attributes\" must be an object");
  }
  const json& a = object["attributes"];
  const auto small = [&a](const char* name, uint64_t high) {
    return static_cast<uint32_t>(number_at(a, name, 1, high));
  };
  info.attributes.mpr = small("mpr", endpoint::kMaxMprUnits);
  info.attributes.mpr_dest = small("mpr_dest", endpoint::kMaxMprUnits);
  info.attributes.max_wimm = small("max_wimm", endpoint::kMaxWriteImmediates);
  info.attributes.max_wimm_dest = small("max_wimm_dest", endpoint::kMaxWriteImmediates);
  info.attributes.dynamic_mpr = flag_at(a, "dynamic_mpr");
  const bool service_time = a.contains("service_time") && flag_at(a, "service_time");
  info.attributes.service_time = {service_time, service_time};
  return info;
}

std::string state_line(std::string_view word) { return json{{"state", word}}.dump(); }

void require_state(const std::string& line, std::string_view expected) {
  if (word_at(parse_object(line), "state") != expected) {
    reject("it should be \"" + std::string(expected) + "\"");
  }
}

}  // namespace mrclab::standalone
