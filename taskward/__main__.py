"""`python -m taskward` is `taskward`."""

from taskward.cli import main

if __name__ == "__main__":
    main()
