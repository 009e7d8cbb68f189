(** learners/lazy_forest/layer.py, packed: only living sequences are matched, and the pairs that agree on a
    listed hypothesis have slots of their own. Sensitivity: layer.md, Lemma. *)
From Coq Require Import Arith Reals Lra Lia List Bool Permutation.
From Littlestone Require Import Laws Game Orders LazyForest.
Import ListNotations.

Section Layer.
Context {state hypothesis X : Type}.
Variable hypothesis_dec : forall h h' : hypothesis, {h = h'} + {h <> h'}.
Variable says : state -> hypothesis.
Variable begin : state.
Variable after : state -> X -> option state.
Variable tournament : state -> state -> bool -> option state.
Variable errs : hypothesis -> X -> bool.
Notation pair := (@pair state).
Notation agree := (agree hypothesis_dec says).
Notation insert := (insert hypothesis_dec says after errs).
Notation child := (child hypothesis_dec says tournament).

(** A slot without a pair. *)
Definition hole : pair := Pair None None false.

(** ** Matching *)

(** (L3): neighbours in a random order; if their number is odd, the last stays alone and is dropped. *)
Fixpoint matched (w : list state) : list pair :=
  match w with u :: v :: w => Pair (Some u) (Some v) false :: matched w | _ => [] end.

Lemma matched_app a c : Nat.Even (length a) -> matched (a ++ c) = matched a ++ matched c.
Proof.
  intros [n Hn]. revert a Hn. induction n as [|n IH]; intros a Hn.
  - destruct a; [reflexivity|simpl in Hn; lia].
  - destruct a as [|u [|v a]]; simpl in Hn; try lia. simpl. f_equal. apply IH. lia.
Qed.
Lemma matched_alone a x : Nat.Even (length a) -> matched (a ++ [x]) = matched a.
Proof. intro H. rewrite matched_app by exact H. apply app_nil_r. Qed.
Lemma matched_length w : (length (matched w) <= length w)%nat.
Proof.
  assert (H : forall n w, (length w <= n)%nat -> (length (matched w) <= length w)%nat).
  { induction n as [|n IH]; intros [|u [|v r]] L; simpl in *; try lia. specialize (IH r ltac:(lia)). lia. }
  now apply (H (length w)).
Qed.

(** Two layers that differ in one pair, replaced or missing; the differing ones agree on one g or on nothing. *)
Definition near (P P' : list pair) := exists C o o' g, Permutation P (C ++ o) /\ Permutation P' (C ++ o')
  /\ (length o <= 1)%nat /\ (length o' <= 1)%nat /\ forall p, In p (o ++ o') -> agree p = None \/ agree p = Some g.
Lemma near_same P : near P P.
Proof. exists P, [], [], (says begin). rewrite app_nil_r. simpl. repeat split; auto; tauto. Qed.
Lemma near_sym P P' : near P P' -> near P' P.
Proof.
  intros (C & o & o' & g & H & H' & L & L' & A). exists C, o', o, g. repeat split; try assumption.
  intros p I. apply A. apply in_app_iff in I. apply in_app_iff. tauto.
Qed.
Lemma agree_second u v : agree (Pair (Some u) (Some v) false) = None \/ agree (Pair (Some u) (Some v) false) = Some (says v).
Proof. unfold agree. cbn. destruct (hypothesis_dec (says u) (says v)) as [E|N]; [right; now rewrite E|now left]. Qed.
Lemma agree_first u v : agree (Pair (Some u) (Some v) false) = None \/ agree (Pair (Some u) (Some v) false) = Some (says u).
Proof. unfold agree. cbn. destruct (hypothesis_dec (says u) (says v)) as [E|N]; [now right|now left]. Qed.
Lemma near_at a c o o' g : (length o <= 1)%nat -> (length o' <= 1)%nat ->
  (forall p, In p (o ++ o') -> agree p = None \/ agree p = Some g) -> near (a ++ o ++ c) (a ++ o' ++ c).
Proof.
  intros L L' A. exists (a ++ c), o, o', g. repeat split; try assumption;
    rewrite <- app_assoc; apply Permutation_app_head, Permutation_app_comm.
Qed.
Lemma split_last {A} (a : list A) n : length a = S n -> exists b x, a = b ++ [x] /\ length b = n.
Proof.
  intro L. destruct (exists_last (l := a)) as (b & x & ->); [intro; subst; discriminate|].
  exists b, x. rewrite app_length in L. simpl in L. split; [reflexivity|lia].
Qed.

(** (b), (c), one sequence replaced. *)
Lemma near_exchanged x y w v : exchanged x y w v -> near (matched w) (matched v).
Proof.
  intros (a & c & -> & ->). destruct (Nat.Even_or_Odd (length a)) as [Ev|[n Od]].
  - rewrite !(matched_app a) by exact Ev. destruct c as [|z c]; [apply near_same|]. cbn [matched].
    apply (near_at (matched a) (matched c) [_] [_] (says z)); simpl; try lia.
    intros p [<-|[<-|[]]]; apply agree_second.
  - destruct (split_last a (2 * n)) as (b & z & -> & L); [lia|].
    rewrite <- !app_assoc. cbn [app]. rewrite !(matched_app b) by (exists n; lia). cbn [matched].
    apply (near_at (matched b) (matched c) [_] [_] (says z)); simpl; try lia.
    intros p [<-|[<-|[]]]; apply agree_first.
Qed.
Lemma cut_at {A} (w : list A) r : (r < length w)%nat -> exists a y c, w = a ++ y :: c /\ length a = r.
Proof.
  intro H. destruct w as [|d w]; [simpl in H; lia|]. destruct (nth_split (d :: w) d H) as (a & c & E & L). eauto.
Qed.
(** One sequence missing. The number without it is even: the last of all, which is alone, takes its place. *)
Lemma near_missing_even x l : Nat.Even (length l) ->
  side_by_side (fun w v => near (matched w) (matched v)) (orders (x :: l)) (orders l).
Proof.
  intro Ev. apply (orders_missing _ x (fun r => r) (fun _ => length l)). intros r w Hr Hw.
  rewrite (to_end_beyond (length l)) by lia. destruct (Nat.eq_dec r (length l)) as [->|N].
  - rewrite to_end_beyond by lia. rewrite <- Hw. replace w with (w ++ []) at 2 by apply app_nil_r. rewrite put_at.
    rewrite matched_alone by now rewrite Hw. apply near_same.
  - destruct (cut_at w r ltac:(lia)) as (a & y & c & -> & <-). rewrite to_end_at, put_at.
    rewrite app_comm_cons, app_assoc, matched_alone.
    + apply (near_exchanged x y). now exists a, c.
    + rewrite app_length in *. simpl in *. now rewrite Hw.
Qed.
(** It is odd: the partner of the missing one stays alone. *)
Lemma near_missing_odd x l : Nat.Odd (length l) ->
  side_by_side (fun w v => near (matched w) (matched v)) (orders (x :: l)) (orders l).
Proof.
  intros [n Od]. apply (orders_missing _ x (fun _ => length l) (fun r => 2 * Nat.div2 r)%nat). intros r w Hr Hw.
  rewrite (to_end_beyond (length l)) by lia.
  assert (R : (r = 2 * Nat.div2 r \/ r = 2 * Nat.div2 r + 1)%nat).
  { pose proof (Nat.div2_odd r) as D. destruct (Nat.odd r); simpl in D; lia. }
  destruct (cut_at w (2 * Nat.div2 r) ltac:(lia)) as (a & y & c & -> & L). rewrite <- L, to_end_at.
  rewrite app_length in Hw. simpl in Hw.
  assert (Ea : Nat.Even (length a)) by (exists (Nat.div2 r); lia).
  assert (Ec : Nat.Even (length c)) by (exists (n - Nat.div2 r)%nat; lia).
  rewrite (matched_app a (c ++ [y])), (matched_alone c) by assumption.
  assert (P : exists p g, matched (put r x (a ++ y :: c)) = matched a ++ [p] ++ matched c /\ (agree p = None \/ agree p = Some g)).
  { destruct R as [R|R].
    - replace r with (length a) by lia. rewrite put_at, matched_app by exact Ea. cbn [matched app].
      do 2 eexists. split; [reflexivity|]. apply agree_second.
    - replace (a ++ y :: c) with ((a ++ [y]) ++ c) by now rewrite <- app_assoc.
      replace r with (length (a ++ [y])) by (rewrite app_length; simpl; lia). rewrite put_at, <- app_assoc. cbn [app].
      rewrite matched_app by exact Ea. cbn [matched app]. do 2 eexists. split; [reflexivity|]. apply agree_first. }
  destruct P as (p & g & -> & A). apply (near_at (matched a) (matched c) [p] [] g); simpl; try lia.
  intros q [<-|[]]. exact A.
Qed.
Lemma near_missing x l : side_by_side (fun w v => near (matched w) (matched v)) (orders (x :: l)) (orders l).
Proof. destruct (Nat.Even_or_Odd (length l)); [now apply near_missing_even|now apply near_missing_odd]. Qed.

(** Two lists of living sequences that differ in one, replaced or missing. *)
Definition one_apart {A} (Q Q' : list A) := exists R o o', Permutation Q (R ++ o) /\ Permutation Q' (R ++ o')
  /\ (length o <= 1)%nat /\ (length o' <= 1)%nat.
Theorem matching_sensitivity Q Q' : one_apart Q Q' ->
  side_by_side (fun w v => near (matched w) (matched v)) (orders Q) (orders Q').
Proof.
  intros (R & o & o' & H & H' & L & L'). apply (side_by_side_permuted _ _ _ (orders (o ++ R)) (orders (o' ++ R)));
    [apply orders_invariant; rewrite H; apply Permutation_app_comm|apply orders_invariant; rewrite H'; apply Permutation_app_comm|].
  destruct o as [|x [|? ?]], o' as [|y [|? ?]]; simpl in L, L'; try lia; cbn [app].
  - apply (one_to_one _ _ _ (orders R) (orders R)); try reflexivity.
    induction (orders R) as [|w P IH]; constructor; [apply near_same|exact IH].
  - apply side_by_side_sym. apply (side_by_side_weaker (fun w v => near (matched w) (matched v))); [intros; now apply near_sym|]. apply near_missing.
  - apply near_missing.
  - apply (one_to_one _ _ _ (orders (x :: R)) (orders (y :: R))); try reflexivity.
    apply (each_weaker _ _ _ _ (near_exchanged x y)). apply orders_exchanged.
Qed.

(** ** Slots *)

Definition votes (P : list pair) : list hypothesis := flat_map (fun p => listed_of (agree p)) P.
Definition agrees_on (h : hypothesis) (p : pair) : bool :=
  match agree p with Some g => if hypothesis_dec g h then true else false | None => false end.
Definition pad (K : nat) (P : list pair) : list pair := P ++ repeat hole (K - length P).
(** The pairs that agree on a listed hypothesis h have K_h slots, all others [room]. *)
Fixpoint stretches (L : list (hypothesis * nat)) (room : nat) (P : list pair) : list (list pair) :=
  match L with
  | [] => [pad room P]
  | (h, K) :: L => pad K (filter (agrees_on h) P) :: stretches L room (filter (fun p => negb (agrees_on h p)) P)
  end.
(** A random order of each stretch. *)
Fixpoint placements (stretches : list (list pair)) : list (list pair) :=
  match stretches with
  | [] => [[]]
  | P :: stretches => flat_map (fun w => map (app w) (placements stretches)) (orders P)
  end.
Fixpoint slots (L : list (hypothesis * nat)) (room : nat) : nat :=
  match L with [] => room | (_, K) :: L => K + slots L room end.
Definition fits (L : list (hypothesis * nat)) (P : list pair) :=
  forall h K, In (h, K) L -> (length (filter (agrees_on h) P) <= K)%nat.

(** Slot by slot the same, but for at most one pair that only the first world has ([a]) and one that only
    the second has ([b]). *)
Inductive along : bool -> bool -> list pair -> list pair -> Prop :=
  | AlongEnd a b : along a b [] []
  | AlongSame a b p v v' : along a b v v' -> along a b (p :: v) (p :: v')
  | AlongFirst b p v v' : along false b v v' -> along true b (p :: v) (hole :: v')
  | AlongSecond a p v v' : along a false v v' -> along a true (hole :: v) (p :: v')
  | AlongBoth p p' v v' : along false false v v' -> along true true (p :: v) (p' :: v').
Lemma along_same a b v : along a b v v.
Proof. induction v; constructor; assumption. Qed.
Lemma along_more a b v v' : along a b v v' -> forall a' b', (a = true -> a' = true) -> (b = true -> b' = true) -> along a' b' v v'.
Proof.
  induction 1; intros a' b' Ha Hb.
  - constructor.
  - constructor. auto.
  - rewrite (Ha eq_refl). constructor. apply IHalong; [discriminate|exact Hb].
  - rewrite (Hb eq_refl). constructor. apply IHalong; [exact Ha|discriminate].
  - rewrite (Ha eq_refl), (Hb eq_refl). constructor. apply IHalong; discriminate.
Qed.
Lemma along_app a b w w' : along a b w w' -> forall a' b' v v', along a' b' v v' ->
  a && a' = false -> b && b' = false -> along (a || a') (b || b') (w ++ v) (w' ++ v').
Proof.
  induction 1 as [a b|a b p w w' H IH|b p w w' H IH|a p w w' H IH|p p' w w' H IH]; intros a' b' v v' V Ha Hb; cbn [app].
  - apply (along_more _ _ _ _ V); intros ->; apply orb_true_r.
  - constructor. now apply IH.
  - simpl in Ha. subst a'. constructor. now apply (IH false).
  - simpl in Hb. subst b'. rewrite orb_true_l. constructor. now apply (IH a' false).
  - simpl in Ha, Hb. subst a' b'. constructor. now apply (IH false false).
Qed.
Lemma along_exchanged x y w v : exchanged x y w v -> along true true w v.
Proof. intros (a & c & -> & ->). induction a as [|p a IH]; cbn [app]; constructor; [apply along_same|exact IH]. Qed.
Lemma along_gone x w v : exchanged x hole w v -> along true false w v.
Proof. intros (a & c & -> & ->). induction a as [|p a IH]; cbn [app]; constructor; [apply along_same|exact IH]. Qed.
Lemma along_new y w v : exchanged hole y w v -> along false true w v.
Proof. intros (a & c & -> & ->). induction a as [|p a IH]; cbn [app]; constructor; [apply along_same|exact IH]. Qed.

Definition some {A} (o : list A) : bool := match o with [] => false | _ => true end.
Lemma filter_permuted {A} (f : A -> bool) l r : Permutation l r -> Permutation (filter f l) (filter f r).
Proof.
  induction 1 as [|x l r P IH|x y l|l m r P IH Q IH']; simpl; auto.
  - destruct (f x); auto.
  - destruct (f x), (f y); auto. apply perm_swap.
  - now rewrite IH.
Qed.
Lemma pad_permuted K P Q : Permutation P Q -> Permutation (pad K P) (pad K Q).
Proof. intro H. unfold pad. rewrite (Permutation_length H). now apply Permutation_app_tail. Qed.
Lemma pad_one K C x : (length C < K)%nat -> Permutation (pad K (C ++ [x])) (x :: C ++ repeat hole (K - S (length C))).
Proof.
  intro H. unfold pad. rewrite app_length. simpl. replace (length C + 1)%nat with (S (length C)) by lia.
  rewrite <- app_assoc. simpl. symmetry. apply Permutation_middle.
Qed.
Lemma pad_none K C : (length C < K)%nat -> Permutation (pad K C) (hole :: C ++ repeat hole (K - S (length C))).
Proof.
  intro H. unfold pad. replace (K - length C)%nat with (S (K - S (length C))) by lia. simpl. symmetry. apply Permutation_middle.
Qed.
(** One stretch: the pair that differs sits where the other world has a hole, or its own. *)
Lemma stretch_along K C o o' : (length o <= 1)%nat -> (length o' <= 1)%nat -> (length (C ++ o) <= K)%nat -> (length (C ++ o') <= K)%nat ->
  exists Z Z', Permutation (pad K (C ++ o)) Z /\ Permutation (pad K (C ++ o')) Z' /\ Forall2 (along (some o) (some o')) (orders Z) (orders Z').
Proof.
  intros L L' F F'. rewrite app_length in F, F'. set (H := C ++ repeat hole (K - S (length C))).
  destruct o as [|x [|? ?]], o' as [|y [|? ?]]; simpl in L, L', F, F'; try lia; cbn [some]; rewrite ?app_nil_r.
  - exists (pad K C), (pad K C). repeat split; try reflexivity. induction (orders (pad K C)); constructor; [apply along_same|assumption].
  - exists (hole :: H), (y :: H). split; [apply pad_none; lia|]. split; [apply pad_one; lia|].
    apply (each_weaker _ _ _ _ (along_new y)), orders_exchanged.
  - exists (x :: H), (hole :: H). split; [apply pad_one; lia|]. split; [apply pad_none; lia|].
    apply (each_weaker _ _ _ _ (along_gone x)), orders_exchanged.
  - exists (x :: H), (y :: H). split; [apply pad_one; lia|]. split; [apply pad_one; lia|].
    apply (each_weaker _ _ _ _ (along_exchanged x y)), orders_exchanged.
Qed.
Lemma placements_invariant Ps Qs : Forall2 (@Permutation pair) Ps Qs -> Permutation (placements Ps) (placements Qs).
Proof.
  induction 1 as [|P Q Ps Qs H F IH]; [reflexivity|]. simpl. rewrite (Permutation_flat_map _ (orders_invariant P Q H)).
  apply flat_map_permuted. intro w. now apply Permutation_map.
Qed.
Lemma placements_along a b a' b' Z Z' Zs Zs' : a && a' = false -> b && b' = false ->
  Forall2 (along a b) (orders Z) (orders Z') -> Forall2 (along a' b') (placements Zs) (placements Zs') ->
  Forall2 (along (a || a') (b || b')) (placements (Z :: Zs)) (placements (Z' :: Zs')).
Proof.
  intros Ha Hb F G. simpl. induction F as [|w w' P P' W F IH]; simpl; [constructor|]. apply Forall2_app; [|exact IH].
  clear IH F. induction G as [|v v' Q Q' V G IG]; simpl; [constructor|]. constructor; [now apply along_app|exact IG].
Qed.
Lemma filter_one {A} (f : A -> bool) o : (length o <= 1)%nat ->
  some o = some (filter f o) || some (filter (fun x => negb (f x)) o) /\ some (filter f o) && some (filter (fun x => negb (f x)) o) = false
  /\ (length (filter f o) <= 1)%nat /\ (length (filter (fun x => negb (f x)) o) <= 1)%nat.
Proof. destruct o as [|x [|y o]]; simpl; intro L; [auto| |lia]. destruct (f x); simpl; auto. Qed.
Lemma filter_filter_length {A} (f g : A -> bool) l : (length (filter f (filter g l)) <= length (filter f l))%nat.
Proof. induction l as [|x l IH]; simpl; [lia|]. destruct (g x), (f x) eqn:E; simpl; rewrite ?E; simpl; lia. Qed.
Lemma filter_shorter {A} (f : A -> bool) l : (length (filter f l) <= length l)%nat.
Proof. induction l as [|x l IH]; simpl; [lia|]. destruct (f x); simpl; lia. Qed.

Theorem stretches_along L room : forall C o o', (length o <= 1)%nat -> (length o' <= 1)%nat ->
  fits L (C ++ o) -> fits L (C ++ o') -> (length (C ++ o) <= room)%nat -> (length (C ++ o') <= room)%nat ->
  exists Zs Zs', Forall2 (@Permutation pair) (stretches L room (C ++ o)) Zs /\ Forall2 (@Permutation pair) (stretches L room (C ++ o')) Zs'
  /\ Forall2 (along (some o) (some o')) (placements Zs) (placements Zs').
Proof.
  induction L as [|[h K] L IH]; intros C o o' Lo Lo' F F' R R'; cbn [stretches].
  - destruct (stretch_along room C o o' Lo Lo' R R') as (Z & Z' & P & P' & A). exists [Z], [Z'].
    split; [repeat constructor; exact P|]. split; [repeat constructor; exact P'|].
    rewrite <- (orb_false_r (some o)), <- (orb_false_r (some o')).
    apply placements_along; try apply andb_false_r; [exact A|]. repeat constructor.
  - set (no := fun p => negb (agrees_on h p)). rewrite !filter_app.
    destruct (filter_one (agrees_on h) o Lo) as (S & N & l1 & l2), (filter_one (agrees_on h) o' Lo') as (S' & N' & l1' & l2').
    destruct (stretch_along K (filter (agrees_on h) C) (filter (agrees_on h) o) (filter (agrees_on h) o') l1 l1') as (Z & Z' & P & P' & A);
      [rewrite <- filter_app; apply F; now left|rewrite <- filter_app; apply F'; now left|].
    assert (Sub : forall D, fits ((h, K) :: L) D -> fits L (filter no D)).
    { intros D FD g M I. apply Nat.le_trans with (length (filter (agrees_on g) D)); [apply filter_filter_length|]. apply FD. now right. }
    destruct (IH (filter no C) (filter no o) (filter no o') l2 l2') as (Zs & Zs' & Ps & Ps' & As);
      [rewrite <- filter_app; now apply Sub|rewrite <- filter_app; now apply Sub
      |rewrite <- filter_app; eapply Nat.le_trans; [apply filter_shorter|exact R]
      |rewrite <- filter_app; eapply Nat.le_trans; [apply filter_shorter|exact R']|].
    exists (Z :: Zs), (Z' :: Zs'). split; [now constructor|]. split; [now constructor|]. rewrite S, S'. now apply placements_along.
Qed.

(** ** Layers as functions of their slots *)

Notation layer := (nat -> pair).
Definition on_slots (v : list pair) : layer := fun j => nth j v hole.
Definition close_on (js : list nat) (a b : bool) (F F' : layer) := along a b (map F js) (map F' js).
Definition close (room : nat) (F F' : layer) := close_on (seq 0 room) true true F F'.
Lemma close_same room F : close room F F.
Proof. apply along_same. Qed.
Lemma close_insert room h i z F F' : close room F F' -> close room (insert h i z F) (insert h i z F').
Proof.
  unfold close, close_on. generalize (seq 0 room). intro js. generalize true at 1 3. generalize true.
  assert (Hole : insert h i z (fun _ => hole) = fun _ => hole).
  { unfold LazyForest.insert, taken. cbn. apply FunctionalExtensionality.functional_extensionality. intro j.
    destruct (Nat.eqb j i), (errs h z); reflexivity. }
  assert (At : forall G j p, G j = p -> insert h i z G j = insert h i z (fun _ => p) j).
  { intros G j p E. unfold LazyForest.insert. now rewrite E. }
  induction js as [|j js IH]; intros b a H; [constructor|]. cbn [map] in *. inversion H as [|a' b' p v v' V E1 E2 E3|b' p v v' V E1 E2 E3|a' p v v' V E1 E2 E3|p p' v v' V E1 E2 E3]; subst.
  - rewrite (At F j (F' j)), (At F' j (F' j)) by congruence. constructor. now apply IH.
  - rewrite (At F' j hole), Hole by congruence. constructor. now apply IH.
  - rewrite (At F j hole), Hole by congruence. constructor. now apply IH.
  - constructor. now apply IH.
Qed.
Lemma close_challenge room h i z z' F : close room (insert h i z F) (insert h i z' F).
Proof.
  unfold close, close_on. assert (ND : NoDup (seq 0 room)) by apply seq_NoDup. revert ND. generalize (seq 0 room). intros js ND.
  assert (Out : forall js, ~ In i js -> map (insert h i z F) js = map (insert h i z' F) js).
  { intros ks N. apply map_ext_in. intros j Hj. unfold LazyForest.insert. destruct (Nat.eqb_spec j i); [subst; tauto|reflexivity]. }
  induction ND as [|j js N ND IH]; [constructor|]. cbn [map]. destruct (Nat.eq_dec j i) as [->|D].
  - rewrite (Out js N). apply AlongBoth, along_same.
  - replace (insert h i z' F j) with (insert h i z F j); [now apply AlongSame|].
    unfold LazyForest.insert. destruct (Nat.eqb_spec j i); congruence.
Qed.
(** (a) *)
Definition living (guess : nat -> bool) (room : nat) (F : layer) : list state :=
  flat_map (fun j => listed_of (child (F j) (guess j))) (seq 0 room).
Theorem living_sensitivity guess room F F' : close room F F' -> one_apart (living guess room F) (living guess room F').
Proof.
  unfold close, close_on, living. generalize (seq 0 room). intro js.
  assert (H : forall a b, along a b (map F js) (map F' js) -> exists R o o',
    Permutation (flat_map (fun j => listed_of (child (F j) (guess j))) js) (R ++ o)
    /\ Permutation (flat_map (fun j => listed_of (child (F' j) (guess j))) js) (R ++ o')
    /\ (length o <= if a then 1 else 0)%nat /\ (length o' <= if b then 1 else 0)%nat).
  { induction js as [|j js IH]; intros a b H; [exists [], [], []; simpl; repeat split; auto; lia|]. cbn [map flat_map] in *.
    inversion H as [|a' b' p v v' V E1 E2 E3|b' p v v' V E1 E2 E3|a' p v v' V E1 E2 E3|p p' v v' V E1 E2 E3]; subst;
      destruct (IH _ _ V) as (R & o & o' & P & P' & L & L').
    - exists (listed_of (child (F' j) (guess j)) ++ R), o, o'. rewrite P, P'. assert (E : F j = F' j) by congruence. rewrite E, !app_assoc. auto.
    - exists R, (listed_of (child (F j) (guess j))), o'. rewrite P, P'. destruct o; [|simpl in L; lia]. rewrite app_nil_r.
      assert (E : F' j = hole) by congruence. rewrite ?E. cbn [child hole split one two listed_of app].
      split; [apply Permutation_app_comm|]. split; [reflexivity|]. split; [apply listed_short|exact L'].
    - exists R, o, (listed_of (child (F' j) (guess j))). rewrite P, P'. destruct o'; [|simpl in L'; lia]. rewrite app_nil_r.
      assert (E : F j = hole) by congruence. rewrite ?E. cbn [child hole split one two listed_of app].
      split; [reflexivity|]. split; [apply Permutation_app_comm|]. split; [exact L|apply listed_short].
    - exists R, (listed_of (child (F j) (guess j))), (listed_of (child (F' j) (guess j))). rewrite P, P'.
      destruct o; [|simpl in L; lia]. destruct o'; [|simpl in L'; lia]. rewrite app_nil_r.
      split; [apply Permutation_app_comm|]. split; [apply Permutation_app_comm|]. split; apply listed_short. }
  intro A. destruct (H _ _ A) as (R & o & o' & P). now exists R, o, o'.
Qed.
Lemma living_length guess room F : (length (living guess room F) <= room)%nat.
Proof.
  unfold living. rewrite <- (seq_length room 0) at 2. induction (seq 0 room) as [|j js IH]; simpl; [lia|].
  rewrite app_length. pose proof (listed_short (child (F j) (guess j))). lia.
Qed.
End Layer.
(* main: matching_sensitivity, stretches_along, living_sensitivity *)
