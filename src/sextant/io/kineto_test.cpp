// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/kineto.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

profile::Recording parse(std::string_view text) {
  return parse_kineto(std::make_unique<TextSource>(text), "t.json");
}
std::string problem_of(std::string_view text) {
  try {
    parse(text);
  } catch (const InputError& e) {
    return to_text(e.diagnostics().front());
  }
  return "";
}

constexpr std::string_view small = R"({
  "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
  "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 4}, "record_shapes": 1,
  "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 6, "ts": 100.250, "dur": 20.5,
   "args": {"External id": 7, "Input Dims": [[8, 16], [16, 4]], "Input type": ["c10::BFloat16", "c10::BFloat16"],
            "Input Strides": [[16, 1], [4, 1]], "Concrete Inputs": ["", ""], "Ev Idx": 1}},
  {"ph": "s", "id": 9, "pid": 5, "tid": 6, "ts": 100, "cat": "ac2g", "name": "ac2g", "args": {"x": [[[]]]}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 6, "ts": 105, "dur": 5,
   "args": {"External id": 7, "correlation": 9}},
  {"ph": "X", "cat": "kernel", "name": "gemm \"x\"", "pid": 0, "tid": 7, "ts": 130, "dur": 3.072,
   "args": {"External id": 7, "device": 2, "correlation": 9, "grid": [32, 1, 1], "block": [128, 1, 1]}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 140, "dur": 1,
   "args": {"device": 2, "correlation": 10, "bytes": 4096}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 5, "tid": 6, "ts": 90, "dur": 60},
  {"ph": "X", "cat": "python_function", "name": "forward", "pid": 5, "tid": 6, "ts": 90, "dur": 60},
  {"name": "process_name", "ph": "M", "ts": 0, "pid": 5, "tid": 0, "args": {"name": "python"}},
  {"ph": "X", "cat": "Trace", "ts": 0, "dur": 265, "pid": "Spans", "tid": "PyTorch Profiler", "name": "x"}
  ], "traceName": "t.json"})";

TEST(Kineto, KeepsWhatMatters) {
  const profile::Recording r = parse(small);
  ASSERT_EQ(r.operators.size(), 1U);
  EXPECT_EQ(r.operators[0].start, 100250);
  EXPECT_EQ(r.operators[0].end, 120750);
  EXPECT_EQ(r.texts[r.operators[0].shape],
            R"([[8,16],[16,4]]|["c10::BFloat16","c10::BFloat16"]||[[16,1],[4,1]])");
  ASSERT_EQ(r.calls.size(), 1U);
  EXPECT_EQ(r.calls[0].correlation, 9U);
  EXPECT_EQ(r.calls[0].thread, r.operators[0].thread);
  ASSERT_EQ(r.activities.size(), 2U);
  EXPECT_EQ(r.texts[r.activities[0].name], "gemm \"x\"");
  EXPECT_EQ(r.texts[r.activities[0].launch], "[32,1,1]|[128,1,1]|");
  EXPECT_EQ(r.activities[0].device, 2);
  EXPECT_EQ(r.activities[1].work, profile::Work::copy);
  EXPECT_EQ(r.texts[r.activities[1].launch], "||4096");
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_EQ(r.rank, 1);
  EXPECT_EQ(r.ranks, 4);
  ASSERT_EQ(r.devices.size(), 1U);
  EXPECT_EQ(r.devices[0], "NVIDIA H200");
}

// What the profiler wrote before PyTorch 1.12.
TEST(Kineto, ReadsOlderNames) {
  const profile::Recording r = parse(R"([
    {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 5, "tid": "6", "ts": 1, "dur": 2,
     "args": {"external id": 7, "Input dims": [[8, 16], [16, 4]]}},
    {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": "6", "ts": 1, "dur": 1,
     "args": {"correlation": 9}},
    {"ph": "X", "cat": "Kernel", "name": "gemm", "pid": 0, "tid": "stream 7", "ts": 5, "dur": 1,
     "args": {"device": 0, "external id": 7, "correlation": 9}}])");
  ASSERT_EQ(r.operators.size(), 1U);
  EXPECT_EQ(r.operators[0].external, 7U);
  EXPECT_EQ(r.operators[0].thread, r.calls.at(0).thread);
  EXPECT_NE(r.operators[0].shape, 0U);
  EXPECT_EQ(r.activities.size(), 1U);
}

/// gzip without packing (RFC 1951, 3.2.4; RFC 1952): one stored block.
std::string stored(std::string_view text) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc % 2 == 1 ? 0xEDB88320U : 0U);
  }
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11);
  const auto number = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xFF);
  };
  const auto size = static_cast<std::uint32_t>(text.size());
  number(size, 2);
  number(~size & 0xFFFF, 2);
  out += text;
  number(~crc, 4);
  number(size, 4);
  return out;
}

TEST(Kineto, UnpacksGzipAndTellsWhereItEnds) {
  const std::string packed = stored(small);
  EXPECT_EQ(parse(packed).activities.size(), 2U);
  // Files put together are one text.
  const std::size_t half = small.size() / 2;
  EXPECT_EQ(parse(stored(small.substr(0, half)) + stored(small.substr(half))).activities.size(),
            2U);
  EXPECT_NE(problem_of(packed.substr(0, packed.size() - 2)).find("gzip file ends in the middle"),
            std::string::npos);
  EXPECT_NE(problem_of(packed.substr(0, 200)).find("gzip file ends in the middle"),
            std::string::npos);
  std::string damaged = packed;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 0x55);
  EXPECT_NE(problem_of(damaged).find("gzip file is damaged"), std::string::npos);
}

TEST(Kineto, WhatIsNoTraceIsSaid) {
  const std::pair<const char*, const char*> table[] = {
      {"", "the file is empty"},
      {"hello", "this is no JSON"},
      {"{\"a\": 1}", "no traceEvents"},
      {"{\"traceEvents\": []}", "no work of a device"},
      {"[]", "no work of a device"},
      {"{\"traceEvents\": [1]}", "expected an event"},
      {"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": \"x\"}]}",
       "expected a number"},
      {"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": -1}]}",
       "not negative"},
      {"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1e300}]}", "not so large"},
      {"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", ", "ends in the middle"}};
  for (const auto& [text, message] : table) {
    EXPECT_NE(problem_of(text).find(message), std::string::npos) << text << "\n"
                                                                 << problem_of(text);
  }
}

}  // namespace
}  // namespace sextant
