(** learners/private_witnesses, for systems that seek places: states with the one live key PLACE, whose mistakes
    are remembered; when it fires a place is drawn between them. Other states have counters as in
    PrivateWitnesses.v. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours CountAboveThreshold Choices ExponentialMechanism.
Import ListNotations.
Open Scope R_scope.

Section Algorithm.
(** A witness system, as public functions: concepts/witnesses. *)
Context {X place spot : Type}.
Variable first : place.                            (* system.begin() *)
Variable live : place -> list key.                 (* system.live(state), in a fixed order *)
Variable after : place -> key -> option place.     (* system.after(state, key) *)
Variable named_by : place -> X -> option key.      (* which witness an example names, if it is a mistake *)
Variable threshold : key -> Z.                     (* plan.threshold, or plan.again *)
Hypothesis names_live : forall s z x, named_by s z = Some x -> In x (live s).
Variable seeks : place -> bool.                    (* PLACE is live *)
Variable errs : place -> X -> bool.                (* in such a state every mistake names PLACE *)
Variable spot_of : place -> X -> spot.             (* system.place(state, x) *)
Variable size : place -> nat.                      (* how many places may be drawn *)
Variable depth : place -> list spot -> nat -> Z.   (* system.depths, of each place *)
Variable found : place -> nat -> option place.     (* system.after(state, (PLACE, place)) *)
Variable place_threshold : Z.
(** A minimum of counts: one spot more raises the depth of each place by 0 or 1. *)
Hypothesis deeper : forall s l r z i, (depth s (l ++ r) i <= depth s (l ++ z :: r) i <= depth s (l ++ r) i + 1)%Z.

(** Which keys fired in which round, and which places were drawn. *)
Inductive event := Fired (due : list key) | FiredPlace | Drawn (v : nat).
Notation view := (list event).
Variable adv : adversary X event.

(** A phase is over with the game; or a place is to be drawn; or a state that seeks a place is entered, so
    that all counters are gone. Once the challenge is used it does not matter any more which world this is. *)
Inductive leaf :=
  | Over (v : view)
  | Draw (world : bool) (rounds : nat) (used : bool) (v : view) (L : list spot)
  | Enter (world : bool) (rounds : nat) (used : bool) (v : view) (s : place).

(** (L7, L8): PLACE is key 0. *)
Fixpoint seek (world : bool) (rounds : nat) (used : bool) (published : view) (s : place) (L : list spot) : tree leaf :=
  match rounds with
  | O => Done (Over published)
  | S rounds =>
      let (z, used) := received adv world used published in
      let L := if errs s z then L ++ [spot_of s z] else L in
      count (if errs s z then Some (0%nat, place_threshold) else None)
        (Toss 0%nat (fun fires =>
          if fires then Done (Draw (negb used && world) rounds used (FiredPlace :: published) L)
          else seek world rounds used (Fired [] :: published) s L))
  end.

(** (L2) to (L6), as in PrivateWitnesses.v. *)
Fixpoint toss_all (xs due : list key) (k : list key -> tree leaf) : tree leaf :=
  match xs with
  | [] => k due
  | x :: xs => Toss x (fun fires => toss_all xs (if fires then due ++ [x] else due) k)
  end.
Fixpoint accept (s : place) (due : list key) : option place :=
  match due with
  | [] => Some s
  | x :: due =>
      if in_dec Nat.eq_dec x (live s)
      then match after s x with None => None | Some s => accept s due end
      else accept s due
  end.
Fixpoint drop_all (xs : list key) (t : tree leaf) : tree leaf :=
  match xs with [] => t | x :: xs => Drop x (drop_all xs t) end.
Fixpoint ensure_all (xs : list key) (t : tree leaf) : tree leaf :=
  match xs with [] => t | x :: xs => Ensure x (threshold x) (ensure_all xs t) end.
Definition gone (s s' : place) : list key := filter (fun x => if in_dec Nat.eq_dec x (live s') then false else true) (live s).
Definition entered (s : place) (due : list key) (leave k : place -> tree leaf) : tree leaf :=
  match accept s due with
  | Some s' => if seeks s' then leave s' else drop_all (gone s s') (ensure_all (live s') (k s'))
  | None => if seeks first then leave first else drop_all (live s) (ensure_all (live first) (k first))
  end.
