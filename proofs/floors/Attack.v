(** docs/theory/floors.md, Lemmas 0 and 2: what privacy says of an attack that begins out of silence. *)
From Coq Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices.
Import ListNotations.
Open Scope R_scope.

(** ** One step of privacy, on probabilities *)

Section Step.
Variables (epsilon delta : R).
Hypothesis Heps : 0 <= epsilon.
Hypothesis Hdelta : 0 <= delta.

(** f of the page *)
Definition step (p : R) : R := Rmin (Rmin (exp epsilon * p + delta) (1 - exp (- epsilon) * (1 - p - delta))) 1.
Fixpoint steps (n : nat) (p : R) : R := match n with O => p | S n => step (steps n p) end.
(** delta_k of the page *)
Fixpoint slack (k : nat) : R := match k with O => 0 | S k => exp epsilon * slack k + delta end.

Lemma exp_eps_1 : 1 <= exp epsilon.
Proof. rewrite <- exp_0. now apply exp_le. Qed.
Lemma exp_neg : 0 < exp (- epsilon) <= 1.
Proof. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_le. lra. Qed.
Lemma step_mono p p' : p <= p' -> step p <= step p'.
Proof.
  intro H. unfold step. pose proof exp_eps_1. pose proof exp_neg. apply Rle_min_compat_r. apply Rmin_glb.
  - apply Rle_trans with (1 := Rmin_l _ _). nra.
  - apply Rle_trans with (1 := Rmin_r _ _). nra.
Qed.
Lemma steps_mono n p p' : p <= p' -> steps n p <= steps n p'.
Proof. intro H. induction n as [|n IH]; [exact H|]. simpl. now apply step_mono. Qed.
Lemma step_01 p : 0 <= p -> 0 <= step p <= 1.
Proof.
  intro H. pose proof exp_eps_1. pose proof exp_neg. unfold step. split; [|apply Rmin_r].
  repeat apply Rmin_glb; nra.
Qed.
Lemma steps_bounded {C} n (x : C -> R) : bounded x -> bounded (fun c => steps n (x c)).
Proof.
  intro B. induction n as [|n IH]; [exact B|]. apply bounded_test. intro c. simpl. apply step_01.
  now apply (bounded_pos (fun c => steps n (x c))).
Qed.
Lemma slack_pos k : 0 <= slack k.
Proof. pose proof exp_eps_1. induction k as [|k IH]; simpl; nra. Qed.

(** Jensen: a minimum of affine functions is concave. *)
Lemma mean_affine {C} (toss : law C) x a b : 0 <= a -> 0 <= b -> bounded x -> toss (fun c => a * x c + b) <= a * toss x + b.
Proof.
  intros Ha Hb B. rewrite E_plus by (now apply bounded_scal || now apply bounded_const).
  rewrite E_scal, E_const by assumption. pose proof (E_mass toss). nra.
Qed.
Lemma step_mean {C} (toss : law C) x : bounded x -> toss (fun c => step (x c)) <= step (toss x).
Proof.
  intro Bx. pose proof exp_eps_1. pose proof exp_neg.
  assert (S01 : forall c, 0 <= step (x c) <= 1) by (intro c; now apply step_01, bounded_pos).
  assert (Bs : bounded (fun c => step (x c))) by now apply bounded_test.
  unfold step at 2. repeat apply Rmin_glb.
  - apply Rle_trans with (2 := mean_affine toss x (exp epsilon) delta ltac:(lra) Hdelta Bx).
    apply E_mono; [exact Bs|apply bounded_plus; [apply bounded_scal; [lra|exact Bx]|now apply bounded_const]|].
    intro c. unfold step. apply Rle_trans with (1 := Rmin_l _ _). apply Rmin_l.
  - assert (0 <= 1 - exp (- epsilon) * (1 - delta)) by nra.
    pose proof (mean_affine toss x (exp (- epsilon)) (1 - exp (- epsilon) * (1 - delta)) ltac:(lra) ltac:(lra) Bx) as M.
    apply Rle_trans with (exp (- epsilon) * toss x + (1 - exp (- epsilon) * (1 - delta))); [|right; ring].
    apply Rle_trans with (2 := M).
    apply E_mono; [exact Bs|apply bounded_plus; [apply bounded_scal; [lra|exact Bx]|now apply bounded_const]|].
    intro c. unfold step. apply Rle_trans with (1 := Rmin_l _ _). apply Rle_trans with (1 := Rmin_r _ _). right. ring.
  - now apply E_test.
