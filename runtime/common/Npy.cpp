//===- Npy.cpp - NumPy array files ----------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "Error.h"

#include <algorithm>
#include <cctype>
#include <limits>

using namespace echo;

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

const char *descriptorOf(DataType type) {
  switch (type) {
  case DataType::F32:
    return "<f4";
  case DataType::F64:
    return "<f8";
  case DataType::F16:
    return "<f2";
  case DataType::BF16:
    return "|V2";
  case DataType::I8:
    return "|i1";
  case DataType::I32:
    return "<i4";
  case DataType::I64:
    return "<i8";
  case DataType::I1:
    return "|b1";
  }
  return "";
}

/// Whether a descriptor in a file means this type.
bool means(std::string_view descriptor, DataType type) {
  if (descriptor.size() != 3)
    return false;
  bool order =
      descriptor[0] == '<' || descriptor[0] == '=' ||
      (descriptor[0] == '|' && (bytesOf(type) == 1 || descriptor[1] == 'V'));
  std::string_view kind = descriptor.substr(1);
  if (type == DataType::BF16)
    return order && (kind == "V2" || kind == "u2");
  return order && kind == std::string_view(descriptorOf(type)).substr(1);
}

struct Header {
  std::string descriptor;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the dictionary of a header: the subset of Python that NumPy writes.
class DictionaryParser {
public:
  DictionaryParser(std::string_view text, const std::string &place)
      : text(text), place(place) {}

  Header run() {
    Header header;
    bool hasDescriptor = false, hasOrder = false, hasShape = false;
    expect('{');
    while (!consume('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr" && !hasDescriptor) {
        hasDescriptor = true;
        header.descriptor = string();
      } else if (key == "fortran_order" && !hasOrder) {
        hasOrder = true;
        header.fortranOrder = boolean();
      } else if (key == "shape" && !hasShape) {
        hasShape = true;
        header.shape = tuple();
      } else {
        fail("unexpected key '" + key + "'");
      }
      if (!consume(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (!text.empty())
      fail("text after the dictionary");
    if (!hasDescriptor || !hasOrder || !hasShape)
      fail("descr, fortran_order or shape is missing");
    return header;
  }

private:
  [[noreturn]] void fail(const std::string &message) {
    throw Error(ECHO_IO_ERROR, place + "malformed .npy header: " + message);
  }
  void skipSpace() {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text[0])))
      text.remove_prefix(1);
  }
  bool consume(char c) {
    skipSpace();
    if (text.empty() || text[0] != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!consume(c))
      fail(std::string("expected '") + c + "'");
  }
  std::string string() {
    skipSpace();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      fail("expected a string (structured types are not read)");
    size_t end = text.find(text[0], 1);
    if (end == std::string_view::npos)
      fail("a string doesn't end");
    std::string value(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    return value;
  }
  bool boolean() {
    skipSpace();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text.substr(0, word.size()) == word) {
        text.remove_prefix(word.size());
        return value;
      }
    }
    fail("expected True or False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!consume(')')) {
      values.push_back(integer());
      if (!consume(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  int64_t integer() {
    skipSpace();
    if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0])))
      fail("expected an extent of at least 0");
    int64_t value = 0;
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0]))) {
      int digit = text[0] - '0';
      if (value > (kMax - digit) / 10)
        fail("an extent overflows");
      value = value * 10 + digit;
      text.remove_prefix(1);
    }
    return value;
  }

  std::string_view text;
  const std::string &place;
};

std::string showShape(const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return "[" + text + "]";
}

} // namespace

std::string echo::describe(DataType type, const std::vector<int64_t> &shape) {
  return nameOf(type) + showShape(shape);
}

bool echo::areFlags(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](char byte) { return byte == 0 || byte == 1; });
}

std::string echo::makeNpyHeader(DataType type,
                                const std::vector<int64_t> &shape) {
  std::string dictionary = "{'descr': '" + std::string(descriptorOf(type)) +
                           "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    dictionary += (i ? ", " : "") + std::to_string(shape[i]);
  dictionary += shape.size() == 1 ? ",), }" : "), }";
  // Version 1.0: magic, version, 16-bit length; padded with spaces and closed
  // by a newline so that the data starts at a multiple of 64. Shapes whose
  // dictionary needs more than 16 bits take version 2.0 and 32 bits.
  size_t prefix = 10;
  if (dictionary.size() + 64 > 0xffff)
    prefix = 12;
  size_t total = (prefix + dictionary.size() + 1 + 63) / 64 * 64;
  dictionary.append(total - prefix - dictionary.size() - 1, ' ');
  dictionary.push_back('\n');
  std::string header(kMagic);
  header.push_back(prefix == 10 ? 1 : 2);
  header.push_back(0);
  for (size_t i = 0; i < prefix - 8; ++i)
    header.push_back(static_cast<char>((dictionary.size() >> (8 * i)) & 0xff));
  return header + dictionary;
}

std::string_view echo::readNpy(std::string_view file, const std::string &place,
                               DataType type,
                               const std::vector<int64_t> &shape) {
  auto malformed = [&](const std::string &message) {
    throw Error(ECHO_IO_ERROR, place + message);
  };
  auto byteAt = [&](size_t index) -> size_t {
    return static_cast<unsigned char>(file[index]);
  };
  if (file.substr(0, kMagic.size()) != kMagic)
    malformed("not an .npy file");
  size_t prefix = file.size() > 6 && byteAt(6) >= 2 ? 12 : 10;
  if (file.size() < prefix)
    malformed("truncated .npy header");
  if (byteAt(6) < 1 || byteAt(6) > 3 || byteAt(7) != 0)
    malformed(".npy version " + std::to_string(byteAt(6)) + "." +
              std::to_string(byteAt(7)) + ", expected 1.0, 2.0 or 3.0");
  size_t length = 0;
  for (size_t i = 8; i < prefix; ++i)
    length |= byteAt(i) << (8 * (i - 8));
  if (length > kMaxNpyHeader - prefix)
    malformed("an .npy header of " + std::to_string(length) + " bytes");
  if (length > file.size() - prefix)
    malformed("truncated .npy header");
  Header header = DictionaryParser(file.substr(prefix, length), place).run();

  std::string expected = describe(type, shape);
  if (!means(header.descriptor, type))
    throwInvalid(place + "expected " + expected + " (" + descriptorOf(type) +
                 "), found elements of type " + header.descriptor);
  if (header.shape != shape)
    throwInvalid(place + "expected " + expected + ", found shape " +
                 showShape(header.shape));
  // With at most one extent above 1 both orders are the same bytes.
  bool hasOrder = std::count_if(shape.begin(), shape.end(),
                                [](int64_t extent) { return extent != 1; }) > 1;
  if (header.fortranOrder && hasOrder)
    throwInvalid(place + "the array is in Fortran order; save it with "
                         "numpy.ascontiguousarray");
  uint64_t bytes = bytesOf(type);
  for (int64_t extent : shape)
    bytes *= extent;
  std::string_view data = file.substr(prefix + length);
  if (data.size() != bytes)
    malformed("expected " + std::to_string(bytes) + " bytes of data, found " +
              std::to_string(data.size()));
  if (type == DataType::I1 && !areFlags(data))
    malformed("a flag is neither 0 nor 1");
  return data;
}
