(** Two worlds of counters that differ in what one example counts for. *)
From Coq Require Import ZArith Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Machine Payments Ghost.
Open Scope R_scope.

Section Privacy.
Variables (a b : rate).
Notation run := (run a b).
Notation ensured := (ensured b).
Notation stray := (stray a b).
Notation payable := (payable b).

(** Under mu, the keys of L have counters for sure. *)
Definition present (L : key -> bool) (mu : law state) :=
  forall F F', bounded F -> bounded F' ->
  (forall s, (forall x, L x = true -> s x <> None) -> F s <= F' s) -> mu F <= mu F'.

Lemma present_at_start s : present (fun _ => false) (ret s).
Proof. intros F F' _ _ H. simpl. apply H. discriminate. Qed.
Lemma present_ensured L mu x tau : present L mu -> present (set L x true) (bind mu (ensured x tau)).
Proof.
  intros P F F' HF HF' H. cbn [bind E]. apply P; try now apply bounded_E1.
  intros s Hs. unfold Machine.ensured. destruct (s x) eqn:Ex; cbn [bind ret E].
  - apply H. intros y Hy. unfold set in Hy. destruct (Nat.eqb_spec y x); subst; [congruence|now apply Hs].
  - apply E_mono; try (now apply bounded_after). intro r. apply H. intros y Hy. unfold set in *.
    destruct (Nat.eqb_spec y x); subst; [congruence|now apply Hs].
Qed.
Lemma present_dec L mu x : present L mu -> present L (after_dec mu x).
Proof.
  intros P F F' HF HF' H. unfold after_dec. cbn [bind ret E]. apply P; try now apply bounded_after.
  intros s Hs. apply H. intros y Hy. destruct (Nat.eq_dec y x) as [->|D].
  - rewrite shift_at. specialize (Hs x Hy). destruct (s x); simpl; congruence.
  - rewrite shift_other by assumption. now apply Hs.
Qed.
Lemma present_drop L mu x : present L mu -> present (set L x false) (after_drop mu x).
Proof.
  intros P F F' HF HF' H. unfold after_drop. cbn [bind ret E]. apply P; try now apply bounded_after.
  intros s Hs. apply H. intros y Hy. unfold set in *. destruct (Nat.eqb_spec y x); [discriminate|now apply Hs].
Qed.
Lemma present_no L mu x : present L mu -> present L (after_no a mu x).
Proof.
  intros P F F' HF HF' H. unfold after_no. cbn [part E].
  apply P; try (apply bounded_mult; [apply bounded_test; apply miss_01|assumption]).
  intros s Hs. pose proof (miss_01 a x s). specialize (H s Hs). nra.
Qed.
Lemma present_yes L mu x : present L mu -> present (set L x false) (after_yes a mu x).
Proof.
  intros P F F' HF HF' H. unfold after_yes. cbn [bind part ret E].
  apply P; try (apply bounded_mult; [apply bounded_test; apply hit_01|now apply bounded_after]).
  intros s Hs. pose proof (hit_01 a x s).
  assert (F (set s x None) <= F' (set s x None)); [|nra].
  apply H. intros y Hy. unfold set in *. destruct (Nat.eqb_spec y x); [discriminate|now apply Hs].
Qed.

(** ** Neighbouring trees: the same, but for what one example counts for *)

Definition price (o0 o1 : option (key * Z)) : R :=
  match o0 with None => 1 | Some _ => a end * match o1 with None => 1 | Some _ => b end.
Definition apart (o0 o1 : option (key * Z)) :=
  match o0, o1 with Some (x, _), Some (y, _) => x <> y | _, _ => True end.

(** Two trees that differ in their leaves only. *)
Inductive alike {V} (after : V -> V -> Prop) : tree V -> tree V -> Prop :=
  | AlikeSame t : alike after t t
  | AlikeDone v0 v1 : after v0 v1 -> alike after (Done v0) (Done v1)
  | AlikeEnsure x tau' t0 t1 : alike after t0 t1 -> alike after (Ensure x tau' t0) (Ensure x tau' t1)
  | AlikeDec x t0 t1 : alike after t0 t1 -> alike after (Dec x t0) (Dec x t1)
  | AlikeDrop x t0 t1 : alike after t0 t1 -> alike after (Drop x t0) (Drop x t1)
  | AlikeToss x k0 k1 : (forall answer, alike after (k0 answer) (k1 answer)) -> alike after (Toss x k0) (Toss x k1).

Section Alike.
Context {V : Type}.
Variables (kept : R) (after : V -> V -> Prop).
Hypothesis Hkept : 0 < kept <= 1.
Variables (f : V -> R) (slack : R).
Hypothesis Hf : forall v, 0 <= f v <= 1.
Hypothesis Hslack : 0 <= slack.
Hypothesis Hafter : forall v0 v1, after v0 v1 -> kept * f v0 <= f v1 + kept * slack.
Let Bf : bounded f. Proof. now apply bounded_test. Qed.

Lemma alike_close t t' : alike after t t' -> forall s, kept * run t s f <= run t' s f + kept * slack.
Proof.
  induction 1 as [t|v0 v1 A|x tau' t0 t1 A IH|x t0 t1 A IH|x t0 t1 A IH|x k0 k1 A IH]; intro s.
  - pose proof (run_test a b t f s Hf). nra.
  - cbn [Machine.run ret E]. now apply Hafter.
  - cbn [Machine.run bind E]. assert (B : forall t : tree V, bounded (fun s => run t s f)) by (intro; now apply run_bounded).
    rewrite <- E_scal by (lra || apply B).
    assert (One : ensured x tau' s (fun _ => 1) = 1).
    { unfold Machine.ensured. destruct (s x); cbn [bind ret E]; [reflexivity|apply geometric_one]. }
    assert (Hks : 0 <= kept * slack) by nra.
    apply Rle_trans with (ensured x tau' s (fun s => run t1 s f + kept * slack)).
    + apply E_mono; [apply bounded_scal; [lra|apply B]|apply bounded_plus; [apply B|now apply bounded_const]|exact IH].
    + rewrite E_plus, E_const, One by (assumption || apply B || now apply bounded_const). lra.
  - cbn [Machine.run]. apply IH.
  - cbn [Machine.run]. apply IH.
  - cbn [Machine.run mix E]. pose proof (hit_01 a x s). pose proof (IH true (set s x None)). pose proof (IH false s). nra.
Qed.
Lemma alike_under (mu : law state) t t' : alike after t t' ->
  kept * mu (fun s => run t s f) <= mu (fun s => run t' s f) + kept * slack * mu (fun _ => 1).
Proof.
  intro Al. assert (Bt : forall t : tree V, bounded (fun s => run t s f)) by (intro; now apply run_bounded).
  assert (0 <= kept * slack) by nra.
  rewrite <- E_const, <- E_plus, <- E_scal by (assumption || lra || apply Bt || now apply bounded_const).
  apply E_mono; [apply bounded_scal; [lra|apply Bt]|apply bounded_plus; [apply Bt|now apply bounded_const]|].
  now apply alike_close.
Qed.
End Alike.

(** Two trees may end in different leaves: [before] relates what two worlds end in if the challenge has not
    come yet, [after] if it has and counted for different keys, [moved] if it counted for the same. *)
Section Game.
Context {V : Type}.
Variables (c kept kept_moved : R) (before after moved : V -> V -> Prop) (tau : Z) (n : nat).
Hypothesis Hc : 0 <= c <= 1.
Hypothesis Hkept : 0 < kept <= 1.
Hypothesis Hkept_moved : 0 < kept_moved <= 1.

Definition covered (L : key -> bool) (o : option (key * Z)) (t : tree V) :=
  match o with None => True | Some (x, tau') => L x = true \/ (tau' = tau /\ unseen x tau n t) end.

Inductive neighbours : (key -> bool) -> tree V -> tree V -> Prop :=
  | Same L t : neighbours L t t
  | Ended L v0 v1 : before v0 v1 -> neighbours L (Done v0) (Done v1)
  | EnsureBoth L x tau' t0 t1 :
      neighbours (set L x true) t0 t1 -> neighbours L (Ensure x tau' t0) (Ensure x tau' t1)
  | DecBoth L x t0 t1 : neighbours L t0 t1 -> neighbours L (Dec x t0) (Dec x t1)
  | DropBoth L x t0 t1 : neighbours (set L x false) t0 t1 -> neighbours L (Drop x t0) (Drop x t1)
  | TossBoth L x k0 k1 :
      neighbours (set L x false) (k0 true) (k1 true) -> neighbours L (k0 false) (k1 false) ->
      neighbours L (Toss x k0) (Toss x k1)
  | AlikeFromNow L t t' : c <= kept_moved -> alike moved t t' -> neighbours L t t'
  | Challenge L o0 o1 t t' :
      c <= price o0 o1 * kept -> apart o0 o1 -> covered L o0 t' -> covered L o1 t' -> alike after t t' ->
      neighbours L (count o0 t) (count o1 t').

Variables (f : V -> R) (slack : R).
Hypothesis Hf : forall v, 0 <= f v <= 1.
Hypothesis Hslack : 0 <= slack.
Hypothesis Hbefore : forall v0 v1, before v0 v1 -> c * f v0 <= f v1 + c * slack.
Hypothesis Hafter : forall v0 v1, after v0 v1 -> kept * f v0 <= f v1 + kept * slack.
Hypothesis Hmoved : forall v0 v1, moved v0 v1 -> kept_moved * f v0 <= f v1 + kept_moved * slack.

Let ensured_o (o : option (key * Z)) (s : state) : law state :=
  match o with None => ret s | Some (x, tau') => ensured x tau' s end.
Let dec_o (o : option (key * Z)) (s : state) : state :=
  match o with None => s | Some (x, _) => dec x s end.

Let Bf : bounded f. Proof. now apply bounded_test. Qed.

Lemma run_count o t s : run (count o t) s f = ensured_o o s (fun s => run t (dec_o o s) f).
Proof. destruct o as [[x tau']|]; reflexivity. Qed.

Lemma covered_close L o o' t s : covered L o t -> apart o o' -> (forall x, L x = true -> s x <> None) ->
  Rabs (ensured_o o s (fun s => run (count o' t) s f) - run (count o' t) s f) <= INR n * stray tau.
Proof.
  intros C A Hs. pose proof (stray_01 a b tau) as Hd. pose proof (pos_INR n) as Hn.
  assert (Trivial : forall z : R, Rabs (z - z) <= INR n * stray tau).
  { intro z. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. nra. }
  destruct o as [[x tau']|]; [|apply Trivial].
  destruct C as [Lx|[-> U]].
  - specialize (Hs x Lx). simpl. unfold Machine.ensured. destruct (s x); [apply Trivial|congruence].
  - apply (noise_at_zero a b (count o' t) f x tau n s Hf).
    destruct o' as [[y tau']|]; [|exact U]. simpl in A |- *.
    destruct (Nat.eqb_spec y x); [congruence|]. split; [assumption|exact U].
Qed.

Lemma ensured_swap o0 o1 s F : apart o0 o1 -> (forall s, 0 <= F s <= 1) ->
  ensured_o o1 s (fun s => ensured_o o0 s F) = ensured_o o0 s (fun s => ensured_o o1 s F).
Proof.
  intros A HF. destruct o0 as [[x tx]|], o1 as [[y ty]|]; try reflexivity. simpl in A. cbn [ensured_o].
  unfold Machine.ensured.
  destruct (s y) eqn:Ey, (s x) eqn:Ex; cbn [bind ret E];
    repeat (rewrite ?Ex, ?Ey; cbn [bind ret E]); try reflexivity.
  - f_equal. apply functional_extensionality. intro r. rewrite set_other, Ey by congruence. reflexivity.
  - f_equal. apply functional_extensionality. intro r. rewrite set_other, Ex by congruence. reflexivity.
  - transitivity (geometric b (fun r => geometric b (fun r' =>
      F (set (set s y (Some (ty + Z.of_nat r)%Z)) x (Some (tx + Z.of_nat r')%Z))))).
    + f_equal. apply functional_extensionality. intro r. rewrite set_other, Ex by congruence. reflexivity.
    + rewrite (geometric_swap b (geometric b)
        (fun r' r => F (set (set s y (Some (ty + Z.of_nat r)%Z)) x (Some (tx + Z.of_nat r')%Z))) 1); [|lra|intros; apply HF].
      f_equal. apply functional_extensionality. intro r'. rewrite set_other, Ey by congruence. cbn [bind ret E].
      f_equal. apply functional_extensionality. intro r. now rewrite set_swap by congruence.
Qed.

Lemma payable_ensured_o mu o : payable mu -> payable (bind mu (ensured_o o)).
Proof.
  intro P. destruct o as [[x tau']|]; [now apply payable_ensured|].
  intros x F HF. apply (P x F HF).
Qed.

(** The changed mechanism, in which both counters have their noise in both worlds, is purely private. *)
Lemma both_have_noise mu o0 o1 (t : tree V) : payable mu ->
  price o0 o1 * mu (fun s => run t (dec_o o0 s) f) <= mu (fun s => run t (dec_o o1 s) f).
Proof.
  intro P. pose proof (base_01 a). pose proof (base_01 b).
  assert (Bt : forall o, bounded (fun s => run t (dec_o o s) f)).
  { intro o. apply (bounded_after (fun s => run t s f)). now apply run_bounded. }
  assert (Bs : bounded (fun s => run t s f)) by now apply run_bounded.
  assert (Pay0 : match o0 with None => 1 | Some _ => a end * mu (fun s => run t (dec_o o0 s) f) <= mu (fun s => run t s f)).
  { destruct o0 as [[x tau']|]; [|simpl; lra]. rewrite <- E_scal by (lra || apply (Bt (Some (x, tau')))).
    apply E_mono; [apply bounded_scal; [lra|apply (Bt (Some (x, tau')))]|assumption|].
    intro s. cbn [dec_o]. rewrite <- (raise_dec x s) at 2. now apply raise_costs_alpha. }
  assert (Pay1 : match o1 with None => 1 | Some _ => b end * mu (fun s => run t s f) <= mu (fun s => run t (dec_o o1 s) f)).
  { destruct o1 as [[x tau']|]; [|simpl; lra]. cbn [dec_o].
    assert (Q := P x (fun s => run t (dec x s) f) (Bt (Some (x, tau')))). cbv beta in Q.
    rewrite (E_ext mu _ (fun s => run t s f)) in Q; [exact Q| |assumption|intro s; now rewrite dec_raise].
    apply (bounded_after (fun s => run t s f)). exact Bs. }
  unfold price. pose proof (E_pos mu _ (Bt o0)). pose proof (E_pos mu _ Bs).
  destruct o0, o1; nra.
Qed.

Theorem counters_private L t0 t1 : neighbours L t0 t1 -> forall mu, payable mu -> present L mu ->
  c * mu (fun s => run t0 s f)
  <= mu (fun s => run t1 s f) + ((1 + c / kept) * (INR n * stray tau) + c * slack) * mu (fun _ => 1).
Proof.
  set (p := c / kept). assert (Hp : 0 <= p) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
  assert (Pk : c = p * kept) by (unfold p; field; lra). assert (Hcs : 0 <= c * slack) by nra.
  pose proof (stray_01 a b tau) as Hd. pose proof (pos_INR n) as Hn.
  assert (HD : 0 <= INR n * stray tau) by nra.
  assert (Hm : forall mu : law state, 0 <= mu (fun _ => 1)) by (intro mu; apply E_pos, bounded_const; lra).
  assert (Bt : forall t : tree V, bounded (fun s => run t s f)) by (intro t; now apply run_bounded).
  induction 1 as [L t|L v0 v1 W|L x tau' t0 t1 N IH|L x t0 t1 N IH|L x t0 t1 N IH|L x k0 k1 N1 IH1 N0 IH0|L t t' Ck Al|L o0 o1 t t' Pr A C0 C1 Al]; intros mu P Q.
  - pose proof (E_pos mu _ (Bt t)). specialize (Hm mu).
    assert (0 <= (1 + p) * (INR n * stray tau)) by (apply Rmult_le_pos; lra).
    assert (0 <= ((1 + p) * (INR n * stray tau) + c * slack) * mu (fun _ => 1)) by (apply Rmult_le_pos; lra). nra.
  - cbn [Machine.run ret E]. rewrite !(E_const mu (f _)) by apply Hf. specialize (Hm mu). specialize (Hbefore _ _ W).
    assert (0 <= (1 + p) * (INR n * stray tau) * mu (fun _ => 1)) by (repeat apply Rmult_le_pos; lra).
    apply Rmult_le_compat_r with (r := mu (fun _ => 1)) in Hbefore; [|assumption]. lra.
  - specialize (IH _ (payable_ensured b mu x tau' P) (present_ensured L mu x tau' Q)).
    cbn [bind E] in IH. cbn [Machine.run bind E].
    rewrite (E_ext mu (fun s => ensured x tau' s (fun _ => 1)) (fun _ => 1)) in IH; [exact IH| |apply bounded_const; lra|].
    + apply bounded_E1, bounded_const; lra.
    + intro s. unfold Machine.ensured. destruct (s x); cbn [bind ret E]; [reflexivity|apply geometric_one].
  - exact (IH _ (payable_dec b mu x P) (present_dec L mu x Q)).
  - exact (IH _ (payable_drop b mu x P) (present_drop L mu x Q)).
  - specialize (IH1 _ (payable_yes a b mu x P) (present_yes L mu x Q)).
    specialize (IH0 _ (payable_no a b mu x P) (present_no L mu x Q)).
    unfold after_yes, after_no in IH1, IH0. cbn [bind part ret E] in IH1, IH0. cbn [Machine.run mix E].
    assert (By : forall t : tree V, bounded (fun s => hit a x s * run t (set s x None) f)).
    { intro t. apply bounded_mult; [apply bounded_test; apply hit_01|apply (bounded_after (fun s => run t s f)), Bt]. }
    assert (Bn : forall t : tree V, bounded (fun s => (1 - hit a x s) * run t s f)).
    { intro t. apply bounded_mult; [apply bounded_test; apply miss_01|apply Bt]. }
    rewrite !E_plus by (apply By || apply Bn).
    assert (Mass : mu (fun s => hit a x s * 1) + mu (fun s => (1 - hit a x s) * 1) = mu (fun _ => 1)).
    { rewrite <- E_plus; [|apply bounded_mult; [apply bounded_test; apply hit_01|apply bounded_const; lra]
                          |apply bounded_mult; [apply bounded_test; apply miss_01|apply bounded_const; lra]].
      f_equal. apply functional_extensionality. intro; ring. }
    rewrite <- Mass. nra.
  - set (m := mu (fun _ => 1)). specialize (Hm mu). fold m in Hm. set (g := c / kept_moved).
    assert (Hg : 0 <= g) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    assert (Gk : c = g * kept_moved) by (unfold g; field; lra).
    assert (S2 : kept_moved * mu (fun s => run t s f) <= mu (fun s => run t' s f) + kept_moved * slack * m)
      by now apply (alike_under kept_moved moved).
    assert (g <= 1) by (unfold g; apply (Rmult_le_reg_r kept_moved); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra).
    pose proof (E_pos mu _ (Bt t')). apply Rmult_le_compat_l with (r := g) in S2; [|exact Hg].
    rewrite <- Rmult_assoc, <- Gk in S2. rewrite Rmult_plus_distr_r. rewrite Gk at 2.
    assert (0 <= (1 + p) * (INR n * stray tau) * m) by (repeat apply Rmult_le_pos; lra).
    assert (g * mu (fun s => run t' s f) <= mu (fun s => run t' s f)) by nra.
    replace (g * kept_moved * slack * m) with (g * (kept_moved * slack * m)) by ring. lra.
  - set (D := INR n * stray tau) in *. set (m := mu (fun _ => 1)) in *.
    set (E1 := fun s => ensured_o o1 s (fun s => run (count o0 t') s f)).
    set (E0 := fun s => ensured_o o0 s (fun s => run (count o1 t') s f)).
    assert (B1 : bounded E1) by (apply (bounded_E1 (ensured_o o1)), Bt).
    assert (B0 : bounded E0) by (apply (bounded_E1 (ensured_o o0)), Bt).
    assert (A' : apart o1 o0) by (destruct o0 as [[? ?]|], o1 as [[? ?]|]; simpl in *; congruence || exact I).
    assert (S0 : mu (fun s => run (count o0 t') s f) <= mu E1 + D * m).
    { unfold m. rewrite <- E_const, <- E_plus by (assumption || now apply bounded_const).
      apply Q; [apply Bt|apply bounded_plus; [assumption|now apply bounded_const]|].
      intros s Hs. pose proof (covered_close L o1 o0 t' s C1 A' Hs) as Cl. apply Rabs_le_between in Cl. unfold E1, D. lra. }
    assert (S1 : mu E0 <= mu (fun s => run (count o1 t') s f) + D * m).
    { unfold m. rewrite <- E_const, <- E_plus by (assumption || apply Bt || now apply bounded_const).
      apply Q; [assumption|apply bounded_plus; [apply Bt|now apply bounded_const]|].
      intros s Hs. pose proof (covered_close L o0 o1 t' s C0 A Hs) as Cl. apply Rabs_le_between in Cl. unfold E0, D. lra. }
    assert (M : price o0 o1 * mu E1 <= mu E0).
    { assert (Pm := both_have_noise (bind (bind mu (ensured_o o1)) (ensured_o o0)) o0 o1 t'
        (payable_ensured_o _ o0 (payable_ensured_o mu o1 P))). cbn [bind E] in Pm.
      replace E1 with (fun s => ensured_o o1 s (fun s => ensured_o o0 s (fun s => run t' (dec_o o0 s) f))).
      2:{ apply functional_extensionality. intro s. unfold E1. f_equal. apply functional_extensionality. intro. now rewrite run_count. }
      replace E0 with (fun s => ensured_o o1 s (fun s => ensured_o o0 s (fun s => run t' (dec_o o1 s) f))).
      2:{ apply functional_extensionality. intro s. unfold E0. rewrite ensured_swap by (assumption || (intro; now apply run_test)).
          f_equal. apply functional_extensionality. intro. now rewrite run_count. }
      exact Pm. }
    assert (S2 : kept * mu (fun s => run (count o0 t) s f) <= mu (fun s => run (count o0 t') s f) + kept * slack * m).
    { apply (alike_under kept after); try assumption. destruct o0 as [[x0 tau0]|]; [apply AlikeEnsure, AlikeDec|]; exact Al. }
    pose proof (E_pos mu _ B1) as P1. specialize (Hm mu). fold m in Hm. assert (0 <= D * m) by nra.
    assert (Pp : p <= price o0 o1) by (apply (Rmult_le_reg_r kept); [lra|rewrite <- Pk; exact Pr]).
    assert (T0 : p * (kept * mu (fun s => run (count o0 t) s f)) <= p * (mu (fun s => run (count o0 t') s f) + kept * slack * m))
      by (apply Rmult_le_compat_l; assumption).
    assert (T1 : p * mu (fun s => run (count o0 t') s f) <= p * (mu E1 + D * m)) by (apply Rmult_le_compat_l; assumption).
    assert (T2 : p * mu E1 <= price o0 o1 * mu E1) by (apply Rmult_le_compat_r; assumption).
    rewrite Pk at 1 2. replace (((1 + p) * D + p * kept * slack) * m) with (D * m + p * (D * m) + p * (kept * slack * m)) by ring.
    rewrite Rmult_assoc. lra.
Qed.
End Game.

(** The usual case: the leaves are views, and equal ones are compared. *)
Lemma Challenged {V} c tau n L o0 o1 (t : tree V) :
  c <= price o0 o1 -> apart o0 o1 -> covered tau n L o0 t -> covered tau n L o1 t ->
  neighbours c 1 1 eq eq eq tau n L (count o0 t) (count o1 t).
Proof. intros. apply Challenge; try assumption; [now rewrite Rmult_1_r|apply AlikeSame]. Qed.

Corollary views_private {V} c tau n (f : V -> R) : 0 <= c <= 1 -> (forall v, 0 <= f v <= 1) ->
  forall L t0 t1, neighbours c 1 1 eq eq eq tau n L t0 t1 -> forall mu, payable mu -> present L mu ->
  c * mu (fun s => run t0 s f)
  <= mu (fun s => run t1 s f) + (1 + c) * (INR n * stray tau) * mu (fun _ => 1).
Proof.
  intros Hc Hf L t0 t1 N mu P Q.
  assert (T := counters_private c 1 1 eq eq eq tau n Hc ltac:(lra) ltac:(lra) f 0 Hf ltac:(lra)
    ltac:(intros v v1 <-; specialize (Hf v); nra) ltac:(intros v v1 <-; specialize (Hf v); nra)
    ltac:(intros v v1 <-; specialize (Hf v); nra) L t0 t1 N mu P Q).
  replace (c / 1) with c in T by field. rewrite Rmult_0_r, Rplus_0_r in T. exact T.
Qed.
End Privacy.
