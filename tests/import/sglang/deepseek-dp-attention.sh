# SPDX-License-Identifier: Apache-2.0
python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 --enable-dp-attention --dp 8 \
  --moe-a2a-backend deepep --deepep-mode auto --trust-remote-code --cuda-graph-max-bs 128 --max-running-requests 1024 \
  --attention-backend fa3 --disable-radix-cache --chunked-prefill-size 16384
