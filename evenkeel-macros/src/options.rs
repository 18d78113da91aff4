//! The options of an attribute, in its brackets: `main` and `test` have all, `entry` has `crate`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Error, Expr, ExprLit, Ident, Lit, LitBool, LitInt, LitStr, Path, Result, Token,
};

/// The most workers that the runtime's `Builder` accepts.
const MOST_WORKERS: usize = 1_024;

const UNKNOWN: &str = "unknown option: the options are `workers = 2`, `name = \"…\"`, `flavor = \"current_thread\"`, \
                       `start_paused = true` and `crate = \"…\"`";
const ENTRY: &str = "unknown option: the option of `entry` is `crate = \"…\"`";
const WORKERS: &str = "`workers` is a whole number from 1 to 1,024, such as `workers = 2`";
const NAME: &str = "`name` is a string that is not empty, such as `name = \"counter\"`";

const FLAVOR: &str =
    "`flavor` is \"multi_thread\" or \"current_thread\", such as `flavor = \"current_thread\"`";
const START_PAUSED: &str = "`start_paused` is `true` or `false`, such as `start_paused = true`";
const CRATE: &str =
    "`crate` is the path of the crate evenkeel as a string, such as `crate = \"evenkeel\"`";
const ONE_WORKER: &str = "a runtime with `flavor = \"current_thread\"` has no worker threads: leave out `workers`, \
                          or the flavor";

/// The flavor of a runtime without worker threads.
const CURRENT_THREAD: &str = "current_thread";

/// The options, each as it was written.
#[derive(Default)]
pub(crate) struct Options {
    workers: Option<LitInt>,
    flavor: Option<LitStr>,
    name: Option<LitStr>,
    start_paused: Option<LitBool>,
    /// The path of the crate evenkeel.
    library: Option<Path>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            // A path such as `a::b` ends at its first word, which is not an option.
            let key = input.call(Ident::parse_any);
            let key = key.map_err(|fault| Error::new(fault.span(), UNKNOWN))?;
            if key == "workers" {
                let before = options.workers.replace(value(&key, input, WORKERS, workers)?);
                once(&key, before.is_some())?;
            } else if key == "name" {
                let before = options.name.replace(value(&key, input, NAME, name)?);
                once(&key, before.is_some())?;
            } else if key == "flavor" {
                let before = options.flavor.replace(value(&key, input, FLAVOR, flavor)?);
                once(&key, before.is_some())?;
            } else if key == "start_paused" {
                let paused = value(&key, input, START_PAUSED, start_paused)?;
                once(&key, options.start_paused.replace(paused).is_some())?;
            } else if key == "crate" {
                let library = value(&key, input, CRATE, library)?;
                once(&key, options.library.replace(library).is_some())?;
            } else {
                return Err(Error::new(key.span(), UNKNOWN));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        match &options.workers {
            Some(workers) if options.is_current_thread() => {
                Err(Error::new(workers.span(), ONE_WORKER))
            }
            _ => Ok(options),
        }
    }
}

impl Options {
    /// Parses the options of `#[entry(..)]` among the attributes of an item.
    pub(crate) fn of_entry(attributes: &[Attribute]) -> Result<Self> {
        let mut options = Self::default();
        for entry in attributes.iter().filter(|attribute| attribute.path().is_ident("entry")) {
            entry.parse_args_with(|input: ParseStream<'_>| {
                let key = input.call(Ident::parse_any);
                let key = key.map_err(|fault| Error::new(fault.span(), ENTRY))?;
                if key != "crate" {
                    return Err(Error::new(key.span(), ENTRY));
                }
                let library = value(&key, input, CRATE, library)?;
                input.parse::<Option<Token![,]>>()?;
                once(&key, options.library.replace(library).is_some())
            })?;
        }
        Ok(options)
    }

    fn is_current_thread(&self) -> bool {
        self.flavor.as_ref().is_some_and(|flavor| flavor.value() == CURRENT_THREAD)
    }

    /// Returns the name of the builder's constructor.
    pub(crate) fn constructor(&self) -> Ident {
        let name = if self.is_current_thread() { "new_current_thread" } else { "new" };
        Ident::new(name, Span::call_site())
    }

    /// Returns the path of the crate evenkeel.
    pub(crate) fn library(&self) -> TokenStream {
        self.library.as_ref().map_or_else(|| quote!(::evenkeel), ToTokens::to_token_stream)
    }
}

