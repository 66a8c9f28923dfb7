import { CAPITALS, keyword, leading, pattern } from './patternParts.ts';

const RUST_MODIFIER = String.raw`pub(?:\([^)]*\))?|default|async|const|unsafe|extern(?:\s+"[^"]*")?|move|auto|safe`;
export const RUST = [
  keyword(RUST_MODIFIER, 'fn|struct|enum|trait|union|type|mod|macro|static(?:\\s+mut)?'),
  pattern(String.raw`^(\s*)(?:pub(?:\([^)]*\))?\s+)?const\s+([A-Za-z_]\w*)\s*:`, { begins: ['pub', 'const'] }),
  pattern(String.raw`^(\s*)macro_rules!\s+([A-Za-z_]\w*)`, { begins: ['macro'] }),
  // The type that is implemented; the trait is defined elsewhere.
  pattern(
    String.raw`^(\s*)(?:(?:${RUST_MODIFIER})\s+)*impl\b(?:.*\sfor\s+|(?:<.*?>)?\s+)(?:&(?:'\w+\s+)?(?:mut\s+)?|dyn\s+|\[|\()*(?:\w+::)*([A-Za-z_]\w*)`,
    leading(RUST_MODIFIER, 'impl'),
  ),
];

export const GO = [
  pattern(String.raw`^()func\s+(?:\([^)]*\)\s*)?([A-Za-z_\x80-\uffff][\w\x80-\uffff]*)`, { begins: ['func'] }),
  pattern(String.raw`^()(?:type|var|const)\s+([A-Za-z_\x80-\uffff][\w\x80-\uffff]*)`, {
    begins: ['type', 'var', 'const'],
  }),
  pattern(String.raw`^(\t)([A-Za-z_\x80-\uffff][\w\x80-\uffff]*)(?:\[[^\]]*\])?\s+(?:struct|interface)\s*\{`, {
    contains: ['{'],
  }),
  pattern(String.raw`^(\t)([A-Z\xc0-\xde\u0391-\u03a9\u0410-\u042f][\w\x80-\uffff]*)(?:\s+[\w.\[\]*]+)?\s*=\s`, {
    begins: CAPITALS,
    contains: ['='],
  }),
];

export const PYTHON = [
  keyword('async', 'def|class|cpdef|cdef(?:\\s+class)?'),
  pattern(String.raw`^()([A-Za-z_\x80-\uffff][\w\x80-\uffff]*)\s*(?::[^=]+)?=(?!=)`, { contains: ['='] }),
];

export const RUBY = [
  pattern(
    String.raw`^(\s*)(?:(?:private|public|protected|module_function|private_class_method|memoize)\s+)*def\s+(?:self\.|[A-Z]\w*\.)?([A-Za-z_\x80-\uffff]\w*[?!=]?|[^\s\w(]+)`,
    leading('private|public|protected|module_function|private_class_method|memoize', 'def'),
  ),
  pattern(String.raw`^(\s*)(?:class|module)\s+(?:::)?(?:[A-Z]\w*::)*([A-Z]\w*)`, { begins: ['class', 'module'] }),
  pattern(
    String.raw`^(\s*)(?:attr_(?:accessor|reader|writer)|alias_method|define_method|scope|has_many|belongs_to|has_one|alias)\s*\(?\s*:([A-Za-z_\x80-\uffff]\w*[?!]?)`,
    { begins: ['attr_', 'alias', 'define', 'scope', 'has_', 'belongs'], contains: [':'] },
  ),
  pattern(String.raw`^(\s*)([A-Z][A-Za-z0-9_]*)\s*=(?![=~>])`, { begins: CAPITALS, contains: ['='] }),
];

export const PHP = [
  keyword(
    'public|private|protected|static|final|abstract|readonly',
    'function\\s+&|function|class|interface|trait|enum|namespace',
    String.raw`[A-Za-z_\x80-\uffff][\w\x80-\uffff]*`,
  ),
  pattern(String.raw`^(\s*)(?:(?:public|private|protected|final)\s+)*const\s+(?:\w+\s+)?([A-Za-z_]\w*)\s*=`, {
    begins: ['public', 'private', 'protected', 'final', 'const'],
    contains: ['const', '='],
  }),
  pattern(String.raw`^(\s*)define\(\s*['"]([^'"]{1,80})['"]`, { begins: ['define'] }),
  pattern(String.raw`^(\s*)case\s+([A-Za-z_]\w*)\s*(?:=[^=>].*)?;`, { begins: ['case'] }),
];

export const SHELL = [
  pattern(String.raw`^(\s*)(?:function\s+)?([A-Za-z_\x80-\uffff][\w:.\x80-\uffff-]*)\s*\(\s*\)`, {
    contains: ['(', ')'],
  }),
  pattern(String.raw`^(\s*)function\s+([A-Za-z_\x80-\uffff][\w:.\x80-\uffff-]*)`, { begins: ['function'] }),
  pattern(String.raw`^(\s*)alias\s+(?:--?\w+\s+)*([\w.-]+)=`, { begins: ['alias'] }),
  pattern(String.raw`^(\s*)@test\s+["']([^"']{1,200})["']`, { begins: ['@test'] }),
];

