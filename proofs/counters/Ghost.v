(** A counter that only one of two worlds has: where delta comes from. *)
From Coq Require Import ZArith Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Machine.
Open Scope R_scope.

Section Counter.
Variables (a b : rate).
Notation G := (G a).
Notation hit := (hit a).
Notation hit_01 := (hit_01 a).
Notation G_01 := (G_01 a).
Notation run_test := (run_test a b).
Notation ensured := (ensured b).
Notation run := (run a b).

(** The probability that a counter without any count fires in a given round. *)
Definition stray (tau : Z) : R := geometric b (fun r => G (tau + Z.of_nat r)).
Lemma stray_01 tau : 0 <= stray tau <= 1.
Proof. apply E_test. intro. apply G_01. Qed.
Lemma stray_closed tau : (0 <= tau)%Z -> stray tau = a ^ Z.to_nat tau * ((1 - b) / (1 - a * b)).
Proof.
  intro H. unfold stray. rewrite <- geometric_power, <- E_scal.
  - f_equal. apply functional_extensionality. intro r. unfold G.
    rewrite Z2Nat.inj_add, Nat2Z.id by lia. apply pow_add.
  - pose proof (pow_01 a (Z.to_nat tau)). lra.
  - apply bounded_test. intro r. pose proof (pow_01 a r). lra.
Qed.

(** As long as x has not fired, t gives it noise by the threshold tau only, counts for it only after
    that, and tosses it at most n times before. *)
Fixpoint unseen {V} (x : key) (tau : Z) (n : nat) (t : tree V) : Prop :=
  match t with
  | Done _ => True
  | Ensure y tau' t => if Nat.eqb y x then tau' = tau else unseen x tau n t
  | Dec y t | Drop y t => y <> x /\ unseen x tau n t
  | Toss y k =>
      if Nat.eqb y x then match n with O => False | S n => unseen x tau n (k false) end
      else forall answer, unseen x tau n (k answer)
  end.

