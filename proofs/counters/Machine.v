(** Many noisy counters side by side, of which an example moves one (mirrors learners/counters.py).

    The secret state gives every key that has a counter its gap. What is public (the adversary, and the
    learner's own bookkeeping, which is a function of what was published) is a *tree*: it says what is
    done next, and branches on what is published, the answers of [Toss].  *)
From Coq Require Import ZArith Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws.
Open Scope R_scope.

Definition key := nat.
Definition state := key -> option Z.
Definition set {A} (s : key -> A) (x : key) (o : A) : key -> A := fun y => if Nat.eqb y x then o else s y.
Definition shift (d : Z) (x : key) (s : state) : state := set s x (option_map (Z.add d) (s x)).
Notation dec := (shift (-1)).
Notation raise := (shift 1).

Ltac by_key := apply functional_extensionality; intro; unfold shift, set;
  repeat (match goal with |- context [Nat.eqb ?u ?v] => destruct (Nat.eqb_spec u v); subst end; try congruence).

Lemma set_same {A} (s : key -> A) x o : set s x o x = o.
Proof. unfold set. now rewrite Nat.eqb_refl. Qed.
Lemma set_other {A} (s : key -> A) x y o : y <> x -> set s x o y = s y.
Proof. unfold set. intro H. destruct (Nat.eqb_spec y x); congruence. Qed.
Lemma set_swap {A} (s : key -> A) x y o p : x <> y -> set (set s x o) y p = set (set s y p) x o.
Proof. intro H. by_key. Qed.
Lemma set_set {A} (s : key -> A) x o p : set (set s x o) x p = set s x p.
Proof. by_key. Qed.
Lemma shift_none d x s : s x = None -> shift d x s = s.
Proof. intro H. by_key. now rewrite H. Qed.
Lemma shift_at d x s : shift d x s x = option_map (Z.add d) (s x).
Proof. apply set_same. Qed.
Lemma shift_other d x y s : y <> x -> shift d x s y = s y.
Proof. apply set_other. Qed.
Lemma shift_set_other d x y s o : x <> y -> shift d x (set s y o) = set (shift d x s) y o.
Proof. intro H. by_key. Qed.
Lemma shift_set d x s o : shift d x (set s x o) = set s x (option_map (Z.add d) o).
Proof. by_key. Qed.
Lemma set_shift d x s o : set (shift d x s) x o = set s x o.
Proof. by_key. Qed.
Lemma shift_shift d e x s : shift d x (shift e x s) = shift (d + e) x s.
Proof. by_key. destruct (s x) as [g|]; simpl; [f_equal; lia|reflexivity]. Qed.
Lemma shift_zero x s : shift 0 x s = s.
Proof. by_key. destruct (s x); reflexivity. Qed.
Lemma dec_raise x s : dec x (raise x s) = s.
Proof. rewrite shift_shift. apply shift_zero. Qed.
Lemma raise_dec x s : raise x (dec x s) = s.
Proof. rewrite shift_shift. apply shift_zero. Qed.
Lemma shift_swap d e x y s : shift d x (shift e y s) = shift e y (shift d x s).
Proof.
  destruct (Nat.eq_dec x y) as [->|H].
  - rewrite !shift_shift. f_equal. lia.
  - by_key.
Qed.

Inductive tree (V : Type) : Type :=
  | Done (v : V)                             (* the view, or whatever is made of it *)
  | Ensure (x : key) (tau : Z) (t : tree V)  (* if x has no counter: gap = tau + threshold noise *)
  | Dec (x : key) (t : tree V)               (* the gap falls by one *)
  | Drop (x : key) (t : tree V)              (* the counter of x is gone *)
  | Toss (x : key) (k : bool -> tree V).     (* fresh query noise; publishes whether it reaches the gap; *)
                                             (* a counter that fires is gone, and no counter never fires *)
Arguments Done {V}. Arguments Ensure {V}. Arguments Dec {V}. Arguments Drop {V}. Arguments Toss {V}.

(** An example that counts for key x, whose counter has threshold tau. *)
Definition count {V} (o : option (key * Z)) (t : tree V) : tree V :=
  match o with None => t | Some (x, tau) => Ensure x tau (Dec x t) end.

Section Machine.
Variables (a b : rate).  (* of the query noise, of the threshold noise *)

Definition G (gap : Z) : R := a ^ Z.to_nat gap.
Lemma G_01 g : 0 <= G g <= 1.
Proof. unfold G. pose proof (pow_01 a (Z.to_nat g)). lra. Qed.
(** It is what it should be: query noise that reaches the gap. *)
Lemma G_is_noise g : G g = geometric a (fun nu => if Z.leb g (Z.of_nat nu) then 1 else 0).
Proof.
  unfold G. rewrite <- geometric_tail. f_equal. apply functional_extensionality. intro n.
  destruct (Nat.leb_spec (Z.to_nat g) n), (Z.leb_spec g (Z.of_nat n)); try reflexivity; lia.
Qed.
Lemma G_up g : a * G g <= G (1 + g) <= G g.
Proof.
  unfold G. pose proof (base_01 a). destruct (Z_lt_le_dec g 0) as [L|L].
  - replace (Z.to_nat (1 + g)) with 0%nat by lia. replace (Z.to_nat g) with 0%nat by lia. simpl; lra.
  - replace (Z.to_nat (1 + g)) with (S (Z.to_nat g)) by lia. simpl. pose proof (pow_01 a (Z.to_nat g)). nra.
Qed.

Definition hit (x : key) (s : state) : R := match s x with None => 0 | Some g => G g end.
Lemma hit_01 x s : 0 <= hit x s <= 1.
Proof. unfold hit. destruct (s x); [apply G_01|lra]. Qed.
Lemma miss_01 x s : 0 <= 1 - hit x s <= 1.
Proof. pose proof (hit_01 x s). lra. Qed.

Definition ensured (x : key) (tau : Z) (s : state) : law state :=
  match s x with
  | None => bind (geometric b) (fun r => ret (set s x (Some (tau + Z.of_nat r)%Z)))
  | Some _ => ret s
  end.

Fixpoint run {V} (t : tree V) (s : state) : law V :=
  match t with
  | Done v => ret v
  | Ensure x tau t => bind (ensured x tau s) (run t)
  | Dec x t => run t (dec x s)
  | Drop x t => run t (set s x None)
  | Toss x k => mix (hit x s) (hit_01 x s) (run (k true) (set s x None)) (run (k false) s)
  end.

(** Probabilities add up to one. *)
Lemma run_one {V} (t : tree V) : forall s, run t s (fun _ => 1) = 1.
Proof.
  induction t as [v|x tau t IH|x t IH|x t IH|x k IH]; intro s; cbn [run ret bind mix E]; auto.
  - unfold ensured. destruct (s x); cbn [ret bind E]; [apply IH|].
    transitivity (geometric b (fun _ => 1)); [|apply geometric_one].
    f_equal. apply functional_extensionality. intro r. apply IH.
  - rewrite !IH. ring.
Qed.
Lemma run_bounded {V} (t : tree V) f : bounded f -> bounded (fun s => run t s f).
Proof. apply (bounded_E1 (run t)). Qed.
Lemma run_test {V} (t : tree V) f s : (forall v, 0 <= f v <= 1) -> 0 <= run t s f <= 1.
Proof. apply E_test. Qed.
End Machine.
