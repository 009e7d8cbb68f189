(** The law of a tree of counters in rational numbers, with exact tails: a threshold noise of at least R is
    left open, R + r, and every probability is a polynomial in a^r, whose mean is known in closed form. *)
From Coq Require Import ZArith QArith Qreals Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Machine Rational.
Import ListNotations.
Open Scope R_scope.

(** A monomial is a coefficient and the variables that it is a product of; variable x stands for a^(r x). *)
Definition polynomial := list (Q * list key).
Inductive gap := Known (g : Z) | Open (offset : Z).        (* Open: offset + r *)
Definition gaps := key -> option gap.
Definition moved (d : Z) (g : gap) : gap := match g with Known g => Known (d + g) | Open o => Open (d + o) end.

Section Evaluate.
Variables (aQ bQ : Q) (rounds : Z).
Fixpoint powQ (q : Q) (n : nat) : Q := match n with O => 1 | S n => Qred (q * powQ q n) end.

Definition times (q : Q) (vars : list key) (p : polynomial) : polynomial :=
  map (fun m => (Qred (q * fst m), vars ++ snd m)) p.
(** 1 - q * vars *)
Definition times_rest (q : Q) (vars : list key) (p : polynomial) : polynomial := p ++ times (- q) vars p.
(** The mean over r x, of base b. *)
Definition power_of (x : key) (vars : list key) : nat := length (filter (Nat.eqb x) vars).
Definition mean (x : key) (p : polynomial) : polynomial :=
  map (fun m => (Qred (fst m * ((1 - bQ) / (1 - bQ * powQ aQ (power_of x (snd m))))), filter (fun y => negb (Nat.eqb x y)) (snd m))) p.

Definition leaves V := option (list (V * polynomial)).
Definition each {V} (h : polynomial -> polynomial) (l : leaves V) : leaves V :=
  option_map (map (fun vp => (fst vp, h (snd vp)))) l.
