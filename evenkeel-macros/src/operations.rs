//! `#[derive(Entry)]`: the operations of a monitor, from an `enum` without fields.

use crate::options::Options;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields};

/// The most operations that a monitor can tell apart, besides the end of the object.
const MOST: usize = 63;

/// Returns the implementation of `Entry` for the item, or the error.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    syn::parse2(item).and_then(implementation).unwrap_or_else(Error::into_compile_error)
}

fn implementation(item: DeriveInput) -> syn::Result<TokenStream> {
    let Data::Enum(operations) = &item.data else {
        return Err(Error::new_spanned(&item.ident, "operations are the variants of an `enum`"));
    };
    if operations.variants.len() > MOST {
        return Err(Error::new_spanned(&item.ident, "a monitor has at most 63 operations"));
    }
    if let Some(variant) =
        operations.variants.iter().find(|variant| !matches!(variant.fields, Fields::Unit))
    {
        return Err(Error::new_spanned(
            variant,
            "an operation has no fields: its body captures the arguments",
        ));
    }
    let attributes = operations.variants.iter().flat_map(|variant| &variant.attrs);
    if let Some(entry) = { attributes }.find(|attribute| attribute.path().is_ident("entry")) {
        return Err(Error::new_spanned(entry, "`entry` stands beside the `enum`, for all of it"));
    }
    let library = Options::of_entry(&item.attrs)?.library();
    let (name, numbers) = (&item.ident, 0_u32..);
    let variants = operations.variants.iter().map(|variant| &variant.ident);
    let arms = variants.zip(numbers).map(|(variant, number)| quote!(Self::#variant => #number));
    let (generics, parameters, conditions) = item.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #generics #library::sync::monitor::Entry for #name #parameters #conditions {
            fn number(self) -> u32 {
                match self {
                    #(#arms),*
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_numbered_in_their_order() {
        let expanded = expand(quote!(
            enum Op {
                Put,
                Take,
            }
        ))
        .to_string();
        assert!(expanded.contains("Self :: Put => 0u32 , Self :: Take => 1u32"), "{expanded}");
    }

    #[test]
    fn the_library_may_have_another_path() {
        let expanded = expand(quote!(
            #[entry(crate = "ek")]
            enum Op {}
        ))
        .to_string();
        assert!(expanded.contains("impl ek :: sync :: monitor :: Entry for Op"), "{expanded}");
    }

    #[test]
    fn what_is_no_operation_is_refused_with_the_reason() {
        let many: Vec<_> = (0..64).map(|n| quote::format_ident!("Op{n}")).collect();
        let cases = [
            (
                quote!(
                    struct Op;
                ),
                "the variants of an `enum`",
            ),
            (
                quote!(
                    enum Op {
                        Put(u32),
                    }
                ),
                "no fields",
            ),
            (quote!(enum Op { #(#many),* }), "at most 63"),
            (
                quote!(
                    enum Op {
                        #[entry(crate = "ek")]
                        Put,
                    }
                ),
                "beside the `enum`",
            ),
        ];
        for (item, reason) in cases {
            let expanded = expand(item).to_string();
            assert!(expanded.contains("compile_error") && expanded.contains(reason), "{expanded}");
        }
    }
}
