# SPDX-License-Identifier: Apache-2.0
vllm serve deepseek-ai/DeepSeek-V3 --tensor-parallel-size 1 --data-parallel-size 32 --data-parallel-size-local 8 \
  --enable-expert-parallel --all2all-backend deepep_high_throughput --enable-dbo --dbo-prefill-token-threshold 512 \
  --enable-eplb --eplb-config '{"num_redundant_experts": 32, "window_size": 1000}' --max-num-seqs 512
