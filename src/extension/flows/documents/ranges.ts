import * as vscode from 'vscode';
import type { Position, SourceRange } from '../../../flows/graph/graph.ts';

/** A place of the reader as VS Code has it. */
export function toRange({ start, end }: SourceRange): vscode.Range {
  return new vscode.Range(toPosition(start), toPosition(end));
}

function toPosition({ line, column }: Position): vscode.Position {
  return new vscode.Position(line, column);
}

/** Whether a range of a file has an offset in it, its end included. */
export function contains({ start, end }: SourceRange, offset: number): boolean {
  return start.offset <= offset && offset <= end.offset;
}
