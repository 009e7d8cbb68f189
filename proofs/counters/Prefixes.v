(** Every prefix of what is published leaves a law of the secret gaps that can be paid: theorems "conditionally on
    every prefix" ask for [payable] and [present], and here is why each prefix has both, whatever the tree is. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Machine Payments Ghost Neighbours.
Open Scope R_scope.

Section Prefixes.
Context {V : Type}.
Variables (a b : rate).

(** reached t L mu: some instructions were followed, and some answers published; t is what is left to do, mu the law of
    the gaps on the part of all runs with these answers, and the keys of L have counters. *)
Inductive reached (start : tree V) : tree V -> (key -> bool) -> law state -> Prop :=
  | AtStart : reached start start (fun _ => false) (ret (fun _ => None))
  | Given x tau t L mu : reached start (Ensure x tau t) L mu -> reached start t (set L x true) (bind mu (ensured b x tau))
  | Counted x t L mu : reached start (Dec x t) L mu -> reached start t L (after_dec mu x)
  | Dropped x t L mu : reached start (Drop x t) L mu -> reached start t (set L x false) (after_drop mu x)
  | SaidYes x k L mu : reached start (Toss x k) L mu -> reached start (k true) (set L x false) (after_yes a mu x)
  | SaidNo x k L mu : reached start (Toss x k) L mu -> reached start (k false) L (after_no a mu x).

Theorem every_prefix_can_be_paid start t L mu : reached start t L mu -> payable b mu /\ present L mu.
Proof.
  induction 1 as [|x tau t L mu _ [P Q]|x t L mu _ [P Q]|x t L mu _ [P Q]|x k L mu _ [P Q]|x k L mu _ [P Q]].
  - split; [apply payable_at_start; reflexivity|apply present_at_start].
  - split; [now apply payable_ensured|now apply present_ensured].
  - split; [now apply payable_dec|now apply present_dec].
  - split; [now apply payable_drop|now apply present_drop].
  - split; [now apply payable_yes|now apply present_yes].
  - split; [now apply payable_no|now apply present_no].
Qed.

(** These laws are the parts: each step leaves what follows as it was, and an answer divides it in two. *)
Theorem a_step_leaves_the_rest (mu : law state) f : bounded f ->
  (forall x tau (t : tree V), mu (fun s => run a b (Ensure x tau t) s f) = bind mu (ensured b x tau) (fun s => run a b t s f)) /\
  (forall x (t : tree V), mu (fun s => run a b (Dec x t) s f) = after_dec mu x (fun s => run a b t s f)) /\
  (forall x (t : tree V), mu (fun s => run a b (Drop x t) s f) = after_drop mu x (fun s => run a b t s f)) /\
  (forall x (k : bool -> tree V), mu (fun s => run a b (Toss x k) s f)
    = after_yes a mu x (fun s => run a b (k true) s f) + after_no a mu x (fun s => run a b (k false) s f)).
Proof.
  intro Bf. repeat split. intros x k. unfold after_yes, after_no. cbn [run bind part ret mix E].
  assert (Bh : bounded (hit a x)) by (apply bounded_test, hit_01). assert (Bm : bounded (fun s => 1 - hit a x s)) by (apply bounded_test, miss_01).
  apply E_plus; apply bounded_mult; try assumption; [|now apply run_bounded].
  apply (bounded_after (fun s => run a b (k true) s f)). now apply run_bounded.
Qed.
End Prefixes.
(* main: every_prefix_can_be_paid, a_step_leaves_the_rest *)
