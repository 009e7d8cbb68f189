(** F3 of docs/GUARANTEES.md, for any mechanism with a secret state that answers yes or no (longer answers
    are published bit by bit): a copy that stops at a public time is followed by a fresh one on the rounds
    that follow, and so on; one price for all, if a copy is private on every prefix. *)
From Coq Require Import Reals Lra Lia List FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game.
Import ListNotations.
Open Scope R_scope.

Section Restarts.
Context {X State : Type}.
Variables (fresh : law State) (answer : X -> State -> law (bool * State)).
Variable stops : list bool -> bool.      (* of the answers of this copy, the latest first *)
Variable adv : adversary X bool.
Notation view := (list bool).

(** One copy, in the secret state s, after its answers [own]; [next] is what follows once it has stopped. *)
Fixpoint one_copy (next : nat -> bool -> view -> law view)
    (world : bool) (rounds : nat) (used : bool) (published own : view) (s : State) : law view :=
  match rounds with
  | O => ret published
  | S rounds =>
      let (x, used) := received adv world used published in
      bind (answer x s) (fun ys => let (y, s) := ys in
        if stops (y :: own) then next rounds used (y :: published)
        else one_copy next world rounds used (y :: published) (y :: own) s)
  end.
Fixpoint all_copies (world : bool) (copies rounds : nat) (used : bool) (published : view) : law view :=
  match copies with
  | O => ret published
  | S copies => bind fresh (one_copy (all_copies world copies) world rounds used published [])
  end.

(** The part of the runs in which the answer to x is y. *)
Definition said (y : bool) (ys : bool * State) : R := if Bool.eqb (fst ys) y then 1 else 0.
Lemma said_01 y ys : 0 <= said y ys <= 1.
Proof. unfold said. destruct (Bool.eqb (fst ys) y); lra. Qed.
Definition after (mu : law State) (x : X) (y : bool) : law State :=
  bind (part (bind mu (answer x)) (said y) (said_01 y)) (fun ys => ret (snd ys)).
(** The laws of the secret state, on the part of all runs with some prefix before the challenge. *)
Inductive reached : view -> law State -> Prop :=
  | Fresh : reached [] fresh
  | Answered own mu x y : reached own mu -> reached (y :: own) (after mu x y).

(** The challenge comes now; both worlds go on with the same adversary and the same successors. *)
Definition goes_on next z rounds published own s : law view :=
  bind (answer z s) (fun ys => let (y, s) := ys in
    if stops (y :: own) then next rounds true (y :: published)
    else one_copy next false rounds true (y :: published) (y :: own) s).
Definition prefix_private (epsilon delta : R) :=
  forall next z0 z1 rounds published own mu f, reached own mu -> (forall v, 0 <= f v <= 1) ->
  mu (fun s => goes_on next z0 rounds published own s f)
  <= exp epsilon * mu (fun s => goes_on next z1 rounds published own s f) + delta * mu (fun _ => 1).

