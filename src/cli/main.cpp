// SPDX-License-Identifier: Apache-2.0
// The command line: reads it, runs a command, and turns failures into messages and exit statuses
// (0 answered, 2 the input is wrong, 3 the world failed).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "sextant/io/files.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace {

using namespace sextant;
using namespace sextant::cli;

struct Program {
  CLI::App app{
      "Sextant: how fast, in how much memory, and why, a large language model trains or serves"};
  Common common;
  std::string format = "text";
  ListOptions list;
  ShowOptions show;
  TrainOptions train;
  InferOptions infer;
  std::string ops_plot;
  TechOptions tech;
  StudyOptions study;
  OpsOptions ops;
  CollectiveOptions collective;
  ValidateOptions validate;
  CalibrateOptions calibrate;
  std::function<std::string()> run;

  Program();
  CLI::App* command(CLI::App& parent, const std::string& name, const std::string& help,
                    const std::string& example, std::function<std::string()> action);
  void add_ops(CLI::App& parent);
  void train_options(CLI::App& t);
  void infer_options(CLI::App& i);
  void add_train();
  void add_infer();
  void add_ops_of_scenarios(CLI::App& parent);
  void add_tech();
  void add_study();
};

CLI::App* Program::command(CLI::App& parent, const std::string& name, const std::string& help,
                           const std::string& example, std::function<std::string()> action) {
  CLI::App* sub = parent.add_subcommand(name, help);
  sub->footer("Example:\n  " + example);
  sub->add_option("--format", format, "text, json, csv or html")
      ->check(CLI::IsMember({"text", "json", "csv", "html"}));
  sub->add_option("-o,--output", common.output, "write to this file instead of standard output");
  sub->add_option("--set", common.set, "override a field: device.memory.bandwidth='8 TB/s'");
  if (action) {
    sub->callback([this, a = std::move(action)] { run = a; });
  }
  return sub;
}

