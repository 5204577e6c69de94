//===- InterpreterStep.cpp - Steps on the reference interpreter -----------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Conversion/EmitProgram.h"
#include "Echo/Dialect/FunctionAttributes.h"
#include "Echo/Interfaces/EchoInterfaces.h"
#include "Echo/Target/Interpreter.h"
#include "Step.h"
#include "common/Error.h"
#include "common/HalfFloat.h"
#include "common/Initialize.h"
#include "common/Npy.h"
#include "common/Npz.h"

#include <cstring>
#include <stdexcept>

using namespace echo;
using namespace echo::run;
using mlir::echo::HostTensor;

namespace {

bool isFloat(DataType type) {
  return type == DataType::F32 || type == DataType::F64 ||
         type == DataType::F16 || type == DataType::BF16;
}

/// The same numbers in f64.
std::string widen(DataType type, std::string_view bytes) {
  size_t count = bytes.size() / bytesOf(type);
  std::string result(count * sizeof(double), '\0');
  for (size_t i = 0; i < count; ++i) {
    double value = 0;
    const char *from = bytes.data() + i * bytesOf(type);
    if (type == DataType::F32) {
      float narrow;
      std::memcpy(&narrow, from, sizeof(narrow));
      value = narrow;
    } else if (type == DataType::F64) {
      std::memcpy(&value, from, sizeof(value));
    } else {
      uint16_t bits;
      std::memcpy(&bits, from, sizeof(bits));
      value = type == DataType::F16 ? fromF16(bits) : fromBF16(bits);
    }
    std::memcpy(result.data() + i * sizeof(double), &value, sizeof(value));
  }
  return result;
}

[[noreturn]] void throwNoMemory(const Tensor &tensor) {
  throw Error(ECHO_OUT_OF_MEMORY,
              "out of memory: " + std::to_string(tensor.bytes) +
                  " bytes for '" + tensor.name + "' " +
                  describe(tensor.type, tensor.shape));
}

std::string allocate(const Tensor &tensor) {
  try {
    return std::string(tensor.bytes, '\0');
  } catch (const std::bad_alloc &) {
    throwNoMemory(tensor);
  } catch (const std::length_error &) {
    throwNoMemory(tensor);
  }
}

class InterpreterStep : public Step {
public:
  InterpreterStep(mlir::func::FuncOp function, bool exact)
      : function(function), exact(exact), interpreter(create(function, exact)) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      addArgument(i);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (!interpreter.getAliasedArgument(i))
        addResult(i);
  }

  std::string readInput(size_t index, std::string_view file,
                        const std::string &place) const override;
  void initialize(uint64_t seed) override;
  void set(size_t index, std::string_view bytes) override;
  std::string get(size_t index) const override;
  void step() override {
    if (failed(interpreter.step()))
      throw Diagnosed();
    ++steps;
  }
  uint64_t trainingSteps() const override { return steps; }
  std::string entry() const override {
    return mlir::func::FuncOp(function).getName().str();
  }
  void save(const std::string &path) const override;
  void load(const std::string &path) override;

private:
  static mlir::echo::StepInterpreter create(mlir::func::FuncOp function,
                                            bool exact);
  void addArgument(unsigned index);
  void addResult(unsigned index);
  void add(Tensor tensor, mlir::Type type);

  mlir::func::FuncOp function;
  bool exact;
  uint64_t steps = 0;
  mlir::echo::StepInterpreter interpreter;
  /// Per tensor: the type it is declared with, and its type here.
  std::vector<DataType> declared;
  std::vector<mlir::RankedTensorType> types;
};

} // namespace

mlir::echo::StepInterpreter InterpreterStep::create(mlir::func::FuncOp function,
                                                    bool exact) {
  mlir::echo::InterpreterOptions options;
  options.mode = exact ? mlir::echo::InterpreterMode::Exact
                       : mlir::echo::InterpreterMode::F64;
  auto created = mlir::echo::StepInterpreter::create(function, options);
  if (failed(created))
    throw Diagnosed();
  return std::move(*created);
}

