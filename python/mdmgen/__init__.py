"""Masked diffusion language models, by the program mdmgen."""
