//===- NpzTest.cpp - Array files and archives -----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/Npz.h"
#include "TestArtifact.h"
#include "common/Error.h"
#include "common/Npy.h"

#include "gtest/gtest.h"

#include <cstring>
#include <filesystem>

using namespace echo;
using test::Folder;

namespace {

/// An .npy file of version 1.0 with this dictionary.
std::string makeFile(const std::string &dictionary, const std::string &data) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file.push_back(char(dictionary.size() & 0xff));
  file.push_back(char(dictionary.size() >> 8));
  return file + dictionary + data;
}

template <typename Function>
std::string errorOf(Function &&function, echo_status status) {
  try {
    function();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), status) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected an error";
  return "";
}

#define EXPECT_ERROR(status, text, ...)                                        \
  do {                                                                         \
    std::string found = errorOf([&] { __VA_ARGS__; }, status);                 \
    EXPECT_NE(found.find(text), std::string::npos) << found;                   \
  } while (false)

TEST(Npy, Header) {
  // What numpy.save writes: the data at a multiple of 64.
  std::string header = makeNpyHeader(DataType::F32, {2, 3});
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(static_cast<unsigned char>(header[8]), 118);
  EXPECT_EQ(header.substr(10, 60),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ")
      << header;
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(makeNpyHeader(DataType::I64, {5})
                .find("'<i8', 'fortran_order': "
                      "False, 'shape': (5,), }"),
            std::string::npos);
  EXPECT_NE(makeNpyHeader(DataType::I1, {})
                .find("'|b1', 'fortran_order': False, 'shape': (), }"),
            std::string::npos);
  // A dictionary beyond 16 bits takes version 2.0.
  std::vector<int64_t> many(30000, 1);
  std::string large = makeNpyHeader(DataType::I8, many);
  EXPECT_EQ(large[6], 2);
  EXPECT_EQ(large.size() % 64, 0u);
}

TEST(Npy, RoundTrip) {
  for (DataType type :
       {DataType::F32, DataType::F64, DataType::F16, DataType::BF16,
        DataType::I8, DataType::I32, DataType::I64, DataType::I1})
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{}, {3}, {2, 5}, {0, 4}, {1, 1, 2, 1}}) {
      size_t count = 1;
      for (int64_t extent : shape)
        count *= extent;
      std::string data(count * bytesOf(type), '\1');
      std::string file = makeNpyHeader(type, shape) + data;
      EXPECT_EQ(readNpy(file, "", type, shape), data);
    }
}

TEST(Npy, AcceptedForms) {
  std::string data = "0123456789abcdefghijklmn";
  auto reads = [&](const std::string &dictionary) {
    std::string file = makeFile(dictionary, data);
    return std::string(readNpy(file, "", DataType::F32, {2, 3}));
  };
  EXPECT_EQ(reads("{\"shape\":(2,3,),\"descr\":\"<f4\","
                  "\"fortran_order\":False}"),
            data);
  EXPECT_EQ(reads("{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3)}"
                  "   \n"),
            data);
  // bf16 as two raw bytes or as unsigned integers.
  for (const char *descriptor : {"|V2", "<V2", "<u2"})
    EXPECT_EQ(readNpy(makeFile(std::string("{'descr': '") + descriptor +
                                   "', 'fortran_order': False, 'shape': (12,)}",
                               data),
                      "", DataType::BF16, {12}),
              data);
  // Fortran order of what has one order only.
  EXPECT_EQ(readNpy(makeFile("{'descr': '<f4', 'fortran_order': True, "
                             "'shape': (1, 6)}",
                             data),
                    "", DataType::F32, {1, 6}),
            data);
}

