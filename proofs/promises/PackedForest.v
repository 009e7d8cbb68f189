(** learners/lazy_forest with packed layers, as `LazyForest.calibrated` has them from dimension 2 on. *)
From Coq Require Import ZArith Reals Lra Lia List Bool Permutation FunctionalExtensionality.
From Coquelicot Require Import Rcomplements Hierarchy Series.
From Littlestone Require Import Laws Game Choices Orders Machine Payments Ghost Neighbours CountAboveThreshold PrivateHistogram LazyForest PackedLayer.
Import ListNotations.
Open Scope R_scope.

(** ** The learner *)

(** Darts, guesses and the order of equal counts depend on no data. Which living sequences meet, and which
    slots their pairs have, is drawn on the way. *)
Record packed_coins := PackedCoins {
  dart : nat -> nat -> nat -> nat;       (* one of K slots, in a layer, with so many rounds left *)
  guess : nat -> nat -> nat -> bool;     (* with so many rounds left, in a layer, for the pair on a slot *)
  order : nat -> nat -> nat -> nat }.

Section Packed.
Context {state hypothesis X : Type}.
Variable hypothesis_dec : forall h h' : hypothesis, {h = h'} + {h <> h'}.
Variable says : state -> hypothesis.
Variable begin : state.
Variable after : state -> X -> option state.
Variable tournament : state -> state -> bool -> option state.
Variable errs : hypothesis -> X -> bool.
Variable depth : nat.
Variable first : nat.                                        (* pairs of layer 0: N_0 / 2 *)
Variable switch_rate : nat -> rate.
Variable switch_threshold : nat -> hypothesis -> nat -> Z.   (* (L4, L19), of a layer, a hypothesis and its slots *)
Variable release : nat -> list hypothesis -> law (list (option Z)).
Variable universe : list hypothesis.
Variable bound : nat -> nat.                                 (* of the noise of each list *)
Variable listing : packed_coins -> nat -> nat -> list (option Z) -> list hypothesis.
Variable restarts : bool.
Variable c : packed_coins.
Variable adv : adversary X event.

Notation layer := (nat -> @pair state).
Notation view := (list event).
Notation leaf := (@leaf state).
Notation votes := (votes hypothesis_dec says).
Notation living := (living hypothesis_dec says tournament).
Notation stretches := (stretches hypothesis_dec says).
Notation insert := (insert hypothesis_dec says after errs).
Notation near := (near hypothesis_dec says).
Notation fits := (fits hypothesis_dec says).

Definition still : arrangement := Arrangement (fun j => j) (fun j => j) (fun _ => eq_refl) (fun _ => false).
(** A dart at the K slots that begin at [base]. *)
Definition aimed (base K : nat) : coins := Coins (fun s rounds => (base + dart c K s rounds)%nat) (fun _ _ => still) (order c).
Notation watch base K := (watch hypothesis_dec says after errs depth (fun s h => switch_threshold s h K) (aimed base K) adv).
(** What is listed, with K_h = noisy count + noise bound. *)
Definition listed (rounds s : nat) (counts : list (option Z)) : list (hypothesis * nat) :=
  flat_map (fun h => match noisy hypothesis_dec universe counts h with
                     | Some z => [(h, Z.to_nat (z + Z.of_nat (bound s)))]
                     | None => []
                     end) (listing c rounds s counts).

(** [base]: where the slots of the next hypothesis begin; [room]: all slots of the layer. *)
Fixpoint play (fuel : nat) (world : bool) (rounds : nat) (used : bool) (published : view) (s base : nat) (L : list (hypothesis * nat)) (room : nat) (F : layer) : law view :=
  match fuel with
  | O => ret published
  | S fuel =>
      match L with
      | (h, K) :: L =>                                                                 (* (L6) *)
          bind (run (switch_rate s) (switch_rate s)
                  (Ensure 0%nat (switch_threshold s h K) (watch base K world rounds used published s h F)) no_counters)
            (fun l => match l with
                      | Over v => ret v
                      | Yes world rounds used v F => play fuel world rounds used v s (base + K) L room F
                      end)
      | [] =>
          if Nat.ltb s depth then                                                      (* (L13) *)
            let up := living (guess c rounds s) room F in                              (* (L14) *)
            if Nat.eqb (S s) depth then                                                (* (L15, L16, L17) *)
              bind (release (S s) (map says up)) (fun counts =>
                play fuel world rounds used (Listed counts :: published) (S s) 0 (listed rounds (S s) counts) 0 (fun _ => hole))
            else
              bind (uniform (orders up)) (fun w =>
                bind (release (S s) (votes (matched w))) (fun counts =>
                  let L := listed rounds (S s) counts in                               (* (L18) *)
                  bind (uniform (placements (stretches L room (matched w)))) (fun v =>
                    play fuel world rounds used (Listed counts :: published) (S s) 0 L (slots L room) (on_slots v))))
          else if restarts then play fuel world rounds used published 0 0 [(says begin, first)] first (empty begin)
          else ret published
      end
  end.

(** ** The costs *)

Variables (eps del : nat -> R).
Hypothesis eps_pos : forall s, 0 <= eps s.
Hypothesis del_pos : forall s, 0 <= del s.
Hypothesis release_private : forall s V V',
  neighbouring (if Nat.eqb s depth then Replace else AddRemove) V V' -> within (eps s) (del s) (release s V) (release s V').
