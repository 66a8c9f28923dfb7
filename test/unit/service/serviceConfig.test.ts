import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import * as z from 'zod';
import { AppError } from '../../../src/core/errors.ts';
import { configSchema, readConfig } from '../../../src/service/serviceConfig.ts';
import { rejection } from '../rejection.ts';

const Schema = z.looseObject({
  type: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  get properties() {
    return z.record(z.string(), Schema).default({});
  },
  get items() {
    return Schema.optional();
  },
});
type Schema = z.infer<typeof Schema>;
type Path = readonly (string | number)[];

const CLASS = { name: 'cpu', cpus: 1, memory_gb: 1, credits_per_minute: 1 };
const VALID: Readonly<Record<string, object>> = {
  process: { executor: 'process', machine_classes: [CLASS] },
  slurm: { executor: 'slurm', slurm: { folder: '/shared' }, machine_classes: [CLASS] },
};
const NOT_A_NUMBER = ['many', { a: 1 }];

/** Each setting with values that it cannot have. */
function* wrongValues(schema: Schema, path: Path = []): Generator<readonly [Path, unknown]> {
  const { type, minimum, maximum, properties, items } = schema;
  for (const [name, own] of Object.entries(properties)) yield* wrongValues(own, [...path, name]);
  if (items !== undefined) yield* wrongValues(items, [...path, 0]);
  if (path.length === 0) return;
  if (type === 'number' || type === 'integer') for (const value of NOT_A_NUMBER) yield [path, value];
  if (type === 'string' || type === 'boolean') yield [path, { a: 1 }];
  if (type === 'object' || type === 'array') yield [path, 'words'];
  if (type === 'object') yield [[...path, 'no_such_setting'], 1];
  if (minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER) yield [path, minimum - 1];
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) yield [path, maximum + 1];
}

function withValue(config: unknown, [name, ...rest]: Path, value: unknown): unknown {
  if (name === undefined) return value;
  if (typeof name === 'number') return [withValue(Array.isArray(config) ? config[name] : undefined, rest, value)];
  const own = typeof config === 'object' && config !== null ? Object.fromEntries(Object.entries(config)) : {};
  return { ...own, [name]: withValue(own[name], rest, value) };
}

test('each setting of the configuration with a wrong value is named by its path, whatever else is right', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'service.json');
  const { anyOf } = await configSchema();
  const executors = Object.keys(VALID);
  assert.equal(anyOf.length, executors.length, 'an executor is not tested');
  for (const [at, executor] of executors.entries()) {
    writeFileSync(file, JSON.stringify(VALID[executor]));
    await readConfig(file);
    const wrong = [...wrongValues(Schema.parse(anyOf[at]))];
    assert.ok(wrong.length > 60, `${wrong.length} of ${executor}`);
    for (const [path, value] of wrong) {
      writeFileSync(file, JSON.stringify(withValue(VALID[executor], path, value)));
      const error = await rejection(readConfig(file));
      const title = `${executor}: ${path.join('.')} = ${JSON.stringify(value)}`;
      assert.ok(error instanceof AppError && error.code === 'bad-input', `${title}: ${String(error)}`);
      const named = path.at(-1) === 'no_such_setting' ? 'no_such_setting' : path.join('.');
      assert.ok(error.message.includes(file) && error.message.includes(named), `${title}: ${error.message}`);
    }
  }
});

test('an unknown section is named, without a place that the file does not have', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'service.toml');
  writeFileSync(file, '[slrum]\nfolder = "/shared"\n');
  const error = await rejection(readConfig(file));
  assert.equal(error.message, `The configuration ${file} is not valid. Unrecognized key: "slrum".`);
});

test('an option of sbatch that is refused is named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'service.json');
  const problemOf = async (option: string): Promise<string> => {
    const machineClasses = [{ ...CLASS, sbatch: [option] }];
    writeFileSync(
      path,
      JSON.stringify({ executor: 'slurm', slurm: { folder: '/shared' }, machine_classes: machineClasses }),
    );
    return String(await rejection(readConfig(path)));
  };
  assert.match(await problemOf('--mem=4G'), /machine_classes\.0\.sbatch\.0: must not contain "--mem=4G"/);
  assert.match(await problemOf('-C a100'), /must be a long option, like "--constraint=a100", and not "-C a100"/);
});