Lemma one_copy_used world world' next next' : (forall r p, next r true p = next' r true p) -> forall rounds published own s,
  one_copy next world rounds true published own s = one_copy next' world' rounds true published own s.
Proof.
  intro H. induction rounds as [|rounds IH]; intros published own s; [reflexivity|]. cbn [one_copy received].
  f_equal. apply functional_extensionality. intros [y s']. destruct (stops (y :: own)); [apply H|apply IH].
Qed.
Lemma all_copies_used world world' copies : forall rounds published,
  all_copies world copies rounds true published = all_copies world' copies rounds true published.
Proof.
  induction copies as [|copies IH]; intros rounds published; [reflexivity|]. cbn [all_copies]. f_equal.
  apply functional_extensionality. intro s. now apply one_copy_used.
Qed.

Variables (epsilon delta : R).
Hypothesis Heps : 0 <= epsilon.
Hypothesis Hdelta : 0 <= delta.
Hypothesis M : prefix_private epsilon delta.

Lemma exp_ge_1 : 1 <= exp epsilon.
Proof. rewrite <- exp_0. destruct Heps as [H|H]; [left; now apply exp_increasing|right; now rewrite <- H]. Qed.

Lemma split_answer (mu : law State) x (F : bool * State -> R) : bounded F ->
  mu (fun s => answer x s F) = after mu x true (fun s => F (true, s)) + after mu x false (fun s => F (false, s)).
Proof.
  intro BF. unfold after. cbn [bind part ret E].
  assert (B : forall y, bounded (fun ys => said y ys * F (y, snd ys))).
  { intro y. apply bounded_mult; [apply bounded_test; apply said_01|]. now apply (bounded_after F). }
  rewrite <- E_plus by (apply (bounded_E1 (answer x)); apply B).
  apply E_ext; [now apply (bounded_E1 (answer x))|apply bounded_plus; apply (bounded_E1 (answer x)); apply B|].
  intro s. rewrite <- E_plus by apply B. apply E_ext; [exact BF|apply bounded_plus; apply B|].
  intros [y s']. unfold said. destruct y; simpl; ring.
Qed.

Lemma copy_private copies world
  (IH : forall rounds published f, (forall v, 0 <= f v <= 1) ->
    all_copies world copies rounds false published f
    <= exp epsilon * all_copies (negb world) copies rounds false published f + delta) :
  forall rounds published own mu f, reached own mu -> (forall v, 0 <= f v <= 1) ->
  mu (fun s => one_copy (all_copies world copies) world rounds false published own s f)
  <= exp epsilon * mu (fun s => one_copy (all_copies (negb world) copies) (negb world) rounds false published own s f)
     + delta * mu (fun _ => 1).
Proof.
  pose proof exp_ge_1 as He.
  induction rounds as [|rounds IHr]; intros published own mu f Re Hf.
  - cbn [one_copy ret E]. rewrite E_const by apply Hf. specialize (Hf published).
    assert (0 <= mu (fun _ => 1)) by (apply E_pos, bounded_const; lra). assert (0 <= f published * mu (fun _ => 1)) by nra. nra.
  - cbn [one_copy received]. destruct (challenge adv published) as [[z0 z1]|].
    + pose proof (M (all_copies world copies) (if world then z1 else z0) (if negb world then z1 else z0) rounds published own mu f Re Hf) as P.
      unfold goes_on in P.
      replace (fun s : State => bind (answer (if world then z1 else z0) s) _ f) with
        (fun s => bind (answer (if world then z1 else z0) s) (fun ys => let (y, s) := ys in
          if stops (y :: own) then all_copies world copies rounds true (y :: published)
          else one_copy (all_copies world copies) false rounds true (y :: published) (y :: own) s) f).
      2:{ apply functional_extensionality. intro s. do 2 f_equal. apply functional_extensionality. intros [y s'].
          destruct (stops (y :: own)); [reflexivity|now apply one_copy_used]. }
      replace (fun s : State => bind (answer (if negb world then z1 else z0) s) _ f) with
        (fun s => bind (answer (if negb world then z1 else z0) s) (fun ys => let (y, s) := ys in
          if stops (y :: own) then all_copies world copies rounds true (y :: published)
          else one_copy (all_copies world copies) false rounds true (y :: published) (y :: own) s) f).
      2:{ apply functional_extensionality. intro s. do 2 f_equal. apply functional_extensionality. intros [y s'].
          destruct (stops (y :: own)); [apply all_copies_used|apply one_copy_used; intros; apply all_copies_used]. }
      exact P.
    + set (x := example adv published).
      cbn [bind E].
      assert (B : forall w, bounded (fun ys : bool * State => (let (y, s) := ys in
        if stops (y :: own) then all_copies w copies rounds false (y :: published)
        else one_copy (all_copies w copies) w rounds false (y :: published) (y :: own) s) f)).
      { intro w. apply bounded_test. intros [y s]. now apply E_test. }
      rewrite !split_answer by apply B. cbv beta iota.
      assert (Mass : mu (fun _ => 1) >= after mu x true (fun _ => 1) + after mu x false (fun _ => 1)).
      { rewrite <- (split_answer mu x (fun _ => 1)) by (apply bounded_const; lra).
        apply Rle_ge. apply E_mono; [apply (bounded_E1 (answer x)), bounded_const; lra|apply bounded_const; lra|].
        intro s. apply E_mass. }
      assert (One : forall y,
        after mu x y (fun s => (if stops (y :: own) then all_copies world copies rounds false (y :: published)
           else one_copy (all_copies world copies) world rounds false (y :: published) (y :: own) s) f)
        <= exp epsilon * after mu x y (fun s => (if stops (y :: own) then all_copies (negb world) copies rounds false (y :: published)
           else one_copy (all_copies (negb world) copies) (negb world) rounds false (y :: published) (y :: own) s) f)
           + delta * after mu x y (fun _ => 1)).
      { intro y. destruct (stops (y :: own)).
        - rewrite !(E_const (after mu x y) (all_copies _ copies rounds false (y :: published) f)) by now apply E_test.
          specialize (IH rounds (y :: published) f Hf).
          assert (0 <= after mu x y (fun _ => 1)) by (apply E_pos, bounded_const; lra). nra.
        - apply IHr; [now apply Answered|exact Hf]. }
      pose proof (One true) as T. pose proof (One false) as F. nra.
Qed.

(** F3. *)
Theorem F3_restarts copies rounds : private epsilon delta (fun world => all_copies world copies rounds false []).
Proof.
  intro world. generalize (@nil bool). revert rounds. induction copies as [|copies IH]; intros rounds published f Hf.
  - cbn [all_copies ret E]. pose proof exp_ge_1. specialize (Hf published). nra.
  - cbn [all_copies bind E].
    pose proof (copy_private copies world (fun r p g Hg => IH r p g Hg) rounds published [] fresh f Fresh Hf) as P.
    pose proof (E_mass fresh). assert (delta * fresh (fun _ => 1) <= delta) by nra. lra.
Qed.
End Restarts.
(* main: F3_restarts *)
