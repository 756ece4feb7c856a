//! How often the thread has taken decisions that few programs need.

use std::cell::Cell;
use std::thread::LocalKey;

/// Counts one.
pub(crate) fn enter(decision: &'static LocalKey<Cell<u32>>) {
    decision.with(|times| times.set(times.get() + 1));
}

std::thread_local! {
    /// An inner loop goes in order, as its iterations write the same.
    pub(crate) static ORDERED: Cell<u32> = const { Cell::new(0) };
    /// An accumulation behind a switch over a short axis is one for each member.
    pub(crate) static SPLIT_MEMBERS: Cell<u32> = const { Cell::new(0) };
    /// A loop over a few members is unrolled.
    pub(crate) static UNROLLED: Cell<u32> = const { Cell::new(0) };
    /// A loop whose iterations touch elements of their own is a kernel.
    pub(crate) static PARALLELIZED: Cell<u32> = const { Cell::new(0) };
    /// One with kernels inside, which become loops.
    pub(crate) static SUMMED_IN_PARALLEL: Cell<u32> = const { Cell::new(0) };
    /// One of whose length nothing is known.
    pub(crate) static ASKED: Cell<u32> = const { Cell::new(0) };
    /// One over a set of known length.
    pub(crate) static KNOWN_LENGTHS: Cell<u32> = const { Cell::new(0) };
    /// A device finds out how long arrays of points are.
    pub(crate) static TRIED: Cell<u32> = const { Cell::new(0) };
    /// A loop stays one, as its iterations may meet.
    pub(crate) static CARRIED: Cell<u32> = const { Cell::new(0) };
    /// A kernel of a few points is a loop.
    pub(crate) static SERIALIZED: Cell<u32> = const { Cell::new(0) };
    /// One that folds.
    pub(crate) static SEARCHED: Cell<u32> = const { Cell::new(0) };
    /// An array is changed where it is, not in a copy: by a loop that stands for a kernel, and where a
    /// condition holds.
    pub(crate) static CHANGED_BY_LOOPS: Cell<u32> = const { Cell::new(0) };
    pub(crate) static CHANGED_IN_BRANCHES: Cell<u32> = const { Cell::new(0) };
    /// A part of it is, of what is computed of angles.
    pub(crate) static CHANGED_BY_ANGLES: Cell<u32> = const { Cell::new(0) };
    /// Several of its rows are kept for that, or are too many.
    pub(crate) static PARTS_KEPT: Cell<u32> = const { Cell::new(0) };
    pub(crate) static PARTS_MANY: Cell<u32> = const { Cell::new(0) };
    /// A `while` behind a condition, which changes a table, ends at once where that does not hold.
    pub(crate) static ENDED_AT_ONCE: Cell<u32> = const { Cell::new(0) };
    /// A side of a branch reads the table that another has handed on.
    pub(crate) static READ_AS_HANDED: Cell<u32> = const { Cell::new(0) };
    /// A change that several sides share is one for each.
    pub(crate) static DUPLICATED: Cell<u32> = const { Cell::new(0) };
    /// What feeds the changes of a side reads what is handed to it; or it is too much to be looked at.
    pub(crate) static FED: Cell<u32> = const { Cell::new(0) };
    pub(crate) static FEEDS_MANY: Cell<u32> = const { Cell::new(0) };
    /// Two places are not the same, as a condition says.
    pub(crate) static DIFFER: Cell<u32> = const { Cell::new(0) };
    /// What is accumulated beside a state of a loop is accumulated in it.
    pub(crate) static ACCUMULATED: Cell<u32> = const { Cell::new(0) };
    /// Of a table that a loop collects, the part is collected that is read.
    pub(crate) static SLICED: Cell<u32> = const { Cell::new(0) };
    /// Points that may advance together store not at their own index, but at a distance from it.
    pub(crate) static STORED_AWAY: Cell<u32> = const { Cell::new(0) };
    /// What is all combined at one place is combined first.
    pub(crate) static REDUCED: Cell<u32> = const { Cell::new(0) };
    /// Rows of which iterations that follow each other change places stay in their table.
    pub(crate) static ROWS_STAY: Cell<u32> = const { Cell::new(0) };
    /// Iterations that change a slice of a table each follow in no order.
    pub(crate) static OWNED: Cell<u32> = const { Cell::new(0) };
    /// Those have nearly all of an axis, of which the other places keep what they have.
    pub(crate) static OWNED_MOST: Cell<u32> = const { Cell::new(0) };
    /// They are computed in a loop over the whole axis.
    pub(crate) static OWNED_INTERIOR: Cell<u32> = const { Cell::new(0) };
    /// So many branches contribute that it is not looked whether they are exclusive.
    pub(crate) static BRANCHES_MANY: Cell<u32> = const { Cell::new(0) };
    /// A condition is made of so many that not all are looked at.
    pub(crate) static CONDITIONS_MANY: Cell<u32> = const { Cell::new(0) };
    /// A change of one side of a choice is made in front of it.
    pub(crate) static SUNK: Cell<u32> = const { Cell::new(0) };
    /// A side of a branch takes what its own condition says of another choice.
    pub(crate) static CHOSEN_BY_THE_SIDE: Cell<u32> = const { Cell::new(0) };
    /// What exclusive branches contribute to a cotangent is a choice; what others do is a sum.
    pub(crate) static ADDED_AS_CHOICE: Cell<u32> = const { Cell::new(0) };
    pub(crate) static ADDED_TO_ANOTHER: Cell<u32> = const { Cell::new(0) };
    /// What reads an array as it was moves in front of the copy that is changed.
    pub(crate) static READERS_FIRST: Cell<u32> = const { Cell::new(0) };
    /// An array is copied twice, and one copy is changed in its place.
    pub(crate) static COPIED_TWICE: Cell<u32> = const { Cell::new(0) };
    /// A loop of the host is compiled for each level, or is too short for that.
    pub(crate) static MULTIVERSIONED: Cell<u32> = const { Cell::new(0) };
    pub(crate) static TOO_SHORT: Cell<u32> = const { Cell::new(0) };
}

