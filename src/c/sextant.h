/* SPDX-License-Identifier: Apache-2.0
 *
 * Step times of a serving engine, for other people's simulators: prepare an engine once, then ask
 * what a step costs, from any thread, without allocation, in well under a microsecond. Numbers are
 * those of `sextant traffic` and `sextant infer`.
 *
 * Everything is in SI base units. Functions with an `int` result return 0, or SEXTANT_... for what
 * is wrong.
 */
#ifndef SEXTANT_H
#define SEXTANT_H

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): this is C, too */

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SEXTANT_API __attribute__((visibility("default")))
#else
#define SEXTANT_API
#endif

/* Rises with every change that breaks callers; the shared library's soname has it too. */
#define SEXTANT_ABI 1
SEXTANT_API int sextant_abi(void);
SEXTANT_API const char* sextant_version(void);

enum {
  SEXTANT_OK = 0,
  SEXTANT_BAD_ARGUMENT = 1, /* a null pointer, a negative or infinite number */
  SEXTANT_BEYOND_LIMITS = 2 /* more than the engine takes: see sextant_limits_of */
};

/* An engine: a model on so many devices under a runtime. */
typedef struct sextant_engine sextant_engine;

/* From a JSON object whose fields are the flags of `sextant traffic` with '_' for '-', such as
 *
 *   {"model": "llama3.1-70b", "system": "dgx-h100", "tp": 4, "max_requests": 256}
 *
 * "input" and "output" are the usual lengths, where tables are exact. A model, system or runtime
 * may be a name or the path of a file. Returns a null pointer where something is wrong, and writes
 * all problems into `error`, ended by a zero. Takes tenths of a second: tables are filled here. */
SEXTANT_API sextant_engine* sextant_prepare(const char* request, size_t request_size, char* error,
                                            size_t error_size);
SEXTANT_API void sextant_release(sextant_engine* engine);

/* What it takes at a time, on one rank of attention. */
typedef struct {
  double devices;
  double cache_tokens;
  double longest;      /* tokens of one request */
  double token_budget; /* tokens of a step */
  double max_requests;
  double block; /* tokens of a cache block */
} sextant_limits;
SEXTANT_API int sextant_limits_of(const sextant_engine* engine, sextant_limits* limits);

/* Of cache_tokens, what a request takes beside its own tokens, however short it is: the states of a
 * model with recurrences, in whole blocks. Zero for most models. */
SEXTANT_API int sextant_state_tokens_of(const sextant_engine* engine, double* tokens);

/* What one rank of attention has in a step. */
typedef struct {
  double decoding;      /* requests that get their next token */
  double contexts;      /* tokens that they look at, summed */
  double prompt_tokens; /* of all prompts in the step */
  double reach; /* tokens that those look at, summed: n * n / 2 for a prompt of n from its start */
  double prompts; /* how many prompts they belong to */
} sextant_step;

typedef struct {
  double seconds;
  double low, high; /* nine times in ten between these, as `sextant traffic` states it */
  double joules;    /* of one device */
} sextant_cost;

SEXTANT_API int sextant_step_cost(const sextant_engine* engine, const sextant_step* step,
                                  sextant_cost* cost);

#ifdef __cplusplus
}
#endif

#endif
