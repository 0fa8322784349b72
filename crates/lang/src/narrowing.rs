//! The lint about numbers that `as` makes smaller on their way to an output.
//!
//! A graph says what each variable and each result depends on, conditions included. Reported are
//! the conversions that an output of the entry depends on, unless the number certainly fits.

use std::collections::{BTreeSet, HashMap};

use num_bigint::{BigInt, Sign};

use crate::ast::BinaryOp;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ids::{InstanceId, Table};
use crate::source::{Sources, Span};
use crate::tir::{Expr, Instance, Kind, Local, Over, Pattern, PatternKind, Step, Stmt, Tir, TyRef};
use crate::ty::Shape;
use crate::value::Value;
use crate::walk::changed;

/// How large a number can be is found this deep in its expression.
const MOST_DEEP: u32 = 16;

/// A variable, a result or a condition.
type Node = usize;

/// What is computed for nothing but asserts.
const NOWHERE: Node = 0;

/// Reports the conversions that may not fit and that the results of an instance depend on.
pub(crate) fn lint(tir: &Tir, sources: &Sources, entry: InstanceId, errors: &mut Diagnostics) {
    let mut graph = Graph::new(tir);
    for (place, instance) in tir.instances.iter() {
        if let Some(instance) = instance {
            let root = graph.node();
            let result = graph.result(place);
            graph.depends(result, root);
            let (changed, bits) = (changed(&instance.body), HashMap::new());
            let (control, looped) = (root, root);
            let mut walk = Walk {
                tir,
                sources,
                instance,
                place,
                graph: &mut graph,
                root,
                control,
                looped,
                changed,
                bits,
            };
            walk.expr(&instance.body, result);
        }
    }
    let reached = graph.reached_from(graph.result(entry));
    for (node, span, what) in graph.narrowings {
        if reached[node] {
            let error = Diagnostic::new(Code::Narrowing, span, what);
            errors.push(error.help(
                "`x.checked_cast()` gives an `Option`, `#[checked]` an assert, and \
                 `#[allow(narrowing)]` permits it",
            ));
        }
    }
}

/// What depends on what.
struct Graph {
    /// The node of each instance's result; those of its variables follow.
    starts: Table<InstanceId, Node>,
    nodes: usize,
    /// A node, and what it depends on.
    edges: Vec<(Node, Node)>,
    /// What depends on each conversion, its place, and what is wrong with it.
    narrowings: Vec<(Node, Span, String)>,
}

impl Graph {
    fn new(tir: &Tir) -> Graph {
        let mut graph =
            Graph { starts: Table::default(), nodes: 1, edges: Vec::new(), narrowings: Vec::new() };
        for instance in tir.instances.rows() {
            graph.starts.push(graph.nodes);
            graph.nodes += 1 + instance.as_ref().map_or(0, |instance| instance.locals.len());
        }
        graph
    }

    fn node(&mut self) -> Node {
        self.nodes += 1;
        self.nodes - 1
    }

    fn result(&self, instance: InstanceId) -> Node {
        self.starts[instance]
    }

    fn local(&self, instance: InstanceId, local: Local) -> Node {
        self.starts[instance] + 1 + local as usize
    }

    fn depends(&mut self, what: Node, on: Node) {
        if what != NOWHERE && what != on {
            self.edges.push((what, on));
        }
    }

    /// Returns of each node whether this one depends on it.
    fn reached_from(&mut self, first: Node) -> Vec<bool> {
        self.edges.sort_unstable();
        let mut reached = vec![false; self.nodes];
        reached[first] = true;
        let mut left = vec![first];
        while let Some(node) = left.pop() {
            let from = self.edges.partition_point(|edge| edge.0 < node);
            for &(_, on) in self.edges[from..].iter().take_while(|edge| edge.0 == node) {
                if !std::mem::replace(&mut reached[on], true) {
                    left.push(on);
                }
            }
        }
        reached
    }
}

/// The walk over one instance.
struct Walk<'a> {
    tir: &'a Tir,
    sources: &'a Sources,
    instance: &'a Instance,
    place: InstanceId,
    graph: &'a mut Graph,
    /// What decides whether a `return` is reached.
    root: Node,
    /// What decides whether this is computed.
    control: Node,
    /// What decides whether the next round of the loop around is computed.
    looped: Node,
    /// The variables that are assigned to.
    changed: BTreeSet<Local>,
    /// How many bits the values of other variables can have.
    bits: HashMap<Local, u64>,
}

