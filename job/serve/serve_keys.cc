#include "job/serve/serve_keys.h"

#include <algorithm>
#include <set>

#include "job/graph/op_graph.h"
#include "job/plan/key_kinds.h"
#include "job/plan/model_shape.h"

namespace mrclab::job {
namespace {

using Form = ValueForm;
using ServeRow = KeyRow<ServeSpec, NameResolver>;

/// Longer ones would not fit into an instant, times the tokens of an answer.
constexpr FabricTime kMaxTokenTime = FabricTime::from_ms(1000);
constexpr FabricTime kMaxObjective = FabricTime::from_ms(3'600'000);

auto service_time(FabricTime most) {
  const auto read = [most](const YamlValue& value) {
    const FabricTime time = value.as_time();
    if (time <= FabricTime::zero() || time > most) {
      value.fail_expecting("a time above 0, at most " + exact(most));
    }
    return time;
  };
  return ValueKind{Form::of(Form::Kind::kTime), read, [](FabricTime in) { return exact(in); }};
}

// --- pools ---------------------------------------------------------------------------------------

Form pool_hosts_form() {
  const Form text = Form::of(Form::Kind::kText);
  return Form::either({Form::integer(1, kMaxRanks), text, Form::list(text)});
}

std::string pool_hosts_text(const std::vector<uint32_t>& hosts) {
  std::string text;
  for (const uint32_t host : hosts) text += (text.empty() ? "h" : ", h") + std::to_string(host);
  return "[" + text + "]";
}

/// A number takes the first hosts of the fabric that are not in `taken`.
std::vector<uint32_t> read_pool_hosts(const YamlValue& value, NameResolver& names,
                                      const std::vector<uint32_t>& taken) {
  std::set<uint32_t> seen(taken.begin(), taken.end());
  std::vector<uint32_t> hosts;
  const bool counts =
      value.is_scalar() && value.as_string().find_first_not_of("0123456789") == std::string::npos;
  if (counts) {
    const auto wanted = static_cast<size_t>(value.as_integer(1, kMaxRanks));
    for (uint32_t host = 0; host < names.topology().host_count() && hosts.size() < wanted; ++host) {
      if (!seen.contains(host)) hosts.push_back(host);
    }
    if (hosts.size() < wanted) {
      value.fail_expecting("at most the " + std::to_string(hosts.size()) + " hosts that are left");
    }
    return hosts;
  }
  for (const YamlValue& item : value.is_list() ? value.items() : std::vector{value}) {
    for (const NodeId id : names.hosts(item)) {
      const uint32_t host = names.topology().node(id).index;
      if (!seen.insert(host).second) {
        item.fail(names.topology().node(id).name + " twice", "each host once, in one pool");
      }
      hosts.push_back(host);
    }
  }
  if (hosts.empty() || hosts.size() + taken.size() > kMaxRanks) {
    value.fail(std::to_string(hosts.size()) + " hosts",
               "at least 1, and " + std::to_string(kMaxRanks) + " in both pools at most");
  }
  return hosts;
}

/// The row of a pool's hosts, which the reader of the pool reads.
template <class Pool>
KeyRow<Pool> pool_hosts_row() {
  return {"hosts",
          pool_hosts_form(),
          "one a rank; a number: the first of the fabric that are in no pool",
          {},
          [](const Pool& pool) { return pool_hosts_text(pool.hosts); },
          kRequiredKey};
}

const KeyTable<PrefillPool>& prefill_keys() {
  using S = PrefillPool;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {pool_hosts_row<S>(), R::of("token", &S::token, service_time(kMaxTokenTime),
                                  "computing of a rank for a token of a prompt", kRequiredKey)});
  return kKeys;
}

const KeyTable<DecodePool>& decode_keys() {
  using S = DecodePool;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {pool_hosts_row<S>(),
       R::of("step", &S::step, service_time(kMaxTokenTime),
             "computing of a rank for a token of each request of its batch", kRequiredKey),
       R::of("batch", &S::batch, integer_kind(1, kMaxServeBatch), "requests of a rank at once",
             kIfUnusual),
       R::of("ep", &S::ep, integer_kind(1, kMaxRanks), "ranks that share the experts", kIfUnusual),
       R::of("spare", &S::spare, integer_kind(0, kMaxSpareIterations),
             "iterations beyond those that are needed without a fault", kIfUnusual)});
  return kKeys;
}

