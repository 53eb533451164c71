# SPDX-License-Identifier: Apache-2.0
python -m sglang_router.launch_server --model-path meta-llama/Llama-3.3-70B-Instruct --tp 4 --dp 2 --disable-overlap-schedule \
  --quantization fp8 --load-balance-method round_robin