Definition both {V} (l l' : leaves V) : leaves V :=
  match l, l' with Some l, Some l' => Some (l ++ l') | _, _ => None end.

(** P(noise = 0), then P(noise = 1), ..., then the rest, each with what follows. *)
Fixpoint thresholds {V} (R : nat) (tau : Z) (w : Q) (x : key) (next : gap -> leaves V) : leaves V :=
  match R with
  | O => each (fun p => times w [] (mean x p)) (next (Open tau))
  | S R => both (each (times (Qred (w * (1 - bQ))) []) (next (Known tau))) (thresholds R (tau + 1) (Qred (w * bQ)) x next)
  end.
Fixpoint evaluate {V} (t : tree V) (s : gaps) : leaves V :=
  match t with
  | Done v => Some [(v, [(1%Q, [])])]
  | Ensure x tau t =>
      match s x with
      | Some _ => evaluate t s
      | None => thresholds (Z.to_nat (rounds - tau)) tau 1 x (fun g => evaluate t (set s x (Some g)))
      end
  | Dec x t => evaluate t (set s x (option_map (moved (-1)) (s x)))
  | Drop x t => evaluate t (set s x None)
  | Toss x k =>
      match s x with
      | None => evaluate (k false) s
      | Some (Known g) =>
          let w := powQ aQ (Z.to_nat g) in
          both (each (times w []) (evaluate (k true) (set s x None))) (each (times_rest w []) (evaluate (k false) s))
      | Some (Open o) =>
          if Z.ltb o 0 then None else
          let w := powQ aQ (Z.to_nat o) in
          both (each (times w [x]) (evaluate (k true) (set s x None))) (each (times_rest w [x]) (evaluate (k false) s))
      end
  end.

(** What is left of a polynomial once every noise was drawn. *)
Definition constant (p : polynomial) : Q := fold_right (fun m q => Qred (fst m + q)) 0%Q p.
Definition law_of {V} (t : tree V) : dist V :=
  match evaluate t (fun _ => None) with
  | Some l => map (fun vp => (fst vp, constant (snd vp))) l
  | None => []
  end.
Definition worked {V} (t : tree V) : bool :=
  match evaluate t (fun _ => None) with
  | Some l => forallb (fun vp => forallb (fun m => match snd m with [] => true | _ => false end) (snd vp)) l
  | None => false
  end.
End Evaluate.

(** ** It is what [run] is *)

Local Opaque Qred.
Section Correct.
Variables (a b : rate) (aQ bQ : Q) (rounds : Z).
Hypothesis Ha : base a = Q2R aQ.
Hypothesis Hb : base b = Q2R bQ.

Fixpoint product (env : key -> R) (vars : list key) : R := match vars with [] => 1 | x :: vars => env x * product env vars end.
Fixpoint value (env : key -> R) (p : polynomial) : R :=
  match p with [] => 0 | (q, vars) :: p => Q2R q * product env vars + value env p end.
Definition at_noise (r : key -> nat) : key -> R := fun x => a ^ r x.
Definition concrete (r : key -> nat) (s : gaps) : state :=
  fun x => match s x with None => None | Some (Known g) => Some g | Some (Open o) => Some (o + Z.of_nat (r x))%Z end.
Fixpoint summed {V} (env : key -> R) (l : list (V * polynomial)) (f : V -> R) : R :=
  match l with [] => 0 | (v, p) :: l => value env p * f v + summed env l f end.

Lemma powQ_correct (q : Q) (x : R) n : x = Q2R q -> Q2R (powQ q n) = x ^ n.
Proof. intros ->. induction n as [|n IH]; cbn [powQ pow]; [apply Q2R_1|]. now rewrite Q2R_red, Q2R_mult, IH. Qed.
Lemma product_app env l l' : product env (l ++ l') = product env l * product env l'.
Proof. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma value_app env p p' : value env (p ++ p') = value env p + value env p'.
Proof. induction p as [|[q vars] p IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma value_times env q vars p : value env (times q vars p) = Q2R q * product env vars * value env p.
Proof.
  induction p as [|[r vs] p IH]; cbn [times map value fst snd]; [ring|]. fold (times q vars p). rewrite IH, Q2R_red, Q2R_mult, product_app. ring.
Qed.
Lemma value_times_rest env q vars p : value env (times_rest q vars p) = (1 - Q2R q * product env vars) * value env p.
Proof. unfold times_rest. rewrite value_app, value_times, Q2R_opp. ring. Qed.
Lemma summed_app {V} env (l l' : list (V * polynomial)) f : summed env (l ++ l') f = summed env l f + summed env l' f.
Proof. induction l as [|[v p] l IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma summed_each {V} env c h (l : list (V * polynomial)) f : (forall p, value env (h p) = c * value env p) ->
  summed env (map (fun vp => (fst vp, h (snd vp))) l) f = c * summed env l f.
Proof. intro H. induction l as [|[v p] l IH]; simpl; [ring|]. rewrite H, IH. ring. Qed.

(** The mean of a sum of powers, whatever the signs. *)
Ltac by_terms := let k := fresh in intro k; simpl; match goal with |- ?x = ?y => change (@eq R x y) end; ring.
Definition geo (f : nat -> R) : R := Series (fun n => (1 - b) * b ^ n * f n).
Lemma geo_is f : geo f = geometric b f.
Proof. reflexivity. Qed.
Lemma geo_power n : geo (fun k => (a ^ k) ^ n) = (1 - b) / (1 - b * a ^ n).
Proof.
  pose proof (base_01 a) as A. pose proof (base_01 b) as B. pose proof (pow_01 a n) as An.
  assert (Bd : bounded (fun k => (a ^ k) ^ n)).
  { apply bounded_test. intro k. rewrite <- pow_mult. pose proof (pow_01 a (k * n)). lra. }
  pose proof (geometric_step b _ Bd) as St. rewrite geo_is.
  assert (E : geometric b (fun k => (a ^ S k) ^ n) = a ^ n * geometric b (fun k => (a ^ k) ^ n)).
  { rewrite <- E_scal by (lra || exact Bd). f_equal. apply functional_extensionality. intro k. simpl. now rewrite Rpow_mult_distr. }
  cbv beta in St. rewrite E in St. replace ((a ^ 0) ^ n) with 1 in St by (simpl; now rewrite pow1).
  assert (b * a ^ n < 1) by nra. apply (Rmult_eq_reg_r (1 - b * a ^ n)); [|lra].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
Lemma geo_ex c n : ex_series (fun k => (1 - b) * b ^ k * (c * (a ^ k) ^ n)).
Proof.
  apply (ex_series_ext (fun k => c * ((1 - b) * b ^ k * (a ^ k) ^ n))); [by_terms|].
  apply (ex_series_scal c (fun k => (1 - b) * b ^ k * (a ^ k) ^ n)). apply ex_geometric.
  apply bounded_test. intro k. rewrite <- pow_mult. pose proof (pow_01 a (k * n)). lra.
Qed.
Lemma geo_scal c n : geo (fun k => c * (a ^ k) ^ n) = c * geo (fun k => (a ^ k) ^ n).
Proof. unfold geo. rewrite <- Series_scal_l. apply Series_ext. intro; ring. Qed.

Lemma product_at x env vars k :
  product (set env x (a ^ k)) vars = product env (filter (fun y => negb (Nat.eqb x y)) vars) * (a ^ k) ^ power_of x vars.
Proof.
  unfold power_of. induction vars as [|y vars IH]; simpl; [ring|]. rewrite IH. unfold set at 1. rewrite (Nat.eqb_sym y x).
  destruct (Nat.eqb x y); simpl; ring.
Qed.
Definition finite_sum (F : nat -> R) := ex_series (fun k => (1 - b) * b ^ k * F k).
Lemma finite_plus F F' : finite_sum F -> finite_sum F' -> finite_sum (fun k => F k + F' k) /\ geo (fun k => F k + F' k) = geo F + geo F'.
Proof.
  intros H H'. split.
  - apply (ex_series_ext (fun k => (1 - b) * b ^ k * F k + (1 - b) * b ^ k * F' k)); [by_terms|].
    now apply (ex_series_plus (fun k => (1 - b) * b ^ k * F k)).
  - unfold geo. rewrite <- Series_plus by assumption. apply Series_ext. intro; ring.
Qed.
Lemma mean_value x env p : finite_sum (fun k => value (set env x (a ^ k)) p) /\
  geo (fun k => value (set env x (a ^ k)) p) = value env (mean aQ bQ x p).
Proof.
  pose proof (base_01 a) as A. pose proof (base_01 b) as B.
  induction p as [|[q vars] p [IH1 IH2]]; cbn [value mean map fst snd].
  - split.
    + apply (ex_series_ext (fun k => (1 - b) * b ^ k * (0 * (a ^ k) ^ 0))); [by_terms|apply geo_ex].
    + transitivity (geo (fun k => 0 * (a ^ k) ^ 0)); [unfold geo; apply Series_ext; intro; simpl; ring|]. rewrite geo_scal. ring.
  - set (n := power_of x vars). set (c := Q2R q * product env (filter (fun y => negb (Nat.eqb x y)) vars)).
    assert (M : forall k, Q2R q * product (set env x (a ^ k)) vars = c * (a ^ k) ^ n).
    { intro k. rewrite product_at. unfold c, n. ring. }
    replace (fun k => Q2R q * product (set env x (a ^ k)) vars + value (set env x (a ^ k)) p)
      with (fun k => c * (a ^ k) ^ n + value (set env x (a ^ k)) p) by (apply functional_extensionality; intro k; now rewrite M).
    destruct (finite_plus (fun k => c * (a ^ k) ^ n) (fun k => value (set env x (a ^ k)) p) (geo_ex c n) IH1) as [F1 F2].
    split; [exact F1|]. rewrite F2, IH2, geo_scal, geo_power. unfold mean. f_equal.
    pose proof (pow_01 a n) as An.
    assert (D : Q2R (1 - bQ * powQ aQ n) = 1 - b * a ^ n) by (rewrite Q2R_minus, Q2R_mult, Q2R_1, (powQ_correct aQ a n Ha), Hb; reflexivity).
    rewrite Q2R_red, Q2R_mult, Q2R_div, D, Q2R_minus, Q2R_1, <- Hb.
    + unfold c. ring.
    + intro Z. apply Qeq_eqR in Z. rewrite D, Q2R_0 in Z. nra.
Qed.
Lemma mean_summed {V} x env (l : list (V * polynomial)) f : finite_sum (fun k => summed (set env x (a ^ k)) l f) /\
  geo (fun k => summed (set env x (a ^ k)) l f) = summed env (map (fun vp => (fst vp, mean aQ bQ x (snd vp))) l) f.
Proof.
  induction l as [|[v p] l [IH1 IH2]]; cbn [summed map fst snd].
  - split.
    + apply (ex_series_ext (fun k => (1 - b) * b ^ k * (0 * (a ^ k) ^ 0))); [by_terms|apply geo_ex].
    + transitivity (geo (fun k => 0 * (a ^ k) ^ 0)); [unfold geo; apply Series_ext; intro; simpl; ring|]. rewrite geo_scal. ring.
  - destruct (mean_value x env p) as [M1 M2].
    assert (S1 : finite_sum (fun k => value (set env x (a ^ k)) p * f v)).
    { unfold finite_sum. apply (ex_series_ext (fun k => f v * ((1 - b) * b ^ k * value (set env x (a ^ k)) p))); [by_terms|].
      now apply (ex_series_scal (f v) (fun k => (1 - b) * b ^ k * value (set env x (a ^ k)) p)). }
    assert (S2 : geo (fun k => value (set env x (a ^ k)) p * f v) = value env (mean aQ bQ x p) * f v).
    { rewrite <- M2, Rmult_comm. unfold geo. rewrite <- Series_scal_l. apply Series_ext. intro; ring. }
    destruct (finite_plus _ _ S1 IH1) as [F1 F2]. split; [exact F1|]. now rewrite F2, S2, IH2.
Qed.

Lemma concrete_set r s x g : concrete r (set s x g) = set (concrete r s) x
  (match g with None => None | Some (Known g) => Some g | Some (Open o) => Some (o + Z.of_nat (r x))%Z end).
Proof. apply functional_extensionality. intro y. unfold concrete, set. destruct (Nat.eqb_spec y x); subst; reflexivity. Qed.
Lemma concrete_open r s x o k : concrete (set r x k) (set s x (Some (Open o))) = set (concrete r s) x (Some (o + Z.of_nat k)%Z).
Proof.
  apply functional_extensionality. intro y. unfold concrete, set.
  destruct (Nat.eqb_spec y x); [subst; now rewrite ?Nat.eqb_refl|reflexivity].
Qed.
Lemma at_noise_set r x k : at_noise (set r x k) = set (at_noise r) x (a ^ k).
Proof. apply functional_extensionality. intro y. unfold at_noise, set. destruct (Nat.eqb y x); reflexivity. Qed.

Definition right {V} (t : tree V) (s : gaps) := forall l, evaluate aQ bQ rounds t s = Some l ->
  forall r f, bounded f -> run a b t (concrete r s) f = summed (at_noise r) l f.

Lemma thresholds_right {V} (t : tree V) s x R : (forall g, right t (set s x (Some g))) -> forall tau w l,
  thresholds aQ bQ R tau w x (fun g => evaluate aQ bQ rounds t (set s x (Some g))) = Some l ->
  forall r f, bounded f ->
  Q2R w * geometric b (fun k => run a b t (set (concrete r s) x (Some (tau + Z.of_nat k)%Z)) f) = summed (at_noise r) l f.
Proof.
  intro H. induction R as [|R IH]; intros tau w l E r f Hf; cbn [thresholds] in E.
  - destruct (evaluate aQ bQ rounds t (set s x (Some (Open tau)))) as [l'|] eqn:E'; [|discriminate].
    cbn [each option_map] in E. injection E as <-.
    assert (S : summed (at_noise r) (map (fun vp => (fst vp, times w [] (mean aQ bQ x (snd vp)))) l') f
      = Q2R w * summed (at_noise r) (map (fun vp => (fst vp, mean aQ bQ x (snd vp))) l') f).
    { rewrite <- (summed_each (at_noise r) (Q2R w) (times w [])).
      - rewrite map_map. reflexivity.
      - intro p. rewrite value_times. simpl. ring. }
    rewrite S, <- (proj2 (mean_summed x (at_noise r) l' f)). f_equal.
    transitivity (geometric b (fun k => summed (set (at_noise r) x (a ^ k)) l' f)); [|reflexivity]. f_equal.
    apply functional_extensionality. intro k.
    rewrite <- concrete_open, <- at_noise_set. now apply (H (Open tau)).
  - destruct (evaluate aQ bQ rounds t (set s x (Some (Known tau)))) as [l0|] eqn:E0; [|discriminate].
    cbn [each option_map both] in E.
    destruct (thresholds aQ bQ R (tau + 1) (Qred (w * bQ)) x _) as [l1|] eqn:E1; [|discriminate]. injection E as <-.
    assert (Bt : bounded (fun k => run a b t (set (concrete r s) x (Some (tau + Z.of_nat k)%Z)) f)).
    { apply (bounded_E1 (fun k : nat => run a b t (set (concrete r s) x (Some (tau + Z.of_nat k)%Z)))). exact Hf. }
    rewrite geometric_step by exact Bt. rewrite summed_app, <- (IH _ _ _ E1 r f Hf).
    rewrite (summed_each (at_noise r) (Q2R w * (1 - b))).
    2:{ intro p. rewrite value_times, Q2R_red, Q2R_mult, Q2R_minus, Q2R_1, Hb. simpl. ring. }
    rewrite <- (H (Known tau) l0 E0 r f Hf), concrete_set, Q2R_red, Q2R_mult, <- Hb, Z.add_0_r.
    replace (fun k : nat => run a b t (set (concrete r s) x (Some (tau + 1 + Z.of_nat k)%Z)) f)
      with (fun n : nat => run a b t (set (concrete r s) x (Some (tau + Z.of_nat (S n))%Z)) f).
    + ring.
    + apply functional_extensionality. intro k. do 3 f_equal. f_equal. lia.
Qed.

Theorem evaluate_right {V} (t : tree V) : forall s, right t s.
Proof.
  induction t as [v|x tau t IH|x t IH|x t IH|x k IH]; intros s l E r f Hf; cbn [evaluate] in E; cbn [run].
  - injection E as <-. cbn [ret Laws.E summed value product]. rewrite Q2R_1. ring.
  - cbn [bind Laws.E]. unfold ensured. destruct (s x) as [g|] eqn:Ex.
    + replace (concrete r s x) with (Some (match g with Known g => g | Open o => (o + Z.of_nat (r x))%Z end))
        by (unfold concrete; rewrite Ex; destruct g; reflexivity).
      cbn [ret Laws.E]. now apply IH.
    + replace (concrete r s x) with (@None Z) by (unfold concrete; now rewrite Ex). cbn [bind ret Laws.E].
      rewrite <- (thresholds_right t s x _ (fun g => IH (set s x (Some g))) tau 1%Q l E r f Hf), Q2R_1. ring.
  - replace (dec x (concrete r s)) with (concrete r (set s x (option_map (moved (-1)) (s x)))); [now apply IH|].
    rewrite concrete_set. unfold shift. f_equal. unfold concrete. destruct (s x) as [[g|o]|]; cbn [option_map moved]; try reflexivity.
    f_equal. lia.
  - replace (set (concrete r s) x None) with (concrete r (set s x None)); [now apply IH|]. now rewrite concrete_set.
  - destruct (s x) as [[g|o]|] eqn:Ex.
    + destruct (evaluate aQ bQ rounds (k true) (set s x None)) as [l1|] eqn:E1; [|discriminate].
      destruct (evaluate aQ bQ rounds (k false) s) as [l0|] eqn:E0; [|discriminate].
      cbn [each option_map both] in E. injection E as <-. cbn [mix Laws.E].
      assert (Hh : hit a x (concrete r s) = Q2R (powQ aQ (Z.to_nat g))).
      { unfold hit, concrete. rewrite Ex. unfold G. symmetry. now apply powQ_correct. }
      rewrite Hh, summed_app, (summed_each (at_noise r) (Q2R (powQ aQ (Z.to_nat g)))), (summed_each (at_noise r) (1 - Q2R (powQ aQ (Z.to_nat g)))).
      * rewrite <- (IH true _ l1 E1 r f Hf), <- (IH false _ l0 E0 r f Hf), concrete_set. reflexivity.
      * intro p. rewrite value_times_rest. simpl. ring.
      * intro p. rewrite value_times. simpl. ring.
    + destruct (Z.ltb_spec o 0) as [N|N]; [discriminate|].
      destruct (evaluate aQ bQ rounds (k true) (set s x None)) as [l1|] eqn:E1; [|discriminate].
      destruct (evaluate aQ bQ rounds (k false) s) as [l0|] eqn:E0; [|discriminate].
      cbn [each option_map both] in E. injection E as <-. cbn [mix Laws.E].
      assert (Hh : hit a x (concrete r s) = Q2R (powQ aQ (Z.to_nat o)) * at_noise r x).
      { unfold hit, concrete. rewrite Ex. unfold G, at_noise. rewrite (powQ_correct aQ a _ Ha), <- pow_add. f_equal. lia. }
      rewrite Hh, summed_app, (summed_each (at_noise r) (Q2R (powQ aQ (Z.to_nat o)) * at_noise r x)),
        (summed_each (at_noise r) (1 - Q2R (powQ aQ (Z.to_nat o)) * at_noise r x)).
      * rewrite <- (IH true _ l1 E1 r f Hf), <- (IH false _ l0 E0 r f Hf), concrete_set. reflexivity.
      * intro p. rewrite value_times_rest. simpl. ring.
      * intro p. rewrite value_times. simpl. ring.
    + cbn [mix Laws.E]. assert (Hh : hit a x (concrete r s) = 0) by (unfold hit, concrete; now rewrite Ex).
      rewrite Hh, <- (IH false _ l E r f Hf). ring.
Qed.

(** The table of a tree is its law, once nothing was left open. *)
Lemma constant_value env p : forallb (fun m : Q * list key => match snd m with [] => true | _ => false end) p = true ->
  value env p = Q2R (constant p).
Proof.
  induction p as [|[q vars] p IH]; cbn [forallb value constant fold_right fst snd]; intro H; [symmetry; apply Q2R_0|].
  apply andb_true_iff in H. destruct H as [H1 H2]. destruct vars; [|discriminate]. rewrite Q2R_red, Q2R_plus.
  fold (constant p). rewrite IH by exact H2. simpl. ring.
Qed.
Theorem law_of_correct {V} (t : tree V) : worked aQ bQ rounds t = true -> lists (law_of aQ bQ rounds t) (run a b t (fun _ => None)).
Proof.
  unfold worked, law_of. destruct (evaluate aQ bQ rounds t (fun _ => None)) as [l|] eqn:E; [|discriminate].
  intros W f Hf.
  transitivity (summed (at_noise (fun _ => 0%nat)) l f); [exact (evaluate_right t (fun _ => None) l E (fun _ => 0%nat) f Hf)|].
  clear E. induction l as [|[v p] l IH]; cbn [summed map expect forallb fst snd] in *; [reflexivity|].
  apply andb_true_iff in W. destruct W as [W1 W2]. rewrite IH, (constant_value _ p W1) by exact W2. reflexivity.
Qed.
End Correct.
(* main: evaluate_right, law_of_correct *)
