#include "netio/rpc/rpc.h"

#include "fabric/text/json_text.h"

namespace mrclab::netio {
namespace {

Json error_answer(const Json& id, int code, const std::string& message,
                  const Json& data = nullptr) {
  Json error{{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

/// The call itself, with the exceptions of methods turned into error answers.
Json call_method(const RpcMethod& method, const Json& params, const Json& id) {
  try {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"result", method(params)}};
  } catch (const RpcError& error) {
    return error_answer(id, error.code(), error.what(), error.data());
  } catch (const Json::exception& error) {
    return error_answer(id, kRpcInvalidParams, error.what());
  } catch (const std::exception& error) {
    return error_answer(id, kRpcInternalError, error.what());
  }
}

using Find = std::function<const RpcMethod*(const std::string&)>;

/// JSON-RPC 2.0 §4 and §5. Null for a notification.
Json answer_one(const Json& request, const Find& find) {
  if (!request.is_object())
    return error_answer(nullptr, kRpcInvalidRequest, "a request is an object");
  const auto id_member = request.find("id");
  const bool notification = id_member == request.end();
  const Json id = notification ? Json() : *id_member;
  if (!(id.is_null() || id.is_string() || id.is_number()))
    return error_answer(nullptr, kRpcInvalidRequest, "\"id\" is a string, a number or null");
  const auto version = request.find("jsonrpc");
  if (version == request.end() || *version != "2.0")
    return error_answer(id, kRpcInvalidRequest, "\"jsonrpc\" must be \"2.0\"");
  const auto name = request.find("method");
  if (name == request.end() || !name->is_string())
    return error_answer(id, kRpcInvalidRequest, "\"method\" must be a string");
  const auto params = request.find("params");
  if (params != request.end() && !params->is_structured() && !params->is_null())
    return error_answer(id, kRpcInvalidRequest, "\"params\" is an object or an array");

  const RpcMethod* method = find(name->get<std::string>());
  Json answer =
      method == nullptr
          ? error_answer(id, kRpcMethodNotFound, "no method \"" + name->get<std::string>() + "\"")
          : call_method(*method, params == request.end() ? Json() : *params, id);
  return notification ? Json() : answer;
}

/// Text from outside may hold invalid UTF-8 in a method's error; an answer must still go out.
std::string to_line(const Json& answer) {
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string answer_rpc(std::string_view message, const Find& find) {
  const auto request = parse_json<Json>(message);
  if (request.is_discarded())
    return to_line(error_answer(nullptr, kRpcParseError, "this is no JSON, or nests too deep"));
  if (!request.is_array()) {
    const Json answer = answer_one(request, find);
    return answer.is_null() ? std::string() : to_line(answer);
  }
  if (request.empty()) return to_line(error_answer(nullptr, kRpcInvalidRequest, "an empty batch"));
  if (request.size() > kMaxBatch)
    return to_line(error_answer(nullptr, kRpcInvalidRequest,
                                "a batch holds at most " + std::to_string(kMaxBatch)));
  std::string answers;
  for (const Json& one : request) {
    const Json answer = answer_one(one, find);
    if (answer.is_null()) continue;
    answers += (answers.empty() ? "[" : ",") + to_line(answer);
    if (answers.size() > kMaxMessageBytes)
      return to_line(error_answer(nullptr, kRpcRefused, "the answers of the batch are too long"));
  }
  return answers.empty() ? answers : answers + "]";
}

}  // namespace mrclab::netio
