#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
NNODES=8
WORLD_SIZE=$((8*$NNODES))
DISTRIBUTED_ARGS="--nproc_per_node 8 --nnodes $NNODES --node_rank ${RANK:-0}"
MODEL_ARGS="
    --disable-bias-linear
    --seq-length 4096
    --max-position-embeddings 32768
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --init-method-std 0.01
    --attention-dropout 0.0
    --hidden-dropout 0.0
    --normalization RMSNorm
    --position-embedding-type rope
    --swiglu
    --untie-embeddings-and-output-weights
    --group-query-attention
    --num-query-groups 8
    --no-masked-softmax-fusion
    --no-position-embedding
"
MOE_ARGS="--num-experts 8 --expert-model-parallel-size 8 --moe-router-load-balancing-type aux_loss --moe-router-topk 2 \
    --moe-aux-loss-coeff 1e-2 --moe-grouped-gemm --moe-token-dispatcher-type alltoall --use-distributed-optimizer"
torchrun $DISTRIBUTED_ARGS pretrain_gpt.py $MODEL_ARGS $MOE_ARGS \
    --tokenizer-type Llama2Tokenizer --tokenizer-model $TOKENIZER_MODEL --data-path $DATA_PATH --split 99990,8,2 \
    --micro-batch-size 1 --global-batch-size 256 --lr 1e-4 --train-iters 500000 --bf16 --clip-grad 1.0 \
    --tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --overlap-grad-reduce --overlap-param-gather --log-throughput
