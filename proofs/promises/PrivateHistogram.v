(** privacy/mechanisms/histogram.py with noise/geometric.py: the frequent keys of a list, with their counts. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices Machine CountAboveThreshold.
Import ListNotations.
Open Scope R_scope.

Lemma sum_first n F : sum (S n) F = F 0%nat + sum n (fun i => F (S i)).
Proof. induction n as [|n IH]; [simpl; ring|]. cbn [sum] in *. rewrite IH. ring. Qed.

(** ** One count *)

Section Cell.
Variables (q : rate) (a : nat).                    (* e^-e, and the largest noise *)

(** P(k) = q^|k| / Z for k = -a .. a; the index i stands for k = i - a. *)
Definition size (i : nat) : nat := Z.to_nat (Z.abs (Z.of_nat i - Z.of_nat a)).
Definition heavy (i : nat) : R := q ^ size i.
Lemma heavy_pos i : 0 < heavy i.
Proof. apply pow_01. Qed.
Definition values := S (2 * a).
Definition Z_a : R := sum values heavy.
Definition truncated_laplace : law Z :=
  bind (choice values heavy heavy_pos) (fun i => ret (Z.of_nat i - Z.of_nat a)%Z).

Lemma Z_a_pos : 0 < Z_a.
Proof. apply sum_gt; [apply heavy_pos|unfold values; lia]. Qed.
Lemma heavy_step i : q * heavy i <= heavy (S i) /\ q * heavy (S i) <= heavy i.
Proof.
  unfold heavy. pose proof (base_01 q).
  assert (D : size (S i) = S (size i) \/ size i = S (size (S i))) by (unfold size; lia).
  pose proof (pow_01 q (size i)). pose proof (pow_01 q (size (S i))).
  destruct D as [D|D]; rewrite D in *; cbn [pow] in *; split; nra.
Qed.
Lemma edge_first : heavy 0 = q ^ a.
Proof. unfold heavy, size. f_equal. lia. Qed.
Lemma edge_last : heavy (2 * a) = q ^ a.
Proof. unfold heavy, size. f_equal. lia. Qed.

Lemma truncated_at f : truncated_laplace f = sum values (fun i => heavy i * f (Z.of_nat i - Z.of_nat a)%Z) / Z_a.
Proof. reflexivity. Qed.

Variables (t : Z) (d : R).                         (* the threshold of the release *)
Hypothesis light : q ^ a / Z_a <= d.               (* (L2) *)
Hypothesis high : (Z.of_nat a < t)%Z.              (* (L3) *)

(** (L4, L5): a key that does not occur gets no noise. *)
Definition shown (v : Z) : option Z := if Z.leb t v then Some v else None.
Definition cell (c : nat) : law (option Z) :=
  match c with
  | O => ret None
  | S _ => bind truncated_laplace (fun k => ret (shown (Z.of_nat c + k)%Z))
  end.

Lemma cell_one c : cell c (fun _ => 1) = 1.
Proof.
  destruct c as [|c]; [reflexivity|]. cbn [cell bind ret E]. unfold truncated_laplace. cbn [bind ret E].
  apply (choice_one values heavy heavy_pos). unfold values. lia.
Qed.

Lemma over_Z x y s u : 0 < s -> x <= y * u + s -> x / Z_a <= y * (u / Z_a) + s / Z_a.
Proof.
  intros _ H. unfold Rdiv. rewrite <- Rmult_assoc, <- Rmult_plus_distr_r.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Z_a_pos|exact H].
Qed.
(** Neighbouring counts that both occur: all values but one are possible for both. *)
Lemma both_occur c f : (1 <= c)%nat -> (forall v, 0 <= f v <= 1) ->
  cell c f <= / q * cell (S c) f + d /\ cell (S c) f <= / q * cell c f + d.
