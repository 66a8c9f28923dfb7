import * as l10n from '@vscode/l10n';
import { type JobParameters, parameterOf } from '../../jobs/ledger/parameters.ts';

/**
 * Reads parameters as `describeParameters` writes them: `lr=0.1 name=a b`. Values may contain spaces.
 *
 * @param before all names that the text may have; values that are left out stay as they are.
 */
export function readParameters(
  text: string,
  before: JobParameters,
): { readonly parameters: JobParameters; readonly problem?: string } {
  const parameters: Record<string, JobParameters[string]> = { ...before };
  const starts = [...text.matchAll(/(?:^|\s)([A-Za-z]\w*)=/g)];
  if (text.trim() !== '' && (starts[0] === undefined || text.slice(0, starts[0].index).trim() !== '')) {
    return { parameters, problem: l10n.t('Enter parameters as name=value, separated by spaces.') };
  }
  for (const [place, match] of starts.entries()) {
    const [whole, name = ''] = match;
    if (!Object.hasOwn(before, name)) return { parameters, problem: l10n.t('The matrix has no parameter {0}.', name) };
    const value = text.slice(match.index + whole.length, starts[place + 1]?.index).trim();
    parameters[name] = parameterOf(value);
  }
  return { parameters };
}
