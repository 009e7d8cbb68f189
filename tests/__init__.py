"""A package, since some of what is installed has one of this name, too."""
