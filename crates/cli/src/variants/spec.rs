//! What a variant is called and what it changes, from the command line.

use std::path::PathBuf;

use crate::args::InputArgs;
use crate::exit::Failure;

/// Longest name: it becomes a folder, and a word of a table.
const NAME_CHARS_MAX: usize = 24;

const FORM: &str = "write NAME:KEY=VALUE, e.g. --variant warm:load.cache=warm; NAME: alone changes nothing, and \
                    NAME:bin=PATH runs another feedline";

/// One variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariantSpec {
    /// Its name, a plain word.
    pub(crate) name: String,
    /// Overrides of the scenario, in order.
    pub(crate) set: Vec<String>,
    /// The feedline that measures it; this one where absent.
    pub(crate) binary: Option<PathBuf>,
}

impl VariantSpec {
    /// The variants of a command line, in the order in which their names first occur.
    ///
    /// # Errors
    /// A usage error for a name that is no plain word, an option without a name, a key that is given twice, and fewer than
    /// two variants.
    pub(crate) fn read(options: &[String]) -> Result<Vec<Self>, Failure> {
        let mut specs: Vec<Self> = Vec::new();
        for option in options {
            let Some((name, change)) = option.split_once(':') else {
                return Err(wrong(option, "it has no name"));
            };
            if !is_plain(name) {
                let shape = format!("a name is of at most {NAME_CHARS_MAX} letters, digits, `-` and `_`");
                return Err(wrong(option, &shape));
            }
            if let Some(known) = specs.iter_mut().find(|spec| spec.name == name) {
                if change.is_empty() {
                    return Err(wrong(option, &format!("there is a variant `{name}` already")));
                }
                known.change(option, change)?;
            } else {
                let mut spec = Self { name: name.to_owned(), set: Vec::new(), binary: None };
                if !change.is_empty() {
                    spec.change(option, change)?;
                }
                specs.push(spec);
            }
        }
        match specs.as_slice() {
            [one] => Err(Failure::usage(format!(
                "error: `{}` is the only variant: there is nothing to compare it with\n  hint: name the other too; \
                 --variant base: is the scenario as it is",
                one.name
            ))),
            _ => Ok(specs),
        }
    }

    fn change(&mut self, option: &str, change: &str) -> Result<(), Failure> {
        let Some((key, value)) = change.split_once('=') else {
            return Err(wrong(option, "it changes nothing: there is no `=`"));
        };
        let twice = || wrong(option, &format!("variant `{}` changes `{key}` twice", self.name));
        // A word that is no key of a scenario, so that the two cannot be confused.
        if key == "bin" {
            if self.binary.is_some() {
                return Err(twice());
            }
            self.binary = Some(PathBuf::from(value));
            return Ok(());
        }
        // The last would win in silence, and the table would show the first.
        if self.set.iter().any(|set| set.split_once('=').is_some_and(|(known, _)| known == key)) {
            return Err(twice());
        }
        self.set.push(change.to_owned());
        Ok(())
    }

    /// The scenario as this variant reads it.
    pub(crate) fn input(&self, base: &InputArgs) -> InputArgs {
        let set = base.set.iter().chain(&self.set).cloned().collect();
        InputArgs { set, ..base.clone() }
    }

    /// What it changes, in the words of the command line.
    pub(crate) fn settings(&self) -> Vec<String> {
        let binary = self.binary.as_ref().map(|path| format!("bin={}", path.display()));
        self.set.iter().cloned().chain(binary).collect()
    }
}

fn is_plain(name: &str) -> bool {
    let begins_well = name.chars().next().is_some_and(|first| first.is_ascii_alphanumeric());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    begins_well && name.chars().count() <= NAME_CHARS_MAX && name.chars().all(is_plain)
}

fn wrong(option: &str, why: &str) -> Failure {
    Failure::usage(format!("error: --variant {option}: {why}\n  hint: {FORM}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &[&str]) -> Result<Vec<VariantSpec>, String> {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        VariantSpec::read(&options).map_err(|failure| failure.to_string())
    }

    #[test]
    fn options_of_one_name_are_one_variant_in_the_order_of_names() {
        let specs = read(&["b:", "a:load.cache=warm", "a:need.rate=1 MB/s", "a:bin=/opt/feedline"]).unwrap();
        assert_eq!(specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(specs[0].settings(), Vec::<String>::new());
        assert_eq!(specs[1].settings(), ["load.cache=warm", "need.rate=1 MB/s", "bin=/opt/feedline"]);
        let base =
            InputArgs { input: "s.toml".to_owned(), set: vec!["x.y=1".to_owned()], ..InputArgs::default() };
        assert_eq!(specs[1].input(&base).set, ["x.y=1", "load.cache=warm", "need.rate=1 MB/s"]);
    }

    #[test]
    fn a_value_may_hold_colons_and_equal_signs() {
        let specs = read(&["a:targets.x.at=s3://bucket/a=b", "b:"]).unwrap();
        assert_eq!(specs[0].set, ["targets.x.at=s3://bucket/a=b"]);
    }

    #[test]
    fn what_is_no_variant_is_refused_with_what_to_write() {
        for (options, why) in [
            (&["load.cache=warm", "b:"][..], "it has no name"),
            (&["../a:", "b:"], "a name is of at most 24 letters"),
            (&[":x.y=1", "b:"], "a name is of at most 24 letters"),
            (&["-a:", "b:"], "a name is of at most 24 letters"),
            (&["a:warm", "b:"], "there is no `=`"),
            (&["a:", "a:"], "there is a variant `a` already"),
            (&["a:x.y=1", "a:x.y=2", "b:"], "changes `x.y` twice"),
            (&["a:bin=x", "a:bin=y", "b:"], "changes `bin` twice"),
            (&["a:x.y=1"], "the only variant"),
        ] {
            let refused = read(options).unwrap_err();
            assert!(refused.contains(why) && refused.contains("\n  hint: "), "{options:?}: {refused}");
        }
    }
}
