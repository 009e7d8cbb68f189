(** The game of docs/GUARANTEES.md, what (epsilon, delta) means, and facts that every proof uses. *)
From Coq Require Import Reals Lra List FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws.
Import ListNotations.
Open Scope R_scope.

(** ** The game *)

(** Without coins, as F1 allows; a view is what was published, the latest first. In one round of its
    choice the adversary submits two examples; all others are common. *)
Record adversary (X Y : Type) := Adversary {
  example : list Y -> X;
  challenge : list Y -> option (X * X) }.
Arguments Adversary {X Y}. Arguments example {X Y}. Arguments challenge {X Y}.

(** What the learner receives in [world], and whether the challenge has been used. *)
Definition received {X Y} (adv : adversary X Y) (world used : bool) (view : list Y) : X * bool :=
  if used then (example adv view, true)
  else match challenge adv view with
       | None => (example adv view, false)
       | Some (zero, one) => (if world then one else zero, true)
       end.

(** ** The promise *)

Definition probability {V} (l : law V) (O : V -> bool) : R := l (fun v => if O v then 1 else 0).
Lemma indicator_01 {V} (O : V -> bool) v : 0 <= (if O v then 1 else 0) <= 1.
Proof. destruct (O v); lra. Qed.

(** One direction, for test functions with values in [0, 1]; events are some of them. *)
Definition within {V} (epsilon delta : R) (l l' : law V) :=
  forall f, (forall v, 0 <= f v <= 1) -> l f <= exp epsilon * l' f + delta.

(** mechanism world = the law of the view in this world *)
Definition private {V} (epsilon delta : R) (mechanism : bool -> law V) :=
  forall world, within epsilon delta (mechanism world) (mechanism (negb world)).

Lemma private_events {V} epsilon delta (mechanism : bool -> law V) : private epsilon delta mechanism ->
  forall world O, probability (mechanism world) O
    <= exp epsilon * probability (mechanism (negb world)) O + delta.
Proof. intros P world O. apply P. apply indicator_01. Qed.

Lemma within_weaker {V} e d e' d' (l l' : law V) : e <= e' -> d <= d' -> within e d l l' -> within e' d' l l'.
Proof.
  intros He Hd W f Hf. specialize (W f Hf). pose proof (E_test l' f Hf).
  pose proof (exp_le e e' He). nra.
Qed.
Lemma within_refl {V} (l : law V) : within 0 0 l l.
Proof. intros f Hf. rewrite exp_0. lra. Qed.

(** Pure privacy may be shown view by view where views are finitely many; here is the other direction. *)
Lemma within_pointwise {V} e (l l' : law V) : within e 0 l l' ->
  forall O, probability l O <= exp e * probability l' O.
Proof. intros W O. specialize (W _ (indicator_01 O)). unfold probability. lra. Qed.

(** ** Facts *)

(** Post-processing, with coins of its own. *)
Theorem post_processing {V W} e d (l l' : law V) (k : V -> law W) :
  within e d l l' -> within e d (bind l k) (bind l' k).
Proof. intros H f Hf. apply (H (fun v => k v f)). intro v. now apply E_test. Qed.

(** F1. Coins that do not depend on data may be fixed. *)
Theorem F1_fixed_coins {C V} e d (coins : law C) (m m' : C -> law V) : 0 <= d ->
  (forall c, within e d (m c) (m' c)) -> within e d (bind coins m) (bind coins m').
Proof.
  intros Hd W f Hf. cbn [bind E]. assert (Bf : bounded f) by now apply bounded_test.
  assert (0 < exp e) by apply exp_pos.
  apply Rle_trans with (coins (fun c => exp e * m' c f + d)).
  - apply E_mono; [now apply bounded_E1|apply bounded_plus; [apply bounded_scal; [lra|now apply bounded_E1]|now apply bounded_const]|].
    intro c. now apply W.
  - rewrite E_plus, E_scal, E_const; try lra; try (now apply bounded_E1); try (now apply bounded_const).
    + pose proof (E_mass coins). nra.
    + apply bounded_scal; [lra|now apply bounded_E1].
Qed.

(** G. Groups: one step of the chain. *)
Theorem chain {V} e d e' d' (l l' l'' : law V) :
  within e d l l' -> within e' d' l' l'' -> within (e + e') (d + exp e * d') l l''.
Proof.
  intros W W' f Hf. specialize (W f Hf). specialize (W' f Hf). rewrite exp_plus.
  pose proof (exp_pos e). nra.
Qed.

(** One step of F2: a release, and what follows it. *)
Theorem compose {V W} e d e' d' (l l' : law V) (k k' : V -> law W) : 0 <= d' ->
  within e d l l' -> (forall v, within e' d' (k v) (k' v)) -> within (e + e') (d + d') (bind l k) (bind l' k').
Proof.
  intros Hd' Wl Wk f Hf. cbn [bind E].
  assert (H : forall v, 0 <= k v f <= 1) by (intro v; now apply E_test).
  assert (H' : forall v, 0 <= k' v f <= 1) by (intro v; now apply E_test).
  pose proof (exp_pos e) as He. pose proof (exp_pos e') as He'.
  set (g := fun v => Rmin 1 (exp e' * k' v f)).
  assert (Hg : forall v, 0 <= g v <= 1).
  { intro v. unfold g. split; [apply Rmin_glb; [lra|]; specialize (H' v); nra|apply Rmin_l]. }
  assert (S1 : l (fun v => k v f) <= l (fun v => g v + d')).
  { apply E_mono; [now apply bounded_test|apply bounded_plus; [now apply bounded_test|now apply bounded_const]|].
    intro v. specialize (Wk v f Hf). specialize (H v). unfold g. apply Rmin_case; lra. }
  rewrite E_plus in S1 by (first [now apply bounded_test | now apply bounded_const]).
  rewrite (E_const l d') in S1 by assumption. pose proof (E_mass l).
  assert (S2 : l g <= exp e * l' g + d) by now apply Wl.
  assert (S3 : l' g <= l' (fun v => exp e' * k' v f)).
  { apply E_mono; [now apply bounded_test|apply bounded_scal; [lra|now apply bounded_test]|]. intro v. apply Rmin_r. }
  rewrite E_scal in S3 by (lra || now apply bounded_test).
  rewrite exp_plus, Rmult_assoc.
  assert (exp e * l' g <= exp e * (exp e' * l' (fun v => k' v f))) by (apply Rmult_le_compat_l; lra). nra.
Qed.

(** A release that never shows some values. *)

Definition supported {A} (l : law A) (T : A -> bool) :=
  forall f, bounded f -> l f = l (fun v => if T v then f v else 0).
Lemma bounded_where {A} (T : A -> bool) f : bounded f -> bounded (fun v => if T v then f v else 0).
Proof. intros [M [HM H]]. exists M. split; [exact HM|]. intro v. specialize (H v). destruct (T v); lra. Qed.

(** One step of F2, if what follows is close for the values that both worlds show. *)
Theorem compose_supported {V W} e d e' d' (l l' : law V) (k k' : V -> law W) T T' : 0 <= d' -> within e d l l' ->
  supported l T -> supported l' T' -> (forall v, T v = true -> T' v = true -> within e' d' (k v) (k' v)) ->
  within (e + e') (d + d') (bind l k) (bind l' k').
Proof.
  intros Hd' Wl Sl Sl' Wk f Hf. cbn [bind E]. pose proof (exp_pos e) as He. pose proof (exp_pos e') as He'.
  assert (H : forall v, 0 <= k v f <= 1) by (intro v; now apply E_test).
  assert (H' : forall v, 0 <= k' v f <= 1) by (intro v; now apply E_test).
  set (g := fun v => if T' v then Rmin 1 (exp e' * k' v f) else 1).
  assert (Hm : forall v, 0 <= Rmin 1 (exp e' * k' v f) <= 1).
  { intro v. split; [apply Rmin_glb; [lra|]; specialize (H' v); nra|apply Rmin_l]. }
  assert (Hg : forall v, 0 <= g v <= 1) by (intro v; unfold g; destruct (T' v); [apply Hm|lra]).
  rewrite (Sl (fun v => k v f)) by now apply bounded_test.
  assert (S1 : l (fun v => if T v then k v f else 0) <= l (fun v => g v + d')).
  { apply E_mono; [apply bounded_where; now apply bounded_test|apply bounded_plus; [now apply bounded_test|now apply bounded_const]|].
    intro v. specialize (H v). specialize (Hg v). destruct (T v) eqn:E1; [|lra]. unfold g in *. destruct (T' v) eqn:E2; [|lra].
    specialize (Wk v E1 E2 f Hf). apply Rmin_case; lra. }
  rewrite E_plus in S1 by (first [now apply bounded_test | now apply bounded_const]).
  rewrite (E_const l d') in S1 by assumption. pose proof (E_mass l).
  assert (S2 : l g <= exp e * l' g + d) by now apply Wl.
  assert (S3 : l' g <= l' (fun v => exp e' * k' v f)).
  { rewrite (Sl' g) by now apply bounded_test.
    apply E_mono; [apply bounded_where; now apply bounded_test|apply bounded_scal; [lra|now apply bounded_test]|].
    intro v. unfold g. specialize (H' v). destruct (T' v); [apply Rmin_r|nra]. }
  rewrite E_scal in S3 by (lra || now apply bounded_test). rewrite exp_plus, Rmult_assoc.
  assert (exp e * l' g <= exp e * (exp e' * l' (fun v => k' v f))) by (apply Rmult_le_compat_l; lra). nra.
Qed.

(** F2. Sequential composition, with costs chosen on the way. A view of finitely many releases is a
    tree; at each node the two worlds have their own laws of the next release. *)
Inductive releases (Y V : Type) : Type :=
  | End (v : V)
  | Release (e d : R) (zero one : law Y) (next : Y -> releases Y V).
Arguments End {Y V}. Arguments Release {Y V}.

Fixpoint played {Y V} (world : bool) (r : releases Y V) : law V :=
  match r with
  | End v => ret v
  | Release _ _ zero one next => bind (if world then one else zero) (fun y => played world (next y))
  end.
Fixpoint affordable {Y V} (e d : R) (r : releases Y V) : Prop :=
  match r with
  | End _ => 0 <= e /\ 0 <= d
  | Release ei di zero one next =>
      0 <= di /\ di <= d /\ within ei di zero one /\ forall y, affordable (e - ei) (d - di) (next y)
  end.

Theorem F2_sequential {Y V} (r : releases Y V) : forall e d,
  affordable e d r -> within e d (played false r) (played true r).
Proof.
  induction r as [v|ei di zero one next IH]; intros e d A f Hf.
  - destruct A as [He Hd]. cbn [played ret E]. specialize (Hf v).
    assert (1 <= exp e) by (rewrite <- exp_0; destruct He as [He|He]; [left; now apply exp_increasing|right; now rewrite He]).
    nra.
  - destruct A as [Hdi [Hd [W A]]]. replace e with (ei + (e - ei)) by ring. replace d with (di + (d - di)) by ring.
    apply (compose ei di (e - ei) (d - di) zero one (fun y => played false (next y)) (fun y => played true (next y)));
      [lra|exact W| |exact Hf]. intro y. now apply IH.
Qed.
(* main: compose, compose_supported, post_processing, F1_fixed_coins, F2_sequential, chain *)
