# SPDX-License-Identifier: Apache-2.0
export VLLM_USE_V1=1
MODEL=deepseek-ai/DeepSeek-R1
DP=8
vllm serve $MODEL --data-parallel-size $DP --enable-expert-parallel --trust-remote-code \
  --kv-cache-dtype fp8 --max-num-seqs 512 --enable-dbo --async-scheduling --served-model-name r1 deepseek-r1 \
  --reasoning-parser deepseek_r1 --no-enable-prefix-caching
