//===- Program.h - The host program of a training step ----------*- C++ -*-===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled step is a table of calls on memory at (region, offset). The
// compiler writes it, an artefact carries it as bytes, and a runtime walks it.
// This library knows neither LLVM nor a device.
//
// An artefact is a shared object with two symbols:
//   echo_program      the bytes of serialize(), with their size in
//   echo_program_size (uint64_t), for the target "cpu"
//   echo_kernels      an array of KernelFunction, indexed by Call::function,
// and for the target "cuda", which has no code of its own for the host,
//   echo_images       an array of Image, as many as
//   echo_num_images   (uint64_t) says.
//
//===----------------------------------------------------------------------===//

#ifndef ECHO_RUNTIME_COMMON_PROGRAM_H
#define ECHO_RUNTIME_COMMON_PROGRAM_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace echo {

/// Bumped whenever the byte format, the kernel ABI or a call kind changes.
inline constexpr uint32_t kProgramVersion = 3;

/// A CPU kernel: evaluates chunks [begin, end) of its iteration space. `args`
/// holds one pointer per operand (inputs, then outputs), then the call's
/// scalar parameters as int64_t in pointer-sized slots. Chunks may run on any
/// thread in any order; what a chunk computes doesn't depend on the others.
using KernelFunction = void (*)(void *const *args, int64_t begin, int64_t end);

/// What the bytes of an image are.
enum class ImageKind : uint64_t {
  Cubin,     ///< machine code of one chip
  PTX,       ///< text, zero-terminated; `bytes` count the zero
  HostObject ///< an ELF shared object for the simulator; see sim/Device.h
};

/// Operands and parameters of a GPU's kernel, of 8 bytes each: PTX has 4,096
/// bytes for them.
inline constexpr uint64_t kMaxGPUArguments = 512;
/// Static shared memory of a block that every GPU has.
inline constexpr uint64_t kMaxStaticSharedBytes = 48 << 10;

/// All kernels of a GPU program, compiled for one chip.
struct Image {
  const char *chip; ///< "sm_90", or "sim" for the simulator
  uint64_t kind;    ///< ImageKind
  const void *data;
  uint64_t bytes;
};

enum class Role : uint8_t { Input, Label, Parameter, State, Result };
enum class DataType : uint8_t { F32, F64, F16, BF16, I8, I32, I64, I1 };
enum class InitKind : uint8_t { None, Constant, Uniform, Normal, RandInt };
enum class CallKind : uint8_t { Kernel, Gemm, Copy };

/// Bytes of one element; i1 is stored as one byte, 0 or 1.
uint64_t bytesOf(DataType type);
/// "f32", "i1", ...
const char *nameOf(DataType type);
/// "input", "label", "parameter", "state", "result"
const char *nameOf(Role role);

/// How a tensor that nobody gave is drawn; see `#echo.init`.
struct Init {
  InitKind kind = InitKind::None;
  double a = 0, b = 0;
};

/// Where a buffer lies. Region 0 is the arena; region 1 + i is the memory of
/// tensor i, which must be persistent (parameter or state). `offset` is in
/// bytes.
struct Location {
  uint32_t region = 0;
  uint64_t offset = 0;
};

/// Persistent tensors have memory of their own that outlives a step.
inline bool isPersistent(Role role) {
  return role == Role::Parameter || role == Role::State;
}

/// A tensor that the caller sees: an argument or a result of the step, with a
/// name that no other has.
/// Inputs, labels and results lie in the arena. A result that replaces an
/// argument isn't listed: the argument is updated in place.
struct Tensor {
  std::string name;
  Role role = Role::Input;
  DataType type = DataType::F32;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  Location location; ///< region 1 + own index when persistent
  Init init;
  bool isLoss = false;
};

/// One buffer that a GPU kernel is given.
struct KernelArgument {
  uint64_t bytes = 0; ///< that the kernel may touch, from the operand on
  bool isWritten = false;
};

/// A kernel of the program. Of a CPU kernel the name alone is said here; all
/// other fields are zero or empty.
///
/// A GPU kernel is one launch: its arguments are the addresses of the call's
/// operands (inputs, then outputs), and then the call's parameters as 64-bit
/// integers. A grid with an extent of 0 is not launched: nothing is to be done.
struct Kernel {
  std::string name; ///< its symbol in the images
  uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  uint32_t sharedBytes = 0; ///< dynamic shared memory
  std::vector<KernelArgument> arguments = {};
  uint32_t numParameters = 0;
};