impl Walk<'_> {
    /// Walks over what this node depends on.
    fn expr(&mut self, expr: &Expr, to: Node) {
        match &expr.kind {
            Kind::Int(_) | Kind::Fraction(_) | Kind::Const(_) => {}
            Kind::Local(local) => {
                let local = self.graph.local(self.place, *local);
                self.graph.depends(to, local);
            }
            Kind::Cast(value) => {
                self.cast(expr, value, to);
                self.expr(value, to);
            }
            Kind::Unary(_, a)
            | Kind::Repeat(a)
            | Kind::Field(a, _)
            | Kind::Slice(a, _)
            | Kind::Expect(a, _) => self.expr(a, to),
            Kind::Binary(_, a, b) | Kind::Index(a, b) => {
                self.expr(a, to);
                self.expr(b, to);
            }
            Kind::Aggregate(parts) | Kind::Variant(_, parts) | Kind::Intrinsic(_, parts) => {
                parts.iter().for_each(|part| self.expr(part, to));
            }
            Kind::Call(call, values) => self.call(self.instance.calls[*call], values, to),
            Kind::Assert(condition, _) => self.expr(condition, NOWHERE),
            Kind::Return(value) => {
                let (result, root) = (self.graph.result(self.place), self.root);
                self.expr(value, result);
                self.graph.depends(root, self.control);
            }
            Kind::Break | Kind::Continue => self.graph.depends(self.looped, self.control),
            _ => self.flow(expr, to),
        }
    }

    fn call(&mut self, callee: InstanceId, values: &[Expr], to: Node) {
        let result = self.graph.result(callee);
        self.graph.depends(to, result);
        let tir = self.tir;
        let Some(instance) = &tir.instances[callee] else { return };
        for (value, &param) in values.iter().zip(&instance.params) {
            self.expr(value, self.graph.local(callee, param));
        }
    }

    /// Walks over choices, blocks and loops.
    fn flow(&mut self, expr: &Expr, to: Node) {
        match &expr.kind {
            Kind::If(condition, then, otherwise) => {
                let around = self.within(to);
                self.expr(condition, self.control);
                self.expr(then, to);
                otherwise.iter().for_each(|other| self.expr(other, to));
                self.control = around;
            }
            Kind::Match(value, arms) => {
                let around = self.within(to);
                let matched = self.control;
                self.expr(value, matched);
                for arm in arms {
                    self.binds(&arm.pattern, matched);
                    arm.guard.iter().for_each(|guard| self.expr(guard, matched));
                    self.expr(&arm.body, to);
                }
                self.control = around;
            }
            Kind::Block(stmts, tail) => {
                stmts.iter().for_each(|stmt| self.stmt(stmt));
                tail.iter().for_each(|tail| self.expr(tail, to));
            }
            Kind::Comprehension(pattern, over, body) => self.rounds(pattern, over, body, to),
            _ => {}
        }
    }

    /// Begins what is computed only under a condition, on which this node depends; returns what
    /// has decided before.
    fn within(&mut self, to: Node) -> Node {
        let inner = self.graph.node();
        self.graph.depends(inner, self.control);
        self.graph.depends(to, inner);
        std::mem::replace(&mut self.control, inner)
    }

    fn rounds(&mut self, pattern: &Pattern, over: &Over, body: &Expr, to: Node) {
        let around = self.within(to);
        let outer = std::mem::replace(&mut self.looped, self.control);
        match over {
            Over::Range(..) => self.expr(body, to),
            Over::Array(array) => {
                let element = self.graph.node();
                self.expr(array, element);
                self.binds(pattern, element);
                self.expr(body, to);
            }
            Over::Rounds(rounds) => rounds.iter().for_each(|round| self.expr(round, to)),
        }
        (self.looped, self.control) = (outer, around);
    }

    fn binds(&mut self, pattern: &Pattern, value: Node) {
        match &pattern.kind {
            PatternKind::Bind(local) => {
                let local = self.graph.local(self.place, *local);
                self.graph.depends(local, value);
            }
            PatternKind::Tuple(parts) | PatternKind::Variant(_, parts) | PatternKind::Or(parts) => {
                parts.iter().for_each(|part| self.binds(part, value));
            }
            PatternKind::Any | PatternKind::Range(..) => {}
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let(pattern, value) => {
                let bound = match pattern.kind {
                    PatternKind::Bind(local) => {
                        let bits = self.most(value, 0);
                        self.bits.insert(local, bits);
                        self.graph.local(self.place, local)
                    }
                    _ => {
                        let bound = self.graph.node();
                        self.binds(pattern, bound);
                        bound
                    }
                };
                self.expr(value, bound);
            }
            Stmt::Expr(value) => self.expr(value, NOWHERE),
            Stmt::Assign(place, _, value) => {
                let local = self.graph.local(self.place, place.local);
                self.graph.depends(local, self.control);
                for (step, _) in &place.path {
                    if let Step::Index(index) = step {
                        self.expr(index, local);
                    }
                }
                self.expr(value, local);
            }
            Stmt::For(pattern, over, body, _) => self.rounds(pattern, over, body, NOWHERE),
        }
    }

    /// Notes a conversion to fewer bits.
    fn cast(&mut self, expr: &Expr, value: &Expr, to: Node) {
        if self.instance.may_narrow || value.constant {
            return;
        }
        let (from, into) = (self.shape(value.ty), self.shape(expr.ty));
        let (Some(wide), Some(narrow)) = (number(from), number(into)) else { return };
        // What is not negative leaves the sign bit free.
        let room = narrow.1 - u64::from(narrow.0 && !wide.0);
        if narrow.1 >= wide.1 || self.most(value, 0) <= room {
            return;
        }
        let (from, into) = (shown(from), shown(into));
        let what = format!("not every `{from}` fits in `{into}`, and an output depends on this");
        self.graph.narrowings.push((to, expr.span, what));
    }

    fn shape(&self, ty: TyRef) -> &Shape {
        self.tir.shapes.shape(self.instance.types[ty as usize])
    }

    /// Returns how many bits a number has before the point at most. Of a signed number it is the
    /// width of its type, unless the number is a literal.
    fn most(&self, expr: &Expr, depth: u32) -> u64 {
        let of = |part: &Expr| self.most(part, depth + 1);
        let (signed, width) = match number(self.shape(expr.ty)) {
            Some(number) => number,
            None => return u64::from(matches!(self.shape(expr.ty), Shape::Bool)),
        };
        if let Some(bits) = literal(expr) {
            return width.min(bits + u64::from(signed));
        }
        if signed || depth > MOST_DEEP {
            return width;
        }
        let most = match &expr.kind {
            Kind::Local(local) if !self.changed.contains(local) => {
                self.bits.get(local).copied().unwrap_or(width)
            }
            Kind::Cast(value) if is_signed(self.shape(value.ty)) => width,
            Kind::Cast(value) => of(value),
            Kind::Binary(op, a, b) => match op {
                BinaryOp::And => of(a).min(of(b)),
                BinaryOp::Or | BinaryOp::Xor => of(a).max(of(b)),
                BinaryOp::Add => of(a).max(of(b)) + 1,
                BinaryOp::Mul => of(a) + of(b),
                // A division by 0 gives all ones, and the dividend as its remainder.
                BinaryOp::Div => match literal(b) {
                    Some(bits) if bits > 0 => (of(a) + 1).saturating_sub(bits),
                    _ => width,
                },
                BinaryOp::Rem => match constant(b).filter(|by| by.sign() == Sign::Plus) {
                    Some(by) => of(a).min((by - 1u32).bits()),
                    None => of(a),
                },
                BinaryOp::Shr => of(a).saturating_sub(places(b).unwrap_or(0)),
                BinaryOp::Shl => places(b).map_or(width, |by| of(a).saturating_add(by)),
                _ => width,
            },
            Kind::If(_, then, Some(otherwise)) => of(then).max(of(otherwise)),
            Kind::Match(_, arms) => arms.iter().map(|arm| of(&arm.body)).max().unwrap_or(width),
            Kind::Block(_, Some(tail)) => of(tail),
            Kind::Call(call, values) => self.least_of(*call, values, depth).unwrap_or(width),
            _ => width,
        };
        most.min(width)
    }

    /// Returns how many bits the result of the library's `min` and `clamp` has at most.
    fn least_of(&self, call: usize, values: &[Expr], depth: u32) -> Option<u64> {
        let callee = self.tir.instances[self.instance.calls[call]].as_ref()?;
        let name = callee.name.split('<').next()?;
        let source = self.sources.files.get(callee.span.file as usize);
        let of_std = source.is_some_and(|source| source.name.starts_with("std/"));
        match (of_std, name, values) {
            (true, "min", [a, b]) => Some(self.most(a, depth + 1).min(self.most(b, depth + 1))),
            (true, "clamp", [_, _, high]) => Some(self.most(high, depth + 1)),
            _ => None,
        }
    }
}

