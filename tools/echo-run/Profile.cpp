//===- Profile.cpp - Where a step's time goes -----------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

using namespace echo;
using namespace echo::run;
using nlohmann::ordered_json;

namespace {

constexpr size_t kMostRows = 25;

const char *kindName(CallKind kind) {
  switch (kind) {
  case CallKind::Kernel:
    return "kernel";
  case CallKind::Gemm:
    return "gemm";
  case CallKind::Copy:
    return "copy";
  }
  return "unknown";
}

/// Sums over entries of one group.
struct Row {
  std::string title;
  uint64_t calls = 0; ///< of one step
  double seconds = 0; ///< of all steps
  double flops = 0, bytes = 0;
  double bound = 0; ///< seconds that the machine's rates allow

  void add(const ProfileEntry &entry, const std::optional<Rates> &rates) {
    double runs = static_cast<double>(entry.runs);
    ++calls;
    seconds += entry.seconds;
    flops += runs * static_cast<double>(entry.flops);
    bytes += runs * static_cast<double>(entry.bytes);
    if (rates)
      bound += runs * std::max(static_cast<double>(entry.bytes) /
                                   rates->memoryBytesPerSecond,
                               static_cast<double>(entry.flops) /
                                   rates->gemmFlopsPerSecond);
  }
};

using Title = std::function<std::string(const ProfileEntry &)>;

std::vector<Row> group(const Profile &profile, const Title &title) {
  std::map<std::string, Row> rows;
  for (const ProfileEntry &entry : profile.entries)
    rows[title(entry)].add(entry, profile.rates);
  std::vector<Row> sorted;
  for (auto &[name, row] : rows) {
    row.title = name;
    sorted.push_back(std::move(row));
  }
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const Row &a, const Row &b) { return a.seconds > b.seconds; });
  return sorted;
}

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

void printTable(const Profile &profile, const char *what, const Title &title,
                std::FILE *out) {
  std::vector<Row> rows = group(profile, title);
  std::fprintf(out, "\n%-52s %6s %10s %6s %8s %8s%s\n", what, "calls",
               "s/step", "share", "GB/s", "GFLOP/s",
               profile.rates ? "  bound" : "");
  for (size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const Row &row = rows[i];
    std::string name = row.title.empty() ? "(no name)" : row.title;
    if (name.size() > 52)
      name = name.substr(0, 49) + "...";
    std::fprintf(out, "%-52s %6llu %10.6f %5.1f%% %8.2f %8.2f",
                 name.c_str(), static_cast<unsigned long long>(row.calls),
                 ratio(row.seconds, static_cast<double>(profile.steps)),
                 100 * ratio(row.seconds, profile.seconds),
                 ratio(row.bytes, row.seconds) * 1e-9,
                 ratio(row.flops, row.seconds) * 1e-9);
    if (profile.rates)
      std::fprintf(out, " %5.0f%%", 100 * ratio(row.bound, row.seconds));
    std::fputc('\n', out);
  }
  if (rows.size() <= kMostRows)
    return;
  uint64_t calls = 0;
  double seconds = 0;
  for (size_t i = kMostRows; i < rows.size(); ++i) {
    calls += rows[i].calls;
    seconds += rows[i].seconds;
  }
  std::string others = std::to_string(rows.size() - kMostRows) + " others";
  std::fprintf(out, "%-52s %6llu %10.6f %5.1f%%\n", others.c_str(),
               static_cast<unsigned long long>(calls),
               ratio(seconds, static_cast<double>(profile.steps)),
               100 * ratio(seconds, profile.seconds));
}

} // namespace

std::string run::withoutTimeStep(const std::string &layer) {
  std::string result;
  size_t begin = 0;
  while (begin <= layer.size()) {
    size_t end = std::min(layer.find('/', begin), layer.size());
    std::string part = layer.substr(begin, end - begin);
    bool isTimeStep =
        part.size() > 1 && part[0] == 't' &&
        part.find_first_not_of("0123456789", 1) == std::string::npos;
    if (!isTimeStep)
      result += (begin == 0 || result.empty() ? "" : "/") + part;
    begin = end + 1;
  }
  return result;
}