export const LUA = [
  pattern(String.raw`^(\s*)(?:local\s+)?function\s+(?:[\w]+[.:])*([A-Za-z_]\w*)`),
  pattern(String.raw`^(\s*)(?:local\s+)?(?:[\w]+[.:])*([A-Za-z_]\w*)\s*=\s*function\b`),
  pattern(String.raw`^()(?:local\s+)?(?:[\w]+[.:])*([A-Za-z_]\w*)\s*=`),
];

export const ELIXIR = [
  pattern(
    String.raw`^(\s*)(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate|defn|defnp)\s+([A-Za-z_\x80-\uffff]\w*[?!]?)`,
  ),
  pattern(String.raw`^(\s*)(?:defmodule|defprotocol|defimpl|defexception)\s+(?:[A-Z]\w*\.)*([A-Z]\w*)`),
  pattern(String.raw`^(\s*)@(?:callback|macrocallback|type|typep|opaque)\s+([A-Za-z_\x80-\uffff]\w*)`),
];

export const HASKELL = [
  pattern(
    String.raw`^()(?:data|newtype|type(?:\s+family)?|class)\s+(?:\([^)]*\)\s*=>\s*|[^=\n]*=>\s*)?([A-Z\xc0-\xde\u0391-\u03a9\u0410-\u042f][\w']*)`,
  ),
  pattern(String.raw`^()([a-z_\xdf-\uffff][\w']*)\s*(?:,\s*[a-z_\xdf-\uffff][\w']*\s*)*::`),
  pattern(String.raw`^()\(([^\s\w()]+)\)\s*::`),
  pattern(String.raw`^()module\s+(?:[A-Z]\w*\.)*([A-Z]\w*)`),
  pattern(
    String.raw`^()(?!(?:import|instance|deriving|where|let|infix[lr]?)\b)([a-z_\xdf-\uffff][\w']*)(?:\s[^=|:]*)?=(?!=)`,
  ),
  pattern(String.raw`^(\s+)([a-z_\xdf-\uffff][\w']*)\s*::\s`),
  pattern(String.raw`^(\s*)(?:=|\|)\s*([A-Z\xc0-\xde\u0391-\u03a9\u0410-\u042f][\w']*)(?:\s|$)`),
];

export const ZIG = [
  pattern(String.raw`^(\s*)(?:(?:pub|export|extern(?:\s+"[^"]*")?|inline|noinline)\s+)*fn\s+([A-Za-z_]\w*)`),
  pattern(String.raw`^(\s*)(?:(?:pub|export|extern|threadlocal)\s+)*(?:const|var)\s+([A-Za-z_]\w*)\s*[:=]`),
  pattern(String.raw`^(\s*)test\s+"([^"]{1,200})"`),
];

export const SQL = [
  pattern(
    String.raw`^(\s*)create\s+(?:or\s+(?:replace|alter)\s+)?(?:(?:global|local|temp|temporary|unlogged|unique|clustered|materialized|recursive|foreign|external|virtual|fulltext|definer\s*=\s*\S+)\s+)*(?:table|view|function|procedure|proc|index|trigger|type|schema|sequence|database|domain|role|user|extension|policy|package(?:\s+body)?|aggregate|event)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(?:["'\x60\[]?[\w$]+["'\x60\]]?\.)*["'\x60\[]?([\w$]+)`,
    { flags: 'i' },
  ),
];

export const R = [
  pattern(String.raw`^(\s*)['"\x60]?([A-Za-z.\x80-\uffff][\w.]*(?:<-)?)['"\x60]?\s*(?:<<?-|=)\s*(?:function|\\)\s*\(`),
  pattern(String.raw`^(\s*)(?:setClass|setGeneric|setMethod|setRefClass|setValidity|R6Class)\(\s*['"]([^'"]{1,80})`),
  pattern(String.raw`^()([A-Za-z.\x80-\uffff][\w.]*)\s*<-`),
];

export const JULIA = [
  pattern(
    String.raw`^(\s*)(?:@\w+\s+)*(?:function|macro|(?:mutable\s+)?struct|abstract\s+type|primitive\s+type|module|baremodule)\s+(?:[\w]+\.)*([A-Za-z_\x80-\uffff][\w!\x80-\uffff]*)`,
  ),
  pattern(
    String.raw`^(\s*)(?:@\w+\s+)*(?:[\w]+\.)*([A-Za-z_\x80-\uffff][\w!\x80-\uffff]*)(?:\{[^}]*\})?\([^=]*\)(?:\s*::\s*[\w.{}]+)?(?:\s*where\s+[^=]+)?\s*=(?!=)`,
  ),
  pattern(String.raw`^()const\s+([A-Za-z_\x80-\uffff][\w!\x80-\uffff]*)`),
];

export const PERL = [
  pattern(String.raw`^(\s*)(?:async\s+)?(?:sub|method)\s+(?:\w+::)*([A-Za-z_]\w*)`),
  pattern(String.raw`^(\s*)(?:package|class|role)\s+(?:\w+::)*([A-Za-z_]\w*)`),
  pattern(String.raw`^(\s*)use\s+constant\s+([A-Za-z_]\w*)`),
  pattern(String.raw`^()(?:our|my)\s+[$@%]([A-Za-z_]\w*)`),
];

