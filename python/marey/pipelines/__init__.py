"""How pipelines that know nothing of Marey are recorded; ``marey.diffusers`` is the public face."""
