//! Orders and pointers.

use holotype_model::Value;

use crate::case::{Order, Outcome, Request};
use crate::forge::cbor;
use crate::make::ladder::{array, object, text};
use crate::make::{Maker, invalid, valid};

pub(super) fn orders(maker: &mut Maker) {
    let one_two = array([Value::Int(1), Value::Int(2)]);
    let two_one = array([Value::Int(2), Value::Int(1)]);
    for (a, b, order) in [(&one_two, &two_one, "less"), (&two_one, &one_two, "greater")] {
        let request = Request::Compare { a: cbor::value(a).into(), b: cbor::value(b).into() };
        let expect = vec![Outcome::Order(Order { order: order.to_owned(), equal: false })];
        let name = format!("The first of two items that differ decides: {order}");
        maker.case(&valid(&["V-3.5"], &["LengthFirst"]), name, request, expect);
    }
    let fields = object([("aa", Value::Int(1)), ("b", Value::Int(2))]);
    let request = Request::OrderKey { bytes: cbor::value(&fields).into() };
    let expect = vec![Outcome::Bytes(cbor::order_key(&fields).into())];
    let name = "The order key of an object has a shorter name first";
    maker.case(&valid(&["E-5.5", "E-5.1", "V-3.6"], &["AlphabeticNames"]), name, request, expect);
}

pub(super) fn pointers(maker: &mut Maker) {
    let document = cbor::value(&object([("t", text("abc")), ("m", object([("1", Value::Null)]))]));
    for pointer in ["/t/0", "/t/1", "/m/0"] {
        let request = Request::Get { bytes: document.clone().into(), pointer: pointer.to_owned() };
        let name = format!("The pointer {pointer} leads nowhere: an index is a step into an array alone");
        maker.case(&invalid(&["V-6.3"], &["PointerTooLenient"]), name, request, vec![Outcome::None(true)]);
    }
}
