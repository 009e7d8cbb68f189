(** Broken controls of the finite mechanisms: of each a promise that is false, with an instance. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices CountAboveThreshold ExponentialMechanism LaplaceCount PrivateHistogram.
Import ListNotations.
Open Scope R_scope.

(** histogram-threshold-low: t = a where a + 1 is needed. With q = 1/2 and a = 1 the edge weighs 1/4, which is
    d; a key that occurs once is shown with probability 3/4, one that does not occur never is. *)
Lemma half_01 : 0 < 1 / 2 < 1.
Proof. lra. Qed.
Definition half : rate := Rate (1 / 2) half_01.
Theorem threshold_must_exceed_the_noise epsilon :
  half ^ 1 / Z_a half 1 = 1 / 4 /\ ~ within epsilon (1 / 4) (cell half 1 1 1) (cell half 1 1 0).
Proof.
  assert (Zv : Z_a half 1 = 2) by (unfold Z_a, values, heavy, PrivateHistogram.size; simpl; lra).
  split; [rewrite Zv; simpl; lra|].
  intro W. specialize (W (fun o => match o with Some _ => 1 | None => 0 end)).
  assert (T : forall o : option Z, 0 <= match o with Some _ => 1 | None => 0 end <= 1) by (intros [z|]; lra).
  specialize (W T). cbn [cell ret E] in W. cbn [bind ret E] in W. rewrite truncated_at, Zv in W.
  unfold values, heavy, PrivateHistogram.size, shown in W. simpl in W. lra.
Qed.

(** exponential-half-sensitivity: eta = epsilon where scores move by -1, 0 or 1. Three elements. *)
Definition up_and_down (world : bool) (i : nat) : Z := if Nat.eqb i 0 then (if world then 1 else 0)%Z else (if world then 0 else 1)%Z.
Theorem range_width_must_be_true epsilon (H : 0 < epsilon) :
  ~ private epsilon 0 (fun world => draw (exponential_weights epsilon (Rlt_le _ _ H)) 3 (fun _ => 1) (fun _ => Rlt_0_1) (up_and_down world)).
Proof.
  intro P. specialize (P false (fun i => if Nat.eqb i 0 then 1 else 0)).
  assert (T : forall i : nat, 0 <= (if Nat.eqb i 0 then 1 else 0) <= 1) by (intro i; destruct (Nat.eqb i 0); lra).
  specialize (P T). cbn [negb] in P.
  set (W := exponential_weights epsilon (Rlt_le _ _ H)) in *. set (x := exp (- epsilon)). set (y := exp epsilon) in *.
  assert (W0 : W 0%nat = 1) by (unfold W; simpl; rewrite Rmult_0_r, Ropp_0; apply exp_0).
  assert (W1 : W 1%nat = x) by (unfold W, x; simpl; now rewrite Rmult_1_r).
  assert (One : y * x = 1) by apply exp_opp. assert (Pn : 0 < x) by apply exp_pos.
  assert (x < 1) by (unfold x; rewrite <- exp_0; apply exp_increasing; lra).
  assert (V : forall world : bool, draw W 3 (fun _ => 1) (fun _ => Rlt_0_1) (up_and_down world) (fun i => if Nat.eqb i 0 then 1 else 0)
    = if world then x / (x + 2) else 1 / (1 + 2 * x)).
  { intro world. unfold draw. cbn [choice E]. replace (least 3 (up_and_down world)) with 0%Z by (destruct world; reflexivity).
    destruct world; cbn [sum]; unfold up_and_down; cbn [Nat.eqb]; change (Z.to_nat (1 - 0)) with 1%nat; change (Z.to_nat (0 - 0)) with 0%nat;
      rewrite W0, W1; field; lra. }
  rewrite !V in P. rewrite Rplus_0_r in P. rename P into P'.
  replace (y * (x / (x + 2))) with (1 / (x + 2)) in P' by (rewrite <- One; field; lra).
  assert (1 / (x + 2) < 1 / (1 + 2 * x)); [|lra]. unfold Rdiv. rewrite !Rmult_1_l. apply Rinv_lt_contravar; nra.
Qed.

(** A count that one example moves by two, priced as if it moved by one. *)
Theorem sensitivity_must_be_true epsilon (H : 0 < epsilon) :
  ~ private epsilon 0 (fun world : bool => LaplaceCount.release (at_rate epsilon H) (if world then 0 else 2)%Z).
Proof.
  intro P. specialize (P false (fun n => if Z.eqb n 2 then 1 else 0)). set (q := at_rate epsilon H) in *. pose proof (base_01 q) as Hq.
  assert (T : forall n, 0 <= (if Z.eqb n 2 then 1 else 0) <= 1) by (intro n; destruct (Z.eqb n 2); lra).
  specialize (P T). cbn [negb] in P.
  assert (R : forall c, LaplaceCount.release q c (fun n => if Z.eqb n 2 then 1 else 0) = (1 - q) / (1 + q) * q ^ Z.to_nat (Z.abs (2 - c))).
  { intro c. rewrite <- (discrete_laplace_at q (2 - c)). unfold LaplaceCount.release. cbn [bind ret E]. f_equal.
    apply functional_extensionality. intro k. destruct (Z.eqb_spec (c + k) 2), (Z.eqb_spec k (2 - c)); try reflexivity; lia. }
  rewrite !R in P. change (Z.to_nat (Z.abs (2 - 0))) with 2%nat in P. change (Z.to_nat (Z.abs (2 - 2))) with 0%nat in P.
  assert (One : exp epsilon * q = 1) by (unfold q; simpl; apply exp_opp).
  assert (C : 0 < (1 - q) / (1 + q)) by (apply Rdiv_lt_0_compat; lra).
  assert (Eq : exp epsilon * ((1 - q) / (1 + q) * q ^ 2) = (1 - q) / (1 + q) * q).
  { transitivity ((1 - q) / (1 + q) * q * (exp epsilon * q)); [simpl; ring|rewrite One; ring]. }
  rewrite Eq, pow_O in P. nra.
Qed.

(** One batch that three draws read, each with the whole epsilon: two concepts, one example. *)
Definition one_example (world : bool) (i : nat) : Z := if Bool.eqb world (Nat.eqb i 0) then 1%Z else 0%Z.
Definition thrice (l : law nat) : law (nat * nat * nat) := bind l (fun i => bind l (fun j => bind l (fun k => ret (i, j, k)))).
Theorem a_batch_must_be_read_once epsilon (H : 0 < epsilon / 2) :
  ~ private epsilon 0 (fun world => thrice (draw (exponential_weights (epsilon / 2) (Rlt_le _ _ H)) 2 (fun _ => 1) (fun _ => Rlt_0_1) (one_example world))).
Proof.
  intro P. specialize (P false (fun v => match v with (0%nat, 0%nat, 0%nat) => 1 | _ => 0 end)).
  assert (T : forall v : nat * nat * nat, 0 <= match v with (0%nat, 0%nat, 0%nat) => 1 | _ => 0 end <= 1)
    by (intros [[[|i] [|j]] [|k]]; lra).
  specialize (P T). cbn [negb] in P.
  set (x := exp (- (epsilon / 2))). set (W := exponential_weights (epsilon / 2) (Rlt_le _ _ H)) in *.
  assert (X : 0 < x < 1) by (unfold x; split; [apply exp_pos|rewrite <- exp_0; apply exp_increasing; lra]).
  assert (W0 : W 0%nat = 1) by (unfold W; simpl; rewrite Rmult_0_r, Ropp_0; apply exp_0).
  assert (W1 : W 1%nat = x) by (unfold W, x; simpl; now rewrite Rmult_1_r).
  assert (D : forall (world : bool) (p r : R), draw W 2 (fun _ => 1) (fun _ => Rlt_0_1) (one_example world) (fun i => if Nat.eqb i 0 then p else r)
    = ((if world then x else 1) * p + (if world then 1 else x) * r) / (1 + x)).
  { intros world p r. unfold draw. cbn [choice E]. replace (least 2 (one_example world)) with 0%Z by (destruct world; reflexivity).
    destruct world; cbn [sum]; unfold one_example; cbn [Nat.eqb Bool.eqb]; change (Z.to_nat (1 - 0)) with 1%nat; change (Z.to_nat (0 - 0)) with 0%nat;
      rewrite W0, W1; field; lra. }
  assert (Th : forall world, thrice (draw W 2 (fun _ => 1) (fun _ => Rlt_0_1) (one_example world)) (fun v => match v with (0%nat, 0%nat, 0%nat) => 1 | _ => 0 end)
    = ((if world then x else 1) / (1 + x)) ^ 3).
  { intro world. unfold thrice. cbn [bind ret E]. set (l := draw W 2 (fun _ => 1) (fun _ => Rlt_0_1) (one_example world)).
    transitivity (l (fun i => if Nat.eqb i 0 then l (fun j => if Nat.eqb j 0 then l (fun k => if Nat.eqb k 0 then 1 else 0) else 0) else 0)).
    - f_equal. apply functional_extensionality. intros [|i]; cbn [Nat.eqb].
      + f_equal. apply functional_extensionality. intros [|j]; cbn [Nat.eqb]; [|apply E_zero].
        f_equal. apply functional_extensionality. intros [|k]; reflexivity.
      + transitivity (l (fun _ => 0)); [|apply E_zero]. f_equal. apply functional_extensionality. intro j. apply E_zero.
    - unfold l. rewrite !D. field. lra. }
  rewrite !Th in P. replace (exp epsilon) with (/ x * / x) in P.
  2:{ unfold x. rewrite exp_Ropp, Rinv_inv, <- exp_plus. f_equal. field. }
  replace (/ x * / x * (x / (1 + x)) ^ 3 + 0) with (x * (1 / (1 + x)) ^ 3) in P by (field; lra).
  assert (0 < (1 / (1 + x)) ^ 3) by (apply pow_lt, Rdiv_lt_0_compat; lra). nra.
Qed.
(* main: threshold_must_exceed_the_noise, range_width_must_be_true, sensitivity_must_be_true, a_batch_must_be_read_once *)
