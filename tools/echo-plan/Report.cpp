//===- Report.cpp - Reports of plans --------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "Echo/Analysis/Layers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::echo;
using namespace mlir::echo::plan;
using nlohmann::ordered_json;

/// Tensors that are listed at the peak.
static constexpr size_t kLargestTensors = 10;

static constexpr std::array<MemoryStructure, kNumMemoryStructures> kStructures =
    {MemoryStructure::Weights,     MemoryStructure::OptimizerState,
     MemoryStructure::FeatureMaps, MemoryStructure::Gradients,
     MemoryStructure::Inputs,      MemoryStructure::Workspace,
     MemoryStructure::Other};

/// What the arena has beyond the peak: alignment, and gaps of the placement.
static uint64_t gapBytes(const StepPlan &plan) {
  return plan.arenaBytes - plan.memory.logicalPeakBytes;
}

std::vector<LayerMemory> plan::groupByLayer(const StepMemory &memory,
                                            unsigned depth) {
  llvm::MapVector<StringRef, LayerMemory> layers;
  llvm::StringMap<std::string> groups;
  auto layerOf = [&](const std::string &name) -> LayerMemory & {
    auto [entry, isNew] = groups.try_emplace(name);
    if (isNew)
      entry->second = layerGroup(name, depth);
    LayerMemory &layer = layers[entry->second];
    layer.name = entry->second;
    return layer;
  };
  for (const TensorLifetime &tensor : memory.persistent)
    layerOf(tensor.layer).bytes[tensor.structure] += tensor.bytes;
  for (const TensorLifetime &tensor : memory.arena) {
    LayerMemory &layer = layerOf(tensor.layer);
    if (memory.isAliveAtPeak(tensor))
      layer.bytes[tensor.structure] += tensor.bytes;
    if (tensor.structure == MemoryStructure::FeatureMaps)
      layer.featureMaps += tensor.bytes;
  }
  std::vector<LayerMemory> sorted;
  for (auto &[name, layer] : layers)
    if (layer.bytes.sum() != 0 || layer.featureMaps != 0)
      sorted.push_back(std::move(layer));
  llvm::stable_sort(sorted, [](const LayerMemory &a, const LayerMemory &b) {
    return a.bytes.sum() > b.bytes.sum();
  });
  return sorted;
}

/// "1234 B", "12.1 KiB", "3.41 MiB", "10.00 GiB"
static std::string showBytes(uint64_t bytes) {
  if (bytes < 10240)
    return std::to_string(bytes) + " B";
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024; value /= 1024)
    ++unit;
  return llvm::formatv("{0:f2} {1}", value, units[unit]);
}

static std::string showSeconds(double seconds) {
  if (seconds < 1e-3)
    return llvm::formatv("{0:f2} us", seconds * 1e6);
  if (seconds < 1)
    return llvm::formatv("{0:f2} ms", seconds * 1e3);
  return llvm::formatv("{0:f3} s", seconds);
}

/// "128x50xf32"
static std::string showShape(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto shaped = cast<ShapedType>(type);
  for (int64_t dim : shaped.getShape())
    stream << dim << "x";
  stream << shaped.getElementType();
  return text;
}

