"""The site of `make docs`: the pages of the repository, and a reference made from docstrings, stubs and help texts."""
