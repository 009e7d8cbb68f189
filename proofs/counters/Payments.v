(** What it costs that a count is lower or higher by one. *)
From Coq Require Import ZArith Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Machine.
Open Scope R_scope.

Section Payments.
Variables (a b : rate).
Notation G := (G a).
Notation hit := (hit a).
Notation G_up := (G_up a).
Notation G_01 := (G_01 a).
Notation hit_01 := (hit_01 a).
Notation miss_01 := (miss_01 a).
Notation ensured := (ensured b).
Notation run := (run a b).
Notation run_bounded := (run_bounded a b).

(** ** A count that is lower by one costs alpha: query noise pays *)

Theorem raise_costs_alpha {V} (t : tree V) f : bounded f ->
  forall x s, a * run t s f <= run t (raise x s) f.
Proof.
  intro Hf. pose proof (base_01 a) as Ha.
  assert (Drop : forall (t : tree V) s, a * run t s f <= run t s f).
  { intros t' s'. pose proof (E_pos (run t' s') f Hf). nra. }
  induction t as [v|y tau t IH|y t IH|y t IH|y k IH]; intros x s.
  - exact (Drop (Done v) s).
  - destruct (s x) as [g|] eqn:Ex; [|rewrite (shift_none 1 x s Ex); apply Drop].
    cbn [run bind E]. unfold ensured. destruct (Nat.eq_dec y x) as [->|D].
    + rewrite shift_at, Ex. cbn [ret E option_map]. apply IH.
    + rewrite (shift_other 1 x y s D). destruct (s y) as [h|] eqn:Ey; cbn [bind E ret]; [apply IH|].
      rewrite <- (E_scal (geometric b)) by (lra || (apply bounded_after with (f := fun s => run t s f); now apply run_bounded)).
      apply E_mono.
      * apply bounded_scal; [lra|]. apply bounded_after with (f := fun s => run t s f); now apply run_bounded.
      * apply bounded_after with (f := fun s => run t s f); now apply run_bounded.
      * intro r. rewrite <- shift_set_other by congruence. apply IH.
  - simpl. rewrite (shift_swap (-1) 1). apply IH.
  - cbn [Machine.run]. destruct (Nat.eq_dec y x) as [->|D]; [rewrite set_shift; apply Drop|].
    rewrite <- shift_set_other by congruence. apply IH.
  - simpl. destruct (Nat.eq_dec y x) as [->|D].
    + destruct (s x) as [g|] eqn:Ex; [|rewrite (shift_none 1 x s Ex); apply (Drop (Toss x k))].
      unfold hit. rewrite shift_at, Ex, set_shift. cbn [option_map].
      pose proof (IH false x s) as I. pose proof (G_up g). pose proof (G_01 g). pose proof (G_01 (1 + g)).
      pose proof (E_pos (run (k true) (set s x None)) f Hf). pose proof (E_pos (run (k false) s) f Hf).
      pose proof (E_pos (run (k false) (raise x s)) f Hf).
      assert (a * G g * run (k true) (set s x None) f <= G (1 + g) * run (k true) (set s x None) f) by nra.
      assert ((1 - G g) * (a * run (k false) s f) <= (1 - G (1 + g)) * run (k false) (raise x s) f)
        by (apply Rmult_le_compat; nra).
      nra.
    + unfold hit. rewrite (shift_other 1 x y s D), <- shift_set_other by congruence.
      fold (hit y s). pose proof (IH true x (set s y None)). pose proof (IH false x s). pose proof (hit_01 y s). nra.
Qed.

(** ** A count that is higher by one costs beta: threshold noise pays *)

(** The law of the secret state, on the part of all runs that has some prefix. *)
Definition payable (mu : law state) :=
  forall x F, bounded F -> b * mu (fun s => F (raise x s)) <= mu F.

Lemma payable_at_start s : (forall x, s x = None) -> payable (ret s).
Proof.
  intros H x F HF. simpl. rewrite shift_none by apply H.
  pose proof (base_01 b). pose proof (bounded_pos F s HF). nra.
Qed.

