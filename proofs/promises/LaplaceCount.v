(** privacy/mechanisms/laplace_count.py with noise/geometric.py: a whole number, and two-sided noise. *)
From Coq Require Import ZArith Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine CountAboveThreshold.
Open Scope R_scope.

Section Noise.
Variable q : rate.

(** DiscreteLaplace.draw: the difference of two independent geometric numbers. *)
Definition discrete_laplace : law Z :=
  bind (geometric q) (fun x => bind (geometric q) (fun y => ret (Z.of_nat x - Z.of_nat y)%Z)).
(** (L1) *)
Definition release (count : Z) : law Z := bind discrete_laplace (fun k => ret (count + k)%Z).

Let noisy (c : Z) (f : Z -> R) := geometric q (fun x => geometric q (fun y => f (c + Z.of_nat x - Z.of_nat y)%Z)).
Lemma release_noisy c f : release c f = noisy c f.
Proof.
  unfold release, discrete_laplace, noisy. cbn [bind ret E]. f_equal. apply functional_extensionality. intro x.
  f_equal. apply functional_extensionality. intro y. f_equal. lia.
Qed.
Lemma one_more c f : bounded f -> q * release (c + 1) f <= release c f.
Proof.
  intro Hf. rewrite !release_noisy. unfold noisy.
  set (g := fun x => geometric q (fun y => f (c + Z.of_nat x - Z.of_nat y)%Z)).
  assert (Bg : bounded g).
  { unfold g. apply (bounded_E1 (fun x => bind (geometric q) (fun y => ret (c + Z.of_nat x - Z.of_nat y)%Z))). exact Hf. }
  replace (fun x => geometric q (fun y => f (c + 1 + Z.of_nat x - Z.of_nat y)%Z)) with (fun x => g (S x)).
  - now apply geometric_shift.
  - apply functional_extensionality. intro x. unfold g. f_equal. apply functional_extensionality. intro y. f_equal. lia.
Qed.
Lemma one_less c f : bounded f -> q * release (c - 1) f <= release c f.
Proof.
  intro Hf. rewrite !release_noisy. unfold noisy. pose proof (base_01 q).
  assert (B : forall c, bounded (fun x => geometric q (fun y => f (c + Z.of_nat x - Z.of_nat y)%Z))).
  { intro c'. apply (bounded_E1 (fun x => bind (geometric q) (fun y => ret (c' + Z.of_nat x - Z.of_nat y)%Z))). exact Hf. }
  rewrite <- E_scal by (lra || apply B). apply E_mono; [apply bounded_scal; [lra|apply B]|apply B|].
  intro x. set (g := fun y => f (c + Z.of_nat x - Z.of_nat y)%Z).
  replace (fun y => f (c - 1 + Z.of_nat x - Z.of_nat y)%Z) with (fun y => g (S y)).
  - apply geometric_shift. now apply (bounded_after f).
  - apply functional_extensionality. intro y. unfold g. f_equal. lia.
Qed.

(** P(k) = (1 - q) / (1 + q) * q^|k|, as the docstring of DiscreteLaplace has it. *)
Let at_value (k n : Z) : R := if Z.eqb n k then 1 else 0.
Lemma at_value_test k n : 0 <= at_value k n <= 1.
Proof. unfold at_value. destruct (Z.eqb n k); lra. Qed.
Lemma geometric_at n : geometric q (fun k => if Nat.eqb k n then 1 else 0) = (1 - q) * q ^ n.
Proof.
  assert (B : forall n, bounded (fun k => if Nat.eqb k n then 1 else 0))
    by (intro m; apply bounded_test; intro k; destruct (Nat.eqb k m); lra).
  induction n as [|n IH]; rewrite geometric_step by apply B; cbn [Nat.eqb pow].
  - rewrite E_zero. ring.
  - rewrite IH. ring.
Qed.
Lemma discrete_laplace_at k : discrete_laplace (at_value k) = (1 - q) / (1 + q) * q ^ Z.to_nat (Z.abs k).
Proof.
  pose proof (base_01 q) as Hq. unfold discrete_laplace. cbn [bind ret E].
  assert (Pq : forall n, 0 <= q ^ n <= 1) by (intro n; pose proof (pow_01 q n); lra).
  assert (Sq : geometric q (fun y => q ^ y) = 1 / (1 + q)).
  { rewrite geometric_power. field. nra. }
  destruct (Z.le_ge_cases 0 k) as [K|K].
    transitivity (geometric q (fun y => (1 - q) * q ^ Z.to_nat (Z.abs k) * q ^ y)).
    + transitivity (geometric q (fun y => geometric q (fun x => at_value k (Z.of_nat x - Z.of_nat y)%Z))).
      * apply (geometric_swap q (geometric q) (fun y x => at_value k (Z.of_nat x - Z.of_nat y)%Z) 1); [lra|].
        intros; apply at_value_test.
      * f_equal. apply functional_extensionality. intro y.
        rewrite Rmult_assoc, <- pow_add, <- geometric_at. f_equal. apply functional_extensionality. intro x.
        unfold at_value. destruct (Z.eqb_spec (Z.of_nat x - Z.of_nat y) k), (Nat.eqb_spec x (Z.to_nat (Z.abs k) + y)); try reflexivity; lia.
    + rewrite (E_scal (geometric q) _ (fun n => q ^ n)); [|specialize (Pq (Z.to_nat (Z.abs k))); nra|now apply bounded_test]. rewrite Sq. field. lra.
  - transitivity (geometric q (fun x => (1 - q) * q ^ Z.to_nat (Z.abs k) * q ^ x)).
    + f_equal. apply functional_extensionality. intro x.
      rewrite Rmult_assoc, <- pow_add, <- geometric_at. f_equal. apply functional_extensionality. intro y.
      unfold at_value. destruct (Z.eqb_spec (Z.of_nat x - Z.of_nat y) k), (Nat.eqb_spec y (Z.to_nat (Z.abs k) + x)); try reflexivity; lia.
    + rewrite (E_scal (geometric q) _ (fun n => q ^ n)); [|specialize (Pq (Z.to_nat (Z.abs k))); nra|now apply bounded_test]. rewrite Sq. field. lra.