/// Returns whether numbers of a type are signed, and their bits before the point.
fn number(shape: &Shape) -> Option<(bool, u64)> {
    match shape {
        Shape::Int(signed, width) => Some((*signed, u64::from(*width))),
        Shape::Fixed(int, _) => Some((true, u64::from(*int))),
        _ => None,
    }
}

fn is_signed(shape: &Shape) -> bool {
    number(shape).is_none_or(|(signed, _)| signed)
}

/// Returns the number that an expression is, if it is a literal or a constant.
fn constant(expr: &Expr) -> Option<&BigInt> {
    match &expr.kind {
        Kind::Int(number) => Some(number),
        Kind::Const(value) => match &**value {
            Value::Int(number) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// Returns how many bits a literal integer has that is not negative.
fn literal(expr: &Expr) -> Option<u64> {
    constant(expr).filter(|number| number.sign() != Sign::Minus).map(BigInt::bits)
}

/// Returns how far a constant shifts.
fn places(expr: &Expr) -> Option<u64> {
    constant(expr).and_then(|number| u64::try_from(number).ok())
}

fn shown(shape: &Shape) -> String {
    match shape {
        Shape::Int(signed, width) => format!("{}{width}", if *signed { 'i' } else { 'u' }),
        Shape::Fixed(int, frac) => format!("fixed<{int}, {frac}>"),
        _ => "number".into(),
    }
}
