import type { Below } from '../../test/random.ts';

/** How the processes of a training are started: one alone, by `multiprocessing`, or by a launcher that ends all when one fails, as torchrun does. */
const SHAPES = ['single', 'spawn', 'launcher'] as const;
type Shape = (typeof SHAPES)[number];

const LAYERS = 6;
const STEPS = 5;
const BATCH = 4;
const FAILING = {
  KeyError: '    factor = table[step]',
  ZeroDivisionError: '    factor = 1 // table.get(step, 0)',
  AssertionError: "    assert step in table, 'no factor'",
} as const;
type Failure = keyof typeof FAILING;

export interface FailingTraining {
  readonly shape: Shape;
  readonly script: string;
  readonly files: Readonly<Record<string, string>>;
  readonly rank: number;
  readonly error: Failure;
  /** The lines of the frames in files of the training, the innermost first. */
  readonly frames: readonly { readonly file: string; readonly line: number }[];
  /** The variables of the innermost frame, as Python prints them. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A small training that fails at a random line, rank and step. */
export function failingTraining(index: number, below: Below): FailingTraining {
  const shape = SHAPES[index % SHAPES.length] ?? 'single';
  const world = shape === 'single' ? 1 : 2 + below(3);
  const place = { rank: below(world), step: below(STEPS), layer: below(LAYERS) };
  const error = (Object.keys(FAILING) as Failure[])[below(3)] ?? 'KeyError';
  const layers = Array.from({ length: LAYERS }, (_, layer) => layerLines(layer, below(5), error));
  const head = ['"""Layers."""', 'from data import TABLES', ''];
  const forward = [
    'def forward(step, rank, batch, total):',
    '    for layer, function in enumerate(LAYERS):',
    '        total = function(step, rank, batch, total, TABLES[rank][layer])',
    '    return total',
    '',
    `LAYERS = [${layers.map((_, layer) => `layer_${layer}`).join(', ')}]`,
    '',
  ];
  const model = [...head, ...layers.flatMap(({ lines }) => lines), ...forward];
  const before = layers.slice(0, place.layer).reduce((sum, { lines }) => sum + lines.length, head.length);
  const failing = layers[place.layer];
  if (failing === undefined) throw new Error('A failing layer exists.');
  const train = trainLines(shape === 'single');
  const call = model.indexOf(forward[2] ?? '');
  return {
    shape,
    script: shape === 'single' ? 'train.py' : 'launch.py',
    files: {
      'model.py': model.join('\n'),
      'train.py': train.join('\n'),
      'data.py': dataText(place, shape, world),
      ...(shape !== 'single' && { 'launch.py': shape === 'spawn' ? spawnText(world) : launcherText(world) }),
    },
    rank: place.rank,
    error,
    frames: [
      { file: 'model.py', line: before + failing.at + 1 },
      { file: 'model.py', line: call + 1 },
      { file: 'train.py', line: train.findIndex((line) => line.includes('forward(')) + 1 },
    ],
    variables: variablesAt(place, failing.at),
  };
}

/** The lines of a layer, of which one at a random place fails where its table lacks the step. */
function layerLines(
  layer: number,
  place: number,
  error: Failure,
): { readonly lines: readonly string[]; readonly at: number } {
  const body = [
    `    scale = ${layer} + rank`,
    '    weights = [scale * item for item in batch]',
    '    lowest = min(weights)',
    '    gap = max(weights) - lowest',
    '    total += gap',
  ];
  const start = [`def layer_${layer}(step, rank, batch, total, table):`];
  const lines = [...start, ...body.slice(0, place), FAILING[error], ...body.slice(place), '    return total', ''];
  return { lines, at: start.length + place };
}

function batchOf(step: number, rank: number): readonly number[] {
  return Array.from({ length: BATCH }, (_, item) => (step * 7 + rank * 3 + item * item) % 11);
}

/** What the layer has computed before its line `at`. */
function variablesAt(place: { readonly rank: number; readonly step: number; readonly layer: number }, at: number) {
  const { rank, step, layer } = place;
  const range = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);
  let total = 0;
  for (let each = 0; each <= step; each += 1)
    for (let below = 0; below < (each === step ? layer : LAYERS); below += 1)
      total += range(batchOf(each, rank).map((item) => item * (below + rank)));
  const batch = batchOf(step, rank);
  const weights = batch.map((item) => item * (layer + rank));
  const list = (values: readonly number[]): string => `[${values.join(', ')}]`;
  const computed = { scale: layer + rank, weights: list(weights), lowest: Math.min(...weights), gap: range(weights) };
  const known = Object.entries(computed).slice(0, at - 1);
  return Object.fromEntries(
    [['step', step], ['rank', rank], ['batch', list(batch)], ['total', total], ...known].map(([name, value]) => [
      String(name),
      String(value),
    ]),
  );
}

