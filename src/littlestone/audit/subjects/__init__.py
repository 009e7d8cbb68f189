"""What is audited: correct mechanisms and learners, each with the adversary that knows it best."""
