// Languages with types before names, or braces: C, Java, JavaScript and their relatives.
import { CAPITALS, keyword, leading, LETTERS, NAME, NO_STATEMENT, pattern, STATEMENTS } from './patternParts.ts';

// Attributes of C#, annotations of Java and the like, on the line of the definition.
const ATTRIBUTE = String.raw`(?:@[\w.]+(?:\([^)]*\))?\s+|\[[^\]]*\]\s*)*`;
const TYPE = String.raw`(?:::)?[A-Za-z_][\w.:]*(?:<[^;={}()]*>)?(?:\[\]|[?*&])*`;

const JVM_MODIFIER =
  'public|private|protected|internal|static|final|abstract|sealed|non-sealed|default|synchronized|native|strictfp|partial|readonly|override|virtual|async|extern|unsafe|new|const|volatile|transient|required|file|ref|inline|open|external';
const JVM_MODIFIERS = String.raw`(?:(?:${JVM_MODIFIER})\s+)`;
const JVM_MODIFIED = { begins: [...JVM_MODIFIER.split('|'), '@', '['] };
/** A method with its type before its name, and parameters that may go on in the next line. */
const TYPED_METHOD = pattern(
  String.raw`^(\s+)${ATTRIBUTE}${JVM_MODIFIERS}*(?:<[^>]*>\s*)?(?!(?:${STATEMENTS})\s)${TYPE}\s+${NO_STATEMENT}(?:[\w.]+\.)?(${NAME})\s*(?:<[^>()]*>)?\((?!.*\)\s*\.)[^=]*$`,
  { hasTypedName: 'always', lacks: '=' },
);
const CONSTRUCTOR = pattern(
  String.raw`^(\s+)${ATTRIBUTE}(?:public|private|protected|internal)\s+(${NAME})\s*\([^;=]*$`,
  { begins: ['public', 'private', 'protected', 'internal', '@', '['], contains: ['('] },
);
const CONSTRUCTOR_WITHOUT_MODIFIER = pattern(
  String.raw`^(\s+)([A-Z\xc0-\xde\u0391-\u03a9\u0410-\u042f][\w\x80-\uffff]*)\s*\([^;=]*\)[^;=]*\{\s*$`,
  {
    begins: CAPITALS,
    contains: ['('],
    ends: '{',
  },
);
const { begins: CONSTANT_BEGINNINGS = [], ...CONSTANT_WORDS } = leading(JVM_MODIFIER, 'static|const|readonly');
const CONSTANT = pattern(
  String.raw`^(\s+)${ATTRIBUTE}${JVM_MODIFIERS}*(?:static|const|readonly)\s+${JVM_MODIFIERS}*(?!class|interface|enum|struct|record)${TYPE}\s+(${NAME})\s*(?:=|;)`,
  { begins: [...CONSTANT_BEGINNINGS, '@', '['], ...CONSTANT_WORDS },
);
const ENUM_CONSTANT = pattern(String.raw`^(\s+)([A-Z][A-Z0-9_]+)\s*(?:\(.*\)\s*)?(?:\{|[,;])?\s*$`, {
  begins: CAPITALS,
});

export const JAVA = [
  keyword(`${JVM_MODIFIER}|@[\\w.]+(?:\\([^)]*\\))?`, 'class|interface|enum|record|@interface'),
  TYPED_METHOD,
  CONSTRUCTOR,
  CONSTRUCTOR_WITHOUT_MODIFIER,
  CONSTANT,
  ENUM_CONSTANT,
];

