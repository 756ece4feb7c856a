//! Tables over typed index sets, and the parallel skeletons that code compiled by pointful runs on.