void Program::add_ops(CLI::App& parent) {
  const auto add = [&](const std::string& kernel, const std::string& help,
                       const std::string& example) {
    CLI::App* sub = command(parent, kernel, help, example, [this, kernel] {
      ops.kernel = kernel;
      return run_ops(ops, common);
    });
    sub->add_option("--device", ops.device, "device preset or file")->capture_default_str();
    sub->add_option("--dtype", ops.dtype, "fp32 tf32 fp16 bf16 fp8 int8 fp6 fp4 int4")
        ->capture_default_str();
    sub->add_flag("--sustained", ops.sustained, "the clock power allows when the load goes on");
    sub->add_option("--busy", ops.busy, "how long the load lasts, such as \"5 ms\"");
    return sub;
  };
  CLI::App* gemm = add("gemm", "a matrix multiply y[m,n] = x[m,k] W^T",
                       "sextant ops gemm --device h100-sxm --dtype bf16 -m 4096 -n 4096 -k 4096");
  gemm->add_option("-m", ops.m, "rows of x")->capture_default_str();
  gemm->add_option("-n", ops.n, "columns of y")->capture_default_str();
  gemm->add_option("-k", ops.k, "inner dimension")->capture_default_str();
  gemm->add_option("--batch", ops.batch, "multiplies at once")->capture_default_str();
  gemm->add_flag("--quantize", ops.quantize, "quantise x row by row first");
  gemm->add_option("--activity", ops.activity,
                   "how much the operands switch: 1 random numbers, 0 zeros")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  CLI::App* attention =
      add("attention", "an attention kernel",
          "sextant ops attention --device h100-sxm --backend trtllm --phase decode "
          "--batch 64 --heads 64 --kv-heads 8 --q-len 1 --kv-len 4096");
  attention->add_option("--backend", ops.backend, "flash, cudnn or trtllm")->capture_default_str();
  attention->add_option("--phase", ops.phase, "prefill, decode or backward")->capture_default_str();
  attention->add_option("--batch", ops.batch, "sequences")->capture_default_str();
  attention->add_option("--heads", ops.heads, "query heads")->capture_default_str();
  attention->add_option("--kv-heads", ops.kv_heads, "cache heads; 0: as many")
      ->capture_default_str();
  attention->add_option("--head-dim", ops.head_dim, "of a head")->capture_default_str();
  attention->add_option("--q-len", ops.q_len, "queries a sequence")->capture_default_str();
  attention->add_option("--kv-len", ops.kv_len, "context; 0: as the queries")
      ->capture_default_str();
  attention->add_option("--window", ops.window, "sliding window; 0: none")->capture_default_str();
  attention->add_option("--kv-dtype", ops.kv_dtype, "type of the cache");
  attention->add_flag("--no-causal", ops.no_causal, "every query sees everything");
  attention->add_flag("--mla", ops.latent, "latent attention (DeepSeek dimensions)");
  CLI::App* experts =
      add("experts", "a mixture-of-experts layer of one rank",
          "sextant ops experts --device h200-sxm --dtype fp8 --tokens 4096 --hidden 7168 "
          "--ffn 2048 --experts 256 --topk 8 --ep 8");
  experts->add_option("--tokens", ops.tokens, "tokens routed")->capture_default_str();
  experts->add_option("--hidden", ops.hidden, "model width")->capture_default_str();
  experts->add_option("--ffn", ops.ffn, "width of an expert")->capture_default_str();
  experts->add_option("--topk", ops.topk, "experts a token")->capture_default_str();
  experts->add_option("--experts", ops.experts, "experts in all")->capture_default_str();
  experts->add_option("--tp", ops.tp, "ranks that share an expert")->capture_default_str();
  experts->add_option("--ep", ops.ep, "ranks that share the experts")->capture_default_str();
  experts->add_option("--routing", ops.routing, "balanced or power_law_X")->capture_default_str();
  CLI::App* stream =
      add("stream", "an operator that only streams",
          "sextant ops stream --device h200-sxm --op rmsnorm --rows 8192 --cols 8192");
  stream
      ->add_option("--op", ops.op,
                   "copy add gelu silu_mul dropout layernorm rmsnorm add_rmsnorm "
                   "softmax adamw")
      ->capture_default_str();
  stream->add_option("--rows", ops.rows, "rows")->capture_default_str();
  stream->add_option("--cols", ops.cols, "columns")->capture_default_str();
  CLI::App* c = command(parent, "collective", "communication between devices",
                        "sextant ops collective --system dgx-h100 --collective all_reduce "
                        "--gpus 8 --bytes '64 MiB'",
                        [this] { return run_collective(collective, common); });
  c->add_option("--system", collective.system, "system preset or file")->capture_default_str();
  c->add_option("--collective", collective.collective,
                "all_reduce all_gather reduce_scatter all_to_all send_recv")
      ->capture_default_str();
  c->add_option("--library", collective.provider, "nccl, or one-shot for small all-reduces")
      ->capture_default_str();
  c->add_option("--gpus", collective.gpus, "ranks")->capture_default_str();
  c->add_option("--gpus-per-node", collective.gpus_per_node, "ranks of a node; 0: as it has")
      ->capture_default_str();
  c->add_option("--bytes", collective.bytes, "the whole buffer, un-sharded, such as \"64 MiB\"")
      ->capture_default_str();
}

void Program::train_options(CLI::App& t) {
  t.add_option("--model", train.model, "model preset, file or Hugging Face config.json")
      ->required();
  t.add_option("--system", train.system, "system preset or file")->required();
  t.add_option("--runtime", train.runtime, "software stack; without, megatron-core");
  t.add_option("--gpus", train.gpus, "devices; without, what the degrees take");
  t.add_option("--tp", train.tp, "tensor-parallel degree");
  t.add_option("--pp", train.pp, "pipeline stages");
  t.add_option("--dp", train.dp, "replicas; without, what is left of --gpus");
  t.add_option("--cp", train.cp, "context-parallel degree");
  t.add_option("--ep", train.ep, "expert-parallel degree");
  t.add_option("--etp", train.etp, "tensor-parallel degree inside experts");
  t.add_option("--interleave", train.interleave, "model chunks a stage");
  t.add_option("--microbatch", train.microbatch, "sequences a microbatch");
  t.add_option("--batch", train.batch, "sequences a step, over all replicas");
  t.add_option("--seq", train.seq, "tokens a sequence");
  t.add_option("--zero", train.zero, "ZeRO stage, 0 to 3");
  t.add_option("--shard", train.shard, "replicas that share states under ZeRO; without, all");
  t.add_flag_function(
      "--sp,!--no-sp", [this](std::int64_t count) { train.sp = count > 0; },
      "sequence parallelism; without, as the runtime does");
  t.add_option("--recompute", train.recompute, "none, selective or full");
  t.add_option("--recompute-layers", train.recompute_layers, "of a stage, when full");
  t.add_option("--recompute-modules", train.recompute_modules,
               "parts beyond that: norms,activation,mlp,experts,latent")
      ->delimiter(',');
  t.add_option("--schedule", train.schedule, "1f1b, gpipe or zero-bubble");
  t.add_option("--context", train.context, "context parallelism by ring or all-to-all");
  t.add_option("--order", train.order, "what lies inside a node: tp-cp-ep-dp-pp, tp-cp-ep-pp-dp");
  t.add_flag("--offload", train.offload, "optimizer states live in host memory");
  t.add_option("--precision", train.precision, "of the multiplies: bf16 fp16 fp8 fp4 tf32 fp32");
  t.add_option("--optimizer", train.optimizer, "adamw or adamw-bf16-states");
}

