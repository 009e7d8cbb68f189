(** The universe of PrivateKeys has no end: in a game of so many rounds an adversary can name finitely many keys,
    whatever is published, and a list that has these may have any others. *)
From Coq Require Import ZArith Reals Lra Lia List Bool FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Machine CountAboveThreshold PrivateKeys.
Import ListNotations.
Open Scope R_scope.

(** All sets of keys of a list. *)
Fixpoint subsets (before : list key) : list keys :=
  match before with [] => [fun _ => false] | x :: before => flat_map (fun due => [due; set due x true]) (subsets before) end.
Lemma in_subsets before : forall due : keys, (forall x, due x = true -> In x before) -> In due (subsets before).
Proof.
  induction before as [|x before IH]; intros due H; cbn [subsets].
  - left. apply functional_extensionality. intro x. destruct (due x) eqn:D; [destruct (H x D)|reflexivity].
  - apply in_flat_map. exists (set due x false). split.
    + apply IH. intros z Hz. unfold set in Hz. destruct (Nat.eqb_spec z x); [discriminate|]. destruct (H z Hz); [congruence|assumption].
    + destruct (due x) eqn:D; [right|]; left; apply functional_extensionality; intro z; unfold set; destruct (Nat.eqb_spec z x); congruence.
Qed.

Section Named.
Variable adv : adversary (key * bool) keys.
Definition named_now (published : view) : list key :=
  fst (example adv published) :: match challenge adv published with Some (z0, z1) => [fst z0; fst z1] | None => [] end.
(** What may be named within so many rounds, if [before] has been named already: nothing else can be published. *)
Fixpoint named (rounds : nat) (published : view) (A : keys) (before : list key) : list key :=
  match rounds with
  | O => before
  | S rounds =>
      let before := named_now published ++ before in
      before ++ flat_map (fun due : keys => let A' := fun x => xorb (A x) (due x) in named rounds (A' :: published) A' before) (subsets before)
  end.
