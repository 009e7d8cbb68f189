(** privacy/mechanisms/exponential.py: one of finitely many elements, the likelier the smaller its score. *)
From Coq Require Import ZArith Reals Lra Lia List.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices.
Import ListNotations.
Open Scope R_scope.

(** ** The table of weights *)

(** (T) of exponential.md. It holds for exp(- eta * k), of which TreeSelection draws, and for the table of
    whole numbers, of which ExponentialMechanism draws. *)
Record weights (eta : R) := Weights {
  weight :> nat -> R;
  weight_pos : forall k, 0 < weight k;
  weight_falls : forall k, weight (S k) <= weight k <= exp eta * weight (S k) }.
Arguments weight {eta}. Arguments weight_pos {eta}. Arguments weight_falls {eta}.

Program Definition exponential_weights (eta : R) (H : 0 <= eta) : weights eta :=
  {| weight := fun k => exp (- (eta * INR k)) |}.
Next Obligation. apply exp_pos. Qed.
Next Obligation.
  change (match k with 0%nat => 1 | S _ => INR k + 1 end) with (INR (S k)). rewrite S_INR. split.
  - apply exp_le. lra.
  - rewrite <- exp_plus. right. f_equal. ring.
Qed.

(** noise/integer_weights.py: each entry is the one before times ratio / 2^bits, rounded up, and no smaller
    than the last one. Beyond the end of the Python table all entries equal the last, as [level] has it. *)
Section Table.
Variables (eta : R) (ratio : Z) (bits : nat) (floor first : Z).
Hypothesis above : IZR (2 ^ Z.of_nat bits) * exp (- eta) <= IZR ratio.   (* what exp_bounds encloses *)
Hypothesis below : (0 <= ratio <= 2 ^ Z.of_nat bits)%Z.
Hypothesis positive : (0 < floor <= first)%Z.

Definition next (w : Z) : Z := Z.max floor (- (- (w * ratio) / 2 ^ Z.of_nat bits)).
Fixpoint table (k : nat) : Z := match k with O => first | S k => next (table k) end.

Lemma table_floor k : (floor <= table k)%Z.
Proof. destruct k; simpl; [lia|]. unfold next. lia. Qed.
Lemma rounded_up w : IZR w * IZR ratio <= IZR (- (- (w * ratio) / 2 ^ Z.of_nat bits)) * IZR (2 ^ Z.of_nat bits).
Proof.
  assert (P : (0 < 2 ^ Z.of_nat bits)%Z) by (apply Z.pow_pos_nonneg; lia).
  rewrite <- !mult_IZR. apply IZR_le.
  pose proof (Z.mul_div_le (- (w * ratio)) (2 ^ Z.of_nat bits) P). lia.
Qed.
Lemma next_falls w : (floor <= w)%Z -> (next w <= w)%Z.
Proof.
  intro F. assert (P : (0 < 2 ^ Z.of_nat bits)%Z) by (apply Z.pow_pos_nonneg; lia).
  unfold next. apply Z.max_lub; [exact F|].
  assert (- w <= - (w * ratio) / 2 ^ Z.of_nat bits)%Z; [|lia].
  apply Z.div_le_lower_bound; [exact P|]. nia.
