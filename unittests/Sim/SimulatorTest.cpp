//===- SimulatorTest.cpp - GPU kernels on the CPU -------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sim/Simulator.h"
#include "sim/Device.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace echo::sim;

namespace {

constexpr uint32_t kAllLanes = ~uint32_t(0);

/// A launch that lacks its buffers.
Launch launchOf(void (*kernel)(void **), void **arguments, Dim3 grid,
                Dim3 block) {
  Launch launch;
  launch.kernel = "k";
  launch.function = kernel;
  launch.arguments = arguments;
  launch.grid = grid;
  launch.block = block;
  return launch;
}

//===----------------------------------------------------------------------===//
// What kernels are written with
//===----------------------------------------------------------------------===//

template <typename T>
T load(const T *address) {
  echo_sim_access(address, sizeof(T), alignof(T), ECHO_SIM_READ);
  return *address;
}
template <typename T>
void store(T *address, T value) {
  echo_sim_access(address, sizeof(T), alignof(T), ECHO_SIM_WRITE);
  *address = value;
}
template <typename T>
void atomicAdd(T *address, T value) {
  echo_sim_access(address, sizeof(T), alignof(T), ECHO_SIM_ATOMIC);
  *address += value;
}
template <typename T>
T argument(void **arguments, size_t index) {
  return *static_cast<T *>(arguments[index]);
}
uint32_t x() { return echo_sim_thread_id(0); }

/// Runs a kernel of one pointer argument over `data`.
template <typename T>
LaunchResult run(void (*kernel)(void **), std::vector<T> &data, Dim3 grid,
                 Dim3 block, LaunchOptions options = {},
                 std::vector<Buffer> shared = {}) {
  T *pointer = data.data();
  void *arguments[] = {&pointer};
  Launch what = launchOf(kernel, arguments, grid, block);
  what.buffers = {{data.data(), data.size() * sizeof(T)}};
  what.shared = std::move(shared);
  return launch(what, options);
}

/// For both orders of threads.
class OrderTest : public testing::TestWithParam<bool> {
protected:
  LaunchOptions options() const {
    LaunchOptions options;
    options.isReverse = GetParam();
    return options;
  }
};

std::string reports(const LaunchResult &result) {
  std::string text;
  for (const Fault &fault : result.faults)
    text += describe(fault) + "\n";
  return text;
}

/// Expects one fault at a place, whose text contains `text`.
void expectFault(const LaunchResult &result, FaultKind kind,
                 std::string_view text) {
  ASSERT_FALSE(result.faults.empty());
  const Fault &fault = result.faults.front();
  EXPECT_EQ(fault.kind, kind) << describe(fault);
  EXPECT_NE(describe(fault).find(text), std::string::npos) << describe(fault);
}

//===----------------------------------------------------------------------===//
// Threads and blocks
//===----------------------------------------------------------------------===//

// Every thread of a 3-D grid of 3-D blocks writes what it is to its own place.
TEST_P(OrderTest, Indices) {
  auto kernel = [](void **arguments) {
    auto *data = argument<uint32_t *>(arguments, 0);
    uint32_t thread = 0, block = 0;
    for (uint32_t dim = 3; dim-- > 0;) {
      thread = thread * echo_sim_block_size(dim) + echo_sim_thread_id(dim);
      block = block * echo_sim_grid_size(dim) + echo_sim_block_id(dim);
    }
    uint32_t threads = echo_sim_block_size(0) * echo_sim_block_size(1) *
                       echo_sim_block_size(2);
    EXPECT_EQ(echo_sim_lane_id(), thread % 32);
    store(data + block * threads + thread,
          echo_sim_block_id(2) * 100000 + echo_sim_block_id(1) * 10000 +
              echo_sim_block_id(0) * 1000 + echo_sim_thread_id(2) * 100 +
              echo_sim_thread_id(1) * 10 + echo_sim_thread_id(0));
  };
  Dim3 grid = {2, 3, 2}, block = {5, 4, 3};
  std::vector<uint32_t> data(12 * 60, ~0u);
  LaunchResult result = run<uint32_t>(kernel, data, grid, block, options());
  EXPECT_EQ(reports(result), "");
  size_t i = 0;
  for (uint32_t c = 0; c < 2; ++c)
    for (uint32_t b = 0; b < 3; ++b)
      for (uint32_t a = 0; a < 2; ++a)
        for (uint32_t z = 0; z < 3; ++z)
          for (uint32_t y = 0; y < 4; ++y)
            for (uint32_t x = 0; x < 5; ++x)
              EXPECT_EQ(data[i++], c * 100000 + b * 10000 + a * 1000 +
                                       z * 100 + y * 10 + x);
}

uint32_t sharedSums[1024];

// Adds 0 .. n - 1 up in halves through shared memory: n (n - 1) / 2.
void sumThroughShared(void **arguments) {
  auto *data = argument<uint32_t *>(arguments, 0);
  uint32_t size = echo_sim_block_size(0);
  store(&sharedSums[x()], x());
  echo_sim_barrier(__LINE__);
  while (size > 1) {
    uint32_t half = (size + 1) / 2;
    if (x() + half < size)
      store(&sharedSums[x()],
            load(&sharedSums[x()]) + load(&sharedSums[x() + half]));
    echo_sim_barrier(__LINE__);
    size = half;
  }
  if (x() == 0)
    store(data + echo_sim_block_id(0), load(&sharedSums[0]));
}

TEST_P(OrderTest, BlockSum) {
  for (uint32_t size : {1u, 31u, 32u, 33u, 100u, 1000u, 1024u}) {
    std::vector<uint32_t> data(3);
    LaunchResult result =
        run<uint32_t>(sumThroughShared, data, {3}, {size}, options(),
                      {{sharedSums, sizeof(sharedSums)}});
    EXPECT_EQ(reports(result), "");
    EXPECT_EQ(data, std::vector<uint32_t>(3, size * (size - 1) / 2));
  }
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

// Lanes hold 100 + lane. What PTX says for a whole warp (c = 31), and for
// segments of eight lanes (c = 0x181f; 0x1800 for up).
TEST_P(OrderTest, Shuffles) {
  auto kernel = [](void **arguments) {
    auto *data = argument<uint32_t *>(arguments, 0);
    auto shuffle = [&](uint32_t kind, uint32_t lane, uint32_t clamp,
                       uint32_t row) {
      uint8_t isValid = 2;
      uint32_t value = echo_sim_shuffle(__LINE__, kind, kAllLanes, 100 + x(), lane,
                                        clamp, &isValid);
      store(data + row * 32 + x(), isValid * 1000 + value);
    };
    shuffle(ECHO_SIM_SHUFFLE_UP, 3, 0, 0);
    shuffle(ECHO_SIM_SHUFFLE_DOWN, 3, 31, 1);
    shuffle(ECHO_SIM_SHUFFLE_XOR, 5, 31, 2);
    shuffle(ECHO_SIM_SHUFFLE_INDEX, 7, 31, 3);
    shuffle(ECHO_SIM_SHUFFLE_UP, 3, 0x1800, 4);
    shuffle(ECHO_SIM_SHUFFLE_DOWN, 3, 0x181f, 5);
    shuffle(ECHO_SIM_SHUFFLE_INDEX, 2, 0x181f, 6);
  };
  std::vector<uint32_t> data(7 * 32);
  LaunchResult result = run<uint32_t>(kernel, data, {1}, {32}, options());
  EXPECT_EQ(reports(result), "");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    auto expected = [&](bool isValid, uint32_t source) {
      return isValid * 1000 + 100 + (isValid ? source : lane);
    };
    EXPECT_EQ(data[lane], expected(lane >= 3, lane - 3));
    EXPECT_EQ(data[32 + lane], expected(lane + 3 < 32, lane + 3));
    EXPECT_EQ(data[64 + lane], expected(true, lane ^ 5));
    EXPECT_EQ(data[96 + lane], expected(true, 7));
    EXPECT_EQ(data[128 + lane], expected(lane % 8 >= 3, lane - 3));
    EXPECT_EQ(data[160 + lane], expected(lane % 8 + 3 < 8, lane + 3));
    EXPECT_EQ(data[192 + lane], expected(true, lane / 8 * 8 + 2));
  }
}

// Odd lanes vote among themselves, in two warps of which the second has four
// lanes: 5 odd multiples of 3 below 32 (3, 9, 15, 21, 27).
TEST_P(OrderTest, BallotOfSomeLanes) {
  auto kernel = [](void **arguments) {
    auto *data = argument<uint32_t *>(arguments, 0);
    if (x() % 2 == 0)
      return;
    uint32_t mask = x() < 32 ? 0xaaaaaaaa : 0xa;
    store(data + x(), echo_sim_ballot(__LINE__, mask, x() % 3 == 0));
  };
  std::vector<uint32_t> data(36);
  LaunchResult result = run<uint32_t>(kernel, data, {1}, {36}, options());
  EXPECT_EQ(reports(result), "");
  for (uint32_t thread = 1; thread < 36; thread += 2)
    EXPECT_EQ(data[thread], thread < 32 ? 1u << 3 | 1u << 9 | 1u << 15 |
                                              1u << 21 | 1u << 27
                                        : 1u << 1); // thread 33
}

// A warp's barrier orders its lanes, and no other warp's.
void passOnInWarp(void **arguments) {
  auto *data = argument<uint32_t *>(arguments, 0);
  store(data + x(), x());
  echo_sim_warp_barrier(__LINE__, kAllLanes);
  uint32_t distance = echo_sim_block_size(0) - 1;
  store(data + echo_sim_block_size(0) + x(), load(data + (x() ^ distance)));
}

TEST_P(OrderTest, WarpBarrierOrdersItsLanes) {
  std::vector<uint32_t> data(64);
  LaunchResult result = run<uint32_t>(passOnInWarp, data, {1}, {32}, options());
  EXPECT_EQ(reports(result), "");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(data[32 + lane], 31 - lane);
  std::vector<uint32_t> twoWarps(128);
  expectFault(run<uint32_t>(passOnInWarp, twoWarps, {1}, {64}, options()),
              FaultKind::Race, "that block (0, 0, 0), thread (");
}

INSTANTIATE_TEST_SUITE_P(Orders, OrderTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool> &info) {
                           return info.param ? "Reverse" : "Forward";
                         });

