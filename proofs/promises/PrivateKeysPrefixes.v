(** PrivateKeys, conditionally on every prefix of what is published. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours CountAboveThreshold PrivateKeys.
Import ListNotations.
Open Scope R_scope.

Section Prefixes.
Variables (a b : rate) (reports complaints : Z) (universe : list key).

(** What one round with the example z, in which the keys of [due] fire, makes of the law of the state. *)
Definition counted_for (o : option (key * Z)) (mu : law state) : law state :=
  match o with None => mu | Some (x, tau) => after_dec (bind mu (ensured b x tau)) x end.
Fixpoint tossed (xs : list key) (due : keys) (mu : law state) : law state :=
  match xs with [] => mu | x :: xs => tossed xs due (if due x then after_yes a mu x else after_no a mu x) end.
Fixpoint given_noise (xs : list key) (new : keys) (mu : law state) : law state :=
  match xs with [] => mu | x :: xs => given_noise xs new (if new x then bind mu (ensured b x complaints) else mu) end.

(** prefix published A mu: [published] came out so far, on examples that are common to both worlds; A is
    listed by now, and mu is the law of the secret state on the part of all runs with this prefix. *)
Inductive prefix : view -> keys -> law state -> Prop :=
  | Start : prefix [] (fun _ => false) (ret no_counters)
  | Round published A mu z due : prefix published A mu -> (forall x, due x = true -> In x universe) ->
      let A' := fun x => xorb (A x) (due x) in
      prefix (A' :: published) A'
        (given_noise universe (fun x => A' x && due x)
          (tossed universe due (counted_for (counts_for reports complaints A z) mu))).

Lemma present_less L L' mu : (forall x, L' x = true -> L x = true) -> present L mu -> present L' mu.
Proof. intros H P F F' HF HF' K. apply P; try assumption. intros s Hs. apply K. auto. Qed.

Lemma counted_for_keeps L mu o : payable b mu -> present L mu ->
  payable b (counted_for o mu) /\ present L (counted_for o mu).
Proof.
  intros P Q. destruct o as [[x tau]|]; [|auto]. split.
  - apply payable_dec. now apply payable_ensured.
  - apply present_dec. apply (present_less (set L x true)); [|now apply present_ensured].
    intros y Hy. unfold set. destruct (Nat.eqb y x); auto.
Qed.
Lemma tossed_keeps xs due : forall L mu, payable b mu -> present L mu -> payable b (tossed xs due mu) /\
  exists L', present L' (tossed xs due mu) /\ forall x, L x = true -> due x = false -> L' x = true.
Proof.
  induction xs as [|y xs IH]; intros L mu P Q; [split; [exact P|exists L; auto]|]. cbn [tossed].
  destruct (due y) eqn:Dy.
  - destruct (IH (set L y false) (after_yes a mu y)) as [P' [L' [Q' K]]]; [now apply payable_yes|now apply present_yes|].
    split; [exact P'|]. exists L'. split; [exact Q'|]. intros x Lx Dx. apply K; [|exact Dx].
    rewrite set_other by congruence. exact Lx.
  - apply IH; [now apply payable_no|now apply present_no].
Qed.
Lemma given_noise_keeps xs new : forall L mu, payable b mu -> present L mu -> payable b (given_noise xs new mu) /\
  exists L', present L' (given_noise xs new mu) /\ (forall x, L x = true -> L' x = true) /\
    (forall x, In x xs -> new x = true -> L' x = true).
Proof.
  induction xs as [|y xs IH]; intros L mu P Q; [split; [exact P|exists L; repeat split; [exact Q|auto|intros x []]]|].
  cbn [given_noise]. destruct (new y) eqn:Ny.
  - destruct (IH (set L y true) (bind mu (ensured b y complaints))) as [P' [L' [Q' [U K]]]];
      [now apply payable_ensured|now apply present_ensured|].
    split; [exact P'|]. exists L'. repeat split; [exact Q'| |].
    + intros x Lx. apply U. unfold set. destruct (Nat.eqb x y); auto.
    + intros x [->|Hx] Nx; [apply U, set_same|now apply K].
  - destruct (IH L mu P Q) as [P' [L' [Q' [U K]]]]. split; [exact P'|]. exists L'. repeat split; [exact Q'|exact U|].
    intros x [->|Hx] Nx; [congruence|now apply K].
Qed.

Theorem prefix_keeps published A mu : prefix published A mu -> payable b mu /\ present A mu.
Proof.
  induction 1 as [|published A mu z due Pr [P Q] In_u A'].
  - split; [apply payable_at_start; reflexivity|apply present_at_start].
  - destruct (counted_for_keeps A mu (counts_for reports complaints A z) P Q) as [P1 Q1].
    destruct (tossed_keeps universe due A _ P1 Q1) as [P2 [L2 [Q2 K2]]].
    destruct (given_noise_keeps universe (fun x => A' x && due x) L2 _ P2 Q2) as [P3 [L3 [Q3 [U3 K3]]]].
    split; [exact P3|]. apply (present_less L3); [|exact Q3]. intros x Ax. destruct (due x) eqn:Dx.
    + apply K3; [now apply In_u|]. cbv beta. now rewrite Ax, Dx.
    + apply U3, K2; [|exact Dx]. unfold A' in Ax. now rewrite Dx, xorb_false_r in Ax.
Qed.
End Prefixes.

(** For every prefix, adversary and event: P(prefix and event) differs by e^epsilon and delta * P(prefix). *)
Theorem private_keys_prefix_private alpha beta (Ha : 0 < alpha) (Hb : 0 < beta) reports complaints universe rounds delta :
  NoDup universe ->
  INR rounds * (1 + exp (alpha + beta)) * stray (at_rate alpha Ha) (at_rate beta Hb) reports <= delta ->
  forall published A mu, prefix (at_rate alpha Ha) (at_rate beta Hb) reports complaints universe published A mu ->
  forall adv world left f, (left <= rounds)%nat -> (forall v, 0 <= f v <= 1) ->
  let rest w := mu (fun s => run (at_rate alpha Ha) (at_rate beta Hb)
    (learn reports complaints universe adv w left false published A) s f) in
  rest world <= exp (alpha + beta) * rest (negb world) + delta * mu (fun _ => 1).
Proof.
  intros ND D published A mu Pr adv world left f Hl Hf rest.
  destruct (prefix_keeps _ _ _ _ _ _ _ _ Pr) as [P Q].
  now apply (private_keys_from_prefix alpha beta Ha Hb reports complaints universe rounds delta ND D).
Qed.
(* main: private_keys_prefix_private *)
