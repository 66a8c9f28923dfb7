import * as vscode from 'vscode';
import type { SourcePosition, SourceRange } from '../../../flows/graph/graph.ts';

/** Converts a range of the reader to one of VS Code. */
export function toRange({ start, end }: SourceRange): vscode.Range {
  return new vscode.Range(toPosition(start), toPosition(end));
}

function toPosition({ line, column }: SourcePosition): vscode.Position {
  return new vscode.Position(line, column);
}

/** Whether a range of a file contains an offset; its end is included. */
export function contains({ start, end }: SourceRange, offset: number): boolean {
  return start.offset <= offset && offset <= end.offset;
}
