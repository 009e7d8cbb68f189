(** All orders of a list, one drawn at random, and what one element more or less changes. *)
From Coq Require Import Reals Lra Lia List Permutation FinFun.
From Littlestone Require Import Laws Game.
Import ListNotations.
Open Scope R_scope.

(** ** One of finitely many, each as likely *)

Fixpoint total_of {A} (f : A -> R) (l : list A) : R := match l with [] => 0 | x :: l => f x + total_of f l end.

Lemma total_of_app {A} (f : A -> R) l r : total_of f (l ++ r) = total_of f l + total_of f r.
Proof. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma total_of_permuted {A} (f : A -> R) l r : Permutation l r -> total_of f l = total_of f r.
Proof. induction 1; simpl; lra. Qed.
Lemma total_of_le {A} (f g : A -> R) l : (forall x, f x <= g x) -> total_of f l <= total_of g l.
Proof. intro H. induction l as [|x l IH]; simpl; [lra|]. specialize (H x). lra. Qed.
Lemma total_of_plus {A} (f g : A -> R) l : total_of (fun x => f x + g x) l = total_of f l + total_of g l.
Proof. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma total_of_scal {A} c (f : A -> R) l : total_of (fun x => c * f x) l = c * total_of f l.
Proof. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma total_of_const {A} c (l : list A) : total_of (fun _ => c) l = c * INR (length l).
Proof. induction l as [|x l IH]; [simpl; ring|]. cbn [total_of length]. rewrite IH, S_INR. ring. Qed.
Lemma total_of_map {A B} (f : B -> R) (g : A -> B) l : total_of f (map g l) = total_of (fun x => f (g x)) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. now rewrite IH. Qed.

Lemma share_pos {A} (l : list A) : 0 <= / INR (length l).
Proof.
  destruct l as [|x l]; [simpl; rewrite Rinv_0; lra|]. left. apply Rinv_0_lt_compat, lt_0_INR. simpl. lia.
Qed.
(** No law at all for an empty list. *)
Program Definition uniform {A} (l : list A) : law A := {| E := fun f => total_of f l * / INR (length l) |}.
Next Obligation. apply Rmult_le_compat_r; [apply share_pos|now apply total_of_le]. Qed.
Next Obligation. rewrite total_of_plus. ring. Qed.
Next Obligation. rewrite total_of_scal. ring. Qed.
Next Obligation.
  rewrite total_of_const, Rmult_1_l. destruct l as [|x l]; [simpl; rewrite Rmult_0_l; lra|].
  right. apply Rinv_r. apply not_0_INR. simpl. lia.
Qed.
Lemma uniform_permuted {A} (l r : list A) f : Permutation l r -> uniform l f = uniform r f.
Proof.
  intro P. cbn [uniform E]. now rewrite (total_of_permuted f l r P), (Permutation_length P).
Qed.
Lemma uniform_map {A B} (g : A -> B) l f : uniform (map g l) f = uniform l (fun x => f (g x)).
Proof. cbn [uniform E]. now rewrite total_of_map, map_length. Qed.

(** Every element m times. *)
Definition times {A} (m : nat) (l : list A) : list A := flat_map (fun x => repeat x m) l.
Lemma times_length {A} m (l : list A) : length (times m l) = (m * length l)%nat.
Proof. unfold times. induction l as [|x l IH]; cbn [flat_map length]; [lia|]. rewrite app_length, repeat_length, IH. lia. Qed.
Lemma times_total {A} m (f : A -> R) l : total_of f (times m l) = INR m * total_of f l.
Proof.
  unfold times. induction l as [|x l IH]; cbn [flat_map total_of]; [ring|]. rewrite total_of_app, IH.
  assert (T : total_of f (repeat x m) = INR m * f x).
  { clear. induction m as [|m IH]; [simpl; ring|]. cbn [repeat total_of]. rewrite IH, S_INR. ring. }
  rewrite T. ring.
