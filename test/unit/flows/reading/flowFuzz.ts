// Reads flow files that nobody wrote. In the unit tests for a moment; for as long as you like with
//   node test/unit/flows/reading/flowFuzz.ts --seconds 600 [--seed 7]
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryExamples } from '../../../../scripts/trackedFiles.ts';
import { diagnose } from '../../../../src/flows/language/diagnose.ts';
import { type Below, seeded } from '../../../random.ts';
import { readText } from '../reading.ts';

const EXAMPLES = join(temporaryExamples(), 'agents');
// What a reading may bring: a window holds it, and a worker sends it.
const MAX_JSON = 30_000_000;
const MAX_DIAGNOSTICS = 500;
// A hang, not a measure: the reader ends itself long before, also on a busy machine.
const MAX_MS = 60_000;
const NAMES = ['a', 'b', 'c', 'f', 'g', 'list', 'text', 'state', 'N', 'M'];
const SIZES = [0, 1, 2, 3, 10, 100, 5_000, 20_000];

/** Code of the constructs that multiply: loops, spreads, branches, functions and classes inside each other. */
class CodeWriter {
  readonly #random: Below;
  #left = 120;

  constructor(random: Below) {
    this.#random = random;
  }

  program(): string {
    const lines = Array.from({ length: 1 + this.#random(12) }, () => this.#statement());
    return [
      "import { Flow, Node, BatchNode, RAGNode, LLMClient } from 'farwharf/agents';",
      'let a = new Node(), b = new Node({ name: "b" }), list = [a, b], text = "x", state = {}, c;',
      'let f = new Flow({ start: a }), g = new Flow();',
      'class N extends Node { post(shared) { return "done"; } }',
      `class M extends ${this.#pick(['Node', 'Flow', 'N', 'BatchNode', 'unknown()'])} { ${this.#member()} ${this.#member()} }`,
      ...lines,
      'export { f, g };',
    ].join('\n');
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random(items.length)] as T;
  }

  #member(): string {
    const name = this.#pick(['prep', 'post', 'exec', 'constructor', 'get x', 'helper', 'static y']);
    const parent = name === 'constructor' ? 'super(...arguments);' : '';
    return `${name}(${name === 'get x' ? '' : 'shared'}) { ${parent} ${this.#statement()} return ${this.#expression()}; }`;
  }

  #statement(): string {
    this.#left -= 1;
    if (this.#left < 0) return ';';
    const inner = (): string => this.#statement();
    const value = (): string => this.#expression();
    const name = this.#pick(NAMES);
    return this.#pick([
      () => `for (let i = 0; i < ${this.#pick(SIZES)}; i++) { ${inner()} ${inner()} }`,
      () => `for (const item of ${value()}) { ${inner()} }`,
      () => `for (const key in ${value()}) { ${inner()} }`,
      () => `while (${value()}) { ${inner()} }`,
      () => `if (${value()}) { ${inner()} } else { ${inner()} }`,
      () => `switch (${value()}) { case ${value()}: ${inner()} case 2: ${inner()} break; default: ${inner()} }`,
      () => `try { ${inner()} } catch (error) { ${inner()} } finally { ${inner()} }`,
      () => `${name} = ${value()};`,
      () => `${name}.${this.#pick(['next', 'start', 'x', 'length'])} = ${value()};`,
      () => `${name}[${value()}] = ${value()};`,
      () => `${this.#pick(['f', 'g'])}.connect(${value()}, ${value()}, ${value()});`,
      () => `${this.#pick(['f', 'g', 'a'])}.run(${value()});`,
      () => `shared[${value()}] = shared.${name}; ${inner()}`,
      () => `{ ${inner()} ${inner()} ${inner()} }`,
      () => `const ${name} = ${value()}; ${inner()}`,
      () => `function h(n) { ${inner()} return ${this.#pick(['h(n + 1)', '[h(n), h(n)]', 'n'])}; } h(0);`,
    ])();
  }

  #expression(): string {
    this.#left -= 1;
    if (this.#left < 0) return 'a';
    const value = (): string => this.#expression();
    return this.#pick([
      () => this.#pick(NAMES),
      () => String(this.#pick(SIZES)),
      () => `'${'y'.repeat(this.#pick([0, 1, 8, 2_000]))}'`,
      () =>
        `new ${this.#pick(['Node', 'N', 'M', 'Flow', 'RAGNode', 'LLMClient'])}({ name: ${value()}, start: ${value()} })`,
      () => `[...${value()}, ...${value()}]`,
      () => `({ ...${value()}, [${value()}]: ${value()} })`,
      () => `(${value()} + ${value()})`,
      () => `\`\${${value()}}\${${value()}}\``,
      () => `(${value()} ? ${value()} : ${value()})`,
      () => `(${value()} ${this.#pick(['??', '||', '&&'])} ${value()})`,
      () => `list.${this.#pick(['map', 'flatMap', 'forEach', 'reduce', 'filter', 'find'])}((item) => ${value()})`,
      () => `list.${this.#pick(['push', 'concat', 'slice', 'at'])}(${value()}, ...list)`,
      () => `Array.from({ length: ${this.#pick(SIZES)} }, (_, i) => ${value()})`,
      () => `Object.${this.#pick(['keys', 'values', 'entries', 'assign'])}(${value()}, state)`,
      () => `shared${'.k'.repeat(1 + this.#random(5))}`,
      () => `(() => { ${this.#statement()} return ${value()}; })()`,
      () => `f.connect(${value()}, ${value()})`,
      () => {
        const depth = this.#pick([1, 300]);
        return `${'('.repeat(depth)}${value()}${')'.repeat(depth)}`;
      },
    ])();
  }
}

