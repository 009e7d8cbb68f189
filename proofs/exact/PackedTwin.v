(** LazyForest with packed layers in rational numbers, for fixed darts and guesses, proved to list its law; and instances. *)
From Coq Require Import ZArith QArith Qreals Reals Lra Lia List Bool NArith FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Orders Machine CountAboveThreshold PrivateHistogram LazyForest PackedLayer PackedForest Rational ExactCounters Twins Instances ForestTwin.
Import ListNotations.

Definition uniformQ {A} (l : list A) : dist A := map (fun x => (x, 1 # Pos.of_nat (length l))%Q) l.
Lemma lists_uniform {A} (l : list A) : lists (uniformQ l) (uniform l).
Proof.
  intros f Hf. unfold uniformQ. cbn [uniform Laws.E]. set (q := (1 # Pos.of_nat (length l))%Q).
  assert (G : forall r, expect (map (fun x => (x, q)) r) f = (total_of f r * Q2R q)%R).
  { induction r as [|x r IH]; simpl; [ring|]. rewrite IH. ring. }
  rewrite G. destruct l as [|x l]; [simpl; ring|]. f_equal. unfold q, Q2R. cbn [Qnum Qden].
  rewrite Rmult_1_l. f_equal. rewrite INR_IZR_INZ. f_equal. cbn [length]. lia.
Qed.

Section Twin.
Context {state hypothesis X : Type}.
Variable hypothesis_dec : forall h h' : hypothesis, {h = h'} + {h <> h'}.
Variables (says : state -> hypothesis) (begin : state) (after : state -> X -> option state).
Variable tournament : state -> state -> bool -> option state.
Variable errs : hypothesis -> X -> bool.
Variables (depth first : nat) (switch_threshold : nat -> hypothesis -> nat -> Z).
Variables (universe : list hypothesis) (bound : nat -> nat).
Variable listing : packed_coins -> nat -> nat -> list (option Z) -> list hypothesis.
Variables (restarts : bool) (c : packed_coins) (adv : adversary X event).
Variables (rateQ : nat -> Q) (releaseQ : nat -> list hypothesis -> dist (list (option Z))).
Notation watch base K := (LazyForest.watch hypothesis_dec says after errs depth (fun s h => switch_threshold s h K) (aimed c base K) adv).
Notation listed := (listed hypothesis_dec universe bound listing c).
Notation living := (living hypothesis_dec says tournament).
Notation votes := (PackedLayer.votes hypothesis_dec says).

Fixpoint playQ (fuel rounds : nat) (published : list event) (s base : nat) (L : list (hypothesis * nat)) (room : nat) (F : nat -> pair) : option (dist (list event)) :=
  match fuel with
  | O => Some (retQ published)
  | S fuel =>
      match L with
      | (h, K) :: L =>
          let t := Ensure 0%nat (switch_threshold s h K) (watch base K false rounds false published s h F) in
          if worked (rateQ s) (rateQ s) (Z.of_nat rounds) t then
            bindO (law_of (rateQ s) (rateQ s) (Z.of_nat rounds) t)
              (fun l => match l with Over v => Some (retQ v) | Yes _ rounds _ v F => playQ fuel rounds v s (base + K) L room F end)
          else None
      | [] =>
          if Nat.ltb s depth then
            let up := living (guess c rounds s) room F in
            if Nat.eqb (S s) depth then
              bindO (releaseQ (S s) (map says up)) (fun counts =>
                playQ fuel rounds (Listed counts :: published) (S s) 0 (listed rounds (S s) counts) 0 (fun _ => hole))
            else
              bindO (uniformQ (orders up)) (fun w =>
                bindO (releaseQ (S s) (votes (matched w))) (fun counts =>
                  let L := listed rounds (S s) counts in
                  bindO (uniformQ (placements (stretches hypothesis_dec says L room (matched w)))) (fun v =>
                    playQ fuel rounds (Listed counts :: published) (S s) 0 L (slots L room) (on_slots v))))
          else if restarts then playQ fuel rounds published 0 0 [(says begin, first)] first (empty begin)
          else Some (retQ published)
      end
  end.

Variables (rate_of : nat -> rate) (release : nat -> list hypothesis -> law (list (option Z))).
Hypothesis same_rate : forall s, base (rate_of s) = Q2R (rateQ s).
Hypothesis same_release : forall s V, lists (releaseQ s V) (release s V).
Hypothesis no_challenge : forall v, challenge adv v = None.

Theorem packed_playQ_correct fuel : forall rounds published s base L room F r, playQ fuel rounds published s base L room F = Some r ->
  lists r (play hypothesis_dec says begin after tournament errs depth first rate_of switch_threshold release universe bound listing restarts c adv
    fuel false rounds false published s base L room F).
Proof.
  induction fuel as [|fuel IH]; intros rounds published s base L room F r E; cbn [playQ] in E; cbn [play].
  - injection E as <-. apply lists_ret.
  - destruct L as [|[h K] L].
    + destruct (Nat.ltb s depth).
      * destruct (Nat.eqb (S s) depth).
        -- refine (lists_bindO _ _ _ _ r (same_release _ _) _ E). intros counts r'. apply IH.
        -- refine (lists_bindO _ _ _ _ r (lists_uniform _) _ E). intros w r1 E1.
           refine (lists_bindO _ _ _ _ r1 (same_release _ _) _ E1). intros counts r2 E2. cbv zeta in *.
           refine (lists_bindO _ _ _ _ r2 (lists_uniform _) _ E2). intros v r3. apply IH.
      * destruct restarts; [now apply IH|]. injection E as <-. apply lists_ret.
    + destruct (worked _ _ _ _) eqn:W in E; [|discriminate].
      pose proof (law_of_correct (rate_of s) (rate_of s) (rateQ s) (rateQ s) (Z.of_nat rounds) (same_rate s) (same_rate s) _ W) as Lw.
      set (k' := fun l : leaf => match l with Over v => ret v | Yes _ rounds _ v F =>
        play hypothesis_dec says begin after tournament errs depth first rate_of switch_threshold release universe bound listing restarts c adv
          fuel false rounds false v s (base + K) L room F end).
      assert (G : lists r (bind (run (rate_of s) (rate_of s) (Ensure 0%nat (switch_threshold s h K) (watch base K false rounds false published s h F)) no_counters) k')).
      { refine (lists_bindO _ _ _ k' r Lw _ E). intros [v|w rd u v G] r' Er; cbn in Er; [injection Er as <-; apply lists_ret|now apply IH]. }
      intros f Hf. rewrite <- (G f Hf). cbn [bind Laws.E run]. f_equal. apply functional_extensionality. intro st.
      apply (watch_leaves hypothesis_dec says after errs depth (fun s h => switch_threshold s h K) (aimed c base K) adv no_challenge rounds published s h F
        (fun l => match l with Over v => ret v | Yes w rd u v G => play hypothesis_dec says begin after tournament errs depth first rate_of switch_threshold release universe bound
          listing restarts c adv fuel w rd u v s (base + K) L room G end) k'); reflexivity.
Qed.
End Twin.

(** ** Instances of depth 2 whose lists have one element at most: every dart below a multiple of all numbers of
    slots, and one guess for all pairs, of which one collides at most. *)
Definition packed_forest_agrees (l : learner) (tour : list (list (list (option nat)))) (hypotheses pairs darts rounds : nat) (q : Q) (thresholds : list Z)
  (adv : list (N * nat)) (law : dist N) : bool :=
  let one ds bit := playQ Nat.eq_dec (fun s => nth s (hypothesis_of l) 0%nat) 0%nat
    (fun s z => nth z (nth s (after_table l) []) None) (fun u v (b : bool) => nth (if b then 1 else 0)%nat (nth v (nth u tour []) []) None)
    (fun h z => nth z (nth h (errs_table l) []) false) 2 pairs (fun s _ _ => nth s thresholds 0%Z) (seq 0 hypotheses) (fun _ => 1%nat)
    (fun c rounds s counts => ordered (fun h => h) counts) false
    (PackedCoins (fun K _ rounds => Nat.modulo (nth rounds ds 0%nat) K) (fun _ _ _ => bit) (fun _ _ h => h)) (reading 0%nat code_events adv)
    (fun _ => q) (fun _ V => histogramQ q 1 2 (seq 0 hypotheses) (fun h => count_occ Nat.eq_dec V h))
    (4 * (rounds + 1)) rounds [] 0 0 [(nth 0 (hypothesis_of l) 0%nat, pairs)] pairs (empty 0%nat) in
  let runs := flat_map (fun ds => map (one ds) [true; false]) (sequences rounds (seq 0 darts)) in
  let share := (1 # Pos.of_nat (length runs))%Q in
  forallb (fun o => match o with Some _ => true | None => false end) runs
  && same_table (gathered code_events (flat_map (fun o => match o with Some d => scaled share d | None => [] end) runs)) law.

(** From the middle of a game: layer 0 is over, and left these sequences; thresholds are tables by the number of slots. *)
Definition middle_packed_agrees (l : learner) (tour : list (list (list (option nat)))) (living : list nat) (hypotheses darts rounds : nat) (q : Q)
  (thresholds : list (list Z)) (ranks : list (list nat)) (adv : list (N * nat)) (law : dist N) : bool :=
  let one ds bits rank := playQ Nat.eq_dec (fun s => nth s (hypothesis_of l) 0%nat) 0%nat
    (fun s z => nth z (nth s (after_table l) []) None) (fun u v (b : bool) => nth (if b then 1 else 0)%nat (nth v (nth u tour []) []) None)
    (fun h z => nth z (nth h (errs_table l) []) false) 2 (length living) (fun s _ K => nth K (nth s thresholds []) 0%Z) (seq 0 hypotheses) (fun _ => 1%nat)
    (fun c rounds s counts => ordered (order c rounds s) counts) false
    (PackedCoins (fun K _ rounds => Nat.modulo (nth rounds ds 0%nat) K) (fun _ _ j => Nat.eqb (nth j bits 0%nat) 1) (fun _ _ h => nth h rank 0%nat)) (reading 0%nat code_events adv)
    (fun _ => q) (fun _ V => histogramQ q 1 2 (seq 0 hypotheses) (fun h => count_occ Nat.eq_dec V h))
    (4 * (rounds + 1)) rounds [] 0 0 [] (length living) (left_over living) in
  let runs := flat_map (fun ds => flat_map (fun bits => map (one ds bits) ranks) (sequences (length living) [0; 1]%nat)) (sequences rounds (seq 0 darts)) in
  let share := (1 # Pos.of_nat (length runs))%Q in
  forallb (fun o => match o with Some _ => true | None => false end) runs
  && same_table (gathered code_events (flat_map (fun o => match o with Some d => scaled share d | None => [] end) runs)) law.
(* main: packed_playQ_correct *)
