//! What the arms of a secret choice write, selected.
//!
//! Of the arms exactly one is taken. A variable's new value is selected in one of two ways:
//! - by a *chain*: the arms' values in order, by their conditions, so that each arm but the last
//!   costs an AND for each bit that any later arm gives another value;
//! - by a *sum*: the old value ⊕ ⊕ₖ takenₖ ∧ (valueₖ ⊕ old), where takenₖ says that arm k is taken.
//!   Each value costs one AND for each bit, however many arms give it, and constants cost none. The
//!   sum is not made here: it becomes updates of the variable, so that choices around this one only
//!   change conditions.
//!
//! An arm that excludes all before it has its condition as takenₖ; for others, that costs an AND.
//! All ANDs are counted before any is made, and the sum is taken where it saves some.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use symbolon_circuit::builder::{Bit, Gates, Word};

use super::state::{Frame, Group, Left, Update, is_addition, joined_ranges, segments};
use super::{Done, Machine};
use crate::tir::Local;

/// What an arm has done.
pub(super) struct Outcome {
    /// Whether it is taken if no arm before it is; 1 for the last.
    pub(super) condition: Bit,
    /// Whether its condition excludes those of all arms before.
    pub(super) excludes: bool,
    pub(super) changes: Vec<(Local, Vec<Group>)>,
    pub(super) left: Left,
    pub(super) value: Word,
    /// The values of which its value is one, if it is that of a choice.
    pub(super) values: Option<Group>,
}

/// What an arm has changed and left, its value, and the condition under which it does so.
type Parts = (Bit, Vec<(Local, Vec<Group>)>, Left, Word);

impl Outcome {
    /// Returns an arm before which there is none with another condition.
    pub(super) fn first((condition, changes, left, value): Parts) -> Outcome {
        let excludes = condition != Bit::ONE;
        Outcome { condition, excludes, changes, left, value, values: None }
    }
}

/// The arms that change a variable, in order, and how.
type Changes = Vec<(usize, Vec<Group>)>;

/// Variables to which arms only add, and what.
type Additions = Vec<(Local, Changes)>;

/// What is selected: a variable, a flag, or a value.
struct Item {
    /// What it is in arms that do not change it; `None` if each arm does, or is skipped.
    before: Option<Rc<Word>>,
    changes: Changes,
    target: Target,
}

enum Target {
    Local(Local),
    Flag(usize),
    Result,
    Value,
}

/// The ANDs that an item takes, for each way to select it.
#[derive(Default)]
struct Price {
    chain: u64,
    sum: u64,
    /// The conditions of updates that become conjunctions.
    joined: u64,
    /// The last arm that changes it.
    last: usize,
    /// The bits that every arm changes in any case.
    complete: Vec<Range<usize>>,
}

impl Price {
    fn gain(&self) -> Option<u64> {
        self.chain.checked_sub(self.sum)?.checked_sub(self.joined)
    }
}

/// Whether each arm is taken, as far as that has been asked.
pub(super) struct Taken<'o> {
    arms: &'o [Outcome],
    known: Vec<Bit>,
    /// Whether none of the known ones is.
    rest: Bit,
}

impl Taken<'_> {
    pub(super) fn get(&mut self, gates: &mut Gates, arm: usize) -> Bit {
        while self.known.len() <= arm {
            let Outcome { condition, excludes, .. } = self.arms[self.known.len()];
            let taken = if excludes { condition } else { gates.and_bit(self.rest, condition) };
            self.known.push(taken);
            self.rest = gates.xor_bit(self.rest, taken);
        }
        self.known[arm]
    }
}

/// The values that arms give one bit, as far as they are known before gates are made.
#[derive(Default)]
struct BitValues {
    /// The arms that change it, in order, each with its value.
    arms: Vec<(usize, Option<Bit>)>,
    /// The values that the arms' first groups give.
    all: Values,
    /// The values of the group that is being added.
    group: Values,
    /// ANDs of groups that the arms take on their own, and those of later groups.
    own: u64,
    later: u64,
    /// How many arms change it in any case, and the last one.
    sure: usize,
    last_sure: Option<usize>,
}

