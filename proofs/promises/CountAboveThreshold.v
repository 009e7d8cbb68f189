(** privacy/mechanisms/count_above_threshold.py: one counter, key 0, with noise of one rate. *)
From Coq Require Import ZArith Reals Lra Lia List FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours.
Import ListNotations.
Open Scope R_scope.

Section AboveThreshold.
Variable (tau : Z).
(** [again]: after a yes, start a new instance, with new noise, on the rounds that follow. *)
Variable (again : bool).
Variable adv : adversary bool bool.   (* examples: bits; answers: yes or no *)

Definition counted (bit : bool) (t : tree (list bool)) : tree (list bool) :=
  count (if bit then Some (0%nat, tau) else None) t.     (* (L2); its noise is there already *)

Fixpoint observe (world : bool) (rounds : nat) (used : bool) (view : list bool) : tree (list bool) :=
  match rounds with
  | O => Done view
  | S rounds =>
      let (bit, used) := received adv world used view in
      counted bit (Toss 0%nat (fun above =>              (* (L3, L4) *)
        if above then
          if again then Ensure 0%nat tau (observe world rounds used (true :: view))
          else Done (true :: view)                       (* (L5) *)
        else observe world rounds used (false :: view)))
  end.
Definition start world rounds : tree (list bool) := Ensure 0%nat tau (observe world rounds false []).  (* (L1) *)

Lemma used_up world world' rounds view : observe world rounds true view = observe world' rounds true view.
Proof.
  revert view. induction rounds as [|rounds IH]; intro view; [reflexivity|]. cbn [observe received].
  f_equal. f_equal. apply functional_extensionality. intros [|]; [|apply IH].
  destruct again; [|reflexivity]. f_equal. apply IH.
Qed.

Definition there : key -> bool := set (fun _ => false) 0%nat true.

Lemma observe_neighbours (a b : rate) c world rounds : c <= a -> c <= b -> forall view,
  neighbours a b c 1 1 eq eq eq tau 0 there (observe world rounds false view) (observe (negb world) rounds false view).
Proof.
  intros Ca Cb. pose proof (base_01 a). pose proof (base_01 b).
  assert (Toss_again : forall (L : key -> bool) (k0 k1 : list bool -> tree (list bool)) view, L = there ->
    (forall view, neighbours a b c 1 1 eq eq eq tau 0 there (k0 view) (k1 view)) ->
    neighbours a b c 1 1 eq eq eq tau 0 L
      (Toss 0%nat (fun above => if above then if again then Ensure 0%nat tau (k0 (true :: view)) else Done (true :: view) else k0 (false :: view)))
      (Toss 0%nat (fun above => if above then if again then Ensure 0%nat tau (k1 (true :: view)) else Done (true :: view) else k1 (false :: view)))).
  { intros L k0 k1 view -> K. apply TossBoth; [|apply K]. destruct again; [|apply Same].
    apply EnsureBoth. replace (set (set there 0%nat false) 0%nat true) with there; [apply K|].
    unfold there. now rewrite !set_set. }
  induction rounds as [|rounds IH]; intro view; [apply Same|]. cbn [observe received].
  destruct (challenge adv view) as [[z0 z1]|].
  - set (t w := Toss 0%nat (fun above => if above then if again then Ensure 0%nat tau (observe w rounds true (true :: view)) else Done (true :: view) else observe w rounds true (false :: view))).
    change (neighbours a b c 1 1 eq eq eq tau 0 there (counted (if world then z1 else z0) (t world)) (counted (if negb world then z1 else z0) (t (negb world)))).
    replace (t (negb world)) with (t world).
    + destruct (if world then z1 else z0), (if negb world then z1 else z0); try apply Same; unfold counted;
        (apply Challenged; [unfold price; lra|simpl; exact I|simpl; try exact I; now left|simpl; try exact I; now left]).
    + unfold t. f_equal. apply functional_extensionality. intros [|]; [destruct again; [f_equal|reflexivity]|]; apply used_up.
  - unfold counted. destruct (example adv view); unfold count.
    + apply EnsureBoth, DecBoth.
      apply (Toss_again (set there 0%nat true) (observe world rounds false) (observe (negb world) rounds false) view); [|exact IH].
      unfold there. apply set_set.
    + apply (Toss_again there (observe world rounds false) (observe (negb world) rounds false) view); [reflexivity|exact IH].
Qed.
End AboveThreshold.

Definition no_counters : state := fun _ => None.

(** A rate of noise as the number q = e^-epsilon. *)
Lemma exp_01 epsilon : 0 < epsilon -> 0 < exp (- epsilon) < 1.
Proof. intro H. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra. Qed.
Definition at_rate (epsilon : R) (H : 0 < epsilon) : rate := Rate (exp (- epsilon)) (exp_01 epsilon H).

Definition count_above_threshold epsilon (H : 0 < epsilon) tau again adv rounds (world : bool) : law (list bool) :=
  run (at_rate epsilon H) (at_rate epsilon H) (start tau again adv world rounds) no_counters.

(** All answers, the view "no yes so far" among them, against every adaptive adversary, however many
    rounds; with [again] also all instances on disjoint rounds together. *)
(** The promise of privacy/mechanisms/count_above_threshold.py, CountAboveThreshold:

    Privacy:
        Releases:   the answer of every round, up to and including the first yes
        Neighbours: bit streams that differ in one round
        Adversary:  adaptive; chooses each bit after seeing the earlier answers
        Guarantee:  (epsilon, 0), however many rounds are played
        Assumes:    honest-caller: a bit depends on the example of its own round and on public
                    values only; timing (docs/GUARANTEES.md): a round whose bit is 1 takes longer
                    unless the run comes from ``start_plain``
        Proof:      count_above_threshold.md
        Checked:    proofs/promises/CountAboveThreshold.v, theorem count_above_threshold_private *)
Theorem count_above_threshold_private : forall epsilon (H : 0 < epsilon) tau again adv rounds,
  private epsilon 0 (count_above_threshold epsilon H tau again adv rounds).
Proof.
  intros epsilon H tau again adv rounds world f Hf. unfold count_above_threshold, start.
  set (q := at_rate epsilon H). pose proof (base_01 q) as Hq.
  assert (N : neighbours q q q 1 1 eq eq eq tau 0 (fun _ => false)
    (Ensure 0%nat tau (observe tau again adv world rounds false []))
    (Ensure 0%nat tau (observe tau again adv (negb world) rounds false []))).
  { apply EnsureBoth. apply observe_neighbours; lra. }
  assert (T := views_private q q q tau 0 f ltac:(lra) Hf _ _ _ N (ret no_counters)
    (payable_at_start q no_counters ltac:(reflexivity)) (present_at_start no_counters)).
  cbn [ret E INR] in T. rewrite Rmult_0_l, Rmult_0_r, Rmult_0_l, Rplus_0_r in T. rewrite Rplus_0_r.
  apply (Rmult_le_reg_l q); [lra|]. rewrite <- Rmult_assoc.
  replace (q * exp epsilon) with 1; [rewrite Rmult_1_l; exact T|].
  simpl. rewrite <- exp_plus. replace (- epsilon + epsilon) with 0 by ring. now rewrite exp_0.
Qed.
(* main: count_above_threshold_private *)