TEST(Npy, Refused) {
  std::string data(24, '\0');
  auto reads = [&](const std::string &dictionary) {
    readNpy(makeFile(dictionary, data), "a.npy: ", DataType::F32, {2, 3});
  };
  EXPECT_ERROR(ECHO_IO_ERROR, "a.npy: not an .npy file",
               readNpy("PK", "a.npy: ", DataType::F32, {}));
  EXPECT_ERROR(ECHO_IO_ERROR, "expected '{'", reads("x"));
  EXPECT_ERROR(ECHO_IO_ERROR, "missing", reads("{'descr': '<f4'}"));
  EXPECT_ERROR(ECHO_IO_ERROR, "unexpected key 'x'", reads("{'x': '<f4'}"));
  EXPECT_ERROR(ECHO_IO_ERROR, "unexpected key 'descr'",
               reads("{'descr': '<f4', 'descr': '<f4'}"));
  EXPECT_ERROR(ECHO_IO_ERROR, "doesn't end", reads("{'descr"));
  EXPECT_ERROR(ECHO_IO_ERROR, "structured", reads("{'descr': [('a', '<f4')]}"));
  EXPECT_ERROR(ECHO_IO_ERROR, "True or False", reads("{'fortran_order': 0}"));
  EXPECT_ERROR(ECHO_IO_ERROR, "at least 0", reads("{'shape': (-1,)}"));
  EXPECT_ERROR(ECHO_IO_ERROR, "overflows",
               reads("{'shape': (9223372036854775808,)}"));
  EXPECT_ERROR(
      ECHO_IO_ERROR, "text after",
      reads("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x"));
  EXPECT_ERROR(
      ECHO_INVALID_ARGUMENT,
      "expected f32[2x3] (<f4), found elements of type "
      ">f4",
      reads("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)}"));
  EXPECT_ERROR(
      ECHO_INVALID_ARGUMENT, "expected f32[2x3], found shape [3x2]",
      reads("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}"));
  EXPECT_ERROR(
      ECHO_INVALID_ARGUMENT, "Fortran order",
      reads("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}"));
  data.pop_back();
  EXPECT_ERROR(
      ECHO_IO_ERROR, "expected 24 bytes of data, found 23",
      reads("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}"));
  std::string flags = makeNpyHeader(DataType::I1, {2}) + std::string("\1\2");
  EXPECT_ERROR(ECHO_IO_ERROR, "neither 0 nor 1",
               readNpy(flags, "", DataType::I1, {2}));
  std::string version = makeNpyHeader(DataType::I8, {0});
  version[6] = 4;
  EXPECT_ERROR(ECHO_IO_ERROR, "version 4.0",
               readNpy(version, "", DataType::I8, {0}));
}

TEST(Npy, TruncatedAtEveryLength) {
  std::string file = makeNpyHeader(DataType::I32, {3}) + std::string(12, '\5');
  for (size_t length = 0; length < file.size(); ++length) {
    std::string part(file, 0, length);
    EXPECT_THROW(readNpy(part, "", DataType::I32, {3}), Error) << length;
  }
}

TEST(Npz, RoundTrip) {
  Folder folder;
  Tensor a{"layer/w", Role::Parameter, DataType::F32, {2, 2}, 16, {}, {},
           false};
  Tensor b{"empty", Role::State, DataType::I64, {0}, 0, {}, {}, false};
  float values[4] = {1, 2, 3, 4};
  std::string path = folder.path("x.npz");
  writeNpz(path, {{&a, values}, {&b, nullptr}}, 7);
  NpzReader reader(path);
  EXPECT_TRUE(reader.has("layer/w"));
  EXPECT_FALSE(reader.has("layer"));
  EXPECT_EQ(reader.steps(), 7u);
  std::string read = reader.read(a);
  ASSERT_EQ(read.size(), 16u);
  EXPECT_EQ(std::memcmp(read.data(), values, 16), 0);
  EXPECT_EQ(reader.read(b), "");
  // No compression: the array's bytes stand in the file. No clock in it.
  std::string file = test::read(path);
  EXPECT_NE(file.find(std::string(reinterpret_cast<char *>(values), 16)),
            std::string::npos);
  writeNpz(folder.path("y.npz"), {{&a, values}, {&b, nullptr}}, 7);
  EXPECT_EQ(test::read(folder.path("y.npz")), file);
}

TEST(Npz, StepsOfOthers) {
  Folder folder;
  std::string path = folder.path("x.npz");
  Tensor a{"a", Role::State, DataType::I8, {1}, 1, {}, {}, false};
  writeNpz(path, {{&a, "\1"}}, 7);
  EXPECT_EQ(NpzReader(path).steps(), 7u);
  // Archives of others have another comment, or none: no steps are known.
  std::string file = test::read(path);
  std::string comment = "Echo checkpoint, steps: 7";
  size_t place = file.size() - comment.size();
  ASSERT_EQ(file.substr(place), comment);
  for (std::string other :
       {"Echo checkpoint, steps: x", "echo checkpoint, steps: 7"}) {
    test::write(path, file.substr(0, place) + other);
    EXPECT_EQ(NpzReader(path).steps(), 0u) << other;
  }
  std::string none = file.substr(0, place);
  none[none.size() - 2] = 0;
  test::write(path, none);
  EXPECT_EQ(NpzReader(path).steps(), 0u);
}

TEST(Npz, Device) {
  // By way of a link: were the device replaced, it would only be the link.
  Folder folder;
  std::string path = folder.path("full");
  std::filesystem::create_symlink("/dev/full", path);
  Tensor tensor;
  tensor.name = "w";
  tensor.type = DataType::F32;
  tensor.shape = {2};
  tensor.bytes = 8;
  float values[2] = {1, 2};
  EXPECT_ERROR(ECHO_IO_ERROR, "can't write '" + path + "': No space left",
               writeNpz(path, {{&tensor, values}}, 1));
  EXPECT_TRUE(std::filesystem::is_character_file(path));
}

TEST(Npz, Empty) {
  Folder folder;
  std::string path = folder.path("x.npz");
  writeNpz(path, {}, 12345678901);
  NpzReader reader(path);
  EXPECT_FALSE(reader.has("w"));
  EXPECT_EQ(reader.steps(), 12345678901u);
}

} // namespace
