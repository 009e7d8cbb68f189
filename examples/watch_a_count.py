"""Watch a private count with AboveThreshold, publish a histogram, and read the ledger."""

import littlestone as ls

ledger = ls.Ledger(budget=ls.PrivacyGuarantee(epsilon=1.0, delta=1e-6), private=True)

watch = ls.mechanisms.CountAboveThreshold(epsilon=0.5, threshold=40)
ledger.charge("CountAboveThreshold", watch.guarantee(), first=1, last=100_000)
run = watch.start(rng=ls.secure())
fired = run.observe_block(range(0, 100_000, 1000), 100_000)  # a one in every thousandth round
print(f"the noisy count passed 40 in round {fired}")

histogram = ls.mechanisms.PrivateHistogram(epsilon=0.5, delta=1e-6)
ledger.charge("PrivateHistogram", histogram.guarantee(), first=1, last=100_000)
released = histogram.release({"rare": 3, "common": 500}, rng=ls.secure())
print(f"released {sorted(released)}; every count is right to within {histogram.error_bound}")

print(ledger.text())
