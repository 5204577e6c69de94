//===- Training.cpp - The loop of echo-run --------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Training.h"
#include "common/Error.h"
#include "common/Files.h"
#include "common/HalfFloat.h"
#include "common/Npy.h"
#include "echo_runtime.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

using namespace echo;
using namespace echo::run;

namespace {

bool isFloat(DataType type) {
  return type == DataType::F32 || type == DataType::F64 ||
         type == DataType::F16 || type == DataType::BF16;
}

template <typename T>
std::string bytesOfValue(T value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

/// The one element of a scalar as a number.
double scalarValue(DataType type, std::string_view bytes) {
  auto as = [&](auto value) {
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  };
  switch (type) {
  case DataType::F32:
    return as(float());
  case DataType::F64:
    return as(double());
  case DataType::F16:
    return fromF16(as(uint16_t()));
  case DataType::BF16:
    return fromBF16(as(uint16_t()));
  default:
    return std::nan("");
  }
}

std::string bytesOfFloat(DataType type, double value) {
  switch (type) {
  case DataType::F32:
    return bytesOfValue(static_cast<float>(value));
  case DataType::F64:
    return bytesOfValue(value);
  case DataType::F16:
    return bytesOfValue(toF16(value));
  default:
    return bytesOfValue(toBF16(value));
  }
}

/// One element from text; throws echo::Error.
std::string parseScalar(const Tensor &tensor, const std::string &text) {
  auto fail = [&](const std::string &expected) {
    throwInvalid("--set=" + tensor.name + "=" + text + ": expected " +
                 expected);
  };
  if (tensor.bytes != bytesOf(tensor.type))
    throwInvalid("--set=" + tensor.name + ": it is " +
                 describe(tensor.type, tensor.shape) +
                 ", not one number; use --input");
  const char *begin = text.data(), *end = begin + text.size();
  if (isFloat(tensor.type)) {
    char *stop = nullptr;
    double value = std::strtod(begin, &stop);
    if (text.empty() || stop != end)
      fail("a number");
    std::string bytes = bytesOfFloat(tensor.type, value);
    // Infinity is what is written as such, not what overflows.
    if (std::isinf(scalarValue(tensor.type, bytes)) &&
        text.find_first_of("0123456789") != std::string::npos)
      fail(std::string("a value of ") + nameOf(tensor.type));
    return bytes;
  }
  int64_t value = 0;
  auto [stop, code] = std::from_chars(begin, end, value);
  if (code != std::errc() || stop != end)
    fail("an integer");
  auto between = [&](int64_t low, int64_t high) {
    if (value < low || value > high)
      fail(std::string("a value of ") + nameOf(tensor.type));
  };
  switch (tensor.type) {
  case DataType::I8:
    between(INT8_MIN, INT8_MAX);
    return bytesOfValue(static_cast<int8_t>(value));
  case DataType::I32:
    between(INT32_MIN, INT32_MAX);
    return bytesOfValue(static_cast<int32_t>(value));
  case DataType::I1:
    between(0, 1);
    return bytesOfValue(static_cast<uint8_t>(value));
  default:
    return bytesOfValue(value);
  }
}

/// A file name for a tensor: everything but letters, digits, '_', '-' and
/// inner '.' as %XX, so that names with slashes stay in the folder and differ.
std::string fileName(const std::string &name) {
  std::string result;
  for (unsigned char c : name) {
    if (std::isalnum(c) || c == '_' || c == '-' ||
        (c == '.' && !result.empty())) {
      result.push_back(static_cast<char>(c));
      continue;
    }
    char escaped[4];
    std::snprintf(escaped, sizeof(escaped), "%%%02X", c);
    result += escaped;
  }
  return result;
}

/// "1234 bytes", "1.21 MiB"
std::string showBytes(uint64_t bytes) {
  char text[64];
  if (bytes < 10240)
    std::snprintf(text, sizeof(text), "%llu bytes",
                  static_cast<unsigned long long>(bytes));
  else if (bytes < (10u << 20))
    std::snprintf(text, sizeof(text), "%.1f KiB", double(bytes) / 1024);
  else
    std::snprintf(text, sizeof(text), "%.1f MiB",
                  double(bytes) / (1024 * 1024));
  return text;
}

/// The standard output. An error doesn't stop a training: it is reported once
/// everything else is written.
class Log {
public:
  explicit Log(bool quiet) : quiet(quiet) {}
  void print(const std::string &text) {
    if (!quiet && error == 0 &&
        (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0))
      error = errno;
  }
  void check() const {
    if (error != 0)
      throw Error(ECHO_IO_ERROR,
                  std::string("can't write to the standard output: ") +
                      std::strerror(error));
  }

private:
  bool quiet;
  int error = 0;
};

uint64_t persistentBytes(const Step &step) {
  uint64_t bytes = 0;
  for (const Tensor &tensor : step.tensors())
    if (isPersistent(tensor.role))
      bytes += tensor.bytes;
  return bytes;
}

void setArguments(Step &step, const TrainingOptions &options) {
  step.initialize(options.seed);
  if (!options.resume.empty())
    step.load(options.resume);
  auto find = [&](const Assignment &assignment, const char *option) {
    size_t index = step.find(assignment.first);
    if (step.tensors()[index].role == Role::Result)
      throwInvalid(std::string(option) + "=" + assignment.first +
                   ": a result can't be set");
    return index;
  };
  for (const Assignment &input : options.inputs) {
    size_t index = find(input, "--input");
    step.set(index, step.readInput(index, readFile(input.second),
                                   "'" + input.second + "' for '" +
                                       input.first + "': "));
  }
  for (const Assignment &scalar : options.scalars) {
    size_t index = find(scalar, "--set");
    step.set(index, parseScalar(step.tensors()[index], scalar.second));
  }
}

struct Record {
  uint64_t stepsBefore = 0; ///< of the checkpoint that was resumed from
  std::vector<double> losses, seconds;
  std::optional<Profile> profile;
};

/// The first of several steps is left out: it touches memory for the first
/// time.
bool profilingStartsAt(uint64_t step, const TrainingOptions &options) {
  return options.profile && step == (options.steps > 1 ? 2 : 1);
}

Profile takeProfile(const Step &step, const TrainingOptions &options,
                    const std::vector<double> &seconds) {
  Profile profile;
  profile.entries = step.profile();
  profile.steps = seconds.size() > 1 ? seconds.size() - 1 : seconds.size();
  for (size_t i = seconds.size() - profile.steps; i < seconds.size(); ++i)
    profile.seconds += seconds[i];
  if (std::optional<Device> device = step.device())
    profile.device = device->name;
  if (profile.device != "cpu")
    return profile;
  echo_machine_rates rates = runtime::measureMachine(options.threads);
  profile.threads = rates.threads;
  profile.rates = Rates{rates.memory_bytes_per_second,
                        rates.cache_bytes_per_second,
                        rates.gemm_flops_per_second};
  return profile;
}

nlohmann::ordered_json deviceReport(const Device &device) {
  nlohmann::ordered_json report;
  report["name"] = device.name;
  if (!device.isGpu())
    return report;
  report["bytes"] = device.bytes;
  report["free_bytes"] = device.freeBytes;
  report["total_bytes"] = device.totalBytes;
  report["graph_steps"] = device.graphSteps;
  report["power_watts"] = device.watts;
  report["energy_joules"] = device.joules;
  return report;
}

nlohmann::ordered_json makeReport(const Step &step,
                                  const TrainingOptions &options,
                                  const Record &record) {
  using nlohmann::ordered_json;
  ordered_json report;
  report["model"] = options.model;
  report["function"] = step.entry();
  report["target"] = options.target;
  report["seed"] = options.seed;
  report["threads"] = options.threads;
  report["steps"] = options.steps;
  report["steps_before"] = record.stepsBefore;
  // JSON has no NaN: it becomes null.
  report["loss"] = record.losses;
  double total = 0;
  for (double seconds : record.seconds)
    total += seconds;
  report["seconds"] = {{"compile", options.compileSeconds},
                       {"total", total},
                       {"steps", record.seconds}};
  ordered_json &phases = report["phases"] = ordered_json::array();
  for (const auto &[name, seconds] : options.phases)
    phases.push_back({{"name", name}, {"seconds", seconds}});
  if (!options.cache.empty())
    report["cache"] = options.cache;
  uint64_t persistent = persistentBytes(step);
  ordered_json &bytes = report["bytes"];
  bytes["persistent"] = persistent;
  if (std::optional<Memory> memory = step.memory()) {
    bytes["logical_peak"] = memory->logicalPeak;
    bytes["arena"] = memory->arena;
    bytes["total"] = persistent + memory->arena;
  }
  if (std::optional<uint64_t> calls = step.calls())
    report["calls"] = *calls;
  if (std::optional<uint64_t> allocations = step.allocations())
    report["last_step_allocations"] = *allocations;
  if (std::optional<Device> device = step.device())
    report["device"] = deviceReport(*device);
  if (record.profile) {
    if (record.profile->rates)
      report["machine"] = ratesReport(*record.profile->rates);
    report["profile"] = profileReport(*record.profile);
  }
  ordered_json &tensors = report["tensors"] = ordered_json::array();
  for (const Tensor &tensor : step.tensors())
    tensors.push_back({{"name", tensor.name},
                       {"role", nameOf(tensor.role)},
                       {"type", nameOf(tensor.type)},
                       {"shape", tensor.shape},
                       {"bytes", tensor.bytes}});
  return report;
}

void writeResults(const Step &step, const std::string &folder, bool ran) {
  for (size_t i = 0; i < step.tensors().size(); ++i) {
    const Tensor &tensor = step.tensors()[i];
    if (tensor.role == Role::Result && ran)
      writeFile(folder + "/" + fileName(tensor.name) + ".npy",
                makeNpyHeader(tensor.type, tensor.shape), step.get(i));
  }
  step.save(folder + "/checkpoint.npz");
}

} // namespace

Assignment run::splitAssignment(const std::string &text, const char *option) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throwInvalid(std::string(option) + "=" + text + ": expected name=value");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void run::checkOutputs(const TrainingOptions &options) {
  if (!options.outputFolder.empty()) {
    std::error_code code;
    std::filesystem::create_directories(options.outputFolder, code);
    if (code || !std::filesystem::is_directory(options.outputFolder))
      throw Error(ECHO_IO_ERROR,
                  "can't make the folder '" + options.outputFolder +
                      "': " + (code ? code.message() : std::strerror(ENOTDIR)));
    checkWritable(options.outputFolder + "/checkpoint.npz");
  }
  for (const std::string &path :
       {options.checkpoint, options.report, options.trace})
    if (!path.empty())
      checkWritable(path);
}

void run::train(Step &step, const TrainingOptions &options) {
  setArguments(step, options);
  std::optional<size_t> loss = step.loss();
  Log log(options.quiet);
  Record record;
  record.stepsBefore = step.trainingSteps();
  for (uint64_t i = 1; i <= options.steps; ++i) {
    if (profilingStartsAt(i, options))
      step.startProfiling();
    auto start = std::chrono::steady_clock::now();
    step.step();
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    record.seconds.push_back(seconds.count());
    if (loss)
      record.losses.push_back(
          scalarValue(step.tensors()[*loss].type, step.get(*loss)));
    char text[64] = "";
    if (loss)
      std::snprintf(text, sizeof(text), "loss %.9g, ", record.losses.back());
    std::string line =
        "step " + std::to_string(record.stepsBefore + i) + ": " + text;
    std::snprintf(text, sizeof(text), "%.6f s\n", seconds.count());
    log.print(line + text);
    if (!options.checkpoint.empty() && options.checkpointEvery != 0 &&
        (record.stepsBefore + i) % options.checkpointEvery == 0 &&
        i != options.steps)
      step.save(options.checkpoint);
  }
  if (!options.checkpoint.empty())
    step.save(options.checkpoint);
  if (!options.outputFolder.empty())
    writeResults(step, options.outputFolder, options.steps != 0);
  if (options.profile)
    record.profile = takeProfile(step, options, record.seconds);
  if (!options.trace.empty())
    writeFile(options.trace, chromeTrace(*record.profile).dump() + "\n");
  if (!options.report.empty())
    writeFile(options.report, makeReport(step, options, record).dump(2) + "\n");
  std::string line = "memory: ";
  if (std::optional<Memory> memory = step.memory())
    line += "arena " + showBytes(memory->arena) + ", logical peak " +
            showBytes(memory->logicalPeak) + ", ";
  log.print(line + "parameters and state " + showBytes(persistentBytes(step)) +
            "\n");
  if (std::optional<Device> device = step.device();
      device && !device->isCpu()) {
    line = "device: " + device->name;
    if (device->isGpu())
      line += ", allocated " + showBytes(device->bytes) + ", free " +
              showBytes(device->freeBytes) + " of " +
              showBytes(device->totalBytes);
    log.print(line + "\n");
  }
  if (record.profile && !options.quiet) {
    printProfile(*record.profile, stdout);
    log.print("");
  }
  log.check();
}