void Program::add_train() {
  CLI::App* t = command(app, "train", "a training step: its time, its memory, and why",
                        "sextant train --model gpt3-175b --system dgx-a100 --gpus 64 --tp 8 --pp 8 "
                        "--interleave 3 --sp --recompute selective --batch 64 --seq 2048",
                        [this] { return run_train(train, common); });
  train_options(*t);
  t->add_flag("--explain", train.explain, "every operator of the slowest stage");
  t->add_flag("--sensitivity", train.sensitivity, "what a tenth more of each resource changes");
  t->add_option("--trace", train.trace, "write a timeline for ui.perfetto.dev: out.json");
}

void Program::infer_options(CLI::App& i) {
  // Here --output counts tokens; the file keeps its short name.
  i.remove_option(i.get_option("--output"));
  i.add_option("-o", common.output, "write to this file instead of standard output");
  i.add_option("--model", infer.model, "model preset, file or Hugging Face config.json")
      ->required();
  i.add_option("--system", infer.system, "system preset or file")->required();
  i.add_option("--runtime", infer.runtime, "software stack; without, trtllm");
  i.add_option("--tp", infer.tp, "tensor-parallel degree");
  i.add_option("--pp", infer.pp, "pipeline stages");
  i.add_option("--dp", infer.dp, "replicas of attention, each with its share of the batch");
  i.add_option("--ep", infer.ep, "expert-parallel degree, over the ranks of tp and dp");
  i.add_option("--batch", infer.batch, "requests at a time");
  i.add_option("--input", infer.input, "tokens of a prompt");
  i.add_option("--output", infer.output, "tokens generated");
  i.add_option("--batching", infer.batching, "static, or closed-loop: what ends is replaced");
  i.add_option("--chunk", infer.chunk, "prompt tokens that join a decode step; without, whole");
  i.add_option("--precision", infer.precision,
               "of the weights: bf16 fp16 fp8 fp4; int8 and int4: weights alone");
  i.add_option("--kv-precision", infer.kv_precision, "of the cache: bf16 fp16 fp8 int8");
  i.add_option("--speculate", infer.speculate, "tokens a draft model proposes a step");
  i.add_option("--acceptance", infer.acceptance, "chance that one of them is right");
  i.add_option("--draft-cost", infer.draft_cost, "a draft step over a step of the model");
  i.add_flag("--allow-long", infer.allow_long, "go on with a context beyond the model's");
}

void Program::add_infer() {
  CLI::App* i = command(app, "infer", "requests served: latency, throughput, memory, and why",
                        "sextant infer --model llama2-13b --system dgx-h100 --tp 2 --batch 1 "
                        "--input 200 --output 200",
                        [this] { return run_infer(infer, common); });
  infer_options(*i);
  i->add_flag("--curve", infer.curve, "batch sizes from 1 to the largest that fits");
  i->add_flag("--sensitivity", infer.sensitivity, "what a tenth more of each resource changes");
  i->add_flag("--explain", infer.explain, "every operator of a prefill and a decode pass");
  i->add_option("--plot", infer.plot, "write a figure of the curve: out.svg or out.html");
}

void Program::add_ops_of_scenarios(CLI::App& parent) {
  CLI::App* i = command(parent, "infer", "every operator of one pass of serving, and its roofline",
                        "sextant ops infer --model llama2-13b --system dgx-h100 --tp 2 "
                        "--phase decode --plot roofline.svg",
                        [this] { return run_ops_infer(infer, common); });
  infer_options(*i);
  i->add_option("--phase", infer.phase, "prefill or decode")->capture_default_str();
  i->add_option("--context", infer.context, "tokens a sequence looks at, its own included");
  i->add_option("--plot", infer.plot, "write the roofline: out.svg or out.html");
  CLI::App* t = command(parent, "train", "every operator of a training step, and its roofline",
                        "sextant ops train --model llama3.1-8b --system dgx-h100 --gpus 8 --tp 2",
                        [this] { return run_ops_train(train, ops_plot, common); });
  train_options(*t);
  t->add_option("--plot", ops_plot, "write the roofline: out.svg or out.html");
}