Qed.
End Noise.

Section Promise.
Variables (r : R) (Hr : 0 < r).
Let q := at_rate r Hr.

Lemma steps n : forall c f, bounded f ->
  release q (c + Z.of_nat n) f <= exp (r * INR n) * release q c f /\
  release q (c - Z.of_nat n) f <= exp (r * INR n) * release q c f.
Proof.
  assert (Q : exp r * q = 1) by (unfold q; simpl; apply exp_opp). pose proof (exp_pos r) as Er.
  induction n as [|n IH]; intros c f Hf.
  - simpl. rewrite Z.add_0_r, Z.sub_0_r, Rmult_0_r, exp_0. lra.
  - rewrite S_INR, Rmult_plus_distr_l, Rmult_1_r, exp_plus, Nat2Z.inj_succ.
    replace (c + Z.succ (Z.of_nat n))%Z with (c + 1 + Z.of_nat n)%Z by lia.
    replace (c - Z.succ (Z.of_nat n))%Z with (c - 1 - Z.of_nat n)%Z by lia.
    pose proof (exp_pos (r * INR n)) as En.
    assert (Up : release q (c + 1) f <= exp r * release q c f).
    { pose proof (one_more q c f Hf) as O. apply Rmult_le_compat_l with (r := exp r) in O; [|lra].
      rewrite <- Rmult_assoc, Q in O. lra. }
    assert (Down : release q (c - 1) f <= exp r * release q c f).
    { pose proof (one_less q c f Hf) as O. apply Rmult_le_compat_l with (r := exp r) in O; [|lra].
      rewrite <- Rmult_assoc, Q in O. lra. }
    rewrite Rmult_assoc. split.
    + apply Rle_trans with (1 := proj1 (IH (c + 1)%Z f Hf)). apply Rmult_le_compat_l; lra.
    + apply Rle_trans with (1 := proj2 (IH (c - 1)%Z f Hf)). apply Rmult_le_compat_l; lra.
Qed.
End Promise.

Lemma rate_positive epsilon sensitivity : 0 < epsilon -> (0 < sensitivity)%Z -> 0 < epsilon / IZR sensitivity.
Proof. intros He Hs. apply Rdiv_lt_0_compat; [exact He|now apply IZR_lt]. Qed.

(** The promise of privacy/mechanisms/laplace_count.py, LaplaceCount:

    Privacy (of each release):
        Releases:   one whole number
        Neighbours: inputs whose counts differ by at most ``sensitivity``
        Adversary:  adaptive; counts may depend on everything released before
        Guarantee:  (epsilon, 0)
        Assumes:    honest-caller (the sensitivity is true)
        Proof:      laplace_count.md
        Checked:    proofs/promises/LaplaceCount.v, theorem laplace_count_private *)
Theorem laplace_count_private epsilon (He : 0 < epsilon) sensitivity (Hs : (0 < sensitivity)%Z) count count' :
  (Z.abs (count' - count) <= sensitivity)%Z ->
  private epsilon 0 (fun world : bool =>
    release (at_rate (epsilon / IZR sensitivity) (rate_positive epsilon sensitivity He Hs)) (if world then count' else count)).
Proof.
  intros H world f Hf. rewrite Rplus_0_r. set (r := epsilon / IZR sensitivity). set (Hr := rate_positive _ _ _ _).
  assert (Bf : bounded f) by now apply bounded_test.
  set (c := if world then count' else count). set (c' := if negb world then count' else count).
  assert (D : (Z.abs (c - c') <= sensitivity)%Z) by (unfold c, c'; destruct world; simpl; lia).
  set (n := Z.to_nat (Z.abs (c - c'))).
  assert (Le : exp (r * INR n) <= exp epsilon).
  { apply exp_le. replace epsilon with (r * IZR sensitivity) by (unfold r; field; apply Rgt_not_eq, IZR_lt; lia).
    apply Rmult_le_compat_l; [left; exact Hr|]. rewrite INR_IZR_INZ. apply IZR_le. unfold n. lia. }
  pose proof (E_pos (release (at_rate r Hr) c') f Bf) as P.
  assert (S : release (at_rate r Hr) c f <= exp (r * INR n) * release (at_rate r Hr) c' f).
  { destruct (steps r Hr n c' f Bf) as [U V]. destruct (Z.le_ge_cases c' c).
    - replace c with (c' + Z.of_nat n)%Z by (unfold n; lia). exact U.
    - replace c with (c' - Z.of_nat n)%Z by (unfold n; lia). exact V. }
  nra.
Qed.
(* main: discrete_laplace_at, laplace_count_private *)
