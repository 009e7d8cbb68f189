(** learners/private_witnesses: one noisy counter for each live witness. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours CountAboveThreshold.
Import ListNotations.
Open Scope R_scope.

Section Algorithm.
(** A witness system, as public functions: concepts/witness_systems.py. *)
Context {X place : Type}.
Variable first : place.                            (* system.begin() *)
Variable live : place -> list key.                 (* system.live(state), in a fixed order *)
Variable after : place -> key -> option place.     (* system.after(state, key) *)
Variable named_by : place -> X -> option key.      (* which witness an example names, if it is a mistake *)
Variable threshold : key -> Z.                     (* plan.threshold, or plan.again *)
Variable adv : adversary X (list key).
Hypothesis names_live : forall s z x, named_by s z = Some x -> In x (live s).
Notation view := (list (list key)).                (* which keys fired in which round, the latest first *)

(** (L4) Every counter gets fresh query noise; [due] are the keys that fire, in the order of [live]. *)
Fixpoint toss_all (xs due : list key) (k : list key -> tree view) : tree view :=
  match xs with
  | [] => k due
  | x :: xs => Toss x (fun fires => toss_all xs (if fires then due ++ [x] else due) k)
  end.
(** (L5) The keys that are still live are accepted; None: there is no state to move on to. *)
Fixpoint accept (s : place) (due : list key) : option place :=
  match due with
  | [] => Some s
  | x :: due =>
      if in_dec Nat.eq_dec x (live s)
      then match after s x with None => None | Some s => accept s due end
      else accept s due
  end.
Fixpoint drop_all (xs : list key) (t : tree view) : tree view :=
  match xs with [] => t | x :: xs => Drop x (drop_all xs t) end.
Fixpoint ensure_all (xs : list key) (t : tree view) : tree view :=
  match xs with [] => t | x :: xs => Ensure x (threshold x) (ensure_all xs t) end.
Definition gone (s s' : place) : list key := filter (fun x => if in_dec Nat.eq_dec x (live s') then false else true) (live s).

(** Counters of keys that are no longer live are gone, those of keys that stay go on, new ones begin (L2). *)
Definition entered (s : place) (due : list key) (k : place -> tree view) : tree view :=
  match accept s due with
  | Some s' => drop_all (gone s s') (ensure_all (live s') (k s'))
  | None => drop_all (live s) (ensure_all (live first) (k first))     (* (L6) *)
  end.

Fixpoint learn (world : bool) (rounds : nat) (used : bool) (published : view) (s : place) : tree view :=
  match rounds with
  | O => Done published
  | S rounds =>
      let (z, used) := received adv world used published in
      (* (L3); a live key has its noise already *)
      count (option_map (fun x => (x, threshold x)) (named_by s z))
        (toss_all (live s) [] (fun due => entered s due (learn world rounds used (due :: published))))
  end.
Definition start world rounds : tree view := ensure_all (live first) (learn world rounds false [] first).

Lemma toss_all_ext xs : forall due k k', (forall due, k due = k' due) -> toss_all xs due k = toss_all xs due k'.
Proof.
  induction xs as [|x xs IH]; intros due k k' H; [apply H|]. simpl. f_equal.
  apply functional_extensionality. intro fires. now apply IH.
Qed.
Lemma entered_ext s due k k' : (forall s, k s = k' s) -> entered s due k = entered s due k'.
Proof. intro H. unfold entered. destruct (accept s due); now rewrite H. Qed.
Lemma used_up world world' rounds : forall published s,
  learn world rounds true published s = learn world' rounds true published s.
Proof.
  induction rounds as [|rounds IH]; intros published s; [reflexivity|]. cbn [learn received]. f_equal.
  apply toss_all_ext. intro due. apply entered_ext. intro s'. apply IH.
Qed.

(** ** Neighbours *)

Section Neighbours.
Variables (a b : rate).
Notation near := (neighbours a b (a * b) 1 1 eq eq eq 0%Z 0).
Lemma near_toss_all xs : forall due L k0 k1,
  (forall L due, near L (k0 due) (k1 due)) -> near L (toss_all xs due k0) (toss_all xs due k1).
