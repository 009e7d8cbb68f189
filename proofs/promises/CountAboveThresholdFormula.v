(** The law of CountAboveThreshold's answers is the sum of products in count_above_threshold.md. *)
From Coq Require Import ZArith Reals Lra Lia List FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine Payments Ghost Neighbours CountAboveThreshold.
Import ListNotations.
Open Scope R_scope.

Section Formula.
Variables (a b : rate) (tau : Z) (bits : nat -> bool).
Definition stream : adversary bool bool := Adversary (fun view => bits (length view)) (fun _ => None).

(** q_t: the ones of rounds 0 .. t - 1 *)
Fixpoint ones (t : nat) : Z := match t with O => 0%Z | S t => (ones t + if bits t then 1 else 0)%Z end.

Section Given.
Variable g : Z.   (* tau + rho *)
Definition above (t : nat) : R := G a (g - ones (S t)).
(** no in rounds i .. i + n - 1 *)
Fixpoint nos (i n : nat) : R := match n with O => 1 | S n => (1 - above i) * nos (S i) n end.
Fixpoint total (n : nat) (F : nat -> R) : R := match n with O => 0 | S n => F 0%nat + total n (fun k => F (S k)) end.

Lemma total_scal c n : forall F, c * total n F = total n (fun k => c * F k).
Proof. induction n as [|n IH]; intro F; simpl; [ring|]. rewrite <- IH. ring. Qed.
Lemma total_ext n : forall F F', (forall k, F k = F' k) -> total n F = total n F'.
Proof. induction n as [|n IH]; intros F F' H; simpl; [reflexivity|]. rewrite H, (IH _ (fun k => F' (S k))); auto. Qed.
Lemma repeat_again (v : list bool) k : repeat false k ++ false :: v = repeat false (S k) ++ v.
Proof. induction k as [|k IH]; [reflexivity|]. simpl in *. now rewrite IH. Qed.

Lemma observe_law world f rounds : forall view s, s 0%nat = Some (g - ones (length view))%Z ->
  run a b (observe tau false stream world rounds false view) s f
  = total rounds (fun k => nos (length view) k * above (length view + k) * f (true :: repeat false k ++ view))
    + nos (length view) rounds * f (repeat false rounds ++ view).
Proof.
  induction rounds as [|rounds IH]; intros view s Hs; [simpl; ring|].
  cbn [observe received stream challenge example].
  set (i := length view). set (t := Toss 0%nat _).
  assert (R : run a b (counted tau (bits i) t) s f
    = above i * f (true :: view) + (1 - above i) * run a b (observe tau false stream world rounds false (false :: view))
        (if bits i then dec 0%nat s else s) f).
  { unfold counted, count, above. cbn [ones]. destruct (bits i) eqn:B; unfold t.
    - cbn [run bind E]. unfold ensured. rewrite Hs. cbn [ret E mix]. unfold hit. rewrite shift_at, Hs. cbn [option_map].
      replace (-1 + (g - ones (length view)))%Z with (g - (ones i + 1))%Z by (unfold i; lia). reflexivity.
    - cbn [run mix ret E]. unfold hit. rewrite Hs. replace (g - (ones i + 0))%Z with (g - ones (length view))%Z by (unfold i; lia).
      reflexivity. }
  rewrite R, IH.
  - change (length (false :: view)) with (S i).
    assert (T : (1 - above i) * total rounds (fun k => nos (S i) k * above (S i + k) * f (true :: repeat false k ++ false :: view))
      = total rounds (fun k => nos i (S k) * above (i + S k) * f (true :: repeat false (S k) ++ view))).
    { rewrite total_scal. apply total_ext. intro k. rewrite repeat_again.
      replace (i + S k)%nat with (S i + k)%nat by lia.
      change (nos i (S k)) with ((1 - above i) * nos (S i) k). ring. }
    rewrite repeat_again.
    change (total (S rounds) (fun k => nos i k * above (i + k) * f (true :: repeat false k ++ view))) with
      (nos i 0 * above (i + 0) * f (true :: repeat false 0 ++ view)
       + total rounds (fun k => nos i (S k) * above (i + S k) * f (true :: repeat false (S k) ++ view))).
    rewrite <- T, Nat.add_0_r. change (repeat false 0 ++ view) with view.
    change (nos i 0) with 1. change (nos i (S rounds)) with ((1 - above i) * nos (S i) rounds). ring.
  - cbn [length ones]. fold i. destruct (bits i).
    + rewrite shift_at, Hs. cbn [option_map]. f_equal. unfold i. lia.
    + rewrite Hs. f_equal. unfold i. lia.
Qed.
End Given.

(** Yes in round k for each k, and no yes at all. *)
Theorem answers_law world rounds f :
  run a b (start tau false stream world rounds) no_counters f
  = geometric b (fun rho =>
      total rounds (fun k => nos (tau + Z.of_nat rho) 0 k * above (tau + Z.of_nat rho) k * f (true :: repeat false k))
      + nos (tau + Z.of_nat rho) 0 rounds * f (repeat false rounds)).
Proof.
  unfold start. cbn [run bind E]. unfold ensured, no_counters. cbn [bind ret E]. f_equal.
  apply functional_extensionality. intro rho.
  rewrite (observe_law (tau + Z.of_nat rho)).
  - cbn [length]. rewrite app_nil_r. f_equal. apply total_ext. intro k. now rewrite app_nil_r.
  - rewrite set_same. cbn [length ones]. f_equal. lia.
Qed.
End Formula.
(* main: answers_law *)
