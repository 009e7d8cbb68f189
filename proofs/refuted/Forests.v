(** Broken controls of counters side by side and of forests: of each a promise that is false, with an instance. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices Machine CountAboveThreshold PrivateHistogram LazyForest PackedLayer Refuted.
Import ListNotations.
Open Scope R_scope.

(** keys-one-noise, witnesses-one-noise: one threshold noise r for all counters. Two counters at their threshold
    tell that r is small; then it does not hide whether the third was counted for. *)
Section OneNoise.
Variables (a b : rate).
Definition gaps (world : bool) (r : nat) : Machine.state := fun x =>
  match x with
  | 0%nat => Some (if world then Z.of_nat r else 1 + Z.of_nat r)%Z
  | 1%nat | 2%nat => Some (Z.of_nat r)
  | _ => None
  end.
Definition one_noise (world : bool) : law (bool * bool * bool) :=
  bind (geometric b) (fun r => run a b (Toss 1%nat (fun x => Toss 2%nat (fun y => Toss 0%nat (fun z => Done (x, y, z))))) (gaps world r)).
Definition told (v : bool * bool * bool) : R := match v with (true, true, false) => 1 | _ => 0 end.
Lemma one_noise_told world : one_noise world told
  = geometric b (fun r => a ^ r * a ^ r * (1 - a ^ (if world then r else S r))).
Proof.
  unfold one_noise. cbn [bind E]. f_equal. apply functional_extensionality. intro r. cbn [run mix ret E told].
  unfold hit, G, gaps, set. cbn [Nat.eqb]. rewrite !Nat2Z.id. destruct world; [rewrite Nat2Z.id|replace (Z.to_nat (1 + Z.of_nat r)) with (S r) by lia]; ring.
Qed.
Theorem counters_need_noise_of_their_own epsilon : exp epsilon * (a * b) = 1 -> ~ private epsilon 0 one_noise.
Proof.
  intros H P. pose proof (base_01 a) as Ha. pose proof (base_01 b) as Hb.
  assert (T : forall v, 0 <= told v <= 1) by (intros [[[|] [|]] [|]]; simpl; lra).
  specialize (P false told T). cbn [negb] in P. rewrite !one_noise_told in P. cbv beta iota in P.
  assert (Pw : forall i, 0 < a ^ i <= 1) by (intro i; apply pow_01).
  assert (B : forall k, bounded (fun r => a ^ r * a ^ r * (1 - a ^ (k + r)))).
  { intro k. apply bounded_test. intro r. pose proof (Pw r). pose proof (Pw (k + r)%nat). assert (0 < a ^ r * a ^ r <= 1) by nra. nra. }
  set (p := geometric b (fun r => a ^ r * a ^ r * (1 - a ^ S r))) in *.
  assert (Sh : geometric b (fun r => a ^ r * a ^ r * (1 - a ^ r)) = b * (a * a * p)).
  { assert (Q : geometric b (fun n => a ^ S n * a ^ S n * (1 - a ^ S n)) = a * a * p).
    { unfold p. rewrite <- (E_scal (geometric b) (a * a) (fun r => a ^ r * a ^ r * (1 - a ^ S r)) ltac:(nra) (B 1%nat)).
      f_equal. apply functional_extensionality. intro r. cbn [pow]. ring. }
    rewrite geometric_step by exact (B 0%nat). rewrite Q. cbn [pow]. ring. }
  rewrite Sh in P. assert (0 < p).
  { unfold p. rewrite geometric_step by exact (B 1%nat). cbn [pow].
    assert (0 <= geometric b (fun n => a ^ S n * a ^ S n * (1 - a ^ S (S n)))).
    { apply E_pos, (bounded_after (fun r => a ^ r * a ^ r * (1 - a ^ (1 + r))) S (B 1%nat)). }
    cbn [pow] in *. nra. }
  replace (exp epsilon * (b * (a * a * p)) + 0) with (exp epsilon * (a * b) * (a * p)) in P by ring. rewrite H in P. nra.
Qed.
End OneNoise.

(** With q = 1/2 and noise of at most 1 the edge weighs 1/4, which is delta; the threshold is 2. *)
Lemma Z_two : Z_a half 1 = 2.
Proof. unfold Z_a, values, heavy, PrivateHistogram.size. simpl. lra. Qed.
Lemma cell_at c f : cell half 1 2 (S c) f = 1 / 4 * f (shown 2 (Z.of_nat c)) + 1 / 2 * f (shown 2 (Z.of_nat (S c))) + 1 / 4 * f (shown 2 (Z.of_nat (S (S c)))).
Proof.
  unfold cell. cbn [bind ret E]. rewrite truncated_at, Z_two. unfold values, heavy, PrivateHistogram.size. cbn [Nat.mul Nat.add sum].
  replace (Z.of_nat (S c) + (Z.of_nat 0 - Z.of_nat 1))%Z with (Z.of_nat c) by lia.
  replace (Z.of_nat (S c) + (Z.of_nat 1 - Z.of_nat 1))%Z with (Z.of_nat (S c)) by lia.
  replace (Z.of_nat (S c) + (Z.of_nat 2 - Z.of_nat 1))%Z with (Z.of_nat (S (S c))) by lia.
  change (Z.to_nat (Z.abs (Z.of_nat 0 - Z.of_nat 1))) with 1%nat. change (Z.to_nat (Z.abs (Z.of_nat 1 - Z.of_nat 1))) with 0%nat.
  change (Z.to_nat (Z.abs (Z.of_nat 2 - Z.of_nat 1))) with 1%nat. simpl pow. cbn [base half]. field.
Qed.
Notation lists := (histogram half 1 2).
Definition any (o : list (option Z)) : R := if existsb (fun c => match c with Some _ => true | None => false end) o then 1 else 0.
Lemma any_01 o : 0 <= any o <= 1.
Proof. unfold any. destruct (existsb _ o); lra. Qed.

(** forest-add-remove-last-layer: a list priced for an added element where one is replaced. The counts 4 and 3
    become 3 and 4; that the first shows 5 or the second 2 is possible in one world only. *)
Definition both (world : bool) (k : nat) : nat := if Bool.eqb world (Nat.eqb k 0) then 3 else 4.
Theorem a_replacement_changes_two_counts epsilon :
  half ^ 1 / Z_a half 1 = 1 / 4 /\ ~ private epsilon (1 / 4) (fun world => lists [0%nat; 1%nat] (both world)).
Proof.
  split; [rewrite Z_two; simpl; lra|]. intro P.
  set (f := fun o : list (option Z) => match o with [Some 5%Z; _] => 1 | [_; Some 2%Z] => 1 | _ => 0 end).
  assert (T : forall o, 0 <= f o <= 1).
  { intro o. destruct o as [|[x|] [|[y|] [|? ?]]]; simpl; repeat match goal with |- context [match ?u with _ => _ end] => destruct u end; lra. }
  specialize (P false f T). cbn [negb histogram both Nat.eqb Bool.eqb] in P. cbn [bind ret E] in P.
  unfold both in P. cbn [Nat.eqb Bool.eqb] in P. rewrite !cell_at in P. simpl in P. lra.
Qed.

(** forest-delta-not-divided, forest-kept-across-restarts: two lists in which an example is, each with the whole delta. *)
Theorem delta_must_be_divided epsilon : ~ private epsilon (1 / 4) (fun world : bool =>
  let one := lists [0%nat] (fun _ => if world then 0%nat else 1%nat) in bind one (fun o => bind one (fun o' => ret (o ++ o')))).
