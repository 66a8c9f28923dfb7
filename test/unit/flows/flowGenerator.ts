import { type Below, seeded } from '../../random.ts';

/** Numbers that are the same for the same seed, and picks. */
export class Random {
  readonly below: Below;

  constructor(seed: number) {
    this.below = seeded(seed);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('There is nothing to pick from.');
    return item;
  }
}

/** The source of a flow of 3 to 9 nodes, in one of many styles of code. */
export function generateFlow(random: Random): string {
  const count = 3 + random.below(7);
  const quote = random.pick(["'", '"']);
  const end = random.pick([';', ';', '']);
  const indent = random.pick(['  ', '    ', '\t']);
  const layout = random.pick(['chain', 'line', 'statements', 'function', 'class'] as const);
  const text = (value: string): string => `${quote}${value}${quote}`;
  const lines = [
    `import { Flow, Node } from ${text('farwharf/agents')}${end}`,
    '',
    'interface Shared {',
    `${indent}count: number${end}`,
    '}',
    '',
  ];
  const actions: string[][] = [];
  for (let index = 0; index < count; index += 1) {
    const names = random.pick([['default'], ['next', 'back'], ['done', 'again', 'stop'], ['ok', 'default']]);
    actions.push(names);
    if (random.below(2) === 0) lines.push(`/** Does step ${index}. */`);
    lines.push(
      `class Step${index} extends Node<Shared> {`,
      `${indent}override post(shared: Shared) {`,
      `${indent}${indent}shared.count += 1${end}`,
    );
    for (const [number, name] of names.slice(1).entries()) {
      lines.push(
        `${indent}${indent}if (shared.count === ${number}) return ${text(name === 'default' ? '' : name)}${end}`,
      );
    }
    lines.push(
      `${indent}${indent}return ${text(names[0] ?? '')}${names.length === 1 ? ' as const' : ''}${end}`,
      `${indent}}`,
      '}',
    );
    if (random.below(2) === 0) lines.push('');
  }
  const holder = layout === 'class' ? 'this.' : '';
  const calls: string[] = [];
  for (const [index, names] of actions.entries()) {
    for (const name of names) {
      if (random.below(5) === 0) continue;
      const target = random.below(4) === 0 ? 'null' : `${holder}step${random.below(count)}`;
      calls.push(`connect(${holder}step${index}, ${target}${name === 'default' ? '' : `, ${text(name)}`})`);
    }
  }
  lines.push(...flowLines({ layout, count, calls, indent, end }));
  return `${lines.join('\n')}\n`;
}

interface Parts {
  readonly layout: 'chain' | 'line' | 'statements' | 'function' | 'class';
  readonly count: number;
  readonly calls: readonly string[];
  readonly indent: string;
  readonly end: string;
}

function flowLines({ layout, count, calls, indent, end }: Parts): string[] {
  const nodes = Array.from({ length: count }, (_, index) => index);
  if (layout === 'class') {
    return [
      'export class Whole extends Flow<Shared> {',
      ...nodes.map((index) => `${indent}readonly step${index} = new Step${index}()${end}`),
      '',
      `${indent}constructor() {`,
      `${indent}${indent}super()${end}`,
      `${indent}${indent}this.start = this.step0${end}`,
      ...calls.map((call) => `${indent}${indent}this.${call}${end}`),
      `${indent}}`,
      '}',
    ];
  }
  const made = nodes.map((index) => `const step${index} = new Step${index}()${end}`);
  const create = 'const flow = new Flow<Shared>({ start: step0 })';
  const body =
    layout === 'line'
      ? [`${create}${calls.map((call) => `.${call}`).join('')}${end}`]
      : layout === 'chain'
        ? [create, ...calls.map((call) => `${indent}.${call}`)].map((line, at, all) =>
            at === all.length - 1 ? line + end : line,
          )
        : [`${create}${end}`, ...calls.map((call) => `flow.${call}${end}`)];
  if (layout !== 'function') return [...made, '// All of it.', ...body, `export { flow }${end}`];
  return [
    'export function build(): Flow<Shared> {',
    ...[...made, ...body, `return flow${end}`].map((line) => indent + line),
    '}',
  ];
}