Proof.
  intros Hc Hf. pose proof (base_01 q) as Hq. destruct c as [|c]; [lia|].
  set (g := fun i : nat => f (shown (Z.of_nat (S c) + (Z.of_nat i - Z.of_nat a))%Z)).
  assert (Hg : forall i, 0 <= g i <= 1) by (intro i; apply Hf).
  assert (C0 : cell (S c) f = sum values (fun i => heavy i * g i) / Z_a) by reflexivity.
  assert (C1 : cell (S (S c)) f = sum values (fun i => heavy i * g (S i)) / Z_a).
  { cbn [cell bind ret E]. rewrite truncated_at. f_equal. apply sum_ext. intros i _. unfold g. do 3 f_equal. lia. }
  rewrite C0, C1. pose proof (Rinv_0_lt_compat q ltac:(lra)) as Iq. pose proof (pow_01 q a) as Pa.
  assert (Qi : q * / q = 1) by (field; lra).
  assert (Tq : forall x y, q * x <= y -> x <= / q * y) by (intros x y H; apply (Rmult_le_reg_l q); [lra|]; rewrite <- Rmult_assoc, Qi; lra).
  split.
  - apply Rle_trans with (/ q * (sum values (fun i => heavy i * g (S i)) / Z_a) + q ^ a / Z_a); [|lra].
    apply over_Z; [lra|]. unfold values at 1. rewrite sum_first, edge_first, <- sum_scal.
    assert (q ^ a * g 0%nat <= q ^ a) by (specialize (Hg 0%nat); nra).
    assert (sum (2 * a) (fun i => heavy (S i) * g (S i)) <= sum values (fun i => / q * (heavy i * g (S i)))); [|lra].
    unfold values. cbn [sum].
    assert (0 <= / q * (heavy (2 * a) * g (S (2 * a)))).
    { pose proof (heavy_pos (2 * a)). specialize (Hg (S (2 * a))). repeat apply Rmult_le_pos; lra. }
    assert (sum (2 * a) (fun i => heavy (S i) * g (S i)) <= sum (2 * a) (fun i => / q * (heavy i * g (S i)))); [|lra].
    apply sum_le. intros i _. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply Hg|]. apply Tq, heavy_step.
  - apply Rle_trans with (/ q * (sum values (fun i => heavy i * g i) / Z_a) + q ^ a / Z_a); [|lra].
    apply over_Z; [lra|]. unfold values at 1. cbn [sum]. rewrite edge_last, <- sum_scal.
    assert (q ^ a * g (S (2 * a)) <= q ^ a) by (specialize (Hg (S (2 * a))); nra).
    assert (sum (2 * a) (fun i => heavy i * g (S i)) <= sum values (fun i => / q * (heavy i * g i))); [|lra].
    unfold values. rewrite sum_first.
    assert (0 <= / q * (heavy 0 * g 0%nat)).
    { pose proof (heavy_pos 0). specialize (Hg 0%nat). repeat apply Rmult_le_pos; lra. }
    assert (sum (2 * a) (fun i => heavy i * g (S i)) <= sum (2 * a) (fun i => / q * (heavy (S i) * g (S i)))); [|lra].
    apply sum_le. intros i _. rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply Hg|]. apply Tq, heavy_step.
Qed.

(** A count of 0 and one of 1: the one shows with probability d at most. *)
Lemma one_occurs f : (forall v, 0 <= f v <= 1) -> Rabs (cell 1 f - f None) <= d.
Proof.
  intro Hf. pose proof (pow_01 q a) as Pa. pose proof Z_a_pos as PZ.
  set (g := fun i : nat => f (shown (Z.of_nat 1 + (Z.of_nat i - Z.of_nat a))%Z)).
  assert (C1 : cell 1 f = sum values (fun i => heavy i * g i) / Z_a) by reflexivity.
  assert (Low : forall i, (i < 2 * a)%nat -> g i = f None).
  { intros i Hi. unfold g, shown. destruct (Z.leb_spec t (Z.of_nat 1 + (Z.of_nat i - Z.of_nat a))); [lia|reflexivity]. }
  assert (Eq : cell 1 f - f None = q ^ a / Z_a * (g (2 * a)%nat - f None)).
  { assert (S : sum values (fun i => heavy i * g i) = f None * Z_a + q ^ a * (g (2 * a)%nat - f None)).
    { unfold Z_a, values. cbn [sum]. rewrite edge_last.
      rewrite (sum_ext (2 * a) _ (fun i => f None * heavy i)) by (intros i Hi; rewrite (Low i Hi); ring).
      rewrite sum_scal. ring. }
    rewrite C1, S. field. lra. }
  rewrite Eq, Rabs_mult. rewrite (Rabs_pos_eq (q ^ a / Z_a)) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  assert (Rabs (g (2 * a)%nat - f None) <= 1).
  { pose proof (Hf None). assert (0 <= g (2 * a)%nat <= 1) by apply Hf. apply Rabs_le. lra. }
  assert (0 <= q ^ a / Z_a) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]). nra.