Proof.
  intro P. specialize (P false any any_01). cbn [negb histogram] in P. cbn [bind ret E app] in P.
  rewrite !cell_at in P. cbn [cell ret E] in P. unfold any, shown in P. simpl in P. lra.
Qed.

(** forest-matched-in-order: one sequence more shifts all that follow it. *)
Definition in_order (world : bool) : list nat := (if world then [9%nat] else []) ++ [0; 0; 1; 1; 2; 2]%nat.
Theorem matching_must_be_random epsilon : ~ private epsilon (1 / 4) (fun world =>
  PrivateHistogram.release Nat.eq_dec [0; 1; 2]%nat half 1 2 (votes Nat.eq_dec (fun s : nat => s) (matched (in_order world)))).
Proof.
  intro P. specialize (P false any any_01). cbn [negb] in P.
  change (votes Nat.eq_dec (fun s : nat => s) (matched (in_order false))) with [0; 1; 2]%nat in P.
  change (votes Nat.eq_dec (fun s : nat => s) (matched (in_order true))) with (@nil nat) in P.
  unfold PrivateHistogram.release in P. cbn [histogram bind ret E] in P.
  change (occurs Nat.eq_dec [0; 1; 2]%nat 0%nat) with 1%nat in P. change (occurs Nat.eq_dec [0; 1; 2]%nat 1%nat) with 1%nat in P.
  change (occurs Nat.eq_dec [0; 1; 2]%nat 2%nat) with 1%nat in P. cbn [occurs count_occ] in P. rewrite !cell_at in P.
  cbn [cell ret E] in P. unfold any, shown in P. simpl in P. lra.
Qed.

(** forest-order-by-true-count: the order of two hypotheses by counts without noise. *)
Definition by_true_order (n : nat) (world : bool) : law (list nat) := ret (if Nat.leb n (if world then n - 1 else n) then [0; 1]%nat else [1; 0]%nat).
Theorem an_order_needs_noise n epsilon delta : (1 <= n)%nat -> delta < 1 -> ~ private epsilon delta (by_true_order n).
Proof.
  intros Hn Hd P. specialize (P false (fun l => match l with 0%nat :: _ => 1 | _ => 0 end)).
  assert (T : forall l : list nat, 0 <= match l with 0%nat :: _ => 1 | _ => 0 end <= 1) by (intros [|[|i] l]; lra).
  specialize (P T). unfold by_true_order in P. cbn [ret E negb] in P. rewrite Nat.leb_refl in P.
  replace (Nat.leb n (n - 1)) with false in P by (symmetry; apply Nat.leb_gt; lia). lra.
Qed.
(* main: counters_need_noise_of_their_own, a_replacement_changes_two_counts, delta_must_be_divided, matching_must_be_random, an_order_needs_noise *)
