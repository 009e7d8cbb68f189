(** The game of docs/GUARANTEES.md, what (epsilon, delta) means, and facts that every proof uses. *)
From Coq Require Import Reals Lra List FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
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
  assert (exp e <= exp e') by (destruct He as [He|He]; [left; now apply exp_increasing|right; now rewrite He]). nra.
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
  - destruct A as [Hdi [Hd [W A]]]. cbn [played bind E].
    set (g0 := fun y => played false (next y) f). set (g1 := fun y => played true (next y) f).
    assert (H0 : forall y, 0 <= g0 y <= 1) by (intro y; now apply E_test).
    assert (H1 : forall y, 0 <= g1 y <= 1) by (intro y; now apply E_test).
    pose proof (exp_pos (e - ei)) as Hp. pose proof (exp_pos ei) as Hi.
    set (g := fun y => Rmin 1 (exp (e - ei) * g1 y)).
    assert (Hg : forall y, 0 <= g y <= 1).
    { intro y. unfold g. split; [apply Rmin_glb; [lra|]; specialize (H1 y); nra|apply Rmin_l]. }
    assert (S1 : zero g0 <= zero (fun y => g y + (d - di))).
    { apply E_mono; [now apply bounded_test|apply bounded_plus; [now apply bounded_test|apply bounded_const; lra]|].
      intro y. specialize (IH y _ _ (A y) f Hf). fold (g0 y) (g1 y) in IH. specialize (H0 y). unfold g.
      apply Rmin_case; lra. }
    rewrite E_plus in S1 by (first [now apply bounded_test | apply bounded_const; lra]).
    rewrite (E_const zero (d - di)) in S1 by lra. pose proof (E_mass zero) as Mz.
    assert (S2 : zero g <= exp ei * one g + di) by now apply W.
    assert (S3 : one g <= one (fun y => exp (e - ei) * g1 y)).
    { apply E_mono; [now apply bounded_test|apply bounded_scal; [lra|now apply bounded_test]|]. intro y. apply Rmin_r. }
    rewrite E_scal in S3 by (lra || now apply bounded_test).
    change (zero g0 <= exp e * one g1 + d).
    replace (exp e) with (exp ei * exp (e - ei)) by (rewrite <- exp_plus; f_equal; lra).
    assert (exp ei * one g <= exp ei * (exp (e - ei) * one g1)) by (apply Rmult_le_compat_l; lra).
    nra.
Qed.
(* main: post_processing, F1_fixed_coins, F2_sequential, chain *)