export const C_SHARP = [
  keyword(
    JVM_MODIFIER,
    'class|interface|struct|enum|record(?:\\s+(?:struct|class))?|namespace',
    String.raw`[A-Za-z_\x80-\uffff][\w\x80-\uffff]*`,
  ),
  pattern(String.raw`^(\s*)${JVM_MODIFIERS}*(?:delegate|event)\s+${TYPE}\s+(${NAME})`, {
    begins: [...JVM_MODIFIED.begins, 'delegate', 'event'],
  }),
  pattern(String.raw`^(\s+)${ATTRIBUTE}${JVM_MODIFIERS}+${TYPE}\s+(?:[\w.]+\.)?(${NAME})\s*(?:\{|=>|$)`, {
    ...JVM_MODIFIED,
  }),
  pattern(String.raw`^(\s+)${ATTRIBUTE}${JVM_MODIFIERS}+${TYPE}\s+(?:[\w.]+\.)?(${NAME})\s*(?:<[^>()]*>)?\(`, {
    ...JVM_MODIFIED,
    contains: ['('],
  }),
  pattern(String.raw`^(\s+)${TYPE}\s+(?:\w+(?:<[^>()]*>)?\.)+(${NAME})\s*(?:<[^>()]*>)?\([^)]*\)\s*(?:=>|\{|$)`, {
    hasTypedName: 'always',
  }),
  TYPED_METHOD,
  CONSTRUCTOR,
  CONSTRUCTOR_WITHOUT_MODIFIER,
  CONSTANT,
];

const KOTLIN_MODIFIER =
  'public|private|protected|internal|abstract|final|open|sealed|data|inner|inline|value|annotation|enum|companion|override|suspend|operator|infix|tailrec|external|const|lateinit|expect|actual|fun|crossinline|noinline|reified|@[\\w.:]+(?:\\([^)]*\\))?';
const KOTLIN_RECEIVER = String.raw`(?:<[^>]*>\s*)?(?:[\w<>?, *.()]+\.)?`;
export const KOTLIN = [
  keyword(KOTLIN_MODIFIER, 'class|interface|object|typealias'),
  pattern(String.raw`^(\s*)(?:(?:${KOTLIN_MODIFIER})\s+)*fun\s+${KOTLIN_RECEIVER}(${NAME}|\x60[^\x60]+\x60)\s*[(<]`, {
    ...leading(KOTLIN_MODIFIER, 'fun'),
  }),
  pattern(
    String.raw`^(\s{0,4})(?:(?:${KOTLIN_MODIFIER})\s+)*(?:val|var)\s+${KOTLIN_RECEIVER}(${NAME})\s*(?:[:=]|by\b|$)`,
    leading(KOTLIN_MODIFIER, 'val|var'),
  ),
];

export const SWIFT = [
  pattern(
    String.raw`^(\s*)${ATTRIBUTE}(?:(?:public|private|fileprivate|internal|open|static|class|final|override|mutating|nonmutating|indirect|convenience|required|lazy|weak|nonisolated|async|@\w+|private\(set\)|public\(set\)|prefix|postfix|infix)\s+)*(?:func|class|struct|enum|protocol|extension|actor|typealias|associatedtype|macro)\s+(${NAME}|[^\s\w(]+)`,
  ),
  pattern(
    String.raw`^(\s*)(?:(?:public|private|fileprivate|internal|open|static|class|final|override|lazy|weak)\s+)+(?:var|let)\s+(${NAME})`,
  ),
  pattern(
    String.raw`^(\s*)(?:(?:public|private|fileprivate|internal|convenience|required|override)\s+)*(init)[?!]?\s*[(<]`,
  ),
];

export const SCALA = [
  keyword(
    'private(?:\\[\\w+\\])?|protected(?:\\[\\w+\\])?|final|sealed|abstract|implicit|override|lazy|case|inline|opaque|transparent|infix|open',
    'class|object|trait|def|type|enum|extension|given|package\\s+object',
    String.raw`[A-Za-z_$\x80-\uffff][\w$\x80-\uffff]*|[^\s\w(\[:=]+`,
  ),
  pattern(
    String.raw`^(\s{0,2})(?:(?:private|protected|final|implicit|override|lazy)(?:\[\w+\])?\s+)*(?:val|var)\s+(${NAME})`,
  ),
];

const DART_MODIFIER = 'abstract|base|final|sealed|interface|mixin|external|static|covariant|late|const';
export const DART = [
  keyword(DART_MODIFIER, 'class|mixin|enum|extension(?:\\s+type)?|typedef'),
  pattern(
    String.raw`^(\s*)(?:(?:${DART_MODIFIER})\s+)*(?!(?:${STATEMENTS})\s)${TYPE}\s+(?:get\s+|set\s+|operator\s+)?${NO_STATEMENT}(${NAME})\s*(?:<[^>()]*>)?(?:\([^=;]*(?:\)|$)|=>)`,
  ),
  pattern(
    String.raw`^(\s+)(?:(?:const|factory)\s+)?([A-Z\xc0-\xde\u0391-\u03a9\u0410-\u042f]\w*(?:\.\w+)?)\s*\([^=;]*\)?\s*[:{;]?\s*$`,
  ),
];

