"""Run the command ``littlestone`` with ``python -m littlestone``."""

from littlestone.cli.main import main

if __name__ == "__main__":
    main()
