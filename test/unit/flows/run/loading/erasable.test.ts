import assert from 'node:assert/strict';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { transformSync } from 'esbuild';
import { toErasable } from '../../../../../src/flows/run/loading/erasable.ts';

// Each exports `result`. What esbuild makes of the same text says what it has to be.
const PROGRAMS: Readonly<Record<string, string>> = {
  'an enum counts from zero, or from the last number': `
    enum Level { Low, Middle = 5, High, }
    export const result = [Level.Low, Level.High, Level[6], Object.keys(Level)];`,
  'an enum of texts, and of both': `
    export enum Kind { Ship = 'ship', 'with space' = "two words", Count = 3, Next }
    export const result = [Kind.Ship, Kind['with space'], Kind[4], Object.entries(Kind)];`,
  'an enum whose members name each other': `
    const enum Flag { None = 0, Read = 1 << 0, Write = 1 << 1, Both = Read | Flag.Write, Size = 'abc'.length, Same = Both }
    export const result = [Flag.Both, Flag.Size, Flag.Same, Flag[3]];`,
  'an enum on several lines, with comments, and an empty one': `
    enum Port {
      // the first
      Bergen = 1, /* Norway */
      Hamburg, // Germany
    }
    enum None {}
    export const result = [Port, None];`,
  'enums that are merged, and one in a function': `
    export enum A { x = 1 }
    export enum A { y = 2 }
    function inner() { enum B { z = 7 } return B; }
    export const result = [A, inner()];`,
  'a negative start and expressions': `
    const base = 40;
    enum N { a = -1, b, c = base + 2, d = Math.max(1, 2), e = ~1, f = (1 + 1) * 2, g = (3) }
    export const result = N;`,
  'a namespace with all that it can export': `
    export namespace Deep {
      const hidden = 1;
      export const x = hidden + 1, { y, z: [w] } = { y: 2, z: [3] };
      export let counter = 0;
      export function count(): number { counter += 1; return counter; }
      export class Box<T> { constructor(readonly value: T) {} }
      export interface Shape { size: number }
      export type Name = string;
      export enum Inner { One = 1 }
      export namespace Deeper { export const v = 'v'; }
    }
    Deep.count();
    export const result = [Deep.x, Deep.y, Deep.w, Deep.counter, new Deep.Box(4).value, Deep.Inner.One, Deep.Deeper.v, Object.keys(Deep).sort()];`,
  'namespaces of types, of several names, and of a class': `
    namespace Types { export interface A { a: string } export type B = A; }
    declare namespace Ambient { const x: number; }
    namespace One.Two { export const three = 3; }
    namespace One.Two { export const four = 4; }
    class Port { static open = true; }
    namespace Port { export const depth = 12; }
    const typed: Types.A = { a: 'a' };
    export const result = [One.Two, Port.depth, Port.open, typed];`,
  'parameter properties': `
    class Base { constructor(protected readonly kind: string) {} }
    class Ship extends Base {
      sails = 3;
      constructor(private name: string, public readonly tons: number = 10, plain?: string) {
        super('ship');
        if (plain !== undefined) this.name += plain;
      }
      text() { return [this.kind, this.name, this.tons, this.sails]; }
    }
    const Other = class { constructor(public a: number) { 'use strict'; this.a += 1; } };
    export const result = [new Ship('Ada', 5, '!').text(), new Ship('Bob').text(), new Other(1).a];`,
  'assertions in angle brackets': `
    const make = () => <{ a: number }>{ a: 1 };
    const text = (<string>(<unknown>'abc')).length;
    export const result = [make(), text];`,
};

async function resultOf(code: string): Promise<unknown> {
  const module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { result: unknown };
  return JSON.parse(JSON.stringify(module.result)) as unknown;
}

for (const [name, source] of Object.entries(PROGRAMS)) {
  test(`${name}: what is rewritten runs as other compilers have it, on the same lines`, async () => {
    const erasable = toErasable(source);
    assert.equal(erasable.split('\n').length, source.split('\n').length);
    const { code } = transformSync(source, { loader: 'ts', tsconfigRaw: { compilerOptions: { target: 'es2022' } } });
    assert.deepEqual(await resultOf(stripTypeScriptTypes(erasable)), await resultOf(code));
  });
}

test('an error in a rewritten file is at the line where it was written', async () => {
  const source =
    "enum A {\n  x,\n  y,\n}\nclass B {\n  constructor(\n    public a: A,\n  ) {\n    throw new Error('here');\n  }\n}\nnew B(A.x);";
  const running = import(`data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(toErasable(source)))}`);
  await assert.rejects(running, ({ stack }: Error) => /:9:11/.test(stack ?? ''));
});

test('what does not parse, and plain types, are left as they are', () => {
  for (const text of ['enum {', 'const a: number = 1;\nnamespace T { export type X = 1 }\ndeclare enum E { a }']) {
    assert.equal(toErasable(text), text);
  }
});
