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

Program test::makeGpuStepProgram() {
  Program p = makeStepProgram();
  p.target = "cuda";
  p.cpu = "";
  p.arenaAlignment = 256;
  p.arenaBytes = 768;
  p.workspaceOffset = 512;
  p.workspaceBytes = 256;
  p.kernels = {
      // y and t, d in the place of y, the loss; a thread per element.
      {"difference",
       {1, 1, 1},
       {kRows * kOut, 1, 1},
       0,
       {{32, false}, {32, false}, {32, true}, {4, true}},
       1},
      // w, b, the gradient of w, d, rate; a block per column.
      {"update",
       {kOut, 1, 1},
       {kIn, 1, 1},
       0,
       {{24, true}, {8, true}, {24, false}, {32, false}, {4, false}},
       1},
      {"count", {1, 1, 1}, {1, 1, 1}, 0, {{8, true}}, 1}};
  return p;
}

const char *test::gpuStepKernels() {
  return R"(
#include "sim/Device.h"
const struct echo_sim_functions *echo_sim_functions;

static float load(const float *address) {
  echo_sim_functions->access(address, 4, 4, ECHO_SIM_READ);
  return *address;
}
static void store(float *address, float value) {
  echo_sim_functions->access(address, 4, 4, ECHO_SIM_WRITE);
  *address = value;
}

static float squares[8];
static void difference(void **arguments) {
  float *y = *(float **)arguments[0], *t = *(float **)arguments[1];
  float *d = *(float **)arguments[2], *loss = *(float **)arguments[3];
  int64_t rows = *(int64_t *)arguments[4];
  uint32_t thread = echo_sim_functions->thread_id(0);
  float difference = load(y + thread) - load(t + thread);
  store(d + thread, difference);
  store(squares + thread, difference * difference);
#if FAULT == 1
  store(d + 8 + thread, 0);
#elif FAULT == 2
  store(squares, 0);
#elif FAULT == 3
  store(t + thread, 0);
#elif FAULT == 4
  if (thread == 5)
    return;
#endif
  echo_sim_functions->barrier(0);
  if (thread != 0)
    return;
  float sum = 0;
  for (int64_t i = 0; i < rows * 2; ++i)
    sum += load(squares + i);
  store(loss, sum);
}

static void update(void **arguments) {
  float *w = *(float **)arguments[0], *b = *(float **)arguments[1];
  float *gradient = *(float **)arguments[2], *d = *(float **)arguments[3];
  float *rate = *(float **)arguments[4];
  int64_t rows = *(int64_t *)arguments[5];
  uint32_t column = echo_sim_functions->block_id(0);
  uint32_t row = echo_sim_functions->thread_id(0);
  uint32_t i = row * 2 + column;
  store(w + i, load(w + i) - load(rate) * load(gradient + i));
  if (row != 0)
    return;
  float sum = 0;
  for (int64_t j = 0; j < rows; ++j)
    sum += load(d + j * 2 + column);
  store(b + column, load(b + column) - load(rate) * sum);
}

static void count(void **arguments) {
  int64_t *value = *(int64_t **)arguments[0];
  echo_sim_functions->access(value, 8, 8, ECHO_SIM_READ);
  echo_sim_functions->access(value, 8, 8, ECHO_SIM_WRITE);
  *value += *(int64_t *)arguments[1];
}

static const struct echo_sim_variable shared[] = {{squares, sizeof(squares)}};
const struct echo_sim_kernel echo_sim_kernels[] = {
    {"count", count, 0, 0},
    {"difference", difference, shared, 1},
    {"update", update, 0, 0}};
const uint64_t echo_sim_num_kernels = 3;
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

/// `bytes` as a C array.
static void addArray(std::ostream &source, const std::string &name,
                     const std::string &bytes) {
  source << "const unsigned char " << name
         << "[] __attribute__((aligned(8))) = {";
  for (unsigned char byte : bytes)
    source << int(byte) << ",";
  source << "};\n";
}

static void addProgram(std::ostream &source, const std::string &bytes,
                       uint64_t size) {
  source << "const uint64_t echo_program_size = "
         << (size == UINT64_MAX ? bytes.size() : size) << "u;\n";
  addArray(source, "echo_program", bytes);
}

/// Compiles C to a new file and renames it, as echo-compile does.
static void compileSource(const std::string &path, const std::string &source) {
  write(path + ".c", source);
  std::string command = std::string(ECHO_TEST_CC) + " -I'" +
                        ECHO_RUNTIME_SOURCE_DIR +
                        "' -O1 -shared -fPIC -ffp-contract=off -o '" + path +
                        ".new' '" + path + ".c'";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error("can't compile " + path);
  std::filesystem::rename(path + ".new", path);
}

void test::compileArtifact(const std::string &path, const std::string &kernels,
                           const std::string &bytes, uint64_t size) {
  std::ostringstream source;
  source << "#include <stdint.h>\n" << kernels;
  addProgram(source, bytes, size);
  compileSource(path, source.str());
}

std::string test::compileHostObject(const Folder &folder,
                                    const std::string &source) {
  std::string path = folder.path("object.so");
  compileSource(path, source);
  return read(path);
}

void test::compileGpuArtifact(const std::string &path, const Program &program,
                              const std::vector<TestImage> &images) {
  std::ostringstream source;
  source << "#include <stdint.h>\n";
  addProgram(source, program.serialize(), UINT64_MAX);
  for (size_t i = 0; i < images.size(); ++i)
    addArray(source, "image" + std::to_string(i), images[i].bytes);
  source << "const struct { const char *chip; uint64_t kind; const void *data; "
            "uint64_t bytes; } echo_images[] = {\n";
  for (size_t i = 0; i < images.size(); ++i)
    source << "{\"" << images[i].chip << "\", "
           << static_cast<uint64_t>(images[i].kind) << ", image" << i << ", "
           << images[i].bytes.size() << "},\n";
  source << "};\nconst uint64_t echo_num_images = " << images.size() << ";\n";
  compileSource(path, source.str());
}

void test::compileGpuStep(const Folder &folder, const std::string &path,
                          int fault, const Program &program) {
  std::string source = "#define FAULT " + std::to_string(fault) + "\n";
  std::string object = compileHostObject(folder, source + gpuStepKernels());
  compileGpuArtifact(path, program,
                     {{"sim", ImageKind::HostObject, std::move(object)}});
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
