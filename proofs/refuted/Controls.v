(** Broken controls: for each there is a promise that is false, and here is its negation. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours CountAboveThreshold PrivateKeys.
Import ListNotations.
Open Scope R_scope.

(** One question: a bit that is 1 in world 0 and 0 in world 1, then zeros. *)
Definition one_bit : adversary bool bool :=
  Adversary (fun _ => false) (fun view => match view with [] => Some (true, false) | _ => None end).

Section Controls.
Variables (a b : rate).

Lemma stray_pos tau : 0 < stray a b tau.
Proof.
  unfold stray. pose proof (base_01 a). pose proof (base_01 b).
  rewrite geometric_step by (apply bounded_test; intro; apply G_01).
  assert (0 < G a (tau + Z.of_nat 0)) by (unfold G; apply pow_01).
  assert (0 <= geometric b (fun n => G a (tau + Z.of_nat (S n)))) by (apply E_pos, bounded_test; intro; apply G_01).
  nra.
Qed.

(** ** No threshold noise: private for no epsilon at all *)
Definition without_threshold_noise (world : bool) : law (list bool) :=
  run a b (observe 1 false one_bit world 1 false []) (set no_counters 0%nat (Some 1%Z)).
Theorem threshold_noise_is_needed epsilon : ~ private epsilon 0 without_threshold_noise.
Proof.
  intro P. pose proof (base_01 a). specialize (P true).
  assert (T : forall v : list bool, 0 <= match v with [false] => 1 | _ => 0 end <= 1)
    by (intro v; destruct v as [|[|] [|? ?]]; lra).
  specialize (P _ T). unfold without_threshold_noise in P.
  cbn [observe received one_bit challenge negb counted count run bind mix ret E] in P.
  unfold ensured in P. rewrite set_same in P. cbn [ret E] in P. rewrite shift_set in P.
  unfold hit in P. rewrite !set_same in P. cbn [option_map] in P. unfold G in P. simpl in P. lra.
Qed.

(** ** Query noise only when the bit is 1 (L3 skipped): private for no epsilon at all *)
Definition skips_zeros (world : bool) : law (list bool) :=
  run a b (Ensure 0%nat 1%Z (let (bit, _) := received one_bit world false [] in
    if bit then Dec 0%nat (Toss 0%nat (fun above => Done [above])) else Done [false])) no_counters.
Theorem noise_is_needed_in_every_round epsilon : ~ private epsilon 0 skips_zeros.
Proof.
  intro P. specialize (P false).
  assert (P' := P (fun v => match v with [true] => 1 | _ => 0 end)); clear P.
  assert (T : forall v : list bool, 0 <= match v with [true] => 1 | _ => 0 end <= 1)
    by (intro v; destruct v as [|[|] [|? ?]]; lra).
  specialize (P' T). unfold skips_zeros in P'. cbn [received one_bit challenge negb run bind E] in P'.
  unfold ensured, no_counters in P'. cbn [bind ret E mix] in P'.
  rewrite (E_zero (geometric b)) in P'.
  replace (fun r : nat => hit a 0%nat (dec 0%nat (set (fun _ : key => None) 0%nat (Some (1 + Z.of_nat r)%Z))) * 1 +
     (1 - hit a 0%nat (dec 0%nat (set (fun _ : key => None) 0%nat (Some (1 + Z.of_nat r)%Z)))) * 0)
    with (fun r : nat => G a (0 + Z.of_nat r)) in P'.
  - pose proof (stray_pos 0). unfold stray in H. lra.
  - apply functional_extensionality. intro r. rewrite shift_set. unfold hit. rewrite set_same. cbn [option_map].
    replace (-1 + (1 + Z.of_nat r))%Z with (0 + Z.of_nat r)%Z by lia. ring.
Qed.

(** ** Threshold noise that is used again after a yes: epsilon is exceeded *)
Fixpoint run_reusing {V} (t : tree V) (s : state) : law V :=
  match t with
  | Done v => ret v
  | Ensure x tau t => bind (ensured b x tau s) (run_reusing t)
  | Dec x t => run_reusing t (dec x s)
  | Drop x t => run_reusing t (set s x None)
  | Toss x k => mix (hit a x s) (hit_01 a x s) (run_reusing (k true) s) (run_reusing (k false) s)
  end.
Definition reuses_noise (world : bool) : law (list bool) :=
  run_reusing (Ensure 0%nat 1%Z (let (bit, _) := received one_bit world false [] in
    let t := Toss 0%nat (fun one => Toss 0%nat (fun two => Done [two; one])) in
    if bit then Dec 0%nat t else t)) no_counters.
Lemma reused_twice world : reuses_noise world (fun v => match v with [true; true] => 1 | _ => 0 end)
  = geometric b (fun r => G a ((if world then 1 else 0) + Z.of_nat r) * G a ((if world then 1 else 0) + Z.of_nat r)).
Proof.
  unfold reuses_noise. cbn [received one_bit challenge]. cbn [run_reusing bind E].
  unfold ensured, no_counters. cbn [bind ret E]. f_equal. apply functional_extensionality. intro r.
  destruct world; cbn [run_reusing mix E ret]; unfold hit; rewrite ?shift_set, ?set_same; cbn [option_map];
    [|replace (-1 + (1 + Z.of_nat r))%Z with (0 + Z.of_nat r)%Z by lia]; ring.
Qed.
(** With a = e^-epsilon, as CountAboveThreshold has it, two answers cost 2 epsilon and no less. *)
Theorem noise_must_be_fresh epsilon : a * exp epsilon = 1 -> ~ private epsilon 0 reuses_noise.
Proof.
  intros Ha P. pose proof (base_01 a) as H01. specialize (P false).
  assert (T : forall v : list bool, 0 <= match v with [true; true] => 1 | _ => 0 end <= 1)
    by (intro v; destruct v as [|[|] [|[|] [|? ?]]]; lra).
  specialize (P _ T). rewrite !reused_twice in P. cbn [negb] in P.
  set (g := fun r => G a (0 + Z.of_nat r) * G a (0 + Z.of_nat r)) in *.
  assert (Bg : bounded g).
  { apply bounded_test. intro r. unfold g. pose proof (G_01 a (0 + Z.of_nat r)). nra. }
  assert (Eq : geometric b (fun r => G a (1 + Z.of_nat r) * G a (1 + Z.of_nat r)) = a * a * geometric b g).
  { rewrite <- E_scal by (try assumption; nra). f_equal. apply functional_extensionality. intro r. unfold g, G.
    replace (Z.to_nat (1 + Z.of_nat r)) with (S r) by lia. replace (Z.to_nat (0 + Z.of_nat r)) with r by lia. simpl. ring. }
  rewrite Eq in P.
  assert (0 < geometric b g).
  { rewrite geometric_step by exact Bg. pose proof (base_01 b).
    assert (g 0%nat = 1) by (unfold g, G; simpl; ring).
    assert (0 <= geometric b (fun n => g (S n))) by (apply E_pos; now apply bounded_after). nra. }
  replace (exp epsilon * (a * a * geometric b g) + 0) with ((a * exp epsilon) * (a * geometric b g)) in P by ring.
  rewrite Ha in P. nra.
Qed.
End Controls.

(** ** PrivateKeys with delta = 0: false, a key that only one world has seen gives it away *)
Definition one_report : adversary (key * bool) keys :=
  Adversary (fun _ => (0%nat, false)) (fun view => match view with [] => Some ((0%nat, true), (0%nat, false)) | _ => None end).
Theorem delta_is_needed epsilon alpha beta (Ha : 0 < alpha) (Hb : 0 < beta) reports complaints :
  ~ private epsilon 0 (private_keys alpha beta Ha Hb reports complaints [0%nat] 1 one_report).
Proof.
  intro P. specialize (P false).
  assert (T : forall v : view, 0 <= match v with [A] => if A 0%nat then 1 else 0 | _ => 0 end <= 1).
  { intro v. destruct v as [|A [|? ?]]; try lra. destruct (A 0%nat); lra. }
  specialize (P _ T). unfold private_keys in P.
  set (a := at_rate alpha Ha) in *. set (b := at_rate beta Hb) in *.
  set (f := fun v : view => match v with [A] => if A 0%nat then 1 else 0 | _ => 0 end) in *.
  assert (Listed : forall s A, A 0%nat = true -> run a b (Ensure 0%nat complaints (Done [A])) s f = 1).
  { intros s A HA. cbn [run bind E]. unfold ensured, f. destruct (s 0%nat); cbn [ret bind E]; rewrite HA; [reflexivity|apply geometric_one]. }
  cbn [learn received one_report challenge negb counts_for Bool.eqb count toss_all run bind mix E] in P.
  cbn [ensure_all xorb] in P. rewrite !set_same in P. cbn [andb] in P.
  rewrite Listed in P by reflexivity.
  replace (fun s : state => _) with (fun s : state => hit a 0%nat (dec 0%nat s)) in P.
  - unfold ensured, no_counters in P. cbn [bind ret E] in P. unfold hit at 2 3 in P. cbn [run ret E] in P. unfold f in P.
    rewrite set_same in P.
    replace (fun r : nat => hit a 0%nat (dec 0%nat (set (fun _ : key => None) 0%nat (Some (reports + Z.of_nat r)%Z))))
      with (fun r : nat => G a ((reports - 1) + Z.of_nat r)) in P.
    + pose proof (stray_pos a b (reports - 1)) as S. unfold stray in S. lra.
    + apply functional_extensionality. intro r. rewrite shift_set. unfold hit. rewrite set_same. cbn [option_map].
      f_equal. lia.
  - apply functional_extensionality. intro s. rewrite Listed by reflexivity. cbn [run ret E]. unfold f. rewrite set_same. ring.
Qed.
(* main: threshold_noise_is_needed, noise_is_needed_in_every_round, noise_must_be_fresh, delta_is_needed *)
