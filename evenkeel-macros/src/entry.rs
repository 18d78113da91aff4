//! The expansion of a function with one of the attributes.
//!
//! The function keeps its attributes, visibility, name and return type, and loses `async`. Its body
//! moves unchanged into an inner `async fn` of the same name. Unlike an async block, this lets the
//! declared return type take part in the inference and the coercions of the body. The macro does
//! not parse the body, so the compiler reports errors in it as usual.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Result, Signature, Token, Visibility};

use crate::options::Options;

const BODY: &str = "expected the body of the `async fn`, in braces";

/// The two attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Main,
    Test,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Main => "#[evenkeel::main]",
            Self::Test => "#[evenkeel::test]",
        }
    }
}

/// Returns the function that runs the body on a runtime, or code with the error.
pub(crate) fn expand(kind: Kind, options: TokenStream, function: TokenStream) -> TokenStream {
    let function: Function = match syn::parse2(function) {
        Ok(function) => function,
        Err(fault) => return fault.into_compile_error(),
    };
    match function.check(kind).and_then(|()| syn::parse2(options)) {
        Ok(options) => function.run(kind, &options),
        Err(fault) => function.stand_in(kind, &fault),
    }
}

/// A function with an unparsed body.
struct Function {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
    body: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let words = input.peek(Token![async]) || input.peek(Token![fn]);
        let words = words || input.peek(Token![const]) || input.peek(Token![unsafe]);
        if !words && !input.peek(Token![extern]) {
            return Err(input.error("expected an `async fn`"));
        }
        let signature = input.parse()?;
        let body = match input.parse()? {
            TokenTree::Group(body)
                // A block that is an argument of `macro_rules!` has no delimiters around it.
                if matches!(body.delimiter(), Delimiter::Brace | Delimiter::None) =>
            {
                body
            }
            other => return Err(Error::new(other.span(), BODY)),
        };
        Ok(Self { attributes, visibility, signature, body })
    }
}

impl Function {
    /// Refuses functions that the runtime or the test harness cannot call.
    fn check(&self, kind: Kind) -> Result<()> {
        let attribute = kind.name();
        let signature = &self.signature;
        if signature.asyncness.is_none() {
            let fault = format!("`{attribute}` needs an `async fn`: write `async` before `fn`");
            return Err(Error::new(signature.fn_token.span, fault));
        }
        if !signature.inputs.is_empty() {
            let fault = format!("a function with `{attribute}` takes no arguments");
            return Err(Error::new_spanned(&signature.inputs, fault));
        }
        if !signature.generics.params.is_empty() {
            let fault = format!("a function with `{attribute}` has no generic parameters");
            return Err(Error::new_spanned(&signature.generics, fault));
        }
        if let Some(word) = &signature.unsafety {
            let fault = format!("a function with `{attribute}` is not `unsafe`");
            return Err(Error::new(word.span, fault));
        }
        if let Some(abi) = &signature.abi {
            let fault = format!("a function with `{attribute}` is not `extern`");
            return Err(Error::new_spanned(abi, fault));
        }
        let test = |attribute: &&Attribute| attribute.path().is_ident("test");
        if let Some(other) = self.attributes.iter().find(test).filter(|_| kind == Kind::Test) {
            let fault = format!("`{attribute}` makes this a test: leave out `#[test]`");
            return Err(Error::new_spanned(other, fault));
        }
        Ok(())
    }

