// SPDX-License-Identifier: Apache-2.0
// The fields of a scenario, as requests have them. Written by sextant-manual from the
// descriptions of the commands: after a change, copy build/ui/fields.ts here.
export interface FieldFacts {
  type: string;
  help: string;
  choices?: readonly string[];
}

export const trainFields: Record<string, FieldFacts> = {
  set: {"type":"array","help":"override a field: device.memory.bandwidth='8 TB/s'"},
  model: {"type":"string","help":"model preset, file or Hugging Face config.json"},
  system: {"type":"string","help":"system preset or file"},
  runtime: {"type":"string","help":"software stack; without, the one that is usual on the system"},
  gpus: {"type":"integer","help":"devices; without, what the degrees take"},
  tp: {"type":"integer","help":"tensor-parallel degree"},
  pp: {"type":"integer","help":"pipeline stages"},
  dp: {"type":"integer","help":"replicas; without, what is left of the devices. To serve: of attention, each with its share of the batch"},
  cp: {"type":"integer","help":"context-parallel degree"},
  ep: {"type":"integer","help":"expert-parallel degree, over the ranks of tp, cp and dp"},
  etp: {"type":"integer","help":"tensor-parallel degree inside experts"},
  microbatch: {"type":"integer","help":"sequences in one microbatch"},
  interleave: {"type":"integer","help":"model chunks a stage"},
  zero: {"type":"integer","help":"ZeRO stage, 0 to 3"},
  shard: {"type":"integer","help":"replicas that share states under ZeRO; 0: all"},
  offload: {"type":"boolean","help":"optimizer states live in host memory"},
  context: {"type":"string","help":"how context parallelism moves keys and values","choices":["ring","all-to-all"]},
  order: {"type":"string","help":"which dimension lies inside the node, innermost first","choices":["tp-cp-ep-dp-pp","tp-cp-ep-pp-dp"]},
  sp: {"type":"boolean","help":"sequence parallelism beside tensor parallelism; without, as the runtime does"},
  schedule: {"type":"string","help":"pipeline schedule","choices":["1f1b","gpipe","zero-bubble","zero-bubble-v","dualpipe"]},
  recompute: {"type":"string","help":"activation recomputation","choices":["none","selective","full"]},
  recompute_layers: {"type":"integer","help":"layers of a stage recomputed in full; 0: all"},
  recompute_modules: {"type":"array","help":"parts recomputed beyond that","choices":["norms","activation","mlp","experts","latent","alternate"]},
  precision: {"type":"string","help":"type of the matrix multiplies; int8 and int4: of weights alone, to serve","choices":["fp32","tf32","fp16","bf16","fp8","int8","fp6","fp4","int4"]},
  batch: {"type":"integer","help":"sequences a step, over all replicas"},
  seq: {"type":"integer","help":"tokens a sequence"},
  optimizer: {"type":"string","help":"how weights follow their gradients","choices":["adamw","adamw-bf16-states","adamw-8bit","adafactor","muon","sgd"]},
  lora_rank: {"type":"integer","help":"of adapters on frozen weights; 0: all weights are trained"},
  lora_targets: {"type":"array","help":"projections with adapters: qkv, output, up, down, experts; without, all but experts","choices":["qkv","output","up","down","experts"]},
  adapter: {"type":"string","help":"lora; qlora: frozen weights in 4 bits; dora: lengths of rows beside","choices":["lora","qlora","dora"]},
  frozen: {"type":"array","help":"parts not trained: embedding, attention, mlp, experts, norms, head, vision","choices":["embedding","attention","mlp","experts","norms","head","vision"]},
  images: {"type":"integer","help":"images a sequence, whose tokens are among its own; 0: text alone"},
  predict_ahead: {"type":"integer","help":"layers that predict tokens beyond the next; without, those that the model has"},
};

export const inferFields: Record<string, FieldFacts> = {
  set: {"type":"array","help":"override a field: device.memory.bandwidth='8 TB/s'"},
  model: {"type":"string","help":"model preset, file or Hugging Face config.json"},
  system: {"type":"string","help":"system preset or file"},
  runtime: {"type":"string","help":"software stack; without, the one that is usual on the system"},
  gpus: {"type":"integer","help":"devices; without, what the degrees take"},
  tp: {"type":"integer","help":"tensor-parallel degree"},
  pp: {"type":"integer","help":"pipeline stages"},
  dp: {"type":"integer","help":"replicas; without, what is left of the devices. To serve: of attention, each with its share of the batch"},
  ep: {"type":"integer","help":"expert-parallel degree, over the ranks of tp, cp and dp"},
  precision: {"type":"string","help":"type of the matrix multiplies; int8 and int4: of weights alone, to serve","choices":["fp32","tf32","fp16","bf16","fp8","int8","fp6","fp4","int4"]},
  batch: {"type":"integer","help":"requests at a time"},
  input: {"type":"integer","help":"tokens of a prompt"},
  output: {"type":"integer","help":"tokens generated"},
  batching: {"type":"string","help":"static, or closed-loop: what ends is replaced","choices":["static","closed-loop"]},
  chunk: {"type":"integer","help":"prompt tokens that join a decode step; 0, or without: whole prompts"},
  kv_precision: {"type":"string","help":"type of keys and values","choices":["fp32","tf32","fp16","bf16","fp8","int8","fp6","fp4","int4"]},
  speculate: {"type":"integer","help":"tokens a draft model proposes a step"},
  acceptance: {"type":"number","help":"chance that one of them is right"},
  draft: {"type":"string","help":"model that proposes them; without, the model's own prediction layers, if it has any"},
  draft_cost: {"type":"number","help":"a draft step over a step of the model, whatever drafts"},
  images: {"type":"integer","help":"images a prompt, whose tokens join its own; 0: text alone"},
  placement: {"type":"string","help":"what lives in a device's second memory: overflow, weights, cache, both, spread","choices":["overflow","weights","cache","both","spread"]},
  placed: {"type":"number","help":"share of what --placement names"},
  allow_long: {"type":"boolean","help":"go on with a context beyond the model's"},
};