export const TERRAFORM = [
  pattern(String.raw`^(\s*)(?:resource|data|provisioner)\s+"[^"]+"\s+"([^"]{1,120})"`),
  pattern(String.raw`^(\s*)(?:variable|output|module|provider|check)\s+"([^"]{1,120})"`),
  pattern(String.raw`^(\s*)(locals|terraform)\s*\{`),
];

export const DOCKERFILE = [
  pattern(String.raw`^(\s*)FROM\s+.*\sAS\s+([\w.-]+)`, { flags: 'i' }),
  pattern(String.raw`^(\s*)(?:ARG|ENV)\s+([A-Za-z_]\w*)`, { flags: 'i' }),
];

export const MAKEFILE = [
  pattern(String.raw`^()([\w./%$(){}-]+)[\w./%$(){} \t-]*:(?!=)`),
  pattern(String.raw`^()(?:export\s+|override\s+)?([A-Za-z_][\w.-]*)\s*(?:[:+?!]|::)?=`),
  pattern(String.raw`^()define\s+([\w.-]+)`),
];

export const PROTOBUF = [keyword('', 'message|service|enum|rpc|oneof|extend')];
export const GRAPHQL = [
  keyword('extend', 'type|input|interface|enum|union|scalar|query|mutation|subscription|fragment'),
  pattern(String.raw`^(\s*)directive\s+@(\w+)`),
];
export const HTML = [
  pattern(String.raw`^(\s*)<h[1-6]\b[^>]*>\s*([^<]{1,120})`),
  pattern(String.raw`^(\s*)<[\w-]+\b[^>]*?\s(?:id|name)=["']([^"']{1,80})["']`),
];
export const CSS = [
  pattern(String.raw`^(\s*)@(?:mixin|function|include|keyframes|layer|property|container)\s+([\w-]+)`),
  pattern(String.raw`^(\s*)[^{}@;:]*?[.#%]([A-Za-z_][\w-]*)[^{};]*(?:\{|,\s*$)`),
  pattern(String.raw`^(\s*)(?:\$|--|@)([A-Za-z][\w-]*)\s*:`),
];
export const LATEX = [
  pattern(
    String.raw`^(\s*)\\(?:part|chapter|section|subsection|subsubsection|paragraph|title|caption)\*?(?:\[[^\]]*\])?\{([^}]{1,160})`,
  ),
  pattern(
    String.raw`^(\s*)\\(?:label|newcommand|renewcommand|providecommand|newenvironment|newtheorem|DeclareMathOperator|def)\*?\{?\\?([\w:-]{1,80})`,
  ),
  pattern(String.raw`^(\s*)@\w+\{([^,\s]{1,80}),`),
];

export const POWERSHELL = [
  pattern(String.raw`^(\s*)(?:function|filter|workflow|class|enum|configuration)\s+(?:global:|script:)?([\w-]+)`, {
    flags: 'i',
  }),
];
export const CLOJURE = [pattern(String.raw`^(\s*)\((?:def\w*|ns|s/def\w*)\s+(?:\^\S+\s+)*([^\s()\[\]]+)`)];
export const ERLANG = [
  pattern(String.raw`^()-(?:module|record|define|type|callback)\(?\s*([\w']+)`),
  pattern(String.raw`^()([a-z]\w*)\([^;]*->`),
];
export const OCAML = [
  pattern(
    String.raw`^(\s*)(?:let(?:\s+rec)?|and|val|external|type(?:\s+nonrec)?|module(?:\s+type)?|exception|class|method)\s+(?:'\w+\s+|\([^)]*\)\s+)?([A-Za-z_\x80-\uffff][\w']*)`,
  ),
];
export const F_SHARP = [
  pattern(
    String.raw`^(\s*)(?:(?:static|abstract|override|default)\s+)*(?:let(?:\s+(?:rec|inline|mutable|private))*|and|type|module|namespace|member|exception)\s+(?:\w+\.)*([A-Za-z_\x80-\uffff][\w']*)`,
  ),
];
export const FORTRAN = [
  pattern(
    String.raw`^(\s*)(?:(?:pure|elemental|recursive|integer|real|logical|double\s+precision|character|complex|type\([^)]*\))(?:\([^)]*\))?\s+)*(?:subroutine|function|module|program|submodule)\s+(?!procedure\b)([A-Za-z]\w*)`,
    { flags: 'i' },
  ),
  pattern(String.raw`^(\s*)type\s*(?:,[^:]*)?(?:::)?\s*([A-Za-z]\w*)\s*$`, { flags: 'i' }),
];
export const SOLIDITY = [keyword('abstract', 'contract|interface|library|function|event|modifier|struct|enum|error')];
export const CMAKE = [
  pattern(
    String.raw`^(\s*)(?:function|macro|project|add_library|add_executable|option|add_custom_target|set)\s*\(\s*([\w.-]+)`,
    { flags: 'i' },
  ),
];