Proof. induction xs as [|x xs IH]; intros due L k0 k1 K; simpl; [apply K|]. apply TossBoth; apply IH; exact K. Qed.
Lemma near_drop_all xs t0 t1 : (forall L, near L t0 t1) -> forall L, near L (drop_all xs t0) (drop_all xs t1).
Proof. intro K. induction xs as [|x xs IH]; intro L; simpl; [apply K|]. apply DropBoth. apply IH. Qed.
Lemma near_ensure_all xs t0 t1 : forall L,
  (forall L', (forall x, In x xs -> L' x = true) -> (forall x, L x = true -> L' x = true) -> near L' t0 t1) ->
  near L (ensure_all xs t0) (ensure_all xs t1).
Proof.
  induction xs as [|y xs IH]; intros L K; simpl; [apply K; [intros x []|auto]|]. apply EnsureBoth. apply IH.
  intros L' Inn Up. apply K.
  - intros x [->|Hx]; [apply Up, set_same|now apply Inn].
  - intros x Lx. apply Up. unfold set. destruct (Nat.eqb x y); auto.
Qed.
Lemma near_entered s due k0 k1 : (forall s L, (forall x, In x (live s) -> L x = true) -> near L (k0 s) (k1 s)) ->
  forall L, near L (entered s due k0) (entered s due k1).
