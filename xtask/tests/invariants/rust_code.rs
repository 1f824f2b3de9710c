//! Where unsafe code and I/O may stand, read from the syntax trees.

use crate::{ending, none, text};
use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The only places with unsafe code: the sandbox, and bindings to other languages.
pub(crate) const UNSAFE: &[&str] = &["host/sandbox", "host/capi", "host/bindings", "sdk-c/cjson-sys"];

/// Modules of the standard library that reach outside the process, or wait.
const OUTSIDE: &[&str] = &["env", "fs", "io", "net", "os", "process", "thread", "time"];

/// Collects what a rule forbids, with its line.
struct Finder<'a> {
    path: &'a Path,
    look_for_unsafe: bool,
    findings: Vec<String>,
}

impl Finder<'_> {
    fn note(&mut self, span: proc_macro2::Span, what: &str) {
        self.findings.push(format!("{}:{}: {what}", self.path.display(), span.start().line));
    }

    fn names(&mut self, names: &[String], span: proc_macro2::Span) {
        if !self.look_for_unsafe
            && let [std, module, ..] = names
            && std == "std"
            && OUTSIDE.contains(&module.as_str())
        {
            self.note(span, &format!("std::{module}"));
        }
    }

    /// Every full name that a `use` brings in.
    fn used(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.used(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) => self.names(&with(&name.ident), name.span()),
            syn::UseTree::Rename(rename) => self.names(&with(&rename.ident), rename.span()),
            syn::UseTree::Glob(glob) => self.names(&[before, &["*".to_owned()]].concat(), glob.span()),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.used(tree, before)),
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // Unit tests may read their vectors from files.
        let test = item.attrs.iter().any(|attribute| {
            attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "test")
        });
        if self.look_for_unsafe || !test {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.used(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.names(&names, path.span());
        visit::visit_path(self, path);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        if self.look_for_unsafe {
            self.note(block.span(), "an unsafe block");
        }
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if self.look_for_unsafe && matches!(signature.safety, syn::Safety::Unsafe(_)) {
            self.note(signature.span(), "an unsafe function");
        }
        visit::visit_signature(self, signature);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if self.look_for_unsafe && item.unsafety.is_some() {
            self.note(item.span(), "an unsafe implementation");
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        if self.look_for_unsafe {
            self.note(item.span(), "a foreign function");
        }
        visit::visit_item_foreign_mod(self, item);
    }
}

fn find(path: &Path, source: &str, look_for_unsafe: bool) -> Vec<String> {
    let file = syn::parse_file(source).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut finder = Finder { path, look_for_unsafe, findings: Vec::new() };
    finder.visit_file(&file);
    finder.findings
}

#[test]
fn the_protocol_does_no_io() {
    let mut findings = Vec::new();
    for path in ending("host/protocol/src", &["rs"]) {
        if !path.ends_with("tests.rs") {
            findings.extend(find(&path, &text(&path).expect("source is text"), false));
        }
    }
    none("host/protocol reaches outside", findings);
}

#[test]
fn unsafe_code_stands_only_where_it_is_allowed() {
    let mut findings = Vec::new();
    for path in ending("", &["rs"]) {
        if UNSAFE.iter().all(|allowed| !path.starts_with(allowed)) {
            findings.extend(find(&path, &text(&path).expect("source is text"), true));
        }
    }
    none("unsafe code outside host/sandbox and the bindings", findings);
}

#[test]
fn the_search_finds_what_it_looks_for() {
    let path = Path::new("sample.rs");
    let io = "use std::{fmt, fs::File, io::{self, Read as _}};\nfn f() { std::process::exit(1) }\n\
        #[cfg(test)]\nmod tests { use std::fs; }\n";
    assert_eq!(
        find(path, io, false),
        ["sample.rs:1: std::fs", "sample.rs:1: std::io", "sample.rs:1: std::io", "sample.rs:2: std::process"]
    );
    let code = "unsafe fn a() {}\nfn b() { unsafe {} }\nextern \"C\" { }\nunsafe impl Send for X {}\n";
    assert_eq!(find(path, code, true).len(), 4);
    assert_eq!(find(path, "fn a() { let unsafe_name = 1; }", true), Vec::<String>::new());
}