void Program::add_tech() {
  CLI::App* t = command(app, "tech", "a device from technology and budgets, and where they go",
                        "sextant tech --node n3 --dram hbm4 --area '814 mm2' --power '1000 W' "
                        "-o dev.toml",
                        [this] { return run_tech(tech, common); });
  t->add_option("--node", tech.node, "logic process: 'sextant list nodes'")->required();
  t->add_option("--dram", tech.dram, "memory: 'sextant list drams'")->required();
  t->add_option("--core", tech.core, "core template: 'sextant list cores'; without, by node");
  t->add_option("--area", tech.area, "of one die, such as '814 mm2'");
  t->add_option("--dies", tech.dies, "dies of the package");
  t->add_option("--power", tech.power, "board limit, such as '700 W'; without, what it needs");
  t->add_option("--stacks", tech.stacks, "parts of memory; without, as many as the edge holds");
  t->add_option("--spare-stacks", tech.spare_stacks, "places for memory left empty");
  t->add_option("--links", tech.links, "links between devices");
  t->add_option("--link-gen", tech.link_gen, "their kind: 'sextant list links'");
  t->add_option("--network", tech.network, "link between nodes")->capture_default_str();
  t->add_option("--l2", tech.l2, "last-level cache as sold, such as '50 MiB'");
  t->add_option("--plot", tech.plot, "write a figure: out.svg or out.html");
  t->add_flag("--system", tech.system, "with -o out.toml: nodes of eight, not the device alone");
  t->add_option("--optimise,--optimize", tech.optimise, "split for a workload: train or infer");
  t->add_option("--objective", tech.objective, "time, or energy or cost of a token")
      ->capture_default_str();
  t->add_option("--model", tech.model, "of that workload: gpt3-6.7b, or llama2-13b to serve");
  t->add_option("--precision", tech.precision, "of the multiplies");
  t->add_option("--gpus", tech.gpus, "devices; to train 1024");
  t->add_option("--tp", tech.tp, "tensor-parallel degree; to train 4");
  t->add_option("--pp", tech.pp, "pipeline stages; to train 4");
  t->add_option("--batch", tech.batch, "sequences; to train 512");
  t->add_option("--seq", tech.seq, "tokens a sequence, to train");
  t->add_option("--input", tech.input, "tokens of a prompt, to serve");
  t->add_option("--output-tokens", tech.output_tokens, "tokens generated, to serve");
}

void Program::add_study() {
  CLI::App* s = command(app, "study", "a published analysis, reproduced: a table and a figure",
                        "sextant study training-validation -o studies",
                        [this] { return run_study(study, common); });
  s->add_option("name", study.name,
                "training-validation, memory-footprint, inference-validation, gemm-bounds, "
                "gpu-generations, node-scaling, dram-scaling, bottleneck-evolution or all")
      ->required();
  // Here -o is a folder: a study is several files.
  s->remove_option(s->get_option("--output"));
  s->add_option("-o,--output", study.folder, "write its CSV, JSON, SVG and Markdown here");
}

