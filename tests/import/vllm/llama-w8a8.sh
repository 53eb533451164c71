# SPDX-License-Identifier: Apache-2.0
vllm serve RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w8a8 --quantization compressed-tensors -tp 2 --max-model-len 16384
