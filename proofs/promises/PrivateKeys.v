(** learners/private_keys: every frequent key is listed, listed keys are unlisted on complaints. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours CountAboveThreshold.
Import ListNotations.
Open Scope R_scope.

Definition keys := key -> bool.            (* a set of keys *)
Definition view := list keys.              (* what was published, the latest first *)

Section Algorithm.
Variables (reports complaints : Z).        (* the thresholds tau and tau' *)
Variable universe : list key.              (* all keys that may come up in the game, however many *)
Variable adv : adversary (key * bool) keys.

(** A mistake counts for its key: a report if it is not listed, a complaint if it is. *)
Definition counts_for (A : keys) (z : key * bool) : option (key * Z) :=
  let (x, y) := z in
  if Bool.eqb (A x) y then None else Some (x, if A x then complaints else reports).

(** (L4) Every counter that there is gets fresh query noise; [due] are the keys that fire. *)
Fixpoint toss_all (xs : list key) (due : keys) (k : keys -> tree view) : tree view :=
  match xs with
  | [] => k due
  | x :: xs => Toss x (fun fires => toss_all xs (set due x fires) k)
  end.
(** (L6) Threshold noise for the complaints against newly listed keys. *)
Fixpoint ensure_all (xs : list key) (fresh : keys) (t : tree view) : tree view :=
  match xs with
  | [] => t
  | x :: xs => if fresh x then Ensure x complaints (ensure_all xs fresh t) else ensure_all xs fresh t
  end.

Fixpoint learn (world : bool) (rounds : nat) (used : bool) (published : view) (A : keys) : tree view :=
  match rounds with
  | O => Done published
  | S rounds =>
      let (z, used) := received adv world used published in
      count (counts_for A z)                               (* (L2, L3) *)
        (toss_all universe (fun _ => false) (fun due =>
          let A' := fun x => xorb (A x) (due x) in         (* (L5) *)
          ensure_all universe (fun x => A' x && due x) (learn world rounds used (A' :: published) A')))
  end.

(** ** After the challenge both worlds play the same tree *)

Lemma toss_all_ext xs : forall due k k', (forall due, k due = k' due) -> toss_all xs due k = toss_all xs due k'.
Proof.
  induction xs as [|x xs IH]; intros due k k' H; [apply H|]. simpl. f_equal.
  apply functional_extensionality. intro fires. now apply IH.
Qed.
Lemma used_up world world' rounds : forall published A,
  learn world rounds true published A = learn world' rounds true published A.
Proof.
  induction rounds as [|rounds IH]; intros published A; [reflexivity|]. cbn [learn received]. f_equal.
  apply toss_all_ext. intro due. f_equal. apply IH.
Qed.

(** ** A key that is not listed is unseen until its first report *)

Section Unseen.
Variable x : key.
Lemma unseen_toss_all xs : NoDup xs -> forall due k n, due x = false ->
  (forall due, due x = false -> unseen x reports n (k due)) ->
  unseen x reports (S n) (toss_all xs due k) /\ (~ In x xs -> unseen x reports n (toss_all xs due k)).
Proof.
  induction 1 as [|y xs Hy ND IH]; intros due k n Hd K; simpl.
  - split; [apply (unseen_more x reports _ n); [lia|now apply K]|intros _; now apply K].
  - destruct (Nat.eqb_spec y x) as [->|D].
    + split; [|tauto]. destruct (IH (set due x false) k n (set_same _ _ _) K) as [_ I]. now apply I.
    + split.
      * intro answer. destruct (IH (set due y answer) k n) as [I _]; [now rewrite set_other by congruence|exact K|exact I].
      * intros Nx answer. apply IH; [now rewrite set_other by congruence|exact K|tauto].
Qed.
Lemma unseen_ensure_all xs fresh t n : fresh x = false -> unseen x reports n t -> unseen x reports n (ensure_all xs fresh t).
Proof.
  intros F U. induction xs as [|y xs IH]; simpl; [exact U|]. destruct (fresh y) eqn:Fy; [|exact IH].
  simpl. destruct (Nat.eqb_spec y x); [congruence|exact IH].
Qed.
Lemma unseen_count A z (t : tree view) n : A x = false -> unseen x reports n t -> unseen x reports n (count (counts_for A z) t).
Proof.
  intros Ax U. destruct z as [y label]. unfold counts_for. destruct (Bool.eqb (A y) label); [exact U|].
  simpl. destruct (Nat.eqb_spec y x) as [->|D]; [now rewrite Ax|]. split; assumption.
Qed.
Hypothesis ND : NoDup universe.
Lemma unseen_learn world rounds : forall used published A, A x = false ->
  unseen x reports rounds (learn world rounds used published A).
Proof.
  induction rounds as [|rounds IH]; intros used published A Ax; [exact I|]. cbn [learn].
  destruct (received adv world used published) as [z used']. apply unseen_count; [exact Ax|].
  refine (proj1 (unseen_toss_all universe ND (fun _ => false) _ rounds eq_refl _)). intros due Hd.
  apply unseen_ensure_all; [rewrite Hd; apply andb_false_r|]. apply IH. now rewrite Ax, Hd.
Qed.
End Unseen.

(** ** Neighbours *)

Section Neighbours.
Variables (a b : rate) (n : nat).
Notation near := (neighbours a b (a * b) 1 1 eq eq eq reports n).
Hypothesis ND : NoDup universe.

Lemma near_toss_all xs : NoDup xs -> forall due L k0 k1,
  (forall due' L', (forall x, ~ In x xs -> due' x = due x /\ L' x = L x) ->
    (forall x, In x xs -> L x = true -> due' x = false -> L' x = true) -> near L' (k0 due') (k1 due')) ->
  near L (toss_all xs due k0) (toss_all xs due k1).
Proof.
  induction 1 as [|y xs Hy NDs IH]; intros due L k0 k1 K; simpl.
  - apply K; [auto|intros x []].
  - apply TossBoth; apply IH; intros due' L' Out Inn; apply K.
    + intros x Hx. simpl in Hx. destruct (Out x) as [O1 O2]; [tauto|].
      rewrite O1, O2, !set_other by (intro; subst; tauto). auto.
    + intros x [->|Hx] Lx Dx.
      * destruct (Out x Hy) as [O1 _]. rewrite set_same in O1. congruence.
      * apply Inn; [exact Hx| |exact Dx]. rewrite set_other by congruence. exact Lx.
    + intros x Hx. simpl in Hx. destruct (Out x) as [O1 O2]; [tauto|].
      rewrite O1, O2, set_other by (intro; subst; tauto). auto.
    + intros x [->|Hx] Lx Dx; [destruct (Out x Hy) as [_ O2]; now rewrite O2|now apply Inn].
Qed.
Lemma near_ensure_all xs fresh t0 t1 : forall L,
  (forall L', (forall x, L x = true -> L' x = true) -> (forall x, In x xs -> fresh x = true -> L' x = true) -> near L' t0 t1) ->
  near L (ensure_all xs fresh t0) (ensure_all xs fresh t1).
Proof.
  induction xs as [|y xs IH]; intros L K; simpl.
  - apply K; [auto|intros x []].
  - destruct (fresh y) eqn:Fy.
    + apply EnsureBoth. apply IH. intros L' Up Fr. apply K.
      * intros x Lx. apply Up. unfold set. destruct (Nat.eqb x y); auto.
      * intros x [->|Hx] Fx; [apply Up; apply set_same|now apply Fr].
    + apply IH. intros L' Up Fr. apply K; [exact Up|]. intros x [->|Hx] Fx; [congruence|now apply Fr].
Qed.

Lemma near_round (A L : keys) (next0 next1 : keys -> tree view) : (forall x, A x = true -> L x = true) ->
  (forall A' L', (forall x, A' x = true -> L' x = true) -> near L' (next0 A') (next1 A')) ->
  near L
    (toss_all universe (fun _ => false) (fun due =>
      ensure_all universe (fun x => xorb (A x) (due x) && due x) (next0 (fun x => xorb (A x) (due x)))))
    (toss_all universe (fun _ => false) (fun due =>
      ensure_all universe (fun x => xorb (A x) (due x) && due x) (next1 (fun x => xorb (A x) (due x))))).
Proof.
  intros AL K. apply near_toss_all; [exact ND|]. intros due L1 Out Inn.
  apply near_ensure_all. intros L2 Up Fr. apply K. intros x Ax.
  destruct (in_dec Nat.eq_dec x universe) as [Hx|Hx].
  - destruct (due x) eqn:Dx.
    + apply Fr; [exact Hx|]. cbv beta. now rewrite Dx, Ax.
    + apply Up, Inn; auto. apply AL. now rewrite xorb_false_r in Ax.
  - destruct (Out x Hx) as [O1 O2]. apply Up. rewrite O2. apply AL. now rewrite O1, xorb_false_r in Ax.
Qed.

Theorem near_learn world rounds : (rounds <= n)%nat -> forall published A L,
  (forall x, A x = true -> L x = true) ->
  near L (learn world rounds false published A) (learn (negb world) rounds false published A).
Proof.
  pose proof (base_01 a) as Ha. pose proof (base_01 b) as Hb.
  induction rounds as [|rounds IH]; intros Hn published A L AL; [apply Same|]. cbn [learn received].
  destruct (challenge adv published) as [[z0 z1]|].
  - set (t w := toss_all universe (fun _ => false) (fun due =>
      ensure_all universe (fun x => xorb (A x) (due x) && due x)
        (learn w rounds true ((fun x => xorb (A x) (due x)) :: published) (fun x => xorb (A x) (due x))))).
    change (near L (count (counts_for A (if world then z1 else z0)) (t world))
                   (count (counts_for A (if negb world then z1 else z0)) (t (negb world)))).
    replace (t (negb world)) with (t world) by (apply toss_all_ext; intro due; f_equal; apply used_up).
    generalize (if world then z1 else z0) (if negb world then z1 else z0). clear z0 z1. intros z0 z1.
    assert (Cov : forall z, covered reports n L (counts_for A z) (t world)).
    { intros [x label]. unfold counts_for. destruct (Bool.eqb (A x) label); [exact I|].
      destruct (A x) eqn:Ax; [left; now apply AL|right]. split; [reflexivity|].
      apply (unseen_more x reports _ (S rounds)); [exact Hn|]. unfold t.
      refine (proj1 (unseen_toss_all x universe ND (fun _ => false) _ rounds eq_refl _)). intros due Hd.
      apply unseen_ensure_all; [rewrite Hd; apply andb_false_r|].
      apply unseen_learn; [exact ND|]. now rewrite Ax, Hd. }
    assert (Price : a * b <= price a b (counts_for A z0) (counts_for A z1)).
    { unfold price. destruct (counts_for A z0), (counts_for A z1); nra. }
    assert (Eq : forall x t0 t1, counts_for A z0 = Some (x, t0) -> counts_for A z1 = Some (x, t1) -> t0 = t1).
    { intros x t0 t1. destruct z0 as [y0 l0], z1 as [y1 l1]. unfold counts_for.
      destruct (Bool.eqb (A y0) l0), (Bool.eqb (A y1) l1); intros E0 E1; inversion E0; inversion E1; now subst. }
    pose proof (Cov z0) as C0. pose proof (Cov z1) as C1. clear Cov.
    destruct (counts_for A z0) as [[x0 tau0]|], (counts_for A z1) as [[x1 tau1]|];
      [destruct (Nat.eq_dec x0 x1) as [->|D]; [rewrite (Eq x1 tau0 tau1 eq_refl eq_refl); apply Same|]| | |];
      apply Challenged; try assumption; exact I.
  - assert (Rest : forall L, (forall x, A x = true -> L x = true) -> near L
      (toss_all universe (fun _ => false) (fun due => ensure_all universe (fun x => xorb (A x) (due x) && due x)
        (learn world rounds false ((fun x => xorb (A x) (due x)) :: published) (fun x => xorb (A x) (due x)))))
      (toss_all universe (fun _ => false) (fun due => ensure_all universe (fun x => xorb (A x) (due x) && due x)
        (learn (negb world) rounds false ((fun x => xorb (A x) (due x)) :: published) (fun x => xorb (A x) (due x)))))).
    { intros L' AL'. apply (near_round A L'
        (fun A' => learn world rounds false (A' :: published) A')
        (fun A' => learn (negb world) rounds false (A' :: published) A')); [exact AL'|].
      intros A' L'' AL''. apply IH; [lia|exact AL'']. }
    destruct (counts_for A (example adv published)) as [[x tau]|]; [|now apply Rest].
    apply EnsureBoth, DecBoth, Rest. intros y Ay. unfold set. destruct (Nat.eqb y x); auto.
Qed.
End Neighbours.
End Algorithm.

(** ** The promise *)

Section Promise.
Variables (alpha beta : R) (Halpha : 0 < alpha) (Hbeta : 0 < beta).
Variables (reports complaints : Z) (universe : list key) (rounds : nat) (delta : R).
Let a := at_rate alpha Halpha.
Let b := at_rate beta Hbeta.

Definition private_keys (adv : adversary (key * bool) keys) (world : bool) : law view :=
  run a b (learn reports complaints universe adv world rounds false [] (fun _ => false)) no_counters.

Hypothesis ND : NoDup universe.
(** (L1) *)
Hypothesis enough : INR rounds * (1 + exp (alpha + beta)) * stray a b reports <= delta.

Lemma ab_exp : a * b = exp (- (alpha + beta)).
Proof. simpl. rewrite <- exp_plus. f_equal. ring. Qed.

(** Conditionally on every prefix: mu is the law of the secret state on the part of all runs that has
    this prefix, A the keys that are listed by then, and mu (fun _ => 1) is the prefix's probability. *)
Theorem private_keys_from_prefix adv world left published A mu f : (left <= rounds)%nat ->
  payable b mu -> present A mu -> (forall v, 0 <= f v <= 1) ->
  mu (fun s => run a b (learn reports complaints universe adv world left false published A) s f)
  <= exp (alpha + beta) * mu (fun s => run a b (learn reports complaints universe adv (negb world) left false published A) s f)
     + delta * mu (fun _ => 1).
Proof.
  intros Hl P Q Hf. pose proof (base_01 a) as Ha. pose proof (base_01 b) as Hb.
  assert (N := near_learn reports complaints universe adv a b rounds ND world left Hl published A A ltac:(auto)).
  assert (Hc : 0 <= a * b <= 1) by nra.
  assert (T := views_private a b (a * b) reports rounds f Hc Hf _ _ _ N mu P Q).
  set (m0 := mu (fun s => run a b (learn reports complaints universe adv world left false published A) s f)) in *.
  set (m1 := mu (fun s => run a b (learn reports complaints universe adv (negb world) left false published A) s f)) in *.
  set (m := mu (fun _ => 1)) in *. assert (Hm : 0 <= m) by (apply E_pos, bounded_const; lra).
  assert (One : exp (alpha + beta) * (a * b) = 1).
  { rewrite ab_exp, <- exp_plus. replace (alpha + beta + - (alpha + beta)) with 0 by ring. apply exp_0. }
  pose proof (exp_pos (alpha + beta)) as He.
  apply Rmult_le_compat_l with (r := exp (alpha + beta)) in T; [|lra].
  rewrite <- Rmult_assoc, One, Rmult_1_l in T.
  replace (exp (alpha + beta) * (m1 + (1 + a * b) * (INR rounds * stray a b reports) * m))
    with (exp (alpha + beta) * m1 + (exp (alpha + beta) + exp (alpha + beta) * (a * b)) * (INR rounds * stray a b reports) * m) in T by ring.
  rewrite One in T.
  assert (INR rounds * (1 + exp (alpha + beta)) * stray a b reports * m <= delta * m) by (apply Rmult_le_compat_r; lra).
  lra.
Qed.

Theorem private_keys_private_enough adv : private (alpha + beta) delta (private_keys adv).
Proof.
  intros world f Hf.
  pose proof (private_keys_from_prefix adv world rounds [] (fun _ => false) (ret no_counters) f (le_n _)
    (payable_at_start b no_counters ltac:(reflexivity)) (present_at_start no_counters) Hf) as T.
  cbn [ret E] in T. rewrite Rmult_1_r in T. exact T.
Qed.

(** An adversary with coins, which are part of its view (F1). *)
Corollary private_keys_private_coins {C} (coins : law C) (adv : C -> adversary (key * bool) keys) :
  private (alpha + beta) delta
    (fun world => bind coins (fun c => bind (private_keys (adv c) world) (fun v => ret (c, v)))).
Proof.
  intro world. apply F1_fixed_coins.
  - pose proof (stray_01 a b reports). pose proof (pos_INR rounds). pose proof (exp_pos (alpha + beta)).
    apply Rle_trans with (2 := enough). repeat apply Rmult_le_pos; lra.
  - intro c. apply post_processing. apply private_keys_private_enough.
Qed.
End Promise.

(** The numbers as they are computed: the rates add up to epsilon at most, and P(nu >= tau + rho) is
    a^tau (1 - b) / (1 - a b) for a = e^-query_rate, b = e^-threshold_rate. *)
(** The promise of learners/private_keys/recipe.py, PrivateKeys:

    Privacy:
        Releases:   the set of listed keys, in every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a round with a mistake takes longer
        Proof:      recipe.md
        Checked:    proofs/promises/PrivateKeys.v, theorem private_keys_private *)
Theorem private_keys_private epsilon delta query_rate threshold_rate (Hq : 0 < query_rate) (Ht : 0 < threshold_rate)
  reports complaints universe rounds adv : NoDup universe -> (0 <= reports)%Z -> query_rate + threshold_rate <= epsilon ->
  INR rounds * (1 + exp epsilon) *
    (exp (- query_rate) ^ Z.to_nat reports * ((1 - exp (- threshold_rate)) / (1 - exp (- query_rate) * exp (- threshold_rate)))) <= delta ->
  private epsilon delta (private_keys query_rate threshold_rate Hq Ht reports complaints universe rounds adv).
Proof.
  intros ND Hr He D world. apply (within_weaker (query_rate + threshold_rate) delta); [exact He|lra|].
  apply private_keys_private_enough; [exact ND|]. apply Rle_trans with (2 := D).
  pose proof (stray_closed (at_rate query_rate Hq) (at_rate threshold_rate Ht) reports Hr) as St.
  pose proof (stray_01 (at_rate query_rate Hq) (at_rate threshold_rate Ht) reports) as S01.
  cbn [base at_rate] in St. rewrite <- St. apply Rmult_le_compat_r; [apply S01|].
  apply Rmult_le_compat_l; [apply pos_INR|]. pose proof (exp_le _ _ He). lra.
Qed.
(* main: private_keys_private *)
