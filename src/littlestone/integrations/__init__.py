"""Private learners work in other people's tools; each module needs the tool of its name."""