/// Different values of a bit.
#[derive(Default)]
pub(super) struct Values {
    /// Those that are not constants, without inversions.
    wires: Vec<Bit>,
    has_constant: bool,
    /// How many are not known yet.
    others: u64,
}

impl Values {
    pub(super) fn clear(&mut self) {
        self.wires.clear();
        (self.has_constant, self.others) = (false, 0);
    }

    pub(super) fn see(&mut self, value: Option<Bit>) {
        match value.map(Bit::plain) {
            None => self.others += 1,
            Some((Bit::ZERO, _)) => self.has_constant = true,
            Some((wire, _)) => self.wires.push(wire),
        }
    }

    /// Returns the ANDs that it takes to select one of them.
    pub(super) fn ands(&mut self) -> u64 {
        self.wires.sort_unstable();
        self.wires.dedup();
        let values = self.wires.len() as u64 + self.others + u64::from(self.has_constant);
        values.saturating_sub(1)
    }
}

impl BitValues {
    fn clear(&mut self) {
        self.arms.clear();
        self.all.clear();
        (self.own, self.later, self.sure, self.last_sure) = (0, 0, 0, None);
    }

    /// Adds the updates that a group of an arm has for this bit; groups come in order.
    fn add(&mut self, arm: usize, group: usize, updates: &[&Update], place: usize, old: Old) {
        if self.arms.last().is_none_or(|last| last.0 != arm) {
            self.arms.push((arm, old));
        }
        let Some((_, now)) = self.arms.last_mut() else { return };
        if let [update] = updates
            && update.condition == Bit::ONE
            && let Some(value) = update.bit(place)
        {
            // An arm may do so more than once.
            self.sure += usize::from(self.last_sure.replace(arm) != Some(arm));
            *now = Some(value);
            self.all.see(*now);
            return;
        }
        self.group.clear();
        self.group.see(*now);
        for update in updates {
            let value = update.bit(place);
            self.group.see(value);
            if group == 0 {
                self.all.see(value);
            }
        }
        let ands = self.group.ands();
        self.own += ands;
        if group > 0 {
            self.later += ands;
        }
        if ands > 0 {
            *now = None;
        }
    }

    /// Returns the ANDs of a chain over the arms that matter.
    fn chain(&self, old: Old, ranks: &Ranks) -> u64 {
        let Some((_, last, first)) = ranks.difference(&self.arms, old) else { return self.own };
        let value = value_of(&self.arms, first, old);
        // The first selection of a value and its inverse is free.
        let is_free = last.is_some() && last == value.map(|bit| !bit);
        self.own + ranks.count[first] - u64::from(is_free)
    }
}

/// The value before, if it is known.
type Old = Option<Bit>;

/// Returns the value in an arm: of those that change it, or the old one.
fn value_of(arms: &[(usize, Option<Bit>)], arm: usize, old: Old) -> Option<Bit> {
    arms.binary_search_by_key(&arm, |listed| listed.0).map_or(old, |place| arms[place].1)
}

/// Which arms matter for an item.
struct Ranks {
    /// How many do, up to each one.
    count: Vec<u64>,
    /// The last one that does before each, and in all.
    before: Vec<Option<usize>>,
}

impl Ranks {
    fn new(matter: impl Iterator<Item = bool>) -> Ranks {
        let (mut sum, mut last) = (0, None);
        let mut ranks = Ranks { count: Vec::new(), before: Vec::new() };
        for (arm, matters) in matter.enumerate() {
            ranks.before.push(last);
            if matters {
                sum += 1;
                last = Some(arm);
            }
            ranks.count.push(sum);
        }
        ranks.before.push(last);
        ranks
    }

    fn matters(&self, arm: usize) -> bool {
        self.before[arm + 1] == Some(arm)
    }