Qed.
Lemma steps_mean {C} (toss : law C) n x : bounded x -> toss (fun c => steps n (x c)) <= steps n (toss x).
Proof.
  intro Hx. induction n as [|n IH]; simpl; [right; reflexivity|].
  apply Rle_trans with (step (toss (fun c => steps n (x c)))); [|now apply step_mono].
  now apply step_mean, steps_bounded.
Qed.
End Step.

(** ** Learners that publish, then are answered *)

Section Learner.
Context {X Y State : Type}.
Variables (begin : law State) (publish : State -> law (Y * State)) (observe : X -> State -> State).
Hypothesis begin_one : begin (fun _ => 1) = 1.
Hypothesis publish_one : forall s, publish s (fun _ => 1) = 1.
Notation view := (list Y).                 (* what was published, the latest first *)

(** Against an adversary that answers what was published. *)
Fixpoint play_on (adv : view -> X) (rounds : nat) (v : view) (s : State) : law view :=
  match rounds with
  | O => ret v
  | S rounds => bind (publish s) (fun ys => play_on adv rounds (fst ys :: v) (observe (adv (fst ys :: v)) (snd ys)))
  end.
Definition play (adv : view -> X) (rounds : nat) : law view := bind begin (play_on adv rounds []).

(** The game of docs/GUARANTEES.md. *)
Fixpoint game_on (adv : adversary X Y) (world : bool) (rounds : nat) (used : bool) (v : view) (s : State) : law view :=
  match rounds with
  | O => ret v
  | S rounds => bind (publish s) (fun ys =>
      let (x, used) := received adv world used (fst ys :: v) in
      game_on adv world rounds used (fst ys :: v) (observe x (snd ys)))
  end.
Definition game adv rounds world : law view := bind begin (game_on adv world rounds false []).

Lemma play_on_one adv rounds : forall v s, play_on adv rounds v s (fun _ => 1) = 1.
Proof.
  induction rounds as [|rounds IH]; intros v s; [reflexivity|]. cbn [play_on bind E].
  transitivity (publish s (fun _ => 1)); [|apply publish_one]. f_equal. apply functional_extensionality. intro ys. apply IH.
Qed.
Lemma play_one adv rounds : play adv rounds (fun _ => 1) = 1.
Proof.
  unfold play. cbn [bind E]. transitivity (begin (fun _ => 1)); [|exact begin_one].
  f_equal. apply functional_extensionality. intro s. apply play_on_one.
Qed.

Lemma play_ext adv adv' rounds : (forall y v, adv (y :: v) = adv' (y :: v)) -> play adv rounds = play adv' rounds.
Proof.
  intro H. unfold play. f_equal. apply functional_extensionality. intro s0. generalize (@nil Y) s0.
  induction rounds as [|rounds IH]; intros v s; [reflexivity|]. cbn [play_on]. f_equal.
  apply functional_extensionality. intro ys. rewrite H. apply IH.
Qed.