// What every device takes in x, y and z, and all threads of a block together.
inline constexpr uint32_t kMaxGrid[3] = {2147483647, 65535, 65535};
inline constexpr uint32_t kMaxBlock[3] = {1024, 1024, 64};
inline constexpr uint32_t kMaxBlockThreads = 1024;
/// The most shared memory that a block has on any device.
inline constexpr uint32_t kMaxSharedBytes = 227 << 10;
/// cuBLAS takes no other workspace.
inline constexpr uint64_t kWorkspaceAlignment = 256;

/// One call of the host program. Operands are `Program::operands`
/// [firstOperand, firstOperand + numOperands), parameters likewise.
struct Call {
  CallKind kind = CallKind::Kernel;
  uint32_t function = 0; ///< Kernel: index into Program::kernels
  uint64_t chunks = 0;   ///< CPU kernel: chunks of its iteration space
  uint32_t firstOperand = 0, numOperands = 0;
  uint32_t firstParameter = 0, numParameters = 0;
  // Indices into Program::strings.
  uint32_t layer = 0; ///< layer (location) name
  uint32_t name = 0;  ///< kernel, or library call with its shape
  uint32_t op = 0;    ///< kinds of ops in it, "gemm" or "copy"
  // For reports; 0: unknown.
  uint64_t flops = 0; ///< floating-point operations
  uint64_t bytes = 0; ///< bytes read and written
};

/// Gemm: operands a, b, c[, bias]; parameters in this order. Matrices are
/// dense and row-major; see echo.gemm. A bias excludes accumulation.
struct GemmParameters {
  int64_t dataType; ///< DataType
  int64_t batch, m, n, k;
  int64_t transposeA, transposeB;
  int64_t strideA, strideB, strideC; ///< elements from one batch to the next
  int64_t accumulate;                ///< beta is 1, not 0

  static constexpr int kCount = 11;
  /// The largest m, n and k, and batch on GPUs, that the libraries take.
  static constexpr int64_t kMaxExtent = INT32_MAX;
  static GemmParameters read(const int64_t *values) {
    return {values[0], values[1], values[2], values[3], values[4], values[5],
            values[6], values[7], values[8], values[9], values[10]};
  }
};
/// Copy: operands source, target; one parameter, the bytes.

struct Program {
  std::string function; ///< the entry's name
  std::string target;   ///< "cpu" or "cuda"
  std::string cpu;      ///< CPU the kernels were compiled for (LLVM name)
  std::string features; ///< required features, "+avx2,+fma,..."
  /// The rematerialization strategy it was compiled with, or nothing.
  std::string strategy;
  uint64_t arenaBytes = 0;
  uint64_t arenaAlignment = 64;
  /// Largest sum of live buffer bytes at any call (the lower bound of any
  /// placement), for reports.
  uint64_t logicalPeakBytes = 0;
  /// The part of the arena that library calls of a GPU may use: no operand of a
  /// GEMM lies in it.
  uint64_t workspaceOffset = 0, workspaceBytes = 0;
  std::vector<Kernel> kernels;
  std::vector<Tensor> tensors;
  std::vector<Location> operands;
  std::vector<int64_t> parameters;
  std::vector<std::string> strings;
  std::vector<Call> calls;

  /// "call 3 (gemm at decoder/output)", for messages.
  std::string describeCall(const Call &call) const;

  /// The bytes of the program: magic "ECHOPROG", version, sizes, tables and a
  /// checksum, little-endian.
  std::string serialize() const;

  /// Checks everything that a walk relies on: every index and every range
  /// (operands inside their regions; for GEMM, copy and GPU kernels all bytes
  /// that they touch), launches that every device takes, sizes without
  /// overflow, unique names of tensors and kernels. Returns false and says what
  /// is wrong and where in `error`.
  bool verify(std::string &error) const;

  /// Reads what serialize() wrote, checks magic, version, size and checksum,
  /// and verifies the program. Returns false and says why in `error`, with
  /// `program` unchanged; never reads outside `bytes`.
  static bool parse(std::string_view bytes, Program &program,
                    std::string &error);
};

/// Appends a checksum of all bytes of an artefact's file, behind what the loader
/// reads of it.
void appendChecksum(std::string &file);
/// False if a file ends with such a checksum, but of other bytes. Files that
/// something else than echo-compile linked have none.
bool hasItsChecksum(std::string_view file);

} // namespace echo

#endif // ECHO_RUNTIME_COMMON_PROGRAM_H
