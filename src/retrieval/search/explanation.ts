import type { Reasons } from './rankFiles.ts';

/** The parts of a file's score in one line: `12.3 = 0.4 (test) × (25.1 keywords + 5.6 file name)`. */
export function explainScore(
  score: number,
  { keywords, name, folder, definition, mention, history, meaning, role, factor }: Reasons,
): string {
  const parts = Object.entries({
    keywords,
    definition,
    'file name': name,
    folder,
    'path in the query': mention,
    'past commits': history,
    meaning,
  })
    .filter(([, value]) => value > 0)
    .map(([title, value]) => `${value.toFixed(1)} ${title}`);
  const sum = parts.length === 1 ? parts.join('') : `(${parts.join(' + ')})`;
  return `${score.toFixed(1)} = ${factor === 1 ? '' : `${factor} (${role}) × `}${sum}`;
}
