//===- CInterface.cpp - Planning for users of C ---------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Echo/Planning/RematReport.h"
#include "Echo/Planning/echo_planning.h"
#include "Json.h"

#include <chrono>
#include <cstdlib>
#include <cstring>

using namespace mlir::echo::planning;

/// A copy that C can free.
static void hand(char **place, const std::string &text) {
  if (!place)
    return;
  *place = static_cast<char *>(std::malloc(text.size() + 1));
  if (*place)
    std::memcpy(*place, text.c_str(), text.size() + 1);
}

static void clear(char **place) {
  if (place)
    *place = nullptr;
}

static bool fail(std::string &error, std::string message) {
  error = std::move(message);
  return false;
}

static bool readDevice(const char *text, Device &device, std::string &error) {
  if (!text)
    return fail(error, "no device was given");
  if (const Device *found = findDevice(text)) {
    device = *found;
    return true;
  }
  CostModel model;
  if (text[std::strspn(text, " \t\r\n")] != '{')
    return fail(error, "device: expected " + builtinDeviceNames() +
                           ", or a device in JSON, found " + quote(text));
  if (!readCostModel(text, model, error))
    return fail(error, "device: " + error);
  device = model.device;
  return true;
}

static bool readProblem(const char *text, RematProblem &problem,
                        std::string &error) {
  if (!text)
    return fail(error, "no problem was given");
  return readRematProblem(text, problem, error) ||
         fail(error, "problem: " + error);
}

static const std::string &strategyNames() {
  static const std::string names = [] {
    std::string names;
    for (const RematStrategy &strategy : rematStrategies())
      (names += names.empty() ? "" : ", ") += strategy.name;
    return names;
  }();
  return names;
}

int echo_planning_version(void) { return ECHO_PLANNING_VERSION; }

const char *echo_planning_strategies(void) { return strategyNames().c_str(); }

const char *echo_planning_devices(void) {
  static const std::string names = builtinDeviceNames();
  return names.c_str();
}

int echo_planning_plan(const char *problemText, const char *strategy,
                       const char *deviceText, char **planText, char **report,
                       char **errorText) {
  clear(planText);
  clear(report);
  clear(errorText);
  RematProblem problem;
  RematPlan plan;
  Device device;
  std::string error;
  if (!readProblem(problemText, problem, error) ||
      !readDevice(deviceText, device, error)) {
    hand(errorText, error);
    return 0;
  }
  auto start = std::chrono::steady_clock::now();
  if (!planRemat(problem, strategy ? strategy : "", plan)) {
    hand(errorText, "strategy: expected " + strategyNames() + ", found " +
                        quote(strategy ? strategy : ""));
    return 0;
  }
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  hand(planText, writeRematPlan(problem, plan));
  if (report)
    hand(report, writeRematReport(reportRemat(problem, plan, strategy, device,
                                              seconds.count())));
  return 1;
}

int echo_planning_measure(const char *problemText, const char *planText,
                          const char *deviceText, char **report,
                          char **errorText) {
  clear(report);
  clear(errorText);
  RematProblem problem;
  RematPlan plan;
  Device device;
  std::string error;
  bool isGood = readProblem(problemText, problem, error) &&
                readDevice(deviceText, device, error);
  if (isGood && !planText)
    isGood = fail(error, "no plan was given");
  if (isGood && !readRematPlan(planText, problem, plan, error))
    isGood = fail(error, "plan: " + error);
  if (!isGood) {
    hand(errorText, error);
    return 0;
  }
  if (report)
    hand(report,
         writeRematReport(reportRemat(problem, plan, "plan", device, 0)));
  return 1;
}

void echo_planning_free(char *text) { std::free(text); }
