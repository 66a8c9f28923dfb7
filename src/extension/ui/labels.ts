import { type Printable, printable, printableLine } from '../../core/text/printable.ts';
import { withoutUserinfo } from '../../core/redact.ts';

/**
 * A message, title or prompt: one line in which nothing is a link, and no URL has a password. VS Code turns `[text](command:…)` in its messages into a link that
 * runs the command.
 */
export function messageText(text: string): Printable {
  return printableLine(printableLine(withoutUserinfo(text)).replaceAll('](', '] ('));
}

/** A line of our own, which may name icons, around text of others, which may not: `` label`$(file) ${path}` ``. */
export function label(own: TemplateStringsArray, ...values: readonly (string | number)[]): Printable {
  return printable(own, ...values.map((value) => withoutIcons(String(value))));
}

/** Text of others as a label: one line in which `$(name)` is no icon. */
export function withoutIcons(text: string): Printable {
  return printableLine(printableLine(text).replaceAll('$(', '$ ('));
}