    /// Returns the last arm, its value, and the last arm before it with another value.
    fn difference(&self, arms: &[(usize, Old)], old: Old) -> Option<(usize, Old, usize)> {
        let last = *self.before.last()?;
        let last = last?;
        let value = value_of(arms, last, old);
        let differs = |other: Old| value.is_none() || other != value;
        let listed = arms.iter().rev().filter(|(arm, _)| *arm < last && self.matters(*arm));
        let mut first = listed.clone().find(|(_, other)| differs(*other)).map(|found| found.0);
        if differs(old) {
            // The last one that does not change it.
            let (mut arm, mut listed) = (self.before[last], listed.map(|found| found.0));
            while arm.is_some() && listed.next() == arm {
                arm = arm.and_then(|arm| self.before[arm]);
            }
            first = first.max(arm);
        }
        first.map(|first| (last, value, first))
    }
}

/// Which arms matter: for variables and flags, for the function's result, and for the value.
struct Matter {
    locals: Ranks,
    flags: Ranks,
    result: Ranks,
    value: Ranks,
}

impl Matter {
    fn of(&self, target: &Target) -> &Ranks {
        match target {
            Target::Local(_) => &self.locals,
            Target::Flag(_) => &self.flags,
            Target::Result => &self.result,
            Target::Value => &self.value,
        }
    }
}

