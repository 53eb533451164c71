# SPDX-License-Identifier: Apache-2.0
python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3-0324 --disaggregation-mode decode --nnodes 9 --node-rank 0 \
  --tp-size 72 --dp-size 72 --enable-dp-attention --moe-a2a-backend deepep --deepep-mode low_latency --enable-two-batch-overlap \
  --ep-num-redundant-experts 32 --ep-dispatch-algorithm static --mem-fraction-static 0.835 --max-running-requests 18432 \
  --context-length 4500 --cuda-graph-max-bs 256 --moe-dense-tp-size 1 --enable-dp-lm-head --trust-remote-code
