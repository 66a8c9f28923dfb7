import { type Printable, printable, printableLine } from '../../core/text/printable.ts';
import { withoutUserinfo } from '../../core/redact.ts';

/**
 * A message, title or prompt: one line without links, and without passwords in URLs. In messages, VS Code turns
 * `[text](command:…)` into a link that runs the command.
 */
export function messageText(text: string): Printable {
  return printableLine(printableLine(withoutUserinfo(text)).replaceAll('](', '] ('));
}

/** A template of ours, which may contain icons, around untrusted text, which may not: `` label`$(file) ${path}` ``. */
export function label(strings: TemplateStringsArray, ...values: readonly (string | number)[]): Printable {
  return printable(strings, ...values.map((value) => withoutIcons(String(value))));
}

/** Untrusted text as a label: one line in which `$(name)` does not become an icon. */
export function withoutIcons(text: string): Printable {
  return printableLine(printableLine(text).replaceAll('$(', '$ ('));
}
