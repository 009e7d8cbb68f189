(** docs/theory/floors.md, Theorem A: of n concepts that agree at a point, private learners pay for each other
    one and for every round in which the attack may begin. *)
From Coq Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices Ranks Attack.
Import ListNotations.
Open Scope R_scope.

(** ** Sums *)

Lemma sum_one n : sum n (fun _ => 1) = INR n.
Proof. induction n as [|n IH]; [reflexivity|]. rewrite S_INR. simpl. now rewrite IH. Qed.
Lemma at_most_one n (F : nat -> R) : (forall i, F i = 0 \/ F i = 1) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> F i = 1 -> F j = 1 -> i = j) -> sum n F <= 1.
Proof.
  intros H01 U. induction n as [|n IH]; simpl; [lra|].
  destruct (H01 n) as [->|One]; [rewrite Rplus_0_r; apply IH; intros; apply U; lia || assumption|].
  rewrite One, (sum_ext n F (fun _ => 0 * 1)); [rewrite sum_scal; lra|].
  intros i Hi. destruct (H01 i) as [->|E]; [ring|]. specialize (U i n ltac:(lia) ltac:(lia) E One). lia.
Qed.
Lemma count_down k x : INR (Nat.min k x) = sum k (fun i => if Nat.ltb i x then 1 else 0).
Proof.
  induction k as [|k IH]; [reflexivity|]. simpl sum. rewrite <- IH. destruct (Nat.ltb_spec k x).
  - rewrite !Nat.min_l by lia. now rewrite S_INR.
  - rewrite !Nat.min_r by lia. ring.
Qed.

Section Wait.
Context {X Y State : Type}.
Variables (begin : law State) (publish : State -> law (Y * State)) (observe : X -> State -> State).
Hypothesis begin_one : begin (fun _ => 1) = 1.
Hypothesis publish_one : forall s, publish s (fun _ => 1) = 1.
Notation play := (play begin publish observe).
Notation view := (list Y).

(** Targets 0, ..., others: a published hypothesis is one of them at most. *)
Variable others : nat.                     (* n - 1 *)
Hypothesis two : (1 <= others)%nat.
Variable is : nat -> Y -> bool.
Hypothesis one_target : forall j j' y, is j y = true -> is j' y = true -> j = j'.
Variable errs : Y -> X -> bool.
Variable silence : X.                      (* fits every target *)
Variable strike : nat -> Y -> X.           (* an example of the target on which another hypothesis errs *)
Hypothesis strikes : forall j y, is j y = false -> errs y (strike j y) = true.

