//! Modules import in one direction.
//!
//! A module is a file. It imports another where it names something of it: by `use`, or by a path that begins with `crate`,
//! `self`, `super`, a module of its own or a name that it has by `use`. A name that another module passes on is imported from
//! both: from the one by whose path it is named, and from the one that defines it. To declare a module, and to pass on a name
//! that the file itself makes no use of, imports nothing, nor does to say who may see a name. That a child names its parent
//! counts like any other import. Tests are left out, and so are modules written out inside a file.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::{Source, sources};

/// The layers of `analysis`, the lowest first. None imports from one above it.
const LAYERS: [&[&str]; 6] =
    [&["cell"], &["curve"], &["choice"], &["verdict"], &["summary"], &["gate", "comparison"]];

/// Path of a module inside its crate; empty for the root.
type Module = Vec<String>;

/// Who imports from whom in a crate.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

#[test]
fn modules_import_in_no_circle() {
    let mut circles = Vec::new();
    for (name, imports) in &crates() {
        for (from, imported) in imports {
            let back = imported.iter().filter(|to| reaches(imports, to, from));
            circles.extend(back.map(|to| arrow(name, from, to)));
        }
    }
    assert!(circles.is_empty(), "these imports are part of a circle: {circles:#?}");
}

#[test]
fn layers_of_analysis_import_downwards() {
    let imports = &crates()["analysis"];
    let layer = |module: &Module| {
        let folder = module.first().map_or("", String::as_str);
        LAYERS.iter().position(|layer| layer.contains(&folder))
    };
    let upwards = imports.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    let upwards = upwards.filter(|(from, to)| layer(from) < layer(to) && layer(from).is_some());
    let upwards: Vec<String> = upwards.map(|(from, to)| arrow("analysis", from, to)).collect();
    assert!(upwards.is_empty(), "{upwards:#?}");
}

fn arrow(name: &str, from: &Module, to: &Module) -> String {
    let words = |module: &Module| if module.is_empty() { "lib".to_owned() } else { module.join("::") };
    format!("{name} {} -> {}", words(from), words(to))
}

/// Whether `from` imports from `to`, by however many others.
fn reaches(imports: &Imports, from: &Module, to: &Module) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        if seen.insert(module) {
            open.extend(imports.get(module).into_iter().flatten());
        }
    }
    false
}

/// The imports of every crate, by its name.
fn crates() -> BTreeMap<String, Imports> {
    let mut files: BTreeMap<String, BTreeMap<Module, File>> = BTreeMap::new();
    for source in sources() {
        let name = source.name.strip_prefix("crates/").unwrap_or(&source.name);
        let Some((name, path)) = name.split_once("/src/") else { continue };
        let mut module: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        files.entry(name.to_owned()).or_default().insert(module, File::of(&source));
    }
    for modules in files.values_mut() {
        let tests: BTreeSet<Module> =
            modules.iter().flat_map(|(module, file)| file.tests_of(module)).collect();
        modules.retain(|module, _| (1..=module.len()).all(|length| !tests.contains(&module[..length])));
    }
    files.into_iter().map(|(name, modules)| (name, imports(&modules))).collect()
}

fn imports(files: &BTreeMap<Module, File>) -> Imports {
    let of_file = |(module, file): (&Module, &File)| {
        let named = file.paths.iter().filter_map(|path| absolute(files, module, path));
        let of_path = |path: Vec<String>| [named_in(files, &path), owner(files, &path, 0)];
        let mut all: BTreeSet<Module> = named.flat_map(of_path).flatten().collect();
        all.remove(module);
        (module.clone(), all)
    };
    files.iter().map(of_file).collect()
}

/// A path from the root of the crate; `None` for what is of another crate.
fn absolute(files: &BTreeMap<Module, File>, module: &Module, path: &[String]) -> Option<Vec<String>> {
    let up = path.iter().take_while(|word| matches!(word.as_str(), "self" | "super")).count();
    let supers = path.iter().filter(|word| *word == "super").count();
    let child = [module.as_slice(), &path[..1]].concat();
    match path[0].as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" | "super" => Some([&module[..module.len().checked_sub(supers)?], &path[up..]].concat()),
        first => {
            let imported = files[module].imported.get(first).filter(|path| path[0] != first);
            let imported = imported.and_then(|imported| absolute(files, module, imported));
            let named = imported.or_else(|| files.contains_key(&child).then_some(child))?;
            Some([named.as_slice(), &path[1..]].concat())
        }
    }
}

/// The module by whose path something is named.
fn named_in(files: &BTreeMap<Module, File>, path: &[String]) -> Option<Module> {
    let length = (0..=path.len()).rev().find(|length| files.contains_key(&path[..*length]))?;
    Some(path[..length].to_vec())
}

/// The module that defines what a path names, through those that only pass it on.
fn owner(files: &BTreeMap<Module, File>, path: &[String], passed: usize) -> Option<Module> {
    let module = named_in(files, path)?;
    let rest = &path[module.len()..];
    let passed_on = rest.first().and_then(|name| files[&module].imported.get(name)).filter(|_| passed < 8);
    let target = passed_on.and_then(|path| absolute(files, &module, path));
    match target {
        Some(target) => owner(files, &[target.as_slice(), &rest[1..]].concat(), passed + 1),
        None => Some(module),
    }
}

/// What a file says of other modules.
struct File {
    /// Paths that it names.
    paths: BTreeSet<Vec<String>>,
    /// Names that it has from elsewhere, with where from.
    imported: BTreeMap<String, Vec<String>>,
    /// Its modules that are tests.
    tests: Vec<String>,
}

