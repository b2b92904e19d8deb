//! The attribute `#[marey::profile_function]`, which `marey` exports.

use proc_macro::TokenStream;
use proc_macro2::Span;
use quote::{ToTokens, quote};
use syn::{Ident, ItemFn, LitStr, ReturnType, Type, parse_macro_input, parse_quote};

/// Records each call of a function as a section, which has the function's name or that in parentheses:
/// `#[marey::profile_function("vae_decode")]`. Of an `async fn` that is from the first poll until it is done. Where the return type is called
/// `Result`, a call that returns an error has failed; so has one that panics, or whose future is dropped before it is done.
#[proc_macro_attribute]
pub fn profile_function(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let name = parse_macro_input!(arguments as Option<LitStr>);
    let mut function = parse_macro_input!(function as ItemFn);
    if let Some(constness) = function.sig.constness {
        let why = "a section begins at run time: the function cannot be `const`";
        return syn::Error::new_spanned(constness, why).into_compile_error().into();
    }
    let name = name.unwrap_or_else(|| {
        let ident = &function.sig.ident;
        LitStr::new(&ident.to_string(), ident.span())
    });
    *function.block = recorded(&function, &name);
    function.into_token_stream().into()
}

/// The function's body within its section.
fn recorded(function: &ItemFn, name: &LitStr) -> syn::Block {
    let body = &function.block;
    let output = &function.sig.output;
    let is_fallible = is_result(output);
    if function.sig.asyncness.is_some() {
        let method = if is_fallible { quote!(try_in_section) } else { quote!(in_section) };
        return parse_quote!({ ::marey::InSection::#method(async move #body, #name).await });
    }
    if is_fallible {
        // Names that the body cannot see.
        let [section, result] =
            ["section", "result"].map(|name| Ident::new(name, Span::mixed_site()));
        return parse_quote!({
            let #section = ::marey::section!(#name);
            #[allow(clippy::redundant_closure_call)]
            let #result = (move || #output #body)();
            #section.ended(#result)
        });
    }
    let section = Ident::new("_section", Span::mixed_site());
    let statements = &body.stmts;
    parse_quote!({
        let #section = ::marey::section!(#name);
        #(#statements)*
    })
}

/// Whether what is returned is called `Result`, as `io::Result<T>` and `anyhow::Result<T>` are.
fn is_result(output: &ReturnType) -> bool {
    let ReturnType::Type(_, returned) = output else { return false };
    let Type::Path(path) = &**returned else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Result")
}