void InterpreterStep::add(Tensor tensor, mlir::Type type) {
  auto ranked = mlir::dyn_cast<mlir::RankedTensorType>(type);
  std::optional<DataType> element;
  if (ranked && ranked.hasStaticShape())
    element = mlir::echo::programType(ranked.getElementType());
  mlir::FailureOr<uint64_t> bytes = mlir::failure();
  if (element) {
    declared.push_back(*element);
    tensor.type = !exact && isFloat(*element) ? DataType::F64 : *element;
    types.push_back(
        tensor.type == *element
            ? ranked
            : ranked.clone(mlir::Float64Type::get(function.getContext())));
    bytes = mlir::echo::detail::typeBytes(types.back());
  }
  if (failed(bytes)) {
    function.emitOpError("expects '")
        << tensor.name
        << "' to be a ranked tensor with a static shape whose size fits 63 "
           "bits, found "
        << type;
    throw Diagnosed();
  }
  tensor.shape.assign(ranked.getShape().begin(), ranked.getShape().end());
  tensor.bytes = *bytes;
  list.push_back(std::move(tensor));
}

void InterpreterStep::addArgument(unsigned index) {
  Tensor tensor;
  tensor.name = interpreter.getArgumentNames()[index];
  tensor.role =
      mlir::echo::programRole(mlir::echo::getArgumentRole(function, index));
  tensor.init =
      mlir::echo::programInit(mlir::echo::getArgumentInit(function, index));
  add(std::move(tensor), function.getArgumentTypes()[index]);
}

void InterpreterStep::addResult(unsigned index) {
  Tensor tensor;
  tensor.name = interpreter.getResultNames()[index];
  tensor.role = Role::Result;
  tensor.isLoss =
      static_cast<bool>(function.getResultAttr(index, mlir::echo::kLossAttr));
  add(std::move(tensor), function.getResultTypes()[index]);
}

std::string InterpreterStep::readInput(size_t index, std::string_view file,
                                       const std::string &place) const {
  const Tensor &tensor = list[index];
  if (tensor.type == declared[index])
    return Step::readInput(index, file, place);
  // f64 takes the declared type too.
  try {
    return Step::readInput(index, file, place);
  } catch (const Error &) {
    return widen(declared[index],
                 readNpy(file, place, declared[index], tensor.shape));
  }
}

void InterpreterStep::initialize(uint64_t seed) {
  steps = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].role == Role::Result)
      continue;
    // Drawn in the declared type, so that every target starts alike.
    Tensor tensor = list[i];
    tensor.type = declared[i];
    tensor.bytes = list[i].bytes / bytesOf(list[i].type) * bytesOf(declared[i]);
    std::string bytes = allocate(tensor);
    drawValues(tensor, seed, bytes.data());
    set(i, list[i].type == declared[i] ? bytes : widen(declared[i], bytes));
  }
}

void InterpreterStep::set(size_t index, std::string_view bytes) {
  if (bytes.size() != list[index].bytes)
    throwInvalid("'" + list[index].name + "': expected " +
                 std::to_string(list[index].bytes) + " bytes, got " +
                 std::to_string(bytes.size()));
  auto value = HostTensor::fromBytes(
      types[index], llvm::ArrayRef(bytes.data(), bytes.size()));
  if (failed(value))
    throwNoMemory(list[index]);
  if (failed(interpreter.set(list[index].name, std::move(*value))))
    throw Diagnosed();
}

std::string InterpreterStep::get(size_t index) const {
  const HostTensor *value = interpreter.get(list[index].name);
  if (!value)
    throwInvalid("'" + list[index].name + "' has no value: no step was run");
  llvm::ArrayRef<char> bytes = value->getBytes();
  return std::string(bytes.data(), bytes.size());
}

void InterpreterStep::save(const std::string &path) const {
  std::vector<NpzEntry> entries;
  std::vector<std::string> contents;
  contents.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    if (!isPersistent(list[i].role))
      continue;
    contents.push_back(get(i));
    entries.push_back({&list[i], contents.back().data()});
  }
  writeNpz(path, entries, steps);
}

void InterpreterStep::load(const std::string &path) {
  NpzReader reader(path);
  std::vector<std::string> contents(list.size());
  for (size_t i = 0; i < list.size(); ++i)
    if (isPersistent(list[i].role))
      contents[i] = reader.read(list[i]);
  steps = reader.steps();
  for (size_t i = 0; i < list.size(); ++i)
    if (isPersistent(list[i].role))
      set(i, contents[i]);
}

std::unique_ptr<Step> run::interpretStep(mlir::func::FuncOp function,
                                         bool exact) {
  return std::make_unique<InterpreterStep>(function, exact);
}
