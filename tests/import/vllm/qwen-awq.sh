# SPDX-License-Identifier: Apache-2.0
python3 -m vllm.entrypoints.openai.api_server --model Qwen/Qwen2.5-72B-Instruct-AWQ --quantization awq_marlin \
  -tp 2 --dtype half --enforce-eager --max-model-len 8k --swap-space 4 --seed 1 --block-size 32
