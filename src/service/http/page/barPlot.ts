import { html } from 'hono/html';
import { formatInteger } from '../../../core/text/format.ts';
import { shownCredits } from './tableCells.ts';
import { type Html, table } from './documentLayout.ts';

const WIDTH = 1_000;
const HEIGHT = 100;
const GAP = 0.25;
const HEAD = ['Time (UTC)', 'Jobs', 'Machine hours', 'Credits'];
const NUMBERS = new Set(HEAD.slice(1));
const HOUR_MS = 3_600_000;

/** What the jobs that ended in one span of time add up to. */
export interface Slot {
  /** `09:00`, or a day. */
  readonly label: string;
  readonly jobs: number;
  readonly machineMs: number;
  /** Micro-credits. */
  readonly charged: number;
}

/** A bar of credits for each slot, with the same figures as a table for those who cannot see bars. */
export function barPlot(title: string, slots: readonly Slot[]): Html {
  const most = Math.max(...slots.map(({ charged }) => charged), 0);
  const jobs = slots.reduce((sum, slot) => sum + slot.jobs, 0);
  const total = slots.reduce((sum, { charged }) => sum + charged, 0);
  const summary = `${title}: ${shownCredits(total)} credits, ${formatInteger(jobs)} ${jobs === 1 ? 'job' : 'jobs'}`;
  const step = WIDTH / Math.max(1, slots.length);
  const bars = slots.map(({ label, charged }, index) => {
    if (charged === 0) return '';
    // A small amount stays visible.
    const height = Math.max(1.5, (charged / most) * HEIGHT);
    return html`<rect x="${(index + GAP / 2) * step}" y="${HEIGHT - height}" width="${step * (1 - GAP)}" height="${height}"><title>${label}: ${shownCredits(charged)} credits</title></rect>`;
  });
  const usedSlots = slots.filter((slot) => slot.jobs > 0);
  return html`<figure>
    <figcaption>${summary}</figcaption>
    <div class="axis"><span>${most === 0 ? '' : `${shownCredits(most)} credits`}</span></div>
    <svg role="img" aria-label="${summary}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">${bars}</svg>
    <div class="axis"><span>${slots[0]?.label}</span><span>${slots.at(-1)?.label}</span></div>
    ${usedSlots.length > 0 && html`<details><summary>As a table</summary>${table(title, HEAD, usedSlots.map(row), NUMBERS)}</details>`}
  </figure>`;
}

function row({ label, jobs, machineMs, charged }: Slot): Html {
  return html`<tr>
    <th scope="row" class="time">${label}</th>
    <td class="number">${formatInteger(jobs)}</td>
    <td class="number">${(machineMs / HOUR_MS).toFixed(1)}</td>
    <td class="number">${shownCredits(charged)}</td>
  </tr>`;
}
