(** learners/disjoint_batches: every example is read by one draw. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices ExponentialMechanism.
Import ListNotations.
Open Scope R_scope.

(** ** Parallel composition over disjoint rounds, against an adaptive adversary *)

(** The example of a round goes to the buffer [goes published]; after the rounds with [due published] this
    buffer is read by one draw, and emptied. Which round goes where, and when a buffer is read, depends on
    the number of the round and on what was drawn before: both are in the view. A draw may look at
    everything that was drawn before. What is published in the rounds in between is a function of these
    draws, so the view has None for them. *)
Section Disjoint.
Context {X Y : Type}.
Notation view := (list (option Y)).
Variables (goes : view -> nat) (due : view -> bool).
Variable drawn : view -> list X -> law Y.
Variable adv : adversary X (option Y).
Notation buffers := (nat -> list X).

Definition put (bs : buffers) (j : nat) (l : list X) : buffers := fun i => if Nat.eqb i j then l else bs i.

Fixpoint batches (world : bool) (rounds : nat) (used : bool) (published : view) (bs : buffers) : law view :=
  match rounds with
  | O => ret published
  | S rounds =>
      let (z, used) := received adv world used published in
      let batch := bs (goes published) ++ [z] in                                    (* (L2) *)
      if due published
      then bind (drawn published batch) (fun y =>                                   (* (L3, L4) *)
        batches world rounds used (Some y :: published) (put bs (goes published) []))
      else batches world rounds used (None :: published) (put bs (goes published) batch)
  end.

(** Lists that differ in one element. *)
Definition replaced (l l' : list X) := exists before after z z', l = before ++ z :: after /\ l' = before ++ z' :: after.
Lemma replaced_last l z z' : replaced (l ++ [z]) (l ++ [z']).
Proof. exists l, [], z, z'. auto. Qed.
Lemma replaced_more l l' z : replaced l l' -> replaced (l ++ [z]) (l' ++ [z]).
Proof.
  intros [before [after [y [y' [-> ->]]]]]. exists before, (after ++ [z]), y, y'.
  rewrite <- !app_assoc. auto.
Qed.

Variable epsilon : R.
Hypothesis Heps : 0 <= epsilon.
Hypothesis one_draw : forall published l l', replaced l l' -> within epsilon 0 (drawn published l) (drawn published l').

Lemma used_up world world' rounds : forall published bs,
  batches world rounds true published bs = batches world' rounds true published bs.
Proof.
  induction rounds as [|rounds IH]; intros published bs; [reflexivity|]. cbn [batches received].
  destruct (due published); [|apply IH]. f_equal. apply functional_extensionality. intro y. apply IH.
Qed.
Lemma put_other bs j l i : i <> j -> put bs j l i = bs i.
Proof. unfold put. destruct (Nat.eqb_spec i j); congruence. Qed.
Lemma put_same bs j l : put bs j l j = l.
Proof. unfold put. now rewrite Nat.eqb_refl. Qed.
Lemma put_over (bs bs' : buffers) j l : (forall i, i <> j -> bs i = bs' i) -> put bs j l = put bs' j l.
Proof.
  intro H. apply functional_extensionality. intro i. unfold put. destruct (Nat.eqb_spec i j); auto.
Qed.
Lemma near_same (l : law view) : within epsilon 0 l l.
Proof. apply (within_weaker 0 0); [exact Heps|lra|apply within_refl]. Qed.

(** After the challenge: one buffer differs in one example, until it is read. *)
Lemma challenged world rounds : forall published bs bs' j, (forall i, i <> j -> bs i = bs' i) -> replaced (bs j) (bs' j) ->
  within epsilon 0 (batches world rounds true published bs) (batches world rounds true published bs').
Proof.
  induction rounds as [|rounds IH]; intros published bs bs' j Same Rep; [apply near_same|]. cbn [batches received].
  set (z := example adv published). set (g := goes published).
  destruct (due published), (Nat.eq_dec g j) as [->|D].
  - rewrite (put_over bs bs' j [] Same). apply post_processing, one_draw. now apply replaced_more.
  - rewrite (Same g D). apply F1_fixed_coins; [lra|]. intro y. apply IH with (j := j).
    + intros i Hi. unfold put. destruct (Nat.eqb_spec i g); auto.
    + now rewrite !put_other by congruence.
  - apply IH with (j := j); [intros i Hi; rewrite !put_other by assumption; now apply Same|].
    rewrite !put_same. now apply replaced_more.
  - rewrite (Same g D). apply IH with (j := j).
    + intros i Hi. unfold put. destruct (Nat.eqb_spec i g); auto.
    + now rewrite !put_other by congruence.
Qed.

(** From every prefix on: [published] has come out so far and the buffers hold what they hold. *)
Theorem batches_private_from world rounds : forall published bs,
  within epsilon 0 (batches world rounds false published bs) (batches (negb world) rounds false published bs).
Proof.
  induction rounds as [|rounds IH]; intros published bs; [apply near_same|]. cbn [batches received].
  destruct (challenge adv published) as [[z0 z1]|].
  - set (g := goes published). set (z := if world then z1 else z0). set (z' := if negb world then z1 else z0).
    destruct (due published).
    + replace (fun y => batches (negb world) rounds true (Some y :: published) (put bs g []))
        with (fun y => batches world rounds true (Some y :: published) (put bs g []))
        by (apply functional_extensionality; intro y; apply used_up).
      apply post_processing, one_draw, replaced_last.
    + rewrite (used_up (negb world) world). apply challenged with (j := g).
      * intros i Hi. now rewrite !put_other.
      * rewrite !put_same. apply replaced_last.
  - destruct (due published); [apply F1_fixed_coins; [lra|]; intro y|]; apply IH.
Qed.
End Disjoint.

(** ** The draws of the learner *)

(** A draw has candidates and prior weights that are functions of what was drawn before and of coins that
    are tossed before the batch is looked at: all listed concepts (prior 1), all trees, linear rules of a
    pool (the coins), or what a window chooses from (prior weights 120 for the rule, 40 for the newest one
    drawn, 1 or 10 for the constant of each label, and 24 more for the one on display). How many rounds go to
    windows, and whether constants weigh 10, follows from what the last windows drew. Labels are of any type,
    so there may be any number of them. Its weights are those of ExponentialMechanism or of TreeSelection. The score of a candidate
    is the number of its errors; an example that stays unread (None) is nobody's error. *)
Section Learner.
Context {point label hypothesis coins : Type}.
Notation example := (option (point * label)).
Notation view := (list (option hypothesis)).
Variable same : label -> label -> bool.
Variable says : hypothesis -> point -> label.
Variables (goes : view -> nat) (due : view -> bool).
Variable epsilon : R.
Hypothesis Heps : 0 <= epsilon.
Variable toss : view -> law coins.
Variable candidates : view -> coins -> list hypothesis.
Variable prior : view -> coins -> nat -> R.
Hypothesis prior_pos : forall published c i, 0 < prior published c i.
Variable W : view -> weights (epsilon / 2).
Variable nobody : hypothesis.                   (* what nth says beyond the end, where nothing is drawn *)

Definition errs (h : hypothesis) (z : example) : Z :=
  match z with None => 0 | Some (x, y) => if same (says h x) y then 0 else 1 end.
Fixpoint errors (h : hypothesis) (batch : list example) : Z :=
  match batch with [] => 0 | z :: batch => errs h z + errors h batch end.

Definition drawn (published : view) (batch : list example) : law hypothesis :=
  bind (toss published) (fun c =>
    let among := candidates published c in
    bind (draw (W published) (length among) (prior published c) (prior_pos published c)
            (fun i => errors (nth i among nobody) batch))
         (fun i => ret (nth i among nobody))).

Lemma errors_app h l l' : errors h (l ++ l') = (errors h l + errors h l')%Z.
Proof. induction l as [|z l IH]; simpl; [reflexivity|]. rewrite IH. lia. Qed.
Lemma errs_01 h z : (0 <= errs h z <= 1)%Z.
Proof. destruct z as [[x y]|]; simpl; [destruct (same (says h x) y)|]; lia. Qed.
Lemma errors_replaced h l l' : replaced l l' -> (-1 <= errors h l' - errors h l <= -1 + 2)%Z.
Proof.
  intros [before [after [z [z' [-> ->]]]]]. rewrite !errors_app. simpl.
  pose proof (errs_01 h z). pose proof (errs_01 h z'). lia.
Qed.

Lemma drawn_private published l l' : replaced l l' -> within epsilon 0 (drawn published l) (drawn published l').
Proof.
  intro Rep. apply F1_fixed_coins; [lra|]. intro c. apply post_processing.
  replace epsilon with (epsilon / 2 * IZR 2) at 1 by field.
  apply draw_private with (low := (-1)%Z); [lra|lia|]. intros i _. now apply errors_replaced.
Qed.

Definition disjoint_batches adv rounds (world : bool) : law view :=
  batches goes due drawn adv world rounds false [] (fun _ => []).

(** The promise of learners/disjoint_batches/recipe.py, DisjointBatches:

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, 0), conditionally on every prefix; per user (``max_contributions``
                    examples) by group privacy
        Assumes:    float-trust (docs/GUARANTEES.md) for decision trees; timing
                    (docs/GUARANTEES.md): a round in which a concept is drawn takes longer
        Proof:      algorithm.md
        Checked:    proofs/promises/DisjointBatches.v, theorem disjoint_batches_private *)
Theorem disjoint_batches_private adv rounds : private epsilon 0 (disjoint_batches adv rounds).
Proof. intro world. apply batches_private_from; [exact Heps|exact drawn_private]. Qed.

(** Conditionally on every prefix: whatever was published, and whatever the buffers hold by then. *)
Theorem disjoint_batches_prefix_private adv rounds published buffers :
  private epsilon 0 (fun world => batches goes due drawn adv world rounds false published buffers).
Proof. intro world. apply batches_private_from; [exact Heps|exact drawn_private]. Qed.

(** The stream of hypotheses, or whatever else is made of the draws. *)
Corollary disjoint_batches_published {V} (shown : view -> V) adv rounds :
  private epsilon 0 (fun world => bind (disjoint_batches adv rounds world) (fun v => ret (shown v))).
Proof. intro world. apply post_processing. apply disjoint_batches_private. Qed.
End Learner.
(* main: disjoint_batches_private, disjoint_batches_prefix_private *)