// The macro is recursive: one block of all of them reaches the compiler's limit.
std::thread_local! {
    /// The length of an axis is a state of a loop that is differentiated.
    pub(crate) static LENGTHS_CARRIED: Cell<u32> = const { Cell::new(0) };
    /// A kernel of a few points of a computed length, which a small set bounds, is a loop.
    pub(crate) static LENGTHS_BOUNDED: Cell<u32> = const { Cell::new(0) };
    /// A short array is made again on the way back.
    pub(crate) static REMADE: Cell<u32> = const { Cell::new(0) };
    /// The operand of a negative is kept, and not the negative.
    pub(crate) static OPERANDS: Cell<u32> = const { Cell::new(0) };
    /// What an inner loop reads of a table that a loop around makes is kept, and not the table.
    pub(crate) static READ_AROUND: Cell<u32> = const { Cell::new(0) };
    /// An integer is kept, and not what comes of comparing it.
    pub(crate) static COMPARED: Cell<u32> = const { Cell::new(0) };
    /// What an inner loop of no fixed length keeps is on a tape.
    pub(crate) static TAPED: Cell<u32> = const { Cell::new(0) };
    /// A `while` of which the trips are known does not run to count them.
    pub(crate) static RUN_ONCE: Cell<u32> = const { Cell::new(0) };
    /// A loop in a loop runs again on the way back.
    pub(crate) static RUN_AGAIN: Cell<u32> = const { Cell::new(0) };
    /// A loop over a row of the loop around it keeps its states.
    pub(crate) static ROWS: Cell<u32> = const { Cell::new(0) };
    /// A variable that rows hand on is combined into.
    pub(crate) static HANDED_ON: Cell<u32> = const { Cell::new(0) };
    /// A read stands behind a guard, as perhaps no lane has made its index.
    pub(crate) static UNMADE: Cell<u32> = const { Cell::new(0) };
    /// A read stands behind the guard of its index, which is not its own.
    pub(crate) static GUARDED: Cell<u32> = const { Cell::new(0) };
    /// A load stays in a loop, as its index was kept.
    pub(crate) static KEPT: Cell<u32> = const { Cell::new(0) };
    /// Products become contractions, as what they need is stored anyway.
    pub(crate) static STORED: Cell<u32> = const { Cell::new(0) };
    /// Sums of sums of products are taken at once.
    pub(crate) static AT_ONCE: Cell<u32> = const { Cell::new(0) };
    /// What a loop collects alike in all lanes is computed outside of them.
    pub(crate) static UNIFORM: Cell<u32> = const { Cell::new(0) };
    /// What is dear and the same in all lanes is computed outside of them.
    pub(crate) static HOISTED: Cell<u32> = const { Cell::new(0) };
    /// A triangular loop becomes a rectangular one.
    pub(crate) static HULLS: Cell<u32> = const { Cell::new(0) };
    /// A library multiplies where a condition says which products are terms.
    pub(crate) static MASKED: Cell<u32> = const { Cell::new(0) };
    /// A factor of a contraction is made a panel at a time.
    pub(crate) static PANELS: Cell<u32> = const { Cell::new(0) };
    /// Reductions of reductions are one.
    pub(crate) static COALESCED: Cell<u32> = const { Cell::new(0) };
    /// What is added in a place that has something already is added before.
    pub(crate) static JOINED: Cell<u32> = const { Cell::new(0) };
    /// What is asked of an array with a few places is asked of each.
    pub(crate) static EACH: Cell<u32> = const { Cell::new(0) };
    /// Rows of a table are summed up one after the other.
    pub(crate) static STREAMED: Cell<u32> = const { Cell::new(0) };
    /// A number that a branch decides is kept.
    pub(crate) static BRANCHED: Cell<u32> = const { Cell::new(0) };
    /// Pieces of the work bet on near angles.
    pub(crate) static SPECULATED: Cell<u32> = const { Cell::new(0) };
    /// A piece may note what it combines where.
    pub(crate) static NOTED: Cell<u32> = const { Cell::new(0) };
    /// A table becomes the merged copies.
    pub(crate) static BECOMES: Cell<u32> = const { Cell::new(0) };
    /// Two loops are run by diagonals.
    pub(crate) static SKEWED: Cell<u32> = const { Cell::new(0) };
    /// The points of a diagonal are distributed over kernels.
    pub(crate) static DISTRIBUTED: Cell<u32> = const { Cell::new(0) };
    /// Steps of a loop run by tiles of rows.
    pub(crate) static TIME_TILED: Cell<u32> = const { Cell::new(0) };
    /// Such steps add something up.
    pub(crate) static STEPS_ADD_UP: Cell<u32> = const { Cell::new(0) };
    /// Kernels without a loop run by tiles of rows.
    pub(crate) static FUSED_ROWS: Cell<u32> = const { Cell::new(0) };
    /// What is put at computed places is put in pieces.
    pub(crate) static PIECES: Cell<u32> = const { Cell::new(0) };
    /// For each element and at least: what pieces put, if not as much as elsewhere.
    pub(crate) static PIECES_OF: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
    /// A scan goes through blocks.
    pub(crate) static BLOCKS: Cell<u32> = const { Cell::new(0) };
    /// Blocks side by side, elements of each, and simple operations from which on there are any, if
    /// not as many as elsewhere.
    pub(crate) static BLOCKS_OF: Cell<Option<[u64; 3]>> = const { Cell::new(None) };
    /// What is added at one place to zeros, and then to a table, is added to the table.
    pub(crate) static PLACED: Cell<u32> = const { Cell::new(0) };
    /// It stays apart: rows are of different lengths, there is a guard, or it is in lanes.
    pub(crate) static PLACED_APART: Cell<u32> = const { Cell::new(0) };
    /// Of a loop in lanes each has steps of its own, and nothing leaves them.
    pub(crate) static OWN_STEPS: Cell<u32> = const { Cell::new(0) };
    /// What is kept of some elements of a row is on a tape, of all of them.
    pub(crate) static TAPED_WHOLE: Cell<u32> = const { Cell::new(0) };
    /// What is added where zero was put is put there.
    pub(crate) static PUT_BACK: Cell<u32> = const { Cell::new(0) };
    /// It is added at another place.
    pub(crate) static PUT_BESIDE: Cell<u32> = const { Cell::new(0) };
    /// The way back of a reduction reads what comes before and after each element.
    pub(crate) static SUFFIXES: Cell<u32> = const { Cell::new(0) };
    /// A product of a derivative stands behind the condition under which one asks for it.
    pub(crate) static ASKED_WHERE: Cell<u32> = const { Cell::new(0) };
    /// A zero absorbs the factor, as that is not known.
    pub(crate) static ASKED_SOMETIMES: Cell<u32> = const { Cell::new(0) };
    /// What a loop begins with is asked for in other cases without an iteration than with some.
    pub(crate) static BEGUN_APART: Cell<u32> = const { Cell::new(0) };
    /// Places of what a loop gives are looked at under a condition on the place, and an iteration
    /// mixes them.
    pub(crate) static WANTED_WHOLE: Cell<u32> = const { Cell::new(0) };
    /// It does not mix them.
    pub(crate) static WANTED_BEFORE: Cell<u32> = const { Cell::new(0) };
    /// Where the states of a loop are asked for is found out, in more walks than one.
    pub(crate) static SETTLED: Cell<u32> = const { Cell::new(0) };
    /// It is not, in as many walks as there may be.
    pub(crate) static UNSETTLED: Cell<u32> = const { Cell::new(0) };
    /// Of a loop that runs again, what collects is a loop of its own, which reads final tables.
    pub(crate) static DISTRIBUTED_AGAIN: Cell<u32> = const { Cell::new(0) };
    /// Points that advance together have buffers as long as the longest.
    pub(crate) static LONGEST: Cell<u32> = const { Cell::new(0) };
    /// Points advance together through loops that hand arrays on.
    pub(crate) static HANDED: Cell<u32> = const { Cell::new(0) };
    /// Points that multiply by the same matrix go together.
    pub(crate) static SHARED: Cell<u32> = const { Cell::new(0) };
    /// Loops that carry something, and loops of vectors at the same depth, decide whether points go
    /// together: the former do more, or the latter.
    pub(crate) static CHAINS_OUTWEIGH: Cell<u32> = const { Cell::new(0) };
    pub(crate) static VECTORS_OUTWEIGH: Cell<u32> = const { Cell::new(0) };
    /// Pieces of the work are columns.
    pub(crate) static BY_COLUMNS: Cell<u32> = const { Cell::new(0) };
}

