/** Environment variables. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether a stream gets colours. FORCE_COLOR takes precedence, as in Node.js (force-color.org; `0` and `false` mean no), then NO_COLOR
 * (no-color.org; empty means unset). Otherwise only terminals that are not dumb get colours.
 */
export function showsColour(isTTY: boolean, env: Environment): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced) return forced !== '0' && forced !== 'false';
  return isTTY && !env['NO_COLOR'] && !isDumb(env);
}

/** Whether a line can be replaced: not on a terminal without cursor movement, nor in the log of a CI system. */
export function canRedraw(isTTY: boolean, env: Environment): boolean {
  return isTTY && !isDumb(env) && (!env['CI'] || env['CI'] === 'false');
}

function isDumb({ TERM }: Environment): boolean {
  return TERM === 'dumb';
}
