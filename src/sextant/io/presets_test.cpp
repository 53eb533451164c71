// SPDX-License-Identifier: Apache-2.0
// Tests of presets: those compiled in, files, overlays, settings.
#include "sextant/io/presets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <system_error>

#include "sextant/io/catalog.hpp"
#include "sextant/io/checkpoints.hpp"
#include "sextant/io/embedded.hpp"
#include "sextant/io/test_support.hpp"
#include "sextant/io/write.hpp"

namespace sextant {
namespace {
using test::error_of;
using test::expect_contains;
using test::Folder;

constexpr const char* tiny_device =
    "cores = 10\nclock = \"1 GHz\"\n"
    "[matrix]\nbf16 = \"100 TFLOP/s\"\nfp16 = \"100 TFLOP/s\"\n"
    "[vector]\nfp32 = \"10 TFLOP/s\"\n[l2]\ncapacity = \"10 MiB\"\n"
    "[memory]\ncapacity = \"10 GiB\"\nbandwidth = \"1 TB/s\"\n[power]\nlimit = \"100 W\"\n";
constexpr const char* tiny_model =
    "layers = 2\nhidden = 64\nvocab = 100\nattention = { heads = 4 }\n";

/// $SEXTANT_PATH for one test.
class SearchPath {
 public:
  explicit SearchPath(const std::string& value) { ::setenv("SEXTANT_PATH", value.c_str(), 1); }
  ~SearchPath() { ::unsetenv("SEXTANT_PATH"); }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;
};

// ---- what is compiled in

TEST(Presets, AllLoad) {
  for (const std::string& name : preset_names(PresetKind::device)) {
    EXPECT_NO_THROW(EXPECT_EQ(load_device(name).name, name)) << name;
  }
  for (const std::string& name : preset_names(PresetKind::system)) {
    EXPECT_NO_THROW(EXPECT_EQ(load_system(name).name, name)) << name;
  }
  for (const std::string& name : preset_names(PresetKind::model)) {
    EXPECT_NO_THROW(EXPECT_EQ(load_model(name).name, name)) << name;
  }
  for (const std::string& name : preset_names(PresetKind::runtime)) {
    EXPECT_NO_THROW(EXPECT_EQ(load_runtime(name).name, name)) << name;
  }
  for (const std::string& name : preset_names(PresetKind::kernel)) {
    EXPECT_NO_THROW(EXPECT_EQ(load_kernels(name).name, name)) << name;
  }
}

// Models are cut out of their files by a scan; a whole parse must see the same ones.
TEST(Presets, TheScanOfModelFilesAgreesWithTheParser) {
  std::set<std::string> all;
  for (const EmbeddedFile& file : embedded_presets()) {
    if (!file.path.starts_with("models/")) continue;
    const std::string text = file.text();
    const Document document = parse_toml(text, std::string(file.path));
    const Node* models = document.root.find("model");
    ASSERT_NE(models, nullptr) << file.path;
    const std::vector<ModelSlice> slices = scan_models(text);
    ASSERT_EQ(slices.size(), models->items.size()) << file.path;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      EXPECT_EQ(slices[i].name, models->items[i].find("name")->string);
      EXPECT_TRUE(all.emplace(slices[i].name).second) << slices[i].name << " is defined twice";
    }
  }
  EXPECT_EQ(all.size(), preset_names(PresetKind::model).size());
}

TEST(Presets, TextKeepsComments) {
  const std::string text = preset_text(PresetKind::device, "h100-sxm");
  expect_contains(text, "# ");
  EXPECT_EQ(to_json(write(load_device("h100-sxm"))), to_json(write([&] {
              const Document d = parse_toml(text, "x");
              return load_device(d, d.root);
            }())));
  const std::string model = preset_text(PresetKind::model, "llama2-7b");
  EXPECT_TRUE(model.starts_with("[[model]]"));
  expect_contains(model, "name = \"llama2-7b\"");
  EXPECT_EQ(model.find("[[model]]", 1), std::string::npos);
}

TEST(Presets, KnowsKinds) {
  EXPECT_EQ(preset_kinds("h100-sxm"), std::vector{PresetKind::device});
  EXPECT_TRUE(preset_kinds("no-such-thing").empty());
}

TEST(Presets, SystemsByTheNamesOfTheirAccelerators) {
  const std::pair<const char*, const char*> named[] = {
      {"NVIDIA H100-SXM5-80GB", "dgx-h100"},
      {"NVIDIA H100 80GB HBM3", "dgx-h100"},
      {"NVIDIA H200", "dgx-h200"},
      {"NVIDIA H20", "h20-node"},
      {"8xH200", "dgx-h200"},
      {"NVIDIA GB200", "gb200-nvl72"},
      {"AMD Instinct MI300X 192GB HBM3", "mi300x-node"},
      {"NVIDIA A100", "dgx-a100"},
      {"NVIDIA A100-SXM4-80GB", "dgx-a100"},
      {"NVIDIA A100-SXM-80GB", "dgx-a100"},
      {"NVIDIA A100-SXM4-40GB", "dgx-a100-40gb"},
      {"NVIDIA A100-PCIe-80GB", "a100-pcie-node"},
      {"Tesla V100-SXM2-16GB", "v100-node"},
      {"TPU-trillium", "tpu-v6e-node"},
      {"p5.48xlarge", "aws-p5"},
      // No A10, no L4.
      {"NVIDIA RTX A1000", ""},
      {"NVIDIA L40", ""},
      {"an abacus", ""},
  };
  for (const auto& [name, system] : named) EXPECT_EQ(system_with(name), system) << name;
}

TEST(Presets, SuggestsNames) {
  const std::string text = error_of([] { load_device("h100-smx"); });
  EXPECT_EQ(
      text,
      "no device is called 'h100-smx'; did you mean 'h100-sxm'? ('sextant list devices' shows "
      "all)");
  expect_contains(error_of([] { load_system("mi355x"); }),
                  "there is a device of that name; did you mean 'mi355x-node'?");
  expect_contains(error_of([] { load_system("h100"); }), "'dgx-h100', 'aws-p5', 'h100-nvl-node',");
  // Called as vendors and people call them; of many, the usual one.
  const std::pair<const char*, const char*> systems[] = {
      {"h200-node", "'dgx-h200'"},    {"a100", "'dgx-a100'"},
      {"rtx4090", "'rtx-4090-node'"}, {"NVIDIA H100 80GB HBM3", "'dgx-h100'"},
      {"8xB200", "'dgx-b200'"},
  };
  for (const auto& [said, right] : systems) {
    EXPECT_EQ(preset_hint(said, PresetKind::system), "did you mean " + std::string(right) + "?");
  }
  EXPECT_EQ(preset_hint("NVIDIA A100-SXM4-80GB", PresetKind::device),
            "did you mean 'a100-sxm-80gb'?");
  expect_contains(error_of([] { load_model("Llama2-7B"); }), "did you mean 'llama2-7b'?");
  // The names that checkpoints have elsewhere, and starts of names.
  const std::pair<const char*, const char*> meant[] = {
      {"meta-llama/Llama-3.1-70B", "'llama3.1-70b'"},
      {"Llama-3.1-8B-Instruct", "'llama3.1-8b'"},
      {"someone/Qwen3-8B-GPTQ-Int4", "'qwen3-8b'"},
      {"mistral-7b-v0.1", "'mistral-7b'"},
      {"llama3.1-8b-instruct", "'llama3.1-8b'"},
      {"olmoe", "'olmoe-1b-7b'"},
      {"deepseek-r1-distill-qwen-1",
       "'deepseek-r1-distill-qwen-1.5b' or "
       "'deepseek-r1-distill-qwen-14b'"},
  };
  for (const auto& [said, right] : meant) {
    EXPECT_EQ(preset_hint(said, PresetKind::model), "did you mean " + std::string(right) + "?");
    EXPECT_EQ(preset_hint(said), "did you mean " + std::string(right) + "?");
  }
  EXPECT_EQ(preset_hint("h100", PresetKind::device),
            "did you mean 'h100-sxm', 'h100-nvl', 'h100-pcie' or 'h100-sxm-96gb'?");
  EXPECT_EQ(preset_hint("no-such-thing-at-all"), "");
  expect_contains(error_of([] { load_model("meta-llama/Llama-2-7b"); }), "no model is called");
  expect_contains(error_of([] { preset_text(PresetKind::runtime, "zzzzzz"); }), "no runtime");
  expect_contains(error_of([] { load_device(""); }), "no device is called ''");
  expect_contains(error_of([] { load_model("llama3-405b"); }), "'llama3.1-405b'?");
}

TEST(Presets, SettingsApply) {
  const std::vector<Setting> settings = {{"device.memory.bandwidth", "8 TB/s"},
                                         {"model.attention.heads", "16"}};
  EXPECT_EQ(load_device("h100-sxm", settings).memory.bandwidth, BytesPerSecond(8e12));
  const Model model = load_model("llama2-7b", settings);
  EXPECT_EQ(model.attention.heads, 16);
  expect_contains(error_of([] {
                    load_device("h100-sxm", {{"device.core", "8"}});
                  }),
                  "--set: device.core: unknown field; did you mean 'device.cores'?");
}

// ---- files

TEST(Presets, LoadsFilesByPath) {
  const Folder folder;
  const std::string path = folder.write("mine.toml", tiny_device);
  EXPECT_EQ(load_device(path).name, "mine");
  EXPECT_EQ(load_device(path).cores, 10);
  const std::string json = folder.write("mine.json", to_json(parse_toml(tiny_device, "x").root));
  EXPECT_EQ(load_device(json).cores, 10);
  EXPECT_THROW(load_device(folder.path("missing.toml")), std::system_error);
  EXPECT_THROW(load_device(folder.path("mine.toml"), {}, Lookup::presets), InputError);
}

TEST(Presets, ReportsAllProblemsOfAFile) {
  const Folder folder;
  const std::string path =
      folder.write("bad.toml", "cores = 0\nclok = \"1 GHz\"\n[memory]\nkind = 5\n");
  const std::string text = error_of([&] { load_device(path); });
  expect_contains(text, path + ":1:9: cores: must be at least 1, not 0");
  expect_contains(text, path + ":2:1: clok: unknown field; did you mean 'clock'?");
  expect_contains(text, path + ":4:8: memory.kind: expected a text");
  expect_contains(text, path + ":3:1: memory.capacity: missing");
  expect_contains(text, path + ": clock: missing");
  expect_contains(text, path + ": matrix: missing");
}

TEST(Presets, ExtendsOverlaysFields) {
  const Folder folder;
  folder.write("base.toml", tiny_device);
  folder.write("middle.toml",
               "extends = \"./base.toml\"\nnotes = \"m\"\n[memory]\nkind = \"HBM9\"\n");
  const std::string top = folder.write("top.toml", "extends = \"middle.toml\"\ncores = 20\n");
  const Device device = load_device(top);
  EXPECT_EQ(device.name, "top");
  EXPECT_EQ(device.cores, 20);
  EXPECT_EQ(device.memory.kind, "HBM9");
  EXPECT_EQ(device.memory.bandwidth, BytesPerSecond(1e12));
  const std::string preset =
      folder.write("fast.toml", "extends = \"h100-sxm\"\n[memory]\nbandwidth = \"9 TB/s\"\n");
  EXPECT_EQ(load_device(preset).memory.bandwidth, BytesPerSecond(9e12));
  EXPECT_EQ(load_device(preset).cores, load_device("h100-sxm").cores);
}

// What both of two extend must not hide what the first of them says.
TEST(Presets, ExtendsSeveral) {
  const Folder folder;
  folder.write("base.toml", tiny_device);
  folder.write("more.toml", "extends = \"base.toml\"\ncores = 20\n");
  folder.write("other.toml", "extends = \"base.toml\"\n[memory]\nkind = \"HBM9\"\n");
  const std::string top =
      folder.write("top.toml", "extends = [\"more.toml\", \"other.toml\"]\nclock = \"3 GHz\"\n");
  const Device device = load_device(top);
  EXPECT_EQ(device.cores, 20);
  EXPECT_EQ(device.memory.kind, "HBM9");
  EXPECT_EQ(device.clock, Hertz(3e9));
  const std::string wrong =
      folder.write("wrong.toml", "extends = [\"more.toml\", 5, \"wrong.toml\"]\n");
  const std::string text = error_of([&] { load_device(wrong); });
  expect_contains(text, "wrong.toml:1:25: extends: expected the name of a preset in quotes");
  expect_contains(text, "wrong.toml:1:28: extends: 'wrong.toml' extends itself");
  const std::string none = folder.write("none.toml", "extends = []\n");
  expect_contains(error_of([&] { load_device(none); }), "expected the name of a preset in quotes");
}

TEST(Presets, ExtendsFindsMistakes) {
  const Folder folder;
  const std::string missing = folder.write("a.toml", "cores = 0\nextends = \"h100-smx\"\n");
  const std::string text = error_of([&] { load_device(missing); });
  expect_contains(text, ":2:11: extends: no device is called 'h100-smx'; did you mean 'h100-sxm'?");
  expect_contains(text, ":1:9: cores: must be at least 1");
  EXPECT_EQ(text.find("missing ("), std::string::npos);

  folder.write("b.toml", "extends = \"c.toml\"\n");
  const std::string cycle = folder.write("c.toml", "extends = \"b.toml\"\n");
  expect_contains(error_of([&] { load_device(cycle); }),
                  "b.toml:1:11: extends: 'c.toml' extends itself");
  const std::string self = folder.write("d.toml", "extends = \"d.toml\"\n");
  expect_contains(error_of([&] { load_device(self); }), "'d.toml' extends itself");
  const std::string number = folder.write("e.toml", "extends = 5\n");
  expect_contains(error_of([&] { load_device(number); }),
                  "expected the name of a preset in quotes");

  for (int i = 0; i < 30; ++i) {
    folder.write("n" + std::to_string(i) + ".toml",
                 "extends = \"n" + std::to_string(i + 1) + ".toml\"\n");
  }
  expect_contains(error_of([&] { load_device(folder.path("n0.toml")); }), "more than 16 presets");

  // A problem in the base is reported in the base's file.
  folder.write("base.toml", std::string("cors = 1\n") + tiny_device);
  const std::string top = folder.write("top.toml", "extends = \"base.toml\"\n");
  expect_contains(error_of([&] { load_device(top); }), "base.toml:1:1: cors: unknown field");
  // What neither gives is missing.
  folder.write("empty.toml", "cores = 1\n");
  const std::string half =
      folder.write("half.toml", "extends = \"empty.toml\"\nclock = \"1 GHz\"\n");
  const std::string lacks = error_of([&] { load_device(half); });
  expect_contains(lacks, "memory: missing");
  EXPECT_EQ(lacks.find("clock: missing"), std::string::npos);
  EXPECT_EQ(lacks.find("cores: missing"), std::string::npos);
}

// ---- systems

TEST(Presets, SystemsNameOrHoldTheirDevice) {
  const Folder folder;
  folder.write("dev.toml", tiny_device);
  const std::string named =
      folder.write("named.toml", "device = \"h100-sxm\"\ndevices_per_node = 8\n");
  EXPECT_EQ(load_system(named).device.name, "h100-sxm");
  const std::string nearby = folder.write("nearby.toml", "device = \"dev.toml\"\n");
  EXPECT_EQ(load_system(nearby).device.cores, 10);
  const std::string changed =
      folder.write("changed.toml", "[device]\nextends = \"h100-sxm\"\ncores = 99\n");
  EXPECT_EQ(load_system(changed).device.cores, 99);
  EXPECT_GT(load_system(changed).device.memory.bandwidth, BytesPerSecond(0));

  const std::string derived = folder.write(
      "derived.toml", "extends = \"named.toml\"\n[device.memory]\nbandwidth = \"7 TB/s\"\n");
  const System system = load_system(derived);
  EXPECT_EQ(system.devices_per_node, 8);
  EXPECT_EQ(system.device.name, "h100-sxm");
  EXPECT_EQ(system.device.memory.bandwidth, BytesPerSecond(7e12));
  const std::string replaced =
      folder.write("replaced.toml", "extends = \"named.toml\"\ndevice = \"a100-sxm-80gb\"\n");
  EXPECT_EQ(load_system(replaced).device.name, "a100-sxm-80gb");
}

TEST(Presets, SystemsFindMistakesInTheirDevice) {
  const Folder folder;
  const std::string unknown = folder.write("a.toml", "device = \"h100-smx\"\n");
  expect_contains(error_of([&] { load_system(unknown); }),
                  ":1:10: device: no device is called 'h100-smx'");
  const std::string field = folder.write("b.toml", "[device]\nextends = \"h100-sxm\"\ncors = 1\n");
  expect_contains(error_of([&] { load_system(field); }), ":3:1: device.cors: unknown field");
  const std::string partial = folder.write("c.toml", "[device]\ncores = 1\n");
  expect_contains(error_of([&] { load_system(partial); }), ":1:1: device.clock: missing");
  const std::string none = folder.write("d.toml", "devices_per_node = 1\n");
  expect_contains(error_of([&] { load_system(none); }),
                  "d.toml: device: missing (the accelerator)");
  const std::string fabric =
      folder.write("e.toml", "device = \"h100-sxm\"\n[[fabrics]]\nreach = 8\n");
  expect_contains(error_of([&] { load_system(fabric); }), ":2:1: fabrics[0].bandwidth: missing");
  const std::string inside_out =
      folder.write("f.toml",
                   "device = \"h100-sxm\"\n[[fabrics]]\nreach = 8\nbandwidth = \"450 GB/s\"\n"
                   "[[fabrics]]\nreach = 4\nbandwidth = \"50 GB/s\"\n");
  expect_contains(error_of([&] { load_system(inside_out); }),
                  "fabrics[1].reach: 4 devices, fewer than the 8 of the fabric before");
  expect_contains(
      error_of([] {
        load_system("dgx-h100", {{"system.fabrics.0.reach", "100000"}});
      }),
      "--set: fabrics[1].reach: 32768 devices, fewer than the 100000 of the fabric before");
}

TEST(Presets, SystemSettingsReachTheDevice) {
  const Folder folder;
  const std::string path = folder.write(
      "s.toml", "device = \"h100-sxm\"\n[[fabrics]]\nreach = 8\nbandwidth = \"450 GB/s\"\n");
  const System s = load_system(path, {{"device.cores", "50"},
                                      {"system.fabrics.0.reach", "72"},
                                      {"device", "b200"},
                                      {"system.device.memory.kind", "HBM5"}});
  EXPECT_EQ(s.device.name, "b200");
  EXPECT_EQ(s.device.cores, 50);
  EXPECT_EQ(s.device.memory.kind, "HBM5");
  EXPECT_EQ(s.fabrics[0].reach, 72);
}

// ---- models

TEST(Presets, PicksOneOfManyModels) {
  const Folder folder;
  const std::string two =
      folder.write("two.toml", std::string("[[model]]\nname = \"one\"\n") + tiny_model +
                                   "[[model]]\nname = \"two\"\n" + tiny_model);
  EXPECT_EQ(load_model(two + "#two").name, "two");
  expect_contains(error_of([&] { load_model(two); }),
                  "the file holds 2 models; pick one as '" + two + "#one'");
  expect_contains(error_of([&] { load_model(two + "#tow"); }),
                  "no model here is called 'tow'; did you mean 'two'?");
  const std::string single = folder.write("single.toml", tiny_model);
  EXPECT_EQ(load_model(single).name, "single");
  EXPECT_EQ(load_model(single).attention.kv_heads, 4) << "derived fields are filled";
  const std::string stray =
      folder.write("stray.toml", std::string("layers = 1\n[[model]]\n") + tiny_model);
  expect_contains(error_of([&] { load_model(stray); }),
                  "stray.toml:1:1: layers: unknown field beside [[model]]");
}

TEST(Presets, KeepsTheLinesOfAModelInItsFile) {
  const Folder folder;
  const SearchPath path(folder.path());
  folder.write("models/family.toml", std::string("# two\n[[model]]\nname = \"one\"\n") +
                                         tiny_model + "[[model]]\nname = \"two\"\nlayrs = 2\n");
  EXPECT_EQ(load_model("one").name, "one");
  expect_contains(error_of([] { load_model("two"); }),
                  "family.toml:10:1: layrs: unknown field; did you mean 'layers'?");
}

TEST(Presets, ReadsHuggingFaceConfigurations) {
  const Folder folder;
  const std::string path = folder.write(
      "Tiny-1M/config.json",
      "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", \"hidden_size\": 64,"
      "\"intermediate_size\": 256, \"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
      "\"num_key_value_heads\": 4, \"vocab_size\": 100, \"hidden_act\": \"silu\"}");
  EXPECT_EQ(load_model(path).layers, 2);
  EXPECT_EQ(load_model(folder.path("Tiny-1M")).hidden, 64);
  const std::string deeper =
      folder.write("deeper.toml", "extends = \"Tiny-1M/config.json\"\nlayers = 9\n");
  EXPECT_EQ(load_model(deeper).layers, 9);
  EXPECT_EQ(load_model(deeper).hidden, 64);
}

// A checkout of a model beside one's work is called as the model is.
TEST(Presets, AFolderOfThatNameShadowsNone) {
  const Folder folder;
  folder.write("llama2-7b/config.json", "{\"model_type\": \"llama\"}");
  folder.write("h100-sxm", "cores = 1");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(load_model("llama2-7b").layers, 32);
  EXPECT_GT(load_device("h100-sxm").cores, 1);
  EXPECT_THROW(load_model("./llama2-7b"), InputError);  // that one lacks everything
  std::filesystem::current_path(before);
}

// What no machine has is refused with the range, before anything is computed from it.
TEST(Presets, QuantitiesKeepToPhysics) {
  const auto said = [](const char* path, const char* value) {
    return error_of([&] { load_device("h100-sxm", {{path, value}}); });
  };
  expect_contains(said("device.memory.capacity", "1e17 B"), "must be at most 1 PB");
  expect_contains(said("device.memory.bandwidth", "1e-300 B/s"), "must be at least 1 B/s");
  expect_contains(said("device.power.limit", "1e30 W"), "must be at most");
  expect_contains(said("device.memory.capacity", "0 B"), "must be more than zero");
}

// ---- $SEXTANT_PATH and documents

TEST(Presets, SearchPathComesBeforeWhatIsCompiledIn) {
  const Folder first;
  const Folder second;
  const SearchPath path(first.path() + "::" + second.path() + ":/no/such/folder");
  second.write("mine.toml", tiny_device);
  second.write("devices/other.toml", tiny_device);
  first.write("devices/h100-sxm.toml", "extends = \"h100-sxm\"\ncores = 7\n");
  EXPECT_EQ(load_device("mine").cores, 10);
  EXPECT_EQ(load_device("other").cores, 10);
  const Device device = load_device("h100-sxm");
  EXPECT_EQ(device.cores, 7) << "a preset may extend the one it stands before";
  EXPECT_EQ(device.name, "h100-sxm");
  const std::vector<std::string> names = preset_names(PresetKind::device);
  EXPECT_EQ(std::count(names.begin(), names.end(), "other"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "h100-sxm"), 1);
}

TEST(Presets, LoadsFromInsideADocument) {
  const Document d = parse_toml(
      "device = \"h100-sxm\"\n[model]\nextends = \"llama2-7b\"\nlayers = 3\n", "plan.toml");
  EXPECT_EQ(load_device(d, *d.root.find("device")).name, "h100-sxm");
  EXPECT_EQ(load_model(d, *d.root.find("model")).layers, 3);
  const Document bad = parse_json("{\"device\": \"/etc/passwd\", \"model\": 5}", "request");
  expect_contains(
      error_of([&] { load_device(bad, *bad.root.find("device"), {}, Lookup::presets); }),
      "request:1:12: no device is called '/etc/passwd'");
  expect_contains(error_of([&] { load_model(bad, *bad.root.find("model")); }),
                  "expected a table, not 5");
}

}  // namespace
}  // namespace sextant
