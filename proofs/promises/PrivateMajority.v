(** learners/private_majority with fresh evidence: WitnessPlaces.v, if a witness is sought in every state. *)
From Coq Require Import ZArith Reals Lra Lia List Bool.
From Littlestone Require Import Laws Game Machine ExponentialMechanism WitnessDepths WitnessPlaces.
Import ListNotations.
Open Scope R_scope.

(** The depth of a witness is the number of mistakes of this phase that name it. *)
Definition times_named (L : list nat) (v : nat) : Z := how_many (Nat.eqb v) L.
Lemma named_deeper l r z v : (times_named (l ++ r) v <= times_named (l ++ z :: r) v <= times_named (l ++ r) v + 1)%Z.
Proof. apply one_more_counted. Qed.

Section Promise.
Context {X space : Type}.
Variable whole : space.                            (* (L1, L7): the version space of the class *)
Variable errs : space -> X -> bool.                (* (L2): of its standard optimal hypothesis *)
Variable named_by : space -> X -> nat.             (* (L3) *)
Variable witnesses : nat.
Variable restrict : space -> nat -> option space.  (* (L6); None if nothing is left *)
Variable threshold : Z.
Variables (threshold_epsilon selection_rate : R).
Hypothesis threshold_pos : 0 < threshold_epsilon.
Hypothesis selection_pos : 0 <= selection_rate.
Variable W : weights selection_rate.
Lemma half_pos : 0 < threshold_epsilon / 2.
Proof. lra. Qed.

(** (L4): a phase lasts until AboveThreshold fires; (L5): then a witness is drawn. No state counts otherwise. *)
Definition fresh_majority (adv : adversary X event) (phases rounds : nat) : bool -> law (list event) :=
  private_witnesses whole (fun _ => []) (fun _ _ => None) (fun _ _ => None) (fun _ => 0%Z) (fun _ => true) errs named_by
    (fun _ => witnesses) (fun _ => times_named) restrict threshold (threshold_epsilon / 2) (threshold_epsilon / 2) threshold_epsilon selection_rate
    half_pos half_pos threshold_pos W adv phases rounds.

(** The promise of learners/private_majority/recipe.py, PrivateMajority:

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), with delta = 0 for fresh evidence; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a mistake takes longer than a correct round
        Proof:      recipe.md, fresh.md, sampled.md
        Checked:    for fresh evidence: proofs/promises/PrivateMajority.v, theorem
                    fresh_majority_private *)
Theorem fresh_majority_private epsilon adv phases rounds : threshold_epsilon + selection_rate <= epsilon -> 2 * selection_rate <= epsilon ->
  private epsilon 0 (fresh_majority adv phases rounds).
Proof.
  intros One Two. apply witness_places_private; try assumption; try lra.
  - intros s z x E. discriminate E.
  - intros s. apply named_deeper.
Qed.
End Promise.
(* main: fresh_majority_private *)
