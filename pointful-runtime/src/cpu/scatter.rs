//! What points combine into a table at places that are computed.
//!
//! Pieces of the work have private copies of the table as long as it is small beside their work. A
//! large one takes longer to copy and to merge than there is to do, so pieces *note* what is
//! combined where instead, in a bin for each stretch of the table. Then the stretches are shared
//! out: whoever owns one combines into it what all pieces have noted, in order. Nobody waits for
//! anybody, every element is combined in the order of the points, and a bin's stretch fits in a
//! cache. Work of many points goes through this in rounds, so that notes take no more memory than
//! those of one.

use crate::buffer::{Buf, Out, OutBuf};

/// The most stretches that a table is cut into: each has a place that is written next, which a
/// processor remembers of a few hundred.
pub(super) const MOST_BINS: usize = 256;

/// A stretch is at least so many bytes, so that its bin is not mostly empty.
const STRETCH_BYTES: usize = 1 << 14;

/// Tables of fewer bytes are copied even where others are noted.
const NOTED_BYTES: usize = 1 << 16;

/// Notes are kept in chunks of so many, which begin at multiples of their size.
const CHUNK: usize = 256;

/// An accumulator of a kernel: a table that points combine into at computed places, or notes of
/// what they combine.
#[derive(Debug)]
pub struct Scatter<T: Copy> {
    /// No elements if it is noted.
    table: OutBuf<T>,
    out: Out<T>,
    /// What each stretch of the table is filled with when it is first settled, if it is not yet.
    unfilled: Option<T>,
    /// Of each piece of the work, in order.
    notes: Vec<Notes<T>>,
    /// Which stretch an element lies in: its index without so many of the last bits.
    shift: u32,
    /// How much a piece may note; nothing if pieces have copies.
    most: usize,
}

/// How a kernel combines into a [`Scatter`].
#[derive(Debug)]
pub struct ScatterView<T: Copy> {
    table: Out<T>,
    /// None if it is no notes.
    notes: *mut Notes<T>,
    free: *mut *mut Note<T>,
    shift: u32,
}

impl<T: Copy> Clone for ScatterView<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for ScatterView<T> {}

/// One element, by its index in a stretch, and what is combined into it.
#[derive(Clone, Copy)]
struct Note<T> {
    at: u32,
    value: T,
}

/// What one piece has noted.
struct Notes<T: Copy> {
    /// Of each bin, where the next note is written. Where a chunk would begin: nowhere yet, it
    /// needs one.
    free: Vec<*mut Note<T>>,
    /// The first and the last chunk of each bin; [`NONE`] if it has none.
    chunks: Vec<[u32; 2]>,
    /// Memory for chunks, and where the first of each piece of it begins.
    slabs: Vec<(OutBuf<Note<T>>, *mut Note<T>)>,
    chunks_of_slab: usize,
    /// Of each chunk that is in use, in the order in which they were taken, the next one of its
    /// bin; [`NONE`] if it is the last.
    next: Vec<u32>,
}

/// No chunk.
const NONE: u32 = u32::MAX;

// SAFETY: its pointers are into its slabs, and are only written through by who has it mutably.
unsafe impl<T: Copy + Send> Send for Notes<T> {}
// SAFETY: who shares it only reads what was noted.
unsafe impl<T: Copy + Sync> Sync for Notes<T> {}

impl<T: Copy> std::fmt::Debug for Notes<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notes")
            .field("bins", &self.free.len())
            .field("chunks", &self.next.len())
            .finish_non_exhaustive()
    }
}

impl<T: Copy> Scatter<T> {
    /// A table of `len` elements.
    pub fn table(len: usize, identity: T) -> Self {
        Self::of(OutBuf::from(Buf::filled(len, identity)))
    }

    fn of(mut table: OutBuf<T>) -> Self {
        Self {
            out: table.out(),
            table,
            unfilled: None,
            notes: Vec::new(),
            shift: 0,
            most: 0,
        }
    }

    /// Notes of what is combined into a table of `len` elements, at most about so many; a table if
    /// that is small. At most nothing: the table that notes of others are settled in, whose
    /// stretches are filled as that is done for the first time.
    pub fn noting(len: usize, identity: T, most: usize) -> Self {
        let of = if len.saturating_mul(size_of::<T>()) < NOTED_BYTES {
            Self::table(len, identity)
        } else if most == 0 {
            Self {
                unfilled: Some(identity),
                ..Self::of(OutBuf::new(len))
            }
        } else {
            let (shift, bins) = stretches::<T>(len);
            Self {
                notes: vec![Notes::new(bins, most)],
                shift,
                ..Self::of(OutBuf::new(0))
            }
        };
        Self { most, ..of }
    }

    /// How much a piece may note; 0 if pieces have copies.
    pub fn most(&self) -> usize {
        self.most
    }

    /// How a kernel's body reaches it.
    #[inline(always)]
    pub fn view(&mut self) -> ScatterView<T> {
        let none = (std::ptr::null_mut(), std::ptr::null_mut());
        let (free, notes) = self.notes.first_mut().map_or(none, |notes| {
            (notes.free.as_mut_ptr(), std::ptr::from_mut(notes))
        });
        ScatterView {
            table: self.out,
            notes,
            free,
            shift: self.shift,
        }
    }

    /// Combines what a later piece has into what an earlier one has.
    ///
    /// # Safety
    /// Both are of the same table. What the later one has noted, if it has and this one has not,
    /// has been [settled](Self::settle) here in every stretch.
    pub unsafe fn merge(&mut self, later: Self, combine: impl Fn(T, T) -> T) {
        if !self.notes.is_empty() {
            self.notes.extend(later.notes);
        } else if !later.notes.is_empty() {
            self.unfilled = None;
        } else {
            for (at, &later) in later.iter().enumerate() {
                // SAFETY: tables of the same length, as promised by the caller; none is unfilled but the one that notes are settled in.
                unsafe { self.out.write(at, combine(self.out.read(at), later)) };
            }
        }
    }

