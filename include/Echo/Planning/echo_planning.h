/*===- echo_planning.h - Planning for users of C ------------------*- C -*-===*\
|*                                                                            *|
|* Part of Echo, under the Apache License v2.0 with LLVM Exceptions.          *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Plans what a training step keeps and what it computes again, for hosts of  *|
|* any kind: problems, plans and reports are JSON (docs/remat.md). A program  *|
|* links libEchoPlanning.a and the C++ standard library; it needs neither     *|
|* LLVM nor MLIR.                                                             *|
|*                                                                            *|
|* All text is UTF-8 that ends in a zero byte. The functions have no state    *|
|* and may be called from any thread. Texts that they return through pointers *|
|* belong to the caller, who hands them to echo_planning_free; pointers to    *|
|* results that aren't wanted may be null.                                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ECHO_PLANNING_ECHO_PLANNING_H
#define ECHO_PLANNING_ECHO_PLANNING_H

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a function changes or the JSON that it reads does. */
#define ECHO_PLANNING_VERSION 1

/* The version that the library was built with. */
int echo_planning_version(void);

/* "none, mirror, ..." and "rtx2080ti, v100, ...". They belong to the library. */
const char *echo_planning_strategies(void);
const char *echo_planning_devices(void);

/* Plans `problem` with a strategy. `device`, whose times the report has, is the
 * name of a built-in device or the description of one in JSON
 * (docs/devices.md). Returns 1, with the plan and the report, or 0, with what
 * is wrong and where, a line; the others are set to null. */
int echo_planning_plan(const char *problem, const char *strategy,
                       const char *device, char **plan, char **report,
                       char **error);

/* Checks that `plan` can run and is one for `problem`, and reports what it
 * needs. Returns as echo_planning_plan does. */
int echo_planning_measure(const char *problem, const char *plan,
                          const char *device, char **report, char **error);

/* Frees a text; null is fine. */
void echo_planning_free(char *text);

#ifdef __cplusplus
}
#endif

#endif /* ECHO_PLANNING_ECHO_PLANNING_H */
