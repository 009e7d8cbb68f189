(** PrivateWitnesses with places in rational numbers, proved to list its law; and instances. *)
From Coq Require Import ZArith QArith Qreals Reals Lra Lia List Bool NArith FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine CountAboveThreshold ExponentialMechanism WitnessDepths WitnessPlaces PrivateMajority Rational ExactCounters Twins Instances ForestTwin.
Import ListNotations.

(** What holds of every leaf of a tree. *)
Fixpoint every {V} (P : V -> Prop) (t : tree V) : Prop :=
  match t with
  | Done v => P v
  | Ensure _ _ t | Dec _ t | Drop _ t => every P t
  | Toss _ k => every P (k true) /\ every P (k false)
  end.
Lemma run_every {V} a b (t : tree V) f g : forall st, every (fun v => f v = g v) t -> run a b t st f = run a b t st g.
Proof.
  induction t as [v|x tau t IH|x t IH|x t IH|x k IH]; intros st H; cbn [every] in H; cbn [run bind ret mix Laws.E].
  - exact H.
  - f_equal. apply functional_extensionality. intro st'. now apply IH.
  - now apply IH.
  - now apply IH.
  - destruct H as [Ht Hf]. now rewrite (IH true _ Ht), (IH false _ Hf).
Qed.
Lemma every_more {V} (P Q : V -> Prop) (t : tree V) : (forall v, P v -> Q v) -> every P t -> every Q t.
Proof. intro PQ. induction t as [v|x tau t IH|x t IH|x t IH|x k IH]; cbn [every]; auto. intros [Ht Hf]. split; now apply IH. Qed.

Section Twin.
Context {X place spot : Type}.
Variables (first : place) (live : place -> list key) (after : place -> key -> option place) (named_by : place -> X -> option key) (threshold : key -> Z).
Variables (seeks : place -> bool) (errs : place -> X -> bool) (spot_of : place -> X -> spot).
Variables (size : place -> nat) (depth : place -> list spot -> nat -> Z) (found : place -> nat -> option place) (place_threshold : Z).
Variable adv : adversary X event.
Variables (aQ bQ qQ : Q) (WQ : nat -> Q).
Notation seek := (seek errs spot_of place_threshold adv).
Notation learn := (learn first live after named_by threshold seeks adv).
Notation leaf := (@leaf place spot).
Definition phase (rounds : nat) (published : list event) (s : place) : tree leaf :=
  if seeks s then Ensure 0%nat place_threshold (seek false rounds false published s [])
  else ensure_all threshold (live s) (learn false rounds false published s).
Definition drawnQ (s : place) (L : list spot) : dist nat := drawQ WQ (size s) (fun _ => 1%Q) (fun v => (- depth s L v)%Z).

Fixpoint placesQ (fuel rounds : nat) (published : list event) (s : place) : option (dist (list event)) :=
  match fuel with
  | O => Some (retQ published)
  | S fuel =>
      let (a, b) := if seeks s then (qQ, qQ) else (aQ, bQ) in
      let t := phase rounds published s in
      if worked a b (Z.of_nat rounds) t then
        bindO (law_of a b (Z.of_nat rounds) t) (fun l => match l with
          | Over v => Some (retQ v)
          | Draw _ rounds _ v L => bindO (drawnQ s L) (fun i => placesQ fuel rounds (Drawn i :: v) (WitnessPlaces.moved first found s i))
          | Enter _ rounds _ v s' => placesQ fuel rounds v s'
          end)
      else None
  end.

Variables (a b q : rate) (eta : R) (W : weights eta).
Hypothesis same_a : base a = Q2R aQ.
Hypothesis same_b : base b = Q2R bQ.
Hypothesis same_q : base q = Q2R qQ.
Hypothesis same_W : forall k, W k = Q2R (WQ k).
Hypothesis no_challenge : forall v, challenge adv v = None.

(** Without a challenge every leaf of world 0 is one of world 0 before it. *)
Definition usual (l : leaf) : Prop :=
  match l with Over _ => True | Draw w _ u _ _ => w = false /\ u = false | Enter w _ u _ _ => w = false /\ u = false end.
