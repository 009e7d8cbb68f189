(** Broken controls of whatever counts: an example that is counted twice, and a count without noise. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours CountAboveThreshold Controls.
Import ListNotations.
Open Scope R_scope.

(** overlapping-instances, counts-not-reset, forest-overlapping-instances, forest-judged-after-seeing: two instances of
    AboveThreshold, of epsilon each, read one and the same round. *)
Definition yes (v : list bool) : R := match v with [true] => 1 | _ => 0 end.
Lemma yes_01 v : 0 <= yes v <= 1.
Proof. unfold yes. destruct v as [|[|] [|? ?]]; lra. Qed.
Lemma one_instance epsilon (H : 0 < epsilon) world : let q := at_rate epsilon H in
  count_above_threshold epsilon H 1 false one_bit 1 world yes = stray q q (if world then 1 else 0).
Proof.
  intro q. unfold count_above_threshold, start. fold q.
  cbn [observe received one_bit challenge counted]. cbn [run bind E]. unfold ensured, no_counters. cbn [bind ret E].
  unfold stray. f_equal. apply functional_extensionality. intro r. destruct world; unfold counted; cbn [count run bind mix ret E].
  - unfold hit. rewrite set_same. cbn [yes]. ring.
  - unfold ensured. rewrite set_same. cbn [ret E]. rewrite shift_set. unfold hit. rewrite set_same. cbn [option_map yes].
    replace (-1 + (1 + Z.of_nat r))%Z with (0 + Z.of_nat r)%Z by lia. ring.
Qed.
Definition counted_twice epsilon H (world : bool) : law (list bool * list bool) :=
  let one := count_above_threshold epsilon H 1 false one_bit 1 world in bind one (fun v => bind one (fun v' => ret (v, v'))).
Theorem an_example_must_be_counted_once epsilon (H : 0 < epsilon) : ~ private epsilon 0 (counted_twice epsilon H).
Proof.
  intro P. set (q := at_rate epsilon H). pose proof (base_01 q) as Hq.
  assert (Both : forall world, counted_twice epsilon H world (fun v => yes (fst v) * yes (snd v)) = stray q q (if world then 1 else 0) ^ 2).
  { intro world. unfold counted_twice. cbn [bind ret E fst snd]. pose proof (one_instance epsilon H world) as One. cbv zeta in One. fold q in One. rewrite <- One.
    set (one := count_above_threshold epsilon H 1 false one_bit 1 world).
    assert (B : bounded yes) by (apply bounded_test, yes_01). assert (0 <= one yes) by now apply E_pos.
    transitivity (one (fun v => one yes * yes v)); [|rewrite E_scal by assumption; simpl; ring].
    f_equal. apply functional_extensionality. intro v. rewrite E_scal by (apply yes_01 || assumption). ring. }
  specialize (P false (fun v => yes (fst v) * yes (snd v))).
  assert (T : forall v : list bool * list bool, 0 <= yes (fst v) * yes (snd v) <= 1).
  { intro v. pose proof (yes_01 (fst v)). pose proof (yes_01 (snd v)). nra. }
  specialize (P T). cbn [negb] in P. rewrite !Both in P. rewrite !stray_closed in P by lia.
  change (Z.to_nat 0) with 0%nat in P. change (Z.to_nat 1) with 1%nat in P. cbn [pow] in P.
  assert (C : 0 < (1 - q) / (1 - q * q)) by (apply Rdiv_lt_0_compat; nra). set (c := (1 - q) / (1 - q * q)) in *.
  assert (One : exp epsilon * q = 1) by (unfold q; simpl; apply exp_opp).
  assert (P' : c * c <= exp epsilon * q * (q * (c * c))) by lra.
  rewrite One in P'. assert (0 < c * c) by nra. nra.
Qed.

(** interrupted-round-retried: one instance counts a bit twice. *)
Definition counted_again epsilon (H : 0 < epsilon) (world : bool) : law bool :=
  let q := at_rate epsilon H in let toss := Toss 0%nat (fun above => Done above) in
  run q q (Ensure 0%nat 2%Z (if world then toss else Dec 0%nat (Dec 0%nat toss))) no_counters.
Theorem a_round_must_be_counted_once epsilon (H : 0 < epsilon) : ~ private epsilon 0 (counted_again epsilon H).
Proof.
  intro P. set (q := at_rate epsilon H). pose proof (base_01 q) as Hq. specialize (P false (fun y => if y then 1 else 0)).
  assert (T : forall y : bool, 0 <= (if y then 1 else 0) <= 1) by (intros [|]; lra). specialize (P T). cbn [negb] in P.
  assert (Is : forall world, counted_again epsilon H world (fun y => if y then 1 else 0) = stray q q (if world then 2 else 0)).
  { intro world. unfold counted_again, stray. fold q. cbn [run bind E]. unfold ensured, no_counters. cbn [bind ret E]. f_equal.
    apply functional_extensionality. intro r. destruct world; cbn [run mix ret E]; unfold hit; rewrite ?shift_set, ?set_same; cbn [option_map]; [ring|].
    replace (-1 + (-1 + (2 + Z.of_nat r)))%Z with (0 + Z.of_nat r)%Z by lia. ring. }
  rewrite !Is, !stray_closed in P by lia. change (Z.to_nat 0) with 0%nat in P. change (Z.to_nat 2) with 2%nat in P. cbn [pow] in P.
  assert (C : 0 < (1 - q) / (1 - q * q)) by (apply Rdiv_lt_0_compat; nra). set (c := (1 - q) / (1 - q * q)) in *.
  assert (One : exp epsilon * q = 1) by (unfold q; simpl; apply exp_opp).
  assert (P' : c <= exp epsilon * q * (q * c)) by lra. rewrite One in P'. nra.
Qed.

(** keys-true-count, witnesses-true-count, forest-timed-by-true-count: a yes at the n-th count, without noise. *)
Definition by_true_count (n : nat) (world : bool) : law bool := ret (Nat.leb n (n - (if world then 1 else 0))).
Theorem a_count_needs_noise n epsilon delta : (1 <= n)%nat -> delta < 1 -> ~ private epsilon delta (by_true_count n).
Proof.
  intros Hn Hd P. specialize (P false (fun y => if y then 1 else 0)).
  assert (T : forall y : bool, 0 <= (if y then 1 else 0) <= 1) by (intros [|]; lra).
  specialize (P T). unfold by_true_count in P. cbn [ret E negb] in P.
  replace (Nat.leb n (n - 0)) with true in P by (symmetry; apply Nat.leb_le; lia).
  replace (Nat.leb n (n - 1)) with false in P by (symmetry; apply Nat.leb_gt; lia). lra.
Qed.
(* main: an_example_must_be_counted_once, a_round_must_be_counted_once, a_count_needs_noise *)
