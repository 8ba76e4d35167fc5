"""Writes mlx-vlm's float32 rows of a folder of LLaDA2, for `mdmgen verify FOLDER --golden FILE`, as a second witness
beside the outputs of the authors' code:

    python3 -m venv venv && venv/bin/pip install mlx-vlm==0.7.10 "mlx[cpu]"
    venv/bin/python tools/reference/llada2mlx.py FOLDER BLOCK MASK FILE

BLOCK is the length of the blocks that rows see no further than, MASK the id of MASK. The canvases are random.
"""

import json
import pathlib
import sys

import mlx.core as mx
import numpy as np
from mlx_vlm.models import llada2_moe

folder, block, mask, out = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
config = llada2_moe.ModelConfig.from_dict(json.loads((folder / "config.json").read_text()))
weights = {}
for file in sorted(folder.glob("model*.safetensors")):
    weights.update(mx.load(str(file)))
model = llada2_moe.Model(config)
model.load_weights(list(model.sanitize({k: v.astype(mx.float32) for k, v in weights.items()}).items()))

rng, tensors = np.random.default_rng(1), {}
for n, (rows, length) in enumerate([(2, 24), (1, 1), (3, 3 * block), (1, config.max_position_embeddings)]):
    ids = rng.integers(0, config.vocab_size, (rows, length))
    ids[rng.random((rows, length)) < [0.5, 1, 0, 0.3][n]] = mask
    blocks = np.arange(length) // block
    seen = mx.array(blocks[None, None, :, None] >= blocks[None, None, None, :])
    tensors[f"input_ids.{n}"] = mx.array(ids.astype(np.int64))
    tensors[f"logits.{n}"] = model(tensors[f"input_ids.{n}"], mask=seen).logits
mx.save_safetensors(out, tensors)
