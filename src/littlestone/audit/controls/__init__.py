"""Controls: mechanisms and learners with one bug each, which the auditor must find."""
