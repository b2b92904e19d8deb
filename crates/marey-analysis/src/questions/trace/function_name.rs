//! The names of functions of C++, as demanglers write them.

/// Counts the brackets around each character of a name. What is no bracket in C++ is none here: `->`, `(8)>(0)`, `a < b`; nor are square ones,
/// which name nothing.
#[derive(Clone, Debug)]
pub struct Brackets {
    open: Vec<char>,
    before: char,
    is_broken: bool,
}

impl Default for Brackets {
    fn default() -> Self {
        Self { open: Vec::new(), before: ' ', is_broken: false }
    }
}

impl Brackets {
    /// Goes past the next character.
    pub fn pass(&mut self, c: char) {
        match c {
            '<' if is_word(self.before) => self.open.push(c),
            '>' if self.before != '-' && self.open.last() == Some(&'<') => {
                self.open.pop();
            }
            '(' | '{' => self.open.push(c),
            ')' => self.close('('),
            '}' => self.close('{'),
            _ => {}
        }
        self.before = c;
    }

    /// An angle bracket that is still open was a comparison.
    fn close(&mut self, opened: char) {
        match self.open.iter().rposition(|open| *open == opened) {
            Some(at) => self.open.truncate(at),
            None => self.is_broken = true,
        }
    }

    /// How many are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// How many angle brackets are open.
    pub fn angle_depth(&self) -> usize {
        self.open.iter().filter(|open| **open == '<').count()
    }

    /// One closed that had not been opened.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The part of a name that says which function it is: no type of what it returns, no arguments. Names that are none of C++ are
/// whole, and the end may be missing.
///
/// ```text
/// std::enable_if<((8)>(0)), void>::type vllm::norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, int) [clone .kd]
///                                       ╰──────── the function ──────────╯
/// ```
pub fn function_of(name: &str) -> &str {
    let mut brackets = Brackets::default();
    let (mut start, mut end) = (0, None);
    for (at, c) in name.char_indices() {
        let is_outside = brackets.depth() == 0;
        if is_outside && c == '(' && end.is_none() && is_call(name, start, at) {
            end = Some(at);
        }
        if is_outside && c == ' ' && end.is_none() {
            start = at + 1;
        }
        brackets.pass(c);
        if c == ')' && end.is_some() && brackets.depth() == 0 {
            let rest = name.get(at + 1..).unwrap_or_default();
            // Something within a function: `f(int)::{lambda(int)#1}::operator()(int) const`.
            if rest.starts_with("::") {
                end = None;
                continue;
            }
            let rest = rest.trim_start();
            let is_function = ["", "const", "[clone"].contains(&rest) || is_qualifier(rest);
            if !is_function {
                return name;
            }
            break;
        }
    }
    let returned = name.get(..start).unwrap_or_default().trim_end();
    let function = name.get(start..end.unwrap_or(name.len()));
    let is_function = function.is_some_and(|f| f.starts_with(|c| is_word(c) || c == '('));
    if brackets.is_broken() || !is_function || !is_type(returned, end.is_some()) {
        return name;
    }
    function.unwrap_or(name)
}

/// The name of the function without what stands in angle brackets.
pub(super) fn own_name(name: &str) -> String {
    let mut brackets = Brackets::default();
    let mut own = String::new();
    for c in function_of(name).chars() {
        let before = brackets.angle_depth();
        brackets.pass(c);
        if before == 0 && brackets.angle_depth() == 0 {
            own.push(c);
        }
    }
    own
}

/// The parenthesis at `at` begins the arguments of a function.
fn is_call(name: &str, start: usize, at: usize) -> bool {
    let before = name.get(start..at).unwrap_or_default();
    let is_operator = before.ends_with("operator");
    !is_operator && before.ends_with(|c: char| is_word(c) || matches!(c, '>' | ')' | '}'))
}

/// What may stand behind the arguments.
fn is_qualifier(rest: &str) -> bool {
    rest.starts_with("const") || rest.starts_with("[clone")
}

/// What stands before a function is a type. Where no arguments follow, only a type that nothing else looks like.
fn is_type(text: &str, has_arguments: bool) -> bool {
    if text.is_empty() || text == "void" || text.ends_with(">::type") {
        return true;
    }
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_label = text.ends_with(':');
    has_arguments && begins && !is_label && !text.contains(['#', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_what_stands_before_its_arguments() {
        for (name, function) in [
            (
                "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)",
                "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>",
            ),
            (
                "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
                "(anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>",
            ),
            (
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, P<float const> >(P<",
                "internal::gemvx::kernel<int, P<float const> >",
            ),
            (
                "void ck_tile::kentry<1, F<a> >(F<a>::Arguments) [clone .kd]",
                "ck_tile::kentry<1, F<a> >",
            ),
            ("unsigned int* f<(a)1>(int) const", "f<(a)1>"),
            (
                "f(int)::{lambda(int)#1}::operator()(int) const",
                "f(int)::{lambda(int)#1}::operator()",
            ),
            ("void f<g<", "f<g<"),
            ("void vllm::cross_device_reduce_2stage", "vllm::cross_device_reduce_2stage"),
            ("ncclDevKernel_Generic(ncclArgs<4096ul>)", "ncclDevKernel_Generic"),
        ] {
            assert_eq!(function_of(name), function);
        }
    }

    #[test]
    fn a_name_that_is_none_of_cpp_is_whole() {
        for name in [
            "",
            "sage_fwd",
            "Memcpy HtoD (Pageable -> Device)",
            "torch/nn/modules/module.py(1751): _call_impl",
            "autograd::engine::evaluate_function: AddmmBackward0",
            "## Call CompiledFxGraph <fabc> ##",
            "<built-in method f of object at 0x7>",
            "f(a))",
            "op<a",
        ] {
            assert_eq!(function_of(name), name);
        }
    }

    #[test]
    fn a_function_s_own_name_has_no_template_arguments() {
        let name = "void moe::finalize<moe::Params<cutlass::bfloat16_t, 4> >(moe::Params<cutlass::bfloat16_t, 4>)";
        assert_eq!(own_name(name), "moe::finalize");
        assert_eq!(own_name("a::B<c<int> >::d<(x)1>(int)"), "a::B::d");
    }
}
