"""Private learners in other people's tools; each module needs the tool that it is named after."""