Qed.
Lemma next_enough w : (floor <= w)%Z -> IZR w <= exp eta * IZR (next w).
Proof.
  intro F. assert (P : (0 < 2 ^ Z.of_nat bits)%Z) by (apply Z.pow_pos_nonneg; lia).
  apply IZR_lt in P. pose proof (rounded_up w) as R. pose proof (exp_pos eta) as X.
  assert (W : 0 < IZR w) by (apply IZR_lt; lia).
  assert (N : IZR (- (- (w * ratio) / 2 ^ Z.of_nat bits)) <= IZR (next w)) by (apply IZR_le; unfold next; lia).
  set (B := IZR (2 ^ Z.of_nat bits)) in *. set (Q := IZR (- (- (w * ratio) / 2 ^ Z.of_nat bits))) in *.
  assert (One : exp eta * exp (- eta) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  apply (Rmult_le_reg_l B); [exact P|].
  apply Rle_trans with (exp eta * (IZR w * IZR ratio)).
  - assert (IZR w * (B * exp (- eta)) <= IZR w * IZR ratio) by (apply Rmult_le_compat_l; lra).
    apply Rmult_le_compat_l with (r := exp eta) in H; [|lra].
    replace (B * IZR w) with (exp eta * (IZR w * (B * exp (- eta)))); [exact H|].
    replace (exp eta * (IZR w * (B * exp (- eta)))) with (B * IZR w * (exp eta * exp (- eta))) by ring.
    rewrite One. ring.
  - replace (B * (exp eta * IZR (next w))) with (exp eta * (IZR (next w) * B)) by ring.
    apply Rmult_le_compat_l; [lra|]. nra.
Qed.

Lemma table_pos k : 0 < IZR (table k).
Proof. apply IZR_lt. pose proof (table_floor k). lia. Qed.
Lemma table_falls k : IZR (table (S k)) <= IZR (table k) <= exp eta * IZR (table (S k)).
Proof.
  pose proof (table_floor k) as F. cbn [table]. split; [apply IZR_le; now apply next_falls|now apply next_enough].
Qed.
Definition table_weights : weights eta := Weights eta (fun k => IZR (table k)) table_pos table_falls.
End Table.

(** ** The draw *)

Section Draw.
Context {eta : R} (W : weights eta).
Hypothesis Heta : 0 <= eta.

Lemma weight_later k j : W (k + j)%nat <= W k <= exp (eta * INR j) * W (k + j)%nat.
Proof.
  induction j as [|j [L U]].
  - rewrite Nat.add_0_r. simpl. rewrite Rmult_0_r, exp_0. lra.
  - replace (k + S j)%nat with (S (k + j)) by lia. destruct (weight_falls W (k + j)) as [F G].
    split; [lra|]. apply Rle_trans with (1 := U). rewrite S_INR.
    replace (eta * (INR j + 1)) with (eta * INR j + eta) by ring. rewrite exp_plus.
    pose proof (exp_pos (eta * INR j)). rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.
(** Entries whose numbers differ: the smaller number has the larger weight, by so much at most. *)
Lemma weight_between k k' up : (k' <= k + up)%nat -> W k <= exp (eta * INR up) * W k'.
Proof.
  intro H. pose proof (weight_pos W k'). assert (One : 1 <= exp (eta * INR up)).
  { rewrite <- exp_0. apply exp_le. pose proof (pos_INR up). nra. }
  destruct (Nat.le_gt_cases k k') as [L|L].
  - replace k' with (k + (k' - k))%nat by lia. destruct (weight_later k (k' - k)) as [_ U].
    apply Rle_trans with (1 := U). apply Rmult_le_compat_r; [left; apply weight_pos|].
    apply exp_le. apply Rmult_le_compat_l; [exact Heta|]. apply le_INR. lia.
  - replace k with (k' + (k - k'))%nat by lia. destruct (weight_later k' (k - k')) as [L' _]. nra.
Qed.

(** (L1) *)
Fixpoint least (n : nat) (score : nat -> Z) : Z :=
  match n with O => score 0%nat | S n => Z.min (least n score) (score n) end.
Lemma least_below n score i : (i < n)%nat -> (least n score <= score i)%Z.
Proof.
  induction n as [|n IH]; intro H; [lia|]. simpl. destruct (Nat.eq_dec i n) as [->|D]; [lia|].
  specialize (IH ltac:(lia)). lia.
Qed.
Lemma least_there n score : (0 < n)%nat -> exists i, (i < n)%nat /\ least n score = score i.
Proof.
  induction n as [|n IH]; intro H; [lia|]. simpl. destruct n as [|n].
  - exists 0%nat. split; [lia|]. simpl. lia.
  - destruct IH as [i [Hi E]]; [lia|].
    destruct (Z.min_spec (least (S n) score) (score (S n))) as [[_ M]|[_ M]]; rewrite M.
    + exists i. split; [lia|exact E].
    + exists (S n). split; [lia|reflexivity].
Qed.

(** (L2, L3, L4): element i has probability proportional to prior i * W(score i - least). [prior] is what
    TreeSelection calls so; for ExponentialMechanism it is 1, and runs of equal scores are written out. *)
Lemma weighted_pos n prior (Hp : forall i : nat, 0 < prior i) score i :
  0 < prior i * W (Z.to_nat (score i - least n score)).
Proof. apply Rmult_lt_0_compat; [apply Hp|apply weight_pos]. Qed.
Definition draw (n : nat) (prior : nat -> R) (Hp : forall i, 0 < prior i) (score : nat -> Z) : law nat :=
  choice n (fun i => prior i * W (Z.to_nat (score i - least n score))) (weighted_pos n prior Hp score).

Theorem draw_private n prior Hp score score' low width : (0 <= width)%Z ->
  (forall i, (i < n)%nat -> (low <= score' i - score i <= low + width)%Z) ->
  within (eta * IZR width) 0 (draw n prior Hp score) (draw n prior Hp score').
Proof.
  intros Hw H f Hf. rewrite Rplus_0_r. destruct (Nat.eq_dec n 0) as [->|N]; [simpl; unfold Rdiv; lra|].
  set (m := least n score). set (m' := least n score').
  assert (C : (low <= m' - m <= low + width)%Z).
  { destruct (least_there n score ltac:(lia)) as [i [Hi Ei]], (least_there n score' ltac:(lia)) as [j [Hj Ej]].
    pose proof (least_below n score j Hj). pose proof (least_below n score' i Hi).
    specialize (H i Hi) as Mi. specialize (H j Hj) as Mj. unfold m, m'. lia. }
  set (down := Z.to_nat (m' - m - low)). set (up := Z.to_nat (low + width - (m' - m))).
  replace (eta * IZR width) with (eta * INR up + eta * INR down).
  2:{ rewrite <- Rmult_plus_distr_l, <- plus_INR, INR_IZR_INZ. do 2 f_equal. unfold up, down. lia. }
  rewrite exp_plus. unfold draw. apply choice_close; try apply exp_pos; [now apply bounded_test| |];
    intros i Hi; specialize (Hp i); specialize (H i Hi);
    pose proof (least_below n score i Hi); pose proof (least_below n score' i Hi); unfold up, down, m, m' in *.
  - rewrite <- Rmult_assoc, (Rmult_comm (exp _)), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
    apply weight_between. lia.
  - rewrite <- Rmult_assoc, (Rmult_comm (exp _)), Rmult_assoc. apply Rmult_le_compat_l; [lra|].
    apply weight_between. lia.
Qed.
End Draw.

(** ** Multiplicities: score i stands for that many equal neighbours in a row *)

Definition written_out (scores : list Z) (multiplicities : list nat) : list Z :=
  flat_map (fun run => repeat (fst run) (snd run)) (combine scores multiplicities).
Definition exponential {eta} (W : weights eta) (scores : list Z) (multiplicities : list nat) : law nat :=
  let laid := written_out scores multiplicities in
  draw W (length laid) (fun _ => 1) (fun _ => Rlt_0_1) (fun i => nth i laid 0%Z).

Lemma nth_of_repeat (s : Z) m : forall i, (i < m)%nat -> nth i (repeat s m) 0%Z = s.
Proof.
  induction m as [|m IH]; intros i H; [lia|]. destruct i as [|i]; [reflexivity|]. simpl. apply IH. lia.
Qed.
Lemma written_out_length scores : forall scores' ms, length scores = length scores' ->
  length (written_out scores ms) = length (written_out scores' ms).
Proof.
  induction scores as [|s scores IH]; intros [|s' scores'] ms L; try discriminate; [reflexivity|].
  destruct ms as [|m ms]; [reflexivity|]. unfold written_out in *. cbn [combine flat_map fst snd].
  rewrite !app_length, !repeat_length. f_equal. apply IH. now injection L.
Qed.
Lemma written_out_moves (P : Z -> Z -> Prop) scores : forall scores' ms, length scores = length scores' ->
  (forall i, (i < length scores)%nat -> P (nth i scores 0%Z) (nth i scores' 0%Z)) ->
  forall i, (i < length (written_out scores ms))%nat ->
  P (nth i (written_out scores ms) 0%Z) (nth i (written_out scores' ms) 0%Z).
Proof.
  induction scores as [|s scores IH]; intros [|s' scores'] ms L H i Hi; try discriminate; [simpl in Hi; lia|].
  destruct ms as [|m ms]; [simpl in Hi; lia|]. unfold written_out in *. cbn [combine flat_map fst snd] in *.
  rewrite app_length, repeat_length in Hi. destruct (Nat.lt_ge_cases i m) as [A|A].
  - rewrite !app_nth1 by (rewrite repeat_length; lia). rewrite !nth_of_repeat by lia. apply (H 0%nat). simpl. lia.
  - rewrite !app_nth2 by (rewrite repeat_length; lia). rewrite !repeat_length. apply IH.
    + now injection L.
    + intros j Hj. apply (H (S j)). simpl. lia.
    + lia.
Qed.

(** The scores of two worlds move by a vector with max - min <= range_width. *)
(** The promise of privacy/mechanisms/exponential.py, ExponentialMechanism:

    Privacy (of each draw):
        Releases:   one element
        Neighbours: inputs whose scores differ by a vector with max - min <= ``range_width``
        Adversary:  adaptive; scores may depend on everything released before
        Guarantee:  (epsilon, 0); its log-likelihood ratio spans at most epsilon
        Assumes:    honest-caller (the range width is true); timing (docs/GUARANTEES.md): with
                    ``multiplicities`` the number of runs shows
        Proof:      exponential.md
        Checked:    proofs/promises/ExponentialMechanism.v, theorem exponential_mechanism_private *)
Theorem exponential_mechanism_private epsilon range_width (W : weights (epsilon / IZR range_width))
  scores scores' multiplicities low : 0 <= epsilon -> (0 < range_width)%Z -> length scores = length scores' ->
  (forall i, (i < length scores)%nat -> (low <= nth i scores' 0%Z - nth i scores 0%Z <= low + range_width)%Z) ->
  private epsilon 0 (fun world => exponential W (if world then scores' else scores) multiplicities).
Proof.
  intros He Hw L H. assert (Hw' : 0 < IZR range_width) by now apply IZR_lt.
  assert (Heta : 0 <= epsilon / IZR range_width) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  replace epsilon with (epsilon / IZR range_width * IZR range_width) at 1 by (field; lra).
  intros [|]; cbn [negb]; unfold exponential.
  - rewrite (written_out_length scores scores' multiplicities L).
    apply draw_private with (low := (- (low + range_width))%Z); [exact Heta|lia|]. intros i Hi.
    apply (written_out_moves (fun u v => (- (low + range_width) <= v - u <= - (low + range_width) + range_width)%Z));
      [now symmetry| |exact Hi].
    intros j Hj. rewrite <- L in Hj. specialize (H j Hj). lia.
  - rewrite <- (written_out_length scores scores' multiplicities L).
    apply draw_private with (low := low); [exact Heta|lia|]. intros i Hi.
    now apply (written_out_moves (fun u v => (low <= v - u <= low + range_width)%Z)).
Qed.
(* main: exponential_mechanism_private *)