// Arguments of a template, which may have such arguments themselves.
const TEMPLATE = String.raw`<(?:[^;()<>]|<[^;()<>]*>)*>`;
// Parameters that go on in the next line, or end before a body.
const C_PARAMETERS = String.raw`(?:[^;]*|[^;{]*\)[^;{]*\{.*)$`;
const C_MACRO = String.raw`#\s*define\s+`;
export const C_FAMILY = [
  pattern(String.raw`^(\s*)${C_MACRO}([A-Za-z_]\w*)`, { begins: ['#'] }),
  pattern(
    String.raw`^(\s*)(?:template\s*<[^;]*>\s*)?(?:typedef\s+|static\s+|const\s+|export\s+|friend\s+)*(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:[A-Z][A-Z0-9_]*(?:\([^)]*\))?\s+|\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*([A-Za-z_][\w:]*)\s*(?:final\s*)?(?:<[^;]*>\s*)?(?::[^:;]|\{|$)`,
    leading('template|typedef|static|const|export|friend', 'class|struct|union|enum'),
  ),
  pattern(String.raw`^(\s*)(?:inline\s+)?(?:namespace|concept|module)\s+([A-Za-z_][\w:]*)`, {
    begins: ['inline', 'namespace', 'concept', 'module'],
  }),
  pattern(String.raw`^(\s*)using\s+([A-Za-z_]\w*)\s*=`, { begins: ['using'] }),
  pattern(String.raw`^(\s*)typedef\b.*?\(?\*?\s*\b([A-Za-z_]\w*)\s*(?:\)\s*\([^;]*\))?\s*(?:\[[^\]]*\])?;`, {
    begins: ['typedef'],
  }),
  // A function or method: a type, a name that may be qualified, and parameters, without a semicolon.
  pattern(
    String.raw`^(\s*)(?:template\s*<[^;]*>\s*)?(?!(?:${STATEMENTS}|namespace|class|struct|enum|union|using)\b)(?:\[\[[^\]]*\]\]\s*)?[A-Za-z_][\w\s*:<>,&\[\]]*?(?:\([^()]*\)\s*)?[\s*&]${NO_STATEMENT}(?:[A-Za-z_][\w]*(?:${TEMPLATE})?::)*(~?[A-Za-z_]\w*|operator\s*[^\s(]+|operator\s*\(\))\s*\((?!\s*\*)${C_PARAMETERS}`,
    { isOpen: true, hasTypedName: 'behindMacros' },
  ),
  pattern(
    String.raw`^(\s*)(?:(?:inline|explicit|constexpr|virtual|static|[A-Z][A-Z0-9_]+)\s+)*(?:[A-Za-z_]\w*(?:${TEMPLATE})?::)+(~?[A-Za-z_]\w*)\s*\(${C_PARAMETERS}`,
    { contains: ['(', '::'], isOpen: true },
  ),
  pattern(
    String.raw`^(\s+)(?:(?:inline|explicit|constexpr|virtual|[A-Z][A-Z0-9_]+)\s+)+(~?[A-Za-z_]\w*)\s*\(${C_PARAMETERS}`,
    { begins: [...CAPITALS, 'inline', 'explicit', 'constexpr', 'virtual'], contains: ['('], isOpen: true },
  ),
  pattern(String.raw`^(\s+)(~?[A-Z]\w*)\s*\([^;{]*\)\s*(?::[^;{]*|noexcept[^;{]*)?\{.*$`, {
    begins: [...CAPITALS, '~'],
    contains: ['(', '{'],
  }),
  // A name at the margin, whose type is in the line above.
  pattern(String.raw`^()${NO_STATEMENT}([a-z_]\w*)\s*\([^;(){}]*(?:\([^;(){}]*\)[^;(){}]*)*\)?\s*$`, {
    contains: ['('],
    isOpen: true,
  }),
];

