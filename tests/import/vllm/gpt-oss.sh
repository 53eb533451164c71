# SPDX-License-Identifier: Apache-2.0
vllm serve openai/gpt-oss-120b --tensor-parallel-size 2 --max-num-batched-tokens 16K --async-scheduling \
  --compilation-config '{"cudagraph_mode": "FULL_AND_PIECEWISE"}' --max-cudagraph-capture-size 1024 --tool-call-parser openai --enable-auto-tool-choice
