"""Who plays the two-world game: adversaries, each built against one mechanism or one mistake."""
