# SPDX-License-Identifier: Apache-2.0
trtllm-serve meta-llama/Llama-3.1-70B-Instruct --backend pytorch --tp_size 8 --max_batch_size 128 --max_num_tokens 16384 --kv_cache_free_gpu_memory_fraction 0.95 --host 0.0.0.0 --port 8000
