import * as l10n from '@vscode/l10n';
import { decimalMark } from '../../core/text/format.ts';

/** Credits as a person types them, with the decimal mark of their language; null for empty text. @param least the lowest amount that makes sense. */
export function readCredits(
  text: string,
  least: number,
): { readonly ok: true; readonly credits: number | null } | { readonly ok: false; readonly reason: string } {
  const typed = text.trim();
  if (typed === '') return { ok: true, credits: null };
  // The other mark is refused: it separates thousands, and 1.000 must not become a budget of 1.
  const [whole = '', decimals, ...more] = typed.split(decimalMark());
  const isNumber = /^\d{1,12}$/.test(whole) && /^\d{1,6}$/.test(decimals ?? '0') && more.length === 0;
  if (!isNumber) return { ok: false, reason: l10n.t('Enter an amount of credits, such as {0}.', typedCredits(12.5)) };
  const credits = Number(`${whole}.${decimals ?? 0}`);
  if (credits >= least) return { ok: true, credits };
  return {
    ok: false,
    reason: l10n.t('Enter at least {0}, the amount that triggers the warning.', typedCredits(least)),
  };
}

/** Credits as `readCredits` reads them. */
export function typedCredits(credits: number): string {
  return String(credits).replace('.', decimalMark());
}