std::thread_local! {
    /// A new table ends with the axis along which it is added to next to next; what is scanned of it
    /// lies so, too; such tables are added in a loop of a kernel's.
    pub(crate) static LIES_AS_ADDED: Cell<u32> = const { Cell::new(0) };
    pub(crate) static LIES_AS_SCANNED: Cell<u32> = const { Cell::new(0) };
    pub(crate) static ADDED_IN_LOOPS: Cell<u32> = const { Cell::new(0) };
    /// What a point of a kernel adds to is counted from the other end.
    pub(crate) static FROM_THE_END: Cell<u32> = const { Cell::new(0) };
    /// A launch by teams runs with teams of one thread, of two, four, and of a warp.
    pub(crate) static TEAMS_OF_ONE: Cell<u32> = const { Cell::new(0) };
    pub(crate) static TEAMS_OF_TWO: Cell<u32> = const { Cell::new(0) };
    pub(crate) static TEAMS_OF_FOUR: Cell<u32> = const { Cell::new(0) };
    pub(crate) static TEAMS_OF_A_WARP: Cell<u32> = const { Cell::new(0) };
    /// A nest in a loop that adds to a table has a sequential version, for less work than this if it
    /// is said.
    pub(crate) static SERIAL_VERSION: Cell<u32> = const { Cell::new(0) };
    pub(crate) static LITTLE: Cell<Option<u32>> = const { Cell::new(None) };
    /// A table of what stands in front of a branch is added to in it, behind a guard.
    pub(crate) static FILLED_BEHIND: Cell<u32> = const { Cell::new(0) };
    /// Of a condition it is known in part where it says something.
    pub(crate) static SAID_IN_PART: Cell<u32> = const { Cell::new(0) };
    /// A loop that changes elements of its own computes them in any order; nearly all of an axis.
    pub(crate) static DOALL: Cell<u32> = const { Cell::new(0) };
    pub(crate) static DOALL_MOST: Cell<u32> = const { Cell::new(0) };
    pub(crate) static DOALL_SOMETIMES: Cell<u32> = const { Cell::new(0) };
    /// What is accumulated at places that are shifted is moved in a row of a table.
    pub(crate) static SHIFTED_IN_A_ROW: Cell<u32> = const { Cell::new(0) };
    /// A piece bets on near angles that reads one row and writes another.
    pub(crate) static BET_BESIDE: Cell<u32> = const { Cell::new(0) };
    /// What lanes compute alike is copied to a tape that has none.
    pub(crate) static TAPED_APART: Cell<u32> = const { Cell::new(0) };
    /// Which is there where a condition holds.
    pub(crate) static SHIFTED_SOMETIMES: Cell<u32> = const { Cell::new(0) };
    /// A row is changed in place, of which another one is read.
    pub(crate) static CHANGED_BESIDE: Cell<u32> = const { Cell::new(0) };
    /// A loop whose steps go over neighbours in memory stays one.
    pub(crate) static COLUMNS_STAY: Cell<u32> = const { Cell::new(0) };
    /// A loop runs at each point of what its steps compute.
    pub(crate) static INTERCHANGED: Cell<u32> = const { Cell::new(0) };
    /// It does not, as it has only a few points.
    pub(crate) static FEW_STAY: Cell<u32> = const { Cell::new(0) };
    /// What is kept for readers at other points is kept where it is stored.
    pub(crate) static KEPT_AT_ONCE: Cell<u32> = const { Cell::new(0) };
    /// A place that counts from the index of a loop is not checked, as it is in range for all of its
    /// members.
    pub(crate) static UNCHECKED: Cell<u32> = const { Cell::new(0) };
    /// Or where a condition holds.
    pub(crate) static IN_RANGE_SOMETIMES: Cell<u32> = const { Cell::new(0) };
    /// What a row decides is known in the interior of rows.
    pub(crate) static TOLD: Cell<u32> = const { Cell::new(0) };
    /// The guard of what is turned round may say nothing where there is nothing along an axis.
    pub(crate) static GUARDED_IF_THERE: Cell<u32> = const { Cell::new(0) };
    /// What is copied to a tape may say nothing, and has no guard.
    pub(crate) static TAPED_IN_FULL: Cell<u32> = const { Cell::new(0) };
}