//===----------------------------------------------------------------------===//
// Planted faults
//===----------------------------------------------------------------------===//

// Thread 1 reads what thread 0 wrote. In reverse it reads first, and thread 0's
// write is what races.
TEST(FaultTest, RaceInBlock) {
  auto kernel = [](void **arguments) {
    auto *data = argument<uint32_t *>(arguments, 0);
    if (x() == 0)
      store(data + 2, 7u);
    else
      store(data, load(data + 2));
  };
  std::vector<uint32_t> data = {0, 0, 5};
  LaunchOptions options;
  EXPECT_EQ(reports(run<uint32_t>(kernel, data, {1}, {2}, options)),
            "kernel 'k', block (0, 0, 0), thread (1, 0, 0): race: reads a byte "
            "at offset 8 of buffer 0 (12 bytes) that block (0, 0, 0), thread "
            "(0, 0, 0) wrote with no barrier in between\n");
  EXPECT_EQ(data[0], 7u);
  data = {0, 0, 5};
  options.isReverse = true;
  EXPECT_EQ(reports(run<uint32_t>(kernel, data, {1}, {2}, options)),
            "kernel 'k', block (0, 0, 0), thread (0, 0, 0): race: writes a "
            "byte at offset 8 of buffer 0 (12 bytes) that block (0, 0, 0), "
            "thread (1, 0, 0) read with no barrier in between\n");
  EXPECT_EQ(data[0], 5u);
  options.findsRaces = false;
  EXPECT_TRUE(run<uint32_t>(kernel, data, {1}, {2}, options).isOk());
}

