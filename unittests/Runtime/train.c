/*===- train.c - The C ABI from C -----------------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===*/

#include "echo_runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void check(echo_status status) {
  if (status == ECHO_OK)
    return;
  fprintf(stderr, "error %d: %s\n", (int)status, echo_last_error());
  exit(1);
}

int main(int argc, char **argv) {
  echo_session_options options = {.struct_size = sizeof(options),
                                  .threads = 2};
  echo_session *session = NULL;
  echo_statistics statistics;
  float first = 0, loss = 0;
  int32_t i, persistent = 0;
  if (argc != 2)
    return 2;
  check(echo_session_open(argv[1], &options, &session));
  check(echo_session_initialize(session, 1));
  for (i = 0; i < echo_session_num_tensors(session); ++i) {
    echo_tensor_info info;
    check(echo_session_tensor_info(session, i, &info));
    persistent +=
        info.role == ECHO_ROLE_PARAMETER || info.role == ECHO_ROLE_STATE;
  }
  for (i = 0; i < 3; ++i) {
    check(echo_session_step(session));
    check(echo_session_get(session, "loss", &loss, sizeof(loss)));
    if (i == 0)
      first = loss;
  }
  statistics.struct_size = sizeof(statistics);
  check(echo_session_statistics(session, &statistics));
  if (!(loss < first) || persistent != 3 || statistics.steps != 3 ||
      echo_session_step(NULL) != ECHO_INVALID_ARGUMENT)
    return 3;
  printf("trained %" PRIu64 " steps of %" PRId32 " tensors\n", statistics.steps,
         echo_session_num_tensors(session));
  echo_session_close(session);
  return 0;
}
