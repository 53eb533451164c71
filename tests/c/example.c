/* SPDX-License-Identifier: Apache-2.0
 * A loop of one's own over an engine's steps: 32 requests of 1,000 tokens in and 200 out, one after the other's prompt, in C. */
#include <sextant.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const char* request = "{\"model\": \"llama3.1-8b\", \"system\": \"dgx-h100\", \"max_requests\": 64}";
  char error[4096];
  sextant_engine* engine = sextant_prepare(request, strlen(request), error, sizeof error);
  if (engine == NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  double seconds = 0;
  double contexts = 0;
  int step;
  for (step = 0; step < 231; ++step) {
    const int decoding = step < 32 ? step : 32 - (step > 200 ? step - 200 : 0);
    const sextant_step now = {.decoding = decoding,
                              .contexts = contexts,
                              .prompt_tokens = step < 32 ? 1000 : 0,
                              .reach = step < 32 ? 1000.0 * 1000 / 2 : 0,
                              .prompts = step < 32};
    sextant_cost cost;
    if (sextant_step_cost(engine, &now, &cost) != SEXTANT_OK) return 2;
    seconds += cost.seconds;
    contexts += decoding + (step < 32 ? 1000 : 0);
    if (step >= 200) contexts -= 1200;
  }
  printf("%.0f tokens a second\n", 32 * 200 / seconds);
  sextant_release(engine);
  return 0;
}
