//===- TestArtifact.cpp - A hand-written artefact -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestArtifact.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

using namespace echo;
using namespace echo::test;

// Arena: x at 0 (48 bytes), t at 64 (32), rate at 128 (4), y and d at 192
// (32), loss at 256 (4), gradient of w at 320 (24); in all 384.
Program test::makeStepProgram() {
  Program p;
  p.function = "regression";
  p.target = "cpu";
  p.cpu = "generic";
  p.arenaBytes = 384;
  p.logicalPeakBytes = 48 + 32 + 4 + 32 + 4 + 24;
  p.kernels = {{"difference"}, {"update"}, {"count"}};
  p.strings = {"regression", "gemm",           "difference", "update",
               "count",      "sub+mul+reduce", "mul+sub",    "add"};
  p.tensors = {
      {"x",
       Role::Input,
       DataType::F32,
       {kRows, kIn},
       48,
       {0, 0},
       {InitKind::Normal, 0, 1},
       false},
      {"t",
       Role::Label,
       DataType::F32,
       {kRows, kOut},
       32,
       {0, 64},
       {InitKind::Uniform, -1, 1},
       false},
      {"rate",
       Role::Input,
       DataType::F32,
       {},
       4,
       {0, 128},
       {InitKind::Constant, 0.0625, 0},
       false},
      {"w",
       Role::Parameter,
       DataType::F32,
       {kIn, kOut},
       24,
       {4, 0},
       {InitKind::Uniform, -0.5, 0.5},
       false},
      {"b",
       Role::Parameter,
       DataType::F32,
       {kOut},
       8,
       {5, 0},
       {InitKind::Constant, 0.25, 0},
       false},
      {"count", Role::State, DataType::I64, {}, 8, {6, 0}, {}, false},
      {"loss", Role::Result, DataType::F32, {}, 4, {0, 256}, {}, true},
      {"y",
       Role::Result,
       DataType::F32,
       {kRows, kOut},
       32,
       {0, 192},
       {},
       false},
  };
  p.operands = {
      {0, 0},   {4, 0},   {0, 192}, {5, 0},             // y = x w + b
      {0, 192}, {0, 64},  {0, 192}, {0, 256},           // d, loss
      {0, 0},   {0, 192}, {0, 320},                     // x^T d
      {4, 0},   {5, 0},   {0, 320}, {0, 192}, {0, 128}, // update
      {6, 0},                                           // count
  };
  auto f32 = static_cast<int64_t>(DataType::F32);
  p.parameters = {f32, 1,   kRows, kOut,  kIn, 0, 0, 0, 0, 0, 0,     f32,
                  1,   kIn, kOut,  kRows, 1,   0, 0, 0, 0, 0, kRows, 1};
  p.calls = {{CallKind::Gemm, 0, 0, 0, 4, 0, 11, 0, 1, 1, 56, 112},
             {CallKind::Kernel, 0, 1, 4, 4, 22, 1, 0, 2, 5, 24, 100},
             {CallKind::Gemm, 0, 0, 8, 3, 11, 11, 0, 1, 1, 48, 104},
             {CallKind::Kernel, 1, kOut, 11, 5, 22, 1, 0, 3, 6, 24, 124},
             {CallKind::Kernel, 2, 1, 16, 1, 23, 1, 0, 4, 7, 0, 16}};
  return p;
}

const char *test::stepKernels() {
  return R"(
static void difference(void *const *args, int64_t begin, int64_t end) {
  const float *y = args[0], *t = args[1];
  float *d = args[2], *loss = args[3];
  int64_t rows = (int64_t)args[4];
  float sum = 0;
  for (int64_t i = 0; i < rows * 2; ++i) {
    d[i] = y[i] - t[i];
    sum += d[i] * d[i];
  }
  *loss = sum;
}
/* One chunk per column of w. */
static void update(void *const *args, int64_t begin, int64_t end) {
  float *w = args[0], *b = args[1];
  const float *gradient = args[2], *d = args[3], *rate = args[4];
  int64_t rows = (int64_t)args[5];
  for (int64_t column = begin; column < end; ++column) {
    float sum = 0;
    for (int64_t row = 0; row < rows; ++row)
      sum += d[row * 2 + column];
    for (int64_t row = 0; row < 3; ++row)
      w[row * 2 + column] -= *rate * gradient[row * 2 + column];
    b[column] -= *rate * sum;
  }
}
static void count(void *const *args, int64_t begin, int64_t end) {
  *(int64_t *)args[0] += (int64_t)args[1];
}
void (*const echo_kernels[])(void *const *, int64_t, int64_t) = {
    difference, update, count};
)";
}

Folder::Folder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "echo-test-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw std::runtime_error("no temporary folder");
  root = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
}

void test::compileArtifact(const std::string &path, const std::string &kernels,
                           const std::string &bytes, uint64_t size) {
  std::ostringstream source;
  source << "#include <stdint.h>\n" << kernels;
  source << "const uint64_t echo_program_size = "
         << (size == UINT64_MAX ? bytes.size() : size) << "u;\n"
         << "const unsigned char echo_program[] = {";
  for (unsigned char byte : bytes)
    source << int(byte) << ",";
  source << "};\n";
  write(path + ".c", source.str());
  // A new file by rename, as echo-compile makes it.
  std::string command = std::string(ECHO_TEST_CC) +
                        " -O1 -shared -fPIC -ffp-contract=off -o '" + path +
                        ".new' '" + path + ".c'";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error("can't compile " + path);
  std::filesystem::rename(path + ".new", path);
}

void test::compileStep(const std::string &path, const Program &program) {
  compileArtifact(path, stepKernels(), program.serialize());
}

std::string test::read(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

void test::write(const std::string &path, const std::string &content) {
  std::ofstream out(path, std::ios::binary);
  out << content;
  if (!out.flush())
    throw std::runtime_error("can't write " + path);
}
