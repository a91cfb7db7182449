"""The Hypothesis profile of this folder: fresh examples at each run, a blob to replay what fails, no deadline."""

from hypothesis import settings

settings.register_profile("domain", deadline=None, print_blob=True, derandomize=False, max_examples=40)
