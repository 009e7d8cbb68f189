(** The list of keys in PrivateKeys.v may be any that has all keys which the adversary ever names: others
    change nothing. So the promise is about a universe without end. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine CountAboveThreshold PrivateKeys.
Import ListNotations.
Open Scope R_scope.

Section Universe.
Variables (a b : rate) (reports complaints : Z) (adv : adversary (key * bool) keys) (y : key) (f : view -> R).
Hypothesis unnamed : forall v, fst (example adv v) <> y.
Hypothesis unchallenged : forall v z0 z1, challenge adv v = Some (z0, z1) -> fst z0 <> y /\ fst z1 <> y.
Notation run := (run a b).

Lemma ensured_same x tau s (t t' : tree view) : x <> y -> s y = None ->
  (forall s, s y = None -> run t s f = run t' s f) -> run (Ensure x tau t) s f = run (Ensure x tau t') s f.
Proof.
  intros D Hs K. cbn [Machine.run bind E]. unfold ensured. destruct (s x); cbn [bind ret E]; [now apply K|].
  f_equal. apply functional_extensionality. intro r. apply K. now rewrite set_other by congruence.
Qed.
Lemma counted_same A z s (t t' : tree view) : fst z <> y -> s y = None ->
  (forall s, s y = None -> run t s f = run t' s f) ->
  run (count (counts_for reports complaints A z) t) s f = run (count (counts_for reports complaints A z) t') s f.
Proof.
  intros D Hs K. destruct z as [x label]. unfold counts_for. destruct (Bool.eqb (A x) label); cbn [count]; [now apply K|].
  apply ensured_same; try assumption. intros s' Hs'. cbn [Machine.run]. apply K. simpl in D. now rewrite shift_other by congruence.
Qed.
Lemma toss_all_same xs : ~ In y xs -> forall due k k' s, due y = false -> s y = None ->
  (forall due s, due y = false -> s y = None -> run (k due) s f = run (k' due) s f) ->
  run (toss_all xs due k) s f = run (toss_all xs due k') s f.
Proof.
  induction xs as [|x xs IH]; intros N due k k' s Hd Hs K; cbn [toss_all]; [now apply K|]. simpl in N.
  cbn [Machine.run mix E]. rewrite !(IH ltac:(tauto) _ k k'); try assumption; try reflexivity; rewrite set_other by (intro; subst; tauto); assumption.
Qed.
Lemma ensure_all_same xs new t t' : new y = false -> (forall s, s y = None -> run t s f = run t' s f) ->
  forall s, s y = None -> run (ensure_all complaints xs new t) s f = run (ensure_all complaints xs new t') s f.
Proof.
  intros Hn K. induction xs as [|x xs IH]; intros s Hs; cbn [ensure_all]; [now apply K|].
  destruct (new x) eqn:Nx; [|now apply IH]. apply ensured_same; [congruence|exact Hs|exact IH].
Qed.

Lemma learn_same universe world rounds : ~ In y universe -> forall used published A s, A y = false -> s y = None ->
  run (learn reports complaints (y :: universe) adv world rounds used published A) s f
  = run (learn reports complaints universe adv world rounds used published A) s f.
Proof.
  intro N. induction rounds as [|rounds IH]; intros used published A s HA Hs; [reflexivity|]. cbn [learn].
  assert (Z : fst (fst (received adv world used published)) <> y).
  { unfold received. destruct used; [apply unnamed|]. destruct (challenge adv published) as [[z0 z1]|] eqn:C; [|apply unnamed].
    destruct (unchallenged _ _ _ C). destruct world; assumption. }
  destruct (received adv world used published) as [z used']. apply counted_same; [exact Z|exact Hs|]. clear s Hs. intros s Hs.
  cbn [toss_all Machine.run mix E]. assert (H0 : hit a y s = 0) by (unfold hit; now rewrite Hs).
  rewrite H0, Rmult_0_l, Rplus_0_l, Rminus_0_r, Rmult_1_l.
  replace (set (fun _ : key => false) y false) with (fun _ : key => false)
    by (apply functional_extensionality; intro x; unfold set; now destruct (Nat.eqb x y)).
  apply toss_all_same; [exact N|reflexivity|exact Hs|]. intros due s' Hd Hs'. cbn [ensure_all]. rewrite Hd, andb_false_r.
  apply ensure_all_same; [now rewrite Hd, andb_false_r| |exact Hs'].
  intros s'' Hs''. apply IH; [now rewrite HA, Hd|exact Hs''].
Qed.
End Universe.

(** Keys that nobody names may be added to the list, or left out of it. *)
Theorem unnamed_keys_change_nothing alpha beta Ha Hb reports complaints universe more rounds adv world f :
  (forall y v, In y more -> fst (example adv v) <> y) ->
  (forall y v z0 z1, In y more -> challenge adv v = Some (z0, z1) -> fst z0 <> y /\ fst z1 <> y) ->
  NoDup (more ++ universe) ->
  private_keys alpha beta Ha Hb reports complaints (more ++ universe) rounds adv world f
  = private_keys alpha beta Ha Hb reports complaints universe rounds adv world f.
Proof.
  intros U C ND. unfold private_keys. induction more as [|y more IH]; [reflexivity|]. cbn [app] in *.
  inversion ND as [|y' l Hy ND']; subst. rewrite (learn_same _ _ reports complaints adv y f).
  - apply IH; [intros z v Hz; apply U; now right|intros z v z0 z1 Hz; apply C; now right|exact ND'].
  - intro v. apply U. now left.
  - intros v z0 z1. apply C. now left.
  - exact Hy.
  - reflexivity.
  - reflexivity.
Qed.
(* main: unnamed_keys_change_nothing *)
