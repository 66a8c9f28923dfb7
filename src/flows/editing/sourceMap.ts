import type * as t from '@babel/types';
import { AppError } from '../../core/errors.ts';
import type { TextEdit } from '../graph/graph.ts';
import type { EditResult } from '../reading/readSource.ts';
import { given, visitNodes } from '../syntax/nodes.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';
import { indentOf, lineBreakOf, quotedIn, stepOf } from '../syntax/sourceStyle.ts';

// Statements after which semicolons are a matter of style.
const ENDED = new Set(['ImportDeclaration', 'ExpressionStatement', 'ReturnStatement', 'ThrowStatement']);
const BLOCKS = new Set(['Program', 'BlockStatement', 'StaticBlock', 'SwitchCase', 'TSModuleBlock']);

/** Refuses an edit that cannot be made safely; the sentence is shown to the person who requested it. */
export function refuse(sentence: string): never {
  throw new AppError('refused', sentence);
}

/** The edits that are planned, or the sentence of `refuse`. */
export function tryEdit(plan: () => readonly TextEdit[]): EditResult {
  try {
    return { ok: true, edits: plan() };
  } catch (error) {
    if (error instanceof AppError && error.code === 'refused') return { ok: false, reason: error.message };
    throw error;
  }
}

/** The syntax tree of a file with its parents, and the style of its text. */
export class SourceMap {
  readonly source: SourceFile;
  readonly program: t.Program;
  /** The quotes of most strings in the file. */
  readonly quote: string;
  /** The end of statements in this file: a semicolon, or nothing. */
  readonly semicolon: string;
  readonly #parents = new Map<t.Node, t.Node>();

  constructor(source: SourceFile) {
    if (source.program === undefined || source.syntaxError !== undefined) {
      refuse('The file has a syntax error. Correct it, then edit the flow.');
    }
    this.source = source;
    this.program = source.program;
    let single = 0;
    let ended = 0;
    visitNodes(source.program, (node, parent) => {
      if (parent !== undefined) this.#parents.set(node, parent);
      if (node.type === 'StringLiteral') single += source.text[startOf(node)] === '"' ? -1 : 1;
      if (ENDED.has(node.type)) ended += source.text[endOf(node) - 1] === ';' ? 1 : -1;
    });
    this.quote = single < 0 ? '"' : "'";
    this.semicolon = ended >= 0 ? ';' : '';
  }

  parentOf(node: t.Node): t.Node | undefined {
    return this.#parents.get(node);
  }

  /** The statement that contains a node, directly in a block or at the top level. */
  statementOf(node: t.Node): t.Node {
    let at = node;
    for (;;) {
      const parent = this.#parents.get(at);
      if (parent === undefined) return refuse('The place in the source was not found.');
      const isClassMember = parent.type === 'ClassBody';
      if (BLOCKS.has(parent.type) && !isClassMember) return at;
      at = parent;
    }
  }

  indentAt(offset: number): string {
    return indentOf(this.source.text, offset);
  }

  get newline(): string {
    return lineBreakOf(this.source.text);
  }

  /** A string literal in the style of the file. */
  quoted(text: string): string {
    return quotedIn(this.quote, text);
  }

  /** One step of indentation. */
  get step(): string {
    return stepOf(this.source.text);
  }

  get isTyped(): boolean {
    return !/\.[cm]?jsx?$/.test(this.source.path);
  }

  replace(start: number, end: number, text: string): TextEdit {
    return { range: this.source.rangeOf(start, end), text };
  }

  replaceNode(node: t.Node, text: string): TextEdit {
    return this.replace(startOf(node), endOf(node), text);
  }

  /** Inserts text above a statement and the comment that belongs to it. */
  insertAbove(statement: t.Node, lines: readonly string[]): TextEdit {
    const { text } = this.source;
    const indent = this.indentAt(startOf(statement));
    let start = text.lastIndexOf('\n', startOf(statement) - 1) + 1;
    if (text.slice(start, startOf(statement)).trim() !== '') start = startOf(statement);
    else start = this.#commentStart(start);
    const inserted = lines.map((line) => (line === '' ? '' : indent + line) + this.newline).join('');
    return this.replace(start, start, start === startOf(statement) ? `${inserted.trimStart()}${indent}` : inserted);
  }

  insertBelow(statement: t.Node, lines: readonly string[]): TextEdit {
    const indent = this.indentAt(startOf(statement));
    const { text } = this.source;
    const lineEnd = /\r?\n|$/g;
    lineEnd.lastIndex = endOf(statement);
    const rest = lineEnd.exec(text)?.index ?? text.length;
    // A comment at the end of the line belongs to the statement.
    const isAlone = /^[ \t]*(?:\/\/.*)?$/.test(text.slice(endOf(statement), rest));
    const at = isAlone ? rest : endOf(statement);
    return this.replace(at, at, lines.map((line) => this.newline + (line === '' ? '' : indent + line)).join(''));
  }

  /** Removes a statement, with its line if nothing else is on it. */
  removeStatement(statement: t.Node): TextEdit {
    const parent = this.#parents.get(statement);
    if (!given(parent) || !BLOCKS.has(parent.type)) {
      refuse(
        `\`${this.source.snippet(statement)}\` is the whole body of another statement. Put braces around it first.`,
      );
    }
    const { text } = this.source;
    const lineStart = text.lastIndexOf('\n', startOf(statement) - 1) + 1;
    const after = text.indexOf('\n', endOf(statement));
    const lineEnd = after < 0 ? text.length : after + 1;
    const isAlone =
      text.slice(lineStart, startOf(statement)).trim() === '' &&
      /^[\s;]*(?:\/\/.*)?\s*$/.test(text.slice(endOf(statement), lineEnd));
    return isAlone ? this.replace(lineStart, lineEnd, '') : this.replaceNode(statement, '');
  }

  /** The start of the comment lines directly above a line; the line itself if there are none. */
  #commentStart(lineStart: number): number {
    const { text } = this.source;
    let start = lineStart;
    let isBlock = false;
    for (let end = lineStart - 1; end > 0; ) {
      const begin = text.lastIndexOf('\n', end - 1) + 1;
      const line = text.slice(begin, end).trim();
      if (!isBlock && line.endsWith('*/')) isBlock = true;
      if (!isBlock && !line.startsWith('//')) break;
      if (isBlock && line.includes('/*')) isBlock = false;
      start = begin;
      end = begin - 1;
    }
    return start;
  }
}
