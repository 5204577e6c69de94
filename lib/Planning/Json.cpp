//===- Json.cpp - Strict reading of JSON ----------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include <algorithm>
#include <cmath>

using namespace mlir::echo::planning;

namespace {

/// Builds the value and keeps the first error.
class Builder : public nlohmann::json_sax<Json> {
public:
  explicit Builder(std::string &error) : error(error) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t &) override {
    return add(value);
  }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t &) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    if (stack.back()->contains(name)) {
      error = "the field " + quote(name) + " is there twice";
      return false;
    }
    next = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string &,
                   const nlohmann::detail::exception &problem) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    error = problem.what();
    size_t end = error.find("] ");
    if (end != std::string::npos)
      error.erase(0, end + 2);
    return false;
  }

  Json take() { return std::move(root); }

private:
  Json *place(Json value) {
    if (stack.empty()) {
      root = std::move(value);
      return &root;
    }
    Json &parent = *stack.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[next] = std::move(value));
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  /// An open container stays where it is: its parent grows only when it is
  /// closed.
  bool open(Json value) {
    if (stack.size() == kMaxDepth) {
      error = "it is nested more than " + std::to_string(kMaxDepth) + " deep";
      return false;
    }
    stack.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    stack.pop_back();
    return true;
  }

  static constexpr size_t kMaxDepth = 100;
  Json root;
  std::vector<Json *> stack;
  std::string next;
  std::string &error;
};

} // namespace

bool mlir::echo::planning::parseJson(std::string_view text, Json &value,
                                     std::string &error) {
  error.clear();
  Builder builder(error);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) {
    if (error.empty())
      error = "it isn't JSON";
    return false;
  }
  value = builder.take();
  return true;
}

std::string mlir::echo::planning::describeJson(const Json &value) {
  if (value.is_number())
    return value.dump();
  if (value.is_null())
    return "null";
  std::string type = value.type_name();
  return (type == "object" || type == "array" ? "an " : "a ") + type;
}

std::string mlir::echo::planning::quote(std::string text) {
  constexpr size_t kMaxLength = 100;
  bool isLong = text.size() > kMaxLength;
  if (isLong)
    text.resize(kMaxLength);
  text = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  text.front() = text.back() = '\'';
  return isLong ? text + "..." : text;
}

ObjectReader::ObjectReader(const Json &value, std::string path,
                           std::string &error)
    : path(std::move(path)), error(error) {
  if (value.is_object())
    object = &value;
  else
    fail((this->path.empty() ? "expected an object"
                             : "'" + this->path + "': expected an object") +
         std::string(", found ") + describeJson(value));
}

std::string ObjectReader::pathOf(const std::string &name) const {
  return path.empty() ? name : path + "." + name;
}

bool ObjectReader::fail(const std::string &message) {
  if (error.empty())
    error = message;
  return false;
}

const Json *ObjectReader::readOptional(const char *name) {
  known.push_back(name);
  if (!object)
    return nullptr;
  auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

const Json *ObjectReader::read(const char *name) {
  const Json *field = readOptional(name);
  if (object && !field)
    fail("'" + pathOf(name) + "' is missing");
  return field;
}

void ObjectReader::readNumber(const char *name, double &value, bool positive) {
  const Json *field = read(name);
  if (!field)
    return;
  const char *expected = positive ? "a number > 0" : "a number >= 0";
  double number = field->is_number() ? field->get<double>() : -1;
  if (!field->is_number() || !std::isfinite(number) || number < 0 ||
      (positive && number == 0)) {
    fail("'" + pathOf(name) + "': expected " + expected + ", found " +
         describeJson(*field));
    return;
  }
  value = number;
}

void ObjectReader::readInteger(const char *name, uint64_t &value) {
  const Json *field = read(name);
  if (!field)
    return;
  if (!field->is_number_unsigned()) {
    fail("'" + pathOf(name) + "': expected an integer >= 0, found " +
         describeJson(*field));
    return;
  }
  value = field->get<uint64_t>();
}

void ObjectReader::readString(const char *name, std::string &value) {
  const Json *field = read(name);
  if (!field)
    return;
  if (!field->is_string()) {
    fail("'" + pathOf(name) + "': expected a string, found " +
         describeJson(*field));
    return;
  }
  value = field->get<std::string>();
}

void ObjectReader::readBool(const char *name, bool &value) {
  const Json *field = read(name);
  if (!field)
    return;
  if (!field->is_boolean()) {
    fail("'" + pathOf(name) + "': expected true or false, found " +
         describeJson(*field));
    return;
  }
  value = field->get<bool>();
}

bool ObjectReader::finish() {
  if (!object || !error.empty())
    return false;
  for (const auto &[name, field] : object->items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail(quote(pathOf(name)) + " isn't a known field");
  return true;
}