Fixpoint learn (world : bool) (rounds : nat) (used : bool) (published : view) (s : place) : tree leaf :=
  match rounds with
  | O => Done (Over published)
  | S rounds =>
      let (z, used) := received adv world used published in
      count (option_map (fun x => (x, threshold x)) (named_by s z))
        (toss_all (live s) [] (fun due => entered s due
          (fun s' => Done (Enter (negb used && world) rounds used (Fired due :: published) s'))
          (learn world rounds used (Fired due :: published))))
  end.

(** ** The learner *)

Variables (a b q : rate).                          (* of witnesses: query, threshold noise; of PLACE: both *)
Variables (eta : R) (W : weights eta).
Hypothesis Heta : 0 <= eta.
(** (L9) *)
Definition drawn (s : place) (L : list spot) : law nat :=
  draw W (size s) (fun _ => 1) (fun _ => Rlt_0_1) (fun v => (- depth s L v)%Z).
Definition moved (s : place) (v : nat) : place := match found s v with Some s' => s' | None => first end.

(** [fuel] bounds the number of phases; two for each round and one are enough. *)
Fixpoint play (fuel : nat) (world : bool) (rounds : nat) (used : bool) (published : view) (s : place) : law view :=
  match fuel with
  | O => ret published
  | S fuel =>
      bind (if seeks s
            then run q q (Ensure 0%nat place_threshold (seek world rounds used published s [])) no_counters
            else run a b (ensure_all (live s) (learn world rounds used published s)) no_counters)
        (fun l => match l with
                  | Over v => ret v
                  | Draw world rounds used v L => bind (drawn s L) (fun i => play fuel world rounds used (Drawn i :: v) (moved s i))
                  | Enter world rounds used v s' => play fuel world rounds used v s'
                  end)
  end.
Definition rest (fuel : nat) (s : place) (f : view -> R) (l : leaf) : R :=
  match l with
  | Over v => f v
  | Draw world rounds used v L => drawn s L (fun i => play fuel world rounds used (Drawn i :: v) (moved s i) f)
  | Enter world rounds used v s' => play fuel world rounds used v s' f
  end.
Lemma rest_01 fuel s f l : (forall v, 0 <= f v <= 1) -> 0 <= rest fuel s f l <= 1.
Proof. intro Hf. destruct l; [apply Hf|apply E_test; intro; now apply E_test|now apply E_test]. Qed.
Lemma play_phase fuel world rounds used published s f :
  play (S fuel) world rounds used published s f =
  (if seeks s
   then run q q (Ensure 0%nat place_threshold (seek world rounds used published s [])) no_counters
   else run a b (ensure_all (live s) (learn world rounds used published s)) no_counters) (rest fuel s f).
Proof.
  cbn [play]. cbn [bind E]. f_equal. apply functional_extensionality. intros [v|w r u v L|w r u v s']; reflexivity.
Qed.

(** ** Once the challenge is used *)

Lemma seek_used world world' rounds : forall published s L,
  seek world rounds true published s L = seek world' rounds true published s L.
Proof.
  induction rounds as [|rounds IH]; intros published s L; [reflexivity|]. cbn [seek received]. f_equal. f_equal.
  apply functional_extensionality. intros [|]; [reflexivity|apply IH].
Qed.
Lemma toss_all_ext xs : forall due k k', (forall due, k due = k' due) -> toss_all xs due k = toss_all xs due k'.
Proof.
  induction xs as [|x xs IH]; intros due k k' H; [apply H|]. simpl. f_equal.
  apply functional_extensionality. intro fires. now apply IH.
