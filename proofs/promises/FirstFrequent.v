(** privacy/mechanisms/first_frequent.py by itself: layer 0 of EarlyForest.v, and nothing after it. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Littlestone Require Import Laws Game Machine Payments Ghost Later CountAboveThreshold LazyForest EarlyForest.
Import ListNotations.
Open Scope R_scope.

Section Promise.
(** Keys are numbered; a round may have none. Each round has a slot, which the adversary chooses by what it has
    seen, and a key counts if it is the first on its slot: so a key that one world alone has lets the other count a
    later one, "from some round on", whenever the adversary returns to that slot. With a slot for each round every
    key counts. *)
Variable universe : list key.
Hypothesis ND : NoDup universe.
Variables (threshold : Z) (rounds : nat) (query_rate threshold_rate epsilon delta : R).
Hypothesis query_pos : 0 < query_rate.
Hypothesis threshold_pos : 0 < threshold_rate.
Hypothesis nonnegative : (0 <= threshold)%Z.
Hypothesis rates_within : query_rate + threshold_rate <= epsilon.
(** first_frequent.md, (L1) *)
Hypothesis enough : INR rounds * (1 + exp epsilon) *
  (exp (- query_rate) ^ Z.to_nat threshold * ((1 - exp (- threshold_rate)) / (1 - exp (- query_rate) * exp (- threshold_rate)))) <= delta.

Definition some_key (z : option key) : bool := match z with Some _ => true | None => false end.
Definition slots_of (slot : nat -> list event -> nat) : early_coins := EarlyCoins slot (fun _ _ => []).
Definition keys_counted (slot : nat -> list event -> nat) (adv : adversary (option key) event) (world : bool) : tree found :=
  grow some_key (fun z => z) universe threshold (slots_of slot) adv world rounds false [] (fun _ => false).
Definition first_frequent (slot : nat -> list event -> nat) (adv : adversary (option key) event) (world : bool) : law (list event) :=
  bind (run (at_rate query_rate query_pos) (at_rate threshold_rate threshold_pos) (keys_counted slot adv world) no_counters)
    (fun l => match l with Ended v => ret v | Found _ _ _ v _ => ret v end).

(** The promise of privacy/mechanisms/first_frequent.py, FirstFrequent:

    Privacy:
        Releases:   the round in which the first key is released, and the keys released in it
        Neighbours: key streams of which one has one key more from some round on, the other
                    another one (or none) from some round on, and which are else the same
        Adversary:  adaptive
        Guarantee:  (epsilon, delta) within ``rounds`` rounds, conditionally on every prefix
        Assumes:    timing (docs/GUARANTEES.md): a round with a key takes longer
        Proof:      first_frequent.md
        Checked:    proofs/promises/FirstFrequent.v, theorem first_frequent_private *)
Theorem first_frequent_private slot adv : private epsilon delta (first_frequent slot adv).
Proof.
  pose proof (early_forest_private some_key (fun z => z) (fun _ _ => false) universe ND threshold (fun _ => 0%Z) false rounds
    query_rate threshold_rate epsilon epsilon epsilon delta query_pos threshold_pos ltac:(lra) nonnegative rates_within ltac:(lra) ltac:(lra) enough
    (ret (slots_of slot)) (fun _ => adv) 1) as P.
  intros world f Hf. specialize (P world (fun v => f (snd v)) (fun v => Hf (snd v))). unfold early_forest in P. cbn [bind ret E snd play] in P.
  assert (Same : forall w, first_frequent slot adv w f = run (at_rate query_rate query_pos) (at_rate threshold_rate threshold_pos)
    (keys_counted slot adv w) no_counters (fun l => match l with Ended v => f v | Found _ _ _ v _ => f v end)).
  { intro w. unfold first_frequent. cbn [bind E]. f_equal. apply functional_extensionality. now intros [v|x r u v due]. }
  rewrite !Same. unfold keys_counted.
  assert (In : forall w, run (at_rate query_rate query_pos) (at_rate threshold_rate threshold_pos)
      (grow some_key (fun z => z) universe threshold (slots_of slot) adv w rounds false [] (fun _ => false)) no_counters
      (fun l => match l with Ended v => f v | Found _ _ _ v _ => f v end)
    = run (at_rate query_rate query_pos) (at_rate threshold_rate threshold_pos)
      (grow some_key (fun z => z) universe threshold (slots_of slot) adv w rounds false [] (fun _ => false)) no_counters
      (fun l => (match l with Ended v => ret v | Found _ _ _ v _ => ret v end) f)).
  { intro w. f_equal. apply functional_extensionality. now intros [v|x r u v due]. }
  rewrite !In. exact P.
Qed.

(** Conditionally on every prefix: nothing was released so far, with [k] rounds left, on keys that are common to both
    worlds; [taken] are the slots that have had a key, and mu is the law of the gaps on the part of all runs with this
    prefix. After a release nothing is left to hide. *)
Fixpoint all_silent (xs : list key) (mu : law state) : law state :=
  match xs with [] => mu | x :: xs => all_silent xs (after_no (at_rate query_rate query_pos) mu x) end.
Definition counted_for (o : option (key * Z)) (mu : law state) : law state :=
  match o with None => mu | Some (x, tau) => after_dec (bind mu (ensured (at_rate threshold_rate threshold_pos) x tau)) x end.
Inductive prefix (slot : nat -> list event -> nat) : nat -> list event -> (nat -> bool) -> law state -> Prop :=
  | Start : prefix slot rounds [] (fun _ => false) (ret no_counters)
  | Round k published taken mu z : prefix slot (S k) published taken mu ->
      prefix slot k (Answer false :: published) (after_it some_key taken (slot k published) z)
        (all_silent universe (counted_for (counted some_key (fun z => z) threshold taken (slot k published) z) mu)).
Lemma prefix_keeps slot k published taken mu : prefix slot k published taken mu ->
  (k <= rounds)%nat /\ payable (at_rate threshold_rate threshold_pos) mu.
Proof.
  induction 1 as [|k published taken mu z _ [Hk P]]; [split; [lia|apply payable_at_start; reflexivity]|]. split; [lia|].
  set (o := counted _ _ _ _ _ _). assert (C : payable (at_rate threshold_rate threshold_pos) (counted_for o mu)).
  { destruct o as [[x tau]|]; [apply payable_dec; now apply payable_ensured|exact P]. }
  revert C. generalize (counted_for o mu). induction universe as [|x xs IH]; intros nu C; [exact C|]. apply IH; [|now apply payable_no].
  now inversion ND.
Qed.
Theorem first_frequent_prefix_private slot k published taken mu : prefix slot k published taken mu ->
  forall adv world f, (forall v, 0 <= f v <= 1) ->
  let rest w := mu (fun s => run (at_rate query_rate query_pos) (at_rate threshold_rate threshold_pos)
    (grow some_key (fun z => z) universe threshold (slots_of slot) adv w k false published taken) s
    (fun l => match l with Ended v => f v | Found _ _ _ v _ => f v end)) in
  rest world <= exp epsilon * rest (negb world) + delta * mu (fun _ => 1).
Proof.
  intros Pr adv world f Hf. destruct (prefix_keeps _ _ _ _ _ Pr) as [Hk P].
  set (a := at_rate query_rate query_pos) in *. set (b := at_rate threshold_rate threshold_pos) in *.
  pose proof (stray_closed a b threshold nonnegative) as St. pose proof (stray_01 a b threshold) as S01.
  change (base a) with (exp (- query_rate)) in St. change (base b) with (exp (- threshold_rate)) in St.
  pose proof (pos_INR rounds) as Hr. pose proof (exp_pos epsilon) as He.
  assert (D : (1 + exp epsilon) * (INR rounds * stray a b threshold) <= delta) by (rewrite St; apply Rle_trans with (2 := enough); right; ring).
  assert (Pd : 0 <= delta) by (apply Rle_trans with (2 := D); repeat apply Rmult_le_pos; lra).
  assert (Rates : 1 <= exp epsilon * (a * b)).
  { change (1 <= exp epsilon * (exp (- query_rate) * exp (- threshold_rate))). rewrite <- !exp_plus, <- exp_0. apply exp_le. lra. }
  exact (early_prefix_private some_key (fun z => z) (fun _ _ => false) universe threshold (fun _ => 0%Z) a b b false (slots_of slot) adv ND rounds
    epsilon epsilon delta ltac:(lra) Pd Rates D ltac:(lra) threshold_rate threshold_pos eq_refl ltac:(lra) 0 world k published taken mu f Hf Hk P).
Qed.

(** A slot for each round: every key counts, and streams differ in one key. *)
Fixpoint observed (adv : adversary (option key) event) (world : bool) (k : nat) (used : bool) (published : list event) : tree found :=
  match k with
  | O => Done (Ended published)
  | S k =>
      let (z, used) := received adv world used published in
      count (option_map (fun x => (x, threshold)) z)
        (toss_each universe (fun _ => false) (fun due =>
          if existsb due universe then Done (Found (negb used && world) k used (shown universe due :: published) due)
          else observed adv world k used (Answer false :: published)))
  end.
Lemma own_slots adv world k : forall used published taken, (forall i, (i < k)%nat -> taken i = false) ->
  grow some_key (fun z => z) universe threshold (slots_of (fun i _ => i)) adv world k used published taken = observed adv world k used published.
Proof.
  induction k as [|k IH]; intros used published taken H; [reflexivity|]. cbn [grow observed slots_of place].
  destruct (received adv world used published) as [z used'].
  assert (C : counted some_key (fun z => z) threshold taken k z = option_map (fun x => (x, threshold)) z).
  { unfold counted. rewrite (H k) by lia. destruct z; reflexivity. }
  rewrite C. f_equal. f_equal. apply functional_extensionality. intro due. destruct (existsb due universe); [reflexivity|].
  apply IH. intros i Hi. unfold after_it. destruct (some_key z); [|apply H; lia]. unfold set. destruct (Nat.eqb_spec i k); [lia|apply H; lia].
Qed.
Corollary one_key_replaced adv : keys_counted (fun i _ => i) adv = fun world => observed adv world rounds false [].
Proof. apply functional_extensionality. intro world. unfold keys_counted. apply own_slots. reflexivity. Qed.
End Promise.
(* main: first_frequent_private, first_frequent_prefix_private, one_key_replaced *)