template <class Pool>
ServeRow pool_row(const char* name, Pool ServeSpec::*pool, const KeyTable<Pool>& keys,
                  const char* about, uint8_t pass) {
  const auto read = [pool, &keys](const YamlValue& value, ServeSpec& spec, NameResolver& names) {
    (spec.*pool).hosts = read_pool_hosts(value.require("hosts"), names, spec.hosts());
    keys.read(value, spec.*pool);
  };
  const auto write = [pool, &keys](const ServeSpec& spec) { return keys.written(spec.*pool); };
  return {name, keys.form(), about, read, write, {.need = Form::Key::kRequired, .read_pass = pass}};
}

// --- model, requests, objective ------------------------------------------------------------------

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const ModelShape& shape : model_shapes()) names.emplace_back(shape.name);
  return names;
}

const KeyTable<ServeModel>& serve_model_keys() {
  using S = ServeModel;
  using R = KeyRow<S>;
  const std::vector<std::string> names = preset_names();
  const ValueKind preset{Form::word(names),
                         [names](const YamlValue& value) { return names[value.as_word(names)]; },
                         [](const std::string& in) { return yaml_word(in); }};
  static const KeyTable<S> kKeys(
      {R::of("preset", &S::preset, preset, "which", kRequiredKey),
       R::of("blocks", &S::blocks, integer_kind(1, 128), "layers that are run", kIfUnusual),
       R::of("cache", &S::fp8_cache, word_kind<bool>({"bf16", "fp8"}), "of keys and values",
             kIfUnusual),
       R::of("dispatch", &S::fp8_dispatch, word_kind<bool>({"bf16", "fp8"}), "of tokens to experts",
             kIfUnusual)});
  return kKeys;
}

ServeRow serve_model_row() {
  const auto read = [](const YamlValue& value, ServeSpec& spec, NameResolver&) {
    if (value.is_scalar()) {
      spec.model.preset = preset_names()[value.as_word(preset_names())];
      return;
    }
    serve_model_keys().read(value, spec.model);
  };
  return {"model",
          Form::either({Form::word(preset_names()), serve_model_keys().form()}),
          "what is served: sizes of keys and values, and of what goes to experts",
          read,
          [](const ServeSpec& spec) { return serve_model_keys().written(spec.model); },
          kRequiredKey};
}

/// "8/s", "0.25/s" in thousandths.
uint64_t read_request_rate(const YamlValue& value) {
  const std::string text = value.as_string();
  const size_t end = text.find("/s");
  const size_t point = text.find('.');
  std::string digits = text.substr(0, std::min(point, end));
  std::string fraction =
      point < end && end != std::string::npos ? text.substr(point + 1, end - point - 1) : "";
  const bool number = end != std::string::npos && end + 2 == text.size() && !digits.empty() &&
                      digits.size() <= 7 && fraction.size() <= 3 &&
                      (point >= end || !fraction.empty()) &&
                      (digits + fraction).find_first_not_of("0123456789") == std::string::npos;
  uint64_t milli = 0;
  if (number) {
    fraction.resize(3, '0');
    milli = std::stoull(digits) * 1000 + std::stoull(fraction);
  }
  if (milli == 0 || milli > kMaxMilliRate) {
    value.fail_expecting("requests a second, 0.001/s to 1000000/s, such as 2.5/s");
  }
  return milli;
}

std::string request_rate_text(uint64_t milli) {
  std::string fraction = std::to_string(milli % 1000 + 1000).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return std::to_string(milli / 1000) + (fraction.empty() ? "" : "." + fraction) + "/s";
}

const KeyTable<DrawnRequests>& drawn_keys() {
  using S = DrawnRequests;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("rate", &S::milli_rate,
             ValueKind{Form::of(Form::Kind::kText), read_request_rate, request_rate_text},
             "of a Poisson process, such as 2.5/s", kRequiredKey),
       R::of("count", &S::count, integer_kind(1, kMaxRequests), "requests", kRequiredKey),
       R::of("input", &S::input, integer_kind(1, kMaxTokens), "tokens of a prompt", kIfUnusual),
       R::of("output", &S::output, integer_kind(1, kMaxTokens), "tokens of an answer", kIfUnusual),
       R::of("spread", &S::spread, "prompts and answers are longer or shorter by up to this",
             kIfUnusual)});
  return kKeys;
}

const KeyTable<TracedRequests>& traced_keys() {
  using S = TracedRequests;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("file", &S::file, path_kind(), "from this file's folder; may be packed by gzip",
             kRequiredKey),
       R::of("format", &S::format,
             word_kind<RequestFormat>({"azure", "mooncake", "burstgpt", "vidur"}),
             "absent: found out"),
       R::of("at_most", &S::at_most, integer_kind(1, kMaxRequests), "requests, from the first on",
             kIfUnusual),
       R::of("faster", &S::faster, integer_kind(1, 1'000'000), "so many times as fast as they came",
             kIfUnusual),
       R::of("input_at_most", &S::input_at_most, integer_kind(0, kMaxTokens),
             "tokens, to which longer prompts are cut; 0: none is", kIfUnusual),
       R::of("output_at_most", &S::output_at_most, integer_kind(0, kMaxTokens),
             "tokens, to which longer answers are cut; 0: none is", kIfUnusual)});
  return kKeys;
}

