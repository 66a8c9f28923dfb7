import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { DEFAULT_HOLD } from '../../remote/protocol/debugging.ts';
import { readSubmitArguments, type SubmitArguments } from '../submit/submitArguments.ts';

const MAX_HOLD_MINUTES = 1_440;

/**
 * What a launch configuration submits. Its job waits at its start, so that a breakpoint in the first line is hit.
 *
 * @throws AppError `bad-input` that names the wrong field.
 */
export function readDebugArguments(
  {
    type: _type,
    request: _request,
    name: _name,
    holdMinutes = DEFAULT_HOLD / 60,
    ...asked
  }: Readonly<Record<string, unknown>>,
  folder: string | undefined,
): SubmitArguments {
  const isMinutes = typeof holdMinutes === 'number' && holdMinutes > 0 && holdMinutes <= MAX_HOLD_MINUTES;
  if (!isMinutes)
    throw new AppError(
      'bad-input',
      l10n.t('"holdMinutes" must be a number of minutes, at most {0}.', MAX_HOLD_MINUTES),
    );
  const debug = { hold: Math.ceil(60 * holdMinutes), wait: true };
  return readSubmitArguments({ ...(folder !== undefined && { folder }), ...asked, debug });
}
