"""What a record is made of: its fields, as they are declared, and the parts of dates."""
