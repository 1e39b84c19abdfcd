//! The disk as the engine sees it.
