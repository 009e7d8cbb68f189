(** The depths from which PrivateWitnesses draws a place: a line and a cube have what WitnessPlaces.v asks for. *)
From Coq Require Import ZArith Lia List Bool.
Import ListNotations.
Open Scope Z_scope.

Definition how_many {A} (P : A -> bool) (l : list A) : Z := Z.of_nat (length (filter P l)).
Lemma one_more_counted {A} (P : A -> bool) l r z : how_many P (l ++ r) <= how_many P (l ++ z :: r) <= how_many P (l ++ r) + 1.
Proof. unfold how_many. rewrite !filter_app, !app_length. simpl. destruct (P z); simpl; lia. Qed.

(** concepts/witness_systems.py, line_depths: of how many mistakes the fewer lie on one side of place v. *)
Definition line_depth (L : list nat) (v : nat) : Z := Z.min (how_many (fun p => Nat.leb p v) L) (how_many (fun p => Nat.leb v p) L).
Theorem line_deeper l r z v : line_depth (l ++ r) v <= line_depth (l ++ z :: r) v <= line_depth (l ++ r) v + 1.
Proof.
  unfold line_depth. pose proof (one_more_counted (fun p => Nat.leb p v) l r z). pose proof (one_more_counted (fun p => Nat.leb v p) l r z). lia.
Qed.

(** concepts/witness_systems.py, cube_depths: the smallest number of mistakes that agree with corner v in one of
    the features below n; of all mistakes if there is no feature. Bit f of a place is feature f. *)
Definition agree_in (v f p : nat) : bool := Bool.eqb (Nat.testbit p f) (Nat.testbit v f).
Definition cube_depth (n : nat) (L : list nat) (v : nat) : Z :=
  fold_right Z.min (how_many (fun _ => true) L) (map (fun f => how_many (agree_in v f) L) (seq 0 n)).
Theorem cube_deeper n l r z v : cube_depth n (l ++ r) v <= cube_depth n (l ++ z :: r) v <= cube_depth n (l ++ r) v + 1.
Proof.
  unfold cube_depth. induction (seq 0 n) as [|f fs IH]; simpl; [apply one_more_counted|].
  pose proof (one_more_counted (agree_in v f) l r z). lia.
Qed.
(* main: line_deeper, cube_deeper *)
