import * as l10n from '@vscode/l10n';
import { plural } from '../../../core/text/format.ts';
import type { NodeType } from '../../../flows/graph/graph.ts';
import type { ChangeKind } from '../../../flows/project/flowChanges.ts';
import type { RunInfo } from './canvasMessages.ts';

/** States of runs and of visits, in words. */
export const STATE_WORDS: Readonly<Record<RunInfo['state'], string>> = {
  running: l10n.t('running'),
  done: l10n.t('done'),
  failed: l10n.t('failed'),
  stopped: l10n.t('stopped'),
  waiting: l10n.t('waiting'),
  answered: l10n.t('answered'),
};

/** Kinds of nodes, in words. */
export const NODE_WORDS: Readonly<Record<NodeType, string>> = {
  node: l10n.t('node'),
  flow: l10n.t('flow'),
  batch: l10n.t('batch node'),
  parallel: l10n.t('parallel node'),
  rag: l10n.t('retrieval node'),
  unknown: l10n.t('node of an unknown kind'),
};

/** How a node, a connection or a value differs, in words. */
export const CHANGE_WORDS: Readonly<Record<ChangeKind, string>> = {
  added: l10n.t('added'),
  removed: l10n.t('removed'),
  changed: l10n.t('changed'),
};

/** `1 step`, `12 steps`. */
export function stepCount(count: number): string {
  return plural(count, l10n.t('1 step'), l10n.t('{0} steps'));
}

/** `1 visit`, `12 visits`. */
export function visitCount(count: number): string {
  return plural(count, l10n.t('1 visit'), l10n.t('{0} visits'));
}
