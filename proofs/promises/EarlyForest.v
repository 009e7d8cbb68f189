(** learners/lazy_forest with early release, as `LazyForest.calibrated` has it in dimension 1, where
    privacy/mechanisms/first_frequent.py watches the hypotheses of the sequences that grow. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours Later CountAboveThreshold LazyForest.
Import ListNotations.
Open Scope R_scope.

(** Slots and the order of what is released together depend on nothing but what was published. *)
Record early_coins := EarlyCoins {
  place : nat -> list event -> nat;          (* with so many rounds left, after what was published: where an example goes *)
  listed : nat -> (key -> bool) -> list key }. (* the keys that fire, in an order *)

Section Early.
Context {X : Type}.
(** In dimension 1 all sequences of layer 0 are empty until they grow, and nothing grows in layer 1: of the base
    learner only this matters. Hypotheses are numbered. *)
Variable wrong : X -> bool.                  (* the first hypothesis errs *)
Variable grown : X -> option key.            (* what the empty sequence says after this example; None: no concept fits *)
Variable errs : key -> X -> bool.
Variable universe : list key.                (* all hypotheses that may come up, however many *)
Variable threshold : Z.                      (* of FirstFrequent *)
Variable switch_threshold : key -> Z.        (* (L19) *)
Variables (a b q : rate).                    (* query and threshold noise of FirstFrequent; AboveThreshold *)
Variable restarts : bool.
Variable c : early_coins.
Variable adv : adversary X event.
Notation view := (list event).

(** ** Layer 0 *)

Inductive found := Ended (v : view) | Found (world : bool) (rounds : nat) (used : bool) (v : view) (due : key -> bool).
(** (L8, L9): the pair on its slot takes an example, if it has not taken one. *)
Definition counted (taken : nat -> bool) (i : nat) (z : X) : option (key * Z) :=
  if wrong z && negb (taken i) then option_map (fun g => (g, threshold)) (grown z) else None.
Definition after_it (taken : nat -> bool) (i : nat) (z : X) : nat -> bool := if wrong z then set taken i true else taken.
Definition shown (due : key -> bool) : event := Listed (map (fun x => if due x then Some 0%Z else None) universe).
Fixpoint grow (world : bool) (rounds : nat) (used : bool) (published : view) (taken : nat -> bool) : tree found :=
  match rounds with
  | O => Done (Ended published)
  | S rounds =>
      let (z, used) := received adv world used published in
      count (counted taken (place c rounds published) z)
        (toss_each universe (fun _ => false) (fun due =>
          if existsb due universe then Done (Found (negb used && world) rounds used (shown due :: published) due)
          else grow world rounds used (Answer false :: published) (after_it taken (place c rounds published) z)))
  end.

Lemma grow_used world world' rounds : forall published taken, grow world rounds true published taken = grow world' rounds true published taken.
Proof.
  induction rounds as [|rounds IH]; intros published taken; [reflexivity|]. cbn [grow received]. f_equal.
  assert (T : forall xs due (k k' : (key -> bool) -> tree found), (forall due, k due = k' due) -> toss_each xs due k = toss_each xs due k').
  { induction xs as [|x xs IHx]; intros due k k' H; simpl; [apply H|]. f_equal. apply functional_extensionality. intro. now apply IHx. }
  apply T. intro due. destruct (existsb due universe); [reflexivity|apply IH].
Qed.

Hypothesis ND : NoDup universe.
Lemma unseen_grow x world rounds : forall used published taken, unseen x threshold rounds (grow world rounds used published taken).
Proof.
  induction rounds as [|rounds IH]; intros used published taken; [exact I|]. cbn [grow].
  destruct (received adv world used published) as [z used']. apply unseen_count.
  - intros y tau'. unfold counted. destruct (wrong z && negb (taken (place c rounds published))); [|discriminate].
    destruct (grown z); simpl; [|discriminate]. intro H. now injection H.
  - apply (unseen_toss x threshold rounds universe ND). intro due. destruct (existsb due universe); [exact I|apply IH].
Qed.

(** After the challenge: a slot that only the first world has taken. The second counts once more, if it is hit. *)
Variable n : nat.
Notation one_more := (one_more threshold n).
Lemma now_more o (t : tree found) m : (m <= n)%nat -> (forall y tau', o = Some (y, tau') -> tau' = threshold) ->
  (forall x, unseen x threshold m t) -> one_more t (count o t).
Proof.
  intros Hm Ho U. destruct o as [[y tau']|]; [|apply MoreSame]. rewrite (Ho y tau' eq_refl). apply MoreNow.
  apply (unseen_more y threshold t m); [exact Hm|apply U].
Qed.
Lemma counted_threshold taken i z y tau' : counted taken i z = Some (y, tau') -> tau' = threshold.
Proof.
  unfold counted. destruct (wrong z && negb (taken i)); [|discriminate]. destruct (grown z); simpl; [|discriminate]. intro H. now injection H.
Qed.
Definition rest_of (world : bool) (rounds : nat) (used : bool) (published : view) (taken : nat -> bool) : tree found :=
  toss_each universe (fun _ => false) (fun due =>
    if existsb due universe then Done (Found (negb used && world) rounds used (shown due :: published) due)
    else grow world rounds used (Answer false :: published) taken).
Lemma unseen_rest x world rounds used published taken : unseen x threshold (S rounds) (rest_of world rounds used published taken).
Proof.
  apply (unseen_toss x threshold rounds universe ND). intro due. destruct (existsb due universe); [exact I|apply unseen_grow].
Qed.
Lemma lagging world k rounds : (rounds <= n)%nat -> forall published taken, taken k = false ->
  one_more (grow world rounds true published (set taken k true)) (grow world rounds true published taken).
Proof.
  induction rounds as [|rounds IH]; intros Hn published taken Tk; [apply MoreSame|]. cbn [grow received].
  set (z := example adv published). set (i := place c rounds published). fold (rest_of world rounds true published (after_it (set taken k true) i z)).
  fold (rest_of world rounds true published (after_it taken i z)).
  assert (Rest : forall taken, taken k = false -> one_more (rest_of world rounds true published (set taken k true)) (rest_of world rounds true published taken)).
  { intros t Ht. apply more_toss. intro due. destruct (existsb due universe); [apply MoreSame|]. apply IH; [lia|exact Ht]. }
  destruct (Nat.eq_dec i k) as [->|D].
  - unfold counted, after_it. rewrite set_same. cbn [negb]. rewrite andb_false_r. destruct (wrong z) eqn:W; cbn [andb].
    + rewrite Tk, set_set. cbn [negb count].
      apply (now_more _ _ (S rounds) Hn); [|intro x; apply unseen_rest].
      intros y tau'. destruct (grown z); simpl; [|discriminate]. intro H. now injection H.
    + cbn [count]. now apply Rest.
  - unfold counted. rewrite set_other by exact D. apply more_count.
    replace (after_it (set taken k true) i z) with (set (after_it taken i z) k true).
    + apply Rest. unfold after_it. destruct (wrong z); [|exact Tk]. now rewrite set_other by congruence.
    + unfold after_it. destruct (wrong z); [|reflexivity]. now rewrite set_swap.
Qed.

(** Leaves of two worlds before the challenge. *)
Definition not_yet (l l' : found) := l = l' \/ exists w r v due, (r <= n)%nat /\ l = Found w r false v due /\ l' = Found (negb w) r false v due.
Lemma grow_up_to_it world rounds : (rounds <= n)%nat -> forall published taken,
  up_to_it threshold n not_yet (grow world rounds false published taken) (grow (negb world) rounds false published taken).
Proof.
  induction rounds as [|rounds IH]; intros Hn published taken; [apply NotYet; now left|]. cbn [grow received]. set (i := place c rounds published).
  destruct (challenge adv published) as [[z0 z1]|].
  - set (z := if world then z1 else z0). set (z' := if negb world then z1 else z0). apply Joined.
    fold (rest_of world rounds true published (after_it taken i z)). fold (rest_of (negb world) rounds true published (after_it taken i z')).
    replace (rest_of (negb world) rounds true published (after_it taken i z')) with (rest_of world rounds true published (after_it taken i z')).
    2:{ unfold rest_of. cbn [negb andb]. f_equal. apply functional_extensionality. intro due. destruct (existsb due universe); [reflexivity|apply grow_used]. }
    generalize z z'. clear z z' z0 z1. intros z z'. set (t := fun taken => rest_of world rounds true published taken).
    assert (U : forall x taken, unseen x threshold (S rounds) (t taken)) by (intros; apply unseen_rest).
    change (joined threshold n (count (counted taken i z) (t (after_it taken i z))) (count (counted taken i z') (t (after_it taken i z')))).
    destruct (taken i) eqn:Ti.
    { assert (N : forall z, counted taken i z = None /\ after_it taken i z = taken).
      { intro w. unfold counted, after_it. rewrite Ti. cbn [negb]. rewrite andb_false_r. split; [reflexivity|]. destruct (wrong w); [|reflexivity].
        apply functional_extensionality. intro j. unfold set. destruct (Nat.eqb_spec j i); congruence. }
      destruct (N z) as [-> ->], (N z') as [-> ->]. exists (count None (t taken)). split; apply MoreSame. }
    assert (Lag : one_more (t (set taken i true)) (t taken)).
    { apply more_toss. intro due. destruct (existsb due universe); [apply MoreSame|]. apply lagging; [lia|exact Ti]. }
    assert (Quiet : forall z, wrong z = false -> counted taken i z = None) by (intros w W; unfold counted; now rewrite W).
    unfold after_it. destruct (wrong z) eqn:W, (wrong z') eqn:W'.
    + exists (count (counted taken i z') (count (counted taken i z) (t (set taken i true)))). split.
      * apply (now_more _ _ (S rounds) Hn); [apply counted_threshold|]. intro x. apply unseen_count; [apply counted_threshold|apply U].
      * apply more_count. apply (now_more _ _ (S rounds) Hn); [apply counted_threshold|intro; apply U].
    + rewrite (Quiet z' W'). cbn [count]. exists (count (counted taken i z) (t taken)). split; [now apply more_count|].
      apply (now_more _ _ (S rounds) Hn); [apply counted_threshold|intro; apply U].
    + rewrite (Quiet z W). cbn [count]. exists (count (counted taken i z') (t taken)). split; [|now apply more_count].
      apply (now_more _ _ (S rounds) Hn); [apply counted_threshold|intro; apply U].
    + rewrite (Quiet z W), (Quiet z' W'). exists (t taken). split; apply MoreSame.
  - set (z := example adv published). apply both_count, both_toss. intro due.
    destruct (existsb due universe); [|apply IH; lia]. apply NotYet. right. do 4 eexists. split; [|split; reflexivity]. lia.
Qed.

(** ** The learner *)

(** Layer 1 has no forest: what LazyForest.v watches there reads no sequence. *)
Definition idle : nat -> @pair unit := fun _ => Pair None None false.
Definition no_coins : coins := Coins (fun _ _ => 0%nat) (fun _ _ => Arrangement (fun j => j) (fun j => j) (fun _ => eq_refl) (fun _ => false)) (fun _ _ _ => 0%nat).
Notation watch := (watch Nat.eq_dec (fun _ : unit => 0%nat) (fun _ _ => None) errs 1 (fun _ h => switch_threshold h) no_coins adv).
(** None: layer 0; Some L: layer 1 with the list L. *)
Fixpoint play (fuel : nat) (world : bool) (rounds : nat) (used : bool) (published : view) (L : option (list key)) : law view :=
  match fuel with
  | O => ret published
  | S fuel =>
      match L with
      | None =>
          bind (run a b (grow world rounds used published (fun _ => false)) no_counters)
            (fun l => match l with
                      | Ended v => ret v
                      | Found world rounds used v due => play fuel world rounds used v (Some (listed c rounds due))
                      end)
      | Some (h :: L) =>
          bind (run q q (Ensure 0%nat (switch_threshold h) (watch world rounds used published 1 h idle)) no_counters)
            (fun l => match l with Over v => ret v | Yes world rounds used v _ => play fuel world rounds used v (Some L) end)
      | Some [] => if restarts then play fuel world rounds used published None else ret published
      end
  end.

Lemma play_used world world' fuel : forall rounds published L, play fuel world rounds true published L = play fuel world' rounds true published L.
Proof.
  induction fuel as [|fuel IH]; intros rounds published L; [reflexivity|]. cbn [play]. destruct L as [[|h L]|].
  - destruct restarts; [apply IH|reflexivity].
  - now rewrite (watch_used _ _ _ _ _ _ _ _ world world').
  - now rewrite (grow_used world world').
Qed.

Variables (listing epsilon delta : R).       (* epsilon of FirstFrequent, and of the promise *)
Hypothesis Hepsilon : 0 <= epsilon.
Hypothesis Hdelta : 0 <= delta.
Hypothesis rates : 1 <= exp listing * (a * b).
Hypothesis enough : (1 + exp listing) * (INR n * stray a b threshold) <= delta.
Hypothesis listing_cheap : listing <= epsilon.
Variable switching : R.                      (* epsilon of AboveThreshold in layer 1 *)
Hypothesis switching_pos : 0 < switching.
Hypothesis switching_base : base q = exp (- switching).
Hypothesis switching_cheap : switching <= epsilon.

Definition rest0 (fuel : nat) (f : view -> R) (l : found) : R :=
  match l with Ended v => f v | Found world rounds used v due => play fuel world rounds used v (Some (listed c rounds due)) f end.
Definition rest1 (fuel : nat) (L : list key) (f : view -> R) (l : @leaf unit) : R :=
  match l with Over v => f v | Yes world rounds used v _ => play fuel world rounds used v (Some L) f end.
Lemma play_0 fuel world rounds used published f : play (S fuel) world rounds used published None f
  = run a b (grow world rounds used published (fun _ => false)) no_counters (rest0 fuel f).
Proof. cbn [play]. cbn [bind E]. f_equal. apply functional_extensionality. now intros [v|w r u v due]. Qed.
Lemma play_1 fuel world rounds used published h L f : play (S fuel) world rounds used published (Some (h :: L)) f
  = run q q (Ensure 0%nat (switch_threshold h) (watch world rounds used published 1 h idle)) no_counters (rest1 fuel L f).
Proof. cbn [play]. cbn [bind E]. f_equal. apply functional_extensionality. now intros [v|w r u v F]. Qed.

Lemma rest0_01 fuel f l : (forall v, 0 <= f v <= 1) -> 0 <= rest0 fuel f l <= 1.
Proof. intro Hf. destruct l; [apply Hf|now apply E_test]. Qed.
Lemma rest1_01 fuel L f l : (forall v, 0 <= f v <= 1) -> 0 <= rest1 fuel L f l <= 1.
Proof. intro Hf. destruct l; [apply Hf|now apply E_test]. Qed.
Lemma free x : 0 <= x -> x <= exp epsilon * x + delta.
Proof. intro H. assert (1 <= exp epsilon) by (rewrite <- exp_0; now apply exp_le). nra. Qed.

(** In layer 0, on the part of all runs with a given prefix, whose gaps have the law mu. *)
Definition follows (fuel : nat) := forall world rounds published L, (rounds <= n)%nat ->
  within epsilon delta (play fuel world rounds false published L) (play fuel (negb world) rounds false published L).
Lemma grow_private fuel f : (forall v, 0 <= f v <= 1) -> follows fuel ->
  forall world rounds published taken mu, (rounds <= n)%nat -> payable b mu ->
  mu (fun s => run a b (grow world rounds false published taken) s (rest0 fuel f))
  <= exp epsilon * mu (fun s => run a b (grow (negb world) rounds false published taken) s (rest0 fuel f)) + delta * mu (fun _ => 1).
Proof.
  intros Hf IH world rounds published taken mu Hn P.
  apply (up_to_it_close a b threshold n (rest0 fuel f) ltac:(intro; now apply rest0_01) listing delta rates enough epsilon not_yet listing_cheap); [| |exact P].
  - intros l l' [->|(w & r & v & due & Hr & -> & ->)]; [apply free; now apply rest0_01|]. cbn [rest0]. now apply IH.
  - now apply grow_up_to_it.
Qed.
(** In layer 1. *)
Lemma later_none s : later 1 (fun _ => 0) s = 0.
Proof. unfold later. generalize (1 - s)%nat. intro m. revert s. induction m as [|m IH]; intro s; simpl; [reflexivity|]. rewrite IH. ring. Qed.
Lemma watch_private fuel L f : (forall v, 0 <= f v <= 1) -> follows fuel ->
  forall rounds h there t0 t1, (rounds <= n)%nat ->
  neighbours q q (exp (- epsilon)) 1 1 (earlier_leaf rounds) (later_leaf (fun _ _ => True)) (later_leaf (fun _ _ => True)) (switch_threshold h) 0 there t0 t1 ->
  forall mu, payable q mu -> present there mu ->
  mu (fun s => run q q t0 s (rest1 fuel L f)) <= exp epsilon * mu (fun s => run q q t1 s (rest1 fuel L f)) + delta * mu (fun _ => 1).
Proof.
  intros Hf IH rounds h there t0 t1 Hn N mu P Q. apply reexp. pose proof (exp_neg_01 epsilon Hepsilon) as Ec.
  assert (Pos : 0 <= exp (- epsilon) * delta) by nra.
  assert (Hb : forall v0 v1, earlier_leaf rounds v0 v1 -> exp (- epsilon) * rest1 fuel L f v0 <= rest1 fuel L f v1 + exp (- epsilon) * delta).
  { intros l l' [->|(w & r & v & G & Hr & -> & ->)]; [pose proof (rest1_01 fuel L f l' Hf); nra|]. cbn [rest1]. apply unexp. apply IH; [lia|exact Hf]. }
  assert (Ha : forall v0 v1, later_leaf (fun _ _ => True) v0 v1 -> 1 * rest1 fuel L f v0 <= rest1 fuel L f v1 + 1 * delta).
  { intros l l' [->|(r & v & G & G' & -> & -> & _)]; [|cbn [rest1]]; lra. }
  assert (T := counters_private q q (exp (- epsilon)) 1 1 (earlier_leaf rounds) (later_leaf (fun _ _ => True)) (later_leaf (fun _ _ => True)) (switch_threshold h) 0
    ltac:(lra) ltac:(lra) ltac:(lra) (rest1 fuel L f) delta ltac:(intro; now apply rest1_01) Hdelta Hb Ha Ha there t0 t1 N mu P Q).
  cbn [INR] in T. rewrite Rmult_0_l, Rmult_0_r, Rplus_0_l in T. rewrite <- Rmult_assoc. exact T.
Qed.
Lemma watch_near world rounds published h :
  neighbours q q (exp (- epsilon)) 1 1 (earlier_leaf rounds) (later_leaf (fun _ _ => True)) (later_leaf (fun _ _ => True)) (switch_threshold h) 0 counter
    (watch world rounds false published 1 h idle) (watch (negb world) rounds false published 1 h idle).
Proof.
  assert (N := watch_neighbours Nat.eq_dec (fun _ : unit => 0%nat) (fun _ _ => None) errs 1 (fun _ => q) (fun _ h => switch_threshold h) no_coins adv
    (fun _ => 0) ltac:(intros; lra) (fun _ => switching) epsilon ltac:(intros; exact switching_pos) ltac:(intros; exact switching_base)
    ltac:(intros; rewrite later_none; lra) (fun _ _ => True) ltac:(intros; exact I) ltac:(intros; exact I) ltac:(intros; exact I)
    world rounds rounds 1%nat h (le_n _) (le_n _) published idle).
  rewrite later_none, Ropp_0, exp_0 in N. exact N.
Qed.

Lemma play_private fuel : follows fuel.
Proof.
  assert (Free : forall l : law view, within epsilon delta l l) by (intro l; apply (within_weaker 0 0); [exact Hepsilon|exact Hdelta|apply within_refl]).
  induction fuel as [|fuel IH]; intros world rounds published L Hn; [apply Free|]. destruct L as [[|h L]|].
  - cbn [play]. destruct restarts; [now apply IH|apply Free].
  - intros f Hf. rewrite !play_1.
    assert (T := watch_private fuel L f Hf IH rounds h _ _ _ Hn
      (EnsureBoth _ _ _ _ _ _ _ _ _ _ (fun _ => false) 0%nat (switch_threshold h) _ _ (watch_near world rounds published h))
      (ret no_counters) (payable_at_start _ no_counters ltac:(reflexivity)) (present_at_start no_counters)).
    cbn [ret E] in T. rewrite Rmult_1_r in T. exact T.
  - intros f Hf. rewrite !play_0.
    assert (T := grow_private fuel f Hf IH world rounds published (fun _ => false) (ret no_counters) Hn (payable_at_start _ no_counters ltac:(reflexivity))).
    cbn [ret E] in T. rewrite Rmult_1_r in T. exact T.
Qed.

(** Conditionally on every prefix: in the middle of layer 0, and in the middle of an instance of layer 1. *)
Theorem early_prefix_private fuel world rounds published taken mu f : (forall v, 0 <= f v <= 1) -> (rounds <= n)%nat -> payable b mu ->
  let others w := mu (fun s => run a b (grow w rounds false published taken) s (rest0 fuel f)) in
  others world <= exp epsilon * others (negb world) + delta * mu (fun _ => 1).
Proof. intros Hf Hn P others. apply grow_private; try assumption. apply play_private. Qed.
Theorem early_switching_private fuel world rounds published h L mu f : (forall v, 0 <= f v <= 1) -> (rounds <= n)%nat -> payable q mu -> present counter mu ->
  let others w := mu (fun s => run q q (watch w rounds false published 1 h idle) s (rest1 fuel L f)) in
  others world <= exp epsilon * others (negb world) + delta * mu (fun _ => 1).
Proof.
  intros Hf Hn P Q others. apply (watch_private fuel L f Hf (play_private fuel) rounds h counter); try assumption. apply watch_near.
Qed.
End Early.

(** ** The promise *)

Section Promise.
Context {X : Type}.
Variables (wrong : X -> bool) (grown : X -> option key) (errs : key -> X -> bool) (universe : list key).
Hypothesis ND : NoDup universe.
Variables (threshold : Z) (switch_threshold : key -> Z) (restarts : bool) (rounds : nat).
(** The rates of FirstFrequent and its epsilon, and that of AboveThreshold in layer 1. *)
Variables (query_rate threshold_rate listing switching epsilon delta : R).
Hypothesis query_pos : 0 < query_rate.
Hypothesis threshold_pos : 0 < threshold_rate.
Hypothesis switching_pos : 0 < switching.
Hypothesis nonnegative : (0 <= threshold)%Z.
Hypothesis rates_within : query_rate + threshold_rate <= listing.
(** plan.py, check_budgets: layer 0 pays FirstFrequent and nothing else, layer 1 its AboveThreshold. *)
Hypothesis listing_within : listing <= epsilon.
Hypothesis switching_within : switching <= epsilon.
(** first_frequent.md, (L1) *)
Hypothesis enough : INR rounds * (1 + exp listing) *
  (exp (- query_rate) ^ Z.to_nat threshold * ((1 - exp (- threshold_rate)) / (1 - exp (- query_rate) * exp (- threshold_rate)))) <= delta.

Definition early_forest (toss : law early_coins) (adv : early_coins -> adversary X event) (fuel : nat) (world : bool) : law (early_coins * list event) :=
  bind toss (fun c =>
    bind (play wrong grown errs universe threshold switch_threshold (at_rate query_rate query_pos) (at_rate threshold_rate threshold_pos) (at_rate switching switching_pos)
            restarts c (adv c) fuel world rounds false [] None)
         (fun v => ret (c, v))).

(** The promise of learners/lazy_forest/recipe.py, LazyForest:

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    a deterministic base learner; timing (docs/GUARANTEES.md): a round with a
                    mistake takes longer
        Proof:      algorithm.md, layer.md, privacy/mechanisms/first_frequent.md
        Checked:    proofs/promises/LazyForest.v, theorem lazy_forest_private; packed plans:
                    proofs/promises/PackedForest.v, theorem packed_forest_private; early
                    release: proofs/promises/EarlyForest.v, theorem early_forest_private *)
Theorem early_forest_private toss adv fuel : private epsilon delta (early_forest toss adv fuel).
Proof.
  set (a := at_rate query_rate query_pos). set (b := at_rate threshold_rate threshold_pos).
  pose proof (stray_closed a b threshold nonnegative) as St. pose proof (stray_01 a b threshold) as S01. cbn [base at_rate a b] in St.
  fold a b in St. change (base a) with (exp (- query_rate)) in St. change (base b) with (exp (- threshold_rate)) in St. rewrite <- St in enough.
  pose proof (pos_INR rounds) as Hr. pose proof (exp_pos listing) as He.
  assert (Pd : 0 <= delta) by (apply Rle_trans with (2 := enough); repeat apply Rmult_le_pos; lra).
  intro world. apply F1_fixed_coins; [exact Pd|]. intro c. apply post_processing.
  apply play_private with (n := rounds) (listing := listing) (switching := switching); try assumption; try reflexivity; try lia.
  - lra.
  - change (1 <= exp listing * (exp (- query_rate) * exp (- threshold_rate))). rewrite <- !exp_plus, <- exp_0. apply exp_le. lra.
  - apply Rle_trans with (2 := enough). unfold a, b. right. ring.
Qed.
End Promise.
(* main: early_forest_private, early_prefix_private, early_switching_private *)
