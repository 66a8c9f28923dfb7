/** A value of a JSON text with its position. Offsets are in UTF-16 code units. */
export interface JsonNode {
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
  /** The offset of the name, for a member of an object. */
  readonly nameStart?: number;
  /** Members by name, or elements by index. */
  readonly children: ReadonlyMap<PropertyKey, JsonNode>;
}

/** Why and where a text is not valid JSON. */
export class JsonSyntaxError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const SPACE = /[ \t\r\n]*/y;
const TOKEN =
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// Deeper values would exhaust the stack; no file of ours is nearly as deep.
const MAX_DEPTH = 32;

/**
 * Parses JSON (RFC 8259) and keeps the position of each value. Stricter than `JSON.parse`: a name may occur once in an object.
 *
 * @throws JsonSyntaxError at the first error.
 */
export function parseJsonDocument(text: string): JsonNode {
  const tokens = new Tokens(text);
  const root = readValue(tokens, 0);
  if (tokens.peek() !== '') throw tokens.unexpected('the end of the file');
  return root;
}

/** The position of a value, or of the nearest value around it that exists. */
export function findNode(root: JsonNode, path: readonly PropertyKey[]): JsonNode {
  let node = root;
  for (const key of path) {
    const child = node.children.get(key);
    if (child === undefined) break;
    node = child;
  }
  return node;
}

class Tokens {
  readonly #text: string;
  start = 0;
  end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next token without reading past it; empty at the end of the text. */
  peek(): string {
    SPACE.lastIndex = this.end;
    this.start = this.end + (SPACE.exec(this.#text)?.[0].length ?? 0);
    TOKEN.lastIndex = this.start;
    const token = TOKEN.exec(this.#text)?.[0];
    if (token === undefined && this.start < this.#text.length) throw this.unexpected('a value');
    return token ?? '';
  }

  next(): string {
    const token = this.peek();
    this.end = this.start + token.length;
    return token;
  }

  expect(token: string): void {
    if (this.peek() !== token) throw this.unexpected(`"${token}"`);
    this.next();
  }

  unexpected(expectation: string): JsonSyntaxError {
    const found = /^[^\s,:{}[\]]{1,20}|^\S/.exec(this.#text.slice(this.start))?.[0];
    return new JsonSyntaxError(`Expected ${expectation}, found ${found ?? 'the end of the file'}.`, this.start);
  }
}

function readValue(tokens: Tokens, depth: number): JsonNode {
  const token = tokens.peek();
  const { start } = tokens;
  if (depth > MAX_DEPTH) throw new JsonSyntaxError(`Values are nested more than ${MAX_DEPTH} deep.`, start);
  if (token === '' || /^[}\],:]/.test(token)) throw tokens.unexpected('a value');
  tokens.next();
  const children = new Map<PropertyKey, JsonNode>();
  if (token === '[') {
    readList(tokens, ']', () => children.set(children.size, readValue(tokens, depth + 1)));
    return { value: [...children.values()].map(({ value }) => value), start, end: tokens.end, children };
  }
  if (token === '{') {
    readList(tokens, '}', () => readMember(tokens, children, depth));
    const value = Object.fromEntries([...children].map(([name, child]) => [name, child.value]));
    return { value, start, end: tokens.end, children };
  }
  return { value: JSON.parse(token), start, end: tokens.end, children };
}

function readMember(tokens: Tokens, members: Map<PropertyKey, JsonNode>, depth: number): void {
  const token = tokens.peek();
  const { start: nameStart } = tokens;
  if (!token.startsWith('"')) throw tokens.unexpected('a name in quotes');
  const name = String(JSON.parse(token));
  if (members.has(name)) throw new JsonSyntaxError(`The name ${token} occurs twice.`, nameStart);
  tokens.next();
  tokens.expect(':');
  members.set(name, { ...readValue(tokens, depth + 1), nameStart });
}

function readList(tokens: Tokens, close: string, readItem: () => void): void {
  if (tokens.peek() === close) {
    tokens.next();
    return;
  }
  for (;;) {
    readItem();
    if (tokens.peek() === close) break;
    if (tokens.peek() !== ',') throw tokens.unexpected(`"," or "${close}"`);
    tokens.next();
  }
  tokens.next();
}