Proof.
  intros K L. unfold entered. destruct (accept s due) as [s'|]; apply near_drop_all; intro L0; apply near_ensure_all;
    intros L' Inn _; now apply K.
Qed.

Theorem near_learn world rounds : forall published s L, (forall x, In x (live s) -> L x = true) ->
  near L (learn world rounds false published s) (learn (negb world) rounds false published s).
Proof.
  pose proof (base_01 a) as Ha. pose proof (base_01 b) as Hb.
  induction rounds as [|rounds IH]; intros published s L Hs; [apply Same|]. cbn [learn received].
  destruct (challenge adv published) as [[z0 z1]|].
  - set (t w := toss_all (live s) [] (fun due => entered s due (learn w rounds true (due :: published)))).
    replace (toss_all (live s) [] (fun due => entered s due (learn (negb world) rounds true (due :: published)))) with (t world).
    2:{ apply toss_all_ext. intro due. apply entered_ext. intro s'. apply used_up. }
    fold (t world).
    generalize (if world then z1 else z0) (if negb world then z1 else z0). clear z0 z1. intros z0 z1.
    pose proof (names_live s z0) as N0. pose proof (names_live s z1) as N1.
    assert (Price : forall o0 o1, a * b <= price a b o0 o1).
    { intros o0 o1. unfold price. destruct o0, o1; nra. }
    destruct (named_by s z0) as [x0|], (named_by s z1) as [x1|]; cbn [option_map].
    + destruct (Nat.eq_dec x0 x1) as [->|D]; [apply Same|].
      apply Challenged; [apply Price|exact D|left; apply Hs; auto|left; apply Hs; auto].
    + apply Challenged; [apply Price|exact I|left; apply Hs; auto|exact I].
    + apply Challenged; [apply Price|exact I|exact I|left; apply Hs; auto].
    + apply Challenged; [apply Price|exact I|exact I|exact I].
  - set (t w := toss_all (live s) [] (fun due => entered s due (learn w rounds false (due :: published)))).
    assert (Rest : forall L', near L' (t world) (t (negb world))).
    { intro L'. apply near_toss_all. intros L'' due. apply near_entered. intros s' L3 H3. now apply IH. }
    fold (t world) (t (negb world)). destruct (named_by s (example adv published)) as [x|]; cbn [option_map count];
      [apply EnsureBoth, DecBoth|]; apply Rest.
Qed.
End Neighbours.
End Algorithm.

Section Promise.
Context {X place : Type}.
Variables (first : place) (live : place -> list key) (after : place -> key -> option place).
Variables (named_by : place -> X -> option key) (threshold : key -> Z).
Hypothesis names_live : forall s z x, named_by s z = Some x -> In x (live s).
Variables (query_rate threshold_rate : R) (Hq : 0 < query_rate) (Ht : 0 < threshold_rate).
Let a := at_rate query_rate Hq.
Let b := at_rate threshold_rate Ht.

Definition private_witnesses adv rounds (world : bool) : law (list (list key)) :=
  run a b (start first live after named_by threshold adv world rounds) no_counters.

(** Conditionally on every prefix: mu is the law of the gaps on the part of all runs with this prefix. *)
Theorem private_witnesses_from_prefix adv world rounds published s mu f : payable b mu ->
  present (fun x => if in_dec Nat.eq_dec x (live s) then true else false) mu -> (forall v, 0 <= f v <= 1) ->
  let rest w := mu (fun st => run a b (learn first live after named_by threshold adv w rounds false published s) st f) in
  rest world <= exp (query_rate + threshold_rate) * rest (negb world).
Proof.
  intros P Q Hf rest. pose proof (base_01 a) as Ha. pose proof (base_01 b) as Hb.
  set (L := fun x => if in_dec Nat.eq_dec x (live s) then true else false) in *.
  assert (N := near_learn first live after named_by threshold adv names_live a b world rounds published s L
    ltac:(intros x Hx; unfold L; destruct (in_dec Nat.eq_dec x (live s)); tauto)).
  assert (T := views_private a b (a * b) 0 0 f ltac:(nra) Hf _ _ _ N mu P Q). fold (rest world) (rest (negb world)) in T.
  cbn [INR] in T. rewrite Rmult_0_l, Rmult_0_r, Rmult_0_l, Rplus_0_r in T.
  assert (One : exp (query_rate + threshold_rate) * (a * b) = 1).
  { unfold a, b. simpl. rewrite <- exp_plus, <- Ropp_plus_distr. apply exp_opp. }
  pose proof (exp_pos (query_rate + threshold_rate)).
  apply Rmult_le_compat_l with (r := exp (query_rate + threshold_rate)) in T; [|lra].
  rewrite <- Rmult_assoc, One, Rmult_1_l in T. exact T.
Qed.

Lemma ensured_all_keeps xs : forall L mu, payable b mu -> present L mu -> exists mu' L',
  payable b mu' /\ present L' mu' /\ (forall x, In x xs -> L' x = true) /\ (forall x, L x = true -> L' x = true) /\
  forall (t : tree (list (list key))) f, mu (fun s => run a b (ensure_all threshold xs t) s f) = mu' (fun s => run a b t s f).
Proof.
  induction xs as [|x xs IH]; intros L mu P Q; [exists mu, L; repeat split; auto; intros x []|].
  destruct (IH (set L x true) (bind mu (ensured b x (threshold x)))) as (mu' & L' & P' & Q' & I' & U' & E');
    [now apply payable_ensured|now apply present_ensured|].
  exists mu', L'. split; [exact P'|]. split; [exact Q'|]. split; [|split].
  - intros y [->|Hy]; [apply U', set_same|now apply I'].
  - intros y Ly. apply U'. unfold set. destruct (Nat.eqb y x); auto.
  - intros t f. rewrite <- E'. reflexivity.
Qed.

(** The promise of systems without places; WitnessPlaces.v has the others. *)
Theorem private_witnesses_private epsilon adv rounds : query_rate + threshold_rate <= epsilon ->
  private epsilon 0 (private_witnesses adv rounds).
Proof.
  intros He world. apply (within_weaker (query_rate + threshold_rate) 0); [exact He|lra|]. intros f Hf. rewrite Rplus_0_r.
  destruct (ensured_all_keeps (live first) (fun _ => false) (ret no_counters)
    (payable_at_start b no_counters ltac:(reflexivity)) (present_at_start no_counters)) as (mu & L & P & Q & I & _ & Eq).
  unfold private_witnesses, start.
  assert (S : forall w, run a b (ensure_all threshold (live first) (learn first live after named_by threshold adv w rounds false [] first)) no_counters f
    = mu (fun s => run a b (learn first live after named_by threshold adv w rounds false [] first) s f)) by (intro w; apply (Eq _ f)).
  rewrite !S. apply private_witnesses_from_prefix; [exact P| |exact Hf].
  intros F F' HF HF' K. apply Q; try assumption. intros s Hs. apply K. intros x Hx. apply Hs.
  destruct (in_dec Nat.eq_dec x (live first)); [now apply I|discriminate].
Qed.
End Promise.
(* main: private_witnesses_private, private_witnesses_from_prefix *)