/// Converts the options that are methods of the builder to calls of them.
impl ToTokens for Options {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        if let Some(workers) = &self.workers {
            tokens.extend(quote!(.workers(#workers)));
        }
        if let Some(name) = &self.name {
            tokens.extend(quote!(.name(#name)));
        }
        if let Some(paused) = &self.start_paused {
            tokens.extend(quote!(.start_paused(#paused)));
        }
    }
}

/// Refuses the second of two equal options.
fn once(key: &Ident, before: bool) -> Result<()> {
    if before { Err(Error::new(key.span(), format!("`{key}` is given twice"))) } else { Ok(()) }
}

/// Parses the part behind the key: an equals sign and a literal, from which `accept` makes the
/// value.
fn value<T>(
    key: &Ident,
    input: ParseStream<'_>,
    expected: &str,
    accept: impl Fn(&Lit) -> Option<T>,
) -> Result<T> {
    // At the end of the options only the key can be marked.
    let fault = || {
        let span = if input.is_empty() { key.span() } else { input.span() };
        Error::new(span, expected)
    };
    input.parse::<Token![=]>().map_err(|_| fault())?;
    // Reads a whole expression, so that the error marks all of `-1` and not just the minus sign.
    let value: Expr = input.parse().map_err(|_| fault())?;
    let mut plain = &value;
    // An argument of `macro_rules!` comes in a group without delimiters.
    while let Expr::Group(group) = plain {
        plain = &group.expr;
    }
    let accepted = match plain {
        Expr::Lit(ExprLit { lit, .. }) => accept(lit),
        _ => None,
    };
    accepted.ok_or_else(|| Error::new_spanned(value, expected))
}

fn workers(literal: &Lit) -> Option<LitInt> {
    let Lit::Int(number) = literal else { return None };
    let count: usize = number.base10_parse().ok()?;
    let plain = matches!(number.suffix(), "" | "usize");
    (plain && (1..=MOST_WORKERS).contains(&count)).then(|| number.clone())
}

fn name(literal: &Lit) -> Option<LitStr> {
    let Lit::Str(name) = literal else { return None };
    (!name.value().is_empty()).then(|| name.clone())
}

fn flavor(literal: &Lit) -> Option<LitStr> {
    let Lit::Str(flavor) = literal else { return None };
    matches!(&*flavor.value(), CURRENT_THREAD | "multi_thread").then(|| flavor.clone())
}

fn start_paused(literal: &Lit) -> Option<LitBool> {
    let Lit::Bool(paused) = literal else { return None };
    Some(paused.clone())
}

fn library(literal: &Lit) -> Option<Path> {
    let Lit::Str(path) = literal else { return None };
    path.parse_with(Path::parse_mod_style).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(options: &str) -> String {
        let options: Options = syn::parse_str(options).expect("the options are well-formed");
        options.to_token_stream().to_string()
    }

    fn fault(options: &str) -> String {
        let options: Result<Options> = syn::parse_str(options);
        options.err().expect("the options are malformed").to_string()
    }

    #[test]
    fn options_become_calls() {
        assert_eq!(calls(""), "");
        assert_eq!(calls("workers = 1"), quote!(.workers(1)).to_string());
        assert_eq!(calls("workers = 1_024usize,"), quote!(.workers(1_024usize)).to_string());
        let both = quote!(.workers(2).name("x")).to_string();
        assert_eq!(calls("name = \"x\", workers = 2"), both);
    }

    #[test]
    fn workers_are_a_number_that_the_builder_accepts() {
        for value in
            ["0", "1025", "-1", "\"2\"", "2.0", "2u8", "N", "99999999999999999999", "1 + 1"]
        {
            assert_eq!(fault(&format!("workers = {value}")), WORKERS, "{value}");
        }
        for options in ["workers", "workers(2)", "workers ="] {
            assert_eq!(fault(options), WORKERS, "{options}");
        }
    }

    #[test]
    fn a_name_is_a_string() {
        for options in ["name = \"\"", "name = counter", "name = 1", "name"] {
            assert_eq!(fault(options), NAME, "{options}");
        }
    }

    #[test]
    fn a_flavor_is_one_of_two_words() {
        let constructor = |options| syn::parse_str::<Options>(options).unwrap().constructor();
        assert_eq!(constructor(""), "new");
        assert_eq!(constructor("flavor = \"multi_thread\", workers = 2"), "new");
        assert_eq!(constructor("flavor = \"current_thread\""), "new_current_thread");
        for options in ["flavor", "flavor = current_thread", "flavor = \"local\"", "flavor = 1"] {
            assert_eq!(fault(options), FLAVOR, "{options}");
        }
        assert_eq!(fault("workers = 1, flavor = \"current_thread\""), ONE_WORKER);
    }

    #[test]
    fn a_clock_is_paused_or_not() {
        let paused = "start_paused = true, workers = 1";
        assert_eq!(calls(paused), quote!(.workers(1).start_paused(true)).to_string());
        for options in ["start_paused", "start_paused = 1", "start_paused = \"true\""] {
            assert_eq!(fault(options), START_PAUSED, "{options}");
        }
    }

    #[test]
    fn the_library_is_a_path() {
        let library = |options| syn::parse_str::<Options>(options).unwrap().library().to_string();
        assert_eq!(library(""), quote!(::evenkeel).to_string());
        let path = "crate = \"crate::parts::evenkeel\"";
        assert_eq!(library(path), quote!(crate::parts::evenkeel).to_string());
        for options in ["crate", "crate = evenkeel", "crate = \"\"", "crate = \"a b\"", "crate = 1"]
        {
            assert_eq!(fault(options), CRATE, "{options}");
        }
    }

    #[test]
    fn an_entry_has_one_option() {
        let parse = |attributes: TokenStream| {
            let item: syn::DeriveInput = syn::parse_quote!(#attributes enum Op {});
            Options::of_entry(&item.attrs).map(|options| options.library().to_string())
        };
        let fault = |attributes| parse(attributes).expect_err("it is malformed").to_string();
        assert_eq!(parse(quote!(#[other])).unwrap(), quote!(::evenkeel).to_string());
        let library = parse(quote!(#[other] #[entry(crate = "parts::ek")]));
        assert_eq!(library.unwrap(), quote!(parts::ek).to_string());
        assert_eq!(fault(quote!(#[entry(crate = ek)])), CRATE);
        assert_eq!(fault(quote!(#[entry(workers = 2)])), ENTRY);
        let twice = fault(quote!(#[entry(crate = "a")] #[entry(crate = "b")]));
        assert_eq!(twice, "`crate` is given twice");
        assert!(parse(quote!(#[entry])).is_err() && parse(quote!(#[entry()])).is_err());
    }

    #[test]
    fn other_options_are_refused() {
        for options in ["worker_threads = 2", "flavour", "2", "workers = 2, pin = true"] {
            assert_eq!(fault(options), UNKNOWN, "{options}");
        }
    }

    #[test]
    fn an_option_is_given_once() {
        assert_eq!(fault("workers = 2, workers = 2"), "`workers` is given twice");
        assert_eq!(fault("name = \"x\", name = \"y\""), "`name` is given twice");
        assert_eq!(fault("crate = \"x\", crate = \"y\""), "`crate` is given twice");
    }

    #[test]
    fn options_have_commas_between_them() {
        assert_eq!(fault("workers = 2 name = \"x\""), "expected `,`");
    }
}