Qed.

Lemma cell_close c c' f : c' = S c \/ c = S c' -> (forall v, 0 <= f v <= 1) -> cell c f <= / q * cell c' f + d.
Proof.
  pose proof (base_01 q) as Hq. pose proof (Rinv_0_lt_compat q ltac:(lra)) as Iq.
  assert (I1 : 1 <= / q) by (rewrite <- Rinv_1 at 1; apply Rinv_le_contravar; lra).
  intros H Hf. destruct (Nat.eq_dec (Nat.min c c') 0) as [Z|N].
  - pose proof (one_occurs f Hf) as O. apply Rabs_le_between in O. pose proof (Hf None) as H0.
    pose proof (E_test (cell 1) f Hf) as T1.
    destruct H as [->| ->].
    + replace c with 0%nat by lia. change (cell 0 f) with (f None). nra.
    + replace c' with 0%nat by lia. change (cell 0 f) with (f None). nra.
  - destruct H as [->| ->]; apply both_occur; lia || exact Hf.
Qed.
End Cell.

(** (L2) as it is decided in whole numbers: q^a (1 - q) <= d (1 + q - 2 q^(a+1)). *)
Lemma Z_a_closed (q : rate) a : (1 - q) * Z_a q a = 1 + q - 2 * q ^ (S a).
Proof.
  induction a as [|a IH].
  - unfold Z_a, values. cbn [sum Nat.mul Nat.add]. unfold heavy, size. simpl. ring.
  - assert (St : Z_a q (S a) = Z_a q a + 2 * q ^ S a).
    { unfold Z_a. replace (values (S a)) with (S (S (values a))) by (unfold values; lia). rewrite sum_first.
      cbn [sum]. rewrite edge_first.
      replace (S (values a)) with (2 * S a)%nat by (unfold values; lia). rewrite edge_last.
      rewrite (sum_ext (values a) (fun i => heavy q (S a) (S i)) (heavy q a)); [ring|].
      intros i _. unfold heavy, size. f_equal. lia. }
    rewrite St, Rmult_plus_distr_l, IH. simpl. ring.
Qed.
Lemma light_closed (q : rate) a d : q ^ a * (1 - q) <= d * (1 + q - 2 * q ^ (S a)) -> q ^ a / Z_a q a <= d.
Proof.
  intro H. pose proof (base_01 q). pose proof (Z_a_pos q a) as P. rewrite <- Z_a_closed in H.
  apply (Rmult_le_reg_r (Z_a q a)); [exact P|]. replace (q ^ a / Z_a q a * Z_a q a) with (q ^ a) by (field; lra). nra.
Qed.

(** ** All counts *)

Section Counts.
Context {K : Type} (K_dec : forall k k' : K, {k = k'} + {k <> k'}).
Definition occurs (data : list K) (k : K) : nat := count_occ K_dec data k.
Lemma occurs_with l r x k : occurs (l ++ x :: r) k = (occurs (l ++ r) k + if K_dec x k then 1 else 0)%nat.
Proof. unfold occurs. rewrite !count_occ_app. simpl. destruct (K_dec x k); lia. Qed.
End Counts.

Section Histogram.
Context {K : Type} (K_dec : forall k k' : K, {k = k'} + {k <> k'}).
(** All keys that may occur, in the fixed order (L6); those that do not occur leave no trace. *)
Variable keys : list K.
Hypothesis ND : NoDup keys.
Variables (q : rate) (a : nat) (t : Z).

Fixpoint histogram (ks : list K) (c : K -> nat) : law (list (option Z)) :=
  match ks with
  | [] => ret []
  | k :: ks => bind (cell q a t (c k)) (fun o => bind (histogram ks c) (fun rest => ret (o :: rest)))
  end.

Variables (e d : R).
Hypothesis He : 0 <= e.
Hypothesis Hq : / q = exp e.
Hypothesis light : q ^ a / Z_a q a <= d.
Hypothesis high : (Z.of_nat a < t)%Z.

Lemma d_pos : 0 <= d.
Proof.
  apply Rle_trans with (2 := light). pose proof (pow_01 q a).
  apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat, Z_a_pos].
Qed.

Fixpoint changed (ks : list K) (c c' : K -> nat) : nat :=
  match ks with [] => 0 | k :: ks => (if Nat.eqb (c k) (c' k) then 0 else 1) + changed ks c c' end.

Theorem histogram_close ks c c' : (forall k, In k ks -> c k = c' k \/ c' k = S (c k) \/ c k = S (c' k)) ->
  within (INR (changed ks c c') * e) (INR (changed ks c c') * d) (histogram ks c) (histogram ks c').
Proof.
  pose proof d_pos as Hd. induction ks as [|k ks IH]; intro H; cbn [histogram changed].
  - simpl. rewrite !Rmult_0_l. apply within_refl.
  - specialize (IH (fun k' Hk => H k' (or_intror Hk))).
    assert (Rest : forall o : option Z, within (INR (changed ks c c') * e) (INR (changed ks c c') * d)
      (bind (histogram ks c) (fun rest => ret (o :: rest))) (bind (histogram ks c') (fun rest => ret (o :: rest))))
      by (intro o; now apply post_processing).
    pose proof (pos_INR (changed ks c c')) as Hn. assert (0 <= INR (changed ks c c') * d) by nra.
    destruct (Nat.eqb_spec (c k) (c' k)) as [Eq|D].
    + rewrite Eq. apply F1_fixed_coins; assumption.
    + change (1 + changed ks c c')%nat with (S (changed ks c c')). rewrite S_INR, !Rmult_plus_distr_r, !Rmult_1_l.
      rewrite (Rplus_comm _ e), (Rplus_comm _ d). apply compose; [assumption| |exact Rest].
      intros f Hf. rewrite <- Hq. apply cell_close; try assumption. destruct (H k (or_introl eq_refl)) as [A|A]; [congruence|tauto].
Qed.

(** ** Neighbouring lists *)

Definition release (data : list K) : law (list (option Z)) := histogram keys (occurs K_dec data).

Lemma changed_filter ks c c' : changed ks c c' = length (filter (fun k => negb (Nat.eqb (c k) (c' k))) ks).
Proof. induction ks as [|k ks IH]; simpl; [reflexivity|]. destruct (Nat.eqb (c k) (c' k)); simpl; now rewrite IH. Qed.
Lemma changed_at_most (c c' : K -> nat) (spots : list K) :
  (forall k, ~ In k spots -> c k = c' k) -> (changed keys c c' <= length spots)%nat.
Proof.
  intro H. rewrite changed_filter. apply NoDup_incl_length; [now apply NoDup_filter|].
  intros k Hk. apply filter_In in Hk. destruct Hk as [_ D].
  destruct (in_dec K_dec k spots) as [I|N]; [exact I|]. rewrite (H k N), Nat.eqb_refl in D. discriminate.
Qed.

(** One count moves by one, or two do. *)
Lemma release_close (n : nat) (spots : list K) data data' : (length spots <= n)%nat ->
  (forall k, ~ In k spots -> occurs K_dec data k = occurs K_dec data' k) ->
  (forall k, occurs K_dec data k = occurs K_dec data' k \/ occurs K_dec data' k = S (occurs K_dec data k) \/ occurs K_dec data k = S (occurs K_dec data' k)) ->
  within (INR n * e) (INR n * d) (release data) (release data').
Proof.
  intros L Out Move. pose proof (changed_at_most _ _ spots Out) as C. pose proof d_pos as Hd.
  assert (INR (changed keys (occurs K_dec data) (occurs K_dec data')) <= INR n) by (apply le_INR; lia).
  apply (within_weaker (INR (changed keys (occurs K_dec data) (occurs K_dec data')) * e) (INR (changed keys (occurs K_dec data) (occurs K_dec data')) * d));
    [now apply Rmult_le_compat_r|now apply Rmult_le_compat_r|]. apply histogram_close. intros k _. apply Move.
Qed.
End Histogram.

(** No count of PrivateHistogram is wrong by more than the noise bound. *)
Definition not_below (bound c : nat) (o : option Z) : bool :=
  match o with None => true | Some z => Nat.leb c (Z.to_nat (z + Z.of_nat bound)) end.
Fixpoint none_below {K} (bound : nat) (ks : list K) (c : K -> nat) (counts : list (option Z)) : bool :=
  match ks, counts with k :: ks, o :: counts => not_below bound (c k) o && none_below bound ks c counts | _, _ => true end.
Lemma cell_supported q a t c : supported (cell q a t c) (not_below a c).
Proof.
  intros f Bf. destruct c as [|c]; [reflexivity|]. unfold cell. cbn [bind ret E]. rewrite !truncated_at. f_equal.
  apply sum_ext. intros i Hi. unfold shown. destruct (Z.leb_spec t (Z.of_nat (S c) + (Z.of_nat i - Z.of_nat a))); [|reflexivity].
  unfold not_below. destruct (Nat.leb_spec (S c) (Z.to_nat (Z.of_nat (S c) + (Z.of_nat i - Z.of_nat a) + Z.of_nat a))); [reflexivity|lia].
Qed.
Theorem histogram_supported {K} q a t (ks : list K) c : supported (histogram q a t ks c) (none_below a ks c).
Proof.
  induction ks as [|k ks IH]; intros f Bf; cbn [histogram]; [reflexivity|]. cbn [bind ret E none_below].
  assert (B : forall o, bounded (fun rest : list (option Z) => f (o :: rest))) by (intro o; now apply (bounded_after f)).
  assert (Bh : bounded (fun o => histogram q a t ks c (fun rest => f (o :: rest)))).
  { destruct Bf as [M [HM Hf]]. exists M. split; [exact HM|]. intro o. apply E_le; auto. }
  rewrite (cell_supported q a t (c k) _ Bh). f_equal. apply functional_extensionality. intro o.
  destruct (not_below a (c k) o); cbn [andb]; [apply IH, B|symmetry; apply E_zero].
Qed.
Fixpoint noisy {K} (K_dec : forall k k' : K, {k = k'} + {k <> k'}) (ks : list K) (counts : list (option Z)) (h : K) : option Z :=
  match ks, counts with k :: ks, o :: counts => if K_dec k h then o else noisy K_dec ks counts h | _, _ => None end.
Lemma noisy_not_below {K} K_dec bound (ks : list K) c h z : forall counts,
  none_below bound ks c counts = true -> noisy K_dec ks counts h = Some z -> (c h <= Z.to_nat (z + Z.of_nat bound))%nat.
Proof.
  induction ks as [|k ks IH]; intros [|o counts] N E; cbn in *; try discriminate. apply andb_prop in N. destruct N as [N N'].
  destruct (K_dec k h) as [<-|D]; [|now apply (IH counts)]. subst o. now apply Nat.leb_le in N.
Qed.

(** privacy/guarantee.py, and how many counts a neighbour changes. [Replace] covers that an element is
    added or removed, too, which the promise does not mention and LazyForest needs. *)
Inductive mode := AddRemove | Replace.
Definition cells_changed (m : mode) : nat := match m with AddRemove => 1 | Replace => 2 end.
Definition neighbouring {K} (m : mode) (data data' : list K) : Prop :=
  match m with
  | AddRemove => exists l r x, (data = l ++ r /\ data' = l ++ x :: r) \/ (data = l ++ x :: r /\ data' = l ++ r)
  | Replace => exists l r o o', (length o <= 1)%nat /\ (length o' <= 1)%nat /\ data = l ++ o ++ r /\ data' = l ++ o' ++ r
  end.
Lemma neighbouring_sym {K} m (data data' : list K) : neighbouring m data data' -> neighbouring m data' data.
Proof. destruct m; [intros (l & r & x & H); exists l, r, x; tauto|intros (l & r & o & o' & H); exists l, r, o', o; tauto]. Qed.

Lemma neighbouring_spots {K} (K_dec : forall k k' : K, {k = k'} + {k <> k'}) m data data' : neighbouring m data data' ->
  exists spots, (length spots <= cells_changed m)%nat /\ (forall k, ~ In k spots -> occurs K_dec data k = occurs K_dec data' k) /\
  forall k, occurs K_dec data k = occurs K_dec data' k \/ occurs K_dec data' k = S (occurs K_dec data k)
    \/ occurs K_dec data k = S (occurs K_dec data' k).
Proof.
  destruct m.
  - intros (l & r & x & N). exists [x]. split; [simpl; lia|].
    split; intro k; destruct N as [[-> ->]|[-> ->]]; rewrite !occurs_with; simpl; destruct (K_dec x k); first [lia | intro H; exfalso; apply H; auto | intros _; lia].
  - intros (l & r & o & o' & L & L' & -> & ->). exists (o ++ o'). split; [rewrite app_length; simpl; lia|].
    destruct o as [|x [|? ?]], o' as [|x' [|? ?]]; simpl in L, L'; try lia; cbn [app];
      split; intro k; rewrite ?occurs_with; simpl; repeat match goal with |- context [K_dec ?u ?v] => destruct (K_dec u v) end;
      first [lia | intros _; lia | intro H; exfalso; apply H; auto].
Qed.
Lemma cells_pos m : 0 < INR (cells_changed m).
Proof. destruct m; simpl; lra. Qed.

Section Promise.
Context {K : Type} (K_dec : forall k k' : K, {k = k'} + {k <> k'}) (keys : list K).
Hypothesis ND : NoDup keys.
Variables (epsilon delta : R) (m : mode) (noise_bound : nat) (threshold : Z).
Hypothesis Heps : 0 < epsilon.
Let cells := INR (cells_changed m).
Lemma share_positive : 0 < epsilon / cells.
Proof. apply Rdiv_lt_0_compat; [exact Heps|]. apply cells_pos. Qed.
Let q := at_rate (epsilon / cells) share_positive.                                               (* (L1) *)
Hypothesis light : q ^ noise_bound * (1 - q) <= delta / cells * (1 + q - 2 * q ^ S noise_bound).  (* (L2) *)
Hypothesis high : (Z.of_nat noise_bound < threshold)%Z.                                          (* (L3) *)

Definition private_histogram (data : list K) : law (list (option Z)) := release K_dec keys q noise_bound threshold data.

Lemma one_direction data data' : neighbouring m data data' ->
  within epsilon delta (private_histogram data) (private_histogram data').
Proof.
  intro N. assert (C : 0 < cells) by apply cells_pos.
  assert (L := light_closed q noise_bound _ light). pose proof share_positive as P.
  destruct (neighbouring_spots K_dec m data data' N) as (spots & Len & Out & Move).
  assert (Hq : / q = exp (epsilon / cells)) by (unfold q; simpl; rewrite exp_Ropp; apply Rinv_inv).
  assert (R := release_close K_dec keys ND q noise_bound threshold (epsilon / cells) (delta / cells)
    ltac:(lra) Hq L high (cells_changed m) spots data data' ltac:(lia) Out Move). fold cells in R.
  replace (cells * (epsilon / cells)) with epsilon in R by (field; lra).
  replace (cells * (delta / cells)) with delta in R by (field; lra). exact R.
Qed.

(** The promise of privacy/mechanisms/histogram.py, PrivateHistogram:

    Privacy:
        Releases:   the keys whose noisy count reaches ``threshold``, with their noisy counts
        Neighbours: lists that differ by one element: added or removed (``add-remove``), or
                    exchanged for another (``replace``)
        Adversary:  adaptive; may choose the list after seeing earlier releases
        Guarantee:  (epsilon, delta) for each release
        Assumes:    timing (docs/GUARANTEES.md): the work grows with the number of distinct keys
        Proof:      histogram.md
        Checked:    proofs/promises/PrivateHistogram.v, theorem private_histogram_private *)
Theorem private_histogram_private data data' : neighbouring m data data' ->
  private epsilon delta (fun world : bool => private_histogram (if world then data' else data)).
Proof. intros N [|]; apply one_direction; [now apply neighbouring_sym|exact N]. Qed.
End Promise.

(** The list of keys may have any others: a universe without end is no different. *)
Theorem absent_keys_show_nothing {K} K_dec (more keys : list K) q a t data f : (forall k, In k more -> ~ In k data) ->
  release K_dec (more ++ keys) q a t data f = release K_dec keys q a t data (fun shown => f (repeat None (length more) ++ shown)).
Proof.
  unfold release. revert f. induction more as [|k more IH]; intros f H; [reflexivity|]. cbn [app histogram bind E].
  assert (Z : occurs K_dec data k = 0%nat) by (apply count_occ_not_In, H; now left).
  rewrite Z. cbn [cell ret E]. apply (IH (fun shown => f (None :: shown))). intros k' Hk. apply H. now right.
Qed.
(* main: private_histogram_private, histogram_supported, Z_a_closed, absent_keys_show_nothing *)
