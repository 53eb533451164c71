#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Llama 3.1 70B on four devices of a node.
vllm serve meta-llama/Llama-3.1-70B-Instruct \
  --tensor-parallel-size 4 \
  --max-model-len 32768 \
  --max-num-seqs 256 \
  --max-num-batched-tokens 8192 \
  --gpu-memory-utilization 0.92 \
  --host 0.0.0.0 --port 8000 \
  --disable-log-requests