// A barrier orders no blocks.
TEST(FaultTest, RaceOfBlocks) {
  auto kernel = [](void **arguments) {
    auto *data = argument<uint32_t *>(arguments, 0);
    echo_sim_barrier(__LINE__);
    if (x() == 0)
      store(data, echo_sim_block_id(0));
    echo_sim_barrier(__LINE__);
  };
  std::vector<uint32_t> data(1);
  LaunchResult result = run<uint32_t>(kernel, data, {3}, {2});
  EXPECT_EQ(result.faults.size(), 2u);
  expectFault(result, FaultKind::Race,
              "block (1, 0, 0), thread (0, 0, 0): race: writes a byte at "
              "offset 0 of buffer 0 (4 bytes) that block (0, 0, 0), thread "
              "(0, 0, 0) wrote");
}

// Two reads of other threads, of which the first is the one that races.
TEST(FaultTest, RaceWithEarlierReader) {
  auto kernel = [](void **arguments) {
    auto *data = argument<uint32_t *>(arguments, 0);
    if (x() < 2)
      load(data);
    else if (x() == 2)
      store(data, 1u);
  };
  std::vector<uint32_t> data(1);
  expectFault(run<uint32_t>(kernel, data, {1}, {3}), FaultKind::Race,
              "thread (2, 0, 0): race: writes a byte");
}

