// Below the license, which comes first in many files.
const READ = 1500;
// Few files contain one of these, and the expressions below take ten times as long.
const HINT = /generated|made by gnu/i;
// A program wrote the first version, and people write the next ones: Django's settings, Sphinx' configuration, RSpec's helpers.
const SCAFFOLD = /startproject|startapp|quickstart|rails generate|create-\w+-app|scaffold/i;
// Programs that write files contain the same sentences in quotes.
const UNQUOTED = `^[^"'\`\\n]*`;
const HOW = '(?:auto[- ]?|automatically |machine[- ])';
const DO_NOT_EDIT = 'do not (?:edit|modify|change)\\b';

const SENTENCE = new RegExp(
  [
    `${UNQUOTED}\\bthis (?:file|code|source|header|module|script|document) (?:is|was|has been) ${HOW}?@?generated (?!by hand)`,
    `${UNQUOTED}\\b(?:this is an?|file|code) ${HOW}generated\\b`,
    `${UNQUOTED}\\bgenerated\\b.{0,100}\\b${DO_NOT_EDIT}`,
    `${UNQUOTED}\\b${DO_NOT_EDIT}[^"'\`]{0,200}\\b${HOW}?generated\\b`,
    '^[^\\w\\n@"\'`]*@generated\\b',
    '^\\W{0,4}an? (?:bison|yacc|lalr|lexical)\\b.{0,40} (?:made|generated) by ',
  ].join('|'),
  'im',
);
// Within a sentence that began on another line, it has a small letter.
const TITLE =
  /^(?:[^\w\n@"'`]*|.{0,40}\. +)(?:Generated|GENERATED|Auto-?[gG]enerated|Automatically generated)(?: automatically)? (?:by|from|using|with) /m;

/** Whether the first lines of a file say that a program wrote it, and writes it again. */
export function saysGenerated(text: string): boolean {
  const first = text.slice(0, READ);
  return HINT.test(first) && !SCAFFOLD.test(first) && (SENTENCE.test(first) || TITLE.test(first));
}