Variables (T I : nat).
Hypothesis some : (1 <= I)%nat.
Hypothesis long : (2 * I <= T)%nat.
Definition starts : nat := T - 2 * I + 1.  (* T' *)
Definition coins : nat := starts * others.
Definition start_of (c : nat) : nat := c / others.

(** The adversary draws one of the others than what is published when it begins. *)
Definition target (c : nat) (y : Y) : nat :=
  let r := (c mod others)%nat in
  match find (fun j => is j y) (seq 0 (S others)) with
  | Some j => if Nat.ltb r j then r else S r
  | None => r
  end.
Lemma target_is_other c y : is (target c y) y = false.
Proof.
  unfold target. assert (Small : (c mod others < others)%nat) by (apply Nat.mod_upper_bound; lia).
  destruct (find _ _) as [j|] eqn:F.
  - apply find_some in F. destruct F as [_ F]. apply not_true_is_false. intro E.
    pose proof (one_target _ _ _ E F). destruct (Nat.ltb_spec (c mod others) j); lia.
  - apply (find_none _ _ F). apply in_seq. lia.
Qed.
Lemma target_draw c c' y : target c y = target c' y -> (c mod others = c' mod others)%nat.
Proof.
  unfold target. destruct (find _ _) as [j|]; [|tauto].
  destruct (Nat.ltb_spec (c mod others) j), (Nat.ltb_spec (c' mod others) j); lia.
Qed.

Definition begun (c : nat) (v : view) (y : Y) : Y := nth (start_of c) (rev v) y.
Definition lack (c : nat) (v : view) : bool :=
  match v with [] => false | y :: w => Nat.leb (start_of c) (length w) && negb (is (target c (begun c v y)) y) end.
Definition active (c : nat) (v : view) : X := match v with [] => silence | y :: _ => strike (target c (begun c v y)) y end.
(** Silent before the start, then active for the target. *)
Definition wait (c : nat) : view -> X := attack (lack c) (active c) (fun _ => silence).
Fixpoint mistakes (adv : view -> X) (v : view) : nat :=
  match v with [] => 0%nat | y :: w => ((if errs y (adv v) then 1 else 0) + mistakes adv w)%nat end.

Lemma mistakes_N c v : (N (lack c) v <= mistakes (wait c) v)%nat.
Proof.
  induction v as [|y w IH]; [reflexivity|]. cbn [N mistakes]. destruct (lack c (y :: w)) eqn:L; [|lia].
  assert (W : wait c (y :: w) = strike (target c (begun c (y :: w) y)) y) by (unfold wait, attack; now rewrite L).
  cbn [lack] in L. apply andb_prop in L. destruct L as [_ L]. apply negb_true_iff in L.
  rewrite W, strikes by exact L. lia.
Qed.

(** ** What N is *)

Lemma nth_before (l w : view) t d d' : (t < length w)%nat -> nth t (rev w) d = nth t (rev (l ++ w)) d'.
Proof.
  intro H. rewrite rev_app_distr, app_nth1 by (rewrite rev_length; exact H). apply nth_indep. now rewrite rev_length.
Qed.
Lemma N_is_rank c d l w : let h t := nth t (rev (l ++ w)) d in
  N (lack c) w = lacking (fun t j => is j (h t)) (target c (h (start_of c))) (start_of c) (length w - start_of c).
Proof.
  intro h. revert l h. induction w as [|y w IH]; intros l h; [reflexivity|]. cbn [N].
  assert (Hy : y = h (length w)).
  { unfold h. rewrite <- (nth_before l (y :: w) (length w) y) by (simpl; lia). simpl rev.
    rewrite app_nth2 by (rewrite rev_length; lia). now rewrite rev_length, Nat.sub_diag. }
  specialize (IH (l ++ [y])). rewrite <- app_assoc in IH. cbn [app] in IH. fold h in IH. rewrite IH. clear IH.
  cbn [lack length]. destruct (Nat.leb_spec (start_of c) (length w)) as [L|L].
  - replace (S (length w) - start_of c)%nat with (length w - start_of c + 1)%nat by lia. rewrite lacking_split.
    replace (start_of c + (length w - start_of c))%nat with (length w) by lia. cbn [lacking andb].
    unfold begun. rewrite (nth_before l (y :: w) (start_of c) y d) by (simpl; lia). fold (h (start_of c)).
    rewrite <- Hy. change (fun t j => is j (nth t (rev (l ++ y :: w)) d)) with (fun t j => is j (h t)).
    destruct (is _ y); simpl; lia.
  - replace (S (length w) - start_of c)%nat with 0%nat by lia. replace (length w - start_of c)%nat with 0%nat by lia. reflexivity.
Qed.

Lemma start_long c : (c < coins)%nat -> (start_of c + 2 * I <= T)%nat.
Proof.
  intro H. unfold coins, starts in H. assert (start_of c < T - 2 * I + 1)%nat; [|lia].
  unfold start_of. apply Nat.div_lt_upper_bound; lia.
Qed.
Lemma rank_of c d v : length v = T ->
  N (lack c) v = rank T (fun t j => is j (nth t (rev v) d)) (start_of c) (target c (nth (start_of c) (rev v) d)).
Proof. intro H. rewrite (N_is_rank c d [] v). simpl app. now rewrite H. Qed.
Lemma N_one c v : (c < coins)%nat -> length v = T -> (1 <= N (lack c) v)%nat.
Proof.
  intros Hc Hv. pose proof (start_long c Hc). destruct v as [|d v0]; [simpl in Hv; lia|].
  rewrite (rank_of c d) by exact Hv. rewrite rank_now; [lia| |lia]. apply target_is_other.
Qed.
(** Lemma 1 *)
Lemma one_coin i c c' v : (1 <= i <= I)%nat -> (c < coins)%nat -> (c' < coins)%nat -> length v = T ->
  N (lack c) v = i -> N (lack c') v = i -> c = c'.
Proof.
  intros Hi Hc Hc' Hv E E'. destruct v as [|d v0]; [simpl in *; lia|]. set (v := d :: v0) in *.
  rewrite (rank_of c d) in E by exact Hv. rewrite (rank_of c' d) in E' by exact Hv.
  set (is_v := fun t j => is j (nth t (rev v) d)) in *.
  destruct (ranks T is_v ltac:(intros t j j'; apply one_target) I (start_of c) (start_of c') _ _ (start_long c Hc) (start_long c' Hc')
    (target_is_other c (nth (start_of c) (rev v) d)) (target_is_other c' (nth (start_of c') (rev v) d))) as [J S]; try lia.
  specialize (S ltac:(lia)). rewrite S in J. apply target_draw in J. unfold start_of in S.
  rewrite (Nat.div_mod c others), (Nat.div_mod c' others) by lia. now rewrite S, J.
Qed.

(** ** Views are as long as the game *)

Lemma play_on_long adv F G : forall r v s, (forall u, length u = (r + length v)%nat -> F u = G u) ->
  play_on publish observe adv r v s F = play_on publish observe adv r v s G.
Proof.
  induction r as [|r IH]; intros v s H; [now apply H|]. cbn [play_on bind E]. f_equal.
  apply functional_extensionality. intro ys. apply IH. intros u Hu. apply H. simpl in Hu. lia.
Qed.
Lemma play_long adv F G : (forall u, length u = T -> F u = G u) -> play adv T F = play adv T G.
Proof.
  intro H. unfold Attack.play. cbn [bind E]. f_equal. apply functional_extensionality. intro s.
  apply play_on_long. intros u Hu. apply H. simpl in Hu. lia.
Qed.

(** ** The floor *)

Variables (epsilon delta : R).
Hypothesis Heps : 0 <= epsilon.
Hypothesis Hdelta : 0 <= delta.
Hypothesis learner_private : forall adv, private epsilon delta (game begin publish observe adv T).

Definition toss : law nat := choice coins (fun _ => 1) (fun _ => Rlt_0_1).
Lemma coins_pos : (0 < coins)%nat.
Proof. unfold coins, starts. nia. Qed.
Lemma toss_of F : toss F = sum coins F / INR coins.
Proof. unfold toss. cbn [choice E]. rewrite sum_one. f_equal. apply sum_ext. intros; ring. Qed.
Lemma toss_ext F G : (forall c, (c < coins)%nat -> F c = G c) -> toss F = toss G.
Proof. intro H. rewrite !toss_of. f_equal. now apply sum_ext. Qed.

Definition always : view -> R := fun _ => 1.
Lemma always_01 v : 0 <= always v <= 1.
Proof. unfold always. lra. Qed.
Lemma caught_in_silence m : (m < I)%nat ->
  toss (fun c => chance begin publish observe (lack c) (fun _ => silence) T always (S m)) <= / INR coins.
Proof.
  intro Hm. rewrite toss_of. unfold Rdiv. rewrite <- (Rmult_1_l (/ INR coins)) at 2.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, lt_0_INR, coins_pos|].
  unfold chance. set (G := fun c => weighted (lack c) always (is_rank (S m))).
  assert (B : forall c, bounded (G c)) by (intro c; apply bounded_test, weighted_01; [apply always_01|apply is_rank_01]).
  change (sum coins (fun c => play (fun _ => silence) T (G c)) <= 1).
  destruct (mean_sum (play (fun _ => silence) T) coins G B) as [_ <-].
  set (H := fun v => Rmin 1 (sum coins (fun c => G c v))).
  assert (Pos : forall v, 0 <= sum coins (fun c => G c v)) by (intro v; apply sum_pos; intros c _; now apply (bounded_pos (G c))).
  rewrite (play_long _ _ H).
  - apply E_test. intro v. unfold H. split; [apply Rmin_glb; [lra|apply Pos]|apply Rmin_l].
  - intros v Hv. unfold H. rewrite Rmin_right; [reflexivity|]. apply at_most_one.
    + intro c. unfold G, weighted, always, is_rank. destruct (Nat.eqb _ _); [right|left]; ring.
    + intros c c' Hc Hc'. unfold G, weighted, always, is_rank.
      destruct (Nat.eqb_spec (N (lack c) v) (S m)); [|intros; lra]. destruct (Nat.eqb_spec (N (lack c') v) (S m)); [|intros; lra].
      intros _ _. apply (one_coin (S m) c c' v); lia || assumption.
Qed.

(** u_i of Lemma 2, for any k of each i *)
Variable of : nat -> nat.
Hypothesis of_less : forall i, (of i <= i)%nat.
Definition u (i : nat) : R :=
  steps epsilon delta (i - of i) (sum i (fun m => exp (INR (Nat.min (S m) (of i)) * epsilon) * / INR coins) + slack epsilon delta (of i)).

Lemma more_than i : (i <= I)%nat ->
  1 - u i <= toss (fun c => play (wait c) T (fun v => if Nat.ltb i (N (lack c) v) then 1 else 0)).
Proof.
  intro Hi.
  assert (L := attacked_mean begin publish observe begin_one publish_one toss lack active (fun _ _ => silence) (fun _ => always) T
    epsilon delta i (of i) (fun _ => / INR coins) Heps Hdelta learner_private ltac:(intro; apply always_01) (of_less i)
    ltac:(intros m Hm; apply caught_in_silence; lia)).
  set (caught := fun c => play (attack (lack c) (active c) (fun _ => silence)) T (weighted (lack c) always (at_most i))) in *.
  change (toss caught <= u i) in L.
  assert (C01 : forall c, 0 <= caught c <= 1).
  { intro c. unfold caught. apply E_test, weighted_01; [apply always_01|apply (at_most_weight i)]. }
  rewrite (toss_ext _ (fun c => 1 - caught c)).
  - assert (Sum : toss (fun c => 1 - caught c) + toss caught = 1).
    { rewrite <- E_plus by (apply bounded_test; intro c; specialize (C01 c); lra).
      transitivity (toss (fun _ => 1)); [f_equal; apply functional_extensionality; intro; ring|apply choice_one, coins_pos]. }
    lra.
  - intros c Hc. unfold caught. fold (wait c).
    assert (W : forall v, 0 <= weighted (lack c) always (at_most i) v <= 1) by (apply weighted_01; [apply always_01|apply (at_most_weight i)]).
    assert (Sum : play (wait c) T (fun v => 1 - weighted (lack c) always (at_most i) v) + play (wait c) T (weighted (lack c) always (at_most i)) = 1).
    { rewrite <- E_plus by (apply bounded_test; intro v; specialize (W v); lra).
      transitivity (play (wait c) T (fun _ => 1)); [|now apply play_one].
      f_equal. apply functional_extensionality. intro; ring. }
    rewrite (play_long _ _ (fun v => 1 - weighted (lack c) always (at_most i) v)); [lra|].
    intros v Hv. unfold weighted, always, at_most. pose proof (N_one c v Hc Hv).
    destruct (Nat.leb_spec 1 (N (lack c) v)), (Nat.leb_spec (N (lack c) v) i), (Nat.ltb_spec i (N (lack c) v)); simpl; lia || ring.
Qed.

(** Theorem A: on average over its coins, even if no more than I + 1 mistakes of a game are counted. *)
Theorem wait_floor :
  sum (S I) (fun i => 1 - u i) <= toss (fun c => play (wait c) T (fun v => INR (Nat.min (S I) (mistakes (wait c) v)))).
Proof.
  set (D := fun i c v => if Nat.ltb i (N (lack c) v) then 1 else 0).
  assert (D01 : forall i c v, 0 <= D i c v <= 1) by (intros i c v; unfold D; destruct (Nat.ltb _ _); lra).
  assert (B : forall i c, bounded (D i c)) by (intros; now apply bounded_test).
  assert (Bp : forall i, bounded (fun c => play (wait c) T (D i c))) by (intro i; apply bounded_test; intro c; now apply E_test).
  assert (M : forall F : view -> nat, bounded (fun v => INR (Nat.min (S I) (F v)))).
  { intro F. exists (INR (S I)). split; [apply pos_INR|]. intro v. split; [apply pos_INR|apply le_INR, Nat.le_min_l]. }
  apply Rle_trans with (sum (S I) (fun i => toss (fun c => play (wait c) T (D i c)))).
  { apply sum_le. intros i Hi. apply more_than. lia. }
  destruct (mean_sum toss (S I) (fun i c => play (wait c) T (D i c)) Bp) as [Bs <-].
  apply E_mono; [exact Bs| |].
  - exists (INR (S I)). split; [apply pos_INR|]. intro c. apply E_le; [apply pos_INR|].
    intro v. split; [apply pos_INR|apply le_INR, Nat.le_min_l].
  - intro c. destruct (mean_sum (play (wait c) T) (S I) (fun i => D i c) (fun i => B i c)) as [Bd Sum].
    apply Rle_trans with (play (wait c) T (fun v => sum (S I) (fun i => D i c v))); [right; symmetry; exact Sum|].
    apply E_mono; [exact Bd|apply M|]. intro v. unfold D. rewrite <- count_down. apply le_INR.
    pose proof (mistakes_N c v). lia.
Qed.

(** Realizable: all that is sent fits the target, which the coins and the first reply decide. *)
Variable fits : nat -> X -> bool.
Hypothesis silence_fits : forall j, fits j silence = true.
Hypothesis strike_fits : forall j y, fits j (strike j y) = true.
Theorem wait_realizable c d l y w : let v := l ++ y :: w in (start_of c < length v)%nat ->
  fits (target c (nth (start_of c) (rev v) d)) (wait c (y :: w)) = true.
Proof.
  intros v Hv. unfold wait, attack. destruct (lack c (y :: w)) eqn:L; [|apply silence_fits].
  cbn [lack] in L. apply andb_prop in L. destruct L as [L _]. apply Nat.leb_le in L. cbn [active]. unfold begun, v.
  rewrite (nth_before l (y :: w) (start_of c) y d) by (simpl; lia). apply strike_fits.
Qed.
End Wait.
(* main: wait_floor, wait_realizable *)