Lemma unseen_more {V} x tau (t : tree V) : forall n m, (n <= m)%nat -> unseen x tau n t -> unseen x tau m t.
Proof.
  induction t as [v|y tau' t IH|y t IH|y t IH|y k IH]; intros n m L; simpl; auto.
  - destruct (Nat.eqb y x); auto. now apply IH.
  - intros [H U]. split; [exact H|]. now apply (IH n).
  - intros [H U]. split; [exact H|]. now apply (IH n).
  - destruct (Nat.eqb y x).
    + destruct n; [tauto|]. destruct m; [lia|]. apply IH. lia.
    + intros U answer. now apply (IH answer n).
Qed.

Section Ghost.
Context {V : Type} (x : key) (tau : Z) (f : V -> R).
Hypothesis Hf : forall v, 0 <= f v <= 1.
(** The run with noise at count 0, on the part in which it has not fired: h r is the probability of
    that if the threshold noise is r. *)
Let given (s : state) (r : nat) := set s x (Some (tau + Z.of_nat r)%Z).
Let ghost (h : nat -> R) (t : tree V) (s : state) := geometric b (fun r => h r * run t (given s r) f).

Lemma ghost_bounded h t s : (forall r, 0 <= h r <= 1) -> forall r, 0 <= h r * run t (given s r) f <= 1.
Proof. intros Hh r. specialize (Hh r). pose proof (run_test t f (given s r) Hf). nra. Qed.

Lemma ghost_ensure h t y tau' s : (forall r, 0 <= h r <= 1) -> y <> x ->
  ghost h (Ensure y tau' t) s = ensured y tau' s (ghost h t).
Proof.
  intros Hh D. transitivity (match s y with
    | Some _ => geometric b (fun r => h r * run t (given s r) f)
    | None => geometric b (fun r => geometric b (fun r' => h r * run t (given (set s y (Some (tau' + Z.of_nat r')%Z)) r) f))
    end).
  - unfold ghost. destruct (s y) eqn:Ey; f_equal; apply functional_extensionality; intro r; cbn [run bind E];
      unfold ensured, given; rewrite (set_other s x y _ D), Ey; cbn [bind ret E]; [reflexivity|].
    rewrite E_scal; [|apply Hh|apply bounded_test; intro; now apply run_test].
    f_equal. f_equal. apply functional_extensionality. intro r'. now rewrite set_swap by congruence.
  - unfold ensured. destruct (s y); cbn [bind ret E]; [reflexivity|]. unfold ghost.
    apply (geometric_swap b (geometric b)
      (fun r' r => h r * run t (given (set s y (Some (tau' + Z.of_nat r')%Z)) r) f) 1); [lra|].
    intros r' r. now apply ghost_bounded.
Qed.

Lemma ghost_toss h k y s : (forall r, 0 <= h r <= 1) -> y <> x ->
  ghost h (Toss y k) s = hit y s * ghost h (k true) (set s y None) + (1 - hit y s) * ghost h (k false) s.
Proof.
  intros Hh D. unfold ghost. pose proof (hit_01 y s).
  rewrite <- !E_scal by (lra || (apply bounded_test; now apply ghost_bounded)).
  rewrite <- E_plus by (apply bounded_scal; [lra|]; apply bounded_test; now apply ghost_bounded).
  f_equal. apply functional_extensionality. intro r. cbn [run mix E]. unfold given at 1 2 3.
  assert (Eh : hit y (set s x (Some (tau + Z.of_nat r)%Z)) = hit y s) by (unfold hit; now rewrite set_other).
  rewrite Eh, (set_swap s x y) by congruence. unfold given. ring.
Qed.

Lemma ghost_dec h t y s : y <> x -> ghost h (Dec y t) s = ghost h t (dec y s).
Proof.
  intro D. unfold ghost. f_equal. apply functional_extensionality. intro r. cbn [run]. unfold given.
  now rewrite shift_set_other by congruence.
Qed.

Lemma ghost_drop h t y s : y <> x -> ghost h (Drop y t) s = ghost h t (set s y None).
Proof.
  intro D. unfold ghost. f_equal. apply functional_extensionality. intro r. cbn [run]. unfold given.
  now rewrite set_swap by congruence.
Qed.

Lemma ghost_own h k s : (forall r, 0 <= h r <= 1) ->
  ghost (fun r => h r * (1 - G (tau + Z.of_nat r))) (k false) s <= ghost h (Toss x k) s
  <= stray tau + ghost (fun r => h r * (1 - G (tau + Z.of_nat r))) (k false) s.
Proof.
  intro Hh. unfold ghost, stray.
  assert (Hh' : forall r, 0 <= h r * (1 - G (tau + Z.of_nat r)) <= 1).
  { intro r. specialize (Hh r). pose proof (G_01 (tau + Z.of_nat r)). nra. }
  assert (Eq : forall r, run (Toss x k) (given s r) f =
    G (tau + Z.of_nat r) * run (k true) (set s x None) f + (1 - G (tau + Z.of_nat r)) * run (k false) (given s r) f).
  { intro r. cbn [run mix E]. unfold given at 1 2 3. unfold hit. now rewrite set_same, set_set. }
  assert (B1 : bounded (fun r => G (tau + Z.of_nat r))) by (apply bounded_test; intro; apply G_01).
  split.
  - apply E_mono; try (apply bounded_test; now apply ghost_bounded).
    intro r. rewrite Eq. specialize (Hh r). pose proof (G_01 (tau + Z.of_nat r)).
    pose proof (run_test (k true) f (set s x None) Hf).
    assert (0 <= h r * (G (tau + Z.of_nat r) * run (k true) (set s x None) f)) by (repeat apply Rmult_le_pos; lra). nra.
  - rewrite <- E_plus by (assumption || (apply bounded_test; now apply ghost_bounded)).
    apply E_mono; [apply bounded_test; now apply ghost_bounded|apply bounded_plus; [assumption|apply bounded_test; now apply ghost_bounded]|].
    intro r. rewrite Eq. specialize (Hh r). pose proof (G_01 (tau + Z.of_nat r)).
    pose proof (run_test (k true) f (set s x None) Hf).
    assert (0 <= h r * run (k true) (set s x None) f <= 1) by nra.
    assert (G (tau + Z.of_nat r) * (h r * run (k true) (set s x None) f) <= G (tau + Z.of_nat r) * 1) by (apply Rmult_le_compat_l; lra).
    nra.
Qed.

Lemma ghost_close (t : tree V) : forall n h s, (forall r, 0 <= h r <= 1) -> s x = None -> unseen x tau n t ->
  ghost h t s <= run t s f + INR n * stray tau /\
  run t s f <= ghost h t s + INR n * stray tau + geometric b (fun r => 1 - h r).
Proof.
  assert (Hr : forall h : nat -> R, (forall r, 0 <= h r <= 1) -> 0 <= geometric b (fun r => 1 - h r) <= 1).
  { intros h Hh. apply E_test. intro r. specialize (Hh r). lra. }
  pose proof (stray_01 tau) as Hd.
  induction t as [v|y tau' t IH|y t IH|y t IH|y k IH]; intros n h s Hh Hs U.
  - (* Done *)
    assert (Split : geometric b (fun r => h r) + geometric b (fun r => 1 - h r) = 1).
    { rewrite <- E_plus; try (apply bounded_test; intro r; specialize (Hh r); lra).
      transitivity (geometric b (fun _ => 1)); [|apply geometric_one].
      f_equal. apply functional_extensionality. intro; ring. }
    assert (Gh : ghost h (Done v) s = f v * geometric b (fun r => h r)).
    { unfold ghost. simpl run. cbn [E ret]. rewrite <- E_scal; [|apply Hf|apply bounded_test; exact Hh].
      f_equal. apply functional_extensionality. intro; ring. }
    rewrite Gh. cbn [run ret E]. specialize (Hf v). specialize (Hr h Hh).
    assert (0 <= geometric b (fun r => h r) <= 1) by (apply E_test; exact Hh).
    pose proof (pos_INR n). assert (0 <= INR n * stray tau) by nra. split; nra.
  - (* Ensure *)
    cbn [unseen] in U. destruct (Nat.eqb_spec y x) as [->|D].
    + subst tau'. assert (R1 : run (Ensure x tau t) s f = geometric b (fun r => run t (given s r) f)).
      { cbn [run bind E]. unfold ensured. rewrite Hs. reflexivity. }
      assert (R2 : ghost h (Ensure x tau t) s = ghost h t s).
      { unfold ghost. f_equal. apply functional_extensionality. intro r. cbn [run bind E]. unfold ensured.
        unfold given. rewrite set_same. reflexivity. }
      rewrite R1, R2. pose proof (pos_INR n). assert (0 <= INR n * stray tau) by nra.
      assert (Bt : bounded (fun r => run t (given s r) f)) by (apply bounded_test; intro; now apply run_test).
      assert (Bh : bounded (fun r => 1 - h r)) by (apply bounded_test; intro r; specialize (Hh r); lra).
      split.
      * apply Rle_trans with (geometric b (fun r => run t (given s r) f)); [|lra].
        apply E_mono; [apply bounded_test; now apply ghost_bounded|exact Bt|].
        intro r. specialize (Hh r). pose proof (run_test t f (given s r) Hf). nra.
      * apply Rle_trans with (ghost h t s + geometric b (fun r => 1 - h r)); [|lra].
        unfold ghost. rewrite <- E_plus by (assumption || (apply bounded_test; now apply ghost_bounded)).
        apply E_mono; [exact Bt|apply bounded_plus; [apply bounded_test; now apply ghost_bounded|exact Bh]|].
        intro r. specialize (Hh r). pose proof (run_test t f (given s r) Hf). nra.
    + rewrite ghost_ensure by assumption. cbn [run bind E]. unfold ensured.
      destruct (s y) eqn:Ey; [now apply IH|]. cbn [bind E ret].
      set (s' := fun r => set s y (Some (tau' + Z.of_nat r)%Z)).
      assert (I : forall r, ghost h t (s' r) <= run t (s' r) f + INR n * stray tau /\
         run t (s' r) f <= ghost h t (s' r) + INR n * stray tau + geometric b (fun r => 1 - h r)).
      { intro r. apply IH; try assumption. unfold s'. now rewrite set_other by congruence. }
      pose proof (pos_INR n). assert (0 <= INR n * stray tau) by nra.
      assert (Br : bounded (fun r => run t (s' r) f)) by (apply bounded_test; intro; now apply run_test).
      assert (Bg : bounded (fun r => ghost h t (s' r))).
      { apply bounded_test. intro r. unfold ghost. apply E_test. now apply ghost_bounded. }
      specialize (Hr h Hh).
      split.
      * rewrite <- (geometric_const b (INR n * stray tau)) by assumption.
        rewrite <- E_plus by (assumption || now apply bounded_const).
        apply E_mono; [assumption|apply bounded_plus; [assumption|now apply bounded_const]|]. intro r. apply I.
      * rewrite <- (geometric_const b (INR n * stray tau)) by assumption.
        rewrite <- (geometric_const b (geometric b (fun r => 1 - h r))) by lra.
        rewrite <- !E_plus; try assumption; try (apply bounded_const; lra); try (apply bounded_plus; [assumption|apply bounded_const; lra]).
        apply E_mono; [assumption|repeat apply bounded_plus; try assumption; apply bounded_const; lra|]. intro r. apply I.
  - (* Dec *)
    destruct U as [D U]. rewrite ghost_dec by assumption. cbn [run]. apply IH; try assumption.
    now rewrite shift_other by congruence.
  - (* Drop *)
    destruct U as [D U]. rewrite ghost_drop by assumption. cbn [run]. apply IH; try assumption.
    now rewrite set_other by congruence.
  - (* Toss *)
    cbn [unseen] in U. destruct (Nat.eqb_spec y x) as [->|D].
    + destruct n as [|n]; [contradiction|].
      set (h' := fun r => h r * (1 - G (tau + Z.of_nat r))).
      assert (Hh' : forall r, 0 <= h' r <= 1).
      { intro r. unfold h'. specialize (Hh r). pose proof (G_01 (tau + Z.of_nat r)). nra. }
      assert (Rs : run (Toss x k) s f = run (k false) s f).
      { cbn [run mix E]. unfold hit. rewrite Hs. ring. }
      rewrite Rs. destruct (IH false n h' s Hh' Hs U) as [I1 I2].
      destruct (ghost_own h k s Hh) as [O1 O2]. fold h' in O1, O2. rewrite S_INR.
      assert (L : geometric b (fun r => 1 - h' r) <= geometric b (fun r => 1 - h r) + stray tau).
      { unfold stray. rewrite <- E_plus; try (apply bounded_test; intro r; (apply G_01 || (specialize (Hh r); lra))).
        apply E_mono; [apply bounded_test; intro r; specialize (Hh' r); lra| |].
        - apply bounded_plus; apply bounded_test; intro r; (apply G_01 || (specialize (Hh r); lra)).
        - intro r. unfold h'. specialize (Hh r). pose proof (G_01 (tau + Z.of_nat r)). nra. }
      split; lra.
    + rewrite ghost_toss by assumption. cbn [run mix E].
      destruct (IH true n h (set s y None) Hh) as [T1 T2]; [now rewrite set_other by congruence|apply U|].
      destruct (IH false n h s Hh Hs (U false)) as [F1 F2]. pose proof (hit_01 y s). split; nra.
Qed.
End Ghost.

(** Noise at count 0, or none until the first count: that makes a difference of n * stray at most. *)
Theorem noise_at_zero {V} (t : tree V) f x tau n s : (forall v, 0 <= f v <= 1) -> unseen x tau n t ->
  Rabs (run (Ensure x tau t) s f - run t s f) <= INR n * stray tau.
Proof.
  intros Hf U. pose proof (stray_01 tau). pose proof (pos_INR n).
  cbn [run bind E]. unfold ensured. destruct (s x) eqn:Ex.
  - cbn [ret E]. rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0. nra.
  - cbn [bind ret E].
    destruct (ghost_close x tau f Hf t n (fun _ => 1) s) as [H1 H2]; [intro; lra|assumption|assumption|].
    replace (fun r => 1 * run t (set s x (Some (tau + Z.of_nat r)%Z)) f) with
      (fun r => run t (set s x (Some (tau + Z.of_nat r)%Z)) f) in * by (apply functional_extensionality; intro; ring).
    replace (fun _ : nat => 1 - 1) with (fun _ : nat => 0) in H2 by (apply functional_extensionality; intro; ring).
    rewrite E_zero in H2. apply Rabs_le. lra.
Qed.
End Counter.
