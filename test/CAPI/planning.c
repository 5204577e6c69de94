// A C program plans a step; it links the planning library and no MLIR.
/* RUN: %cc -std=c11 -Wall -Wextra -Werror -I%echo_src/include %s -o %t \
   RUN:   %echo_lib/libEchoPlanning.a -lstdc++ -lm
   RUN: %t | FileCheck %s
   RUN: ldd %t | not grep -i -e mlir -e llvm
 */

#include "Echo/Planning/echo_planning.h"
#include <stdio.h>
#include <string.h>

// Two branches tanh(keys + query), each summed up: keys (400 bytes) and the
// queries (4 each) are results of products of a parameter, the sums of a branch
// and tanh's results take 400 each. Stashed without a plan are both of the
// latter, 800 bytes; the clones read keys and the queries, 408.
static const char *const problem =
    "{\"values\": [{\"bytes\": 8, \"resident\": true},"
    "  {\"bytes\": 400}, {\"bytes\": 4}, {\"bytes\": 4},"
    "  {\"bytes\": 400}, {\"bytes\": 400}, {\"bytes\": 4},"
    "  {\"bytes\": 400}, {\"bytes\": 400}, {\"bytes\": 4},"
    "  {\"bytes\": 4}, {\"bytes\": 4}, {\"bytes\": 4}],"
    " \"ops\": ["
    "  {\"inputs\": [0], \"results\": [1], \"seconds\": 1e-3, \"heavy\": true},"
    "  {\"inputs\": [0], \"results\": [2], \"seconds\": 1e-3, \"heavy\": true},"
    "  {\"inputs\": [0], \"results\": [3], \"seconds\": 1e-3, \"heavy\": true},"
    "  {\"inputs\": [1, 2], \"results\": [4], \"seconds\": 1e-6},"
    "  {\"inputs\": [4], \"results\": [5], \"seconds\": 1e-6, \"in_place\": true},"
    "  {\"inputs\": [5], \"results\": [6], \"seconds\": 1e-6},"
    "  {\"inputs\": [1, 3], \"results\": [7], \"seconds\": 1e-6},"
    "  {\"inputs\": [7], \"results\": [8], \"seconds\": 1e-6, \"in_place\": true},"
    "  {\"inputs\": [8], \"results\": [9], \"seconds\": 1e-6},"
    "  {\"inputs\": [6, 9], \"results\": [10], \"seconds\": 1e-6},"
    "  {\"inputs\": [0, 8], \"results\": [11], \"seconds\": 1e-6},"
    "  {\"inputs\": [0, 5], \"results\": [12], \"seconds\": 1e-6}],"
    " \"loss\": 10, \"targets\": [11, 12], \"outputs\": [10, 11, 12]}";

static void expectError(int result, char *error) {
  printf("%d %s\n", result, error);
  echo_planning_free(error);
}

int main(void) {
  int ok;
  char *plan, *report, *measured, *error;
  // CHECK: same version: 1
  printf("same version: %d\n", echo_planning_version() == ECHO_PLANNING_VERSION);
  // CHECK: none, mirror, echo-paper, echo
  printf("%s\n", echo_planning_strategies());
  // CHECK: rtx2080ti,
  printf("%s\n", echo_planning_devices());

  // CHECK: planned: 1
  printf("planned: %d\n", echo_planning_plan(problem, "echo", "rtx2080ti", &plan,
                                             &report, &error));
  // CHECK: error: 0
  printf("error: %d\n", error != NULL);
  // CHECK: "clones": [
  // CHECK-NEXT: {"op": 6, "before": 10, "inputs": [null, null]},
  // CHECK-NEXT: {"op": 7, "before": 10, "inputs": [0]},
  // CHECK-NEXT: {"op": 3, "before": 11, "inputs": [null, null]},
  // CHECK-NEXT: {"op": 4, "before": 11, "inputs": [2]}
  printf("%s", plan);
  // CHECK: "strategy": "echo"
  // CHECK: "persistent": 8
  // CHECK: "feature_maps": 408
  // CHECK: "recomputed": 4
  // CHECK: "applied": true
  printf("%s", report);

  // CHECK: measured: 1
  printf("measured: %d\n",
         echo_planning_measure(problem, plan, "rtx2080ti", &measured, &error));
  // CHECK: "feature_maps": 408
  printf("%s", measured);
  echo_planning_free(measured);

  // CHECK: 0 problem: 'values' is missing
  ok = echo_planning_plan("{}", "echo", "cpu", NULL, NULL, &error);
  expectError(ok, error);
  // CHECK: 0 strategy: expected none, mirror, echo-paper, echo, found 'best'
  ok = echo_planning_plan(problem, "best", "cpu", NULL, NULL, &error);
  expectError(ok, error);
  // CHECK: 0 device: expected rtx2080ti, {{.*}}, or a device in JSON, found 'abacus'
  ok = echo_planning_plan(problem, "echo", "abacus", NULL, NULL, &error);
  expectError(ok, error);
  // CHECK: 0 device: 'name' is missing
  ok = echo_planning_plan(problem, "echo", " {}", NULL, NULL, &error);
  expectError(ok, error);
  // CHECK: 0 plan: 'problem' is missing
  ok = echo_planning_measure(problem, "{}", "cpu", NULL, &error);
  expectError(ok, error);
  // CHECK: 0 no problem was given
  ok = echo_planning_plan(NULL, NULL, NULL, NULL, NULL, &error);
  expectError(ok, error);
  // CHECK: 0 nothing asked for
  printf("%d nothing asked for\n",
         echo_planning_plan("{}", "echo", "cpu", NULL, NULL, NULL));
  echo_planning_free(plan);
  echo_planning_free(report);
  echo_planning_free(NULL);
  return 0;
}
