import * as l10n from '@vscode/l10n';
import { formatBytes, plural } from '../../../core/text/format.ts';
import { joinPrintable, type Printable, printable } from '../../../core/text/printable.ts';
import { describeExclusion } from '../../../jobs/selection/exclusions.ts';
import type { TreeEntry } from '../../../jobs/selection/fileTree.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

/** What a row of the tree shows. */
export interface FileRow {
  readonly label: Printable;
  readonly description: Printable;
  /** What a screen reader says. */
  readonly spoken: Printable;
  /** The location of the rule that leaves the entry out: `sub/.gitignore:3`. */
  readonly rule?: string;
}

/** The row of a file or folder: how much of it is sent, or why it is left out and which rule says so. */
export function fileRow({ name, isFolder, sent, sentBytes, leftOut, target, exclusion }: TreeEntry): FileRow {
  const amount =
    exclusion !== undefined && sent === 0
      ? withoutIcons(describeExclusion(exclusion))
      : isFolder
        ? folderText({ sent, sentBytes, leftOut })
        : label`${formatBytes(sentBytes)}`;
  const description = target === undefined ? amount : label`${l10n.t('link to {0}', target)} · ${amount}`;
  const state = sent > 0 ? label`${l10n.t('sent')}` : label`${l10n.t('left out')}`;
  return {
    label: withoutIcons(name),
    description,
    spoken: joinPrintable([withoutIcons(name), printable`, `, state, printable`, `, description]),
    ...(exclusion?.at === undefined ? {} : { rule: exclusion.at }),
  };
}

function folderText({ sent, sentBytes, leftOut }: Pick<TreeEntry, 'sent' | 'sentBytes' | 'leftOut'>): Printable {
  const parts = [
    ...(sent > 0 ? [`${plural(sent, l10n.t('1 file'), l10n.t('{0} files'))}, ${formatBytes(sentBytes)}`] : []),
    ...(leftOut > 0 ? [l10n.t('{0} left out', leftOut)] : []),
  ];
  return label`${parts.join(' · ')}`;
}
