"""What a mistake of the published hypothesis says, for classes in which it says enough."""
