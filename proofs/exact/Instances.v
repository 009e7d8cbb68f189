(** Whether the law of a model is the one that Python's code has: one function for each kind of instance.
    An adversary is a table from codes of views to examples; a law is a table from codes of views to fractions. *)
From Coq Require Import ZArith QArith List Bool NArith.
From Littlestone Require Import Game Machine Rational ExactCounters Twins ExponentialMechanism DisjointBatches.
From Littlestone Require CountAboveThreshold PrivateKeys PrivateWitnesses.
Import ListNotations.
Local Open Scope N_scope.

Definition code_bits (v : list bool) (before : N) : N := fold_left (fun (n : N) (b : bool) => 2 * n + if b then 1 else 0) v before.
Fixpoint looked_up {X} (none : X) (code : N) (d : list (N * X)) : X :=
  match d with [] => none | (x, e) :: d => if N.eqb x code then e else looked_up none code d end.
Definition reading {X Y} (none : X) (code : list Y -> N) (d : list (N * X)) : adversary X Y :=
  Adversary (fun v => looked_up none (code v) d) (fun _ => None).

(** ** Counters *)

Definition counters_agree {V} (a b : Q) (rounds : nat) (t : tree V) (code : V -> N) (law : dist N) : bool :=
  worked a b (Z.of_nat rounds) t && same_table (gathered code (law_of a b (Z.of_nat rounds) t)) law.

Definition code_answers (v : list bool) : N := code_bits (rev v) 1.
Definition count_above_threshold_agrees (q : Q) (tau : Z) (again : bool) (rounds : nat) (adv : list (N * bool)) (law : dist N) : bool :=
  counters_agree q q rounds (CountAboveThreshold.start tau again (reading false code_answers adv) false rounds) code_answers law.

Definition code_sets (universe : list key) (v : list (key -> bool)) : N :=
  fold_right (fun (A : key -> bool) (n : N) => code_bits (map A universe) n) 1 v.
Definition private_keys_agrees (a b : Q) (reports complaints : Z) (keys rounds : nat) (adv : list (N * (nat * bool))) (law : dist N) : bool :=
  let universe := seq 0 keys in
  let code := code_sets universe in
  counters_agree a b rounds
    (PrivateKeys.learn reports complaints universe (reading (0%nat, false) code adv) false rounds false [] (fun _ => false)) code law.

(** A witness system as tables: of each state its live keys, of each key the next state, of each example
    the key that it names, if it is a mistake. *)
Record system := System { live_keys : list (list nat); next_state : list (list (option nat)); named : list (list (option nat)) }.
Definition code_due (keys : nat) (v : list (list nat)) : N :=
  fold_right (fun (due : list nat) (n : N) => code_bits (map (fun k => existsb (Nat.eqb k) due) (seq 0 keys)) n) 1 v.
Definition private_witnesses_agrees (a b : Q) (s : system) (thresholds : list Z) (keys rounds : nat) (adv : list (N * nat)) (law : dist N) : bool :=
  counters_agree a b rounds
    (PrivateWitnesses.start 0%nat (fun p => nth p (live_keys s) []) (fun p k => nth k (nth p (next_state s) []) None)
      (fun p z => nth z (nth p (named s) []) None) (fun k => nth k thresholds 0%Z)
      (reading 0%nat (code_due keys) adv) false rounds) (code_due keys) law.

(** ** The exponential mechanism *)

Definition weights_of (table : list Z) (k : nat) : Q := inject_Z (nth (Nat.min k (length table - 1)) table 0%Z).
Definition table_agrees (ratio : Z) (bits : nat) (floor first : Z) (python : list Z) : bool :=
  forallb (fun k => Z.eqb (ExponentialMechanism.table ratio bits floor first k) (nth k python 0%Z)) (seq 0 (length python))
  && Z.eqb (ExponentialMechanism.next ratio bits floor (last python 0%Z)) (last python 0%Z).
Definition exponential_agrees (table : list Z) (scores : list Z) (multiplicities : list nat) (law : dist N) : bool :=
  same_table (gathered N.of_nat (exponentialQ (weights_of table) scores multiplicities)) law.

(** ** DisjointBatches: what is drawn is a place among the candidates, and the concept there *)