impl Machine<'_, '_, '_> {
    /// Selects what the arms of a choice have done, of which the last has the condition 1; returns
    /// the value of the arm that is taken.
    pub(super) fn merge(
        &mut self,
        frame: &mut Frame,
        mut arms: Vec<Outcome>,
        wants_values: bool,
    ) -> Done<Word> {
        let (items, additions) = self.items(frame, &mut arms)?;
        let matter = Matter {
            locals: Ranks::new(arms.iter().map(|arm| arm.left.returned != Bit::ONE)),
            flags: Ranks::new(arms.iter().map(|_| true)),
            result: Ranks::new(arms.iter().map(|arm| arm.left.returned != Bit::ZERO)),
            value: Ranks::new(arms.iter().map(|arm| !arm.left.is_certain())),
        };
        let mut prices = Vec::with_capacity(items.len());
        for item in &items {
            prices.push(self.price(item, matter.of(&item.target)));
        }
        // What the sums need and chains do not.
        let summed = prices.iter().filter(|price| price.gain().is_some());
        let last = summed.clone().map(|price| price.last).max().unwrap_or(0);
        let inner = 1..=last.min(arms.len() - 2);
        let taken = inner.filter(|&arm| !arms[arm].excludes).count() as u64;
        let may_sum = summed.filter_map(Price::gain).sum::<u64>() > taken || taken == 0;
        let mut taken = Taken { arms: &arms, known: Vec::new(), rest: Bit::ONE };
        for (local, changes) in additions {
            let groups = self.summed(changes, &mut taken);
            self.update(frame, local, groups)?;
        }
        let mut value = None;
        for (item, price) in items.into_iter().zip(&prices) {
            if let (Target::Value, [_, _], [one, other]) =
                (&item.target, &item.changes[..], &arms[..])
                && let Some(chosen) = self.choose_derived(one.condition, &one.value, &other.value)
            {
                value = Some(chosen);
                continue;
            }
            if let Target::Value = item.target {
                let level = if may_sum && price.gain().is_some() { price.sum } else { price.chain };
                if self.flattens(&arms, level) {
                    let mut word = Word::zero(arms[0].value.width());
                    let group = self.flattened(&arms, &mut taken);
                    self.apply(&mut word, 0, &group, true)?;
                    value = Some(word);
                    continue;
                }
            }
            let ranks = matter.of(&item.target);
            let Item { before, changes, target } = item;
            let by_sum = may_sum && price.gain().is_some();
            if let (Target::Local(local), true) = (&target, by_sum) {
                // What is written in place is not copied if nothing else keeps it.
                drop(before);
                let groups = self.summed(changes, &mut taken);
                self.put(frame, *local, groups, &price.complete)?;
                continue;
            }
            let old = match &before {
                Some(word) => word.clone(),
                None => Rc::new(Word::zero(changes[0].1[0][0].width)),
            };
            if let Target::Local(local) = target {
                let updates = self.chained(&old, &changes, &arms, ranks)?;
                drop((before, old));
                for update in updates {
                    self.write(frame, local, update)?;
                }
                continue;
            }
            let mut word = Word::clone(&old);
            if by_sum {
                let complete = before.is_none();
                for group in self.summed(changes, &mut taken) {
                    self.apply(&mut word, 0, &group, complete)?;
                }
            } else {
                for update in self.chained(&old, &changes, &arms, ranks)? {
                    word[update.range()].copy_from_slice(&update.value);
                }
            }
            match target {
                Target::Flag(0) => frame.left.returned = word[0],
                Target::Flag(1) => frame.left.broken = word[0],
                Target::Flag(_) => frame.left.continued = word[0],
                Target::Result => frame.left.result = Some(Rc::new(word)),
                Target::Value | Target::Local(_) => value = Some(word),
            }
        }
        let value = value.unwrap_or_else(|| Word::zero(arms[0].value.width()));
        if wants_values && self.is_flat(&arms) {
            let group = self.flattened(&arms, &mut taken);
            self.told.values = Some((value.clone(), group));
        }
        Ok(value)
    }

    /// Returns what the arms have changed, and the variables to which they have only added.
    fn items(&mut self, frame: &mut Frame, arms: &mut [Outcome]) -> Done<(Vec<Item>, Additions)> {
        let mut changed: BTreeMap<Local, Changes> = BTreeMap::new();
        for (place, arm) in arms.iter_mut().enumerate() {
            for (local, groups) in std::mem::take(&mut arm.changes) {
                changed.entry(local).or_default().push((place, groups));
            }
        }
        let mut items = Vec::with_capacity(changed.len() + 2);
        let mut additions = Vec::new();
        for (local, mut changes) in changed {
            let mut updates = changes.iter().flat_map(|(_, groups)| groups).flatten();
            if updates.all(is_addition) {
                for (_, groups) in &mut changes {
                    *groups = self.presummed(std::mem::take(groups))?;
                }
                additions.push((local, changes));
                continue;
            }
            let mut updates = changes.iter().flat_map(|(_, groups)| groups).flatten();
            if updates.any(is_addition) {
                self.settle(frame, local)?;
                let before = frame.word(local).clone();
                for (_, groups) in &mut changes {
                    *groups = vec![self.plain(&before, groups)?];
                }
            }
            let mut updates = changes.iter().flat_map(|(_, groups)| groups).flatten();
            if updates.any(|update| frame.is_updated(local, &update.range())) {
                self.settle(frame, local)?;
            }
            let before = Some(frame.word(local).clone());
            items.push(Item { before, changes, target: Target::Local(local) });
        }
        let at = self.booking.at;
        let all = |value: Rc<Word>| vec![vec![Update::plain(0, value, at)]];
        let before = frame.left.flags();
        for (flag, &before) in before.iter().enumerate() {
            let flags = arms.iter().map(|arm| arm.left.flags()[flag]).enumerate();
            let changes = flags.filter(|&(_, now)| now != before);
            let changes: Vec<_> =
                changes.map(|(place, now)| (place, all(Rc::new(now.into())))).collect();
            if !changes.is_empty() {
                let before = Some(Rc::new(before.into()));
                items.push(Item { before, changes, target: Target::Flag(flag) });
            }
        }
        let results = arms.iter().enumerate().filter_map(|(place, arm)| {
            let result = arm.left.result.as_ref()?;
            (arm.left.returned != Bit::ZERO).then(|| (place, all(result.clone())))
        });
        let results: Vec<_> = results.collect();
        if !results.is_empty() {
            items.push(Item { before: None, changes: results, target: Target::Result });
        }
        let values = arms.iter().enumerate().filter(|(_, arm)| !arm.left.is_certain());
        let values: Vec<_> =
            values.map(|(place, arm)| (place, all(Rc::new(arm.value.clone())))).collect();
        if values.first().is_some_and(|(place, _)| arms[*place].value.width() > 0) {
            items.push(Item { before: None, changes: values, target: Target::Value });
        }
        Ok((items, additions))
    }

    /// Counts the ANDs of an item.
    fn price(&mut self, item: &Item, ranks: &Ranks) -> Price {
        let mut price = Price::default();
        let mut updates = Vec::new();
        let mut joined = HashSet::new();
        for (arm, groups) in &item.changes {
            price.last = *arm;
            for (number, group) in groups.iter().enumerate() {
                for update in group {
                    updates.push(((*arm, number), update));
                    if update.condition != Bit::ONE {
                        joined.insert((*arm, update.condition.plain().0));
                    }
                }
            }
        }
        price.joined = joined.len() as u64;
        if let (Some(before), 2, [(_, groups)]) =
            (&item.before, ranks.count.len(), &item.changes[..])
            && let [group] = &groups[..]
        {
            // Each bit that changes saves one selection, which alone may justify joining.
            let all = group.iter().map(|update| update.width).sum::<usize>();
            let ranges = joined_ranges(group.iter().map(Update::range).collect());
            let is_disjoint = ranges.iter().map(Range::len).sum::<usize>() == all;
            let times = if is_disjoint { 1 } else { group.len() };
            let changed = group.iter().flat_map(|update| {
                update.range().filter(|&place| update.bit(place) != Some(before[place]))
            });
            let found = changed.take(price.joined as usize * times).count();
            price.chain = (found / times) as u64;
            return price;
        }
        let ranges: Vec<_> = updates.iter().map(|(_, update)| update.range()).collect();
        let arms = ranks.count.len();
        let mut values = BitValues::default();
        for (range, here) in segments(&ranges) {
            self.lower.spent.steps += (range.len() * here.len()) as u64 / 32;
            let groups: Vec<_> = here.chunk_by(|&a, &b| updates[a].0 == updates[b].0).collect();
            let groups: Vec<((usize, usize), Vec<&Update>)> = groups
                .into_iter()
                .map(|group| (updates[group[0]].0, group.iter().map(|&at| updates[at].1).collect()))
                .collect();
            for place in range.clone() {
                let old = item.before.as_ref().map(|before| before[place]);
                values.clear();
                for ((arm, number), group) in &groups {
                    values.add(*arm, *number, group, place, old);
                }
                if old.is_some() && values.sure < arms {
                    values.all.see(old);
                }
                price.sum += values.all.ands() + values.later;
                price.chain += values.chain(old, ranks);
            }
            // Each arm changes it once, and in any case.
            if values.sure == arms && groups.len() == arms {
                price.complete.push(range);
            }
        }
        price
    }

    /// Returns the arms' updates, each under the condition that its arm is taken.
    fn summed(&mut self, changes: Changes, taken: &mut Taken<'_>) -> Vec<Group> {
        let mut sum: Vec<Group> = Vec::new();
        for (arm, groups) in changes {
            let taken = taken.get(self.gates, arm);
            for (place, group) in groups.into_iter().enumerate() {
                if sum.len() == place {
                    sum.push(Vec::new());
                }
                sum[place].extend(group.into_iter().map(|update| {
                    let condition = self.gates.and_bit(taken, update.condition);
                    Update { condition, at: self.booking.at, ..update }
                }));
            }
        }
        sum
    }

    /// Selects the arms' values one after the other.
    fn chained(
        &mut self,
        old: &Word,
        changes: &[(usize, Vec<Group>)],
        arms: &[Outcome],
        ranks: &Ranks,
    ) -> Done<Vec<Update>> {
        let mut parts: Vec<(usize, Update)> = Vec::new();
        for (arm, groups) in changes {
            for part in self.plain(old, groups)? {
                parts.push((*arm, part));
            }
        }
        let ranges: Vec<_> = parts.iter().map(|(_, part)| part.range()).collect();
        let mut selected: Vec<Update> = Vec::new();
        for (range, here) in segments(&ranges) {
            let mut bits = Vec::with_capacity(range.len());
            self.room(3 * (range.len() * here.len()) as u64, self.booking.at)?;
            for place in range.clone() {
                let listed = here.iter().map(|&at| &parts[at]);
                let listed = listed.map(|(arm, part)| (*arm, Some(part.value[place - part.start])));
                let listed: Vec<_> = listed.collect();
                bits.push(self.chain(old[place], &listed, arms, ranks));
            }
            self.lower.spent.steps += (range.len() * here.len()) as u64 / 32;
            let value = Rc::new(Word::from(bits));
            selected.push(Update::plain(range.start, value, self.booking.at));
        }
        Ok(selected)
    }

    /// Selects one bit.
    fn chain(&mut self, old: Bit, listed: &[(usize, Old)], arms: &[Outcome], ranks: &Ranks) -> Bit {
        let Some((_, Some(mut now), first)) = ranks.difference(listed, Some(old)) else {
            let last = ranks.before.last().copied().flatten();
            return last.and_then(|last| value_of(listed, last, Some(old))).unwrap_or(old);
        };
        let mut arm = Some(first);
        let mut listed = listed.iter().rev().skip_while(|(arm, _)| *arm > first).peekable();
        while let Some(here) = arm {
            while listed.next_if(|(arm, _)| *arm > here).is_some() {}
            let value = listed.next_if(|(arm, _)| *arm == here).and_then(|found| found.1);
            now = self.gates.select_bit(arms[here].condition, value.unwrap_or(old), now);
            arm = ranks.before[here];
        }
        now
    }

    /// Makes the gates for what is changed in any case, and notes the other updates.
    fn put(
        &mut self,
        frame: &mut Frame,
        local: Local,
        groups: Vec<Group>,
        complete: &[Range<usize>],
    ) -> Done<()> {
        if complete.is_empty() {
            return self.update(frame, local, groups);
        }
        let mut rest: Vec<Group> = Vec::new();
        let mut parts: Vec<Group> = vec![Vec::new(); complete.len()];
        for group in groups {
            let mut others = Vec::new();
            for update in group {
                let first = complete.partition_point(|range| range.end <= update.start);
                let inside = |range: &Range<usize>| range.start < update.range().end;
                let here = complete[first..].iter().take_while(|range| inside(range)).count();
                let mut start = update.start;
                for (place, range) in complete.iter().enumerate().skip(first).take(here) {
                    // These bits have one group, in which the ends of all updates are ends.
                    others.extend(update.part(start..range.start));
                    parts[place].extend(update.part(range.clone()));
                    start = range.end;
                }
                others.extend(update.part(start..update.range().end));
            }
            if !others.is_empty() {
                rest.push(others);
            }
        }
        for (range, part) in complete.iter().zip(parts) {
            let mut word = Word::zero(range.len());
            self.apply(&mut word, range.start, &part, true)?;
            self.write(frame, local, Update::plain(range.start, Rc::new(word), self.booking.at))?;
        }
        if rest.is_empty() { Ok(()) } else { self.update(frame, local, rest) }
    }

    /// Returns what an arm's updates make of the old value: parts that it has in any case.
    fn plain(&mut self, old: &Word, groups: &[Group]) -> Done<Vec<Update>> {
        if let [group] = groups
            && group.iter().all(Update::is_plain)
        {
            return Ok(group.clone());
        }
        let ranges: Vec<_> = groups.iter().flatten().map(Update::range).collect();
        let mut parts = Vec::new();
        for range in joined_ranges(ranges) {
            let mut word = old.slice(range.clone());
            let here = groups.iter().map(|group| {
                let here = group.iter().filter(|update| range.contains(&update.start));
                here.cloned().collect::<Group>()
            });
            let here: Vec<Group> = here.filter(|group| !group.is_empty()).collect();
            self.apply_all(&mut word, range.start, &here)?;
            parts.push(Update::plain(range.start, Rc::new(word), self.booking.at));
        }
        Ok(parts)
    }
}