Lemma hit_raise x y s : hit x (raise y s) <= hit x s.
Proof.
  unfold hit. destruct (Nat.eq_dec x y) as [->|D].
  - rewrite shift_at. destruct (s y) as [g|]; simpl; [apply G_up|lra].
  - rewrite shift_other by assumption. lra.
Qed.

Lemma ensured_raise_other x y tau s F : x <> y ->
  ensured x tau s (fun s => F (raise y s)) = ensured x tau (raise y s) F.
Proof.
  intro D. unfold ensured. rewrite (shift_other 1 y x s D). destruct (s x); [reflexivity|]. simpl.
  apply Series_ext. intro n. rewrite shift_set_other by congruence. reflexivity.
Qed.

Lemma payable_ensured mu x tau : payable mu -> payable (bind mu (ensured x tau)).
Proof.
  intros P y F HF. pose proof (base_01 b) as Hb. cbn [bind E].
  assert (BH : bounded (fun s => ensured x tau s F)) by now apply bounded_E1.
  destruct (Nat.eq_dec x y) as [->|D].
  - set (H := fun s => ensured y tau s F) in *. set (K := fun s => ensured y tau s (fun s => F (raise y s))).
    set (p := fun s : state => match s y with Some _ => 1 | None => 0 end).
    assert (BK : bounded K) by (apply (bounded_E1 (ensured y tau) (fun s => F (raise y s))); now apply bounded_after).
    assert (Bp : bounded p) by (apply bounded_test; intro s; unfold p; destruct (s y); lra).
    assert (Bn : bounded (fun s => 1 - p s)) by (apply bounded_test; intro s; unfold p; destruct (s y); lra).
    change (b * mu K <= mu H).
    rewrite (E_ext mu K (fun s => p s * K s + (1 - p s) * K s));
      [|assumption|apply bounded_plus; now apply bounded_mult|intro; ring].
    rewrite (E_ext mu H (fun s => p s * H s + (1 - p s) * H s));
      [|assumption|apply bounded_plus; now apply bounded_mult|intro; ring].
    rewrite !E_plus by now apply bounded_mult.
    assert (Some_part : b * mu (fun s => p s * K s) <= mu (fun s => p s * H s)).
    { assert (R := P y (fun s => p s * H s) (bounded_mult _ _ Bp BH)). cbv beta in R.
      rewrite (E_ext mu (fun s => p s * K s) (fun s => p (raise y s) * H (raise y s)));
        [exact R|now apply bounded_mult|apply (bounded_after (fun s => p s * H s)); now apply bounded_mult|].
      intro s. unfold p, K, H, ensured. rewrite shift_at. destruct (s y); simpl; ring. }
    assert (None_part : b * mu (fun s => (1 - p s) * K s) <= mu (fun s => (1 - p s) * H s)).
    { rewrite <- E_scal by (lra || now apply bounded_mult).
      apply E_mono; [apply bounded_scal; [lra|now apply bounded_mult]|now apply bounded_mult|].
      intro s. unfold p, K, H, ensured. destruct (s y) eqn:Ey; [simpl; lra|].
      cbn [bind E ret]. rewrite !Rminus_0_r, !Rmult_1_l.
      set (f := fun r => F (set s y (Some (tau + Z.of_nat r)%Z))).
      assert (Bf : bounded f) by (unfold f; now apply bounded_after with (f := F)).
      assert (Sh := geometric_shift b f Bf).
      replace (fun r => F (raise y (set s y (Some (tau + Z.of_nat r)%Z)))) with (fun n => f (S n)); [exact Sh|].
      apply functional_extensionality. intro r. unfold f. rewrite shift_set. cbn [option_map].
      do 3 f_equal. lia. }
    lra.
  - rewrite (E_ext mu _ (fun s => (fun s => ensured x tau s F) (raise y s))).
    + exact (P y _ BH).
    + apply (bounded_E1 (ensured x tau) (fun s => F (raise y s))). now apply bounded_after.
    + now apply (bounded_after (fun s => ensured x tau s F)).
    + intro s. now apply ensured_raise_other.
Qed.