Record schedule := Schedule { kinds : list nat; dues : list bool }.  (* 0 batch, 1 window *)
Inductive candidate := One (c : nat) | Vote (cs : list nat).
Section Batches.
Variables (truth : list (list bool)) (constants : list nat) (first voters : nat) (s : schedule) (W : list Z).
Notation example := (option (nat * bool)).
Notation view := (list (option (nat * nat))).
(** The concepts drawn last and the lengths of their batches, the newest first; the rounds of the batch so far. *)
Record display := Display { drawn : list nat; lengths : list nat; filled : nat; shown : nat }.
Fixpoint displayed (v : view) : display :=
  match v with
  | [] => Display [first] [0%nat] 0 0
  | y :: v =>
      let d := displayed v in
      match nth (length v) (kinds s) 0%nat, y with
      | 0%nat, None => Display (drawn d) (lengths d) (S (filled d)) (shown d)
      | 0%nat, Some (_, c) => Display (firstn voters (c :: drawn d)) (firstn voters (S (filled d) :: lengths d)) 0 0
      | _, None => d
      | _, Some (i, _) => Display (drawn d) (lengths d) (filled d) i
      end
  end.
Definition rule (d : display) : candidate :=
  if Nat.leb (fold_right Nat.add 0%nat (tl (lengths d))) (hd 0%nat (lengths d)) then One (hd 0%nat (drawn d))
  else match find (fun c => Nat.ltb (length (drawn d)) (2 * count_occ Nat.eq_dec (drawn d) c)) (drawn d) with
       | Some c => One c
       | None => Vote (drawn d)
       end.
Definition candidates (v : view) : list candidate :=
  let d := displayed v in
  match nth (length v) (kinds s) 0%nat with
  | 0%nat => map One (seq 0 (length truth))
  | _ => rule d :: map One constants ++
      match rule d with One c => if Nat.eqb c (hd 0%nat (drawn d)) then [] else [One (hd 0%nat (drawn d))] | Vote _ => [One (hd 0%nat (drawn d))] end
  end.
Definition prior (v : view) (i : nat) : Q :=
  match nth (length v) (kinds s) 0%nat with
  | 0%nat => 1
  | _ => inject_Z ((if Nat.eqb i 0 then 120 else if Nat.leb i (length constants) then 1 else 40)
                   + (if Nat.eqb i (shown (displayed v)) then 24 else 0))
  end.
Definition label_of (c x : nat) : bool := nth x (nth c truth []) false.
Definition says_here (c : candidate) (x : nat) : bool :=
  match c with One c => label_of c x | Vote cs => Nat.ltb (length cs) (2 * length (filter (fun c => label_of c x) cs)) end.
Definition errs_here (c : candidate) (z : example) : Z := errs Bool.eqb says_here c z.
Definition drawn_here (v : view) (batch : list example) : dist (nat * nat) :=
  let among := candidates v in
  bindQ (drawQ (weights_of W) (length among) (prior v)
           (fun i => fold_right (fun z n => errs_here (nth i among (One 0)) z + n) 0 batch)%Z)
        (fun i => retQ (i, match nth i among (One 0) with One c => c | Vote _ => 0%nat end)).
Definition code_draws (v : view) : N :=
  fold_right (fun (y : option (nat * nat)) (n : N) => 16 * n + match y with None => 0 | Some (i, _) => N.of_nat (S i) end) 1 v.
Definition disjoint_batches_agrees (rounds : nat) (adv : list (N * example)) (law : dist N) : bool :=
  same_table (gathered code_draws
    (batchesQ (fun v => nth (length v) (kinds s) 0%nat) (fun v => nth (length v) (dues s) false) (reading None code_draws adv)
       drawn_here rounds [] (fun _ => []))) law.
End Batches.

(** ** PrivateHistogram, LaplaceCount *)

Definition code_counts (l : list (option Z)) : N :=
  fold_left (fun (n : N) (o : option Z) => 64 * n + match o with None => 0 | Some z => 1 + Z.to_N z end) l 1.
Definition histogram_agrees (q : Q) (a : nat) (t : Z) (counts : list nat) (law : dist N) : bool :=
  same_table (gathered code_counts (histogramQ q a t (seq 0 (length counts)) (fun k => nth k counts 0%nat))) law.
(** (1 - q) / (1 + q) * q^|k|, by discrete_laplace_at; code 2k or -2k - 1 *)
Definition laplace_agrees (q : Q) (law : list (Z * Q)) : bool :=
  forallb (fun kp => Qeq_bool (snd kp) ((1 - q) / (1 + q) * powQ q (Z.to_nat (Z.abs (fst kp))))) law.

(** The numbers of the instances that do not agree. *)
Fixpoint failing (n : nat) (l : list bool) : list nat :=
  match l with [] => [] | true :: l => failing (S n) l | false :: l => n :: failing (S n) l end.
