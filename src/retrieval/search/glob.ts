/**
 * Whether a path with `/` is what a pattern means: `*` stands for any run within a name, `**` for any run, and a name that is
 * `**` for any folders or none. A pattern that does not begin with `/` may begin at any folder.
 *
 * After a mismatch, only the last star, or else the last double star, matches one more character. The worst case is therefore the
 * product of both lengths, rather than exponential as with a regular expression.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  const glob = pattern.startsWith('/') ? pattern.slice(1) : `**/${pattern}`;
  let [at, place] = [0, 0];
  let [starAt, starPlace] = [-1, 0];
  let [deepAt, deepPlace, isDeepName] = [-1, 0, false];
  while (at < path.length) {
    if (glob.startsWith('**', place)) {
      const end = endOfStars(glob, place);
      isDeepName = glob[end] === '/' && (place === 0 || glob[place - 1] === '/');
      [place, deepAt, starAt] = [isDeepName ? end + 1 : end, at, -1];
      deepPlace = place;
    } else if (glob[place] === '*') {
      place += 1;
      [starAt, starPlace] = [at, place];
    } else if (glob[place] === path[at]) {
      at += 1;
      place += 1;
    } else if (starAt >= 0 && path[starAt] !== '/') {
      starAt += 1;
      [at, place] = [starAt, starPlace];
    } else {
      deepAt = nextStart(path, deepAt, isDeepName);
      if (deepAt < 0) return false;
      [at, place, starAt] = [deepAt, deepPlace, -1];
    }
  }
  return endOfStars(glob, place) === glob.length;
}

/** The next possible start of what follows a double star; -1 if there is none. */
function nextStart(path: string, from: number, isName: boolean): number {
  if (from < 0 || !isName) return from < 0 ? -1 : from + 1;
  const slash = path.indexOf('/', from);
  return slash < 0 ? -1 : slash + 1;
}

function endOfStars(glob: string, from: number): number {
  let end = from;
  while (glob[end] === '*') end += 1;
  return end;
}