    /// Returns the error and, for `main`, an empty function: without that the compiler would also
    /// report a missing `main`. A test needs none.
    fn stand_in(&self, kind: Kind, fault: &Error) -> TokenStream {
        let Self { visibility, signature: Signature { ident, .. }, .. } = self;
        let stand_in = (kind == Kind::Main).then(|| quote!(#visibility fn #ident() {}));
        let fault = fault.to_compile_error();
        quote!(#fault #stand_in)
    }

    /// Returns the function without `async`.
    fn run(&self, kind: Kind, options: &Options) -> TokenStream {
        let Self { attributes, visibility, signature, body } = self;
        let test = (kind == Kind::Test).then(|| quote!(#[::core::prelude::v1::test]));
        let name = &signature.ident;
        let (library, constructor) = (options.library(), options.constructor());
        let outer = Signature { asyncness: None, ..signature.clone() };
        quote! {
            #test
            #(#attributes)*
            #visibility #outer {
                #signature #body
                #library::Builder::#constructor()
                    #options
                    .build()
                    .expect("the runtime starts")
                    .block_on(#name())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the expansion of the attribute with the options on the function.
    fn expanded(kind: Kind, options: &str, function: &str) -> String {
        let tokens = |text: &str| text.parse().expect("the text is a row of tokens");
        expand(kind, tokens(options), tokens(function)).to_string()
    }

    /// Checks that the attribute refuses the function with this sentence, and leaves the stand-in
    /// `left`.
    fn refused(kind: Kind, options: &str, function: &str, sentence: &str, left: &str) {
        let left: TokenStream = left.parse().expect("the text is a row of tokens");
        let expected = quote! { ::core::compile_error! { #sentence } #left };
        assert_eq!(expanded(kind, options, function), expected.to_string());
    }

    #[test]
    fn main_keeps_everything_but_async() {
        let function = "
            #[inline]
            #[cfg(unix)]
            pub(crate) async fn main() -> Result<(), Fault> { hello().await? }
        ";
        let expected = quote! {
            #[inline]
            #[cfg(unix)]
            pub(crate) fn main() -> Result<(), Fault> {
                async fn main() -> Result<(), Fault> { hello().await? }
                ::evenkeel::Builder::new()
                    .workers(4)
                    .name("hello")
                    .build()
                    .expect("the runtime starts")
                    .block_on(main())
            }
        };
        let code = expanded(Kind::Main, "workers = 4, name = \"hello\"", function);
        assert_eq!(code, expected.to_string());
    }

    #[test]
    fn a_test_is_a_test_with_its_attributes() {
        let expected = quote! {
            #[::core::prelude::v1::test]
            #[should_panic]
            fn boom() {
                async fn boom() { panic!() }
                ::evenkeel::Builder::new().build().expect("the runtime starts").block_on(boom())
            }
        };
        let code = expanded(Kind::Test, "", "#[should_panic] async fn boom() { panic!() }");
        assert_eq!(code, expected.to_string());
    }

    #[test]
    fn a_flavor_chooses_the_builder() {
        let code = expanded(Kind::Test, "flavor = \"current_thread\"", "async fn one() {}");
        let call = quote!(::evenkeel::Builder::new_current_thread().build()).to_string();
        assert!(code.contains(&call), "{code}");
    }

    #[test]
    fn the_library_may_have_another_path() {
        let code = expanded(Kind::Main, "crate = \"parts::runtime\"", "async fn main() {}");
        let call = quote!(parts::runtime::Builder::new().build()).to_string();
        assert!(code.contains(&call), "{code}");
    }

    #[test]
    fn a_body_that_makes_no_sense_is_left_to_the_compiler() {
        let code = expanded(Kind::Main, "", "async fn main() { let let }");
        assert!(code.contains("let let") && !code.contains("compile_error"), "{code}");
    }

    #[test]
    fn a_function_without_a_body_is_refused() {
        refused(Kind::Test, "", "async fn f();", BODY, "");
        refused(Kind::Test, "", "async fn f() [1]", BODY, "");
    }

    #[test]
    fn functions_that_are_not_async_are_refused() {
        let sentence = "`#[evenkeel::main]` needs an `async fn`: write `async` before `fn`";
        refused(Kind::Main, "", "pub fn main() {}", sentence, "pub fn main() {}");
        let sentence = "`#[evenkeel::test]` needs an `async fn`: write `async` before `fn`";
        refused(Kind::Test, "", "unsafe fn test() {}", sentence, "");
    }

    #[test]
    fn other_items_are_refused() {
        for item in ["pub struct Main;", "mod main {}", "#[cfg(unix)] static A: u8 = 0;"] {
            refused(Kind::Main, "", item, "expected an `async fn`", "");
        }
    }

    #[test]
    fn functions_that_nothing_can_call_are_refused() {
        let cases = [
            ("async fn f(a: u8, b: u8) {}", "takes no arguments"),
            ("async fn f(&self) {}", "takes no arguments"),
            ("async fn f<T>() {}", "has no generic parameters"),
            ("async unsafe fn f() {}", "is not `unsafe`"),
            ("async extern \"C\" fn f() {}", "is not `extern`"),
        ];
        for (function, fault) in cases {
            let sentence = format!("a function with `#[evenkeel::main]` {fault}");
            refused(Kind::Main, "", function, &sentence, "fn f() {}");
        }
    }

    #[test]
    fn a_test_is_not_a_test_twice() {
        let sentence = "`#[evenkeel::test]` makes this a test: leave out `#[test]`";
        refused(Kind::Test, "", "#[test] async fn f() {}", sentence, "");
    }

    #[test]
    fn malformed_options_are_refused() {
        let sentence = "`workers` is a whole number from 1 to 1,024, such as `workers = 2`";
        refused(Kind::Main, "workers = 0", "async fn main() {}", sentence, "fn main() {}");
    }
}