Qed.
Lemma entered_ext s due leave leave' k k' : (forall s, leave s = leave' s) -> (forall s, k s = k' s) ->
  entered s due leave k = entered s due leave' k'.
Proof. intros H K. unfold entered. destruct (accept s due); rewrite H, K; reflexivity. Qed.
Lemma learn_used world world' rounds : forall published s,
  learn world rounds true published s = learn world' rounds true published s.
Proof.
  induction rounds as [|rounds IH]; intros published s; [reflexivity|]. cbn [learn received]. f_equal.
  apply toss_all_ext. intro due. apply entered_ext; [reflexivity|]. intro s'. apply IH.
Qed.

(** ** The draw *)

Definition one_more (L L' : list spot) := exists l r z, (L = l ++ z :: r /\ L' = l ++ r) \/ (L = l ++ r /\ L' = l ++ z :: r).
Definition exchanged (L L' : list spot) := exists l r z z', L = l ++ z :: r /\ L' = l ++ z' :: r.
Lemma one_more_app L L' m : one_more L L' -> one_more (L ++ m) (L' ++ m).
Proof. intros (l & r & z & [[-> ->]|[-> ->]]); exists l, (r ++ m), z; rewrite <- !app_assoc; auto. Qed.
Lemma exchanged_app L L' m : exchanged L L' -> exchanged (L ++ m) (L' ++ m).
Proof. intros (l & r & z & z' & -> & ->). exists l, (r ++ m), z, z'. rewrite <- !app_assoc. auto. Qed.
Lemma draw_one_more s L L' : one_more L L' -> within eta 0 (drawn s L) (drawn s L').
Proof.
  intros (l & r & z & H). replace eta with (eta * IZR 1) by (simpl; ring).
  destruct H as [[-> ->]|[-> ->]].
  - apply draw_private with (low := 0%Z); [exact Heta|lia|]. intros i _. pose proof (deeper s l r z i). lia.
  - apply draw_private with (low := (-1)%Z); [exact Heta|lia|]. intros i _. pose proof (deeper s l r z i). lia.
Qed.
Lemma draw_exchanged s L L' : exchanged L L' -> within (2 * eta) 0 (drawn s L) (drawn s L').
Proof.
  intros (l & r & z & z' & -> & ->). replace (2 * eta) with (eta * IZR 2) by (simpl; ring).
  apply draw_private with (low := (-1)%Z); [exact Heta|lia|]. intros i _.
  pose proof (deeper s l r z i). pose proof (deeper s l r z' i). lia.
Qed.

(** ** While a place is sought *)

Section Seek.
Variables (R0 : list spot -> list spot -> Prop).
Hypothesis R0_app : forall L L' m, R0 L L' -> R0 (L ++ m) (L' ++ m).
Definition later_leaf (l l' : leaf) := exists r v L L', l = Draw false r true v L /\ l' = Draw false r true v L' /\ R0 L L'.
Lemma seek_differ world rounds : forall published s L L', R0 L L' ->
  alike later_leaf (seek world rounds true published s L) (seek world rounds true published s L').
Proof.
  induction rounds as [|rounds IH]; intros published s L L' D; [apply AlikeSame|]. cbn [seek received].
  set (z := example adv published).
  assert (K : forall L L', R0 L L' -> alike later_leaf
    (Toss 0%nat (fun fires : bool => if fires then Done (Draw (negb true && world) rounds true (FiredPlace :: published) L)
        else seek world rounds true (Fired [] :: published) s L))
    (Toss 0%nat (fun fires : bool => if fires then Done (Draw (negb true && world) rounds true (FiredPlace :: published) L')
        else seek world rounds true (Fired [] :: published) s L'))).
  { intros M M' DM. apply AlikeToss. intros [|]; [apply AlikeDone; do 4 eexists; eauto|now apply IH]. }
  destruct (errs s z); cbn [count]; [apply AlikeEnsure, AlikeDec|]; apply K; auto.
Qed.
End Seek.

Variables (place_rate epsilon : R).
Hypothesis place_base : base q = exp (- place_rate).
Hypothesis place_pos : 0 < place_rate.
Hypothesis pays_one : place_rate + eta <= epsilon.
Hypothesis pays_two : 2 * eta <= epsilon.

(** Leaves of two worlds before the challenge. *)
Definition earlier_leaf (l l' : leaf) := l = l' \/ (exists w r v L, l = Draw w r false v L /\ l' = Draw (negb w) r false v L)
  \/ exists w r v s, l = Enter w r false v s /\ l' = Enter (negb w) r false v s.
Definition counter : key -> bool := set (fun _ => false) 0%nat true.
Notation near_place := (neighbours q q (exp (- epsilon)) (exp (- eta)) (exp (- (2 * eta)))
  earlier_leaf (later_leaf one_more) (later_leaf exchanged) place_threshold 0).

Lemma seek_neighbours world rounds s : forall published L,
  near_place counter (seek world rounds false published s L) (seek (negb world) rounds false published s L).
Proof.
  assert (Price : exp (- epsilon) <= q * exp (- eta)) by (rewrite place_base, <- exp_plus; apply exp_le; lra).
  assert (Two : exp (- epsilon) <= exp (- (2 * eta))) by (apply exp_le; lra).
  induction rounds as [|rounds IH]; intros published L; [apply Ended; now left|]. cbn [seek received].
  destruct (challenge adv published) as [[z0 z1]|].
  - set (z := if world then z1 else z0). set (z' := if negb world then z1 else z0).
    set (with_it z := if errs s z then L ++ [spot_of s z] else L).
    set (t w M := Toss 0%nat (fun fires : bool => if fires then Done (Draw (negb true && w) rounds true (FiredPlace :: published) M)
      else seek w rounds true (Fired [] :: published) s M)).
    change (near_place counter (count (if errs s z then Some (0%nat, place_threshold) else None) (t world (with_it z)))
      (count (if errs s z' then Some (0%nat, place_threshold) else None) (t (negb world) (with_it z')))).
    assert (Tw : forall w' M, t w' M = t world M).
    { intros w' M. unfold t. f_equal. apply functional_extensionality. intros [|]; [reflexivity|apply seek_used]. }
    rewrite (Tw (negb world)).
    assert (Al : forall (R0 : list spot -> list spot -> Prop), (forall L L' m, R0 L L' -> R0 (L ++ m) (L' ++ m)) ->
      forall M M', R0 M M' -> alike (later_leaf R0) (t world M) (t world M')).
    { intros R0 HR M M' D. unfold t. apply AlikeToss. intros [|]; [apply AlikeDone; do 4 eexists; eauto|now apply seek_differ]. }
    assert (Cov : forall o M, o = Some (0%nat, place_threshold) \/ o = None -> covered place_threshold 0 counter o (t world M)).
    { intros o M [->| ->]; [left; apply set_same|exact I]. }
    unfold with_it. destruct (errs s z), (errs s z').
    + apply AlikeFromNow; [exact Two|]. apply AlikeEnsure, AlikeDec, Al; [exact exchanged_app|].
      exists L, [], (spot_of s z), (spot_of s z'). auto.
    + apply Challenge; [unfold price; lra|exact I|apply Cov; auto|apply Cov; auto|].
      apply Al; [exact one_more_app|]. exists L, [], (spot_of s z). rewrite app_nil_r. auto.
    + apply Challenge; [unfold price; lra|exact I|apply Cov; auto|apply Cov; auto|].
      apply Al; [exact one_more_app|]. exists L, [], (spot_of s z'). rewrite app_nil_r. auto.
    + apply Same.
  - set (z := example adv published). set (M := if errs s z then L ++ [spot_of s z] else L).
    assert (K : forall Lc, Lc = counter -> near_place Lc
      (Toss 0%nat (fun fires : bool => if fires then Done (Draw (negb false && world) rounds false (FiredPlace :: published) M)
         else seek world rounds false (Fired [] :: published) s M))
      (Toss 0%nat (fun fires : bool => if fires then Done (Draw (negb false && negb world) rounds false (FiredPlace :: published) M)
         else seek (negb world) rounds false (Fired [] :: published) s M))).
    { intros Lc ->. apply TossBoth; [|apply IH]. apply Ended. right. left. do 4 eexists. split; reflexivity. }
    destruct (errs s z); cbn [count]; [apply EnsureBoth, DecBoth|]; apply K; [unfold counter; apply set_set|reflexivity].
Qed.

(** ** While witnesses are counted *)

Variables (alpha beta : R).
Hypothesis query_base : base a = exp (- alpha).
Hypothesis threshold_base : base b = exp (- beta).
Hypothesis pays_witness : alpha + beta <= epsilon.

Notation near := (neighbours a b (exp (- epsilon)) 1 1 earlier_leaf eq eq 0%Z 0).
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
Lemma near_entered s due leave0 leave1 k0 k1 : (forall s L, near L (leave0 s) (leave1 s)) ->
  (forall s L, (forall x, In x (live s) -> L x = true) -> near L (k0 s) (k1 s)) ->
  forall L, near L (entered s due leave0 k0) (entered s due leave1 k1).
Proof.
  intros Lv K L. unfold entered. destruct (accept s due) as [s'|]; (destruct (seeks _); [apply Lv|]);
    apply near_drop_all; intro L0; apply near_ensure_all; intros L' Inn _; now apply K.
Qed.
Lemma near_learn world rounds : forall published s L, (forall x, In x (live s) -> L x = true) ->
  near L (learn world rounds false published s) (learn (negb world) rounds false published s).
Proof.
  pose proof (base_01 a) as Ha. pose proof (base_01 b) as Hb.
  induction rounds as [|rounds IH]; intros published s L Hs; [apply Same|]. cbn [learn received].
  destruct (challenge adv published) as [[z0 z1]|].
  - set (t w := toss_all (live s) [] (fun due => entered s due
      (fun s' => Done (Enter (negb true && w) rounds true (Fired due :: published) s')) (learn w rounds true (Fired due :: published)))).
    change (near L (count (option_map (fun x => (x, threshold x)) (named_by s (if world then z1 else z0))) (t world))
      (count (option_map (fun x => (x, threshold x)) (named_by s (if negb world then z1 else z0))) (t (negb world)))).
    replace (t (negb world)) with (t world).
    2:{ apply toss_all_ext. intro due. apply entered_ext; [reflexivity|]. intro s'. apply learn_used. }
    generalize (if world then z1 else z0) (if negb world then z1 else z0). clear z0 z1. intros z0 z1.
    pose proof (names_live s z0) as N0. pose proof (names_live s z1) as N1.
    assert (Pay : exp (- epsilon) <= a * b) by (rewrite query_base, threshold_base, <- exp_plus; apply exp_le; lra).
    assert (Price : forall o0 o1, exp (- epsilon) <= price a b o0 o1 * 1).
    { intros o0 o1. apply Rle_trans with (1 := Pay). unfold price. destruct o0, o1; nra. }
    destruct (named_by s z0) as [x0|], (named_by s z1) as [x1|]; cbn [option_map].
    + destruct (Nat.eq_dec x0 x1) as [->|D]; [apply Same|].
      apply Challenge; [apply Price|exact D|left; apply Hs; auto|left; apply Hs; auto|apply AlikeSame].
    + apply Challenge; [apply Price|exact I|left; apply Hs; auto|exact I|apply AlikeSame].
    + apply Challenge; [apply Price|exact I|exact I|left; apply Hs; auto|apply AlikeSame].
    + apply Same.
  - set (t w := toss_all (live s) [] (fun due => entered s due
      (fun s' => Done (Enter (negb false && w) rounds false (Fired due :: published) s')) (learn w rounds false (Fired due :: published)))).
    assert (Rest : forall L', near L' (t world) (t (negb world))).
    { intro L'. apply near_toss_all. intros L'' due. apply near_entered.
      - intros s' L3. apply Ended. right. right. do 4 eexists. split; reflexivity.
      - intros s' L3 H3. now apply IH. }
    change (near L (count (option_map (fun x => (x, threshold x)) (named_by s (example adv published))) (t world))
      (count (option_map (fun x => (x, threshold x)) (named_by s (example adv published))) (t (negb world)))).
    destruct (named_by s (example adv published)) as [x|]; cbn [option_map count]; [apply EnsureBoth, DecBoth|]; apply Rest.
Qed.
Lemma near_start world rounds published s :
  near (fun _ => false) (ensure_all (live s) (learn world rounds false published s)) (ensure_all (live s) (learn (negb world) rounds false published s)).
Proof. apply near_ensure_all. intros L' Inn _. now apply near_learn. Qed.

(** ** All phases *)

Lemma free (l : law view) : within epsilon 0 l l.
Proof. apply (within_weaker 0 0); [lra|lra|apply within_refl]. Qed.
Lemma unexp x y e : x <= exp e * y + 0 -> exp (- e) * x <= y + exp (- e) * 0.
Proof.
  intro H. apply Rmult_le_compat_l with (r := exp (- e)) in H; [|left; apply exp_pos].
  rewrite Rplus_0_r, <- Rmult_assoc, (Rmult_comm (exp (- e)) (exp e)), exp_opp, Rmult_1_l in H. lra.
Qed.
Lemma reexp x y e : exp (- e) * x <= y -> x <= exp e * y.
Proof.
  intro H. apply Rmult_le_compat_l with (r := exp e) in H; [|left; apply exp_pos].
  now rewrite <- Rmult_assoc, exp_opp, Rmult_1_l in H.
Qed.
Lemma exp_neg_01 e : 0 <= e -> 0 < exp (- e) <= 1.
Proof. intro H. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_le. lra. Qed.

Section Phase.
Variables (fuel : nat) (s : place) (f : view -> R).
Hypothesis Hf : forall v, 0 <= f v <= 1.
Hypothesis IH : forall world rounds published s,
  within epsilon 0 (play fuel world rounds false published s) (play fuel (negb world) rounds false published s).

Lemma later_close (R0 : list spot -> list spot -> Prop) e : (forall L L', R0 L L' -> within e 0 (drawn s L) (drawn s L')) ->
  forall l l', later_leaf R0 l l' -> exp (- e) * rest fuel s f l <= rest fuel s f l' + exp (- e) * 0.
Proof.
  intros D l l' (r & v & L & L' & -> & -> & H). cbn [rest]. apply unexp. apply (D L L' H).
  intro i. now apply E_test.
Qed.
Lemma earlier_close e l l' : epsilon <= e -> earlier_leaf l l' -> exp (- e) * rest fuel s f l <= rest fuel s f l' + exp (- e) * 0.
Proof.
  intros He H. assert (Up : forall w r v s', within e 0 (play fuel w r false v s') (play fuel (negb w) r false v s')).
  { intros. apply (within_weaker epsilon 0); [exact He|lra|apply IH]. }
  destruct H as [->|[(w & r & v & L & -> & ->)|(w & r & v & s' & -> & ->)]].
  - apply unexp. pose proof (rest_01 fuel s f l' Hf). pose proof (exp_le 0 e ltac:(lra)). rewrite exp_0 in *. nra.
  - cbn [rest]. apply unexp.
    pose proof (F1_fixed_coins e 0 (drawn s L) (fun i => play fuel w r false (Drawn i :: v) (moved s i))
      (fun i => play fuel (negb w) r false (Drawn i :: v) (moved s i)) ltac:(lra) ltac:(intro; apply Up) f Hf) as F. exact F.
  - cbn [rest]. apply unexp. now apply Up.
Qed.

(** Conditionally on every prefix: mu is the law of the gap on the part of all runs with this prefix. *)
Lemma seek_private there t0 t1 mu : near_place there t0 t1 -> payable q mu -> present there mu ->
  mu (fun st => run q q t0 st (rest fuel s f)) <= exp epsilon * mu (fun st => run q q t1 st (rest fuel s f)).
Proof.
  intros N P Q. apply reexp. pose proof (exp_neg_01 epsilon ltac:(lra)) as E1.
  assert (T := counters_private q q (exp (- epsilon)) (exp (- eta)) (exp (- (2 * eta))) earlier_leaf (later_leaf one_more) (later_leaf exchanged)
    place_threshold 0 ltac:(lra) (exp_neg_01 eta Heta) (exp_neg_01 (2 * eta) ltac:(lra)) (rest fuel s f) 0 ltac:(intro; now apply rest_01) ltac:(lra)
    ltac:(intros; now apply earlier_close; [lra|]) (later_close one_more eta (draw_one_more s)) (later_close exchanged (2 * eta) (draw_exchanged s))
    there t0 t1 N mu P Q).
  cbn [INR] in T. rewrite Rmult_0_l, !Rmult_0_r, Rplus_0_r, Rmult_0_l, Rplus_0_r in T. exact T.
Qed.
Lemma learn_private there t0 t1 mu : near there t0 t1 -> payable b mu -> present there mu ->
  mu (fun st => run a b t0 st (rest fuel s f)) <= exp epsilon * mu (fun st => run a b t1 st (rest fuel s f)).
Proof.
  intros N P Q. apply reexp. pose proof (exp_neg_01 epsilon ltac:(lra)) as E1.
  assert (Eq : forall v0 v1, v0 = v1 -> 1 * rest fuel s f v0 <= rest fuel s f v1 + 1 * 0) by (intros v0 v1 <-; lra).
  assert (T := counters_private a b (exp (- epsilon)) 1 1 earlier_leaf eq eq 0%Z 0 ltac:(lra) ltac:(lra) ltac:(lra) (rest fuel s f) 0
    ltac:(intro; now apply rest_01) ltac:(lra) ltac:(intros; now apply earlier_close; [lra|]) Eq Eq there t0 t1 N mu P Q).
  cbn [INR] in T. rewrite Rmult_0_l, !Rmult_0_r, Rplus_0_r, Rmult_0_l, Rplus_0_r in T. exact T.
Qed.
End Phase.

Theorem play_private fuel : forall world rounds published s,
  within epsilon 0 (play fuel world rounds false published s) (play fuel (negb world) rounds false published s).
Proof.
  induction fuel as [|fuel IH]; intros world rounds published s; [apply free|].
  intros f Hf. rewrite !play_phase, Rplus_0_r. destruct (seeks s).
  - assert (N : near_place (fun _ => false) (Ensure 0%nat place_threshold (seek world rounds false published s []))
      (Ensure 0%nat place_threshold (seek (negb world) rounds false published s []))) by (apply EnsureBoth, seek_neighbours).
    exact (seek_private fuel s f Hf IH _ _ _ (ret no_counters) N (payable_at_start q no_counters ltac:(reflexivity)) (present_at_start no_counters)).
  - exact (learn_private fuel s f Hf IH _ _ _ (ret no_counters) (near_start world rounds published s)
      (payable_at_start b no_counters ltac:(reflexivity)) (present_at_start no_counters)).
Qed.

(** Conditionally on every prefix, in the middle of a phase: mu is the law of the gaps, and L what is
    remembered, on the part of all runs with this prefix and this L. *)
Theorem places_from_prefix fuel world rounds published s L mu f : (forall v, 0 <= f v <= 1) -> payable q mu -> present counter mu ->
  let others w := mu (fun st => run q q (seek w rounds false published s L) st (rest fuel s f)) in
  others world <= exp epsilon * others (negb world).
Proof. intros Hf P Q others. apply (seek_private fuel s f Hf (play_private fuel) counter); [apply seek_neighbours|exact P|exact Q]. Qed.
Theorem witnesses_from_prefix fuel world rounds published s mu f : (forall v, 0 <= f v <= 1) -> payable b mu ->
  present (fun x => if in_dec Nat.eq_dec x (live s) then true else false) mu ->
  let others w := mu (fun st => run a b (learn w rounds false published s) st (rest fuel s f)) in
  others world <= exp epsilon * others (negb world).
Proof.
  intros Hf P Q others. set (L := fun x => if in_dec Nat.eq_dec x (live s) then true else false) in *.
  apply (learn_private fuel s f Hf (play_private fuel) L); [|exact P|exact Q]. apply near_learn.
  intros x Hx. unfold L. destruct (in_dec Nat.eq_dec x (live s)); tauto.
Qed.
End Algorithm.

Section Promise.
Context {X place spot : Type}.
Variables (first : place) (live : place -> list key) (after : place -> key -> option place).
Variables (named_by : place -> X -> option key) (threshold : key -> Z).
Hypothesis names_live : forall s z x, named_by s z = Some x -> In x (live s).
Variables (seeks : place -> bool) (errs : place -> X -> bool) (spot_of : place -> X -> spot).
Variables (size : place -> nat) (depth : place -> list spot -> nat -> Z) (found : place -> nat -> option place).
Variable place_threshold : Z.
Hypothesis deeper : forall s l r z i, (depth s (l ++ r) i <= depth s (l ++ z :: r) i <= depth s (l ++ r) i + 1)%Z.
(** The plan: rates of the noise (L1, L7), and the weights of the draw (L9). *)
Variables (query_rate threshold_rate place_rate selection_rate : R).
Hypothesis query_pos : 0 < query_rate.
Hypothesis threshold_pos : 0 < threshold_rate.
Hypothesis place_pos : 0 < place_rate.
Hypothesis selection_pos : 0 <= selection_rate.
Variable W : weights selection_rate.

Definition private_witnesses adv fuel rounds (world : bool) : law (list event) :=
  play first live after named_by threshold seeks errs spot_of size depth found place_threshold adv
    (at_rate query_rate query_pos) (at_rate threshold_rate threshold_pos) (at_rate place_rate place_pos) selection_rate W
    fuel world rounds false [] first.

(** The promise of learners/private_witnesses/recipe.py, PrivateWitnesses:

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, 0), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    timing (docs/GUARANTEES.md): a round with a mistake takes longer,
                    and one that draws a place the longer the more mistakes there were
        Proof:      recipe.md
        Checked:    proofs/promises/WitnessPlaces.v, theorem witness_places_private *)
Theorem witness_places_private epsilon adv fuel rounds : query_rate + threshold_rate <= epsilon ->
  place_rate + selection_rate <= epsilon -> 2 * selection_rate <= epsilon -> private epsilon 0 (private_witnesses adv fuel rounds).
Proof.
  intros Hw Hp Hs world.
  exact (play_private first live after named_by threshold names_live seeks errs spot_of size depth found place_threshold deeper adv
    (at_rate query_rate query_pos) (at_rate threshold_rate threshold_pos) (at_rate place_rate place_pos) selection_rate W selection_pos
    place_rate epsilon eq_refl place_pos Hp Hs query_rate threshold_rate eq_refl eq_refl Hw fuel world rounds [] first).
Qed.
End Promise.
(* main: witness_places_private, places_from_prefix, witnesses_from_prefix *)
