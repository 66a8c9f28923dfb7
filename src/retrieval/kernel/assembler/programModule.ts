import { type Code, END, I32, type Local, unsigned, type Value, valueOf, type ValueType } from './webAssembly.ts';

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const LOCAL_GET = 0x20;

/** A function that is exported by its name; its parameters and its result, if any, are of 32 bits. */
export class ProgramFunction {
  readonly name: string;
  readonly #locals: ValueType[] = [];
  #parameters = 0;
  #body: Code = [];
  #hasResult = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Parameters of 32 bits, behind those before; all of them come before the locals. */
  parameters<Name extends string>(...names: readonly Name[]): Readonly<Record<Name, Local>> {
    const first = this.#parameters;
    this.#parameters += names.length;
    return this.#named(names, first);
  }

  locals<Name extends string>(type: ValueType, ...names: readonly Name[]): Readonly<Record<Name, Local>> {
    const first = this.#parameters + this.#locals.length;
    this.#locals.push(...names.map(() => type));
    return this.#named(names, first);
  }

  /** What it does, and what it gives. */
  is(body: readonly Code[], result?: Value): this {
    this.#body = [body, result === undefined ? [] : valueOf(result)];
    this.#hasResult = result !== undefined;
    return this;
  }

  #named<Name extends string>(names: readonly Name[], first: number): Record<Name, Local> {
    const entries = names.map((name, index) => [name, [LOCAL_GET, ...unsigned(first + index)]]);
    return Object.fromEntries(entries) as Record<Name, Local>;
  }

  get type(): Code {
    const parameters = Array.from({ length: this.#parameters }, () => [I32]);
    return [0x60, list(parameters), list(this.#hasResult ? [[I32]] : [])];
  }

  get code(): Code {
    const locals = this.#locals.map((type) => [1, type]);
    return sized([list(locals), this.#body, END]);
  }
}

/** All in one, at the end: copying parts into larger parts again and again would take a thread that starts ten milliseconds. */
function flatten(code: Code, into: number[] = []): readonly number[] {
  for (const part of code) {
    if (typeof part === 'number') into.push(part);
    else flatten(part, into);
  }
  return into;
}

function sized(code: Code): Code {
  const bytes = flatten(code);
  return [unsigned(bytes.length), bytes];
}

const list = (items: readonly Code[]): Code => [unsigned(items.length), items];
const section = (id: number, code: Code): Code => [id, sized(code)];
const text = (value: string): Code => sized([...Buffer.from(value)]);

/** The bytes of a module that imports `env.memory`. */
export function programOf(functions: readonly ProgramFunction[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    flatten([
      MAGIC_AND_VERSION,
      section(1, list(functions.map(({ type }) => type))),
      section(2, list([[text('env'), text('memory'), 0x02, 0x00, 1]])),
      section(3, list(functions.map((_, index) => unsigned(index)))),
      section(7, list(functions.map(({ name }, index) => [text(name), 0x00, unsigned(index)]))),
      section(10, list(functions.map(({ code }) => code))),
    ]),
  );
}