Qed.
Lemma uniform_times {A} m (l : list A) f : (0 < m)%nat -> uniform (times m l) f = uniform l f.
Proof.
  intro M. cbn [uniform E]. rewrite times_total, times_length, mult_INR.
  destruct l as [|x l]; [simpl; rewrite !Rmult_0_r, !Rmult_0_l; ring|].
  assert (INR m <> 0) by (apply not_0_INR; lia). assert (INR (length (x :: l)) <> 0) by (apply not_0_INR; simpl; lia).
  field. split; assumption.
Qed.

Lemma as_long {A B} (related : A -> B -> Prop) xs ys : Forall2 related xs ys -> length xs = length ys.
Proof. induction 1; simpl; congruence. Qed.
Lemma each_weaker {A B} (related related' : A -> B -> Prop) xs ys : (forall x y, related x y -> related' x y) ->
  Forall2 related xs ys -> Forall2 related' xs ys.
Proof. intros H F. induction F; constructor; auto. Qed.
(** A coupling: the elements of two lists, each taken as often as one likes, side by side. *)
Definition side_by_side {A B} (related : A -> B -> Prop) (xs : list A) (ys : list B) :=
  exists m n xs' ys', (0 < m)%nat /\ (0 < n)%nat /\ Permutation (times m xs) xs' /\ Permutation (times n ys) ys' /\ Forall2 related xs' ys'.

Lemma times_1 {A} (l : list A) : times 1 l = l.
Proof. unfold times. induction l as [|x l IH]; [reflexivity|]. simpl in *. now rewrite IH. Qed.
Lemma one_to_one {A B} (related : A -> B -> Prop) xs ys xs' ys' : Permutation xs xs' -> Permutation ys ys' ->
  Forall2 related xs' ys' -> side_by_side related xs ys.
Proof. intros P Q H. exists 1%nat, 1%nat, xs', ys'. rewrite !times_1. repeat split; auto. Qed.

Lemma side_by_side_permuted {A B} (related : A -> B -> Prop) xs ys xs' ys' : Permutation xs xs' -> Permutation ys ys' ->
  side_by_side related xs' ys' -> side_by_side related xs ys.
Proof.
  intros P Q (m & n & us & vs & M & N & Px & Py & F). exists m, n, us, vs. repeat split; try assumption.
  - now rewrite <- Px; apply Permutation_flat_map.
  - now rewrite <- Py; apply Permutation_flat_map.
Qed.
Lemma side_by_side_sym {A B} (related : A -> B -> Prop) xs ys : side_by_side related xs ys -> side_by_side (fun y x => related x y) ys xs.
Proof. intros (m & n & us & vs & M & N & Px & Py & F). exists n, m, vs, us. repeat split; try assumption. clear - F. induction F; constructor; assumption. Qed.
Lemma side_by_side_weaker {A B} (related related' : A -> B -> Prop) xs ys : (forall x y, related x y -> related' x y) ->
  side_by_side related xs ys -> side_by_side related' xs ys.
Proof.
  intros H (m & n & us & vs & M & N & Px & Py & F). exists m, n, us, vs. repeat split; try assumption.
  now apply (each_weaker related).
Qed.