function dataText(
  { rank, step, layer }: Record<'rank' | 'step' | 'layer', number>,
  shape: Shape,
  world: number,
): string {
  return `import os, time
TABLES = [[{step: 1 for step in range(${STEPS})} for layer in range(${LAYERS})] for rank in range(${world})]
del TABLES[${rank}][${layer}][${step}]

def batches(rank):
    for step in range(${STEPS}):
        yield step, [(step * 7 + rank * 3 + item * item) % 11 for item in range(${BATCH})]

def meet(rank):
    """Waits for the other ranks, as the first collective does."""
    open('artifacts/rank-%d.txt' % rank, 'w').write('begun')
    while not all(os.path.exists('artifacts/rank-%d.txt' % each) for each in range(${world})):
        time.sleep(0.01)

def finish(rank, total):
    ${shape === 'launcher' ? 'time.sleep(600) # in a collective, for the rank that failed' : `open('artifacts/rank-%d.txt' % rank, 'w').write(str(total))`}
`;
}

function trainLines(isAlone: boolean): readonly string[] {
  return [
    'import os',
    'from data import batches, finish, meet',
    'from model import forward',
    '',
    'def train(rank):',
    "    os.environ['RANK'] = str(rank)",
    '    meet(rank)',
    '    total = 0',
    '    for step, batch in batches(rank):',
    '        total = forward(step, rank, batch, total)',
    '    finish(rank, total)',
    '',
    "if __name__ == '__main__':",
    `    train(${isAlone ? '0' : "int(os.environ['RANK'])"})`,
    '',
  ];
}

function spawnText(world: number): string {
  return `import multiprocessing, sys
from train import train

if __name__ == '__main__':
    context = multiprocessing.get_context('spawn')
    ranks = [context.Process(target=train, args=(rank,)) for rank in range(${world})]
    for each in ranks: each.start()
    for each in ranks: each.join()
    sys.exit(sum(each.exitcode != 0 for each in ranks))
`;
}

function launcherText(world: number): string {
  return `import os, subprocess, sys, time
ranks = [subprocess.Popen([sys.executable, 'train.py'], env={**os.environ, 'RANK': str(rank)}) for rank in range(${world})]
while not any(each.poll() for each in ranks):
    time.sleep(0.02)
failed = [rank for rank, each in enumerate(ranks) if each.returncode]
for each in ranks: each.terminate()
for each in ranks: each.wait()
print('ranks that failed:', failed)
sys.exit(3)
`;
}

/** A file after somebody has worked on it. */
export interface EditedText {
  /** Undefined for a file that was deleted. */
  readonly text: string | undefined;
  /** Where a submitted line is now, both 1-based; undefined for one that is gone. */
  readonly lineOf: (submitted: number) => number | undefined;
}

/** Inserts, removes and changes lines around one, and sometimes ends the file otherwise, or replaces or deletes it. */
export function editAround(text: string, around: number, below: Below): EditedText {
  const gone = (): undefined => undefined;
  const fate = below(20);
  if (fate === 0) return { text: undefined, lineOf: gone };
  if (fate === 1) return { text: '# begun anew\nprint(1)\n', lineOf: gone };
  const lines: { text: string; origin?: number }[] = text
    .split('\n')
    .map((line, index) => ({ text: line, origin: index + 1 }));
  const edits = 1 + below(6);
  for (let edit = 0; edit < edits; edit += 1) {
    const at = Math.min(lines.length - 1, Math.max(0, around - 5 + below(9)));
    const kind = below(3);
    if (kind === 0) {
      const added = ['', '    total += 1', `    extra_${below(1000)} = step`, '    # why?'];
      lines.splice(at, 0, ...Array.from({ length: 1 + below(4) }, () => ({ text: added[below(added.length)] ?? '' })));
    } else if (kind === 1) lines.splice(at, 1);
    else lines[at] = { text: `${lines[at]?.text} # changed ${below(1000)}` };
  }
  const end = fate === 2 ? '\r\n' : '\n';
  return {
    text: lines.map((line) => line.text).join(end),
    lineOf(submitted) {
      const found = lines.findIndex(({ origin }) => origin === submitted);
      return found === -1 ? undefined : found + 1;
    },
  };
}
