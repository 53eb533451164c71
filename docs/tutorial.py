# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Sextant in Python
# Cells of this file run in VS Code and Jupyter (jupytext), and from top to bottom as a test.

# %% A training step, and why it takes as long as it does
import sextant

step = sextant.train(model="gpt3-175b", system="dgx-a100", gpus=64, tp=8, pp=8, interleave=3,
                     recompute="selective", batch=64, seq=2048)
print(step)

# %% Every number is an attribute, in SI base units
print(f"{step.step_seconds:.2f} s a step, MFU {step.mfu:.1%}, {step.memory.total_bytes / 2**30:.1f} GiB")
for part in step.breakdown.parts:
    print(f"{part.label:15} {part.seconds:7.3f} s {part.share:6.1%}")

# %% What if? Any field of the hardware may be changed
for bandwidth in ("2 TB/s", "4 TB/s", "8 TB/s"):
    token = sextant.infer(model="llama3-70b", system="dgx-h100", tp=4, batch=16, input=1024, output=256,
                          set={"device.memory.bandwidth": bandwidth})
    print(f"{bandwidth}: {token.tpot_seconds * 1e3:.2f} ms a token")

# %% The strategy that trains fastest, and what else is worth a look
found = sextant.search(model="gpt3-175b", system="dgx-a100", gpus=512, batch=512, fix=["tp=8"], limit=["pp<=16"])
print(f"{found.evaluated} strategies in {found.seconds:.2f} s")
for one in found.best[:3]:
    print(f"{one.prediction.step_seconds:.2f} s  {one.summary}")

# %% Tables for pandas, where it is installed
operators = sextant.ops.train(model="llama3.1-8b", system="dgx-h100", gpus=8, tp=2).operators
try:
    frame = operators.frame()
    print(frame.sort_values("share", ascending=False)[["part", "name", "pass", "share", "bound"]].head())
except ImportError:
    print(len(operators), "operators; install pandas to see them as a table")

# %% A model of your own: the dictionary of a Hugging Face config.json
mine = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 3072, "intermediate_size": 8192,
    "num_hidden_layers": 28, "num_attention_heads": 24, "num_key_value_heads": 8, "vocab_size": 128256,
    "max_position_embeddings": 131072, "hidden_act": "silu", "tie_word_embeddings": True,
}
print(f"{sextant.infer(model=mine, system='h200-single', input=512, output=128).tpot_seconds * 1e3:.2f} ms a token")

# %% Errors say what was expected, all at once
try:
    sextant.train(model="gpt3-175", system="dgx-a100", tp=8)
except sextant.InputError as error:
    print(error)
