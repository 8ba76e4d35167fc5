"""Prints the processor seconds that mlx-vlm's network takes for the calls of nemotron-169m: 512 rows of the causal
context, of which one is wanted, and a block of 32 rows behind them. Weights are random, float32, on the CPU.

    python3 -m venv venv && venv/bin/pip install mlx-vlm==0.7.10 "mlx[cpu]"
    venv/bin/python tools/large/nemotronmlx.py
"""

import time

import mlx.core as mx
from mlx_vlm.models import nemotron_labs_diffusion

PAST, BLOCK, VOCABULARY = 512, 32, 50258
network = nemotron_labs_diffusion.Model(
    nemotron_labs_diffusion.ModelConfig(
        vocab_size=VOCABULARY, hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12,
        num_key_value_heads=12, head_dim=64, max_position_embeddings=1024, rope_theta=10000, mask_token_id=VOCABULARY - 1,
    )
).language_model
mx.eval(network.parameters())
cache = network.make_cache()


def call(rows, wanted, causal):
    begin = time.process_time()
    hidden = network.model(mx.arange(1000, 1000 + rows)[None], cache=cache, use_causal_mask=causal)
    mx.eval(network.diffusion_head(hidden[:, -wanted:]))
    print(f"{rows} rows, {wanted} wanted: {time.process_time() - begin:.2f} s of processors", flush=True)


for _ in range(3):
    call(PAST, 1, True)
    for _ in range(3):
        call(BLOCK, BLOCK, False)
        for layer in cache:
            layer.trim(BLOCK)
    for layer in cache:
        layer.trim(PAST)
