# SPDX-License-Identifier: Apache-2.0
python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct --host 0.0.0.0 --port 30000 --mem-fraction-static 0.85