const KeyTable<ServeObjective>& objective_keys() {
  using S = ServeObjective;
  using R = KeyRow<S>;
  static const KeyTable<S> kKeys(
      {R::of("ttft", &S::ttft, service_time(kMaxObjective), "to the first token", kRequiredKey),
       R::of("tpot", &S::tpot, service_time(kMaxObjective), "of each token behind it, the mean",
             kRequiredKey)});
  return kKeys;
}

/// A map that need not be there.
template <class Part>
ServeRow part_row(const char* name, std::optional<Part> ServeSpec::*part,
                  const KeyTable<Part>& keys, const char* about, KeyUse use = {}) {
  const auto read = [part, &keys](const YamlValue& value, ServeSpec& spec, NameResolver&) {
    keys.read(value, (spec.*part).emplace());
  };
  const auto write = [part, &keys](const ServeSpec& spec) {
    return spec.*part ? keys.written(*(spec.*part)) : std::string();
  };
  return {name, keys.form(), about, read, write, use};
}

}  // namespace

const std::vector<ServeRow>& serve_rows() {
  constexpr KeyUse kOneOfThem{.need = Form::Key::kOneOf};
  static const std::vector<ServeRow> kRows{
      ServeRow::of("name", &ServeSpec::name, name_kind(), "in tables and draws", kIfUnusual),
      serve_model_row(),
      pool_row("prefill", &ServeSpec::prefill, prefill_keys(), "ranks that compute prompts", 0),
      pool_row("decode", &ServeSpec::decode, decode_keys(), "ranks that compute answers", 1),
      part_row("requests", &ServeSpec::drawn, drawn_keys(), "as a Poisson process has them",
               kOneOfThem),
      part_row("trace", &ServeSpec::traced, traced_keys(),
               "requests of a file: Azure's, Mooncake's, BurstGPT's or Vidur's", kOneOfThem),
      ServeRow::of("kv", &ServeSpec::kv_by_layer, word_kind<bool>({"whole", "layers"}),
                   "when a prompt's keys and values go to decode: all at its end, or of each layer "
                   "when it is computed",
                   kIfUnusual),
      ServeRow::of("scale", &ServeSpec::scale, scale_kind(kMaxServeScale),
                   "of bytes, computing and the time between requests, such as 1/20"),
      ServeRow::of("jitter", &ServeSpec::jitter,
                   "of each computation: longer or shorter by up to this", kIfUnusual),
      part_row("objective", &ServeSpec::objective, objective_keys(),
               "what each request is to be served within")};
  return kRows;
}

void check_serve(const YamlValue& body, const ServeSpec& spec) {
  if (!spec.drawn && !spec.traced) body.fail("no requests", "\"requests\" or \"trace\"");
  if (spec.drawn && spec.traced) {
    body.fail_at_key("trace", "\"requests\" and \"trace\"", "one of them");
  }
  const ModelShape& shape = model_shape(spec.model.preset);
  if (spec.model.blocks > shape.layers) {
    body.require("model").fail(std::to_string(spec.model.blocks) + " blocks",
                               "at most the model's " + std::to_string(shape.layers) + " layers");
  }
  const YamlValue decode = body.require("decode");
  if (spec.decode.ep > 1 && shape.experts == 0) {
    decode.require("ep").fail("a model without experts", "a mixture of experts, or no \"ep\"");
  }
  if (spec.decode.hosts.size() % spec.decode.ep != 0) {
    decode.require("ep").fail_expecting(
        "a divisor of the " + std::to_string(spec.decode.hosts.size()) + " ranks of decode");
  }
}

namespace {

const KeyTable<ServeSpec, NameResolver>& serve_keys() {
  static const KeyTable<ServeSpec, NameResolver> kKeys(serve_rows());
  return kKeys;
}

}  // namespace

ServeSpec read_serve(const YamlValue& body, NameResolver& names) {
  check_form(body, serve_keys().form());
  ServeSpec spec;
  serve_keys().read(body, spec, names);
  check_serve(body, spec);
  return spec;
}

std::string serve_text(const ServeSpec& spec) { return serve_keys().written(spec); }

}  // namespace mrclab::job
