# SPDX-License-Identifier: Apache-2.0
python -m sglang.launch_server --model Qwen/Qwen3-235B-A22B-FP8 --tp-size 4 --ep-size 4 --kv-cache-dtype fp8_e4m3 \
  --context-length 32768 --schedule-conservativeness 0.8 --page-size 64 --enable-metrics --log-level warning