Definition after_dec (mu : law state) x := bind mu (fun s => ret (dec x s)).
Lemma payable_dec mu x : payable mu -> payable (after_dec mu x).
Proof.
  intros P y F HF. unfold after_dec. cbn [bind ret E].
  rewrite (E_ext mu _ (fun s => (fun s => F (dec x s)) (raise y s))).
  - apply (P y (fun s => F (dec x s))). now apply bounded_after.
  - now apply (bounded_after F).
  - now apply (bounded_after F).
  - intro s. now rewrite shift_swap.
Qed.

Definition after_no (mu : law state) x := part mu (fun s => 1 - hit x s) (miss_01 x).
Lemma payable_no mu x : payable mu -> payable (after_no mu x).
Proof.
  intros P y F HF. unfold after_no. cbn [bind part ret E]. pose proof (base_01 b) as Hb.
  assert (Bm : bounded (fun s => 1 - hit x s)) by (apply bounded_test; apply miss_01).
  apply Rle_trans with (b * mu (fun s => (1 - hit x (raise y s)) * F (raise y s))).
  - apply Rmult_le_compat_l; [lra|]. apply E_mono.
    + apply bounded_mult; [assumption|now apply bounded_after].
    + apply (bounded_after (fun s => (1 - hit x s) * F s)). now apply bounded_mult.
    + intro s. pose proof (hit_raise x y s). pose proof (bounded_pos F (raise y s) HF). nra.
  - apply (P y (fun s => (1 - hit x s) * F s)). now apply bounded_mult.
Qed.

Definition after_drop (mu : law state) x := bind mu (fun s => ret (set s x None)).
Lemma payable_drop mu x : payable mu -> payable (after_drop mu x).
Proof.
  intros P y F HF. unfold after_drop. cbn [bind ret E]. pose proof (base_01 b) as Hb.
  assert (BF : bounded (fun s => F (set s x None))) by now apply bounded_after.
  destruct (Nat.eq_dec y x) as [->|D].
  - rewrite (E_ext mu _ (fun s => F (set s x None))); [|now apply (bounded_after F)|assumption|].
    + pose proof (E_pos mu (fun s => F (set s x None)) BF). cbv beta in *. nra.
    + intro s. now rewrite (shift_none 1 x (set s x None)) by apply set_same.
  - rewrite (E_ext mu _ (fun s => (fun s => F (set s x None)) (raise y s))).
    + apply (P y (fun s => F (set s x None))). exact BF.
    + now apply (bounded_after F).
    + now apply (bounded_after (fun s => F (set s x None))).
    + intro s. cbv beta. now rewrite shift_set_other by assumption.
Qed.

Definition after_yes (mu : law state) x := bind (part mu (hit x) (hit_01 x)) (fun s => ret (set s x None)).
Lemma payable_yes mu x : payable mu -> payable (after_yes mu x).
Proof.
  intros P y F HF. unfold after_yes. cbn [bind part ret E]. pose proof (base_01 b) as Hb.
  assert (Bh : bounded (hit x)) by (apply bounded_test; apply hit_01).
  assert (BF : bounded (fun s => F (set s x None))) by now apply bounded_after.
  destruct (Nat.eq_dec y x) as [->|D].
  - rewrite (E_ext mu _ (fun s => hit x s * F (set s x None))).
    + pose proof (E_pos mu (fun s => hit x s * F (set s x None)) (bounded_mult _ _ Bh BF)). nra.
    + apply bounded_mult; [assumption|now apply (bounded_after F)].
    + now apply bounded_mult.
    + intro s. now rewrite (shift_none 1 x (set s x None)) by apply set_same.
  - rewrite (E_ext mu _ (fun s => (fun s => hit x s * F (set s x None)) (raise y s))).
    + apply (P y (fun s => hit x s * F (set s x None))). now apply bounded_mult.
    + apply bounded_mult; [assumption|now apply (bounded_after F)].
    + apply (bounded_after (fun s => hit x s * F (set s x None))). now apply bounded_mult.
    + intro s. cbv beta. rewrite shift_set_other by assumption. unfold hit.
      now rewrite shift_other by congruence.
Qed.
End Payments.