namespace {

/// Columns of text: the first to the left, the others to the right.
class Table {
public:
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  void print(llvm::raw_ostream &os) const {
    std::vector<size_t> widths;
    for (const auto &row : rows) {
      widths.resize(std::max(widths.size(), row.size()));
      for (auto [width, cell] : llvm::zip(widths, row))
        width = std::max(width, cell.size());
    }
    for (const auto &row : rows) {
      std::string line = "  ";
      for (size_t i = 0; i < row.size(); ++i) {
        std::string padding(widths[i] - row[i].size(), ' ');
        line += i == 0 ? row[i] + padding : "  " + padding + row[i];
      }
      os << StringRef(line).rtrim() << "\n";
    }
  }

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace

static void printTotals(const StepPlan &plan, llvm::raw_ostream &os) {
  const StepMemory &memory = plan.memory;
  os << "memory\n";
  Table table;
  table.add({"persistent", showBytes(memory.persistentBytes)});
  table.add({"arena", showBytes(plan.arenaBytes)});
  table.add({"total", showBytes(plan.totalBytes)});
  table.add({"logical peak", showBytes(memory.logicalPeakBytes)});
  table.add({"feature maps", showBytes(memory.featureMapBytes)});
  table.print(os);
}

static void printStructures(const StepPlan &plan, llvm::raw_ostream &os) {
  os << "\nby structure\n";
  Table table;
  table.add({"", "at the peak", "at most"});
  for (MemoryStructure structure : kStructures)
    table.add({nameOf(structure).str(),
               showBytes(plan.memory.atPeak[structure]),
               showBytes(plan.memory.largest[structure])});
  table.add({"gaps", showBytes(gapBytes(plan)), showBytes(gapBytes(plan))});
  table.print(os);
}

static void printLayers(const StepPlan &plan, unsigned depth,
                        llvm::raw_ostream &os) {
  os << "\nby layer, at the peak\n";
  Table table;
  table.add(
      {"", "all", "feature maps", "gradients", "weights", "optimizer", "rest"});
  for (const LayerMemory &layer : groupByLayer(plan.memory, depth)) {
    const StructureBytes &bytes = layer.bytes;
    uint64_t featureMaps = bytes[MemoryStructure::FeatureMaps];
    uint64_t gradients = bytes[MemoryStructure::Gradients];
    uint64_t weights = bytes[MemoryStructure::Weights];
    uint64_t optimizer = bytes[MemoryStructure::OptimizerState];
    table.add({layer.name.empty() ? "(none)" : layer.name,
               showBytes(bytes.sum()), showBytes(featureMaps),
               showBytes(gradients), showBytes(weights), showBytes(optimizer),
               showBytes(bytes.sum() - featureMaps - gradients - weights -
                         optimizer)});
  }
  table.print(os);
}

static void printPeak(const StepPlan &plan, llvm::raw_ostream &os) {
  if (!plan.peak)
    return;
  os << "\npeak: call " << plan.peak->index << " of " << plan.time.calls << ", "
     << nameOf(plan.peak->part) << ", " << plan.peak->work << " at "
     << plan.peak->layer << "\n";
  SmallVector<const TensorLifetime *> alive;
  for (const TensorLifetime &tensor : plan.memory.arena)
    if (plan.memory.isAliveAtPeak(tensor))
      alive.push_back(&tensor);
  llvm::stable_sort(alive,
                    [](const TensorLifetime *a, const TensorLifetime *b) {
                      return a->bytes > b->bytes;
                    });
  if (alive.size() > kLargestTensors)
    alive.resize(kLargestTensors);
  os << "largest tensors alive there\n";
  Table table;
  for (const TensorLifetime *tensor : alive) {
    Location location =
        tensor->producer ? tensor->producer->getLoc() : tensor->buffer.getLoc();
    table.add({nameOf(tensor->structure).str(), showBytes(tensor->bytes),
               showShape(tensor->type), describeLocation(location)});
  }
  table.print(os);
}

static double overhead(const StepPlan &plan, const StepPlan &baseline) {
  return baseline.time.total > 0 ? plan.time.total / baseline.time.total - 1
                                 : 0;
}

static void printTime(const StepPlan &plan, const StepPlan &baseline,
                      const planning::CostModel &model, llvm::raw_ostream &os) {
  const StepTime &time = plan.time;
  os << "\ntime of a step, modelled for " << model.device.name << ": "
     << showSeconds(time.total) << " (kernels " << showSeconds(time.kernels)
     << ", library calls " << showSeconds(time.libraryCalls) << ", "
     << time.calls << " calls";
  if (!model.measured.empty())
    os << ", " << time.measuredCalls << " of them measured";
  os << ")\n";
  if (&plan != &baseline)
    os << "overhead: " << llvm::format("%.2f%%", 100 * overhead(plan, baseline))
       << "\n";
}

void plan::printTables(const StepPlan &plan, const StepPlan &baseline,
                       const planning::CostModel &model, unsigned depth,
                       llvm::raw_ostream &os) {
  os << "@" << plan.function << ", strategy " << plan.strategy << ": "
     << plan.forwardOps << " forward ops, " << plan.backwardOps << " backward, "
     << plan.sideOps << " side, " << plan.recomputedOps << " recomputed\n\n";
  printTotals(plan, os);
  printStructures(plan, os);
  printLayers(plan, depth, os);
  printPeak(plan, os);
  printTime(plan, baseline, model, os);
}

static ordered_json structuresJson(const StructureBytes &bytes) {
  ordered_json json;
  for (MemoryStructure structure : kStructures)
    json[nameOf(structure).str()] = bytes[structure];
  return json;
}

std::string plan::makeJson(const StepPlan &plan, const StepPlan &baseline,
                           unsigned depth) {
  ordered_json json;
  json["strategy"] = plan.strategy.str();
  json["bytes"] = {{"persistent", plan.memory.persistentBytes},
                   {"feature_maps", plan.memory.featureMapBytes},
                   {"logical_peak", plan.memory.logicalPeakBytes},
                   {"arena", plan.arenaBytes},
                   {"total", plan.totalBytes}};
  ordered_json &structures = json["by_structure"];
  structures = structuresJson(plan.memory.atPeak);
  structures["gaps"] = gapBytes(plan);
  ordered_json &layers = json["by_layer"] = ordered_json::array();
  for (const LayerMemory &layer : groupByLayer(plan.memory, depth))
    layers.push_back({{"layer", layer.name},
                      {"bytes", layer.bytes.sum()},
                      {"feature_maps", layer.featureMaps},
                      {"by_structure", structuresJson(layer.bytes)}});
  json["ops"] = {{"forward", plan.forwardOps},
                 {"backward", plan.backwardOps},
                 {"side", plan.sideOps},
                 {"recomputed", plan.recomputedOps}};
  json["time"] = {{"modelled", plan.time.total},
                  {"baseline", baseline.time.total}};
  json["overhead"] = {{"modelled", overhead(plan, baseline)}};
  json["seconds"] = {{"read", plan.seconds.read},
                     {"training_step", plan.seconds.trainingStep},
                     {"remat", plan.seconds.remat},
                     {"schedule", plan.seconds.schedule},
                     {"kernels", plan.seconds.kernels},
                     {"placement", plan.seconds.placement},
                     {"analysis", plan.seconds.analysis}};
  // Names may be any bytes.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}
