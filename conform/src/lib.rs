//! The vectors of the specification (`spec/vectors/`), and what holds an implementation against them.
//!
//! A *vector* is a case: something to be done, such as opening a file or decoding a key, and the outcomes that are right.
//! `spec/vectors/README.md` describes their form, and the protocol through which any program is asked.
//!
//! | module | what it is |
//! |---|---|
//! | [`case`] | a case and its outcomes, as the manifests have them |
//! | [`load`] | from a folder to cases and files |
//! | [`index`] | the list of the files of a version, which none of them differs from |
//! | [`meaning`] | what a JSON text says |
//! | [`answer`] | what a subject said, and whether that is right |
//! | [`subject`] | whom is asked: the engine, or a program behind a pipe |
//! | [`run`] | asking, and what came of it |
//! | [`forge`] | files made byte by byte from the text of the specification |
//! | [`make`] | the vectors themselves |
#![deny(missing_docs)]

pub mod answer;
pub mod case;
pub mod forge;
pub mod hex;
pub mod index;
pub mod load;
pub mod make;
pub mod meaning;
pub mod question;
pub mod run;
pub mod subject;
