import { parse } from '@babel/parser';
import type * as t from '@babel/types';
import { endOf, startOf } from '../../syntax/sourceFile.ts';
import { TextEdits } from '../../syntax/edits.ts';
import { type ImportedName, valueImports } from '../../syntax/valueImports.ts';

/**
 * Leaves out the imported names of which a file uses no value, as TypeScript and other runners do: Node.js imports each name that does not
 * say `type`, and interfaces do not exist when it runs. Every line stays where it was. Text that does not parse is returned unchanged.
 */
export function withoutTypeImports(text: string): string {
  let program: t.Program;
  try {
    ({ program } = parse(text, {
      sourceType: 'module',
      attachComment: false,
      locations: false,
      plugins: ['typescript', 'decorators'],
    }));
  } catch {
    return text;
  }
  const edits = new TextEdits(text);
  for (const { statement, unused, isUsed } of valueImports(program)) {
    if (isUsed) for (const each of unused) leaveOut(each, text, edits);
    else edits.replace(startOf(statement), endOf(statement), ';');
  }
  return edits.apply();
}

/** Beside others, a default is followed by a comma, all names of a module follow one, and a name in braces can say what it is. */
function leaveOut(specifier: ImportedName, text: string, edits: TextEdits): void {
  const [start, end] = [startOf(specifier), endOf(specifier)];
  if (specifier.type === 'ImportSpecifier') edits.insert(start, 'type ');
  else if (specifier.type === 'ImportDefaultSpecifier') edits.replace(start, text.indexOf(',', end) + 1, '');
  else edits.replace(text.lastIndexOf(',', start), end, '');
}
