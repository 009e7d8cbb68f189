(** LazyForest in rational numbers, for fixed coins, proved to list its law; and instances of depth 1. *)
From Coq Require Import ZArith QArith Qreals Reals Lra Lia List Bool NArith FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine CountAboveThreshold PrivateHistogram LazyForest Rational ExactCounters Twins Instances.
Import ListNotations.

(** What follows may not be known; then nothing is. *)
Fixpoint bindO {A B} (d : dist A) (k : A -> option (dist B)) : option (dist B) :=
  match d with
  | [] => Some []
  | (a, q) :: d => match k a, bindO d k with Some r, Some rest => Some (scaled q r ++ rest) | _, _ => None end
  end.
Lemma lists_bindO {A B} (d : dist A) l (k : A -> option (dist B)) k' r : lists d l ->
  (forall a r, k a = Some r -> lists r (k' a)) -> bindO d k = Some r -> lists r (bind l k').
Proof.
  intros D K E f Hf. cbn [bind Laws.E]. rewrite D by now apply bounded_E1. clear D. revert r E.
  induction d as [|[a q] d IH]; intros r E; cbn [bindO expect] in *; [injection E as <-; reflexivity|].
  destruct (k a) as [ra|] eqn:Ka; [|discriminate]. destruct (bindO d k) as [rest|]; [|discriminate]. injection E as <-.
  rewrite expect_app, expect_scaled, <- (IH rest eq_refl), (K a ra Ka f Hf). reflexivity.
Qed.

Section Twin.
Context {state hypothesis X : Type}.
Variable hypothesis_dec : forall h h' : hypothesis, {h = h'} + {h <> h'}.
Variables (says : state -> hypothesis) (begin : state) (after : state -> X -> option state).
Variable tournament : state -> state -> bool -> option state.
Variable errs : hypothesis -> X -> bool.
Variables (depth : nat) (pairs : nat -> nat) (switch_threshold : nat -> hypothesis -> Z).
Variable listing : coins -> nat -> nat -> list (option Z) -> list hypothesis.
Variables (restarts : bool) (c : coins) (adv : adversary X event).
Variables (rateQ : nat -> Q) (releaseQ : nat -> list hypothesis -> dist (list (option Z))).

Fixpoint playQ (fuel rounds : nat) (published : list event) (s : nat) (L : list hypothesis) (F : nat -> pair) : option (dist (list event)) :=
  match fuel with
  | O => Some (retQ published)
  | S fuel =>
      match L with
      | h :: L =>
          let t := Ensure 0%nat (switch_threshold s h)
            (watch hypothesis_dec says after errs depth switch_threshold c adv false rounds false published s h F) in
          if worked (rateQ s) (rateQ s) (Z.of_nat rounds) t then
            bindO (law_of (rateQ s) (rateQ s) (Z.of_nat rounds) t)
              (fun l => match l with Over v => Some (retQ v) | Yes _ rounds _ v F => playQ fuel rounds v s L F end)
          else None
      | [] =>
          if Nat.ltb s depth then
            let A := arranged c rounds s in
            let V := if Nat.eqb (S s) depth then singles hypothesis_dec says tournament (pairs s) A F
                     else votes hypothesis_dec says (pairs (S s)) (next hypothesis_dec says tournament A F) in
            bindO (releaseQ (S s) V) (fun counts =>
              playQ fuel rounds (Listed counts :: published) (S s) (listing c rounds (S s) counts) (next hypothesis_dec says tournament A F))
          else if restarts then playQ fuel rounds published 0 [says begin] (empty begin)
          else Some (retQ published)
      end
  end.

Variables (rate_of : nat -> rate) (release : nat -> list hypothesis -> law (list (option Z))).
Hypothesis same_rate : forall s, base (rate_of s) = Q2R (rateQ s).
Hypothesis same_release : forall s V, lists (releaseQ s V) (release s V).
Hypothesis no_challenge : forall v, challenge adv v = None.

(** Without a challenge every leaf of world 0 is one of world 0 before it. *)
Lemma watch_leaves rounds : forall published s h F (k k' : leaf -> law (list event)),
  (forall v, k (Over v) = k' (Over v)) -> (forall r v F, k (Yes false r false v F) = k' (Yes false r false v F)) ->
  forall a b st f, run a b (watch hypothesis_dec says after errs depth switch_threshold c adv false rounds false published s h F) st (fun l => k l f)
  = run a b (watch hypothesis_dec says after errs depth switch_threshold c adv false rounds false published s h F) st (fun l => k' l f).
Proof.
  induction rounds as [|rounds IH]; intros published s h F k k' Ko Ky a b st f; cbn [watch].
  - cbn [run ret Laws.E]. now rewrite Ko.
  - unfold received. rewrite no_challenge.
    assert (T : forall G st, run a b (Toss 0%nat (fun yes : bool => if yes then Done (Yes (negb false && false) rounds false (Answer true :: published) G)
        else watch hypothesis_dec says after errs depth switch_threshold c adv false rounds false (Answer false :: published) s h G)) st (fun l => k l f)
      = run a b (Toss 0%nat (fun yes : bool => if yes then Done (Yes (negb false && false) rounds false (Answer true :: published) G)
        else watch hypothesis_dec says after errs depth switch_threshold c adv false rounds false (Answer false :: published) s h G)) st (fun l => k' l f)).
    { intros G st'. cbn [run mix Laws.E ret negb andb]. now rewrite Ky, (IH _ _ _ _ k k' Ko Ky). }
    destruct (errs h (example adv published)); cbn [count]; [|apply T]. cbn [run bind Laws.E]. f_equal.
    apply functional_extensionality. intro st'. apply T.
Qed.

Theorem playQ_correct fuel : forall rounds published s L F r, playQ fuel rounds published s L F = Some r ->
  lists r (play hypothesis_dec says begin after tournament errs depth pairs rate_of switch_threshold release listing restarts c adv
    fuel false rounds false published s L F).
Proof.
  induction fuel as [|fuel IH]; intros rounds published s L F r E; cbn [playQ] in E; cbn [play].
  - injection E as <-. apply lists_ret.
  - destruct L as [|h L].
    + destruct (Nat.ltb s depth).
      * refine (lists_bindO _ _ _ _ r (same_release _ _) _ E). intros counts r'. apply IH.
      * destruct restarts; [now apply IH|]. injection E as <-. apply lists_ret.
    + destruct (worked _ _ _ _) eqn:W in E; [|discriminate].
      pose proof (law_of_correct (rate_of s) (rate_of s) (rateQ s) (rateQ s) (Z.of_nat rounds) (same_rate s) (same_rate s) _ W) as Lw.
      set (k' := fun l : leaf => match l with Over v => ret v | Yes _ rounds _ v F =>
        play hypothesis_dec says begin after tournament errs depth pairs rate_of switch_threshold release listing restarts c adv fuel false rounds false v s L F end).
      assert (G : lists r (bind (run (rate_of s) (rate_of s) (Ensure 0%nat (switch_threshold s h)
        (watch hypothesis_dec says after errs depth switch_threshold c adv false rounds false published s h F)) no_counters) k')).
      { refine (lists_bindO _ _ _ k' r Lw _ E). intros [v|w rd u v G] r' Er; cbn in Er; [injection Er as <-; apply lists_ret|now apply IH]. }
      intros f Hf. rewrite <- (G f Hf). cbn [bind Laws.E run]. f_equal. apply functional_extensionality. intro st.
      apply (watch_leaves rounds published s h F
        (fun l => match l with Over v => ret v | Yes w rd u v G => play hypothesis_dec says begin after tournament errs depth pairs rate_of switch_threshold release listing restarts c adv fuel w rd u v s L G end) k');
        reflexivity.
Qed.
End Twin.

(** ** Instances: tables for the base learner, one uniformly random slot for each round *)

Record learner := Learner {
  hypothesis_of : list nat; after_table : list (list (option nat)); errs_table : list (list bool) }.
Definition slots_from (l : list nat) : nat -> nat -> nat := fun _ rounds => nth rounds l 0%nat.
Definition plain : arrangement := Arrangement (fun j => j) (fun j => j) (fun _ => eq_refl) (fun _ => false).
Fixpoint sequences (n : nat) (choices : list nat) : list (list nat) :=
  match n with O => [[]] | S n => flat_map (fun x => map (cons x) (sequences n choices)) choices end.
(** The largest count first, and equal ones by their ranks. *)
Fixpoint placed (rank : nat -> nat) (h : nat) (n : Z) (l : list (nat * Z)) : list (nat * Z) :=
  match l with
  | [] => [(h, n)]
  | (g, m) :: l => if Z.ltb m n || (Z.eqb m n && Nat.ltb (rank h) (rank g)) then (h, n) :: (g, m) :: l else (g, m) :: placed rank h n l
  end.
Definition ordered (rank : nat -> nat) (counts : list (option Z)) : list nat :=
  map fst (fold_right (fun (p : nat * option Z) l => match snd p with Some n => placed rank (fst p) n l | None => l end) []
    (combine (seq 0 (length counts)) counts)).
Definition code_events (v : list event) : N :=
  fold_right (fun (e : event) (n : N) => match e with
    | Answer yes => 4 * n + 1 + (if yes then 1 else 0)
    | Listed counts => fold_left (fun (n : N) (o : option Z) => 64 * n + match o with None => 0 | Some z => 1 + Z.to_N z end) counts (4 * n + 3)
    end)%N 1%N v.

Definition lazy_forest_agrees (l : learner) (hypotheses pairs rounds : nat) (restarts : bool) (q qh : Q) (thresholds : list Z) (noise : nat) (t : Z)
  (ranks : list (list nat)) (adv : list (N * nat)) (law : dist N) : bool :=
  let one slots rank := playQ Nat.eq_dec (fun s => nth s (hypothesis_of l) 0%nat) 0%nat
    (fun s z => nth z (nth s (after_table l) []) None) (fun _ _ _ => None) (fun h z => nth z (nth h (errs_table l) []) false)
    1 (fun _ => pairs) (fun s _ => nth s thresholds 0%Z) (fun c rounds s counts => ordered (ties c rounds s) counts) restarts
    (Coins (slots_from slots) (fun _ _ => plain) (fun _ _ h => nth h rank 0%nat)) (reading 0%nat code_events adv)
    (fun _ => q) (fun _ V => histogramQ qh noise t (seq 0 hypotheses) (fun h => count_occ Nat.eq_dec V h))
    (4 * (rounds + 1)) rounds [] 0 [nth 0 (hypothesis_of l) 0%nat] (empty 0%nat) in
  let runs := flat_map (fun slots => map (one slots) ranks) (sequences rounds (seq 0 pairs)) in
  let share := (1 # Pos.of_nat (length runs))%Q in
  forallb (fun o => match o with Some _ => true | None => false end) runs
  && same_table (gathered code_events (flat_map (fun o => match o with Some d => scaled share d | None => [] end) runs)) law.

(** From the middle of a game: layer 0 is over, and left these sequences. Lists of several hypotheses come early. *)
Definition left_over (living : list nat) : nat -> @pair nat := fun j => Pair (nth_error living j) None true.
Definition middle_forest_agrees (l : learner) (living : list nat) (hypotheses rounds : nat) (q qh : Q) (threshold : Z) (noise : nat) (t : Z)
  (ranks : list (list nat)) (adv : list (N * nat)) (law : dist N) : bool :=
  let one rank := playQ Nat.eq_dec (fun s => nth s (hypothesis_of l) 0%nat) 0%nat
    (fun s z => nth z (nth s (after_table l) []) None) (fun _ _ _ => None) (fun h z => nth z (nth h (errs_table l) []) false)
    1 (fun _ => length living) (fun _ _ => threshold) (fun c rounds s counts => ordered (ties c rounds s) counts) false
    (Coins (fun _ _ => 0%nat) (fun _ _ => plain) (fun _ _ h => nth h rank 0%nat)) (reading 0%nat code_events adv)
    (fun _ => q) (fun _ V => histogramQ qh noise t (seq 0 hypotheses) (fun h => count_occ Nat.eq_dec V h))
    (4 * (rounds + 1)) rounds [] 0 [] (left_over living) in
  let runs := map one ranks in
  let share := (1 # Pos.of_nat (length runs))%Q in
  forallb (fun o => match o with Some _ => true | None => false end) runs
  && same_table (gathered code_events (flat_map (fun o => match o with Some d => scaled share d | None => [] end) runs)) law.
(** What the theorem asks of the budgets: an example of layer s pays its AboveThreshold and all later lists. *)
Fixpoint paid (l : list Q) : Q := match l with [] => 0 | x :: l => x + paid l end%Q.
Definition forest_affords (epsilon delta : Q) (switching listing deltas : list Q) : bool :=
  Nat.eqb (length switching) (S (length listing)) && Nat.eqb (length listing) (length deltas) && Qle_bool (paid deltas) delta
  && forallb (fun s => Qle_bool (nth s switching 0 + paid (skipn s listing))%Q epsilon) (seq 0 (length switching)).
(* main: playQ_correct *)