(** Two adversaries that agree but for one round, which may depend on the view. *)
Section OneRound.
Variables (adv adv' : view -> X) (differs : view -> bool).
Hypothesis same : forall v, differs v = false -> adv v = adv' v.
Hypothesis once : forall v, differs v = true -> forall y l, differs (y :: l ++ v) = false.
Definition both : adversary X Y :=
  Adversary (fun v => adv v) (fun v => if differs v then Some (adv v, adv' v) else None).
Definition of_world (world : bool) := if world then adv' else adv.

Lemma used_is_play world rounds : forall v s, (forall y l, differs (y :: l ++ v) = false) ->
  game_on both world rounds true v s = play_on (of_world world) rounds v s.
Proof.
  induction rounds as [|rounds IH]; intros v s H; [reflexivity|]. cbn [game_on play_on received both example].
  f_equal. apply functional_extensionality. intros [y s']. cbn [fst snd].
  rewrite IH by (intros y' l; specialize (H y' (l ++ [y])); rewrite <- app_assoc in H; exact H).
  f_equal. f_equal. destruct world; [|reflexivity]. apply same. exact (H y []).
Qed.
Lemma game_is_play world rounds : forall v s, game_on both world rounds false v s = play_on (of_world world) rounds v s.
Proof.
  induction rounds as [|rounds IH]; intros v s; [reflexivity|]. cbn [game_on play_on received both challenge example].
  f_equal. apply functional_extensionality. intros [y s']. cbn [fst snd].
  destruct (differs (y :: v)) eqn:D.
  - rewrite used_is_play by (intros; now apply once). destruct world; reflexivity.
  - rewrite IH. f_equal. f_equal. destruct world; [|reflexivity]. now apply same.
Qed.

Variables (epsilon delta : R) (rounds : nat).
Hypothesis learner_private : private epsilon delta (game both rounds).

Lemma world_plays world : game both rounds world = play (of_world world) rounds.
Proof.
  unfold game, play. f_equal. apply functional_extensionality. intro s. apply game_is_play.
Qed.
Lemma exchange (F : view -> R) : (forall v, 0 <= F v <= 1) -> play adv' rounds F <= exp epsilon * play adv rounds F + delta.
Proof. intro HF. pose proof (learner_private true F HF) as P. rewrite !world_plays in P. exact P. Qed.
(** Lemma 0. *)
Theorem one_round (F : view -> R) : (forall v, 0 <= F v <= 1) -> play adv' rounds F <= step epsilon delta (play adv rounds F).
Proof.
  intro HF. unfold step. repeat apply Rmin_glb; [now apply exchange| |apply (E_test (play adv' rounds) F HF)].
  assert (HF' : forall v, 0 <= 1 - F v <= 1) by (intro v; specialize (HF v); lra).
  pose proof (learner_private false (fun v => 1 - F v) HF') as P. rewrite !world_plays in P. cbn [of_world negb] in P.
  assert (Not : forall a, play a rounds (fun v => 1 - F v) = 1 - play a rounds F).
  { intro a. pose proof (play_one a rounds).
    assert (Sum : play a rounds (fun v => 1 - F v) + play a rounds F = play a rounds (fun _ => 1)).
    { rewrite <- E_plus by now apply bounded_test. f_equal. apply functional_extensionality. intro; ring. }
    lra. }
  rewrite !Not in P. apply Rmult_le_compat_l with (r := exp (- epsilon)) in P; [|left; apply exp_pos].
  rewrite Rmult_plus_distr_l, <- Rmult_assoc, (Rmult_comm (exp (- epsilon)) (exp epsilon)), exp_opp, Rmult_1_l in P. lra.
Qed.
End OneRound.

(** ** Lemma 2 *)

Section Attack.
Variable lack : view -> bool.              (* not E_t(j), from s on: the attack is due in this round *)
Variables (active silent : view -> X).
Variable rounds : nat.

(** N of the page *)
Fixpoint N (v : view) : nat := match v with [] => 0%nat | _ :: w => ((if lack v then 1 else 0) + N w)%nat end.
Definition attack (v : view) : X := if lack v then active v else silent v.
(** A^k: k active examples at most, then silent. *)
Definition up_to (k : nat) (v : view) : X := if lack v && Nat.leb (N v) k then active v else silent v.

Lemma N_more l v : (N v <= N (l ++ v))%nat.
Proof. induction l as [|y l IH]; simpl; [lia|]. destruct (lack (y :: l ++ v)); lia. Qed.

Lemma too_many k adv F : (forall v, (k < N v)%nat -> F v = 0) -> forall r v s, (k < N v)%nat -> play_on adv r v s F = 0.
Proof.
  intro HF. induction r as [|r IH]; intros v s H; [now apply HF|]. cbn [play_on bind E].
  replace (fun ys : Y * State => play_on adv r (fst ys :: v) (observe (adv (fst ys :: v)) (snd ys)) F) with (fun _ : Y * State => 0);
    [apply E_zero|]. apply functional_extensionality. intro ys. symmetry. apply IH.
  pose proof (N_more [fst ys] v). simpl app in *. lia.
Qed.
Lemma agree_below k adv adv' F : (forall y v, (N (y :: v) <= k)%nat -> adv (y :: v) = adv' (y :: v)) -> (forall v, (k < N v)%nat -> F v = 0) ->
  play adv rounds F = play adv' rounds F.
Proof.
  intros Hs HF. unfold play. cbn [bind E]. f_equal. apply functional_extensionality. intro s0.
  generalize (@nil Y) s0. induction rounds as [|r IH]; intros v s; [reflexivity|]. cbn [play_on bind E].
  f_equal. apply functional_extensionality. intro ys. destruct (Nat.le_gt_cases (N (fst ys :: v)) k) as [L|G].
  - rewrite <- (Hs _ _ L). apply IH.
  - rewrite !(too_many k _ F HF) by exact G. reflexivity.
Qed.

Variables (epsilon delta : R).
Hypothesis Heps : 0 <= epsilon.
Hypothesis Hdelta : 0 <= delta.
Hypothesis learner_private : forall adv, private epsilon delta (game adv rounds).

(** A^k and A^(k+1) differ in the (k+1)-st round that lacks. *)
Definition next_due (k : nat) (v : view) : bool := lack v && Nat.eqb (N v) (S k).
Lemma due_same k v : next_due k v = false -> up_to k v = up_to (S k) v.
Proof.
  unfold next_due, up_to. destruct (lack v); [|reflexivity]. simpl. intro H. apply Nat.eqb_neq in H.
  destruct (Nat.leb_spec (N v) k), (Nat.leb_spec (N v) (S k)); lia || reflexivity.
Qed.
Lemma due_once k v : next_due k v = true -> forall y l, next_due k (y :: l ++ v) = false.
Proof.
  intros H y l. unfold next_due in *. apply andb_prop in H. destruct H as [_ H]. apply Nat.eqb_eq in H.
  destruct (lack (y :: l ++ v)) eqn:L; [|reflexivity]. simpl. apply Nat.eqb_neq. pose proof (N_more l v).
  cbn [N]. rewrite L. lia.
Qed.
Lemma one_more k F : (forall v, 0 <= F v <= 1) ->
  play (up_to (S k)) rounds F <= exp epsilon * play (up_to k) rounds F + delta.
Proof. apply (exchange _ _ (next_due k) (due_same k) (due_once k) epsilon delta rounds). apply learner_private. Qed.
Lemma many_more k F : (forall v, 0 <= F v <= 1) -> forall n,
  play (up_to (n + k)) rounds F <= steps epsilon delta n (play (up_to k) rounds F).
Proof.
  intros HF. induction n as [|n IH]; [right; reflexivity|]. simpl.
  apply Rle_trans with (step epsilon delta (play (up_to (n + k)) rounds F)); [|now apply step_mono].
  apply (one_round _ _ (next_due (n + k)) (due_same _) (due_once _)); [apply learner_private|exact HF].
Qed.

(** Weights of the values of N. *)
Variable event : view -> R.                (* 1 where E_s(j) does not hold *)
Hypothesis event_01 : forall v, 0 <= event v <= 1.
Definition weighted (W : nat -> R) (v : view) : R := event v * W (N v).
Definition is_rank (j : nat) : nat -> R := fun n => if Nat.eqb n j then 1 else 0.
Definition chance (j : nat) : R := play silent rounds (weighted (is_rank j)).
Variable i : nat.
Definition weight (W : nat -> R) := (forall n, 0 <= W n <= 1) /\ W 0%nat = 0 /\ forall n, (i < n)%nat -> W n = 0.

Lemma weighted_01 W : (forall n, 0 <= W n <= 1) -> forall v, 0 <= weighted W v <= 1.
Proof. intros H v. unfold weighted. specialize (H (N v)). specialize (event_01 v). nra. Qed.
Lemma is_rank_01 j n : 0 <= is_rank j n <= 1.
Proof. unfold is_rank. destruct (Nat.eqb n j); lra. Qed.
Lemma mean_sum {A} (l : law A) n (F : nat -> A -> R) : (forall m, bounded (F m)) ->
  bounded (fun a => sum n (fun m => F m a)) /\ l (fun a => sum n (fun m => F m a)) = sum n (fun m => l (F m)).
Proof.
  intro B. induction n as [|n [B' IH]]; simpl; [split; [apply bounded_const; lra|apply E_zero]|].
  split; [now apply bounded_plus|]. rewrite E_plus, IH by (assumption || apply B). reflexivity.
Qed.
Lemma sum_at_rank n (W : nat -> R) x : sum n (fun m => W (S m) * is_rank (S m) x)
  = if Nat.leb 1 x && Nat.leb x n then W x else 0.
Proof.
  induction n as [|n IH]; simpl sum; [destruct x; reflexivity|]. rewrite IH. unfold is_rank.
  destruct (Nat.eqb_spec x (S n)) as [->|D].
  - replace (Nat.leb (S n) n) with false by (symmetry; apply Nat.leb_gt; lia). rewrite andb_false_r, Nat.leb_refl. simpl. ring.
  - destruct (Nat.leb_spec 1 x), (Nat.leb_spec x n), (Nat.leb_spec x (S n)); simpl; lia || ring.
Qed.

Lemma weighted_sum W v : weight W -> weighted W v = sum i (fun m => W (S m) * weighted (is_rank (S m)) v).
Proof.
  intros (_ & H0 & Hi). unfold weighted.
  rewrite (sum_ext i _ (fun m => event v * (W (S m) * is_rank (S m) (N v)))) by (intros; ring).
  rewrite sum_scal, sum_at_rank. f_equal. destruct (Nat.leb_spec 1 (N v)), (Nat.leb_spec (N v) i); simpl;
    [reflexivity|now apply Hi| |]; replace (N v) with 0%nat by lia; exact H0.
Qed.
Lemma silent_first : play (up_to 0) rounds = play silent rounds.
Proof.
  apply play_ext. intros y v. unfold up_to. cbn [N]. destruct (lack (y :: v)); reflexivity.
Qed.
Lemma in_silence W : weight W -> play (up_to 0) rounds (weighted W) = sum i (fun m => W (S m) * chance (S m)).
Proof.
  intro HW. rewrite silent_first. pose proof HW as (H01 & _).
  assert (B : forall m, bounded (weighted (is_rank (S m)))) by (intro m; apply bounded_test, weighted_01, is_rank_01).
  replace (weighted W) with (fun v => sum i (fun m => W (S m) * weighted (is_rank (S m)) v)).
  2:{ apply functional_extensionality. intro v. symmetry. now apply weighted_sum. }
  destruct (mean_sum (play silent rounds) i (fun m v => W (S m) * weighted (is_rank (S m)) v)) as [_ ->].
  - intro m. apply bounded_scal; [apply H01|apply B].
  - apply sum_ext. intros m _. unfold chance. now rewrite E_scal by (apply H01 || apply B).
Qed.

Definition low (k : nat) (W : nat -> R) (n : nat) : R := if Nat.leb n k then W n else 0.
Definition high (k : nat) (W : nat -> R) (n : nat) : R := if Nat.leb n k then 0 else W n.
Lemma low_01 k W : (forall n, 0 <= W n <= 1) -> forall n, 0 <= low k W n <= 1.
Proof. intros H n. unfold low. destruct (Nat.leb n k); [apply H|lra]. Qed.
Lemma high_01 k W : (forall n, 0 <= W n <= 1) -> forall n, 0 <= high k W n <= 1.
Proof. intros H n. unfold high. destruct (Nat.leb n k); [lra|apply H]. Qed.
Lemma low_high (l : law view) c k W : 0 <= c -> (forall n, 0 <= W n <= 1) ->
  l (weighted (fun n => c * low k W n + high k W n)) = c * l (weighted (low k W)) + l (weighted (high k W)).
Proof.
  intros Hc H. assert (Bl : bounded (weighted (low k W))) by (apply bounded_test, weighted_01, low_01, H).
  assert (Bh : bounded (weighted (high k W))) by (apply bounded_test, weighted_01, high_01, H).
  rewrite <- E_scal, <- E_plus by (assumption || now apply bounded_scal).
  f_equal. apply functional_extensionality. intro v. unfold weighted. ring.
Qed.
Lemma no_more_below k W : play (up_to (S k)) rounds (weighted (low k W)) = play (up_to k) rounds (weighted (low k W)).
Proof.
  apply (agree_below k).
  - intros y v Hv. symmetry. apply due_same. unfold next_due.
    replace (Nat.eqb (N (y :: v)) (S k)) with false; [apply andb_false_r|]. symmetry. apply Nat.eqb_neq. lia.
  - intros v Hv. unfold weighted, low. replace (Nat.leb (N v) k) with false; [ring|]. symmetry. now apply Nat.leb_gt.
Qed.

Lemma weighted_bound : forall k W, weight W ->
  play (up_to k) rounds (weighted W)
  <= sum i (fun m => W (S m) * (exp (INR (Nat.min (S m) k) * epsilon) * chance (S m))) + slack epsilon delta k.
Proof.
  pose proof (exp_eps_1 epsilon Heps) as He. pose proof (exp_neg epsilon Heps) as Hn.
  induction k as [|k IH]; intros W HW; pose proof HW as (H01 & H0 & Hi).
  - simpl slack. rewrite Rplus_0_r, in_silence by exact HW. right. apply sum_ext. intros m _.
    rewrite Nat.min_0_r. simpl INR. rewrite Rmult_0_l, exp_0. ring.
  - set (W' := fun n => exp (- epsilon) * low k W n + high k W n).
    assert (HW' : weight W').
    { unfold W', low, high. repeat split.
      - destruct (Nat.leb n k); specialize (H01 n); nra.
      - destruct (Nat.leb n k); specialize (H01 n); nra.
      - rewrite H0. destruct (Nat.leb 0 k); ring.
      - intros n Hin. rewrite (Hi n Hin). destruct (Nat.leb n k); ring. }
    specialize (IH W' HW'). unfold W' in IH at 1. rewrite low_high in IH by (lra || assumption).
    assert (Split : play (up_to (S k)) rounds (weighted W)
      = play (up_to k) rounds (weighted (low k W)) + play (up_to (S k)) rounds (weighted (high k W))).
    { pose proof (low_high (play (up_to (S k)) rounds) 1 k W ltac:(lra) H01) as Both. rewrite Rmult_1_l, no_more_below in Both.
      rewrite <- Both. f_equal. apply functional_extensionality. intro v. unfold weighted. f_equal. unfold low, high.
      destruct (Nat.leb (N v) k); ring. }
    pose proof (one_more k (weighted (high k W)) (weighted_01 _ (high_01 k W H01))) as More.
    rewrite Split. set (l := play (up_to k) rounds (weighted (low k W))) in *. set (h := play (up_to k) rounds (weighted (high k W))) in *.
    apply Rmult_le_compat_l with (r := exp epsilon) in IH; [|lra].
    rewrite (Rmult_plus_distr_l _ (exp (- epsilon) * l)), <- (Rmult_assoc (exp epsilon) (exp (- epsilon))), exp_opp, Rmult_1_l in IH.
    rewrite Rmult_plus_distr_l, <- sum_scal in IH.
    rewrite (sum_ext i _ (fun m => W (S m) * (exp (INR (Nat.min (S m) (S k)) * epsilon) * chance (S m)))) in IH; [simpl slack; lra|].
    intros m _. unfold W', low, high. destruct (Nat.leb_spec (S m) k) as [L|L].
    + rewrite (Nat.min_l (S m) k), (Nat.min_l (S m) (S k)) by lia. rewrite Rplus_0_r.
      replace (exp epsilon * (exp (- epsilon) * W (S m) * (exp (INR (S m) * epsilon) * chance (S m))))
        with ((exp epsilon * exp (- epsilon)) * (W (S m) * (exp (INR (S m) * epsilon) * chance (S m)))) by ring.
      rewrite exp_opp. ring.
    + rewrite (Nat.min_r (S m) k), (Nat.min_r (S m) (S k)) by lia.
      replace (INR (S k) * epsilon) with (INR k * epsilon + epsilon) by (rewrite S_INR; ring). rewrite exp_plus. ring.
Qed.

(** N is between 1 and i, and the event happens. *)
Definition at_most : nat -> R := fun n => if Nat.leb 1 n && Nat.leb n i then 1 else 0.
Lemma at_most_weight : weight at_most.
Proof.
  unfold at_most. repeat split.
  - destruct (_ && _); lra.
  - destruct (_ && _); lra.
  - intros n H. replace (Nat.leb n i) with false; [now rewrite andb_false_r|]. symmetry. now apply Nat.leb_gt.
Qed.
(** Lemma 2. *)
Theorem attacked k : (k <= i)%nat ->
  play attack rounds (weighted at_most)
  <= steps epsilon delta (i - k)
       (sum i (fun m => exp (INR (Nat.min (S m) k) * epsilon) * chance (S m)) + slack epsilon delta k).
Proof.
  intro Hk. pose proof at_most_weight as (A01 & _ & Ai).
  apply Rle_trans with (play (up_to (i - k + k)) rounds (weighted at_most)).
  - right. replace (i - k + k)%nat with i by lia. apply (agree_below i).
    + intros y v Hv. unfold attack, up_to. replace (Nat.leb (N (y :: v)) i) with true; [now rewrite andb_true_r|].
      symmetry. now apply Nat.leb_le.
    + intros v Hv. unfold weighted. rewrite Ai by exact Hv. ring.
  - apply Rle_trans with (1 := many_more k _ (weighted_01 _ A01) (i - k)). apply steps_mono; [exact Heps|].
    apply Rle_trans with (1 := weighted_bound k at_most at_most_weight). apply Rplus_le_compat_r, sum_le.
    intros m Hm. unfold at_most. replace (Nat.leb (S m) i) with true by (symmetry; apply Nat.leb_le; lia).
    simpl Nat.leb. simpl andb. cbv iota. lra.
Qed.
End Attack.

(** ** Lemma 2 for random attacks: coins of the adversary *)

Theorem attacked_mean {C} (toss : law C) (lack : C -> view -> bool) active silent event rounds epsilon delta i k p :
  0 <= epsilon -> 0 <= delta -> (forall adv, private epsilon delta (game adv rounds)) -> (forall c v, 0 <= event c v <= 1) ->
  (k <= i)%nat -> (forall m, (m < i)%nat -> toss (fun c => chance (lack c) (silent c) rounds (event c) (S m)) <= p (S m)) ->
  toss (fun c => play (attack (lack c) (active c) (silent c)) rounds (weighted (lack c) (event c) (at_most i)))
  <= steps epsilon delta (i - k) (sum i (fun m => exp (INR (Nat.min (S m) k) * epsilon) * p (S m)) + slack epsilon delta k).
Proof.
  intros Heps Hdelta Priv Ev Hk Hp.
  set (chances := fun m c => chance (lack c) (silent c) rounds (event c) (S m)).
  set (factor := fun m => exp (INR (Nat.min (S m) k) * epsilon)).
  assert (F : forall m, 0 <= factor m) by (intro; left; apply exp_pos).
  assert (C01 : forall m c, 0 <= chances m c <= 1).
  { intros m c. unfold chances, chance. apply E_test, weighted_01; [apply Ev|apply is_rank_01]. }
  assert (B : forall m, bounded (fun c => factor m * chances m c)) by (intro m; now apply bounded_scal, bounded_test).
  destruct (mean_sum toss i (fun m c => factor m * chances m c) B) as [Bs Sum].
  pose proof (slack_pos epsilon delta Heps Hdelta k) as Sl.
  assert (Bx : bounded (fun c => sum i (fun m => factor m * chances m c) + slack epsilon delta k))
    by (apply bounded_plus; [exact Bs|now apply bounded_const]).
  apply Rle_trans with (toss (fun c => steps epsilon delta (i - k) (sum i (fun m => factor m * chances m c) + slack epsilon delta k))).
  - apply E_mono; [|now apply steps_bounded|].
    + apply bounded_test. intro c. apply E_test, weighted_01; [apply Ev|apply (at_most_weight i)].
    + intro c. unfold chances. now apply attacked.
  - apply Rle_trans with (1 := steps_mean epsilon delta Heps Hdelta toss (i - k) _ Bx). apply steps_mono; [assumption|].
    rewrite E_plus by (assumption || now apply bounded_const). rewrite Sum, E_const by exact Sl.
    apply Rplus_le_compat; [|pose proof (E_mass toss); nra]. apply sum_le. intros m Hm.
    rewrite E_scal by (apply F || now apply bounded_test). apply Rmult_le_compat_l; [apply F|now apply Hp].
Qed.
End Learner.
(* main: one_round, attacked, attacked_mean *)