/** An example with parts taken out, doubled or exchanged. */
function mutated(text: string, random: Below): string {
  let result = text;
  for (let count = 1 + random(6); count > 0; count -= 1) {
    const at = random(result.length + 1);
    const part = result.slice(at, at + random(200));
    const other = random(result.length + 1);
    const repeated = part.repeat([0, 1, 2, 40][random(4)] ?? 1);
    result =
      random(2) === 0
        ? result.slice(0, at) + repeated + result.slice(at + part.length)
        : result.slice(0, other) + repeated + result.slice(other);
  }
  return result.slice(0, 400_000);
}

/**
 * Reads the file that belongs to a seed, and checks that it costs no more than a file may. Returns the milliseconds that it took.
 *
 * @throws AssertionError with the seed.
 */
export function readSeed(seed: number): number {
  const random = seeded(seed);
  const examples = globSync('*.mts', { cwd: EXAMPLES }).sort();
  const example = examples[random(examples.length)] ?? '';
  const text =
    random(3) === 0 ? mutated(readFileSync(join(EXAMPLES, example), 'utf8'), random) : new CodeWriter(random).program();
  const startedAt = performance.now();
  try {
    const read = readText(text);
    const diagnostics = diagnose(read);
    const took = performance.now() - startedAt;
    const json = JSON.stringify({ read, diagnostics }).length;
    assert.ok(json < MAX_JSON, `${json} characters`);
    assert.ok(diagnostics.length <= MAX_DIAGNOSTICS, `${diagnostics.length} diagnostics`);
    assert.ok(took < MAX_MS, `${took} ms`);
    return took;
  } catch (cause) {
    throw new Error(`The file of seed ${seed} does what none may do:\n${text.slice(0, 2_000)}`, { cause });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } });
  const end = performance.now() + Number(values.seconds ?? 60) * 1000;
  let seed = Number(values.seed ?? 1);
  let [count, slowest, slowestSeed] = [0, 0, 0];
  for (; performance.now() < end; seed += 1) {
    const took = readSeed(seed);
    count += 1;
    if (took > slowest) [slowest, slowestSeed] = [took, seed];
  }
  const rss = Math.round(process.resourceUsage().maxRSS / 1024);
  process.stdout.write(
    `${count} files read; the slowest took ${Math.round(slowest)} ms (seed ${slowestSeed}); ${rss} MB at most\n`,
  );
}