Lemma seek_usual rounds : forall published s L, every usual (seek false rounds false published s L).
Proof.
  induction rounds as [|rounds IH]; intros published s L; cbn [WitnessPlaces.seek]; [exact I|]. unfold received. rewrite no_challenge.
  destruct (errs s (example adv published)); cbn [count every]; split; try apply IH; split; reflexivity.
Qed.
Lemma every_ensure_all xs (t : tree leaf) : every usual t -> every usual (ensure_all threshold xs t).
Proof. intro H. induction xs as [|x xs IH]; [exact H|exact IH]. Qed.
Lemma every_drop_all xs (t : tree leaf) : every usual t -> every usual (drop_all xs t).
Proof. intro H. induction xs as [|x xs IH]; [exact H|exact IH]. Qed.
Lemma every_toss_all xs : forall due (k : list key -> tree leaf), (forall due, every usual (k due)) -> every usual (toss_all xs due k).
Proof. induction xs as [|x xs IH]; intros due k H; [apply H|]. split; now apply IH. Qed.
Lemma learn_usual rounds : forall published s, every usual (learn false rounds false published s).
Proof.
  induction rounds as [|rounds IH]; intros published s; cbn [WitnessPlaces.learn]; [exact I|]. unfold received. rewrite no_challenge.
  assert (T : every usual (toss_all (live s) [] (fun due => entered first live after threshold seeks s due
    (fun s' => Done (Enter (negb false && false) rounds false (Fired due :: published) s')) (learn false rounds false (Fired due :: published))))).
  { apply every_toss_all. intro due. unfold entered. destruct (accept live after s due) as [s'|].
    - destruct (seeks s'); [split; reflexivity|]. apply every_drop_all, every_ensure_all, IH.
    - destruct (seeks first); [split; reflexivity|]. apply every_drop_all, every_ensure_all, IH. }
  destruct (named_by s (example adv published)); cbn [option_map count every]; exact T.
Qed.
Lemma phase_usual rounds published s : every usual (phase rounds published s).
Proof. unfold phase. destruct (seeks s); [apply seek_usual|apply every_ensure_all, learn_usual]. Qed.

Theorem placesQ_correct fuel : forall rounds published s r, placesQ fuel rounds published s = Some r ->
  lists r (play first live after named_by threshold seeks errs spot_of size depth found place_threshold adv a b q eta W fuel false rounds false published s).
Proof.
  induction fuel as [|fuel IH]; intros rounds published s r E; cbn [placesQ] in E.
  - injection E as <-. apply lists_ret.
  - set (k := fun l : leaf => match l with
      | Over v => ret v
      | Draw _ rounds _ v L => bind (WitnessPlaces.drawn size depth eta W s L) (fun i =>
          play first live after named_by threshold seeks errs spot_of size depth found place_threshold adv a b q eta W fuel false rounds false (Drawn i :: v) (WitnessPlaces.moved first found s i))
      | Enter _ rounds _ v s' => play first live after named_by threshold seeks errs spot_of size depth found place_threshold adv a b q eta W fuel false rounds false v s'
      end).
    assert (Dr : forall L, lists (drawnQ s L) (WitnessPlaces.drawn size depth eta W s L)).
    { intro L. apply (drawQ_correct W WQ same_W). intro i. symmetry. apply Q2R_1. }
    set (ra := if seeks s then q else a). set (rb := if seeks s then q else b).
    assert (G : lists r (bind (run ra rb (phase rounds published s) no_counters) k)).
    { assert (Go : forall (x y : rate) (xQ yQ : Q) l, base x = Q2R xQ -> base y = Q2R yQ ->
        (if worked xQ yQ (Z.of_nat rounds) (phase rounds published s) then bindO (law_of xQ yQ (Z.of_nat rounds) (phase rounds published s)) l else None) = Some r ->
        (forall v r', l v = Some r' -> lists r' (k v)) -> lists r (bind (run x y (phase rounds published s) no_counters) k)).
      { intros x y xQ yQ l Hx Hy El K. destruct (worked _ _ _ _) eqn:Wk in El; [|discriminate].
        exact (lists_bindO _ _ _ k r (law_of_correct x y xQ yQ (Z.of_nat rounds) Hx Hy _ Wk) K El). }
      assert (K : forall v r', (match v with
          | Over v => Some (retQ v)
          | Draw _ rounds _ v L => bindO (drawnQ s L) (fun i => placesQ fuel rounds (Drawn i :: v) (WitnessPlaces.moved first found s i))
          | Enter _ rounds _ v s' => placesQ fuel rounds v s'
          end) = Some r' -> lists r' (k v)).
      { intros [v|w rd u v L|w rd u v s'] r' Er; cbn in Er.
        - injection Er as <-. apply lists_ret.
        - refine (lists_bindO _ _ _ _ r' (Dr L) _ Er). intros i r''. apply IH.
        - now apply IH. }
      unfold ra, rb. destruct (seeks s); cbv beta iota in E; eapply Go; eauto. }
    intros f Hf. rewrite <- (G f Hf). rewrite play_phase. cbn [bind Laws.E].
    transitivity (run ra rb (phase rounds published s) no_counters
      (rest first live after named_by threshold seeks errs spot_of size depth found place_threshold adv a b q eta W fuel s f)).
    { unfold ra, rb, phase. destruct (seeks s); reflexivity. }
    apply run_every. apply (every_more usual); [|apply phase_usual].
    intros [v|w rd u v L|w rd u v s'] H; cbn [usual] in H; [reflexivity| |]; destruct H as [-> ->]; reflexivity.
Qed.
End Twin.

(** ** Instances: tables of states, and depths: of a line, of a cube with so many features, or how often each is named *)

Inductive depths := Line | Cube (features : nat) | Named.
Record seeking := Seeking {
  seeking_states : list bool; places : nat; shape : depths; found_at : list (list (option nat));
  mistake_at : list (list bool); spots : list (list nat) }.
Definition depth_of (o : seeking) (L : list nat) (v : nat) : Z :=
  match shape o with Line => line_depth L v | Cube n => cube_depth n L v | Named => times_named L v end.
Definition code_witnessed (keys : nat) (v : list event) : N :=
  fold_right (fun (e : event) (n : N) => match e with
    | Fired due => code_bits (map (fun k => existsb (Nat.eqb k) due) (seq 0 keys)) (4 * n + 1)
    | FiredPlace => 4 * n + 2
    | Drawn i => 64 * (4 * n + 3) + N.of_nat i
    end)%N 1%N v.
Definition witness_places_agrees (a b q : Q) (s : system) (o : seeking) (W : list Z) (thresholds : list Z) (place_threshold : Z)
  (keys rounds : nat) (adv : list (N * nat)) (law : dist N) : bool :=
  match placesQ 0%nat (fun p => nth p (live_keys s) []) (fun p k => nth k (nth p (next_state s) []) None) (fun p z => nth z (nth p (named s) []) None)
    (fun k => nth k thresholds 0%Z) (fun p => nth p (seeking_states o) false) (fun p z => nth z (nth p (mistake_at o) []) false)
    (fun p z => nth z (nth p (spots o) []) 0%nat) (fun _ => places o) (fun _ => depth_of o) (fun p v => nth v (nth p (found_at o) []) None) place_threshold
    (reading 0%nat (code_witnessed keys) adv) a b q (weights_of W) (2 * rounds + 1) rounds [] 0%nat with
  | Some d => same_table (gathered (code_witnessed keys) d) law
  | None => false
  end.
(** What the theorem asks of a plan: the rates of the counters, and those of places. *)
Definition plan_affords (epsilon query threshold place selection : Q) : bool :=
  Qle_bool (query + threshold) epsilon && Qle_bool (place + selection) epsilon && Qle_bool (2 * selection) epsilon.
(* main: placesQ_correct *)
