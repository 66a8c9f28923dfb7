// The share of definitions whose chunk knows their name, by language, of those that universal-ctags sees. The arguments are folders.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chunkText } from '../src/retrieval/chunks/chunkText.ts';
import type { Chunk } from '../src/retrieval/chunks/chunk.ts';
import { readTags } from './ranking/tags.ts';

const SHOWN_MISSES = 12;
const isVerbose = process.argv.includes('--misses');

const counts = new Map<string, { found: number; total: number; missed: string[] }>();
for (const folder of process.argv.slice(2).filter((argument) => !argument.startsWith('--'))) {
  for (const [path, own] of Map.groupBy(readTags(folder), (tag) => tag.path)) {
    const text = readFileSync(join(folder, path), 'utf8');
    const chunks = chunkText(text, path, 'smart');
    for (const { name, kind, line, language, isOwn } of own) {
      if (!isOwn) continue;
      const count = counts.get(language) ?? { found: 0, total: 0, missed: [] };
      counts.set(language, count);
      count.total += 1;
      if (chunks.some((chunk) => holds(chunk, name, line))) count.found += 1;
      else
        count.missed.push(`${kind} ${name} ${path}:${line}: ${text.split('\n')[line - 1]?.trim().slice(0, 100) ?? ''}`);
    }
  }
}
for (const [language, { found, total, missed }] of [...counts].sort((a, b) => b[1].total - a[1].total)) {
  if (total < 10) continue;
  process.stdout.write(`${language.padEnd(16)} ${(found / total).toFixed(3)} of ${total}\n`);
  const step = Math.ceil(missed.length / SHOWN_MISSES);
  if (isVerbose) for (const [at, miss] of missed.entries()) if (at % step === 0) process.stdout.write(`    ${miss}\n`);
}

/** Whether a chunk at a line, which may be that above the name, defines a name. */
function holds({ startLine, endLine, symbols }: Chunk, name: string, line: number): boolean {
  const plain =
    name
      .replace(/^(?:self\.|~)/, '')
      .split(/[.:]+/)
      .find((part) => part !== '') ?? name;
  const last = name.split(/[.:]+/).at(-1) ?? name;
  return (
    startLine <= line + 1 &&
    endLine >= line &&
    symbols.some((symbol) => symbol === name || [plain, last].includes(symbol.split(/::|\./).at(-1) ?? ''))
  );
}
