// The share of definitions whose chunk knows their name, by language, of those that universal-ctags sees. The arguments are folders.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { chunkText } from '../src/retrieval/chunks/chunkText.ts';
import type { Chunk } from '../src/retrieval/chunks/chunk.ts';

const MOST_OUTPUT = 1 << 30;
const SHOWN_MISSES = 12;
// What only has a meaning inside of its definition, or defines nothing.
const MINOR =
  /^(?:field|member|local|parameter|variable|property|enumerator|alias|package|import|header|namespace|unknown|label|constant|const|macro|externvar|prototype|module|section|subsection|id|anchor|accessor|enumConstant|methodSpec|anonMember|var|functionVar|using|target|setter|getter|singleton_attribute|attribute|symbol|register|data|key|selector|signal|constructor|fd|file|talias|define|event|val|globalVar|nettype|test|protocolmethod|library|heredoc|script|include|generator|unittest|heading1|heading2|heading3|class-attr|title)$/;
const Tag = z.looseObject({
  name: z.string(),
  path: z.string(),
  kind: z.string(),
  line: z.number(),
  language: z.string(),
});
const isVerbose = process.argv.includes('--misses');

const counts = new Map<string, { found: number; total: number; missed: string[] }>();
for (const folder of process.argv.slice(2).filter((argument) => !argument.startsWith('--'))) {
  const output = execFileSync(
    'ctags',
    ['-R', '--output-format=json', '--fields=+nlK', '--exclude=node_modules', '--exclude=.git', '-f', '-', '.'],
    { cwd: folder, maxBuffer: MOST_OUTPUT, encoding: 'utf8' },
  );
  const tags = output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Tag.parse({ line: 0, language: '', ...z.looseObject({}).parse(JSON.parse(line)) }));
  for (const [path, own] of Map.groupBy(tags, (tag) => tag.path)) {
    const text = readFileSync(join(folder, path), 'utf8');
    const chunks = chunkText(text, path, 'smart');
    for (const { name, kind, line, language } of own) {
      if (MINOR.test(kind) || /^__anon|^AnonymousFunction|^<lambda>|=$/.test(name) || name.includes('::') || line === 0)
        continue;
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
