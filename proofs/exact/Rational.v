(** Laws in rational numbers: lists of values with their probabilities, which Coq can compute. *)
From Coq Require Import ZArith QArith Qreals Reals Lra Lia List Bool NArith FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Choices.
Import ListNotations.
Open Scope R_scope.

Definition dist (A : Type) := list (A * Q).

Fixpoint expect {A} (d : dist A) (f : A -> R) : R :=
  match d with [] => 0 | (a, q) :: d => Q2R q * f a + expect d f end.
(** The law is the one that the dist lists. *)
Definition lists {A} (d : dist A) (l : law A) := forall f, bounded f -> l f = expect d f.

Definition retQ {A} (a : A) : dist A := [(a, 1%Q)].
Definition scaled {A} (q : Q) (d : dist A) : dist A := map (fun p => (fst p, (q * snd p)%Q)) d.
Fixpoint bindQ {A B} (d : dist A) (k : A -> dist B) : dist B :=
  match d with [] => [] | (a, q) :: d => scaled q (k a) ++ bindQ d k end.

Lemma Q2R_red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.
Lemma Q2R_0 : Q2R 0 = 0.
Proof. unfold Q2R; simpl; lra. Qed.
Lemma Q2R_1 : Q2R 1 = 1.
Proof. unfold Q2R; simpl; lra. Qed.
Lemma expect_app {A} (d d' : dist A) f : expect (d ++ d') f = expect d f + expect d' f.
Proof. induction d as [|[a q] d IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma expect_scaled {A} q (d : dist A) f : expect (scaled q d) f = Q2R q * expect d f.
Proof.
  induction d as [|[a r] d IH]; cbn [scaled map expect fst snd]; [ring|]. fold (scaled q d).
  rewrite IH, Q2R_mult. ring.
Qed.
Lemma expect_ext {A} (d : dist A) f g : (forall a, f a = g a) -> expect d f = expect d g.
Proof. intro H. induction d as [|[a r] d IH]; simpl; [reflexivity|]. now rewrite H, IH. Qed.

(** Greatest common divisors of large numbers take long: none where the denominators are equal. *)
Definition addQ (p q : Q) : Q :=
  if Z.eqb (Qnum q) 0 then p else if Pos.eqb (Qden p) (Qden q) then (Qnum p + Qnum q # Qden p)%Q else Qred (p + q).
Lemma addQ_correct p q : Q2R (addQ p q) = Q2R p + Q2R q.
Proof.
  unfold addQ. destruct (Z.eqb_spec (Qnum q) 0) as [Z|_]; [unfold Q2R; rewrite Z; ring|]. destruct (Pos.eqb_spec (Qden p) (Qden q)) as [E|_]; [|rewrite Q2R_red; apply Q2R_plus].
  unfold Q2R. cbn [Qnum Qden]. rewrite <- E, plus_IZR. ring.
Qed.

Lemma lists_ret {A} (a : A) : lists (retQ a) (ret a).
Proof. intros f _. simpl. rewrite Q2R_1. ring. Qed.
Lemma lists_bind {A B} (d : dist A) l (k : A -> dist B) k' :
  lists d l -> (forall a, lists (k a) (k' a)) -> lists (bindQ d k) (bind l k').
Proof.
  intros D K f Hf. cbn [bind E]. rewrite D by now apply bounded_E1. clear D.
  induction d as [|[a q] d IH]; simpl; [reflexivity|]. rewrite expect_app, expect_scaled, <- IH, (K a f Hf). reflexivity.
Qed.
(** A choice with rational weights. *)
Fixpoint sumQ (n : nat) (w : nat -> Q) : Q := match n with O => 0 | S n => Qred (sumQ n w + w n) end.
Fixpoint choiceQ' (n : nat) (w : nat -> Q) (total : Q) : dist nat :=
  match n with O => [] | S n => choiceQ' n w total ++ [(n, (w n / total)%Q)] end.
Definition choiceQ (n : nat) (w : nat -> Q) : dist nat := choiceQ' n w (sumQ n w).
Lemma sumQ_correct n w w' : (forall i, w' i = Q2R (w i)) -> Q2R (sumQ n w) = sum n w'.
Proof. intro H. induction n as [|n IH]; cbn [sumQ sum]; [apply Q2R_0|]. now rewrite Q2R_red, Q2R_plus, IH, H. Qed.
Lemma lists_choice n w w' Hw : (forall i, w' i = Q2R (w i)) -> lists (choiceQ n w) (choice n w' Hw).
Proof.
  intros H f Hf. cbn [choice E]. unfold choiceQ. rewrite <- (sumQ_correct n w w' H).
  assert (P : (0 < n)%nat -> 0 < Q2R (sumQ n w)) by (intro N; rewrite (sumQ_correct n w w' H); now apply sum_gt).
  assert (Gen : forall m, (0 < n)%nat -> expect (choiceQ' m w (sumQ n w)) f = sum m (fun i => w' i * f i) / Q2R (sumQ n w)).
  { intros m N. specialize (P N). induction m as [|m IH]; cbn [choiceQ' sum]; [simpl; unfold Rdiv; ring|].
    rewrite expect_app, IH. cbn [expect]. rewrite Q2R_div, H; [field; lra|].
    intro Z. apply Qeq_eqR in Z. rewrite Q2R_0 in Z. lra. }
  destruct n as [|n]; [simpl; unfold Rdiv; ring|]. symmetry. apply Gen. lia.
Qed.

(** ** Tables are gathered by a code of their values *)

Fixpoint added (x : N) (q : Q) (d : dist N) : dist N :=
  match d with
  | [] => [(x, q)]
  | (y, r) :: d => if N.eqb x y then (y, addQ q r) :: d else (y, r) :: added x q d
  end.
Definition gathered {A} (code : A -> N) (d : dist A) : dist N := fold_right (fun p d => added (code (fst p)) (snd p) d) [] d.
Lemma expect_added x q d f : expect (added x q d) f = Q2R q * f x + expect d f.
Proof.
  induction d as [|[y r] d IH]; cbn [added expect]; [ring|]. destruct (N.eqb_spec x y) as [->|D]; cbn [expect].
  - rewrite addQ_correct. ring.
  - rewrite IH. ring.
Qed.
Lemma expect_gathered {A} (code : A -> N) d f : expect (gathered code d) f = expect d (fun a => f (code a)).
Proof. induction d as [|[a q] d IH]; simpl; [reflexivity|]. now rewrite expect_added, IH. Qed.

(** The same values with the same probabilities, whatever their order. *)
Definition mass_of (x : N) (d : dist N) : Q := fold_right (fun p q => if N.eqb (fst p) x then addQ (snd p) q else q) 0%Q d.
Definition same_table (d d' : dist N) : bool :=
  forallb (fun p => Qeq_bool (mass_of (fst p) d) (mass_of (fst p) d')) (d ++ d').

Lemma mass_of_correct x d : Q2R (mass_of x d) = expect d (fun y => if N.eqb y x then 1 else 0).
Proof.
  induction d as [|[y q] d IH]; cbn [mass_of fold_right expect fst snd]; [apply Q2R_0|]. fold (mass_of x d).
  destruct (N.eqb y x); [rewrite addQ_correct|]; rewrite IH; ring.
Qed.
(** What [same_table] says: every value has the probability in the law that the other dist gives it. *)
Theorem same_table_correct {A} (code : A -> N) (d : dist A) l d' : lists d l -> same_table (gathered code d) d' = true ->
  forall x, In x (map fst d') -> l (fun a => if N.eqb (code a) x then 1 else 0) = Q2R (mass_of x d').
Proof.
  intros L S x Hx. rewrite L by (apply bounded_test; intro a; destruct (N.eqb (code a) x); lra).
  unfold same_table in S. rewrite forallb_app, andb_true_iff in S. destruct S as [_ S].
  rewrite forallb_forall in S. apply in_map_iff in Hx. destruct Hx as [p [<- Hp]]. specialize (S p Hp).
  apply Qeq_bool_iff, Qeq_eqR in S. rewrite <- S, mass_of_correct, expect_gathered. reflexivity.
Qed.
(* main: same_table_correct *)
