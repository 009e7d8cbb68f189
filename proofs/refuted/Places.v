(** Broken controls of PrivateWitnesses with places, and of the slots of packed layers. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices Machine Payments Ghost CountAboveThreshold ExponentialMechanism WitnessDepths PrivateHistogram Refuted Forests.
Import ListNotations.
Open Scope R_scope.

(** Two mistakes on a line with the places 0, ..., n: at both ends, or both at the last place. One of them has
    moved. All places have depth 1; or the last one has depth 2, and all others have depth 0. *)
Section Line.
Variables (eta : R) (Heta : 0 < eta).
Definition mistakes (n : nat) (world : bool) : list nat := if world then [n; n] else [0; n]%nat.
Definition place (n : nat) (world : bool) : law nat :=
  draw (exponential_weights eta (Rlt_le _ _ Heta)) (S n) (fun _ => 1) (fun _ => Rlt_0_1) (fun v => (- line_depth (mistakes n world) v)%Z).
Definition at_end (n : nat) (v : nat) : R := if Nat.eqb v n then 1 else 0.
Lemma at_end_01 n v : 0 <= at_end n v <= 1.
Proof. unfold at_end. destruct (Nat.eqb v n); lra. Qed.
Lemma depth_apart n v : (v <= n)%nat -> line_depth (mistakes n false) v = 1%Z \/ n = 0%nat.
Proof.
  intro H. destruct n as [|n]; [now right|left]. unfold line_depth, how_many, mistakes. cbn [filter].
  replace (Nat.leb v (S n)) with true by (symmetry; now apply Nat.leb_le). change (Nat.leb 0 v) with true.
  destruct (Nat.leb_spec (S n) v), (Nat.leb_spec v 0); cbn [length]; lia.
Qed.
Lemma depth_together n v : (v <= n)%nat -> line_depth (mistakes n true) v = if Nat.eqb v n then 2%Z else 0%Z.
Proof.
  intro H. unfold line_depth, how_many, mistakes. cbn [filter]. replace (Nat.leb v n) with true by (symmetry; now apply Nat.leb_le).
  destruct (Nat.eqb_spec v n) as [->|D]; [now rewrite Nat.leb_refl|]. replace (Nat.leb n v) with false by (symmetry; apply Nat.leb_gt; lia). reflexivity.
Qed.
Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n as [|n IH]; [simpl; ring|]. cbn [sum]. rewrite IH, S_INR. ring. Qed.
Lemma least_is n score low : (forall i, (i < S n)%nat -> (low <= score i)%Z) -> score n = low -> least (S n) score = low.
Proof.
  intros Lo Eq. pose proof (least_below (S n) score n ltac:(lia)). destruct (least_there (S n) score ltac:(lia)) as (i & Hi & E).
  specialize (Lo i Hi). lia.
Qed.
Let y := exp (2 * eta).
Lemma y_gt : 1 < y.
Proof. unfold y. rewrite <- exp_0. apply exp_increasing. lra. Qed.
Lemma weight_at k : exponential_weights eta (Rlt_le _ _ Heta) k = exp (- (eta * INR k)).
Proof. reflexivity. Qed.
Lemma drawn_apart n : (0 < n)%nat -> place n false (at_end n) = / INR (S n).
Proof.
  intro N. unfold place, draw. cbn [choice E]. set (score := fun v => (- line_depth (mistakes n false) v)%Z).
  assert (Sc : forall i, (i < S n)%nat -> score i = (-1)%Z).
  { intros i Hi. unfold score. destruct (depth_apart n i ltac:(lia)) as [->| ->]; lia. }
  assert (Le : least (S n) score = (-1)%Z) by (apply least_is; [intros i Hi; rewrite (Sc i Hi); lia|apply Sc; lia]). rewrite Le.
  set (w := fun i => 1 * exponential_weights eta (Rlt_le _ _ Heta) (Z.to_nat (score i - -1))).
  assert (One : forall i, (i < S n)%nat -> w i = 1).
  { intros i Hi. unfold w. rewrite (Sc i Hi), weight_at. simpl. rewrite Rmult_0_r, Ropp_0, exp_0. ring. }
  change (sum (S n) (fun i => w i * at_end n i) / sum (S n) w = / INR (S n)).
  rewrite (sum_ext (S n) w (fun _ => 1) One), (sum_ext (S n) (fun i => w i * at_end n i) (at_end n)) by (intros i Hi; rewrite (One i Hi); ring).
  rewrite sum_const. cbn [sum]. rewrite (sum_ext n _ (fun _ => 0)), sum_const.
  - unfold at_end. rewrite Nat.eqb_refl. field. apply not_0_INR. lia.
  - intros i Hi. unfold at_end. destruct (Nat.eqb_spec i n); [lia|reflexivity].
Qed.
Lemma drawn_together n : place n true (at_end n) = y / (INR n + y).
Proof.
  unfold place, draw. cbn [choice E]. set (score := fun v => (- line_depth (mistakes n true) v)%Z).
  assert (Sc : forall i, (i < S n)%nat -> score i = if Nat.eqb i n then (-2)%Z else 0%Z).
  { intros i Hi. unfold score. rewrite (depth_together n i) by lia. destruct (Nat.eqb i n); reflexivity. }
  assert (Le : least (S n) score = (-2)%Z).
  { apply least_is; [intros i Hi; rewrite (Sc i Hi); destruct (Nat.eqb i n); lia|]. rewrite (Sc n ltac:(lia)), Nat.eqb_refl. reflexivity. }
  rewrite Le. assert (Y : exp (- (eta * INR 2)) = / y) by (unfold y; rewrite <- exp_Ropp; f_equal; simpl; ring).
  pose proof y_gt as G. pose proof (pos_INR n).
  assert (Last : 1 * exponential_weights eta (Rlt_le _ _ Heta) (Z.to_nat (score n - -2)) = 1).
  { rewrite (Sc n ltac:(lia)), Nat.eqb_refl, weight_at. simpl. rewrite Rmult_0_r, Ropp_0, exp_0. ring. }
  assert (Other : forall i, (i < n)%nat -> 1 * exponential_weights eta (Rlt_le _ _ Heta) (Z.to_nat (score i - -2)) = / y).
  { intros i Hi. rewrite (Sc i ltac:(lia)). destruct (Nat.eqb_spec i n); [lia|]. rewrite weight_at. change (Z.to_nat (0 - -2)) with 2%nat. rewrite Y. ring. }
  set (w := fun i => 1 * exponential_weights eta (Rlt_le _ _ Heta) (Z.to_nat (score i - -2))) in *.
  change (sum (S n) (fun i => w i * at_end n i) / sum (S n) w = y / (INR n + y)). cbn [sum].
  change (w n = 1) in Last. rewrite Last, (sum_ext n w (fun _ => / y) Other), (sum_ext n (fun i => w i * at_end n i) (fun _ => 0)), !sum_const.
  - unfold at_end. rewrite Nat.eqb_refl. field. split; lra.
  - intros i Hi. unfold at_end. destruct (Nat.eqb_spec i n); [lia|ring].
Qed.
(** With enough places the probability of the last one changes by a factor near e^(2 eta). *)
Lemma nearly_twice epsilon : epsilon < 2 * eta -> exists n, exp epsilon * place n false (at_end n) < place n true (at_end n).
Proof.
  intro Lt. pose proof y_gt as G. assert (X : exp epsilon < y) by (unfold y; now apply exp_increasing). pose proof (exp_pos epsilon).
  set (r := y * exp epsilon / (y - exp epsilon)). set (n := Z.to_nat (up r)). exists (S n). rewrite drawn_apart by lia. rewrite drawn_together.
  assert (B : r < INR (S n)).
  { destruct (archimed r) as [U _]. rewrite S_INR. apply Rlt_le_trans with (1 := U). unfold n. rewrite INR_IZR_INZ, <- plus_IZR. apply IZR_le. lia. }
  unfold r in B.
  assert (P : 0 < INR (S n)) by (apply lt_0_INR; lia). rewrite (S_INR (S n)). set (m := INR (S n)) in *.
  assert (K : y * exp epsilon < m * (y - exp epsilon)).
  { apply Rmult_lt_compat_r with (r := y - exp epsilon) in B; [|lra]. unfold Rdiv in B. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in B by lra. exact B. }
  apply (Rmult_lt_reg_r ((m + 1) * (m + y))); [nra|].
  replace (exp epsilon * / (m + 1) * ((m + 1) * (m + y))) with (exp epsilon * (m + y)) by (field; lra).
  replace (y / (m + y) * ((m + 1) * (m + y))) with (y * (m + 1)) by (field; lra). nra.
Qed.

(** places-one-priced: a place priced for a mistake more or less, eta, is not private if a mistake moves. *)
Theorem a_moved_mistake_costs_twice epsilon : epsilon < 2 * eta -> exists n, ~ private epsilon 0 (place n).
Proof.
  intro Lt. destruct (nearly_twice epsilon Lt) as [n Hn]. exists n. intro P. specialize (P true (at_end n) (at_end_01 n)). cbn [negb] in P. lra.
Qed.

(** places-kept: what one epoch drew from is drawn from again in the next, each draw at the right price. *)
Definition place_twice (n : nat) (world : bool) : law (nat * nat) := bind (place n world) (fun v => bind (place n world) (fun w => ret (v, w))).
Theorem mistakes_must_be_forgotten epsilon : epsilon < 4 * eta -> exists n, ~ private epsilon 0 (place_twice n).
Proof.
  intro Lt. destruct (nearly_twice (epsilon / 2) ltac:(lra)) as [n Hn]. exists n. intro P.
  specialize (P true (fun v => at_end n (fst v) * at_end n (snd v))).
  assert (T : forall v : nat * nat, 0 <= at_end n (fst v) * at_end n (snd v) <= 1).
  { intro v. pose proof (at_end_01 n (fst v)). pose proof (at_end_01 n (snd v)). nra. }
  specialize (P T). cbn [negb] in P.
  assert (Both : forall world, place_twice n world (fun v => at_end n (fst v) * at_end n (snd v)) = place n world (at_end n) * place n world (at_end n)).
  { intro world. unfold place_twice. cbn [bind ret E fst snd]. set (l := place n world).
    assert (B : bounded (at_end n)) by (apply bounded_test, at_end_01). assert (0 <= l (at_end n)) by now apply E_pos.
    rewrite <- (E_scal l (l (at_end n)) (at_end n)) by assumption. f_equal. apply functional_extensionality. intro v.
    rewrite E_scal by (apply at_end_01 || assumption). ring. }
  rewrite !Both in P. replace (exp epsilon) with (exp (epsilon / 2) * exp (epsilon / 2)) in P by (rewrite <- exp_plus; f_equal; field).
  assert (0 <= place n false (at_end n)) by (apply E_pos, bounded_test, at_end_01). pose proof (exp_pos (epsilon / 2)).
  set (p := place n false (at_end n)) in *. set (q := place n true (at_end n)) in *. set (e := exp (epsilon / 2)) in *.
  assert (0 <= e * p) by nra. nra.
Qed.
End Line.

(** forest-slots-by-true-count: a hypothesis gets as many slots as pairs agree on it, three or four, and is
    published for six mistakes a slot. The list is that of Forests.v: it costs (ln 2, 1/4), and its elements may be
    shown by any count above 1; the switch costs ln 2, too. Eighteen mistakes tell the two worlds apart. *)
Fixpoint turn (mistakes : nat) : tree bool :=
  match mistakes with O => Done false | S k => Dec 0%nat (Toss 0%nat (fun yes => if yes then Done true else turn k)) end.
Definition said (b : bool) : R := if b then 1 else 0.
Definition gap_of (g : Z) : Machine.state := set no_counters 0%nat (Some g).
Lemma turn_step k g : run half half (turn (S k)) (gap_of g) said = G half (g - 1) + (1 - G half (g - 1)) * run half half (turn k) (gap_of (g - 1)) said.
Proof.
  cbn [turn run]. unfold gap_of. rewrite shift_set. cbn [mix E]. unfold hit at 1 2. rewrite !set_same. cbn [option_map].
  replace (-1 + g)%Z with (g - 1)%Z by lia. cbn [run ret E said]. ring.
Qed.
Lemma turn_01 k g : 0 <= run half half (turn k) (gap_of g) said <= 1.
Proof. apply E_test. intros [|]; simpl; lra. Qed.
(** The last round alone, and all rounds together. *)
Lemma turn_more k : forall g, G half (g - Z.of_nat (S k)) <= run half half (turn (S k)) (gap_of g) said.
Proof.
  induction k as [|k IH]; intro g; rewrite turn_step; pose proof (G_01 half (g - 1)).
  - replace (g - Z.of_nat 1)%Z with (g - 1)%Z by lia. pose proof (turn_01 0 (g - 1)). nra.
  - specialize (IH (g - 1)%Z). replace (g - Z.of_nat (S (S k)))%Z with (g - 1 - Z.of_nat (S k))%Z by lia.
    pose proof (turn_01 (S k) (g - 1)). nra.
Qed.
Lemma turn_less k : forall g, run half half (turn k) (gap_of (Z.of_nat k + Z.of_nat g)) said <= 2 * half ^ g - 2 * half ^ (k + g).
Proof.
  induction k as [|k IH]; intro g; [cbn [turn run ret E said]; simpl; lra|]. rewrite turn_step.
  replace (Z.of_nat (S k) + Z.of_nat g - 1)%Z with (Z.of_nat k + Z.of_nat g)%Z by lia. specialize (IH g).
  unfold G. replace (Z.to_nat (Z.of_nat k + Z.of_nat g)) with (k + g)%nat by lia. pose proof (pow_01 half (k + g)).
  pose proof (turn_01 k (Z.of_nat k + Z.of_nat g)). replace (half ^ (S k + g)) with (1 / 2 * half ^ (k + g)) by reflexivity.
  set (p := half ^ (k + g)) in *. set (u := half ^ g) in *. set (rest := run half half (turn k) _ said) in *.
  assert (0 <= p * rest) by nra. lra.
Qed.
Definition slots_by_true_count (world : bool) : law bool :=
  let pairs := (if world then 4 else 3)%nat in
  bind (lists [0%nat] (fun _ => pairs)) (fun o =>
    match o with
    | [Some _] => run half half (Ensure 0%nat (6 * Z.of_nat pairs)%Z (turn 18)) no_counters
    | _ => ret false
    end).
Lemma always_shown c (g : list (option Z) -> R) x : (forall z, g [Some z] = x) -> lists [0%nat] (fun _ => S (S (S c))) g = x.
Proof.
  intro H. cbn [histogram bind ret E]. rewrite cell_at. unfold shown.
  repeat match goal with |- context [Z.leb 2 ?z] => replace (Z.leb 2 z) with true by (symmetry; apply Z.leb_le; lia) end.
  rewrite !H. field.
Qed.
Lemma surely_listed world : slots_by_true_count world said
  = geometric half (fun r => run half half (turn 18) (gap_of (6 * (if world then 4 else 3) + Z.of_nat r)) said).
Proof. unfold slots_by_true_count. destruct world; cbn [bind E]; apply always_shown; intro z; reflexivity. Qed.
Theorem slots_need_noise epsilon : exp epsilon <= 4 -> ~ private epsilon (1 / 4) slots_by_true_count.
Proof.
  intros He P. specialize (P false said). assert (T : forall b, 0 <= said b <= 1) by (intros [|]; simpl; lra). specialize (P T). cbn [negb] in P.
  rewrite !surely_listed in P.
  assert (Power : forall c, 0 <= c -> geometric half (fun r => c * half ^ r) = c * (2 / 3)).
  { intros c Hc. assert (B : bounded (fun r => half ^ r)) by (apply bounded_test; intro r; pose proof (pow_01 half r); lra).
    rewrite (E_scal (geometric half) c (fun r => half ^ r)) by assumption. f_equal. pose proof (stray_closed half half 0 ltac:(lia)) as S. unfold stray in S.
    replace (fun n => G half (0 + Z.of_nat n)) with (fun r => half ^ r) in S.
    - rewrite S. change (Z.to_nat 0) with 0%nat. cbn [pow]. simpl. lra.
    - apply functional_extensionality. intro n. unfold G. f_equal. lia. }
  assert (Few : 2 / 3 <= geometric half (fun r => run half half (turn 18) (gap_of (6 * 3 + Z.of_nat r)) said)).
  { replace (2 / 3) with (1 * (2 / 3)) by ring. rewrite <- (Power 1) by lra. apply E_mono.
    - apply bounded_test. intro r. pose proof (pow_01 half r). lra.
    - apply bounded_test. intro r. apply turn_01.
    - intro r. eapply Rle_trans; [|apply (turn_more 17)]. unfold G. replace (Z.to_nat (6 * 3 + Z.of_nat r - Z.of_nat 18)) with r by lia. lra. }
  assert (Many : geometric half (fun r => run half half (turn 18) (gap_of (6 * 4 + Z.of_nat r)) said) <= 1 / 48).
  { assert (Six : half ^ 6 = 1 / 64) by (simpl; lra). replace (1 / 48) with (1 / 32 * (2 / 3)) by lra. rewrite <- (Power (1 / 32)) by lra. apply E_mono.
    - apply bounded_test. intro r. apply turn_01.
    - apply bounded_test. intro r. pose proof (pow_01 half r). lra.
    - intro r. replace (6 * 4 + Z.of_nat r)%Z with (Z.of_nat 18 + Z.of_nat (6 + r))%Z by lia. eapply Rle_trans; [apply turn_less|].
      pose proof (pow_01 half (18 + (6 + r))). rewrite (pow_add half 6 r), Six. lra. }
  pose proof (exp_pos epsilon). cbv iota in P. set (few := geometric half (fun r => run half half (turn 18) (gap_of (6 * 3 + Z.of_nat r)) said)) in *.
  set (many := geometric half (fun r => run half half (turn 18) (gap_of (6 * 4 + Z.of_nat r)) said)) in *.
  assert (exp epsilon * many <= exp epsilon * (1 / 48)) by (apply Rmult_le_compat_l; lra). lra.
Qed.
(* main: a_moved_mistake_costs_twice, mistakes_must_be_forgotten, slots_need_noise *)