Lemma named_before rounds published A before x : In x before -> In x (named rounds published A before).
Proof. intro H. destruct rounds; [exact H|]. cbn [named]. rewrite !in_app_iff. auto. Qed.
Lemma named_later rounds published A before (due : keys) x : let known := named_now published ++ before in let A' := fun x => xorb (A x) (due x) in
  (forall x, due x = true -> In x known) -> In x (named rounds (A' :: published) A' known) -> In x (named (S rounds) published A before).
Proof. intros now A' D H. cbn [named]. apply in_or_app. right. apply in_flat_map. exists due. split; [now apply in_subsets|exact H]. Qed.
Lemma received_named world used published : In (fst (fst (received adv world used published))) (named_now published).
Proof.
  unfold received, named_now. destruct used; [now left|]. destruct (challenge adv published) as [[z0 z1]|]; [|now left].
  destruct world; simpl; auto.
Qed.
End Named.

Section Universe.
Variables (a b : rate) (reports complaints : Z) (adv : adversary (key * bool) keys) (y : key) (f : view -> R).
Notation run := (run a b).
(** Counters of named keys only. *)
Definition holds (s : state) (before : list key) := forall x, s x <> None -> In x before.

Lemma ensured_same x tau s before (t t' : tree view) : In x before -> holds s before ->
  (forall s, holds s before -> run t s f = run t' s f) -> run (Ensure x tau t) s f = run (Ensure x tau t') s f.
Proof.
  intros Hx Hs K. cbn [Machine.run bind E]. unfold ensured. destruct (s x); cbn [bind ret E]; [now apply K|].
  f_equal. apply functional_extensionality. intro r. apply K. intros z Hz. unfold set in Hz. destruct (Nat.eqb_spec z x); [congruence|now apply Hs].
Qed.
Lemma counted_same A z s before (t t' : tree view) : In (fst z) before -> holds s before -> (forall s, holds s before -> run t s f = run t' s f) ->
  run (count (counts_for reports complaints A z) t) s f = run (count (counts_for reports complaints A z) t') s f.
Proof.
  intros D Hs K. destruct z as [x label]. unfold counts_for. destruct (Bool.eqb (A x) label); cbn [count]; [now apply K|].
  apply (ensured_same x _ s before); try assumption. intros s' Hs'. cbn [Machine.run]. apply K. intros z Hz. apply Hs'. intro N. apply Hz.
  destruct (Nat.eq_dec z x) as [->|D']; [now rewrite shift_at, N|now rewrite shift_other].
Qed.
Lemma toss_all_same xs before : forall due k k' s, (forall x, due x = true -> In x before) -> holds s before ->
  (forall due s, (forall x, due x = true -> In x before) -> holds s before -> run (k due) s f = run (k' due) s f) ->
  run (toss_all xs due k) s f = run (toss_all xs due k') s f.
Proof.
  induction xs as [|x xs IH]; intros due k k' s Hd Hs K; cbn [toss_all]; [now apply K|]. cbn [Machine.run mix E].
  assert (No : forall fires, fires = false \/ In x before -> forall z, set due x fires z = true -> In z before).
  { intros fires F z Hz. unfold set in Hz. destruct (Nat.eqb_spec z x) as [E|]; [|now apply Hd]. destruct F; [congruence|now rewrite E]. }
  rewrite (IH (set due x false) k k' s) by (try apply No; auto).
  destruct (s x) as [g|] eqn:Sx.
  - assert (In x before) by (apply Hs; congruence). f_equal. f_equal. apply IH; [apply No; auto| |exact K].
    intros z Hz. unfold set in Hz. destruct (Nat.eqb_spec z x); [congruence|now apply Hs].
  - unfold hit. rewrite Sx. ring.
Qed.
Lemma ensure_all_same xs (fresh : keys) before t t' : (forall x, fresh x = true -> In x before) -> (forall s, holds s before -> run t s f = run t' s f) ->
  forall s, holds s before -> run (ensure_all complaints xs fresh t) s f = run (ensure_all complaints xs fresh t') s f.
Proof.
  intros Hn K. induction xs as [|x xs IH]; intros s Hs; cbn [ensure_all]; [now apply K|].
  destruct (fresh x) eqn:Nx; [|now apply IH]. apply (ensured_same x _ s before); [now apply Hn|exact Hs|exact IH].
Qed.

Lemma learn_same universe world rounds : forall used published A before s, ~ In y (named adv rounds published A before) -> A y = false -> holds s before ->
  run (learn reports complaints (y :: universe) adv world rounds used published A) s f
  = run (learn reports complaints universe adv world rounds used published A) s f.
Proof.
  induction rounds as [|rounds IH]; intros used published A before s N HA Hs; [reflexivity|]. cbn [learn].
  pose proof (received_named adv world used published) as Z. destruct (received adv world used published) as [z used'].
  set (known := named_now adv published ++ before). assert (Up : forall x, In x before -> In x known) by (intros; apply in_or_app; auto).
  assert (Ny : ~ In y known) by (intro H; apply N; cbn [named]; apply in_or_app; auto).
  apply (counted_same A z s known); [apply in_or_app; now left|intros x Hx; now apply Up, Hs|]. clear s Hs. intros s Hs.
  assert (Sy : s y = None) by (destruct (s y) eqn:E; [destruct Ny; apply Hs; congruence|reflexivity]).
  cbn [toss_all Machine.run mix E]. unfold hit. rewrite Sy, Rmult_0_l, Rplus_0_l, Rminus_0_r, Rmult_1_l.
  replace (set (fun _ : key => false) y false) with (fun _ : key => false)
    by (apply functional_extensionality; intro x; unfold set; now destruct (Nat.eqb x y)).
  apply (toss_all_same universe known); [discriminate|exact Hs|]. intros due s' Hd Hs'.
  assert (Dy : due y = false) by (destruct (due y) eqn:E; [destruct (Ny (Hd y E))|reflexivity]).
  cbn [ensure_all]. rewrite Dy, andb_false_r. apply (ensure_all_same universe _ known); [|  |exact Hs'].
  - intros x Hx. apply andb_true_iff in Hx. now apply Hd.
  - intros s'' Hs''. apply (IH _ _ _ known); [|now rewrite HA, Dy|exact Hs'']. intro H. apply N. now apply (named_later adv rounds published A before due).
Qed.
End Universe.

Section Promise.
Variables (alpha beta : R) (Ha : 0 < alpha) (Hb : 0 < beta) (reports complaints : Z) (rounds : nat) (adv : adversary (key * bool) keys).
Notation private_keys universe := (private_keys alpha beta Ha Hb reports complaints universe rounds adv).

(** Keys that cannot come up may be added to the list, or left out of it. *)
Theorem unnamed_keys_change_nothing more universe : (forall y, In y more -> ~ In y (named adv rounds [] (fun _ => false) [])) ->
  forall world f, private_keys (more ++ universe) world f = private_keys universe world f.
Proof.
  intros U world f. unfold PrivateKeys.private_keys. induction more as [|y more IH]; [reflexivity|]. cbn [app].
  rewrite (learn_same _ _ reports complaints adv y f (more ++ universe) world rounds false [] _ []).
  - apply IH. intros z Hz. apply U. now right.
  - apply U. now left.
  - reflexivity.
  - intros x H. now destruct H.
Qed.
(** Whoever the adversary is, some finite list says all: to it any keys may be added. *)
Corollary finitely_many_keys_matter : exists universe, NoDup universe /\
  forall more, NoDup (more ++ universe) -> forall world f, private_keys (more ++ universe) world f = private_keys universe world f.
Proof.
  exists (nodup Nat.eq_dec (named adv rounds [] (fun _ => false) [])). split; [apply NoDup_nodup|]. intros more ND world f.
  apply unnamed_keys_change_nothing. intros y Hy Hn. apply (nodup_In Nat.eq_dec) in Hn. revert Hy Hn ND. generalize (nodup Nat.eq_dec (named adv rounds [] (fun _ => false) [])).
  intros l Hy Hn ND. apply in_split in Hy. destruct Hy as (l1 & l2 & ->). rewrite <- app_assoc in ND. simpl in ND. apply NoDup_remove_2 in ND. apply ND. rewrite !in_app_iff. auto.
Qed.
End Promise.
(* main: unnamed_keys_change_nothing, finitely_many_keys_matter *)
