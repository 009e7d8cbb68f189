(** LazyForest with early release in rational numbers, for fixed coins, proved to list its law; and instances. *)
From Coq Require Import ZArith QArith Qreals Reals Lra Lia List Bool NArith FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Later CountAboveThreshold LazyForest EarlyForest FirstFrequent Rational ExactCounters Twins Instances ForestTwin.
Import ListNotations.

Section Twin.
Context {X : Type}.
Variables (wrong : X -> bool) (grown : X -> option key) (errs : key -> X -> bool) (universe : list key).
Variables (threshold : Z) (switch_threshold : key -> Z) (restarts : bool) (c : early_coins) (adv : adversary X event).
Variables (aQ bQ qQ : Q).
Notation grow := (grow wrong grown universe threshold c adv).
Notation watch := (LazyForest.watch Nat.eq_dec (fun _ : unit => 0%nat) (fun _ _ => None) errs 1 (fun _ h => switch_threshold h) no_coins adv).

Fixpoint playQ (fuel rounds : nat) (published : list event) (L : option (list key)) : option (dist (list event)) :=
  match fuel with
  | O => Some (retQ published)
  | S fuel =>
      match L with
      | None =>
          let t := grow false rounds false published (fun _ => false) in
          if worked aQ bQ (Z.of_nat rounds) t then
            bindO (law_of aQ bQ (Z.of_nat rounds) t)
              (fun l => match l with Ended v => Some (retQ v) | Found _ rounds _ v due => playQ fuel rounds v (Some (listed c rounds due)) end)
          else None
      | Some (h :: L) =>
          let t := Ensure 0%nat (switch_threshold h) (watch false rounds false published 1 h idle) in
          if worked qQ qQ (Z.of_nat rounds) t then
            bindO (law_of qQ qQ (Z.of_nat rounds) t)
              (fun l => match l with Over v => Some (retQ v) | Yes _ rounds _ v _ => playQ fuel rounds v (Some L) end)
          else None
      | Some [] => if restarts then playQ fuel rounds published None else Some (retQ published)
      end
  end.

Variables (a b q : rate).
Hypothesis same_a : base a = Q2R aQ.
Hypothesis same_b : base b = Q2R bQ.
Hypothesis same_q : base q = Q2R qQ.
Hypothesis no_challenge : forall v, challenge adv v = None.

