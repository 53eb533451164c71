#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# DeepSeek-V3's shape with latent attention.
torchrun --nproc_per_node 8 --nnodes 32 pretrain_gpt.py --num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 \
  --kv-channels 128 --multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128 \
  --qk-layernorm --num-experts 256 --moe-layer-freq '([0]*3+[1]*58)' --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 \
  --moe-router-topk 8 --moe-router-num-groups 8 --moe-router-group-topk 4 --moe-router-score-function sigmoid --moe-router-enable-expert-bias \
  --moe-router-load-balancing-type seq_aux_loss --moe-token-dispatcher-type flex --moe-enable-deepep --moe-grouped-gemm --moe-permute-fusion \
  --swiglu --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights --position-embedding-type rope \
  --seq-length 4096 --max-position-embeddings 163840 --vocab-size 129280 --make-vocab-size-divisible-by 1280 --tokenizer-type HuggingFaceTokenizer \
  --tensor-model-parallel-size 1 --pipeline-model-parallel-size 8 --expert-model-parallel-size 32 --expert-tensor-parallel-size 1 \
  --decoder-last-pipeline-num-layers 5 --micro-batch-size 1 --global-batch-size 2048 --bf16 --fp8-format e4m3 --fp8-recipe blockwise \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --recompute-granularity selective --recompute-modules mla_up_proj layernorm moe_act \
  --mtp-num-layers 1 --cross-entropy-loss-fusion
