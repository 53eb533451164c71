// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/shape.hpp"

#include <gtest/gtest.h>

#include "sextant/profile/attain.hpp"

namespace sextant::profile {
namespace {

TEST(Shape, ReadsSizesTypesAndLists) {
  const Shape s = shape_of(
      R"([[8,16],[],[[0],[1,8,64]],[16,4]]|["c10::BFloat16","Scalar","TensorList","float"]|["","1","","x"]|[[16,1],[],[],[1,16]])");
  ASSERT_EQ(s.tensors.size(), 4U);
  EXPECT_EQ(s.tensors[0].elements(), 128);
  EXPECT_EQ(s.tensors[2].argument, 2U);
  EXPECT_EQ(s.tensors[2].elements(), 512);
  EXPECT_EQ(s.at(3)->type, "float");
  EXPECT_TRUE(s.at(3)->transposed());
  EXPECT_EQ(s.at(3)->contiguous(), 16);
  EXPECT_EQ(s.at(0)->contiguous(), 16);
  EXPECT_EQ(s.at(1), nullptr);
  EXPECT_EQ(s.values[1], "1");
  EXPECT_EQ(for_people(s), "8x16, 0, 1x8x64, 16x4' bf16");
  for (const char* broken :
       {"", "[", "[[", "[[1,2", "]]]|[", "[[1]]|[\"", "[[-1,1e400]]", "[[x],[nan]]", "|||||"})
    shape_of(broken);
}

TEST(Shape, ReadsLaunches) {
  const Launch l = launch_of("[320,2,1]|[512,1,1]|");
  EXPECT_EQ(l.blocks, 640);
  EXPECT_EQ(l.grid_x, 320);
  EXPECT_EQ(l.threads, 512);
  EXPECT_EQ(launch_of("||4096").bytes, Bytes(4096));
  const Launch c = launch_of(R"([24,1,1]|[512,1,1]||"allreduce"|1048576|"BFloat16"|8)");
  EXPECT_EQ(c.collective, "allreduce");
  EXPECT_EQ(c.elements, 1048576);
  EXPECT_EQ(c.ranks, 8);
}

struct MultiplyCase {
  const char* name;
  const char* shape;
  double m, n, k, batch;
};
TEST(Job, Multiplies) {
  const MultiplyCase table[] = {
      {"aten::mm", "[[8,4096],[4096,1024]]", 8, 1024, 4096, 1},
      {"aten::addmm", "[[1024],[8,4096],[4096,1024],[],[]]", 8, 1024, 4096, 1},
      {"aten::linear", "[[2,8,4096],[1024,4096],[1024]]", 16, 1024, 4096, 1},
      {"aten::bmm", "[[64,16,128],[64,128,32]]", 16, 32, 128, 64},
      {"aten::baddbmm", "[[64,16,32],[64,16,128],[64,128,32]]", 16, 32, 128, 64},
      // A product with a vector is the same the other way round.
      {"aten::bmm", "[[64,1536,2048],[64,2048,1]]", 1, 1536, 2048, 64},
      {"aten::mv", "[[1536,2048],[2048]]", 1, 1536, 2048, 1},
      // An operand that lies along an odd m: the odd side is the model's n.
      {"aten::mm", "[[50257,8192],[8192,1600]]|[]||[[1,50257],[1600,1]]", 1600, 50257, 8192, 1},
  };
  for (const MultiplyCase& c : table) {
    const Job job = job_of(c.name, shape_of(c.shape), {.kernel = "nvjet"});
    ASSERT_EQ(job.kind, Kind::multiply) << c.name;
    const auto* g = std::get_if<Gemm>(&job.work);
    ASSERT_NE(g, nullptr) << c.name;
    EXPECT_EQ(g->m, c.m) << c.name << c.shape;
    EXPECT_EQ(g->n, c.n) << c.name << c.shape;
    EXPECT_EQ(g->k, c.k) << c.name << c.shape;
    EXPECT_EQ(g->batch, c.batch) << c.name << c.shape;
  }
}

TEST(Job, GroupedMultiplies) {
  const Job ahead = job_of(
      "aten::_grouped_mm",
      shape_of(R"([[32768,2048],[128,2048,1536],[128]]|["c10::BFloat16","c10::BFloat16","int"])"),
      {});
  const auto* g = std::get_if<GroupedMultiply>(&ahead.work);
  ASSERT_NE(g, nullptr);
  EXPECT_EQ(g->loads.active, 128);
  EXPECT_EQ(g->loads.tokens, 32768);
  EXPECT_EQ(g->n, 1536);
  EXPECT_EQ(g->k, 2048);
  EXPECT_EQ(g->loads.row_tiles[3], 128 * 2.5);
  const Job weights = job_of(
      "aten::_grouped_mm",
      shape_of(R"([[1536,32768],[32768,2048],[128]]|["c10::BFloat16","c10::BFloat16","int"])"), {});
  g = std::get_if<GroupedMultiply>(&weights.work);
  ASSERT_NE(g, nullptr);
  EXPECT_EQ(g->k, 256);
  EXPECT_EQ(g->n, 2048);
  EXPECT_EQ(g->loads.tokens, 128 * 1536);
}

TEST(Job, Attention) {
  const auto of = [](const char* name, const char* text) {
    const Job job = job_of(name, shape_of(text), {.kernel = "flash"});
    const auto* w = std::get_if<AttentionWork>(&job.work);
    return w == nullptr ? AttentionWork{.shape = {.batch = -1}} : *w;
  };
  const AttentionWork cudnn = of(
      "aten::_cudnn_attention_forward",
      R"([[1,32,4096,128],[1,8,4096,128],[1,8,4096,128],[],[],[],[],[],[],[],[],[],[]]|["c10::BFloat16"]|["","","","","","","4096","4096","True","0.","True","False","0.08"])");
  EXPECT_EQ(cudnn.shape.heads, 32);
  EXPECT_EQ(cudnn.shape.kv_heads, 8);
  EXPECT_EQ(cudnn.shape.queries, 4096);
  EXPECT_TRUE(cudnn.shape.causal);
  const AttentionWork masked = of(
      "aten::_cudnn_attention_forward",
      R"([[1,32,4096,128],[1,32,4096,128],[1,32,4096,128],[1,1,4096,4096],[],[],[],[],[],[],[],[],[]]|["c10::BFloat16"]|["","","","","","","4096","4096","True","0.","False","False","0.08"])");
  EXPECT_TRUE(masked.masked);
  EXPECT_FALSE(masked.shape.causal);
  const AttentionWork flash = of(
      "aten::_flash_attention_forward",
      R"([[2,1024,16,64],[2,2048,4,64],[2,2048,4,64],[],[],[],[],[],[],[]]|["c10::Half"]|["","","","","","1024","2048","0.","False","False"])");
  EXPECT_EQ(flash.shape.heads, 16);
  EXPECT_EQ(flash.shape.context, 2048);
  EXPECT_FALSE(flash.shape.causal);
  const AttentionWork back = of(
      "aten::_flash_attention_backward",
      R"([[2,1024,16,64],[2,1024,16,64],[2,1024,4,64],[2,1024,4,64],[2,1024,16,64],[2,16,1024]]|["c10::Half"]|["","","","","","","","","1024","1024","0.","True"])");
  // FlashAttention's own package: the scale comes between.
  const AttentionWork package = of(
      "flash_attn::_flash_attn_forward",
      R"([[2,64,8,64],[2,64,8,64],[2,64,8,64]]|["c10::Half"]|["","","","0.","0.125","True","-1"])");
  EXPECT_TRUE(package.shape.causal);
  EXPECT_EQ(package.shape.queries, 64);
  EXPECT_TRUE(back.backward);
  EXPECT_EQ(back.shape.kv_heads, 4);
  EXPECT_TRUE(back.shape.causal);
}

struct StreamCase {
  const char* name;
  const char* shape;
  double bytes;
};
TEST(Job, BytesOfWhatStreams) {
  const StreamCase table[] = {
      {"aten::mul", R"([[4,8],[4,1]]|["float","float"])", (32 + 4 + 32) * 4},
      {"aten::add_", R"([[4,8],[4,8],[]]|["c10::BFloat16","c10::BFloat16","Scalar"])", 3 * 64},
      {"aten::copy_", R"([[4,8],[4,8],[]]|["float","c10::BFloat16",""])", 32 * 6},
      {"aten::fill_", R"([[4,8],[]]|["float","Scalar"])", 128},
      {"aten::sum", R"([[4,8],[],[],[]]|["float","ScalarList","Scalar",""])", 128},
      {"aten::cat", R"([[[4,8],[4,8]],[]]|["TensorList","Scalar"])", 4 * 64},
      {"aten::embedding", R"([[1000,8],[2,3],[],[],[]]|["c10::BFloat16","long int","","",""])",
       2 * 6 * 8 * 2 + 48},
      {"triton_poi_fused_mul_0", R"([[4,8],[4,8],[]]|["c10::BFloat16","c10::BFloat16","Scalar"])",
       128},
  };
  for (const StreamCase& c : table) {
    const Job job = job_of(c.name, shape_of(c.shape),
                           {.kernel = "void at::native::elementwise<c10::BFloat16>"});
    const auto* w = std::get_if<StreamWork>(&job.work);
    ASSERT_NE(w, nullptr) << c.name;
    EXPECT_NEAR(w->shape.bytes.value, c.bytes, 1e-9) << c.name;
  }
  // Lists of tensors: 320 blocks of 65536 elements, seven passes of two bytes.
  const Job adam = job_of("aten::_fused_adamw_", shape_of("[[],[]]"),
                          {.kernel = "multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>"
                                     ", FusedAdamMathFunctor<c10::BFloat16>>",
                           .blocks = 320});
  EXPECT_EQ(adam.kind, Kind::optimizer);
  EXPECT_EQ(std::get<StreamWork>(adam.work).shape.bytes, Bytes(320.0 * 65536 * 14));
  const Job sqrt =
      job_of("aten::_foreach_sqrt", shape_of("[[]]"),
             {.kernel = "multi_tensor_apply_kernel<TensorListMetadata<2>, UnaryOpFunctor<float>>",
              .blocks = 2});
  EXPECT_EQ(std::get<StreamWork>(sqrt.work).shape.bytes, Bytes(2.0 * 65536 * 8));
}

TEST(Job, WhatIsNotKnownSaysSo) {
  EXPECT_EQ(job_of("whatever", {}, {.kernel = "k"}).kind, Kind::unknown);
  EXPECT_EQ(job_of("aten::copy_", shape_of("[[4],[4]]"),
                   {.kernel = "Memcpy HtoD (Pageable -> Device)", .launch = {.bytes = Bytes(16)}})
                .kind,
            Kind::copy);
  EXPECT_EQ(job_of("x", {}, {.kernel = "ncclDevKernel_AllReduce"}).kind, Kind::communication);
  EXPECT_TRUE(
      std::holds_alternative<std::monostate>(job_of("aten::mm", {}, {.kernel = "gemm"}).work));
}

}  // namespace
}  // namespace sextant::profile