    /// Combines into one stretch of this table what was noted for it, if there is such a stretch.
    ///
    /// # Safety
    /// The notes are of a table as long as this one, and nobody else reads or writes the stretch
    /// meanwhile.
    pub unsafe fn settle(&self, noted: &Self, stretch: usize, combine: impl Fn(T, T) -> T) {
        let start = stretch << noted.shift;
        if let Some(identity) = self.unfilled {
            let end = self.out.len().min((stretch + 1) << noted.shift);
            for at in start..end {
                // SAFETY: promised by the caller.
                unsafe { self.out.write(at, identity) };
            }
        }
        for notes in &noted.notes {
            notes.each(stretch, |note| {
                let at = start + note.at as usize;
                // SAFETY: promised by the caller; the place was below the table's length when it was noted.
                unsafe { self.out.write(at, combine(self.out.read(at), note.value)) };
            });
        }
    }
}

impl<T: Copy> From<Scatter<T>> for OutBuf<T> {
    /// The table.
    fn from(all: Scatter<T>) -> Self {
        all.table
    }
}

/// How tables are cut into stretches of a power of two: its exponent, and how many there are.
fn stretches<T>(len: usize) -> (u32, usize) {
    let least = (STRETCH_BYTES / size_of::<T>().max(1)).max(1);
    let stretch = len.div_ceil(MOST_BINS).max(least).next_power_of_two();
    let shift = stretch.trailing_zeros();
    assert!(shift <= u32::BITS, "a place in a stretch is 32 bits");
    (shift, len.div_ceil(stretch))
}

impl<T: Copy> std::ops::Deref for Scatter<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        assert!(
            self.unfilled.is_none(),
            "a table is settled before it is read"
        );
        // SAFETY: it was filled when it was made, or as it was settled.
        unsafe { self.table.written() }
    }
}

impl<T: Copy> ScatterView<T> {
    /// Combines a value into the element at `index`.
    ///
    /// # Safety
    /// `index` is less than the table's length; what the view was made of is alive, and nobody else
    /// combines into it meanwhile.
    #[inline(always)]
    pub unsafe fn combine(self, index: usize, value: T, combine: impl Fn(T, T) -> T) {
        // SAFETY: promised by the caller. There are as many bins as the table has stretches.
        unsafe {
            if self.free.is_null() {
                self.table
                    .write(index, combine(self.table.read(index), value));
                return;
            }
            let bin = index >> self.shift;
            let mut free = *self.free.add(bin);
            if free.addr().is_multiple_of(Notes::<T>::CHUNK_BYTES) {
                free = (*self.notes).take_chunk(bin);
            }
            let at = (index & ((1 << self.shift) - 1)) as u32;
            free.write(Note { at, value });
            *self.free.add(bin) = free.add(1);
        }
    }
}

impl<T: Copy> Notes<T> {
    const CHUNK_BYTES: usize = {
        let bytes = CHUNK * size_of::<Note<T>>();
        assert!(
            bytes.is_power_of_two(),
            "a note of an element is 8 or 16 bytes"
        );
        bytes
    };

    fn new(bins: usize, most: usize) -> Self {
        Self {
            free: vec![std::ptr::null_mut(); bins],
            chunks: vec![[NONE; 2]; bins],
            slabs: Vec::new(),
            chunks_of_slab: most.div_ceil(CHUNK) + bins,
            next: Vec::new(),
        }
    }

    /// Gives a bin another chunk, which begins there.
    #[cold]
    #[inline(never)]
    fn take_chunk(&mut self, bin: usize) -> *mut Note<T> {
        let chunk = self.next.len();
        if chunk == self.slabs.len() * self.chunks_of_slab {
            // One more, so that they can begin where they should.
            let mut slab = OutBuf::<Note<T>>::new((self.chunks_of_slab + 1) * CHUNK);
            let start = slab.out().start();
            let start = start.map_addr(|addr| addr.next_multiple_of(Self::CHUNK_BYTES));
            self.slabs.push((slab, start));
        }
        let number =
            u32::try_from(chunk).expect("as many chunks take more memory than a piece's notes");
        let [first, last] = &mut self.chunks[bin];
        match *last {
            NONE => *first = number,
            last => self.next[last as usize] = number,
        }
        *last = number;
        self.next.push(NONE);
        self.start_of(chunk)
    }

    /// Where a chunk begins.
    #[inline(always)]
    fn start_of(&self, chunk: usize) -> *mut Note<T> {
        let slab = self.slabs[chunk / self.chunks_of_slab].1;
        // SAFETY: the slab has as many chunks.
        unsafe { slab.add(chunk % self.chunks_of_slab * CHUNK) }
    }

    /// All notes of a bin, in order.
    #[inline(always)]
    fn each(&self, bin: usize, mut with: impl FnMut(Note<T>)) {
        let Some(&[first, last]) = self.chunks.get(bin) else {
            return;
        };
        let mut chunk = first;
        while chunk != NONE {
            let start = self.start_of(chunk as usize);
            // SAFETY: all of a chunk is written, but of the last what lies before the next note's place.
            let notes = unsafe {
                let count = if chunk == last {
                    self.free[bin].offset_from(start) as usize
                } else {
                    CHUNK
                };
                std::slice::from_raw_parts(start, count)
            };
            notes.iter().for_each(|&note| with(note));
            chunk = self.next[chunk as usize];
        }
    }
}
