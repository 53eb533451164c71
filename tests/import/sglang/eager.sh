# SPDX-License-Identifier: Apache-2.0
python -m sglang.launch_server --model-path mistralai/Mixtral-8x7B-Instruct-v0.1 --tp 2 --disable-cuda-graph --enable-mixed-chunk --dtype bfloat16 --chunked-prefill-size -1
