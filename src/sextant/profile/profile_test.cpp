// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/cost/power.hpp"
#include "sextant/io/kineto.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/profile/analyse.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::profile {
namespace {

using ::testing::HasSubstr;

/// A trace written event by event; times in microseconds.
struct Trace {
  std::string events;

  void add(std::string_view event) {
    events += fmt::format("{}{}", events.empty() ? "" : ",\n", event);
  }
  void op(double start, double length, std::string_view name, std::string_view dims,
          std::string_view more = "") {
    add(fmt::format(
        R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":{:.3f},"dur":{:.3f},"args":{{"Input Dims":{},"Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16"]{}}}}})",
        name, start, length, dims.empty() ? "[]" : dims, more));
  }
  void call(double start, double length, std::string_view name, int correlation) {
    add(fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"{}","pid":1,"tid":1,"ts":{:.3f},"dur":{:.3f},"args":{{"correlation":{}}}}})",
        name, start, length, correlation));
  }
  void kernel(double start, double length, std::string_view name, int correlation, int device = 0,
              int grid = 64) {
    add(fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"{}","pid":{},"tid":7,"ts":{:.3f},"dur":{:.3f},"args":{{"device":{},"correlation":{},"grid":[{},1,1],"block":[128,1,1]}}}})",
        name, device, start, length, device, correlation, grid));
  }
  /// An operator that launches one kernel.
  void run(double host, double start, double length, std::string_view name, std::string_view dims,
           std::string_view kernel_name, int number) {
    op(host, 8, name, dims);
    call(host + 1, 4, "cudaLaunchKernel", number);
    kernel(start, length, kernel_name, number);
  }
  Recording recording() const {
    const std::string text = "{\"traceEvents\": [" + events + "]}";
    return parse_kineto(std::make_unique<TextSource>(text), "t");
  }
};

Question question() {
  const Device device = load_device("h200-sxm");
  Question q{.attainable = {.chip = lower(device),
                            .libraries = {load_kernels("pytorch"), load_kernels("cudnn")}}};
  q.attainable.grouped = load_kernels("pytorch-grouped").experts;
  return q;
}
Profile profile_of(const Trace& trace, int device = -1) {
  Recording r = trace.recording();
  Question q = question();
  q.device = device;
  return analyse(r, q);
}
const OperatorGroup* find(const Profile& p, std::string_view name) {
  for (const OperatorGroup& g : p.groups) {
    if (g.name == name) return &g;
  }
  return nullptr;
}

