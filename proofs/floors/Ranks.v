(** docs/theory/floors.md, Lemma 1: who flips in silence is caught by ranks. *)
From Coq Require Import Lia Arith.

Section Ranks.
Variable T : nat.                          (* rounds 0, ..., T - 1 *)
Variable is : nat -> nat -> bool.          (* in round t the published hypothesis is target j *)
Hypothesis one_target : forall t j j', is t j = true -> is t j' = true -> j = j'.

(** The number of rounds s, ..., s + n - 1 in which something else than target j is published. *)
Fixpoint lacking (j s n : nat) : nat :=
  match n with O => 0 | S n => (if is s j then 0 else 1) + lacking j (S s) n end.
(** N_s(j) *)
Definition rank (s j : nat) : nat := lacking j s (T - s).

Lemma lacking_split j k : forall s n, lacking j s (k + n) = lacking j s k + lacking j (s + k) n.
Proof.
  induction k as [|k IH]; intros s n; simpl; [now rewrite Nat.add_0_r|].
  rewrite IH. replace (S s + k) with (s + S k) by lia. lia.
Qed.
(** No round lacks neither of two targets. *)
Lemma lacking_two j j' n : j <> j' -> forall s, n <= lacking j s n + lacking j' s n.
Proof.
  intro D. induction n as [|n IH]; intro s; simpl; [lia|]. specialize (IH (S s)).
  destruct (is s j) eqn:E, (is s j') eqn:E'; try lia. exfalso. apply D. now apply (one_target s).
Qed.
Lemma rank_later j s s' : is s j = false -> s < s' -> s' <= T -> rank s' j + 1 <= rank s j.
Proof.
  intros L Hs Ht. unfold rank. replace (T - s) with ((s' - s) + (T - s')) by lia.
  rewrite lacking_split. replace (s + (s' - s)) with s' by lia.
  destruct (s' - s) as [|k] eqn:E; [lia|]. simpl. rewrite L. lia.
Qed.
Lemma rank_now j s : is s j = false -> s < T -> rank s j = 1 + rank (S s) j.
Proof. intros L Hs. unfold rank. replace (T - s) with (S (T - S s)) by lia. simpl. rewrite L. lia. Qed.

Lemma different_targets I s s' j j' : s <= s' -> s' + 2 * I <= T -> is s j = false -> is s' j' = false ->
  1 <= rank s j <= I -> 1 <= rank s' j' <= I -> j = j'.
Proof.
  intros Hs Ht L L' R R'. destruct (Nat.eq_dec j j') as [|D]; [assumption|exfalso].
  pose proof (lacking_two j j' (T - s') D s') as Two. fold (rank s' j) (rank s' j') in Two.
  destruct (Nat.eq_dec s s') as [<-|Ds].
  - pose proof (lacking_two j j' (T - S s) D (S s)) as Rest. fold (rank (S s) j) (rank (S s) j') in Rest.
    pose proof (rank_now j s L ltac:(lia)). pose proof (rank_now j' s L' ltac:(lia)). lia.
  - pose proof (rank_later j s s' L ltac:(lia) ltac:(lia)). lia.
Qed.

(** Rounds are counted from 0, so "s + 2I <= T" is "s <= T - 2I + 1" of the page. *)
Theorem ranks I s s' j j' : s + 2 * I <= T -> s' + 2 * I <= T -> is s j = false -> is s' j' = false ->
  1 <= rank s j <= I -> 1 <= rank s' j' <= I -> j = j' /\ (rank s j = rank s' j' -> s = s').
Proof.
  intros Hs Hs' L L' R R'.
  assert (E : j = j').
  { destruct (Nat.le_ge_cases s s') as [O|O]; [now apply (different_targets I s s')|].
    symmetry. now apply (different_targets I s' s). }
  split; [exact E|]. subst j'. intro Eq.
  destruct (Nat.lt_trichotomy s s') as [O|[O|O]]; [|exact O|].
  - pose proof (rank_later j s s' L O ltac:(lia)). lia.
  - pose proof (rank_later j s' s L' O ltac:(lia)). lia.
Qed.
End Ranks.
(* main: ranks *)
