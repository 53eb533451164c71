#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Llama 3 8B in 8 bits on one node.
TP=${TP:-1}
CP=${CP:-1}
GPUS=8
torchrun --nproc_per_node=$GPUS --nnodes=1 pretrain_gpt.py --use-mcore-models --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \
  --num-attention-heads 32 --group-query-attention --num-query-groups 8 --kv-channels 128 --seq-length 8192 --max-position-embeddings 8192 \
  --position-embedding-type rope --rotary-base 1000000 --rotary-percent 1.0 --attention-dropout 0.0 --hidden-dropout 0.0 --swiglu \
  --init-method-std 0.0134 --attention-backend fused --apply-layernorm-1p --untie-embeddings-and-output-weights --disable-bias-linear \
  --normalization RMSNorm --micro-batch-size 1 --global-batch-size 128 --train-samples 1953125000 --lr 0.00015 --min-lr 0.00001 \
  --lr-decay-style cosine --clip-grad 1.0 --weight-decay 0.1 --adam-beta1 0.9 --adam-beta2 0.95 --bf16 --grad-reduce-in-bf16 \
  --cross-entropy-loss-fusion --calculate-per-token-loss --manual-gc --empty-unused-memory-level 1 --fp8-format hybrid \
  --fp8-amax-history-len 1024 --fp8-amax-compute-algo max --fp8-param-gather --tensor-model-parallel-size $TP --context-parallel-size $CP \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --mock-data --tokenizer-type NullTokenizer --vocab-size 128256 \
  --tiktoken-pattern v2 --num-workers 1 --log-interval 1 --eval-iters 32 --ckpt-format torch_dist --distributed-timeout-minutes 60 "$@"
