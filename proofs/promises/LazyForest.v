(** learners/lazy_forest: the paper's realizable learner, Theorem 1.1's privacy half. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours CountAboveThreshold PrivateHistogram.
Import ListNotations.
Open Scope R_scope.

(** Slots, permutations and the labels of guesses are drawn ahead: their law depends on no data (F1). They
    are told apart by how many rounds are left, and by the layer. *)
Record arrangement := Arrangement {
  from : nat -> nat;                     (* which pair's child sits on a slot of the next layer *)
  to : nat -> nat;                       (* where the child of a pair sits *)
  to_from : forall slot, to (from slot) = slot;
  label : nat -> bool }.                 (* the guess for each pair *)
Record coins := Coins {
  slot : nat -> nat -> nat;              (* of a layer, which example goes where *)
  arranged : nat -> nat -> arrangement;
  ties : nat -> nat -> nat -> nat }.     (* the order of hypotheses with equal noisy counts *)

Section Forest.
(** The base learner is deterministic; a state that contradicts every concept is None. *)
Context {state hypothesis X : Type}.
Variable hypothesis_dec : forall h h' : hypothesis, {h = h'} + {h <> h'}.
Variable says : state -> hypothesis.
Variable begin : state.
Variable after : state -> X -> option state.
Variable tournament : state -> state -> bool -> option state.   (* (L6, L7) of Update; None: no child *)
Variable errs : hypothesis -> X -> bool.

(** ** One layer: pairs of siblings, of which a real example splits some *)

Record pair := Pair { one : option state; two : option state; split : bool }.
Notation layer := (nat -> pair).

Definition agree (p : pair) : option hypothesis :=
  match split p, one p, two p with
  | false, Some u, Some v => if hypothesis_dec (says u) (says v) then Some (says u) else None
  | _, _, _ => None
  end.
(** (L7, L8, L9): the slot's pair takes the example if it agrees on the published h, which errs. *)
Definition taken (h : hypothesis) (z : X) (p : pair) : pair :=
  if errs h z then
    match agree p, one p with
    | Some g, Some u => if hypothesis_dec g h then Pair (after u z) (two p) true else p
    | _, _ => p
    end
  else p.
Definition insert (h : hypothesis) (i : nat) (z : X) (F : layer) : layer :=
  fun j => if Nat.eqb j i then taken h z (F j) else F j.
(** Update: a split pair hands its first sequence up, one that disagrees a guess. *)
Definition child (p : pair) (guess : bool) : option state :=
  if split p then one p
  else match one p, two p with
       | Some u, Some v => if hypothesis_dec (says u) (says v) then None else tournament u v guess
       | _, _ => None
       end.
Definition sequence (A : arrangement) (F : layer) (j : nat) : option state := child (F (from A j)) (label A (from A j)).
Definition next (A : arrangement) (F : layer) : layer :=
  fun k => Pair (sequence A F (2 * k)) (sequence A F (2 * k + 1)) false.
Definition empty : layer := fun _ => Pair (Some begin) (Some begin) false.

Definition listed_of {A} (o : option A) : list A := match o with Some x => [x] | None => [] end.
(** (L16): pairs that agree; in the last layer single sequences. *)
Definition votes (pairs : nat) (F : layer) : list hypothesis := flat_map (fun k => listed_of (agree (F k))) (seq 0 pairs).
Definition singles (pairs : nat) (A : arrangement) (F : layer) : list hypothesis :=
  flat_map (fun i => listed_of (option_map says (child (F i) (label A i)))) (seq 0 pairs).

(** ** Sensitivity: layer.md, Lemma *)

Definition differ (k : nat) (F F' : layer) := forall j, j <> k -> F j = F' j.

Lemma insert_differ h i z k F F' : differ k F F' -> differ k (insert h i z F) (insert h i z F').
Proof. intros D j Hj. unfold insert. now rewrite (D j Hj). Qed.
Lemma insert_other h i z z' F : differ i (insert h i z F) (insert h i z' F).
Proof. intros j Hj. unfold insert. destruct (Nat.eqb_spec j i); congruence. Qed.
(** (a) *)
Lemma sequence_differ A k F F' j : differ k F F' -> j <> to A k -> sequence A F j = sequence A F' j.
Proof.
  intros D Hj. unfold sequence. rewrite (D (from A j)); [reflexivity|]. intro E. apply Hj. rewrite <- E. symmetry. apply to_from.
Qed.
(** (b) *)
Lemma next_differ A k F F' : differ k F F' -> differ (Nat.div (to A k) 2) (next A F) (next A F').
Proof.
  intros D j Hj. unfold next. f_equal; apply (sequence_differ A k); try assumption; intro E; apply Hj; rewrite <- E.
  - rewrite Nat.mul_comm. symmetry. apply Nat.div_mul. lia.
  - rewrite Nat.mul_comm, Nat.div_add_l by lia. simpl. lia.
Qed.
(** (c) Each of the two differing pairs agrees on the hypothesis of their common sequence, or on nothing. *)
Lemma agree_common u u' v : agree (Pair u v false) = agree (Pair u' v false)
  \/ exists g, (agree (Pair u v false) = Some g /\ agree (Pair u' v false) = None)
            \/ (agree (Pair u v false) = None /\ agree (Pair u' v false) = Some g).
Proof.
  unfold agree. cbn [split one two]. destruct v as [v|]; [|left; destruct u, u'; reflexivity].
  destruct u as [u|], u' as [u'|]; try (left; reflexivity).
  - destruct (hypothesis_dec (says u) (says v)) as [E|N], (hypothesis_dec (says u') (says v)) as [E'|N'];
      [left; congruence|right; eauto|right; eauto|left; reflexivity].
  - destruct (hypothesis_dec (says u) (says v)); [right; eauto|left; reflexivity].
  - destruct (hypothesis_dec (says u') (says v)); [right; eauto|left; reflexivity].
Qed.
Lemma agree_common' u u' v : agree (Pair v u false) = agree (Pair v u' false)
  \/ exists g, (agree (Pair v u false) = Some g /\ agree (Pair v u' false) = None)
            \/ (agree (Pair v u false) = None /\ agree (Pair v u' false) = Some g).
Proof.
  unfold agree. cbn [split one two]. destruct v as [v|]; [|left; reflexivity].
  destruct u as [u|], u' as [u'|]; try (left; reflexivity).
  - destruct (hypothesis_dec (says v) (says u)) as [E|N], (hypothesis_dec (says v) (says u')) as [E'|N'];
      [left; congruence|right; eauto|right; eauto|left; reflexivity].
  - destruct (hypothesis_dec (says v) (says u)); [right; eauto|left; reflexivity].
  - destruct (hypothesis_dec (says v) (says u')); [right; eauto|left; reflexivity].
Qed.

Lemma flat_map_differ {A} (f f' : nat -> list A) k ks : NoDup ks -> (forall j, j <> k -> f j = f' j) ->
  flat_map f ks = flat_map f' ks \/ exists l r, flat_map f ks = l ++ f k ++ r /\ flat_map f' ks = l ++ f' k ++ r.
Proof.
  intros ND D. assert (Out : forall l, ~ In k l -> flat_map f l = flat_map f' l).
  { intros l N. induction l as [|j l IH]; [reflexivity|]. simpl in *. rewrite D, IH by tauto. reflexivity. }
  destruct (in_dec Nat.eq_dec k ks) as [I|N]; [|left; now apply Out]. right.
  apply in_split in I. destruct I as [l [r ->]]. exists (flat_map f l), (flat_map f r).
  apply NoDup_remove_2 in ND. rewrite in_app_iff in ND.
  rewrite !flat_map_app. simpl. rewrite <- (Out l), <- (Out r) by tauto. auto.
Qed.
Lemma listed_short {A} (o : option A) : (length (listed_of o) <= 1)%nat.
Proof. destruct o; simpl; lia. Qed.
Lemma votes_neighbour pairs A k F F' : differ k F F' ->
  votes pairs (next A F) = votes pairs (next A F') \/ neighbouring AddRemove (votes pairs (next A F)) (votes pairs (next A F')).
Proof.
  intro D. pose proof (next_differ A k F F' D) as ND. set (i := Nat.div (to A k) 2) in *.
  assert (Dv : forall j, j <> i -> listed_of (agree (next A F j)) = listed_of (agree (next A F' j))) by (intros j Hj; now rewrite (ND j Hj)).
  unfold votes.
  destruct (flat_map_differ (fun k => listed_of (agree (next A F k))) (fun k => listed_of (agree (next A F' k))) i (seq 0 pairs) (seq_NoDup _ _) Dv)
    as [E|(l & r & -> & ->)]; [left; exact E|].
  assert (C : agree (next A F i) = agree (next A F' i) \/ exists g,
    (agree (next A F i) = Some g /\ agree (next A F' i) = None) \/ (agree (next A F i) = None /\ agree (next A F' i) = Some g)).
  { unfold next. destruct (Nat.Even_or_Odd (to A k)) as [[q Hq]|[q Hq]].
    - assert (Hi : i = q) by (unfold i; rewrite Hq, Nat.mul_comm; apply Nat.div_mul; lia).
      rewrite (sequence_differ A k F F' (2 * i + 1) D); [apply agree_common|]. lia.
    - assert (Hi : i = q) by (unfold i; rewrite Hq, Nat.mul_comm, Nat.div_add_l by lia; simpl; lia).
      rewrite (sequence_differ A k F F' (2 * i) D); [apply agree_common'|]. lia. }
  destruct C as [E|[g [[E E']|[E E']]]]; rewrite E; [now left| |]; rewrite E'; right; exists l, r, g; simpl; auto.
Qed.
Lemma singles_neighbour pairs A k F F' : differ k F F' -> neighbouring Replace (singles pairs A F) (singles pairs A F').
Proof.
  intro D. unfold singles.
  destruct (flat_map_differ (fun i => listed_of (option_map says (child (F i) (label A i))))
    (fun i => listed_of (option_map says (child (F' i) (label A i)))) k (seq 0 pairs) (seq_NoDup _ _)) as [E|(l & r & -> & ->)].
  - intros j Hj. now rewrite (D j Hj).
  - rewrite E. eexists _, [], [], []. rewrite app_nil_r. simpl. auto.
  - exists l, r. eexists _, _. split; [apply listed_short|]. split; [apply listed_short|]. auto.
Qed.

(** ** The learner, for fixed coins *)

Variable depth : nat.                                        (* d *)
Variable pairs : nat -> nat.                                 (* of each layer *)
Variable switch_rate : nat -> rate.                          (* of the AboveThreshold of each layer *)
Variable switch_threshold : nat -> hypothesis -> Z.          (* (L4, L19) *)
Variable release : nat -> list hypothesis -> law (list (option Z)).   (* (L17) *)
Variable listing : coins -> nat -> nat -> list (option Z) -> list hypothesis. (* (L18); equal counts are ordered by [ties] *)
Variable restarts : bool.

(** What is released: all answers of AboveThreshold, and all lists with their noisy counts. The stream of
    hypotheses is a function of these and of the coins. *)
Inductive event := Answer (yes : bool) | Listed (counts : list (option Z)).
Notation view := (list event).
Variable c : coins.
Variable adv : adversary X event.

(** One instance of AboveThreshold ends with a yes, or when no round is left. Once the challenge is used it
    does not matter any more which world this is. *)
Inductive leaf := Over (v : view) | Yes (world : bool) (rounds : nat) (used : bool) (v : view) (F : layer).
Fixpoint watch (world : bool) (rounds : nat) (used : bool) (published : view) (s : nat) (h : hypothesis) (F : layer) : tree leaf :=
  match rounds with
  | O => Done (Over published)
  | S rounds =>
      let (z, used) := received adv world used published in
      let F := if Nat.ltb s depth then insert h (slot c s rounds) z F else F in
      count (if errs h z then Some (0%nat, switch_threshold s h) else None)            (* (L10) *)
        (Toss 0%nat (fun yes =>
          if yes then Done (Yes (negb used && world) rounds used (Answer true :: published) F) (* (L11, L12) *)
          else watch world rounds used (Answer false :: published) s h F))
  end.

(** [fuel] bounds the number of instances, updates and copies; depth + 2 for each round are enough. *)
Fixpoint play (fuel : nat) (world : bool) (rounds : nat) (used : bool) (published : view) (s : nat) (L : list hypothesis) (F : layer) : law view :=
  match fuel with
  | O => ret published
  | S fuel =>
      match L with
      | h :: L =>                                                                      (* (L6) *)
          bind (run (switch_rate s) (switch_rate s)
                  (Ensure 0%nat (switch_threshold s h) (watch world rounds used published s h F)) no_counters)
            (fun l => match l with
                      | Over v => ret v
                      | Yes world rounds used v F => play fuel world rounds used v s L F
                      end)
      | [] =>
          if Nat.ltb s depth then                                                      (* (L13) *)
            let A := arranged c rounds s in
            let V := if Nat.eqb (S s) depth then singles (pairs s) A F else votes (pairs (S s)) (next A F) in
            bind (release (S s) V) (fun counts =>                                      (* (L14, L15, L16, L17) *)
              play fuel world rounds used (Listed counts :: published) (S s) (listing c rounds (S s) counts) (next A F))
          else if restarts then play fuel world rounds used published 0 [says begin] empty
          else ret published
      end
  end.

(** ** The costs *)

Variables (eps del : nat -> R).                              (* of the histogram of each layer *)
Hypothesis eps_pos : forall s, 0 <= eps s.
Hypothesis del_pos : forall s, 0 <= del s.
Hypothesis release_private : forall s V V',
  neighbouring (if Nat.eqb s depth then Replace else AddRemove) V V' -> within (eps s) (del s) (release s V) (release s V').
(** of the layers s + 1, ..., s + n *)
Fixpoint total (f : nat -> R) (s n : nat) : R := match n with O => 0 | S n => f (S s) + total f (S s) n end.
Definition later (f : nat -> R) (s : nat) : R := total f s (depth - s).
Lemma total_pos f s n : (forall s, 0 <= f s) -> 0 <= total f s n.
Proof. intro H. revert s. induction n as [|n IH]; intro s; simpl; [lra|]. specialize (H (S s)). specialize (IH (S s)). lra. Qed.
Lemma later_next f s : (s < depth)%nat -> later f s = f (S s) + later f (S s).
Proof. intro H. unfold later. replace (depth - s)%nat with (S (depth - S s)) by lia. reflexivity. Qed.

Lemma watch_used world world' rounds : forall published s h F,
  watch world rounds true published s h F = watch world' rounds true published s h F.
Proof.
  induction rounds as [|rounds IH]; intros published s h F; [reflexivity|]. cbn [watch received]. f_equal. f_equal.
  apply functional_extensionality. intros [|]; [reflexivity|apply IH].
Qed.
Lemma play_used world world' fuel : forall rounds published s L F,
  play fuel world rounds true published s L F = play fuel world' rounds true published s L F.
Proof.
  induction fuel as [|fuel IH]; intros rounds published s L F; [reflexivity|]. cbn [play]. destruct L as [|h L].
  - destruct (Nat.ltb s depth); [f_equal; apply functional_extensionality; intro counts; apply IH|].
    destruct restarts; [apply IH|reflexivity].
  - now rewrite (watch_used world world').
Qed.

(** Leaves of two worlds after the challenge: their layers are close, here because one pair differs. *)
Section Close.
Variable close : layer -> layer -> Prop.
Hypothesis close_insert : forall h i z F F', close F F' -> close (insert h i z F) (insert h i z F').
Definition later_leaf (l l' : leaf) := l = l' \/ exists r v F F',
  l = Yes false r true v F /\ l' = Yes false r true v F' /\ close F F'.
Lemma watch_differ world rounds : forall published s h F F', close F F' ->
  alike later_leaf (watch world rounds true published s h F) (watch world rounds true published s h F').
Proof.
  induction rounds as [|rounds IH]; intros published s h F F' D; [apply AlikeDone; now left|]. cbn [watch received].
  set (z := example adv published). set (i := slot c s rounds).
  assert (K : forall F F', close F F' -> alike later_leaf
    (Toss 0%nat (fun yes : bool => if yes then Done (Yes (negb true && world) rounds true (Answer true :: published) F)
        else watch world rounds true (Answer false :: published) s h F))
    (Toss 0%nat (fun yes : bool => if yes then Done (Yes (negb true && world) rounds true (Answer true :: published) F')
        else watch world rounds true (Answer false :: published) s h F'))).
  { intros G G' DG. apply AlikeToss. intros [|]; [apply AlikeDone; right; do 4 eexists; eauto|now apply IH]. }
  assert (D' : close (if Nat.ltb s depth then insert h i z F else F) (if Nat.ltb s depth then insert h i z F' else F')).
  { destruct (Nat.ltb s depth); [now apply close_insert|exact D]. }
  destruct (errs h z); cbn [count]; [apply AlikeEnsure, AlikeDec|]; now apply K.
Qed.
End Close.
Definition in_one_pair (F F' : layer) := exists k, differ k F F'.
Lemma one_pair_insert h i z F F' : in_one_pair F F' -> in_one_pair (insert h i z F) (insert h i z F').
Proof. intros [k D]. exists k. now apply insert_differ. Qed.

Definition rest (fuel s : nat) (L : list hypothesis) (f : view -> R) (l : leaf) : R :=
  match l with Over v => f v | Yes world rounds used v F => play fuel world rounds used v s L F f end.
Lemma rest_01 fuel s L f l : (forall v, 0 <= f v <= 1) -> 0 <= rest fuel s L f l <= 1.
Proof. intro Hf. destruct l; [apply Hf|now apply E_test]. Qed.
Lemma play_instance fuel world rounds used published s h L F f :
  play (S fuel) world rounds used published s (h :: L) F f
  = run (switch_rate s) (switch_rate s) (Ensure 0%nat (switch_threshold s h) (watch world rounds used published s h F)) no_counters
      (rest fuel s L f).
Proof.
  cbn [play]. cbn [bind E]. f_equal. apply functional_extensionality. intros [v|w r u v F']; reflexivity.
Qed.

Lemma unexp x y e d : x <= exp e * y + d -> exp (- e) * x <= y + exp (- e) * d.
Proof.
  intro H. apply Rmult_le_compat_l with (r := exp (- e)) in H; [|left; apply exp_pos].
  rewrite Rmult_plus_distr_l, <- Rmult_assoc, (Rmult_comm (exp (- e)) (exp e)), exp_opp, Rmult_1_l in H. exact H.
Qed.
Lemma reexp x y e d : exp (- e) * x <= y + exp (- e) * d -> x <= exp e * y + d.
Proof.
  intro H. apply Rmult_le_compat_l with (r := exp e) in H; [|left; apply exp_pos].
  rewrite Rmult_plus_distr_l, <- !Rmult_assoc, exp_opp, !Rmult_1_l in H. exact H.
Qed.
Lemma exp_neg_01 e : 0 <= e -> 0 < exp (- e) <= 1.
Proof. intro H. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_le. lra. Qed.

(** After the challenge: the histograms of later layers pay. *)
Lemma play_differ fuel : forall world rounds published s L F F' k, differ k F F' ->
  within (later eps s) (later del s) (play fuel world rounds true published s L F) (play fuel world rounds true published s L F').
Proof.
  assert (Pe : forall s, 0 <= later eps s) by (intro; now apply total_pos).
  assert (Pd : forall s, 0 <= later del s) by (intro; now apply total_pos).
  assert (Free : forall s (l : law view), within (later eps s) (later del s) l l)
    by (intros s l; apply (within_weaker 0 0); [apply Pe|apply Pd|apply within_refl]).
  induction fuel as [|fuel IH]; intros world rounds published s L F F' k D; [apply Free|].
  destruct L as [|h L].
  - cbn [play]. destruct (Nat.ltb_spec s depth) as [Ls|Ls]; [|destruct restarts; apply Free].
    rewrite (later_next eps s Ls), (later_next del s Ls). set (A := arranged c rounds s).
    apply compose; [apply Pd| |intro counts; apply (IH _ _ _ _ _ _ _ _ (next_differ A k F F' D))].
    destruct (Nat.eqb (S s) depth) eqn:Eq.
    + apply release_private. rewrite Eq. now apply (singles_neighbour _ _ k).
    + destruct (votes_neighbour (pairs (S s)) A k F F' D) as [->|N].
      * apply (within_weaker 0 0); [apply eps_pos|apply del_pos|apply within_refl].
      * apply release_private. rewrite Eq. exact N.
  - intros f Hf. rewrite !play_instance. apply reexp.
    apply (alike_close (switch_rate s) (switch_rate s) (exp (- later eps s)) (later_leaf in_one_pair) (exp_neg_01 _ (Pe s)) (rest fuel s L f) (later del s));
      [intro; now apply rest_01|apply Pd| |apply AlikeEnsure; apply watch_differ; [apply one_pair_insert|now exists k]].
    intros l l' [->|(r & v & G & G' & -> & -> & k' & DG)].
    + pose proof (rest_01 fuel s L f l' Hf). pose proof (exp_neg_01 _ (Pe s)). specialize (Pd s).
      assert (0 <= exp (- later eps s) * later del s) by nra. nra.
    + cbn [rest]. apply unexp. now apply (IH _ _ _ _ _ _ _ k').
Qed.

(** Before it. *)
Variables (switch_eps : nat -> R) (epsilon delta : R).
Hypothesis switch_pos : forall s, 0 < switch_eps s.
Hypothesis switch_base : forall s, base (switch_rate s) = exp (- switch_eps s).
Hypothesis affordable_epsilon : forall s, (s <= depth)%nat -> switch_eps s + later eps s <= epsilon.
Hypothesis affordable_delta : later del 0 <= delta.

Lemma later_less f s : (forall s, 0 <= f s) -> later f s <= later f 0.
Proof.
  intro H. induction s as [|s IH]; [lra|]. destruct (Nat.lt_ge_cases s depth) as [L|L].
  - rewrite (later_next f s L) in IH. specialize (H (S s)). lra.
  - unfold later at 1. replace (depth - S s)%nat with 0%nat by lia. simpl. now apply total_pos.
Qed.
(** Leaves of two worlds before the challenge. *)
Definition earlier_leaf (most : nat) (l l' : leaf) := l = l' \/ exists w r v F, (r <= most)%nat /\ l = Yes w r false v F /\ l' = Yes (negb w) r false v F.
Definition counter : key -> bool := set (fun _ => false) 0%nat true.

Section Before.
Variable close : layer -> layer -> Prop.
Hypothesis close_insert : forall h i z F F', close F F' -> close (insert h i z F) (insert h i z F').
Hypothesis close_challenge : forall h i z z' F, close (insert h i z F) (insert h i z' F).
Hypothesis close_same : forall F, close F F.
Lemma watch_neighbours world most rounds s h : (s <= depth)%nat -> (rounds <= most)%nat -> forall published F,
  neighbours (switch_rate s) (switch_rate s) (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf most) (later_leaf close) (later_leaf close)
    (switch_threshold s h) 0 counter (watch world rounds false published s h F) (watch (negb world) rounds false published s h F).
Proof.
  intro Hs. pose proof (affordable_epsilon s Hs) as Af. set (q := switch_rate s) in *. pose proof (base_01 q) as Hq.
  assert (Pe : 0 <= later eps s) by now apply total_pos.
  assert (Price : exp (- epsilon) <= q * exp (- later eps s)).
  { unfold q. rewrite switch_base, <- exp_plus. apply exp_le. lra. }
  assert (Kept : exp (- epsilon) <= exp (- later eps s)) by (apply exp_le; pose proof (switch_pos s); lra).
  induction rounds as [|rounds IH]; intros Hm published F; [apply Ended; now left|]. specialize (IH ltac:(lia)). cbn [watch received].
  destruct (challenge adv published) as [[z0 z1]|].
  - set (z := if world then z1 else z0). set (z' := if negb world then z1 else z0). set (i := slot c s rounds).
    set (in_layer z := if Nat.ltb s depth then insert h i z F else F).
    assert (D : close (in_layer z) (in_layer z')).
    { unfold in_layer. destruct (Nat.ltb s depth); [apply close_challenge|apply close_same]. }
    set (t w G := Toss 0%nat (fun yes : bool => if yes then Done (Yes (negb true && w) rounds true (Answer true :: published) G)
      else watch w rounds true (Answer false :: published) s h G)).
    change (neighbours q q (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf most) (later_leaf close) (later_leaf close) (switch_threshold s h) 0 counter
      (count (if errs h z then Some (0%nat, switch_threshold s h) else None) (t world (in_layer z)))
      (count (if errs h z' then Some (0%nat, switch_threshold s h) else None) (t (negb world) (in_layer z')))).
    assert (Al : alike (later_leaf close) (t world (in_layer z)) (t (negb world) (in_layer z'))).
    { unfold t. apply AlikeToss. intros [|]; [apply AlikeDone; right; do 4 eexists; eauto|].
      rewrite (watch_used (negb world) world). now apply watch_differ. }
    assert (Cov : forall o, o = Some (0%nat, switch_threshold s h) \/ o = None ->
      covered (switch_threshold s h) 0 counter o (t (negb world) (in_layer z'))).
    { intros o [->| ->]; [left; apply set_same|exact I]. }
    destruct (errs h z), (errs h z').
    + apply AlikeFromNow; [exact Kept|]. apply AlikeEnsure, AlikeDec, Al.
    + apply Challenge; [unfold price; lra|exact I|apply Cov; auto|apply Cov; auto|exact Al].
    + apply Challenge; [unfold price; lra|exact I|apply Cov; auto|apply Cov; auto|exact Al].
    + apply AlikeFromNow; [exact Kept|exact Al].
  - set (z := example adv published). set (G := if Nat.ltb s depth then insert h (slot c s rounds) z F else F).
    assert (K : forall Lc, Lc = counter -> neighbours q q (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf most) (later_leaf close) (later_leaf close) (switch_threshold s h) 0 Lc
      (Toss 0%nat (fun yes : bool => if yes then Done (Yes (negb false && world) rounds false (Answer true :: published) G)
         else watch world rounds false (Answer false :: published) s h G))
      (Toss 0%nat (fun yes : bool => if yes then Done (Yes (negb false && negb world) rounds false (Answer true :: published) G)
         else watch (negb world) rounds false (Answer false :: published) s h G))).
    { intros Lc ->. apply TossBoth; [|apply IH]. apply Ended. right. do 4 eexists. split; [|split; reflexivity]. lia. }
    destruct (errs h z); cbn [count]; [apply EnsureBoth, DecBoth|]; apply K; [unfold counter; apply set_set|reflexivity].
Qed.
End Before.

Lemma one_pair_challenge h i z z' F : in_one_pair (insert h i z F) (insert h i z' F).
Proof. exists i. apply insert_other. Qed.
Lemma one_pair_same F : in_one_pair F F.
Proof. exists 0%nat. intros j _. reflexivity. Qed.
Hypothesis Heps : 0 <= epsilon.
Hypothesis Hdelta : 0 <= delta.
Lemma instance_private fuel most s h L f : (s <= depth)%nat -> (forall v, 0 <= f v <= 1) ->
  (forall world rounds published F, within epsilon delta
    (play fuel world rounds false published s L F) (play fuel (negb world) rounds false published s L F)) ->
  let q := switch_rate s in forall there t0 t1,
  neighbours q q (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf most) (later_leaf in_one_pair) (later_leaf in_one_pair) (switch_threshold s h) 0 there t0 t1 ->
  forall mu, payable q mu -> present there mu ->
  mu (fun st => run q q t0 st (rest fuel s L f))
  <= exp epsilon * mu (fun st => run q q t1 st (rest fuel s L f)) + delta * mu (fun _ => 1).
Proof.
  intros Hs Hf IH q there t0 t1 N mu P Q. apply reexp. pose proof (base_01 q) as Hq.
  assert (Pe : 0 <= later eps s) by now apply total_pos.
  assert (Pd : 0 <= later del s <= delta) by (split; [now apply total_pos|pose proof (later_less del s del_pos); lra]).
  pose proof (exp_neg_01 epsilon Heps) as Ec. pose proof (exp_neg_01 _ Pe) as Ek.
  assert (Hb : forall v0 v1, earlier_leaf most v0 v1 -> exp (- epsilon) * rest fuel s L f v0 <= rest fuel s L f v1 + exp (- epsilon) * delta).
  { intros l l' [->|(w & r & v & G & _ & -> & ->)].
    - pose proof (rest_01 fuel s L f l' Hf). assert (0 <= exp (- epsilon) * delta) by nra. nra.
    - cbn [rest]. apply unexp. now apply IH. }
  assert (Ha : forall v0 v1, later_leaf in_one_pair v0 v1 -> exp (- later eps s) * rest fuel s L f v0 <= rest fuel s L f v1 + exp (- later eps s) * delta).
  { intros l l' [->|(r & v & G & G' & -> & -> & k & DG)].
    - pose proof (rest_01 fuel s L f l' Hf). assert (0 <= exp (- later eps s) * delta) by nra. nra.
    - cbn [rest]. apply unexp. pose proof (play_differ fuel false r v s L G G' k DG f Hf). lra. }
  assert (T := counters_private q q (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf most) (later_leaf in_one_pair) (later_leaf in_one_pair) (switch_threshold s h) 0
    ltac:(lra) Ek Ek (rest fuel s L f) delta ltac:(intro; now apply rest_01) Hdelta Hb Ha Ha there t0 t1 N mu P Q).
  cbn [INR] in T. rewrite Rmult_0_l, Rmult_0_r, Rplus_0_l in T. rewrite <- Rmult_assoc. exact T.
Qed.

Lemma play_private fuel : forall world rounds published s L F, (s <= depth)%nat ->
  within epsilon delta (play fuel world rounds false published s L F) (play fuel (negb world) rounds false published s L F).
Proof.
  assert (Free : forall l : law view, within epsilon delta l l)
    by (intro l; apply (within_weaker 0 0); [exact Heps|exact Hdelta|apply within_refl]).
  induction fuel as [|fuel IH]; intros world rounds published s L F Hs; [apply Free|]. destruct L as [|h L].
  - cbn [play]. destruct (Nat.ltb_spec s depth) as [Ls|Ls].
    + apply F1_fixed_coins; [exact Hdelta|]. intro counts. apply IH. lia.
    + destruct restarts; [apply IH; lia|apply Free].
  - intros f Hf. rewrite !play_instance.
    assert (N : neighbours (switch_rate s) (switch_rate s) (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf rounds) (later_leaf in_one_pair) (later_leaf in_one_pair)
        (switch_threshold s h) 0 (fun _ => false)
        (Ensure 0%nat (switch_threshold s h) (watch world rounds false published s h F))
        (Ensure 0%nat (switch_threshold s h) (watch (negb world) rounds false published s h F)))
      by (apply EnsureBoth; apply watch_neighbours; [apply one_pair_insert|apply one_pair_challenge|apply one_pair_same|exact Hs|apply le_n]).
    assert (T := instance_private fuel rounds s h L f Hs Hf ltac:(intros; now apply IH) _ _ _ N
      (ret no_counters) (payable_at_start _ no_counters ltac:(reflexivity)) (present_at_start no_counters)).
    cbn [ret E] in T. rewrite Rmult_1_r in T. exact T.
Qed.

(** Conditionally on every prefix: in the middle of an instance, whose gap has the law mu on the part of all
    runs with this prefix. *)
Theorem play_prefix_private fuel world rounds published s h L F mu f : (s <= depth)%nat -> (forall v, 0 <= f v <= 1) ->
  payable (switch_rate s) mu -> present counter mu ->
  let others w := mu (fun st => run (switch_rate s) (switch_rate s) (watch w rounds false published s h F) st (rest fuel s L f)) in
  others world <= exp epsilon * others (negb world) + delta * mu (fun _ => 1).
Proof.
  intros Hs Hf P Q others. apply (instance_private fuel rounds s h L f Hs Hf ltac:(intros; now apply play_private) counter); try assumption.
  apply watch_neighbours; [apply one_pair_insert|apply one_pair_challenge|apply one_pair_same|exact Hs|apply le_n].
Qed.
End Forest.

(** ** The promise *)

Section Promise.
Context {state hypothesis X : Type}.
Variable hypothesis_dec : forall h h' : hypothesis, {h = h'} + {h <> h'}.
Variables (says : state -> hypothesis) (begin : state) (after : state -> X -> option state).
Variable tournament : state -> state -> bool -> option state.
Variable errs : hypothesis -> X -> bool.
Variables (depth : nat) (pairs : nat -> nat) (restarts : bool).
Variable listing_of : coins -> nat -> nat -> list (option Z) -> list hypothesis.
(** All hypotheses that may be listed, however many; PrivateHistogram gives the others no noise. *)
Variable universe : list hypothesis.
Hypothesis ND : NoDup universe.

(** A plan: the budgets of each layer, and its thresholds. *)
Variables (switching listing listing_delta : nat -> R).
Hypothesis switching_pos : forall s, 0 < switching s.
Hypothesis listing_pos : forall s, 0 < listing s.
Hypothesis listing_delta_pos : forall s, 0 <= listing_delta s.
Variable switch_threshold : nat -> hypothesis -> Z.
Variables (noise_bound : nat -> nat) (list_threshold : nat -> Z).
Definition mode_of (s : nat) : mode := if Nat.eqb s depth then Replace else AddRemove.
Let share s := INR (cells_changed (mode_of s)).
Let q s := at_rate (listing s / share s) (share_positive (listing s) (mode_of s) (listing_pos s)).
Hypothesis light : forall s, q s ^ noise_bound s * (1 - q s) <= listing_delta s / share s * (1 + q s - 2 * q s ^ S (noise_bound s)).
Hypothesis high : forall s, (Z.of_nat (noise_bound s) < list_threshold s)%Z.

Variables (epsilon delta : R).
(** plan.py, check_budgets: an example of layer s pays its AboveThreshold and the lists of all later layers. *)
Hypothesis within_epsilon : forall s, (s <= depth)%nat -> switching s + later depth listing s <= epsilon.
Hypothesis within_delta : later depth listing_delta 0 <= delta.

Let switch_rate s := at_rate (switching s) (switching_pos s).
Let release s := private_histogram hypothesis_dec universe (listing s) (mode_of s) (noise_bound s) (list_threshold s) (listing_pos s).

(** Coins of any law that depends on no data; the adversary may know them. *)
Definition lazy_forest (toss : law coins) (adv : coins -> adversary X event) (fuel rounds : nat) (world : bool) : law (coins * list event) :=
  bind toss (fun c =>
    bind (play hypothesis_dec says begin after tournament errs depth pairs switch_rate switch_threshold release listing_of restarts c (adv c)
            fuel world rounds false [] 0 [says begin] (empty begin))
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
Theorem lazy_forest_private toss adv fuel rounds : private epsilon delta (lazy_forest toss adv fuel rounds).
Proof.
  assert (Pd : 0 <= delta) by (apply Rle_trans with (2 := within_delta); now apply total_pos).
  assert (Pl : forall s, 0 <= listing s) by (intro s; left; apply listing_pos).
  assert (Pe : 0 <= epsilon).
  { pose proof (within_epsilon 0 ltac:(lia)) as A. pose proof (switching_pos 0).
    assert (0 <= later depth listing 0) by now apply total_pos. lra. }
  intro world. apply F1_fixed_coins; [exact Pd|]. intro c. apply post_processing.
  apply (play_private hypothesis_dec says begin after tournament errs depth pairs switch_rate switch_threshold release listing_of restarts c (adv c)
    listing listing_delta Pl listing_delta_pos) with (switch_eps := switching); try assumption; try reflexivity; try lia.
  intros s V V' N. exact (one_direction hypothesis_dec universe ND (listing s) (listing_delta s) (mode_of s) (noise_bound s)
    (list_threshold s) (listing_pos s) (light s) (high s) V V' N).
Qed.

(** The stream of hypotheses, or whatever else is made of what is released and of the coins. *)
Corollary lazy_forest_published {W} (shown : coins * list event -> W) toss adv fuel rounds :
  private epsilon delta (fun world => bind (lazy_forest toss adv fuel rounds world) (fun v => ret (shown v))).
Proof. intro world. apply post_processing. apply lazy_forest_private. Qed.
End Promise.
(* main: lazy_forest_private, play_prefix_private *)