TEST(FaultTest, NoRaceOfAtomicsAndOfNeighbours) {
  auto kernel = [](void **arguments) {
    auto *data = argument<uint8_t *>(arguments, 0);
    store(data + 4 + x(), uint8_t(x()));
    atomicAdd(reinterpret_cast<uint32_t *>(data), 1u);
  };
  std::vector<uint8_t> data(4 + 64);
  EXPECT_EQ(reports(run<uint8_t>(kernel, data, {1}, {64})), "");
  EXPECT_EQ(data[0], 64);
}

TEST(FaultTest, AtomicRacesWithRead) {
  auto kernel = [](void **arguments) {
    auto *data = argument<uint32_t *>(arguments, 0);
    if (x() == 0)
      atomicAdd(data, 1u);
    else
      load(data);
  };
  std::vector<uint32_t> data(1);
  expectFault(run<uint32_t>(kernel, data, {1}, {2}), FaultKind::Race,
              "thread (1, 0, 0): race: reads");
}

TEST(FaultTest, RacesAreCounted) {
  auto kernel = [](void **arguments) {
    store(argument<uint32_t *>(arguments, 0), x());
  };
  std::vector<uint32_t> data(1);
  LaunchOptions options;
  options.maxFaults = 3;
  LaunchResult result = run<uint32_t>(kernel, data, {1}, {32}, options);
  EXPECT_EQ(result.faults.size(), 3u);
  EXPECT_EQ(result.numMoreFaults, 31u - 3);
}

TEST(FaultTest, OutOfBounds) {
  auto kernel = [](void **arguments) {
    auto *data = argument<float *>(arguments, 0);
    store(data + 2 * x(), 1.0f);
  };
  std::vector<float> data(6, 0.0f);
  data.reserve(64);
  EXPECT_EQ(reports(run<float>(kernel, data, {1}, {4})),
            "kernel 'k', block (0, 0, 0), thread (3, 0, 0): out of bounds: "
            "writes 4 bytes at offset 24 of buffer 0 (24 bytes)\n");
  EXPECT_EQ(data, (std::vector<float>{1, 0, 1, 0, 1, 0}));
  // A part of it is enough.
  auto across = [](void **arguments) {
    auto *bytes = argument<char *>(arguments, 0);
    echo_sim_access(bytes + 6, 4, 1, ECHO_SIM_READ);
  };
  std::vector<char> eight(8);
  expectFault(run<char>(across, eight, {1}, {1}), FaultKind::OutOfBounds,
              "reads 4 bytes at offset 6 of buffer 0 (8 bytes)");
  auto null = [](void **) { echo_sim_access(nullptr, 4, 1, ECHO_SIM_READ); };
  expectFault(run<char>(null, eight, {1}, {1}), FaultKind::OutOfBounds,
              "reads 4 bytes at an address in front of all buffers");
}

