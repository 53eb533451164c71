# SPDX-License-Identifier: Apache-2.0
vllm serve meta-llama/Llama-3.3-70B-Instruct -tp 4 --enable-chunked-prefill \
  --speculative-config '{"method": "eagle3", "model": "yuhuili/EAGLE3-LLaMA3.3-Instruct-70B", "num_speculative_tokens": 3}'
