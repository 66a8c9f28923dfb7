/** What the variables of the environment say about the terminal. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether a stream gets colours. FORCE_COLOR decides before everything else, as in Node.js itself (force-color.org; `0` and
 * `false` are no), then NO_COLOR (no-color.org; empty is unset); a stream that is not a terminal, or a dumb one, gets none.
 */
export function showsColour(isTTY: boolean, env: Environment): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced) return forced !== '0' && forced !== 'false';
  return isTTY && !env['NO_COLOR'] && !isDumb(env);
}

/** Whether a line can be replaced: neither on a terminal without cursor movement, nor in the kept log of a CI system. */
export function canRedraw(isTTY: boolean, env: Environment): boolean {
  return isTTY && !isDumb(env) && (!env['CI'] || env['CI'] === 'false');
}

function isDumb({ TERM }: Environment): boolean {
  return TERM === 'dumb';
}
