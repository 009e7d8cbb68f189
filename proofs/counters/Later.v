(** Two worlds of counters that count one example in different rounds: each counts once less than a third. *)
From Coq Require Import ZArith Reals Lra Lia List FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost.
Import ListNotations.
Open Scope R_scope.

(** Fresh query noise for every counter; [due] are the keys that fire. *)
Fixpoint toss_each {V} (xs : list key) (due : key -> bool) (k : (key -> bool) -> tree V) : tree V :=
  match xs with [] => k due | x :: xs => Toss x (fun fires => toss_each xs (set due x fires) k) end.

(** The second tree counts once more, somewhere on the way. *)
Inductive one_more {V} (tau : Z) (n : nat) : tree V -> tree V -> Prop :=
  | MoreSame t : one_more tau n t t
  | MoreEnsure x tau' t0 t1 : one_more tau n t0 t1 -> one_more tau n (Ensure x tau' t0) (Ensure x tau' t1)
  | MoreDec x t0 t1 : one_more tau n t0 t1 -> one_more tau n (Dec x t0) (Dec x t1)
  | MoreToss x k0 k1 : (forall answer, one_more tau n (k0 answer) (k1 answer)) -> one_more tau n (Toss x k0) (Toss x k1)
  | MoreNow x t : unseen x tau n t -> one_more tau n t (Ensure x tau (Dec x t)).
Lemma more_count {V} tau n o (t0 t1 : tree V) : one_more tau n t0 t1 -> one_more tau n (count o t0) (count o t1).
Proof. intro H. destruct o as [[x tau']|]; [now apply MoreEnsure, MoreDec|exact H]. Qed.
Lemma more_toss {V} tau n xs : forall due (k0 k1 : (key -> bool) -> tree V), (forall due, one_more tau n (k0 due) (k1 due)) ->
  one_more tau n (toss_each xs due k0) (toss_each xs due k1).
Proof. induction xs as [|x xs IH]; intros due k0 k1 H; simpl; [apply H|]. apply MoreToss. intro answer. now apply IH. Qed.
(** Two worlds, each of which counts once less than a third. *)
Definition joined {V} tau n (t0 t1 : tree V) := exists t, one_more tau n t0 t /\ one_more tau n t1 t.

Lemma unseen_count {V} x tau n o (t : tree V) : (forall y tau', o = Some (y, tau') -> tau' = tau) -> unseen x tau n t -> unseen x tau n (count o t).
Proof.
  intros H U. destruct o as [[y tau']|]; [|exact U]. simpl. specialize (H y tau' eq_refl). destruct (Nat.eqb_spec y x); [exact H|]. now split.
Qed.
Lemma unseen_toss {V} x tau n xs : NoDup xs -> forall due (k : (key -> bool) -> tree V), (forall due, unseen x tau n (k due)) ->
  unseen x tau (S n) (toss_each xs due k) /\ (~ In x xs -> unseen x tau n (toss_each xs due k)).
Proof.
  induction 1 as [|y xs Hy ND IH]; intros due k K; simpl.
  - split; [apply (unseen_more x tau _ n); [lia|apply K]|intros _; apply K].
  - destruct (Nat.eqb_spec y x) as [->|D].
    + split; [|tauto]. destruct (IH (set due x false) k K) as [_ I]. now apply I.
    + split; [intro answer; now apply IH|]. intros N answer. apply IH; [exact K|tauto].
Qed.

Section Costs.
Variables (a b : rate).
Notation run := (run a b).
Notation stray := (stray a b).
Notation payable := (payable b).
Context {V : Type}.
Variables (tau : Z) (n : nat) (f : V -> R).
Hypothesis Hf : forall v, 0 <= f v <= 1.
Let Bt : forall t : tree V, bounded (fun s => run t s f).
Proof. intro t. apply run_bounded. now apply bounded_test. Qed.
Let D := INR n * stray tau.
Lemma D_pos : 0 <= D.
Proof. pose proof (stray_01 a b tau). pose proof (pos_INR n). unfold D. nra. Qed.
Lemma mass_pos (mu : law state) : 0 <= mu (fun _ => 1).
Proof. apply E_pos, bounded_const. lra. Qed.

Lemma noise_costs x t (mu : law state) : unseen x tau n t ->
  Rabs (bind mu (ensured b x tau) (fun s => run t s f) - mu (fun s => run t s f)) <= D * mu (fun _ => 1).
Proof.
  intro U. pose proof D_pos as HD. cbn [bind E].
  assert (Be : bounded (fun s => ensured b x tau s (fun s => run t s f))) by (apply (bounded_E1 (ensured b x tau)), Bt).
  assert (N : forall s, Rabs (ensured b x tau s (fun s => run t s f) - run t s f) <= D) by (intro s; exact (noise_at_zero a b t f x tau n s Hf U)).
  assert (Up : mu (fun s => ensured b x tau s (fun s => run t s f)) <= mu (fun s => run t s f + D)).
  { apply E_mono; [exact Be|apply bounded_plus; [apply Bt|now apply bounded_const]|]. intro s. specialize (N s). apply Rabs_le_between in N. lra. }
  assert (Dn : mu (fun s => run t s f) <= mu (fun s => ensured b x tau s (fun s => run t s f) + D)).
  { apply E_mono; [apply Bt|apply bounded_plus; [exact Be|now apply bounded_const]|]. intro s. specialize (N s). apply Rabs_le_between in N. lra. }
  rewrite E_plus, (E_const mu D) in Up, Dn by (exact HD || exact Be || apply Bt || now apply bounded_const).
  apply Rabs_le. lra.
Qed.
Lemma ensured_one x tau' (mu : law state) : bind mu (ensured b x tau') (fun _ => 1) = mu (fun _ => 1).
Proof.
  cbn [bind E]. f_equal. apply functional_extensionality. intro s. unfold ensured.
  destruct (s x); cbn [bind ret E]; [reflexivity|apply geometric_one].
Qed.
(** How a law of the secret state splits at a toss. *)
Lemma toss_split (mu : law state) x k : mu (fun s => run (Toss x k) s f)
  = after_yes a mu x (fun s : state => run (k true) s f) + after_no a mu x (fun s : state => run (k false) s f).
Proof.
  unfold after_yes, after_no. cbn [bind part ret E Machine.run mix]. apply E_plus.
  - apply bounded_mult; [apply bounded_test; apply hit_01|apply (bounded_after (fun s => run (k true) s f)), Bt].
  - apply bounded_mult; [apply bounded_test; apply miss_01|apply Bt].
Qed.
Lemma mass_split (mu : law state) x : mu (fun _ => 1) = after_yes a mu x (fun _ : state => 1) + after_no a mu x (fun _ : state => 1).
Proof.
  unfold after_yes, after_no. cbn [bind part ret E].
  rewrite <- E_plus; [f_equal; apply functional_extensionality; intro; ring| |];
    (apply bounded_mult; [apply bounded_test; (apply hit_01 || apply miss_01)|apply bounded_const; lra]).
Qed.

Theorem more_costs_beta t0 t1 : one_more tau n t0 t1 -> forall mu, payable mu ->
  b * mu (fun s => run t0 s f) <= mu (fun s => run t1 s f) + b * (D * mu (fun _ => 1)).
Proof.
  pose proof (base_01 b) as Hb. pose proof D_pos as HD.
  induction 1 as [t|x tau' t0 t1 H IH|x t0 t1 H IH|x k0 k1 H IH|x t U]; intros mu P; pose proof (mass_pos mu) as M.
  - assert (0 <= b * (D * mu (fun _ => 1))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; assumption]).
    assert (b * mu (fun s => run t s f) <= 1 * mu (fun s => run t s f)) by (apply Rmult_le_compat_r; [apply (E_pos mu _ (Bt t))|lra]). lra.
  - specialize (IH _ (payable_ensured b mu x tau' P)). now rewrite ensured_one in IH.
  - exact (IH _ (payable_dec b mu x P)).
  - rewrite !toss_split, (mass_split mu x).
    pose proof (IH true _ (payable_yes a b mu x P)). pose proof (IH false _ (payable_no a b mu x P)). unfold state in *. lra.
  - pose proof (noise_costs x t mu U) as N. apply Rabs_le_between in N.
    assert (Q := payable_ensured b mu x tau P x (fun s => run t (dec x s) f) (bounded_after (fun s => run t s f) (dec x) (Bt t))).
    cbv beta in Q. rewrite (E_ext (bind mu (ensured b x tau)) _ (fun s => run t s f)) in Q;
      [|apply (bounded_after (fun s => run t s f) (fun s => dec x (raise x s))), Bt|apply Bt|intro s; now rewrite dec_raise].
    change (b * mu (fun s => run t s f) <= bind mu (ensured b x tau) (fun s => run t (dec x s) f) + b * (D * mu (fun _ => 1))).
    assert (b * mu (fun s => run t s f) <= b * (bind mu (ensured b x tau) (fun s => run t s f) + D * mu (fun _ => 1))) by (apply Rmult_le_compat_l; lra).
    lra.
Qed.
Theorem less_costs_alpha t0 t1 : one_more tau n t0 t1 -> forall mu : law state,
  a * mu (fun s => run t1 s f) <= mu (fun s => run t0 s f) + D * mu (fun _ => 1).
Proof.
  pose proof (base_01 a) as Ha. pose proof D_pos as HD.
  induction 1 as [t|x tau' t0 t1 H IH|x t0 t1 H IH|x k0 k1 H IH|x t U]; intro mu; pose proof (mass_pos mu) as M.
  - assert (0 <= D * mu (fun _ => 1)) by (apply Rmult_le_pos; assumption).
    assert (a * mu (fun s => run t s f) <= 1 * mu (fun s => run t s f)) by (apply Rmult_le_compat_r; [apply (E_pos mu _ (Bt t))|lra]). lra.
  - specialize (IH (bind mu (ensured b x tau'))). now rewrite ensured_one in IH.
  - exact (IH (after_dec mu x)).
  - rewrite !toss_split, (mass_split mu x). pose proof (IH true (after_yes a mu x)). pose proof (IH false (after_no a mu x)). unfold state in *. lra.
  - pose proof (noise_costs x t mu U) as N. apply Rabs_le_between in N.
    change (a * bind mu (ensured b x tau) (fun s => run t (dec x s) f) <= mu (fun s => run t s f) + D * mu (fun _ => 1)).
    assert (a * bind mu (ensured b x tau) (fun s => run t (dec x s) f) <= bind mu (ensured b x tau) (fun s => run t s f)); [|lra].
    assert (Bd : bounded (fun s => run t (dec x s) f)) by (apply (bounded_after (fun s => run t s f)), Bt).
    rewrite <- E_scal by (lra || exact Bd). apply E_mono; [apply bounded_scal; [lra|exact Bd]|apply Bt|].
    intro s. rewrite <- (raise_dec x s) at 2. apply raise_costs_alpha. now apply bounded_test.
Qed.

(** ** Both, and what came before *)

Variables (own delta : R).
Hypothesis rates : 1 <= exp own * (a * b).
Hypothesis enough : (1 + exp own) * D <= delta.
Theorem joined_close t0 t1 : joined tau n t0 t1 -> forall mu, payable mu ->
  mu (fun s => run t0 s f) <= exp own * mu (fun s => run t1 s f) + delta * mu (fun _ => 1).
Proof.
  intros (t & M0 & M1) mu P. pose proof (base_01 a) as Ha. pose proof (base_01 b) as Hb. pose proof (exp_pos own) as He.
  pose proof (more_costs_beta _ _ M0 mu P) as S0. pose proof (less_costs_alpha _ _ M1 mu) as S1. pose proof (mass_pos mu) as M.
  set (m := mu (fun _ => 1)) in *. set (x0 := mu (fun s => run t0 s f)) in *. set (x1 := mu (fun s => run t1 s f)) in *.
  set (x := mu (fun s => run t s f)) in *. pose proof D_pos as HD.
  apply Rmult_le_compat_l with (r := a) in S0; [|lra].
  assert (S : a * b * x0 <= x1 + D * m + a * b * (D * m)) by lra.
  assert (Q : 0 < a * b) by nra. pose proof (Rinv_0_lt_compat _ Q) as Iq.
  assert (I : / (a * b) <= exp own).
  { apply (Rmult_le_reg_r (a * b)); [exact Q|]. rewrite Rinv_l by lra. exact rates. }
  assert (Dm : 0 <= D * m) by (apply Rmult_le_pos; assumption).
  assert (X1 : 0 <= x1) by (apply (E_pos mu _ (Bt t1))).
  apply Rmult_le_compat_l with (r := / (a * b)) in S; [|lra].
  replace (/ (a * b) * (a * b * x0)) with x0 in S by (field; lra).
  replace (/ (a * b) * (x1 + D * m + a * b * (D * m))) with (/ (a * b) * (x1 + D * m) + D * m) in S by (field; lra).
  assert (/ (a * b) * (x1 + D * m) <= exp own * (x1 + D * m)) by (apply Rmult_le_compat_r; lra).
  assert ((1 + exp own) * D * m <= delta * m) by (apply Rmult_le_compat_r; assumption). lra.
Qed.

(** Until the challenge the trees are the same, but for what they lead to. *)
Inductive up_to_it (before : V -> V -> Prop) : tree V -> tree V -> Prop :=
  | NotYet v0 v1 : before v0 v1 -> up_to_it before (Done v0) (Done v1)
  | Joined t0 t1 : joined tau n t0 t1 -> up_to_it before t0 t1
  | BothEnsure x tau' t0 t1 : up_to_it before t0 t1 -> up_to_it before (Ensure x tau' t0) (Ensure x tau' t1)
  | BothDec x t0 t1 : up_to_it before t0 t1 -> up_to_it before (Dec x t0) (Dec x t1)
  | BothToss x k0 k1 : (forall answer, up_to_it before (k0 answer) (k1 answer)) -> up_to_it before (Toss x k0) (Toss x k1).
Lemma both_count before o t0 t1 : up_to_it before t0 t1 -> up_to_it before (count o t0) (count o t1).
Proof. intro H. destruct o as [[x tau']|]; [now apply BothEnsure, BothDec|exact H]. Qed.
Lemma both_toss before xs : forall due (k0 k1 : (key -> bool) -> tree V), (forall due, up_to_it before (k0 due) (k1 due)) ->
  up_to_it before (toss_each xs due k0) (toss_each xs due k1).
Proof. induction xs as [|x xs IH]; intros due k0 k1 H; simpl; [apply H|]. apply BothToss. intro answer. now apply IH. Qed.
Variables (epsilon : R) (before : V -> V -> Prop).
Hypothesis own_within : own <= epsilon.
Hypothesis Hbefore : forall v0 v1, before v0 v1 -> f v0 <= exp epsilon * f v1 + delta.
Theorem up_to_it_close t0 t1 : up_to_it before t0 t1 -> forall mu, payable mu ->
  mu (fun s => run t0 s f) <= exp epsilon * mu (fun s => run t1 s f) + delta * mu (fun _ => 1).
Proof.
  induction 1 as [v0 v1 W|t0 t1 J|x tau' t0 t1 H IH|x t0 t1 H IH|x k0 k1 H IH]; intros mu P.
  - cbn [Machine.run ret E]. rewrite !(E_const mu (f _)) by apply Hf. pose proof (mass_pos mu). specialize (Hbefore _ _ W).
    apply Rmult_le_compat_r with (r := mu (fun _ => 1)) in Hbefore; [|assumption]. lra.
  - apply Rle_trans with (1 := joined_close _ _ J mu P). pose proof (exp_le _ _ own_within).
    pose proof (E_pos mu _ (Bt t1)). cbv beta in *. nra.
  - specialize (IH _ (payable_ensured b mu x tau' P)). now rewrite ensured_one in IH.
  - exact (IH _ (payable_dec b mu x P)).
  - rewrite !toss_split, (mass_split mu x).
    pose proof (IH true _ (payable_yes a b mu x P)). pose proof (IH false _ (payable_no a b mu x P)). unfold state in *. lra.
Qed.
End Costs.
(* main: joined_close, up_to_it_close *)
