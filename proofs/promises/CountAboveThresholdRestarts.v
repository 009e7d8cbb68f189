(** F3 applied: copies of CountAboveThreshold, each stopped at a public time that its own answers decide (a yes, a
    number of rounds, ...) and followed by a fresh one; one epsilon for all of them together. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Restarts CountAboveThreshold.
Import ListNotations.
Open Scope R_scope.

Section Copies.
Variables (q : rate) (tau : Z).
Variable stops : list bool -> bool.        (* of the answers of this copy, the latest first *)
Variable adv : adversary bool bool.
Notation view := (list bool).

Definition fresh : law state := ensured q 0%nat tau no_counters.                                  (* (L1) *)
Definition counted (bit : bool) (s : state) : state := if bit then dec 0%nat s else s.            (* (L2) *)
Definition answer (bit : bool) (s : state) : law (bool * state) :=                                (* (L3, L4) *)
  mix (hit q 0%nat (counted bit s)) (hit_01 q 0%nat (counted bit s))
    (ret (true, set (counted bit s) 0%nat None)) (ret (false, counted bit s)).

(** ** Every prefix leaves a law of gaps that can be paid *)

Lemma payable_same (mu nu : law state) : (forall F, bounded F -> mu F = nu F) -> payable q nu -> payable q mu.
Proof.
  intros H P x F HF. rewrite (H F HF), H by now apply (bounded_after F). now apply P.
Qed.
Definition counted_law (mu : law state) (bit : bool) : law state := if bit then after_dec mu 0%nat else mu.
Lemma after_is (mu : law state) bit y F : after answer mu bit y F
  = (if y then after_yes q (counted_law mu bit) 0%nat else after_no q (counted_law mu bit) 0%nat) F.
Proof.
  unfold after, answer, said. destruct y, bit; unfold counted_law, counted, after_yes, after_no, after_dec;
    cbn [bind part ret mix E fst snd eqb]; f_equal; apply functional_extensionality; intro s; ring.
Qed.
Lemma reached_payable own mu : reached fresh answer own mu -> payable q mu.
Proof.
  induction 1 as [|own mu bit y _ IH].
  - apply (payable_same _ (bind (ret no_counters) (ensured q 0%nat tau))); [reflexivity|].
    now apply payable_ensured, payable_at_start.
  - apply (payable_same _ (if y then after_yes q (counted_law mu bit) 0%nat else after_no q (counted_law mu bit) 0%nat));
      [intros; apply after_is|].
    assert (P : payable q (counted_law mu bit)) by (destruct bit; [now apply payable_dec|exact IH]).
    destruct y; [now apply payable_yes|now apply payable_no].
Qed.

(** ** What follows the challenge, as a tree of the counter's instructions *)

Definition leaf : Type := view + (nat * view).   (* the end of the game, or of this copy *)
Definition dec_if (bit : bool) (t : tree leaf) : tree leaf := if bit then Dec 0%nat t else t.
Definition toss (rest : view -> view -> tree leaf) (rounds : nat) (published own : view) : tree leaf :=
  Toss 0%nat (fun y => if stops (y :: own) then Done (inr (rounds, y :: published)) else rest (y :: published) (y :: own)).
Fixpoint copy (rounds : nat) (published own : view) : tree leaf :=
  match rounds with
  | O => Done (inl published)
  | S rounds => dec_if (example adv published) (toss (copy rounds) rounds published own)
  end.
Definition shown (next : nat -> bool -> view -> law view) (f : view -> R) (l : leaf) : R :=
  match l with inl v => f v | inr (rounds, v) => next rounds true v f end.

Lemma run_dec_if bit t s g : run q q (dec_if bit t) s g = run q q t (counted bit s) g.
Proof. destruct bit; reflexivity. Qed.
Lemma one_copy_is next f : forall rounds published own s,
  one_copy answer stops adv next false rounds true published own s f = run q q (copy rounds published own) s (shown next f).
Proof.
  induction rounds as [|rounds IH]; intros published own s; [reflexivity|]. cbn [one_copy received copy].
  rewrite run_dec_if. unfold toss, answer. cbn [bind mix ret run E].
  destruct (stops (true :: own)), (stops (false :: own)); cbn [run ret E shown]; rewrite ?IH; reflexivity.
Qed.
Lemma goes_on_is next bit rounds published own s f : goes_on answer stops adv next bit rounds published own s f
  = run q q (toss (copy rounds) rounds published own) (counted bit s) (shown next f).
Proof.
  unfold goes_on, toss, answer. cbn [bind mix ret run E].
  destruct (stops (true :: own)), (stops (false :: own)); cbn [run ret E shown]; rewrite ?one_copy_is; reflexivity.
Qed.
End Copies.

Lemma copies_prefix_private epsilon (H : 0 < epsilon) tau stops adv :
  prefix_private (fresh (at_rate epsilon H) tau) (answer (at_rate epsilon H)) stops adv epsilon 0.
Proof.
  intros next z0 z1 rounds published own mu f Re Hf. set (q := at_rate epsilon H) in *. pose proof (base_01 q) as Hq.
  assert (One : exp epsilon * q = 1) by (unfold q; simpl; apply exp_opp).
  set (t := toss stops (copy stops adv rounds) rounds published own). set (g := shown next f).
  assert (Bg : bounded g) by (apply bounded_test; intros [v|[r v]]; [apply Hf|now apply E_test]).
  assert (Is : forall z, mu (fun s => goes_on (answer q) stops adv next z rounds published own s f)
    = mu (fun s => run q q t (counted z s) g)) by (intro z; f_equal; apply functional_extensionality; intro s; apply goes_on_is).
  rewrite !Is, Rmult_0_l, Rplus_0_r. assert (P := reached_payable q tau own mu Re).
  assert (Bt : bounded (fun s => run q q t s g)) by now apply run_bounded.
  assert (Bc : forall z, bounded (fun s => run q q t (counted z s) g)) by (intro z; now apply (bounded_after (fun s => run q q t s g))).
  assert (Enough : forall x y, q * x <= y -> x <= exp epsilon * y).
  { intros x y L. apply Rmult_le_compat_l with (r := exp epsilon) in L; [|left; apply exp_pos].
    rewrite <- Rmult_assoc, One, Rmult_1_l in L. exact L. }
  assert (Same : forall z, mu (fun s => run q q t (counted z s) g) <= exp epsilon * mu (fun s => run q q t (counted z s) g)).
  { intro z. apply Enough. pose proof (E_pos mu _ (Bc z)). nra. }
  destruct z0, z1; try apply Same; apply Enough.
  - rewrite <- E_scal by (lra || apply Bc). apply E_mono; [apply bounded_scal; [lra|apply Bc]|apply Bc|].
    intro s. cbn [counted]. rewrite <- (raise_dec 0%nat s) at 2. now apply raise_costs_alpha.
  - assert (R := P 0%nat (fun s => run q q t (dec 0%nat s) g) (Bc true)). cbv beta in R.
    rewrite (E_ext mu _ (fun s => run q q t s g)) in R; [exact R| |exact Bt|intro s; now rewrite dec_raise].
    apply (bounded_after (fun s => run q q t (dec 0%nat s) g)), (Bc true).
Qed.

Theorem restarted_count_above_threshold_private epsilon (H : 0 < epsilon) tau stops adv copies rounds : private epsilon 0
  (fun world => all_copies (fresh (at_rate epsilon H) tau) (answer (at_rate epsilon H)) stops adv world copies rounds false []).
Proof. apply F3_restarts; [lra|lra|apply copies_prefix_private]. Qed.
(* main: restarted_count_above_threshold_private *)
