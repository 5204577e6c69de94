//===- SimulatedModule.cpp - GPU kernels in process -----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulatedModule.h"
#include "Echo/Conversion/Kernels.h"
#include "sim/Device.h"
#include <cstring>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::testing;
using namespace ::echo::sim;

/// Three sizes that are an attribute of a function.
static Dim3 sizesOf(Operation *function, StringRef name) {
  auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(name);
  EXPECT_TRUE(sizes && sizes.size() == 3) << name.str();
  if (!sizes || sizes.size() != 3)
    return {};
  return {uint32_t(sizes[0]), uint32_t(sizes[1]), uint32_t(sizes[2])};
}

SimulatedModule::SimulatedModule(ModuleOp module, uint64_t alignment)
    : alignment(alignment),
      jit(compileInProcess(module, llvm::OptimizationLevel::O1)) {
  if (!jit)
    return;
  auto find = [&](StringRef symbol) -> void * {
    llvm::Expected<llvm::orc::ExecutorAddr> address = jit->lookup(symbol);
    if (address)
      return address->toPtr<void *>();
    ADD_FAILURE() << llvm::toString(address.takeError());
    return nullptr;
  };
  void *functions = find(ECHO_SIM_FUNCTIONS_SYMBOL);
  void *kernels = find(ECHO_SIM_KERNELS_SYMBOL);
  void *size = find(ECHO_SIM_NUM_KERNELS_SYMBOL);
  if (!functions || !kernels || !size)
    return;
  *static_cast<const echo_sim_functions **>(functions) =
      echo_sim_get_functions();
  for (const echo_sim_kernel &kernel :
       ArrayRef(static_cast<echo_sim_kernel *>(kernels),
                *static_cast<uint64_t *>(size))) {
    Operation *function = module.lookupSymbol(kernel.name);
    Launch &launch = launches[kernel.name];
    launch.kernel = kernel.name;
    launch.function = kernel.function;
    launch.block = sizesOf(function, kKnownBlockSizeAttr);
    launch.grid = sizesOf(function, kKnownGridSizeAttr);
    for (const echo_sim_variable &variable :
         ArrayRef(kernel.shared, kernel.num_shared))
      launch.shared.push_back({variable.data, variable.bytes});
  }
}

Launch SimulatedModule::launchOf(StringRef kernel) const {
  auto found = launches.find(kernel);
  EXPECT_NE(found, launches.end()) << kernel.str();
  return found == launches.end() ? Launch() : found->second;
}

uint64_t SimulatedModule::mostThreads() const {
  uint64_t most = 0;
  for (const auto &launch : launches)
    most = std::max(most,
                    launch.second.grid.count() * launch.second.block.count());
  return most;
}

namespace {

/// Memory of a device: aligned to so many bytes, a power of two, and no better.
class DeviceBuffer {
public:
  DeviceBuffer(ArrayRef<char> bytes, size_t alignment)
      : memory(bytes.size() + 3 * alignment), bytes(bytes.size()) {
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    start = llvm::alignTo(address, 2 * alignment) - address + alignment;
    llvm::copy(bytes, data());
  }
  char *data() { return memory.data() + start; }
  size_t size() const { return bytes; }

private:
  std::vector<char> memory;
  size_t bytes, start;
};

} // namespace

std::vector<Fault> SimulatedModule::run(StringRef kernel,
                                        ArrayRef<HostTensor> inputs,
                                        MutableArrayRef<HostTensor> outputs,
                                        ArrayRef<int64_t> overwriting,
                                        ArrayRef<int64_t> parameters,
                                        const LaunchOptions &options) const {
  std::vector<DeviceBuffer> buffers;
  auto alignmentOf = [&](const HostTensor &tensor) -> size_t {
    return alignment != 0 ? alignment : tensor.getElementSize();
  };
  for (const HostTensor &input : inputs)
    buffers.emplace_back(input.getBytes(), alignmentOf(input));
  for (const HostTensor &output : outputs) {
    // Whatever is there before must not matter.
    std::vector<char> before(output.getBytes().size(), 0x7b);
    buffers.emplace_back(before, alignmentOf(output));
  }
  Launch launch = launchOf(kernel);
  SmallVector<char *> pointers;
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    launch.buffers.push_back(
        {buffer.data(), buffer.size(), /*isReadOnly=*/index < inputs.size()});
    pointers.push_back(buffer.data());
  }
  auto placeOf = [&](size_t output) {
    return overwriting[output] < 0 ? inputs.size() + output
                                   : size_t(overwriting[output]);
  };
  for (size_t output = 0; output < outputs.size(); ++output) {
    launch.buffers[placeOf(output)].isReadOnly = false;
    pointers[inputs.size() + output] = buffers[placeOf(output)].data();
  }
  SmallVector<int64_t> scalars(parameters);
  SmallVector<void *> arguments;
  for (char *&pointer : pointers)
    arguments.push_back(&pointer);
  for (int64_t &scalar : scalars)
    arguments.push_back(&scalar);
  launch.arguments = arguments.data();

  // As devices do.
  LaunchResult result;
  if (launch.grid.count() != 0)
    result = ::echo::sim::launch(launch, options);
  for (auto [index, output] : llvm::enumerate(outputs)) {
    DeviceBuffer &buffer = buffers[placeOf(index)];
    if (buffer.size() != 0)
      std::memcpy(output.getMutableData(), buffer.data(), buffer.size());
  }
  return result.faults;
}
