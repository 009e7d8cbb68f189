(** The models of the finite mechanisms in rational numbers, each proved to list its law. *)
From Coq Require Import ZArith QArith Qreals Reals Lra Lia List Bool NArith FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices Rational ExponentialMechanism DisjointBatches PrivateHistogram ExactCounters.
Import ListNotations.
Open Scope R_scope.

(** ** ExponentialMechanism *)

Definition drawQ (W : nat -> Q) (n : nat) (prior : nat -> Q) (score : nat -> Z) : dist nat :=
  let low := least n score in choiceQ n (fun i => prior i * W (Z.to_nat (score i - low)))%Q.
Definition exponentialQ (W : nat -> Q) (scores : list Z) (multiplicities : list nat) : dist nat :=
  let laid := written_out scores multiplicities in drawQ W (length laid) (fun _ => 1%Q) (fun i => nth i laid 0%Z).

Section Exponential.
Context {eta : R} (W : weights eta) (WQ : nat -> Q).
Hypothesis same : forall k, W k = Q2R (WQ k).
Lemma drawQ_correct n prior Hp priorQ score : (forall i, prior i = Q2R (priorQ i)) ->
  lists (drawQ WQ n priorQ score) (draw W n prior Hp score).
Proof. intro P. apply lists_choice. intro i. now rewrite P, same, Q2R_mult. Qed.
Theorem exponentialQ_correct scores multiplicities : lists (exponentialQ WQ scores multiplicities) (exponential W scores multiplicities).
Proof. apply drawQ_correct. intro i. symmetry. apply Q2R_1. Qed.
End Exponential.

(** ** DisjointBatches *)

Section Batches.
Context {X Y : Type}.
Variables (goes : list (option Y) -> nat) (due : list (option Y) -> bool) (adv : adversary X (option Y)).
Hypothesis no_challenge : forall v, challenge adv v = None.
Fixpoint batchesQ (drawnQ : list (option Y) -> list X -> dist Y) (rounds : nat) (published : list (option Y)) (bs : nat -> list X) : dist (list (option Y)) :=
  match rounds with
  | O => retQ published
  | S rounds =>
      let batch := bs (goes published) ++ [example adv published] in
      if due published
      then bindQ (drawnQ published batch) (fun y => batchesQ drawnQ rounds (Some y :: published) (put bs (goes published) []))
      else batchesQ drawnQ rounds (None :: published) (put bs (goes published) batch)
  end.
Theorem batchesQ_correct drawn drawnQ world : (forall v l, lists (drawnQ v l) (drawn v l)) -> forall rounds published bs,
  lists (batchesQ drawnQ rounds published bs) (batches goes due drawn adv world rounds false published bs).
Proof.
  intro D. induction rounds as [|rounds IH]; intros published bs; [apply lists_ret|]. cbn [batchesQ batches].
  unfold received. rewrite no_challenge. destruct (due published); [|apply IH]. apply lists_bind; [apply D|]. intro y. apply IH.
Qed.
End Batches.

(** ** PrivateHistogram *)

Section Histogram.
Variables (q : rate) (qQ : Q) (a : nat) (t : Z).
Hypothesis Hq : base q = Q2R qQ.
Definition truncatedQ : dist Z :=
  bindQ (choiceQ (values a) (fun i => powQ qQ (size a i))) (fun i => retQ (Z.of_nat i - Z.of_nat a)%Z).
Definition cellQ (c : nat) : dist (option Z) :=
  match c with O => retQ None | S _ => bindQ truncatedQ (fun k => retQ (shown t (Z.of_nat c + k)%Z)) end.
Fixpoint histogramQ {K} (ks : list K) (c : K -> nat) : dist (list (option Z)) :=
  match ks with
  | [] => retQ []
  | k :: ks => bindQ (cellQ (c k)) (fun o => bindQ (histogramQ ks c) (fun rest => retQ (o :: rest)))
  end.
Lemma cellQ_correct c : lists (cellQ c) (cell q a t c).
Proof.
  destruct c as [|c]; [apply lists_ret|]. apply lists_bind; [|intro; apply lists_ret].
  apply lists_bind; [|intro; apply lists_ret]. apply lists_choice. intro i. unfold heavy. symmetry. now apply powQ_correct.
Qed.
Theorem histogramQ_correct {K} (ks : list K) c : lists (histogramQ ks c) (histogram q a t ks c).
Proof.
  induction ks as [|k ks IH]; [apply lists_ret|]. apply lists_bind; [apply cellQ_correct|]. intro o.
  apply lists_bind; [exact IH|]. intro; apply lists_ret.
Qed.
End Histogram.
(* main: exponentialQ_correct, batchesQ_correct, histogramQ_correct *)
