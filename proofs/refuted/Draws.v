(** Broken controls of LaplaceCount, of draws, and of what stands around a mechanism that is right. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices Machine CountAboveThreshold ExponentialMechanism LaplaceCount WitnessDepths PrivateMajority Refuted.
Import ListNotations.
Open Scope R_scope.

(** ** Counts *)

Definition exactly (n m : Z) : R := if Z.eqb m n then 1 else 0.
Lemma exactly_01 n m : 0 <= exactly n m <= 1.
Proof. unfold exactly. destruct (Z.eqb m n); lra. Qed.
Lemma released_at q c n : LaplaceCount.release q c (exactly n) = (1 - q) / (1 + q) * q ^ Z.to_nat (Z.abs (n - c)).
Proof.
  rewrite <- (discrete_laplace_at q (n - c)). unfold LaplaceCount.release, exactly. cbn [bind ret E]. f_equal.
  apply functional_extensionality. intro k. destruct (Z.eqb_spec (c + k) n), (Z.eqb_spec k (n - c)); try reflexivity; lia.
Qed.
Definition count_of (world : bool) : Z := if world then 0%Z else 1%Z.
Section Counts.
Variables (rate_ : R) (Hr : 0 < rate_).
Let q := at_rate rate_ Hr.
Lemma center_pos : 0 < (1 - q) / (1 + q).
Proof. pose proof (base_01 q). apply Rdiv_lt_0_compat; lra. Qed.

(** histogram-scale-inverted: noise of a rate above epsilon. *)
Theorem noise_must_be_wide_enough epsilon : epsilon < rate_ -> ~ private epsilon 0 (fun world => LaplaceCount.release q (count_of world)).
Proof.
  intros Lt P. specialize (P false (exactly 1) (exactly_01 1)). cbn [negb count_of] in P. rewrite !released_at in P.
  change (Z.to_nat (Z.abs (1 - 1))) with 0%nat in P. change (Z.to_nat (Z.abs (1 - 0))) with 1%nat in P. rewrite pow_O, pow_1 in P.
  pose proof center_pos as C. assert (exp epsilon * q < 1).
  { unfold q. cbn [base at_rate]. rewrite <- exp_plus, <- exp_0. apply exp_increasing. lra. }
  nra.
Qed.

(** int8-ledger: a ledger that lets one release too many into its budget. *)
Definition two_releases (world : bool) : law (Z * Z) :=
  let one := LaplaceCount.release q (count_of world) in bind one (fun x => bind one (fun y => ret (x, y))).
Theorem releases_add_up epsilon : epsilon < 2 * rate_ -> ~ private epsilon 0 two_releases.
Proof.
  intros Lt P. specialize (P false (fun v => exactly 1 (fst v) * exactly 1 (snd v))).
  assert (T : forall v : Z * Z, 0 <= exactly 1 (fst v) * exactly 1 (snd v) <= 1).
  { intro v. pose proof (exactly_01 1 (fst v)). pose proof (exactly_01 1 (snd v)). nra. }
  specialize (P T). cbn [negb] in P.
  assert (Both : forall world, two_releases world (fun v => exactly 1 (fst v) * exactly 1 (snd v))
    = LaplaceCount.release q (count_of world) (exactly 1) * LaplaceCount.release q (count_of world) (exactly 1)).
  { intro world. unfold two_releases. cbn [bind ret E fst snd]. set (l := LaplaceCount.release q (count_of world)).
    assert (B : bounded (exactly 1)) by (apply bounded_test, exactly_01). assert (0 <= l (exactly 1)) by now apply E_pos.
    rewrite <- (E_scal l (l (exactly 1)) (exactly 1)) by assumption. f_equal. apply functional_extensionality. intro v.
    rewrite E_scal by (apply exactly_01 || assumption). ring. }
  rewrite !Both, !released_at in P. change (Z.to_nat (Z.abs (1 - count_of false))) with 0%nat in P. change (Z.to_nat (Z.abs (1 - count_of true))) with 1%nat in P.
  rewrite pow_O, pow_1 in P. pose proof center_pos as C. assert (exp epsilon * (q * q) < 1).
  { unfold q. cbn [base at_rate]. rewrite <- !exp_plus, <- exp_0. apply exp_increasing. lra. }
  set (c := (1 - q) / (1 + q)) in *. assert (0 < c * c) by nra. nra.
Qed.

(** noise-reused-after-restore: two counts with one and the same noise; of the second an example is a part. *)
Definition shared_noise (world : bool) : law (Z * Z) := bind (LaplaceCount.release q 0) (fun k => ret (k, k + count_of world)%Z).
Theorem noise_must_not_be_shared epsilon delta : delta < 1 -> ~ private epsilon delta shared_noise.
Proof.
  intros Hd P. specialize (P false (fun v => if Z.eqb (snd v - fst v) 1 then 1 else 0)).
  assert (T : forall v : Z * Z, 0 <= (if Z.eqb (snd v - fst v) 1 then 1 else 0) <= 1) by (intro v; destruct (Z.eqb _ _); lra).
  specialize (P T). unfold shared_noise in P. cbn [bind ret E fst snd negb count_of] in P.
  replace (fun k : Z => if Z.eqb (k + 1 - k) 1 then 1 else 0) with (fun _ : Z => 1) in P by (apply functional_extensionality; intro k; now replace (k + 1 - k)%Z with 1%Z by lia).
  replace (fun k : Z => if Z.eqb (k + 0 - k) 1 then 1 else 0) with (fun _ : Z => 0) in P by (apply functional_extensionality; intro k; now replace (k + 0 - k)%Z with 0%Z by lia).
  rewrite E_zero in P. assert (One : LaplaceCount.release q 0 (fun _ => 1) = 1).
  { unfold LaplaceCount.release, discrete_laplace. cbn [bind ret E]. rewrite (geometric_one q). apply geometric_one. }
  lra.
Qed.
End Counts.

(** extra-draw-priced-at-zero: a draw that is not paid for. Two elements, one example. *)
Theorem a_draw_is_not_free eta (H : 0 < eta) :
  ~ private 0 0 (fun world => draw (exponential_weights eta (Rlt_le _ _ H)) 2 (fun _ => 1) (fun _ => Rlt_0_1) (one_example world)).
Proof.
  intro P. specialize (P false (fun i => if Nat.eqb i 0 then 1 else 0)).
  assert (T : forall i : nat, 0 <= (if Nat.eqb i 0 then 1 else 0) <= 1) by (intro i; destruct (Nat.eqb i 0); lra).
  specialize (P T). cbn [negb] in P. rewrite exp_0 in P. set (x := exp (- eta)).
  assert (X : 0 < x < 1) by (unfold x; split; [apply exp_pos|rewrite <- exp_0; apply exp_increasing; lra]).
  assert (D : forall world : bool, draw (exponential_weights eta (Rlt_le _ _ H)) 2 (fun _ => 1) (fun _ => Rlt_0_1) (one_example world)
    (fun i => if Nat.eqb i 0 then 1 else 0) = if world then x / (1 + x) else 1 / (1 + x)).
  { intro world. assert (W0 : exponential_weights eta (Rlt_le _ _ H) 0%nat = 1) by (simpl; rewrite Rmult_0_r, Ropp_0; apply exp_0).
    assert (W1 : exponential_weights eta (Rlt_le _ _ H) 1%nat = x) by (unfold x; simpl; now rewrite Rmult_1_r).
    set (W := exponential_weights eta (Rlt_le _ _ H)) in *. unfold draw. cbn [choice E].
    replace (least 2 (one_example world)) with 0%Z by (destruct world; reflexivity).
    destruct world; cbn [sum]; unfold one_example; cbn [Nat.eqb Bool.eqb]; change (Z.to_nat (1 - 0)) with 1%nat; change (Z.to_nat (0 - 0)) with 0%nat;
      rewrite W0, W1; field; lra. }
  rewrite !D in P. assert (0 < / (1 + x)) by (apply Rinv_0_lt_compat; lra). unfold Rdiv in P. nra.
Qed.

(** ** majority-one-witness-priced: two witnesses, of which the second is named often. One mistake moves from the
    first to it; priced for a mistake more or less, eta, that is not private. *)
Section Named.
Variables (eta : R) (Heta : 0 < eta).
Definition named (often : nat) (world : bool) : list nat := (if world then 1%nat else 0%nat) :: repeat 1%nat often.
Definition witness (often : nat) (world : bool) : law nat :=
  draw (exponential_weights eta (Rlt_le _ _ Heta)) 2 (fun _ => 1) (fun _ => Rlt_0_1) (fun v => (- times_named (named often world) v)%Z).
Definition first (v : nat) : R := if Nat.eqb v 0 then 1 else 0.
Lemma first_01 v : 0 <= first v <= 1.
Proof. unfold first. destruct (Nat.eqb v 0); lra. Qed.
Lemma often_named v often : times_named (repeat 1%nat often) v = if Nat.eqb v 1 then Z.of_nat often else 0%Z.
Proof.
  unfold times_named, how_many. induction often as [|n IH]; [now destruct (Nat.eqb v 1)|]. cbn [repeat filter]. destruct (Nat.eqb v 1); [cbn [length]; lia|exact IH].
Qed.
Lemma times often world v : times_named (named often world) v
  = ((if Nat.eqb v (if world then 1 else 0) then 1 else 0) + if Nat.eqb v 1 then Z.of_nat often else 0)%Z.
Proof.
  rewrite <- often_named. unfold times_named, named, how_many. cbn [filter]. destruct (Nat.eqb v _); cbn [length]; lia.
Qed.
Let t (n : nat) := exp (- (eta * INR n)).
Lemma drawn_first often world : witness (S often) world first = t (if world then S (S often) else often) / (t (if world then S (S often) else often) + 1).
Proof.
  unfold witness, draw. cbn [choice E]. set (score := fun v => (- times_named (named (S often) world) v)%Z).
  assert (S0 : score 0%nat = if world then 0%Z else (-1)%Z) by (unfold score; rewrite times; destruct world; reflexivity).
  assert (S1 : score 1%nat = if world then (- Z.of_nat (S (S often)))%Z else (- Z.of_nat (S often))%Z) by (unfold score; rewrite times; destruct world; cbn [Nat.eqb]; lia).
  assert (Le : least 2 score = score 1%nat).
  { destruct (least_there 2 score ltac:(lia)) as (i & Hi & E). pose proof (least_below 2 score 1%nat ltac:(lia)).
    destruct i as [|[|i]]; [|exact E|lia]. rewrite S0, S1 in *. destruct world; lia. }
  set (w := fun i => 1 * exponential_weights eta (Rlt_le _ _ Heta) (Z.to_nat (score i - least 2 score))).
  assert (W1 : w 1%nat = 1).
  { unfold w. rewrite Le, Z.sub_diag. simpl. rewrite Rmult_0_r, Ropp_0, exp_0. ring. }
  assert (W0 : w 0%nat = t (if world then S (S often) else often)).
  { unfold w. rewrite Le, S0, S1, Rmult_1_l. unfold t. destruct world; [replace (Z.to_nat _) with (S (S often)) by lia|replace (Z.to_nat _) with often by lia]; reflexivity. }
  change (sum 2 (fun i => w i * first i) / sum 2 w = t (if world then S (S often) else often) / (t (if world then S (S often) else often) + 1)).
  cbn [sum]. unfold first. cbn [Nat.eqb]. rewrite W0, W1. assert (0 < t (if world then S (S often) else often)) by apply exp_pos. field. lra.
Qed.
Theorem a_moved_name_costs_twice epsilon : epsilon < 2 * eta -> exists often, ~ private epsilon 0 (witness often).
Proof.
  intro Lt. set (e := exp epsilon). set (y := exp (2 * eta)). assert (He : 0 < e) by apply exp_pos. assert (X : e < y) by (unfold y; now apply exp_increasing).
  set (n := Z.to_nat (up (e / (y - e) / eta))). exists (S n). intro P. specialize (P false first first_01). cbn [negb] in P. rewrite !drawn_first in P.
  fold e in P. set (u := t n) in *. assert (U : 0 < u) by apply exp_pos.
  assert (Tn : t (S (S n)) * y = u).
  { unfold u, t, y. rewrite <- exp_plus. f_equal. rewrite !S_INR. ring. }
  (* 1 / u is at least 1 + eta n, more than e / (y - e) *)
  assert (Big : e * u < y - e).
  { assert (B : e / (y - e) / eta < INR n).
    { destruct (archimed (e / (y - e) / eta)) as [Up _]. apply Rlt_le_trans with (1 := Up). unfold n. rewrite INR_IZR_INZ. apply IZR_le. lia. }
    assert (Inv : u * exp (eta * INR n) = 1) by (unfold u, t; rewrite Rmult_comm; apply exp_opp).
    assert (G : eta * INR n < exp (eta * INR n)) by (pose proof (exp_ineq1_le (eta * INR n)); lra).
    assert (e / (y - e) < eta * INR n) by (apply Rmult_lt_compat_l with (r := eta) in B; [|lra]; replace (eta * (e / (y - e) / eta)) with (e / (y - e)) in B by (field; lra); exact B).
    assert (K : e < (y - e) * exp (eta * INR n)).
    { apply Rlt_trans with ((y - e) * (eta * INR n)); [|apply Rmult_lt_compat_l; lra].
      replace e with ((y - e) * (e / (y - e))) at 1 by (field; lra). apply Rmult_lt_compat_l; lra. }
    apply Rmult_lt_compat_l with (r := u) in K; [|exact U]. replace (u * ((y - e) * exp (eta * INR n))) with ((y - e) * (u * exp (eta * INR n))) in K by ring. rewrite Inv in K. lra. }
  assert (W : 0 < t (S (S n))) by apply exp_pos. set (w := t (S (S n))) in *.
  assert (Cross : u * (w + 1) <= e * w * (u + 1)).
  { replace (u * (w + 1)) with (u / (u + 1) * ((u + 1) * (w + 1))) by (field; lra).
    replace (e * w * (u + 1)) with (e * (w / (w + 1)) * ((u + 1) * (w + 1))) by (field; lra). apply Rmult_le_compat_r; [nra|lra]. }
  rewrite <- Tn in Cross, Big. nra.
Qed.
End Named.
(* main: noise_must_be_wide_enough, releases_add_up, noise_must_not_be_shared, a_draw_is_not_free, a_moved_name_costs_twice *)
