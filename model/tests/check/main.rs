//! The driver passes a store that is right, and catches each of many that are wrong.

mod bug;
mod catches;
mod image;
mod indexed;
mod meets;
mod order;
mod passes;
mod rig;
mod toy;
mod transact;
