//! Making a tree of keys that come in order: full leaves, one behind the other, and branches above them.

use super::super::Entry;
use super::keys::{Keys, separator};
use super::{Branch, Leaf, Node, Tree};

/// A tree in the making, of keys that come in order.
#[derive(Debug)]
pub(in crate::index) struct Builder {
    tree: Tree,
    leaf: Leaf,
    /// The leaves that are done.
    nodes: Vec<Node>,
    /// What stands in front of each node but the first.
    separators: Vec<Vec<u8>>,
}

impl Builder {
    pub(in crate::index) fn new(full: usize) -> Self {
        let (leaf, nodes, separators) = (Leaf::default(), Vec::new(), Vec::new());
        Builder { tree: Tree::new(full), leaf, nodes, separators }
    }

    pub(in crate::index) fn push(&mut self, key: &[u8], entry: Entry) {
        let len = self.leaf.keys.len();
        assert!(len == 0 || self.leaf.keys.last() < key, "keys come in order");
        if len == self.tree.full || len > 0 && !self.leaf.keys.has_room(key.len()) {
            self.separators.push(separator(self.leaf.keys.last(), key).to_vec());
            self.end_leaf();
        }
        self.leaf.insert_at(self.leaf.keys.len(), key, entry);
        self.tree.len += 1;
        self.tree.key_bytes += key.len();
    }

    fn end_leaf(&mut self) {
        self.leaf.keys.shrink();
        self.nodes.push(Node::Leaf(Box::new(std::mem::take(&mut self.leaf))));
    }

    pub(in crate::index) fn finish(mut self) -> Tree {
        if self.tree.len > 0 {
            self.end_leaf();
        }
        let Builder { mut tree, mut nodes, mut separators, .. } = self;
        while nodes.len() > 1 {
            (nodes, separators) = branches(nodes, separators, tree.full);
        }
        tree.root = nodes.pop();
        tree
    }
}

/// The nodes above `nodes`, and what stands between them.
fn branches(nodes: Vec<Node>, between: Vec<Vec<u8>>, full: usize) -> (Vec<Node>, Vec<Vec<u8>>) {
    let (mut above, mut above_between) = (Vec::new(), Vec::new());
    let mut between = between.into_iter().peekable();
    let mut nodes = nodes.into_iter().peekable();
    while nodes.peek().is_some() {
        let mut children: Vec<_> = nodes.next().into_iter().collect();
        let mut separators = Keys::default();
        while children.len() < full && nodes.peek().is_some() {
            let Some(separator) = between.next_if(|separator| separators.has_room(separator.len())) else {
                break;
            };
            separators.insert(separators.len(), &separator);
            children.extend(nodes.next());
        }
        above.push(Node::Branch(Box::new(Branch { separators, children })));
        above_between.extend(between.next());
    }
    (above, above_between)
}