// PTX requires it of every access as wide as it is.
TEST(FaultTest, Misaligned) {
  auto kernel = [](void **arguments) {
    auto *data = argument<char *>(arguments, 0);
    echo_sim_access(data + 8, 8, 8, ECHO_SIM_READ);
    echo_sim_access(data + 8, 16, 16, ECHO_SIM_WRITE);
  };
  alignas(16) static char bytes[32];
  char *pointer = bytes;
  void *arguments[] = {&pointer};
  Launch what;
  what.kernel = "k";
  what.function = kernel;
  what.arguments = arguments;
  what.buffers = {{bytes, sizeof(bytes)}};
  expectFault(launch(what), FaultKind::Misaligned,
              "misaligned: writes 16 bytes at offset 8 of buffer 0 (32 bytes), "
              "whose address is no multiple of 16");
}

// The address sanitizer would put the variable elsewhere.
__attribute__((no_sanitize("address"))) void sumLocally(void **arguments) {
  float local[16];
  for (float &value : local)
    store(&value, float(x()));
  echo_sim_barrier(__LINE__);
  float sum = 0;
  for (float &value : local)
    sum += load(&value);
  store(argument<float *>(arguments, 0) + x(), sum);
}

TEST(FaultTest, LocalVariablesAreOnesOwn) {
  std::vector<float> data(40);
  EXPECT_EQ(reports(run<float>(sumLocally, data, {1}, {40})), "");
  for (size_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(data[i], 16.0f * i);
}

TEST(FaultTest, ReadOnly) {
  auto kernel = [](void **arguments) {
    store(argument<uint32_t *>(arguments, 0), 1u);
  };
  uint32_t value = 0, *pointer = &value;
  void *arguments[] = {&pointer};
  Launch what;
  what.kernel = "k";
  what.function = kernel;
  what.arguments = arguments;
  what.buffers = {{&value, sizeof(value), /*isReadOnly=*/true}};
  expectFault(launch(what), FaultKind::ReadOnly, "writes 4 bytes at offset 0");
  EXPECT_EQ(value, 0u);
}

TEST(FaultTest, BarrierUnderDivergence) {
  auto kernel = [](void **) {
    if (x() < 16)
      echo_sim_barrier(__LINE__);
  };
  std::vector<int> data(1);
  expectFault(run<int>(kernel, data, {1}, {64}), FaultKind::DivergentBarrier,
              "thread (0, 0, 0): divergent barrier: 16 threads are at a "
              "barrier, 48 have exited");
  auto different = [](void **arguments) {
    auto *data = argument<int *>(arguments, 0);
    if (x() < 3) {
      echo_sim_barrier(__LINE__);
      store(data + x(), 1);
    } else {
      echo_sim_barrier(__LINE__);
      store(data + x(), 2);
    }
  };
  std::vector<int> four(4);
  expectFault(run<int>(different, four, {1}, {4}), FaultKind::DivergentBarrier,
              "thread (3, 0, 0) is at another barrier");
  EXPECT_EQ(four, std::vector<int>(4, 0));
}

TEST(FaultTest, LanesThatDoNotCome) {
  std::vector<uint32_t> data(64);
  auto exits = [](void **) {
    if (x() != 5)
      echo_sim_shuffle(__LINE__, ECHO_SIM_SHUFFLE_DOWN, kAllLanes, x(), 1, 31, nullptr);
  };
  expectFault(run<uint32_t>(exits, data, {1}, {32}), FaultKind::DivergentWarp,
              "thread (0, 0, 0): divergent warp: waits at a shuffle, thread "
              "(5, 0, 0) has exited");
  auto waits = [](void **) {
    if (x() != 5)
      echo_sim_ballot(__LINE__, kAllLanes, 1);
    echo_sim_barrier(__LINE__);
  };
  expectFault(run<uint32_t>(waits, data, {1}, {32}), FaultKind::DivergentWarp,
              "waits at a vote, thread (5, 0, 0) is at a barrier");
  // A block's last warp has lanes that no thread is.
  expectFault(run<uint32_t>(passOnInWarp, data, {1}, {16}),
              FaultKind::DivergentWarp, "waits at a barrier of the warp");
  auto outside = [](void **) { echo_sim_warp_barrier(__LINE__, 2); };
  expectFault(run<uint32_t>(outside, data, {1}, {1}), FaultKind::DivergentWarp,
              "its lane isn't in the mask");
}

TEST(FaultTest, ValueOfALaneOutsideTheMask) {
  auto kernel = [](void **) {
    if (x() < 16)
      echo_sim_shuffle(__LINE__, ECHO_SIM_SHUFFLE_DOWN, 0xffff, x(), 1, 31, nullptr);
  };
  std::vector<int> data(1);
  expectFault(run<int>(kernel, data, {1}, {32}), FaultKind::InvalidLane,
              "thread (15, 0, 0): invalid lane: a shuffle takes the value of "
              "lane 16");
}

TEST(FaultTest, Trap) {
  auto kernel = [](void **arguments) {
    if (x() == 2)
      echo_sim_trap();
    store(argument<int *>(arguments, 0) + x(), 1);
  };
  std::vector<int> data(4);
  expectFault(run<int>(kernel, data, {1}, {4}), FaultKind::Trap,
              "thread (2, 0, 0): trap");
  // Nothing ran behind it, and the next launch starts afresh.
  EXPECT_EQ(data, (std::vector<int>{1, 1, 0, 0}));
  std::vector<uint32_t> sums(1);
  EXPECT_TRUE(run<uint32_t>(sumThroughShared, sums, {1}, {64}, {},
                            {{sharedSums, sizeof(sharedSums)}})
                  .isOk());
  EXPECT_EQ(sums[0], 64u * 63 / 2);
}

TEST(FaultTest, SharedMemoryIsPoisonedForEveryBlock) {
  static float shared[2];
  auto kernel = [](void **arguments) {
    auto *data = argument<float *>(arguments, 0);
    store(data + echo_sim_block_id(0), load(&shared[1]));
    store(&shared[1], 1.0f);
  };
  std::vector<float> data(2);
  EXPECT_TRUE(
      run<float>(kernel, data, {2}, {1}, {}, {{shared, sizeof(shared)}})
          .isOk());
  EXPECT_TRUE(std::isnan(data[0]) && std::isnan(data[1]));
}

TEST(FaultTest, LaunchesThatNoDeviceTakes) {
  auto kernel = [](void **) { FAIL(); };
  std::vector<int> data(1);
  for (Dim3 block : {Dim3{0}, Dim3{1025}, Dim3{32, 33}, Dim3{1, 1, 65}})
    expectFault(run<int>(kernel, data, {1}, block), FaultKind::InvalidLaunch,
                "expected a block of 1 to 1024 threads");
  for (Dim3 grid : {Dim3{0}, Dim3{1, 65536}, Dim3{1, 1, 65536}})
    expectFault(run<int>(kernel, data, grid, {1}), FaultKind::InvalidLaunch,
                "expected a grid of at least one block");
  static char shared[48 * 1024 + 1];
  expectFault(run<int>(kernel, data, {1}, {1}, {}, {{shared, sizeof(shared)}}),
              FaultKind::InvalidLaunch,
              "expected at most 49152 bytes of shared memory, found 49153");
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

/// Runs a kernel of two pointer arguments over one that it reads and one that
/// it writes.
Traffic trafficOf(void (*kernel)(void **), std::vector<float> &in,
                  std::vector<float> &out, Dim3 grid, Dim3 block) {
  float *pointers[] = {in.data(), out.data()};
  void *arguments[] = {&pointers[0], &pointers[1]};
  Launch what = launchOf(kernel, arguments, grid, block);
  what.buffers = {{in.data(), in.size() * sizeof(float), true},
                  {out.data(), out.size() * sizeof(float)}};
  LaunchOptions options;
  options.countsTraffic = true;
  LaunchResult result = launch(what, options);
  EXPECT_EQ(reports(result), "");
  return result.traffic;
}

void expectTransfers(const Transfers &transfers, uint64_t accesses,
                     uint64_t bytes, uint64_t sectors, uint64_t least) {
  EXPECT_EQ(transfers.accesses, accesses);
  EXPECT_EQ(transfers.bytes, bytes);
  EXPECT_EQ(transfers.sectors, sectors);
  EXPECT_EQ(transfers.least, least);
}

/// Starts at a multiple of 32 bytes.
struct alignas(32) Sector {
  float values[8];
};

// 64 neighbours of 4 bytes are 2 warps of 128 bytes, 4 sectors each.
TEST(TrafficTest, NeighboursShareSectors) {
  std::vector<Sector> memory(16);
  static float *in, *out;
  in = memory[0].values;
  out = memory[8].values;
  auto kernel = [](void **) {
    uint32_t i = echo_sim_block_id(0) * 32 + x();
    store(out + i, load(in + i));
  };
  Launch what;
  void *arguments[] = {nullptr};
  what.function = kernel;
  what.arguments = arguments;
  what.grid = {2};
  what.block = {32};
  what.buffers = {{in, 256, true}, {out, 256}};
  LaunchOptions options;
  EXPECT_EQ(launch(what, options).traffic.loads.accesses, 0u);
  options.countsTraffic = true;
  Traffic traffic = launch(what, options).traffic;
  expectTransfers(traffic.loads, 64, 256, 8, 256);
  expectTransfers(traffic.stores, 64, 256, 8, 256);
}

// 32 threads walk over rows of 16 elements: at each of 16 times they touch 32
// places that are 64 bytes apart, a sector each. All of them read element 0 of
// the input once more: one sector.
TEST(TrafficTest, RowsOfThreadsTouchManySectors) {
  auto kernel = [](void **arguments) {
    auto *in = argument<float *>(arguments, 0);
    auto *out = argument<float *>(arguments, 1);
    float sum = load(in);
    for (uint32_t i = 0; i < 16; ++i)
      sum += load(in + x() * 16 + i);
    if (x() < 2)
      store(out + x() * 100, sum);
  };
  std::vector<float> in(512), out(101);
  Traffic traffic = trafficOf(kernel, in, out, {1}, {32});
  expectTransfers(traffic.loads, 544, 2176, 513, 2048);
  expectTransfers(traffic.stores, 2, 8, 2, 8);
}

// What is read of an output isn't needed, what is written twice is counted
// once, and shared memory not at all.
TEST(TrafficTest, OutputsAreOnlyWritten) {
  static float slot;
  auto kernel = [](void **arguments) {
    auto *out = argument<float *>(arguments, 1);
    store(&slot, 1.0f);
    for (int i = 0; i < 3; ++i)
      store(out, load(out) + load(&slot));
  };
  float out = 0;
  float *pointers[] = {&out, &out};
  void *arguments[] = {&pointers[0], &pointers[1]};
  Launch what;
  what.function = kernel;
  what.arguments = arguments;
  what.buffers = {{&out, sizeof(out)}};
  what.shared = {{&slot, sizeof(slot)}};
  LaunchOptions options;
  options.countsTraffic = true;
  Traffic traffic = launch(what, options).traffic;
  expectTransfers(traffic.loads, 3, 12, 3, 0);
  expectTransfers(traffic.stores, 3, 12, 3, 4);
  // As an input it is.
  what.buffers.push_back({&out, sizeof(out), true});
  EXPECT_EQ(launch(what, options).traffic.loads.least, 4u);
}

} // namespace