Program::Program() {
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("sextant ") + SEXTANT_VERSION);
  app.footer("Each command has --help with an example.");
  CLI::App* l = command(app, "list", "the presets", "sextant list devices",
                        [this] { return run_list(list, common); });
  l->add_option("kind", list.kind,
                "devices, systems, models, runtimes, kernels, nodes, drams, links or cores");
  CLI::App* s = command(app, "show", "one preset, or what may be set",
                        "sextant show h100-sxm --toml > mine.toml",
                        [this] { return run_show(show, common); });
  s->add_option("name", show.name, "a preset, a file, or with --fields a kind")->required();
  s->add_option("--kind", show.kind,
                "device, system, model, runtime, kernel, node, dram, link or core");
  s->add_flag("--toml", show.toml, "as a file to start your own from");
  s->add_flag("--json", show.json, "in SI base units");
  s->add_flag("--fields", show.fields, "every field, its type, default and meaning");
  add_train();
  add_infer();
  add_tech();
  add_study();
  CLI::App* o =
      app.add_subcommand("ops", "kernels, one or all of a scenario: time, traffic, what bounds it");
  o->require_subcommand(1);
  add_ops(*o);
  add_ops_of_scenarios(*o);
  CLI::App* v = command(app, "validate", "predicted against measured, by source",
                        "sextant validate --cases gemm.csv --plot accuracy.svg",
                        [this] { return run_validate(validate, common); });
  v->add_option("--cases", validate.cases, "case files; without, those inside the program");
  v->add_option("--plot", validate.plot, "write a figure: out.svg or out.html");
  v->add_flag("--by-device", validate.by_device, "a line for each device of a file");
  v->add_flag("--by-metric", validate.by_metric, "a line for each metric of a file");
  v->add_flag("--leave-families-out", validate.leave_families_out,
              "refit without each family of shapes, and predict it (minutes)");
  v->add_flag("--leave-devices-out", validate.leave_devices_out,
              "predict each device's GEMMs with constants fitted to the others");
  CLI::App* c = command(app, "calibrate", "fit a device or a kernel library to measurements",
                        "sextant calibrate --cases gemm.csv --device h200-sxm -o my.toml",
                        [this] { return run_calibrate(calibrate, common); });
  c->add_option("--cases", calibrate.cases, "case files; without, those inside the program");
  c->add_option("--device", calibrate.device, "fit this device's mechanism to its GEMMs");
  c->add_option("--kernels", calibrate.kernels, "fit this kernel library");
  c->add_flag("--defaults", calibrate.defaults, "fit one mechanism to all devices at once");
  c->add_option("--folds", calibrate.folds, "parts of which one at a time is left out")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  c->add_option("--evaluations", calibrate.evaluations, "of the objective, each fit")
      ->check(CLI::Range(10, 1000000))
      ->capture_default_str();
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

// CLI11 names the argument but not what may have been meant.
std::string suggestion(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* at = &app;
  for (const std::string& a : arguments) {
    if (a.starts_with("-")) {
      std::vector<std::string> options;
      for (const CLI::Option* o : at->get_options()) {
        for (const std::string& n : o->get_lnames()) options.push_back("--" + n);
        for (const std::string& n : o->get_snames()) options.push_back("-" + n);
      }
      const std::string flag = a.substr(0, a.find('='));
      if (std::find(options.begin(), options.end(), flag) != options.end()) continue;
      const std::string hint = did_you_mean(flag, options);
      if (!hint.empty()) return hint;
      continue;
    }
    const std::vector<std::string> names = names_of_commands(*at);
    if (names.empty()) continue;
    if (std::find(names.begin(), names.end(), a) != names.end()) {
      at = at->get_subcommand(a);
      continue;
    }
    return did_you_mean(a, names);
  }
  return "";
}

std::string page(const std::string& text) {
  std::string html = "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Sextant</title>\n<pre>";
  for (const char ch : text) {
    switch (ch) {
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '&':
        html += "&amp;";
        break;
      default:
        html += ch;
    }
  }
  return html + "</pre>\n";
}

int fail(const std::string& message, int status) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return status;
}

int answer(Program& p) {
  parse_enum(p.format, p.common.format);
  if (!p.common.output.empty()) check_writable(p.common.output);
  std::string text = p.run();
  if (p.common.format == Format::html && !text.starts_with("<!")) text = page(text);
  if (!p.common.output.empty()) {
    write_file_atomically(p.common.output, text);
    return 0;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::system_error(errno, std::generic_category(), "standard output");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Program p;
  try {
    p.app.parse(argc, argv);
    return answer(p);
  } catch (const CLI::Success& e) {
    return p.app.exit(e);
  } catch (const CLI::ParseError& e) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::string hint = suggestion(p.app, arguments);
    return fail("sextant: " + std::string(e.what()) + (hint.empty() ? "" : "; " + hint) +
                    "\n'sextant --help' lists the commands",
                2);
  } catch (const InputError& e) {
    return fail(e.what(), 2);
  } catch (const std::system_error& e) {
    return fail("sextant: " + std::string(e.what()), 3);
  } catch (const std::bad_alloc&) {
    return fail("sextant: out of memory", 3);
  } catch (const std::exception& e) {
    return fail("sextant: internal error: " + std::string(e.what()), 3);
  }
}
