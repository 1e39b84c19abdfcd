//! What a query is asked with: texts, or what they were parsed to.

use std::ops::RangeFull;

use crate::error::Result;
use crate::query::{Expression, Filter};

/// A filter: a [`Filter`], its text, or `..` for all documents.
pub trait IntoFilter {
    /// The filter; `None` admits all documents.
    ///
    /// # Errors
    /// As [`Filter::parse`].
    fn into_filter(self) -> Result<Option<Filter>>;
}

/// An expression: an [`Expression`], or its text.
pub trait IntoExpression {
    /// The expression.
    ///
    /// # Errors
    /// As [`Expression::parse`].
    fn into_expression(self) -> Result<Expression>;
}

impl IntoFilter for RangeFull {
    fn into_filter(self) -> Result<Option<Filter>> {
        Ok(None)
    }
}

impl IntoFilter for Filter {
    fn into_filter(self) -> Result<Option<Filter>> {
        Ok(Some(self))
    }
}

impl IntoFilter for &Filter {
    fn into_filter(self) -> Result<Option<Filter>> {
        Ok(Some(self.clone()))
    }
}

impl IntoFilter for &str {
    fn into_filter(self) -> Result<Option<Filter>> {
        Filter::parse(self).map(Some)
    }
}

impl IntoFilter for &String {
    fn into_filter(self) -> Result<Option<Filter>> {
        Filter::parse(self).map(Some)
    }
}

impl IntoExpression for Expression {
    fn into_expression(self) -> Result<Expression> {
        Ok(self)
    }
}

impl IntoExpression for &Expression {
    fn into_expression(self) -> Result<Expression> {
        Ok(self.clone())
    }
}

impl IntoExpression for &str {
    fn into_expression(self) -> Result<Expression> {
        Expression::parse(self)
    }
}

impl IntoExpression for &String {
    fn into_expression(self) -> Result<Expression> {
        Expression::parse(self)
    }
}
