"""The screen of `share-state top`: groups, their share partitions, and the records of one, as a terminal program.

Needs the package ``textual`` (extra ``ops``). `app` is the program, `feed` the thread that follows the cluster. All else is what
is shown (plain data and text: `figures`, `column`, `levels`, `records`, `timeline`) and how (`grid` and the screens).
"""