const OBJECTIVE_C_ONLY = [
  pattern(String.raw`^(\s*)@(?:interface|implementation|protocol)\s+([A-Za-z_]\w*)`, { begins: ['@'] }),
  pattern(String.raw`^(\s*)[-+]\s*\([^)]*\)\s*([A-Za-z_]\w*)`, { begins: ['-', '+'] }),
];
export const C_HEADER = [...OBJECTIVE_C_ONLY, ...C_FAMILY];
/** Files of MATLAB have the same extension. */
export const OBJECTIVE_C = [
  pattern(String.raw`^(\s*)function\b(?:[^=(]*=)?\s*([A-Za-z_]\w*)`, { begins: ['function'] }),
  ...OBJECTIVE_C_ONLY,
  ...C_FAMILY,
];

const SCRIPT_MODIFIER =
  'export|default|public|private|protected|static|async|abstract|override|readonly|declare|accessor|get|set';
const SCRIPT_PROPERTY = String.raw`^(\s+)(?:(?:${SCRIPT_MODIFIER})\s+)*['"]?(${NAME})['"]?\s*(?::|=|:[^=]+=)\s*(?:async\s*)?`;
const METHOD_BEGINNINGS = [...LETTERS, '#', '*'];
const PROPERTY_BEGINNINGS = [...LETTERS, '"', "'"];
export const SCRIPT = [
  keyword(`${SCRIPT_MODIFIER}|const`, 'function\\s*\\*?|class|interface|type|enum|namespace|module'),
  pattern(
    String.raw`^()(?:(?:${SCRIPT_MODIFIER})\s+)*(?:const|let|var)\s+(${NAME})\s*(?::[^=]+)?(?:=(?!\s*require\b)|;|$)`,
    {
      ...leading(SCRIPT_MODIFIER, 'const|let|var'),
    },
  ),
  // A method: its parameters end in the line or below, with an opening brace.
  pattern(
    String.raw`^(\s+)(?:(?:${SCRIPT_MODIFIER})\s+)*(?:\*\s*)?#?${NO_STATEMENT}(${NAME})\s*(?:<[^>()]*>)?\([^;]*\)\s*(?::[^;={]+)?\{\s*$`,
    { begins: METHOD_BEGINNINGS, contains: ['('], ends: '{' },
  ),
  pattern(
    String.raw`^(\s+)(?:(?:${SCRIPT_MODIFIER})\s+)*#?${NO_STATEMENT}(${NAME})\??\s*(?:<[^>()]*>)?\([^;]*\)\s*:\s*[^;{}]+;\s*$`,
    { begins: METHOD_BEGINNINGS, contains: ['(', ':'], ends: ';' },
  ),
  // A function that is a property or a field.
  pattern(String.raw`${SCRIPT_PROPERTY}function\b`, { begins: PROPERTY_BEGINNINGS, contains: ['function'] }),
  pattern(String.raw`${SCRIPT_PROPERTY}(?:\([^()]*\)\s*(?::[^=]+)?=>|${NAME}\s*=>)`, {
    begins: PROPERTY_BEGINNINGS,
    contains: ['=>'],
  }),
  pattern(
    String.raw`^()(?:[\w$]+\.)+(${NAME})\s*=\s*(?:[\w$.]+\s*=\s*)*(?:async\s+)?(?:function\b|class\b|\(|${NAME}\s*=>)`,
    { contains: ['.', '='] },
  ),
  // A named function as an argument or on the right of an assignment.
  pattern(String.raw`^(\s*)[\w$].*[(,=]\s*(?:async\s+)?function\s*\*?\s*(${NAME})\s*\(`, {
    contains: ['function', '('],
  }),
];
/** A method whose parameters go on in the next lines; `opensBelow` distinguishes it from a call. */
export const OPEN_METHOD = new RegExp(
  String.raw`^(\s+)(?:[\w.<>\[\],?]+\s+){0,12}#?${NO_STATEMENT}(${NAME})\s*(?:<[^>()]*>)?\(\s*$`,
);
