import { formatCredits } from '../../core/text/format.ts';

/** Credits as a person types them; null for empty text. @param least the lowest amount that makes sense. */
export function readCredits(
  text: string,
  least: number,
): { readonly ok: true; readonly credits: number | null } | { readonly ok: false; readonly reason: string } {
  const typed = text.trim();
  if (typed === '') return { ok: true, credits: null };
  if (!/^\d{1,12}(?:\.\d{1,6})?$/.test(typed))
    return { ok: false, reason: 'Enter an amount of credits, such as 12.5.' };
  const credits = Number(typed);
  if (credits >= least) return { ok: true, credits };
  return { ok: false, reason: `Enter at least ${formatCredits(least)}, or the warning would never come.` };
}
