//===- Json.h - Strict reading of JSON --------------------------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads JSON without exceptions; every error has its place: a line and column
// for text that isn't JSON, the path of a field otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_LIB_PLANNING_JSON_H
#define ECHO_LIB_PLANNING_JSON_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::echo::planning {

using Json = nlohmann::ordered_json;

/// Parses `text`; a key that an object has twice is an error too.
bool parseJson(std::string_view text, Json &value, std::string &error);

/// Reads the fields of one object. Every field has to be asked for, and each
/// that is asked for has to be there; the first error stays.
class ObjectReader {
public:
  /// `path` names the object in errors: "" for the outermost, "matrix_rate".
  ObjectReader(const Json &value, std::string path, std::string &error);

  /// A number >= 0, or > 0.
  void readNumber(const char *name, double &value, bool positive = false);
  /// An integer >= 0 that fits 64 bits.
  void readInteger(const char *name, uint64_t &value);
  void readString(const char *name, std::string &value);
  void readBool(const char *name, bool &value);
  /// The field's value, or null after an error.
  const Json *read(const char *name);
  /// The field's value, or null if it isn't there.
  const Json *readOptional(const char *name);
  /// Whether an optional field is there.
  bool has(const char *name) { return readOptional(name) != nullptr; }
  /// The path of a field, for errors and readers of inner objects.
  std::string pathOf(const std::string &name) const;

  /// True if all went well and no field is left that nobody asked for.
  bool finish();
  bool fail(const std::string &message);

private:
  const Json *object = nullptr;
  std::string path;
  std::string &error;
  std::vector<std::string> known;
};

/// What kind of value it is, for errors: "a string", "-1".
std::string describeJson(const Json &value);

/// Text of a user in quotes for errors: one line, not all of a long one.
std::string quote(std::string text);

} // namespace mlir::echo::planning

#endif // ECHO_LIB_PLANNING_JSON_H