impl File {
    fn of(source: &Source) -> Self {
        let tokens = tokens(&source.text);
        let mut file = Self { paths: BTreeSet::new(), imported: BTreeMap::new(), tests: Vec::new() };
        let (mut passed_on, mut code, mut at) = (Vec::new(), Vec::new(), 0);
        while at < tokens.len() {
            let next = |ahead: usize| tokens.get(at + ahead).map_or("", String::as_str);
            if tokens[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"].map(str::to_owned)) {
                let end = end_of_item(&tokens, at);
                let is_file = tokens[end] == ";";
                let module = tokens[at..end].iter().position(|token| token == "mod");
                file.tests.extend(module.filter(|_| is_file).map(|module| tokens[at + module + 1].clone()));
                at = end;
            } else if next(0) == "use" {
                let is_passed_on = at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")");
                let end = end_of_item(&tokens, at);
                for (path, name) in tree(&tokens[at + 1..end]) {
                    file.imported.insert(name.clone(), path.clone());
                    if is_passed_on {
                        passed_on.push((path, name));
                    } else {
                        file.paths.insert(path);
                    }
                }
                at = end;
            } else if (next(0), next(1)) == ("pub", "(") {
                at += tokens[at..].iter().position(|token| token == ")").unwrap();
            } else {
                code.push(next(0));
            }
            at += 1;
        }
        for (index, _) in code.iter().enumerate().filter(|(index, _)| begins(&code, *index)) {
            let path = path_at(&code[index..]);
            if path.len() > 1 {
                file.paths.insert(path);
            }
        }
        file.paths
            .extend(passed_on.into_iter().filter(|(_, name)| is_used(&code, name)).map(|(path, _)| path));
        file
    }

    fn tests_of(&self, module: &Module) -> Vec<Module> {
        self.tests.iter().map(|name| [module.as_slice(), std::slice::from_ref(name)].concat()).collect()
    }
}

/// The `;` or the closing brace with which the item at `start` ends.
fn end_of_item(tokens: &[String], start: usize) -> usize {
    let is_use = tokens[start] == "use";
    let mut depth = 0_i32;
    for (index, token) in tokens.iter().enumerate().skip(start) {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 && (token == ";" || (token == "}" && !is_use)) {
            return index;
        }
    }
    tokens.len() - 1
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn begins(code: &[&str], index: usize) -> bool {
    is_name(code[index]) && (index == 0 || !matches!(code[index - 1], "::" | "."))
}

fn path_at(code: &[&str]) -> Vec<String> {
    let mut path = vec![code[0].to_owned()];
    for pair in code[1..].chunks_exact(2) {
        if pair[0] != "::" || !is_name(pair[1]) {
            break;
        }
        path.push(pair[1].to_owned());
    }
    path
}

/// A type wherever it stands, a function where it is called.
fn is_used(code: &[&str], name: &str) -> bool {
    let is_type = name.starts_with(char::is_uppercase);
    let called = |index: usize| code.get(index + 1) == Some(&"(") && (index == 0 || code[index - 1] != "fn");
    (0..code.len()).any(|index| code[index] == name && begins(code, index) && (is_type || called(index)))
}

/// The paths of a `use`, each with the name that it brings.
fn tree(tokens: &[String]) -> Vec<(Vec<String>, String)> {
    let brace = tokens.iter().position(|token| token == "{");
    let names = |tokens: &[String]| -> Vec<String> {
        tokens.iter().take_while(|token| *token != "as").filter(|token| *token != "::").cloned().collect()
    };
    let Some(brace) = brace else {
        let path = names(tokens);
        let name = tokens.last().filter(|name| *name != "self").or(path.iter().rev().nth(1));
        let name = name.cloned().unwrap_or_default();
        return if path.is_empty() { Vec::new() } else { vec![(path, name)] };
    };
    let head = names(&tokens[..brace]);
    let (mut depth, mut parts) = (0, vec![Vec::new()]);
    for token in &tokens[brace + 1..tokens.len() - 1] {
        depth += i32::from(token == "{") - i32::from(token == "}");
        if token == "," && depth == 0 {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(token.clone());
        }
    }
    let whole = |(path, name): (Vec<String>, String)| {
        let is_self = path.last().is_some_and(|last| last == "self");
        let path = [head.as_slice(), &path[..path.len() - usize::from(is_self)]].concat();
        let name = if is_self { head.last().cloned().unwrap_or_default() } else { name };
        (path, name)
    };
    parts.iter().flat_map(|part| tree(part)).map(whole).collect()
}

/// Names, `::` and single signs, without comments and literals.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => literal(rest),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#\"") => raw(rest),
            // A sign between quotes; else a lifetime.
            '\'' => character(rest),
            _ if first.is_alphanumeric() || first == '_' => {
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                tokens.push(rest[..length].to_owned());
                length
            }
            ':' if rest.starts_with("::") => {
                tokens.push("::".to_owned());
                2
            }
            _ => {
                tokens.extend((!first.is_whitespace()).then(|| first.to_string()));
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    tokens
}

fn literal(rest: &str) -> usize {
    let mut is_escaped = false;
    for (index, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw(rest: &str) -> usize {
    let (start, end) = if rest.starts_with("r#") { (3, "\"#") } else { (2, "\"") };
    rest[start..].find(end).map_or(rest.len(), |at| start + at + end.len())
}

fn character(rest: &str) -> usize {
    if rest[1..].starts_with('\\') {
        return rest[3..].find('\'').map_or(rest.len(), |at| at + 4);
    }
    let mut signs = rest[1..].char_indices();
    let after = signs.nth(1);
    after.filter(|(_, sign)| *sign == '\'').map_or(1, |(at, _)| at + 2)
}