void run::printProfile(const Profile &profile, std::FILE *out) {
  double inCalls = 0;
  for (const ProfileEntry &entry : profile.entries)
    inCalls += entry.seconds;
  std::fprintf(out,
               "\nprofile of %llu step%s: %.6f s a step, %.1f%% of it in "
               "calls\n",
               static_cast<unsigned long long>(profile.steps),
               profile.steps == 1 ? "" : "s",
               ratio(profile.seconds, static_cast<double>(profile.steps)),
               100 * ratio(inCalls, profile.seconds));
  if (profile.rates)
    std::fprintf(
        out,
        "machine, %d thread%s: memory %.2f GB/s, cache %.2f GB/s, GEMM %.2f "
        "GFLOP/s\n"
        "bound: the time that memory and GEMM rate allow, as a share of the "
        "time taken;\nabove 100%% data came from a cache\n",
        profile.threads, profile.threads == 1 ? "" : "s",
        profile.rates->memoryBytesPerSecond * 1e-9,
        profile.rates->cacheBytesPerSecond * 1e-9,
        profile.rates->gemmFlopsPerSecond * 1e-9);
  else
    std::fprintf(out, "device: %s\n", profile.device.c_str());
  printTable(
      profile, "kind",
      [](const ProfileEntry &entry) { return kindName(entry.kind); }, out);
  printTable(
      profile, "kernel or library call",
      [](const ProfileEntry &entry) {
        return entry.name == entry.op || entry.kind != CallKind::Kernel
                   ? entry.name
                   : entry.name + " " + entry.op;
      },
      out);
  printTable(
      profile, "layer, all time steps",
      [](const ProfileEntry &entry) { return withoutTimeStep(entry.layer); },
      out);
}

ordered_json run::profileReport(const Profile &profile) {
  using Key = std::tuple<CallKind, std::string, std::string, std::string>;
  struct Sum {
    const ProfileEntry *first = nullptr;
    uint64_t calls = 0;
    double seconds = 0;
  };
  std::map<Key, Sum> sums;
  for (const ProfileEntry &entry : profile.entries) {
    Sum &sum = sums[{entry.kind, entry.name, entry.op, entry.layer}];
    if (!sum.first)
      sum.first = &entry;
    sum.calls += entry.runs;
    sum.seconds += entry.seconds;
  }
  std::vector<Sum> sorted;
  for (const auto &[key, sum] : sums)
    sorted.push_back(sum);
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const Sum &a, const Sum &b) { return a.seconds > b.seconds; });
  ordered_json report = ordered_json::array();
  for (const Sum &sum : sorted)
    report.push_back({{"kind", kindName(sum.first->kind)},
                      {"name", sum.first->name},
                      {"op", sum.first->op},
                      {"layer", sum.first->layer},
                      {"calls", sum.calls},
                      {"seconds", sum.seconds},
                      {"flops", sum.first->flops},
                      {"bytes", sum.first->bytes}});
  return report;
}

ordered_json run::ratesReport(const Rates &rates) {
  return {{"memory_bytes_per_second", rates.memoryBytesPerSecond},
          {"cache_bytes_per_second", rates.cacheBytesPerSecond},
          {"gemm_flops_per_second", rates.gemmFlopsPerSecond}};
}

ordered_json run::chromeTrace(const Profile &profile) {
  ordered_json events = ordered_json::array();
  for (const ProfileEntry &entry : profile.entries)
    events.push_back({{"name", entry.name},
                      {"cat", kindName(entry.kind)},
                      {"ph", "X"},
                      {"ts", entry.lastBegin * 1e6},
                      {"dur", entry.lastSeconds * 1e6},
                      {"pid", 0},
                      {"tid", 0},
                      {"args",
                       {{"op", entry.op},
                        {"layer", entry.layer},
                        {"flops", entry.flops},
                        {"bytes", entry.bytes}}}});
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}
