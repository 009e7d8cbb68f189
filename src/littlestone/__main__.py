"""So that ``python -m littlestone`` is the command ``littlestone``."""

from littlestone.cli.main import main

if __name__ == "__main__":
    main()
