"""The oblivious realizable learner whose mistakes grow like a polynomial of the dimension."""
