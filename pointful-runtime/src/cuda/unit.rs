//! Kernels, as text.

/// Kernels that are compiled together: what they are, and the text of them.
#[derive(Debug)]
pub struct Unit {
    /// What messages call the text.
    pub name: &'static str,
    /// CUDA C over the names of the prelude.
    pub text: &'static str,
    /// The kernels in it.
    pub kernels: &'static [Kernel],
    /// What is defined in front of the text: names and values.
    pub definitions: &'static [(&'static str, &'static str)],
}

/// A kernel of a [`Unit`].
#[derive(Debug)]
pub struct Kernel {
    /// Its name in the text.
    pub name: &'static str,
    /// How many threads a block has: whole warps, as its `KERNEL` says.
    pub block: u32,
}

/// What is the same for all devices,
const BASE: &str = include_str!("prelude/base.cu");

/// and what only texts have that name it.
const MATH: &str = include_str!("prelude/math.cu");

impl Unit {
    /// The whole text for a device: its prelude, what is written over that, definitions, and the
    /// unit's own.
    pub(super) fn source(&self, prelude: &[(&str, &str)]) -> String {
        let mut source = String::new();
        let mut add = |name: &str, text: &str| {
            // Messages of the compiler, and of the emulated device, count lines of each text.
            source.push_str(&format!("#line 1 \"{name}\"\n{text}\n"));
        };
        for (name, text) in prelude {
            add(name, text);
        }
        add("base.cu", BASE);
        if self.text.contains("math::") {
            add("math.cu", MATH);
        }
        let definitions = self
            .definitions
            .iter()
            .map(|(name, value)| format!("#define {name} {value}\n"))
            .collect::<String>();
        add("definitions", &definitions);
        add(self.name, self.text);
        source
    }
}
