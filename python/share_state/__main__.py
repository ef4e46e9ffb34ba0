"""`python -m share_state`: the same command line as `share-state`."""

from share_state.cli import main

if __name__ == "__main__":
    main()