Hypothesis release_permuted : forall s V V', Permutation V V' -> release s V = release s V'.
Hypothesis release_supported : forall s V, supported (release s V) (none_below (bound s) universe (occurs hypothesis_dec V)).
Notation later := (later depth).

Lemma play_used world world' fuel : forall rounds published s base L room F,
  play fuel world rounds true published s base L room F = play fuel world' rounds true published s base L room F.
Proof.
  induction fuel as [|fuel IH]; intros rounds published s base L room F; [reflexivity|]. cbn [play]. destruct L as [|[h K] L].
  - destruct (Nat.ltb s depth).
    + destruct (Nat.eqb (S s) depth); [f_equal; apply functional_extensionality; intro counts; apply IH|].
      f_equal. apply functional_extensionality. intro w. f_equal. apply functional_extensionality. intro counts.
      f_equal. apply functional_extensionality. intro v. apply IH.
    + destruct restarts; [apply IH|reflexivity].
  - now rewrite (watch_used _ _ _ _ _ _ _ _ world world').
Qed.

Definition rest (fuel s base : nat) (L : list (hypothesis * nat)) (room : nat) (f : view -> R) (l : leaf) : R :=
  match l with Over v => f v | Yes world rounds used v F => play fuel world rounds used v s base L room F f end.
Lemma rest_01 fuel s base L room f l : (forall v, 0 <= f v <= 1) -> 0 <= rest fuel s base L room f l <= 1.
Proof. intro Hf. destruct l; [apply Hf|now apply E_test]. Qed.
Lemma play_instance fuel world rounds used published s base h K L room F f :
  play (S fuel) world rounds used published s base ((h, K) :: L) room F f
  = run (switch_rate s) (switch_rate s) (Ensure 0%nat (switch_threshold s h K) (watch base K world rounds used published s h F)) no_counters
      (rest fuel s (base + K) L room f).
Proof.
  cbn [play]. cbn [bind E]. f_equal. apply functional_extensionality. intros [v|w r u v F']; reflexivity.
Qed.

(** (L16), (c): the list of votes changes by one element, added or removed. *)
Lemma votes_permuted P Q : Permutation P Q -> Permutation (votes P) (votes Q).
Proof. intro H. unfold votes. now apply Permutation_flat_map. Qed.
Lemma near_votes s P P' : near P P' -> Nat.eqb s depth = false -> within (eps s) (del s) (release s (votes P)) (release s (votes P')).
Proof.
  intros (C & o & o' & g & H & H' & Lo & Lo' & A) Eq.
  assert (Free : within (eps s) (del s) (release s (votes C)) (release s (votes C)))
    by (apply (within_weaker 0 0); [apply eps_pos|apply del_pos|apply within_refl]).
  rewrite (release_permuted s _ _ (votes_permuted _ _ H)), (release_permuted s _ _ (votes_permuted _ _ H')).
  unfold votes. rewrite !flat_map_app.
  assert (One : forall q : list (@pair state), (length q <= 1)%nat -> (forall p, In p q -> In p (o ++ o')) ->
    flat_map (fun p => listed_of (agree hypothesis_dec says p)) q = [] \/ flat_map (fun p => listed_of (agree hypothesis_dec says p)) q = [g]).
  { intros [|p [|? ?]] L I; simpl in L; try lia; [now left|]. simpl. rewrite app_nil_r.
    destruct (A p) as [E|E]; [apply I; now left|left; now rewrite E|right; now rewrite E]. }
  specialize (release_private s). rewrite Eq in release_private.
  destruct (One o Lo) as [E|E], (One o' Lo') as [E'|E']; try (intros p I; apply in_app_iff; tauto); rewrite E, E', ?app_nil_r;
    try (apply (within_weaker 0 0); [apply eps_pos|apply del_pos|apply within_refl]); apply release_private;
    eexists _, [], g; rewrite app_nil_r; [left|right]; split; reflexivity.
Qed.
Lemma occurs_votes P h : occurs hypothesis_dec (votes P) h = length (filter (agrees_on hypothesis_dec says h) P).
Proof.
  unfold occurs, votes, agrees_on. induction P as [|p P IH]; [reflexivity|]. simpl. rewrite count_occ_app, IH.
  destruct (agree hypothesis_dec says p) as [g|]; simpl; [|reflexivity]. destruct (hypothesis_dec g h); reflexivity.
Qed.
Lemma listed_fits rounds s counts P : none_below (bound s) universe (occurs hypothesis_dec (votes P)) counts = true -> fits (listed rounds s counts) P.
Proof.
  intros N h K I. unfold listed in I. apply in_flat_map in I. destruct I as (g & _ & I).
  destruct (noisy hypothesis_dec universe counts g) as [z|] eqn:E; [|destruct I]. destruct I as [I|[]]. injection I as <- <-.
  rewrite <- occurs_votes. exact (noisy_not_below hypothesis_dec _ _ _ _ z counts N E).
Qed.
Lemma fits_permuted L P Q : Permutation P Q -> fits L P -> fits L Q.
Proof. intros H F h K I. rewrite <- (Permutation_length (filter_permuted (agrees_on hypothesis_dec says h) P Q H)). now apply F. Qed.
Lemma stretches_permuted L room : forall P Q, Permutation P Q -> Forall2 (@Permutation (@pair state)) (stretches L room P) (stretches L room Q).
Proof.
  induction L as [|[h K] L IH]; intros P Q H; cbn [PackedLayer.stretches]; constructor; try constructor.
  - now apply pad_permuted.
  - now apply pad_permuted, filter_permuted.
  - now apply IH, filter_permuted.
Qed.
Lemma each_permuted_trans (Ps Qs Rs : list (list (@pair state))) : Forall2 (@Permutation _) Ps Qs -> Forall2 (@Permutation _) Qs Rs -> Forall2 (@Permutation _) Ps Rs.
Proof. intro H. revert Rs. induction H; intros Rs G; inversion G; subst; constructor; [etransitivity; eassumption|auto]. Qed.
Lemma placements_length L room : forall P v, fits L P -> (length P <= room)%nat -> In v (placements (stretches L room P)) -> length v = slots L room.
Proof.
  assert (Pad : forall K (P : list (@pair state)) w, (length P <= K)%nat -> In w (orders (pad K P)) -> length w = K).
  { intros K P w LP I. rewrite (orders_length _ _ I). unfold pad. rewrite app_length, repeat_length. lia. }
  induction L as [|[h K] L IH]; intros P v FP LP I; cbn [PackedLayer.stretches placements slots] in *;
    apply in_flat_map in I; destruct I as (w & Hw & I); apply in_map_iff in I; destruct I as (u & <- & Hu); rewrite app_length.
  - destruct Hu as [<-|[]]. simpl. rewrite Nat.add_0_r. now apply (Pad room P).
  - rewrite (Pad K _ w) by (try exact Hw; apply FP; now left). f_equal. refine (IH _ u _ _ Hu).
    + intros g M IM. eapply Nat.le_trans; [apply filter_filter_length|]. apply FP. now right.
    + eapply Nat.le_trans; [apply filter_shorter|exact LP].
Qed.
(** Placing two layers that differ in one pair. *)
Lemma near_placed L room P P' : near P P' -> fits L P -> fits L P' -> (length P <= room)%nat -> (length P' <= room)%nat ->
  side_by_side (fun v v' => close (slots L room) (on_slots v) (on_slots v')) (placements (stretches L room P)) (placements (stretches L room P')).
Proof.
  intros (C & o & o' & g & H & H' & Lo & Lo' & _) F F' R R'.
  assert (FC := fits_permuted L _ _ H F). assert (FC' := fits_permuted L _ _ H' F').
  rewrite (Permutation_length H) in R. rewrite (Permutation_length H') in R'.
  destruct (stretches_along hypothesis_dec says L room C o o' Lo Lo' FC FC' R R') as (Zs & Zs' & Z & Z' & A).
  assert (PZ := placements_invariant _ _ Z). assert (PZ' := placements_invariant _ _ Z').
  apply (one_to_one _ _ _ (placements Zs) (placements Zs')).
  - rewrite <- PZ. apply placements_invariant. now apply stretches_permuted.
  - rewrite <- PZ'. apply placements_invariant. now apply stretches_permuted.
  - assert (Ln : forall v, In v (placements Zs) -> length v = slots L room).
    { intros v I. apply (placements_length L room (C ++ o)); try assumption. exact (Permutation_in v (Permutation_sym PZ) I). }
    assert (Ln' : forall v, In v (placements Zs') -> length v = slots L room).
    { intros v I. apply (placements_length L room (C ++ o')); try assumption. exact (Permutation_in v (Permutation_sym PZ') I). }
    assert (Back : forall v : list (@pair state), map (on_slots v) (seq 0 (length v)) = v).
    { intro v. unfold on_slots. apply nth_ext with (d := hole) (d' := hole); [now rewrite map_length, seq_length|]. intros i Hi.
      rewrite map_length, seq_length in Hi. rewrite (nth_indep _ hole (nth 0 v hole)) by now rewrite map_length, seq_length.
      rewrite (map_nth (fun j => nth j v hole)), seq_nth by exact Hi. reflexivity. }
    clear PZ PZ' Z Z'. induction A as [|v v' Q Q' V A IH]; constructor.
    + unfold close, close_on. rewrite <- (Ln v) at 1 by now left. rewrite <- (Ln' v') by now left. rewrite !Back.
      now apply (along_more _ _ _ _ V).
    + apply IH; intros u I; [apply Ln|apply Ln']; now right.
Qed.
Lemma one_apart_says Q Q' : one_apart Q Q' -> exists V V', Permutation (map says Q) V /\ Permutation (map says Q') V' /\ neighbouring Replace V V'.
Proof.
  intros (R & o & o' & H & H' & Lo & Lo'). exists (map says R ++ map says o), (map says R ++ map says o').
  rewrite <- !map_app. split; [now apply Permutation_map|]. split; [now apply Permutation_map|]. rewrite !map_app.
  exists (map says R), [], (map says o), (map says o'). rewrite !map_length, !app_nil_r. auto.
Qed.

(** After the challenge: the histograms of later layers pay. *)
Lemma play_differ fuel : forall world rounds published s base L room F F', close room F F' ->
  within (later eps s) (later del s) (play fuel world rounds true published s base L room F) (play fuel world rounds true published s base L room F').
Proof.
  assert (Pe : forall s, 0 <= later eps s) by (intro; now apply total_pos).
  assert (Pd : forall s, 0 <= later del s) by (intro; now apply total_pos).
  assert (Free : forall s (l : law view), within (later eps s) (later del s) l l)
    by (intros s l; apply (within_weaker 0 0); [apply Pe|apply Pd|apply within_refl]).
  induction fuel as [|fuel IH]; intros world rounds published s base L room F F' D; [apply Free|].
  destruct L as [|[h K] L].
  - cbn [play]. destruct (Nat.ltb_spec s depth) as [Ls|Ls]; [|destruct restarts; apply Free].
    assert (Up := living_sensitivity hypothesis_dec says tournament (guess c rounds s) room F F' D).
    pose proof (living_length hypothesis_dec says tournament (guess c rounds s) room F) as Lu.
    pose proof (living_length hypothesis_dec says tournament (guess c rounds s) room F') as Lu'.
    destruct (Nat.eqb (S s) depth) eqn:Eq.
    + rewrite (later_next depth eps s Ls), (later_next depth del s Ls).
      apply compose; [apply Pd| |intro counts; apply Free].
      destruct (one_apart_says _ _ Up) as (V & V' & PV & PV' & N).
      rewrite (release_permuted _ _ _ PV), (release_permuted _ _ _ PV'). apply release_private. now rewrite Eq.
    + apply (coupled_within (fun w v => near (matched w) (matched v) /\ (length (matched w) <= room)%nat /\ (length (matched v) <= room)%nat)); [apply Pd| |].
      * assert (M := matching_sensitivity hypothesis_dec says begin after tournament errs _ _ Up).
        destruct M as (m & n & ws & vs & Hm & Hn & Pw & Pv & A). exists m, n, ws, vs. repeat split; try assumption.
        assert (Lw : forall w, In w ws -> (length (matched w) <= room)%nat).
        { intros w I. apply (Permutation_in w (Permutation_sym Pw)) in I. apply in_flat_map in I. destruct I as (x & Hx & I).
          apply repeat_spec in I. subst x. apply orders_length in Hx. pose proof (matched_length w). lia. }
        assert (Lv : forall w, In w vs -> (length (matched w) <= room)%nat).
        { intros w I. apply (Permutation_in w (Permutation_sym Pv)) in I. apply in_flat_map in I. destruct I as (x & Hx & I).
          apply repeat_spec in I. subst x. apply orders_length in Hx. pose proof (matched_length w). lia. }
        clear Pw Pv. induction A as [|w v ws vs N A IA]; constructor.
        -- split; [exact N|]. split; [apply Lw|apply Lv]; now left.
        -- apply IA; intros u I; [apply Lw|apply Lv]; now right.
      * intros w v (N & Lw & Lv). rewrite (later_next depth eps s Ls), (later_next depth del s Ls).
        apply (compose_supported _ _ _ _ _ _ _ _ (none_below (bound (S s)) universe (occurs hypothesis_dec (votes (matched w))))
          (none_below (bound (S s)) universe (occurs hypothesis_dec (votes (matched v))))).
        -- apply Pd.
        -- now apply near_votes.
        -- apply release_supported.
        -- apply release_supported.
        -- intros counts T T'. cbv zeta.
           apply (coupled_within (fun u u' => close (slots (listed rounds (S s) counts) room) (on_slots u) (on_slots u'))); [apply Pd| |].
           ++ apply near_placed; try assumption; now apply listed_fits.
           ++ intros u u' Cl. now apply IH.
  - intros f Hf. rewrite !play_instance. apply reexp.
    apply (alike_close (switch_rate s) (switch_rate s) (exp (- later eps s)) (later_leaf (close room)) (exp_neg_01 _ (Pe s)) (rest fuel s (base + K) L room f) (later del s));
      [intro; now apply rest_01|apply Pd| |apply AlikeEnsure; apply watch_differ; [apply close_insert|exact D]].
    intros l l' [->|(r & v & G & G' & -> & -> & DG)].
    + pose proof (rest_01 fuel s (base + K) L room f l' Hf). pose proof (exp_neg_01 _ (Pe s)). specialize (Pd s).
      assert (0 <= exp (- later eps s) * later del s) by nra. nra.
    + cbn [rest]. apply unexp. now apply IH.
Qed.

(** Before it. *)
Variables (switch_eps : nat -> R) (epsilon delta : R).
Hypothesis switch_pos : forall s, 0 < switch_eps s.
Hypothesis switch_base : forall s, base (switch_rate s) = exp (- switch_eps s).
Hypothesis affordable_epsilon : forall s, (s <= depth)%nat -> switch_eps s + later eps s <= epsilon.
Hypothesis affordable_delta : later del 0 <= delta.
Hypothesis Heps : 0 <= epsilon.
Hypothesis Hdelta : 0 <= delta.

Lemma watch_close world rounds s h K at_base published room F : (s <= depth)%nat ->
  neighbours (switch_rate s) (switch_rate s) (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf rounds)
    (later_leaf (close room)) (later_leaf (close room)) (switch_threshold s h K) 0 counter
    (watch at_base K world rounds false published s h F) (watch at_base K (negb world) rounds false published s h F).
Proof.
  intro Hs. apply (watch_neighbours hypothesis_dec says after errs depth switch_rate (fun s h => switch_threshold s h K) (aimed at_base K) adv
    eps eps_pos switch_eps epsilon switch_pos switch_base affordable_epsilon (close room)); try assumption; try apply le_n.
  - intros. now apply close_insert.
  - intros. now apply close_challenge.
  - intros. apply close_same.
Qed.
Lemma instance_private fuel most s at_base h K L room f : (s <= depth)%nat -> (forall v, 0 <= f v <= 1) ->
  (forall world rounds published F, within epsilon delta
    (play fuel world rounds false published s at_base L room F) (play fuel (negb world) rounds false published s at_base L room F)) ->
  let q := switch_rate s in forall there t0 t1,
  neighbours q q (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf most) (later_leaf (close room)) (later_leaf (close room))
    (switch_threshold s h K) 0 there t0 t1 ->
  forall mu, payable q mu -> present there mu ->
  mu (fun st => run q q t0 st (rest fuel s at_base L room f))
  <= exp epsilon * mu (fun st => run q q t1 st (rest fuel s at_base L room f)) + delta * mu (fun _ => 1).
Proof.
  intros Hs Hf IH q there t0 t1 N mu P Q. apply reexp. pose proof (base_01 q) as Hq.
  assert (Pe : 0 <= later eps s) by now apply total_pos.
  assert (Pd : 0 <= later del s <= delta) by (split; [now apply total_pos|pose proof (later_less depth del s del_pos); lra]).
  pose proof (exp_neg_01 epsilon Heps) as Ec. pose proof (exp_neg_01 _ Pe) as Ek.
  assert (Hb : forall v0 v1, earlier_leaf most v0 v1 -> exp (- epsilon) * rest fuel s at_base L room f v0 <= rest fuel s at_base L room f v1 + exp (- epsilon) * delta).
  { intros l l' [->|(w & r & v & G & _ & -> & ->)].
    - pose proof (rest_01 fuel s at_base L room f l' Hf). assert (0 <= exp (- epsilon) * delta) by nra. nra.
    - cbn [rest]. apply unexp. now apply IH. }
  assert (Ha : forall v0 v1, later_leaf (close room) v0 v1 ->
    exp (- later eps s) * rest fuel s at_base L room f v0 <= rest fuel s at_base L room f v1 + exp (- later eps s) * delta).
  { intros l l' [->|(r & v & G & G' & -> & -> & DG)].
    - pose proof (rest_01 fuel s at_base L room f l' Hf). assert (0 <= exp (- later eps s) * delta) by nra. nra.
    - cbn [rest]. apply unexp. pose proof (play_differ fuel false r v s at_base L room G G' DG f Hf). lra. }
  assert (T := counters_private q q (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf most) (later_leaf (close room)) (later_leaf (close room))
    (switch_threshold s h K) 0 ltac:(lra) Ek Ek (rest fuel s at_base L room f) delta ltac:(intro; now apply rest_01) Hdelta Hb Ha Ha there t0 t1 N mu P Q).
  cbn [INR] in T. rewrite Rmult_0_l, Rmult_0_r, Rplus_0_l in T. rewrite <- Rmult_assoc. exact T.
Qed.

Lemma play_private fuel : forall world rounds published s at_base L room F, (s <= depth)%nat ->
  within epsilon delta (play fuel world rounds false published s at_base L room F) (play fuel (negb world) rounds false published s at_base L room F).
Proof.
  assert (Free : forall l : law view, within epsilon delta l l)
    by (intro l; apply (within_weaker 0 0); [exact Heps|exact Hdelta|apply within_refl]).
  induction fuel as [|fuel IH]; intros world rounds published s at_base L room F Hs; [apply Free|]. destruct L as [|[h K] L].
  - cbn [play]. destruct (Nat.ltb_spec s depth) as [Ls|Ls].
    + destruct (Nat.eqb (S s) depth).
      * apply F1_fixed_coins; [exact Hdelta|]. intro counts. apply IH. lia.
      * apply F1_fixed_coins; [exact Hdelta|]. intro w. apply F1_fixed_coins; [exact Hdelta|]. intro counts.
        apply F1_fixed_coins; [exact Hdelta|]. intro v. apply IH. lia.
    + destruct restarts; [apply IH; lia|apply Free].
  - intros f Hf. rewrite !play_instance.
    assert (N := EnsureBoth _ _ (exp (- epsilon)) (exp (- later eps s)) (exp (- later eps s)) (earlier_leaf rounds) (later_leaf (close room)) (later_leaf (close room))
      (switch_threshold s h K) 0 (fun _ => false) 0%nat (switch_threshold s h K) _ _ (watch_close world rounds s h K at_base published room F Hs)).
    assert (T := instance_private fuel rounds s (at_base + K) h K L room f Hs Hf ltac:(intros; now apply IH) _ _ _ N
      (ret no_counters) (payable_at_start _ no_counters ltac:(reflexivity)) (present_at_start no_counters)).
    cbn [ret E] in T. rewrite Rmult_1_r in T. exact T.
Qed.

(** Conditionally on every prefix, in the middle of an instance. *)
Theorem packed_prefix_private fuel world rounds published s at_base h K L room F mu f : (s <= depth)%nat -> (forall v, 0 <= f v <= 1) ->
  payable (switch_rate s) mu -> present counter mu ->
  let others w := mu (fun st => run (switch_rate s) (switch_rate s) (watch at_base K w rounds false published s h F) st (rest fuel s (at_base + K) L room f)) in
  others world <= exp epsilon * others (negb world) + delta * mu (fun _ => 1).
Proof.
  intros Hs Hf P Q others. apply (instance_private fuel rounds s (at_base + K) h K L room f Hs Hf ltac:(intros; now apply play_private) counter); try assumption.
  now apply watch_close.
Qed.
End Packed.

(** ** The promise *)

Section Promise.
Context {state hypothesis X : Type}.
Variable hypothesis_dec : forall h h' : hypothesis, {h = h'} + {h <> h'}.
Variables (says : state -> hypothesis) (begin : state) (after : state -> X -> option state).
Variable tournament : state -> state -> bool -> option state.
Variable errs : hypothesis -> X -> bool.
Variables (depth first : nat) (restarts : bool).
Variable listing_of : packed_coins -> nat -> nat -> list (option Z) -> list hypothesis.
Variable universe : list hypothesis.
Hypothesis ND : NoDup universe.
Variables (switching listing listing_delta : nat -> R).
Hypothesis switching_pos : forall s, 0 < switching s.
Hypothesis listing_pos : forall s, 0 < listing s.
Hypothesis listing_delta_pos : forall s, 0 <= listing_delta s.
Variable switch_threshold : nat -> hypothesis -> nat -> Z.
Variables (noise_bound : nat -> nat) (list_threshold : nat -> Z).
Notation mode_of := (mode_of depth).
Let share s := INR (cells_changed (mode_of s)).
Let q s := at_rate (listing s / share s) (share_positive (listing s) (mode_of s) (listing_pos s)).
Hypothesis light : forall s, q s ^ noise_bound s * (1 - q s) <= listing_delta s / share s * (1 + q s - 2 * q s ^ S (noise_bound s)).
Hypothesis high : forall s, (Z.of_nat (noise_bound s) < list_threshold s)%Z.
Variables (epsilon delta : R).
Hypothesis within_epsilon : forall s, (s <= depth)%nat -> switching s + later depth listing s <= epsilon.
Hypothesis within_delta : later depth listing_delta 0 <= delta.

Let switch_rate s := at_rate (switching s) (switching_pos s).
Let release s := private_histogram hypothesis_dec universe (listing s) (mode_of s) (noise_bound s) (list_threshold s) (listing_pos s).

(** Darts, guesses and orders of any law that depends on no data; the adversary may know them. *)
Definition packed_forest (toss : law packed_coins) (adv : packed_coins -> adversary X event) (fuel rounds : nat) (world : bool) : law (packed_coins * list event) :=
  bind toss (fun c =>
    bind (play hypothesis_dec says begin after tournament errs depth first switch_rate switch_threshold release universe noise_bound listing_of restarts c (adv c)
            fuel world rounds false [] 0 0 [(says begin, first)] first (empty begin))
         (fun v => ret (c, v))).

(** The promise of learners/lazy_forest/recipe.py, LazyForest:

    Privacy:
        Releases:   the hypothesis of every round
        Neighbours: streams that differ in one example
        Adversary:  adaptive
        Guarantee:  (epsilon, delta), conditionally on every prefix; per user
                    (``max_contributions`` examples) by group privacy
        Assumes:    a deterministic base learner; timing (docs/GUARANTEES.md): a round with a
                    mistake takes longer
        Proof:      algorithm.md, layer.md, privacy/mechanisms/first_frequent.md
        Checked:    proofs/promises/LazyForest.v, theorem lazy_forest_private; packed plans:
                    proofs/promises/PackedForest.v, theorem packed_forest_private; early
                    release: proofs/promises/EarlyForest.v, theorem early_forest_private *)
Theorem packed_forest_private toss adv fuel rounds : private epsilon delta (packed_forest toss adv fuel rounds).
Proof.
  assert (Pd : 0 <= delta) by (apply Rle_trans with (2 := within_delta); now apply total_pos).
  assert (Pl : forall s, 0 <= listing s) by (intro s; left; apply listing_pos).
  assert (Pe : 0 <= epsilon).
  { pose proof (within_epsilon 0 ltac:(lia)) as A. pose proof (switching_pos 0).
    assert (0 <= later depth listing 0) by now apply total_pos. lra. }
  intro world. apply F1_fixed_coins; [exact Pd|]. intro c. apply post_processing.
  apply play_private with (eps := listing) (del := listing_delta) (switch_eps := switching); try assumption; try reflexivity; try lia.
  - intros s V V' N. exact (one_direction hypothesis_dec universe ND (listing s) (listing_delta s) (mode_of s) (noise_bound s)
      (list_threshold s) (listing_pos s) (light s) (high s) V V' N).
  - intros s V V' P. unfold release, private_histogram, PrivateHistogram.release. f_equal. apply functional_extensionality. intro k.
    unfold occurs. now apply Permutation_count_occ.
  - intros s V. exact (histogram_supported (q s) (noise_bound s) (list_threshold s) universe (occurs hypothesis_dec V)).
Qed.
End Promise.
(* main: packed_forest_private, packed_prefix_private *)