(** Without a challenge every leaf of world 0 is one of world 0 before it. *)
Lemma toss_leaves (k k' : found -> law (list event)) f xs : forall due (t : (key -> bool) -> tree found) st,
  (forall due st, run a b (t due) st (fun l => k l f) = run a b (t due) st (fun l => k' l f)) ->
  run a b (toss_each xs due t) st (fun l => k l f) = run a b (toss_each xs due t) st (fun l => k' l f).
Proof.
  induction xs as [|x xs IH]; intros due t st H; cbn [toss_each]; [apply H|]. cbn [run mix Laws.E]. now rewrite !(IH _ t).
Qed.
Lemma grow_leaves rounds : forall published taken (k k' : found -> law (list event)),
  (forall v, k (Ended v) = k' (Ended v)) -> (forall r v due, k (Found false r false v due) = k' (Found false r false v due)) ->
  forall st f, run a b (grow false rounds false published taken) st (fun l => k l f) = run a b (grow false rounds false published taken) st (fun l => k' l f).
Proof.
  induction rounds as [|rounds IH]; intros published taken k k' Ke Kf st f; cbn [EarlyForest.grow].
  - cbn [run ret Laws.E]. now rewrite Ke.
  - unfold received. rewrite no_challenge.
    assert (T : forall st, run a b (rest_of wrong grown universe threshold c adv false rounds false published (after_it wrong taken (place c rounds published) (example adv published))) st (fun l => k l f)
      = run a b (rest_of wrong grown universe threshold c adv false rounds false published (after_it wrong taken (place c rounds published) (example adv published))) st (fun l => k' l f)).
    { intro s. apply toss_leaves. intros due s'. destruct (existsb due universe); [cbn [run ret Laws.E negb andb]; now rewrite Kf|now apply IH]. }
    destruct (counted wrong grown threshold taken (place c rounds published) (example adv published)) as [[x tau]|]; cbn [count]; [|apply T].
    cbn [run bind Laws.E]. f_equal. apply functional_extensionality. intro s. apply T.
Qed.

Theorem early_playQ_correct fuel : forall rounds published L r, playQ fuel rounds published L = Some r ->
  lists r (play wrong grown errs universe threshold switch_threshold a b q restarts c adv fuel false rounds false published L).
Proof.
  induction fuel as [|fuel IH]; intros rounds published L r E; cbn [playQ] in E; cbn [play].
  - injection E as <-. apply lists_ret.
  - destruct L as [[|h L]|].
    + destruct restarts; [now apply IH|]. injection E as <-. apply lists_ret.
    + destruct (worked _ _ _ _) eqn:W in E; [|discriminate].
      pose proof (law_of_correct q q qQ qQ (Z.of_nat rounds) same_q same_q _ W) as Lw.
      set (k' := fun l : @leaf unit => match l with Over v => ret v | Yes _ rounds _ v _ =>
        play wrong grown errs universe threshold switch_threshold a b q restarts c adv fuel false rounds false v (Some L) end).
      assert (G : lists r (bind (run q q (Ensure 0%nat (switch_threshold h) (watch false rounds false published 1 h idle)) no_counters) k')).
      { refine (lists_bindO _ _ _ k' r Lw _ E). intros [v|w rd u v F] r' Er; cbn in Er; [injection Er as <-; apply lists_ret|now apply IH]. }
      intros f Hf. rewrite <- (G f Hf). cbn [bind Laws.E run]. f_equal. apply functional_extensionality. intro st.
      apply (watch_leaves Nat.eq_dec (fun _ : unit => 0%nat) (fun _ _ => None) errs 1 (fun _ h => switch_threshold h) no_coins adv no_challenge rounds published 1%nat h idle
        (fun l => match l with Over v => ret v | Yes w rd u v _ => play wrong grown errs universe threshold switch_threshold a b q restarts c adv fuel w rd u v (Some L) end) k');
        reflexivity.
    + destruct (worked _ _ _ _) eqn:W in E; [|discriminate].
      pose proof (law_of_correct a b aQ bQ (Z.of_nat rounds) same_a same_b _ W) as Lw.
      set (k' := fun l : found => match l with Ended v => ret v | Found _ rounds _ v due =>
        play wrong grown errs universe threshold switch_threshold a b q restarts c adv fuel false rounds false v (Some (listed c rounds due)) end).
      assert (G : lists r (bind (run a b (grow false rounds false published (fun _ => false)) no_counters) k')).
      { refine (lists_bindO _ _ _ k' r Lw _ E). intros [v|w rd u v due] r' Er; cbn in Er; [injection Er as <-; apply lists_ret|now apply IH]. }
      intros f Hf. rewrite <- (G f Hf). cbn [bind Laws.E].
      apply (grow_leaves rounds published (fun _ => false)
        (fun l => match l with Ended v => ret v | Found w rd u v due => play wrong grown errs universe threshold switch_threshold a b q restarts c adv fuel w rd u v (Some (listed c rd due)) end) k');
        reflexivity.
Qed.
End Twin.

(** ** Instances: all slots and all orders of the keys, each as likely *)

Definition early_forest_agrees (wrong : list bool) (grown : list (option nat)) (errs : list (list bool)) (keys pairs rounds : nat) (restarts : bool)
  (a b q : Q) (threshold switch : Z) (orders : list (list nat)) (adv : list (N * nat)) (law : dist N) : bool :=
  let one slots order := playQ (fun z => nth z wrong false) (fun z => nth z grown None) (fun h z => nth z (nth h errs []) false)
    (seq 0 keys) threshold (fun _ => switch) restarts
    (EarlyCoins (fun rounds _ => nth rounds slots 0%nat) (fun _ due => filter due order)) (reading 0%nat code_events adv)
    a b q (4 * (rounds + 1)) rounds [] None in
  let runs := flat_map (fun slots => map (one slots) orders) (sequences rounds (seq 0 pairs)) in
  let share := (1 # Pos.of_nat (length runs))%Q in
  forallb (fun o => match o with Some _ => true | None => false end) runs
  && same_table (gathered code_events (flat_map (fun o => match o with Some d => scaled share d | None => [] end) runs)) law.
(** FirstFrequent by itself: a round for each key, or for none. *)
Definition first_frequent_agrees (a b : Q) (threshold : Z) (keys rounds : nat) (adv : list (N * option nat)) (law : dist N) : bool :=
  counters_agree a b rounds (keys_counted (seq 0 keys) threshold rounds (fun i _ => i) (reading None code_events adv) false)
    (fun l => match l with Ended v => code_events v | Found _ _ _ v _ => code_events v end) law.
(* main: early_playQ_correct *)
