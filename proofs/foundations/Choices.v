(** One of finitely many elements, each with a weight: the law of a dart thrown at their stretches. *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws.
Open Scope R_scope.

Fixpoint sum (n : nat) (F : nat -> R) : R := match n with O => 0 | S n => sum n F + F n end.

Lemma sum_ext n F F' : (forall i, (i < n)%nat -> F i = F' i) -> sum n F = sum n F'.
Proof. induction n as [|n IH]; intro H; simpl; [reflexivity|]. rewrite IH, H; auto. Qed.
Lemma sum_le n F F' : (forall i, (i < n)%nat -> F i <= F' i) -> sum n F <= sum n F'.
Proof.
  induction n as [|n IH]; intro H; simpl; [lra|]. specialize (H n ltac:(lia)) as Hn.
  assert (sum n F <= sum n F') by (apply IH; auto). lra.
Qed.
Lemma sum_pos n F : (forall i, (i < n)%nat -> 0 <= F i) -> 0 <= sum n F.
Proof.
  induction n as [|n IH]; intro H; simpl; [lra|]. specialize (H n ltac:(lia)) as Hn.
  assert (0 <= sum n F) by (apply IH; auto). lra.
Qed.
Lemma sum_plus n F F' : sum n (fun i => F i + F' i) = sum n F + sum n F'.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma sum_scal n c F : sum n (fun i => c * F i) = c * sum n F.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma sum_gt n w : (forall i, 0 < w i) -> (0 < n)%nat -> 0 < sum n w.
Proof.
  intros H N. destruct n as [|n]; [lia|]. simpl. specialize (H n) as Hn.
  assert (0 <= sum n w) by (apply sum_pos; intros i _; left; apply H). lra.
Qed.

(** P(i) = w i / (w 0 + ... + w (n - 1)); no law at all for n = 0. *)
Program Definition choice (n : nat) (w : nat -> R) (Hw : forall i, 0 < w i) : law nat :=
  {| E := fun f => sum n (fun i => w i * f i) / sum n w |}.
Next Obligation.
  destruct n as [|n]; [simpl; lra|]. apply Rmult_le_compat_r.
  - left. apply Rinv_0_lt_compat. apply sum_gt; [assumption|lia].
  - apply sum_le. intros i _. specialize (Hw i). specialize (H1 i). nra.
Qed.
Next Obligation.
  rewrite (sum_ext n _ (fun i => w i * f i + w i * g i)) by (intros; ring).
  rewrite sum_plus. unfold Rdiv. ring.
Qed.
Next Obligation.
  rewrite (sum_ext n _ (fun i => c * (w i * f i))) by (intros; ring).
  rewrite sum_scal. unfold Rdiv. ring.
Qed.
Next Obligation.
  destruct n as [|n]; [simpl; lra|]. rewrite (sum_ext _ _ w) by (intros; ring).
  right. field. apply Rgt_not_eq, sum_gt; [assumption|lia].
Qed.

Lemma choice_one n w Hw : (0 < n)%nat -> choice n w Hw (fun _ => 1) = 1.
Proof.
  intro N. cbn [choice E]. rewrite (sum_ext _ _ w) by (intros; ring).
  field. apply Rgt_not_eq. now apply sum_gt.
Qed.

(** Weights that differ by factors of at most [up] in one direction and [down] in the other. *)
Lemma choice_close n w w' Hw Hw' up down f : 0 < up -> 0 < down -> bounded f ->
  (forall i, (i < n)%nat -> w i <= up * w' i) -> (forall i, (i < n)%nat -> w' i <= down * w i) ->
  choice n w Hw f <= up * down * choice n w' Hw' f.
Proof.
  intros U D Bf Hu Hd. cbn [choice E]. destruct n as [|n]; [simpl; unfold Rdiv; lra|].
  pose proof (sum_gt (S n) w Hw ltac:(lia)) as P. pose proof (sum_gt (S n) w' Hw' ltac:(lia)) as P'.
  assert (S1 : sum (S n) (fun i => w i * f i) <= up * sum (S n) (fun i => w' i * f i)).
  { rewrite <- sum_scal. apply sum_le. intros i Hi. specialize (Hu i Hi). pose proof (bounded_pos f i Bf).
    rewrite <- Rmult_assoc. now apply Rmult_le_compat_r. }
  assert (S2 : sum (S n) w' <= down * sum (S n) w) by (rewrite <- sum_scal; now apply sum_le).
  assert (F0 : 0 <= sum (S n) (fun i => w' i * f i)).
  { apply sum_pos. intros i _. pose proof (bounded_pos f i Bf). specialize (Hw' i). nra. }
  set (A := sum (S n) (fun i => w i * f i)) in *. set (A' := sum (S n) (fun i => w' i * f i)) in *.
  set (B := sum (S n) w) in *. set (B' := sum (S n) w') in *.
  apply Rle_trans with (up * A' / B); [apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|exact S1]|].
  apply (Rmult_le_reg_r (B * B')); [nra|].
  replace (up * A' / B * (B * B')) with (up * A' * B') by (field; lra).
  replace (up * down * (A' / B') * (B * B')) with (up * A' * (down * B)) by (field; lra).
  apply Rmult_le_compat_l; [nra|exact S2].
Qed.
