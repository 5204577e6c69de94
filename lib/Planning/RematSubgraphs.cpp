//===- RematSubgraphs.cpp - Between compute-heavy ops
//----------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RematIndex.h"
#include <algorithm>
#include <numeric>

using namespace mlir::echo::planning;

using Subgraphs = std::vector<std::vector<uint32_t>>;

Subgraphs mlir::echo::planning::growFromSeeds(const RematIndex &index) {
  const RematProblem &problem = index.problem;
  size_t numOps = problem.ops.size();
  Subgraphs subgraphs;
  std::vector<bool> isReached(numOps, false);
  auto producersOf = [&](uint32_t op, auto visit) {
    for (uint32_t root : index.inputs(op))
      if (uint32_t producer = index.earlyProducer(root); producer != kNoIndex)
        visit(producer);
  };
  // The output nodes of the forward graph: ops that no other reads.
  std::vector<uint32_t> seeds;
  for (uint32_t op = 0; op < numOps; ++op) {
    if (index.isLate(op) || index.isView[op])
      continue;
    bool isRead = false;
    for (uint32_t value : index.results(op))
      isRead |= !index.earlyReaders(value).empty();
    if (!isRead)
      seeds.push_back(op);
  }
  std::reverse(seeds.begin(), seeds.end());
  while (!seeds.empty()) {
    uint32_t seed = seeds.back();
    seeds.pop_back();
    if (isReached[seed])
      continue;
    isReached[seed] = true;
    std::vector<uint32_t> subgraph, worklist;
    if (index.isCandidate(seed))
      subgraph.push_back(seed);
    auto expand = [&](uint32_t op) {
      producersOf(op, [&](uint32_t producer) {
        if (isReached[producer])
          return;
        if (!index.isCandidate(producer)) {
          seeds.push_back(producer);
          return;
        }
        isReached[producer] = true;
        subgraph.push_back(producer);
        worklist.push_back(producer);
      });
    };
    expand(seed);
    while (!worklist.empty()) {
      uint32_t op = worklist.back();
      worklist.pop_back();
      expand(op);
    }
    std::sort(subgraph.begin(), subgraph.end());
    if (!subgraph.empty())
      subgraphs.push_back(std::move(subgraph));
  }
  return subgraphs;
}

Subgraphs mlir::echo::planning::connectCandidates(const RematIndex &index) {
  const RematProblem &problem = index.problem;
  std::vector<uint32_t> parent(problem.ops.size());
  std::iota(parent.begin(), parent.end(), 0u);
  auto find = [&](uint32_t op) {
    while (parent[op] != op)
      op = parent[op] = parent[parent[op]];
    return op;
  };
  for (uint32_t value = 0; value < problem.values.size(); ++value) {
    uint32_t first = index.earlyProducer(value);
    if (first != kNoIndex && !index.isCandidate(first))
      first = kNoIndex;
    for (uint32_t reader : index.earlyReaders(value)) {
      if (!index.isCandidate(reader))
        continue;
      if (first == kNoIndex)
        first = reader;
      // The smallest op names the set.
      uint32_t a = find(first), b = find(reader);
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  Subgraphs subgraphs;
  std::vector<uint32_t> place(problem.ops.size(), kNoIndex);
  for (uint32_t op = 0; op < problem.ops.size(); ++op) {
    if (!index.isCandidate(op))
      continue;
    uint32_t name = find(op);
    if (place[name] == kNoIndex) {
      place[name] = subgraphs.size();
      subgraphs.emplace_back();
    }
    subgraphs[place[name]].push_back(op);
  }
  return subgraphs;
}

Subgraphs mlir::echo::planning::partitionForRemat(const RematProblem &problem) {
  return connectCandidates(RematIndex(problem));
}