Theorem coupled_within {A B V} (related : A -> B -> Prop) xs ys e d (k : A -> law V) (k' : B -> law V) :
  0 <= d -> side_by_side related xs ys -> (forall x y, related x y -> within e d (k x) (k' y)) ->
  within e d (bind (uniform xs) k) (bind (uniform ys) k').
Proof.
  intros Hd (m & n & xs' & ys' & M & N & Px & Py & F) W f Hf. cbn [bind].
  change (uniform xs (fun x => k x f) <= exp e * uniform ys (fun y => k' y f) + d).
  rewrite <- (uniform_times m xs), <- (uniform_times n ys) by assumption.
  rewrite (uniform_permuted _ _ _ Px), (uniform_permuted _ _ _ Py). cbn [uniform E].
  assert (L : length xs' = length ys') by now apply (as_long related). rewrite <- L.
  assert (T : total_of (fun x => k x f) xs' <= exp e * total_of (fun y => k' y f) ys' + d * INR (length xs')).
  { clear - F W Hf. induction F as [|x y xs ys R F IH]; [simpl; lra|].
    cbn [total_of length]. rewrite S_INR. specialize (W x y R f Hf). lra. }
  apply Rmult_le_compat_r with (r := / INR (length xs')) in T; [|apply share_pos].
  destruct xs' as [|x xs']; [simpl in *; rewrite !Rmult_0_l; destruct ys'; [simpl; rewrite Rmult_0_l, Rmult_0_r; lra|discriminate]|].
  assert (INR (length (x :: xs')) <> 0) by (apply not_0_INR; simpl; lia).
  rewrite Rmult_plus_distr_r, !Rmult_assoc, Rinv_r, Rmult_1_r in T by assumption. lra.
Qed.

(** ** All orders *)

Fixpoint put {A} (r : nat) (x : A) (w : list A) : list A :=
  match r, w with O, _ => x :: w | S r, [] => [x] | S r, y :: w => y :: put r x w end.
Fixpoint insertions {A} (x : A) (w : list A) : list (list A) :=
  match w with [] => [[x]] | y :: w' => (x :: w) :: map (cons y) (insertions x w') end.
Fixpoint orders {A} (l : list A) : list (list A) :=
  match l with [] => [[]] | x :: l => flat_map (insertions x) (orders l) end.

Lemma insertions_put {A} (x : A) w : insertions x w = map (fun r => put r x w) (seq 0 (S (length w))).
Proof.
  induction w as [|y w IH]; [reflexivity|]. cbn [insertions length]. rewrite IH, map_map.
  change (seq 0 (S (S (length w)))) with (0%nat :: seq 1 (S (length w))). rewrite <- seq_shift, map_cons, map_map.
  f_equal.
Qed.
Lemma insertions_permuted {A} (x : A) w v : In v (insertions x w) -> Permutation (x :: w) v.
Proof.
  revert v. induction w as [|y w IH]; intros v; simpl.
  - intros [<-|[]]. reflexivity.
  - intros [<-|H]; [reflexivity|]. apply in_map_iff in H. destruct H as (u & <- & H).
    rewrite perm_swap. constructor. now apply IH.
Qed.
Lemma orders_permuted {A} (l w : list A) : In w (orders l) -> Permutation l w.
Proof.
  revert w. induction l as [|x l IH]; intros w H; simpl in H.
  - destruct H as [<-|[]]. reflexivity.
  - apply in_flat_map in H. destruct H as (v & Hv & H). rewrite (IH v Hv). now apply insertions_permuted.
Qed.
Lemma orders_map {A B} (f : A -> B) l : orders (map f l) = map (map f) (orders l).
Proof.
  assert (I : forall x w, insertions (f x) (map f w) = map (map f) (insertions x w)).
  { intros x w. induction w as [|y w IH]; [reflexivity|]. simpl. rewrite IH, !map_map. reflexivity. }
  induction l as [|x l IH]; [reflexivity|]. simpl. rewrite IH. generalize (orders l). intro P.
  induction P as [|w P IHP]; [reflexivity|]. simpl. now rewrite I, IHP, map_app.
Qed.

Lemma flat_map_flat_map {A B C} (f : B -> list C) (g : A -> list B) l :
  flat_map f (flat_map g l) = flat_map (fun x => flat_map f (g x)) l.
Proof. induction l as [|x l IH]; [reflexivity|]. simpl. now rewrite flat_map_app, IH. Qed.
Lemma flat_map_permuted {A B} (f g : A -> list B) l : (forall x, Permutation (f x) (g x)) -> Permutation (flat_map f l) (flat_map g l).
Proof. intro H. induction l as [|x l IH]; [reflexivity|]. simpl. now apply Permutation_app. Qed.
Lemma insertions_swap {A} (x y : A) w : Permutation (flat_map (insertions x) (insertions y w)) (flat_map (insertions y) (insertions x w)).
Proof.
  induction w as [|z w IH]; [simpl; apply perm_swap|].
  assert (S : forall u v : A, flat_map (insertions u) (map (cons z) (insertions v w))
    = flat_map (fun p => (u :: z :: p) :: map (cons z) (insertions u p)) (insertions v w)).
  { intros u v. rewrite flat_map_concat_map, map_map, <- flat_map_concat_map. reflexivity. }
  assert (M : forall u v : A, Permutation (flat_map (fun p => (u :: z :: p) :: map (cons z) (insertions u p)) (insertions v w))
    (map (fun p => u :: z :: p) (insertions v w) ++ map (cons z) (flat_map (insertions u) (insertions v w)))).
  { intros u v. generalize (insertions v w). intro P. induction P as [|p P IHP]; [reflexivity|]. simpl.
    rewrite map_app. constructor. rewrite IHP, !app_assoc. apply Permutation_app_tail, Permutation_app_comm. }
  cbn [insertions flat_map map app]. rewrite !S, !M, !map_map, (Permutation_map (cons z) IH).
  rewrite perm_swap. do 2 constructor. rewrite !app_assoc. apply Permutation_app_tail, Permutation_app_comm.
Qed.
Lemma orders_invariant {A} (l l' : list A) : Permutation l l' -> Permutation (orders l) (orders l').
Proof.
  induction 1 as [|x l l' P IH|x y l|l m r P1 IH1 P2 IH2]; simpl.
  - reflexivity.
  - now apply Permutation_flat_map.
  - rewrite !flat_map_flat_map. apply flat_map_permuted. intro w. apply insertions_swap.
  - now rewrite IH1.
Qed.
Lemma orders_all {A} (l w : list A) : Permutation l w -> In w (orders l).
Proof.
  intro P. apply (Permutation_in w (orders_invariant w l (Permutation_sym P))). clear P.
  induction w as [|x w IH]; [now left|]. simpl. apply in_flat_map. exists w. split; [exact IH|]. destruct w; now left.
Qed.
Lemma orders_length {A} (l w : list A) : In w (orders l) -> length w = length l.
Proof. intro H. symmetry. now apply Permutation_length, orders_permuted. Qed.
Lemma orders_distinct (l : list nat) : NoDup l -> NoDup (orders l).
Proof.
  assert (Gone : forall x w v, ~ In x w -> In v (insertions x w) -> remove Nat.eq_dec x v = w).
  { intros x w. induction w as [|y w IH]; intros v N H; simpl in *.
    - destruct H as [<-|[]]. simpl. now destruct (Nat.eq_dec x x).
    - assert (Out : forall u, ~ In x u -> remove Nat.eq_dec x u = u) by (intros u; apply notin_remove).
      destruct H as [<-|H].
      + cbn [remove]. destruct (Nat.eq_dec x x); [|congruence]. apply (Out (y :: w)). simpl. tauto.
      + apply in_map_iff in H. destruct H as (u & <- & H). cbn [remove].
        destruct (Nat.eq_dec x y); [subst; tauto|]. f_equal. apply IH; tauto. }
  assert (Own : forall (x : nat) w, ~ In x w -> NoDup (insertions x w)).
  { intros x w. induction w as [|y w IH]; intro N; simpl in *; [repeat constructor; simpl; tauto|]. constructor.
    - intro H. apply in_map_iff in H. destruct H as (u & H & _). injection H. intros. subst. tauto.
    - apply Injective_map_NoDup; [intros u v H; congruence|]. apply IH. tauto. }
  induction 1 as [|x l N ND IH]; [repeat constructor; simpl; tauto|]. simpl.
  assert (Free : forall w, In w (orders l) -> ~ In x w).
  { intros w H I. apply N. apply (Permutation_in x (Permutation_sym (orders_permuted l w H)) I). }
  induction IH as [|w P Nw NP IHP]; [constructor|]. simpl.
  assert (D : forall v, In v (insertions x w) -> ~ In v (flat_map (insertions x) P)).
  { intros v Hv H. apply in_flat_map in H. destruct H as (u & Hu & H).
    apply Nw. rewrite <- (Gone x w v), (Gone x u v); auto; apply Free; simpl; auto. }
  specialize (IHP (fun w H => Free w (or_intror H))). specialize (Own x w (Free w (or_introl eq_refl))).
  revert Own D. generalize (insertions x w). intro Q. induction Q as [|v Q IHQ]; intros NQ D; [exact IHP|]. simpl.
  inversion_clear NQ. constructor; [|apply IHQ; [assumption|intros u Hu; apply D; now right]].
  intro H'. apply in_app_or in H'. destruct H' as [H'|H']; [tauto|]. apply (D v); [now left|exact H'].
Qed.

(** The element at position r goes to the end: a random order stays a random order. *)
Fixpoint to_end {A} (r : nat) (w : list A) : list A :=
  match w, r with [], _ => [] | x :: w, O => w ++ [x] | x :: w, S r => x :: to_end r w end.
Lemma to_end_at {A} (a : list A) x c : to_end (length a) (a ++ x :: c) = a ++ c ++ [x].
Proof. induction a as [|y a IH]; simpl; [reflexivity|]. now rewrite IH. Qed.
Lemma to_end_beyond {A} r (w : list A) : (length w <= r)%nat -> to_end r w = w.
Proof. revert r. induction w as [|x w IH]; intros [|r] H; simpl in *; try reflexivity; try lia. f_equal. apply IH. lia. Qed.
Lemma to_end_map {A B} (f : A -> B) r w : to_end r (map f w) = map f (to_end r w).
Proof. revert r. induction w as [|x w IH]; intros [|r]; simpl; try reflexivity; [now rewrite map_app|now rewrite IH]. Qed.
Lemma to_end_permuted {A} r (w : list A) : Permutation w (to_end r w).
Proof.
  revert r. induction w as [|x w IH]; intros [|r]; simpl; try reflexivity; [apply Permutation_cons_append|now constructor].
Qed.
Lemma to_end_injective {A} r (w v : list A) : to_end r w = to_end r v -> w = v.
Proof.
  intro H. assert (L : length w = length v).
  { rewrite (Permutation_length (to_end_permuted r w)), H. symmetry. apply Permutation_length, to_end_permuted. }
  revert r v L H. induction w as [|x w IH]; intros [|r] [|y v] L H; simpl in *; try discriminate; try reflexivity.
  - apply app_inj_tail in H. destruct H; congruence.
  - injection H. intros H' ->. f_equal. apply (IH r); congruence.
Qed.
Lemma orders_to_end {A} r (l : list A) : Permutation (map (to_end r) (orders l)) (orders l).
Proof.
  destruct l as [|x l]; [destruct r; reflexivity|].
  assert (N : x :: l = map (fun i => nth i (x :: l) x) (seq 0 (S (length l)))).
  { apply nth_ext with (d := x) (d' := x); [now rewrite map_length, seq_length|]. intros i Hi.
    rewrite (nth_indep (map _ _) x (nth 0 (x :: l) x)) by now rewrite map_length, seq_length.
    rewrite (map_nth (fun i => nth i (x :: l) x)), seq_nth by exact Hi. reflexivity. }
  rewrite N. generalize (fun i => nth i (x :: l) x). intro f. generalize (seq_NoDup (S (length l)) 0).
  generalize (seq 0 (S (length l))). clear. intros s ND. rewrite orders_map, map_map.
  rewrite (map_ext _ (fun w => map f (to_end r w)) (fun w => to_end_map f r w)), <- (map_map (to_end r) (map f)).
  apply Permutation_map. apply NoDup_Permutation_bis.
  - apply Injective_map_NoDup; [intros u v; apply to_end_injective|now apply orders_distinct].
  - now rewrite map_length.
  - intros w H. apply in_map_iff in H. destruct H as (v & <- & H). apply orders_all.
    rewrite (orders_permuted s v H). apply to_end_permuted.
Qed.

(** ** Two orders that differ by one element *)

(** Exchanged: it may stand on the same place. *)
Definition exchanged {A} (x y : A) (w v : list A) := exists a c, w = a ++ x :: c /\ v = a ++ y :: c.
Lemma orders_exchanged {A} (x y : A) l : Forall2 (exchanged x y) (orders (x :: l)) (orders (y :: l)).
Proof.
  simpl.
  assert (I : forall w, Forall2 (exchanged x y) (insertions x w) (insertions y w)).
  { intro w. induction w as [|z w IH]; simpl; [repeat constructor; now exists [], []|]. constructor; [now exists [], (z :: w)|].
    induction IH as [|u v P Q E F IHF]; simpl; constructor; auto. destruct E as (a & c & -> & ->). now exists (z :: a), c. }
  generalize (orders l). intro P. induction P as [|w P IH]; simpl; [constructor|]. now apply Forall2_app.
Qed.
(** Missing: of the two, one may be drawn by a rotation that depends on where x is put. *)
Lemma put_at {A} (x : A) a c : put (length a) x (a ++ c) = a ++ x :: c.
Proof. induction a as [|y a IH]; simpl; [now destruct c|]. now rewrite IH. Qed.
Lemma by_place {A B} (f : nat -> A -> B) (places : list nat) (P : list A) :
  Permutation (flat_map (fun r => map (f r) P) places) (flat_map (fun w => map (fun r => f r w) places) P).
Proof.
  induction P as [|w P IH]; simpl.
  - induction places as [|r places IHp]; [reflexivity|exact IHp].
  - rewrite <- IH. clear IH. induction places as [|r places IHp]; [reflexivity|]. simpl. constructor.
    rewrite IHp, !app_assoc. apply Permutation_app_tail, Permutation_app_comm.
Qed.
Theorem orders_missing {A} (related : list A -> list A -> Prop) (x : A) (here there : nat -> nat) l :
  (forall r w, (r <= length l)%nat -> length w = length l -> related (put r x (to_end (here r) w)) (to_end (there r) w)) ->
  side_by_side related (orders (x :: l)) (orders l).
Proof.
  intro H. set (n := length l) in *. set (places := seq 0 (S n)).
  exists 1%nat, (S n), (flat_map (fun r => map (fun w => put r x (to_end (here r) w)) (orders l)) places),
    (flat_map (fun r => map (to_end (there r)) (orders l)) places).
  rewrite times_1. repeat split; try lia.
  - transitivity (flat_map (fun r => map (put r x) (orders l)) places).
    + rewrite by_place. apply Permutation_refl'. cbn [orders].
      rewrite (flat_map_concat_map (insertions x)), (flat_map_concat_map (fun w => map (fun r => put r x w) places)).
      f_equal. apply map_ext_in. intros w Hw. now rewrite insertions_put, (orders_length l w Hw).
    + apply flat_map_permuted. intro r. rewrite <- (map_map (to_end (here r)) (put r x)). apply Permutation_map.
      symmetry. apply orders_to_end.
  - unfold times. transitivity (flat_map (fun _ => orders l) places).
    + rewrite (flat_map_ext (fun _ : nat => orders l) (fun r => map (fun w => w) (orders l))) by (intro; now rewrite map_id).
      rewrite by_place. apply Permutation_refl'. apply flat_map_ext. intro w.
      unfold places. generalize (S n) 0%nat. intro m. induction m as [|m IH]; intro i; [reflexivity|]. simpl. now rewrite (IH (S i)).
    + apply flat_map_permuted. intro r. symmetry. apply orders_to_end.
  - assert (P : forall r, In r places -> (r <= n)%nat) by (intros r Hr; apply in_seq in Hr; lia).
    induction places as [|r places IH]; simpl; [constructor|]. apply Forall2_app; [|apply IH; intros; apply P; now right].
    assert (W : forall w, In w (orders l) -> length w = n) by (intros w Hw; now apply orders_length).
    clear IH. induction (orders l) as [|w Q IHQ]; simpl; [constructor|].
    constructor; [apply H; [apply P; now left|apply W; now left]|apply IHQ; intros; apply W; now right].
Qed.
(* main: coupled_within, orders_missing *)