TEST(Profile, KernelsFindTheirOperators) {
  Trace t;
  t.op(0, 100, "aten::linear", "[[4096,4096],[4096,4096]]");
  t.op(5, 50, "aten::mm", "[[4096,4096],[4096,4096]]");
  t.call(10, 5, "cuLaunchKernelEx", 1);
  t.call(20, 5, "cudaMemsetAsync", 2);
  t.kernel(100, 180, "nvjet", 1);
  t.kernel(280, 2, "Memset (Device)", 2);
  // The innermost operator recorded no sizes: the one around it did.
  t.op(200, 40, "aten::gelu", "[[64,64]]");
  t.op(210, 20, "aten::inner", "[[],[]]");
  t.call(215, 2, "cudaLaunchKernel", 3);
  t.kernel(300, 5, "gelu_kernel", 3);
  // No call at all: the profiler's own number tells.
  t.op(300, 10, "aten::silu", "[[64,64]]", R"(,"External id":77)");
  t.add(
      R"({"ph":"X","cat":"kernel","name":"silu_kernel","pid":0,"tid":7,"ts":306,"dur":5,"args":{"device":0,"External id":77}})");
  t.kernel(320, 5, "lost_kernel", 99);
  const Profile p = profile_of(t);
  const OperatorGroup* mm = find(p, "aten::mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(mm->calls, 1);
  EXPECT_EQ(mm->kernels, 2);
  EXPECT_NEAR(mm->measured.value, 182e-6, 1e-12);
  EXPECT_EQ(mm->shape, "4096x4096, 4096x4096 bf16");
  ASSERT_NE(find(p, "aten::gelu"), nullptr);
  ASSERT_NE(find(p, "aten::silu"), nullptr);
  ASSERT_NE(find(p, "lost_kernel"), nullptr);
  EXPECT_EQ(find(p, "lost_kernel")->found, Found::nowhere);
  EXPECT_NEAR(p.attributed.value, (182 + 5 + 5) * 1e-6, 1e-12);
  EXPECT_NEAR(p.device_time.value, (182 + 5 + 5 + 5) * 1e-6, 1e-12);
}

TEST(Profile, NumbersUsedTwiceAreToldApartByTime) {
  Trace t;
  t.run(0, 20, 10, "aten::mul", "[[64,64],[64,64]]", "k", 5);
  t.run(1000, 1020, 10, "aten::add", "[[64,64],[64,64]]", "k", 5);
  const Profile p = profile_of(t);
  ASSERT_NE(find(p, "aten::mul"), nullptr);
  ASSERT_NE(find(p, "aten::add"), nullptr);
}

TEST(Profile, AttainableIsTheModelsKernel) {
  Trace t;
  t.run(0, 100, 300, "aten::mm", "[[4096,4096],[4096,4096]]", "nvjet", 1);
  const Profile p = profile_of(t);
  const OperatorGroup* mm = find(p, "aten::mm");
  ASSERT_TRUE(mm != nullptr && mm->predicted);
  const Chip chip = lower(load_device("h200-sxm"));
  const KernelCost model = gemm(chip, {.m = 4096, .n = 4096, .k = 4096}, chip.clock);
  EXPECT_NEAR(*mm->predicted / model.time, 1, 0.01);
  EXPECT_EQ(mm->bound, Bound::compute);
}

// Multiplies without a pause for half a second: the board slows down, and with it what is
// attainable.
TEST(Profile, PowerSlowsWhatIsAttainable) {
  Trace t;
  for (int i = 0; i < 400; ++i)
    t.run(i * 20, 9000 + i * 1450.0, 1449, "aten::mm", "[[8192,8192],[8192,8192]]", "nvjet", i + 1);
  const Profile p = profile_of(t);
  const Chip chip = lower(load_device("h200-sxm"));
  const Gemm shape{.m = 8192, .n = 8192, .k = 8192};
  const auto run = [&](Hertz clock) { return gemm(chip, shape, clock); };
  const Seconds lasting = at_power(chip, Precision::bf16, sustained, run).time;
  const Seconds burst = run(chip.clock).time;
  const Seconds each = *find(p, "aten::mm")->predicted / 400;
  EXPECT_GT(each / burst, 1.05);
  EXPECT_NEAR(each / lasting, 1, 0.03);
  EXPECT_LT(p.slowest_clock, chip.clock);
}

TEST(Profile, WaitsHaveTheirCauses) {
  Trace t;
  t.run(0, 10, 20, "aten::mul", "[[64,64],[64,64]]", "k", 1);     // until 30
  t.run(8, 31, 20, "aten::mul", "[[64,64],[64,64]]", "k", 2);     // launched in time: 1 us
  t.run(16, 70, 10, "aten::mul", "[[64,64],[64,64]]", "k", 3);    // launched in time, 19 us late
  t.run(100, 110, 20, "aten::mul", "[[64,64],[64,64]]", "k", 4);  // the host came late: 30 us
  t.call(112, 20, "cudaStreamSynchronize", 90);                   // until 132
  t.run(140, 150, 10, "aten::mul", "[[64,64],[64,64]]", "k", 5);  // after waiting: 20 us
  t.add(R"({"ph":"X","cat":"overhead","name":"Buffer Flush","pid":-1,"tid":0,"ts":160,"dur":38})");
  t.run(190, 200, 10, "aten::mul", "[[64,64],[64,64]]", "k", 6);  // the profiler: 40 us
  const Profile p = profile_of(t);
  const auto us = [&](Wait w) { return p.waits[w].time.value * 1e6; };
  EXPECT_NEAR(us(Wait::launch), 1, 1e-6);
  EXPECT_NEAR(us(Wait::dependency), 19, 1e-6);
  EXPECT_NEAR(us(Wait::synchronisation), 20, 1e-6);
  EXPECT_NEAR(us(Wait::profiler), 40, 1e-6);
  EXPECT_NEAR(us(Wait::host), 30 + 9, 1e-6);  // and the first launch
  EXPECT_NEAR(p.measured.value * 1e6, 209, 1e-6);
  EXPECT_NEAR(p.busy.value * 1e6, 90, 1e-6);
  EXPECT_EQ(p.launches, 6);
}

TEST(Profile, CopiesAndCommunicationCountWhereNothingHidesThem) {
  Trace t;
  t.run(0, 10, 100, "aten::mul", "[[64,64],[64,64]]", "k", 1);  // until 110
  t.call(20, 2, "cudaLaunchKernel", 2);
  t.kernel(60, 100, "ncclDevKernel_AllReduce", 2);  // alone from 110 to 160
  t.call(30, 2, "cudaMemcpyAsync", 3);
  t.add(
      R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":8,"ts":160,"dur":30,"args":{"device":0,"correlation":3,"bytes":1000}})");
  t.run(40, 190, 10, "aten::mul", "[[64,64],[64,64]]", "k", 4);
  const Profile p = profile_of(t);
  EXPECT_NEAR(p.exposed_communication.value * 1e6, 50, 1e-6);
  EXPECT_NEAR(p.waits[Wait::copy].time.value * 1e6, 30, 1e-6);
}

TEST(Profile, StepsAndDevices) {
  Trace t;
  for (int i = 0; i < 3; ++i) {
    t.add(fmt::format(
        R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":1,"tid":1,"ts":{},"dur":1000}})",
        i + 4, i * 1000));
    t.run(i * 1000 + 10, i * 1000 + 100, 500, "aten::mul", "[[64,64],[64,64]]", "k", i + 1);
    t.run(i * 1000 + 30, i * 1000 + 700, 100, "aten::mul", "[[64,64],[64,64]]", "k", i + 11);
  }
  t.call(50, 1, "cudaLaunchKernel", 50);
  t.kernel(100, 40, "k", 50, 1);
  const Profile p = profile_of(t);
  EXPECT_EQ(p.device, 0);
  ASSERT_EQ(p.devices.size(), 2U);
  EXPECT_NEAR(p.devices[1].busy.value, 40e-6, 1e-12);
  ASSERT_EQ(p.steps.size(), 3U);
  EXPECT_EQ(p.steps[0].name, "ProfilerStep#4");
  EXPECT_NEAR(p.steps[0].time.value, 1e-3, 1e-9);
  EXPECT_NEAR(p.steps[0].idle.value, 400e-6, 1e-9);
  EXPECT_NEAR(p.steps[2].time.value, 700e-6, 1e-9);
  EXPECT_NEAR(profile_of(t, 1).device_time.value, 40e-6, 1e-12);
  try {
    profile_of(t, 7);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(to_text(e.diagnostics().front()), HasSubstr("it has 0, 1"));
  }
}

// Two layers outside a graph, and the same in it: multiplies in their order, a row a sequence.
TEST(Profile, GraphsAreFoundByTheSameModelOutsideThem) {
  Trace t;
  t.run(0, 10, 50, "aten::mm", "[[512,1024],[1024,4096]]", "nvjet_a", 1);
  t.run(10, 70, 50, "aten::mm", "[[512,4096],[4096,1024]]", "nvjet_a", 2);
  t.run(20, 130, 5, "aten::mm", "[[4,1024],[1024,32000]]", "nvjet_b", 3);
  t.run(30, 140, 5, "aten::neg", "[[64,64]]", "neg_kernel", 4);
  t.op(200, 30, "Torch-Compiled Region: 0/0", "");
  t.call(210, 10, "cudaGraphLaunch", 9);
  t.kernel(230, 4, "nvjet_small", 9);
  t.kernel(234, 1, "void cublasLt::splitKreduce_kernel<32>", 9);
  t.kernel(236, 4, "nvjet_small", 9);
  t.kernel(241, 10, "nvjet_head", 9);
  t.kernel(252, 2, "triton_poi_fused_add_1", 9, 0, 16);
  t.kernel(255, 5, "neg_kernel", 9);
  const Profile p = profile_of(t);
  std::map<std::string, const OperatorGroup*> by_shape;
  for (const OperatorGroup& g : p.groups) by_shape[g.shape] = &g;
  ASSERT_TRUE(by_shape.count("4x1024, 1024x4096 bf16"));
  const OperatorGroup& first = *by_shape["4x1024, 1024x4096 bf16"];
  EXPECT_EQ(first.calls, 1);
  EXPECT_EQ(first.kernels, 2);
  EXPECT_EQ(first.found, Found::graph);
  EXPECT_TRUE(by_shape.count("4x4096, 4096x1024 bf16"));
  EXPECT_EQ(by_shape["4x1024, 1024x32000 bf16"]->calls, 2);
  EXPECT_EQ(find(p, "aten::neg")->calls, 2);
  EXPECT_EQ(find(p, "triton_poi_fused_add_1")->shape, "16 blocks of 128 threads");
  EXPECT_EQ(p.attributed, p.device_time);
}

TEST(Profile, GraphsAreFoundByTheirCapture) {
  Trace t;
  t.call(0, 2, "cudaStreamBeginCapture", 100);
  t.op(10, 10, "aten::mm", "[[4,1024],[1024,4096]]");
  t.call(12, 2, "cuLaunchKernelEx", 101);
  t.op(30, 10, "aten::relu", "[[4,4096]]");
  t.call(32, 2, "cudaLaunchKernel", 102);
  t.call(50, 2, "cudaStreamEndCapture", 103);
  for (int i = 0; i < 3; ++i) {
    t.call(100 + 50 * i, 5, "cudaGraphLaunch", 200 + i);
    t.kernel(110 + 50 * i, 10, "gemm", 200 + i);
    t.kernel(121 + 50 * i, 3, "elementwise", 200 + i);
  }
  const Profile p = profile_of(t);
  ASSERT_NE(find(p, "aten::mm"), nullptr);
  EXPECT_EQ(find(p, "aten::mm")->calls, 3);
  EXPECT_EQ(find(p, "aten::mm")->found, Found::graph);
  ASSERT_NE(find(p, "aten::relu"), nullptr);
}

TEST(Profile, LossesAreLargestFirstAndSayWhatToDo) {
  Trace t;
  // Five times what it could take, a vocabulary that is no multiple of eight, and a late host.
  t.run(0, 10, 900, "aten::mm", "[[4096,4096],[4096,4096]]", "ampere_sgemm", 1);
  t.run(3000, 3010, 400, "aten::mul", "[[64,64],[64,64]]", "k", 2);
  const Profile p = profile_of(t);
  ASSERT_GE(p.losses.size(), 3U);
  EXPECT_EQ(p.losses[0].cause, "2 launches host-bound");
  EXPECT_THAT(p.losses[0].advice, HasSubstr("CUDA graphs"));
  EXPECT_THAT(p.losses[1].cause, HasSubstr("multiply (aten::mm) 5"));
  EXPECT_THAT(p.losses[1].advice, HasSubstr("without matrix units"));
  for (std::size_t i = 1; i < p.losses.size(); ++i)
    EXPECT_GE(p.losses[i - 1].time, p.losses[i].time);
}

}  // namespace
}  // namespace sextant::profile
